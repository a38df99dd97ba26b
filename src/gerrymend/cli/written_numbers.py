"""Values as they are written in files: those that engines would merge with others are refused.

Engines read numbers as float64, or cast a column of whole numbers and fractions to it, in silence.
"""

import io
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from gerrymend.cli.file_contents import Source
from gerrymend.inputs.held_numbers import is_lost, number_of
from gerrymend.inputs.numbers import LARGEST_WHOLE, as_float

if TYPE_CHECKING:
    import polars as pl

# What a number must have to be lost: 16 digits in a row, as 2⁵³ has, or an exponent of three.
_FAR = re.compile(rb"\d{16}|[eE][+\-]?\d{3}")
# Whole numbers below this are read with all their digits where a column has no others.
_BEYOND_INT128 = 2**127
_AS_CODES = "take codes as text: --categorical"
_IN_TEXT = "write it without decimals; --categorical takes codes as text"
# What JSON's values are called; null is none.
_KINDS = {
    bool: "booleans",
    int: "numbers",
    float: "numbers",
    str: "text",
    list: "lists",
    dict: "objects",
    NoneType: "",
}
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


def check_whole(path: Path, texts: "pl.LazyFrame") -> None:
    """Raise a ValueError for a whole number of more than 128 bits; all columns are text."""
    import polars as pl

    lost = pl.all().cast(pl.Int128, strict=False).is_null() & pl.all().is_not_null()
    for column in texts.select(pl.all().filter(lost).head(1).implode()).collect():
        for text in column[0].to_list():
            raise _lost(path, column.name, text, number_of(text), _AS_CODES)


class _Lines(NamedTuple):
    """Hold what was seen in JSON lines, by column.

    `whole` has a whole number beyond float64, where there is one: they are lost where the column is
    read as floats. `mixed` are columns whose values are of several types.
    """

    whole: dict[str, int]
    mixed: list[str]


def check_lines(
    path: Path, source: Source, missing: Sequence[str] = (), texts: Sequence[str] = ()
) -> _Lines:
    """Return what was seen in JSON lines.

    Raises a ValueError for a number that is lost in any column, for a column of several types that
    is none of `texts`, and for a name that a line has twice. Texts in `missing` are no values.
    """
    plain, exact = (_decoder(path, parse_float) for parse_float in (float, _float_or_exact))
    whole: dict[str, int] = {}
    kinds: dict[str, set[type]] = {}
    for line in _lines(source):
        far = _FAR.search(line) is not None
        with suppress(json.JSONDecodeError):  # which is told by who reads all of the file
            row = (exact if far else plain).decode(line.removeprefix(b"\xef\xbb\xbf").decode())
            for name, value in row.items() if isinstance(row, dict) else ():
                if isinstance(value, float) and not math.isfinite(value):
                    raise ValueError(
                        f"Column {name!r} of FILE {path} has {value}, which is no JSON. Write null "
                        "where a value is missing; replace what is infinite by a number."
                    )
                if isinstance(value, Decimal):
                    raise _lost(path, name, str(value), value, _IN_TYPES)
                if far and (number := check_integers(path, name, [value])):
                    whole[name] = number
                if not (isinstance(value, str) and value in missing):
                    kinds.setdefault(name, set()).add(type(value))
    words = {name: sorted({_KINDS[kind] for kind in held} - {""}) for name, held in kinds.items()}
    mixed = [name for name, several in words.items() if len(several) > 1]
    for name in mixed:
        if name not in texts:
            *others, last = words[name]
            raise ValueError(
                f"Column {name!r} of FILE {path} mixes {', '.join(others)} and {last}; those that "
                f'read the same, such as 3 and "3", would be merged. Write all of them as one '
                f"type, or take them as text: --categorical {shlex.quote(name)}."
            )
    return _Lines(whole, mixed)


def _decoder(path: Path, parse_float: Callable[[str], Any]) -> json.JSONDecoder:
    """Return what reads a line, and raises a ValueError for a name that it has twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        if len(row) < len(pairs):
            twice = next(name for name, count in Counter(n for n, _ in pairs).items() if count > 1)
            raise ValueError(
                f"FILE {path} has {twice!r} twice in one line; only one value would be read. Write "
                "each name once."
            )
        return row

    return json.JSONDecoder(object_pairs_hook=once, parse_float=parse_float)


def _float_or_exact(text: str) -> Any:
    """Return a number with a point or an exponent, as a Decimal if it is lost in float64."""
    number = number_of(text)
    return number if isinstance(number, float) else Decimal(text)


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
