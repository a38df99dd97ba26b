"""The Auditor: answers the decisions of a model with the worst subgroup, for one or more notions.

Rows are reduced to sums by cell once a call; all that follows is over cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._sums import Array, exactly_summable, total, total_by_cell
from gerrymend.notions import FairnessNotion
from gerrymend.protected import Cells
from gerrymend.subgroups.base import Found, SubgroupClass
from gerrymend.subgroups.rules import Members, Rule

Votes = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Subgroup:
    """A subgroup and how it is treated, on the rows that were audited.

    Attributes
    ----------
    rule : Rule
        Who is in.
    notion : FairnessNotion
        The rate that was compared.
    unfairness : float
        share·(rate − overall_rate): positive where the group's rate is the higher one.
    share : float
        The weight of the group's rows in the event, over the weight of all rows: for false
        positives "the group's negatives are so much of all rows", not its part of the population.
    size : int
        Rows in the group, in the event or not.
    rate, overall_rate : float
        The rate in the group, and overall.

    Examples
    --------
    >>> from gerrymend import audit
    >>> A = {"race": ["blue", "blue", "green", "green"]}
    >>> worst = audit([0, 0, 0, 0], [1, 1, 0, 1], sensitive_features=A).worst
    >>> worst.describe(), worst.size, worst.rate, worst.overall_rate
    ('race = blue', 2, 1.0, 0.75)
    >>> worst.contains({"race": ["green", "blue"]}).tolist()
    [False, True]
    """

    rule: Rule
    notion: FairnessNotion
    unfairness: float
    share: float
    size: int
    rate: float
    overall_rate: float

    def describe(self) -> str:
        """Who is in, in words."""
        return self.rule.describe()

    def contains(self, sensitive_features: Any) -> Members:
        """Who is in, for any rows that have the attributes."""
        return self.rule.contains(sensitive_features)

    def __str__(self) -> str:
        return self.describe()


class NotionAuditor:
    """One notion over the cells of some rows.

    Written with the outcome u = a + b·p of the rows in the event, summed by cell: `offset` is the
    sum of w·a, and each call adds the sum of w·b·p.
    """

    def __init__(
        self,
        notion: FairnessNotion,
        subgroups: SubgroupClass,
        cells: Cells,
        y: NDArray[np.intp],
        weight: Array,
    ) -> None:
        self.notion = notion
        self.cells = cells
        rows = np.flatnonzero(notion.in_event(y) & (weight > 0))
        if rows.size == 0:
            wanted = " or ".join(str(label) for label in (0, 1) if notion.event[label])
            raise ValueError(
                f"No row counts for the {notion.words}: it is a rate over rows of label {wanted} "
                "(0 and 1 in the order of the classes), and there is none with positive weight. "
                "Choose another notion."
            )
        # Rows sorted by label make the event a slice, which is a view; else it is a copy.
        contiguous = rows[-1] - rows[0] == rows.size - 1
        self.rows = slice(int(rows[0]), int(rows[-1]) + 1) if contiguous else rows
        self.cell = cells.index[self.rows]
        self.slope = notion.slope(y[self.rows])
        self._weighted_slope = weight[self.rows] * self.slope
        self._integral = bool((self._weighted_slope == np.rint(self._weighted_slope)).all())
        constant = notion.outcome(y[self.rows], np.zeros(rows.size))
        self.offset = total_by_cell(self.cell, weight[self.rows] * constant, len(cells))
        self.mass = total_by_cell(self.cell, weight[self.rows], len(cells))
        self._mass_share = self.mass / self.mass.sum()
        self.total_weight = total(weight)
        self._n_rows = np.bincount(cells.index, minlength=len(cells))
        by_cell = total_by_cell(cells.index, weight, len(cells))
        self.subgroups = subgroups.bind(cells.columns, by_cell, self.mass)

    def outcomes(self, votes: Votes, n_votes: float) -> Array:
        """Sum of w·u by cell, for decisions of probability votes / n_votes, one model a row."""
        weighted = votes[:, self.rows] * self._weighted_slope
        if not (self._integral and votes.dtype == np.int64):
            weighted = np.stack([exactly_summable(model) for model in weighted])
        sums = np.stack(
            [np.bincount(self.cell, model, minlength=len(self.mass)) for model in weighted]
        )
        sums /= n_votes
        sums += self.offset
        return sums

    def residuals(self, votes: Votes, n_votes: float = 1.0) -> Array:
        """W, the centred outcomes by cell: a group's sum, over the total weight, is its unfairness."""
        outcomes = self.outcomes(votes, n_votes)
        outcomes -= outcomes.sum(axis=1, keepdims=True) * self._mass_share
        return outcomes

    def centre(self, members: Members) -> Array:
        """centre(g) by cell, for the cells' rows in the event."""
        centred: Array = members - (members @ self._mass_share)[:, None]
        return centred

    def subgroup(self, key: Any, members: Members, votes: Votes, n_votes: float) -> Subgroup | None:
        """The subgroup of a key, measured on the rows that its description selects."""
        if not members.any():
            return None
        rule = self.subgroups.presentable(key, members)
        selected = rule.members({column.name: column for column in self.cells.columns})
        return self.measure(rule, selected, self.outcomes(votes[None], n_votes)[0])

    def measure(self, rule: Rule, members: Members, outcomes: Array) -> Subgroup:
        """Size, rate and unfairness of the cells in a group."""
        mass = float(self.mass[members].sum())
        overall = float(outcomes.sum() / self.mass.sum())
        rate = float(outcomes[members].sum()) / mass if mass > 0 else overall
        share = mass / self.total_weight
        size = int(self._n_rows[members].sum())
        return Subgroup(rule, self.notion, share * (rate - overall), share, size, rate, overall)


@dataclass(frozen=True, eq=False)
class Answer:
    """The Auditor's answer to each model: which notion, and what was found for each notion."""

    unfairness: Array
    notion: NDArray[np.intp]
    found: list[Found]

    def key(self, model: int) -> tuple[int, Any]:
        """Notion and key of the subgroup that was found for one model."""
        which = int(self.notion[model])
        return which, self.found[which].keys[model]


class Auditor:
    """All notions at once: what is worst over them, and what the Learner pays for it."""

    def __init__(
        self,
        notions: Sequence[FairnessNotion],
        subgroups: SubgroupClass,
        cells: Cells,
        y: NDArray[np.intp],
        weight: Array,
    ) -> None:
        self.notions = [NotionAuditor(notion, subgroups, cells, y, weight) for notion in notions]
        self.total_weight = total(weight)
        self.base_cost: Array = 1.0 - 2.0 * y
        self._share = weight / self.total_weight
        # err = ⟨share, y⟩ + ⟨share·(1 − 2y), p⟩
        self._error_of_zero = float(self._share @ y)
        self._error_slope = self._share * self.base_cost

    def worst(self, votes: Votes, n_votes: float) -> Answer:
        """The worst subgroup that was found for each model; decisions are votes / n_votes."""
        found = [one.subgroups.worst(one.residuals(votes, n_votes)) for one in self.notions]
        values = np.abs([one.values for one in found]) / self.total_weight
        return Answer(values.max(axis=0), values.argmax(axis=0), found)

    def subgroup(self, answer: Answer, model: int, votes: Votes, n_votes: float) -> Subgroup | None:
        """The subgroup that an answer holds for one model, measured on that model's votes."""
        which, key = answer.key(model)
        return self.notions[which].subgroup(key, answer.found[which].members[model], votes, n_votes)

    def upper_bound(self, votes: Votes, n_votes: float) -> Array:
        """Unfairness that no subgroup of the class exceeds, for each model."""
        bounds = [one.subgroups.upper_bound(one.residuals(votes, n_votes)) for one in self.notions]
        largest: Array = np.max(bounds, axis=0) / self.total_weight
        return largest

    def error(self, votes: Votes, n_votes: float) -> Array:
        """Weighted error of each model."""
        error: Array = self._error_of_zero + votes @ self._error_slope / n_votes
        return error

    def price(self, pressure: Sequence[Array], out: Array) -> Array:
        """Write the cost of deciding 1 in each row; return what is paid whatever is decided.

        The Lagrangian of decisions h is the constant + ⟨share·cost, h⟩, less gamma·Σλ. Its part of
        the constant is there for notions whose outcome depends on the label too.
        """
        out[:] = self.base_cost
        constant = np.full(len(out), self._error_of_zero)
        for notion, by_cell in zip(self.notions, pressure, strict=True):
            out[:, notion.rows] += notion.slope * by_cell[:, notion.cell]
            constant += by_cell @ notion.offset / self.total_weight
        return constant

    def cost_of(self, costs: Array, decisions: NDArray[np.bool_] | Votes) -> Array:
        """⟨share·cost, h⟩ for each model."""
        cost: Array = np.vecdot(costs * decisions, self._share)
        return cost
