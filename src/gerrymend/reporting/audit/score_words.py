"""Word audits of scores: what was predicted beside what happened, and what chance is there."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from gerrymend.notions import PREDICTED
from gerrymend.reporting.wording import Compared, label_words
from gerrymend.subgroups.rules import Condition

Report = Mapping[str, Any]

SCORE_UNFAIRNESS_MEANS = (
    "The unfairness of a subgroup is how far what happened to it is from what was predicted, times "
    "the part of all rows that are in it: 0.01 is 10 points off for a tenth of all rows, or 2 "
    "points off for half of them."
)


def is_scored(part: Mapping[str, Any]) -> bool:
    """Return whether a subgroup, or a notion, is compared with what was predicted.

    >>> is_scored({"reference": "predicted"}), is_scored({"reference": 0.25}), is_scored({})
    (True, False, False)
    """
    return bool(part.get("reference") == PREDICTED)


def of_scores(report: Report) -> bool:
    """Return whether scores are compared with what happened."""
    return any(map(is_scored, report.get("notions", ())))


def in_intervals(report: Report) -> bool:
    """Return whether subgroups are searched within intervals of the score."""
    return any(one.get("cuts") is not None for one in report.get("notions", ()))


def predicted_words(shown: Compared, unit: str | None) -> str:
    """Return what was predicted and what happened, as a sentence has it.

    >>> predicted_words(Compared("58 %", "71 %", "−13 points"), None)
    '71 % predicted, 58 % happened'
    """
    return f"{shown.reference} predicted, {shown.rate} {'happened' if unit is None else 'observed'}"


def interval_of(rule: Mapping[str, Any]) -> str:
    """Return the interval of the score that a rule is within, in words; "" where it is in any.

    >>> within = {"kind": "within", "interval": {"attribute": "score", "low": 0.6, "high": None}}
    >>> interval_of(within)
    'score ≥ 0.6'
    """
    if rule.get("kind") != "within":
        return ""
    low, high = rule["interval"]["low"], rule["interval"]["high"]
    if low is None and high is None:
        return ""
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    return Condition(rule["interval"]["attribute"], None, *ends).describe()


def own_rule(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a rule without the interval of the score that it is within."""
    own: Mapping[str, Any] = rule["rule"] if rule.get("kind") == "within" else rule
    return own


def own_words(subgroup: Mapping[str, Any]) -> str:
    """Return the words of a subgroup without those of the interval that it is within.

    >>> own_words({"subgroup": "score ≥ 0.5, and x + y ≥ 3", "rule": {"kind": "within"}})
    'x + y ≥ 3'
    """
    words: str = subgroup["subgroup"]
    _, joined, after = words.partition(", and ")
    return after if subgroup["rule"].get("kind") == "within" and joined else words


def direction_of_scores(report: Report) -> list[str]:
    """Say what happened and what is predicted, which scores are favourable, and which are worse."""
    sentences = []
    if report["labels"] != [None, None]:
        negative, positive = label_words(report)
        sentences.append(
            f"Scores are taken for probabilities of {positive}, and {negative} is the other label."
        )
    else:
        units = {one["unit"] for one in report["notions"]} - {None, ""}
        sentences.append(
            f"Scores are taken for predictions of a number{f', in {units.pop()}' if units else ''}."
        )
    if in_intervals(report):
        sentences.append("Subgroups are looked at within every interval of the score.")
    favourable = report["favourable"]
    if favourable is None:
        return [
            *sentences,
            "Whether a high score is favourable was not said (favourable=, --favourable), so that "
            "no group is called better or worse off.",
        ]
    good, bad = ("high", "low") if favourable == "positive" else ("low", "high")
    return [
        *sentences,
        f"A {good} score is favourable: one that is too {bad} is worse for a group.",
    ]


class Draws(NamedTuple):
    """What chance is told by: what the draws are called, and of what world they are.

    `many` are so many of them at the end of "of 199 …", `where` is their world, `tested` what the
    p-value is of, and `caveat` what else may make it small.
    """

    noun: str
    many: str
    where: str
    tested: str
    caveat: str = ""


_DRAWS = {
    "right_scores": Draws(
        "simulations",
        "samples in which every score was right",
        "where every score is right",
        "the scores are right for everyone",
    ),
    "symmetric_errors": Draws(
        "sign flips",
        "draws of the signs of all errors",
        "where errors are as likely above 0 as below",
        "errors are as likely above 0 as below for everyone, by any amount",
        " Of skewed errors that is not so although their mean is 0, and a small p-value may show "
        "no more than that.",
    ),
}


def draws_of(report: Report, what: str) -> Draws:
    """Return how chance is told: by shuffles of `what`, or by what scores would have made."""
    shuffled = Draws(
        "permutations",
        f"shuffles of who got which {what}",
        "where nothing differs",
        "no subgroup differs at all",
    )
    return _DRAWS.get(report.get("null", ""), shuffled)
