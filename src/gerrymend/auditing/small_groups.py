"""The floor below which a group is not described: few rows identify people.

Whatever is published of a group is published of its complement too, since the overall rate is
known. So a group is described only where both sides have `min_group_size` rows in the event of the
rate (for false positives: negatives). Bounds and verdicts cover all groups, whatever their size.

What the classes of subgroups do in `worst_of_size` is a search among groups of a given size; this
module decides which size.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gerrymend.inputs.settings import check_whole

# The default of every `min_group_size` and `--min-group-size`.
MIN_GROUP_SIZE = 10
# A value that a single row has is a person: it is never listed, however low the floor.
FEWEST_TO_LIST = 2


def check_min_group_size(min_group_size: Any) -> int:
    """Return `min_group_size` as an int; raise unless it is a whole number of at least 1."""
    return check_whole(min_group_size, "min_group_size", low=1)


def too_few(rows: ArrayLike, min_group_size: int) -> NDArray[np.bool_]:
    """Return whether a number of rows, or each of several, is below the floor.

    >>> too_few([0, 9, 10], 10).tolist()
    [True, True, False]
    """
    few: NDArray[np.bool_] = np.less(rows, min_group_size)
    return few


def identifies(rows: ArrayLike, min_group_size: int) -> NDArray[np.bool_]:
    """Return whether there are rows, but fewer than the floor: a figure of them is about persons.

    >>> identifies([0, 9, 10], 10).tolist()
    [False, True, False]
    """
    return np.greater(rows, 0) & too_few(rows, min_group_size)


def may_be_described(
    inside: ArrayLike, total: ArrayLike, min_group_size: int, *, or_everyone: bool = False
) -> NDArray[np.bool_]:
    """Return whether groups with `inside` of `total` rows leave enough rows inside and outside.

    Everyone leaves nobody outside, of whom nothing follows: with `or_everyone` they may be too.

    >>> may_be_described([9, 10, 90, 91], 100, 10).tolist()
    [False, True, True, False]
    """
    outside = np.subtract(total, inside)
    few_outside = too_few(outside, min_group_size)
    if or_everyone:
        few_outside &= np.not_equal(outside, 0)
    return ~(too_few(inside, min_group_size) | few_outside)
