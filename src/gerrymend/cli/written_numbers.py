"""Numbers as they are written in files: those that float64 would merge with others are refused.

Engines read them as float64, or cast a column of whole numbers and fractions to it, in silence.
"""

import io
import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gerrymend.cli.file_contents import Source
from gerrymend.inputs.held_numbers import is_lost, number_of
from gerrymend.inputs.numbers import LARGEST_WHOLE, as_float

if TYPE_CHECKING:
    import polars as pl

# What a number must have to be lost: 16 digits in a row, as 2⁵³ has, or an exponent of three.
_FAR = re.compile(rb"\d{16}|[eE][+\-]?\d{3}")
# Whole numbers below this are read with all their digits where a column has no others.
_BEYOND_INT128 = 2**127
_IN_TEXT = "write it without decimals; --categorical takes codes as text"
_IN_TYPES = "write the column as text, if it has codes"


def check_texts(path: Path, texts: "pl.LazyFrame", remedy: str = _IN_TEXT) -> None:
    """Raise a ValueError for a number that float64 does not hold as it is written.

    All columns of `texts` are text, with decimal points.
    """
    import polars as pl

    number = pl.all().cast(pl.Float64, strict=False)
    # 0.0e-7 is 0; with another digit before the exponent it was not.
    vanished = (number == 0) & pl.all().str.contains(r"^[^eE]*[1-9]")
    suspects = pl.all().filter((number.abs() >= LARGEST_WHOLE) | vanished).unique().sort()
    for column in texts.select(suspects.implode()).collect():
        for text in column[0].to_list():
            if not isinstance(exact := number_of(text), float):
                raise _lost(path, column.name, text, exact, remedy)


def check_lines(path: Path, source: Source) -> dict[str, int]:
    """Return a whole number beyond float64 for each column of JSON lines that has one.

    They are lost where the column is read as floats. Raises a ValueError for a number that is lost
    in any column.
    """
    whole: dict[str, int] = {}
    for line in filter(_FAR.search, _lines(source)):
        with suppress(json.JSONDecodeError):  # which is told by who reads all of the file
            for name, value in _members(line):
                if isinstance(value, Decimal):
                    raise _lost(path, name, str(value), value, _IN_TYPES)
                if number := check_integers(path, name, [value]):
                    whole[name] = number
    return whole


def check_integers(
    path: Path, name: str, values: Iterable[Any], *, beside_floats: bool = False
) -> int:
    """Return a whole number among the values that float64 does not hold, or 0.

    Raises a ValueError for one of more than 128 bits, and for any `beside_floats`.
    """
    beyond = (one for one in values if isinstance(one, int) and is_lost(one))
    worst = max(beyond, key=abs, default=0)
    if worst and (beside_floats or abs(worst) >= _BEYOND_INT128):
        raise _lost(path, name, str(worst), worst, _IN_TYPES)
    return worst


def _lines(source: Source) -> Iterator[bytes]:
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        yield from file


def _members(line: bytes) -> Iterable[tuple[str, Any]]:
    """Return names and values of an object in JSON; a number with a point is a Decimal if lost."""

    def exact(text: str) -> Any:
        number = number_of(text)
        return number if isinstance(number, float) else Decimal(text)

    row = json.loads(line.removeprefix(b"\xef\xbb\xbf"), parse_float=exact)
    return row.items() if isinstance(row, dict) else ()


def _lost(path: Path, name: str, text: str, exact: Any, remedy: str) -> ValueError:
    """Return the error for a number that would be another."""
    number = as_float(exact)
    near = number and math.isfinite(number)
    shown = text if len(text) <= 80 else f"{text[:77]}…"
    return ValueError(
        f"Column {name!r} of FILE {path} has {shown}, a number that float64 does not hold: it "
        f"would be merged with {number:.0f}. "
        f"{'Subtract a constant' if near else 'Change the unit'}, or {remedy}."
    )
