"""Plain Python values of what users pass: any container, and any kind of number."""

from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from math import inf, isfinite
from numbers import Real
from typing import Any

import narwhals as nw


def listed_values(values: Any, argument: str) -> list[Any]:
    """Return plain Python values, None for a missing one; rows that are lists are as they were."""
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        raise TypeError(
            f"{argument} must be an array, Series, frame or list; got {type(values).__name__}."
        )
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        listed = series.to_list()
    else:
        # NumPy's scalars become Python's, whose repr is the decimal that `exact` reads.
        listed = values.tolist() if hasattr(values, "tolist") else list(values)
    if not isinstance(listed, list):  # of an array without dimensions
        raise TypeError(f"{argument} must have one value a row; got {type(values).__name__}.")
    return [plain_value(value) for value in listed]


def plain_value(value: Any) -> Any:
    """Return a value as the audit takes it: any real number as a float, an interval in words."""
    value = value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value
    if isinstance(value, str):  # also a member of an Enum, which prints as its name
        return str.__str__(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if type(value).__name__ == "Interval" and type(value).__module__.split(".")[0] == "pandas":
        return str(value)
    if isinstance(value, Decimal) and value.is_nan():  # a signalling one can't be converted
        return None
    if isinstance(value, Decimal | Real) and not isinstance(value, int | float):
        value = _as_float(value)
    return None if isinstance(value, float) and value != value else value


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # a fraction of large whole numbers
        return inf if number > 0 else -inf


def is_finite(value: Any) -> bool:
    """Return whether a plain value is a number that float64 holds: a whole one may be too large.

    >>> is_finite(0.5), is_finite(10**400), is_finite("1")
    (True, False, False)
    """
    try:
        return not isinstance(value, str) and isfinite(value)
    except OverflowError:
        return False


def shown_value(value: Any) -> str:
    """Return a value for a message, and no more than its beginning.

    >>> shown_value("a" * 100) == "'" + "a" * 79, shown_value(10**9999)
    (True, 'a whole number of many digits')
    """
    try:
        return repr(value)[:80]
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a whole number of many digits"


def types_of(listed: Iterable[Any]) -> dict[str, list[str]]:
    """Return the names of the types of values by kind; a missing value is of none.

    >>> types_of([True, 1, 2.5, "a", None, b"a"])
    {'boolean': ['bool'], 'number': ['int', 'float'], 'text': ['str'], 'other': ['bytes']}
    """
    kinds: dict[str, list[str]] = {}
    for one in dict.fromkeys(map(type, listed)):
        if one is not type(None):
            kinds.setdefault(_kind_of(one), []).append(one.__name__)
    return kinds


def _kind_of(one: type) -> str:
    if issubclass(one, bool):  # which is a whole number, too
        return "boolean"
    if issubclass(one, int | float):
        return "number"
    return "text" if issubclass(one, str) else "other"


def of_one_type(labels: list[Any]) -> list[Any]:
    """Return numbers as floats if one of them is, or else as whole numbers if one of them is.

    >>> of_one_type([0, True]), of_one_type([False, 1.0]), of_one_type(["no", "yes"])
    ([0, 1], [0.0, 1.0], ['no', 'yes'])
    """
    kinds = set(map(type, labels))
    if not kinds <= {bool, int, float}:
        return labels
    widest = next(kind for kind in (float, int, bool) if kind in kinds)
    return [widest(label) for label in labels]
