"""Word the strata that groups are compared within: how many, their sizes, and those left out."""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.subgroup_words import unit_of
from gerrymend.reporting.wording import count, event_noun, figure

Report = Mapping[str, Any]
Facts = list[tuple[str, str]]

# Strata beyond this are in the JSON: of a page, and of a line of text.
_MOST_LISTED = 30
_MOST_IN_A_LINE = 6


def strata_sentences(report: Report, average: str) -> list[str]:
    """Say within what groups are compared; nothing where there are no control features.

    >>> strata_sentences({"control_features": ["job"], "notions": []}, "rate")
    ['Everyone is compared within strata of job: with the rate of those who are alike in that, not \
with the overall one.']
    """
    if not (controls := report.get("control_features")):
        return []
    names = " and ".join(controls)
    alike = f"with the {average} of those who are alike in that, not with the overall one."
    if "strata" not in report:  # a frontier, of many reports
        return [f"Everyone is compared within strata of {names}: {alike}"]
    empty = report["empty_strata"]
    n_notions = len(report["notions"])
    hidden = report["strata_left_out"]
    number = (len(report["strata"]) + hidden + sum(one["number"] for one in empty)) // n_notions
    who = "Everyone"
    # Of one notion it can be said at once who is not compared.
    if n_notions == 1 and empty:
        number -= empty[0]["number"]
        who = "Everyone else"
    sentences = [f"{who} is compared within strata of {names}, of which there are {number:,}: "]
    sentences[0] += alike
    if hidden:
        each = "" if n_notions == 1 or hidden % n_notions else f", of each {average},"
        shown = hidden // n_notions if each else hidden
        sentences.append(
            f"Of {shown:,}{each} the {average}s are not shown: they have too few rows to tell, or "
            "as few could be worked out from the others."
        )
    return [*(empty_sentence(one) for one in empty), *sentences]


def empty_sentence(one: Mapping[str, Any]) -> str:
    """Say which strata are left out of a comparison, and how many rows these have."""
    several = one["number"] > 1
    named = list(one["strata"])
    if few := one["number"] - len(named):
        named.append(f"{count(few)} of few rows")
    rows = (
        "few rows, or so many that few are left"
        if one["rows"] is None
        else (f"{count(one['rows'])} {'row' if one['rows'] == 1 else 'rows'}")
    )
    return (
        f"Left out {'are' if several else 'is'} {count(one['number'])} "
        f"{'strata' if several else 'stratum'} without a row that the {in_words(one['notion'])} is "
        f"over: {', '.join(named)} ({rows}{' in all' if several else ''})."
    )


def strata_facts(report: Report) -> Facts:
    """Return each stratum that may be shown, with the rate that its rows are compared with."""
    if not report.get("control_features"):
        return []
    facts = [("Compared within", " and ".join(report["control_features"]))]
    shown = report["strata"][:_MOST_LISTED]
    for one in shown:
        noun = event_noun(report["notions"], one["notion"])
        words = f"{in_words(one['notion'])} {_rate(one, report)}, over {count(one['rows'])} {noun}"
        facts.append((one["stratum"], words))
    if more := len(report["strata"]) - len(shown):
        facts.append(("", f"{count(more)} more are in the report's JSON"))
    return [*facts, *(("Left out", empty_sentence(one)) for one in report["empty_strata"])]


def strata_line(report: Report) -> str | None:
    """Return the strata in a line: rows and rate of each, as many as fit; None without any."""
    if not report.get("control_features"):
        return None
    several = len(report["notions"]) > 1
    told = []
    for one in report["strata"][:_MOST_IN_A_LINE]:
        name = f"{in_words(one['notion'])} " if several else ""
        noun = event_noun(report["notions"], one["notion"])
        told.append(f"{one['stratum']}: {name}{_rate(one, report)}, {count(one['rows'])} {noun}")
    if more := len(report["strata"]) - len(told):
        told.append(f"{count(more)} more")
    if hidden := report["strata_left_out"]:
        told.append(f"{count(hidden)} with too few rows to tell")
    return "; ".join(told)


def _rate(one: Mapping[str, Any], report: Report) -> str:
    return figure(one["rate"], unit_of(report, one["notion"]))
