"""What ascents ask of the cells that they climb over, and the answers of cells in memory.

All of it is about z, the standardised columns and a column of ones, one a row. Directions are of
NumPy wherever the cells lie; residuals, values of z and masks lie with the cells.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array
from gerrymend.subgroups.base import Found, check_cells, value_of_all
from gerrymend.subgroups.thresholds.arcs import Arcs, changes_on, sum_inside
from gerrymend.subgroups.thresholds.clusters import clusters_of
from gerrymend.subgroups.thresholds.great_circles import ascend, measure


class Wanted(NamedTuple):
    """What a climb is to find: the largest |value| of a residual, of groups that are large enough.

    `half` is that of the residual's sum (`great_circles`); of the rows, by cell, at least so many
    are to be in and out.
    """

    residual: Any
    half: float
    rows: Any
    smallest: int

    @classmethod
    def of(cls, residual: Any, rows: Any, smallest: int) -> "Wanted":
        """Work out the half."""
        return cls(residual, float(value_of_all(residual)) / 2, rows, smallest)


class Climb(NamedTuple):
    """Where a climb has come to, and how to go on: see `great_circles.ascend`."""

    direction: Array
    value: float = 0.0
    since_gain: int = 0
    turn: int = 0


class Side(NamedTuple):
    """Who is on a side of a threshold: the sum of the residual, how many cells, and the first."""

    value: float
    size: int
    first: int
    is_tied: bool


class Clusters(NamedTuple):
    """Means of clusters of cells, one a column, and sums over these."""

    means: Array
    summed: Callable[[Wanted], Wanted]


class Circles(Protocol):
    """Cells that ascents climb over."""

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        ...

    @property
    def size(self) -> int:
        """The number of coordinates of a direction."""
        ...

    def release(self) -> None:
        """Let go of z, which the next question makes again."""
        ...

    def wanted(self, residual: Any, rows: NDArray[np.intp], smallest: int) -> Wanted:
        """Return what a climb is to find, with one value a cell."""
        ...

    def climb(self, wanted: Wanted, at: Climb, most: int, least_gain: float) -> Climb:
        """Go on with a climb, along at most so many circles."""
        ...

    def value(self, wanted: Wanted, direction: Array) -> float:
        """Return the |value| of a direction; −1 if its group is too small or too large."""
        ...

    def side(self, residual: Any, direction: Array) -> Side:
        """Return who is above the threshold of a direction."""
        ...

    def found(self, residuals: Any, directions: Array) -> Found:
        """Return the groups of directions, with the values of a residual each."""
        ...

    def clusters(self, most: int) -> Clusters:
        """Return at most so many clusters."""
        ...

    def side_by_side(self, work: Callable[[int], Array], numbers: Sequence[int]) -> list[Array]:
        """Return what each piece of work comes to; all begin, whatever the clock says."""
        ...

    def products(self, residual: Any) -> Array:
        """Return z·W."""
        ...

    def points(self, residual: Any) -> tuple[Array, Array]:
        """Return the columns of the cells of W ≠ 0, a cell a row and without the ones; and W."""
        ...

    def climb_arcs(self, wanted: Wanted, start: Array, deadline: float) -> tuple[Array, float]:
        """Return where arcs lead from a direction that is nearly the best, and its |value|."""
        ...


class MemoryCircles:
    """Cells in memory, whose circles are swept by compiled loops.

    Parameters
    ----------
    standardise : callable
        Makes z, one column a row, the ones last: of many cells it is large.
    """

    def __init__(self, standardise: Callable[[], Array]) -> None:
        self._standardise = standardise

    @cached_property
    def z(self) -> Array:
        """The columns, made when they are needed."""
        return self._standardise()

    def release(self) -> None:
        """Let go of z."""
        self.__dict__.pop("z", None)

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return int(self.z.shape[1])

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.z)

    def wanted(self, residual: Array, rows: NDArray[np.intp], smallest: int) -> Wanted:
        """Return what a climb is to find, once it is known to fit the cells."""
        check_cells(self.n_cells, residual, rows)
        return Wanted.of(residual, rows, smallest)

    def climb(self, wanted: Wanted, at: Climb, most: int, least_gain: float) -> Climb:
        """Go on with a climb."""
        direction, _, since_gain, turn = at
        return Climb(*ascend(self.z, *wanted, direction, since_gain, turn, most, least_gain))

    def value(self, wanted: Wanted, direction: Array) -> float:
        """Return the |value| of a direction."""
        return float(measure(self.along(direction), *wanted))

    def side(self, residual: Array, direction: Array) -> Side:
        """Return who is above the threshold."""
        u = self.along(direction)
        members = u > TIE
        size = int(np.count_nonzero(members))
        is_tied = bool((np.abs(u) <= TIE).any())
        return Side(float(residual[members].sum()), size, int(np.argmax(members)), is_tied)

    def found(self, residuals: Array, directions: Array) -> Found:
        """Return the groups of directions."""
        members = (directions @ self.z > TIE).astype(np.float64)
        return Found(np.vecdot(residuals, members), members, directions)

    def clusters(self, most: int) -> Clusters:
        """Return clusters, and who adds residuals and rows up over them."""
        of_cell, means = clusters_of(self.z[:-1], most)

        def summed(wanted: Wanted) -> Wanted:
            residual = np.bincount(of_cell, wanted.residual).astype(np.float64)
            rows = np.bincount(of_cell, wanted.rows).astype(np.intp)
            return wanted._replace(residual=residual, rows=rows)

        return Clusters(means, summed)

    def side_by_side(self, work: Callable[[int], Array], numbers: Sequence[int]) -> list[Array]:
        """Do one after the other: a fit in memory has one core."""
        return [work(number) for number in numbers]

    def products(self, residual: Array) -> Array:
        """Return z·W."""
        product: Array = self.z @ residual
        return product

    def points(self, residual: Array) -> tuple[Array, Array]:
        """Return the columns, in one copy, and W."""
        counted = residual != 0
        columns = np.empty((int(np.count_nonzero(counted)), self.size - 1))
        for k in range(columns.shape[1]):
            columns[:, k] = self.z[k, counted]
        return columns, residual[counted]

    def climb_arcs(self, wanted: Wanted, start: Array, deadline: float) -> tuple[Array, float]:
        """Return where arcs lead."""
        return Arcs(self, *wanted).ascend(start, deadline)

    def along(self, direction: Array) -> Array:
        """Return the value of each cell in a direction."""
        u: Array = direction @ self.z
        return u

    def sum_inside(self, u: Array, amount: Array) -> float:
        """Sum an amount over the cells with u > 0, ties left out."""
        return float(sum_inside(u, amount))

    def changes(self, u: Array, axis: int, amount: Array, reach: float, n_bins: int) -> Array:
        """Sum by bin what the cells bring in that change sides there."""
        changes: Array = changes_on(u, self.z[axis], amount, reach, n_bins)
        return changes
