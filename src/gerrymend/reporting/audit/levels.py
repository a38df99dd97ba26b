"""Say how rates moved from one model to another: whose rose, whose fell, who is better off.

Groups can be made alike by making all of them worse off. An unfairness that fell doesn't show that;
the overall rate and those of the groups in the tables do.
"""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.wording import count, figure

Report = Mapping[str, Any]
Level = Mapping[str, Any]

# Rates that differ by less are the same.
_ROUNDING = 1e-9


def levels(before: Report, after: Report) -> list[dict[str, Any]]:
    """Return how the overall rate of each notion moved, and in how many groups it rose and fell.

    Parameters
    ----------
    before, after : mapping
        `AuditReport.to_dict()` of two models. Notions and groups that only one of them has are
        left out; reports of earlier versions may have none.

    Returns
    -------
    list of dict
        By notion: the overall rate of both, the groups of one attribute that both list, and of
        these how many have a higher rate after, and a lower one.
    """
    first, second = (_overall(report) for report in (before, after))
    found = []
    for notion in after.get("notions", ()):
        name = notion["name"]
        if first.get(name) is None or second.get(name) is None:
            continue
        then, now = (_of_groups(report, name) for report in (before, after))
        moved = [now[group] - then[group] for group in now if group in then]
        found.append(
            {
                "notion": name,
                "unit": notion.get("unit"),
                "worse": notion["worse"],
                "before": first[name],
                "after": second[name],
                "groups": len(moved),
                "rose": sum(one > _ROUNDING for one in moved),
                "fell": sum(one < -_ROUNDING for one in moved),
            }
        )
    return found


def _overall(report: Report) -> dict[str, float | None]:
    return {one["notion"]: one["rate"] for one in report.get("overall_rates", ())}


def _of_groups(report: Report, notion: str) -> dict[str, float]:
    listed = report.get("marginals", ())
    return {one["group"]: one["rate"] for one in listed if one["notion"] == notion}


def level_words(level: Level) -> str:
    """Say how one rate moved, as a sentence without its beginning and its end.

    >>> level = {"notion": "error_rate", "unit": None, "worse": "higher", "before": 0.12,
    ...          "after": 0.141, "groups": 9, "rose": 9, "fell": 0}
    >>> print(level_words(level))
    the overall error rate rose from 12 % to 14.1 %; of 9 groups of one attribute it rose in all \
and fell in none, so that none of them is better off
    """
    average = "" if level["unit"] is not None else "overall "
    name = f"the {average}{in_words(level['notion'])}"
    before, after = (figure(level[end], level["unit"]) for end in ("before", "after"))
    verb = "rose" if level["after"] > level["before"] else "fell"
    moved = f"{name} stayed at {after}"
    if before != after:
        moved = f"{name} {verb} from {before} to {after}"
    if not level["groups"]:
        return moved
    rose, fell = (_so_many(level[which], level["groups"]) for which in ("rose", "fell"))
    groups = "1 group" if level["groups"] == 1 else f"{count(level['groups'])} groups"
    of_groups = f"of {groups} of one attribute it rose in {rose} and fell in {fell}"
    return f"{moved}; {of_groups}{_better_off(level)}"


def _so_many(number: int, of: int) -> str:
    return "none" if number == 0 else "all" if number == of > 1 else count(number)


def _better_off(level: Level) -> str:
    """Say that nobody is better off, where that is so and it is known which rates are worse."""
    better = {"higher": "fell", "lower": "rose"}.get(level["worse"])
    if better is None or level[better]:
        return ""
    return ", so that none of them is better off"
