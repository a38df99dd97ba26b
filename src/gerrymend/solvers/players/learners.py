"""Answer costs with decisions: the Learner's best responses.

The cost of a row is the cost of deciding 1 less that of deciding 0, per unit of weight, and scaled
so that with no fairness pressure it is ±1: an estimator then sees the very problem that it would
have been given on its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.cuts import best_cuts
from gerrymend._numeric.logistic import LogisticRows
from gerrymend._numeric.projection import TIE, Projection
from gerrymend._numeric.sums import Array
from gerrymend.models.estimators import is_plain_least_squares
from gerrymend.models.mixture import (
    SCORE_METHODS,
    ConstantPredictor,
    CostPredictor,
    LabelPredictor,
    LinearPredictor,
    Mixture,
    Predictor,
    ScorePredictor,
)
from gerrymend.solvers.players.rows import Keys

# Columns up to which a factorisation of their products, for each fit, costs next to nothing.
_MOST_COLUMNS = 500

Decisions = NDArray[np.bool_]


class Learner(ABC):
    """Answer costs with decisions, over features and weights."""

    @abstractmethod
    def best_response(self, costs: Array) -> tuple[Decisions, Keys]:
        """Return decisions for each row of costs, and keys of the predictors that made them."""

    @abstractmethod
    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[tuple[Decisions, Any]]:
        """Return decisions and key of predictors that answer one cost.

        One fit, to `cost`; its score, if it has one, is cut where that costs least, and once more
        for each of the `others`.
        """

    @abstractmethod
    def constant(self, decision: bool) -> Any:
        """Return the key of the predictor that decides the same for every row."""

    @abstractmethod
    def recall(self, predictor: Any) -> tuple[Decisions, Any]:
        """Return decisions and key of a predictor of an earlier fit."""

    @abstractmethod
    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """Return the mixture of the predictors of these keys, uniform without weights."""

    def state(self) -> Any:
        """Return what answers depend on besides the costs: as a rule nothing."""
        return None

    def restore(self, state: Any) -> None:
        """Go on from a state."""
        return None


class LinearLearner(Learner):
    """The paper's heuristic: least squares of the cost, cut at 0, with a cached factorisation."""

    def __init__(
        self,
        X: Array,
        weight: Array,
        base_cost: Array,
        pressed: slice,
        order: NDArray[np.intp] | None = None,
    ) -> None:
        self.projection = Projection(X, weight, order)
        self._X = X
        self._order = slice(None) if order is None else order
        self._pressed = pressed
        self.row_weight = weight
        # None where a product with weights would change nothing: it is done in every round.
        self._weight = None if (weight == 1.0).all() else weight[pressed]
        counted = np.flatnonzero(weight > 0)
        self._counted = slice(None) if len(counted) == len(weight) else counted
        self._first_and_last = counted[[0, -1]]
        # Rows that are never pressed bring the same to the product in every round.
        fixed = weight * base_cost
        fixed[pressed] = 0.0
        self._fixed_coordinates = self.projection.coordinates(fixed[None])

    def best_response(self, costs: Array) -> tuple[Decisions, Keys]:
        """Take two products with the basis, for all rows of costs at once."""
        pressed = costs[:, self._pressed]
        if self._weight is not None:
            pressed = pressed * self._weight
        coordinates = self.projection.coordinates(pressed, self._pressed)
        coordinates += self._fixed_coordinates
        # Rows come sorted by label, so the first and the last nearly always settle it.
        if not (costs[:, self._first_and_last].prod(axis=1) < 0).all():
            counted = costs[:, self._counted]
            # Where one decision is the cheapest for all, no regression is needed, and its answer
            # could still err on some rows. `one` is the prediction 1 everywhere; −1 decides 1 of
            # everyone.
            coordinates[counted.max(axis=1) <= 0] = -self.projection.one
            coordinates[counted.min(axis=1) >= 0] = self.projection.one
        return self.projection.fitted(coordinates) < -TIE, coordinates

    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[tuple[Decisions, Any]]:
        """Cut the regression's prediction for each cost; a cut moves it by a constant."""
        _, (coordinates,) = self.best_response(cost[None])
        predicted = self.projection.fitted(coordinates[None])[0]
        cuts = _cuts(-predicted, [cost, *others], self.row_weight)
        return [
            (predicted + cut < -TIE, coordinates + cut * self.projection.one[0])
            if np.isfinite(cut)
            else (np.full(len(cost), cut < 0), self.constant(cut < 0))
            for cut in cuts
        ]

    def constant(self, decision: bool) -> Any:
        """Return a prediction of -1, or of 1, everywhere."""
        one: Array = self.projection.one[0]
        return -one if decision else one

    def recall(self, predictor: Any) -> tuple[Decisions, Any]:
        """Project its score, which is its own projection where it is linear."""
        if isinstance(predictor, ConstantPredictor):
            return np.full(len(self.row_weight), predictor.decision), self.constant(
                predictor.decision
            )
        cost = -self.row_weight * predictor.score(self._X)[self._order]
        (coordinates,) = self.projection.coordinates(cost[None])
        return self.projection.fitted(coordinates[None])[0] < -TIE, coordinates

    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """Return a mixture that is one matrix of coefficients."""
        intercepts, coefficients = self.projection.coefficients(np.asarray(keys))
        return Mixture.of_linear(-coefficients, -intercepts - TIE, weights)


class EstimatorLearner(Learner):
    """Any estimator, fitted anew for each cost.

    X has its rows in the order that the user gave them, so that it need not be copied; costs and
    decisions have the game's, which `order` leads to.
    """

    def __init__(
        self, estimator: BaseEstimator, X: Any, weight: Array, order: NDArray[np.intp] | None
    ) -> None:
        self._estimator = estimator
        self._X = X
        self._order = order
        self._weight = self._as_given(weight)
        self._all_count = bool((weight > 0).all())

    def best_response(self, costs: Array) -> tuple[Decisions, Keys]:
        """Fit to each row of costs; a constant where no cost differs in sign."""
        given = [self._as_given(cost) for cost in costs]
        predictors = [self._constant(cost) or self._fit(cost) for cost in given]
        decided = [self._as_in_game(predictor.decide(self._X)) for predictor in predictors]
        return np.stack(decided), predictors

    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[tuple[Decisions, Any]]:
        """Fit once, and cut the score for each cost."""
        given = self._as_given(cost)
        if constant := self._constant(given):
            return [(constant.decide(self._X), constant)]
        predictor = self._fit(given, near_last=True)
        if isinstance(predictor, LabelPredictor):
            return [(self._as_in_game(predictor.decide(self._X)), predictor)]
        score = self._as_in_game(self._score(predictor))
        cuts = _cuts(score, [cost, *others], self._as_in_game(self._weight))
        return [
            (score > cut, predictor.cut_at(cut) if np.isfinite(cut) else self.constant(cut < 0))
            for cut in cuts
        ]

    def _score(self, predictor: Any) -> Array:
        """Return the score of each row of X."""
        score: Array = predictor.score(self._X)
        return score

    def _as_given(self, by_row: NDArray[Any]) -> NDArray[Any]:
        """Return values of the game's rows in the order of X."""
        if self._order is None:
            return by_row
        given = np.empty_like(by_row)
        given[self._order] = by_row
        return given

    def _as_in_game(self, by_row: NDArray[Any]) -> NDArray[Any]:
        """Return values of the rows of X in the game's order."""
        return by_row if self._order is None else by_row[self._order]

    def constant(self, decision: bool) -> Any:
        """Return the predictor itself."""
        return ConstantPredictor(decision)

    def recall(self, predictor: Any) -> tuple[Decisions, Any]:
        """Return its decisions, and the predictor as its key."""
        return self._as_in_game(predictor.decide(self._X)), predictor

    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """Mix the keys, which are the predictors."""
        return Mixture.of_predictors(list(keys), weights)

    def _constant(self, cost: Array) -> ConstantPredictor | None:
        counted = cost if self._all_count else cost[self._weight > 0]
        if (counted >= 0).all() or (counted <= 0).all():
            return ConstantPredictor(bool((counted < 0).any()))
        return None

    @abstractmethod
    def _fit(self, cost: Array, *, near_last: bool = False) -> Any:
        """Fit a predictor to costs of both signs; it may start from the last one."""


class RegressionLearner(EstimatorLearner):
    """A regressor trained on the cost, cut at 0."""

    def _fit(self, cost: Array, *, near_last: bool = False) -> CostPredictor:
        weight = None if (self._weight == 1.0).all() else self._weight
        return CostPredictor(fit_weighted(clone(self._estimator), self._X, cost, weight))


class ClassificationLearner(EstimatorLearner):
    """A classifier trained on the cheaper label, weighted by what the choice is worth."""

    def _fit(self, cost: Array, *, near_last: bool = False) -> Predictor:
        label = (cost < 0).astype(np.int64)
        # Deciding y of a row loses |cost|·w against the cheaper label, and 0 otherwise: so weighted
        # classification error is cost but for a constant.
        weight = np.abs(cost) * self._weight
        model = fit_weighted(clone(self._estimator), self._X, label, weight)
        return predictor_of(model)


class LogisticLearner(ClassificationLearner):
    """A logistic regression by L-BFGS, which is fitted once; later fits start from earlier ones.

    They minimise the same function, to the estimator's `tol`, in coordinates that suit the rows.
    """

    def __init__(
        self, estimator: BaseEstimator, X: Any, weight: Array, order: NDArray[np.intp] | None
    ) -> None:
        super().__init__(estimator, X, weight, order)
        # The last coefficients, the latest at the end; of each the last is the intercept.
        self._last: list[Array] = []
        # What was fitted last, and its scores, if they are known.
        self._scored: tuple[Any, Array] | None = None

    @cached_property
    def _rows(self) -> LogisticRows:
        settings = self._estimator.get_params()
        names = ("C", "fit_intercept", "tol", "max_iter")
        return LogisticRows(self._X, **{name: settings[name] for name in names})

    def _fit(self, cost: Array, *, near_last: bool = False) -> Predictor:
        """Fit from the coefficients before the last.

        Solvers ask in turn for what restrains subgroups and for what restrains cells, whose
        answers are alike over rounds and unlike each other.
        """
        if not near_last:
            return super()._fit(cost)
        predictor = (self._refit(cost) if self._last else None) or super()._fit(cost)
        assert isinstance(predictor, LinearPredictor)
        self._last = [*self._last[-1:], np.append(predictor.coef, predictor.intercept)]
        return predictor

    def _refit(self, cost: Array) -> LinearPredictor | None:
        fitted = self._rows.fit(cost < 0, np.abs(cost) * self._weight, self._last[0])
        if not fitted.converged:
            return None  # the estimator itself says what is amiss
        predictor = LinearPredictor(fitted.coefficients[:-1], float(fitted.coefficients[-1]))
        self._scored = predictor, fitted.score
        return predictor

    def _score(self, predictor: Any) -> Array:
        """Return the score of each row of X; that of a refit is known."""
        if self._scored is not None and self._scored[0] is predictor:
            return self._scored[1]
        return super()._score(predictor)

    def state(self) -> Any:
        """Return the coefficients from which the next fits start."""
        return list(self._last)

    def restore(self, state: Any) -> None:
        """Start the next fits from those coefficients."""
        self._last = state


def make_learner(
    estimator: Any,
    X: Any,
    weight: Array,
    base_cost: Array,
    pressed: slice,
    order: NDArray[np.intp] | None = None,
) -> Learner:
    """Return the learner that an estimator calls for.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A regressor is fitted to costs, a classifier to the cheaper label.
    X : array or frame
        The features, rows in the order that the user gave them.
    weight, base_cost : arrays
        By row, in the order of the game.
    pressed : slice
        Rows outside of it cost `base_cost` in every round.
    order : array of int, optional
        The place in X of each of the game's rows; by default the orders are the same.

    Returns
    -------
    Learner
    """
    if is_plain_least_squares(estimator):
        return LinearLearner(X, weight, base_cost, pressed, order)
    if is_regressor(estimator):
        return RegressionLearner(estimator, X, weight, order)
    kind = LogisticLearner if _is_plain_logistic(estimator, X) else ClassificationLearner
    return kind(estimator, X, weight, order)


def predictor_of(model: Any) -> Predictor:
    """Return what decides as a fitted classifier of 0 and 1 does, by its score if it has one."""
    if isinstance(model, LinearClassifierMixin):
        return LinearPredictor(
            on_host(model.coef_).ravel().astype(np.float64),
            float(on_host(model.intercept_).ravel()[0]),
        )
    for method in SCORE_METHODS:
        if hasattr(model, method):
            return ScorePredictor(model, method, 0.0 if method == "decision_function" else 0.5)
    return LabelPredictor(model)


def fit_weighted(model: Any, X: Any, target: NDArray[Any], weight: Array | None) -> Any:
    """Fit with row weights, which a pipeline passes on to its last step."""
    if weight is None:
        return model.fit(X, target)
    if not isinstance(model, Pipeline):
        return model.fit(X, target, sample_weight=weight)
    # By the step's name: with routing on, every other step would have to declare itself.
    with config_context(enable_metadata_routing=False):
        return model.fit(X, target, **{f"{model.steps[-1][0]}__sample_weight": weight})


def _cuts(score: Array, costs: Sequence[Array], weight: Array) -> list[float]:
    """Return the distinct cuts of least cost, over the rows that have weight."""
    if not (weight == 1.0).all():
        counted = weight > 0
        score = score[counted]
        weight = weight[counted]
        costs = [cost[counted] * weight for cost in costs]
    return list(dict.fromkeys(best_cuts(score, costs).tolist()))


def _is_plain_logistic(estimator: Any, X: Any) -> bool:
    """Say whether it is the logistic regression that has refits, on few enough columns."""
    if type(estimator) is not LogisticRegression or not isinstance(X, np.ndarray):
        return False
    default = LogisticRegression().get_params()
    settings = estimator.get_params()
    free = ("C", "fit_intercept", "tol", "max_iter", "random_state", "warm_start", "n_jobs")
    alike = all(settings[name] == default[name] for name in default if name not in free)
    return alike and X.dtype == np.float64 and X.shape[1] <= _MOST_COLUMNS


def seed_estimator(estimator: Any, seed: int) -> None:
    """Seed every random_state of the estimator that the user left open."""
    open_seeds = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    estimator.set_params(**open_seeds)
