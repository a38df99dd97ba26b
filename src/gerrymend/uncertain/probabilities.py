"""Read the probabilities of an attribute: a column for each category, which add up to 1 by row."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.adding_to_one import ROUNDED
from gerrymend.inputs.sample import finite
from gerrymend.inputs.validation import (
    check_column,
    columns_of,
    is_frame,
    is_lazy,
)

ARGUMENT = "attribute_probabilities"
# Every set of categories is searched, and of so many there are 255.
MOST_CATEGORIES = 8
# A probability within this of 0 or 1 is that: it was so before it was divided by its sum.
_CERTAIN = 1e-9


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The probabilities of an attribute's categories.

    Attributes
    ----------
    name : str
        The attribute.
    categories : tuple of str
    values : array (n_rows, n_categories)
        Rows add up to 1.
    """

    name: str
    categories: tuple[str, ...]
    values: Array

    @property
    def sets(self) -> NDArray[np.bool_]:
        """Every set of categories but the empty one, a set a row: the smallest first, all last.

        >>> Probabilities("race", ("a", "b"), np.full((1, 2), 0.5)).sets.astype(int).tolist()
        [[1, 0], [0, 1], [1, 1]]
        """
        n = len(self.categories)
        numbers = np.arange(1, 2**n)
        every = (numbers[:, None] >> np.arange(n)) & 1
        return every[np.argsort(every.sum(axis=1), kind="stable")].astype(bool)

    def of_sets(self) -> Array:
        """Return the probability of each set by row, as (n_rows, n_sets); 0 and 1 are exact."""
        sums = self.values @ self.sets.T
        sums[sums < _CERTAIN] = 0.0
        sums[sums > 1 - _CERTAIN] = 1.0
        return sums


def read_probabilities(given: Any, data: Any = None) -> Probabilities:
    """Return the probabilities of the one attribute that is given.

    Parameters
    ----------
    given : mapping of str to frame, or mapping of str to array
        The attribute, and a column for each of its categories. Of columns of `data`: their names,
        as a list or a mapping from categories to names.
    data : frame or mapping, optional

    Raises
    ------
    ArgumentError
        For what are no probabilities, more than one attribute, or too many categories.

    >>> read = read_probabilities({"race": {"Black": [0.25, 1], "White": [0.75, 0]}})
    >>> read.name, read.categories, read.values.tolist()
    ('race', ('Black', 'White'), [[0.25, 0.75], [1.0, 0.0]])
    """
    name, columns = _the_one(given)
    where = Argument(ARGUMENT, column=repr(name))
    by_category = _named(name, columns) if data is None else _chosen(name, columns, data)
    if not 2 <= len(by_category) <= MOST_CATEGORIES:
        raise _not_as_many(where, list(by_category))
    read = {
        category: finite(values, f"{ARGUMENT}[{name!r}][{category!r}]", exact=False)
        for category, values in by_category.items()
    }
    if len({len(values) for values in read.values()}) > 1:
        told = ", ".join(f"{one!r} {len(values):,}" for one, values in read.items())
        raise ArgumentError(where, f"has columns that differ in their number of rows: {told}.")
    values = np.column_stack([*read.values()])
    _check_range(where, values, tuple(read))
    sums = values.sum(axis=1)
    _check_sums(where, sums)
    return Probabilities(name, tuple(read), values / sums[:, None])


def _the_one(given: Any) -> tuple[str, Any]:
    """Return the attribute and its columns; raise unless there is exactly one."""
    if not isinstance(given, Mapping):
        raise ArgumentError(
            ARGUMENT,
            "must be a mapping from the attribute to a frame, or a mapping, with a column of "
            "probabilities for each category, such as {'race': {'Black': p_black, 'White': "
            f"p_white}}}}; got {type(given).__name__}.",
        )
    if len(given) != 1:
        told = ", ".join(map(repr, given)) or "none"
        raise ArgumentError(
            ARGUMENT,
            f"must have one attribute, and has {told}. The probabilities of two attributes don't "
            "tell how often their categories meet: pass one with a category for each pair, such as "
            "'Black women', if you know these.",
        )
    ((name, columns),) = given.items()
    return str(name), columns


def _named(name: str, columns: Any) -> dict[str, Any]:
    """Return columns of probabilities by category, from a frame or a mapping."""
    if not (is_frame(columns) or isinstance(columns, Mapping)):
        raise ArgumentError(
            Argument(ARGUMENT, column=repr(name)),
            "must be a frame, or a mapping from categories to columns, so that each has a name; "
            f"got {type(columns).__name__}.",
        )
    return columns_of(columns, ARGUMENT)


def _chosen(name: str, columns: Any, data: Any) -> dict[str, Any]:
    """Return columns of `data` by category; those of a list are categories themselves."""
    if isinstance(columns, list | tuple):
        columns = {one: one for one in columns}
    if not isinstance(columns, Mapping) or not all(isinstance(c, str) for c in columns.values()):
        raise ArgumentError(
            Argument(ARGUMENT, column=repr(name)),
            "must name columns of data, as ['p_black', 'p_white'] or {'Black': 'p_black', 'White': "
            f"'p_white'}}; got {type(columns).__name__}.",
        )
    there = (
        nw.from_native(data).collect_schema().names() if is_lazy(data) else columns_of(data, "data")
    )
    for column in columns.values():
        check_column(column, ARGUMENT, there, "data")
    if is_lazy(data):
        wanted = list(dict.fromkeys(columns.values()))
        data = nw.from_native(data).select(wanted).collect().to_native()
    read = columns_of(data, "data")
    return {str(category): read[column] for category, column in columns.items()}


def _not_as_many(where: Argument, categories: list[str]) -> ArgumentError:
    """Return the error for one category, or too many."""
    if len(categories) > MOST_CATEGORIES:
        return ArgumentError(
            where,
            f"has {len(categories)} categories, and every set of them is searched: at most "
            f"{MOST_CATEGORIES} will do. Add up the probabilities of rare ones.",
        )
    return ArgumentError(
        where,
        f"has {len(categories)} column, and probabilities of all categories add up to 1: add one "
        "for everybody else, 1 less the others.",
    )


def _check_range(where: Argument, values: Array, categories: tuple[str, ...]) -> None:
    """Raise an ArgumentError for a probability below 0 or above 1."""
    wrong = (values < 0) | (values > 1)
    if not wrong.any():
        return
    row, column = np.argwhere(wrong)[0].tolist()
    told = f"{categories[column]!r} has {values[row, column]:g} in row {row}"
    rows = int(wrong.any(axis=1).sum())
    raise ArgumentError(
        where,
        f"must have probabilities from 0 to 1; {told} ({rows:,} rows have such). Percentages are "
        "divided by 100.",
    )


def _check_sums(where: Argument, sums: Array) -> None:
    """Raise an ArgumentError for a row whose probabilities don't add up to 1, but for rounding."""
    wrong = np.abs(sums - 1) > ROUNDED
    if not wrong.any():
        return
    row = int(wrong.argmax())
    raise ArgumentError(
        where,
        f"has probabilities that add up to {sums[row]:g} in row {row}, and to something else than "
        f"1 in {int(wrong.sum()):,} rows. Add a category for everybody else, 1 less the others; of "
        "people of whom nothing is known give everyone's shares.",
    )
