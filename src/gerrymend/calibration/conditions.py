"""The conditions whose shifts are fitted together: values of one attribute, and of two.

They are few, and each is of many rows: what is fitted to all of them at once should say something
of each. A number is cut at quantiles, for which each cut has a condition "at least". Of two
attributes there is one for each pair of theirs, of numbers that are cut into quarters, unless all
of them would be too many to read.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.inputs.bins import quantile_cuts
from gerrymend.inputs.categories import Unnamed
from gerrymend.inputs.protected import Column, Others
from gerrymend.subgroups.rules import Condition

# The rows that a condition is met by, at least, and those that don't meet it.
_FEWEST_ROWS = 100
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

    >>> sex = Column("sex", np.repeat([0.0, 1.0], 80), ("F", "M"))
    >>> age = Column("age", np.tile([20.0, 30.0, 40.0, 50.0], 40))
    >>> for step in steps_of([sex, age], np.ones(160), 10, pairs=False):
    ...     for parts in step.conditions:
    ...         print(*(part.describe() for part in parts))
    sex = F
    age ≥ 25.0
    age ≥ 35.0
    """
    fewest = max(_FEWEST_ROWS, min_group_size)
    most_parts = len(weight) // fewest
    parts = min(_PARTS, 1 + max(_MOST // len(columns), 1), most_parts)
    found = [_enough(_of_column(one, weight, parts), fewest) for one in columns]
    if pairs:
        coarse = min(_PARTS_OF_PAIRS, most_parts)
        halves = [_enough(_of_column(one, weight, coarse), fewest) for one in columns]
        both = [_enough(_of_two(*two), fewest) for two in itertools.combinations(halves, 2)]
        if sum(len(one.conditions) for one in (*found, *both)) <= _MOST:
            found += both
    return [one for one in found if one.conditions]


def _of_column(column: Column, weight: Array, parts: int) -> Steps:
    """Return the conditions on an attribute, a number being cut into so many parts."""
    name = column.name
    if column.categories is None:
        cuts = quantile_cuts(column.values, weight, parts) if parts > 1 else ()
        codes = np.searchsorted(cuts, column.values, side="right")
        meets = np.tri(len(cuts) + 1, len(cuts), -1)
        ends = [Condition(name, low=cut).in_few_digits(column) for cut in cuts]
        return Steps(codes, meets, tuple((end,) for end in ends))
    told = [
        code for code, value in enumerate(column.categories)
        if not isinstance(value, Others | Unnamed)
    ]  # fmt: skip
    if len(column.categories) == 2:  # not to have the one is to have the other
        told = told[:1]
    meets = np.eye(len(column.categories))[:, told]
    conditions = tuple((Condition(name, values=(column.categories[code],)),) for code in told)
    return Steps(column.values.astype(np.intp), meets, conditions)


def _of_two(one: Steps, other: Steps) -> Steps:
    """Return the conditions that are met where one of each is."""
    return Steps(
        one.codes * len(other.meets) + other.codes,
        np.kron(one.meets, other.meets),
        tuple(a + b for a, b in itertools.product(one.conditions, other.conditions)),
    )


def _enough(steps: Steps, fewest: int) -> Steps:
    """Return those conditions that are met by enough rows, and not met by enough."""
    rows = np.bincount(steps.codes, minlength=len(steps.meets)) @ steps.meets
    kept = np.flatnonzero(may_be_described(rows, len(steps.codes), fewest))
    return Steps(
        steps.codes, steps.meets[:, kept], tuple(steps.conditions[place] for place in kept)
    )
