"""Find what a CSV file may hide: lines of too many or too few fields, and points beside commas."""

import csv
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gerrymend.cli.file_contents import Source
from gerrymend.cli.written_numbers import check_texts

if TYPE_CHECKING:
    import polars as pl

# A number with a decimal point, or a whole one; 01.1 is no amount.
_POINTED = r"^[+\-]?(0|[1-9]\d*)(\.\d+)?([eE][+\-]?\d+)?$"
# As one of thousands is not written: 1.234 may be either, where the decimal point is a comma.
_NOT_THOUSANDS = r"^[+\-]?(0|\d{4,}|\d+\.(\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+)([eE][+\-]?\d+)?$"


def types_of(path: Path, source: Source, how: dict[str, Any]) -> dict[str, Any]:
    """Return the type of each column, one that all its values fit.

    Raises a ValueError for the first line with more or fewer fields than the header has: Polars
    cuts such lines, or fills them up, where not all columns are read.
    """
    import polars as pl

    header = pl.scan_csv(source, infer_schema=False, **how).collect_schema()
    # Nothing is said of names, so that a longer line makes one more column.
    bare = pl.scan_csv(source, has_header=False, skip_rows=1, infer_schema_length=None,
                       raise_if_empty=False, **how)  # fmt: skip
    types = bare.collect_schema().dtypes()
    # Lines are split by Python, which is slow, only where there is reason to.
    if len(types) != len(header) or _has_missing(bare.select(pl.last())):
        _check_fields(path, source, header.names(), how)
    return {**header, **dict(zip(header, types, strict=False))}


def _check_fields(path: Path, source: Source, header: list[str], how: dict[str, Any]) -> None:
    """Raise a ValueError for the first line with more or fewer fields than the header has."""
    for number, fields in _numbered(source, how["separator"]):
        # An empty line is a row without values; separators at the end of a line say nothing.
        if not fields or (len(fields) > len(header) and not any(fields[len(header) :])):
            continue
        if len(fields) != len(header):
            raise ValueError(
                f"FILE {path} can't be read as a table: line {number} has {len(fields)} "
                f"field{'s' * (len(fields) != 1)}, and the header names {len(header)} columns. "
                f"Mend that line, or export the file again; a value with {how['separator']!r} in "
                "it has to be in quotation marks."
            )


def _has_missing(column: "pl.LazyFrame") -> bool:
    """Return whether a value of the one column is missing; True where that can't be read."""
    import polars as pl

    try:
        return bool(column.select(pl.all().is_null().any()).collect().item())
    except (pl.exceptions.PolarsError, ValueError):
        return True


def _numbered(source: Source, separator: str) -> Any:
    """Yield the fields of each line behind the header, with the number that it begins at."""
    opened = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    with io.TextIOWrapper(opened, encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, delimiter=separator)
        try:
            next(lines, None)
            number = lines.line_num + 1
            for fields in lines:
                yield number, fields
                number = lines.line_num + 1
        except csv.Error:  # a field larger than it takes: what follows is left to Polars
            return


def with_points(path: Path, frame: "pl.LazyFrame", texts: list[str]) -> "pl.LazyFrame":
    """Return the frame, read with a decimal comma, with columns that have points as numbers.

    Those of `texts` stay text. A column is converted where no number of it has a comma, and one at
    least can't be of thousands; the columns are told of.
    """
    import polars as pl

    schema = frame.collect_schema()
    names = [name for name, dtype in schema.items() if dtype == pl.String and name not in texts]
    if not names:
        return frame
    columns = pl.col(names).str.strip_chars().drop_nulls()
    all_are = frame.select(columns.str.contains(_POINTED).all()).collect()
    one_is = frame.select(columns.str.contains(_NOT_THOUSANDS).any()).collect()
    pointed = [name for name in names if all_are[name][0] and one_is[name][0]]
    if not pointed:
        return frame
    plain = pl.col(pointed).str.strip_chars()
    check_texts(path, frame.select(plain))
    warnings.warn(
        f"FILE {path} has a decimal point in {', '.join(pointed)}, though --decimal is a comma; "
        f"{'they were' if len(pointed) > 1 else 'it was'} read with the point.",
        UserWarning,
        stacklevel=2,
    )
    return frame.with_columns(plain.cast(pl.Float64))
