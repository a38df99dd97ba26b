"""Conversion of lists and arrays of any library to NumPy; masked values count as missing."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.numbers import (
    LARGEST_WHOLE,
    distinct_numbers,
    is_exact,
    is_number_type,
    kinds_of,
    plain_value,
)

_PLAIN = {str, bool, int, float}


def unmasked(values: Any) -> Any:
    """Return a masked array as a plain one, with None for masked values; others as they are.

    A list may have masked values too, as that of a masked array has.

    >>> unmasked(np.ma.masked_array([1, 2], mask=[False, True])).tolist()
    [1, None]
    >>> unmasked([1, np.ma.masked])
    [1, None]
    """
    if isinstance(values, list | tuple) and any(value is np.ma.masked for value in values):
        return [None if value is np.ma.masked else value for value in values]
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.getmaskarray(values).any():
        return np.asarray(values.data)
    plain = values.data.astype(object)
    plain[np.ma.getmaskarray(values)] = None
    return plain


def as_array(values: Any, argument: str) -> NDArray[Any]:
    """Return values as an array of one type, or of objects if numbers and texts are mixed.

    Decimals, fractions and long doubles become float64, if that keeps them apart. Python's whole
    numbers stay as they are where they are too large for one type of NumPy's.

    >>> as_array([2**64 - 1, -1], "y").tolist()
    [18446744073709551615, -1]
    >>> as_array([Decimal("0"), Decimal("1")], "y").tolist()
    [0.0, 1.0]
    >>> as_array([[1, 2], [3]], "y")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: y can't be read as an array: its rows differ in \
length, or mix lists and values. \
Pass one value a row.
    """
    values = unmasked(values)
    try:
        array = unrounded(values)
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
            array = np.asarray(values, dtype=object)  # NumPy would turn 1 beside "a" into "1"
    except ValueError as error:
        if "inhomogeneous" not in str(error) and "sequence" not in str(error):
            raise _unreadable(values, argument, error) from None
        raise ArgumentError(
            argument,
            "can't be read as an array: its rows differ in length, or mix lists and "
            "values. Pass one value a row.",
        ) from None
    except (TypeError, RuntimeError) as error:  # torch: a tensor on a device, or with a gradient
        raise _unreadable(values, argument, error) from None
    if array.ndim == 0:
        raise ArgumentError(
            argument, f"must be a Series, an array or a list; got {type(values).__name__}."
        )
    if array.dtype.kind == "f" and array.dtype.itemsize > 8 and array.ndim == 1:
        return distinct_numbers(array, argument)
    return _plain(array, argument) if array.dtype == object and array.ndim == 1 else array


def unrounded(values: Any) -> NDArray[Any]:
    """Return values as NumPy's array; of objects if it would round whole numbers in a list.

    It makes floats of whole numbers beside a fraction, and of those that no type of 64 bits holds.

    >>> unrounded([2**53 + 1, 0.5]).tolist()
    [9007199254740993, 0.5]
    """
    array = np.asarray(values)
    if array.dtype.kind != "f" or not isinstance(values, list | tuple):
        return array
    if not (np.abs(array) >= LARGEST_WHOLE).any():
        return array
    objects = np.asarray(values, dtype=object)
    return array if all(map(is_exact, objects.ravel().tolist())) else objects


def _plain(values: NDArray[Any], argument: str) -> NDArray[Any]:
    """Return objects as plain values: NumPy's scalars, and what is derived from text or numbers.

    They are compared, sorted, and written as JSON; `str` of a member of an Enum is its name.
    """
    kinds = kinds_of(values.tolist())
    exact = any(issubclass(kind, Decimal | Fraction | np.longdouble) for kind in kinds)
    if exact and all(map(is_number_type, kinds)):
        return distinct_numbers(values, argument)
    if any(issubclass(kind, str | int | float | np.generic) for kind in kinds - _PLAIN):
        values = values.copy()
        values[:] = [plain_value(value) for value in values.tolist()]
    return values


def as_table(data: Any, argument: str) -> NDArray[Any]:
    """Return a list or array as a two-dimensional array, its values unchanged; 1d is one column.

    >>> as_table([1, "a"], "sensitive_features").tolist()
    [[1], ['a']]
    """
    data = unmasked(data)
    try:
        array = data if isinstance(data, np.ndarray) else np.asarray(data, dtype=object)
    except ValueError:
        raise _uneven(argument) from None
    if array.ndim not in (1, 2):
        raise ArgumentError(argument, f"must have one or two dimensions; got shape {array.shape}.")
    if array.ndim == 2:
        return array
    # NumPy makes a 1d array of lists from rows that differ in length.
    if any(isinstance(row, list | tuple | np.ndarray) for row in array.tolist()):
        raise _uneven(argument)
    return array[:, None]


def _uneven(argument: str) -> ValueError:
    """Return the error for rows that differ in length."""
    return ArgumentError(
        argument,
        "has rows that differ in length, or mixes lists and values; pass rows of the "
        "same length, or a mapping from names to columns.",
    )


def _unreadable(values: Any, argument: str, error: Exception) -> TypeError:
    """Return the error for a type that NumPy can't read, with the first line of its reason."""
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    kind = f"{type(values).__module__.partition('.')[0]}.{type(values).__name__}"
    return ArgumentError(
        argument,
        f"is of type {kind} and can't be read: {reason}. Pass a NumPy array, a Series or a list.",
    )
