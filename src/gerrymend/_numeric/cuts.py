"""Where to cut a score: rows above the cut are decided 1."""

import numpy as np

from gerrymend._numeric.sums import Array

# Scores closer than this part of their range are tied, and costs than this part of their sum are
# equal: rounding must not tell them apart. Where scores all but agree, rounding is all their range.
_SAME = 1e-9
_ROUNDING = 8 * np.finfo(np.float64).eps


def best_cuts(score: Array, costs: Array) -> Array:
    """For each row of costs the cut of least cost, halfway between two scores.

    The cost of a cut is the sum of the costs of the rows above it: one sort serves all of them.
    A cut of ∞ decides 0 everywhere, and −∞ decides 1. Between equals the highest cut is taken.

    >>> best_cuts(np.array([1.0, 2.0, 3.0, 4.0]), np.array([[1.0, -2.0, 1.0, -1.0]])).tolist()
    [1.5]
    >>> best_cuts(np.array([1.0, 2.0]), np.array([[1.0, 1.0], [-1.0, -1.0]])).tolist()
    [inf, -inf]
    """
    order = np.argsort(-score, kind="stable")
    descending = score[order]
    paid = np.cumsum(costs[:, order], axis=1)
    spread = descending[0] - descending[-1]
    tie = max(_SAME * spread, _ROUNDING * np.abs(descending[[0, -1]]).max())
    apart = np.append(descending[:-1] - descending[1:] > tie, True)
    paid = np.column_stack([np.zeros(len(costs)), np.where(apart, paid, np.inf)])
    equal = paid <= paid.min(axis=1, keepdims=True) + _SAME * np.abs(costs).sum(axis=1)[:, None]
    halfway = (descending[:-1] + descending[1:]) / 2
    cuts: Array = np.concatenate([[np.inf], halfway, [-np.inf]])[equal.argmax(axis=1)]
    return cuts
