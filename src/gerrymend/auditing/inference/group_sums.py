"""Sum over groups, and over the rows out of each, all that an interval or a test is made of."""

from typing import Any, NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.tally import NotionTally


class GroupSums(NamedTuple):
    """Sums over the rows in the event, of each group and of all others (a column a group).

    Rows are Σ w, Σ w² and Σ w·u, of numbers also Σ w²·u and Σ w²·u². Outcomes are less `lowest`, in
    units of `span`: rates are scaled to 0 and 1, and numbers centred. `rest` is Σ w² of the rows
    outside the event.
    """

    inside: Array
    outside: Array
    rest: float
    lowest: float
    span: float


def group_sums(seen: NotionTally, members: Any) -> GroupSums | None:
    """Sum over groups, one a row of `members` over active cells; None where Σ w² is not known."""
    squared = seen.tally.squared_weight
    if squared is None:
        return None
    event = np.asarray(seen.notion.event, float)
    active = seen.cells.active
    table = [seen.cells.mass, (event @ squared)[active], seen.outcomes]
    lowest = 0.0
    span = 1.0
    if seen.tally.spread is None:
        lowest, largest = seen.notion.outcome_range
        span = (largest - lowest) or 1.0
        table[2] = (seen.outcomes - lowest * seen.cells.mass) / span
    else:
        lowest = seen.tally.centre
        table[2] = seen.outcomes - lowest * seen.cells.mass
        table += [*np.einsum("y,kym->km", event, seen.tally.spread)[:, active]]
    sums = np.array(table)
    inside = (members @ sums.T).T
    rest = float(((1 - event) @ squared).sum())
    return GroupSums(inside, _outside(sums, inside, members), rest, lowest, span)


def _outside(table: Array, inside: Array, members: Any) -> Array:
    """Return the sums over the cells out of each group, given those over the cells in it.

    A difference of sums loses the digits of a small rest, and all of Σ w² where a few rows weigh
    most: of groups with more than half of a sum the rest is added up itself.
    """
    everyone = table.sum(axis=1)
    outside: Array = everyone[:, None] - inside
    for group in np.flatnonzero((inside[:2] > 0.5 * everyone[:2, None]).any(axis=0)):
        among = members[[group]]
        among = among if isinstance(among, np.ndarray) else among.toarray()
        outside[:, group] = table @ (1.0 - among[0])
    return outside
