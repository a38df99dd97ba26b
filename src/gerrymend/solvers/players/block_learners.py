"""Fit estimators to rows in blocks, from what the blocks answer."""

import warnings
from abc import ABC, abstractmethod
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gerrymend._numeric.newton import LogisticSums, minimise
from gerrymend._numeric.projection import TIE, OrthonormalBasis
from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import users_line
from gerrymend.models.estimators import LogisticSettings
from gerrymend.models.mixture import LinearPredictor
from gerrymend.solvers.players.row_block import RowBlock

if TYPE_CHECKING:
    from gerrymend.solvers.players.block_rows import CellBlocks


class BlockLearner(ABC):
    """Answer costs of label-cells with predictors, from sums over blocks."""

    @abstractmethod
    def fit(self, cost: Array, *, near_last: bool = False) -> Any:
        """Fit a predictor to costs of both signs; it may start from the last one."""

    @abstractmethod
    def constant(self, decision: bool) -> Any:
        """Return the predictor that decides the same of everyone."""

    def state(self) -> Any:
        """Return what answers depend on besides the costs: as a rule nothing."""
        return None

    def restore(self, state: Any) -> None:
        """Go on from a state."""
        return None


class LinearBlockLearner(BlockLearner):
    """A learner of coefficients."""

    def __init__(self, blocks: "CellBlocks") -> None:
        self._blocks = blocks

    @cached_property
    def _n_features(self) -> int:
        number: int = self._blocks.gather(RowBlock.n_features)[0]
        return number

    def constant(self, decision: bool) -> LinearPredictor:
        """Return coefficients of 0, and an intercept of ±1: all predictors are alike."""
        return LinearPredictor(np.zeros(self._n_features), 1.0 if decision else -1.0)


class LogisticFromSums(LinearBlockLearner):
    """A logistic regression by Newton's method: the same optimum as scikit-learn's.

    Parameters
    ----------
    blocks : CellBlocks
    settings : LogisticSettings
    weight : array
        The weight of each label-cell, where costs are.
    base_cost : array
        The cost of each label-cell where nothing is pressed.
    """

    def __init__(
        self,
        blocks: "CellBlocks",
        settings: LogisticSettings,
        weight: Array,
        base_cost: Array,
    ) -> None:
        super().__init__(blocks)
        self._settings = settings
        self._weight = weight
        self._base_cost = base_cost
        # The last coefficients, the latest at the end; of each the last is the intercept.
        self._last: list[Array] = []

    @cached_property
    def _unpressed(self) -> Array:
        """The coefficients of a fit that nothing presses on, near which others are."""
        return self._minimum(self._base_cost, np.zeros(self._n_features + 1))

    def fit(self, cost: Array, *, near_last: bool = False) -> LinearPredictor:
        """Fit from the coefficients before the last, as `LogisticLearner` does, or from the first.

        The first are the same whatever was fitted before: a game that goes on from a checkpoint,
        without a state of ours, goes on bit for bit.
        """
        start = self._last[0] if near_last and self._last else self._unpressed
        coefficients = self._minimum(cost, start)
        if near_last:
            self._last = [*self._last[-1:], coefficients]
        return LinearPredictor(coefficients[:-1].copy(), float(coefficients[-1]))

    def _minimum(self, cost: Array, start: Array) -> Array:
        costs = self._blocks.parts(cost)
        total = float(abs(cost) @ self._weight)

        def sums_at(coefficients: Array, *, curved: bool) -> LogisticSums:
            parts = self._blocks.gather(RowBlock.logistic, coefficients, costs, curved)
            sums = reduce(LogisticSums.__add__, parts)
            return sums if self._settings.fit_intercept else sums.without_intercept()

        settings = self._settings
        found = minimise(sums_at, start, total=total, C=settings.C, max_iter=settings.max_iter)
        if not found.converged:
            warnings.warn(
                f"Newton's method did not converge in {settings.max_iter} steps: increase max_iter "
                "of the LogisticRegression, or lower its C; without a penalty the two labels may "
                "be separable, and there is no optimum.",
                ConvergenceWarning,
                stacklevel=users_line(),
            )
        return found.coefficients

    def state(self) -> Any:
        """Return the coefficients from which the next fits start."""
        return list(self._last)

    def restore(self, state: Any) -> None:
        """Start the next fits from those coefficients."""
        self._last = state


class LeastSquaresFromSums(LinearBlockLearner):
    """Least squares of the cost, cut at 0, with one factorisation for all fits."""

    @cached_property
    def _basis(self) -> OrthonormalBasis:
        return OrthonormalBasis.of(partial(self._blocks.gather, RowBlock.factor))

    def fit(self, cost: Array, *, near_last: bool = False) -> LinearPredictor:
        """Take one product with the columns; with Z = [1, standardised], the basis is Z·turn."""
        change = self._basis
        costs = self._blocks.parts(cost)
        parts = self._blocks.gather(RowBlock.products, change.mean, change.scale, costs)
        # Regression predicts the cost, and 1 is decided where that is below −TIE; a score decides 1
        # above 0. So signs are turned, and TIE is taken off.
        intercept, coefficients = change.coefficients(np.sum(parts, axis=0) @ change.turn)
        return LinearPredictor(-coefficients, -float(intercept) - TIE)


def learner_from_sums(
    estimator: Any, blocks: "CellBlocks", weight: Array, base_cost: Array
) -> LinearBlockLearner:
    """Return the learner of an estimator that can be fitted from sums.

    `weight` and `base_cost` are by label-cell.
    """
    settings = LogisticSettings.of(estimator)
    if settings is None:
        return LeastSquaresFromSums(blocks)
    return LogisticFromSums(blocks, settings, weight, base_cost)
