"""The groups that a report lists: those of one attribute at a time, and those that were named.

A `Key` identifies a group: an attribute with its value or its side of the mean, or the name that
the user gave it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gerrymend.checker.classes import mean_of, near_the_mean
from gerrymend.checker.exact import Table
from gerrymend.checker.rules import RuleError, members

# (attribute, "=", value), (attribute, "≥" or "<"), or (name,).
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Group:
    """Hold the members of a group by cell, and the rule of one that the user named.

    `members` is None where rounding decides who is in.
    """

    members: list[bool] | None
    rule: Mapping[str, Any] | None = None


def marginal_groups(table: Table) -> dict[Key, Group]:
    """Return each category, and both sides of the mean of each number, in the order of a report.

    >>> from gerrymend.checker.exact import Attribute
    >>> ages = Attribute("age", True, (20, 30, 70))
    >>> groups = marginal_groups(Table({"age": ages}, [], [[1, 0]] * 3, []))
    >>> {key: group.members for key, group in groups.items()}
    {('age', '≥'): [False, False, True], ('age', '<'): [True, True, False]}
    """
    groups: dict[Key, Group] = {}
    for name, attribute in table.attributes.items():
        if not attribute.is_number:
            for value in attribute.categories:
                groups[name, "=", value] = Group([one == value for one in attribute.values])
            continue
        mean = mean_of(attribute.values, table)
        above = [value >= mean for value in attribute.values]
        if all(above):  # a constant has no two sides
            groups[name, "≥"] = Group(above)
            continue
        # The auditors compare with a mean in float64, this with the exact one.
        doubtful = near_the_mean(attribute.values, mean)
        groups[name, "≥"] = Group(None if doubtful else above)
        groups[name, "<"] = Group(None if doubtful else [not side for side in above])
    return groups


def marginal_key(stated: Mapping[str, Any]) -> Key | None:
    """Return the key of a group of one attribute by its rule, or None if it is no such group.

    >>> marginal_key({"rule": {"conditions": [{"attribute": "race", "values": ["blue"]}]}})
    ('race', '=', 'blue')
    >>> marginal_key({"rule": {"conditions": [{"attribute": "age", "low": 40, "high": None}]}})
    ('age', '≥')
    """
    conditions: list[Any] = stated["rule"].get("conditions") or []
    if len(conditions) != 1:
        return None
    condition = conditions[0]
    if "values" in condition:
        values = condition["values"]
        return (condition["attribute"], "=", values[0]) if len(values) == 1 else None
    if condition["high"] is None:
        return condition["attribute"], "≥"
    return (condition["attribute"], "<") if condition["low"] is None else None


def pair_groups(attributes: list[str], table: Table) -> dict[Key, Group]:
    """Return the groups in which values of two attributes meet, in the order of a report.

    >>> from gerrymend.checker.exact import Attribute
    >>> table = Table({"a": Attribute("a", False, ("x", "y")), "b": Attribute("b", False, (1, 2))},
    ...               [], [[1, 0]] * 2, [])
    >>> list(pair_groups(["a", "b"], table))
    [('a', 'x', 'b', 1), ('a', 'y', 'b', 2)]
    """
    if len(attributes) != 2:
        return {}
    first, second = (table.attributes[name] for name in attributes)
    groups: dict[Key, Group] = {}
    for value in first.categories:
        for other in second.categories:
            inside = [
                (one, two) == (value, other)
                for one, two in zip(first.values, second.values, strict=True)
            ]
            if any(inside):
                groups[first.name, value, second.name, other] = Group(inside)
    return groups


def pair_key(stated: Mapping[str, Any]) -> Key | None:
    """Return the key of a group in which two values meet by its rule, or None if it is none."""
    conditions: list[Any] = stated["rule"].get("conditions") or []
    if len(conditions) != 2 or any(len(one.get("values", ())) != 1 for one in conditions):
        return None
    return tuple(part for one in conditions for part in (one["attribute"], one["values"][0]))


def named_groups(parameters: Mapping[str, Any], table: Table) -> dict[Key, Group]:
    """Return the groups that the user named, by key; raise a RuleError where one can't be read."""
    groups: dict[Key, Group] = {}
    for name, wanted in parameters["groups"].items():
        conditions = [{"attribute": attribute, **one} for attribute, one in wanted.items()]
        rule = {"kind": "conjunction", "conditions": conditions}
        try:
            groups[name,] = Group(members(rule, table), rule)
        except RuleError as unreadable:
            raise RuleError(f"The group {name!r} of the class: {unreadable}") from None
    return groups


def named_key(text: str, rule: Any, groups: Mapping[Key, Group]) -> Key | None:
    """Return the key of the group with this name and this rule, or None.

    A report may print the rule in brackets after the name.

    >>> rule = {"kind": "conjunction", "conditions": []}
    >>> groups = {("all",): Group([True], rule), ("all of them",): Group([True], rule)}
    >>> named_key("all of them (everyone)", rule, groups), named_key("none", rule, groups)
    (('all of them',), None)
    """
    # By rule as well, since one name may be the beginning of another.
    for key, group in groups.items():
        if (text == key[0] or text.startswith(f"{key[0]} (")) and rule == group.rule:
            return key
    return None
