"""Tables that have types of their own: Parquet, JSON lines and the first sheet of a workbook."""

import io
import math
import shlex
import warnings
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gerrymend._runtime.extras import need
from gerrymend.cli.file_contents import Source
from gerrymend.cli.written_numbers import check_integers, check_texts
from gerrymend.inputs.validation import same_name
from gerrymend.reporting.sheets import fill

if TYPE_CHECKING:
    import polars as pl

# Rows of a sheet, its types beside text, and the whole numbers of which it keeps each digit.
_MOST_ROWS = 1_048_576
_KINDS = (bool, int, float, str, date, datetime, time)
_LARGEST_IN_SHEET = 10**15


def read_sheet(
    path: Path, source: Source, missing: Sequence[str] = (), texts: Sequence[str] = ()
) -> "pl.LazyFrame":
    """Return the first sheet of an xlsx workbook; where there are others, say which was read.

    The first line has the names. A column of several types is text, as in a CSV file. Raises a
    ValueError for a name that comes twice, and where a text reads as a value of another type that
    is beside it, unless the column is one of `texts`. Texts in `missing` are no values.
    """
    import polars as pl

    openpyxl = need("openpyxl", "Reading xlsx needs")
    # Opened here, so that it is closed where openpyxl fails.
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            sheet, *others = book.worksheets
            header, *rows = [*sheet.iter_rows(values_only=True)] or [()]
        except Exception as error:  # of zipfile, zlib, XML or openpyxl: by which part is broken
            raise ValueError(
                f"FILE {path} can't be read as a workbook: {error}. Save it as xlsx again."
            ) from None
    if others:
        warnings.warn(
            f"FILE {path} has {len(others) + 1} sheets; the first, {sheet.title!r}, was read.",
            UserWarning,
            stacklevel=2,
        )
    filled = [row for row in rows if any(value is not None for value in row)]
    # Columns without a name are left-overs of formatting.
    named = [(str(name), j) for j, name in enumerate(header) if name is not None]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise same_name(f"FILE {path}", names)
    columns = {name: [row[j] for row in filled] for name, j in named}
    for name in columns.keys() - set(texts):
        _check_told_apart(path, name, [one for one in columns[name] if one not in missing])
    return pl.LazyFrame([_series(path, name, values) for name, values in columns.items()])


def as_sheet(path: Path, frame: "pl.DataFrame") -> bytes:
    """Return a workbook with a frame as its sheet; texts that look like formulas are text there.

    Raises a ValueError for more rows than a sheet has.
    """
    if len(frame) >= _MOST_ROWS:
        raise ValueError(
            f"{path} would have {len(frame):,} rows, and a sheet has no more than "
            f"{_MOST_ROWS - 1:,} below its names; name a .csv or .parquet file."
        )
    openpyxl = need("openpyxl", "Writing xlsx needs")
    book = openpyxl.Workbook()
    fill(book.active, [frame.columns, *([_cell(value) for value in row] for row in frame.rows())])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _cell(value: Any) -> Any:
    """Return a value as a sheet holds it: text where that has no such type, or too few digits."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, int) and abs(value) > _LARGEST_IN_SHEET:
        return str(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.isoformat()
    return value if value is None or isinstance(value, _KINDS) else str(value)


def _check_told_apart(path: Path, name: str, values: list[Any]) -> None:
    """Raise a ValueError where a text reads as a value of another type, as "3" does beside 3."""
    others = {_text(value) for value in values if value is not None and not isinstance(value, str)}
    alike = sorted(others & {value for value in values if isinstance(value, str)})
    if alike:
        raise ValueError(
            f"Column {name!r} of FILE {path} has {alike[0]} both as text and as a value of another "
            "type, such as a number: they would be merged. Give its cells one type, or take all as "
            f"text: --categorical {shlex.quote(name)}."
        )


def _series(path: Path, name: str, values: list[Any]) -> "pl.Series":
    """Return the values of one type as they are, and of several types as text."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 or kinds <= {int, float}:
        check_integers(path, name, values, beside_floats=float in kinds)
        return pl.Series(name, values, strict=False)
    return pl.Series(name, [None if value is None else _text(value) for value in values])


def _text(value: Any) -> str:
    """Return a cell as a CSV file would have it: 34.0 is 34."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def retyped(
    path: Path,
    frame: "pl.LazyFrame",
    missing: Sequence[str],
    decimal_comma: bool,
    texts: Sequence[str],
) -> "pl.LazyFrame":
    """Return the frame with `missing` texts as null, and numbers that were text as numbers.

    Columns of `texts` become text if they are whole numbers: codes that a model knows as text.
    """
    import polars as pl

    schema = frame.collect_schema()
    codes = [name for name in texts if name in schema and schema[name].is_integer()]
    frame = frame.with_columns(pl.col(codes).cast(pl.String))
    strings = [name for name, dtype in schema.items() if dtype == pl.String and name not in texts]
    if not strings or not (missing or decimal_comma):
        return frame
    table = frame.collect()
    for name in strings:
        told = table[name].replace([*missing], None) if missing else table[name]
        plain = told.str.replace_all(",", ".", literal=True) if decimal_comma else told
        if plain.null_count() > table[name].null_count() or decimal_comma:
            table = table.with_columns(_as_numbers(path, told, plain))
    return table.lazy()


def _as_numbers(path: Path, told: "pl.Series", plain: "pl.Series") -> "pl.Series":
    """Return `plain` as whole numbers or floats if it all is such, and `told` otherwise."""
    import polars as pl

    for dtype in (pl.Int64, pl.Int128, pl.Float64):
        numbers = plain.cast(dtype, strict=False)
        if numbers.null_count() == plain.null_count():
            if dtype == pl.Float64:
                check_texts(path, plain.to_frame().lazy())
            return numbers
    return told
