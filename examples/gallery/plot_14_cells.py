"""
All that an audit sees: cells
=============================

Subgroups are defined by protected attributes alone. People with the same values form a cell, and
every subgroup is a union of cells. So an audit only needs sums by cell.
"""

import numpy as np
from matplotlib import pyplot as plt

from gerrymend import audit

rng = np.random.default_rng(0)
n_rows = 1500
district = rng.integers(0, 4, n_rows)
age = rng.integers(0, 5, n_rows)
hit = (district >= 2) & (age <= 1)
decided = (rng.random(n_rows) < 0.35 + 0.4 * hit).astype(int)
attributes = {"district": district.astype(str), "age": 20.0 + 10 * age}
report = audit(
    None,
    decided,
    sensitive_features=attributes,
    notion="statistical_parity",
    subgroups="value_sets",
)
print(report.worst)

sums = np.zeros((4, 5))
np.add.at(sums, (district, age), decided - decided.mean())
found = report.worst.contains(attributes)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
shaken = rng.uniform(-0.38, 0.38, (2, n_rows))
for value, colour in ((0, "#4878a8"), (1, "#c44e52")):
    these = decided == value
    axes[0].scatter((age + shaken[0])[these], (district + shaken[1])[these], s=5, c=colour)
axes[0].set_title(f"{n_rows:,} people; red ones are decided 1", fontsize=10)
axes[1].imshow(sums, cmap="RdBu_r", vmin=-40, vmax=40, origin="lower", aspect="auto")
for (row, column), value in np.ndenumerate(sums):
    axes[1].text(column, row, f"{value:+.0f}", ha="center", va="center", fontsize=9)
axes[1].set_title("20 sums: decided 1, less the overall rate", fontsize=10)
inside = np.zeros((4, 5))
inside[district[found], age[found]] = 1
axes[2].imshow(inside, cmap="Greys", vmin=0, vmax=2, origin="lower", aspect="auto")
axes[2].set_title("the union of cells that is worst", fontsize=10)
for ax in axes:
    ax.set_xticks(range(5), [f"{20 + 10 * k}" for k in range(5)])
    ax.set_yticks(range(4), [f"district {k}" for k in range(4)] if ax is axes[0] else [])
    ax.set_xlabel("age")
