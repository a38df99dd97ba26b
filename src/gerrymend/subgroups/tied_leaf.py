"""Cones in which only a few rows change their order: settled exactly, in fewer dimensions.

The threshold of a group, in a direction v, is the value of its last row j. In a small cone only
some rows can be that one (`_in_question`), and most others keep their side of it in the whole cone.
Let the rest, the ambiguous pairs, have differences Δ that span less than all dimensions, and let v*
be orthogonal to all of them. If every row keeps, in the whole cone, the side of every such j that
v* puts it on, then the group of v is that of rows ordered by v* first and, where v* ties them, by
v. Conversely v* + ε·w, for any w and small ε, is a direction. So the cone is covered by the problem
over directions w of rows ranked by v*, whose ties span fewer dimensions; and what is found there
exists.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._sums import Array
from gerrymend.subgroups.cone_bounds import ABOVE, AMBIGUOUS, ambiguous_pair, sides
from gerrymend.subgroups.exact_points import (
    Points,
    nearest,
    span_of_differences,
    values_along,
)
from gerrymend.subgroups.rules import Members

# More pairs of rows than this take too much memory to compare.
_MOST_PAIRS = 3 * 10**7


class TiedLeaf(NamedTuple):
    """What is left to decide in a cone: who is in for sure, which rows are not, their problem."""

    inside: Members
    rows: NDArray[np.intp]
    points: Points


def tied_leaf(
    points: Points, u: Array, value: float, eps: float, direction: Array, most_rows: int
) -> TiedLeaf | None:
    """The problem that settles a cone, or None if there is none of fewer dimensions.

    `u` has the rows' values in the cone's generators; only groups above `value` are of interest;
    `direction` is any one of the cone, over x / size. More than `most_rows` in question, and
    halving the cone is the cheaper way on.
    """
    last, may_be_empty = _in_question(points, u, value, eps)
    if len(last) > min(most_rows, _MOST_PAIRS // len(points.weight)):
        return None
    side = sides(u, last, points.stratum, eps)
    _, orthogonal = span_of_differences(points.x, lambda y: ambiguous_pair(side, last, y))
    if not orthogonal:
        return None
    star = nearest(orthogonal, direction, points.size)
    if star is None:
        return None
    rank = _ranks(points, star)
    higher, lower = rank > rank[last, None], rank < rank[last, None]
    if ((higher & (side <= AMBIGUOUS)) | (lower & (side >= AMBIGUOUS) & (side <= ABOVE))).any():
        return None
    inside = np.zeros(len(rank), dtype=bool)
    between = np.zeros(len(rank), dtype=bool)
    for stratum in np.unique(points.stratum[last]):
        mine, own = points.stratum == stratum, rank[last[points.stratum[last] == stratum]]
        if may_be_empty[stratum]:
            between |= mine & (rank >= own.min())
        else:
            inside |= mine & (rank > own.max())
            between |= mine & (rank >= own.min()) & (rank <= own.max())
    rows = np.flatnonzero(between)
    return TiedLeaf(inside, rows, replace(points.take(rows), rank=rank[rows]))


def _ranks(points: Points, direction: list[int]) -> NDArray[np.intp]:
    """The order of the rows by rank and then, exactly, by their value in a direction."""
    along = values_along(points.x, [direction])[:, 0]
    by_value = np.unique(along, return_inverse=True)[1]
    order: NDArray[np.intp] = np.unique(
        points.rank * (by_value.max() + 1) + by_value, return_inverse=True
    )[1]
    return order


def _in_question(
    points: Points, u: Array, value: float, eps: float
) -> tuple[NDArray[np.intp], Members]:
    """Rows that may be the last one in, of their stratum, and strata that may have no row in.

    The last one has positive weight, or the group would be better without it. The profile of a
    stratum bounds what it can do with its threshold between two cuts; if that and the best of all
    other strata is not above the value, the threshold isn't there.
    """
    low, high = u.min(axis=0) - eps, u.max(axis=0)
    profiles = [
        _profile(points.weight, low, high, points.stratum == stratum)
        for stratum in range(points.n_strata)
    ]
    best = np.array([profile.max(initial=0.0) for _, profile in profiles])
    least = best - (best.sum() - value)
    last = []
    for (order, profile), needed in zip(profiles, least, strict=True):
        # Row j at place q can be the last one if a threshold in [low_j, high_j] is possible.
        possible = np.concatenate([[0], np.cumsum(profile > needed)])
        reach = np.searchsorted(-high[order], -low[order], side="right")
        last.append(order[possible[reach] > possible[:-1]])
    return np.concatenate(last), least < 0.0


def _profile(
    weight: Array, low: Array, high: Array, mine: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], Array]:
    """A stratum's rows of positive weight from the highest down, and the profile at each."""
    positive, negative = np.flatnonzero(mine & (weight > 0)), mine & (weight < 0)
    order = positive[np.argsort(-high[positive], kind="stable")]
    enters = np.searchsorted(-high[order], -low[negative])
    lost = np.bincount(enters, weight[negative], len(order) + 1)[: len(order)]
    return order, np.cumsum(weight[order] + lost)
