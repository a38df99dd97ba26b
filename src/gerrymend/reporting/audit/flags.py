"""Word which groups are flagged, at a false discovery rate: in sentences, tables and by a mark."""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.subgroup_words import unit_of
from gerrymend.reporting.wording import (
    compared,
    count,
    interval_ends,
    p_equals,
    percent,
    within_strata,
)

Report = Mapping[str, Any]
Facts = list[tuple[str, str]]

# The mark of a group that is flagged, wherever groups are listed.
FLAG = "◆"
# Groups that a sentence names, and that a page lists; the others are in tables, or in the JSON.
_MOST_NAMED = 8
_MOST_LISTED = 40
_MEET = {2: "two attributes", 3: "two or three attributes"}


def discovery_sentences(report: Report) -> list[str]:
    """Say which of the groups that were tested are flagged; nothing if that was not asked."""
    discovery = report["discovery"]
    if discovery is None:
        return []
    tested = f"{count(discovery['tested'])} groups that were tested"
    if hidden := discovery["hidden"]:
        tested += f" {count(hidden)} may not be shown, flagged or not; of the others"
    flagged = f"none is flagged {_rate(discovery)}"
    if number := discovery["flagged"]:
        are = "is" if number == 1 else "are"
        flagged = f"{count(number)} {are} flagged {_rate(discovery)}: {_named(report)}"
    return [f"Of the {tested} {flagged}.", _scope(report)]


def _named(report: Report) -> str:
    """Name the groups that are flagged, the surest first, as many as a sentence can."""
    several = len(report["notions"]) > 1
    named = []
    for group in _flagged(report):
        rate = f"{in_words(group['notion'])}, " if several else ""
        named.append(f"{group['group']} ({rate}{p_equals(group['p_value'])})")
    more = len(named) - _MOST_NAMED
    return "; ".join(named[:_MOST_NAMED]) + (f"; and {count(more)} more" if more > 0 else "")


def _scope(report: Report) -> str:
    """Say which groups were tested, and which would have been too many."""
    discovery = report["discovery"]
    own = ", those that were named" if report["class"]["name"] == "ExplicitGroups" else ""
    if discovery["depth"] < 2:
        tested = f"Tested were the values of each attribute{own}"
        if report["intersected"]:
            tested += f" and where {' and '.join(report['intersected'])} meet"
    else:
        meet = _MEET[discovery["depth"]]
        tested = f"Tested were the values of each attribute{own} and all in which {meet} meet"
        tested += ", numbers in quarters" if _has_numbers(report) else ""
    more = "two" if discovery["depth"] < 2 else "three"
    capped = f"; all in which {more} meet were too many" if discovery["capped"] else ""
    return f"{tested}{capped}."


def _has_numbers(report: Report) -> bool:
    """Return whether a protected attribute is a number, as far as groups that are listed tell."""
    listed = [*report["marginals"], *report["discovery"]["groups"]]
    conditions = [one for group in listed for one in group["rule"]["conditions"]]
    return any("values" not in condition for condition in conditions)


def flag_legend(report: Report) -> str:
    """Return what the mark means; an empty text if no groups were to be flagged."""
    if report["discovery"] is None:
        return ""
    return (
        f"{FLAG} differs from all others{within_strata(report['control_features'])} "
        f"{_rate(report['discovery'])}: of the groups with this mark that part, at most, is "
        "expected not to differ. Each group was tested on its own."
    )


def flag_of(group: Mapping[str, Any]) -> str:
    """Return the mark of a group that is flagged, and an empty text for others."""
    return FLAG if group["flagged"] else ""


def flagged_facts(report: Report) -> Facts:
    """Return the groups that are flagged and are in no table, the surest first, with figures."""
    discovery = report["discovery"]
    if discovery is None:
        return []
    groups = sorted(discovery["groups"], key=lambda one: one["p_value"])
    facts = [
        (f"{FLAG} {group['group']}", _figures(group, report)) for group in groups[:_MOST_LISTED]
    ]
    if more := len(groups) - len(facts):
        facts.append(("", f"{count(more)} more are in the report's JSON"))
    return facts


def _figures(group: Mapping[str, Any], report: Report) -> str:
    """Return the figures of a group that is flagged."""
    unit = unit_of(report, group["notion"])
    shown = compared(group["rate"], group["overall_rate"], unit)
    ends = interval_ends(group["rate_interval"], unit)
    whom = "expected of it" if report["control_features"] else "overall"
    return (
        f"{in_words(group['notion'])} {shown.rate} ({ends}), against {shown.reference} "
        f"{whom}: {shown.gap}; {count(group['size'])} rows; {p_equals(group['p_value'])}"
    )


def _rate(discovery: Mapping[str, Any]) -> str:
    return f"at a false discovery rate of {percent(discovery['rate'])}"


def _flagged(report: Report) -> list[Mapping[str, Any]]:
    """Return the groups that are flagged, the smallest p-value first, each once."""
    own = [] if report["class"]["name"] == "Marginals" else report["intervals"]
    listed = [*own, *report["marginals"], *report["intersections"]]
    listed += report["discovery"]["groups"]
    return sorted((g for g in listed if g["flagged"]), key=lambda one: one["p_value"])
