"""Tests for linear estimators, and for those that can be fitted from sums over rows."""

from inspect import signature
from typing import Any, NamedTuple

from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import get_tags


def is_linear(estimator: Any) -> bool:
    """Return True if predictors are linear in X, which must then be an array of numbers."""
    return isinstance(estimator, LinearClassifierMixin) or is_plain_least_squares(estimator)


def is_plain_least_squares(estimator: Any) -> bool:
    """Return True for the linear regression that has a fast path.

    That is scikit-learn's own class, not a subclass, with an intercept and any sign of coefficient.
    """
    return (
        type(estimator) is LinearRegression and estimator.fit_intercept and not estimator.positive
    )


class LogisticSettings(NamedTuple):
    """The parameters of a logistic regression that decide where its optimum is, and the effort."""

    C: float
    fit_intercept: bool
    max_iter: int

    @classmethod
    def of(cls, estimator: Any) -> "LogisticSettings | None":
        """Return those of scikit-learn's logistic regression; None for any other estimator.

        The penalty must be the default, and liblinear, which penalises the intercept, is another.

        >>> LogisticSettings.of(LogisticRegression(C=2.0))
        LogisticSettings(C=2.0, fit_intercept=True, max_iter=100)
        >>> LogisticSettings.of(LogisticRegression(class_weight="balanced")) is None
        True
        """
        if type(estimator) is not LogisticRegression or estimator.solver == "liblinear":
            return None
        default = LogisticRegression().get_params()
        settings = estimator.get_params()
        if settings.get("penalty") == "l2":  # which is the default, by its older name
            settings["penalty"] = default["penalty"]
        # Any other parameter that is changed, as class_weight, moves the optimum in a way that the
        # sums don't know.
        alike = all(settings[name] == default[name] for name in default if name not in _FREE)
        return cls(*(settings[name] for name in cls._fields)) if alike else None


def can_be_fitted_from_sums(estimator: Any) -> bool:
    """Return True if sums over rows, wherever they are, are all that a fit needs.

    >>> can_be_fitted_from_sums(LinearRegression()), can_be_fitted_from_sums(LinearRegression)
    (True, False)
    """
    return is_plain_least_squares(estimator) or LogisticSettings.of(estimator) is not None


def learns_in_parts(estimator: Any) -> bool:
    """Return True if an estimator learns from some rows after others, and of their weights.

    >>> from sklearn.linear_model import SGDClassifier
    >>> learns_in_parts(SGDClassifier()), learns_in_parts(LogisticRegression())
    (True, False)
    """
    # Of some, as of neural networks, parameters decide whether they have the method.
    learn = getattr(estimator, "partial_fit", None)
    return learn is not None and "sample_weight" in signature(learn).parameters


def trains_on_tensors(estimator: Any) -> bool:
    """Return True if an estimator trains on arrays where they are: it says so, or is of skorch.

    It says so by scikit-learn's tags: `array_api_support` is for those around a torch module too.

    >>> from sklearn.linear_model import Ridge, SGDClassifier
    >>> trains_on_tensors(Ridge()), trains_on_tensors(SGDClassifier())
    (True, False)
    """
    # skorch's take tensors, and its tags are those of scikit-learn's base classes.
    is_of_skorch = any(kind.__module__.startswith("skorch.") for kind in type(estimator).__mro__)
    return is_of_skorch or bool(get_tags(estimator).array_api_support)


# Parameters of a logistic regression that move its optimum in a known way, or not at all.
_FREE = frozenset(
    {
        *("C", "fit_intercept", "max_iter", "tol", "solver"),
        *("random_state", "warm_start", "n_jobs", "verbose", "dual"),
    }
)
