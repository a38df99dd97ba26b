"""Pools: people among whom probabilities are taken to be right on average.

A probability q says nothing about one person. Among many it says that a part of about q is in the
category, and that is all that a bound may use. People with the same known attributes are one pool,
which is halved, at the median of the category whose probability varies most, as long as either half
keeps `size` people. So a pool has people of nearly the same probabilities, and never so few that
its share is left to chance. Larger pools ask less of the probabilities, and bound less.

Where fewer than `size` people share their known attributes nothing is taken to be right.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array


class Pool(NamedTuple):
    """Rows of one cell of the known attributes; with `is_free` their shares may be anything."""

    cell: int
    rows: NDArray[np.intp]
    is_free: bool


def pools_of(cell: NDArray[np.intp], probabilities: Array, size: int) -> list[Pool]:
    """Return the pools of all rows, by cell.

    >>> cell, p = np.zeros(6, dtype=np.intp), np.array([[.1], [.1], [.2], [.7], [.8], [.8]])
    >>> [pool.rows.tolist() for pool in pools_of(cell, p, 2)]
    [[0, 1, 2], [3, 4, 5]]
    >>> [pool.is_free for pool in pools_of(cell, p, 7)]
    [True]
    """
    # In an order that their own has no part in: sums of equal numbers are then equal, too.
    order = np.lexsort((*probabilities.T, cell))
    ends = np.flatnonzero(np.diff(cell[order])) + 1
    pools = []
    for rows in np.split(order, ends):
        number = int(cell[rows[0]])
        if len(rows) < size:
            pools.append(Pool(number, rows, True))
        else:
            pools += [Pool(number, part, False) for part in _halved(rows, probabilities, size)]
    return pools


def _halved(rows: NDArray[np.intp], probabilities: Array, size: int) -> list[NDArray[np.intp]]:
    """Return rows in parts that can't be halved again."""
    done: list[NDArray[np.intp]] = []
    waiting = [rows]
    while waiting:
        part = waiting.pop()
        is_low = _low_half(probabilities[part], size)
        if is_low is None:
            done.append(part)
        else:
            waiting += [part[~is_low], part[is_low]]
    return done


def _low_half(probabilities: Array, size: int) -> NDArray[np.bool_] | None:
    """Return a mask of the rows below the median of what varies most; None if there is no cut."""
    if len(probabilities) < 2 * size:
        return None
    for category in np.argsort(-probabilities.var(axis=0), kind="stable").tolist():
        values = probabilities[:, category]
        ordered = np.sort(values)
        # Places where a value ends, so that equal ones stay together.
        cuts = np.flatnonzero(np.diff(ordered) > 0) + 1
        cuts = cuts[(cuts >= size) & (cuts <= len(values) - size)]
        if len(cuts):
            middle = cuts[np.argmin(np.abs(2 * cuts - len(values)))]
            low: NDArray[np.bool_] = values < ordered[middle]
            return low
    return None
