"""Draw rows anew from the rows: a resample is to them what they are to the people they are of."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.compared import Compared
from gerrymend.auditing.tally import NotionTally, Rows, Tally
from gerrymend.notions import FairnessNotion

# Σ w and Σ w·p by stratum, label and cell, the same rows being one stratum where there are none.
Table = tuple[Array, Array]


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
        alone = first.is_count and len(tallies) == 1
        self._draws: _Draws = _Counts(first) if alone else _Rows([*tallies.values()])
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


class _Rows:
    """Rows that weigh differently, have numbers or a probability, one by one; or lines of equal."""

    def __init__(self, tallies: Sequence[Tally]) -> None:
        held = [tally.rows if tally.lines is None else tally.lines.rows for tally in tallies]
        tables: list[Rows] = [rows for rows in held if rows is not None]
        assert len(tables) == len(tallies)
        first = tables[0]
        stratum = first.stratum
        if stratum is None:
            stratum = np.zeros(len(first.cell), dtype=np.intp)
        # In an order given by the values, so that a draw doesn't depend on that of the rows.
        values = [column for rows in tables for column in (rows.p, rows.y)]
        order = np.lexsort((first.weight, *values, first.cell, stratum))
        m = tallies[0].weight.shape[1]
        self._shape = (int(stratum.max()) + 1, 2, m)
        self._weight = first.weight[order]
        lines = tallies[0].lines
        self._n_rows = None if lines is None else lines.n_rows[order]
        # A row's place in a flattened table of this shape, so that one bincount adds up all of it.
        self._tables = [
            ((rows.cell + m * (rows.y + 2 * stratum))[order], (rows.weight * rows.p)[order])
            for rows in tables
        ]

    def draw(self, rng: np.random.Generator) -> list[Table]:
        """Draw how often each row occurs, and sum."""
        # All tables see one draw, as how often each row occurs in it; no row is copied.
        if self._n_rows is None:
            n = len(self._weight)
            times = np.bincount(rng.integers(0, n, n), minlength=n)
        else:
            # Equal rows are drawn as often as their part of all tells: one multinomial draw.
            n = int(self._n_rows.sum())
            times = rng.multinomial(n, self._n_rows / n)

        def by_label(key: NDArray[np.intp], values: Array) -> Array:
            sums = np.bincount(key, times * values, math.prod(self._shape))
            return sums.astype(np.float64).reshape(self._shape)

        return [
            (by_label(key, self._weight), by_label(key, positive)) for key, positive in self._tables
        ]
