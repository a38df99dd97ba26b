"""Cones in which only a few rows change their order: settled exactly, in fewer dimensions.

The threshold of a group, in a direction v, is the value of its last row j. In a small cone only
some rows can be that one (`rows_in_question`), and most others keep their side of it in all of the
cone. Let the rest, the ambiguous pairs, have differences Δ that span less than all dimensions, and
let v* be orthogonal to all of them. If every row keeps, in the whole cone, the side of every such j
that v* puts it on, then the group of v is that of rows ordered by v* first and, where v* ties them,
by v. Conversely v* + ε·w, for any w and small ε, is a direction. So the cone is covered by the
problem over directions w of rows ranked by v*, whose ties span fewer dimensions; and what is found
there exists.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.subgroups.proofs.cone_bounds import ABOVE, AMBIGUOUS, ambiguous_pair, sides
from gerrymend.subgroups.proofs.whole_points import (
    Points,
    nearest,
    orthogonal_to_differences,
    values_along,
)
from gerrymend.subgroups.rules import Members

# More pairs of rows than this take too much memory to compare.
_MOST_PAIRS = 3 * 10**7
# Pairs, for each dimension, whose differences are looked at first, in floats; and what their least
# singular value has to be of the largest, not to be rounding: an entry is off by 10⁻¹⁶ or so of the
# largest of its column.
_FIRST_PAIRS = 4
_FULL_RANK = 1e-6


class TiedLeaf(NamedTuple):
    """Hold what a cone leaves to decide: who is in for sure, which rows are not, their problem."""

    inside: Members
    rows: NDArray[np.intp]
    points: Points


def tied_leaf(
    points: Points,
    u: Array,
    last: NDArray[np.intp],
    may_be_empty: Members,
    eps: float,
    direction: Array,
) -> TiedLeaf | None:
    """Return the problem that settles a cone, or None if there is none of fewer dimensions.

    `u` has the rows' values in the cone's generators; `last` and `may_be_empty` are the rows and
    strata in question there; `direction` is any one of the cone, over x / size.
    """
    if len(last) > _MOST_PAIRS // len(points.weight):
        return None
    side = sides(u, last, points.stratum, eps)
    if _span_all(points, side, last):
        return None
    orthogonal = orthogonal_to_differences(points.x, lambda y: ambiguous_pair(side, last, y))
    if not orthogonal:
        return None
    star = nearest(orthogonal, direction, points.size)
    if star is None:
        return None
    rank = _ranks(points, star)
    higher = rank > rank[last, None]
    lower = rank < rank[last, None]
    if ((higher & (side <= AMBIGUOUS)) | (lower & (side >= AMBIGUOUS) & (side <= ABOVE))).any():
        return None
    inside = np.zeros(len(rank), dtype=bool)
    between = np.zeros(len(rank), dtype=bool)
    for stratum in np.unique(points.stratum[last]):
        mine = points.stratum == stratum
        own = rank[last[points.stratum[last] == stratum]]
        if may_be_empty[stratum]:
            between |= mine & (rank >= own.min())
        else:
            inside |= mine & (rank > own.max())
            between |= mine & (rank >= own.min()) & (rank <= own.max())
    rows = np.flatnonzero(between)
    return TiedLeaf(inside, rows, replace(points.take(rows), rank=rank[rows]))


def _span_all(points: Points, side: NDArray[np.int8], last: NDArray[np.intp]) -> bool:
    """Tell if differences of some ambiguous pairs span all dimensions for certain.

    Then nothing is orthogonal to all. Most cones of rows that are not tied end here; to find that
    out in whole numbers takes ten times as long.
    """
    n_columns = points.x.shape[1]
    pairs = np.flatnonzero(side == AMBIGUOUS)
    pairs = pairs[:: max(1, len(pairs) // (_FIRST_PAIRS * n_columns))]
    if len(pairs) < n_columns:
        return False
    place, row = np.divmod(pairs, side.shape[1])
    exact = points.x[row] - points.x[last[place]]
    differences = np.array(exact / np.array(points.size, dtype=object), dtype=np.float64)
    singular = np.linalg.svd(differences, compute_uv=False)
    return bool(singular[-1] > _FULL_RANK * singular[0])


def _ranks(points: Points, direction: list[int]) -> NDArray[np.intp]:
    """Return the order of the rows by rank and then, exactly, by their value in a direction."""
    along = values_along(points.x, [direction])[:, 0]
    by_value = np.unique(along, return_inverse=True)[1]
    order: NDArray[np.intp] = np.unique(
        points.rank * (by_value.max() + 1) + by_value, return_inverse=True
    )[1]
    return order
