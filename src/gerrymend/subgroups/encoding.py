"""How protected attributes enter a linear rule, and how directions become rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gerrymend._projection import TIE
from gerrymend._sums import Array, total
from gerrymend.protected import Column
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
        terms = []
        for column in columns:
            if column.categories is None:
                terms.append(Term(column.name, categorical=False))
                continue
            weights = [
                total(weight[column.values == code]) for code in range(len(column.categories))
            ]
            common = max(range(len(weights)), key=lambda code: (weights[code], code))
            terms += [
                Term(column.name, categorical=True, value=value)
                for code, value in enumerate(column.categories)
                if code != common
            ]
        return cls(tuple(terms), {column.name: column.categories for column in columns})

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
