"""Categories and labels: text, booleans, numbers, and intervals of pandas, as plain data.

They are written into reports, saved models and checkpoints, so other types are refused.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._runtime.errors import ArgumentError, Subject
from gerrymend.inputs.numbers import kinds_of, missing_as_none, plain_value


@dataclass(frozen=True, eq=False, repr=False)
class Unnamed:
    """A category that equals its value and never shows it, as few rows have it.

    >>> rare = Unnamed("Au")
    >>> rare == "Au", rare in {"Au", "Ulm"}, rare
    (True, True, a rare value)
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        return bool(self.value == (other.value if isinstance(other, Unnamed) else other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return "a rare value"


def is_interval(kind: type) -> bool:
    """Return True for the Interval of pandas, as `pandas.cut` makes it, without importing it."""
    return kind.__name__ == "Interval" and kind.__module__.partition(".")[0] == "pandas"


def plain_type(kind: type) -> type | None:
    """Return the plain type that values of a type are stored as, or None if there is none.

    >>> plain_type(np.bool_), plain_type(np.int8), plain_type(bytes)
    (<class 'bool'>, <class 'int'>, None)
    """
    if is_interval(kind):
        return str
    if issubclass(kind, np.timedelta64):  # a subclass of NumPy's integers
        return None
    numpy_types = {str: np.str_, bool: np.bool_, int: np.integer, float: np.floating}
    for plain, of_numpy in numpy_types.items():  # bool first: it is an int too
        if issubclass(kind, plain | of_numpy):
            return plain
    return None


def as_category(value: Any) -> Any:
    """Return a category as plain data, an interval as its text.

    >>> as_category(np.int64(3))
    3
    """
    return str(value) if is_interval(type(value)) else plain_value(value)


def foreign_type(values: Iterable[Any]) -> str:
    """Name the types of values that can't be categories; return '' if all can be.

    >>> foreign_type(["a", b"a", [1]]), foreign_type(["a", None])
    ('bytes, list', '')
    """
    kinds = kinds_of(values)
    return ", ".join(sorted(kind.__name__ for kind in kinds if plain_type(kind) is None))


def sorted_categories(values: Iterable[Any], where: Subject) -> list[Any]:
    """Return the distinct values that are not missing, in order.

    Raises TypeError for values of several types or of one that can't be a category, and ValueError
    for infinite numbers. `where` names the column in these messages.

    >>> sorted_categories(["b", None, "a", "b"], "race")
    ['a', 'b']
    """
    values = list(values)
    if foreign := foreign_type(values):
        raise unknown_kind(where, foreign)
    present = [value for value in dict.fromkeys(missing_as_none(values)) if value is not None]
    # An interval is stored as text, but must not be mixed with texts: it is sorted by its ends.
    kinds = {(plain_type(type(value)), is_interval(type(value))) for value in present}
    if len(kinds) > 1:
        shown = ", ".join(sorted({type(value).__name__ for value in present}))
        raise ArgumentError(
            where,
            f"mixes values of types {shown}; convert it to one type, for example with "
            ".astype(str).",
        )
    if kinds == {(float, False)} and any(map(math.isinf, present)):
        raise ArgumentError(where, "has infinite values; replace them by a finite number.")
    return sorted(present)


def check_label_types(labels: NDArray[Any], argument: str) -> None:
    """Raise TypeError for labels that aren't plain data: dates, bytes, complex numbers, lists.

    Intervals neither: they are sorted by their ends, and as text by its characters.
    """
    kind = labels.dtype.kind
    foreign = str(labels.dtype)
    if kind in "OS":
        listed = labels.tolist()
        foreign = foreign_type(listed) or "Interval" * any(map(is_interval, kinds_of(listed)))
    if foreign and kind not in "biufUT":
        raise ArgumentError(
            argument, f"has labels of type {foreign}; convert them to numbers, booleans or strings."
        )
    if kind == "O" and any(isinstance(one, str) and one.endswith("\0") for one in set(listed)):
        raise ArgumentError(
            argument, "has labels that end in NUL, which NumPy can't tell from the rest; strip it."
        )


def unknown_kind(where: Subject, dtype: str) -> TypeError:
    """Return the error for a column of a type that can't be an attribute."""
    return ArgumentError(
        where,
        f"is of type {dtype}; convert it to numbers (an age, say, rather than a date) or "
        "to strings.",
    )
