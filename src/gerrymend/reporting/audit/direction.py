"""Word who is treated worse and who better, where that is known, and how to tell where it is not.

A rate that differs is bad for a group or good for it, depending on which decision people wish for.
Nothing is called worse or better unless the report knows.
"""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.class_words import class_sentences
from gerrymend.reporting.audit.score_words import direction_of_scores, of_scores
from gerrymend.reporting.audit.strata import strata_sentences
from gerrymend.reporting.audit.subgroup_words import compared_sentence, notion_meaning
from gerrymend.reporting.wording import capitalised, decided_words, decision_words, label_words

Report = Mapping[str, Any]

# What the means that have a name are means of.
_AVERAGED = {
    "mean_outcome": "mean of what was predicted or measured",
    "mean_error": "mean of what was true less what was predicted",
    "absolute_error": "mean of how far predictions are off, without sign",
    "squared_error": "mean of the squares of how far predictions are off",
}


def labelled(report: Report) -> str:
    """Return whose values the two are: a label's, or a decision's where rows have no labels."""
    return "label" if report.get("is_labelled", True) else "decision"


def size_word(treated: str | None) -> str:
    """Return the word for who leads, by how it is treated, that counts its size, too."""
    return "Most" if treated is None else "Worst"


def counts_sentence(word: str, average: str = "rate") -> str:
    """Say what a subgroup is called worst by, or the one that differs most.

    >>> counts_sentence("Worst")
    "“Worst” counts both how far a group's rate is off and how many people are in it."
    """
    return f"“{word}” counts both how far a group's {average} is off and how many people are in it."


def of_numbers(report: Report) -> bool:
    """Return whether means of numbers are compared, and not rates of decisions."""
    return any(one.get("unit") is not None for one in report["notions"])


def in_unit(words: str, report: Report) -> str:
    """Return an unfairness in words with its unit: that of numbers, where all have the same.

    >>> in_unit("0.3", {"notions": [{"unit": "days"}]}), in_unit("0.3", {"notions": [{}]})
    ('0.3 days', '0.3')
    """
    # Reports of earlier versions, which a page compares with, don't say what they are of.
    units = {one.get("unit") or "" for one in report.get("notions", [])}
    return f"{words} {units.pop()}".rstrip() if len(units) == 1 else words


def average(report: Report) -> str:
    """Return what is compared, in a word.

    >>> average({"notions": [{"unit": "days"}]}), average({"notions": [{"unit": None}]})
    ('mean', 'rate')
    """
    return "mean" if of_numbers(report) else "rate"


def reference_words(report: Report) -> str:
    """Return what the rate, or mean, of a group is compared with.

    >>> reference_words({"notions": [{"unit": None}]})
    'overall rate'
    >>> reference_words({"notions": [{"unit": "days"}], "control_features": ["urgency"]})
    'mean expected by its strata'
    """
    noun = average(report)
    if of_scores(report):
        return "predicted one"
    if any(one.get("reference") is not None for one in report["notions"]):
        return "reference"
    return f"{noun} expected by its strata" if report.get("control_features") else f"overall {noun}"


def has_group(report: Report) -> bool:
    """Return whether groups are compared with a part of a named group's rate, or mean.

    >>> has_group({"notions": [{"reference": {"group": {}, "factor": 0.8}}]})
    True
    """
    return any(isinstance(one.get("reference"), Mapping) for one in report["notions"])


def _about_labels(report: Report) -> list[str]:
    """Say which label is positive, what rates count, and what is favourable."""
    negative, positive = label_words(report)
    columns = decision_words(report)
    refused, granted = decided_words(report)
    sentences = [f"{positive} is the positive {labelled(report)}, {negative} the negative one."]
    if granted != f"decided {columns[1]}":
        who = f"Who is decided {columns[1]} is {granted}, and who is decided {columns[0]} {refused}"
        sentences.append(f"{who}.")
    elif columns[1] != positive:
        sentences.append(f"Decided positive are rows with {columns[1]}.")
    for one in report["notions"]:
        if meaning := notion_meaning(one["name"], report):
            sentences.append(f"The {in_words(one['name'])} is, {meaning}.")
    if report["favourable"] is not None:
        good = granted if report["favourable"] == "positive" else refused
        sentences.append(f"To be {good} is favourable.")
    return sentences


def _about_numbers(report: Report) -> list[str]:
    """Say what is averaged, in which unit, and what is favourable."""
    sentences = []
    for one in report["notions"]:
        unit = f", in {one['unit']}" if one["unit"] else ""
        meaning = _AVERAGED.get(one["name"], "mean of an outcome of one's own")
        sentences.append(f"The {in_words(one['name'])} is the {meaning}{unit}.")
    if report["favourable"] is not None:
        high = "high" if report["favourable"] == "positive" else "low"
        sentences.append(f"A {high} prediction is favourable.")
    return sentences


def direction_sentences(report: Report) -> list[str]:
    """Say which label is positive, what rates count, which are worse, and which groups count."""
    many = len(report["labels"]) > 2
    if of_scores(report):
        return _and_compared(direction_of_scores(report), report)
    if of_numbers(report):
        sentences = _about_numbers(report)
    else:
        sentences = class_sentences(report) if many else _about_labels(report)
    known = [
        f"a {one['worse']} {in_words(one['name'])}" for one in report["notions"] if one["worse"]
    ]
    if known:
        are = "are" if len(known) > 1 else "is"
        sentences.append(f"{capitalised(' and '.join(known))} {are} worse for a group.")
    unknown = [in_words(one["name"]) for one in report["notions"] if not one["worse"]]
    if unknown and not many:
        sentences.append(
            "Which decision is favourable was not said (favourable=, --favourable), so that no "
            f"group is called better or worse off for its {' or its '.join(unknown)}."
        )
    return _and_compared([*sentences, *strata_sentences(report, average(report))], report)


def _and_compared(sentences: list[str], report: Report) -> list[str]:
    """Return sentences, with what groups are compared with, and which of them count."""
    overall = report.get("overall_rates", ())  # which a frontier has none of
    told = (compared_sentence(one, report) for one in overall)
    sentences = [*sentences, *dict.fromkeys(filter(None, told))]
    if report["side"] == "disadvantaged":
        sentences.append("Only subgroups that are treated worse count here, in every figure.")
    return sentences
