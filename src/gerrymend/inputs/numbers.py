"""Numbers of any type as float64: exact where rows are told apart by them, and never guessed."""

import math
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array

# Every whole number up to this size has a float64 of its own.
LARGEST_WHOLE = 2**53
# Numbers that vary by less than this part of their size are told from a constant by no search.
_LEAST_SPREAD = 1e-11
# Squares of numbers up to this size, summed over any number of rows, are finite.
LARGEST = 1e100


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NaT, masked, or pandas' NA, which can't be compared.

    >>> [is_missing(value) for value in (None, float("nan"), Decimal("NaN"), np.ma.masked, 0, "")]
    [True, True, True, True, False, False]
    """
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def is_number_type(kind: type) -> bool:
    """Tell whether values of a type are real numbers; a boolean is none.

    >>> [is_number_type(kind) for kind in (int, np.float32, Decimal, bool, complex, str)]
    [True, True, True, False, False, False]
    """
    # NumPy has durations among its integers.
    no_number = bool | np.bool_ | np.timedelta64
    return issubclass(kind, Real | Decimal) and not issubclass(kind, no_number)


def kinds_of(values: Iterable[Any]) -> set[type]:
    """Collect the types of the values that are not missing."""
    values = list(values)
    kinds = set(map(type, values))
    if len(kinds) > 1 or not all(kind in (str, bool, int) for kind in kinds):
        kinds = {type(value) for value in values if not is_missing(value)}
    return kinds


def short(value: Any) -> str:
    """Return a value as code, cut off where it is long.

    >>> short("a"), len(short(10**400))
    ("'a'", 78)
    """
    try:
        shown = repr(value)
    except ValueError:  # a whole number of more digits than Python will write
        return f"a {type(value).__name__} of many digits"
    return shown if len(shown) <= 80 else f"{shown[:77]}…"


def missing_as_none(values: list[Any]) -> list[Any]:
    """Return the values with None for each that is missing.

    >>> missing_as_none(["a", float("nan"), Decimal("sNaN")])
    ['a', None, None]
    """
    if set(map(type, values)) <= {str, bool, int, type(None)}:
        return values
    return [None if is_missing(value) else value for value in values]


def as_float(value: Any) -> float:
    """Return the nearest float64 of a real number; NaN of a missing one, infinity of a huge one.

    >>> as_float(Decimal("0.1")), as_float(-(10**400)), as_float(None)
    (0.1, -inf, nan)
    """
    if is_missing(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (ValueError, InvalidOperation):  # a signalling NaN
        return math.nan


def is_exact(value: Any) -> bool:
    """Tell whether a number is no whole number that float64 lacks.

    >>> is_exact(2**53), is_exact(2**53 + 1), is_exact(Decimal("0.1"))
    (True, False, True)
    """
    return not isinstance(value, Integral) or as_float(value) == value


def as_numbers(
    values: NDArray[Any], argument: str, because: str = "", what: str = "numbers"
) -> Array:
    """Return real numbers or booleans as float64; text, dates and complex numbers are refused.

    A number that float64 lacks is rounded to the nearest: this is for amounts, such as weights.

    >>> as_numbers(np.array([Decimal("0.5"), 1], dtype=object), "sample_weight").tolist()
    [0.5, 1.0]
    >>> as_numbers(np.array(["0.5"]), "sample_weight")
    Traceback (most recent call last):
    TypeError: sample_weight must be numbers; got values of type str.
    """
    if values.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            return values.astype(np.float64)
    listed = values.tolist()
    foreign = {
        kind
        for kind in kinds_of(listed)
        if not (is_number_type(kind) or issubclass(kind, bool | np.bool_))
    }
    if foreign or values.dtype.kind != "O":
        shown = ", ".join(sorted(kind.__name__ for kind in foreign)) or str(values.dtype)
        where = f" where {because}" if because else ""
        raise TypeError(f"{argument} must be {what}{where}; got values of type {shown}.")
    return np.fromiter(map(as_float, listed), dtype=np.float64, count=len(listed))


def at_least(scores: NDArray[Any], cut: float, argument: str) -> NDArray[np.bool_]:
    """Compare scores with a cut; whole numbers exactly, as x ≥ c is x ≥ ⌈c⌉ for them.

    >>> at_least(np.array([2**53 + 3, 2**53 + 4]), 2.0**53 + 4, "y_pred").tolist()
    [False, True]
    """
    if scores.dtype.kind in "iu":
        return np.asarray(scores >= math.ceil(cut))
    return as_numbers(scores, argument, "threshold is given") >= cut


def distinct_numbers(values: NDArray[Any], where: str) -> Array:
    """Return numbers as float64, of which no two that differ become one.

    A whole number must be a float64, so that no other row, now or later, can be merged with it.
    Decimals, fractions and long doubles are rounded, and refused where two become the same.

    >>> distinct_numbers(np.array([Decimal("0.1"), 2], dtype=object), "age").tolist()
    [0.1, 2.0]
    >>> distinct_numbers(np.array([2**53, 2**53 + 1]), "id")
    Traceback (most recent call last):
    ValueError: id has whole numbers that float64 does not hold, such as 9007199254740993: they \
would be merged with their neighbours. Subtract or divide by a constant if they are amounts, or \
turn them into strings if they are codes.
    """
    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize <= 8:
        return values.astype(np.float64)
    if kind in "iu":
        check_whole_numbers(values, where)
        return values.astype(np.float64)
    listed = missing_as_none(values.tolist() if kind == "O" else list(values))
    distinct = set(listed) - {None}
    check_whole_numbers(np.array(list(distinct), dtype=object), where)
    by_float: dict[float, Any] = {}
    for value in distinct:
        other = by_float.setdefault(as_float(value), value)
        if other != value:
            raise ValueError(
                f"{where} has numbers that float64 can't tell apart, such as "
                f"{min(value, other)!r} and {max(value, other)!r}. Round them to 15 digits, or "
                "turn them into strings."
            )
    return np.fromiter(map(as_float, listed), dtype=np.float64, count=len(listed))


def series_numbers(series: "nw.Series[Any]", where: str) -> Array:
    """Return a Series of numbers, none of them missing, as `distinct_numbers` does."""
    dtype = series.dtype
    if dtype.is_integer() and not are_small(series):  # Arrow would not even cast them
        return distinct_numbers(np.array(series.to_list(), dtype=object), where)
    numbers: Array = series.cast(nw.Float64).to_numpy()
    if isinstance(dtype, nw.Decimal) and series.n_unique() != len(np.unique(numbers)):
        return distinct_numbers(np.array(series.to_list(), dtype=object), where)
    return numbers


def are_small(whole: "nw.Series[Any]") -> bool:
    """Tell whether float64 holds all whole numbers of this size."""
    extremes = [end for end in (whole.min(), whole.max()) if end is not None]
    return all(abs(int(end)) <= LARGEST_WHOLE for end in extremes)


def check_finite(values: Array, where: str, most: float = LARGEST) -> None:
    """Refuse infinite values, and those whose squares may be."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if math.isinf(largest):
        raise ValueError(f"{where} has infinite values; replace them by a finite number.")
    if largest > most:
        raise ValueError(
            f"{where} has values of size {largest:g}, and sums of squares would overflow above "
            f"{most:g}; measure it in larger units."
        )


def check_spread(values: Array, where: str) -> None:
    """Refuse numbers that vary, but by so little beside their size that rounding would hide it.

    >>> check_spread(np.array([1e12, 1e12 + 1]), "when")
    Traceback (most recent call last):
    ValueError: when goes from 1000000000000 to 1000000000001: beside its size it varies too \
little to compute with. Subtract its smallest value.
    """
    low = float(values.min())
    high = float(values.max())
    if 0 < high - low < _LEAST_SPREAD * max(abs(low), abs(high)):
        raise ValueError(
            f"{where} goes from {low:.17g} to {high:.17g}: beside its size it varies too little "
            "to compute with. Subtract its smallest value."
        )


def check_whole_numbers(values: NDArray[Any], where: str) -> None:
    """Refuse whole numbers that float64 lacks; of NumPy's types few are looked at one by one."""
    if values.dtype.kind in "iu" and len(values):
        small = max(-int(values.min()), int(values.max())) <= LARGEST_WHOLE
        values = values[:0] if small else np.unique(values)
    for value in values.tolist():
        if not is_exact(value):
            raise ValueError(
                f"{where} has whole numbers that float64 does not hold, such as {short(value)}: "
                "they would be merged with their neighbours. Subtract or divide by a constant if "
                "they are amounts, or turn them into strings if they are codes."
            )
