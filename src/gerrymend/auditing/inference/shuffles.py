"""Deal outcomes to the rows anew, as chance alone would have done.

Where no subgroup differs, outcomes have nothing to do with the protected attributes, and every way
to deal the event's outcomes to the event's rows was as likely as the one that was seen. Weights
stay with the rows. Notions over the same rows are dealt together, as pairs of label and decision.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference._draw_kernel import MOST_STEPS, deal_most, deal_rest
from gerrymend.auditing.inference.drawing import rarely_exceeded, word
from gerrymend.auditing.row_data import Rows
from gerrymend.auditing.tally import Tally
from gerrymend.notions import FairnessNotion

# NumPy draws from a hypergeometric distribution of fewer rows than this.
MOST_ROWS = 10**9
# Rows a cell, below which it is quicker to draw rows than numbers of rows.
_FEW_ROWS = 50
# Rows a number of rows, below which it is quicker to deal the rows' numbers one by one.
_ROWS_A_COUNT = 128
# Slots of which a row chooses one at random. A cell has a whole number of them, of so many on
# average: the more there are the less is lost by that, as long as a near cache holds them.
_SLOTS_A_CELL = 32
_ROWS_A_SLOT = 8
_FEWEST_SLOTS = 2**6
_MOST_SLOTS = 2**15
# Where fewer of the rows would find a cell so, all are drawn without replacement.
_MOST = 0.25
_BITS = MOST_STEPS.bit_length() - 1


class Shuffle(Protocol):
    """A way to deal the outcomes of one event."""

    def draw(self, rng: np.random.Generator) -> Array:
        """Deal once; return Σ w·u by active cell, a row for each notion."""
        ...


def obstacle(tally: Tally) -> str:
    """Say why outcomes can't be dealt anew; return an empty string where they can."""
    if tally.is_count and tally.n_rows.sum() >= MOST_ROWS:
        return f"there are {MOST_ROWS:,} rows or more"
    if tally.is_count or tally.rows is not None:
        return ""
    return (
        "rows that weigh differently, have numbers or are decided with a probability are permuted "
        "one by one, and only their sums are at hand; collect the frame for that"
    )


def shuffle_of(
    tally: Tally, notions: Sequence[FairnessNotion], active: NDArray[np.intp]
) -> Shuffle:
    """Return a way to deal the outcomes of notions that share an event, over its active cells.

    Within strata, where there are any.
    """
    if tally.strata is not None:
        return StrataShuffle(tally.strata.parts, notions, active)
    if tally.is_count:
        return CountShuffle.of(tally, notions, active)
    assert tally.rows is not None
    return _shuffle_of_rows(tally.rows, tally.weight.shape[1], notions, active)


def _shuffle_of_rows(
    rows: Rows, n_cells: int, notions: Sequence[FairnessNotion], active: NDArray[np.intp]
) -> Shuffle:
    """Return a way to deal the outcomes of rows that are at hand."""
    number = np.full(n_cells, -1, dtype=np.intp)
    number[active] = np.arange(len(active))
    # Rows without weight, and cells without weight in the event, have no part in any sum.
    counts = notions[0].in_event(rows.y) & (rows.weight > 0) & (number >= 0)[rows.cell]
    rows = rows.where(counts)
    cell = number[rows.cell]
    weight = rows.weight
    outcomes = np.array([notion.outcome(rows.y, rows.p) for notion in notions])
    if len(notions) == 1 and (weight == weight[0]).all():
        return _shuffle_of_numbers(np.bincount(cell), weight[0] * outcomes[0])
    return RowShuffle(cell, weight, outcomes, len(active))


def _shuffle_of_numbers(sizes: NDArray[np.intp], values: Array) -> Shuffle:
    """Return a way to deal numbers of equal rows: by counts, where few of them differ."""
    # In their own order: a draw depends on the seed and the numbers, not on the rows' order.
    values = np.sort(values)
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    if _ROWS_A_COUNT * len(first) * len(sizes) <= len(values):
        return CountShuffle(sizes, np.diff(first, append=len(values)), values[None, first])
    return NumberShuffle(sizes, values)


class StrataShuffle:
    """Rows of each stratum: dealt among themselves, and centred at the rate of their own.

    It returns the sum of what the strata have less what is expected of them, which sums to 0 and is
    its own residual.
    """

    def __init__(
        self,
        parts: Sequence[Tally],
        notions: Sequence[FairnessNotion],
        active: NDArray[np.intp],
    ) -> None:
        self._active = active
        self._n_cells = parts[0].weight.shape[1]
        self._n_notions = len(notions)
        counted = [part for part in parts if (np.asarray(notions[0].event) @ part.weight).any()]
        # All notions share an event, and thereby their active cells.
        self._seen = [part.of_notion(notions[0]) for part in counted]
        self._shuffles = [
            shuffle_of(part, notions, seen.cells.active)
            for part, seen in zip(counted, self._seen, strict=True)
        ]

    def draw(self, rng: np.random.Generator) -> Array:
        """Deal once in each stratum; return W by active cell, a row for each notion."""
        sums = np.zeros((self._n_notions, self._n_cells))
        for seen, shuffle in zip(self._seen, self._shuffles, strict=True):
            sums[:, seen.cells.active] += seen.centred(shuffle.draw(rng))
        dealt: Array = sums[:, self._active]
        return dealt


class CountShuffle:
    """Equal rows of few outcomes: how many of each outcome a cell is dealt.

    With N rows in the event, N_c of them in cell c, and K rows of one outcome, the K fall on the
    cells as K draws without replacement from N balls of m colours: a multivariate hypergeometric
    draw, in O(m) whatever N is (of few rows a cell, ball by ball is quicker). Of more than two
    outcomes each is dealt to what the others left.

    Parameters
    ----------
    sizes : array of shape (m,)
        Rows by cell.
    counts : array of shape (k,)
        Rows by kind of outcome.
    kinds : array of shape (notions, k)
        The outcome that each notion sees in a kind.
    """

    def __init__(self, sizes: NDArray[np.intp], counts: NDArray[np.intp], kinds: Array) -> None:
        # All but the commonest kind are drawn, so that the fewest balls are.
        rarest_first = np.argsort(counts, kind="stable")
        self._sizes = sizes.astype(np.int64)
        self._counts = counts[rarest_first]
        self._kinds = kinds[:, rarest_first]
        few = self._sizes.sum() < _FEW_ROWS * len(self._sizes)
        self._method: Literal["count", "marginals"] = "count" if few else "marginals"

    @classmethod
    def of(
        cls, tally: Tally, notions: Sequence[FairnessNotion], active: NDArray[np.intp]
    ) -> "CountShuffle":
        """Take whole decisions, as pairs of label and decision."""
        labels = np.flatnonzero(notions[0].event)
        rows = tally.n_rows[labels]
        positive = np.rint(tally.positive[labels].sum(axis=1)).astype(np.intp)
        y = np.tile(labels, 2)
        p = np.repeat([0.0, 1.0], len(labels))
        # The outcome of each kind of row, (label, decision); kinds with the same are one colour.
        outcomes = np.array([notion.outcome(y, p) for notion in notions])
        kinds, kind = np.unique(outcomes, axis=1, return_inverse=True)
        counts = np.zeros(kinds.shape[1], dtype=np.intp)
        np.add.at(counts, kind.ravel(), np.concatenate([rows.sum(axis=1) - positive, positive]))
        return cls(rows.sum(axis=0)[active], counts, kinds)

    def draw(self, rng: np.random.Generator) -> Array:
        """Deal once; return Σ u by active cell, a row for each notion."""
        sums: Array = np.zeros((len(self._kinds), len(self._sizes)))
        left = self._sizes
        for count, kind in zip(self._counts[:-1], self._kinds.T[:-1], strict=True):
            dealt = rng.multivariate_hypergeometric(left, int(count), method=self._method)
            sums += kind[:, None] * dealt
            left = left - dealt
        return sums + self._kinds[:, -1:] * left


class Steps(NamedTuple):
    """Numbers as whole multiples of a `step`, a power of two, above the `lowest`.

    None is above MOST_STEPS, so that less is rounded off than the sum of as many numbers has
    rounding. Where all are multiples of some power of two that is not too small, nothing is.

    >>> Steps.of(np.array([1.5, -2.0])).numbers.astype(float).tolist()
    [246290604621824.0, 0.0]
    """

    numbers: NDArray[np.uint64]
    lowest: float
    exponent: int

    @classmethod
    def of(cls, values: Array) -> "Steps":
        """Take them from numbers of any scale."""
        lowest = float(values.min())
        # Halves, as the range of the largest numbers is none itself.
        half = float(values.max()) / 2 - lowest / 2
        exponent = math.frexp(half)[1] + 1 - _BITS
        # What is scaled by a power of two is as exact as before.
        scaled = np.ldexp(values, -exponent) - math.ldexp(lowest, -exponent)
        return cls(np.rint(scaled).astype(np.uint64), lowest, exponent)

    def total(self, sums: Array, counts: NDArray[np.intp]) -> Array:
        """Return sums of the numbers themselves, from those of multiples and how many there are."""
        # Added up in steps: numbers may be too large, or too small, for a difference.
        lowest = math.ldexp(self.lowest, -self.exponent)
        totals: Array = np.ldexp(lowest * counts + sums, self.exponent)
        return totals


class NumberShuffle:
    """Numbers of equal rows: which of them a cell is dealt, in O(n) and in the order of memory.

    Let each number choose a cell for itself, c with the probability q_c, or none. Given how many
    choose each cell, every way to do so is as likely as another. Where no cell got more than its
    n_c rows, numbers without a cell are shuffled and fill up what is missing: every way is still as
    likely, so that it is a uniform deal. Otherwise all is begun anew, which depends on those counts
    alone and thereby favours no way. q_c·n is a little below n_c, so that this is rare. Of cells
    with few rows that is not a little: where most numbers would find none, all are shuffled.

    Parameters
    ----------
    sizes : array of shape (m,)
        Rows by cell.
    values : array of shape (n,)
        Their numbers, in an order that doesn't depend on that of the rows.
    """

    def __init__(self, sizes: NDArray[np.intp], values: Array) -> None:
        self._sizes = sizes
        self._steps = Steps.of(values)
        wanted = min(_SLOTS_A_CELL * len(sizes), len(values) // _ROWS_A_SLOT, _MOST_SLOTS)
        # A power of two, so that bits of a random word are the number of a slot.
        self._n_slots = 2 ** math.ceil(math.log2(max(_FEWEST_SLOTS, wanted)))
        share = self._n_slots * rarely_exceeded(sizes.astype(np.float64)) / len(values)
        # As many slots as fit into a cell's share; the others are for none.
        self._starts = np.append(0, np.cumsum(np.floor(share).astype(np.intp)))
        self._chooses = self._starts[-1] >= _MOST * self._n_slots

    def draw(self, rng: np.random.Generator) -> Array:
        """Deal once; return Σ w·u by active cell, as the only row."""
        sums = np.zeros(len(self._sizes))
        missing = self._sizes
        if self._chooses:
            sums, missing, left = self._choose(rng)
        else:
            left = self._steps.numbers.copy()
        deal_rest(left, word(rng), missing, sums)
        return self._steps.total(sums, self._sizes)[None]

    def _choose(
        self, rng: np.random.Generator
    ) -> tuple[Array, NDArray[np.intp], NDArray[np.uint64]]:
        """Let numbers choose a cell; return sums, how many cells miss, and numbers without one."""
        numbers = self._steps.numbers
        left = np.empty_like(numbers)
        while True:
            chosen = np.zeros((len(self._sizes), 2))
            n_left = deal_most(numbers, word(rng), self._starts, self._n_slots, chosen, left)
            missing = self._sizes - chosen[:, 1].astype(np.intp)
            if (missing >= 0).all():
                return chosen[:, 0].copy(), missing, left[:n_left]


class RowShuffle:
    """Rows that weigh differently, or have several outcomes: dealt one by one, in O(n).

    Rows are put in the order of cell and weight, and outcomes in their own: a draw then depends on
    the seed and on what the rows are, not on the order in which they came.
    """

    def __init__(
        self, cell: NDArray[np.intp], weight: Array, outcomes: Array, n_cells: int
    ) -> None:
        order = np.lexsort((weight, cell))
        self._cell = cell[order]
        self._weight = weight[order]
        self._n_cells = n_cells
        self._outcomes: Array = outcomes[:, np.lexsort(outcomes)]

    def draw(self, rng: np.random.Generator) -> Array:
        """Deal once; return Σ w·u by active cell, a row for each notion."""
        order = rng.permutation(len(self._cell))
        return np.array(
            [
                np.bincount(self._cell, self._weight * outcomes[order], self._n_cells)
                for outcomes in self._outcomes
            ]
        )
