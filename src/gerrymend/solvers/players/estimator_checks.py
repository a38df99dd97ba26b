"""Check that an estimator can be what the Learner trains, before any work is done."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from gerrymend._numeric.arrays import beside, on_host
from gerrymend._runtime.by_thread import heard_warnings
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.models.mixture import SCORE_METHODS, content_of
from gerrymend.solvers.players.learners import fit_weighted, seed_estimator

# Scores of one model up to rounding; probabilities that weights can't move any more.
_SAME_SCORE = 1e-6
_SATURATED = 1e-6


def check_estimator_kind(estimator: Any, *, weighted: bool) -> BaseEstimator:
    """Return the estimator to use, LogisticRegression if None; raise if it can't be used."""
    if estimator is None:
        return LogisticRegression()
    remedy = (
        "Pass a classifier whose fit takes sample_weight, such as LogisticRegression() or "
        "HistGradientBoostingClassifier(); or a regressor, such as LinearRegression(), which is "
        "trained on the cost and cut at 0."
    )
    told = Argument("estimator", value=repr(estimator))
    usable = not isinstance(estimator, type) and hasattr(estimator, "__sklearn_tags__")
    if not usable or not (is_classifier(estimator) or is_regressor(estimator)):
        raise ArgumentError(told, f"is neither a classifier nor a regressor. {remedy}")
    needs_weights = weighted or is_classifier(estimator)
    if needs_weights and not has_fit_parameter(_last_step(estimator), "sample_weight"):
        why = "" if is_classifier(estimator) else ", and sample_weight was given"
        raise ArgumentError(told, f"takes no sample_weight in fit{why}. {remedy}")
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
    models = []
    decided = []
    for heavy in (0, 1):
        weight = np.where(label == heavy, 1000.0, 1.0)
        seed_estimator(model := clone(estimator), 0)  # so that only weights can make a difference
        try:
            with heard_warnings():  # of rows that stand for none
                models.append(fit_weighted(model, rows, beside(X, label), beside(X, weight)))
                decided.append(on_host(model.predict(rows)))
        except Exception:  # too few rows for it, perhaps; if not, its own fit will say so
            return
    if np.array_equal(decided[0], decided[1]) and _are_alike(models[0], models[1], rows):
        raise TypeError(
            f"estimator={estimator!r} takes sample_weight in fit and ignores it: with a thousand "
            "times the weight on either label it decides the same. The game works through weights; "
            "pass an estimator that uses them, such as LogisticRegression(), and leave out "
            "class_weight='balanced', which cancels them."
        )


def check_learns_in_parts(estimator: Any, n_features: int) -> None:
    """Raise an ArgumentError if an estimator with `partial_fit` refuses it as it is set.

    Two made rows tell: such as class_weight="balanced" and early_stopping need all rows at once.
    """
    # Of 0 and 1, which those that count, and take no number below 0, can learn of too.
    rows = np.zeros((2, n_features))
    rows[1] = 1.0
    known = {"classes": np.array([0, 1])} if is_classifier(estimator) else {}
    try:
        with heard_warnings():
            clone(estimator).partial_fit(rows, np.array([0, 1]), sample_weight=np.ones(2), **known)
    except Exception as error:  # whatever it objects to, it would to each part
        raise ArgumentError(
            Argument("estimator", value=repr(estimator)),
            f"can't learn from one part of the rows after another: {error} Change that parameter, "
            "or pass LogisticRegression().",
        ) from error


def _are_alike(first: Any, second: Any, X: Any) -> bool:
    """Tell if two models are the same, but for rounding where their scores are not at an end."""
    if content_of(first) == content_of(second) is not None:
        return True
    method = next((one for one in SCORE_METHODS if hasattr(first, one)), None)
    if method is None:
        return False
    one, other = (on_host(getattr(model, method)(X)) for model in (first, second))
    saturated = method == "predict_proba" and bool((one.max(axis=1) > 1 - _SATURATED).all())
    return not saturated and bool(np.allclose(one, other, rtol=_SAME_SCORE, atol=0.0))


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
