"""Judge a further group without those of it who are in the group that leads.

Two groups that share people share what befalls them: a group that has some of the worst one's looks
bad by these alone. Those who are left of it are compared with all who are left.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.small_groups import identifies
from gerrymend.auditing.subgroup import Apart, Subgroup
from gerrymend.auditing.tally import NotionTally
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.rules import Members


def apart_from(
    every: Sequence[NotionTally],
    first: Subgroup,
    group: Subgroup,
    published: Mapping[FairnessNotion, Published],
) -> Apart | None:
    """Return what a group has without those in the first one; None where that is not told.

    It is not where both are of different notions or sides, so that neither lends to the other,
    where they share nobody or one is in the other, and where it would tell of few rows; nor within
    strata, of which fewer could be told beside it.

    Parameters
    ----------
    every : sequence of NotionTally
        The rows, as each notion sees them.
    first, group : Subgroup
        The one that leads, and a further one.
    published : mapping of notion to Published
        What is told already; what is returned is added to it.
    """
    parts = _parts(every, first, group, published)
    if parts is None or not (parts.rows[1] and parts.rows[3]):
        return None
    seen = parts.seen
    published[group.notion].in_event.add(parts.blocks)
    both = (parts.lead & parts.inside)[seen.cells.active]
    rest = (parts.inside & ~parts.lead)[seen.cells.active]
    mass = seen.cells.mass
    others = float(mass[rest].sum())
    rate = float(seen.outcomes[rest].sum()) / others
    if seen.cells.predicted is not None:
        rate += float(seen.cells.predicted[rest].sum()) / others
    lead, inside = (one[seen.cells.active] for one in (parts.lead, parts.inside))
    gap = own_residual(seen, inside, [lead]) / others
    return Apart(float(mass[both].sum() / (mass[both].sum() + others)), rate, rate - gap)


def part_within(
    every: Sequence[NotionTally],
    first: Subgroup,
    group: Subgroup,
    published: Mapping[FairnessNotion, Published],
) -> float | None:
    """Return the part of a group's weight in the event that is in another one, as it is told.

    None where it is not, as in `apart_from`, which takes the same; nothing or all may be shared.
    """
    parts = _parts(every, first, group, published)
    if parts is None:
        return None
    published[group.notion].in_event.add(parts.blocks)
    active = parts.seen.cells.active
    mass = parts.seen.cells.mass
    inside = parts.inside[active]
    return float(mass[inside & parts.lead[active]].sum() / mass[inside].sum())


class _Parts(NamedTuple):
    """Two groups by cell, the four parts that they make, and the rows of each in the event."""

    seen: NotionTally
    lead: Members
    inside: Members
    blocks: NDArray[np.intp]
    rows: NDArray[Any]


def _parts(
    every: Sequence[NotionTally],
    first: Subgroup,
    group: Subgroup,
    published: Mapping[FairnessNotion, Published],
) -> _Parts | None:
    """Return the parts that two groups make; None where what they share is not told."""
    if first.notion != group.notion or first.unfairness * group.unfairness <= 0:
        return None
    seen = next(one for one in every if one.notion == group.notion)
    if seen.strata:
        return None
    columns = {column.name: column for column in seen.tally.columns}
    lead, inside = (one.rule.members(columns) for one in (first, group))
    blocks = 2 * lead.astype(np.intp) + inside
    rows = np.bincount(blocks, seen.rows_of_cells, 4)
    told = published[group.notion]
    # Rates and weights are told of each part, and not its number of people.
    if identifies(rows, told.min_group_size).any() or told.in_event.told(blocks) is not None:
        return None
    return _Parts(seen, lead, inside, blocks, rows)


def own_residual(seen: NotionTally, group: Members, earlier: Sequence[Members]) -> float:
    """Return the sum of residuals of those in a group who are in none of the earlier ones.

    Groups are given over active cells. Residuals are centred among all who are left; those from a
    reference of one's own stay as they are.
    """
    left = ~np.logical_or.reduce([np.zeros_like(group), *earlier])
    alone = group & left
    mass = seen.cells.mass
    rate = 0.0
    if seen.cells.reference is None and left.any():
        rate = seen.residual[left].sum() / mass[left].sum()
    return float(seen.residual[alone].sum() - rate * mass[alone].sum())
