"""Check of who a report leads with: that it is the group that leads, with the figures it has."""

from collections.abc import Mapping
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.chance import LEVEL
from gerrymend.checker.exact import exact

# A group in a sentence leads if it has so much of the other's unfairness, in percent.
_MOST = 80
_SAME = ("subgroup", "notion", "unit", "treated", "unfairness", "size", "rate", "overall_rate")


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
    by_sharpest = stated["sharpest"] if _sharpest(stated) is not None else stated
    expected = {name: group[name] for name in _SAME} | {"p_value": by_sharpest["p_value"]}
    weighted = stated["weighted"]
    expected["base"] = None if weighted else round(exact(group["share"]) * stated["n_rows"])
    for name, value in expected.items():
        if lead[name] != value:
            case.problem(f"{name} of lead is stated as {lead[name]!r}, and is {value!r}.")
    case.leave("lead.sentence", "that its words are true")


def leading(first: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return who leads: the group that stands out, where the largest unfairness may be chance."""
    worst = largest(first, stated)
    sharp = _sharpest(stated)
    is_same = sharp and worst and sharp["subgroup"] == worst["subgroup"]
    return worst if sharp is None or is_same else sharp


def largest(first: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the group in a sentence where it has most, or the one that it stands for."""
    if stated["in_a_sentence"] is None or first is None:
        return first
    said: Mapping[str, Any] = stated["in_a_sentence"]["subgroup"]
    own, worst = (abs(exact(one["unfairness"])) for one in (said, first))
    gamma = exact(stated["gamma"])
    return said if 100 * own >= _MOST * worst and (own > gamma) == (worst > gamma) else first


def _sharpest(stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the group that stands out, where the largest unfairness may be chance."""
    chance = stated["p_value"] is not None and exact(stated["p_value"]) > LEVEL
    return (stated["sharpest"] or {}).get("subgroup") if chance else None
