"""Judge a further group without those of it who are in the group that leads.

Two groups that share people share what befalls them: a group that has some of the worst one's looks
bad by these alone. Those who are left of it are compared with all who are left.
"""

from collections.abc import Mapping, Sequence

import numpy as np

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
    if first.notion != group.notion or first.unfairness * group.unfairness <= 0:
        return None
    seen = next(one for one in every if one.notion == group.notion)
    if seen.strata:
        return None
    columns = {column.name: column for column in seen.tally.columns}
    lead, inside = (one.rule.members(columns) for one in (first, group))
    blocks = 2 * lead.astype(np.intp) + inside
    told = published[group.notion]
    rows = np.bincount(blocks, seen.rows_of_cells, 4)
    both = (lead & inside)[seen.cells.active]
    rest = (inside & ~lead)[seen.cells.active]
    if not (rows[1] and rows[3]) or identifies(rows, told.min_group_size).any():
        return None
    # Rates and weights are told of each part, and not its number of people.
    if told.in_event.told(blocks) is not None:
        return None
    told.in_event.add(blocks)
    mass = seen.cells.mass
    others = float(mass[rest].sum())
    rate = float(seen.outcomes[rest].sum()) / others
    gap = own_residual(seen, inside[seen.cells.active], [lead[seen.cells.active]]) / others
    return Apart(float(mass[both].sum() / (mass[both].sum() + others)), rate, rate - gap)


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
