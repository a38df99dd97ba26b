"""Reading of tables as lazy Polars frames, and writing of predictions.

What is no table is refused with a ValueError in plain words.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gerrymend._runtime.extras import check_installed, need
from gerrymend._runtime.files import write_whole
from gerrymend.cli.csv_checks import types_of, with_points
from gerrymend.cli.file_contents import Source, not_a_table, source_of, start_of
from gerrymend.cli.typed_tables import as_sheet, read_sheet, retyped
from gerrymend.cli.written_numbers import (
    check_integers,
    check_lines,
    check_texts,
    check_whole,
)
from gerrymend.inputs.numbers import LARGEST_WHOLE
from gerrymend.inputs.validation import check_column, same_name

# Tabs and returns too: spreadsheets skip them, and find the formula behind.
_FORMULA = r"^[=+\-@\t\r]"

if TYPE_CHECKING:
    import polars as pl

# What a file can be.
_CSV = "CSV"
_PARQUET = "Parquet"
_WORKBOOK = "xlsx"
_JSON = "JSON lines"

# Tried in this order, where none is given.
SEPARATORS = (",", ";", "\t", "|")


class Reading(NamedTuple):
    """Hold the options that say how a file is read; see `cli.options`.

    `missing` are texts that stand for a missing value, as an empty field always does; columns of
    `categorical` are categories, whatever their values look like.
    """

    separator: str | None = None
    decimal: str = "."
    missing: Sequence[str] = ()
    categorical: Sequence[str] = ()


def open_table(
    path: Path, wanted: Sequence[str], reading: Reading | None = None, texts: Sequence[str] = ()
) -> "pl.LazyFrame":
    """Return a file as a lazy frame, of which only the columns that are used will be read.

    The separator of a CSV file is the first under which its header has all `wanted` columns.
    Columns of `texts` are text even where all their values look like numbers. Raises a ValueError
    for what is no table.
    """
    return _opened(path, source_of(path), wanted, reading or Reading(), texts)


def first_rows(path: Path, reading: Reading, n_rows: int) -> "pl.DataFrame":
    """Return so many rows of a file, its columns with the types that fit these."""
    pl = need("polars", "Reading a file needs")
    source = source_of(path)
    try:
        if _kind_of(source) != _CSV:
            return _typed(path, source, reading.missing, reading.categorical).head(n_rows).collect()
        return pl.read_csv(
            source,
            separator=_separator(path, source, (), reading.separator),
            null_values=list(reading.missing),
            decimal_comma=reading.decimal == ",",
            glob=False,
            infer_schema_length=n_rows,
            n_rows=n_rows,
        )
    except pl.exceptions.PolarsError as error:
        raise unreadable(path, error) from None


def open_as_written(
    path: Path, wanted: Sequence[str], reading: Reading, texts: Sequence[str] = ()
) -> "tuple[pl.LazyFrame, pl.LazyFrame]":
    """Return a file as `open_table` does, and the same rows to be written again.

    In the second all columns of a CSV file are text, as they stand in it: 007 is not 7. Decimal
    commas are points, which is what is written. Standard input is read once for both.
    """
    pl = need("polars", "Reading a file needs")
    source = source_of(path)
    frame = _opened(path, source, wanted, reading, texts)
    if _kind_of(source) != _CSV:
        return frame, frame
    separator = _separator(path, source, wanted, reading.separator)
    written = pl.scan_csv(source, separator=separator, infer_schema=False, glob=False)
    if reading.decimal == ",":
        schema = frame.collect_schema()
        decimals = [name for name, dtype in schema.items() if dtype.is_float()]
        written = written.with_columns(pl.col(decimals).str.replace(",", ".", literal=True))
    return frame, written


def _opened(
    path: Path, source: Source, wanted: Sequence[str], reading: Reading, texts: Sequence[str]
) -> "pl.LazyFrame":
    """Return the contents of a file as a lazy frame, as `open_table` does."""
    pl = need("polars", "Reading a file needs")
    if reading.decimal not in (".", ","):
        raise ValueError(f"--decimal must be . or a comma; got {reading.decimal!r}.")
    texts = [*texts, *reading.categorical]
    try:
        if _kind_of(source) == _CSV:
            frame = _csv(path, source, wanted, reading, texts)
        else:
            frame = _typed(path, source, reading.missing, texts)
            frame = retyped(path, frame, reading.missing, reading.decimal == ",", texts)
        there = frame.collect_schema().names()
        for name in reading.categorical:
            check_column(name, "--categorical", there, str(path))
        codes = pl.col(list(reading.categorical)).cast(pl.String).cast(pl.Categorical)
        return frame.with_columns(codes) if reading.categorical else frame
    except pl.exceptions.PolarsError as error:
        raise unreadable(path, error) from None


def _kind_of(source: Source) -> str:
    """Return what a file is, by its first bytes: text that is no JSON is CSV."""
    start = start_of(source)
    if start.startswith(b"PAR1"):
        return _PARQUET
    if start.startswith(b"PK\x03\x04"):
        return _WORKBOOK
    return _JSON if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else _CSV


def _typed(
    path: Path, source: Source, missing: Sequence[str], texts: Sequence[str]
) -> "pl.LazyFrame":
    """Return Parquet, a workbook or JSON lines, whose columns have types of their own.

    In a workbook or JSON lines, columns of `texts` may have values of several types, which become
    text.
    """
    import polars as pl

    kind = _kind_of(source)
    if kind == _WORKBOOK:
        return read_sheet(path, source, missing, texts)
    if kind == _JSON:
        seen = check_lines(path, source, missing, texts)
        types = dict.fromkeys(seen.mixed, pl.String)
        frame = pl.scan_ndjson(source, infer_schema_length=None, schema_overrides=types)
        for name, dtype in frame.collect_schema().items():
            if name in seen.whole:
                check_integers(path, name, [seen.whole[name]], beside_floats=dtype.is_float())
        return frame
    frame = pl.scan_parquet(source, glob=False)
    frame.collect_schema()  # reads the footer, so that a broken file fails here
    return frame


def _csv(
    path: Path, source: Source, wanted: Sequence[str], reading: Reading, texts: Sequence[str]
) -> "pl.LazyFrame":
    """Return a CSV file; a column has the type that all its values fit."""
    import polars as pl

    how: dict[str, Any] = {
        "separator": _separator(path, source, wanted, reading.separator),
        "null_values": list(reading.missing),
        "decimal_comma": reading.decimal == ",",
        "glob": False,
    }
    # Inferred from the whole file, once: with the schema given, no later query infers it again.
    schema = types_of(path, source, how)
    schema |= {name: pl.String() for name in texts if name in schema}
    frame = pl.scan_csv(source, schema=schema, **how)
    # Polars takes any whole number for one of 128 bits, and fails where it reads it.
    if wide := [name for name, dtype in schema.items() if dtype == pl.Int128]:
        written = pl.scan_csv(source, schema=schema | dict.fromkeys(wide, pl.String()), **how)
        check_whole(path, written.select(pl.col(wide).str.strip_chars()))
    # Only columns with numbers so large, or with zeros, are read again, as text.
    size = pl.col([name for name, dtype in schema.items() if dtype == pl.Float64]).abs()
    far = frame.select(((size >= LARGEST_WHOLE) | (size == 0)).any()).collect()
    names = [column.name for column in far if column[0]]
    if names:
        written = pl.scan_csv(source, schema=schema | dict.fromkeys(names, pl.String()), **how)
        plain = pl.col(names).str.strip_chars().str.replace(reading.decimal, ".", literal=True)
        check_texts(path, written.select(plain))
    return with_points(path, frame, [*texts]) if reading.decimal == "," else frame


def unreadable(path: Path, error: Exception) -> ValueError:
    """Return the error for a file that begins well and can't be read as a table."""
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    return ValueError(f"FILE {path} can't be read as a table: {reason}. Mend or export it again.")


def _separator(path: Path, source: Source, wanted: Sequence[str], given: str | None) -> str:
    """Return the separator under which the header has the wanted columns, and each name once.

    Raises a ValueError for what is no text, and for names that come twice.
    """
    candidates = SEPARATORS if given is None else (_one_byte(given),)
    try:
        headers = {separator: _header(source, separator) for separator in candidates}
    except (UnicodeDecodeError, csv.Error):
        raise not_a_table(path) from None
    # Failing that, the one that makes most columns: the error will list their names.
    best = max(
        candidates,
        key=lambda separator: (set(wanted) <= set(headers[separator]), len(headers[separator])),
    )
    if len(set(headers[best])) < len(headers[best]):
        raise same_name(f"FILE {path}", headers[best])
    return best


def _header(source: Source, separator: str) -> list[str]:
    """Return the names in the first line of a file."""
    opened = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    with io.TextIOWrapper(opened, encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file, delimiter=separator), [])


def _one_byte(separator: str) -> str:
    """Return the separator that --separator names, or raise a ValueError.

    >>> _one_byte("tab"), _one_byte(";")
    ('\\t', ';')
    """
    separator = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
    if len(separator.encode()) != 1:
        raise ValueError(
            f"--separator must be one character, or tab; got {separator!r}. The usual are , ; | "
            "and tab."
        )
    return separator


def check_table_name(path: Path, option: str) -> None:
    """Raise a ValueError unless the name ends as that of a table does, and what it takes is there.

    >>> check_table_name(Path("p.txt"), "--out")
    Traceback (most recent call last):
        ...
    ValueError: --out p.txt must end in .csv, .parquet or .xlsx.
    """
    if path.suffix.lower() not in (".csv", ".parquet", ".xlsx"):
        raise ValueError(f"{option} {path} must end in .csv, .parquet or .xlsx.")
    if path.suffix.lower() == ".xlsx":
        check_installed("openpyxl", f"{option} {path} needs")


def write_table(frame: "pl.DataFrame", path: Path, numbers: Sequence[str] = ()) -> bool:
    """Write CSV, Parquet or xlsx, by the name; return whether texts of a CSV were escaped.

    The file is written whole or not at all. A spreadsheet runs a cell that starts with one of =, +,
    -, @ as a formula; an apostrophe before it makes it text. Numbers are left as they are, and so
    are the columns of `numbers` that are text: −1 is no formula.
    """
    import polars as pl

    content = io.BytesIO()
    if path.suffix.lower() == ".xlsx":
        write_whole(path, as_sheet(path, frame))
        return False
    if not is_text(path):
        frame.write_parquet(content)
        write_whole(path, content.getvalue())
        return False
    names = {name: f"'{name}" for name in frame.columns if re.match(_FORMULA, name)}
    frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    safe = frame.with_columns(_no_formulas(numbers))
    safe.rename(names).write_csv(content)
    write_whole(path, content.getvalue())
    return bool(names) or not safe.equals(frame)


def is_text(path: Path) -> bool:
    """Return whether a table that is written there is CSV, by its name: the others have types.

    >>> is_text(Path("p.csv")), is_text(Path("p.PARQUET")), is_text(Path("p.xlsx"))
    (True, False, False)
    """
    return path.suffix.lower() not in (".parquet", ".xlsx")


def write_again(
    rows: "pl.DataFrame", types: "Mapping[str, pl.DataType]", path: Path, option: str
) -> bool:
    """Write rows of a file that was read; return whether texts of a CSV were escaped.

    `types` are those of the file's columns: in rows that `open_as_written` left as text, numbers
    are no formulas. Raises a ValueError, which names the option, for what CSV can't hold.
    """
    import polars as pl

    texts = (pl.String, pl.Categorical, pl.Enum)
    numbers = [name for name, dtype in types.items() if dtype not in texts]
    try:
        return write_table(rows, path, numbers)
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            f"{option} {path} can't hold all columns of the file: {reason}. Name a .parquet file."
        ) from None


def _no_formulas(numbers: Sequence[str]) -> "pl.Expr":
    """Return an expression that puts an apostrophe before texts that look like formulas."""
    import polars as pl
    from polars import selectors

    text = (selectors.string() - selectors.by_name(*numbers)).as_expr()
    return pl.when(text.str.contains(_FORMULA)).then("'" + text).otherwise(text).name.keep()
