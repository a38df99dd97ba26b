"""Rows without a value of a protected attribute: dropped where that was asked for, and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gerrymend.auditing.doubts import dropping_doubts
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.auditing.report import AuditReport
from gerrymend.inputs.validation import check_none

if TYPE_CHECKING:
    import polars as pl


def without_missing(
    frame: "pl.LazyFrame",
    columns: Sequence[str],
    needed: Mapping[str, str],
    counts: str | None = None,
) -> "tuple[pl.LazyFrame, MissingValues]":
    """Return the rows in which none of these columns is missing, and how many others there are.

    `needed` has, by option, the columns that no row that is left may lack a value of, and `counts`
    is the column with the number of rows that a line stands for. Raises a ValueError where one
    does, with its row in the file, and where nothing would be left.
    """
    import polars as pl

    absent = {name: _is_missing(frame, name) for name in columns}
    dropped = pl.any_horizontal(absent.values())
    lacking = [_is_missing(frame, name) & ~dropped for name in needed.values()]
    # What is no number is told of where the counts are read.
    rows = pl.lit(1) if counts is None else pl.col(counts).cast(pl.Float64, strict=False)
    wanted = [*absent.values(), dropped, dropped | True]
    sums = [pl.when(one).then(rows).sum() for one in wanted]
    lines = [pl.len(), *(one.sum() for one in lacking), *(one.arg_max() for one in lacking)]
    named = [one.alias(str(i)) for i, one in enumerate([*sums, *lines])]
    found = frame.select(named).collect().row(0)
    *by_column, n_dropped, n_rows = map(int, found[: len(sums)])
    if n_dropped == n_rows:
        raise ValueError(
            f"--drop-missing leaves none of {n_rows:,} rows: in each a protected column is missing."
        )
    n_lines, *numbers = found[len(sums) :]
    firsts = numbers[len(needed) :]
    for (option, name), n, first in zip(needed.items(), numbers, firsts, strict=False):
        check_none(n, f"{option} {name}", first, n_lines)
    counted = zip(absent, by_column, strict=True)
    missing = MissingValues(tuple((name, n) for name, n in counted if n), n_rows, n_dropped)
    return frame.filter(~dropped), missing


def _is_missing(frame: "pl.LazyFrame", name: str) -> "pl.Expr":
    """Return where a column has no value, or NaN."""
    import polars as pl

    is_float = frame.collect_schema()[name].is_float()
    column = pl.col(name)
    return column.is_null() | column.is_nan() if is_float else column.is_null()


def after_dropping(report: AuditReport, missing: MissingValues) -> AuditReport:
    """Return the report with the rows that were dropped before it, and the doubt about them."""
    if not missing.dropped and not missing.dropped_of_holdout:
        return report
    doubts = (*report.warnings, *dropping_doubts(missing))
    return replace(report, missing=missing, warnings=doubts)
