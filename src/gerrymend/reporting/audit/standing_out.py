"""Word the group that stands out most from chance for its size, beside the largest unfairness."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.direction import average, headline, of_numbers
from gerrymend.reporting.audit.permutations import is_least
from gerrymend.reporting.audit.subgroup_facts import cases_sentence
from gerrymend.reporting.audit.subgroup_words import rate_sentence
from gerrymend.reporting.wording import count, p_equals

Report = Mapping[str, Any]

# Up to this p-value a group stands out from chance, and up to the second it does so loudly.
_SMALL = 0.05
_TINY = 0.01


def sharpest(report: Report) -> Mapping[str, Any] | None:
    """Return the group that stands out and is told; None where none does, or none may be."""
    tested = report.get("sharpest")
    return None if tested is None else tested["subgroup"]


def stands_out(report: Report) -> bool:
    """Return whether a group stands out from chance, told or not."""
    tested = report.get("sharpest")
    return tested is not None and tested["p_value"] <= _SMALL


def leads_too(report: Report) -> bool:
    """Return whether the group that stands out is told as the one that leads, by the same words."""
    one = sharpest(report)
    first = headline(report)
    return one is not None and first is not None and one["subgroup"] == first["subgroup"]


def adjusted_words(report: Report) -> str:
    """Return the p-value of the group that stands out, and what it has paid for.

    That no draw has as much is said: more permutations might give less.

    >>> one = {"name": "false_positive_rate", "event": [True, False]}
    >>> report = {"notions": [one], "n_permutations": 199}
    >>> adjusted_words({**report, "sharpest": {"p_value": 0.005, "n_groups": 812}})
    'p = 0.005, after allowing for the 812 groups looked at; 199 shuffles can give no less'
    """
    tested = report["sharpest"]
    looked_at = f"the {count(tested['n_groups'])} groups" if tested["n_groups"] > 1 else "the group"
    told = f"{p_equals(tested['p_value'])}, after allowing for {looked_at} looked at"
    if is_least(tested["p_value"], report):
        told += f"; {count(report['n_permutations'])} shuffles can give no less"
    return told


def likelihood_words(report: Report) -> str:
    """Say how likely it is that chance made the group that stands out.

    >>> one = {"name": "false_positive_rate", "event": [True, False]}
    >>> report = {"notions": [one], "n_permutations": 199}
    >>> likelihood_words({**report, "sharpest": {"p_value": 0.05, "n_groups": 20}})
    'unlikely to be chance (p = 0.050, after allowing for the 20 groups looked at)'
    """
    likely = "hardly chance" if report["sharpest"]["p_value"] <= _TINY else "unlikely to be chance"
    return f"{likely} ({adjusted_words(report)})"


def standing_out_sentences(report: Report, rows: str = "rows") -> list[str]:
    """Say who stands out from chance, by how much and how surely; nothing where nobody does.

    Nor where it is who leads, and that is no chance by its unfairness already.
    """
    if not stands_out(report):
        return []
    one = sharpest(report)
    noun = average(report)
    if one is None:
        return [
            f"One group's {noun} is {likelihood_words(report)}. Who that is would tell of a group "
            "of few rows, and is not said."
        ]
    if leads_too(report) and report["p_value"] <= _SMALL:
        return []
    if leads_too(report):
        return [f"For its size this group's {noun} is {likelihood_words(report)}."]
    told = (
        f"One group stands out for its size: {one['subgroup']}, {count(one['size'])} of "
        f"{count(report['n_rows'])} {rows}: {rate_sentence(one)}, which is "
        f"{likelihood_words(report)}."
    )
    return [told, *filter(None, [cases_sentence(one, report)])]


def named_groups_sentence(report: Report) -> str | None:
    """Say what else was tested than the largest unfairness, and what came of it; None if not."""
    tested = report.get("sharpest")
    if tested is None:
        return None
    which = "values, and where two or three attributes meet, numbers in quarters"
    if report["class"]["name"] in ("Marginals", "ExplicitGroups"):
        which = "those that were searched"
    found = "at least one stands out" if stands_out(report) else "none stands out"
    values = "values" if of_numbers(report) else "decisions"
    return (
        f"By the same shuffles of {values}, and for its size, of {count(tested['n_groups'])} "
        f"groups that can be named ({which}) {found}: {p_equals(tested['p_value'])} for the one "
        "that does so most."
    )
