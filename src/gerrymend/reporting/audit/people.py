"""Say how many people a subgroup is, and for how many of them its rate makes a difference."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.chance import is_chance
from gerrymend.reporting.audit.direction import headline, subject
from gerrymend.reporting.audit.said import core_words
from gerrymend.reporting.audit.standing_out import leads_too, likelihood_words, sharpest
from gerrymend.reporting.audit.subgroup_facts import excess
from gerrymend.reporting.audit.subgroup_words import rate_of_all, rate_sentence, short_name
from gerrymend.reporting.wording import count, percent


def people_figures(report: Mapping[str, Any], rows: str = "rows") -> list[tuple[str, str]]:
    """Return the figures that come first, each a number and what it is of; none without a subgroup.

    They are of the subgroup that a report is about: who is treated worst or, where that is not
    known, differs most; the group in a sentence, if it has most of it. `rows` is what the audited
    rows are called; each is taken for one person.
    """
    subgroup = headline(report)
    if subgroup is None:
        return []
    part = percent(subgroup["size"] / report["n_rows"])
    who = subject(subgroup).replace("The", "the", 1)
    if is_chance(report):
        who += ", perhaps by chance"
    figures = [
        (
            f"{count(subgroup['size'])} of {count(report['n_rows'])}",
            f"people ({rows}) are in {who}, {part}: {short_name(subgroup)}",
        )
    ]
    if (cases := excess(subgroup, report)) is not None:
        are = "is" if cases.number == "1" else "are"
        figures.append(
            (
                f"{cases.number} {cases.more}",
                f"of {cases.base} {are} {cases.happens} than there would be at "
                f"{rate_of_all(subgroup)}",
            )
        )
    figures += _core_figure(subgroup, report)
    sharp = [] if leads_too(report) else _sharp_figure(report, rows)
    # Who is no chance comes before who may be.
    return [*sharp, *figures] if is_chance(report) else [*figures, *sharp]


def _sharp_figure(report: Mapping[str, Any], rows: str) -> list[tuple[str, str]]:
    """Return how many are in the group that stands out from chance, and what it has."""
    one = sharpest(report)
    if one is None:
        return []
    return [
        (
            f"{count(one['size'])} of {count(report['n_rows'])}",
            f"people ({rows}) are in {one['subgroup']}, which stands out for its size: "
            f"{rate_sentence(one)}; {likelihood_words(report)}",
        )
    ]


def _core_figure(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> list[tuple[str, str]]:
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
