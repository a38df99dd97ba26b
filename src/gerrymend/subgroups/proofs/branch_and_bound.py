"""Linear thresholds, proven: branch and bound over directions.

Directions are covered by simplicial cones, thresholds are profiled out, and each cone gets the
bounds of `cone_bounds`. The cone with the largest bound is halved, until no bound is above the best
group found: then that group is the worst of all. Whenever it is stopped, the largest bound left
holds for the whole class.

Where many rows are tied in one direction, no amount of halving tells the orders that directions
around it give to these rows; `tied_leaf` settles such a cone by a problem of fewer dimensions.
"""

import functools
import heapq
import math
from typing import NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.clocks import WALL_CLOCK, Clock
from gerrymend._runtime.interrupts import check_stopped
from gerrymend.subgroups.proofs.cone_bounds import (
    best_thresholds,
    cone_bound,
    longest_edge,
    rows_in_question,
    values_in,
)
from gerrymend.subgroups.proofs.tied_leaf import tied_leaf
from gerrymend.subgroups.proofs.whole_points import Points
from gerrymend.subgroups.rules import Members

# In units of the standardised directions: values closer than this are not told apart.
_EPS = 1e-10
# Directions with a larger cosine have no middle between them.
_NEAREST = 1.0 - 1e-14
# Rows in question where a cone is settled at once; twice as many whenever it was halved all round.
_MOST_ROWS = 100
# What sums of weights can be off by, of the sum of all that are positive.
_ROUNDING = 1e-11
# A cone takes some 0.1 ms and a leaf some 2 ms whatever their rows, in which a kernel reads so many
# numbers: few rows must not make work look cheap.
_CONE_WORK = 20_000
_LEAF_WORK = 200_000
# Nor must many rows: a flow compares each row with others, the more the more there are, and a leaf
# compares each row with all that are in question. With these a number takes 2 to 8 ns from 500 to
# 10,000 rows, be they of 3 attributes or of 8, where by u alone it took 3 to 58.
_OF_A_FLOW = 0.05  # of the root of the rows, for each number of u
_OF_A_PAIR = 4


class Solved(NamedTuple):
    """The largest value, who is in (None if it was known before), and a bound on every value."""

    value: float
    members: Members | None
    upper_bound: float


def solve(
    points: Points,
    *,
    known: float = 0.0,
    enough: float = math.inf,
    target: float = -math.inf,
    deadline: float = math.inf,
    clock: Clock = WALL_CLOCK,
) -> Solved:
    """Find the largest value of a linear threshold over some points.

    `known` is a value that some group is known to have; only better ones are looked for. It ends
    once a value is above `enough`, or none can be above `target`, or at the deadline.
    """
    counted = np.flatnonzero(points.weight != 0)
    merged, index = points.take(counted).merged()
    solved = _solve_merged(merged, known, enough, target, deadline, clock)
    if solved.members is None:
        return solved
    members = np.zeros(len(points.weight), dtype=bool)
    members[counted] = solved.members[index]
    return solved._replace(members=members)


def _solve_merged(
    points: Points, known: float, enough: float, target: float, deadline: float, clock: Clock
) -> Solved:
    """Do the same for points that are all different; weights may have cancelled to 0."""
    positive = points.weight > 0
    if (points.weight >= 0).all() or not positive.any():  # take all, or none
        found = _Found(float(points.weight[positive].sum()), np.full(len(positive), positive.any()))
        bound = found.value
    elif (most := float(points.weight[positive].sum())) <= max(known, target):
        return Solved(known, None, max(known, most))
    else:
        search = _Search(points.in_few_columns(), clock)
        bound = search.run(_Found(known, None), enough, target, deadline)
        found = search.found
    if found.value <= known or found.members is None:
        return Solved(known, None, max(known, bound))
    return Solved(found.value, found.members, max(found.value, bound))


@functools.cache
def _simplex(d: int) -> Array:
    """Return the d + 1 corners of a regular simplex around the origin of d dimensions."""
    # The centring matrix has d singular values of 1, whose vectors span what is orthogonal to
    # (1, …, 1). Row i is the i-th unit vector less the mean of all, in coordinates of that space.
    corners: Array = np.linalg.svd(np.eye(d + 1) - 1.0 / (d + 1))[0][:, :d]
    return corners


class _Found(NamedTuple):
    """The best value so far, and who is in, in the order of the merged points."""

    value: float
    members: Members | None


class _Search:
    """One branch and bound. Its rows are those of positive weight, then the others, by stratum."""

    def __init__(self, points: Points, clock: Clock) -> None:
        self._clock = clock
        z, self._to_x = points.whitening()
        self._order = np.lexsort((points.stratum, points.weight <= 0))
        self._points = points = points.take(self._order)
        self._z = np.ascontiguousarray(z[self._order].T)
        n_positive = int((points.weight > 0).sum())
        strata = np.arange(points.n_strata + 1)
        self._positives = np.searchsorted(points.stratum[:n_positive], strata)
        self._negatives = n_positive + np.searchsorted(points.stratum[n_positive:], strata)
        # |u| is at most the reach, so that a higher rank is beyond in every direction.
        reach = float(np.sqrt((z**2).sum(axis=1)).max(initial=0.0))
        self._shift: Array = (4.0 * reach + 1.0) * points.rank.astype(np.float64)
        self._eps = _EPS * max(1.0, float(self._shift.max()))
        self._rounding = _ROUNDING * float(points.weight[:n_positive].sum())
        # Vertices: directions over z, and the best threshold of each in each stratum.
        self._n_vertices = 0
        self._directions = np.empty((64, len(self._z)))
        self._thresholds = np.empty((64, points.n_strata))
        # Cones that share an edge share its middle, and the thresholds that were found there.
        self._middles: dict[tuple[int, int], int] = {}
        self._u = np.empty((max(1, len(self._z)), len(points.weight)))
        self._heap: list[tuple[float, int, tuple[int, ...]]] = []
        self._target = -math.inf
        # The largest bound of a cone that is not halved any more: it bounds what was not found,
        # too.
        self._closed = -math.inf
        self.found = _Found(0.0, None)

    def run(self, known: _Found, enough: float, target: float, deadline: float) -> float:
        """Search, and return a bound on every value that was not found."""
        self.found = known
        self._target = target
        if known.value < 0.0:  # no one at all
            self.found = _Found(0.0, np.zeros(len(self._order), dtype=bool))
        for cone in self._cover():
            if self._clock() >= deadline:  # of many rows, some cones take all the time there is
                return math.inf
            self._push(cone, 0, math.inf)
        enough += self._rounding
        while self._heap and self.found.value <= enough and self._clock() < deadline:
            check_stopped()
            bound, depth, cone = self._heap[0]
            if not self._is_open(-bound):
                break
            heapq.heappop(self._heap)
            # The longest edge goes first: a cone is halved all round in as many steps as it has
            # generators.
            size, between = divmod(depth, len(cone))
            # Of the rows that are tied in a small cone, halving would leave all in question.
            most_rows = _MOST_ROWS << (size - 2) if size >= 2 and between == 0 else 0
            if not (most_rows and self._settle(cone, -bound, most_rows, deadline)):
                halves = self._halves(cone)
                for half in halves:
                    self._push(half, depth + 1, -bound)
                if not halves:  # as far as float64 goes: what is left counts as open
                    self._closed = max(self._closed, -bound)
        left = -self._heap[0][0] if self._heap else -math.inf
        return max(self._beyond_found(left), self._closed)

    def _cover(self) -> list[tuple[int, ...]]:
        """Cones that cover every direction: over the facets of a simplex around the origin."""
        d = len(self._z)
        for corner in _simplex(d):
            self._add_vertex(corner)
        if d == 0:  # all ranks are told: there is nothing to choose but thresholds
            return [(0,)]
        return [tuple(j for j in range(d + 1) if j != i) for i in range(d + 1)]

    def _is_open(self, bound: float) -> bool:
        return bound > max(self.found.value, self._target) + self._rounding

    def _beyond_found(self, bound: float) -> float:
        """Return a bound; where rounding alone puts it above what was found, without that."""
        return bound - self._rounding if bound <= self.found.value + self._rounding else bound

    def _add_vertex(self, direction: Array) -> int:
        size = math.sqrt(direction @ direction)
        direction = direction / size if size > 0 else direction
        u = direction @ self._z + self._shift
        vertex = self._n_vertices
        self._n_vertices = self._n_vertices + 1
        if vertex == len(self._directions):
            self._directions = np.concatenate([self._directions, self._directions])
            self._thresholds = np.concatenate([self._thresholds, self._thresholds])
        self._directions[vertex] = direction
        value = best_thresholds(
            u, self._points.weight, self._positives, self._negatives, self._eps,
            self._thresholds[vertex],
        )  # fmt: skip
        if value > self.found.value + self._rounding:
            self._try(u)
        return vertex

    def _try(self, u: Array) -> None:
        """Try the best thresholds in a direction, none of them between two rows that are tied."""
        members = np.zeros(len(u), dtype=bool)
        for stratum in np.unique(self._points.stratum):
            rows = np.flatnonzero(self._points.stratum == stratum)
            rows = rows[np.argsort(-u[rows], kind="stable")]
            sums = np.cumsum(self._points.weight[rows])
            apart = np.append(-np.diff(u[rows]) > 4.0 * self._eps, True)
            best = int(np.argmax(np.where(apart, sums, -math.inf)))
            if sums[best] > 0.0:
                members[rows[: best + 1]] = True
        self._improve(members)

    def _improve(self, members: Members) -> None:
        value = float(self._points.weight[members].sum())
        if value > self.found.value + self._rounding:
            unsorted = np.empty(len(members), dtype=bool)
            unsorted[self._order] = members
            self.found = _Found(value, unsorted)

    def _evaluate(self, cone: tuple[int, ...]) -> None:
        n_rows = self._u.shape[1]
        reads = self._u.size * (1.0 + _OF_A_FLOW * math.sqrt(n_rows))
        self._clock.worked(reads + _CONE_WORK)
        values_in(
            np.array(cone), self._directions, self._thresholds, self._z, self._shift,
            self._points.stratum, self._u,
        )  # fmt: skip

    def _push(self, cone: tuple[int, ...], depth: int, parent: float) -> None:
        self._evaluate(cone)
        bound = cone_bound(
            self._u,
            self._points.weight,
            self._positives,
            self._negatives,
            max(self.found.value, self._target),
            self._eps,
        )
        self._keep(min(bound, parent), depth, cone)

    def _keep(self, bound: float, depth: int, cone: tuple[int, ...]) -> None:
        if self._is_open(bound):
            heapq.heappush(self._heap, (-bound, depth, cone))
        else:
            self._closed = max(self._closed, self._beyond_found(bound))

    def _halves(self, cone: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Halve the longest edge: the generators that are furthest apart; none if too near."""
        first, second, cosine = longest_edge(np.array(cone), self._directions)
        if cosine > _NEAREST:
            return []
        edge = min(cone[first], cone[second]), max(cone[first], cone[second])
        if edge not in self._middles:
            middle = self._directions[edge[0]] + self._directions[edge[1]]
            self._middles[edge] = self._add_vertex(middle)
        vertex = self._middles[edge]
        return [tuple(vertex if i == end else i for i in cone) for end in edge]

    def _settle(self, cone: tuple[int, ...], bound: float, most_rows: int, deadline: float) -> bool:
        """Settle the cone by a problem of fewer dimensions, if there is one, and say so."""
        # The values are kept of one cone, the last that was looked at: those of this one anew.
        self._evaluate(cone)
        direction = self._to_x @ self._directions[list(cone)].sum(axis=0)
        in_question, empty = rows_in_question(
            self._u, self._points.weight, self._positives, self._negatives, self.found.value,
            self._eps,
        )  # fmt: skip
        last = np.flatnonzero(in_question)
        if len(last) > most_rows:
            return False
        self._clock.worked(_LEAF_WORK + _OF_A_PAIR * len(last) * self._u.shape[1])
        leaf = tied_leaf(self._points, self._u, last, empty, self._eps, direction)
        if leaf is None:
            return False
        base = float(self._points.weight[leaf.inside].sum())
        known = self.found.value - base
        solved = _solve_merged(leaf.points, known, math.inf, -math.inf, deadline, self._clock)
        if solved.members is not None:
            members = leaf.inside.copy()
            members[leaf.rows] = solved.members
            self._improve(members)
        # At depth 0: what the leaf left open is halved all round, twice, before it is tried again.
        self._keep(min(bound, base + solved.upper_bound), 0, cone)
        return True
