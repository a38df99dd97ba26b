"""Rules that decide membership of a subgroup for any rows, and describe it in words.

A rule is defined by the numbers it prints, and holds nothing of the rows it was found on.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.short_numbers import cut_between
from gerrymend._numeric.sums import Array
from gerrymend._runtime.reprs import shortened
from gerrymend.inputs.bins import lower_ends
from gerrymend.inputs.categories import Unnamed
from gerrymend.inputs.protected import MISSING_LABEL, Column, Others, select_columns

Members = NDArray[np.bool_]
# The values of each attribute that are not to be told, as few rows have them.
Rare = Mapping[str, frozenset[Any]]


class Rule(ABC):
    """A function of the protected attributes that decides who is a member of a subgroup."""

    @property
    @abstractmethod
    def attributes(self) -> dict[str, str]:
        """The kind of each attribute that the rule was found on, by name."""

    @abstractmethod
    def members(self, columns: Mapping[str, Column]) -> Members:
        """Return a mask of the members, for columns that have been read already."""

    @abstractmethod
    def describe(self) -> str:
        """Return the rule in words, with the user's names and units."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data, enough to decide membership without this package."""

    @property
    def says_who(self) -> bool:
        """Return whether its words say who is in, and are neither a formula nor "not (…)"."""
        return True

    def complement(self) -> "Rule":
        """Return the rule of all others; rules of classes that are closed under it have one."""
        raise NotImplementedError(f"{type(self).__name__} is of a class that has no complements.")

    def in_few_digits(self, columns: Mapping[str, Column], members: Members) -> "Rule":
        """Return a rule that is easier to read and selects the same members of these columns."""
        return self

    def without_others(self) -> "Rule":
        """Return the same rule in terms of the values that are known, of rare ones together."""
        return self

    def listed(self) -> set[tuple[str, Any]]:
        """Return the categories that a reader of the rule may see, each with its attribute."""
        return set()

    def withholding(self, rare: Rare) -> "Rule":
        """Return the same rule, with words and plain data that tell none of these values."""
        return self

    def contains(self, sensitive_features: Any) -> Members:
        """Return a mask of the members, for any rows that have the attributes.

        Raises ValueError if an attribute is missing or of another kind.
        """
        return self.members(select_columns(sensitive_features, self.attributes))

    def __str__(self) -> str:
        return self.describe()


def category_label(value: Any) -> str:
    """Return a category as text, also for a missing value and an empty string; not a whole page."""
    return MISSING_LABEL if value is None else shortened(str(value)) or "(empty)"


def told_and_unnamed(values: Iterable[Any]) -> tuple[list[Any], int]:
    """Return the values that may be told, and the number of the others."""
    every = list(values)
    told = [value for value in every if not isinstance(value, Unnamed)]
    return told, len(every) - len(told)


def unnamed(attribute: str, values: Iterable[Any], rare: Rare) -> tuple[Any, ...]:
    """Return the values of an attribute, the rare ones so that they don't show."""
    few = rare.get(attribute, frozenset())
    return tuple(Unnamed(value) if value in few else value for value in values)


def among_words(attribute: str, values: tuple[Any, ...], is_in: bool) -> str:
    """Return that an attribute has one of these values, or none of them, in words.

    >>> among_words("race", ("blue",), False), among_words("race", ("blue", None), True)
    ('race ≠ blue', 'race in {blue, (missing)}')
    >>> among_words("race", ("blue", Unnamed("red"), Unnamed("grey")), True)
    'race in {blue, 2 rare values}'
    """
    named, n_unnamed = told_and_unnamed(values)
    labels = [category_label(value) for value in named]
    if n_unnamed:
        labels.append("a rare value" if n_unnamed == 1 else f"{n_unnamed} rare values")
    if len(labels) == 1:
        return f"{attribute} {'=' if is_in else '≠'} {labels[0]}"
    return f"{attribute} {'in' if is_in else 'not in'} {{{', '.join(labels)}}}"


def number(value: float) -> str:
    """Return a number as text, with as many digits as float64 needs and no more.

    >>> number(30.0), number(-0.25), number(0.1 + 0.2)
    ('30', '−0.25', '0.30000000000000004')
    """
    return repr(float(value)).removesuffix(".0").replace("-", "−")


def whole_end(end: float, whole: bool, rounded: Callable[[float], int] = math.ceil) -> float:
    """Return an end of an interval to be told: of whole numbers the first that is in.

    >>> whole_end(25.5, True), whole_end(25.5, True, math.floor), whole_end(25.5, False)
    (26, 25, 25.5)
    """
    return rounded(end) if whole and math.isfinite(end) else end


def _between_values(end: float, values: Array) -> float:
    """Return an end that divides the values as `end` does and equals none of them.

    Returns −∞ if no value is below `end`, and ∞ if all are.
    """
    below = float(np.max(values, where=values < end, initial=-math.inf))
    above = float(np.min(values, where=values >= end, initial=math.inf))
    if math.isinf(below) or math.isinf(above):
        return -math.inf if math.isinf(below) else math.inf
    return end if below < end < above else cut_between(below, above)


@dataclass(frozen=True)
class Condition:
    """A condition on one attribute: among some values, or in the half-open interval [low, high).

    Ends are no row's value, as 25.5 between years of age. With `whole`, of an attribute that has no
    fractions, words say which whole numbers these ends are between: "age ≥ 26" and "age ≤ 25".
    """

    attribute: str
    values: tuple[Any, ...] | None = None
    low: float = -math.inf
    high: float = math.inf
    whole: bool = field(default=False, compare=False, repr=False)

    def holds(self, column: Column) -> Members:
        """Return a mask of the rows that meet the condition."""
        if self.values is not None:
            return np.logical_or.reduce([column.equals(value) for value in self.values])
        return (column.values >= self.low) & (column.values < self.high)

    def in_few_digits(self, column: Column) -> "Condition":
        """Return a condition for the same rows, with short ends that are no row's value."""
        if self.values is not None:
            return self
        if column.cuts is not None:
            return self._at_cuts(column.cuts)
        low, high = (_between_values(end, column.values) for end in (self.low, self.high))
        return replace(self, low=low, high=high, whole=column.is_whole)

    def _at_cuts(self, cuts: tuple[float, ...]) -> "Condition":
        """Return a condition for the same bins of a score, which hold for the scores themselves.

        Bins are told by their lower ends. The first that is not below an end of the interval begins
        at its own lower end, which is a cut; the first of all has none.
        """
        at = (-math.inf, *cuts, math.inf)
        first, after = np.searchsorted(lower_ends(cuts), [self.low, self.high])
        return replace(self, low=at[first], high=at[after])

    @property
    def listed(self) -> tuple[bool, tuple[Any, ...]]:
        """Return whether the values that are told are those that are in, and these values.

        Where values that are not told are among those that are in, it is told who is out.
        """
        others = next((value for value in self.values or () if isinstance(value, Others)), None)
        if others is None:
            return True, self.values or ()
        return False, tuple(value for value in others.known if value not in (self.values or ()))

    def told(self) -> set[tuple[str, Any]]:
        """Return the categories that a reader may see, each with the attribute."""
        return {(self.attribute, value) for value in told_and_unnamed(self.listed[1])[0]}

    def withholding(self, rare: Rare) -> "Condition":
        """Return the same condition, which tells none of these values."""
        if self.values is None:
            return self
        return replace(self, values=unnamed(self.attribute, self.values, rare))

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as plain data; an open end is None.

        Where values are not told, `unnamed` is how many.
        """
        is_in, values = self.listed
        told, n_unnamed = told_and_unnamed(values)
        if self.values is not None:
            plain = {"attribute": self.attribute, "values" if is_in else "other_than": told}
            return plain | ({"unnamed": n_unnamed} if n_unnamed else {})
        low, high = (end if math.isfinite(end) else None for end in (self.low, self.high))
        return {"attribute": self.attribute, "low": low, "high": high}

    def describe(self) -> str:
        """Return the condition in words."""
        if self.values is not None:
            is_in, values = self.listed
            return among_words(self.attribute, values, is_in)
        low = whole_end(self.low, self.whole)
        below = whole_end(self.high, self.whole, math.floor)
        above = f"{'<' if below == self.high else '≤'} {number(below)}"
        if self.low == -math.inf:
            return f"{self.attribute} {above}"
        if self.high == math.inf:
            return f"{self.attribute} ≥ {number(low)}"
        return f"{number(low)} ≤ {self.attribute} {above}"


@dataclass(frozen=True)
class Conjunction(Rule):
    """The rule that every condition holds; `kinds` has the kind of each attribute.

    >>> rule = Conjunction((Condition("race", ("blue",)), Condition("age", low=40)),
    ...                    kinds={"race": "str", "age": "number"})
    >>> print(rule)
    race = blue and age ≥ 40
    >>> rule.contains({"race": ["blue", "blue", "green"], "age": [39, 40, 41]}).tolist()
    [False, True, False]
    """

    conditions: tuple[Condition, ...]
    kinds: Mapping[str, str] = field(hash=False)
    name: str = ""

    @property
    def attributes(self) -> dict[str, str]:
        """The kind of each attribute, by name."""
        return dict(self.kinds)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data."""
        return {"kind": "conjunction", "conditions": [c.to_dict() for c in self.conditions]}

    def members(self, columns: Mapping[str, Column]) -> Members:
        """Return a mask of the members, for columns that have been read already."""
        members = np.ones(len(next(iter(columns.values())).values), dtype=bool)
        for condition in self.conditions:
            members &= condition.holds(columns[condition.attribute])
        return members

    def describe(self) -> str:
        """Return the rule in words."""
        words = " and ".join(condition.describe() for condition in self.conditions) or "everyone"
        return f"{self.name} ({words})" if self.name and self.name != words else words

    def listed(self) -> set[tuple[str, Any]]:
        """Return the categories of the conditions."""
        return {pair for one in self.conditions for pair in one.told()}

    def withholding(self, rare: Rare) -> "Conjunction":
        """Return the same rule, which tells none of these values; one with a name is the user's."""
        if self.name:
            return self
        return replace(self, conditions=tuple(one.withholding(rare) for one in self.conditions))

    def in_few_digits(self, columns: Mapping[str, Column], members: Members) -> "Conjunction":
        """Drop the conditions that all rows meet, and move cuts between values.

        A rule with a name has the user's own numbers, and keeps them.
        """
        if self.name:
            return self
        kept = []
        for condition in self.conditions:
            column = columns[condition.attribute]
            short = condition.in_few_digits(column)
            if not short.holds(column).all():
                kept.append(short)
        return replace(self, conditions=tuple(kept))
