"""Cells on a device, whose circles are swept by sorts and running sums there.

The same answers as `MemoryCircles` gives, for cells that lie with the residuals on a device. Only
directions and single numbers travel. Residuals are rounded to a grid on which no sum of them rounds
(`_numeric.sums`): a device adds in no order that is known, and this way it doesn't matter.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.places import Place
from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array, exactly_summable
from gerrymend.subgroups.base import Found, check_cells
from gerrymend.subgroups.thresholds.arcs import Arcs
from gerrymend.subgroups.thresholds.circles import (
    Climb,
    Clusters,
    MemoryCircles,
    Side,
    Wanted,
)
from gerrymend.subgroups.thresholds.clusters import clusters_of
from gerrymend.subgroups.thresholds.great_circles import SAME_ANGLE


class PlacedCircles:
    """The cells of others, put at a place.

    Parameters
    ----------
    here : MemoryCircles
        The cells in memory, which are let go of.
    place : Place

    Examples
    --------
    >>> cells = MemoryCircles(lambda: np.array([[-1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]))
    >>> placed = PlacedCircles(cells, Place())
    >>> wanted = placed.wanted(np.array([-0.5, 0.0, 0.5]), np.zeros(3, dtype=int), 0)
    >>> placed.climb(wanted, Climb(np.array([0.0, 1.0])), 10, 1e-12).value
    0.5
    """

    def __init__(self, here: MemoryCircles, place: Place) -> None:
        self._here = here
        self._place = place
        self._xp = place.xp
        self._z = place.put(here.z)
        self._n_cores = cpu_count()
        self.size = here.size
        self.n_cells = here.n_cells

    def release(self) -> None:
        """Keep z, which takes nothing of memory."""
        return None

    def wanted(self, residual: Any, rows: NDArray[np.intp], smallest: int) -> Wanted:
        """Return what a climb is to find, on a grid; no rows where groups may be of any size."""
        check_cells(self.n_cells, residual, rows)
        # As float64, whatever libraries make of whole numbers by division.
        rows = self._place.put(rows.astype(np.float64)) if smallest else rows
        return Wanted.of(exactly_summable(residual), rows, smallest)

    def climb(self, wanted: Wanted, at: Climb, most: int, least_gain: float) -> Climb:
        """Go on with a climb, as `great_circles.ascend` does."""
        direction, _, since_gain, turn = at
        u = self.along(direction)
        value = self._measured(u, wanted)
        for _ in range(most):
            if since_gain >= self.size:
                break
            axis = turn
            turn = (turn + 1) % self.size
            since_gain += 1
            angle = self._best_on_circle(u, self._z[axis], wanted)
            candidate = np.cos(angle) * direction
            candidate[axis] += np.sin(angle)
            length = float(np.linalg.norm(candidate))
            if np.isnan(angle) or length == 0.0:
                continue
            candidate /= length
            moved = self.along(candidate)
            new_value = self._measured(moved, wanted)
            if new_value > value + least_gain:
                direction = candidate
                u = moved
                value = new_value
                since_gain = 0
        return Climb(direction, value, since_gain, turn)

    def _best_on_circle(self, first: Any, second: Any, wanted: Wanted) -> float:
        """Return the angle of `great_circles.best_on_circle`; NaN if there is none."""
        xp = self._xp
        is_in = first > 0.0
        slope = second / first
        moves = first != 0.0
        still = None
        if not bool(xp.all(moves)):
            # A row with f = 0 changes sides at angle 0, and has the sign of s from there on.
            still = ~moves
            is_in = is_in | (still & (second > 0.0))
            slope = xp.where(moves, slope, -xp.inf)
        order = xp.argsort(slope, stable=True)
        # cot φ = −slope, so an angle is π/2 + arctan of the slope, less π/2 in what follows. An arc
        # lies between each angle and the next; one more is before them all, and one behind.
        angles = xp.atan(xp.take(slope, order, axis=0))
        values = abs(self._passed(wanted.residual, is_in, still, order) - wanted.half)
        allowed = angles[1:] - angles[:-1] > SAME_ANGLE
        inside = None
        if wanted.smallest:
            inside = self._passed(wanted.rows, is_in, still, order)
            allowed &= self._is_large(inside[1:-1], wanted)
        # One more, for a single cell, which has no arc between.
        none = xp.zeros_like(values[:1]) - 1.0
        between = xp.concat([xp.where(allowed, values[1:-1], -1.0), none])
        best = xp.argmax(between)
        after = xp.clip(best + 1, max=len(angles) - 1)
        ends = xp.stack([angles[0], angles[-1], angles[best], angles[after]])
        highest = xp.stack([values[0], values[-1], between[best]])
        return self._highest_arc(on_host(ends), on_host(highest), inside, wanted)

    def _highest_arc(self, ends: Array, highest: Array, inside: Any, wanted: Wanted) -> float:
        """Return the middle of the first arc, the last or the best between, whichever is highest.

        The earlier of two that are as high; NaN where none is.
        """
        quarter = np.pi / 2
        arcs = [(-quarter, ends[0]), (ends[2], ends[3]), (ends[1], quarter)]
        values = [highest[0], highest[2], highest[1]]
        large = [True, True, True]
        if inside is not None:
            large = [bool(self._is_large(inside[0], wanted)), True]
            large.append(bool(self._is_large(inside[-1], wanted)))
        angle = np.nan
        best = -1.0
        for (begin, end), value, is_large in zip(arcs, values, large, strict=True):
            if is_large and value > best and end - begin > SAME_ANGLE:
                best = value
                angle = (begin + end) / 2 + quarter
        return float(angle)

    def _is_large(self, inside: Any, wanted: Wanted) -> Any:
        """Return where so many rows are in, and out."""
        outside = self._xp.sum(wanted.rows) - inside
        return (inside >= wanted.smallest) & (outside >= wanted.smallest)

    def _passed(self, values: Any, is_in: Any, still: Any, order: Any) -> Any:
        """Return the sum over those inside, in each arc of the circle."""
        xp = self._xp
        change = xp.where(is_in, -values, values)
        # Of those inside, −change less the change of those outside is the sum of all.
        start = (xp.sum(values) - xp.sum(change)) / 2
        if still is not None:
            change = xp.where(still, xp.zeros_like(change), change)
        changed = xp.take(change, order, axis=0)
        return start + xp.cumulative_sum(changed, axis=0, include_initial=True)

    def _measured(self, u: Any, wanted: Wanted) -> float:
        """Return what `great_circles.measure` does."""
        members = u > TIE
        if wanted.smallest:
            inside = int(self._summed(wanted.rows, members))
            if not wanted.smallest <= inside <= int(self._xp.sum(wanted.rows)) - wanted.smallest:
                return -1.0
        return abs(float(self._summed(wanted.residual, members)) - wanted.half)

    def _summed(self, values: Any, members: Any) -> Any:
        return self._xp.sum(self._xp.where(members, values, self._xp.zeros_like(values)))

    def value(self, wanted: Wanted, direction: Array) -> float:
        """Return the |value| of a direction; −1 if its group is too small or too large."""
        return self._measured(self.along(direction), wanted)

    def side(self, residual: Any, direction: Array) -> Side:
        """Return who is above the threshold of a direction."""
        xp = self._xp
        u = self.along(direction)
        members = u > TIE
        size = int(xp.sum(xp.astype(members, xp.int64)))
        first = int(xp.argmax(xp.astype(members, xp.int8)))
        is_tied = bool(xp.any(abs(u) <= TIE))
        return Side(float(self._summed(residual, members)), size, first, is_tied)

    def found(self, residuals: Any, directions: Array) -> Found:
        """Return the groups of directions, with the values of a residual each."""
        members = self._place.as_numbers(self.along(directions) > TIE)
        values = on_host(self._xp.sum(residuals * members, axis=1))
        return Found(values, members, directions)

    def clusters(self, most: int) -> Clusters:
        """Return the clusters, whose sums come here."""
        of_cell, means = clusters_of(on_host(self._z)[:-1], most)
        order = self._place.put(np.argsort(of_cell, kind="stable"))
        ends = self._place.put(np.cumsum(np.bincount(of_cell)))

        def added(values: Any) -> NDArray[Any]:
            # Exact, as values are on a grid; so is their difference.
            totals = self._xp.cumulative_sum(self._xp.take(values, order, axis=0), axis=0)
            return np.diff(on_host(self._xp.take(totals, ends - 1, axis=0)), prepend=0)

        def summed(wanted: Wanted) -> Wanted:
            rows = added(wanted.rows) if wanted.smallest else np.zeros(len(ends))
            return wanted._replace(residual=added(wanted.residual), rows=rows.astype(np.intp))

        return Clusters(means, summed)

    def side_by_side(self, work: Callable[[int], Array], numbers: Sequence[int]) -> list[Array]:
        """Use the cores that a device leaves idle: compiled loops let go of Python's lock."""
        with ThreadPoolExecutor(max_workers=min(len(numbers), self._n_cores)) as threads:
            return list(threads.map(work, numbers))

    def products(self, residual: Any) -> Array:
        """Return z·W."""
        return on_host(self._z @ residual)

    def points(self, residual: Any) -> tuple[Array, Array]:
        """Return the columns of the cells of W ≠ 0, and W, in memory."""
        (counted,) = self._xp.nonzero(residual)
        columns = self._xp.take(self._z[:-1], counted, axis=1)
        return on_host(columns).T, on_host(self._xp.take(residual, counted, axis=0))

    def climb_arcs(self, wanted: Wanted, start: Array, deadline: float) -> tuple[Array, float]:
        """Return where arcs lead."""
        return Arcs(self, *wanted).ascend(start, deadline)

    def along(self, direction: Array) -> Any:
        """Return the value of each cell in a direction."""
        return self._place.put(direction) @ self._z

    def sum_inside(self, u: Any, amount: Any) -> float:
        """Sum an amount over the cells with u > 0, ties left out."""
        return float(self._summed(amount, u > TIE))

    def changes(self, u: Any, axis: int, amount: Any, reach: float, n_bins: int) -> Array:
        """Sum by bin what the cells bring in that change sides there."""
        xp = self._xp
        slope = self._z[axis]
        (near,) = xp.nonzero(abs(u) < reach * abs(slope))
        slope = xp.take(slope, near, axis=0)
        place = n_bins / 2 - xp.take(u, near, axis=0) / slope * (n_bins / 2 / reach)
        bins = xp.clip(xp.astype(place, xp.int64), max=n_bins - 1)
        brought = xp.take(amount, near, axis=0)
        brought = xp.where(slope > 0, brought, -brought)
        order = xp.argsort(bins, stable=True)
        # Exact, as amounts are on a grid.
        totals = xp.cumulative_sum(xp.take(brought, order, axis=0), axis=0, include_initial=True)
        ends = xp.searchsorted(xp.take(bins, order, axis=0), self._place.put(np.arange(n_bins + 1)))
        return np.diff(on_host(xp.take(totals, ends, axis=0)))
