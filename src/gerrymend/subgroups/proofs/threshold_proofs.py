"""Proofs over linear thresholds: which algorithm for which attributes, and the rule that came out.

A categorical attribute enters as indicators. Those of one attribute need no dimension of their own:
with a coefficient for each category, each category has a threshold of its own, a stratum. The one
with the most categories is taken; two would need the thresholds of one to be shifted alike in each
category of the other, so the others stay indicators.

In between, values are sums of W over a group less half of the sum S of all (`subgroups.base`): both
sides of a threshold then have the same |value|. It is |S|/2 less than that of the worse side.
"""

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.clocks import WALL_CLOCK, Clock
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import Bracket, Found, most_of_any, value_of_all
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.subgroups.proofs import planar
from gerrymend.subgroups.proofs.branch_and_bound import Solved, solve
from gerrymend.subgroups.proofs.chains import Meeting
from gerrymend.subgroups.proofs.offset_boxes import close_in
from gerrymend.subgroups.proofs.separating_rule import separating_rule
from gerrymend.subgroups.proofs.whole_points import Points, whole_numbers
from gerrymend.subgroups.rules import Members

# Above so many dimensions branch and bound gets nowhere; parts of the class are proven instead.
_MOST_DIMENSIONS = 8
_LARGEST_PART = 4
# With more dimensions than this even the exact algebra before the first bound outlasts a budget.
_HOPELESS = 32
# With more values of a number than this, writing them as whole numbers does.
_MOST_LEVELS = 200_000
# From so many dimensions on, boxes of gaps are tried first; if parts are to follow, for this share
# of the time.
FEWEST_BOXED = 3
_BOXES_SHARE = 0.8
# A group that a proof has found gets so long for its rule, even at the end of the budget.
_SECONDS_FOR_A_RULE = 1.0


class ThresholdProofs:
    """The linear thresholds over the cells of some columns."""

    def __init__(self, columns: Sequence[Column], encoding: LinearEncoding) -> None:
        self._columns = columns
        self._encoding = encoding

    @cached_property
    def _blocks(self) -> "list[_Block]":
        """The columns with their distinct values, which take a sort of each."""
        return [_Block(column) for column in self._columns]

    def prove(
        self,
        residual: Array,
        found: Found,
        at_most: float | None,
        allowed: float,
        clock: Clock = WALL_CLOCK,
    ) -> Bracket:
        """Close in on the worst |value|, from what a search has found.

        `at_most` decides when to end, as for `BoundClass.prove`; so does what is `allowed`, seconds
        or work, whichever the clock tells.
        """
        half = float(value_of_all(residual)) / 2
        more = abs(half)
        value = max(abs(float(found.values[0]) - half), more)
        trivial = float(most_of_any(residual)) - more
        at_most = None if at_most is None else at_most - more
        decided = trivial == 0.0 or (at_most is not None and value > at_most)
        if decided or allowed <= 0.0 or self._too_fine is not None:
            return Bracket(found, trivial + more)
        deadline = clock() + allowed
        parts: tuple[tuple[str, float], ...]
        if (points := self._plane(residual)) is not None:
            solved = _in_the_plane(points, half, value, deadline, clock)
            parts = ()
        else:
            closed = self._close_in(residual, value, at_most, deadline, clock)
            solved, parts = self._go_on(closed, residual, at_most, deadline, clock)
        if solved.members is not None:
            better = self._as_found(residual, half, solved.members, deadline, clock)
            if better is not None and abs(float(better.values[0])) > abs(float(found.values[0])):
                found = better
        parts = tuple((words, bound + more) for words, bound in parts)
        return Bracket(found, min(trivial, solved.upper_bound) + more, parts)

    def _plane(self, residual: Array) -> Points | None:
        """Return the points, where they have two dimensions and an algorithm of their own."""
        if self._dimensions(self._blocks) != 2:
            return None
        points = _points(self._blocks, residual)
        return points if points.n_strata == 1 and planar.fits(points.x) else None

    def _go_on(
        self, closed: Solved, residual: Array, at_most: float | None, deadline: float, clock: Clock
    ) -> tuple[Solved, tuple[tuple[str, float], ...]]:
        """Go on by cones of directions from what boxes of gaps have left open."""
        parts: tuple[tuple[str, float], ...] = ()
        is_open = closed.value < closed.upper_bound
        if at_most is not None:
            is_open = closed.value <= at_most < closed.upper_bound
        if not is_open:
            return closed, parts
        if self._dimensions(self._blocks) <= _MOST_DIMENSIONS:
            solved = self._solve(self._blocks, residual, closed.value, at_most, deadline, clock)
        else:
            solved, parts = self._solve_parts(residual, closed.value, at_most, deadline, clock)
        return Solved(
            solved.value,
            closed.members if solved.members is None else solved.members,
            min(solved.upper_bound, closed.upper_bound),
        ), parts

    def _solve(
        self,
        blocks: "Sequence[_Block]",
        residual: Array,
        known: float,
        at_most: float | None,
        deadline: float,
        clock: Clock,
    ) -> Solved:
        """Branch and bound over cones of directions."""
        sign = _rarer_sign(residual)
        offset = _offset(residual, sign)
        points = _points(blocks, sign * residual)
        limit = None if at_most is None else at_most + offset
        ends = {} if limit is None else {"enough": limit, "target": limit}
        solved = solve(points, known=known + offset, deadline=deadline, clock=clock, **ends)
        return _less(solved, offset)

    def _close_in(
        self, residual: Array, known: float, at_most: float | None, deadline: float, clock: Clock
    ) -> Solved:
        """Find and bound groups where one number meets several categorical attributes.

        Elsewhere nothing is found, and the bound is infinite. In few dimensions cones need no help.
        """
        numbers = [block for block in self._blocks if not block.is_discrete]
        discrete = [block for block in self._blocks if block.is_discrete and block.width > 0]
        dimensions = self._dimensions(self._blocks)
        if len(numbers) != 1 or not FEWEST_BOXED <= dimensions <= _HOPELESS:
            return Solved(known, None, math.inf)
        counted = np.flatnonzero(residual)
        sign = _rarer_sign(residual)
        offset = _offset(residual, sign)
        meeting = Meeting(
            numbers[0].coordinates()[0][counted],
            [block.codes[counted] for block in discrete],
            (sign * residual)[counted],
        )
        if dimensions > _MOST_DIMENSIONS:  # what is proven of few attributes needs time as well
            now = clock()
            deadline = now + _BOXES_SHARE * (deadline - now)
        closed = close_in(
            meeting,
            known=known + offset,
            enough=math.inf if at_most is None else at_most + offset,
            target=-math.inf if at_most is None else at_most + offset,
            deadline=deadline,
            clock=clock,
        )
        closed = _less(closed, offset)
        if closed.members is None:
            return closed
        members = np.zeros(len(residual), dtype=bool)
        members[counted] = closed.members
        return closed._replace(members=members)

    def _solve_parts(
        self,
        residual: Array,
        value: float,
        at_most: float | None,
        deadline: float,
        clock: Clock,
        largest: int = _LARGEST_PART,
    ) -> tuple[Solved, tuple[tuple[str, float], ...]]:
        """Prove thresholds of two attributes, of three, and so on, as far as the time goes."""
        parts: list[tuple[str, float]] = []
        best = abs(_offset(residual, 1.0))  # that of everyone, and of no one
        members = None
        used = set[_Block]()
        for size in range(1, min(largest, len(self._blocks)) + 1):
            bound = 0.0
            if not self._is_hopeful(size):
                return self._better(best, members, value), tuple(parts)
            # What adds to the best so far comes first: the higher the best, the sooner others end.
            for blocks in sorted(
                itertools.combinations(self._blocks, size), key=lambda some: -len(used & set(some))
            ):
                solved = self._solve(blocks, residual, best, at_most, deadline, clock)
                if solved.members is not None:
                    best = solved.value
                    members = solved.members
                    used = set(blocks)
                bound = max(bound, solved.upper_bound)
                refuted = at_most is not None and best > at_most
                if refuted or clock() >= deadline:
                    return self._better(best, members, value), tuple(parts)
            if size > 1:
                words = f"every linear threshold of at most {size} of the attributes"
                parts.append((words, bound))
        whole = bound if len(self._blocks) <= largest else math.inf
        return self._better(best, members, value, whole), tuple(parts)

    @property
    def _too_fine(self) -> "_Block | None":
        """Return a number of so many values that exact arithmetic alone outlasts a budget."""
        numbers = (block for block in self._blocks if not block.is_discrete)
        return next((block for block in numbers if block.n_levels > _MOST_LEVELS), None)

    @property
    def unprovable(self) -> str:
        """Why no proof over all attributes is tried, and what to change; "" where one is.

        Up to _MOST_DIMENSIONS cones are, up to _HOPELESS boxes beside one number, and parts that
        are the whole.
        """
        if (fine := self._too_fine) is not None:
            return (
                f"{fine.name} has {fine.n_levels:,} different values, and above {_MOST_LEVELS:,} "
                "no proof is tried, whatever the budget; round it"
            )
        dimensions = self._dimensions(self._blocks)
        has_boxes = sum(not block.is_discrete for block in self._blocks) == 1
        tried = _HOPELESS if has_boxes or len(self._blocks) <= _LARGEST_PART else _MOST_DIMENSIONS
        if dimensions <= tried:
            return ""
        return (
            f"linear thresholds of these attributes have {dimensions} dimensions, one for each "
            "number and each category but those of the attribute with the most, and above "
            f"{tried} no proof over all of them is tried, whatever the budget; pool rare "
            "categories, give numbers as numbers, or audit fewer attributes"
        )

    def _is_hopeful(self, size: int) -> bool:
        """Say whether any so many attributes have few enough dimensions; else none is begun.

        The widest take the most: all but the widest discrete one, which is strata.
        """
        widest = sorted(self._blocks, key=lambda block: -block.width)[:size]
        return self._dimensions(widest) <= _HOPELESS

    @staticmethod
    def _better(
        best: float, members: Members | None, value: float, bound: float = math.inf
    ) -> Solved:
        """Return the group of few attributes if it is worse than what is known."""
        return Solved(best, members, bound) if best > value else Solved(value, None, bound)

    def _dimensions(self, blocks: "Sequence[_Block]") -> int:
        widths = [block.width for block in blocks]
        return sum(widths) - max((b.width for b in blocks if b.is_discrete), default=0)

    def _as_found(
        self, residual: Array, half: float, members: Members, deadline: float, clock: Clock
    ) -> Found | None:
        """Describe the group, on the worse side, by a rule with few terms.

        That is the side of everyone's value, or else the one whose rate is too high.
        """
        if (-1.0 if half < 0 else 1.0) * (residual[members].sum() - half) < 0:
            members = ~members
        seconds = max(_SECONDS_FOR_A_RULE, deadline - clock()) if clock.is_time else math.inf
        counted = residual != 0
        rule = separating_rule(self._columns, self._encoding, members, counted, seconds)
        if rule is None:
            return None
        selected = rule.members({column.name: column for column in self._columns})
        keys = np.empty(1, dtype=object)
        keys[0] = rule
        return Found(np.array([residual[selected].sum()]), selected[None].astype(float), keys)


class _Block:
    """An attribute's coordinates: whole numbers, or codes of the categories that are there."""

    def __init__(self, column: Column) -> None:
        levels, codes = np.unique(column.values, return_inverse=True)
        self.codes: NDArray[np.intp] = codes
        self.is_discrete = column.is_categorical or len(levels) <= 2
        self.width = len(levels) - 1 if self.is_discrete else 1
        self.name = column.name
        self.n_levels = len(levels)
        self._values = column.values

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        return whole_numbers(self._values)

    def coordinates(self) -> list[NDArray[np.int64]]:
        """Return the numbers, or an indicator of each category but one."""
        if not self.is_discrete:
            return [self._numbers]
        return [(self.codes == code).astype(np.int64) for code in range(1, self.width + 1)]


def _rarer_sign(residual: Array) -> float:
    """Return the sign to collect: bounds cost less, and complements have the other sign."""
    return 1.0 if (residual > 0).sum() <= (residual < 0).sum() else -1.0


def _offset(residual: Array, sign: float) -> float:
    """Return what a sum of sign·W over a group is more than the value of the group."""
    return sign * float(value_of_all(residual)) / 2


def _less(solved: Solved, offset: float) -> Solved:
    """Return values, in place of sums that are so much more."""
    return solved._replace(value=solved.value - offset, upper_bound=solved.upper_bound - offset)


def _strata(blocks: Sequence[_Block]) -> _Block | None:
    """Return the attribute whose categories are strata."""
    discrete = [block for block in blocks if block.is_discrete]
    return max(discrete, key=lambda block: block.width, default=None)


def _points(blocks: Sequence[_Block], weight: Array) -> Points:
    strata = _strata(blocks)
    x = [column for block in blocks if block is not strata for column in block.coordinates()]
    return Points(
        x=np.column_stack(x) if x else np.zeros((len(weight), 0), dtype=np.int64),
        weight=weight,
        stratum=np.zeros(len(weight), dtype=np.intp) if strata is None else strata.codes,
        rank=np.zeros(len(weight), dtype=np.intp),
    )


def _in_the_plane(
    points: Points, half: float, known: float, deadline: float, clock: Clock
) -> Solved:
    """Sweep the plane; weights are of either sign."""
    merged, index = points.merged()  # rows may differ in attributes that are not in these points
    members, complete = planar.worst_half_plane(merged.x, merged.weight, deadline, clock)
    value = abs(float(merged.weight[members].sum()) - half)
    bound = max(value, known) if complete else math.inf
    return Solved(value, members[index], bound) if value > known else Solved(known, None, bound)
