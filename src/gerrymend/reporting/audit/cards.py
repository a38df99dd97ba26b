"""Arrange what a page shows of each subgroup: its name, its facts, and bars for its rates."""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit import subgroup_words, words
from gerrymend.reporting.audit.chance import (
    chance_for_experts,
    chance_sentence,
    tells_own_chance,
)
from gerrymend.reporting.audit.formulas import is_formula, is_long
from gerrymend.reporting.audit.further import further_facts
from gerrymend.reporting.audit.intervals import interval_words
from gerrymend.reporting.audit.other_rows import other_rows_sentence
from gerrymend.reporting.audit.said import (
    beside_words,
    core_words,
    exactness_words,
    is_said,
)
from gerrymend.reporting.audit.standing_out import likelihood_words
from gerrymend.reporting.audit.subgroup_facts import subgroup_facts
from gerrymend.reporting.audit.who_leads import (
    STANDS_OUT,
    described,
    is_nobody,
    is_rest,
    is_the_same,
    largest,
    leads,
    stands_alone,
    stands_for,
)
from gerrymend.reporting.wording import capitalised, figure

Report = Mapping[str, Any]
Facts = list[tuple[str, str]]


def subgroup_cards(report: Report, axis: tuple[float, float]) -> list[dict[str, Any]]:
    """Return a card for each subgroup: its name, facts, and two bars for its rate."""
    views = []
    for standing, subgroup in described(report):
        facts = _facts(standing, subgroup, report)
        rest = is_rest(subgroup, report)
        shown = subgroup_words.compared_rates(subgroup)
        formula = is_formula(subgroup)
        views.append(
            {
                "standing": standing,
                "name": _name(standing, subgroup, report),
                "in_full": subgroup_words.rule_words(subgroup)
                if rest or formula or is_long(subgroup)
                else None,
                "note": f"{words.FORMULA_MEANS} {subgroup_words.reference_words(subgroup)}"
                if formula
                else None,
                "facts": facts,
                "rate": shown.rate,
                "overall": shown.reference,
                "bars": _rate_bars(subgroup, report, axis),
            }
        )
    return views


def _rate_bars(
    subgroup: Mapping[str, Any], report: Report, axis: tuple[float, float]
) -> list[dict[str, Any]]:
    """Return the rates of a subgroup, where most of it lies and what it is compared with, drawn."""
    shown = subgroup_words.compared_rates(subgroup)
    reference = capitalised(subgroup_words.reference_noun(subgroup))
    # Nobody is painted as a finding whom chance may have made.
    kind = "" if is_nobody(subgroup, report) else "rate"
    rates = [("This group", shown.rate, subgroup["rate"], kind)]
    if core_words(subgroup, report):
        core = report["core"]
        rate = subgroup_words.compared_rates(core).rate
        rates.append(("Where most of it lies", rate, core["rate"], kind))
    rates.append((reference, shown.reference, subgroup["overall_rate"], ""))
    if subgroup_words.rest_words(subgroup) and not is_rest(subgroup, report):
        rest = subgroup["rest_rate"]
        rates.append(("Everyone else", figure(rest, subgroup.get("unit")), rest, ""))
    return [
        {"name": name, "value": value, "width": part_of_axis(rate, *axis), "kind": kind}
        for name, value, rate, kind in rates
    ]


def _facts(standing: str, subgroup: Mapping[str, Any], report: Report) -> Facts:
    """Return the facts of a card: of who leads, with how sure that is.

    The proof and what holds on other rows are of the one of the largest unfairness, or of the one
    that has the same rows and leads.
    """
    if standing == "As a formula":
        return [("Size", "the same rows as the first")]
    facts = subgroup_facts(subgroup, report)
    if core := core_words(subgroup, report):
        facts.append(("Where in it", core))
    if interval := interval_words(subgroup, report):
        facts.append(("95 % interval", f"{in_words(subgroup['notion'])} {interval}"))
    if subgroup == largest(report):
        facts.append(("Chance", _chance_of_the_largest(report)))
    elif subgroup == leads(report)[0] and (formula := chance_for_experts(report)):
        facts.append(("Chance", formula))
    facts += further_facts(standing, subgroup, report)
    if standing == STANDS_OUT:
        facts.append(("Chance", likelihood_words(report)))
    same = is_said(subgroup, report) and is_the_same(report)
    if (leads(report)[0] if same else subgroup) == report["worst"]:
        facts += [
            ("Proof", words.proof_sentences(report)),
            ("On other rows", other_rows_sentence(report)),
        ]
    if is_said(subgroup, report) and not same:
        facts += [
            ("Beside the worst", f"its unfairness is {beside_words(report)}"),
            ("Proof", exactness_words(report)),
        ]
    return facts


def _chance_of_the_largest(report: Report) -> str:
    """Return whether chance made the largest unfairness; first of a group that leads for that."""
    if stands_alone(report) and tells_own_chance(report):
        return f"{capitalised(likelihood_words(report))}."
    return chance_sentence(report)


def _name(standing: str, subgroup: Mapping[str, Any], report: Report) -> str:
    """Return the name of a card."""
    told = {
        "Everyone else": "all who are not in the first group",
        "As a formula": "the same rows",
        "For experts": f"{stands_for(report)}, {subgroup_words.short_name(subgroup)}",
    }
    return told.get(standing) or subgroup_words.short_name(subgroup)


def part_of_axis(value: float, low: float, high: float) -> float:
    """Return where a value is between two ends, in percent, for a style sheet.

    >>> part_of_axis(0.25, 0.0, 0.5), part_of_axis(2.0, 0.0, 1.0)
    (50.0, 100.0)
    """
    return round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)
