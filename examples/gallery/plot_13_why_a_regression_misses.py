"""
Why the regression auditor misses
=================================

The paper's auditor fits a linear regression to the residuals. In the toy example these have the
pattern of a chessboard, and the best linear fit to a chessboard is 0 everywhere.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.linear_model import LinearRegression

from gerrymend import audit
from gerrymend.datasets import make_gerrymandered

people = make_gerrymandered(2000, random_state=0)
decided = (people.score >= 0.5).astype(int)
negatives = people.target == 0
A = people.data[negatives, 1:]  # race is blue, gender is man
residual = decided[negatives] - decided[negatives].mean()
fitted = LinearRegression().fit(A, residual).predict(A)
report = audit(people.target, decided, sensitive_features=people.sensitive_features)
attributes = {name: column[negatives] for name, column in people.sensitive_features.items()}
found = report.worst.contains(attributes)


def by_cell(values):
    """Return the mean of each combination of race and gender."""
    return np.array(
        [[values[np.equal(A, (blue, man)).all(axis=1)].mean() for man in (0, 1)] for blue in (0, 1)]
    )


figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
titles = ("residuals", "what a regression makes of them", "the group that is found")
for ax, title, values in zip(axes, titles, (residual, fitted, found), strict=True):
    cells = by_cell(values)
    ax.imshow(cells, cmap="RdBu_r", vmin=-1, vmax=1)
    for (row, column), value in np.ndenumerate(cells):
        said = ("in" if value else "out") if values is found else f"{value:+.2f}"
        colour = "white" if abs(value) > 0.75 else "black"
        ax.text(column, row, said, ha="center", va="center", color=colour)
    ax.set_title(title, fontsize=10)
    ax.set_xticks([0, 1], ["woman", "man"])
    ax.set_yticks([0, 1], ["green", "blue"])
