"""Draw what would have happened if scores were right, as permutations deal what did.

Where the score of each row is the probability of its label, whatever subgroup it is in, labels are
independent and 1 with that probability: drawn so, and searched as the rows were, the observed
maximum and those of the draws are exchangeable. Numbers have no such distribution. There it is
asked whether errors are as likely above 0 as below by the same amount, of each row: then every
choice of their signs was as likely as the one that was seen. That is more than to be right on
average, and of skewed errors it is not so although the average is right: reports say what is
tested.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.tally import NotionTally
from gerrymend.inputs.scores import NO_LABELS

# What is tested: as PermutationTest has it.
RIGHT_SCORES = "right_scores"
SYMMETRIC_ERRORS = "symmetric_errors"
# Rows that are alike, below which each is drawn by itself.
_FEW_ALIKE = 8


class Simulation(Protocol):
    """A way to draw what would have happened."""

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw once; return Σ w·u by active cell, as the only row."""
        ...


class _Scored(NamedTuple):
    """The rows that have weight: the number of each one's active cell, weight, score and error."""

    cell: NDArray[np.intp]
    weight: Array
    score: Array
    error: Array


def null_of(seen: NotionTally) -> str:
    """Return what is tested of scores: that they are right, or that errors are symmetric."""
    return SYMMETRIC_ERRORS if seen.tally.labels == NO_LABELS else RIGHT_SCORES


def simulation_of(seen: NotionTally) -> Simulation:
    """Return a way to draw the errors of scores, over active cells."""
    rows = _scored(seen)
    n_cells = len(seen.cells.active)
    if null_of(seen) == RIGHT_SCORES:
        return RightScores(rows.cell, rows.weight, rows.score, n_cells)
    return SignFlips(rows.cell, rows.weight * rows.error, n_cells)


def variance_by_cell(seen: NotionTally) -> Array:
    """Return the variance of Σ w·u by active cell, over draws: w²·s·(1 − s), or w²·u², summed."""
    rows = _scored(seen)
    of_row = rows.error**2
    if null_of(seen) == RIGHT_SCORES:
        of_row = rows.score * (1 - rows.score)
    return _by_cell(rows.cell, rows.weight**2 * of_row, len(seen.cells.active))


def _by_cell(cell: NDArray[np.intp], values: Array, n_cells: int) -> Array:
    return np.bincount(cell, values, n_cells).astype(np.float64)


def _scored(seen: NotionTally) -> _Scored:
    """Return the rows that have weight; all of them are in the event."""
    rows = seen.tally.rows
    assert rows is not None
    assert rows.score is not None
    counts = rows.weight > 0
    place = np.zeros(seen.tally.weight.shape[1], dtype=np.intp)
    place[seen.cells.active] = np.arange(len(seen.cells.active))
    cell = place[rows.cell[counts]]
    return _Scored(cell, rows.weight[counts], rows.score[counts], rows.p[counts])


class RightScores:
    """Labels that are 1 with the probability of their score, independently of each other.

    Rows of one cell, weight and score are alike: of many such, how many are 1 is one binomial draw.
    They are put in the order of what they are, so that a draw doesn't depend on how they came.

    Parameters
    ----------
    cell : array of int (rows,)
        The number of each row's active cell.
    weight, score : arrays (rows,)
    n_cells : int
        Active cells.

    >>> draws = RightScores(np.array([0, 0, 1]), np.ones(3), np.array([1.0, 0.0, 1.0]), 2)
    >>> draws.draw(np.random.default_rng(0)).tolist()
    [[0.0, 0.0]]
    """

    def __init__(self, cell: NDArray[np.intp], weight: Array, score: Array, n_cells: int) -> None:
        self._n_cells = n_cells
        self._predicted = _by_cell(cell, weight * score, n_cells)
        rows = np.stack([cell, weight, score])[:, np.lexsort((score, weight, cell))]
        first = np.flatnonzero(np.append(True, (rows[:, 1:] != rows[:, :-1]).any(axis=0)))
        self._counts: NDArray[np.intp] | None = None
        if _FEW_ALIKE * len(first) <= rows.shape[1]:
            self._counts = np.diff(first, append=rows.shape[1])
            rows = rows[:, first]
        self._cell = rows[0].astype(np.intp)
        self._weight = rows[1]
        self._score = rows[2]

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw labels once; return Σ w·(y − score) by active cell, as the only row."""
        if self._counts is None:
            happened = (rng.random(len(self._score)) < self._score).astype(np.float64)
        else:
            happened = rng.binomial(self._counts, self._score).astype(np.float64)
        drawn = _by_cell(self._cell, self._weight * happened, self._n_cells)
        errors: Array = (drawn - self._predicted)[None]
        return errors


class SignFlips:
    """Errors with signs that are drawn anew, each of the two as likely.

    Parameters
    ----------
    cell : array of int (rows,)
        The number of each row's active cell.
    errors : array (rows,)
        Each times the weight of its row.
    n_cells : int
        Active cells.

    >>> flips = SignFlips(np.array([0, 1, 1]), np.array([1.0, 0.0, 0.0]), 2)
    >>> np.abs(flips.draw(np.random.default_rng(0))).tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, cell: NDArray[np.intp], errors: Array, n_cells: int) -> None:
        # By size: what the sign was seen to be must not matter.
        sizes = np.abs(errors)
        order = np.lexsort((sizes, cell))
        self._cell = cell[order]
        self._sizes = sizes[order]
        self._n_cells = n_cells
        self._total = _by_cell(self._cell, self._sizes, n_cells)

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw signs once; return Σ w·u by active cell, as the only row."""
        n = len(self._cell)
        bits = np.frombuffer(rng.bytes(-(-n // 8)), dtype=np.uint8)
        below = np.unpackbits(bits, count=n).astype(bool)
        negative = _by_cell(self._cell[below], self._sizes[below], self._n_cells)
        drawn: Array = (self._total - 2 * negative)[None]
        return drawn
