"""Checks of features that become numbers; they refuse what scikit-learn would cast or ignore."""

from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np

from gerrymend._runtime.errors import Argument, ArgumentError, Subject
from gerrymend.inputs.numbers import are_small, check_whole_numbers, is_missing, short

ENCODE = (
    "Encode them, for example with estimator=make_pipeline(make_column_transformer(...), "
    "LogisticRegression()), which takes the frame as it is."
)


def n_rows_of(X: Any, argument: str = "X") -> int:
    """Return the number of rows of a frame, array or list; raise ValueError for masked values.

    >>> n_rows_of([[1, 2], [3, 4]])
    2
    >>> n_rows_of([[1, 2], [3]])
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: X has rows that differ in length; pass a value of \
every feature in each.
    """
    _check_unmasked(X, argument)
    try:
        shape = X.shape if hasattr(X, "shape") else np.shape(X)
    except ValueError:
        raise ArgumentError(
            argument, "has rows that differ in length; pass a value of every feature in each."
        ) from None
    if len(shape) == 0:
        raise ArgumentError(
            argument,
            f"must be a frame, or an array with a row for each person; got {type(X).__name__}.",
        )
    return int(shape[0])


def check_features(X: Any, frame: "nw.DataFrame[Any] | None") -> None:
    """Refuse masks, text, dates, and whole numbers that float64 lacks, in an X to be converted.

    `frame` is X seen through narwhals, or None if X isn't a frame. Only frames, lists and arrays of
    NumPy are checked; others are left to scikit-learn.

    >>> check_features([[1, 2], [3, 4.5]], None)
    >>> check_features(np.array([[2**53 + 1]]), None)
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: X has whole numbers that float64 does not hold, such \
as 9007199254740993: they \
would be merged with their neighbours. Subtract or divide by a constant if they are amounts, or \
turn them into strings if they are codes.
    """
    _check_unmasked(X, "X")
    if frame is not None:
        for series in frame.iter_columns():
            _check_column(series, Argument("X", column=repr(series.name)))
    elif isinstance(X, np.ndarray):
        if X.dtype.kind in "USTMm":
            raise _cast(str(X.dtype))
        if X.dtype.kind in "iu":
            check_whole_numbers(X.ravel(), "X")
        elif X.dtype.kind == "O":
            _check_objects(X.ravel().tolist(), "X")
    elif isinstance(X, list | tuple) and all(isinstance(row, list | tuple) for row in X):
        _check_objects([value for row in X for value in row], "X")


def _check_unmasked(X: Any, argument: str) -> None:
    if isinstance(X, np.ma.MaskedArray) and (masked := int(np.ma.getmaskarray(X).sum())):
        raise ArgumentError(
            argument,
            f"has {masked:,} masked values; fill them in, with {argument}.filled(...), "
            "or drop these rows.",
        )


def _check_column(series: "nw.Series[Any]", where: Subject) -> None:
    """Check a column of a frame as `check_features` does."""
    dtype = series.dtype
    if dtype.is_temporal():
        raise _cast(f"column {series.name!r} of type {dtype}")
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum | nw.Object | nw.Unknown):
        _check_objects(series.to_list(), where)
    if dtype.is_integer() and not are_small(series):
        _check_objects(series.unique().to_list(), where)


def _check_objects(values: Iterable[Any], where: Subject) -> None:
    """Raise ValueError for text, lists and whole numbers that float64 lacks."""
    present = [value for value in values if not is_missing(value)]
    refused = [value for value in present if isinstance(value, str | bytes | list | tuple)]
    if refused:
        what = "text" if isinstance(refused[0], str | bytes) else "lists"
        raise ArgumentError(
            "X",
            f"can't be read as numbers: {where} has {what}, such as {short(refused[0])}. {ENCODE}",
        )
    # Filled by slice: np.array(present) would convert, and make rows of what has a length.
    plain = np.empty(len(present), dtype=object)
    plain[:] = present
    check_whole_numbers(plain, where)


def _cast(found: str) -> TypeError:
    """Return the error for features of a type that has to be converted by the user."""
    return ArgumentError(
        "X",
        f"can't be read as numbers: it has {found}. Convert it to numbers yourself: text with a "
        "numeric meaning by .astype(float), a date to days since another, say.",
    )
