"""Word the worst group that can be said in a sentence, beside the one that can't."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.direction import leads
from gerrymend.reporting.audit.subgroup_words import rate_sentence
from gerrymend.reporting.wording import bound, count, event_noun, percent, unfairness

Report = Mapping[str, Any]


def said_sentences(report: Report) -> list[str]:
    """Say who the worst group in a sentence is; nothing where the worst is a sentence itself."""
    said = report["in_a_sentence"]
    if said is None:
        return []
    one = said["subgroup"]
    if is_the_same(report):  # which is how the one that leads is named
        return []
    most = "the most" if said["exact"] else "the most that was found"
    cut = ", numbers cut in few places," if " bins" in said["covers"] else ","
    return [
        f"Of the groups that can be said in a sentence{cut} {one['subgroup']} has {most}, "
        f"{count(one['size'])} rows: {rate_sentence(one)}; its unfairness is "
        f"{unfairness(one['unfairness'])}, {beside_words(report)}."
    ]


def is_the_same(report: Report) -> bool:
    """Return whether the group in a sentence has the very rows of the one that leads."""
    said = report["in_a_sentence"]
    if said is None or said["overlap"] is None:
        return False
    same_size = said["subgroup"]["size"] == leads(report)[0]["size"]
    return bool(said["overlap"] == 1.0 and same_size)


def beside_words(report: Report) -> str:
    """Say how much of the worst the group in a sentence has, and shares."""
    said = report["in_a_sentence"]
    first = leads(report)[0]
    part = percent(said["subgroup"]["unfairness"] / first["unfairness"])
    words = f"{part} of the other's"
    if said["overlap"] is not None:
        noun = event_noun(report["notions"], first["notion"])
        words += (
            f"; {percent(said['overlap'])} of the {noun} in either are in both, who account for "
            f"{percent(said['accounts_for'])} of it"
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
