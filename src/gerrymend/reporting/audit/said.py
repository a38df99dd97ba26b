"""Word the worst group that can be said in a sentence, beside the one that can't."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.audit.subgroup_facts import rows_noun
from gerrymend.reporting.audit.subgroup_words import rate_sentence
from gerrymend.reporting.audit.who_leads import (
    is_chance,
    leads,
    says_most,
    stands_for,
)
from gerrymend.reporting.wording import bound, capitalised, count, percent, unfairness

Report = Mapping[str, Any]

# What can be said in a sentence.
FEW = "at most three conditions"
# Two groups are mostly the same people, or mostly others, by the part of either who are in both.
_MANY_SHARED = 0.5
_FEW_SHARED = 0.2
_ROUNDING = 1e-9


def said_sentences(report: Report) -> list[str]:
    """Say who the worst group in a sentence is; nothing where it leads or the worst is one.

    Nor where chance may have made the worst: one of these was enough.
    """
    said = report["in_a_sentence"]
    if said is None or says_most(report) or is_chance(report):
        return []
    one = said["subgroup"]
    nearly = "" if said["simpler_than"] is None else "nearly "
    most = f"{nearly}the most{'' if said['exact'] else ' that was found'}"
    cut = ", numbers cut in few places," if _is_cut(said) else ","
    gamma = report["gamma"]
    exceeds = abs(leads(report)[0]["unfairness"]) > gamma
    within = ", within what is allowed" if abs(one["unfairness"]) <= gamma and exceeds else ""
    sentence = (
        f"Of the groups with {FEW}{cut} {one['subgroup']} has {most}, "
        f"{count(one['size'])} rows: {rate_sentence(one)}; its unfairness is "
        f"{in_unit(unfairness(one['unfairness'], gamma), report)}{within}."
    )
    return [sentence, *core_sentences(one, report)]


def core_sentences(subgroup: Mapping[str, Any], report: Report) -> list[str]:
    """Say where in a subgroup most of it lies, as a sentence; nothing where that isn't known."""
    words = core_words(subgroup, report)
    return [f"{capitalised(words)}."] if words else []


def core_words(subgroup: Mapping[str, Any], report: Report) -> str | None:
    """Say in which part of a subgroup most of its unfairness lies; None where that isn't known."""
    core = report.get("core")
    said = report["in_a_sentence"]
    if core is None or subgroup != (leads(report)[0] if said is None else said["subgroup"]):
        return None
    part = core["unfairness"] / subgroup["unfairness"]
    return (
        f"most of it lies in {core['subgroup']}: {count(core['size'])} rows, "
        f"{rate_sentence(core)}, with {'all' if part >= 1 else percent(part)} of the group's "
        "unfairness"
    )


def is_said(subgroup: Mapping[str, Any], report: Report) -> bool:
    """Return whether a subgroup is the one in a sentence."""
    said = report["in_a_sentence"]
    return said is not None and subgroup is said["subgroup"]


def among_words(report: Report) -> str:
    """Say among which groups the one in a sentence is the worst, or that it is put simply."""
    said = report["in_a_sentence"]
    if said["simpler_than"] is not None:
        return ", put simply,"
    may = " that may be described," if report["withheld"] else ""
    found = "" if said["exact"] else " found"
    cut = " (numbers cut in few places)" if _is_cut(said) else ""
    return f", of those{found}{may} with {FEW}{cut},"


def _is_cut(said: Mapping[str, Any]) -> bool:
    return " bins" in said["covers"]


def beside_words(report: Report) -> str:
    """Say how much of the worst the group in a sentence has, and shares."""
    said = report["in_a_sentence"]
    first = leads(report)[0]
    part = percent(said["subgroup"]["unfairness"] / first["unfairness"])
    words = f"{part} of that of {stands_for(report)}"
    if said["overlap"] is not None:
        words += f"; {_shared_words(report)}"
    return words


def _shared_words(report: Report) -> str:
    """Say whether two groups are the same people, or all of one are in the other.

    With o the part of those in either who are in both, and s and t their shares, both have
    o·(s + t) / (1 + o).
    """
    said = report["in_a_sentence"]
    overlap, own, other = said["overlap"], said["subgroup"], leads(report)[0]
    both = overlap * (own["share"] + other["share"]) / (1 + overlap)
    if 0 < overlap < 1 and both >= own["share"] * (1 - _ROUNDING):
        return f"all of its {rows_noun(own, report)} are in that too"
    if 0 < overlap < 1 and both >= other["share"] * (1 - _ROUNDING):
        return f"all of that one's {rows_noun(other, report)} are in it too"
    return _overlap_words(overlap)


def _overlap_words(overlap: float) -> str:
    """Say whether two groups are the same people, by the part of those in either who are in both.

    >>> [_overlap_words(overlap) for overlap in (1.0, 0.8, 0.4, 0.1, 0.0)]
    ['the same people', 'mostly the same people', 'partly the same people', 'mostly other people', \
'other people']
    """
    if overlap in (0, 1):
        return "the same people" if overlap else "other people"
    few = "mostly other people" if overlap < _FEW_SHARED else "partly the same people"
    return "mostly the same people" if overlap > _MANY_SHARED else few


def brief_words(report: Report) -> str:
    """Say how much of the worst the group in a sentence has, and whether another one has more."""
    said = report["in_a_sentence"]
    part = percent(said["subgroup"]["unfairness"] / leads(report)[0]["unfairness"])
    few = f"{FEW}, numbers cut in few places," if _is_cut(said) else FEW
    if not said["exact"]:
        limit = in_unit(bound(said["upper_bound"]), report)
        more = f"with {few} more, up to {limit}, is too small to tell, or the time was up"
    elif said["simpler_than"] is None:
        more = f"none with {few} has more"
    else:
        worst = in_unit(unfairness(said["simpler_than"]), report)
        more = f"the worst with {few} has {worst}, and takes a longer description"
    shared = "" if said["overlap"] is None else f", {_shared_words(report)}"
    return f"its unfairness is {part} of that of {stands_for(report)}{shared}; {more}"


def exactness_words(report: Report) -> str:
    """Say whether a worse group in a sentence is ruled out."""
    said = report["in_a_sentence"]
    # At which numbers bins are cut is left to the JSON.
    class_words, bins, _ = said["covers"].partition(" bins")
    covers = f"{class_words}{bins}"
    simpler = ""
    if said["simpler_than"] is not None:
        values = (said["subgroup"]["unfairness"], said["simpler_than"])
        own, worst = (in_unit(unfairness(value), report) for value in values)
        simpler = f"a simpler one that has {own}, where the worst has {worst}, "
    if said["exact"]:
        return f"{simpler}exact over {covers}"
    limit = in_unit(bound(said["upper_bound"]), report)
    return (
        f"{simpler}a lower bound over {covers}: none is above {limit}; one "
        "that has more is too small to describe or would tell of such a group, or the time was up"
    )
