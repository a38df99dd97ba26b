"""Conditions on attributes as users write them, in plain data that tells an interval from a list.

A condition is a value, a list of values, or a pair (low, high) for low ≤ x < high, with None for an
open end.
"""

import math
from typing import Any

from gerrymend.inputs.categories import as_category, plain_type
from gerrymend.inputs.numbers import as_float, is_missing


def plain_condition(wanted: Any) -> dict[str, Any]:
    """Return a condition as a dict that tells an interval from a list of values.

    JSON writes a tuple and a list alike, so the difference must be in the keys.

    >>> plain_condition((60, None)), plain_condition("M")
    ({'low': 60.0, 'high': None}, {'values': ['M']})
    """
    if isinstance(wanted, tuple):
        ends = (None if end is None else as_float(end) for end in wanted)
        low, high = (None if end is None or math.isinf(end) else end for end in ends)
        return {"low": low, "high": high}
    return {"values": plain_values(wanted)}


def plain_values(wanted: Any) -> list[Any]:
    """Return the values of a condition as plain data, a set of them in the order of their text."""
    listed = sorted(wanted, key=str) if isinstance(wanted, list | set | frozenset) else [wanted]
    return [_value(value) for value in listed]


def _value(wanted: Any) -> Any:
    """Return a value in the form that columns and JSON use, None for a missing one."""
    if is_missing(wanted):
        return None
    value = as_float(wanted) if plain_type(type(wanted)) is None else as_category(wanted)
    return value + 0.0 if isinstance(value, float) else value  # −0 and 0 are the same value
