"""
How a proof bounds many subgroups at once
=========================================

A linear threshold is a direction and a cut. For all directions between two given ones, most people
are in the group for every direction, or out for every direction; the others are open. Counting
only those open people who raise the value gives a bound for all of these directions together. A
narrower cone leaves fewer people open, and the bound falls.
"""

import numpy as np
from matplotlib import pyplot as plt

rng = np.random.default_rng(2)
people = rng.normal(size=(160, 2))
residual = np.where(rng.random(160) < 0.3 + 0.4 * (people[:, 0] + people[:, 1] > 0.6), 1.0, -1.0)
residual -= residual.mean()
CUT = 0.5
MIDDLE = np.pi / 4

figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
for ax, width in zip(axes, (0.6, 0.3, 0.1), strict=True):
    ends = [np.array([np.cos(angle), np.sin(angle)]) for angle in (MIDDLE - width, MIDDLE + width)]
    # A direction of the cone is a blend of its ends, and so is each person's value along it.
    values = people @ np.array(ends).T
    sure = (values >= CUT).all(axis=1)
    out = (values < CUT).all(axis=1)
    is_open = ~(sure | out)
    bound = (residual[sure].sum() + np.maximum(residual[is_open], 0).sum()) / len(people)
    for which, colour, label in (
        (sure, "#4878a8", "surely in"),
        (out, "#bbbbbb", "surely out"),
        (is_open, "#c44e52", "open"),
    ):
        ax.scatter(*people[which].T, s=14, c=colour, label=f"{label}: {which.sum()}")
    for end in ends:
        along = np.array([-end[1], end[0]])
        line = np.array([CUT * end - 4 * along, CUT * end + 4 * along])
        ax.plot(*line.T, color="black", lw=0.8)
    ax.set_title(f"no group of the cone has more than {bound:.3f}", fontsize=10)
    ax.set_xlim(-3, 3)
    ax.set_ylim(-3, 3)
    ax.set_aspect("equal")
    ax.legend(fontsize=8, loc="lower left")
