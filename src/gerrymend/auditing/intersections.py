"""Measure where two categories meet: a table of rates, from which no small group can be worked out.

Beside the cells that are shown, the sums of each value of either attribute may be known, and of all
values together that are not listed. What follows from these about the cells that are not shown?
Draw them as edges between blocks of rows and of columns. A sum over a set S of them follows if S is
u_r + v_c for some numbers by block; u and v can be taken as 0 and ±1, and then S is a *directed
cut*: for a set X of blocks, the edges from rows in X to columns outside, where no edge goes from a
column in X to a row outside. The smallest one through an edge (r, c) is a minimum cut that parts r
from c, with the numbers of people as capacities, and none back. So no cut may be of too few.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.intervals import GroupEstimate, Listed, group_estimates
from gerrymend.auditing.small_groups import identifies
from gerrymend.auditing.tally import NotionTally
from gerrymend.inputs.protected import Column
from gerrymend.inputs.settings import did_you_mean
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.rules import Condition, Conjunction

# Values of an attribute that a table can be read with.
MOST_VALUES = 12


class Intersections(NamedTuple):
    """The groups in which two categories meet, of all notions; none where there are no two.

    `groups` are those that may be described, and `left_out` is how many with rows may not.
    """

    attributes: tuple[str, ...] = ()
    groups: tuple[GroupEstimate, ...] = ()
    left_out: int = 0


NO_INTERSECTIONS = Intersections()


def check_intersection(asked: Sequence[str] | None, columns: Sequence[Column]) -> None:
    """Raise ArgumentError unless `asked` names two categories of few values, or is None."""
    if asked is None:
        return
    names = [column.name for column in columns]
    for name in asked:
        if name not in names:
            raise ArgumentError(
                "intersection",
                f"names {name!r}, which is not protected{did_you_mean(name, names)}.",
            )
        column = columns[names.index(name)]
        if column.categories is None or len(column.categories) > MOST_VALUES:
            categories = column.categories
            number = "numbers" if categories is None else f"{len(categories):,} values"
            raise ArgumentError(
                "intersection",
                f"names {name!r}, which has {number}; a table needs categories, {MOST_VALUES} at "
                "most.",
            )


def intersection_rates(
    seen: Sequence[NotionTally],
    published: Mapping[FairnessNotion, Published],
    asked: Sequence[str] | None = None,
    *,
    min_group_size: int,
) -> Intersections:
    """Return the rates of all combinations of two attributes' values.

    Parameters
    ----------
    seen : sequence of NotionTally
        The rows, as each notion sees them.
    published : mapping of FairnessNotion to Published
        What the report says already; it is added to.
    asked : pair of str, optional
        Two attributes; by default the first two categories of few values.
    min_group_size : int
        The floor of `small_groups`.
    """
    tally = seen[0].tally
    pair = _pair(tally.columns, asked)
    if pair is None:
        return NO_INTERSECTIONS
    width = len(pair[1].categories or ())
    codes = [column.values.astype(np.intp) for column in pair]
    present, group_of = np.unique(codes[0] * width + codes[1], return_inverse=True)
    entries = (np.ones(len(group_of)), (group_of, np.arange(len(group_of))))
    membership = sparse.csr_array(entries, shape=(len(present), len(group_of)))
    places = np.array(np.divmod(present, width))
    kinds = {column.name: column.kind for column in pair}
    rules = [Conjunction(tuple(map(_is_value, pair, at)), kinds) for at in places.T.tolist()]
    sizes = (membership @ tally.n_rows.sum(axis=0)).astype(int)
    listed = [
        Listed(each, rules, membership[:, each.cells.active], sizes.tolist()) for each in seen
    ]
    groups = group_estimates(
        listed,
        published,
        min_group_size=min_group_size,
        guard=partial(_guarded, places, sizes, min_group_size),
    )
    if any(
        _tells(each, published[each.notion], group_of[each.cells.active], min_group_size)
        for each in seen
    ):
        groups = ()
    left_out = len(rules) * len(seen) - len(groups)
    return Intersections(tuple(column.name for column in pair), groups, left_out)


def _tells(
    seen: NotionTally, published: Published, group_of: NDArray[np.intp], min_group_size: int
) -> bool:
    """Return whether a small combination follows from all that is published, described groups too.

    `_guarded` sees what the table's own margins tell; this, what three or more groups do together.
    """
    inside = np.bincount(group_of, seen.rows)
    small = set(np.flatnonzero(identifies(inside, min_group_size)).tolist())
    return bool(small) and not small.isdisjoint(published.follow(group_of))


def _pair(columns: Sequence[Column], asked: Sequence[str] | None) -> list[Column] | None:
    """Return the two attributes of the table; None where there are no two categories to meet."""
    if asked is not None:
        by_name = {column.name: column for column in columns}
        return [by_name[name] for name in asked]
    fit = [c for c in columns if c.categories is not None and 1 < len(c.categories) <= MOST_VALUES]
    return fit[:2] if len(fit) > 1 else None


def _is_value(column: Column, code: int) -> Condition:
    assert column.categories is not None
    return Condition(column.name, values=(column.categories[code],))


def _guarded(
    places: NDArray[np.intp],
    sizes: NDArray[np.intp],
    min_group_size: int,
    groups: Listed,
    fits: NDArray[np.bool_],
    published: Published,
) -> NDArray[np.bool_]:
    """Hide cells of the table until nothing small follows from what else is known.

    `places` has the two codes of each cell of the table (two rows).
    """
    # Over active cells, the number of the table's cell that each is in.
    cell_of = groups.membership.T @ np.arange(len(sizes))
    cell_of = cell_of.astype(np.intp)
    known = np.isin(np.arange(len(sizes)), [*published.told(cell_of)])
    across, down = (
        # A value that is published is a block; all others are one, as their sum is known.
        np.where(np.isin(codes, [*published.told(codes[cell_of])]), codes + 1, 0)
        for codes in places
    )
    rows = np.asarray(groups.membership @ groups.seen.rows, dtype=np.intp)
    shown = fits.copy()

    def in_small_cuts(hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say of each cell if a sum of too few rows, in the event or not, follows with it."""
        unknown = hidden & ~known
        cuts = (_small_cuts(across, down, n, unknown, min_group_size) for n in (rows, sizes))
        return np.logical_or(*cuts)

    # What the report tells without the table is not the table's to hide.
    told_before = in_small_cuts(np.ones(len(sizes), dtype=bool))
    while shown.any() and (leaks := in_small_cuts(~shown) & ~told_before).any():
        shown[_beside(int(np.argmax(leaks)), across, down, rows, shown)] = False
    return shown


def _beside(
    cell: int,
    across: NDArray[np.intp],
    down: NDArray[np.intp],
    rows: NDArray[np.intp],
    shown: NDArray[np.bool_],
) -> list[int]:
    """Return the cells to hide with one that leaks: the fewest rows that make it part of more.

    With three others at the corners of a rectangle, any sum that has it has one of its neighbours
    too. Where no rectangle has a cell that is shown, the smallest that is shown goes.
    """
    at = {place: i for i, place in enumerate(zip(across.tolist(), down.tolist(), strict=True))}
    row, column = int(across[cell]), int(down[cell])
    corners = [
        [at[row, other_column], at[other_row, column], at[other_row, other_column]]
        for other_row, other_column in at
        if other_row != row
        and other_column != column
        and (row, other_column) in at
        and (other_row, column) in at
    ]
    costs = {sum(rows[i] for i in three if shown[i]): three for three in reversed(corners)}
    if paid := [cost for cost in costs if cost > 0]:
        return costs[min(paid)]
    return [int(np.argmin(np.where(shown, rows, rows.max() + 1)))]


def _small_cuts(
    across: NDArray[np.intp],
    down: NDArray[np.intp],
    count: NDArray[np.intp],
    hidden: NDArray[np.bool_],
    min_group_size: int,
) -> NDArray[np.bool_]:
    """Return the hidden cells that are in a directed cut, a sum that follows, of too few rows.

    By hand, of the table [[4, 30], [20, 40]] with 40 shown: row 2 less 40 is the 20, column 1 less
    that the 4. With all of them hidden no sum of less than 24 follows.

    >>> across, down = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> count = np.array([4, 30, 20, 40])
    >>> _small_cuts(across, down, count, np.array([True, True, True, False]), 10).tolist()
    [True, False, False, False]
    >>> _small_cuts(across, down, count, np.array([True, True, True, True]), 10).any().item()
    False
    """
    edges = hidden & (count > 0)
    n_across = int(across.max()) + 1
    n_nodes = n_across + int(down.max()) + 1
    # Cells of the same two blocks are never told apart.
    capacity = np.zeros((n_nodes, n_nodes), dtype=np.int64)
    np.add.at(capacity, (across[edges], n_across + down[edges]), count[edges])
    # Cuts are small or not, so that more than the floor needs no telling apart; and the way back
    # costs more than all edges together.
    capped = np.minimum(capacity, min_group_size)
    back = int(capped.sum()) + 1
    network = sparse.csr_array((capped + back * (capacity.T > 0)).astype(np.int32))
    small = np.zeros(len(count), dtype=bool)
    for place in np.flatnonzero(edges).tolist():
        cut = maximum_flow(network, int(across[place]), n_across + int(down[place])).flow_value
        small[place] = identifies(cut, min_group_size)
    return small
