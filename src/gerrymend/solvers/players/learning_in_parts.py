"""Train any estimator on rows in blocks, wherever they are: on one, or one after another."""

from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import ConstantPredictor, CostPredictor
from gerrymend.solvers.players.block_learners import BlockLearner
from gerrymend.solvers.players.block_rows import CellBlocks, LabelCellBlocks
from gerrymend.solvers.players.learners import predictor_of
from gerrymend.solvers.players.row_block import RowBlock

# Passes over all rows at most: each carries the model from block to block, one at a time.
_MOST_PASSES = 10


class LearnerOfAll(BlockLearner):
    """Any estimator that trains on rows where they are, in one block.

    Parameters
    ----------
    estimator : scikit-learn estimator
    blocks : CellBlocks
        Of one block.
    """

    def __init__(self, estimator: Any, blocks: CellBlocks) -> None:
        self._estimator = estimator
        self._blocks = blocks

    def fit(self, cost: Array, *, near_last: bool = False) -> Any:
        """Train a new model, whatever was trained before."""
        model = clone(self._estimator)
        (trained,) = self._blocks.gather(RowBlock.fit, model, self._blocks.parts(cost))
        return _predictor(trained)

    def constant(self, decision: bool) -> ConstantPredictor:
        """Return the predictor itself."""
        return ConstantPredictor(decision)


class LearnerInParts(BlockLearner):
    """Any estimator with `partial_fit` that takes weights.

    The model goes to the blocks, one after another, in an order that is drawn anew for each pass:
    by the estimator's `random_state` if that is a whole number, else by 0. It makes as many passes
    as its `max_iter` says, at most 10, and one where it has none, as of estimators that count. So
    the result depends on what the blocks are, and not on where they lie.

    Parameters
    ----------
    estimator : scikit-learn estimator
    blocks : LabelCellBlocks
    """

    def __init__(self, estimator: Any, blocks: LabelCellBlocks) -> None:
        settings = estimator.get_params(deep=False)
        seed = settings.get("random_state")
        self._seed = int(seed) if isinstance(seed, int | np.integer) else 0
        self._n_passes = min(int(settings.get("max_iter") or 1), _MOST_PASSES)
        self._estimator = estimator
        self._blocks = blocks

    def fit(self, cost: Array, *, near_last: bool = False) -> Any:
        """Train a new model, whatever was trained before."""
        model = clone(self._estimator)
        costs = self._blocks.parts(cost)
        drawn = np.random.default_rng(self._seed)
        for _ in range(self._n_passes):
            for number in drawn.permutation(self._blocks.filled).tolist():
                model = self._blocks.ask(number, RowBlock.partial_fit, model, costs)
        return _predictor(model)

    def constant(self, decision: bool) -> ConstantPredictor:
        """Return the predictor itself."""
        return ConstantPredictor(decision)


def _predictor(model: Any) -> Any:
    """Return what decides as a fitted model does."""
    return CostPredictor(model) if is_regressor(model) else predictor_of(model)
