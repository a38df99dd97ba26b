"""Check of who a report leads with: that it is the group that leads, with the figures it has."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.chance import LEVEL
from gerrymend.checker.exact import exact
from gerrymend.checker.rules import RuleError, own_rule, own_words
from gerrymend.checker.words import obeyed

# A group in a sentence leads if it has so much of the other's unfairness, but for rounding.
_MOST = Fraction(4, 5) - Fraction(1, 10**9)
# A description of more characters is no sentence; one by values has one of these after a name.
_LONGEST = 120
_COMPARISONS = ("= ", "≠ ", "in {", "not in {", "≥ ", "≤ ")
_SAME = (
    *("subgroup", "notion", "unit", "treated", "unfairness", "size"),
    *("rate", "overall_rate", "rest_rate"),
)


def check_lead(first: Mapping[str, Any] | None, case: Case) -> None:
    """Check who leads, where that is told apart, by the groups of the report, which are checked.

    `first` is the group that leads, unless one in a sentence stands for it.
    """
    stated = case.stated
    if "lead" not in stated:  # reports of before have none
        case.leave("lead", "the report doesn't say who leads")
        return
    lead = stated["lead"]
    group = leading(first, stated)
    if lead is None or group is None:
        if (lead is None) != (group is None):
            case.problem("lead is stated, or left out, and there is no such group, or one.")
        return
    own = _is_tested_itself(group, first, stated)
    p_value = stated["sharpest"]["p_value"] if own else _p_value_of(first, stated)
    expected = {name: group.get(name) for name in _SAME} | {"p_value": p_value}
    search = "search" if own_test(first, stated) is None else "sentence"
    expected["p_value_of"] = None if p_value is None else "group" if own else search
    weighted = stated["weighted"]
    expected["base"] = None if weighted else round(exact(group["share"]) * stated["n_rows"])
    for name, value in expected.items():
        if name not in lead:
            case.leave(f"lead.{name}", "which reports of before don't state")
        elif lead[name] != value:
            case.problem(f"{name} of lead is stated as {lead[name]!r}, and is {value!r}.")
    case.leave("lead.sentence lead.chance", "that its words are true")


def leading(first: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return who leads: who stands out, unless the largest unfairness can be named and exceeds.

    It leads only where it exceeds gamma and is no chance as well.
    `first` is the group of it, unless one in a sentence stands for that.
    """
    worst = largest(first, stated)
    sharp = _sharpest(stated)
    if sharp is None or _is_same(sharp, worst):
        return worst
    exceeds = stated["verdict"] == "exceeds gamma"
    if not exceeds or _is_chance(first, stated) or worst is None or not says_who(worst):
        return sharp
    return worst


def largest(first: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the group in a sentence where it has most, or the one that it stands for."""
    if stated["in_a_sentence"] is None or first is None:
        return first
    said: Mapping[str, Any] = stated["in_a_sentence"]["subgroup"]
    own, worst = (abs(exact(one["unfairness"])) for one in (said, first))
    gamma = exact(stated["gamma"])
    return said if own >= _MOST * worst and (own > gamma) == (worst > gamma) else first


def says_who(subgroup: Mapping[str, Any]) -> bool:
    """Return whether a description says who is in: no formula, no "not (…)", and not too long.

    Only a linear rule may be one of these. Where it is told by values or by one number, it begins
    with an attribute and a comparison; a formula begins with a term, and has more of them. A rule
    that can't be read is noted with its subgroup.

    >>> rule = {"kind": "linear", "terms": [{"attribute": "town"}]}
    >>> [says_who({"subgroup": words, "rule": rule})
    ...  for words in ("town = a·b", "[town=a·b] + age ≥ 3", "not (town = a)")]
    [True, False, False]
    """
    try:
        rule = own_rule(subgroup["rule"])
        words = own_words(subgroup["subgroup"], subgroup["rule"])
        names = {str(term["attribute"]) for term in rule.get("terms", ())}
        names |= {str(name) for name in rule.get("unnamed", ())}
    except (TypeError, KeyError, RuleError):
        return True
    begins = tuple(f"{name} {sign}" for name in names for sign in _COMPARISONS)
    said = rule.get("kind") != "linear" or not names or obeyed(words).startswith(begins)
    return said and len(subgroup["subgroup"]) <= _LONGEST


def _is_tested_itself(
    group: Mapping[str, Any], first: Mapping[str, Any] | None, stated: Mapping[str, Any]
) -> bool:
    """Return whether the p-value beside who leads is of its rate, and not of its unfairness.

    It is where that is who stands out, unless it is the largest as well, which then is no chance
    and has a test by its unfairness: its own, or the search, if it is of the class.
    """
    sharp = _sharpest(stated)
    if sharp is None or not _is_same(sharp, group):
        return False
    if not _is_same(sharp, largest(first, stated)) or _is_chance(first, stated):
        return True
    if own_test(first, stated) is not None:
        return False
    return stated["p_value"] is None or _stands_alone(first, stated)


def _stands_alone(first: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> bool:
    """Return whether a group in a sentence has the largest unfairness for one of other rows."""
    said = stated["in_a_sentence"]
    if said is None or first is None or largest(first, stated) is first:
        return False
    return not (said["overlap"] == 1 and said["subgroup"]["size"] == first["size"])


def own_test(
    first: Mapping[str, Any] | None, stated: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return the test of the group in a sentence that leads for another; None where it has none."""
    if not _stands_alone(first, stated):
        return None
    test: Mapping[str, Any] | None = stated["in_a_sentence"].get("test")
    return test


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any] | None) -> bool:
    """Return whether two groups are told by the same words, and for the same notion."""
    same = ("subgroup", "notion")
    return other is not None and all(one[name] == other[name] for name in same)


def _is_chance(first: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> bool:
    """Return whether who leads by its unfairness may be chance, as far as that was tested."""
    value = _p_value_of(first, stated)
    return value is not None and exact(value) > LEVEL


def _p_value_of(first: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> float | None:
    """Return the p-value of who leads by its unfairness: by its own test, or by its notion's.

    That of the report is of the largest unfairness, which another group may have: the most favoured
    one, or one that may not be described.
    """
    test = own_test(first, stated)
    if test is not None:
        tested: float = test["p_value"]
        return tested
    value: float | None = stated["p_value"]
    if value is None or first is None or (first == stated["worst"] and not stated["withheld"]):
        return value
    own: float = first.get("p_value", value)
    return own


def _sharpest(stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the group that stands out; None where none is told."""
    return (stated["sharpest"] or {}).get("subgroup")
