"""Which estimators are linear, and which of them has a fast path."""

from typing import Any

from sklearn.linear_model import LinearRegression
from sklearn.linear_model._base import LinearClassifierMixin


def is_linear(estimator: Any) -> bool:
    """Whether the predictors are linear functions of X, which must then be an array of numbers."""
    return isinstance(estimator, LinearClassifierMixin) or is_plain_least_squares(estimator)


def is_plain_least_squares(estimator: Any) -> bool:
    """Whether the estimator is the linear regression that has a fast path."""
    return (
        type(estimator) is LinearRegression and estimator.fit_intercept and not estimator.positive
    )
