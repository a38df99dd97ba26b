"""Ranks of values among the distinct ones, by a table where there can be one, else by a sort."""

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.places import MEMORY, Place
from gerrymend._numeric.sums import Array


def ranked(values: Array, place: Place = MEMORY) -> tuple[Array, NDArray[np.intp]]:
    """Return the distinct values in order, and the rank of each value among them.

    >>> [part.tolist() for part in ranked(np.array([30.0, 10.0, 30.0]))]
    [[10.0, 30.0], [1, 0, 1]]
    """
    if not place.is_memory:
        return place.ranks(values)
    low = float(values.min())
    high = float(values.max())
    distinct: Array
    # Values that are perhaps whole steps from the lowest, as ages and years are, need no sort: a
    # table of at most 4 entries a value is cheaper. Rounding is checked for afterwards.
    if high - low <= 4 * len(values):
        present, rank = _dense_ranks((values - low).astype(np.intp), int(high - low) + 1)
        distinct = (present + low).astype(np.float64)
        if np.array_equal(distinct[rank], values):
            return distinct, rank
    distinct = np.unique(values)
    if len(distinct) <= 1024:  # a search in a short list beats the sort of return_inverse
        return distinct, np.searchsorted(distinct, values)
    distinct, rank = np.unique(values, return_inverse=True)
    return distinct, rank.astype(np.intp, copy=False)


def renumbered(key: NDArray[np.intp], size: int, place: Place) -> tuple[NDArray[np.intp], int]:
    """Replace keys below `size` by their ranks among those that occur; return also their number."""
    if size <= 4 * len(key):
        present, rank = _dense_ranks(key, size)
    else:
        present, rank = place.ranks(key)
    return rank.astype(np.intp, copy=False), len(present)


def _dense_ranks(key: NDArray[np.intp], size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the keys that occur and the rank of each, as np.unique does, by a table of `size`."""
    occurs = np.zeros(size, dtype=bool)
    occurs[key] = True
    rank = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), rank[key]
