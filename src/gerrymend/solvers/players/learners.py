"""The Learner: cost-sensitive best responses.

The cost of a row is the cost of deciding 1 less that of deciding 0, per unit of weight, and scaled
so that with no fairness pressure it is ±1: an estimator then sees the very problem that it would
have been given on its own.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from gerrymend._numeric.cuts import best_cuts
from gerrymend._numeric.projection import TIE, Projection
from gerrymend._numeric.sums import Array
from gerrymend._runtime.by_thread import heard_warnings
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
    content_of,
)

# Scores of one model up to rounding; probabilities that weights can't move any more.
_SAME_SCORE, _SATURATED = 1e-6, 1e-6

Decisions = NDArray[np.bool_]
Keys = Sequence[Any] | NDArray[Any]


class Learner(ABC):
    """Bound to features and weights; answers costs with decisions."""

    @abstractmethod
    def best_response(self, costs: Array) -> tuple[Decisions, Keys]:
        """Decisions for each row of costs, and a key for each of the predictors that made them."""

    @abstractmethod
    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[tuple[Decisions, Any]]:
        """Decisions and key of predictors that answer one cost.

        One fit, to `cost`; its score, if it has one, is cut where that costs least, and once more
        for each of the `others`.
        """

    @abstractmethod
    def constant(self, decision: bool) -> Any:
        """The key of the predictor that decides the same for every row."""

    @abstractmethod
    def recall(self, predictor: Any) -> tuple[Decisions, Any]:
        """Decisions and key of a predictor of an earlier fit."""

    @abstractmethod
    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """The mixture of the predictors of these keys, a uniform one without weights."""

    def state(self) -> Any:
        """What answers depend on besides the costs: as a rule nothing."""
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
        self._X, self._order = X, slice(None) if order is None else order
        self._pressed, self.row_weight = pressed, weight
        self._weight = None if (weight == 1.0).all() else weight[pressed]
        # Rows that are never pressed bring the same to the product in every round.
        fixed = weight * base_cost
        fixed[pressed] = 0.0
        self._fixed_coordinates = self.projection.coordinates(fixed[None])

    def best_response(self, costs: Array) -> tuple[Decisions, Keys]:
        """Two products with the basis, for all rows of costs at once."""
        pressed = costs[:, self._pressed]
        if self._weight is not None:
            pressed = pressed * self._weight
        coordinates = self.projection.coordinates(pressed, self._pressed)
        coordinates += self._fixed_coordinates
        # Rows come sorted by label, so the first and the last nearly always settle it.
        if not (costs[:, 0] * costs[:, -1] < 0).all():
            coordinates[costs.max(axis=1) <= 0] = -self.projection.one
            coordinates[costs.min(axis=1) >= 0] = self.projection.one
        return self.projection.fitted(coordinates) < -TIE, coordinates

    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[tuple[Decisions, Any]]:
        """The regression's prediction, cut for each cost; a cut moves it by a constant."""
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
        """A prediction of -1, or of 1, everywhere."""
        one: Array = self.projection.one[0]
        return -one if decision else one

    def recall(self, predictor: Any) -> tuple[Decisions, Any]:
        """The projection of its score, which is itself where it is linear."""
        if isinstance(predictor, ConstantPredictor):
            return np.full(len(self.row_weight), predictor.decision), self.constant(
                predictor.decision
            )
        cost = -self.row_weight * predictor.score(self._X)[self._order]
        (coordinates,) = self.projection.coordinates(cost[None])
        return self.projection.fitted(coordinates[None])[0] < -TIE, coordinates

    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """One matrix of coefficients."""
        intercepts, coefficients = self.projection.coefficients(np.asarray(keys))
        return Mixture.of_linear(-coefficients, -intercepts - TIE, weights)


class EstimatorLearner(Learner):
    """Any estimator, fitted anew for each cost."""

    def __init__(self, estimator: BaseEstimator, X: Any, weight: Array) -> None:
        self._estimator = estimator
        self._X = X
        self._weight = weight

    def best_response(self, costs: Array) -> tuple[Decisions, Keys]:
        """One fit a row of costs; a constant where no cost differs in sign."""
        predictors = [self._constant(cost) or self._fit(cost) for cost in costs]
        return np.stack([predictor.decide(self._X) for predictor in predictors]), predictors

    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[tuple[Decisions, Any]]:
        """One fit, its score cut for each cost."""
        if constant := self._constant(cost):
            return [(constant.decide(self._X), constant)]
        predictor = self._fit(cost, near_last=True)
        if isinstance(predictor, LabelPredictor):
            return [(predictor.decide(self._X), predictor)]
        score = predictor.score(self._X)
        cuts = _cuts(score, [cost, *others], self._weight)
        return [
            (score > cut, predictor.cut_at(cut) if np.isfinite(cut) else self.constant(cut < 0))
            for cut in cuts
        ]

    def constant(self, decision: bool) -> Any:
        """The predictor itself."""
        return ConstantPredictor(decision)

    def recall(self, predictor: Any) -> tuple[Decisions, Any]:
        """The predictor is its key."""
        return predictor.decide(self._X), predictor

    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """The keys are the predictors."""
        return Mixture.of_predictors(list(keys), weights)

    def _constant(self, cost: Array) -> ConstantPredictor | None:
        counted = cost[self._weight > 0]
        if (counted >= 0).all() or (counted <= 0).all():
            return ConstantPredictor(bool((counted < 0).any()))
        return None

    @abstractmethod
    def _fit(self, cost: Array, *, near_last: bool = False) -> Any:
        """A predictor fitted to costs of both signs; it may start from the last one."""


class RegressionLearner(EstimatorLearner):
    """A regressor trained on the cost, cut at 0."""

    def _fit(self, cost: Array, *, near_last: bool = False) -> CostPredictor:
        weight = None if (self._weight == 1.0).all() else self._weight
        return CostPredictor(fit_weighted(clone(self._estimator), self._X, cost, weight))


class ClassificationLearner(EstimatorLearner):
    """A classifier trained on the cheaper label, weighted by what the choice is worth."""

    def __init__(self, estimator: BaseEstimator, X: Any, weight: Array) -> None:
        super().__init__(estimator, X, weight)
        # The last models, the latest at the end.
        self._last: list[Any] = []

    def _fit(self, cost: Array, *, near_last: bool = False) -> Predictor:
        label = (cost < 0).astype(np.int64)
        weight = np.abs(cost) * self._weight
        model = fit_weighted(self._model(near_last), self._X, label, weight)
        if isinstance(model, LinearClassifierMixin):
            return LinearPredictor(
                np.ravel(model.coef_).copy(), float(np.ravel(model.intercept_)[0])
            )
        for method in SCORE_METHODS:
            if hasattr(model, method):
                return ScorePredictor(model, method, 0.0 if method == "decision_function" else 0.5)
        return LabelPredictor(model)

    def _model(self, near_last: bool) -> Any:
        """A fresh clone; or an earlier one, where fitting it again starts from its coefficients.

        It is the one before the last: solvers ask in turn for what restrains subgroups and for
        what restrains cells, whose answers are alike over rounds and unlike each other. It is
        copied, so that what `state` has given out is never fitted again.
        """
        if not near_last or type(self._estimator) is not LogisticRegression:
            return clone(self._estimator)
        if self._last:
            model = copy.copy(self._last[0])
        else:
            model = clone(self._estimator).set_params(warm_start=True)
        self._last = [*self._last[-1:], model]
        return model

    def state(self) -> Any:
        """The models from whose coefficients the next fits may start."""
        return list(self._last)

    def restore(self, state: Any) -> None:
        """Start the next fits from those models."""
        self._last = state


def make_learner(
    estimator: Any,
    X: Any,
    weight: Array,
    base_cost: Array,
    pressed: slice,
    order: NDArray[np.intp] | None = None,
) -> Learner:
    """The learner that an estimator calls for; see `check_estimator_kind`.

    Outside the slice `pressed` of rows the cost is `base_cost` in every round. With `order`, the
    rows of X are taken in that order; weights and costs have it already.
    """
    if is_plain_least_squares(estimator):
        return LinearLearner(X, weight, base_cost, pressed, order)
    kind = RegressionLearner if is_regressor(estimator) else ClassificationLearner
    return kind(estimator, X if order is None else _safe_indexing(X, order), weight)


def check_estimator_kind(estimator: Any, *, weighted: bool) -> BaseEstimator:
    """The estimator to use (LogisticRegression if None), once it is sure that it can be used."""
    if estimator is None:
        return LogisticRegression()
    remedy = (
        "Pass a classifier whose fit takes sample_weight, such as LogisticRegression() or "
        "HistGradientBoostingClassifier(); or a regressor, such as LinearRegression(), which is "
        "trained on the cost and cut at 0."
    )
    usable = not isinstance(estimator, type) and hasattr(estimator, "__sklearn_tags__")
    if not usable or not (is_classifier(estimator) or is_regressor(estimator)):
        raise TypeError(
            f"estimator={estimator!r} is neither a classifier nor a regressor. {remedy}"
        )
    needs_weights = weighted or is_classifier(estimator)
    if needs_weights and not has_fit_parameter(_last_step(estimator), "sample_weight"):
        why = "" if is_classifier(estimator) else ", and sample_weight was given"
        raise TypeError(f"estimator={estimator!r} takes no sample_weight in fit{why}. {remedy}")
    return estimator


def check_uses_weights(estimator: Any, X: Any) -> None:
    """Raise if a classifier takes weights and ignores them: the game would go nowhere.

    A few rows with both labels each; as the weight moves to one label, so must the model. Decisions
    alone can't tell: those of a model that rows out of scale have saturated never move.
    """
    if is_regressor(estimator) or isinstance(estimator, LinearClassifierMixin):
        return
    rows = _safe_indexing(X, np.repeat(np.arange(min(10, X.shape[0])), 2))
    label = np.tile([0, 1], rows.shape[0] // 2)
    models, decided = [], []
    for heavy in (0, 1):
        weight = np.where(label == heavy, 1000.0, 1.0)
        seed_estimator(model := clone(estimator), 0)  # so that only weights can make a difference
        try:
            with heard_warnings():  # of rows that stand for none
                models.append(fit_weighted(model, rows, label, weight))
                decided.append(model.predict(rows))
        except Exception:  # too few rows for it, perhaps; if not, its own fit will say so
            return
    if np.array_equal(*decided) and _are_alike(models[0], models[1], rows):
        raise TypeError(
            f"estimator={estimator!r} takes sample_weight in fit and ignores it: with a thousand "
            "times the weight on either label it decides the same. The game works through weights; "
            "pass an estimator that uses them, such as LogisticRegression(), and leave out "
            "class_weight='balanced', which cancels them."
        )


def _are_alike(first: Any, second: Any, X: Any) -> bool:
    """Whether two models are the same, but for rounding where their scores are not at an end."""
    if content_of(first) == content_of(second) is not None:
        return True
    method = next((one for one in SCORE_METHODS if hasattr(first, one)), None)
    if method is None:
        return False
    one, other = (np.asarray(getattr(model, method)(X)) for model in (first, second))
    saturated = method == "predict_proba" and bool((one.max(axis=1) > 1 - _SATURATED).all())
    return not saturated and bool(np.allclose(one, other, rtol=_SAME_SCORE, atol=0.0))


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
    """The distinct cuts of least cost, over the rows that have weight."""
    counted = weight > 0
    cuts = best_cuts(score[counted], np.array(costs)[:, counted] * weight[counted])
    return list(dict.fromkeys(cuts.tolist()))


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def seed_estimator(estimator: Any, seed: int) -> None:
    """Seed every random_state of the estimator that the user left open."""
    open_seeds = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    estimator.set_params(**open_seeds)
