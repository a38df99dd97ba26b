"""A decision tree as a rule: each leaf is in or out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gerrymend.inputs.protected import Column
from gerrymend.subgroups.rules import Condition, Members, Rare, Rule, among_words


@dataclass(frozen=True)
class Split:
    """An inner node: a condition, and the node that follows if it holds or doesn't."""

    condition: Condition
    yes: "Node"
    no: "Node"


Node: TypeAlias = "Split | bool"


@dataclass(frozen=True)
class TreeRule(Rule):
    """The rule that a decision tree leads to a leaf that is in.

    A leaf is True (in) or False (out); `kinds` has the kind of each attribute.

    >>> young, woman, blue = (Condition("age", high=40), Condition("sex", ("F",)),
    ...                       Condition("race", ("blue",)))
    >>> rule = TreeRule(Split(young, yes=Split(woman, True, False), no=Split(blue, True, False)),
    ...                 kinds={"age": "number", "sex": "str", "race": "str"})
    >>> print(rule)
    if age < 40: sex = F; otherwise: race = blue
    >>> print(TreeRule(Split(young, yes=Split(woman, False, True), no=False), rule.kinds))
    age < 40 and sex ≠ F
    """

    tree: Node
    kinds: Mapping[str, str] = field(hash=False)

    @property
    def attributes(self) -> dict[str, str]:
        """The kind of each attribute, by name."""
        return dict(self.kinds)

    def members(self, columns: Mapping[str, Column]) -> Members:
        """Return a mask of the members, for columns that have been read already."""
        return _members(self.tree, columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as nested plain data; a leaf is true or false."""
        return {"kind": "tree", "tree": _as_data(self.tree)}

    def complement(self) -> "TreeRule":
        """Return the rule of all others: each leaf is in where it was out."""
        return replace(self, tree=_opposite(self.tree))

    def describe(self) -> str:
        """Return the rule in words."""
        return _words(self.tree).text

    def listed(self) -> set[tuple[str, Any]]:
        """Return the categories of all splits."""
        return _listed(self.tree)

    def withholding(self, rare: Rare) -> "TreeRule":
        """Return the same rule, which tells none of these values."""
        return replace(self, tree=_withholding(self.tree, rare))

    def in_few_digits(self, columns: Mapping[str, Column], members: Members) -> "TreeRule":
        """Move cuts between values, and drop the splits that all rows pass in the same way."""
        everyone = np.ones(len(members), dtype=bool)
        return replace(self, tree=_in_few_digits(self.tree, columns, everyone))


def _members(node: Node, columns: Mapping[str, Column]) -> Members:
    if isinstance(node, bool):
        return np.full(len(next(iter(columns.values())).values), node)
    holds = node.condition.holds(columns[node.condition.attribute])
    return np.where(holds, _members(node.yes, columns), _members(node.no, columns))


def _opposite(node: Node) -> Node:
    if isinstance(node, bool):
        return not node
    return replace(node, yes=_opposite(node.yes), no=_opposite(node.no))


def _listed(node: Node) -> set[tuple[str, Any]]:
    if isinstance(node, bool):
        return set()
    return node.condition.told() | _listed(node.yes) | _listed(node.no)


def _withholding(node: Node, rare: Rare) -> Node:
    if isinstance(node, bool):
        return node
    yes, no = (_withholding(child, rare) for child in (node.yes, node.no))
    return Split(node.condition.withholding(rare), yes, no)


def _as_data(node: Node) -> Any:
    if isinstance(node, bool):
        return node
    return {
        "condition": node.condition.to_dict(),
        "yes": _as_data(node.yes),
        "no": _as_data(node.no),
    }


def _in_few_digits(node: Node, columns: Mapping[str, Column], reached: Members) -> Node:
    """Shorten a node, given a mask of the rows that reach it."""
    if isinstance(node, bool):
        return node
    column = columns[node.condition.attribute]
    condition = node.condition.in_few_digits(column)
    holds = condition.holds(column)
    # Only the rows that reach the node count: a split that none of them fails is dropped, though
    # other rows would.
    if not (reached & ~holds).any():
        return _in_few_digits(node.yes, columns, reached)
    if not (reached & holds).any():
        return _in_few_digits(node.no, columns, reached)
    yes = _in_few_digits(node.yes, columns, reached & holds)
    no = _in_few_digits(node.no, columns, reached & ~holds)
    return yes if yes == no else Split(condition, yes, no)  # equal answers need no question


class _Words(NamedTuple):
    """A node in words, and enough about them to combine them with others.

    `joined_by` is "and", "or" or "if", the weakest join in the text, and empty for one condition.
    `interval` is the condition if the text is one interval, which can be merged with another.
    """

    text: str
    joined_by: str = ""
    interval: Condition | None = None


def _words(node: Node) -> _Words:
    """Put a node in words, with "and" or "or" instead of "if" where a side is a plain leaf."""
    if isinstance(node, bool):
        return _Words("everyone" if node else "no one")
    holds = _of_condition(node.condition)
    fails = _of_opposite(node.condition)
    if isinstance(node.yes, bool) and isinstance(node.no, bool):
        if node.yes == node.no:
            return _words(node.yes)
        return holds if node.yes else fails
    if isinstance(node.no, bool):
        return _or(fails, _words(node.yes)) if node.no else _and(holds, _words(node.yes))
    if isinstance(node.yes, bool):
        return _or(holds, _words(node.no)) if node.yes else _and(fails, _words(node.no))
    yes = _within(_words(node.yes), "and", "or")
    no = _within(_words(node.no), "and", "or")
    return _Words(f"if {holds.text}: {yes}; otherwise: {no}", "if")


def _of_condition(condition: Condition) -> _Words:
    return _Words(condition.describe(), interval=condition if condition.values is None else None)


def _of_opposite(condition: Condition) -> _Words:
    """Put the opposite of a split's condition in words.

    Splits of numbers are x < high, with no lower end, so the opposite is one interval too.
    """
    if condition.values is None:
        return _of_condition(replace(condition, low=condition.high, high=math.inf))
    is_in, values = condition.listed
    return _Words(among_words(condition.attribute, values, not is_in))


def _and(first: _Words, rest: _Words) -> _Words:
    """Join by "and"; two intervals of one attribute are merged, as in 20 ≤ age < 40."""
    a = first.interval
    b = rest.interval
    if a is not None and b is not None and a.attribute == b.attribute:
        return _of_condition(replace(a, low=max(a.low, b.low), high=min(a.high, b.high)))
    return _Words(f"{first.text} and {_within(rest, 'and')}", "and")


def _or(first: _Words, rest: _Words) -> _Words:
    return _Words(f"{first.text} or {_within(rest, 'or')}", "or")


def _within(words: _Words, *plain: str) -> str:
    """Return the text, in brackets unless its join is one of `plain`."""
    return words.text if words.joined_by in ("", *plain) else f"({words.text})"
