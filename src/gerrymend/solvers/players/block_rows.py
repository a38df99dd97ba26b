"""Rows in blocks: here, on a device, or on the workers of a cluster.

Costs go to the blocks by label-cell, and sums by label-cell come back; what is kept of a predictor
is what it decides of each label-cell. Nothing here grows with the rows, but with label-cells alone.
"""

import hashlib
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.merged_cuts import merged_best_cuts
from gerrymend._numeric.places import MEMORY, Place
from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import LabelPredictor, Mixture
from gerrymend.solvers.blocks import Blocks, ByBlock
from gerrymend.solvers.players.block_learners import BlockLearner
from gerrymend.solvers.players.kept_plays import KeptPlays, PlaysAsBytes, PlaysAtPlace
from gerrymend.solvers.players.row_block import DIGEST, RowBlock
from gerrymend.solvers.players.rows import Bits, Keys, LabelCells, Play


class CellBlocks(Protocol):
    """Blocks that are asked by label-cell: of vectors over these, which are at a place."""

    place: Place

    def gather(self, method: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Ask each block a question."""
        ...

    def parts(self, by_label_cell: Any) -> Any:
        """Return values of label-cells as each block has them, along the last axis."""
        ...

    def decided(self, predictors: Sequence[Any]) -> tuple[Any, list[bytes]]:
        """Return the weight decided 1 in each label-cell, and a digest of all decisions."""
        ...


class LabelCellBlocks:
    """Blocks of which each has some of the label-cells.

    Parameters
    ----------
    blocks : Blocks
        Of `RowBlock`, or of what answers like them.
    cells : sequence of arrays of int
        The label-cell, among all, of each of a block's own.
    n_cells : int
        How many label-cells there are.
    """

    place = MEMORY

    def __init__(self, blocks: Blocks, cells: Sequence[NDArray[np.intp]], n_cells: int) -> None:
        self.blocks = blocks
        self._cells = cells
        self._n_cells = n_cells

    def gather(self, method: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Ask each block a question."""
        return self.blocks.gather(method, *arguments)

    def ask(self, number: int, method: Callable[..., Any], *arguments: Any) -> Any:
        """Ask one block a question."""
        return self.blocks.ask(number, method, *arguments)

    @property
    def filled(self) -> list[int]:
        """The numbers of the blocks that have rows."""
        return [number for number, cells in enumerate(self._cells) if len(cells)]

    def parts(self, by_label_cell: Array) -> ByBlock:
        """Return values of label-cells as each block has them, along the last axis."""
        return ByBlock([by_label_cell[..., cells] for cells in self._cells])

    def decided(self, predictors: Sequence[Any]) -> tuple[Array, list[bytes]]:
        """Return the weight decided 1 in each label-cell, and a digest of all decisions."""
        answers = self.gather(RowBlock.decided, predictors)
        weights = np.zeros((len(predictors), self._n_cells))
        for cells, answer in zip(self._cells, answers, strict=True):
            # Blocks may share label-cells, but a block has each at most once, so += adds to all of
            # them.
            weights[:, cells] += answer.weights
        digests = zip(*(answer.digests for answer in answers), strict=True)
        return weights, [
            hashlib.blake2b(b"".join(parts), digest_size=DIGEST).digest() for parts in digests
        ]


class PlacedBlock:
    """One block that has every row, with vectors over label-cells where the rows lie.

    Parameters
    ----------
    block : RowBlock
        With label-cells numbered as the game's are.
    """

    def __init__(self, block: RowBlock) -> None:
        self.place = block.place
        self._block = block

    def gather(self, method: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Ask the block a question."""
        return [self._block.answer(method, *arguments)]

    def parts(self, by_label_cell: Any) -> Any:
        """Return the values: the block has every label-cell."""
        return by_label_cell

    def decided(self, predictors: Sequence[Any]) -> tuple[Any, list[bytes]]:
        """Return the weight decided 1 in each label-cell, and a digest of all decisions."""
        answer = self._block.decided_there(predictors)
        return answer.weights, answer.digests


class BlockRows:
    """Rows that lie in blocks, and who learns to decide about them.

    Parameters
    ----------
    blocks : LabelCellBlocks or PlacedBlock
        Costs and weights by label-cell are in memory, or where a placed block is.
    label_cells : LabelCells
    learner : BlockLearner

    Examples
    --------
    >>> from gerrymend.inputs.protected import read_columns
    >>> from gerrymend.solvers.blocks import LocalBlocks
    >>> from gerrymend.solvers.players.block_learners import LeastSquaresFromSums
    >>> y, w, x = np.array([0, 1]), np.ones(2), np.array([[1.0], [2.0]])
    >>> label_cells, _, _ = LabelCells.of_sample(read_columns({"a": ["u", "u"]}), y, w)
    >>> blocks = LabelCellBlocks(LocalBlocks([RowBlock(x, w, y, 2)]), [np.arange(2)], 2)
    >>> rows = BlockRows(blocks, label_cells, LeastSquaresFromSums(blocks))
    >>> rows.best_response(np.array([[1.0, -1.0]]))[0].tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, blocks: CellBlocks, label_cells: LabelCells, learner: BlockLearner) -> None:
        self.label_cells = label_cells
        self._blocks = blocks
        self._learner = learner
        self._place = blocks.place
        self._weight = self._place.put(label_cells.weight)
        counted = label_cells.weight > 0
        self._counted = slice(None) if counted.all() else self._place.put(counted)
        self._kept: KeptPlays = (
            PlaysAsBytes(label_cells)
            if self._place.is_memory
            else PlaysAtPlace(self._place, label_cells)
        )

    def best_response(self, costs: Array) -> tuple[Array, Keys]:
        """Fit to each row of costs; a constant where no cost differs in sign."""
        predictors = []
        for cost in costs:
            same = self._same_for_all(cost)
            predictors.append(
                self._learner.fit(cost) if same is None else self._learner.constant(same)
            )
        return self._blocks.decided(predictors)[0], predictors

    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[Play]:
        """Fit once, and cut the score for each cost."""
        same = self._same_for_all(cost)
        if same is not None:
            return [self.constant(same)]
        # A sequence of alike costs, as a pool asks for, is where starting near the last fit pays.
        predictor = self._learner.fit(cost, near_last=True)
        # It has no score to cut.
        if isinstance(predictor, LabelPredictor):
            return self._plays([predictor])
        return self._plays(
            [
                predictor.cut_at(cut) if np.isfinite(cut) else self._learner.constant(cut < 0)
                for cut in self._cuts(predictor, self._place.xp.stack([cost, *others]))
            ]
        )

    def constant(self, decision: bool) -> Play:
        """Return the learner's constant."""
        return self._plays([self._learner.constant(decision)])[0]

    def recall(self, predictor: Any) -> Play:
        """Ask the blocks what it decides."""
        return self._plays([predictor])[0]

    def decided(self, decisions: Sequence[Bits]) -> Array:
        """Return the weights that were kept."""
        weights: Array = self._kept.decided(decisions)
        return weights

    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """Mix the keys, which are the predictors."""
        return Mixture.of_predictors(list(keys), weights)

    def state(self) -> Any:
        """Return the learner's state, and the predictors whose plays are kept elsewhere."""
        learner = self._learner.state()
        if self._place.is_memory:
            return learner
        return {"learner": learner, "plays": self._kept.state()}

    def restore(self, state: Any) -> None:
        """Go on from a state."""
        if not self._place.is_memory:
            for predictor in state["plays"]:
                self._plays([predictor])
            state = state["learner"]
        self._learner.restore(state)

    def _plays(self, predictors: Sequence[Any]) -> list[Play]:
        """Return predictors with what they decide."""
        weights, digests = self._blocks.decided(predictors)
        return self._kept.keep(weights, digests, predictors)

    def _cuts(self, predictor: Any, costs: Array) -> list[float]:
        """Return the distinct cuts of least cost, over the rows that have weight."""
        # The hexadecimal number names this question, so that a block scores its rows once for all
        # of the passes that the search for cuts makes.
        ask = partial(
            self._blocks.gather,
            RowBlock.scores,
            uuid.uuid4().hex,
            predictor,
            self._blocks.parts(costs),
        )
        sizes = on_host(abs(costs) @ self._weight)
        return list(dict.fromkeys(merged_best_cuts(ask, sizes.tolist()).tolist()))

    def _same_for_all(self, cost: Array) -> bool | None:
        """Return the decision that is cheapest for every row; None where rows differ."""
        counted = cost[self._counted]
        if (counted >= 0).all() or (counted <= 0).all():
            return bool((counted < 0).any())
        return None
