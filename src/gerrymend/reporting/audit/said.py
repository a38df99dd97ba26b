"""Word the worst group that can be said in a sentence, beside the one that can't."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.direction import leads, says_most
from gerrymend.reporting.audit.subgroup_words import rate_sentence
from gerrymend.reporting.wording import bound, count, event_noun, percent, unfairness

Report = Mapping[str, Any]

# The one that a group in a sentence stands for.
_WORST = {
    "worse": "the worst of all",
    "better": "the most favoured of all",
    None: "the one that differs most of all",
}


def said_sentences(report: Report) -> list[str]:
    """Say who the worst group in a sentence is; nothing where it leads or the worst is one."""
    said = report["in_a_sentence"]
    if said is None or says_most(report):
        return []
    one = said["subgroup"]
    most = "the most" if said["exact"] else "the most that was found"
    cut = ", numbers cut in few places," if _is_cut(said) else ","
    return [
        f"Of the groups that can be said in a sentence{cut} {one['subgroup']} has {most}, "
        f"{count(one['size'])} rows: {rate_sentence(one)}; its unfairness is "
        f"{unfairness(one['unfairness'])}, {beside_words(report)}."
    ]


def is_said(subgroup: Mapping[str, Any], report: Report) -> bool:
    """Return whether a subgroup is the one in a sentence."""
    said = report["in_a_sentence"]
    return said is not None and subgroup is said["subgroup"]


def among_words(report: Report) -> str:
    """Say among which groups the one in a sentence is the worst."""
    said = report["in_a_sentence"]
    may = "may be described and " if report["withheld"] else ""
    found = "" if said["exact"] else " found"
    cut = " (numbers cut in few places)" if _is_cut(said) else ""
    return f", of those{found} that {may}can be said in a sentence{cut},"


def stands_for(report: Report) -> str:
    """Return the one that a group in a sentence stands for."""
    return _WORST[leads(report)[0]["treated"]]


def _is_cut(said: Mapping[str, Any]) -> bool:
    return " bins" in said["covers"]


def beside_words(report: Report) -> str:
    """Say how much of the worst the group in a sentence has, and shares."""
    said = report["in_a_sentence"]
    first = leads(report)[0]
    part = percent(said["subgroup"]["unfairness"] / first["unfairness"])
    words = f"{part} of that of {stands_for(report)}"
    if said["overlap"] is not None:
        noun = event_noun(report["notions"], first["notion"])
        # Those who are in the worst alone may be treated better than all.
        part = "all" if said["accounts_for"] >= 1 else percent(said["accounts_for"])
        words += (
            f"; {percent(said['overlap'])} of the {noun} in either are in both, who account for "
            f"{part} of it"
        )
    return words


def exactness_words(report: Report) -> str:
    """Say whether a worse group in a sentence is ruled out."""
    said = report["in_a_sentence"]
    # At which numbers bins are cut is left to the JSON.
    class_words, bins, _ = said["covers"].partition(" bins")
    covers = f"{class_words}{bins}"
    if said["exact"]:
        return f"exact over {covers}"
    return (
        f"a lower bound over {covers}: none is above {bound(said['upper_bound'])}; one "
        "that has more is too small to describe or would tell of such a group, or the time was up"
    )
