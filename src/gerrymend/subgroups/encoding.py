"""The encoding of protected attributes for linear rules, and rules from directions in it."""

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
    """The terms of linear rules: numbers as they are, an indicator for each category but one.

    The most common category is left out (the last one, among equals). With an intercept its
    indicator would be redundant, and a rule is easier to read as a departure from the majority.

    Attributes
    ----------
    terms : tuple of Term
        The columns of `matrix`, in order.
    levels : mapping
        The categories of each attribute, in order; None for a number.
    """

    terms: tuple[Term, ...]
    levels: Mapping[str, tuple[Any, ...] | None]

    @classmethod
    def of(cls, columns: Sequence[Column], weight: Array) -> "LinearEncoding":
        """Encode these columns; `weight`, one value a cell, decides which category is common."""

        def by_category(column: Column) -> dict[Any, float] | None:
            if column.categories is None:
                return None
            members = enumerate(column.categories)
            return {value: total(weight[column.values == code]) for code, value in members}

        return cls.of_weights({column.name: by_category(column) for column in columns})

    @classmethod
    def of_weights(cls, levels: Mapping[str, Mapping[Any, float] | None]) -> "LinearEncoding":
        """Encode attributes given by name: None for a number, else the weight of each category.

        Categories are in order.

        >>> LinearEncoding.of_weights({"age": None, "sex": {"F": 2.0, "M": 1.0}}).terms[1].value
        'M'
        """
        terms = []
        for name, weights in levels.items():
            if weights is None:
                terms.append(Term(name, categorical=False))
                continue
            # By weight, then by place, which also keeps `max` from comparing the values.
            _, _, common = max(
                (w, place, value) for place, (value, w) in enumerate(weights.items())
            )
            terms += [Term(name, True, category) for category in weights if category != common]
        categories = {
            name: None if weights is None else tuple(weights) for name, weights in levels.items()
        }
        return cls(tuple(terms), categories)

    def matrix(self, columns: Sequence[Column]) -> Array:
        """Return the design matrix of shape (n_cells, n_terms), without an intercept."""
        by_name = {column.name: column for column in columns}
        if not self.terms:
            return np.zeros((len(columns[0].values), 0))
        return np.column_stack([term.evaluate(by_name[term.attribute]) for term in self.terms])

    def linear_rule(self, coefficients: Array, threshold: float) -> LinearRule:
        """Return the rule Σ coefficient·term ≥ threshold, scaled so that the largest is ±1."""
        unit = float(np.max(np.abs(coefficients), initial=0.0)) or 1.0
        return LinearRule(
            self.terms, tuple((coefficients / unit).tolist()), threshold / unit, self.levels
        )


@dataclass(frozen=True, eq=False)
class DirectionRules:
    """Makes rules in the user's units of coordinates in some basis of directions.

    `intercepts` has shape (n_directions,) and `coefficients` (n_directions, n_terms).
    """

    encoding: LinearEncoding
    intercepts: Array
    coefficients: Array
    tie: float = TIE

    def rule(self, key: Any) -> LinearRule:
        """Return the rule intercept + coefficients·x ≥ tie, for coordinates in the basis."""
        if isinstance(key, LinearRule):  # a proof brings its own rule
            return key
        threshold = self.tie - float(key @ self.intercepts)
        return self.encoding.linear_rule(key @ self.coefficients, threshold)
