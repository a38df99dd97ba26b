"""Rules: who is in a subgroup, for any rows, and in words.

A rule is defined by the numbers it prints: nothing of the rows it was found on is in it.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import MISSING_LABEL, Column, select_columns

Members = NDArray[np.bool_]


class Rule(ABC):
    """A function of the protected attributes that says who is in."""

    @property
    @abstractmethod
    def attributes(self) -> dict[str, str]:
        """Names of the attributes that the rule was found on, and of which kind each is."""

    @abstractmethod
    def members(self, columns: Mapping[str, Column]) -> Members:
        """Who is in, for columns that were read already."""

    @abstractmethod
    def describe(self) -> str:
        """The rule in words, with the user's names and units."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The rule as plain data: enough to tell who is in without this package."""

    def in_few_digits(self, columns: Mapping[str, Column], members: Members) -> "Rule":
        """A rule that selects these members of these columns, and is easier to read."""
        return self

    def contains(self, sensitive_features: Any) -> Members:
        """Who is in, for any rows that have the attributes."""
        return self.members(select_columns(sensitive_features, self.attributes))

    def __str__(self) -> str:
        return self.describe()


def category_label(value: Any) -> str:
    """A category as text; the missing one and the empty one too."""
    return MISSING_LABEL if value is None else str(value) or "(empty)"


def number(value: float) -> str:
    """All digits of a number, and no more.

    >>> number(30.0), number(-0.25), number(0.1 + 0.2)
    ('30', '−0.25', '0.30000000000000004')
    """
    return repr(float(value)).removesuffix(".0").replace("-", "−")


def shortest_between(
    low: float, high: float, target: float | None = None, margin: float = 0.0
) -> float:
    """The number of fewest digits near target (the middle if None), strictly between two others.

    It is more than `margin` away from both.

    >>> shortest_between(37.0, 39.0, target=38.5816), shortest_between(-math.inf, 2.0)
    (38.6, 1.0)
    """
    if target is None:
        if math.isinf(low) or math.isinf(high):
            return high - 1.0 if math.isinf(low) else low + 1.0
        target = low + (high - low) / 2
    for digits in range(3, 18):
        candidate = float(f"{target:.{digits}g}")
        if low + margin < candidate < high - margin:
            return candidate
    return target


def cut_between(below: float, above: float) -> float:
    """A short number to cut at: x < cut holds for `below`, and not for `above`.

    >>> cut_between(40.0, 41.0), cut_between(1.0, math.nextafter(1.0, 2.0))
    (40.5, 1.0000000000000002)
    """
    cut = shortest_between(below, above)
    return cut if below < cut < above else above  # neighbours in float64 have nothing between


def _between_values(end: float, values: Array) -> float:
    """An end that parts the values as this one does, and is none of them; ±∞ if all are in."""
    below = float(np.max(values, where=values < end, initial=-math.inf))
    above = float(np.min(values, where=values >= end, initial=math.inf))
    if math.isinf(below) or math.isinf(above):
        return -math.inf if math.isinf(below) else math.inf
    return end if below < end < above else cut_between(below, above)


@dataclass(frozen=True)
class Condition:
    """One attribute is among some values, or in the half-open interval [low, high)."""

    attribute: str
    values: tuple[Any, ...] | None = None
    low: float = -math.inf
    high: float = math.inf

    def holds(self, column: Column) -> Members:
        """Rows that meet the condition."""
        if self.values is not None:
            return np.logical_or.reduce([column.equals(value) for value in self.values])
        return (column.values >= self.low) & (column.values < self.high)

    def in_few_digits(self, column: Column) -> "Condition":
        """The same rows of this column, with ends that are short and no row's value."""
        if self.values is not None:
            return self
        low, high = (_between_values(end, column.values) for end in (self.low, self.high))
        return replace(self, low=low, high=high)

    def to_dict(self) -> dict[str, Any]:
        """The condition as plain data; an end that is open is None."""
        if self.values is not None:
            return {"attribute": self.attribute, "values": list(self.values)}
        low, high = (end if math.isfinite(end) else None for end in (self.low, self.high))
        return {"attribute": self.attribute, "low": low, "high": high}

    def describe(self) -> str:
        """The condition in words."""
        if self.values is not None:
            labels = [category_label(value) for value in self.values]
            if len(labels) == 1:
                return f"{self.attribute} = {labels[0]}"
            return f"{self.attribute} in {{{', '.join(labels)}}}"
        if self.low == -math.inf:
            return f"{self.attribute} < {number(self.high)}"
        if self.high == math.inf:
            return f"{self.attribute} ≥ {number(self.low)}"
        return f"{number(self.low)} ≤ {self.attribute} < {number(self.high)}"


@dataclass(frozen=True)
class Conjunction(Rule):
    """Rows that meet every condition.

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
        """Names of the attributes, and of which kind each is."""
        return dict(self.kinds)

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain data."""
        return {"kind": "conjunction", "conditions": [c.to_dict() for c in self.conditions]}

    def members(self, columns: Mapping[str, Column]) -> Members:
        """Who is in, for columns that were read already."""
        members = np.ones(len(next(iter(columns.values())).values), dtype=bool)
        for condition in self.conditions:
            members &= condition.holds(columns[condition.attribute])
        return members

    def describe(self) -> str:
        """The rule in words."""
        words = " and ".join(condition.describe() for condition in self.conditions) or "everyone"
        return f"{self.name} ({words})" if self.name and self.name != words else words

    def in_few_digits(self, columns: Mapping[str, Column], members: Members) -> "Conjunction":
        """The same members, without conditions that all rows meet, and cut between values.

        A rule with a name has the user's own numbers, and keeps them.
        """
        if self.name:
            return self
        short = (one.in_few_digits(columns[one.attribute]) for one in self.conditions)
        kept = [one for one in short if not one.holds(columns[one.attribute]).all()]
        return replace(self, conditions=tuple(kept))


@dataclass(frozen=True)
class Term:
    """A column of the linear encoding: a number, or the indicator of one category."""

    attribute: str
    categorical: bool
    value: Any = None

    def evaluate(self, column: Column) -> Array:
        """The term's value in each row."""
        return column.equals(self.value).astype(np.float64) if self.categorical else column.values

    def describe(self) -> str:
        """The term in words."""
        if not self.categorical:
            return self.attribute
        return f"[{self.attribute}={category_label(self.value)}]"


def _part_of_score(column: Column, terms: list[tuple[Term, float]]) -> Array:
    """Return Σ coefficient·term over the terms of one attribute.

    Of a categorical one at most one term is not 0, and a table of coefficients by category tells
    which: with thousands of categories, a pass over the rows for each takes seconds.
    """
    own = {term.value: coefficient for term, coefficient in terms if term.categorical}
    if column.categories is not None and len(own) == len(terms):
        table = np.array([*(own.get(value, 0.0) for value in column.categories), 0.0])
        return table[column.values.astype(np.intp)]
    part = np.zeros(len(column.values))
    for term, coefficient in terms:
        part += coefficient * term.evaluate(column)
    return part


@dataclass(frozen=True)
class LinearRule(Rule):
    """Rows where Σ coefficient·term ≥ threshold.

    `levels` has the categories of each categorical attribute, and None for a number, in the order
    of the user's columns. A category that was not there when the rule was found is in no group: the
    rule says nothing of it.

    >>> rule = LinearRule((Term("age", False), Term("sex", True, "F")), (0.8, -2.1), 30.0,
    ...                   levels={"age": None, "sex": ("F", "M")})
    >>> print(rule)
    0.8·age − 2.1·[sex=F] ≥ 30
    >>> rule.contains({"age": [40, 40], "sex": ["F", "M"]}).tolist()
    [False, True]
    """

    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    threshold: float
    levels: Mapping[str, tuple[Any, ...] | None] = field(hash=False)

    @property
    def attributes(self) -> dict[str, str]:
        """Names of the attributes, and of which kind each is."""
        nothing = np.zeros(0)
        return {name: Column(name, nothing, values).kind for name, values in self.levels.items()}

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain data; a term with a value is the indicator of that category."""
        terms = [
            {"attribute": term.attribute, "coefficient": coefficient}
            | ({"value": term.value} if term.categorical else {})
            for term, coefficient in zip(self.terms, self.coefficients, strict=True)
        ]
        return {"kind": "linear", "terms": terms, "threshold": self.threshold}

    def scores(self, columns: Mapping[str, Column]) -> Array:
        """Σ coefficient·term, added term by term: the same for a row in any batch of rows."""
        score = np.zeros(len(next(iter(columns.values())).values))
        pairs = zip(self.terms, self.coefficients, strict=True)
        for name, some in itertools.groupby(pairs, lambda pair: pair[0].attribute):
            score += _part_of_score(columns[name], list(some))
        return score

    def members(self, columns: Mapping[str, Column]) -> Members:
        """Who is in, for columns that were read already."""
        members = self.scores(columns) >= self.threshold
        for name in {term.attribute for term in self.terms if term.categorical}:
            levels = self.levels[name] or ()
            if not set(columns[name].categories or ()) <= set(levels):
                members &= Condition(name, values=levels).holds(columns[name])
        return members

    def describe(self) -> str:
        """The rule in words: as values of the attributes where it is that simple."""
        rule = self._without_zeros()
        if not rule.terms:
            return "everyone" if rule.threshold <= 0 else "no one"
        if len(rule.terms) == 1 and not rule.terms[0].categorical:
            (term,), (coefficient,) = rule.terms, rule.coefficients
            sign = "≥" if coefficient > 0 else "≤"
            return f"{term.attribute} {sign} {number(rule.threshold / coefficient)}"
        return rule._as_values() or rule._as_formula()

    def _as_formula(self) -> str:
        parts = []
        for term, coefficient in zip(self.terms, self.coefficients, strict=True):
            size = "" if abs(coefficient) == 1 else f"{number(abs(coefficient))}·"
            sign = "−" if coefficient < 0 else "+"
            parts.append((sign, size + term.describe()))
        first = ("−" if parts[0][0] == "−" else "") + parts[0][1] if parts else "0"
        rest = "".join(f" {sign} {words}" for sign, words in parts[1:])
        return f"{first}{rest} ≥ {number(self.threshold)}"

    def _as_values(self, most_cells: int = 4096) -> str:
        """`race = blue and sex = M`, if the rule is a product of value sets or the rest of one."""
        used = {term.attribute for term in self.terms}
        levels = {name: values for name, values in self.levels.items() if name in used}
        sizes = [len(values) if values is not None else 0 for values in levels.values()]
        if not 0 < math.prod(sizes) <= most_cells:
            return ""
        combinations = np.array(list(itertools.product(*map(range, sizes))), dtype=np.float64)
        columns = {
            name: Column(name, codes, values)
            for (name, values), codes in zip(levels.items(), combinations.T, strict=True)
        }
        members = self.members(columns)
        inside = _product_of_values(levels, combinations, members)
        if inside:
            return " and ".join(inside)
        outside = _product_of_values(levels, combinations, ~members)
        return f"not ({' and '.join(outside)})" if outside else ""

    def in_few_digits(self, columns: Mapping[str, Column], members: Members) -> "LinearRule":
        """The same members of these columns, with as few digits as will keep them."""

        def ends(coefficients: tuple[float, ...]) -> tuple[float, float]:
            scores = replace(self, coefficients=coefficients).scores(columns)
            low = float(np.max(scores[~members], initial=-np.inf))
            return low, float(np.min(scores[members], initial=np.inf))

        terms = (term.evaluate(columns[term.attribute]) for term in self.terms)
        return self.shortened(ends, [float(np.max(np.abs(values))) for values in terms])

    def shortened(
        self,
        ends: Callable[[tuple[float, ...]], tuple[float, float]],
        sizes: Sequence[float],
    ) -> "LinearRule":
        """The same members with as few digits as will keep them, wherever the rows are.

        `ends` tells of any coefficients the highest score of those out and the lowest of those in;
        `sizes` are the largest |term|. The threshold lies strictly between the scores, by more
        than float64 scores are off: it never equals a row's, in decimals neither, and no rounding
        can move a row across it.
        """
        unit = max(map(abs, self.coefficients)) if np.count_nonzero(self.coefficients) == 1 else 1.0
        for digits in range(2, 18):
            coefficients = tuple(float(f"{c / unit:.{digits}g}") for c in self.coefficients)
            low, high = ends(coefficients)
            margin = _rounding(coefficients, sizes)
            if low + 2 * margin < high:
                threshold = shortest_between(low, high, margin=margin)
                rounded = replace(self, coefficients=coefficients, threshold=threshold)
                return rounded._without_zeros()
        return self._without_zeros()

    def _without_zeros(self) -> "LinearRule":
        """The same rule without the terms that don't matter."""
        kept = [i for i, coefficient in enumerate(self.coefficients) if coefficient != 0]
        return replace(
            self,
            terms=tuple(self.terms[i] for i in kept),
            coefficients=tuple(self.coefficients[i] for i in kept),
        )


def _rounding(coefficients: Sequence[float], sizes: Sequence[float]) -> float:
    """What a score can be off by: k terms, rounded when read (twice), multiplied and added.

    That is (k + 3)·2⁻⁵³ of Σ |coefficient·term|, and twice that leaves room for the threshold.
    """
    size = sum(abs(c) * largest for c, largest in zip(coefficients, sizes, strict=True))
    return (len(sizes) + 3) * 2.0**-52 * size


def _product_of_values(
    levels: Mapping[str, tuple[Any, ...] | None], combinations: Array, members: Members
) -> list[str]:
    """The conditions of which the members are the product, if they are one."""
    if not members.any() or members.all():
        return []
    taken = [np.unique(codes) for codes in combinations[members].T]
    if math.prod(map(len, taken)) != members.sum():
        return []
    return list(_conditions(levels, taken))


def _conditions(levels: Mapping[str, tuple[Any, ...] | None], taken: list[Array]) -> Iterable[str]:
    for (name, values), codes in zip(levels.items(), taken, strict=True):
        assert values is not None
        if len(codes) < len(values):
            yield Condition(name, tuple(values[int(code)] for code in codes)).describe()
