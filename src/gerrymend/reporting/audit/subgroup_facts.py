"""Return the facts of one subgroup of a report: its size, rate, difference, and that in cases."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gerrymend.notions import SCORE_NAMES, rate_and_class
from gerrymend.reporting.audit.class_words import of_notion
from gerrymend.reporting.audit.subgroup_words import (
    Facts,
    compared_rates,
    difference_words,
    own_reference,
    rate_or_mean,
    rate_sentence,
    than_words,
    who_is_in,
)
from gerrymend.reporting.wording import (
    count,
    decided_words,
    event_noun,
    label_words,
    percent,
    unfairness,
)


def subgroup_facts(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> Facts:
    """Return size, rate, difference and unfairness of a subgroup of a report, by name."""
    part = percent(subgroup["size"] / report["n_rows"])
    facts = [
        (
            "Size",
            f"{count(subgroup['size'])} of {count(report['n_rows'])} rows ({part})"
            f"{_share_words(subgroup, report)}",
        ),
        (rate_or_mean(subgroup), rate_sentence(subgroup)),
        ("Difference", difference_words(subgroup)),
    ]
    if who := who_is_in(subgroup):
        facts.insert(1, ("Who is in", who))
    if cases := cases_sentence(subgroup, report):
        facts.append(("In cases", cases))
    amounts = (unfairness(subgroup["unfairness"], report["gamma"]), f"{report['gamma']:g}")
    value, allowed = (f"{one} {subgroup.get('unit') or ''}".rstrip() for one in amounts)
    facts.append(("Unfairness", f"{value}; {allowed} is allowed"))
    return facts


def _share_words(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Return the factor by which a difference becomes unfairness; nothing where it is the size."""
    noun = rows_noun(subgroup, report)
    share = percent(subgroup["share"])
    if report["weighted"]:
        return f"; its {noun} have {share} of all weight"
    if noun == "rows":
        return ""
    return f"; its {_rows_in_event(subgroup, report)} are {share} of all rows"


def rows_noun(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Return what to call the rows of a subgroup that its rate is over; of numbers often all."""
    noun = event_noun(report["notions"], subgroup["notion"])
    in_event = round(subgroup["share"] * report["n_rows"])
    all_count = noun == "rows that count" and in_event == subgroup["size"]
    return "rows" if all_count and not report["weighted"] else noun


def _outcome(name: str, report: Mapping[str, Any]) -> str | None:
    """Say what happens to those that a rate counts; None for one of the user's own."""
    rate, _ = rate_and_class(name)
    if rate == "error_rate":
        return "decided wrongly"
    if rate in SCORE_NAMES:
        return label_words(report)[1]
    refused, granted = decided_words(of_notion(report, name))
    return {
        "false_positive_rate": granted,
        "false_negative_rate": refused,
        "statistical_parity": granted,
    }.get(rate)


class Excess(NamedTuple):
    """The unfairness of a subgroup in cases: how many, more or fewer, of whom, what happens."""

    number: str
    more: str
    base: str
    happens: str


def excess(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> Excess | None:
    """Return the unfairness of a subgroup in cases.

    unfairness·n = (rows of the group in the event)·(rate − overall rate). None where rows weigh
    differently, or less than half a case is meant, or the notion is the user's own, without words.
    """
    if subgroup.get("unit") is not None:
        return None
    happens = _outcome(subgroup["notion"], report)
    cases = abs(subgroup["unfairness"]) * report["n_rows"]
    if happens is None or report["weighted"] or cases < 0.5:
        return None
    number = "1" if round(cases) == 1 else count(cases)
    more = "more" if subgroup["unfairness"] > 0 else "fewer"
    return Excess(number, more, f"its {_rows_in_event(subgroup, report)}", happens)


def _rows_in_event(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Return how many rows of a subgroup its rate is over, and who these are."""
    noun = event_noun(report["notions"], subgroup["notion"])
    place = {"negatives": 0, "positives": 1}.get(noun)
    who = ""
    if place is not None:
        is_named = report.get("columns", {}).get("label") is not None
        who = f" ({'' if is_named else 'label '}{label_words(report)[place]})"
    return f"{count(subgroup['share'] * report['n_rows'])} {noun}{who}"


def cases_sentence(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> str | None:
    """Say the unfairness of a subgroup as a number of cases; None where that can't be said.

    Of numbers it is said how far the mean is off, and for how many.
    """
    if subgroup.get("unit") is not None:
        off = compared_rates(subgroup).gap.lstrip("+−")
        more = "more" if subgroup["gap"] > 0 else "less"
        than = f" than {own_reference(subgroup)}" if subgroup.get("reference") else ""
        return (
            f"On average that is {off} {more}{than}, for {percent(subgroup['share'])} of the rows."
        )
    if (cases := excess(subgroup, report)) is None:
        return None
    are = "is" if cases.number == "1" else "are"
    return (
        f"Of {cases.base} about {cases.number} {cases.more} {are} {cases.happens} "
        f"{than_words(subgroup)}."
    )
