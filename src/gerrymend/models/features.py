"""The reader of X: an array of numbers, or the frame itself for estimators that take one."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.externals.array_api_compat import array_namespace
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from gerrymend._numeric.arrays import (
    check_dispatch,
    check_held,
    is_dask_collection,
    is_device_array,
)
from gerrymend._runtime.errors import ArgumentError, users_line
from gerrymend.inputs.dask_rows import feature_meta
from gerrymend.inputs.features import ENCODE, check_features
from gerrymend.inputs.validation import check_frame, frame_of, is_frame, is_lazy
from gerrymend.models.estimators import is_linear


@dataclass(frozen=True)
class FeatureReader:
    """The way X is read, kept with a model so that it is the same in `fit` and in `predict`.

    Parameters
    ----------
    takes_frames : bool
        True to pass a frame to the predictors as it is, False to pass an array.
    allow_nan : bool
        True if an array may have missing values.
    allow_missing : bool
        True if a frame may have missing values.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> reader = FeatureReader()
    >>> reader.read([[1, 2], [3, 4]], DecisionTreeClassifier(), reset=True).dtype.name
    'float64'
    """

    takes_frames: bool = False
    allow_nan: bool = False
    allow_missing: bool = False

    @classmethod
    def of(cls, X: Any, estimator: Any, *, allow_nan: bool) -> Self:
        """Return the reader for an estimator that is to be fitted to X."""
        return cls(
            # Linear predictors are coefficients, which need an array of numbers.
            takes_frames=is_frame(X) and not is_linear(estimator),
            allow_nan=allow_nan,
            # Only the pipeline knows what its first step does about missing values.
            allow_missing=allow_nan or isinstance(estimator, Pipeline),
        )

    def read(self, X: Any, model: Any, *, reset: bool) -> Any:
        """Check X and return it as the predictors take it.

        Parameters
        ----------
        X : frame, array, list, or array or frame of Dask
            A collection of Dask is returned as it is; its partitions are read where they are.
        model : estimator
            Its `n_features_in_` and `feature_names_in_` are compared with X, or set to those of X
            if `reset` is True.
        """
        if is_dask_collection(X):
            # Names and types alone: the values are checked when partitions are computed.
            validate_data(model, feature_meta(X), reset=reset, skip_check_array=True)
            return X
        frame = frame_of(X, "X") if is_frame(X) else None
        if self.takes_frames and frame is not None:
            check_frame(frame, allow_missing=self.allow_missing)
            validate_data(model, X, reset=reset, skip_check_array=True)
            return X
        # Our own words come first: columns of text or dates are named there, while validate_data()
        # only tells of a value that it could not convert.
        check_features(X, frame)
        if is_lazy(X):
            raise ArgumentError("X", "is a lazy frame; collect it first: X.collect().")
        check_dispatch(X, "X")
        if is_device_array(X):
            remedy = "Subtract or divide by a constant, or convert it to floats yourself."
            check_held(X, _types_of(X)[0], "X", remedy)
        try:
            with np.errstate(over="ignore"):  # what float64 does not hold is told as infinite
                return validate_data(
                    model,
                    X,
                    reset=reset,
                    dtype=_types_of(X),
                    ensure_all_finite="allow-nan" if self.allow_nan else True,
                )
        except (TypeError, ValueError, OverflowError) as error:
            if "Complex data" in str(error):  # and then rows of it
                raise ArgumentError(
                    "X",
                    "has complex numbers. Complex data not supported: pass their parts as columns, "
                    "X.real and X.imag.",
                ) from None
            if words := _in_words(str(error)):
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(words) from error
            raise


def _types_of(X: Any) -> Any:
    """Return the types that X may have; others are converted to the first."""
    if not is_device_array(X):
        return np.float64
    # On a device float32 is kept, which consumer GPUs compute many times faster.
    xp = array_namespace(X)
    return [xp.float64, xp.float32]


_NAMES_X = re.compile(r"\bX\b")


def _in_words(message: str) -> str:
    """Return a message that names X and a remedy, or '' if scikit-learn's own names X."""
    if "could not convert" in message:
        why = f"X has values that are no numbers. {ENCODE}"
        return f"X can't be read as numbers: {message}\n{why}"
    if "contains infinity" in message:
        return f"{message}\nReplace infinite values of X by a finite number, or drop these rows."
    return "" if _NAMES_X.search(message) else f"X can't be read as a table of numbers: {message}"


@contextmanager
def naming_features(X: Any, model: Any, estimator: Any) -> Iterator[None]:
    """Name X where an estimator that gets it as it is fails, and X is no table of numbers.

    The errors of estimators that consist of others, which may read anything, are their own.

    >>> from sklearn.linear_model import Ridge
    >>> with naming_features([[]], Ridge(), Ridge()):
    ...     Ridge().fit([[]], [1])
    Traceback (most recent call last):
    ValueError: X can't be read as a table of numbers: Found array with 0 feature(s) \
(shape=(1, 0)) while a minimum of 1 is required by Ridge.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        has_parts = any(hasattr(part, "fit") for part in estimator.get_params().values())
        if not (has_parts or issparse(X) or _NAMES_X.search(str(error))):
            # Read for its error alone, on a copy since `reset` sets attributes; where it reads, X
            # was not to blame, and the estimator's own error is raised.
            FeatureReader(allow_nan=True).read(X, copy(model), reset=True)
        raise


def warn_all_protected(call: str = "fit(X, y, sensitive_features=...)") -> None:
    """Warn that no protected attributes were passed, and say by which call to pass them."""
    routing = (
        "In a pipeline or a search, routing passes it on: "
        "sklearn.set_config(enable_metadata_routing=True), and "
        ".set_fit_request(sensitive_features=True) on the classifier. "
    )
    warnings.warn(
        "sensitive_features was not passed, so every column of X is taken as a protected "
        f"attribute. Pass {call}: a frame, a mapping or an array, or the names of columns of X. "
        f"{routing if call.startswith('fit(') else ''}If every column is meant, pass "
        "sensitive_features=X.",
        UserWarning,
        stacklevel=users_line(),
    )
