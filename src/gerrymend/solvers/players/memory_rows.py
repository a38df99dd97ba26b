"""Rows in memory, and the learner that is fitted to them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, add_parts, exact_parts
from gerrymend.models.mixture import Mixture
from gerrymend.solvers.players.learners import Decisions, Learner, make_learner
from gerrymend.solvers.players.rows import Bits, Keys, LabelCells, Play


class MemoryRows:
    """Bring costs from label-cells to rows, and decisions from rows to label-cells.

    Parameters
    ----------
    learner : Learner
        Has the rows, in the order of the label-cells.
    label_cells : LabelCells
    weight : array, optional
        The weight of each row; by default a label-cell is a row.
    starts : array, optional
        Where the rows of each label-cell begin.
    order : array, optional
        The place of each of these rows among those that were given; by default their own.
    """

    def __init__(
        self,
        learner: Learner,
        label_cells: LabelCells,
        weight: Array | None = None,
        starts: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> None:
        self.learner = learner
        self.label_cells = label_cells
        self.weight = label_cells.weight if weight is None else weight
        self.n_rows = len(self.weight)
        self.starts = np.arange(self.n_rows) if starts is None else starts
        self.order = np.arange(self.n_rows) if order is None else order
        self._one_each = len(label_cells) == self.n_rows
        self._unit_weight = bool((self.weight == 1.0).all())

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        order: NDArray[np.intp],
        label_cells: LabelCells,
        pressed: slice,
        weight: Array | None = None,
        starts: NDArray[np.intp] | None = None,
    ) -> "MemoryRows":
        """Return the rows of X, taken in this order, with the learner that an estimator calls for.

        Weights have the order already. Outside the slice `pressed` of label-cells no cost changes.
        """
        weight = label_cells.weight if weight is None else weight
        starts = np.arange(len(weight)) if starts is None else starts
        base_cost = np.repeat(1.0 - 2.0 * label_cells.labels, label_cells.n_rows)
        rows = _rows_of(pressed, starts, len(weight))
        learner = make_learner(estimator, X, weight, base_cost, rows, order)
        return cls(learner, label_cells, weight, starts, order)

    def rows_of(self, label_cells: slice) -> slice:
        """Return the rows of some label-cells."""
        return _rows_of(label_cells, self.starts, self.n_rows)

    def spread(self, by_label_cell: NDArray[Any]) -> NDArray[Any]:
        """Return values of label-cells by row, along the last axis."""
        if self._one_each:
            return by_label_cell
        return np.repeat(by_label_cell, self.label_cells.n_rows, axis=-1)

    def as_given(self, by_label_cell: Array) -> Array:
        """Return values of label-cells by row, rows in the order that they were given in."""
        by_row = np.empty(self.n_rows)
        by_row[self.order] = self.spread(by_label_cell)
        return by_row

    def summed(self, votes: NDArray[Any]) -> Array:
        """Return w·votes by label-cell, from votes by row; the order of the rows is all one."""
        weighted = votes if self._unit_weight else votes * self.weight
        if self._one_each:
            return weighted.astype(np.float64)
        # Sums of whole numbers are exact in any order; those of fractions are made so.
        if not self.label_cells.is_whole:
            return np.stack([self._exactly_summed(model) for model in weighted])
        sums: Array = np.add.reduceat(weighted, self.starts, axis=1, dtype=np.float64)
        return sums

    def _exactly_summed(self, values: Array) -> Array:
        sums = (np.add.reduceat(part, self.starts) for part in exact_parts(values))
        return add_parts(sums, len(self.label_cells))

    def best_response(self, costs: Array) -> tuple[Array, Keys]:
        """Ask the learner."""
        decisions, keys = self.learner.best_response(self.spread(costs))
        return self.summed(decisions), keys

    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[Play]:
        """Ask the learner."""
        answers = self.learner.answers(self.spread(cost), [self.spread(one) for one in others])
        return [_play(*answer) for answer in answers]

    def constant(self, decision: bool) -> Play:
        """Return the learner's constant."""
        return _play(np.full(self.n_rows, decision), self.learner.constant(decision))

    def recall(self, predictor: Any) -> Play:
        """Ask the learner."""
        return _play(*self.learner.recall(predictor))

    def decided(self, decisions: Sequence[Bits]) -> Array:
        """Unpack the bits, one a row, and sum their weights."""
        return self.summed(np.unpackbits(np.array(decisions), axis=1, count=self.n_rows))

    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """Ask the learner."""
        return self.learner.mixture(keys, weights)

    def state(self) -> Any:
        """Return the learner's state."""
        return self.learner.state()

    def restore(self, state: Any) -> None:
        """Go on from a state of the learner."""
        self.learner.restore(state)


def _rows_of(label_cells: slice, starts: NDArray[np.intp], n_rows: int) -> slice:
    first = int(starts[label_cells.start])
    # The end is where the next label-cell begins; behind the last one, the number of rows.
    return slice(first, int(np.append(starts, n_rows)[label_cells.stop]))


def _play(decisions: Decisions, key: Any) -> Play:
    return Play(np.packbits(decisions), key)
