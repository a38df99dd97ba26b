"""Ascents from many starts, each along great circles of directions (`great_circles`)."""

import math
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array
from gerrymend.subgroups.base import check_cells, value_of_all
from gerrymend.subgroups.thresholds.arcs import Arcs
from gerrymend.subgroups.thresholds.clusters import clusters_of
from gerrymend.subgroups.thresholds.great_circles import ascend, measure

_LEAST_GAIN = 1e-12
# How far starts are from the best direction so far, in turn; ∞ is anywhere. Many short ascents from
# near the best find more in the same time than few long ones, and far ones help in few dimensions.
_STEPS = (np.inf, 0.1, 1.0, 0.1)
_NEAR_STEPS = (0.3, 0.1)
# Drawn starts after which a search begins again, far from all that it has found. Of 41 mixtures of
# 100 to 2,000 rows and 6 to 14 dimensions, 8 chains of 100 starts miss 0.6 % of the worst that is
# known in the mean and 3 % at most; one of 800 misses 1.4 % and 8 %, one of 100 5 % and 15 %.
_CHAIN = 100
# So many cells are merged into clusters, over which chains of so many starts are made: some, and
# one more for each so many starts that were asked for. From the better half of where those end,
# and from so many draws near the best of these, cells are ascended along arcs. In four sets of
# 180,000 cells that finds as much as as many starts over all cells do, within .5 % in the mean and
# 2 % at worst, in a quarter of the time for 5 starts and a thirteenth for 40; 8 % less at worst
# where only noise is left. Of 60,000 cells it finds 5 % less at worst, in half of the time.
_MANY_CELLS = 100_000
_MOST_CLUSTERS = 4096
_FEWEST_CHAINS = 4
_STARTS_A_CHAIN = 10
_CLUSTER_CHAIN = 16
_FEWEST_DRAWS = 2
_STARTS_A_DRAW = 5
# Rows of all circles between two looks at the clock: some tenths of a second. To sort a row takes
# as long as to read so many numbers, which each circle that leads higher does for every column.
_STRETCH = 2_000_000
_NUMBERS_OF_A_SORT = 100


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

    def points(self, residual: Array) -> tuple[Array, Array]:
        """Return points of W ≠ 0, their standardised columns one a column, and W of each.

        They are cells; of very many, the means of clusters, once with the W above 0 of their cells
        and once with that below.
        """
        means = self.zt
        parts = [residual]
        if self.n_cells >= _MANY_CELLS:
            of_cell, over = self._clusters
            means = over.zt
            above, below = (
                np.bincount(of_cell, part).astype(np.float64)
                for part in (np.maximum(residual, 0.0), np.minimum(residual, 0.0))
            )
            parts = [above, below]
        counted = [np.flatnonzero(part) for part in parts]
        z = np.empty((sum(map(len, counted)), len(means) - 1))
        for k in range(z.shape[1]):
            np.concatenate([means[k, some] for some in counted], out=z[:, k])
        weights = [part[some] for part, some in zip(parts, counted, strict=True)]
        return z, np.concatenate(weights)

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
        if restarts and self.n_cells >= _MANY_CELLS:
            starts = self._from_clusters(residual, rows, smallest, starts, restarts, deadline)
            numbers = range(_FEWEST_DRAWS + restarts // _STARTS_A_DRAW)
            near = self._chain(residual, rows, smallest, starts, numbers, deadline, near=True)
            return near.direction, near.value
        best = self._chain(residual, rows, smallest, starts, range(min(restarts, _CHAIN)), deadline)
        for first in range(_CHAIN, restarts, _CHAIN):
            if time.monotonic() >= deadline:
                break
            numbers = range(first, min(first + _CHAIN, restarts))
            other = self._chain(residual, rows, smallest, (), numbers, deadline, len(starts))
            if other.betters(best):
                best = other
        return best.direction, best.value

    def _from_clusters(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        smallest: int,
        starts: Sequence[Array],
        restarts: int,
        deadline: float,
    ) -> list[Array]:
        """Return the best of the starts, and of where chains over clusters of cells end."""
        of_cell, over = self._clusters
        clustered: Array = np.bincount(of_cell, residual).astype(np.float64)
        clustered_rows = np.bincount(of_cell, rows).astype(np.intp)
        n_chains = _FEWEST_CHAINS + restarts // _STARTS_A_CHAIN
        ends = list(starts)
        for first in range(0, n_chains * _CLUSTER_CHAIN, _CLUSTER_CHAIN):
            numbers = range(first, first + _CLUSTER_CHAIN)
            given = starts if first == 0 else ()
            n_before = 0 if first == 0 else len(starts)
            end = over._chain(
                clustered, clustered_rows, smallest, given, numbers, deadline, n_before
            )
            ends.append(end.direction)
            if time.monotonic() >= deadline:
                break
        half = float(value_of_all(residual)) / 2
        values = [measure(end @ self.zt, residual, half, rows, smallest) for end in ends]
        best = np.argsort(values, kind="stable")[::-1][: n_chains // 2]
        return [ends[place] for place in best]

    @cached_property
    def _clusters(self) -> tuple[NDArray[np.intp], "Ascent"]:
        """The cluster of each cell, and ascents over the means of clusters."""
        of_cell, means = clusters_of(self.zt[:-1], _MOST_CLUSTERS)
        over = np.vstack([means, np.ones(means.shape[1])])
        return of_cell, Ascent(lambda: over, self._seed)

    def _chain(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        smallest: int,
        starts: Sequence[Array],
        numbers: range,
        deadline: float,
        n_before: int = 0,
        near: bool = False,
    ) -> "_Reached":
        """Ascend from given starts and then from drawn ones, many of them near the best so far.

        `n_before` is the number of starts that other chains were given, so that no two draw alike.
        Where all starts are `near` the best, arcs do for circles.
        """
        climb = self._climb_arcs if near else self._climb
        steps = _NEAR_STEPS if near else _STEPS
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
                step = steps[i % len(steps)]
                if np.isfinite(step):
                    start = best.direction + step * start / np.sqrt(size)
            direction, value = climb(start, residual, half, rows, smallest, deadline)
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

    def _climb_arcs(
        self,
        start: Array,
        residual: Array,
        half: float,
        rows: NDArray[np.intp],
        smallest: int,
        deadline: float,
    ) -> tuple[Array, float]:
        """Ascend from one start that is nearly the best."""
        return Arcs(self.zt, residual, half, rows, smallest).ascend(start, deadline)

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
