"""Describe subgroups without listing values that only few rows have: these may name people.

What is searched and proven is about every value. Only for the description values that fewer than
`min_group_size` rows have are taken together, as *others*: a group that treats them alike is one of
the class, and can be told by the values that many rows have.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import FEWEST_TO_LIST, MIN_GROUP_SIZE, too_few
from gerrymend.auditing.tally import NotionTally, Tally
from gerrymend.inputs.bins import protected
from gerrymend.inputs.protected import Column, Others, distinct_rows
from gerrymend.subgroups.base import BoundClass, SubgroupClass
from gerrymend.subgroups.linear import LinearThresholds
from gerrymend.subgroups.rules import Members, Rare, Rule
from gerrymend.subgroups.value_sets import ValueSets
from gerrymend.subgroups.within_scores import within_scores


def rare_values(
    tally: Tally, min_group_size: int, *, with_rows: bool = False
) -> dict[str, frozenset[Any]]:
    """Return the categories that fewer rows have than may be listed, by attribute, where any are.

    A category of no row here may be that of a few that are held out; `with_rows` leaves it out.

    >>> from gerrymend.auditing.from_rows import tally_of_rows
    >>> tally = tally_of_rows([0, 1, 0], [0, 1, 1], {"town": ["Ulm", "Ulm", "Au"]})
    >>> rare_values(tally, 2)
    {'town': frozenset({'Au'})}
    """
    counts = rows_by_value(tally.columns, tally.n_rows.sum(axis=0))
    if with_rows:
        counts = {name: {v: n for v, n in rows.items() if n} for name, rows in counts.items()}
    return rare_of(counts, min_group_size)


def rows_by_value(
    columns: Iterable[Column], n_rows: NDArray[np.intp] | None = None
) -> dict[str, dict[Any, int]]:
    """Return the number of rows of each category, by attribute; None is one row for each value."""
    return {
        column.name: dict(
            zip(
                column.categories,
                np.bincount(column.values.astype(np.intp), n_rows, len(column.categories))
                .astype(int)
                .tolist(),
                strict=True,
            )
        )
        for column in columns
        if column.categories is not None
    }


def rare_of(
    counts: Mapping[str, Mapping[Any, float]], min_group_size: int = MIN_GROUP_SIZE
) -> dict[str, frozenset[Any]]:
    """Return the categories that too few rows have to be listed, by attribute, where any are."""
    # A value that one row has names a person even where groups of any size may be shown.
    floor = max(min_group_size, FEWEST_TO_LIST)
    found = {
        name: frozenset(value for value, rows in by_value.items() if too_few(rows, floor))
        for name, by_value in counts.items()
    }
    return {name: values for name, values in found.items() if values}


def lists_any(rule: Rule, rare: Rare) -> bool:
    """Return whether a reader of a rule may see one of these values."""
    return any(value in rare.get(attribute, ()) for attribute, value in rule.listed())


@dataclass(frozen=True, eq=False)
class Coarse:
    """The cells of a tally with rare values taken together, as one notion and one class see them.

    `index` is the coarse cell of each cell; `active` are the coarse cells in the notion's event,
    `rows` their number of rows there.
    """

    bound: BoundClass
    index: NDArray[np.intp]
    active: NDArray[np.intp]
    rows: NDArray[np.intp]
    seen: NotionTally

    @classmethod
    def of(
        cls,
        seen: NotionTally,
        subgroups: SubgroupClass,
        columns: tuple[Column, ...],
        sign: int = 0,
    ) -> "Coarse":
        """Group the cells of a tally by other columns, given over its cells, and bind the class."""
        cells = distinct_rows(columns)
        mine = cells.index[seen.cells.active]
        m = len(cells)
        event_weight: Array = np.bincount(mine, seen.cells.mass, m).astype(np.float64)
        weight = np.bincount(cells.index, seen.tally.weight.sum(axis=0), m).astype(np.float64)
        active = np.flatnonzero(event_weight > 0)
        rows = np.bincount(mine, seen.rows, m)[active].astype(np.intp)
        searched = within_scores(subgroups, cells.columns)
        bound = searched.bind(cells.columns, weight, event_weight)
        bound = bound.one_sided(sign) if sign else bound
        return cls(bound, cells.index, active, rows, seen)

    def worst_of_size(
        self, residual: Array, min_group_size: int, seconds: float
    ) -> tuple[Rule, Members] | None:
        """Return the worst subgroup that is large enough, with its members among active cells.

        `residual` is over the active cells of the tally itself.
        """
        fine = self.seen.cells.active
        n_cells = int(self.index.max()) + 1
        by_cell = np.bincount(self.index[fine], residual, n_cells).astype(np.float64)
        found = self.bound.worst_of_size(
            by_cell[self.active], self.rows, min_group_size, seconds=seconds
        )
        if found is None:
            return None
        members = np.zeros(len(by_cell), dtype=bool)
        # Back from active coarse cells to all coarse ones, and from these to the fine ones in the
        # event.
        members[self.active] = found.members[0] > 0
        rule = self.bound.source.rule(found.keys[0]).without_others()
        return rule, members[self.index][fine]


def can_merge(subgroups: SubgroupClass | None) -> bool:
    """Return whether a group of the class over merged values is one of the class itself."""
    return isinstance(subgroups, LinearThresholds | ValueSets)


def coarse_view(
    seen: NotionTally,
    subgroups: SubgroupClass,
    rare: Rare,
    sign: int = 0,
    without: Set[str] = frozenset(),
) -> Coarse | None:
    """Return the cells as the class can be searched without rare values; None if it can't be.

    Linear thresholds and value sets can treat several values alike. Of other classes a group that
    does may be none, and only attributes without rare values are left.

    Parameters
    ----------
    seen : NotionTally
        The rows, as a notion sees them.
    subgroups : SubgroupClass
        The class that is searched.
    rare : mapping from names to sets
        The values that may not be listed, by attribute.
    sign : int, default=0
        With 1 or -1 one side is searched alone.
    without : set of str, default=frozenset()
        Attributes to leave out.

    Returns
    -------
    Coarse or None
    """
    columns = tuple(column for column in seen.tally.columns if column.name not in without)
    if can_merge(subgroups):
        columns = tuple(merged(column, rare.get(column.name, frozenset())) for column in columns)
    else:
        columns = tuple(column for column in columns if column.name not in rare)
    return Coarse.of(seen, subgroups, columns, sign) if protected(columns) else None


def merged(column: Column, rare: frozenset[Any]) -> Column:
    """Return a column with one category, the last, in place of the rare ones."""
    if not rare or column.categories is None:
        return column
    known = tuple(value for value in column.categories if value not in rare)
    # Codes of the values that stay, in their order; all rare ones have the one after them.
    code = [len(known) if value in rare else known.index(value) for value in column.categories]
    values = np.array(code, dtype=np.float64)[column.values.astype(np.intp)]
    return replace(column, values=values, categories=(*known, Others(known)))
