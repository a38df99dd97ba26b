"""Weighted points with exact coordinates, for proofs over linear thresholds.

Coordinates are whole numbers: a column of decimals is scaled until it is one, so that whether rows
are tied in a direction can be told for sure. A float stands for the decimal that it prints as.
"""

import math
from collections.abc import Sequence
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
        weight: Array = np.bincount(key, self.weight).astype(np.float64)
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
    exponents = [int(value.as_tuple().exponent) for value in decimals]
    digits = max(0, -min(exponents))
    return np.array([int(value.scaleb(digits)) for value in decimals], dtype=object)


def pivots(rows: NDArray[Any]) -> tuple[list[int], list[int]]:
    """Rows that are a basis of the span of all rows, and columns on which they are independent.

    Elimination in whole numbers, all rows at once: every entry stays a minor of the matrix, and is
    divided by the last pivot without a rest (Bareiss).

    >>> pivots(np.array([[0, 2, 2], [0, 1, 1], [0, 0, 3]]))
    ([0, 2], [1, 2])
    """
    chosen: list[int] = []
    columns: list[int] = []
    before = 1
    while len(columns) < rows.shape[1]:
        places = np.flatnonzero(rows.any(axis=1))
        if len(places) == 0:
            break
        row = int(places[0])
        column = int(np.flatnonzero(rows[row])[0])
        pivot = rows[row, column]
        if rows.dtype != object and int(np.abs(rows).max()) ** 2 >= 2**61:
            rows, pivot = rows.astype(object), int(pivot)
        rows = (rows * pivot - rows[:, [column]] * rows[row]) // before
        chosen.append(row)
        columns.append(column)
        before = pivot
    return chosen, columns


def orthogonal_to(rows: NDArray[Any], near: Sequence[int]) -> list[int]:
    """The part of a vector that is orthogonal to some rows, times a positive whole number.

    >>> orthogonal_to(np.array([[1, 1, 0], [1, 0, 0]]), near=[3, 3, 3])
    [0, 0, 1]
    """
    basis: list[list[int]] = []
    for row in [*rows.tolist(), near]:  # Gram–Schmidt, in whole numbers
        rest = [int(entry) for entry in row]
        for b in basis:
            square, along = sum(e * e for e in b), sum(e * r for e, r in zip(b, rest, strict=True))
            rest = [square * r - along * e for e, r in zip(b, rest, strict=True)]
        factor = math.gcd(*rest) or 1
        basis.append([entry // factor for entry in rest])
    return basis[-1]
