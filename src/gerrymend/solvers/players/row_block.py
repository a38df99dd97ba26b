"""A block of rows that answers all that `BlockRows` ask, with sums over it."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.externals.array_api_compat import array_namespace, device, is_numpy_array

from gerrymend._numeric.arrays import beside, on_host
from gerrymend._numeric.merged_cuts import SortedScores
from gerrymend._numeric.newton import LogisticSums, logistic_sums, pieces
from gerrymend._numeric.places import Place
from gerrymend._numeric.projection import WeightedColumns
from gerrymend._numeric.sums import Array
from gerrymend.models.estimators import trains_on_tensors
from gerrymend.models.mixture import LinearPredictor, Predictor
from gerrymend.solvers.players.learners import fit_weighted

T = TypeVar("T")

# Bytes that tell what is decided of each row from what else may be.
DIGEST = 16


class Decided(NamedTuple):
    """The weight decided 1 in each label-cell of a block, one predictor a row, and digests."""

    weights: Any
    digests: list[bytes]


class RowBlock:
    """Some rows: features, weights, and the number of each row's label-cell in the block.

    Costs come by the block's own label-cells, and are per unit of weight. Nothing that is asked
    changes a block, so that one that is lost is only to be made again: the sorted scores of the
    last fit are remembered, and made again where they are not.

    Parameters
    ----------
    features : array (n_rows, n_features), of any library of the array API, on any device
    weight : array (n_rows,), of the same
    cell : array of int (n_rows,), of the same
    n_cells : int

    Examples
    --------
    >>> block = RowBlock(np.eye(2), np.ones(2), np.array([0, 1]), 2)
    >>> always = LinearPredictor(np.zeros(2), 1.0)
    >>> block.decided([always]).weights.tolist()
    [[1.0, 1.0]]
    """

    def __init__(self, features: Any, weight: Any, cell: Any, n_cells: int) -> None:
        self._xp = array_namespace(weight)
        self.place = Place.of(weight)
        self.features = features
        self._weight = self._xp.astype(weight, self._xp.float64, copy=False)
        self._cell = cell
        self._n_cells = n_cells
        self._counted = None
        if not bool(self._xp.all(self._weight > 0)):
            self._counted = self._xp.nonzero(self._weight > 0)[0]
        self._sorted: tuple[str, SortedScores] | None = None
        if not is_numpy_array(cell):
            # The standard has no sums by cell: sorted by cell, they are differences of sums.
            self._order = self._xp.argsort(cell, stable=True)
            numbers = self._xp.arange(n_cells, device=device(cell), dtype=cell.dtype)
            in_order = cell[self._order]
            self._ends = self._xp.searchsorted(in_order, numbers, side="right")
            self._is_one_each = n_cells == len(cell) and bool(self._xp.all(in_order == numbers))

    @classmethod
    def beside(cls, features: Any, weight: Array, cell: NDArray[np.intp], n_cells: int) -> Self:
        """Return a block whose weights and label-cells are brought to its features."""
        return cls(features, beside(features, weight), beside(features, cell), n_cells)

    def answer(self, method: Callable[..., T], *arguments: Any) -> T:
        """Answer a question, which is one of the methods below."""
        return method(self, *arguments)

    def n_features(self) -> int:
        """Return how many columns the features have."""
        return int(self.features.shape[1])

    def factor(self, method: Callable[..., T], *arguments: Any) -> T:
        """Return what these rows bring to the factorisation of their features."""
        return method(WeightedColumns(self.features, self._weight), *arguments)

    def logistic(self, coefficients: Array, cost: Array, curved: bool = True) -> LogisticSums:
        """Return loss, gradient and curvature of the cheaper label, weighted by its worth."""
        signed = -self._by_row(cost) * self._weight
        return logistic_sums(self.features, signed, coefficients, curved=curved)

    def products(self, mean: Array, scale: Array, cost: Array) -> Array:
        """Return Zᵀ(w·cost), with Z = [1, standardised columns]."""
        xp = self._xp
        mean = self._here(mean)
        scale = self._here(scale)
        weighted = self._by_row(cost) * self._weight
        sums = xp.zeros((self.features.shape[1],), dtype=xp.float64, device=device(weighted))
        for rows in pieces(self.features):
            columns = xp.astype(self.features[rows], xp.float64, copy=False)
            sums += weighted[rows] @ ((columns - mean) / scale)
        return np.append(float(xp.sum(weighted)), on_host(sums))

    def scores(
        self,
        fit: str,
        predictor: Any,
        costs: Array,
        method: Callable[..., T],
        *arguments: Any,
    ) -> T:
        """Answer a question of `SortedScores` about the score of a predictor.

        `fit` is a name for predictor and costs: as long as it is the same, they are sorted once.
        """
        if self._sorted is None or self._sorted[0] != fit:
            self._sorted = None  # room for the next
            self._sorted = fit, self._sort(predictor, costs)
        return method(self._sorted[1], *arguments)

    def _sort(self, predictor: Any, costs: Array) -> SortedScores:
        """Sort the scores of rows that have weight."""
        score = self._score(predictor)
        weighted = self._by_row(costs) * self._weight
        if self._counted is not None:
            score = score[self._counted]
            weighted = self._xp.take(weighted, self._counted, axis=1)
        return SortedScores(score, weighted)

    def decided(self, predictors: Sequence[Predictor]) -> Decided:
        """Return what predictors decide."""
        self._sorted = None  # what follows the cuts of a fit
        weights = np.zeros((len(predictors), self._n_cells))
        digests = []
        for number, predictor in enumerate(predictors):
            ones = self._decide(predictor)
            weights[number] = self._summed(self._xp.where(ones, self._weight, 0.0))
            digests.append(_digest(on_host(ones)))
        return Decided(weights, digests)

    def decided_there(self, predictors: Sequence[Predictor]) -> Decided:
        """Return what predictors decide, with weights where the rows are."""
        self._sorted = None
        weights = []
        digests = []
        for predictor in predictors:
            ones = self._decide(predictor)
            weights.append(self._summed_there(self._xp.where(ones, self._weight, 0.0)))
            digests.append(self._mark_of(ones))
        return Decided(self._xp.stack(weights), digests)

    def labelled(self, cost: Array) -> tuple[NDArray[np.int8], Array]:
        """Return the cheaper label of each row, and what the choice is worth."""
        by_row = on_host(self._by_row(cost))
        return (by_row < 0).astype(np.int8), np.abs(by_row) * on_host(self._weight)

    def partial_fit(self, model: Any, cost: Array) -> Any:
        """Return a model that has learned of these rows too; the same one where none has weight."""
        rows, target, weight = self._to_learn(model, cost)
        known = {} if is_regressor(model) else {"classes": np.array([0, 1], dtype=np.int8)}
        if weight.any():
            model.partial_fit(rows, target, sample_weight=weight, **known)
        return model

    def fit(self, model: Any, cost: Array) -> Any:
        """Return a model that is fitted to these rows, where these are all."""
        rows, target, weight = self._to_learn(model, cost)
        # A regressor need not take weights where there are none.
        weighted = None if is_regressor(model) and bool((weight == 1.0).all()) else weight
        return fit_weighted(model, rows, target, weighted)

    def _to_learn(self, model: Any, cost: Array) -> tuple[Any, Any, Any]:
        """Return features, target and weights: where the features are, if the model takes them so.

        A regressor learns the cost, and a classifier the cheaper label, weighted by its worth.
        """
        if is_regressor(model):
            target: Any = on_host(self._by_row(cost))
            weight = on_host(self._weight)
        else:
            target, weight = self.labelled(cost)
        if is_numpy_array(self.features) or not trains_on_tensors(model):
            return on_host(self.features), target, weight
        # In the type of the features, as torch's losses want it; labels are numbers of classes.
        kind = self.features.dtype
        weight = self._xp.astype(self._here(weight), kind)
        if is_regressor(model):
            return self.features, self._xp.astype(self._here(target), kind), weight
        return self.features, self._here(target.astype(np.int64)), weight

    def _score(self, predictor: Any) -> Any:
        """Return the score of each row, in float64; rows are read in pieces."""
        xp = self._xp
        if not isinstance(predictor, LinearPredictor):
            return self._here(predictor.score(self.features)) if len(self._cell) else self._weight
        coef = self._here(predictor.coef)
        score = xp.empty(self._weight.shape, dtype=xp.float64, device=device(self._weight))
        for rows in pieces(self.features):
            score[rows] = xp.astype(self.features[rows], xp.float64, copy=False) @ coef
        score += predictor.intercept
        return score

    def _decide(self, predictor: Predictor) -> Any:
        """Return a mask of the rows that are decided 1."""
        if isinstance(predictor, LinearPredictor):
            return self._score(predictor) > 0
        if not len(self._cell):  # which models refuse
            return self._weight > 0
        return self._here(predictor.decide(self.features))

    def _by_row(self, by_cell: Array) -> Any:
        """Return values of label-cells by row, along the last axis."""
        return self._xp.take(self._here(by_cell), self._cell, axis=by_cell.ndim - 1)

    def _summed(self, values: Any) -> Array:
        """Return sums by label-cell; exact where values are whole."""
        if is_numpy_array(values):
            sums: Array = np.bincount(self._cell, values, self._n_cells).astype(np.float64)
            return sums
        return on_host(self._summed_there(values))

    def _summed_there(self, values: Any) -> Any:
        """Return sums by label-cell where the rows are; exact where values are whole."""
        in_order = self._xp.take(values, self._order, axis=0)
        if self._is_one_each:
            return in_order
        totals = self._xp.cumulative_sum(in_order, axis=0, include_initial=True)
        at_ends = self._xp.take(totals, self._ends, axis=0)
        first = self._xp.zeros((1,), dtype=at_ends.dtype, device=device(at_ends))
        return self._xp.diff(at_ends, prepend=first)

    def _mark_of(self, ones: Any) -> bytes:
        """Return a digest of a mask, without bringing it here: sums of random marks of its rows.

        Two masks have the same sums, modulo 2⁶⁴ each, with a probability of 2⁻¹²⁸.
        """
        xp = self._xp
        sums = [xp.sum(xp.where(ones, marks, xp.zeros_like(marks))) for marks in self._marks]
        return on_host(xp.stack(sums)).tobytes()

    @cached_property
    def _marks(self) -> tuple[Any, Any]:
        """Two numbers for each row, the same in every process."""
        ends = np.iinfo(np.int64)
        drawn = np.random.default_rng(0).integers(
            ends.min, ends.max, (2, len(self._weight)), dtype=np.int64, endpoint=True
        )
        return self._here(drawn[0]), self._here(drawn[1])

    def _here(self, values: NDArray[Any]) -> Any:
        return self._xp.asarray(values, device=device(self._weight))


def _digest(decisions: NDArray[np.bool_]) -> bytes:
    return hashlib.blake2b(np.packbits(decisions).tobytes(), digest_size=DIGEST).digest()
