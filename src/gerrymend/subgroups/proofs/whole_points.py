"""Weighted points with exact coordinates, for proofs over linear thresholds.

Coordinates are whole numbers: a column of decimals is scaled until it is one, so that whether rows
are tied in a direction can be told for sure. A float stands for the decimal that it prints as.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array

# Whole numbers up to here have a float64 of their own.
_EXACT = 2**53
# A decimal of so many digits is the one that its float64 prints as.
_SURE_DIGITS = 15
# The least variance of a combination of columns, in units of theirs: it loses 3 digits of 16.
_LEAST_VARIANCE = 1e-6
_RESOLUTION = 2**30
# More rows than this there aren't, and two codes below it are one code of 64 bits.
_MOST_CODES = 2**31


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
        """Merge rows that no direction can tell apart, and return which one each row went to."""
        key = np.zeros(len(self.weight), dtype=np.int64)
        n_keys = 1
        for column in [self.stratum, self.rank, *self.x.T]:
            code = _codes(column)
            n_codes = int(code.max(initial=0)) + 1
            if n_keys * n_codes > _MOST_CODES**2:
                key = np.unique(key, return_inverse=True)[1]
                n_keys = len(key)
            key = key * n_codes + code
            n_keys = n_keys * n_codes
        _, first, key = np.unique(key, return_index=True, return_inverse=True)
        weight: Array = np.bincount(key, self.weight, len(first)).astype(np.float64)
        merged = Points(self.x[first], weight, self.stratum[first], self.rank[first])
        return merged, key

    def take(self, rows: NDArray[Any]) -> "Points":
        """Return some of the rows."""
        return replace(
            self,
            x=self.x[rows],
            weight=self.weight[rows],
            stratum=self.stratum[rows],
            rank=self.rank[rows],
        )

    @cached_property
    def _blocks(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """One row of each stratum and rank, and which of these each row belongs to.

        Directions compare rows within these.
        """
        key = self.stratum * (int(self.rank.max()) + 1) + self.rank
        _, first, block = np.unique(key, return_index=True, return_inverse=True)
        return first, block

    @cached_property
    def size(self) -> list[int]:
        """The largest entry of each column."""
        return [int(largest) for largest in np.abs(self.x).max(axis=0, initial=1)]

    def in_few_columns(self) -> "Points":
        """Keep the orders of rows in as few columns as it takes, none nearly made of others.

        Rows are taken relative to one of their own stratum and rank, all of this exactly: neither
        an offset nor a column that almost depends on others may cost digits later on. In a single
        column only the order matters, and not how far apart the rows are.
        """
        first, block = self._blocks
        x = self.x - self.x[first[block]]
        x = x[:, independent_columns(x)]
        if x.shape[1] == 1:
            x = np.unique(x[:, 0], return_inverse=True)[1][:, None]
        return replace(self, x=x)._well_conditioned()

    def _well_conditioned(self) -> "Points":
        """Replace columns until no combination is nearly constant, in units of their spread.

        While there is one, rounded to whole coefficients, it takes the place of the column that has
        the largest part in it: what the columns span stays the same.
        """
        points = self
        while True:
            _, spread, variance, axes = points._principal
            if variance.min(initial=1.0) > _LEAST_VARIANCE:
                return points
            units = np.eye(len(axes), dtype=int).tolist()
            combination = nearest(units, axes[:, 0] / spread, points.size)
            assert combination is not None
            exact = points.x.astype(object)
            exact[:, np.abs(axes[:, 0]).argmax()] = exact @ np.array(combination, dtype=object)
            points = replace(points, x=exact)

    @cached_property
    def _principal(self) -> tuple[Array, Array, Array, Array]:
        """x / size less its mean by stratum and rank, and each column's deviation; of x in these
        units the variances along its principal axes, and the axes.
        """
        x = (self.x / np.array(self.size, dtype=self.x.dtype)).astype(np.float64)
        _, block = self._blocks
        count = np.bincount(block)
        for column in x.T:
            column -= (np.bincount(block, column) / count)[block]
        spread = np.sqrt((x**2).mean(axis=0))
        z = x / spread
        return x, spread, *np.linalg.eigh(z.T @ z / len(z))

    def whitening(self) -> tuple[Array, Array]:
        """Coordinates z of unit covariance, and the map from directions over z to over x / size."""
        x, spread, variance, axes = self._principal
        to_x = axes / spread[:, None] / np.sqrt(variance)
        return x @ to_x, to_x


def whole_numbers(column: Array) -> NDArray[Any]:
    """Return the column in whole numbers, as small as can be: shifted and scaled, exactly.

    >>> whole_numbers(np.array([0.19, 1.0, 0.22])).tolist()
    [0, 27, 1]
    """
    whole = _scaled(column)
    whole = whole - whole.min()
    factor = math.gcd(*np.unique(whole).tolist()) or 1
    whole = whole // factor
    return whole.astype(np.int64) if int(whole.max()) < _EXACT else whole


def _codes(column: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers from 0 on in the order of the column's."""
    least = int(column.min(initial=0))
    largest = int(column.max(initial=0))
    if largest - least < _MOST_CODES:
        return (column - least).astype(np.int64)
    return np.unique(column, return_inverse=True)[1]


def _scaled(column: Array) -> NDArray[Any]:
    """Return the column times a power of ten that makes every value a whole number."""
    for digits in range(10):
        scaled = np.rint(column * 10.0**digits)
        if np.abs(scaled).max(initial=0.0) >= (10.0**_SURE_DIGITS if digits else _EXACT):
            break
        if (scaled / 10.0**digits == column).all():
            return scaled.astype(np.int64)
    decimals = [Decimal(repr(value)) for value in column.tolist()]
    exponents = [int(value.as_tuple().exponent) for value in decimals]
    digits = max(0, -min(exponents))
    return np.array([int(value.scaleb(digits)) for value in decimals], dtype=object)


def orthogonal_to_differences(
    x: NDArray[Any], pair_apart: Callable[[NDArray[Any]], tuple[int, int] | None]
) -> list[list[int]]:
    """Return a basis of what is orthogonal to x_i − x_j for some pairs of rows; exact.

    `pair_apart(y)` is one of the pairs with y_i ≠ y_j, if there is one. Start with all unit
    vectors, and y their values in each row. While a pair differs in one of them, the part along its
    difference Δ is taken out: with n·Δ ≠ 0, each other vector v becomes (n·Δ)·v − (v·Δ)·n.
    """
    size = x.shape[1]
    orthogonal = [[int(i == j) for j in range(size)] for i in range(size)]
    while orthogonal:
        pair = pair_apart(values_along(x, orthogonal))
        if pair is None:
            break
        difference = x[pair[0]] - x[pair[1]]
        image = [sum(a * int(b) for a, b in zip(v, difference, strict=True)) for v in orthogonal]
        lead = next(i for i, entry in enumerate(image) if entry)
        first = orthogonal[lead]
        orthogonal = [
            _shortened([image[lead] * a - image[i] * b for a, b in zip(v, first, strict=True)])
            for i, v in enumerate(orthogonal)
            if i != lead
        ]
    return orthogonal


def values_along(x: NDArray[Any], directions: list[list[int]]) -> NDArray[np.float64]:
    """Return the rows' order in each direction, exactly: equal where they are tied, else not."""
    largest = int(np.abs(x).max(initial=1)) * max(abs(e) for v in directions for e in v)
    if largest * x.shape[1] < _EXACT:  # float64 has these whole numbers, and a fast product
        values: NDArray[np.float64] = x.astype(np.float64) @ np.array(directions, dtype=float).T
        return values
    exact = x.astype(object) @ np.array(directions, dtype=object).T
    ranks = [np.unique(column, return_inverse=True)[1] for column in exact.T]
    return np.column_stack(ranks).astype(np.float64)


def independent_columns(x: NDArray[Any]) -> list[int]:
    """Choose columns that are independent and span the others, the first that do; exact.

    Xc = 0 just where XᵀXc = 0, so it is enough to eliminate in that small matrix.

    >>> independent_columns(np.array([[0, 2, 2, 1], [0, 1, 1, 1]]))
    [1, 3]
    """
    chosen: list[int] = []
    reduced: list[tuple[int, list[int]]] = []
    for i, row in enumerate(_products(x)):
        for lead, other in reduced:
            if row[lead]:
                factor = other[lead]
                own = row[lead]
                row = _shortened([factor * a - own * b for a, b in zip(row, other, strict=True)])
        if any(row):
            chosen.append(i)
            reduced.append((next(k for k, entry in enumerate(row) if entry), row))
    return chosen


def _products(x: NDArray[Any]) -> list[list[int]]:
    """XᵀX, exactly."""
    # Where float64 has all of these whole numbers, its product is fast.
    fast = int(np.abs(x).max(initial=0)) ** 2 * len(x) < _EXACT
    exact = x.astype(np.float64 if fast else object)
    return [[int(entry) for entry in row] for row in (exact.T @ exact).tolist()]


def nearest(basis: list[list[int]], direction: Array, size: list[int]) -> list[int] | None:
    """Return a whole combination of the basis near to a direction, which is over x / size.

    None where the direction is orthogonal to the whole basis.

    >>> nearest([[1, 0, 0], [0, 1, 1]], np.array([1.0, 2.0, 2.0]), [1, 1, 1])
    [1, 2, 2]
    """
    effects = [[a * b for a, b in zip(v, size, strict=True)] for v in basis]
    largest = [max(map(abs, effect)) for effect in effects]
    # Quotients of whole numbers of any length are floats all the same.
    units = [[a / unit for a in effect] for effect, unit in zip(effects, largest, strict=True)]
    along = np.linalg.lstsq(np.array(units).T, direction, rcond=None)[0]
    if not along.any():
        return None
    parts = [
        round(part * _RESOLUTION) * (max(largest) * _RESOLUTION // unit)
        for part, unit in zip((along / np.abs(along).max()).tolist(), largest, strict=True)
    ]
    return _shortened([sum(map(mul, parts, entries)) for entries in zip(*basis, strict=True)])


def _shortened(vector: list[int]) -> list[int]:
    factor = math.gcd(*vector) or 1
    return [entry // factor for entry in vector]
