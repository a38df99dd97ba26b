"""A stronger search for linear thresholds: ascent along great circles of directions.

Starts are the regression's direction, a logistic regression's, and random ones; see `circles` for
the ascent.
"""

import copy
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from gerrymend._numeric.projection import TIE, OrthonormalBasis, WeightedColumns, only
from gerrymend._numeric.sums import Array
from gerrymend._runtime.by_thread import heard_warnings
from gerrymend._runtime.clocks import WorkClock
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import Bracket, Found, check_cells, value_of_all
from gerrymend.subgroups.encoding import DirectionRules, LinearEncoding
from gerrymend.subgroups.proofs.threshold_proofs import ThresholdProofs
from gerrymend.subgroups.thresholds.great_circles import ascend
from gerrymend.subgroups.thresholds.regression import LinearSearch
from gerrymend.subgroups.thresholds.standardised import standardised_terms

_LEAST_GAIN = 1e-12
# How far starts are from the best direction so far, in turn; ∞ is anywhere. Many short ascents from
# near the best find more in the same time than few long ones, and far ones help in few dimensions.
_STEPS = (np.inf, 0.1, 1.0, 0.1)
# Drawn starts after which a search begins again, far from all that it has found. Of 41 mixtures of
# 100 to 2,000 rows and 6 to 14 dimensions, 8 chains of 100 starts miss 0.6 % of the worst that is
# known in the mean and 3 % at most; one of 800 misses 1.4 % and 8 %, one of 100 5 % and 15 %.
_CHAIN = 100
# Starts of a search that is asked often: as many as this many numbers allow, within limits.
_OFTEN_NUMBERS = 135_000
_FEWEST = 5
_MOST = 200
_HARDER = 8
# Reads of a start, for each number of the design: some two dozen circles, each a sort.
_READS_BY_A_START = 50
# Rows of all circles between two looks at the clock: some tenths of a second. To sort a row takes
# as long as to read so many numbers, which each circle that leads higher does for every column.
_STRETCH = 2_000_000
_NUMBERS_OF_A_SORT = 100
# Numbers that the logistic regression's start may read, within limits on its steps: a second or so.
_LOGISTIC_NUMBERS = 300_000_000
_FEWEST_STEPS = 10
_MOST_STEPS = 200


def starts_for(n_numbers: int, restarts: int | None) -> int:
    """Return how many starts to make: as asked for, or else by the numbers that each reads.

    >>> starts_for(1_000_000, 100), starts_for(1_000_000, None)
    (100, 5)
    """
    if restarts is not None:
        return restarts
    return min(_MOST, max(_FEWEST, _OFTEN_NUMBERS // max(1, n_numbers)))


class _Reached(NamedTuple):
    """Where ascents have led: a direction, its |value|, how many cells are in, and the first."""

    direction: Array
    value: float
    size_and_first: tuple[int, int]

    def betters(self, other: "_Reached") -> bool:
        """Tell if the value is larger, or the same of fewer cells or earlier ones."""
        if self.value > other.value + _LEAST_GAIN:
            return True
        same = self.value > other.value - _LEAST_GAIN
        return same and self.size_and_first < other.size_and_first


class Ascent:
    """Ascents over standardised columns, and a column of ones, from starts that are given or drawn.

    `standardise` makes them, one a row, the ones last.
    """

    def __init__(self, standardise: Callable[[], Array], seed: int) -> None:
        self._standardise = standardise
        self._seed = seed
        self._drawn: dict[int, Array] = {}

    @cached_property
    def zt(self) -> Array:
        """The columns, one a row: of many cells they are large, and made when they are needed."""
        return self._standardise()

    def release(self) -> None:
        """Let go of the columns until they are needed again."""
        self.__dict__.pop("zt", None)

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return int(self.zt.shape[1])

    def of_cells(self, chosen: NDArray[np.bool_]) -> Array:
        """Return the standardised columns of some cells, one a column, in one copy."""
        z = np.empty((int(np.count_nonzero(chosen)), len(self.zt) - 1))
        for k in range(z.shape[1]):
            z[:, k] = self.zt[k, chosen]
        return z

    def best(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        smallest: int,
        starts: Sequence[Array],
        restarts: int,
        deadline: float = math.inf,
    ) -> tuple[Array, float]:
        """Return the best direction and its |value|, from as many starts as there is time for.

        Values are as in `great_circles`. Of the two sides of a threshold it names the one whose
        rate is too high, or the worse of the two, and between subgroups that are equally bad the
        one of fewer distinct rows, or whose first comes first.
        """
        check_cells(self.n_cells, residual, rows)
        if not starts:
            restarts = 0
        best = self._chain(residual, rows, smallest, starts, range(min(restarts, _CHAIN)), deadline)
        for first in range(_CHAIN, restarts, _CHAIN):
            if time.monotonic() >= deadline:
                break
            numbers = range(first, min(first + _CHAIN, restarts))
            other = self._chain(residual, rows, smallest, (), numbers, deadline, len(starts))
            if other.betters(best):
                best = other
        return best.direction, best.value

    def _chain(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        smallest: int,
        starts: Sequence[Array],
        numbers: range,
        deadline: float,
        n_before: int = 0,
    ) -> "_Reached":
        """Ascend from given starts and then from drawn ones, many of them near the best so far.

        `n_before` is the number of starts that other chains were given, so that no two draw alike.
        """
        half = float(value_of_all(residual)) / 2
        size = len(self.zt)
        everyone = np.zeros(size)
        everyone[-1] = half != 0  # where they have a value, and else no one
        best = _Reached(
            everyone, abs(half) if smallest == 0 else -1.0, (self.n_cells if half else 0, 0)
        )
        for i in range(n_before + numbers.start, n_before + len(starts) + numbers.stop):
            if i < len(starts):
                start = starts[i]
            else:
                start = self._draw(i)
                step = _STEPS[i % len(_STEPS)]
                if np.isfinite(step):
                    start = best.direction + step * start / np.sqrt(size)
            direction, value = self._climb(start, residual, half, rows, smallest, deadline)
            if value > best.value - _LEAST_GAIN:
                direction, members = self._worse_side(direction, residual, half)
                reached = _Reached(direction, value, members)
                if reached.betters(best):
                    best = reached
            if time.monotonic() >= deadline:
                break
        return best

    def _draw(self, i: int) -> Array:
        """Return the random numbers of a start, which are the same in every search."""
        if i not in self._drawn:
            # A generator for each start: one more start can then only add to what is found.
            rng = np.random.default_rng([self._seed, i])
            self._drawn[i] = rng.standard_normal(len(self.zt))
        return self._drawn[i]

    def _climb(
        self,
        start: Array,
        residual: Array,
        half: float,
        rows: NDArray[np.intp],
        smallest: int,
        deadline: float,
    ) -> tuple[Array, float]:
        """Ascend from one start, with a look at the clock now and then."""
        direction = start / (np.linalg.norm(start) or 1.0)
        since_gain = 0
        turn = 0
        stretch = 1 + _STRETCH // (len(rows) * (1 + len(direction) // _NUMBERS_OF_A_SORT))
        while True:
            direction, value, since_gain, turn = ascend(
                self.zt, residual, half, rows, smallest, direction, since_gain, turn, stretch,
                _LEAST_GAIN,
            )  # fmt: skip
            if since_gain >= len(direction) or time.monotonic() >= deadline:
                return direction, value

    def _worse_side(
        self, direction: Array, residual: Array, half: float
    ) -> tuple[Array, tuple[int, int]]:
        """Return the direction or its opposite, how many cells are in, and the first.

        The side is that of everyone's value and, where they have none, the one that is too high.
        """
        u = direction @ self.zt
        side = -1.0 if half < 0 else 1.0
        tied = bool((np.abs(u) <= TIE).any())
        # Rows that are tied are in neither side, but for a threshold that is moved beyond them:
        # where the sides are equally bad there is no need to.
        if side * (residual[u > TIE].sum() - half) < 0 and (half or not tied):
            direction = -direction
            direction[-1] += 3 * TIE if tied else 0.0
            u = direction @ self.zt
        return direction, (int(np.count_nonzero(u > TIE)), int(np.argmax(u > TIE)))


class StartedSearch(LinearSearch):
    """Ascent from some starts: a lower bound, and where proofs start.

    A subclass implements `_search` and `_found`, and sets `source`.
    """

    def __init__(
        self,
        columns: tuple[Column, ...],
        encoding: LinearEncoding,
        n_numbers: int,
        restarts: int | None,
    ) -> None:
        super().__init__(columns, encoding)
        self._n_numbers = n_numbers
        self._restarts = starts_for(n_numbers, restarts)
        self._logistic = self._restarts > 0

    @abstractmethod
    def _search(
        self, residual: Array, rows: NDArray[np.intp], smallest: int, deadline: float = math.inf
    ) -> tuple[Array, float]:
        """Return the key of the best group, and its |value|; negative if none is large enough.

        The value is the one that `Ascent` has, not the group's.
        """

    @abstractmethod
    def _found(self, residuals: Array, directions: Array) -> Found:
        """Return the groups of some keys, measured by a residual each."""

    @property
    def quick(self) -> "StartedSearch":
        """Few starts, as the regression's alone may be a dead end, and no logistic regression."""
        quick = self._with_starts(min(_FEWEST, self._restarts))
        quick._logistic = False
        return quick

    def thorough(self, work: float = math.inf) -> "StartedSearch":
        """Several times as many starts, as far as so much work allows."""
        affordable = work / (_READS_BY_A_START * max(1, self._n_numbers))
        most = _HARDER * self._restarts
        return self._with_starts(max(self._restarts, int(min(most, affordable))))

    def _with_starts(self, restarts: int) -> "StartedSearch":
        other = copy.copy(self)
        other._restarts = restarts
        return other

    def prove(
        self,
        residual: Array,
        *,
        at_most: float | None = None,
        seconds: float = math.inf,
    ) -> Bracket:
        """Close in on the worst threshold by branch and bound, or on those of few attributes."""
        start = time.monotonic()
        found = self.search(residual, seconds=seconds / 2)
        left = max(0.0, start + seconds - time.monotonic())
        return self._proofs.prove(residual, found, at_most, left)

    def close_in(self, residual: Array, found: Found, *, work: float) -> Bracket:
        """Prove so from what was found, for so much work."""
        return self._proofs.prove(residual, found, None, work, WorkClock())

    @cached_property
    def _proofs(self) -> ThresholdProofs:
        return ThresholdProofs(self._columns, self._encoding)

    @property
    def unprovable(self) -> str:
        """Why no bound over thresholds of all attributes is proven; "" where one is."""
        return self._proofs.unprovable

    def search(self, residual: Array, *, seconds: float = math.inf) -> Found:
        """Return the best of as many starts as there is time for."""
        no_rows = np.zeros(len(residual), dtype=np.intp)
        direction, _ = self._search(residual, no_rows, 0, time.monotonic() + seconds)
        return self._found(residual[None], direction[None])

    def worst(self, residuals: Array) -> Found:
        """Return the best of all starts, for each residual."""
        no_rows = np.zeros(residuals.shape[1], dtype=np.intp)
        directions = np.array([self._search(residual, no_rows, 0)[0] for residual in residuals])
        return self._found(residuals, directions)

    def worst_of_size(
        self, residual: Array, rows: NDArray[np.intp], smallest: int, *, seconds: float = math.inf
    ) -> Found | None:
        """Return the best of all starts, among groups with at least so many rows in and out."""
        direction, value = self._search(residual, rows, smallest, time.monotonic() + seconds)
        return self._found(residual[None], direction[None]) if value >= 0.0 else None


class GreatCircleSearch(StartedSearch):
    """The search over a design of all terms, never below the regression's, whose basis turns it."""

    def __init__(
        self,
        columns: tuple[Column, ...],
        encoding: LinearEncoding,
        event_weight: Array,
        *,
        restarts: int | None,
        seed: int,
    ) -> None:
        design = encoding.matrix(columns)
        super().__init__(columns, encoding, design.size + len(design), restarts)
        self._basis = OrthonormalBasis.of(
            only(WeightedColumns(design, event_weight)), argument="sensitive_features"
        )
        mean = self._basis.mean
        scale = self._basis.scale
        self._ascent = Ascent(partial(standardised_terms, encoding, columns, mean, scale), seed)
        # Directions over z are coordinates; a row of the identity is the rule of a unit vector.
        unit = np.eye(design.shape[1] + 1)
        coefficients = unit[:, :-1] / scale
        self.source = DirectionRules(encoding, unit[:, -1] - coefficients @ mean, coefficients)

    def release(self) -> None:
        """Let go of the design, which the next search makes again."""
        self._ascent.release()

    def _search(
        self, residual: Array, rows: NDArray[np.intp], smallest: int, deadline: float = math.inf
    ) -> tuple[Array, float]:
        """Return the best direction over z and 1."""
        starts = self._starts(residual, deadline)
        return self._ascent.best(residual, rows, smallest, starts, self._restarts, deadline)

    def _found(self, residuals: Array, directions: Array) -> Found:
        members = (directions @ self._ascent.zt > TIE).astype(np.float64)
        return Found(np.vecdot(residuals, members), members, directions)

    def _starts(self, residual: Array, deadline: float) -> list[Array]:
        if not residual.any():
            return []
        starts = [self._regression_direction(residual)]
        if not self._logistic or time.monotonic() >= deadline:
            return starts
        zt = self._ascent.zt
        counted = residual != 0
        # Of centred residuals both signs occur; but for rounding, where all have one outcome.
        if len(zt) > 1 and residual.min() < 0 < residual.max():
            steps = max(_FEWEST_STEPS, min(_MOST_STEPS, _LOGISTIC_NUMBERS // zt.size))
            model = LogisticRegression(C=1e3, max_iter=steps)
            with heard_warnings():  # a start need not have converged
                model.fit(
                    self._ascent.of_cells(counted), residual[counted] > 0, np.abs(residual[counted])
                )
            starts.append(np.append(model.coef_[0], model.intercept_[0]))
        return starts

    def _regression_direction(self, residual: Array) -> Array:
        """Return the group of `RegressionSearch` as a direction over z and 1.

        The basis is B = [1, z]·turn, so that the fit B Bᵀ W has the coefficients
        turn·turnᵀ·[1, z]ᵀW: one pass over z.
        """
        turn = np.roll(self._basis.turn, -1, axis=0)  # the ones are last in zt
        # A constant column has no part in any direction.
        turn[:-1][np.isinf(self._basis.scale)] = 0.0
        zt = self._ascent.zt
        direction: Array = turn @ ((zt @ residual) @ turn)
        if value_of_all(residual):  # the other side may be worse
            scores = direction @ zt
            if abs(residual[scores < -TIE].sum()) > abs(residual[scores > TIE].sum()):
                direction = -direction
        return direction
