"""Draw rows anew from the rows: a resample is to them what they are to the people they are of."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from gerrymend._numeric.sums import Array
from gerrymend.auditing.compared import Compared
from gerrymend.auditing.inference._draw_kernel import STEPS, add_rows, add_times
from gerrymend.auditing.inference.drawing import rarely_exceeded, word
from gerrymend.auditing.row_data import Rows
from gerrymend.auditing.tally import NotionTally, Tally
from gerrymend.notions import FairnessNotion

# Σ w and Σ w·p by stratum, label and cell, the same rows being one stratum where there are none.
Table = tuple[Array, Array]

# Rows a key, below which there are too many keys to sort the values of each by itself.
_FEW_ROWS = 16
# Rows a line of equal ones, below which it is quicker to draw row by row.
_ROWS_A_LINE = 256
# A row occurs more often with a probability below 2⁻¹⁰⁰.
_MOST_TIMES = 40


def no_resamples(tally: Tally) -> str:
    """Say why rows can't be drawn anew; return an empty string where they can."""
    at_hand = tally.rows is not None or tally.lines is not None
    if at_hand or (tally.is_count and not tally.by_class):
        return ""
    return (
        "rows that weigh differently, have numbers or are decided with a probability are drawn one "
        "by one, and only their sums are at hand; collect the frame for that"
    )


class Resample(NamedTuple):
    """Hold W of each notion over its active cells, and the weight of all rows that were drawn."""

    residuals: list[Array]
    total_weight: float


class _Draws(Protocol):
    def draw(self, rng: np.random.Generator) -> list[Table]:
        """Draw as many rows with replacement; return the sums of each table."""
        ...


class Resampler:
    """Draw as many rows with replacement, and sum what each notion sees of them.

    Parameters
    ----------
    seen : sequence of NotionTally
        The rows, one by one or as counts, as each notion sees them. Tables of numbers, or of
        classes, are of the same rows in the same order, and all of them see the same draw.
    seed : int
    """

    def __init__(self, seen: Sequence[NotionTally], seed: int) -> None:
        tallies = {id(part.tally): part.tally for part in seen}
        places = {key: place for place, key in enumerate(tallies)}
        self._moments = [(_Moment.of(part), places[id(part.tally)]) for part in seen]
        first = next(iter(tallies.values()))
        # The counts of one table don't tell those of another, as of two classes.
        self._draws: _Draws
        if first.is_count and len(tallies) == 1:
            self._draws = _Counts(first)
        else:
            self._draws = _one_by_one([*tallies.values()])
        self._seed = seed

    def draw(self, number: int) -> Resample:
        """Make the resample of a number; each has a seed of its own, whoever makes it."""
        # 2 keeps it apart from the split (0) and the permutations (1) of the same seed.
        tables = self._draws.draw(np.random.default_rng([self._seed, 2, number]))
        residuals = [moment.residual(*tables[place]) for moment, place in self._moments]
        # Of rows without weight there may be nothing but 0.
        return Resample(residuals, float(tables[0][0].sum()) or 1.0)


class _Moment(NamedTuple):
    """Hold what a notion sums over its active cells, and what it compares that with.

    `known` is what the rows themselves are compared with, where it is no overall rate.
    """

    notion: FairnessNotion
    active: NDArray[np.intp]
    compared: Compared
    known: float

    @classmethod
    def of(cls, seen: NotionTally) -> "_Moment":
        """Take it from the rows as a notion sees them, and no rows with it."""
        return cls(seen.notion, seen.cells.active, seen.compared, seen.cells.reference or 0.0)

    def residual(self, weight: Array, positive: Array) -> Array:
        """Return W of the active cells; a resample may have no rows in some of them."""
        event = np.asarray(self.notion.event, dtype=float)
        # Outside of the event a row has no outcome: with a and b of 0 it adds nothing to the sums.
        a, b = (event * np.asarray(pair, dtype=float) for pair in (self.notion.a, self.notion.b))
        mass = np.einsum("y,sym->sm", event, weight)[:, self.active]
        outcomes = np.einsum("y,sym->sm", a, weight) + np.einsum("y,sym->sm", b, positive)
        outcomes = outcomes[:, self.active]
        # A stratum of a resample may have no row in the event at all: all its sums are 0 then. The
        # group that others are compared with may have none, and counts as it is on the rows.
        rates = self.compared.rate(outcomes, mass, self.active, self.known)
        residual: Array = (outcomes - rates[:, None] * mass).sum(axis=0)
        return residual


class _Counts:
    """Equal rows of whole decisions: how many of each cell, label and decision are drawn, O(m)."""

    def __init__(self, tally: Tally) -> None:
        parts = [tally] if tally.strata is None else tally.strata.parts
        n_rows = np.array([part.n_rows for part in parts])
        positive = np.rint([part.positive for part in parts]).astype(np.int64)
        by_decision = np.stack([n_rows - positive, positive])  # decision, stratum, label, cell
        self._n = int(n_rows.sum())
        self._shape = by_decision.shape
        # Rows drawn with replacement fall on the kinds of rows as one multinomial draw.
        self._shares = by_decision.ravel() / self._n

    def draw(self, rng: np.random.Generator) -> list[Table]:
        """Draw how often each cell, label and decision occurs, and sum."""
        drawn = rng.multinomial(self._n, self._shares).reshape(self._shape).astype(np.float64)
        return [(drawn.sum(axis=0), drawn[1])]


class _Columns(NamedTuple):
    """Hold what is summed of each row, by its key: its place in a flattened table of a shape.

    It is w·p for each table and then, unless all rows have one `weight`, w for each.
    """

    keys: list[NDArray[np.uint32]]
    values: list[Array]
    weight: float | None
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, tables: Sequence[Rows], n_cells: int) -> "_Columns":
        """Take them from tables of the same rows."""
        first = tables[0]
        stratum = np.zeros_like(first.cell) if first.stratum is None else first.stratum
        keys = [(rows.cell + n_cells * (rows.y + 2 * stratum)).astype(np.uint32) for rows in tables]
        values = [rows.weight * rows.p for rows in tables]
        shape = (int(stratum.max()) + 1, 2, n_cells)
        if (first.weight == first.weight[0]).all():
            return cls(keys, values, float(first.weight[0]), shape)
        return cls(keys * 2, values + [first.weight] * len(tables), None, shape)

    @property
    def size(self) -> int:
        """The number of keys."""
        return math.prod(self.shape)

    def ordered(self) -> "_Columns":
        """Return rows in an order that values give: a draw doesn't depend on that of the rows."""
        n = len(self.keys[0])
        if len(self.keys) == 1 and _FEW_ROWS * self.size <= n:
            return self._replace(**_sorted_within_keys(self.keys[0], self.values[0]))
        return self.take(self.order())

    def order(self) -> NDArray[np.intp]:
        """Return the places of rows in order of their keys, and then of their values."""
        columns: list[NDArray[Any]] = [*self.values, *self.keys]
        return np.lexsort(columns)

    def first_of_equals(self) -> NDArray[np.intp]:
        """Return the places of rows in order that differ from the one before."""
        differs = np.zeros(len(self.keys[0]), dtype=bool)
        differs[:1] = True
        columns: list[NDArray[Any]] = [*self.keys, *self.values]
        for column in columns:
            differs[1:] |= column[1:] != column[:-1]
        return np.flatnonzero(differs)

    def take(self, rows: NDArray[np.intp]) -> "_Columns":
        """Return some rows, or all in another order."""
        keys = [key[rows] for key in self.keys]
        return self._replace(keys=keys, values=[column[rows] for column in self.values])

    def added(self, times: NDArray[np.intp]) -> list[Array]:
        """Return how often a key occurs, and the sum of its values, where rows occur so often."""
        return [
            np.stack(
                [np.bincount(key, times, self.size), np.bincount(key, times * column, self.size)],
                axis=1,
            )
            for key, column in zip(self.keys, self.values, strict=True)
        ]

    def tables(self, sums: Sequence[Array]) -> list[Table]:
        """Return Σ w and Σ w·p of each table, from what `added` returns."""
        if self.weight is None:
            half = len(sums) // 2
            weights = [of_weights[:, 1] for of_weights in sums[half:]]
        else:
            weights = [self.weight * of_values[:, 0] for of_values in sums]
        return [
            (weight.reshape(self.shape), of_values[:, 1].reshape(self.shape))
            for weight, of_values in zip(weights, sums, strict=False)
        ]


def _one_by_one(tallies: Sequence[Tally]) -> _Draws:
    """Return draws of tables of rows, or of lines of equal rows.

    Rows of many classes are drawn as their counts are, wherever they are summed, so that the same
    seed gives the same resamples; others where there are few different ones.
    """
    n_cells = tallies[0].weight.shape[1]
    lines = [tally.lines for tally in tallies if tally.lines is not None]
    if lines:
        columns = _Columns.of([line.rows for line in lines], n_cells)
        return _Lines.of(columns, lines[0].n_rows)
    tables = [tally.rows for tally in tallies if tally.rows is not None]
    columns = _Columns.of(tables, n_cells)
    if all(tally.is_count for tally in tallies):
        return _Lines.of(columns, np.ones(len(columns.keys[0]), dtype=np.intp))
    columns = columns.ordered()
    n = len(columns.keys[0])
    first = columns.first_of_equals()
    if _ROWS_A_LINE * len(first) <= n:
        return _Lines(columns.take(first), np.diff(first, append=n))
    return _Rows(columns)


class _Lines:
    """Lines of equal rows, `n_rows` of each: how many of them are drawn."""

    def __init__(self, columns: _Columns, n_rows: NDArray[np.intp]) -> None:
        self._columns = columns
        self._n_rows = n_rows

    @classmethod
    def of(cls, columns: _Columns, n_rows: NDArray[Any]) -> "_Lines":
        """Merge equal lines, in an order that values give: it can't matter how rows are counted."""
        order = columns.order()
        ordered = columns.take(order)
        first = ordered.first_of_equals()
        return cls(ordered.take(first), np.add.reduceat(n_rows[order], first))

    def draw(self, rng: np.random.Generator) -> list[Table]:
        """Draw equal rows as often as their part of all tells: one multinomial draw."""
        n = int(self._n_rows.sum())
        times = rng.multinomial(n, self._n_rows / n)
        return self._columns.tables(self._columns.added(times))


class _Rows:
    """Rows that weigh differently, have numbers or a probability: drawn one by one, in O(n).

    How often each row occurs is a Poisson variable, independent of the others. Given their sum, it
    is one multinomial draw of so many rows; with another of the rows that are missing, it is one of
    all. Where the sum is too large all is begun anew, which depends on the sum alone.
    """

    def __init__(self, columns: _Columns) -> None:
        self._columns = columns
        self._n = len(columns.keys[0])
        # Rows of one key that follow each other are summed together.
        firsts = [np.flatnonzero(np.append(True, key[1:] != key[:-1])) for key in columns.keys]
        self._keys = [key[first] for key, first in zip(columns.keys, firsts, strict=True)]
        self._starts = [np.append(first, self._n) for first in firsts]
        self._cuts, self._rest = _poisson(self._n)

    def draw(self, rng: np.random.Generator) -> list[Table]:
        """Draw how often each row occurs, and sum."""
        n = self._n
        columns = self._columns
        n_missing = -1
        while n_missing < 0:
            seed = word(rng)
            sums = [np.zeros((columns.size, 2)) for _ in columns.keys]
            # All see the same draw, by the same seed.
            for starts, keys, values, into in zip(
                self._starts, self._keys, columns.values, sums, strict=True
            ):
                add_times(starts, keys, values, seed, self._cuts, self._rest, into)
            n_missing = n - int(sums[0][:, 0].sum())
        missing = rng.integers(0, n, n_missing)
        for key, values, into in zip(columns.keys, columns.values, sums, strict=True):
            add_rows(missing, key, values, into)
        return columns.tables(sums)


def _sorted_within_keys(key: NDArray[np.uint32], values: Array) -> dict[str, Any]:
    """Sort by key, and the values of each key: `np.lexsort` at a fifth of its cost."""
    small = key.astype(np.uint16) if key.max() < 2**16 else key  # these have a sort of their own
    order = np.argsort(small, kind="stable")
    key = key[order]
    parts = np.split(values[order], np.flatnonzero(np.diff(key)) + 1)
    return {"keys": [key], "values": [np.concatenate([np.sort(part) for part in parts])]}


def _poisson(n: int) -> tuple[tuple[np.uint16, ...], Array]:
    """Return how often a row occurs by its chance, and for chance that doesn't tell.

    It is a Poisson variable of such a mean that n rows rarely occur more than n times together. Of
    STEPS equally likely values of chance, as many tell k times as fit into its probability, for k
    of 0 to 7; from the last cut on, they tell nothing. What is missing of each probability is that
    of k times in these: the sum is exact.
    """
    mean = float(rarely_exceeded(np.array([float(n)]))[0]) / n
    k = np.arange(_MOST_TIMES)
    shares = STEPS * np.exp(xlogy(k, mean) - mean - gammaln(k + 1))
    # One value is left open at least, as those are of a mean of 0 that would all tell 0 times.
    whole = np.minimum(np.floor(shares[:8]), STEPS - 1)
    shares[:8] -= whole
    rest = np.cumsum(shares)
    rest /= rest[-1]
    ends = np.cumsum(whole)
    return tuple(ends.astype(np.uint16)), rest
