"""The groups that are watched, and the money that bets against each have made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.tally import Tally
from gerrymend.changes.betting import SIDES, STAKES, blocks, covariances, winnings
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.plain_rules import plain_of_rule, rule_of_plain
from gerrymend.subgroups.rules import Members, Rule

# Nobody has bet yet.
_NOTHING = -np.inf


@dataclass(frozen=True, eq=False)
class Watched:
    """A group of one rate, since which batch it is watched, and the money of each bet.

    `money` has logarithms, by side (a higher rate, a lower one) and stake; of a notion whose worse
    side alone counts, the other never bets. Groups that were `named` stay whatever they make.
    `whole` are the attributes without fractions, for the words of the rule.
    """

    rule: Rule
    notion: FairnessNotion
    since: int
    sides: tuple[bool, bool] = (True, True)
    named: bool = False
    whole: tuple[str, ...] = ()
    money: Array = field(default_factory=lambda: np.full((2, len(STAKES)), _NOTHING))

    @property
    def total(self) -> float:
        """The money of all of its bets."""
        return float(np.exp(np.logaddexp.reduce(self.money, axis=None)))

    @property
    def n_bets(self) -> int:
        """The number of its bets."""
        return sum(self.sides) * len(STAKES)

    def given(self, each: float) -> "Watched":
        """Return the same with so much more money for each bet."""
        mine = np.where(np.array(self.sides)[:, None], np.log(each), _NOTHING)
        return replace(self, money=np.logaddexp(self.money, mine))

    def to_dict(self) -> dict[str, Any]:
        """Return the group as plain data, from which it can be made again."""
        return {
            "group": self.rule.describe(),
            "rule": plain_of_rule(self.rule),
            "notion": self.notion.name,
            "since": self.since,
            "sides": list(self.sides),
            "named": self.named,
            "whole": list(self.whole),
            "money": [
                [None if value == _NOTHING else value for value in side]
                for side in self.money.tolist()
            ],
        }

    @classmethod
    def of_plain(
        cls, plain: Any, notions: Sequence[FairnessNotion], kinds: Mapping[str, str]
    ) -> "Watched":
        """Make a group again from its plain data."""
        notion = next(one for one in notions if one.name == plain["notion"])
        money = [
            [_NOTHING if one is None else float(one) for one in side] for side in plain["money"]
        ]
        return cls(
            rule_of_plain(plain["rule"], kinds, plain["whole"]),
            notion,
            int(plain["since"]),
            (bool(plain["sides"][0]), bool(plain["sides"][1])),
            bool(plain["named"]),
            tuple(plain["whole"]),
            np.array(money).reshape(len(SIDES), len(STAKES)),
        )


class Batch(NamedTuple):
    """The rows of a batch in the event of a notion, in blocks.

    `part` is the event's part of all rows, and `widest` the unit of outcomes.
    """

    cell: NDArray[np.intp]
    outcome: Array
    rows: NDArray[np.intp]
    part: float
    tally: Tally
    widest: float

    @classmethod
    def of(cls, tally: Tally, notion: FairnessNotion, rng: np.random.Generator) -> "Batch":
        """Take the rows in the event, in units of what outcomes can differ by."""
        view = tally.view(notion)
        assert view.rows is not None
        rows = view.rows
        counts = notion.in_event(rows.y)
        low, high = notion.outcome_range
        widest = high - low or 1.0
        cell = rows.cell[counts]
        outcome = notion.outcome(rows.y[counts], rows.p[counts]) / widest
        part = float(counts.sum()) / len(counts)
        return cls(cell, outcome, blocks(cell, outcome, rng), part, tally, widest)

    def members(self, rule: Rule) -> Members:
        """Return who of the rows in the event is in."""
        by_cell = rule.members({column.name: column for column in self.tally.columns})
        return by_cell[self.cell]

    def after(self, group: Watched, gamma: float, min_group_size: int) -> Watched:
        """Return a group with the money that its bets have after this batch."""
        if not len(self.rows):
            return group
        inside = self.members(group.rule)
        covariance = covariances(inside, self.outcome, self.rows)
        if not may_be_described(int(inside.sum()), len(inside), min_group_size):
            covariance = np.zeros_like(covariance)
        won = winnings(covariance, gamma / (self.part * self.widest))
        return replace(group, money=group.money + won)
