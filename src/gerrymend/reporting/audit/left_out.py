"""Say what a report leaves out: for the sake of few rows, for want of time, or as no finding."""

from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.audit.score_words import draws_of
from gerrymend.reporting.audit.who_leads import is_calm, is_chance_beside, line_of
from gerrymend.reporting.wording import unfairness

Report = Mapping[str, Any]

_KEPT_BACK = {
    "disadvantaged": "who is treated worst",
    "favoured": "who is treated best",
    "in_a_sentence": "the worst group with at most three conditions",
    "core": "where in the group most of it lies",
    "sharpest": "who stands out most from chance",
    "composition": "some of who is in the groups",
}


# What became of the other subgroups that were found, by the reasons of `auditing.further_groups`.
_WHY_FEWER = {
    "alike": "much the same as {them}",
    "shared": "not much beside those of their people who are in {them}",
    "few_rows": "of a kind that would tell of few rows beside {them}",
}
# Each is searched for with those before it taken out: a part of one may have more.
_AMONG_OTHERS = "among people who are in none of the groups told"


def fewer_sentences(report: Report) -> list[str]:
    """Say why fewer subgroups are described than were asked for; nothing where there are as many.

    >>> report = {"provenance": {"top": 3}, "top": [{}], "why_fewer": ["alike", "little"]}
    >>> print(*fewer_sentences(report))
    No more subgroups are told: the others that were found are much the same as the worst, and \
among people who are in none of the groups told no other has a tenth of its unfairness.
    """
    if is_calm(report):
        return []
    wanted = (report["provenance"] or {}).get("top", 1)
    by_chance = [one for one in report["top"][1:] if is_chance_beside(one, report)]
    found = len(report["top"]) - len(by_chance)
    if not 0 < found < wanted:
        return []
    if by_chance:
        return [f"No more subgroups are told: {_no_more_than_chance(by_chance, report)}."]
    them = "the worst" if found == 1 else "these"
    why = report.get("why_fewer", ())
    passed = [words.format(them=them) for code, words in _WHY_FEWER.items() if code in why]
    parts = [f"the others that were found are {', or '.join(passed)}"] if passed else []
    if "little" in why:
        whose = "its" if found == 1 and passed else "the largest"
        parts.append(f"{_AMONG_OTHERS} no other has a tenth of {whose} unfairness")
    if "time" in why:
        parts.append("there was no time to search for more (budget, --budget)")
    return [f"No more subgroups are told{': ' * bool(parts)}{', and '.join(parts)}."]


def _no_more_than_chance(found: Sequence[Mapping[str, Any]], report: Report) -> str:
    """Say that chance alone finds as much as these further subgroups have."""
    have = "the next that was found has" if len(found) == 1 else "the next that were found have"
    told = f"{have} no more than what chance alone finds"
    lines = [line_of(one, report) or 0.0 for one in found]
    if any(abs(one["unfairness"]) > line for one, line in zip(found, lines, strict=True)):
        return told  # which their p-values say
    up_to = in_unit(unfairness(max(lines)), report)
    return f"{told}, up to {up_to} in 19 of 20 samples {draws_of(report, 'value').where}"


def kept_back_sentence(report: Report, besides: Sequence[str] = ()) -> str | None:
    """Say what is left out, or told only in part, for the sake of few rows; None if nothing is."""
    kept_back = [part for part in report["kept_back"] if part not in (*besides, "time")]
    sentences = []
    if parts := ", ".join(_KEPT_BACK[part] for part in kept_back):
        sentences.append(
            f"Left out, wholly or in part, as it would tell of a group of few people"
            f"{or_late(report)}: {parts}."
        )
    if "time" in report["kept_back"]:
        sentences.append(
            "There was no time to work out of all groups whether they would tell of few rows; "
            "those of which it is not known are left out. More time (budget, --budget) shows more."
        )
    return " ".join(sentences) or None


def or_late(report: Report) -> str:
    """Return what is added to why something is left out, where some is for want of time."""
    return ", or there was no time to rule that out" if "time" in report["kept_back"] else ""
