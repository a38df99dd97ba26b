"""The cut of a score that costs least, where rows above the cut are decided 1."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.binned_cuts import MANY_ROWS, BinnedScores
from gerrymend._numeric.sums import Array

# Scores are tied if they differ by less than this part of their range, and costs are equal if by
# less than this part of their sum, so that rounding doesn't decide between them. If the scores are
# nearly constant, their range is itself rounding, and `_ROUNDING` relative to their size applies.
SAME = 1e-9
_ROUNDING = 8 * np.finfo(np.float64).eps


def best_cuts(score: Array, costs: Sequence[Array]) -> Array:
    """Return for each of the costs the cut of least cost, halfway between two scores.

    `score` has shape (n,) and `costs` (n_costs, n), the cost of deciding 1 by row. A cut of ∞
    decides 0 everywhere, and −∞ decides 1. Between equals the highest cut is returned.

    >>> best_cuts(np.array([1.0, 2.0, 3.0, 4.0]), np.array([[1.0, -2.0, 1.0, -1.0]])).tolist()
    [1.5]
    >>> best_cuts(np.array([1.0, 2.0]), np.array([[1.0, 1.0], [-1.0, -1.0]])).tolist()
    [inf, -inf]
    """
    if len(score) >= MANY_ROWS:
        scores = BinnedScores(score)
        tie = tie_of(np.array(scores.range))
        return np.array([scores.best_cut(cost, tie, SAME) for cost in costs])
    order = np.argsort(-score)  # not stable, which takes twice as long: tied rows are never parted
    descending = score[order]
    tie = tie_of(descending)
    # Rows after which a cut can be; after the last one all are decided 1.
    ends = np.flatnonzero(np.append(descending[:-1] - descending[1:] > tie, True))
    cuts = np.append((descending[ends[:-1]] + descending[ends[:-1] + 1]) / 2, -np.inf)
    return np.array([_best_cut(cuts, cost[order], ends) for cost in costs])


def tie_of(scores: Array) -> float:
    """Return by how much scores have to differ to be told apart, from some in descending order.

    >>> tie_of(np.array([3.0, 2.0, 1.0]))
    2e-09
    """
    spread = scores[0] - scores[-1]
    return max(SAME * float(spread), _ROUNDING * float(np.abs(scores[[0, -1]]).max()))


def _best_cut(cuts: Array, descending: Array, ends: NDArray[np.intp]) -> float:
    """Return the first of the cuts, after the rows `ends`, that costs least; ∞ costs nothing."""
    paid = np.cumsum(descending)[ends]
    limit = min(0.0, float(paid.min())) + SAME * float(np.abs(descending).sum())
    return math.inf if limit >= 0.0 else float(cuts[np.argmax(paid <= limit)])
