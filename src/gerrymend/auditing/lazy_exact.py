"""Checks, by an engine, that float64 keeps the numbers of a column apart.

In memory `inputs.numbers` looks at every value. Here an engine is asked for the extremes, and for
more only if these are too large.
"""

from decimal import Decimal
from typing import Any

import narwhals as nw

from gerrymend._runtime.errors import Subject
from gerrymend.inputs.numbers import (
    LARGEST_WHOLE,
    check_whole_numbers,
    distinct_numbers,
    objects_of,
)

# Decimals of at most so many digits are told apart by float64.
_SURE_DIGITS = 15


def check_exact(frame: "nw.LazyFrame[Any]", name: str, where: Subject) -> None:
    """Raise ArgumentError if float64 would merge whole numbers, or decimals, of a column.

    Columns of other types pass. `where` is what the error is about.

    >>> import polars as pl
    >>> frame = nw.from_native(pl.LazyFrame({"x": [2**53 + 2, 2**53 + 1, 2**54]}))
    >>> check_exact(frame, "x", "y_pred")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: y_pred has whole numbers that float64 does not hold, \
such as 9007199254740993: they \
would be merged with their neighbours. Subtract or divide by a constant if they are amounts, or \
turn them into strings if they are codes.
    """
    dtype = frame.collect_schema()[name]
    if not (dtype.is_integer() or isinstance(dtype, nw.Decimal)):
        return
    column = nw.col(name)
    ends = frame.select(low=column.min(), high=column.max()).collect()
    low, high = (ends[end].to_list()[0] for end in ("low", "high"))
    if low is None:  # there are no values
        return
    check_whole_numbers(objects_of([low, high]), where)
    rows = frame.select(exact=column)
    if dtype.is_integer():
        _check_whole(rows, int(low), int(high), where)
    elif max(len(Decimal(end).as_tuple().digits) for end in (low, high)) > _SURE_DIGITS:
        _check_decimals(rows, where)


def _check_whole(rows: "nw.LazyFrame[Any]", low: int, high: int, where: Subject) -> None:
    """Raise ArgumentError if a whole number between the extremes is no float64.

    Beyond 2⁵³ float64 has every second whole number, beyond 2⁵⁴ every fourth, and so on.
    """
    exact = nw.col("exact")
    rounded = None
    beyond = LARGEST_WHOLE
    step = 2
    while beyond < max(high, -low):
        # Only where it is exceeded: an unsigned type has no numbers below 0 to compare with.
        far = [exact > beyond] * (high > beyond) + [exact < -beyond] * (-low > beyond)
        for side in far:
            lost = side & (exact % step != 0)
            rounded = lost if rounded is None else rounded | lost
        beyond *= 2
        step *= 2
    if rounded is not None:
        found = rows.filter(rounded).head(1).collect()["exact"].to_list()
        check_whole_numbers(objects_of(map(int, found)), where)


def _check_decimals(rows: "nw.LazyFrame[Any]", where: Subject) -> None:
    """Raise ArgumentError if two decimals have the same float64."""
    exact = nw.col("exact")
    pairs = rows.with_columns(rounded=exact.cast(nw.Float64)).group_by("rounded")
    ends = pairs.agg(exact.min().alias("low"), exact.max().alias("high"))
    found = ends.filter(nw.col("low") < nw.col("high")).head(1).collect()
    merged = [*found["low"].to_list(), *found["high"].to_list()]
    distinct_numbers(objects_of(merged), where)
