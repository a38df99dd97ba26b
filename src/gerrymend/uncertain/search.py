"""Search groups of known attributes and sets of categories for the largest sum of a residual.

A group is g and A, with g of any class of subgroups over the known attributes, or everyone, and A a
set of categories. For one A a table of values by cell of the known attributes is a residual as any
other, for which the class is searched and proven as in an audit. Sets are looked at in the order of
what they can have at most, the sum of all that is positive, until that is below what was found.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import check_stopped
from gerrymend.subgroups.base import BoundClass, Found
from gerrymend.subgroups.rules import Rule

# Bounds within this part of what was found are no more than rounding above it.
_SAME = 1e-12
# Seconds in which a group of enough rows is searched for, where what was found has too few.
_OF_SIZE = 0.5


@dataclass(frozen=True, eq=False)
class Candidate:
    """A group: the value of what was searched, its set of categories, its cells, and their rule.

    The rule is None of everyone.
    """

    value: float
    number: int
    cells: NDArray[np.bool_]
    rule: Rule | None


@dataclass(frozen=True, eq=False)
class Searched:
    """The best group of each set that was searched, the best first, and what none exceeds."""

    candidates: tuple[Candidate, ...]
    upper_bound: float

    @property
    def value(self) -> float:
        """Return the largest value that was found; 0 where none is positive."""
        return max((one.value for one in self.candidates), default=0.0)

    def joined(self, found: Iterable[Candidate], values: Array, sign: int) -> "Searched":
        """Return the same with groups that another search found, by their values here."""
        others = (
            replace(one, value=sign * float(values[one.cells, one.number].sum())) for one in found
        )
        every = [*self.candidates, *(one for one in others if one.value > 0)]
        return _searched(every, max(self.upper_bound, *(one.value for one in every), 0.0))


class KnownClass:
    """A class of subgroups over the cells of the known attributes, and everyone.

    Parameters
    ----------
    bound : BoundClass or None
        Bound to the cells; None where no attribute is known.
    active : array (n_cells,) of bool
        Cells with rows in the event, which residuals of the class are over.
    """

    def __init__(self, bound: BoundClass | None, active: NDArray[np.bool_]) -> None:
        self._active = active
        self._sides = {} if bound is None else {sign: bound.one_sided(sign) for sign in (1, -1)}
        self.covers = "everyone" if bound is None else bound.covers

    def largest(self, values: Array, sign: int, seconds: float) -> Searched:
        """Search all sets, each with its values by cell, for the largest sum·sign.

        `values` are (n_cells, n_sets). At least one set is searched, whatever the time.
        """
        deadline = time.monotonic() + seconds
        bounds = np.maximum(sign * values, 0.0).sum(axis=0)
        everyone = sign * values.sum(axis=0)
        found = [
            Candidate(float(value), number, np.ones(len(values), dtype=bool), None)
            for number, value in enumerate(everyone)
            if value > 0
        ]
        best = max((one.value for one in found), default=0.0)
        if not self._sides:
            return _searched(found, best)
        goes_on = True
        while goes_on:
            known = (best, float(bounds.sum()))
            waiting = int((bounds > best).sum())
            for number in np.argsort(-bounds, kind="stable").tolist():
                check_stopped()
                if bounds[number] <= best * (1 + _SAME):
                    break
                left = max(0.0, deadline - time.monotonic()) / max(1, waiting)
                waiting -= 1
                one, at_most = self._prove(values[:, number], number, sign, best, left)
                bounds[number] = min(bounds[number], at_most)
                if one is not None:
                    found.append(one)
                    best = max(best, one.value)
            # Sets that their part of the time was too short for share what is left of it.
            is_new = (best, float(bounds.sum())) != known
            goes_on = is_new and time.monotonic() < deadline
        return _searched(found, max(best, float(bounds.max())))

    def _prove(
        self, values: Array, number: int, sign: int, best: float, seconds: float
    ) -> tuple[Candidate | None, float]:
        """Return the best group of a set, and what none exceeds, closed in where it is the best."""
        start = time.monotonic()
        side = self._sides[sign]
        residual = np.ascontiguousarray(values[self._active])
        bracket = side.prove(residual, at_most=best if best > 0 else None, seconds=seconds)
        value = sign * float(bracket.found.values[0])
        left = seconds - (time.monotonic() - start)
        if value > best > 0 and bracket.upper_bound > value * (1 + _SAME) and left > 0:
            bracket = side.prove(residual, seconds=left)
        return self._candidate(bracket.found, number, sign), bracket.upper_bound

    def _candidate(self, found: Found, number: int, sign: int) -> Candidate | None:
        """Return what was found as a group; None where it is no one."""
        value = sign * float(found.values[0])
        if value <= 0:
            return None
        cells = np.zeros(len(self._active), dtype=bool)
        cells[self._active] = found.members[0] > 0
        source = self._sides[sign].source
        return Candidate(value, number, cells, source.rule(found.keys[0]))

    def of_size(
        self, values: Array, number: int, sign: int, rows: NDArray[np.intp], least: int
    ) -> Candidate | None:
        """Return the best group of a set with at least so many rows in it and out of it."""
        side = self._sides.get(sign)
        if side is None or rows.sum() < 2 * least:
            return None
        residual = np.ascontiguousarray(values[self._active])
        found = side.worst_of_size(residual, rows[self._active], least, seconds=_OF_SIZE)
        return None if found is None else self._candidate(found, number, sign)

    def found(self, values: Array) -> float:
        """Return the largest |sum| that the quick search finds over all sets, everyone included."""
        best = float(np.abs(values.sum(axis=0)).max())
        for side in self._sides.values():
            stack = np.ascontiguousarray(values[self._active].T)
            best = max(best, float(np.abs(side.quick.worst(stack).values).max()))
        return best


def _searched(found: list[Candidate], bound: float) -> Searched:
    return Searched(tuple(sorted(found, key=lambda one: -one.value)), bound)
