"""Say how many people a subgroup is, and for how many of them its rate makes a difference."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.said import core_words
from gerrymend.reporting.audit.standing_out import leads_too, likely_words
from gerrymend.reporting.audit.subgroup_facts import excess
from gerrymend.reporting.audit.subgroup_words import rate_of_all, rate_sentence, short_name
from gerrymend.reporting.audit.who_leads import (
    as_object,
    headline,
    is_chance,
    is_for_experts,
    is_part,
    largest,
    sharpest,
    sharpest_leads,
)
from gerrymend.reporting.wording import count, percent

Report = Mapping[str, Any]
Figures = list[tuple[str, str]]


def people_figures(report: Report, rows: str = "rows") -> Figures:
    """Return the figures that come first, each a number and what it is of; none without a subgroup.

    They are of the subgroup that leads: who is treated worst or, where that is not known, differs
    most; where that may be chance, who stands out from it, and how many are in the other comes
    last. `rows` is what the audited rows are called; each is taken for one person.
    """
    first = headline(report)
    if first is None:
        return []
    other = largest(report)
    if not sharpest_leads(report):
        return [
            *_size_figure(first, report, rows),
            *_cases_figure(first, report),
            *_core_figure(first, report),
            *([] if leads_too(report) else _sharp_figure(report, rows)),
        ]
    # Cases of the other are partly those of the first, and told below; so is all of a formula.
    if other is None or is_for_experts(report):
        return [*_sharp_figure(report, rows), *_cases_figure(first, report)]
    beside = _size_figure(other, report, rows)
    return [*_sharp_figure(report, rows), *_cases_figure(first, report), *beside]


def _size_figure(subgroup: Mapping[str, Any], report: Report, rows: str) -> Figures:
    """Return how many are in the group of the largest unfairness."""
    part = percent(subgroup["size"] / report["n_rows"])
    who = as_object(subgroup, report)
    if is_chance(report):
        who += ", perhaps by chance"
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
    than = f"than there would be at {rate_of_all(subgroup)}"
    return [
        (f"{cases.number} {cases.more}", f"of {cases.base} {are} {cases.happens} {than}"),
    ]


def _sharp_figure(report: Report, rows: str) -> Figures:
    """Return how many are in the group that stands out from chance, and what it has."""
    one = sharpest(report)
    if one is None or is_part(report):
        return []
    return [
        (
            f"{count(one['size'])} of {count(report['n_rows'])}",
            f"people ({rows}) are in {one['subgroup']}, which stands out: "
            f"{rate_sentence(one)}; {likely_words(report)}",
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
