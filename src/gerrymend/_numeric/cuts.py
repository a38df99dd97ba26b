"""The cut of a score that costs least, where rows above the cut are decided 1."""

import numpy as np

from gerrymend._numeric.sums import Array

# Scores are tied if they differ by less than this part of their range, and costs are equal if by
# less than this part of their sum, so that rounding doesn't decide between them. If the scores are
# nearly constant, their range is itself rounding, and `_ROUNDING` relative to their size applies.
_SAME = 1e-9
_ROUNDING = 8 * np.finfo(np.float64).eps


def best_cuts(score: Array, costs: Array) -> Array:
    """Return, for each row of `costs`, the cut of least cost, halfway between two scores.

    `score` has shape (n,) and `costs` (n_costs, n), the cost of deciding 1 by row. A cut of ∞
    decides 0 everywhere, and −∞ decides 1. Between equals the highest cut is returned.

    >>> best_cuts(np.array([1.0, 2.0, 3.0, 4.0]), np.array([[1.0, -2.0, 1.0, -1.0]])).tolist()
    [1.5]
    >>> best_cuts(np.array([1.0, 2.0]), np.array([[1.0, 1.0], [-1.0, -1.0]])).tolist()
    [inf, -inf]
    """
    # The cost of a cut is the sum over the rows above it, so one sort serves all rows of costs.
    order = np.argsort(-score, kind="stable")
    descending = score[order]
    paid = np.cumsum(costs[:, order], axis=1)
    spread = descending[0] - descending[-1]
    tie = max(_SAME * spread, _ROUNDING * np.abs(descending[[0, -1]]).max())
    # A cut between tied scores is forbidden by an infinite cost; deciding 1 everywhere never is.
    apart = np.append(descending[:-1] - descending[1:] > tie, True)
    paid = np.column_stack([np.zeros(len(costs)), np.where(apart, paid, np.inf)])
    equal = paid <= paid.min(axis=1, keepdims=True) + _SAME * np.abs(costs).sum(axis=1)[:, None]
    # argmax finds the first of the equal ones, which is the highest cut.
    halfway = (descending[:-1] + descending[1:]) / 2
    cuts: Array = np.concatenate([[np.inf], halfway, [-np.inf]])[equal.argmax(axis=1)]
    return cuts
