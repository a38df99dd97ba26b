"""Weighted points with exact coordinates, for proofs over linear thresholds.

Coordinates are whole numbers: a column of decimals is scaled until it is one, so that whether rows
are tied in a direction can be told for sure. A float stands for the decimal that it prints as.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._sums import Array

# Whole numbers up to here have a float64 of their own.
_EXACT = 2**53


@dataclass(frozen=True, eq=False)
class Points:
    """Rows as points: a group takes those beyond a threshold, in a direction of one's choice.

    Attributes
    ----------
    x : array (m, d) of whole numbers
        Coordinates; of Python's own where 64 bits would not do.
    weight : array (m,)
        What a row adds to a group's value.
    stratum : array (m,) of int
        Each stratum has a threshold of its own; the direction is shared.
    rank : array (m,) of int
        Rows of a higher rank are beyond those of a lower one in every direction.
    """

    x: NDArray[Any]
    weight: Array
    stratum: NDArray[np.intp]
    rank: NDArray[np.intp]

    @property
    def n_strata(self) -> int:
        """Strata are numbered from 0."""
        return int(self.stratum.max()) + 1

    def merged(self) -> tuple["Points", NDArray[np.intp]]:
        """Rows that no direction can tell apart as one, and which one each row went to."""
        codes = [self.stratum, self.rank]
        codes += [np.unique(column, return_inverse=True)[1] for column in self.x.T]
        key = np.zeros(len(self.weight), dtype=np.int64)
        for code in codes:
            key = np.unique(key * (int(code.max()) + 1) + code, return_inverse=True)[1]
        first = np.unique(key, return_index=True)[1]
        weight = np.bincount(key, self.weight)
        merged = Points(self.x[first], weight, self.stratum[first], self.rank[first])
        return merged, key

    def take(self, rows: NDArray[Any]) -> "Points":
        """Some of the rows."""
        return replace(
            self,
            x=self.x[rows],
            weight=self.weight[rows],
            stratum=self.stratum[rows],
            rank=self.rank[rows],
        )

    def whitening(self) -> tuple[Array, Array]:
        """Coordinates z of unit covariance, and the map M from directions over z to those over x.

        Thresholds compare rows of one stratum and rank, so each such block is centred by itself.
        z has a column for each dimension that the blocks span.
        """
        x = self.x.astype(np.float64)
        block = np.unique(
            self.stratum * (int(self.rank.max()) + 1) + self.rank, return_inverse=True
        )[1]
        size = np.bincount(block)
        means = [np.bincount(block, column) / size for column in x.T]
        x = x - np.column_stack(means)[block] if means else x
        scale = np.sqrt((x**2).mean(axis=0))
        scale[scale == 0] = 1.0
        variance, axes = np.linalg.eigh((x / scale).T @ (x / scale) / len(x))
        kept = variance > 1e-12 * max(1.0, float(variance.max(initial=0.0)))
        to_raw = (axes / scale[:, None])[:, kept] / np.sqrt(variance[kept])
        return x @ to_raw, to_raw


def whole_numbers(column: Array) -> NDArray[Any]:
    """The column times a power of ten that makes every value a whole number.

    >>> whole_numbers(np.array([0.19, 1.0, 0.2])).tolist()
    [19, 100, 20]
    """
    for digits in range(10):
        scaled = np.rint(column * 10.0**digits)
        if np.abs(scaled).max(initial=0.0) >= _EXACT:
            break
        if (scaled / 10.0**digits == column).all():
            return scaled.astype(np.int64)
    decimals = [Decimal(repr(value)) for value in column.tolist()]
    exponents = [int(value.as_tuple().exponent) for value in decimals]  # type: ignore[arg-type]
    digits = max(0, -min(exponents))
    return np.array([int(value.scaleb(digits)) for value in decimals], dtype=object)


def orthogonal_basis(rows: Iterable[Sequence[int]]) -> list[list[int]]:
    """Whole vectors that are orthogonal to each other and span the rows: exact Gram–Schmidt.

    >>> orthogonal_basis([[1, 1, 0], [2, 2, 0], [1, 0, 0]])
    [[1, 1, 0], [1, -1, 0]]
    """
    basis: list[list[int]] = []
    for row in rows:
        rest = away_from(row, basis)
        if any(rest):
            basis.append(rest)
            if len(basis) == len(rest):
                break
    return basis


def away_from(vector: Sequence[int], basis: Sequence[Sequence[int]]) -> list[int]:
    """The part of a vector that is orthogonal to a basis, times a positive whole number."""
    rest = [int(entry) for entry in vector]
    for b in basis:
        square, along = sum(e * e for e in b), sum(e * r for e, r in zip(b, rest, strict=True))
        rest = [square * r - along * e for e, r in zip(b, rest, strict=True)]
    factor = math.gcd(*rest)
    return [entry // factor for entry in rest] if factor > 1 else rest


def independent_columns(basis: Sequence[Sequence[int]]) -> list[int]:
    """Columns on which the rows of a basis are still independent, as many as there are rows.

    >>> independent_columns([[0, 2, 2], [0, 0, 1]])
    [1, 2]
    """
    chosen: list[int] = []
    for column in range(len(basis[0]) if basis else 0):
        if len(chosen) == len(basis):
            break
        tried = [[row[c] for c in [*chosen, column]] for row in basis]
        if len(orthogonal_basis(tried)) == len(chosen) + 1:
            chosen.append(column)
    return chosen
