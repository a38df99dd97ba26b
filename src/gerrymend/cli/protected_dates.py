"""Dates as a protected attribute: by year, by month, or as an age in days.

The unit is part of the new column's name, so that every report says it. This is for files that the
commands read. In Python a column of dates is refused with the remedy (`inputs/categories.py`): what
is told apart, a year or an age, is the caller's to choose.
"""

import warnings
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Forms of which each text is one date: days and months can't be mistaken for each other.
_FORMS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y")


def check_unit(unit: str) -> date | None:
    """Return the day of --dates, or None for "year" and "month"; raise a ValueError for others.

    >>> check_unit("year"), check_unit("2024-03-01")
    (None, datetime.date(2024, 3, 1))
    """
    if unit in ("year", "month"):
        return None
    try:
        return date.fromisoformat(unit)
    except ValueError:
        raise ValueError(
            f"--dates must be year, month, or a day such as 2024-03-01, on which ages in days are "
            f"taken; got {unit!r}."
        ) from None


def with_dates(
    frame: "pl.LazyFrame", protected: Sequence[str], unit: str
) -> "tuple[pl.LazyFrame, list[str]]":
    """Return the frame with a number in place of each protected date, and the protected columns.

    A number is the year, the month from 1 to 12, or the age in days on the day that `unit` is. A
    warning says which columns were dates.
    """
    import polars as pl

    day = check_unit(unit)
    names = []
    for name in protected:
        dates = dates_of(frame, name)
        if dates is None:
            names.append(name)
            continue
        told = unit if day is None else f"age in days on {day}"
        number = (pl.lit(day) - dates).dt.total_days() if day else getattr(dates.dt, unit)()
        names.append(f"{name} ({told})")
        frame = frame.with_columns(number.cast(pl.Int64).alias(names[-1]))
        warnings.warn(
            f"Column {name!r} has dates; groups are told by its {told} (--dates).",
            UserWarning,
            stacklevel=2,
        )
    return frame, names


def dates_of(frame: "pl.LazyFrame", name: str) -> "pl.Expr | None":
    """Return a column as dates; None where it has none, or texts that are not all dates."""
    import polars as pl

    dtype = frame.collect_schema()[name]
    if isinstance(dtype, pl.Date | pl.Datetime):
        return pl.col(name).cast(pl.Date)
    if dtype != pl.String:
        return None
    filled = frame.select(pl.col(name).drop_nulls())
    first = filled.head(1).collect()
    for form in _FORMS:
        dates = pl.col(name).str.to_datetime(form, strict=False).cast(pl.Date)
        # One text is read first, as most columns are no dates.
        if len(first) and first.select(dates)[name][0] is not None:
            return dates if filled.select(dates.is_not_null().all()).collect().item() else None
    return None
