"""Return who a report leads with as plain data: the one key of its JSON that a gate needs."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.chance import p_words
from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.audit.standing_out import (
    sharpest_sentence,
    standing_out_sentences,
    stands_out,
)
from gerrymend.reporting.audit.verdict import lead_sentence, verdict_sentences
from gerrymend.reporting.audit.who_leads import headline, is_chance, sharpest, sharpest_leads
from gerrymend.reporting.wording import unfairness

# What is told of the subgroup, by the names that it has elsewhere in the report.
_SAME = ("subgroup", "notion", "unit", "treated", "unfairness", "size", "rate", "overall_rate")

# Who differs most may be the favoured ones.
_ASK = "That may be good for it: say which decision people wish for (--favourable)."


def lead_data(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the subgroup that text and page begin with; None where none is described.

    `base` is the number of its rows that the rate is over; None where rows weigh differently. The
    p-value is that by which it leads: of the largest unfairness or, where that may be chance, of
    the group that stands out from it.
    """
    lead = headline(report)
    if lead is None:
        return None
    by_sharpest = is_chance(report) and sharpest(report) is not None
    return {
        "sentence": lead_sentence(report),
        **{name: lead[name] for name in _SAME},
        "base": None if report["weighted"] else round(lead["share"] * report["n_rows"]),
        "p_value": (report["sharpest"] if by_sharpest else report)["p_value"],
    }


def brief_sentences(report: Mapping[str, Any]) -> list[str]:
    """Say what was shown, who leads, its unfairness and its p-value, for a gate to print."""
    lead = lead_data(report)
    if lead is None:
        return verdict_sentences(report)[:1]
    first = verdict_sentences(report)[0]
    gamma = report["gamma"]
    allowed = f"and {in_unit(f'{gamma:g}', report)} is allowed"
    if sharpest_leads(report):
        found = in_unit(unfairness(report["unfairness"], gamma), report)
        largest = f"The largest unfairness is {found}, {allowed} ({p_words(report)})."
        return [first, lead["sentence"]] if first != lead["sentence"] else [first, largest]
    shown = abs(lead["unfairness"]) > gamma  # then who leads is what was shown
    own = in_unit(unfairness(lead["unfairness"], gamma), report)
    chance = "chance was not tested" if lead["p_value"] is None else p_words(report)
    return [
        *([] if shown else [first]),
        lead["sentence"],
        f"Its unfairness is {own}, {allowed} ({chance}).",
        *([_ASK] if lead["treated"] is None and report["favourable"] is None else []),
        # Who stands out beside one that is shown, and no chance, is left to the report.
        *([] if shown and not is_chance(report) else standing_out_sentences(report)[:1]),
    ]


def passing_sentences(report: Mapping[str, Any]) -> list[str]:
    """Say who stands out though nothing exceeds gamma, for a gate that passes; none if nobody."""
    if not stands_out(report):
        return []
    one = sharpest(report)
    if one is None:
        return standing_out_sentences(report)
    gamma = report["gamma"]
    own, allowed = (
        in_unit(words, report) for words in (unfairness(one["unfairness"], gamma), f"{gamma:g}")
    )
    counted = "Unfairness counts how many people are hit, and this group's is"
    return [sharpest_sentence(one, report), f"{counted} {own}; {allowed} is allowed."]
