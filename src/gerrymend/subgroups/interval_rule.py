"""The rule of a subgroup within an interval of the score."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.subgroups.rules import Condition, Conjunction, Members, Rare, Rule


def within_interval(rule: Rule, interval: Condition) -> Rule:
    """Return the rule that another one holds, and the score lies in an interval.

    Of conditions it is one more.

    >>> black = Conjunction((Condition("race", ("Black",)),), {"race": "str"})
    >>> print(within_interval(black, Condition("score", low=0.6, high=0.8)))
    race = Black and 0.6 ≤ score < 0.8
    """
    if isinstance(rule, Conjunction) and not rule.name:
        kinds = {**rule.kinds, interval.attribute: "number"}
        whole = interval == Condition(interval.attribute)
        return Conjunction(rule.conditions if whole else (*rule.conditions, interval), kinds)
    return WithinInterval(rule, interval)


def at_all_scores(rule: Rule, score: str) -> Rule:
    """Return a rule without the interval of the score that it is within.

    >>> young = Conjunction((Condition("age", high=30), Condition("score", low=0.5)),
    ...                     {"age": "number", "score": "number"})
    >>> print(at_all_scores(young, "score"))
    age < 30
    """
    if isinstance(rule, WithinInterval):
        return rule.rule
    if not isinstance(rule, Conjunction):
        return rule
    kept = tuple(one for one in rule.conditions if one.attribute != score)
    kinds = {name: kind for name, kind in rule.kinds.items() if name != score}
    return replace(rule, conditions=kept, kinds=kinds)


@dataclass(frozen=True)
class WithinInterval(Rule):
    """The rule that another one holds, and the score lies in an interval."""

    rule: Rule
    interval: Condition

    @property
    def attributes(self) -> dict[str, str]:
        """The kind of each attribute, and of the score."""
        return {**self.rule.attributes, self.interval.attribute: "number"}

    def members(self, columns: Mapping[str, Column]) -> Members:
        """Return a mask of the members."""
        return self.rule.members(columns) & self.interval.holds(columns[self.interval.attribute])

    def describe(self) -> str:
        """Return the rule in words, after the interval: a formula would swallow what follows it."""
        if self.interval == Condition(self.interval.attribute):
            return self.rule.describe()
        words = self.rule.describe()
        if words == "everyone":
            return self.interval.describe()
        if " or " in words or words.startswith("if "):
            words = f"({words})"
        return f"{self.interval.describe()}, and {words}"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data."""
        return {
            "kind": "within",
            "interval": self.interval.to_dict(),
            "rule": self.rule.to_dict(),
        }

    @property
    def says_who(self) -> bool:
        """Return whether the words of the other rule say who is in."""
        return self.rule.says_who

    def in_few_digits(self, columns: Mapping[str, Column], members: Members) -> Rule:
        """Return a rule that is easier to read, and selects the same rows at all scores.

        `members` has the last word on who is in within the interval, and thereby at other scores.
        """
        score = columns[self.interval.attribute]
        there = self.interval.holds(score)
        row = distinct_rows([one for one in columns.values() if one is not score]).index
        inside = np.zeros(int(row.max()) + 1, dtype=bool)
        inside[row] = self.rule.members(columns)
        inside[row[there]] = members[there]
        rule = self.rule.in_few_digits(columns, inside[row])
        interval = self.interval.in_few_digits(score)
        if interval.holds(score).all():
            interval = Condition(interval.attribute)
        return replace(self, rule=rule, interval=interval)

    def without_others(self) -> Rule:
        """Return the same rule in terms of the values that are known."""
        return replace(self, rule=self.rule.without_others())

    def listed(self) -> set[tuple[str, Any]]:
        """Return the categories that a reader of the other rule may see."""
        return self.rule.listed()

    def withholding(self, rare: Rare) -> Rule:
        """Return the same rule, which tells none of these values."""
        return replace(self, rule=self.rule.withholding(rare))
