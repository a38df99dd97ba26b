"""Checks of the weights of rows, wherever the rows are."""

import math
from typing import Any

import numpy as np

from gerrymend._numeric.sums import Array, modest_scale
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.numbers import as_numbers
from gerrymend.inputs.validation import as_vector

WEIGHT = "sample_weight"
# Squares of ratios of weights this far apart, and sums of those, are finite and not 0.
_LEAST_BESIDE = 1e-100


def check_weights(weights: Any, n_rows: int, argument: str = WEIGHT) -> Array:
    """Return weights as an array of length `n_rows`; ones if None.

    In an audit only their ratios matter, and so weights of extreme size are scaled by a power of
    two. Raises ArgumentError for negative, missing or infinite weights, and if all are 0.
    """
    if weights is None:
        return np.ones(n_rows)
    weight = check_finite_weights(weights, argument)
    if len(weight) != n_rows:
        raise ArgumentError(
            argument, f"has {len(weight)} values for {n_rows} rows; pass one weight a row."
        )
    if not weight.any():
        raise no_weight(argument)
    # A power of two changes the exponent alone: no weight is rounded, and ratios are exact.
    scaled: Array = weight * modest_scale(float(weight.max()))
    # Scaling down may turn the smallest weight into 0, which would drop its rows in silence.
    if ((scaled == 0) & (weight > 0)).any():
        raise too_far_apart(weight[weight > 0].min(), weight.max(), argument)
    return scaled


def check_finite_weights(weights: Any, argument: str = WEIGHT) -> Array:
    """Return the weights of some rows; raise ArgumentError unless all are finite and at least 0."""
    weight = as_numbers(as_vector(weights, argument), argument)
    check_extremes(float(weight.min()), float(weight.max()), argument)
    return weight


def check_extremes(smallest: float, largest: float, argument: str = WEIGHT) -> None:
    """Raise ArgumentError unless the smallest and the largest weight can be weights.

    >>> check_extremes(-1.0, 2.0)
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: sample_weight has negative values (the smallest is \
-1); weights are counts of rows: pass 0 or more.
    """
    # min() and max() of NumPy are NaN where any value is, so that two numbers tell of all rows.
    if not (math.isfinite(smallest) and math.isfinite(largest)):
        raise ArgumentError(argument, "has NaN or infinite values; pass finite weights.")
    if smallest < 0:
        raise ArgumentError(
            argument,
            f"has negative values (the smallest is {smallest:g}); weights are counts of rows: pass "
            "0 or more.",
        )


def check_comparable(weights: Any, argument: str = WEIGHT) -> None:
    """Raise ArgumentError for weights so far apart that ratios of their sums leave float64.

    >>> check_comparable([1.0, 1e300])
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: sample_weight goes from 1 to 1e+300: beside the \
largest the smallest is nothing. Pass 0 for rows that are not to count, or weights that differ less.
    """
    if weights is None:
        return
    weight = check_finite_weights(weights, argument)
    positive = weight[weight > 0]
    if len(positive) and positive.min() < positive.max() * _LEAST_BESIDE:
        raise too_far_apart(positive.min(), positive.max(), argument)


def no_weight(argument: str = WEIGHT) -> ArgumentError:
    """Return the error for weights that are all 0."""
    return ArgumentError(argument, "is zero in every row; pass at least one positive weight.")


def too_far_apart(smallest: float, largest: float, argument: str = WEIGHT) -> ArgumentError:
    """Return the error for weights of which the smallest is lost beside the largest."""
    return ArgumentError(
        argument,
        f"goes from {smallest:g} to {largest:g}: beside the largest the smallest is nothing. Pass "
        "0 for rows that are not to count, or weights that differ less.",
    )
