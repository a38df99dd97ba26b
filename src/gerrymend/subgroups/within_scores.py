"""Subgroups within an interval of the score: any class of them, and every run of bins.

A member is g and low ≤ score < high, with g of another class over the protected attributes. That
class is bound once, to the distinct protected rows. Sums of a residual over the first bins, for
each of these rows, have the residual of every interval as a difference of two. So an interval is
one more residual for the other class, and what is searched and proven there holds here.

No set of rows has more than the positive part of a residual, or the negative one (`most_of_any`):
intervals are searched in the order of that, until it is below what was found.
"""

import copy
import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.inputs.bins import bin_of, protected, score_of
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.subgroups.base import (
    BoundClass,
    Bracket,
    Found,
    RuleSource,
    SubgroupClass,
    check_cells,
    most_of_any,
)
from gerrymend.subgroups.interval_rule import within_interval
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.rules import Condition, Rule, number

# Values that differ by less than this part are equal: sums in another order.
_SAME = 1e-12
# Intervals of a residual that are searched by one call: few enough that the rest may be spared.
_AT_ONCE = 8


class WithinScores(SubgroupClass):
    """The subgroups of another class, each within every interval of the score.

    Parameters
    ----------
    base : SubgroupClass
        Over the protected attributes.

    Examples
    --------
    >>> from gerrymend import Conjunctions
    >>> from gerrymend.inputs.bins import score_column
    >>> race = Column("race", np.array([0.0, 0.0, 1.0]), ("blue", "green"))
    >>> score = score_column("score", np.array([0.2, 0.7, 0.7]), (0.5,))
    >>> bound = WithinScores(Conjunctions()).bind((race, score), np.ones(3), np.ones(3))
    >>> found = bound.worst(np.array([[0.5, -1.0, 0.5]]))
    >>> print(bound.source.rule(found.keys[0]), found.values[0])
    race = blue and score ≥ 0.5 -1.0
    """

    def __init__(self, base: SubgroupClass) -> None:
        self.base = base

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> BoundClass:
        """Bind the other class to the distinct protected rows, and note each cell's row and bin."""
        score = score_of(columns)
        assert score is not None
        rows = distinct_rows(protected(columns))
        sums = [
            np.bincount(rows.index, by_cell, len(rows)).astype(np.float64)
            for by_cell in (weight, event_weight)
        ]
        base = self.base.bind(rows.columns, *sums)
        active = event_weight > 0
        # Residuals are over cells, and the other class's over rows, that have weight in the event.
        place = np.cumsum(sums[1] > 0) - 1
        return ScoreIntervals(base, place[rows.index[active]], bin_of(score)[active], score)


def within_scores(subgroups: SubgroupClass, columns: tuple[Column, ...]) -> SubgroupClass:
    """Return a class as it is searched over these columns: within intervals of a score, if any."""
    return subgroups if score_of(columns) is None else WithinScores(subgroups)


@dataclass(frozen=True)
class IntervalRules:
    """Makes rules of a key of the other class, and the first bin and the one after the last."""

    base: RuleSource
    score: str
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    def rule(self, key: Any) -> Rule:
        """Return the rule of a key: that of the other class, within an interval."""
        own, first, after = key
        interval = Condition(self.score, low=self.lows[first], high=self.highs[after - 1])
        return within_interval(self.base.rule(own), interval)


class ScoreIntervals(BoundClass):
    """A class over protected rows, and all runs of neighbouring bins that have rows.

    Parameters
    ----------
    base : BoundClass
        Bound to the protected rows.
    row, bins : arrays of int (cells,)
        The protected row and the bin of each cell with rows in the event.
    score : Column
    """

    def __init__(
        self, base: BoundClass, row: NDArray[np.intp], bins: NDArray[np.intp], score: Column
    ) -> None:
        assert score.cuts is not None
        self.base = base
        self._row = row
        # Bins without rows are passed over: with or without them an interval is the same.
        there, self._bin = np.unique(bins, return_inverse=True)
        self._n_rows = int(row.max()) + 1
        self._n_bins = len(there)
        pairs = itertools.combinations(range(self._n_bins + 1), 2)
        # The widest first, which takes the fewest words: of equals, the first is told.
        self._intervals = np.array(sorted(pairs, key=lambda one: self._order(*one)))
        cuts = (-math.inf, *score.cuts, math.inf)
        # The first and the last bin with rows are open, as those without any may be beyond.
        lows = (-math.inf, *(cuts[one] for one in there[1:].tolist()))
        highs = (*(cuts[one + 1] for one in there[:-1].tolist()), math.inf)
        self._rules = IntervalRules(base.source, score.name, lows, highs)
        self.source = self._rules
        self.score = score
        self.exact = base.exact
        self.has_everyone = base.has_everyone
        told = ", ".join(map(number, score.cuts))
        self.covers = f"{base.covers}, within every interval of {score.name} (cut at {told})"
        self._sign = 0

    def _order(self, first: int, after: int) -> tuple[int, int, int]:
        """Return what intervals are told in the order of: open ends first, then the widest."""
        n_ends = (first > 0) + (after < self._n_bins)
        return n_ends, first - after, first

    def _of(self, base: BoundClass) -> "ScoreIntervals":
        """Return the same intervals of another form of the class."""
        other = copy.copy(self)
        other.base = base
        other.exact = base.exact
        other.source = replace(self._rules, base=base.source)
        other._rules = other.source
        return other

    @property
    def quick(self) -> "ScoreIntervals":
        """The same intervals, with a cheaper search."""
        return self._of(self.base.quick)

    def release(self) -> None:
        """Let go of what the next search makes again."""
        self.base.release()

    def thorough(self, work: float = math.inf) -> "ScoreIntervals":
        """Return the same intervals, with a more careful search."""
        return self._of(self.base.thorough(work / len(self._intervals)))

    def one_sided(self, sign: int) -> "ScoreIntervals":
        """Return the same subgroups, of which only those with values of this sign count."""
        side = self._of(self.base.one_sided(sign))
        side._sign = sign
        return side

    @property
    def unprovable(self) -> str:
        """Why nothing is proven over the class in any time; "" where it is."""
        return self.base.unprovable

    def at_all_scores(self) -> ListedClass:
        """Return the groups of a class that lists them, over all cells: the interval of all."""
        assert isinstance(self.base, ListedClass)
        return ListedClass(self.base.rules, self.base.membership[:, self._row], self.base.covers)

    # Residuals of intervals, and how they are passed through.

    def _stacked(self, values: Array) -> Array:
        """Return sums over each interval (rows) by protected row (columns), of values by cell."""
        check_cells(len(self._row), values)
        before = np.zeros((self._n_bins + 1, self._n_rows))
        before[self._bin + 1, self._row] = values
        np.cumsum(before, axis=0, out=before)
        stack: Array = before[self._intervals[:, 1]] - before[self._intervals[:, 0]]
        return stack

    def _most(self, stack: Array) -> Array:
        """Return the largest |value| of any rows of an interval, on the side that counts."""
        if not self._sign:
            return most_of_any(stack)
        most: Array = np.maximum(self._sign * stack, 0.0).sum(axis=1)
        return most

    def _found(self, residual: Array, interval: int, found: Found, place: int = 0) -> Found:
        """Return what was found in an interval as a subgroup of all cells."""
        first, after = self._intervals[interval].tolist()
        inside = (self._bin >= first) & (self._bin < after)
        members = np.where(inside, found.members[place][self._row], 0.0)
        keys = np.empty(1, dtype=object)
        keys[0] = (found.keys[place], first, after)
        # Summed by cell, and not as a difference of sums, so that no digits are lost.
        return Found(np.array([residual @ members]), members[None], keys)

    # The search.

    def worst(self, residuals: Array) -> Found:
        """Return the worst subgroup of all intervals, for each residual."""
        found = [self._worst(residual) for residual in residuals]
        values, members, keys = zip(*found, strict=True)
        return Found(np.concatenate(values), np.concatenate(members), np.concatenate(keys))

    def _worst(self, residual: Array) -> Found:
        stack = self._stacked(residual)
        most = self._most(stack)
        order = np.argsort(-most, kind="stable")
        sizes = np.full(len(stack), -1.0)
        best: tuple[int, Found, int] | None = None
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            some = some[most[some] >= sizes.max() * (1 - _SAME)]
            if not len(some):
                break
            found = self.base.worst(stack[some])
            sizes[some] = np.abs(found.values)
            first = self._first_of_equals(sizes)
            if first in some:
                best = (first, found, int(np.flatnonzero(some == first)[0]))
        assert best is not None
        return self._found(residual, *best)

    def _first_of_equals(self, sizes: Array) -> int:
        """Return the first interval of the largest size, but for rounding."""
        return int(np.argmax(sizes >= sizes.max() * (1 - _SAME)))

    def search(self, residual: Array, *, seconds: float = math.inf) -> Found:
        """Return the worst of as many intervals as there is time for, one at least."""
        stack = self._stacked(residual)
        best = Best()
        for interval, left in _by_promise(self._most(stack), seconds, best):
            found = self.base.search(stack[interval], seconds=left)
            best.take(self._found(residual, interval, found))
        return best.found

    def upper_bound(self, residuals: Array) -> Array:
        """Return what no subgroup of any interval exceeds."""
        if self.exact:
            return np.abs(self.worst(residuals).values)
        stacks = map(self._stacked, residuals)
        return np.array([float(self.base.upper_bound(stack).max()) for stack in stacks])

    def prove(
        self,
        residual: Array,
        *,
        at_most: float | None = None,
        seconds: float = math.inf,
    ) -> Bracket:
        """Bracket the worst |value| of all intervals: each is proven to have no more than the best.

        Intervals that can't have more, whatever rows they take, need no proof. Those that are left
        share the time that is left, and are proven again as long as it is some use.
        """
        deadline = time.monotonic() + seconds
        stack = self._stacked(residual)
        bounds = self._most(stack)
        best = Best(0.0 if at_most is None else at_most)
        if not self.exact:  # what others are compared with, so that few have to be proven
            best.take(self.search(residual, seconds=seconds / 4))
        goes_on = True
        while goes_on:
            known = (best.value, float(bounds.sum()))
            for interval, left in _by_promise(bounds, deadline - time.monotonic(), best):
                if at_most is not None and best.value > at_most:
                    break
                bracket = self._close(stack[interval], best.limit, left, further=at_most is None)
                bounds[interval] = min(bounds[interval], bracket.upper_bound)
                best.take(self._found(residual, interval, bracket.found))
            is_new = (best.value, float(bounds.sum())) != known
            goes_on = not self.exact and is_new and time.monotonic() < deadline
        if best.is_none:  # no rows at all have as much as is asked about
            best.take(self.search(residual, seconds=0.0))
        return Bracket(best.found, max(best.value, float(bounds.max())))

    def _close(self, residual: Array, limit: float, seconds: float, *, further: bool) -> Bracket:
        """Bracket the worst of an interval, as far as it exceeds a limit.

        Where it does, that may be enough, or has to be closed in `further`.
        """
        start = time.monotonic()
        bracket = self.base.prove(residual, at_most=limit, seconds=seconds)
        value = abs(float(bracket.found.values[0]))
        left = seconds - (time.monotonic() - start)
        # The limit may be the value of this very interval, a rounding apart.
        is_open = bracket.upper_bound > value * (1 + _SAME)
        if further and left > 0 and is_open and value >= limit * (1 - _SAME):
            return self.base.prove(residual, seconds=left)
        return bracket

    def worst_of_size(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        min_group_size: int,
        *,
        seconds: float = math.inf,
    ) -> Found | None:
        """Return the worst subgroup found with at least so many rows in it and out of it, or None.

        Of each interval that is its worst one, if that is large enough; else one with enough rows
        in it and out of it among those of the interval.
        """
        stack = self._stacked(residual)
        counts = np.rint(self._stacked(rows.astype(np.float64))).astype(np.intp)
        total = int(rows.sum())
        best = Best()
        for interval, left in _by_promise(self._most(stack), seconds, best):
            for found in self._of_interval(stack[interval], counts[interval], min_group_size, left):
                one = self._found(residual, interval, found)
                inside = int(rows[one.members[0] > 0].sum())
                if min_group_size <= inside <= total - min_group_size:
                    best.take(one)
        return None if best.is_none else best.found

    def _of_interval(
        self, residual: Array, rows: NDArray[np.intp], min_group_size: int, seconds: float
    ) -> Iterator[Found]:
        """Yield subgroups of an interval that may be large enough, until one is."""
        if rows.sum() < min_group_size:
            return
        worst = self.base.search(residual, seconds=seconds / 2)
        yield worst
        if rows[worst.members[0] > 0].sum() >= min_group_size:
            return
        large = self.base.worst_of_size(residual, rows, min_group_size, seconds=seconds / 2)
        if large is not None:
            yield large


class Best:
    """The worst subgroup so far, and the |value| that others have to exceed to matter.

    `value` is −1 before there is any, so that 0 is above it; `limit` is never below `least`.
    """

    def __init__(self, least: float = -1.0) -> None:
        self._found: Found | None = None
        self._least = least
        self.value = -1.0

    @property
    def is_none(self) -> bool:
        """True if there is none yet."""
        return self._found is None

    @property
    def found(self) -> Found:
        """The subgroup."""
        assert self._found is not None
        return self._found

    @property
    def limit(self) -> float:
        """Return what others have to exceed."""
        return max(self.value, self._least)

    def take(self, found: Found) -> None:
        """Keep what was found if it is worse than all before, by more than rounding."""
        value = abs(float(found.values[0]))
        if value > self.value * (1 + _SAME):
            self._found = found
            self.value = value


def _by_promise(most: Array, seconds: float, best: Best) -> Iterator[tuple[int, float]]:
    """Yield intervals that may exceed the best, those that may have most first.

    Each comes with its share of the time that is left. One is yielded in any case where there is
    none, and no other.
    """
    deadline = time.monotonic() + seconds
    order = np.argsort(-most, kind="stable")
    for place, interval in enumerate(order.tolist()):
        waiting = int((most[order[place:]] > best.limit * (1 + _SAME)).sum())
        left = max(0.0, deadline - time.monotonic())
        if not waiting or (place and not left):
            return
        yield interval, left / waiting
