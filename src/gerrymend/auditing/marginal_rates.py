"""Measure one attribute at a time, beside any class: what an ordinary audit would show.

Whatever class is audited, its report has the rates of each marginal group, and the largest of their
unfairness. The distance from there to the worst subgroup is what gerrymandering hides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.intervals import GroupEstimate, Listed, group_estimates
from gerrymend.auditing.small_groups import too_few
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.auditing.tally import NotionTally
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.marginals import marginal_groups


@dataclass(frozen=True)
class OverallRate:
    """The rate that groups are compared with.

    Attributes
    ----------
    notion : str
        What is counted.
    rate : float or None
        Over all rows in the event; None where these are too few to be described.
    rows : int
        How many these are.
    """

    notion: str
    rate: float | None
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return the rate as plain data."""
        return {"notion": self.notion, "rate": self.rate, "rows": self.rows}


@dataclass(frozen=True)
class MarginalRates:
    """The marginal groups of all notions.

    `unfairness` is the largest, without sign, of all of them or of those on the side that counts;
    `groups` are those that may be described, and `left_out` is how many may not.
    """

    unfairness: float
    groups: tuple[GroupEstimate, ...]
    left_out: int


def overall_rates(seen: Sequence[NotionTally], *, min_group_size: int) -> tuple[OverallRate, ...]:
    """Return the overall rate of each notion; None where it would be of too few rows."""

    def overall(notion_tally: NotionTally) -> OverallRate:
        rows = int(notion_tally.rows.sum())
        if too_few(rows, min_group_size):
            return OverallRate(notion_tally.notion.name, None, rows)
        rate = float(notion_tally.outcomes.sum() / notion_tally.cells.mass.sum())
        return OverallRate(notion_tally.notion.name, rate, rows)

    return tuple(map(overall, seen))


def marginal_rates(
    seen: Sequence[NotionTally],
    published: Mapping[FairnessNotion, Published],
    *,
    min_group_size: int,
    side: str = "both",
) -> MarginalRates:
    """Return rates of all marginal groups, from one product with a sparse matrix.

    Parameters
    ----------
    seen : sequence of NotionTally
        The rows, as each notion sees them.
    published : mapping of FairnessNotion to Published
        What the report says already; groups that would disclose smaller ones beside it are left
        out, and the others are added to it.
    min_group_size : int
        The floor of `small_groups`.
    side : {"both", "disadvantaged"}
        Which groups count for the largest unfairness.
    """
    tally = seen[0].tally
    rules, membership = marginal_groups(tally.columns, tally.weight.sum(axis=0))
    sizes = (membership @ tally.n_rows.sum(axis=0)).astype(int)
    listed = [Listed(notion_tally, rules, membership, sizes) for notion_tally in seen]
    groups = group_estimates(listed, published, min_group_size=min_group_size)

    # Over all groups, those that are left out too: the verdict is about everyone.
    def largest(each: Listed) -> float:
        values = each.membership[:, each.seen.cells.active] @ each.seen.residual
        harm = each.seen.notion.harm
        return float((harm * values if side == "disadvantaged" else np.abs(values)).max())

    worst = max(map(largest, listed)) / tally.total_weight
    return MarginalRates(
        worst if worst > ROUNDING else 0.0, groups, len(rules) * len(seen) - len(groups)
    )


def single_unfairness(seen: Sequence[NotionTally], *, side: str = "both") -> float:
    """Return the largest unfairness over each value of a category and each interval of a number.

    W by distinct value is all that it takes, in order; an interval is then the difference of two of
    its running sums, and the widest apart are the largest and the smallest, in either order.
    """
    worst = 0.0
    for notion_tally in seen:
        sign = notion_tally.notion.harm if side == "disadvantaged" else 0
        for column in notion_tally.tally.columns:
            _, place = np.unique(column.values[notion_tally.cells.active], return_inverse=True)
            values = np.bincount(place, notion_tally.residual)
            if not column.is_categorical:
                sums = np.concatenate([[0.0], np.cumsum(values)])
                values = np.array(
                    [
                        np.max(sums - np.minimum.accumulate(sums)),
                        np.min(sums - np.maximum.accumulate(sums)),
                    ]
                )
            worst = max(worst, float((sign * values if sign else np.abs(values)).max()))
    worst /= seen[0].tally.total_weight
    return worst if worst > ROUNDING else 0.0
