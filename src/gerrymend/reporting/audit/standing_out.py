"""Word the group that stands out most from chance, before or beside the largest unfairness."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.direction import average, in_unit
from gerrymend.reporting.audit.permutations import cut_short_words, is_least
from gerrymend.reporting.audit.score_words import draws_of
from gerrymend.reporting.audit.subgroup_facts import cases_sentence, rows_noun
from gerrymend.reporting.audit.subgroup_words import rate_in_words, rate_sentence
from gerrymend.reporting.audit.who_leads import (
    SMALL,
    TINY,
    as_object,
    is_chance,
    is_named,
    is_part,
    is_tested_itself,
    is_within,
    largest,
    sharpest,
    sharpest_leads,
)
from gerrymend.reporting.wording import count, p_equals, percent, unfairness

Report = Mapping[str, Any]


def stands_out(report: Report) -> bool:
    """Return whether a group stands out from chance, told or not."""
    tested = report.get("sharpest")
    return tested is not None and tested["p_value"] <= SMALL


def leads_too(report: Report) -> bool:
    """Return whether who stands out has the largest unfairness as well, by the same words."""
    one = sharpest(report)
    return one is not None and is_named(one, largest(report))


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
        weak = "" if tested["p_value"] <= TINY else ", and don't tell how strong it is"
        told += f"; {least_words(report)}{weak}"
    return "; ".join(filter(None, [told, cut_short_words(report)]))


def least_words(report: Report) -> str:
    """Say that a p-value is the least that so many draws can give."""
    draws = draws_of(report, "value").noun.replace("permutations", "shuffles")
    return f"{count(report['n_permutations'])} {draws} can give no less"


def standing_out_words(report: Report) -> str:
    """Say in a heading's few words who stands out; the figures below it say how far."""
    one = sharpest(report)
    who = "one group that may not be named here" if one is None else one["subgroup"]
    return f"{who} stands out"


def likely_words(report: Report) -> str:
    """Say in a few words how likely it is that chance made the group that stands out.

    >>> likely_words({"sharpest": {"p_value": 0.005}})
    'hardly chance'
    """
    return "hardly chance" if report["sharpest"]["p_value"] <= TINY else "unlikely to be chance"


def likelihood_words(report: Report) -> str:
    """Say how likely it is that chance made the group that stands out, with its p-value.

    >>> one = {"name": "false_positive_rate", "event": [True, False]}
    >>> report = {"notions": [one], "n_permutations": 199}
    >>> likelihood_words({**report, "sharpest": {"p_value": 0.05, "n_groups": 20}})
    'unlikely to be chance (p = 0.050, after allowing for the 20 groups looked at)'
    """
    return f"{likely_words(report)} ({adjusted_words(report)})"


def standing_out_sentences(report: Report, rows: str = "rows") -> list[str]:
    """Say who stands out from chance, by how much and how surely; nothing where nobody does.

    Nor where it is who leads, or a part of it, and that is tested already by its unfairness.
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
    if is_part(report) or (leads_too(report) and not is_tested_itself(report)):
        return []
    if leads_too(report) and not is_chance(report):
        return [f"This group's {noun} is itself {likelihood_words(report)}."]
    if leads_too(report):
        off = f"But this group's {noun} is off by more than chance makes of so few rows"
        return [f"{off}: {likelihood_words(report)}."]
    counted = counted_sentence(one, report) if sharpest_leads(report) else None
    told = [cases_sentence(one, report), counted]
    return [sharpest_sentence(one, report, rows), *filter(None, told)]


def counted_sentence(one: Mapping[str, Any], report: Report) -> str:
    """Say the unfairness of who stands out, which counts how many are hit, and what is allowed."""
    own, allowed = (
        in_unit(words, report)
        for words in (unfairness(one["unfairness"], report["gamma"]), f"{report['gamma']:g}")
    )
    counted = "Unfairness counts how many people are hit, and this group's is"
    return f"{counted} {own}; {allowed} is allowed."


def sharpest_sentence(one: Mapping[str, Any], report: Report, rows: str = "rows") -> str:
    """Say who stands out, by how much and how surely."""
    who = "The group that stands out is"
    if largest(report) is not None and not sharpest_leads(report):
        other = f"a part of {whose(report)}" if is_within(report) else "another group"
        who = f"By its {average(report)} alone {other} stands out:"
    return (
        f"{who} {one['subgroup']}, {count(one['size'])} of {count(report['n_rows'])} {rows}: "
        f"{rate_in_words(one, report)}, which is {likelihood_words(report)}."
    )


def whose(report: Report) -> str:
    """Return the group of the largest unfairness, as a sentence calls it; there is one."""
    first = largest(report)
    assert first is not None
    return as_object(first, report)


def named_groups_sentence(report: Report) -> str | None:
    """Say what else was tested than the largest unfairness, and what came of it; None if not."""
    tested = report.get("sharpest")
    if tested is None:
        return None
    which = "values, and where two or three attributes meet; numbers in ranges"
    if report["class"]["name"] in ("Marginals", "ExplicitGroups"):
        which = "those that were searched"
    far = f"for a {average(report)} further off than chance makes of so few rows"
    most = f"the one that stands out most has {p_equals(tested['p_value'])}"
    if not stands_out(report):
        most = f"none stands out, {p_equals(tested['p_value'])}"
    draws = draws_of(report, "value").noun.replace("permutations", "shuffles")
    made = "the same" if report["p_value"] is not None else count(report["n_permutations"])
    shuffles = f"{made} {draws}"
    return (
        f"By {shuffles} {count(tested['n_groups'])} groups that can be named ({which}) were "
        f"each tested {far}: {most}{_part_words(report)}."
    )


def within_words(report: Report) -> str | None:
    """Say how much of who stands out is in the group of the largest unfairness; None if unknown."""
    one = sharpest(report)
    within = report["sharpest"].get("within")
    if one is None or within is None:
        return None
    part = "none" if within == 0 else "all" if within == 1 else percent(within)
    return f"{part} of its {rows_noun(one, report)} are in"


def _part_words(report: Report) -> str:
    """Name who stands out, where that is a part of who leads, and told nowhere else."""
    one = sharpest(report)
    if one is None or not is_part(report):
        return ""
    size = f"{count(one['size'])} rows, {rate_sentence(one)}"
    return f", {one['subgroup']} ({size}), which is part of the first group: " + (
        f"{within_words(report)} that"
    )
