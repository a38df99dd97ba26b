"""Measure where two categories meet: a table of rates, from which no small group can be worked out.

Cells of few rows are hidden, and others until nothing small follows from all that is published.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.intervals import (
    GroupEstimate,
    Listed,
    group_estimates,
    shown_groups,
)
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
    pair = _pair(tally.protected, asked)
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
    listed = [Listed(each, rules, membership, sizes) for each in seen]
    shown = shown_groups(listed, published, min_group_size=min_group_size, together=True)
    groups = group_estimates(listed, shown)
    left_out = len(rules) * len(seen) - len(groups)
    return Intersections(tuple(column.name for column in pair), groups, left_out)


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
