"""How protected attributes enter a linear rule, and how directions become rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array, total
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.rules import LinearRule, Term


@dataclass(frozen=True)
class LinearEncoding:
    """The columns of the linear rules: numbers as they are, an indicator for each category but one.

    The category left out is the most common (the last, among equals): with an intercept its
    indicator would be redundant, and a rule is easier to read as a departure from the majority.
    """

    terms: tuple[Term, ...]
    levels: Mapping[str, tuple[Any, ...] | None]

    @classmethod
    def of(cls, columns: Sequence[Column], weight: Array) -> "LinearEncoding":
        """The encoding of some columns, with the weight of each row."""

        def by_category(column: Column) -> dict[Any, float] | None:
            if column.categories is None:
                return None
            members = enumerate(column.categories)
            return {value: total(weight[column.values == code]) for code, value in members}

        return cls.of_weights({column.name: by_category(column) for column in columns})

    @classmethod
    def of_weights(cls, levels: Mapping[str, Mapping[Any, float] | None]) -> "LinearEncoding":
        """The encoding of attributes: None for a number, or the weight of each category, in order.

        >>> LinearEncoding.of_weights({"age": None, "sex": {"F": 2.0, "M": 1.0}}).terms[1].value
        'M'
        """
        terms = []
        for name, weights in levels.items():
            if weights is None:
                terms.append(Term(name, categorical=False))
                continue
            _, _, common = max(
                (w, place, value) for place, (value, w) in enumerate(weights.items())
            )
            terms += [Term(name, categorical=True, value=one) for one in weights if one != common]
        categories = {name: None if one is None else tuple(one) for name, one in levels.items()}
        return cls(tuple(terms), categories)

    def matrix(self, columns: Sequence[Column]) -> Array:
        """One row a cell, one column a term."""
        by_name = {column.name: column for column in columns}
        if not self.terms:
            return np.zeros((len(columns[0].values), 0))
        return np.column_stack([term.evaluate(by_name[term.attribute]) for term in self.terms])

    def linear_rule(self, coefficients: Array, threshold: float) -> LinearRule:
        """The rule with these coefficients, the largest of them ±1."""
        unit = float(np.max(np.abs(coefficients), initial=0.0)) or 1.0
        return LinearRule(
            self.terms, tuple((coefficients / unit).tolist()), threshold / unit, self.levels
        )


@dataclass(frozen=True, eq=False)
class DirectionRules:
    """From coordinates in some basis of directions to a rule in the user's units."""

    encoding: LinearEncoding
    intercepts: Array
    coefficients: Array
    tie: float = TIE

    def rule(self, key: Any) -> LinearRule:
        """Rows where intercept + coefficients·x is above the tie; a proof brings its own rule."""
        if isinstance(key, LinearRule):
            return key
        threshold = self.tie - float(key @ self.intercepts)
        return self.encoding.linear_rule(key @ self.coefficients, threshold)
