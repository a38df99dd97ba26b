"""Which attributes meet in tables, what is summed over their groups, and which is the reference."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.impact.attributes import Reference
from gerrymend.impact.group_sums import GroupSums, group_sums, told
from gerrymend.inputs.protected import Column

# Groups over all tables: no reader looks through more.
MOST_GROUPS = 2_000

Meeting = tuple[Column, ...]


def meetings(columns: Sequence[Column], depth: int) -> list[Meeting]:
    """Return each category, and those of which up to `depth` meet.

    >>> columns = [Column(name, np.zeros(1), ("x",)) for name in "abc"]
    >>> ["".join(column.name for column in meeting) for meeting in meetings(columns, 2)]
    ['a', 'b', 'c', 'ab', 'ac', 'bc']
    """
    tabled = [column for column in columns if column.is_categorical]
    return [
        meeting
        for size in range(1, min(depth, len(tabled)) + 1)
        for meeting in combinations(tabled, size)
    ]


def sums_of_meetings(
    chosen: Sequence[Meeting], weight: Array, selected: NDArray[Any]
) -> list[GroupSums]:
    """Return the sums of each table; raise an ArgumentError as soon as there are too many groups.

    `selected` has who is selected by row, or with which probability.
    """
    summed = []
    n_groups = 0
    for meeting in chosen:
        sums = group_sums(meeting, weight, selected)
        n_groups += len(sums.values)
        if n_groups > MOST_GROUPS:
            names = " × ".join(column.name for column in meeting)
            raise ArgumentError(
                "sensitive_features",
                f"makes more than {MOST_GROUPS:,} groups by the table of {names}, and nobody reads "
                "so many. Lower ",
                Argument("depth"),
                ", merge categories, or leave an attribute out.",
            )
        summed.append(sums)
    return summed


def is_named_for(names: Sequence[str], reference: Reference) -> bool:
    """Return whether the reference group was named for a table of these attributes."""
    return set(names) <= set(reference)


def reference_place(
    names: Sequence[str], sums: GroupSums, reference: Reference, excluded: NDArray[np.bool_]
) -> int | None:
    """Return the place of the reference group: the one that was named, or the most selected.

    Raises an ArgumentError for a named group without rows.
    """
    if is_named_for(names, reference):
        return _named_place(names, sums, reference)
    return _most_selected(sums, excluded)


def _most_selected(sums: GroupSums, excluded: NDArray[np.bool_]) -> int | None:
    """Return the group of the highest rate, the largest of several; None if nobody is selected."""
    rate = np.where(excluded, -1.0, sums.selected / sums.weight)
    if not len(rate) or rate.max() <= 0:
        return None
    highest = np.flatnonzero(rate == rate.max())
    return int(highest[np.argmax(sums.n[highest])])


def _named_place(names: Sequence[str], sums: GroupSums, reference: Reference) -> int:
    """Return the group that was named; raise an ArgumentError where it has no rows."""
    wanted = {name: reference[name] for name in names}
    if wanted not in sums.values:
        raise ArgumentError(
            "reference",
            f"is {told(wanted)}, and no row has that. Of {' × '.join(names)} there are: "
            f"{'; '.join(told(one) for one in sums.values[:20])}.",
        )
    return sums.values.index(wanted)


def check_selected(sums: GroupSums, place: int) -> None:
    """Raise an ArgumentError where nobody of the group that was named is selected."""
    if sums.selected[place] == 0:
        raise ArgumentError(
            "reference",
            f"is {told(sums.values[place])}, of whom nobody of {sums.n[place]:,} is selected: "
            "there is no ratio to a rate of 0. Name another group, or 'highest'.",
        )
