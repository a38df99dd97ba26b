"""A group by known attributes and categories that are probable: what is expected, and possible."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gerrymend._numeric.sums import Array, total
from gerrymend._runtime.reprs import short_repr
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.rules import Rule, among_words
from gerrymend.uncertain.extremes import Extremes
from gerrymend.uncertain.people import Rated
from gerrymend.uncertain.search import Candidate


@dataclass(frozen=True, eq=False, repr=False)
class UncertainGroup:
    """A group, as its probabilities weigh its people, and what it may be in truth.

    Attributes
    ----------
    notion : FairnessNotion
        The rate that was compared.
    attribute : str
        The attribute that is known as probabilities.
    categories : tuple of str
        Its categories of which a member has one; empty where the group is of known attributes
        alone.
    rule : Rule or None
        Which known attributes a member has; None where any will do.
    unfairness : float
        The expected one, positive where the group's rate is the higher one: a share of the rows
        times a difference of rates, each row counted with its probability to be a member.
    low, high : float
        What it is in truth, whoever the members are, as long as the probabilities are right on
        average.
    deviation : float
        The standard deviation of what it is in truth, if memberships are drawn by the probabilities
        and independent of the decisions.
    size : float
        The expected number of rows.
    share : float
        The expected weight of its rows in the event, over the weight of all rows.
    rate, overall_rate : float
        The rate, weighted by the probabilities, and that of everyone.

    See Also
    --------
    UncertainReport : An audit where an attribute is known as probabilities.

    Examples
    --------
    >>> from gerrymend import audit_uncertain
    >>> report = audit_uncertain(None, [1, 0] * 100, notion="statistical_parity",
    ...     attribute_probabilities={"race": {"Black": [.2, .8] * 100, "White": [.8, .2] * 100}})
    >>> group = report.worst
    >>> group.describe(), round(group.unfairness, 3), round(group.rate, 3)
    ('race = Black', -0.15, 0.2)
    >>> round(group.low, 3), round(group.high, 3)
    (-0.15, -0.15)
    """

    notion: FairnessNotion
    attribute: str
    categories: tuple[str, ...]
    rule: Rule | None
    unfairness: float
    low: float
    high: float
    deviation: float
    size: float
    share: float
    rate: float
    overall_rate: float

    @property
    def surely(self) -> float:
        """Return the least that it has in truth, either way: 0 where it may be on either side."""
        return max(self.low, -self.high, 0.0)

    def describe(self) -> str:
        """Return who is in, in words."""
        parts = [] if self.rule is None else [self.rule.describe()]
        if self.categories:
            parts.insert(0, among_words(self.attribute, self.categories, True))
        return " and ".join(parts) or "everyone"

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return short_repr(
            self,
            group=self.describe(),
            unfairness=self.unfairness,
            low=self.low,
            high=self.high,
            size=self.size,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the group as plain data."""
        return {
            "subgroup": self.describe(),
            "notion": self.notion.name,
            "categories": list(self.categories),
            "rule": None if self.rule is None else self.rule.to_dict(),
            "unfairness": self.unfairness,
            "low": self.low,
            "high": self.high,
            "surely": self.surely,
            "deviation": self.deviation,
            "size": self.size,
            "share": self.share,
            "rate": self.rate,
            "overall_rate": self.overall_rate,
        }


def group_of(rated: Rated, extremes: Extremes, candidate: Candidate) -> UncertainGroup | None:
    """Return a candidate as it is measured; None if none of its people is in the event."""
    people = rated.people
    chosen = people.probabilities.sets[candidate.number]
    is_in = members_of(rated, candidate)[people.cells.index]
    part = people.of_sets[:, candidate.number] * is_in
    n = people.total_weight
    in_event = rated.weight * part
    mass = total(in_event)
    if mass == 0:
        return None
    cells = members_of(rated, candidate)
    low, high = (sums[cells, candidate.number].sum() / n for sums in extremes)
    residual = people.sample.weight * rated.residual
    names = np.asarray(people.probabilities.categories)[chosen].tolist()
    return UncertainGroup(
        notion=rated.notion,
        attribute=people.probabilities.name,
        categories=() if chosen.all() else tuple(names),
        rule=candidate.rule,
        unfairness=total(residual * part) / n,
        low=float(low),
        high=float(high),
        deviation=math.sqrt(total(residual**2 * part * (1 - part))) / n,
        size=total(part),
        share=mass / n,
        rate=total(in_event * rated.outcome) / mass,
        overall_rate=rated.overall_rate,
    )


def members_of(rated: Rated, candidate: Candidate) -> Any:
    """Return a mask of the cells whose people may be members."""
    if candidate.rule is None:
        return np.ones(len(rated.people.cells), dtype=bool)
    columns = {column.name: column for column in rated.people.known}
    return candidate.rule.members(columns)


def expected_rows(rated: Rated, number: int) -> Array:
    """Return the expected number of rows in the event and a set, by cell."""
    part = rated.people.of_sets[:, number] * (rated.weight > 0)
    sums: Array = rated.people.by_cell(part[:, None])[:, 0]
    return sums
