"""Conversion of numbers of any type to float64, exact wherever rows are compared by them."""

import math
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from numbers import Integral, Rational, Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError, Subject
from gerrymend.inputs.text_numbers import DECIMAL_COMMA

# Every whole number up to this size is a float64.
LARGEST_WHOLE = 2**53
# Relative to their size, numbers must vary by at least this much, or no search could tell them from
# a constant: float64 has 16 digits, and centring and least squares lose some of them.
_LEAST_SPREAD = 1e-11
# Squares of numbers up to this size, summed over any number of rows, are finite.
LARGEST = 1e100


def is_missing(value: Any) -> bool:
    """Return True for None, NaN, NaT, a masked value, and NA of pandas, which can't be compared.

    >>> [is_missing(value) for value in (None, float("nan"), Decimal("NaN"), np.ma.masked, 0, "")]
    [True, True, True, True, False, False]
    """
    if value is None or value is np.ma.masked:
        return True
    # Before any comparison: that of a signalling NaN raises.
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value != value)
    # By name, as pandas need not be installed.
    return type(value).__name__ in ("NAType", "NaTType")


def is_number_type(kind: type) -> bool:
    """Return True if values of a type are real numbers; False for booleans and durations.

    >>> [is_number_type(kind) for kind in (int, np.float32, Decimal, bool, complex, str)]
    [True, True, True, False, False, False]
    """
    # Durations are a subclass of NumPy's integers.
    no_number = bool | np.bool_ | np.timedelta64
    return issubclass(kind, Real | Decimal) and not issubclass(kind, no_number)


def kinds_of(values: Iterable[Any]) -> set[type]:
    """Collect the types of the values that are not missing."""
    values = list(values)
    kinds = set(map(type, values))
    # Values of one of these types are never missing: no need to look at each.
    if len(kinds) > 1 or not all(kind in (str, bool, int) for kind in kinds):
        kinds = {type(value) for value in values if not is_missing(value)}
    return kinds


def short(value: Any) -> str:
    """Return the repr of a value for a message, truncated beyond 80 characters.

    >>> short("a"), len(short(10**400))
    ("'a'", 78)
    """
    try:
        shown = repr(value)
    except ValueError:  # a whole number with more digits than Python converts to text
        return f"a {type(value).__name__} of many digits"
    return shown if len(shown) <= 80 else f"{shown[:77]}…"


def plain_value(value: Any) -> Any:
    """Return text, a number or a boolean of any type as Python's own; anything else as it is.

    >>> from enum import IntEnum
    >>> plain_value(np.int8(3)), plain_value(IntEnum("Level", "LOW")(1)), plain_value(b"x")
    (3, 1, b'x')
    """
    # Its item() is itself again.
    if isinstance(value, np.longdouble):
        return float(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str):
        # The text of a subclass as it is: str() of an enumeration may be its name.
        return str.__str__(value)
    for plain in (bool, int, float):  # bool first: it is an int too
        if isinstance(value, plain):
            return plain(value)
    return value


def missing_as_none(values: list[Any]) -> list[Any]:
    """Return the values with None in place of each missing one.

    >>> missing_as_none(["a", float("nan"), Decimal("sNaN")])
    ['a', None, None]
    """
    if set(map(type, values)) <= {str, bool, int, type(None)}:
        return values
    return [None if is_missing(value) else value for value in values]


def as_float(value: Any) -> float:
    """Return the nearest float64 of a real number; NaN if it is missing, ±∞ if it is too large.

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


def is_whole(value: Any) -> bool:
    """Return True for whole numbers of any type.

    >>> is_whole(np.int8(3)), is_whole(Decimal("3.0")), is_whole(Decimal("0.1")), is_whole(3.0)
    (True, True, False, True)
    """
    if isinstance(value, Rational):
        return value.denominator == 1
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    is_float = isinstance(value, float | np.floating)
    return is_float and bool(np.isfinite(value) and value == np.floor(value))


def is_exact(value: Any) -> bool:
    """Return False for a whole number that isn't a float64, and True for all other numbers.

    >>> is_exact(2**53), is_exact(2**53 + 1), is_exact(Decimal("0.1"))
    (True, False, True)
    >>> is_exact(np.int64(2**53 + 1))
    False
    """
    if isinstance(value, float) or not is_whole(value):
        return True
    number = as_float(value)
    # As int: NumPy's numbers would be rounded to be compared with a float.
    return math.isfinite(number) and int(number) == int(value)


def as_numbers(
    values: NDArray[Any], argument: str, because: Argument | None = None, what: str = "numbers"
) -> Array:
    """Return real numbers or booleans as float64; raise TypeError for text, dates, complex numbers.

    A number that isn't a float64 is rounded to the nearest. That is right for amounts, such as
    weights; values that tell rows apart go through `distinct_numbers`. Raises ValueError for a
    one that would be infinite, or 0. `because` and `what` word the first error: "{argument} must
    be {what} where {because} is given".

    >>> as_numbers(np.array([Decimal("0.5"), 1], dtype=object), "sample_weight").tolist()
    [0.5, 1.0]
    >>> as_numbers(np.array(["0.5"]), "sample_weight")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: sample_weight must be numbers; got text. If they \
have a decimal comma, read them with pandas.read_csv(decimal=',').
    """
    if values.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            numbers = values.astype(np.float64)
        _check_held(numbers, values, argument)
        return numbers
    listed = values.tolist()
    foreign = {
        kind
        for kind in kinds_of(listed)
        if not (is_number_type(kind) or issubclass(kind, bool | np.bool_))
    }
    if foreign == {str}:
        raise no_numbers(argument, "text", because, what)
    if foreign or values.dtype.kind != "O":
        shown = ", ".join(sorted(kind.__name__ for kind in foreign)) or str(values.dtype)
        raise no_numbers(argument, f"values of type {shown}", because, what)
    numbers = np.fromiter(map(as_float, listed), dtype=np.float64, count=len(listed))
    _check_held(numbers, values, argument)
    return numbers


def _check_held(numbers: Array, values: NDArray[Any], where: Subject) -> None:
    """Raise ValueError if a number became infinite, or 0, that is not."""
    # Types of up to 64 bits fit into the range of float64; a long double has a larger one.
    if values.dtype.kind != "O" and values.dtype.itemsize <= 8:
        return
    ends = np.flatnonzero(np.isinf(numbers) | (numbers == 0)).tolist()
    # In Python's own float: NumPy's can't be compared with a whole number of 400 digits.
    lost = next((values[i] for i in ends if values[i] != float(numbers[i])), None)
    if lost is not None:
        raise ArgumentError(
            where,
            f"has numbers that float64 does not hold, such as {short(lost)}: they go from 5e-324 "
            "to 1.8e308 in size. Correct them, or give them in another unit.",
        )


def no_numbers(
    argument: str, found: str, because: Argument | None = None, what: str = "numbers"
) -> ArgumentError:
    """Return the error for what isn't numbers; `because` is the argument that asks for them."""
    where: tuple[str | Argument, ...] = () if because is None else (" where ", because, " is given")
    remedy: tuple[str | Argument, ...] = ()
    if found == "text":
        remedy = (" If they have a decimal comma, read them with ", DECIMAL_COMMA, ".")
    return ArgumentError(argument, f"must be {what}", *where, f"; got {found}.", *remedy)


def at_least(scores: NDArray[Any], cut: float, argument: str) -> NDArray[np.bool_]:
    """Return a mask of the scores at or above a cut.

    Whole numbers are compared exactly, without a detour by float64: for them x ≥ c is x ≥ ⌈c⌉.
    The cut may itself be one that isn't a float64.

    >>> at_least(np.array([2**53 + 3, 2**53 + 4]), 2.0**53 + 4, "y_pred").tolist()
    [False, True]
    >>> at_least(np.array([2.0**53, 2.0**53 + 2]), 2**53 + 1, "y_pred").tolist()
    [False, True]
    """
    if scores.dtype.kind in "iu":
        return np.asarray(scores >= math.ceil(cut))
    numbers = as_numbers(scores, argument, because=Argument("threshold"))
    reached = numbers >= float_from(cut)
    if scores.dtype.kind == "O":  # Python compares whole numbers of any size
        for i in np.flatnonzero(np.abs(numbers) >= LARGEST_WHOLE).tolist():
            reached[i] = scores[i] >= cut
    return reached


def float_from(cut: float) -> float:
    """Return the least float64 at or above a number, which may be whole and of any size.

    >>> float_from(0.5), int(float_from(2**53 + 1))
    (0.5, 9007199254740994)
    """
    nearest = as_float(cut)
    return nearest if nearest >= cut else math.nextafter(nearest, math.inf)


def distinct_numbers(values: NDArray[Any], where: Subject) -> Array:
    """Return numbers as float64, such that no two that differ become equal.

    Whole numbers must be float64 exactly, so that no row, now or later, is merged with another.
    Decimals, fractions and long doubles are rounded. Raises ValueError if two become equal.

    >>> distinct_numbers(np.array([Decimal("0.1"), 2], dtype=object), "age").tolist()
    [0.1, 2.0]
    >>> distinct_numbers(np.array([2**53, 2**53 + 1]), "id")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: id has whole numbers that float64 does not hold, \
such as 9007199254740993: they \
would be merged with their neighbours. Subtract or divide by a constant if they are amounts, or \
turn them into strings if they are codes.
    """
    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize <= 8:
        return values.astype(np.float64)
    if kind in "iu":
        check_whole_numbers(values, where)
        return values.astype(np.float64)
    # tolist() would round a long double to Python's float before it is compared.
    listed = missing_as_none(values.tolist() if kind == "O" else list(values))
    numbers = np.fromiter(map(as_float, listed), dtype=np.float64, count=len(listed))
    distinct = set(listed) - {None}
    check_whole_numbers(objects_of(v for v in distinct if isinstance(v, Integral)), where)
    _check_held(numbers, values, where)
    # Two different numbers with one float64 would become one value, and their rows one group.
    by_float: dict[float, Any] = {}
    for value in distinct:
        other = by_float.setdefault(as_float(value), value)
        if other != value:
            raise ArgumentError(
                where,
                f"has numbers that float64 can't tell apart, such as {min(value, other)!r} and "
                f"{max(value, other)!r}. Round them to 15 digits, or turn them into strings.",
            )
    check_whole_numbers(objects_of(distinct), where)  # those of Decimal and fractions too
    return numbers


def objects_of(values: Iterable[Any]) -> NDArray[Any]:
    """Return values as an array of objects, unchanged."""
    return np.array(list(values), dtype=object)


def series_numbers(series: "nw.Series[Any]", where: Subject) -> Array:
    """Apply `distinct_numbers` to a Series without missing values."""
    dtype = series.dtype
    large = dtype.is_integer() and not are_small(series)  # Arrow would not even cast them
    # Arrow's own cast makes 2.3000000000000003 of the decimal 2.3.
    if large or isinstance(dtype, nw.Decimal):
        return distinct_numbers(np.array(series.to_list(), dtype=object), where)
    numbers: Array = series.cast(nw.Float64).to_numpy()
    return numbers


def are_small(whole: "nw.Series[Any]") -> bool:
    """Return True if all values of a whole-number Series are at most 2⁵³ in size."""
    extremes = [end for end in (whole.min(), whole.max()) if end is not None]
    return all(abs(int(end)) <= LARGEST_WHOLE for end in extremes)


def check_finite(values: Array, where: Subject, most: float = LARGEST) -> None:
    """Refuse infinite values, and those whose squares may be."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if math.isinf(largest):
        raise ArgumentError(where, "has infinite values; replace them by a finite number.")
    if largest > most:
        raise ArgumentError(
            where,
            f"has values of size {largest:g}, and sums of squares would overflow above "
            f"{most:g}; measure it in larger units.",
        )


def check_spread(values: Array, where: Subject) -> None:
    """Raise ValueError for numbers that vary, but by too little relative to their size.

    Rounding would hide the variation; a constant is accepted.

    >>> check_spread(np.array([1e12, 1e12 + 1]), "when")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: when goes from 1000000000000 to 1000000000001: \
beside its size it varies too \
little to compute with. Subtract its smallest value.
    """
    low = float(values.min())
    high = float(values.max())
    if 0 < high - low < _LEAST_SPREAD * max(abs(low), abs(high)):
        raise ArgumentError(
            where,
            f"goes from {low:.17g} to {high:.17g}: beside its size it varies too little "
            "to compute with. Subtract its smallest value.",
        )


def check_whole_numbers(values: NDArray[Any], where: Subject) -> None:
    """Raise ValueError for whole numbers that aren't float64."""
    # Of NumPy's types, only arrays with a value beyond 2⁵³ are looked at value by value.
    if values.dtype.kind in "iu" and len(values):
        small = max(-int(values.min()), int(values.max())) <= LARGEST_WHOLE
        values = values[:0] if small else np.unique(values)
    for value in values.tolist():
        if not is_exact(value):
            raise ArgumentError(
                where,
                f"has whole numbers that float64 does not hold, such as {short(value)}: "
                "they would be merged with their neighbours. Subtract or divide by a constant if "
                "they are amounts, or turn them into strings if they are codes.",
            )
