"""Attributes that tell people apart, not groups: refused, or warned of."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gerrymend._runtime.errors import Argument, ArgumentError, ArgumentWarning
from gerrymend.inputs.protected import Column
from gerrymend.inputs.text_numbers import AS_CATEGORY

# Up to this many rows may well differ in an attribute that is no identifier.
_FEW_ROWS = 20
# Beyond these parts of the rows, different categories or whole numbers are taken for identifiers.
_MOST_CATEGORIES = 0.5
_MOST_NUMBERS = 0.999


# Texts of which most are so are dates, in whatever order of day, month and year.
_DATE = re.compile(r"\s*\d{1,4}([-/. ])\d{1,2}\1\d{1,4}\b.*")
# How to make numbers of dates: the command line has an option.
BY_DATE = Argument("their year, as pandas.to_datetime(...).dt.year")


class IdentifierWarning(ArgumentWarning):
    """Warn of an attribute that is probably an identifier."""


def nearly_unique(columns: Sequence[Column], n_rows: int) -> dict[str, int]:
    """Return the attributes that have nearly as many values as rows, with their number of values.

    These are categories or whole numbers. Measurements with fractions differ from row to row by
    nature, and so may the attributes of a few rows.

    >>> nearly_unique([Column("id", np.arange(30.0)), Column("pay", np.arange(30) / 7)], 30)
    {'id': 30}
    """
    found = {}
    for column in columns if n_rows > _FEW_ROWS else ():
        # Numbers are groups by their ranges, however many they are; only if practically all differ
        # are they identifiers. Categories are groups one by one.
        most = _MOST_CATEGORIES if column.is_categorical else _MOST_NUMBERS
        if column.is_categorical or column.is_whole:
            # Of values that are there: a declared type may have categories that no row has.
            distinct = len(np.unique(column.values))
            if distinct > most * n_rows:
                found[column.name] = distinct
    return found


def refuse_identifiers(columns: Sequence[Column], n_rows: int) -> dict[str, int]:
    """Raise ArgumentError for categories that tell people apart; return `nearly_unique` otherwise.

    A description would list such categories one by one, and each is a person. Numbers have an
    order, by which they are described. Categories that the user's own type declares may pass.
    """
    found = nearly_unique(columns, n_rows)
    for column in columns:
        if column.name in found and column.is_categorical and not column.declared:
            # Dates have a better remedy than to be left out.
            if _are_dates(column.categories or ()):
                raise ArgumentError(
                    Argument("sensitive_features", column=repr(column.name)),
                    f"has {found[column.name]:,} different dates, as text, in {n_rows:,} rows: "
                    "each would be a group of its own. Tell groups by ",
                    BY_DATE,
                    ", or insist on them with ",
                    AS_CATEGORY,
                    ".",
                )
            raise ArgumentError(
                *_sentence(column.name, found[column.name], n_rows),
                ", put its values into groups, or insist on them with ",
                AS_CATEGORY,
                ".",
            )
    return found


def check_identifiers(columns: Sequence[Column], n_rows: int, stacklevel: int = 3) -> None:
    """Refuse categories that tell people apart, and warn of whole numbers that may."""
    for name, distinct in refuse_identifiers(columns, n_rows).items():
        is_number = next(one for one in columns if one.name == name).categories is None
        ranges = ", or put it into ranges if it is a measurement" if is_number else ""
        warning = IdentifierWarning(*_sentence(name, distinct, n_rows), f"{ranges}.")
        warnings.warn(warning, stacklevel=stacklevel)


def _are_dates(categories: Sequence[Any]) -> bool:
    """Return whether nine of ten categories are dates, or more.

    >>> _are_dates(["3/31/1990", "12/1/1987"]), _are_dates(["10.12", "A-1-2"])
    (True, False)
    """
    dates = [one for one in categories if isinstance(one, str) and _DATE.fullmatch(one)]
    return len(dates) > 0.9 * len(categories)


def _sentence(name: str, distinct: int, n_rows: int) -> tuple[Argument, str, Argument]:
    """Return the beginning of a message about an identifier."""
    return (
        Argument("sensitive_features", column=repr(name)),
        f"has {distinct:,} different values in {n_rows:,} rows: it is probably an identifier, "
        "which tells people apart, not groups. Leave it out of ",
        Argument("sensitive_features"),
    )
