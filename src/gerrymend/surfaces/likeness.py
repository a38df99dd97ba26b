"""Choice of the groups that a surface shows, so that no difference of groups discloses a few rows.

The groups that are kept cut the rows into parts, by who is in which. Every sum over a kept group is
a sum over parts, so that whatever is added and subtracted of the groups shown is a sum of parts as
well. A group is kept only if each part still has no row at all, or at least `smallest` rows in the
event: then no subtraction, of two groups or of many, leaves a few.
"""

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import too_few

# A group that is a right angle away is no more like another than its opposite is.
_FURTHEST = np.pi / 2 - 1e-9


class Parts:
    """Track the parts into which strata and the kept groups cut the rows, from numbers by cell.

    Rates of strata have a part in what is shown of a group; so they are apart from the beginning.

    Parameters
    ----------
    rows, counted : arrays (strata, m)
        The number of rows in each cell, and of those in the notion's event.
    smallest : int
        The fewest rows in the event that a part with any row may have.
    """

    def __init__(self, rows: NDArray[np.intp], counted: NDArray[np.intp], smallest: int) -> None:
        self._rows = rows.ravel()
        self._counted = counted.ravel()
        self._smallest = smallest
        self._n_strata = len(rows)
        self._part: NDArray[np.intp] = np.repeat(np.arange(len(rows)), rows.shape[1])

    def take(self, inside: NDArray[np.bool_]) -> bool:
        """Cut the parts by one more group unless that leaves a few rows; return whether it did."""
        # Part p becomes 2p outside of the group and 2p + 1 inside. Cells are laid out stratum by
        # stratum, so the members repeat for each.
        finer = 2 * self._part + np.tile(inside, self._n_strata)
        rows = np.bincount(finer, self._rows)
        counted = np.bincount(finer, self._counted)
        if ((rows > 0) & too_few(counted, self._smallest)).any():
            return False
        # Renumber the parts that have rows from 0, so that they never outgrow the number of cells.
        self._part = (np.cumsum(rows > 0) - 1)[finer]
        return True


def nearest(angles: Array, kept: Array) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return for each angle the place of the nearest kept one, and whether it is near at all.

    Angles are in radians, and may be any that differ by a full turn. A right angle is not near:
    such a group is as much like the opposite one.

    >>> place, is_near = nearest(np.array([0.1, 3.0, -3.1, 1.5]), np.array([0.0, 3.1]))
    >>> place.tolist(), is_near.tolist()
    ([0, 1, 1, 0], [True, True, True, True])
    """
    apart = np.abs(angles[:, None] - kept)
    # The shorter way round. Angles of arctan2 are less than a full turn apart, so that one
    # subtraction is enough.
    apart = np.minimum(apart, 2 * np.pi - apart)
    return apart.argmin(axis=1), apart.min(axis=1) < _FURTHEST
