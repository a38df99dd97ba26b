"""Rows that were kept out of a training, written to a file of their own."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend.cli.shared import check_target, tell
from gerrymend.cli.table_files import (
    check_table_name,
    is_text,
    open_as_written,
    unreadable,
    write_again,
)
from gerrymend.cli.table_request import TableRequest


def check_test_rows(
    out: Path | None, request: TableRequest, test_size: float | None, *others: Any
) -> None:
    """Raise a ValueError where test rows can't be written; `others` are files that are taken."""
    if out is None:
        return
    if test_size is None:
        raise ValueError(
            f"--test-rows {out} is for rows that are kept out, and there are none; keep some out "
            "with --test-size."
        )
    if str(request.file) == "-":
        raise ValueError(
            "--test-rows reads FILE again, and standard input can be read once; name a file."
        )
    check_table_name(out, "--test-rows")
    check_target(out, "--test-rows", request.file, *others)


def write_test_rows(
    out: Path, request: TableRequest, label: str, places: NDArray[np.intp], console: Any
) -> None:
    """Write the rows at these places of a file, all their columns as they stand in it."""
    import polars as pl

    typed, written = open_as_written(request.file, [label], request.reading)
    rows = written if is_text(out) else typed
    try:
        chosen = rows.select(pl.all().gather(places)).collect()
    except pl.exceptions.PolarsError as error:
        raise unreadable(request.file, error) from None
    if write_again(chosen, typed.collect_schema(), out, "--test-rows"):
        words = "Texts that a spreadsheet would run as formulas have a ' before them"
        tell(console, f"{words} in {out}.")
