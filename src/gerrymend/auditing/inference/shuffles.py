"""Deal outcomes to the rows anew, as chance alone would have done.

Where no subgroup differs, outcomes have nothing to do with the protected attributes, and every way
to deal the event's outcomes to the event's rows was as likely as the one that was seen. Weights
stay with the rows. Notions over the same rows are dealt together, as pairs of label and decision.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.tally import Rows, Tally
from gerrymend.notions import FairnessNotion

# NumPy draws from a hypergeometric distribution of fewer rows than this.
MOST_ROWS = 10**9
# Rows a cell, below which it is quicker to draw rows than numbers of rows.
_FEW_ROWS = 50


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
        return CountShuffle(tally, notions, active)
    assert tally.rows is not None
    return RowShuffle(tally.rows, tally.weight.shape[1], notions, active)


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
    """Whole decisions of equal rows: how many of each outcome a cell is dealt.

    With N rows in the event, N_c of them in cell c, and K rows of one outcome, the K fall on the
    cells as K draws without replacement from N balls of m colours: a multivariate hypergeometric
    draw, in O(m) whatever N is (of few rows a cell, ball by ball is quicker). Of more than two
    outcomes each is dealt to what the others left.
    """

    def __init__(
        self, tally: Tally, notions: Sequence[FairnessNotion], active: NDArray[np.intp]
    ) -> None:
        labels = np.flatnonzero(notions[0].event)
        rows = tally.n_rows[labels]
        positive = np.rint(tally.positive[labels].sum(axis=1)).astype(np.int64)
        y = np.tile(labels, 2)
        p = np.repeat([0.0, 1.0], len(labels))
        # The outcome of each kind of row, (label, decision); kinds with the same are one colour.
        outcomes = np.array([notion.outcome(y, p) for notion in notions])
        kinds, kind = np.unique(outcomes, axis=1, return_inverse=True)
        counts = np.zeros(kinds.shape[1], dtype=np.int64)
        np.add.at(counts, kind.ravel(), np.concatenate([rows.sum(axis=1) - positive, positive]))
        # All but the commonest colour are drawn, so that the fewest balls are.
        rarest_first = np.argsort(counts, kind="stable")
        self._sizes: NDArray[np.int64] = rows.sum(axis=0)[active].astype(np.int64)
        self._counts = counts[rarest_first]
        self._kinds = kinds[:, rarest_first]
        few = self._sizes.sum() < _FEW_ROWS * len(self._sizes)
        self._method: Literal["count", "marginals"] = "count" if few else "marginals"

    def draw(self, rng: np.random.Generator) -> Array:
        """Deal once; return Σ u by active cell, a row for each notion."""
        sums: Array = self._kinds[:, -1:] * self._sizes.astype(np.float64)
        left = self._sizes
        for count, kind in zip(self._counts[:-1], self._kinds.T[:-1], strict=True):
            # Rows of this outcome, instead of the commonest that all began with.
            dealt = rng.multivariate_hypergeometric(left, int(count), method=self._method)
            sums += (kind - self._kinds[:, -1])[:, None] * dealt
            left = left - dealt
        return sums


class RowShuffle:
    """Rows that weigh differently or are decided with a probability: dealt one by one, in O(n).

    Rows are put in the order of cell and weight, and outcomes in their own: a draw then depends on
    the seed and on what the rows are, not on the order in which they came.
    """

    def __init__(
        self, rows: Rows, n_cells: int, notions: Sequence[FairnessNotion], active: NDArray[np.intp]
    ) -> None:
        number = np.full(n_cells, -1, dtype=np.intp)
        number[active] = np.arange(len(active))
        # Rows without weight, and cells without weight in the event, have no part in any sum.
        counts = notions[0].in_event(rows.y) & (rows.weight > 0) & (number[rows.cell] >= 0)
        cell = number[rows.cell[counts]]
        weight = rows.weight[counts]
        order = np.lexsort((weight, cell))
        self._cell = cell[order]
        self._weight = weight[order]
        self._n_cells = len(active)
        outcomes = np.array([notion.outcome(rows.y[counts], rows.p[counts]) for notion in notions])
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
