"""Sums over the groups of a table: rows, their weight, and that of those who are selected."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, modest_scale, total_by_cell
from gerrymend._runtime.errors import ArgumentError
from gerrymend.impact.two_rates import Rate
from gerrymend.inputs.protected import Column, distinct_rows, take_rows
from gerrymend.subgroups.rules import category_label


class GroupSums(NamedTuple):
    """Sums over each group of a table, a group a place.

    `values` are the categories of each by attribute, and `effective_n` is (Σ w)²/Σ w².
    """

    values: list[dict[str, Any]]
    n: NDArray[np.intp]
    weight: Array
    selected: Array
    effective_n: Array

    def effective(self, place: int, is_weighted: bool) -> Rate:
        """Return the rate of a group among its effective number of rows."""
        rate = self.rate(place)
        if not is_weighted:
            return rate
        n = float(self.effective_n[place])
        return Rate(rate.value * n, n)

    def rate(self, place: int) -> Rate:
        """Return the rate of a group among the weight of its rows."""
        return Rate(float(self.selected[place]), float(self.weight[place]))


def group_sums(meeting: Sequence[Column], weight: Array, selected: NDArray[Any]) -> GroupSums:
    """Sum the rows of known category by group, to the same bits for every order of the rows.

    `selected` has who is selected by row, or with which probability. Raises an ArgumentError for a
    group whose rows weigh nothing.

    >>> sex = Column("sex", np.array([0.0, 1, 1, 2]), ("F", "M", None))
    >>> sums = group_sums([sex], np.ones(4), np.array([1, 1, 0, 1]))
    >>> sums.values, sums.n.tolist(), sums.selected.tolist()
    ([{'sex': 'F'}, {'sex': 'M'}], [1, 2], [1.0, 1.0])
    """
    known = known_rows(meeting)
    if not known.any():
        none = np.zeros(0)
        return GroupSums([], np.zeros(0, dtype=np.intp), none, none, none)
    cells = distinct_rows(take_rows(meeting, known))
    weight = weight[known]

    def by_group(by_row: Array) -> Array:
        return total_by_cell(cells.index, by_row, len(cells))

    names = [column.name for column in meeting]
    codes = zip(*(column.values.astype(np.intp).tolist() for column in cells.columns), strict=True)
    values = [dict(zip(names, map(_category, meeting, at), strict=True)) for at in codes]
    n = np.bincount(cells.index, minlength=len(cells))
    sums = by_group(weight)
    for place in np.flatnonzero(sums == 0):
        raise ArgumentError(
            "sample_weight",
            f"is 0 in all {n[place]:,} rows of {told(values[place])}: its rate would be over "
            "nobody. Drop these rows, or weigh them.",
        )
    # Squares of tiny weights would be 0, and those of huge ones infinite: their ratios are neither.
    modest = weight * modest_scale(float(weight.max()), 0)
    return GroupSums(
        values,
        n,
        sums,
        by_group(weight * selected[known]),
        by_group(modest) ** 2 / by_group(modest**2),
    )


def _category(column: Column, code: int) -> Any:
    assert column.categories is not None
    return column.categories[code]


def known_rows(meeting: Sequence[Column]) -> NDArray[np.bool_]:
    """Return a mask of the rows whose categories are all known."""
    known = np.ones(len(meeting[0].values), dtype=bool)
    for column in meeting:
        known &= ~column.equals(None)
    return known


def told(values: Mapping[str, Any]) -> str:
    """Return who is in a group, in words.

    >>> told({"sex": "F", "race": "B"})
    'sex = F and race = B'
    """
    return " and ".join(f"{name} = {category_label(value)}" for name, value in values.items())
