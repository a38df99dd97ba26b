"""Numbers as named ranges of a protected attribute, with those that are missing as one more.

The new column's name says that it has ranges, and its values say which.
"""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from gerrymend.inputs.held_numbers import number_of

if TYPE_CHECKING:
    import polars as pl


def read_ranges(given: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the cuts of each column as they are written, with their numbers.

    Raises a ValueError for a text that is not such as "age=30,50".

    >>> read_ranges(["age=30,50", "income=1e4"])
    {'age': {'30': 30.0, '50': 50.0}, 'income': {'1e4': 10000.0}}
    """
    found = {}
    for text in given:
        column, _, cuts = text.rpartition("=")
        try:
            numbers = {cut.strip(): number_of(cut) for cut in cuts.split(",")}
        except ValueError:
            numbers = {}
        for cut, number in numbers.items():
            if not isinstance(number, float):
                kind = "whole number" if isinstance(number, int) else "number"
                raise ValueError(
                    f"--ranges {text!r} cuts at {cut}, a {kind} that float64 does not hold: it "
                    f"would cut at {float(number):.17g}. Name that, or subtract a constant."
                )
        # Whether they rise, between infinities, also tells that none is NaN.
        ends = [-math.inf, *numbers.values(), math.inf]
        if not column or not numbers or not all(low < high for low, high in pairwise(ends)):
            raise ValueError(
                f"--ranges must be a column and where it is cut, in rising order, such as "
                f"age=30,50; got {text!r}."
            )
        found[column.strip()] = numbers
    return found


def with_ranges(
    frame: "pl.LazyFrame", protected: Sequence[str], ranges: Mapping[str, Mapping[str, float]]
) -> "tuple[pl.LazyFrame, list[str]]":
    """Return the frame with a range for each number to cut, and the protected columns.

    Parameters
    ----------
    frame : polars.LazyFrame
        The file's columns, all of which are kept; "age (range)" is a new one beside "age".
    protected : sequence of str
        The protected columns as the user named them.
    ranges : mapping of str to mapping of str to float
        Cuts by column, as `read_ranges` returns them. A value that is a cut is in the range above.

    Raises
    ------
    ValueError
        For a column that is not protected, or has no numbers.
    """
    import polars as pl

    schema = frame.collect_schema()
    names = [f"{name} (range)" if name in ranges else name for name in protected]
    for name, cuts in ranges.items():
        if name not in protected:
            raise ValueError(f"--ranges names {name!r}, which is not among --protected.")
        if not schema[name].is_numeric():
            raise ValueError(
                f"--ranges names {name!r}, which has no numbers; --missing or --decimal may tell "
                "how they are written."
            )
        number = pl.col(name)
        if schema[name].is_float():
            number = number.fill_nan(None)
        elif schema[name].is_integer():
            number = number.cast(pl.Int128)
        texts = list(cuts)
        labels = [f"below {texts[0]}"]
        labels += [f"{low} to below {high}" for low, high in pairwise(texts)]
        told = pl.lit(f"{texts[-1]} or more")
        for text, label in zip(reversed(texts), reversed(labels), strict=True):
            told = (
                pl.when(number < _cut(cuts[text], schema[name])).then(pl.lit(label)).otherwise(told)
            )
        told = pl.when(number.is_not_null()).then(told)
        frame = frame.with_columns(told.alias(f"{name} (range)"))
    return frame, names


def _cut(cut: float, dtype: "pl.DataType") -> "pl.Expr":
    """Return a cut in the type of what it cuts.

    As floats some numbers beyond 2⁵³ would be equal to it. Those of d decimal places are below c
    where they are below ⌈c·10ᵈ⌉/10ᵈ.
    """
    import polars as pl

    places = dtype.scale if isinstance(dtype, pl.Decimal) else 0
    scaled = math.ceil(Fraction(cut) * 10**places)
    # Nothing of 38 digits is as large as cuts that are left as floats.
    if dtype.is_float() or abs(scaled) >= 10**38:
        return pl.lit(cut)
    if dtype.is_integer():
        return pl.lit(scaled, dtype=pl.Int128)
    return pl.lit(Decimal(scaled).scaleb(-places))
