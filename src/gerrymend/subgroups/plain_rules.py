"""Rules from plain data, the way back from `Rule.to_dict`: for files that are applied to rows."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from gerrymend.inputs.held_numbers import held
from gerrymend.inputs.protected import Others
from gerrymend.subgroups.linear_rule import LinearRule, Term
from gerrymend.subgroups.rules import Condition, Conjunction, Rule
from gerrymend.subgroups.tree_rule import Node, Split, TreeRule


def plain_of_rule(rule: Rule) -> dict[str, Any]:
    """Return all that it takes to make a rule again, as plain data.

    That is what `to_dict` tells, the name of a group that the user named, and the categories that a
    linear rule knows: rows of others are out.

    >>> plain_of_rule(Conjunction((Condition("age", low=40.5),), {"age": "number"}))
    {'kind': 'conjunction', 'conditions': [{'attribute': 'age', 'low': 40.5, 'high': None}]}
    """
    plain = rule.to_dict()
    if isinstance(rule, Conjunction) and rule.name:
        plain["name"] = rule.name
    if isinstance(rule, LinearRule):
        plain["levels"] = {
            name: None if values is None else [_told(value) for value in values]
            for name, values in rule.levels.items()
        }
    return plain


def rule_of_plain(
    plain: Mapping[str, Any], kinds: Mapping[str, str], whole: Collection[str] = ()
) -> Rule:
    """Make the rule again that `plain_of_rule` made plain data of.

    `kinds` are of all attributes that it may use, of which `whole` have no fractions. Raises
    ValueError for data of another form.

    >>> plain = {"kind": "conjunction", "conditions": [{"attribute": "sex", "values": ["F"]}]}
    >>> print(rule_of_plain(plain, {"sex": "str"}))
    sex = F
    """
    try:
        return _Reader(kinds, whole).rule(plain)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a rule can't be read ({type(error).__name__}: {error})") from None


@dataclass(frozen=True)
class _Reader:
    """Makes the parts of rules, of attributes that are known."""

    kinds: Mapping[str, str]
    whole: Collection[str]

    def rule(self, plain: Mapping[str, Any]) -> Rule:
        kind = plain["kind"]
        if kind == "conjunction":
            conditions = tuple(map(self.condition, plain["conditions"]))
            return Conjunction(conditions, dict(self.kinds), plain.get("name", ""))
        if kind == "tree":
            return TreeRule(self.node(plain["tree"]), dict(self.kinds))
        if kind != "linear":
            raise ValueError(f"unknown kind {kind!r}")
        terms = tuple(
            Term(self.known(term["attribute"]), "value" in term, term.get("value"))
            for term in plain["terms"]
        )
        coefficients = tuple(held(term["coefficient"], "coefficient") for term in plain["terms"])
        levels = {
            self.known(name): None if values is None else tuple(map(_value, values))
            for name, values in plain["levels"].items()
        }
        whole = tuple(name for name in levels if name in self.whole)
        return LinearRule(terms, coefficients, held(plain["threshold"], "threshold"), levels, whole)

    def condition(self, plain: Mapping[str, Any]) -> Condition:
        name = self.known(plain["attribute"])
        if "values" in plain:
            return Condition(name, values=tuple(plain["values"]))
        if "other_than" in plain:
            return Condition(name, values=(Others(tuple(plain["other_than"])),))
        low, high = plain["low"], plain["high"]
        return Condition(
            name,
            low=-math.inf if low is None else held(low, "low"),
            high=math.inf if high is None else held(high, "high"),
            whole=name in self.whole,
        )

    def node(self, plain: Any) -> Node:
        if isinstance(plain, bool):
            return plain
        yes, no = (self.node(plain[side]) for side in ("yes", "no"))
        return Split(self.condition(plain["condition"]), yes, no)

    def known(self, name: str) -> str:
        if name not in self.kinds:
            raise ValueError(f"{name!r} is none of its attributes")
        return name


def _told(value: Any) -> Any:
    """Return a category as plain data; all others than some are those."""
    return {"other_than": list(value.known)} if isinstance(value, Others) else value


def _value(plain: Any) -> Any:
    return Others(tuple(plain["other_than"])) if isinstance(plain, Mapping) else plain
