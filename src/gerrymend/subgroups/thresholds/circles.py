"""What ascents ask of the cells that they climb over, and the answers of cells in memory.

All of it is about z, the standardised columns and a column of ones, one a row. Directions are of
NumPy wherever the cells lie; residuals, values of z and masks lie with the cells.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array
from gerrymend._runtime.by_thread import heard_warnings
from gerrymend.subgroups.base import Found, check_cells, value_of_all
from gerrymend.subgroups.thresholds.clusters import clusters_of
from gerrymend.subgroups.thresholds.great_circles import ascend, measure

# What a start's logistic regression is penalised by: next to nothing.
LOGISTIC_C = 1e3


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

    def logistic(self, residual: Any, steps: int) -> Array:
        """Return the direction of a logistic regression of the sign of W, weighted by |W|."""
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
        return float(measure(direction @ self.z, *wanted))

    def side(self, residual: Array, direction: Array) -> Side:
        """Return who is above the threshold."""
        u = direction @ self.z
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

    def logistic(self, residual: Array, steps: int) -> Array:
        """Fit scikit-learn's; a start need not have converged."""
        counted = residual != 0
        # In one copy, with a column of its own for each coordinate.
        columns = np.empty((int(np.count_nonzero(counted)), self.size - 1))
        for k in range(columns.shape[1]):
            columns[:, k] = self.z[k, counted]
        model = LogisticRegression(C=LOGISTIC_C, max_iter=steps)
        with heard_warnings():
            model.fit(columns, residual[counted] > 0, np.abs(residual[counted]))
        direction: Array = np.append(model.coef_[0], model.intercept_[0])
        return direction
