"""Tests for linear estimators, and for the one with a fast path."""

from typing import Any

from sklearn.linear_model import LinearRegression
from sklearn.linear_model._base import LinearClassifierMixin


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
