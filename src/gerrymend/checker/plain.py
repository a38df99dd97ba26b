"""Plain Python values of what users pass: any container, and any kind of number."""

from collections.abc import Iterable
from decimal import Decimal
from math import inf
from numbers import Real
from typing import Any

import narwhals as nw


def listed_values(values: Any, argument: str) -> list[Any]:
    """Return plain Python values, None for a missing one."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
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
