"""Compare rows in the event of a notion with the mean of all, or with that of their stratum.

With weights m and sums of outcomes U by *part*, the rows of a cell that are of one stratum (without
strata, of a cell), and s(k) the stratum of part k:

- residuals are W_c = Σ_{k in c} U_k − m_k · (Σ_{s(k)} U / Σ_{s(k)} m), whose sum over a group, over
  all weight, is its unfairness; they add up to 0 in each stratum, and so in all;
- their derivative by the outcome of a row of part k, for a weight π_c on each cell, is
  π_{c(k)} − Σ_{l in s(k)} m_l·π_{c(l)} / Σ_{s(k)} m: the transpose of the same operator.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gerrymend._numeric.places import MEMORY, Place
from gerrymend._numeric.sums import Array


class Centring(Protocol):
    """Centre the outcomes of models, and the pressure on them, in one of several ways.

    All arrays that its methods take and return are of shape (models, parts) or (models, cells).
    Without strata these are the same.
    """

    def by_cell(self, parts: Array) -> Array:
        """Return the sums over the parts of each cell."""
        ...

    def residuals(self, outcomes: Array) -> Array:
        """Return W by cell, from sums of outcomes by part, which it may overwrite."""
        ...

    def centred(self, pressure: Array) -> Array:
        """Return pressure by part, less its mean over what the part is compared with.

        `pressure` is π, by cell: each part has that of its cell.
        """
        ...


class Overall:
    """Compare with the mean of everyone in the event, of whom `weight` is by cell.

    The arrays that its methods take and return are at a place.
    """

    def __init__(self, weight: Array, place: Place = MEMORY) -> None:
        self._share = place.put(weight / weight.sum())
        self._ones = place.put(np.ones(len(weight)))

    def by_cell(self, parts: Array) -> Array:
        """Return them as they are: a part is a cell."""
        return parts

    def residuals(self, outcomes: Array) -> Array:
        """Subtract the overall rate's share of each cell, in place."""
        outcomes -= (outcomes @ self._ones)[:, None] * self._share
        return outcomes

    def centred(self, pressure: Array) -> Array:
        """Subtract the mean over the event."""
        return pressure - (pressure @ self._share)[:, None]


class WithinStrata:
    """Compare with the mean of the stratum.

    Parameters
    ----------
    weight : array
        By part, in the order of cells.
    cell, stratum : arrays of int
        Of each part; every cell has one.

    Examples
    --------
    Two cells; in the first stratum both have a row, in the second there are three of the last:

    >>> within = WithinStrata(np.array([1.0, 1.0, 3.0]), np.array([0, 1, 1]), np.array([0, 0, 1]))
    >>> within.residuals(np.array([[1.0, 0.0, 2.0]]))
    array([[ 0.5, -0.5]])
    >>> within.centred(np.array([[1.0, 0.0]]))
    array([[ 0.5, -0.5,  0. ]])
    """

    def __init__(self, weight: Array, cell: NDArray[np.intp], stratum: NDArray[np.intp]) -> None:
        self._cell = cell
        self._starts = np.flatnonzero(np.diff(cell, prepend=-1))
        # Those without a row in the event have no mean, and nobody to compare.
        present, self._stratum = np.unique(stratum, return_inverse=True)
        places = (self._stratum, np.arange(len(weight)))
        self._of_stratum = csr_array(
            (np.ones(len(weight)), places), shape=(len(present), len(weight))
        )
        self._share = weight / self._in_stratum(weight[None])[0]

    def by_cell(self, parts: Array) -> Array:
        """Return the sums over the parts of each cell."""
        sums: Array = np.add.reduceat(parts, self._starts, axis=1)
        return sums

    def residuals(self, outcomes: Array) -> Array:
        """Subtract from each part its share of its stratum's outcomes, and sum by cell."""
        return self.by_cell(outcomes - self._in_stratum(outcomes) * self._share)

    def centred(self, pressure: Array) -> Array:
        """Subtract the mean over the stratum."""
        parts = pressure[:, self._cell]
        return parts - self._in_stratum(parts * self._share)

    def _in_stratum(self, parts: Array) -> Array:
        """Return for each part the sum over its stratum."""
        sums = np.asarray(self._of_stratum @ parts.T)
        return sums[self._stratum].T
