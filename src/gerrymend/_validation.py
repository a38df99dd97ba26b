"""Every check of an input, and its message: the argument, the value got, and the remedy."""

import difflib
import warnings
from collections.abc import Iterable, Sized
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import type_of_target

from gerrymend._sums import Array

# What adding up probabilities can be off by.
_ROUNDING = 1e-9


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def is_frame(data: Any) -> bool:
    """Whether data is an eager frame of any library that narwhals knows."""
    try:
        return isinstance(nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame)
    except nw.exceptions.DuplicateError:  # a frame, if one with two columns of the same name
        return True


def is_lazy(data: Any) -> bool:
    """Whether data is a frame that has yet to be collected."""
    return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)


def frame_of(data: Any, argument: str) -> "nw.DataFrame[Any]":
    """A frame, seen through narwhals; two columns of the same name are refused."""
    try:
        return nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in data.columns]
        raise same_name(argument, names) from None


def same_name(argument: str, names: list[str]) -> ValueError:
    """The error for columns that share a name."""
    repeated = sorted({repr(name) for name in names if names.count(name) > 1})
    return ValueError(
        f"{argument} has more than one column named {', '.join(repeated)}; rename them, so that a "
        "subgroup can be told in words."
    )


def is_series(data: Any) -> bool:
    """Whether data is a Series (or Arrow array) of any library that narwhals knows."""
    return isinstance(nw.from_native(data, series_only=True, pass_through=True), nw.Series)


def check_same_length(**named: Sized | None) -> None:
    """All arguments that are given have the same number of rows."""
    lengths = {name: len(rows) for name, rows in named.items() if rows is not None}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"The arguments differ in their number of rows: {counts}. Rows are matched by position."
        )


def as_vector(values: Any, argument: str) -> NDArray[Any]:
    """One-dimensional array from any Series, array or list; an index plays no part."""
    if is_frame(values):
        frame = nw.from_native(values, eager_only=True)
        if frame.shape[1] != 1:
            raise ValueError(f"{argument} must have one column; got {frame.shape[1]}.")
        values = frame.get_column(frame.columns[0]).to_native()
    if is_series(values):
        values = nw.from_native(values, series_only=True).to_numpy()
    vector = np.asarray(values)
    if vector.dtype.kind in "US" and not isinstance(values, np.ndarray):
        vector = np.asarray(values, dtype=object)  # NumPy would turn 1 beside "a" into "1"
    if vector.ndim == 2 and vector.shape[1] == 1:
        warnings.warn(
            f"A column-vector {argument} was passed when a 1d array was expected; its one column "
            "is taken.",
            DataConversionWarning,
            stacklevel=2,
        )
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise ValueError(f"{argument} must have one dimension; got shape {vector.shape}.")
    if len(vector) == 0:
        raise ValueError(f"{argument} is empty: it has no rows.")
    return vector


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, or pandas' NA, which can't be compared."""
    return (
        value is None
        or (isinstance(value, float) and value != value)
        or type(value).__name__ in ("NAType", "NaTType")
    )


def check_no_missing(values: NDArray[Any], argument: str) -> None:
    """No None and no NaN among the values."""
    if values.dtype == object:
        missing = sum(map(is_missing, values))
    else:
        missing = int(np.sum(values != values))
    if missing:
        raise ValueError(f"{argument} has {missing} missing values; fill in or drop these rows.")


def check_labels(labels: NDArray[Any], argument: str) -> NDArray[Any]:
    """The two distinct labels, sorted."""
    try:
        classes = np.unique(labels)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in labels})
        raise TypeError(
            f"{argument} mixes labels of types {', '.join(kinds)}; convert them to one type."
        ) from None
    if len(classes) == 1:
        raise ValueError(
            f"{argument} has only one class, {classes.tolist()[0]!r}; two are needed to compare "
            "rates."
        )
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:6].tolist())) + (", …" if len(classes) > 6 else "")
        kind = f"The type of the target is {type_of_target(labels)}: "
        raise ValueError(
            f"Only binary classification is supported. {kind}{argument} has {len(classes)} "
            f"classes, {shown}. Merge them into two."
        )
    return classes


def check_weights(sample_weight: Any, n_rows: int) -> Array:
    """Non-negative weights with a positive sum; ones if None."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = as_vector(sample_weight, "sample_weight")
    try:
        weight = weight.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"sample_weight must be numbers; got {weight.dtype}.") from None
    if len(weight) != n_rows:
        raise ValueError(
            f"sample_weight has {len(weight)} values for {n_rows} rows; pass one weight a row."
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight has NaN or infinite values; pass finite weights.")
    if (weight < 0).any():
        raise ValueError(
            f"sample_weight has negative values (the smallest is {weight.min():g}); "
            "weights are counts of rows: pass 0 or more."
        )
    if not weight.any():
        raise ValueError("sample_weight is zero in every row; pass at least one positive weight.")
    return weight


def check_number(
    value: Any, argument: str, *, low: float, above: bool = False, remedy: str = ""
) -> float:
    """A finite real number, at least (or above) `low`."""
    is_number = isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_)
    if not is_number or not np.isfinite(float(value)) or value < low or (above and value == low):
        bound = f"above {low:g}" if above else f"of at least {low:g}"
        raise ValueError(f"{argument} must be a number {bound}; got {value!r}. {remedy}".rstrip())
    return float(value)


def check_whole(value: Any, argument: str, *, low: int, remedy: str = "") -> int:
    """A whole number, at least `low`."""
    number = check_number(value, argument, low=low, remedy=remedy)
    if number != int(number):
        raise ValueError(f"{argument} must be a whole number; got {value!r}. {remedy}".rstrip())
    return int(number)


def check_fraction(value: Any, argument: str, *, remedy: str = "") -> float:
    """A number strictly between 0 and 1."""
    number = check_number(value, argument, low=0.0, above=True, remedy=remedy)
    if number >= 1:
        raise ValueError(f"{argument} must be below 1; got {value!r}. {remedy}".rstrip())
    return number


def check_gamma(gamma: Any) -> float:
    """A tolerance of at least 0."""
    return check_number(
        gamma,
        "gamma",
        low=0.0,
        remedy="It is the largest unfairness to allow: 0 for none, 0.01 for most uses.",
    )


def check_choice(value: Any, argument: str, choices: Iterable[str]) -> str:
    """One of a few names."""
    known = list(choices)
    if value not in known:
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise ValueError(f"{argument}={value!r} is unknown{hint}. Choose from {', '.join(known)}.")
    return str(value)


def decisions_from(
    y_pred: NDArray[Any],
    classes: NDArray[Any],
    threshold: float | None,
    decision_probabilities: bool,
) -> Array:
    """Probability of the positive decision in each row, from decisions, scores or probabilities."""
    if threshold is not None and decision_probabilities:
        raise ValueError(
            "threshold and decision_probabilities exclude each other: y_pred holds either scores "
            "to cut or the probabilities of a mixture."
        )
    if threshold is not None:
        cut = check_number(threshold, "threshold", low=-np.inf)
        return (_as_numbers(y_pred, "threshold is given") >= cut).astype(np.float64)
    if decision_probabilities:
        p = _as_numbers(y_pred, "decision_probabilities=True")
        if ((p < -_ROUNDING) | (p > 1 + _ROUNDING)).any():
            raise ValueError(
                f"y_pred ranges from {p.min():g} to {p.max():g}; with "
                "decision_probabilities=True it must lie in [0, 1]."
            )
        return np.clip(p, 0.0, 1.0)
    unknown = sorted(map(repr, set(y_pred.tolist()) - set(classes.tolist())))
    if unknown:
        shown = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
        raise ValueError(
            f"y_pred has values that are no label: {shown} (labels: "
            f"{', '.join(map(repr, classes.tolist()))}). Pass decisions; or threshold=0.5, say, if "
            "these are scores; or decision_probabilities=True if they are the probabilities with "
            "which a randomised model decides."
        )
    return (y_pred == classes[1]).astype(np.float64)


def _as_numbers(values: NDArray[Any], because: str) -> Array:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"y_pred must be numbers where {because}; got {values.dtype}.") from None


def check_frame(frame: "nw.DataFrame[Any]", *, allow_missing: bool) -> None:
    """A frame of features has rows, no infinite number, and no missing one unless allowed."""
    if frame.shape[0] == 0:
        raise ValueError("X is empty: it has no rows. Pass at least one.")
    for series in frame.iter_columns():
        if not series.dtype.is_numeric():
            continue
        values = series.cast(nw.Float64).to_numpy()
        if np.isinf(values).any():
            raise ValueError(
                f"Column {series.name!r} of X has infinite values (infinity); replace them by a "
                "finite number or drop these rows."
            )
        if not allow_missing and np.isnan(values).any():
            raise ValueError(
                f"Column {series.name!r} of X has missing values (NaN); fill them in, drop these "
                "rows, or pass an estimator that takes them, such as "
                "HistGradientBoostingClassifier() or a pipeline with an imputer."
            )
