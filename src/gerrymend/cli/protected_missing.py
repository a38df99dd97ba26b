"""Rows without a value of a protected attribute: dropped where that was asked for, and counted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gerrymend.auditing.doubts import dropping_doubts
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.auditing.report import AuditReport

if TYPE_CHECKING:
    import polars as pl


def without_missing(
    frame: "pl.LazyFrame", columns: Sequence[str], counts: str | None = None
) -> "tuple[pl.LazyFrame, MissingValues]":
    """Return the rows in which none of these columns is missing, and how many others there are.

    `counts` is the column with the number of rows that a line stands for. Raises a ValueError where
    nothing would be left.
    """
    import polars as pl

    schema = frame.collect_schema()
    absent = {
        name: pl.col(name).is_null() | (pl.col(name).is_nan() if schema[name].is_float() else False)
        for name in columns
    }
    dropped = pl.any_horizontal(absent.values())
    # What is no number is told of where the counts are read.
    rows = pl.lit(1) if counts is None else pl.col(counts).cast(pl.Float64, strict=False)
    wanted = [*absent.values(), dropped, dropped | True]
    sums = [pl.when(one).then(rows).sum().alias(str(i)) for i, one in enumerate(wanted)]
    *by_column, n_dropped, n_rows = map(int, frame.select(sums).collect().row(0))
    if n_dropped == n_rows:
        raise ValueError(
            f"--drop-missing leaves none of {n_rows:,} rows: in each a protected column is missing."
        )
    named = zip(absent, by_column, strict=True)
    missing = MissingValues(tuple((name, n) for name, n in named if n), n_rows, n_dropped)
    return frame.filter(~dropped), missing


def after_dropping(report: AuditReport, missing: MissingValues) -> AuditReport:
    """Return the report with the rows that were dropped before it, and the doubt about them."""
    if not missing.dropped and not missing.dropped_of_holdout:
        return report
    doubts = (*report.warnings, *dropping_doubts(missing))
    return replace(report, missing=missing, warnings=doubts)
