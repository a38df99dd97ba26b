"""Return who a report leads with as plain data: the one key of its JSON that a gate needs."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.chance import is_chance, p_words
from gerrymend.reporting.audit.direction import headline, in_unit
from gerrymend.reporting.audit.standing_out import standing_out_sentences
from gerrymend.reporting.audit.verdict import lead_sentence, verdict_sentences
from gerrymend.reporting.wording import unfairness

# What is told of the subgroup, by the names that it has elsewhere in the report.
_SAME = ("subgroup", "notion", "unit", "treated", "unfairness", "size", "rate", "overall_rate")


def lead_data(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the subgroup that text and page begin with; None where none is described.

    `base` is the number of its rows that the rate is over; None where rows weigh differently.
    """
    lead = headline(report)
    if lead is None:
        return None
    return {
        "sentence": lead_sentence(report),
        **{name: lead[name] for name in _SAME},
        "base": None if report["weighted"] else round(lead["share"] * report["n_rows"]),
        "p_value": report["p_value"],
    }


def brief_sentences(report: Mapping[str, Any]) -> list[str]:
    """Say what was shown, who leads, its unfairness and its p-value, for a gate to print."""
    lead = lead_data(report)
    if lead is None:
        return verdict_sentences(report)[:1]
    gamma = report["gamma"]
    shown = abs(lead["unfairness"]) > gamma  # then who leads is what was shown
    own = in_unit(unfairness(lead["unfairness"], gamma), report)
    chance = "chance was not tested" if lead["p_value"] is None else p_words(report)
    return [
        *([] if shown else verdict_sentences(report)[:1]),
        lead["sentence"],
        f"Its unfairness is {own}, and {in_unit(f'{gamma:g}', report)} is allowed ({chance}).",
        # Who stands out beside one that is shown, and no chance, is left to the report.
        *([] if shown and not is_chance(report) else standing_out_sentences(report)[:1]),
    ]
