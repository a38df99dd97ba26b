"""Linear rules: a weighted sum of numbers and indicators of categories, and a threshold."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gerrymend._numeric.short_numbers import shortest_between
from gerrymend._numeric.sums import Array
from gerrymend.inputs.categories import Unnamed
from gerrymend.inputs.protected import Column, Others
from gerrymend.subgroups.rules import (
    Condition,
    Members,
    Rare,
    Rule,
    category_label,
    number,
    told_and_unnamed,
    unnamed,
    whole_end,
)

# Numbers that may be read to find terms that can be dropped: some tenths of a second.
_MOST_NUMBERS = 50_000_000
# Digits in which the coefficients of a rule are tried: 17 are always enough for float64.
DIGITS = range(2, 18)


@dataclass(frozen=True)
class Term:
    """A column of the linear encoding: a number, or the indicator of one category."""

    attribute: str
    categorical: bool
    value: Any = None

    def evaluate(self, column: Column) -> Array:
        """Return the value of the term in each row, 0 or 1 for an indicator."""
        return column.equals(self.value).astype(np.float64) if self.categorical else column.values

    def describe(self) -> str:
        """Return the term in words."""
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
    """The rule Σ coefficient·term ≥ threshold.

    `levels` has the categories of each categorical attribute, and None for a number, in the order
    of the user's columns; numbers without fractions are `whole`. Rows of a category that was
    unknown when the rule was found are out.

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
    whole: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def attributes(self) -> dict[str, str]:
        """The kind of each attribute, by name."""
        nothing = np.zeros(0)
        return {name: Column(name, nothing, values).kind for name, values in self.levels.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data; a term with a value is the indicator of that category.

        `reference` has, of each category in it, the values without a term, which count 0. Where
        terms are not told, `unnamed` has their number by attribute.
        """
        terms = [
            {"attribute": term.attribute, "coefficient": coefficient}
            | ({"value": term.value} if term.categorical else {})
            for term, coefficient in zip(self.terms, self.coefficients, strict=True)
            if not isinstance(term.value, Unnamed)
        ]
        untold = self._unnamed_terms()
        used = [term for term in self.terms if term.categorical]
        reference = {
            attribute: [
                value
                for value in self.levels[attribute] or ()
                if not isinstance(value, Others | Unnamed)
                and Term(attribute, True, value) not in used
            ]
            for attribute in dict.fromkeys(term.attribute for term in used)
        }
        return {
            "kind": "linear",
            "terms": terms,
            "threshold": self.threshold,
            "reference": reference,
        } | ({"unnamed": dict(untold)} if untold else {})

    def listed(self) -> set[tuple[str, Any]]:
        """Return all categories of the attributes that are used, as words may tell each of them."""
        used = {term.attribute for term in self._without_zeros().terms}
        return {
            (name, value) for name in used for value in told_and_unnamed(self.levels[name] or ())[0]
        }

    def withholding(self, rare: Rare) -> "LinearRule":
        """Return the same rule, which tells none of these values."""
        return replace(
            self,
            terms=tuple(
                replace(term, value=unnamed(term.attribute, (term.value,), rare)[0])
                if term.categorical
                else term
                for term in self.terms
            ),
            levels={
                name: None if values is None else unnamed(name, values, rare)
                for name, values in self.levels.items()
            },
        )

    def _unnamed_terms(self) -> Counter[str]:
        """Return how many terms of each attribute are not told."""
        return Counter(term.attribute for term in self.terms if isinstance(term.value, Unnamed))

    def without_others(self) -> "LinearRule":
        """Return the same rule without a term for the values that are not told.

        c·[others] is c − Σ c·[known], over all known values.
        """
        coefficients = dict(zip(self.terms, self.coefficients, strict=True))
        threshold = self.threshold
        for term in self.terms:
            if isinstance(term.value, Others):
                shift = coefficients.pop(term)
                threshold -= shift
                for value in term.value.known:
                    known = Term(term.attribute, True, value)
                    coefficients[known] = coefficients.get(known, 0.0) - shift
        # Terms of one attribute stand together, in the order of the attributes.
        names = [*self.levels]
        ordered = sorted(coefficients, key=lambda term: names.index(term.attribute))
        values = tuple(coefficients[term] for term in ordered)
        return replace(self, terms=tuple(ordered), coefficients=values, threshold=threshold)

    def scores(self, columns: Mapping[str, Column]) -> Array:
        """Return Σ coefficient·term for each row."""
        score = np.zeros(len(next(iter(columns.values())).values))
        by_attribute: dict[str, list[tuple[Term, float]]] = {}
        for pair in zip(self.terms, self.coefficients, strict=True):
            by_attribute.setdefault(pair[0].attribute, []).append(pair)
        for name, some in by_attribute.items():
            score += _part_of_score(columns[name], some)
        return score

    def members(self, columns: Mapping[str, Column]) -> Members:
        """Return a mask of the members, for columns that have been read already."""
        members = self.scores(columns) >= self.threshold
        # A category that is unknown here has no indicator, so it would pass for the common one.
        for name in {term.attribute for term in self.terms if term.categorical}:
            levels = self.levels[name] or ()
            if any(isinstance(value, Others) for value in levels):
                continue  # which are all that are not told
            if not set(columns[name].categories or ()) <= set(levels):
                members &= Condition(name, values=levels).holds(columns[name])
        return members

    def complement(self) -> "LinearRule":
        """Return the rule of all others: −Σ coefficient·term > −threshold.

        >>> rule = LinearRule((Term("age", False),), (1.0,), 40.0, levels={"age": None})
        >>> rule.complement().contains({"age": [39, 40, 41]}).tolist()
        [True, False, False]
        """
        # The next float above −threshold: with "at least" it is the strict inequality.
        return replace(
            self,
            coefficients=tuple(-coefficient for coefficient in self.coefficients),
            threshold=math.nextafter(-self.threshold, math.inf),
        )

    def describe(self) -> str:
        """Return the rule in words: as values of attributes if it is so simple, else a formula."""
        rule = self._without_zeros()
        if not rule.terms:
            return "everyone" if rule.threshold <= 0 else "no one"
        if len(rule.terms) == 1 and not rule.terms[0].categorical:
            coefficient = rule.coefficients[0]
            name = rule.terms[0].attribute
            sign, rounded = ("≥", math.ceil) if coefficient > 0 else ("≤", math.floor)
            end = whole_end(rule.threshold / coefficient, name in self.whole, rounded)
            return f"{name} {sign} {number(end)}"
        inside, outside = rule._as_values()
        if outside:
            return f"not ({' and '.join(outside)})"
        return " and ".join(inside) or rule._as_formula()

    @property
    def says_who(self) -> bool:
        """Return whether the rule is told by values that are in, or by one number."""
        rule = self._without_zeros()
        return (
            not rule.terms
            or (len(rule.terms) == 1 and not rule.terms[0].categorical)
            or bool(rule._as_values()[0])
        )

    def _as_formula(self) -> str:
        parts = []
        for term, coefficient in zip(self.terms, self.coefficients, strict=True):
            if isinstance(term.value, Unnamed):
                continue
            size = "" if abs(coefficient) == 1 else f"{number(abs(coefficient))}·"
            sign = "−" if coefficient < 0 else "+"
            parts.append((sign, size + term.describe()))
        for name, n_terms in self._unnamed_terms().items():
            terms = (
                "a term for a rare value" if n_terms == 1 else f"{n_terms} terms for rare values"
            )
            parts.append(("+", f"{terms} of {name}"))
        first = ("−" if parts[0][0] == "−" else "") + parts[0][1] if parts else "0"
        rest = "".join(f" {sign} {words}" for sign, words in parts[1:])
        return f"{first}{rest} ≥ {number(self.threshold)}"

    def _as_values(self, most_cells: int = 4096) -> tuple[list[str], list[str]]:
        """Return the conditions of who is in, else of who is out, where these are value sets."""
        used = {term.attribute for term in self.terms}
        levels = {name: values for name, values in self.levels.items() if name in used}
        sizes = [len(values) if values is not None else 0 for values in levels.values()]
        if not 0 < math.prod(sizes) <= most_cells:  # a number makes the product 0
            return [], []
        # Over categories alone, the rule is what it decides for each combination of values.
        combinations = np.array(list(itertools.product(*map(range, sizes))), dtype=np.float64)
        columns = {
            name: Column(name, codes, values)
            for (name, values), codes in zip(levels.items(), combinations.T, strict=True)
        }
        members = self.members(columns)
        inside = _product_of_values(levels, combinations, members)
        return inside, [] if inside else _product_of_values(levels, combinations, ~members)

    def in_few_digits(self, columns: Mapping[str, Column], members: Members) -> "LinearRule":
        """Drop terms, and round to the fewest digits, that keep the same members of these columns.

        The terms that are left are in the order of their sizes: |coefficient| times the spread of
        the term over the columns, so that a unit doesn't decide it.
        """
        rule = self._without_needless_terms(columns, members)
        whole = tuple(name for name, column in columns.items() if column.is_whole)
        return replace(rule._in_few_digits(columns, members), whole=whole)

    def _without_needless_terms(
        self, columns: Mapping[str, Column], members: Members
    ) -> "LinearRule":
        """Drop one term after the other, the smallest first, as long as members stay the same."""
        n_rows = len(members)
        if not self.terms or n_rows * len(self.terms) > _MOST_NUMBERS:
            return self

        def values(i: int) -> Array:
            """Return the values of a term, made again as those of all would take much memory."""
            return self.terms[i].evaluate(columns[self.terms[i].attribute])

        every = range(len(self.terms))
        spread = [abs(self.coefficients[i]) * float(np.std(values(i))) for i in every]
        by_size = sorted(every, key=lambda i: -spread[i])
        largest = [float(np.max(np.abs(values(i)), initial=0.0)) for i in every]
        score = self.scores(columns)
        kept = dict.fromkeys(by_size)
        # What is subtracted leaves its own rounding behind: room for that of all terms.
        room = 2 * _rounding(self.coefficients, largest)
        for i in reversed(by_size):
            less = score - self.coefficients[i] * values(i)
            low = float(np.max(less[~members], initial=-np.inf))
            high = float(np.min(less[members], initial=np.inf))
            if len(kept) > 1 and low + room < high:
                del kept[i]
                score = less
        return replace(
            self,
            terms=tuple(self.terms[j] for j in kept),
            coefficients=tuple(self.coefficients[j] for j in kept),
        )

    def _in_few_digits(self, columns: Mapping[str, Column], members: Members) -> "LinearRule":
        """Round to the fewest digits that keep the same members of these columns."""

        def ends(coefficients: tuple[float, ...]) -> tuple[float, float]:
            scores = replace(self, coefficients=coefficients).scores(columns)
            low = float(np.max(scores[~members], initial=-np.inf))
            return low, float(np.min(scores[members], initial=np.inf))

        terms = (term.evaluate(columns[term.attribute]) for term in self.terms)
        return self.shortened(ends, [float(np.max(np.abs(values))) for values in terms])

    def shortened(
        self, ends: Callable[[tuple[float, ...]], tuple[float, float]], sizes: Sequence[float]
    ) -> "LinearRule":
        """Round to the fewest digits that keep the same members, without access to the rows.

        `ends` returns, for given coefficients, the highest score of a row that is out and the
        lowest of one that is in; `sizes` are the largest |term|. The threshold stays away from both
        by more than the error of a float64 score, so that rounding can't move a row across it.
        """
        for digits in DIGITS:
            coefficients = self.rounded(digits)
            low, high = ends(coefficients)
            if leaves_room(coefficients, low, high, sizes):
                margin = _rounding(coefficients, sizes)
                threshold = shortest_between(low, high, margin=margin)
                rounded = replace(self, coefficients=coefficients, threshold=threshold)
                return rounded._without_zeros()
        return self._without_zeros()

    def rounded(self, digits: int) -> tuple[float, ...]:
        """Return the coefficients in so many digits; a single one is ±1, to read `age ≥ 35`."""
        used = [abs(coefficient) for coefficient in self.coefficients if coefficient]
        unit = used[0] if len(used) == 1 else 1.0
        return tuple(float(f"{c / unit:.{digits}g}") for c in self.coefficients)

    def _without_zeros(self) -> "LinearRule":
        """Drop the terms whose coefficient is 0."""
        kept = [i for i, coefficient in enumerate(self.coefficients) if coefficient != 0]
        return replace(
            self,
            terms=tuple(self.terms[i] for i in kept),
            coefficients=tuple(self.coefficients[i] for i in kept),
        )


def leaves_room(
    coefficients: Sequence[float], low: float, high: float, sizes: Sequence[float]
) -> bool:
    """Say whether a threshold between two scores is further from both than rounding can move them.

    `sizes` are the largest |term|.

    >>> leaves_room([1.0], 34.0, 36.0, sizes=[90.0]), leaves_room([1.0], 36.0, 36.0, sizes=[90.0])
    (True, False)
    """
    return low + 2 * _rounding(coefficients, sizes) < high


def _rounding(coefficients: Sequence[float], sizes: Sequence[float]) -> float:
    """Bound the error of a float64 score.

    Each of k terms is rounded when it is read (twice), multiplied, and added up: an error of at
    most (k + 3)·2⁻⁵³ of Σ |coefficient·term|. Twice that leaves room for the threshold.
    """
    size = sum(abs(c) * largest for c, largest in zip(coefficients, sizes, strict=True))
    return (len(sizes) + 3) * 2.0**-52 * size


def _product_of_values(
    levels: Mapping[str, tuple[Any, ...] | None], combinations: Array, members: Members
) -> list[str]:
    """Return the conditions whose product is the set of members; empty if it is no product."""
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
