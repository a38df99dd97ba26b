"""Return who a report leads with as plain data: the one key of its JSON that a gate needs."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.chance import (
    chance_sentence,
    is_of_another,
    p_words,
    quick_search_words,
)
from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.audit.findings import cautions, lead_sentence
from gerrymend.reporting.audit.standing_out import (
    counted_sentence,
    likelihood_words,
    sharpest_sentence,
    standing_out_sentences,
    stands_out,
)
from gerrymend.reporting.audit.verdict import verdict_sentences
from gerrymend.reporting.audit.who_leads import (
    SMALL,
    headline,
    is_chance,
    is_for_experts,
    is_tested_itself,
    may_be_chance,
    own_p_value,
    own_test,
    sharpest,
    sharpest_leads,
    stands_for,
)
from gerrymend.reporting.wording import capitalised, p_equals, unfairness

# What is told of the subgroup, by the names that it has elsewhere in the report.
_SAME = (
    *("subgroup", "notion", "unit", "treated", "unfairness", "size"),
    *("rate", "overall_rate", "rest_rate"),
)

# Who differs most may be the favoured ones.
_ASK = "That may be good for it: say which decision people wish for (--favourable)."


def lead_data(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the subgroup that text and page begin with; None where none is described.

    `base` is the number of its rows that the rate is over; None where rows weigh differently.
    `chance` says whether it may be chance, and that this was not tested where it was not. The
    p-value is that by which it leads, `p_value_of` the "search", that is, of so large an unfairness
    of any group that was searched for its notion; of the "sentence", of any that can be said in as
    few conditions; or of the "group" itself, among those that can be named.
    """
    lead = headline(report)
    if lead is None:
        return None
    value = own_p_value(report)
    of = "search" if own_test(report) is None else "sentence"
    if is_tested_itself(report):
        value = report["sharpest"]["p_value"]
        of = "group"
    return {
        "sentence": lead_sentence(report),
        "chance": _chance(report),
        **{name: lead.get(name) for name in _SAME},
        "base": None if report["weighted"] else round(lead["share"] * report["n_rows"]),
        "p_value": value,
        "p_value_of": None if value is None else of,
    }


def _chance(report: Mapping[str, Any]) -> str:
    """Say whether chance may have made who leads."""
    if is_tested_itself(report):
        return f"{capitalised(likelihood_words(report))}."
    return chance_sentence(report)


def leads_by_chance(report: Mapping[str, Any]) -> bool:
    """Return whether chance may have made who leads, by its own p-value.

    And all else that exceeds gamma: beside a lead that may be chance, another group may be none.
    """
    lead = report["lead"]
    value = report["p_value"] if lead is None else lead["p_value"]
    return value is not None and value > SMALL and may_be_chance(report)


def brief_sentences(report: Mapping[str, Any]) -> list[str]:
    """Say what was shown, who leads, its unfairness and its p-value, for a gate to print."""
    lead = lead_data(report)
    if lead is None:
        return verdict_sentences(report)[:1]
    cautious = cautions(report)
    first = next(one for one in verdict_sentences(report) if one not in cautious)
    gamma = report["gamma"]
    allowed = f"and {in_unit(f'{gamma:g}', report)} is allowed"
    if sharpest_leads(report):
        found = in_unit(unfairness(report["unfairness"], gamma), report)
        whose = f", of {stands_for(report)}," if is_for_experts(report) else ""
        told = f"{p_equals(report['p_value'])}{quick_search_words(report)}"
        largest = f"The largest unfairness{whose} is {found}, {allowed} ({told})."
        return [first, lead["sentence"]] if first != lead["sentence"] else [first, largest]
    shown = abs(lead["unfairness"]) > gamma  # then who leads is what was shown
    own = in_unit(unfairness(lead["unfairness"], gamma), report)
    chance = "" if cautious or lead["p_value"] is not None else " (chance was not tested)"
    if lead["p_value"] is not None:
        whose = f"{stands_for(report)} has " if is_of_another(report) else ""
        chance = f" ({whose}{p_words(report)})"
    return [
        *cautious,
        *([] if shown else [first]),
        lead["sentence"],
        f"Its unfairness is {own}, {allowed}{chance}.",
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
    return [sharpest_sentence(one, report), counted_sentence(one, report)]
