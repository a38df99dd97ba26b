"""Tell columns of numbers that are probably the probabilities of one attribute's categories."""

import itertools
from collections.abc import Sequence

import numpy as np

from gerrymend.inputs.protected import Column

# Sums of probabilities that were rounded to two digits are within this of 1.
ROUNDED = 0.01
# Of more columns only all together are added up: there are too many sets of them.
_MOST_COLUMNS = 8
# Values that are looked at before all are.
_FIRST = 50


def adding_to_one(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of columns that add up to 1 in every row; none where there are no such.

    They have numbers from 0 to 1, each of them fractions among these: indicators of categories add
    up to 1 as well. Of several sets it is the one of fewest columns.

    >>> p = np.array([0.2, 0.5, 1.0])
    >>> adding_to_one([Column("age", p * 30), Column("black", p), Column("white", 1 - p)])
    ('black', 'white')
    >>> adding_to_one([Column("black", np.array([0.0, 1])), Column("white", np.array([1.0, 0]))])
    ()
    """
    parts = [column for column in columns if column.categories is None and _are_parts(column)]
    sizes = range(2, len(parts) + 1) if len(parts) <= _MOST_COLUMNS else [len(parts)]
    for size in sizes:
        for chosen in itertools.combinations(parts, size):
            if all(
                np.all(np.abs(sum(one.values[rows] for one in chosen) - 1) <= ROUNDED)
                for rows in (slice(_FIRST), slice(_FIRST, None))
            ):
                return tuple(one.name for one in chosen)
    return ()


def _are_parts(column: Column) -> bool:
    """Return whether all values are from 0 to 1, and some are neither."""
    values = column.values
    inside = (values > 0) & (values < 1)
    return bool(inside.any() and ((values >= 0) & (values <= 1)).all())
