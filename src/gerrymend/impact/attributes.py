"""Attributes as tables have them: categories, with unknown ones apart, and the reference group."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.categories import as_category
from gerrymend.inputs.numbers import plain_value, short
from gerrymend.inputs.protected import IN_RANGES, Column
from gerrymend.inputs.settings import did_you_mean

# Whole numbers of at most so many values are taken for codes, and have a table; others have none.
MOST_CODES = 10
HIGHEST = "highest"

# The values of a named group, by attribute.
Reference = Mapping[str, Any]


def as_categories(columns: Sequence[Column], unknown: Sequence[Any]) -> tuple[Column, ...]:
    """Return the attributes with codes as categories, and None for values that stand for unknown.

    Numbers that are no codes stay numbers. Raises an ArgumentError for empty text, which may be
    either, and for an attribute of which every value is unknown.

    >>> race, = as_categories([Column("race", np.array([1.0, 2, 9]))], unknown=[9])
    >>> race.categories, race.values.tolist()
    ((1, 2, None), [0.0, 1.0, 2.0])
    """
    coded = tuple(_unknown_apart(_as_codes(column), unknown) for column in columns)
    for column in coded:
        _check_named(column)
    if not any(column.is_categorical for column in coded):
        raise ArgumentError(
            Argument("sensitive_features", column=repr(coded[0].name)),
            f"is a number of {len(np.unique(coded[0].values)):,} values, and no attribute has "
            "categories to make a table of. Cut it into a few named ranges (",
            IN_RANGES,
            ").",
        )
    return coded


def _as_codes(column: Column) -> Column:
    """Return a column of few whole numbers as categories, and any other as it is."""
    if column.is_categorical or not column.is_whole:
        return column
    values, codes = np.unique(column.values, return_inverse=True)
    if len(values) > MOST_CODES:
        return column
    return Column(column.name, codes.astype(np.float64), tuple(int(value) for value in values))


def _unknown_apart(column: Column, unknown: Sequence[Any]) -> Column:
    """Return a column with None, as its last category, in place of each unknown value."""
    if column.categories is None:
        return column
    known = [one for one in column.categories if one is not None and not _is_among(one, unknown)]
    if len(known) == len(column.categories):
        return column
    place = {one: number for number, one in enumerate(known)}
    codes = np.array([place.get(one, len(known)) for one in column.categories], dtype=np.float64)
    return replace(column, values=codes[column.values.astype(np.intp)], categories=(*known, None))


def _is_among(category: Any, values: Sequence[Any]) -> bool:
    """Return whether a category is one of these values; a code of 0 is not False.

    >>> _is_among(1, [1.0]), _is_among(True, [1]), _is_among(True, [True])
    (True, False, True)
    """
    is_flag = isinstance(category, bool)
    plain = (_plain(one) for one in values)
    return any(isinstance(one, bool) == is_flag and one == category for one in plain)


def _check_named(column: Column) -> None:
    """Raise an ArgumentError for a category without a name, or where none is known."""
    where = Argument("sensitive_features", column=repr(column.name))
    categories = column.categories or ()
    empty = [one for one in categories if isinstance(one, str) and not one.strip()]
    if empty:
        rows = int(np.sum(column.equals(empty[0])))
        raise ArgumentError(
            where,
            f"has an empty category, {short(empty[0])}, in {rows:,} rows: it may be a group or be "
            "unknown. Name it; or pass ",
            Argument("unknown", value=repr(empty)),
            ", and these rows are counted as of unknown category.",
        )
    if categories == (None,):
        raise ArgumentError(
            where,
            "is unknown in every row: there is no category to compare. Leave it out.",
        )


def read_reference(given: Any, columns: Sequence[Column]) -> Reference:
    """Return the values of the reference group by attribute; empty where it is the most selected.

    A value alone names the one attribute that has it.

    >>> race, = as_categories([Column("race", np.array([0.0, 1]), ("B", "W"))], ())
    >>> read_reference("highest", [race]), read_reference("W", [race])
    ({}, {'race': 'W'})
    >>> read_reference({"race": "X"}, [race])
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: reference has race = 'X', which is no group here. \
There are: 'B', 'W'.
    """
    by_name = {column.name: column for column in columns if column.is_categorical}
    if isinstance(given, str) and given == HIGHEST:
        return {}
    if isinstance(given, Mapping):
        if not given:
            raise _no_group("is an empty group", by_name)
        return {name: _value(name, value, by_name) for name, value in given.items()}
    value = _plain(given)
    having = [name for name, column in by_name.items() if value in _known(column)]
    if len(having) == 1:
        return {having[0]: value}
    if having:
        raise ArgumentError(
            Argument("reference", value=short(value)),
            f"is a value of {' and of '.join(map(repr, having))}; say of which: "
            f"{{{having[0]!r}: {short(value)}}}.",
        )
    raise _no_group(f"is {short(given)}, which is no group here", by_name)


def _value(name: Any, value: Any, by_name: Mapping[str, Column]) -> Any:
    """Return the value of an attribute that a reference names, or raise an ArgumentError."""
    if name not in by_name:
        hint = did_you_mean(name, by_name) if isinstance(name, str) else ""
        raise ArgumentError(
            "reference",
            f"names {short(name)}, which is no attribute with a table{hint}. There are: "
            f"{', '.join(map(repr, by_name))}.",
        )
    known = _known(by_name[name])
    plain = _plain(value)
    if plain not in known:
        # The 1 of a number and the "1" of a text look alike to who passes them.
        alike = [one for one in known if str(one) == str(value)]
        hint = f" (did you mean {alike[0]!r}?)" if alike else ""
        raise ArgumentError(
            "reference",
            f"has {name} = {short(value)}, which is no group here{hint}. There are: "
            f"{_listed(known)}.",
        )
    return known[known.index(plain)]


def _plain(value: Any) -> Any:
    """Return a value as categories are stored; what can't be one as None, which is none of them."""
    plain = plain_value(as_category(value))
    return plain if isinstance(plain, str | bool | int | float) else None


def _known(column: Column) -> list[Any]:
    return [one for one in column.categories or () if one is not None]


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(short(one) for one in values[:30])
    return f"{shown}, …" if len(values) > 30 else shown


def _no_group(what: str, by_name: Mapping[str, Column]) -> ArgumentError:
    """Return the error for a reference that is no group, with the groups that there are."""
    there = "; ".join(f"{name}: {_listed(_known(column))}" for name, column in by_name.items())
    return ArgumentError(
        "reference",
        f"{what}. Pass {HIGHEST!r}, or a group by attribute, as {{{next(iter(by_name))!r}: "
        f"{_listed(_known(next(iter(by_name.values())))[:1])}}}. There are {there}.",
    )
