"""Search one side of a class alone: subgroups whose rate is too high, or those where it is too low.

With S the value of everyone, 0 where groups are compared with the overall rate, a group of value v
has a complement of value S − v. Of a class that is closed under complement the worst group of one
side is thus the rest of the other's: no search is needed beyond the one for both, which ends on the
side of S, and the other side's worst is less by |S|. A class that is not closed (conjunctions,
named groups) overrides `BoundClass.one_sided` by a search of its own. For any other class what is
proven of both sides bounds each of them, and a group that was found on the wrong side is none.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.subgroups.base import BoundClass, Bracket, Found, RuleSource, value_of_all
from gerrymend.subgroups.rules import Rule


@dataclass(frozen=True)
class TurnedRules:
    """Make rules of another source's keys, each with whether it is the complement that is meant."""

    source: RuleSource

    def rule(self, key: Any) -> Rule:
        """Return the rule of a key, or its complement."""
        own, is_turned = key
        rule = self.source.rule(own)
        return rule.complement() if is_turned else rule


class OneSided(BoundClass):
    """A class whose searches return subgroups with values of one sign, or of no one with value 0.

    Parameters
    ----------
    both : BoundClass
        The class, searched on both sides.
    sign : {1, -1}
        1 for subgroups whose rate is too high, −1 where it is too low.
    """

    def __init__(self, both: BoundClass, sign: int) -> None:
        self._both = both
        self._sign = sign
        self.exact = both.exact and both.is_closed
        self.is_closed = both.is_closed
        self.has_everyone = both.has_everyone
        self.covers = both.covers
        self.source = TurnedRules(both.source)

    def one_sided(self, sign: int) -> BoundClass:
        """Return the same class, searched on the given side instead."""
        return self._both.one_sided(sign)

    @property
    def quick(self) -> BoundClass:
        """The same side, with a cheaper search."""
        return OneSided(self._both.quick, self._sign)

    def thorough(self, work: float = math.inf) -> BoundClass:
        """Return the same side, with a more careful search."""
        return OneSided(self._both.thorough(work), self._sign)

    def release(self) -> None:
        """Let go of what the next search makes again."""
        self._both.release()

    @property
    def unprovable(self) -> str:
        """Why nothing is proven over the class in any time; "" where it is."""
        return self._both.unprovable

    def worst(self, residuals: Array) -> Found:
        """Return the worst subgroup on this side, for each residual."""
        return self._turned(self._both.worst(residuals), residuals)

    def search(self, residual: Array, *, seconds: float = math.inf) -> Found:
        """Return the worst that was found on this side when the time was up."""
        return self._turned(self._both.search(residual, seconds=seconds), residual[None])

    def upper_bound(self, residuals: Array) -> Array:
        """Return what no subgroup of this side exceeds."""
        less: Array = np.maximum(self._both.upper_bound(residuals) - self._less(residuals), 0.0)
        return less

    def _less(self, residuals: Array) -> Array:
        """Return by how much this side's worst is less than that of both: |S|, or 0 on S's side."""
        less = np.maximum(-self._sign * value_of_all(residuals), 0.0)
        return less if self._both.is_closed else np.zeros_like(less)

    def prove(
        self,
        residual: Array,
        *,
        at_most: float | None = None,
        seconds: float = math.inf,
    ) -> Bracket:
        """Bracket the worst value on this side, by a bracket of both."""
        less = float(self._less(residual))
        limit = None if at_most is None else at_most + less
        bracket = self._both.prove(residual, at_most=limit, seconds=seconds)
        found = self._turned(bracket.found, residual[None])
        return Bracket(
            found,
            max(bracket.upper_bound - less, abs(float(found.values[0]))),
            tuple((words, max(0.0, bound - less)) for words, bound in bracket.partial),
        )

    def worst_of_size(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        min_group_size: int,
        *,
        seconds: float = math.inf,
    ) -> Found | None:
        """Return the worst on this side with so many rows in and out, or None."""
        found = self._both.worst_of_size(residual, rows, min_group_size, seconds=seconds)
        if found is None:
            return None
        turned = self._turned(found, residual[None])
        return turned if turned.members.any() else None

    def _turned(self, found: Found, residuals: Array) -> Found:
        """Return complements of what is on the other side, or no one where there are none."""
        turns = self._sign * found.values < 0
        keys = np.empty(len(found.keys), dtype=object)
        keys[:] = [(key, bool(turn)) for key, turn in zip(found.keys, turns, strict=True)]
        values, members, _ = found
        if self._both.is_closed:
            members = np.where(turns[:, None], 1.0 - members, members)
            values = np.where(turns, value_of_all(residuals) - values, values)
            turns = self._sign * values < 0  # whose rest is on the wrong side as well
        return Found(np.where(turns, 0.0, values), np.where(turns[:, None], 0.0, members), keys)
