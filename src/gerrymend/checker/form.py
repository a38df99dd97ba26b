"""Forms: which fields a report, or a file of patches, has, and the type of each.

What lacks a field, or has one of another type, is refused. A field that no form knows might say
anything, and is named as not checked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from gerrymend.checker.documents import A_REPORT, Document


@dataclass(frozen=True)
class Plain:
    """Describe a value that is neither a list nor a mapping, in words and by a test."""

    words: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Maybe:
    """Allow null in place of a value of the form."""

    form: Any


@dataclass(frozen=True)
class Absent:
    """Allow a field of a mapping to be left out."""

    form: Any


@dataclass(frozen=True)
class Many:
    """Describe a list with elements of one form, exactly `number` of them or `least` and more.

    >>> unknown_fields([1, 2], Many(WHOLE, number=3), "sizes")
    Traceback (most recent call last):
        ...
    ValueError: 'sizes' of the report must be a list of 3; got [1, 2].
    """

    form: Any
    number: int | None = None
    least: int = 0


# Whole numbers of Python have any size; no figure of a report is larger, nor any seed.
_LARGEST = 10**100


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number that float64 can hold, and no boolean.

    >>> is_number(0.5), is_number(True), is_number(float("inf")), is_number("1"), is_number(9**999)
    (True, False, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST if isinstance(value, int) else isfinite(value)


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number from 0 to 10¹⁰⁰, and no boolean or float.

    >>> is_whole(3), is_whole(3.0), is_whole(-1), is_whole(9**999)
    (True, False, False, False)
    """
    return is_number(value) and isinstance(value, int) and value >= 0


# Forms of plain values, each with the words that an error uses for it.
NUMBER = Plain("a finite number", is_number)
AMOUNT = Plain("a finite number, 0 or more", lambda value: is_number(value) and value >= 0)
PART = Plain("a number between 0 and 1", lambda value: is_number(value) and 0 < value < 1)
WHOLE = Plain("a whole number, 0 or more", is_whole)
TEXT = Plain("text", lambda value: isinstance(value, str))
FLAG = Plain("true or false", lambda value: isinstance(value, bool))
MAPPING = Plain("a mapping", lambda value: isinstance(value, Mapping))
# Outcomes are squared: those of a report must be so that their squares are finite.
OUTCOME = Plain(
    "a number between ±10¹⁰⁰", lambda value: is_number(value) and abs(value) <= _LARGEST
)
REFERENCE = Plain(
    "a number between ±10¹⁰⁰, a group with such a factor, or 'predicted'",
    lambda value: (
        value == "predicted"
        or OUTCOME.holds(value.get("factor") if isinstance(value, Mapping) else value)
    ),
)
LABEL = Plain("a label", lambda value: isinstance(value, str | int | float))


def unknown_fields(value: Any, form: Any, path: str = "", of: Document = A_REPORT) -> list[str]:
    """Return the paths of the fields that no form has.

    Raises a ValueError that names the field, and what it is `of`, where one is missing or not of
    its form. Fields within lists are named without their place.

    >>> unknown_fields({"size": 3, "age": 4}, {"size": WHOLE})
    ['age']
    >>> unknown_fields({"size": 3.5}, {"size": WHOLE})
    Traceback (most recent call last):
        ...
    ValueError: 'size' of the report must be a whole number, 0 or more; got 3.5.
    """
    if isinstance(form, Absent):
        return unknown_fields(value, form.form, path, of)
    if isinstance(form, Maybe):
        return [] if value is None else unknown_fields(value, form.form, path, of)
    if isinstance(form, Many):
        if not isinstance(value, list | tuple):
            raise unlike(path, "a list", value, of)
        if len(value) < form.least or form.number not in (None, len(value)):
            raise unlike(path, f"a list of {form.number or f'{form.least} or more'}", value, of)
        # Elements of a list share a path, so that each unknown field is named once.
        found = [name for part in value for name in unknown_fields(part, form.form, path, of)]
        return list(dict.fromkeys(found))
    if isinstance(form, dict):
        return _unknown_keys(value, form, path, of)
    if not form.holds(value):
        raise unlike(path, form.words, value, of)
    return []


def _unknown_keys(value: Any, form: Mapping[str, Any], path: str, of: Document) -> list[str]:
    """Return the unknown fields of a mapping, or raise a ValueError if it lacks known ones.

    `path` is that of the mapping in the report, empty for the report itself.
    """
    if not isinstance(value, Mapping):
        raise unlike(path, "a mapping", value, of)
    needed = [name for name, part in form.items() if not isinstance(part, Absent)]
    if missing := [name for name in needed if name not in value]:
        where = f"{path!r} of the {of.name}" if path else of.name
        raise ValueError(
            f"{where} has no {', '.join(map(repr, missing))}; pass {of.source}, its to_dict(), or "
            "the JSON of that."
        )
    before = f"{path}." if path else ""
    found = []
    for name, part in value.items():
        inside = unknown_fields(part, form[name], before + name, of) if name in form else None
        found += [f"{before}{name}"] if inside is None else inside
    return found


def unlike(path: str, words: str, value: Any, of: Document = A_REPORT) -> ValueError:
    """Return the error for a value that is not of its form, which `words` describe."""
    is_huge = isinstance(value, int) and abs(value) > _LARGEST
    got = "a whole number of more than 100 digits" if is_huge else repr(value)
    return ValueError(f"{path!r} of the {of.name} must be {words}; got {got}.")
