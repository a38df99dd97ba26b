"""Check of what a further group has without those of it who are in the group that leads."""

from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import ZERO, exact
from gerrymend.checker.figures import TOLERANCE, shown
from gerrymend.checker.lead import largest, leading
from gerrymend.checker.rules import RuleError, members
from gerrymend.checker.said import lead_of


def check_apart(case: Case) -> None:
    """Check `apart` of further groups, which no other has, and `within` of who stands out.

    These are the top ones but for who leads, and where that is who stands out all but that.
    """
    stated = case.stated
    worst = lead_of(stated)
    first = leading(worst, stated)
    said = (stated["in_a_sentence"] or {}).get("subgroup")
    sharp = (stated["sharpest"] or {}).get("subgroup")
    told = [one for one in (*stated["top"], worst, said, sharp, stated["core"]) if one is not None]
    further = [one for one in stated["top"] if one not in (first, worst)]
    if sharp is not None and first is sharp:
        further = [one for one in (largest(worst, stated), worst, *stated["top"]) if one]
    for one in told:
        if one in further and "apart" in one and first is not None:
            try:
                case.problem(*_wrong_apart(one, first, case))
            except RuleError:
                continue  # which was noted with the subgroup
        elif "apart" in one:
            case.problem("A subgroup states what it has apart, and is no further one.")
    if any("apart" not in one and first is not None and _lends(first, one) for one in further):
        case.leave("top.apart", "that it would tell of few rows where it is not stated")
    if sharp is not None:
        _check_within(sharp, largest(worst, stated), case)
    elif stated["sharpest"] is not None:
        case.leave("sharpest.within", "nobody is told to stand out")
        if stated["sharpest"].get("within") is not None:
            case.problem("within of sharpest is stated, and no group that stands out.")


def _check_within(sharp: Mapping[str, Any], other: Mapping[str, Any] | None, case: Case) -> None:
    """Check how much of who stands out is in the group of the largest unfairness."""
    within = case.stated["sharpest"].get("within")
    seen = case.measured.get(sharp["notion"])
    if within is None:
        case.leave("sharpest.within", "that it would tell of few rows where it is not stated")
        return
    if other is None or not _lends(other, sharp):
        case.problem("within of sharpest is stated, and no other group of its notion and side.")
        return
    if seen is None:
        return  # which was noted with the subgroup
    try:
        inside = members(sharp["rule"], case.table)
        lead = members(other["rule"], case.table)
    except RuleError:
        return  # which was noted with the subgroup
    both = [a and b for a, b in zip(inside, lead, strict=True)]
    true = seen.figures(both).share / seen.figures(inside).share if any(both) else ZERO
    if abs(exact(within) - true) > TOLERANCE:
        case.problem(f"within of sharpest is stated as {within!r}, and is {shown(true)}.")


def _lends(first: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    """Return whether two groups are of one notion and side, so that one may have the other's."""
    return bool(one["notion"] == first["notion"] and one["unfairness"] * first["unfairness"] > 0)


def _wrong_apart(one: Mapping[str, Any], first: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield what is wrong with what a group has without those in the first one."""
    where = f"apart of {one['subgroup']!r}"
    seen = case.measured.get(one["notion"])
    if seen is None:
        return  # which was noted with the subgroup
    if not _lends(first, one):
        yield f"{where} is stated, and the first group is of another notion or side."
        return
    inside = members(one["rule"], case.table)
    lead = members(first["rule"], case.table)
    both = [a and b for a, b in zip(inside, lead, strict=True)]
    alone = [a and not b for a, b in zip(inside, lead, strict=True)]
    smallest = case.stated["min_group_size"]
    if min(seen.sums(both).rows, seen.sums(alone).rows) < max(1, smallest):
        yield f"{where} tells of fewer rows than min_group_size."
        return
    rest = seen.figures(alone)
    off = 0 if seen.reference is not None else seen.figures([not one for one in lead]).gap
    true = {
        "shared": seen.figures(both).share / seen.figures(inside).share,
        "rate": rest.rate,
        "overall_rate": rest.overall_rate + off,
    }
    for name, value in true.items():
        if abs(exact(one["apart"][name]) - value) > TOLERANCE * seen.scale:
            yield f"{where}: {name} is stated as {one['apart'][name]!r}, and is {shown(value)}."
