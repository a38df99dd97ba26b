"""One attribute at a time, beside any class of subgroups: what an ordinary audit would show.

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
        Over all rows that count; None where these are too few to be described.
    rows : int
        How many these are.
    """

    notion: str
    rate: float | None
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """The rate as plain data."""
        return {"notion": self.notion, "rate": self.rate, "rows": self.rows}


@dataclass(frozen=True)
class MarginalRates:
    """Every marginal group, all notions.

    `unfairness` is the largest, without sign, of all of them; `groups` are those that may be
    described, and `left_out` is how many may not.
    """

    unfairness: float
    groups: tuple[GroupEstimate, ...]
    left_out: int


def overall_rates(seen: Sequence[NotionTally], *, min_group_size: int) -> tuple[OverallRate, ...]:
    """The overall rate of each notion."""

    def overall(one: NotionTally) -> OverallRate:
        rows = int(one.rows.sum())
        if too_few(rows, min_group_size):
            return OverallRate(one.notion.name, None, rows)
        rate = float(one.outcomes.sum() / one.cells.mass.sum())
        return OverallRate(one.notion.name, rate, rows)

    return tuple(map(overall, seen))


def marginal_rates(
    seen: Sequence[NotionTally],
    published: Mapping[FairnessNotion, Published],
    *,
    min_group_size: int,
) -> MarginalRates:
    """Rates of all marginal groups, from sums that one product with a sparse matrix makes.

    Groups that would give away smaller ones, beside what is `published`, are left out.
    """
    tally = seen[0].tally
    rules, membership = marginal_groups(tally.columns, tally.weight.sum(axis=0))
    sizes = (membership @ tally.n_rows.sum(axis=0)).astype(int).tolist()
    listed = [Listed(one, rules, membership[:, one.cells.active], sizes) for one in seen]
    groups = group_estimates(listed, published, min_group_size=min_group_size)
    worst = max(
        float(np.abs(each.membership @ each.seen.residual).max()) / tally.total_weight
        for each in listed
    )
    return MarginalRates(
        worst if worst > ROUNDING else 0.0, groups, len(rules) * len(seen) - len(groups)
    )
