"""Features that become numbers: what scikit-learn would cast, or ignore, is refused first."""

from collections.abc import Iterable
from datetime import date, time, timedelta
from typing import Any

import narwhals as nw
import numpy as np

from gerrymend.inputs.numbers import LARGEST_WHOLE, check_whole_numbers, is_missing

_TEXT = (
    "Encode them, for example with estimator=make_pipeline(make_column_transformer(...), "
    "LogisticRegression()), which takes the frame as it is."
)


def n_rows_of(X: Any, argument: str = "X") -> int:
    """Return the number of rows of a frame, array or list; none of it may be masked.

    >>> n_rows_of([[1, 2], [3, 4]])
    2
    >>> n_rows_of([[1, 2], [3]])
    Traceback (most recent call last):
    ValueError: X has rows that differ in length; pass a value of every feature in each.
    """
    if isinstance(X, np.ma.MaskedArray) and (masked := int(np.ma.getmaskarray(X).sum())):
        raise ValueError(
            f"{argument} has {masked:,} missing values (masked); fill them in, for example with "
            f"{argument}.filled(0), or drop these rows."
        )
    try:
        shape = X.shape if hasattr(X, "shape") else np.shape(X)
    except ValueError:
        raise ValueError(
            f"{argument} has rows that differ in length; pass a value of every feature in each."
        ) from None
    if len(shape) == 0:
        raise TypeError(
            f"{argument} must be a frame, or an array with a row for each person; got "
            f"{type(X).__name__}."
        )
    return int(shape[0])


def check_feature_array(X: Any) -> None:
    """Refuse text, dates, and whole numbers that float64 lacks, in an array or a list.

    >>> check_feature_array([[1, 2], [3, 4.5]])
    >>> check_feature_array([["1", "2"]])
    Traceback (most recent call last):
    ValueError: X has values that are no numbers: text. Encode them, for example with \
estimator=make_pipeline(make_column_transformer(...), LogisticRegression()), which takes the \
frame as it is.
    """
    values = np.asarray(X)
    if values.dtype.kind in "iu":
        check_whole_numbers(values.ravel(), "X")
    elif values.dtype.kind in "USTMm":
        raise _no_numbers("X", "text" if values.dtype.kind in "UST" else str(values.dtype))
    elif values.dtype.kind == "O":
        _check_objects(values.ravel().tolist(), "X")


def check_feature_frame(frame: "nw.DataFrame[Any]") -> None:
    """Refuse the same in the columns of a frame that is to become an array."""
    for series in frame.iter_columns():
        where = f"Column {series.name!r} of X"
        dtype = series.dtype
        if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
            raise _no_numbers(where, "text")
        if isinstance(dtype, nw.Object | nw.Unknown):
            _check_objects(series.to_list(), where)
        elif dtype.is_integer():
            extremes = [end for end in (series.min(), series.max()) if end is not None]
            if extremes and max(map(abs, extremes)) > LARGEST_WHOLE:
                _check_objects(series.unique().to_list(), where)
        elif not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
            raise _no_numbers(where, str(dtype))


def _check_objects(values: Iterable[Any], where: str) -> None:
    values = [value for value in values if not is_missing(value)]
    kinds = set(map(type, values))
    if any(issubclass(kind, str | bytes) for kind in kinds):
        raise _no_numbers(where, "text")
    dates = (date, time, timedelta, np.datetime64, np.timedelta64)
    if refused := [kind for kind in kinds if issubclass(kind, (*dates, list, tuple, np.ndarray))]:
        raise _no_numbers(where, refused[0].__name__)
    plain = np.empty(len(values), dtype=object)
    plain[:] = values
    check_whole_numbers(plain, where)


def _no_numbers(where: str, kind: str) -> Exception:
    """Return a ValueError for text, as scikit-learn has it, and a TypeError for others."""
    if kind == "text":
        return ValueError(f"{where} has values that are no numbers: text. {_TEXT}")
    return TypeError(
        f"{where} is of type {kind}; convert it to numbers, an age in days, say, rather than a "
        "date."
    )
