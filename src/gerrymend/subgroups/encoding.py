"""The encoding of protected attributes for linear rules, and rules from directions in it."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array, total
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.linear_rule import LinearRule, Term

# A design of more numbers is not made, nor one factorised that takes more products: 240 MB, and
# about a second.
_MOST_NUMBERS = 30_000_000
_MOST_PRODUCTS = 5_000_000_000


def is_too_wide(n_cells: int, n_terms: int) -> bool:
    """Say whether a dense design of so many cells and terms would take too long, or too much.

    >>> is_too_wide(1_000_000, 14), is_too_wide(20_000, 5_000)
    (False, True)
    """
    return n_cells * n_terms > _MOST_NUMBERS or n_cells * n_terms**2 > _MOST_PRODUCTS


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
        matrix = np.empty((len(columns[0].values), len(self.terms)))
        for k, values in enumerate(self.evaluated(columns)):
            matrix[:, k] = values
        return matrix

    def evaluated(self, columns: Sequence[Column]) -> Iterator[Array]:
        """Yield the values of each term in turn; a list of all would be as large as the matrix."""
        by_name = {column.name: column for column in columns}
        for term in self.terms:
            yield term.evaluate(by_name[term.attribute])

    def sparse_matrix(self, columns: Sequence[Column]) -> sparse.csr_array:
        """Return the same matrix without its zeros: an entry for each attribute, in each row."""
        by_name = {column.name: column for column in columns}
        n_rows = len(columns[0].values)
        entries: list[tuple[Array, NDArray[np.intp], NDArray[np.intp]]] = []
        for name, terms in itertools.groupby(enumerate(self.terms), lambda one: one[1].attribute):
            column = by_name[name]
            if column.categories is None:
                place, _ = next(terms)
                entries.append((column.values, np.arange(n_rows), np.full(n_rows, place)))
                continue
            own = {term.value: place for place, term in terms}
            places = np.array([own.get(value, -1) for value in column.categories], dtype=np.intp)
            place_of = places[column.values.astype(np.intp)]
            rows = np.flatnonzero(place_of >= 0)
            entries.append((np.ones(len(rows)), rows, place_of[rows]))
        shape = n_rows, len(self.terms)
        if not entries:
            return sparse.csr_array(shape)
        values, at, of = (np.concatenate(some) for some in zip(*entries, strict=True))
        return sparse.csr_array((values, (at, of)), shape=shape)

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

    def rules(self, keys: Array) -> list[LinearRule]:
        """Return the rules of many keys, one a row, made together."""
        coefficients = keys @ self.coefficients
        thresholds = self.tie - keys @ self.intercepts
        unit = np.abs(coefficients).max(axis=1, initial=0.0)
        unit[unit == 0] = 1.0
        both = zip(
            (coefficients / unit[:, None]).tolist(), (thresholds / unit).tolist(), strict=True
        )
        terms = self.encoding.terms
        levels = self.encoding.levels
        return [LinearRule(terms, tuple(given), threshold, levels) for given, threshold in both]


@dataclass(frozen=True, eq=False)
class TermRules:
    """From coefficients of all terms, the intercept last, to a rule."""

    encoding: LinearEncoding
    tie: float = TIE

    def rule(self, key: Any) -> LinearRule:
        """Rows where intercept + coefficients·x is above the tie; a proof brings its own rule."""
        if isinstance(key, LinearRule):
            return key
        return self.encoding.linear_rule(key[:-1], self.tie - float(key[-1]))
