"""Check of the several subgroups that a report describes, and of why there are no more."""

import itertools
from typing import Any

from gerrymend.checker.case import Case

_WHY = {"alike", "shared", "few_rows", "little", "time"}


def check_top(case: Case) -> None:
    """Check that the top subgroups start with the worst and are in order, none twice."""
    top = case.stated["top"]
    first = top[0] if top else None
    if first != case.stated["worst"]:
        case.problem("The first of the top subgroups is not the worst one.")
    sizes = [abs(one["unfairness"]) for one in top]
    if any(later > sooner + case.rounding for sooner, later in itertools.pairwise(sizes)):
        case.problem("The top subgroups are not in the order of their unfairness.")
    if any(one in top[:i] for i, one in enumerate(top)):
        case.problem("A subgroup is twice among the top ones.")
    case.leave("top why_fewer", "that no more subgroups were to be described, and why")
    why: list[Any] | None = case.stated.get("why_fewer")
    if why is None:  # as in reports of before
        return
    if not set(why) <= _WHY or len(set(why)) < len(why):
        case.problem(f"why_fewer is stated as {why!r}, which are no reasons, one each.")
    made = case.stated["provenance"] or {}
    if why and len(top) >= made.get("top", len(top) + 1):
        case.problem("why_fewer is stated, and there are as many subgroups as were asked for.")
