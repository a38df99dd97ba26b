"""The conditions whose shifts are fitted together: values of one attribute, and of two.

They are few, and each is of many rows: what is fitted to all of them at once should say something
of each. A number is cut at quantiles, for which each cut has a condition "at least". Of two
attributes there is one for each pair of theirs, of numbers that are cut into quarters, unless all
of them would be too many to read.
"""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.inputs.bins import quantile_cuts
from gerrymend.inputs.categories import Unnamed
from gerrymend.inputs.protected import Column, Others
from gerrymend.subgroups.rules import Condition

# The rows by which a condition is met, at least, and by which it is not; numbers are cut into parts
# of as many. Fewer, such as 50, did harm on data of a few hundred rows.
FEWEST_ROWS = 100
# Conditions in all: a table of more is not read.
_MOST = 100
# Parts that a number is cut into, at most: alone, and with another attribute.
_PARTS = 16
_PARTS_OF_PAIRS = 4


class Steps(NamedTuple):
    """Conditions on one attribute, or two: which are met follows from the code of a row.

    Attributes
    ----------
    codes : array of int (n,)
    meets : array (codes, conditions)
        1 where a code meets a condition, else 0.
    conditions : tuple of tuple of Condition
        Each is met where all of its parts are.
    """

    codes: NDArray[np.intp]
    meets: Array
    conditions: tuple[tuple[Condition, ...], ...]


def steps_of(
    columns: Sequence[Column], weight: Array, min_group_size: int, *, pairs: bool
) -> list[Steps]:
    """Return the conditions on single attributes and, with `pairs`, on two of them.

    >>> sex = Column("sex", np.repeat([0.0, 1.0], 200), ("F", "M"))
    >>> age = Column("age", np.tile([20.0, 30.0, 40.0, 50.0], 100))
    >>> for step in steps_of([sex, age], np.ones(400), 10, pairs=True):
    ...     print(*(" and ".join(part.describe() for part in one) for one in step.conditions),
    ...           sep=", ")
    sex = M
    age ≥ 25, age ≥ 35, age ≥ 45
    sex = M and age ≥ 25, sex = M and age ≥ 35
    """
    fewest = max(FEWEST_ROWS, min_group_size)
    parts = max(1, min(_PARTS, 1 + max(_MOST // len(columns), 1), len(weight) // fewest))
    found = [_of_column(one, weight, parts, fewest) for one in columns]
    if pairs:
        coarse = min(_PARTS_OF_PAIRS, parts)
        coarsely = [_of_column(one, weight, coarse, fewest) for one in columns]
        both = [_of_two(*two, fewest) for two in itertools.combinations(coarsely, 2)]
        if sum(len(one.conditions) for one in (*found, *both)) <= _MOST:
            found += both
    return [one for one in found if one.conditions]


def _of_column(column: Column, weight: Array, parts: int, fewest: int) -> Steps:
    """Return the conditions on an attribute, a number being cut into at most so many parts."""
    if column.categories is None:
        cuts = _apart(column.values, quantile_cuts(column.values, weight, parts), fewest)
        ends = [Condition(column.name, low=cut).in_few_digits(column) for cut in cuts]
        codes = np.searchsorted(cuts, column.values, side="right")
        meets = np.tri(len(cuts) + 1, len(cuts), -1)
        return Steps(codes, meets, tuple((end,) for end in ends))
    codes = column.values.astype(np.intp)
    told = _told(column.categories, np.bincount(codes, minlength=len(column.categories)), fewest)
    meets = np.eye(len(column.categories))[:, told]
    values = [(column.categories[code],) for code in told]
    return Steps(codes, meets, tuple((Condition(column.name, values=one),) for one in values))


def _apart(values: Array, cuts: Sequence[float], fewest: int) -> list[float]:
    """Return cuts between which there are enough rows, below the first and above the last too."""
    kept: list[float] = []
    low = -np.inf
    for cut in cuts:
        inside = np.count_nonzero((values >= low) & (values < cut))
        if inside >= fewest and np.count_nonzero(values >= cut) >= fewest:
            kept.append(cut)
            low = cut
    return kept


def _told(categories: Sequence[Any], rows: NDArray[np.intp], fewest: int) -> list[int]:
    """Return the codes of the categories that have a condition each.

    All others must be enough rows or none, or a shift of theirs followed from those of the rest:
    where they are few, the largest category is among them. Of two categories one is told, as not
    to have it is to have the other.
    """
    told = [
        code
        for code, value in enumerate(categories)
        if rows[code] >= fewest and not isinstance(value, Others | Unnamed)
    ]
    left = rows.sum() - rows[told].sum()
    if told and (0 < left < fewest or (left == 0 and len(told) <= 2)):
        told.remove(max(told, key=lambda code: rows[code]))
    return told


def _of_two(one: Steps, other: Steps, fewest: int) -> Steps:
    """Return the conditions that are met where one of each is, and are met by enough rows."""
    codes = one.codes * len(other.meets) + other.codes
    meets = np.kron(one.meets, other.meets).astype(np.float64)
    rows = np.bincount(codes, minlength=len(meets)) @ meets
    kept = np.flatnonzero(may_be_described(rows, len(codes), fewest))
    conditions = [a + b for a, b in itertools.product(one.conditions, other.conditions)]
    return Steps(codes, meets[:, kept], tuple(conditions[place] for place in kept))
