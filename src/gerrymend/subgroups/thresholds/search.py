"""A stronger search for linear thresholds: ascent along great circles of directions.

Starts are the regression's direction, a logistic regression's, and random ones; see `ascents` for
what is made of them.
"""

import copy
import math
import time
from abc import abstractmethod
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.places import MEMORY, Place
from gerrymend._numeric.projection import OrthonormalBasis, WeightedColumns, only
from gerrymend._numeric.sums import Array
from gerrymend._runtime.by_thread import heard_warnings
from gerrymend._runtime.clocks import WALL_CLOCK, Clock, WorkClock
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import BoundClass, Bracket, Found, SubgroupClass, value_of_all
from gerrymend.subgroups.brought_here import BroughtHere
from gerrymend.subgroups.encoding import DirectionRules, LinearEncoding
from gerrymend.subgroups.proofs.threshold_proofs import ThresholdProofs
from gerrymend.subgroups.thresholds.ascents import Ascent
from gerrymend.subgroups.thresholds.circles import MemoryCircles
from gerrymend.subgroups.thresholds.regression import LinearSearch
from gerrymend.subgroups.thresholds.standardised import standardised_terms

# Starts of a search that is asked often: as many as this many numbers allow, within limits.
_OFTEN_NUMBERS = 135_000
_FEWEST = 5
_MOST = 200
_HARDER = 8
# Reads of a start, for each number of the design: some two dozen circles, each a sort.
_READS_BY_A_START = 50
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


class StartedSearch(LinearSearch):
    """Ascent from some starts: a lower bound, and where proofs start.

    A subclass implements `_search` and `_found`, and sets `source`.
    """

    # Where residuals and members lie.
    _place = MEMORY

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
        return self._proven(residual, found, at_most, left, WALL_CLOCK)

    def close_in(self, residual: Array, found: Found, *, work: float) -> Bracket:
        """Prove so from what was found, for so much work."""
        return self._proven(residual, found, None, work, WorkClock())

    def _proven(
        self, residual: Array, found: Found, at_most: float | None, allowed: float, clock: Clock
    ) -> Bracket:
        """Prove in memory, wherever the residual lies and the members of what was found."""
        here = found._replace(members=on_host(found.members))
        bracket = self._proofs.prove(on_host(residual), here, at_most, allowed, clock)
        members = self._place.put(bracket.found.members)
        return bracket._replace(found=bracket.found._replace(members=members))

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
        self._here = MemoryCircles(partial(standardised_terms, encoding, columns, mean, scale))
        self._ascent = Ascent(self._here, seed)
        self._seed = seed
        self._in_memory = self
        # Directions over z are coordinates; a row of the identity is the rule of a unit vector.
        unit = np.eye(design.shape[1] + 1)
        coefficients = unit[:, :-1] / scale
        self.source = DirectionRules(encoding, unit[:, -1] - coefficients @ mean, coefficients)

    def release(self) -> None:
        """Let go of the design, which the next search makes again."""
        self._ascent.circles.release()

    def at(self, place: Place) -> BoundClass:
        """Return the same search over cells that lie elsewhere."""
        from gerrymend.subgroups.thresholds.placed_circles import PlacedCircles

        there = copy.copy(self)
        there._place = place
        there._in_memory = self
        there._ascent = Ascent(PlacedCircles(self._here, place), self._seed)
        self._here.release()
        return there

    def one_sided(self, sign: int) -> BoundClass:
        """Return the search of one side, which is made in memory."""
        if self._place.is_memory:
            return super().one_sided(sign)
        return BroughtHere(self._in_memory.one_sided(sign), self._place)

    def searched_as(self, subgroups: SubgroupClass) -> BoundClass | None:
        """Return the search with the starts of other linear thresholds that are searched so."""
        from gerrymend.subgroups.linear import LinearThresholds

        alike = {"search": "search", "intercept": True, "random_state": self._seed}
        given = subgroups.get_params()
        restarts = given.pop("restarts", None)
        if not isinstance(subgroups, LinearThresholds) or given != alike:
            return None
        other = self._with_starts(starts_for(self._n_numbers, restarts))
        other._logistic = other._restarts > 0
        return other

    def _search(
        self, residual: Array, rows: NDArray[np.intp], smallest: int, deadline: float = math.inf
    ) -> tuple[Array, float]:
        """Return the best direction over z and 1."""
        starts = self._starts(residual, deadline)
        wanted = self._ascent.circles.wanted(residual, rows, smallest)
        return self._ascent.best(wanted, starts, self._restarts, deadline)

    def _found(self, residuals: Array, directions: Array) -> Found:
        return self._ascent.circles.found(residuals, directions)

    def _starts(self, residual: Array, deadline: float) -> list[Array]:
        if not residual.any():
            return []
        starts = [self._regression_direction(residual)]
        if not self._logistic or time.monotonic() >= deadline:
            return starts
        # Of centred residuals both signs occur; but for rounding, where all have one outcome.
        if self._ascent.circles.size > 1 and residual.min() < 0 < residual.max():
            z, weight = self._ascent.points(residual)
            steps = max(_FEWEST_STEPS, min(_MOST_STEPS, _LOGISTIC_NUMBERS // max(1, z.size)))
            model = LogisticRegression(C=1e3, max_iter=steps)
            with heard_warnings():  # a start need not have converged
                model.fit(z, weight > 0, np.abs(weight))
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
        circles = self._ascent.circles
        direction: Array = turn @ (circles.products(residual) @ turn)
        if value_of_all(residual):  # the other side may be worse
            other = abs(circles.side(residual, -direction).value)
            if other > abs(circles.side(residual, direction).value):
                direction = -direction
        return direction
