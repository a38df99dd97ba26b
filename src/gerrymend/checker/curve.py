"""Check of a calibration curve: who is in the group, and the figures of each bin that is shown."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.confidence import intervals_of
from gerrymend.checker.exact import exact
from gerrymend.checker.figures import TOLERANCE, Measured, shown
from gerrymend.checker.lead import leading
from gerrymend.checker.probes import wrong_words
from gerrymend.checker.rules import RuleError, members, own_rule, own_words
from gerrymend.checker.said import lead_of


def check_curve(case: Case) -> None:
    """Check the curve of a report of scores in bins; others have none."""
    stated = case.stated.get("calibration")
    score = case.table.score
    if stated is None:
        if score is not None and leading(lead_of(case.stated), case.stated) is not None:
            case.problem("calibration is left out, and a group leads.")
        return
    seen = next(iter(case.measured.values()), None)
    if score is None or seen is None:
        case.problem("calibration is stated, and the score is not in bins.")
        return
    before = len(case.result.problems)
    try:
        case.problem(*_wrong_curve(stated, seen, case))
    except (RuleError, KeyError, TypeError, AttributeError) as unreadable:
        case.problem(f"calibration: a rule can't be read ({unreadable}).")
    if len(case.result.problems) == before:
        points = len(stated["group"]) + len(stated["everyone"])
        case.result.checked.append(
            f"The calibration curve: who is in its group, and the figures of {points} bins."
        )
    case.leave("calibration.group calibration.everyone", "that no more bins could be shown")


def _wrong_curve(stated: Mapping[str, Any], seen: Measured, case: Case) -> Iterator[str]:
    """Yield what is wrong with a curve."""
    table = case.table
    assert table.score is not None
    if stated["score"] != table.score.name:
        yield f"calibration: the score is stated to be {stated['score']!r}."
    inside = members(stated["rule"], table)
    lead = leading(lead_of(case.stated), case.stated)
    if lead is None or inside != members(_at_all_scores(lead["rule"], table.score.name), table):
        yield "calibration is of another group than the one that leads."
    named = case.stated["class"]["name"] == "ExplicitGroups"
    if named and lead and stated["subgroup"] != own_words(lead["subgroup"], lead["rule"]):
        yield "calibration is of a group that is called otherwise."
    if wrong := wrong_words(stated["subgroup"], stated["rule"], table):
        yield f"calibration: {wrong}"
    if all(inside) and stated["group"]:
        yield "calibration has bins of a group that is everyone."
    for name, among in (("group", inside), ("everyone", [True] * len(inside))):
        points = stated[name]
        lows = [point["low"] for point in points]
        if len(set(lows)) < len(lows) or lows != sorted(lows, key=_order):
            yield f"calibration.{name} has a bin twice, or not in its place."
        for point in points:
            yield from _wrong_point(point, among, seen, case, float(stated["level"]))


def _order(low: float | None) -> tuple[bool, float]:
    return (low is not None, low or 0.0)


def _at_all_scores(rule: Mapping[str, Any], score: str) -> Mapping[str, Any]:
    """Return a rule without the interval of the score that it is within."""
    if rule["kind"] != "conjunction":
        return own_rule(rule)
    kept = [one for one in rule["conditions"] if one["attribute"] != score]
    return {"kind": "conjunction", "conditions": kept}


def _wrong_point(
    point: Mapping[str, Any], among: list[bool], seen: Measured, case: Case, level: float
) -> Iterator[str]:
    """Yield what is wrong with the figures of a bin."""
    table = case.table
    assert table.score is not None
    ends = [None, *table.cuts, None]
    low, high = (end if end is None else exact(end) for end in (point["low"], point["high"]))
    where = f"calibration: the bin from {point['low']!r} to {point['high']!r}"
    if (low, high) not in list(itertools.pairwise(ends)):
        yield f"{where} is none of the score's."
        return
    inside = [
        member and (low is None or low <= value) and (high is None or value < high)
        for member, value in zip(among, table.score.values, strict=True)
    ]
    figures = seen.figures(inside)
    smallest = case.stated["min_group_size"]
    if point["rows"] != figures.rows_inside:
        yield f"{where} is stated to have {point['rows']} rows, and has {figures.rows_inside}."
    if min(figures.rows_inside, figures.rows_outside) < smallest:
        yield f"{where} tells of fewer than {smallest} rows."
        return
    for name, value in (("predicted", figures.overall_rate), ("observed", figures.rate)):
        if abs(exact(point[name]) - value) > TOLERANCE * seen.scale:
            yield f"{where}: {name} is stated as {point[name]!r}, and is {shown(value)}."
    ends_of = intervals_of(seen, inside, level).rate
    most = float(TOLERANCE * seen.scale)
    if any(abs(a - b) > most for a, b in zip(point["interval"], ends_of, strict=True)):
        yield f"{where}: its interval is stated as {point['interval']!r}, and is {ends_of!r}."
