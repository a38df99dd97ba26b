"""Say how many people a subgroup is, and for how many of them its rate makes a difference."""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.chance import chance_of
from gerrymend.reporting.audit.said import core_words
from gerrymend.reporting.audit.standing_out import adjusted_words, likely_words, stands_out
from gerrymend.reporting.audit.subgroup_facts import excess
from gerrymend.reporting.audit.subgroup_words import (
    against_words,
    compared_rates,
    rate_sentence,
    short_name,
    than_words,
)
from gerrymend.reporting.audit.who_leads import (
    as_object,
    headline,
    is_chance,
    is_tested_itself,
    own_p_value,
    sharpest,
    sharpest_leads,
)
from gerrymend.reporting.wording import capitalised, count, p_equals, percent

Report = Mapping[str, Any]
Figures = list[tuple[str, str]]


def people_figures(report: Report, rows: str = "rows") -> Figures:
    """Return the figures that come first: who leads, by how much, and whether it may be chance.

    Where that was not tested the third is of the part of the group in which most of it lies.

    Each is a number, or an answer, and what it is of; none without a subgroup. They are the largest
    thing on a page, and so of nobody whom chance may have made: of who leads, or of who stands out
    where the heading names that, and else that it may be chance, and how many groups stand out,
    none. All others are left to the sentences. `rows` is what the audited rows are called; each is
    taken for one person.
    """
    first = headline(report)
    if first is None:
        return []
    one = sharpest(report)
    if one is not None and (sharpest_leads(report) or _is_heading(report)):
        chance = (capitalised(likely_words(report)), adjusted_words(report))
        return [*_sharp_figure(one, report, rows), *_cases_figure(one, report), chance]
    chance_figures = _chance_figure(report)
    if is_chance(report):
        return [*chance_figures, *_none_figure(report)]
    return [
        *_size_figure(first, report, rows),
        *(_cases_figure(first, report) or _gap_figure(first)),
        *(chance_figures or _core_figure(first, report)),
    ]


def _chance_figure(report: Report) -> Figures:
    """Return whether chance may have made who leads; nothing where that was not tested."""
    if own_p_value(report) is None:
        return []
    if is_tested_itself(report):
        return [(capitalised(likely_words(report)), adjusted_words(report))]
    told = chance_of(report)
    return [(told.answer, told.why)]


def _is_heading(report: Report) -> bool:
    """Return whether the heading is about who stands out: nothing exceeds what is allowed."""
    return bool(report["verdict"] != "exceeds gamma")


def _none_figure(report: Report) -> Figures:
    """Return that no group stands out from chance, of so many; nothing where one does, untold."""
    tested = report.get("sharpest")
    if tested is None or stands_out(report):
        return []
    number = count(tested["n_groups"])
    told = f"groups that can be named stand out from chance ({p_equals(tested['p_value'])})"
    return [(f"0 of {number}", told)]


def _size_figure(subgroup: Mapping[str, Any], report: Report, rows: str) -> Figures:
    """Return how many are in the group of the largest unfairness."""
    part = percent(subgroup["size"] / report["n_rows"])
    who = as_object(subgroup, report)
    return [
        (
            f"{count(subgroup['size'])} of {count(report['n_rows'])}",
            f"people ({rows}) are in {who}, {part}: {short_name(subgroup)}",
        )
    ]


def _cases_figure(subgroup: Mapping[str, Any], report: Report) -> Figures:
    """Return how many cases too many, or too few, the group that leads has."""
    if (cases := excess(subgroup, report)) is None:
        return []
    are = "is" if cases.number == "1" else "are"
    told = f"of {cases.base} {are} {cases.happens} {than_words(subgroup)}"
    return [(f"{cases.number} {cases.more}", told)]


def _gap_figure(subgroup: Mapping[str, Any]) -> Figures:
    """Return how far the mean of numbers is off in a group: there are no cases to count."""
    if subgroup.get("unit") is None:
        return []
    rates = compared_rates(subgroup)
    more = "more" if subgroup["gap"] > 0 else "less"
    name = in_words(subgroup["notion"])
    told = f"on average: {name} {rates.rate}, against {against_words(subgroup)}"
    return [(f"{rates.gap.lstrip('+−')} {more}", told)]


def _sharp_figure(one: Mapping[str, Any], report: Report, rows: str) -> Figures:
    """Return how many are in the group that stands out from chance, and what it has."""
    return [
        (
            compared_rates(one).rate,
            f"{in_words(one['notion'])} of {one['subgroup']}, against {against_words(one)}: "
            f"{count(one['size'])} of {count(report['n_rows'])} people ({rows})",
        )
    ]


def _core_figure(subgroup: Mapping[str, Any], report: Report) -> Figures:
    """Return for how many of the cases the part of the group stands in which most of it lies."""
    if core_words(subgroup, report) is None:
        return []
    core = report["core"]
    if (cases := excess(core, report)) is None:
        return []
    return [
        (
            f"{cases.number} of these",
            f"are among {count(core['size'])} people of the group, {core['subgroup']}: "
            f"{rate_sentence(core)}",
        )
    ]
