"""Hold disjoint sets of rows, each of which decides every sum that partitions of the rows tell.

A sum that follows from the sums of blocks has an indicator v = M·c: M has a row for each row of the
data, and a column for each block that doesn't follow from others. A *basis* is a set of rows in
which M is invertible, so that v is 0 there only if it is 0 everywhere. If k bases share no row, v
has k rows at least, or none.

Partitions come one by one, and bases grow by a few rows at a time. For a basis B with inverse A⁻¹,
A = M_B, what new columns N have beyond the old ones is

    R = N − M·A⁻¹·N_B,

which is 0 at B. Rows E with an invertible R_E make B ∪ E a basis of [M N], whose inverse follows
from A⁻¹ and R_E⁻¹ (Schur's complement). A column that leaves nothing is a combination of others.

Where too few rows are left to extend all bases, each is at least made to decide all rows L that are
in none of them. A v that is not 0 on L is not 0 at any basis then, and has k rows. What remains are
the v that are 0 on L: few, and over few rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqp3

from gerrymend._numeric.sums import Array

Numbers = NDArray[Any]

# What a column leaves at a new row of a basis is at least this; what is less than the other, which
# leaves room for rounding, is nothing.
_PIVOT = 1e-3
_NOTHING = 1e-6
# Numbers that the inverses have together, and products to extend them by new columns, at most.
_MOST_NUMBERS = 4_000_000
_MOST_WORK = 100_000_000
# How many rows of each block a basis is offered at first.
_OFFERED = 3


@dataclass(frozen=True, eq=False)
class Extension:
    """A partition, as columns that don't follow from known ones, and rows that each basis gains.

    `column` is the number of the column of each cell, from 1, and 0 where it has none; `cells` are
    those of the rows, of shape (bases, columns). `coefficients` and `rest` are A⁻¹·N_B and R_E.
    """

    column: Numbers
    cells: NDArray[np.intp]
    coefficients: Array
    rest: Array

    @property
    def tells_nothing(self) -> bool:
        """Return whether all sums of the partition follow from those that were known."""
        return self.cells.shape[1] == 0


class Suspects(NamedTuple):
    """Sums of which some may be of fewer rows than there are bases, less one.

    They are the combinations of `values`, of shape (sums, cells); at other cells these are 0. One
    basis is not among those that a v must meet: it stands for the rows that are in none.
    """

    cells: NDArray[np.intp]
    values: Array


class DisjointBases:
    """So many bases of the sums of partitions that share no row.

    Parameters
    ----------
    rows : array of int
        How many rows each cell has, one at least.
    number : int
        How many bases; there are fewer where there are fewer rows.

    Attributes
    ----------
    cells : array of int of shape (bases, columns)
        The cells of the rows of each basis.

    >>> bases = DisjointBases(np.array([20, 20, 20, 20]), 10)
    >>> for blocks in ([0, 1, 0, 1], [0, 0, 1, 1]):
    ...     bases.extend(bases.extension(np.array(blocks)))
    >>> bases.extension(np.array([1, 1, 2, 2])).tells_nothing
    True
    >>> bases.extension(np.array([0, 1, 1, 1])).tells_nothing
    False
    """

    def __init__(self, rows: Numbers, number: int) -> None:
        self._rng = np.random.default_rng(0)
        # Cells in an order that has nothing to do with their values.
        self._order = self._rng.permutation(len(rows))
        self._left = rows.astype(np.intp)
        # One row is a basis of the column of ones.
        first = np.repeat(self._order, np.minimum(self._left, number)[self._order])[:number]
        self.cells = first[:, None]
        np.subtract.at(self._left, first, 1)
        self._inverse = np.ones((len(first), 1, 1))
        # The columns of each partition, and that of each cell: 0 if it has none of them, which is
        # the column of ones.
        self._columns: list[tuple[slice, Numbers]] = []

    @classmethod
    def of(cls, rows: Numbers, number: int, partitions: Iterable[Numbers]) -> "DisjointBases":
        """Return bases of the sums of some partitions; none where they can't all be extended.

        Parameters
        ----------
        rows, number
            As for the class.
        partitions : iterable of arrays of int
            The number of each cell's block, as for `extension`.
        """
        bases = cls(rows, number)
        for blocks in partitions:
            extension = bases.extension(blocks)
            if not isinstance(extension, Extension):
                return cls(rows, 0)
            bases.extend(extension)
        return bases

    @property
    def number(self) -> int:
        """Return the number of bases, fewer than were asked for where there are fewer rows."""
        return len(self.cells)

    def extension(self, blocks: Numbers) -> "Extension | Suspects | None":
        """Return the extension of all bases by a partition, the number of each cell's block.

        Where too few rows are left for it, sums that may be of few rows are returned; None where
        these couldn't be told from others.
        """
        column = _numbered(blocks)
        width = int(column.max(initial=0))
        numbers = self.number * (self.cells.shape[1] + width) ** 2
        if numbers == 0 or numbers > min(_MOST_NUMBERS, _MOST_WORK / max(1, width)):
            return None
        coefficients = self._inverse @ _one_hot(column[self.cells], width)
        offered = list(self._offered(column))
        found = self._pivots(column, coefficients[0], offered[0], np.ones_like(self._left), 0)
        if found is None:
            return None
        # All other columns are combinations of these.
        kept = found[1]
        renumbered = np.zeros(coefficients.shape[2] + 1, dtype=column.dtype)
        renumbered[1 + kept] = np.arange(1, len(kept) + 1)
        column = renumbered[column]
        coefficients = coefficients[:, :, kept]
        # A basis that has rows of a small set can't stand for the rows that are in none; one that
        # has none of them can.
        tried = (self._extended(column, coefficients, offered, j) for j in range(self.number))
        return next((extended for extended in tried if extended is not None), None)

    def _extended(
        self, column: Numbers, coefficients: Array, offered: list[NDArray[np.intp]], spare: int
    ) -> "Extension | Suspects | None":
        """Return the extension by columns that are independent, or what it leaves to look at.

        The `spare` basis, which comes last, stands for the rows that are in none.

        Parameters
        ----------
        column : array (cells,) of int
            The column of each cell, from 1, and 0 where it has none.
        coefficients : array (bases, known columns, new columns)
            A⁻¹·N_B of each basis.
        offered : list of arrays of int
            For each basis, the cells among which its new rows are looked for first.
        spare : int
            The number of a basis.
        """
        left = self._left.copy()
        chosen: dict[int, NDArray[np.intp]] = {}
        for j in (*range(spare), *range(spare + 1, self.number), spare):
            found = self._pivots(column, coefficients[j], offered[j], left, spare)
            if found is None:
                return None
            chosen[j] = found[0]
            left[found[0]] -= 1
        if min(map(len, chosen.values())) < coefficients.shape[2]:
            return self._suspects(column, coefficients[spare], chosen[spare], left)
        cells = np.array([chosen[j] for j in range(self.number)])
        rests = [self._rest(column, *pair) for pair in zip(coefficients, cells, strict=True)]
        return Extension(column, cells, coefficients, np.array(rests))

    def _suspects(
        self, column: Numbers, coefficients: Array, cells: NDArray[np.intp], left: Numbers
    ) -> "Suspects":
        """Return what is 0 at some cells and at their basis, and at all cells with rows left."""
        rest = self._rest(column, coefficients, cells)
        _, _, right = np.linalg.svd(rest)
        used = np.flatnonzero(left == 0)
        return Suspects(used, right[len(cells) :] @ self._rest(column, coefficients, used).T)

    def extend(self, extension: Extension) -> None:
        """Make the bases those of the sums that were known and of the extension's."""
        if extension.tells_nothing:
            return
        below = np.stack([self._values(cells) for cells in extension.cells]) @ self._inverse
        corner = np.linalg.inv(extension.rest)
        across = corner @ below
        right = extension.coefficients @ corner
        self._inverse = np.block(
            [[self._inverse + extension.coefficients @ across, -right], [-across, corner]]
        )
        n_known = self.cells.shape[1]
        n_new = extension.cells.shape[1]
        column = extension.column.astype(np.min_scalar_type(n_known + n_new))
        column[column > 0] += n_known - 1
        self._columns.append((slice(n_known, n_known + n_new), column))
        self.cells = np.hstack([self.cells, extension.cells])
        np.subtract.at(self._left, extension.cells.ravel(), 1)

    def _offered(self, column: Numbers) -> Iterator[NDArray[np.intp]]:
        """Yield for each basis cells of a few rows of every block, no row for two of them."""
        number = len(self.cells)
        free = self._order[self._left[self._order] > 0]
        cells = free[np.argsort(column[free], kind="stable")]
        most = _OFFERED * number
        rows = np.minimum(self._left[cells], most)
        before = np.cumsum(rows) - rows
        # Rows that are before a cell in its own block.
        before -= before[np.searchsorted(column[cells], column[cells])]
        offered = np.repeat(cells, np.clip(most - before, 0, rows))
        turn = np.arange(len(offered)) % number
        for j in range(number):
            yield np.unique(offered[turn == j])

    def _pivots(
        self,
        column: Numbers,
        coefficients: Array,
        cells: NDArray[np.intp],
        left: Numbers,
        spare: int,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """Return cells at which R is invertible, and which of its columns are so there.

        The other columns are combinations of these, at all cells with rows left and at the spare
        basis. Returns None where that can't be had, or where what a column leaves is too little to
        be told from rounding.

        Parameters
        ----------
        column : array (cells,) of int
            The column of each cell, from 1, and 0 where it has none.
        coefficients : array (known columns, new columns)
            A⁻¹·N_B of the basis at hand.
        cells : array of int
            The cells to look at first; others are added as long as that raises the rank.
        left : array (cells,) of int
            Rows of each cell that are in no basis.
        spare : int
            The basis that stands for these rows.
        """
        width = coefficients.shape[1]
        rank = -1
        while True:
            cells = cells[left[cells] > 0]
            rest = self._rest(column, coefficients, cells)
            rows = _independent(rest)
            if len(rows) == width:
                return cells[rows], np.arange(width)
            rest = rest[rows]
            kept = np.sort(_independent(rest.T))
            # If a combination with random factors is 0 somewhere, so are (almost surely) all.
            others = np.delete(np.arange(width), kept)
            factors = np.zeros(width)
            factors[others] = self._rng.uniform(1, 2, len(others))
            factors[kept] = -np.linalg.solve(rest[:, kept], rest[:, others] @ factors[others])
            more = self._where_left(column, coefficients, factors)
            free = more[left[more] > 0]
            if len(free) == 0:
                # The spare basis stands for the rows that are left, and must be decided as well.
                return None if np.isin(self.cells[spare], more).any() else (cells[rows], kept)
            if len(rows) <= rank:
                return None
            rank = len(rows)
            cells = np.union1d(cells[rows], free[: _OFFERED * width])

    def _where_left(self, column: Numbers, coefficients: Array, factors: Array) -> NDArray[np.intp]:
        """Return all cells at which R times some factors is not 0."""
        known = -coefficients @ factors
        values = known[0] + np.append(0.0, factors)[column]
        known[0] = 0.0
        for own, other in self._columns:
            if np.abs(known[own]).max() > _NOTHING / len(known):  # most have no part in it
                values += known[other]
        return np.flatnonzero(np.abs(values) > 2 * _NOTHING)

    def _rest(self, column: Numbers, coefficients: Array, cells: NDArray[np.intp]) -> Array:
        """Return R at some cells."""
        new = _one_hot(column[cells], coefficients.shape[1])
        return np.asarray(new - self._values(cells) @ coefficients)

    def _values(self, cells: NDArray[np.intp]) -> Array:
        """Return M at some cells."""
        values = np.zeros((len(cells), self.cells.shape[1]))
        values[:, 0] = 1.0
        at = np.arange(len(cells))
        for _, column in self._columns:
            values[at, column[cells]] = 1.0
        return values


def _numbered(blocks: Numbers) -> Numbers:
    """Return blocks numbered from 0, the one of most cells first."""
    counts = np.bincount(blocks)
    number = np.zeros(len(counts), dtype=np.min_scalar_type(len(counts)))
    number[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return number[blocks]


def _one_hot(column: Numbers, width: int) -> Array:
    """Return a new last axis with 1 at the place of each number from 1, and nowhere for 0."""
    return (column[..., None] == np.arange(1, width + 1)).astype(np.float64)


def _independent(matrix: Array) -> NDArray[np.intp]:
    """Return rows of a matrix that are far from dependent, as many as there are."""
    if matrix.size == 0:
        return np.zeros(0, dtype=np.intp)
    triangle, order, *_ = dgeqp3(matrix.T)
    sizes = np.abs(np.diagonal(triangle))
    return np.asarray(order[: int((sizes > _PIVOT).sum())] - 1)
