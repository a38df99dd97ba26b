"""Tables with a column of scores: read, and written again with one more column beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gerrymend._numeric.sums import Array
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.cli.table_files import is_text, open_as_written, unreadable, write_again
from gerrymend.cli.table_request import TableRequest, check_named

if TYPE_CHECKING:
    import polars as pl

# A column of its own, by which rows that were dropped are dropped from what is written: no file
# and no shell can name it.
ROW = "\0row"
# The new column is called as the score, with this after it.
_PATCHED = "_patched"


class ScoreTable(NamedTuple):
    """Rows of a file: the columns that are used, and all of them to be written again.

    `typed` and `written` are all columns, with types and as they stand in the file; `protected`
    are the attributes, also those made of dates and ranges, and `missing` the rows that were
    dropped.
    """

    used: "pl.DataFrame"
    typed: "pl.DataFrame"
    written: "pl.DataFrame"
    protected: list[str]
    missing: MissingValues

    @classmethod
    def read(
        cls,
        request: TableRequest,
        single: Mapping[str, str | None],
        texts: Sequence[str] = (),
    ) -> "ScoreTable":
        """Read the file of a request; `single` has the column of each option that names one.

        Columns of `texts` are text, whatever they look like. Raises a ValueError in the terms of
        the command.
        """
        import polars as pl

        named = [column for column in single.values() if column is not None]
        frame, written = open_as_written(request.file, named, request.reading, texts)
        check_named(frame, single, request.file)
        there = frame.collect_schema().names()
        needed = {option: name for option, name in single.items() if option != "--weight"}
        numbered = frame.with_row_index(ROW)
        frame, found, missing = request.with_protected(numbered, request.file, needed)
        try:
            used = dict.fromkeys([*named, *found])
            table = frame.select(list(dict.fromkeys([*used, *there, ROW]))).collect()
            rows = table[ROW]
            kept = written.collect()[rows]
        except pl.exceptions.PolarsError as error:
            raise unreadable(request.file, error) from None
        if not len(table):
            raise ValueError(f"FILE {request.file} has a header and no rows; there are no scores.")
        return cls(table.select(list(used)), table.select(there), kept, found, missing)

    def check_column(self, score: str, file: Path) -> None:
        """Raise a ValueError where the file has a column of the name of the new one."""
        if patched_name(score) in self.typed.columns:
            raise ValueError(
                f"FILE {file} has a column {patched_name(score)!r} already, which is what the "
                "patched scores are called; rename it, or leave it out."
            )

    def write(self, scores: Array, score: str, out: Path) -> bool:
        """Write all columns with the patched scores after them; return whether texts were escaped.

        CSV has the columns as they stood in the file, Parquet and xlsx have their types.
        """
        import polars as pl

        rows = self.written if is_text(out) else self.typed
        whole = rows.with_columns(pl.Series(patched_name(score), scores))
        return write_again(whole, self.typed.schema, out, "--out")


def patched_name(score: str) -> str:
    """Return the name of the new column.

    >>> patched_name("p")
    'p_patched'
    """
    return f"{score}{_PATCHED}"
