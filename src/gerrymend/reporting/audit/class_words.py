"""Word rates of more than two classes, each of which is compared with the others in turn."""

from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.notions import SCORE_NAMES, in_words, rate_and_class
from gerrymend.reporting.wording import quoted

Report = Mapping[str, Any]

_MEANINGS = {
    "false_positive_rate": "of those whose label is another, the part that is decided to be it",
    "false_negative_rate": "of those whose label it is, the part that is decided otherwise",
    "statistical_parity": "of all, the part that is decided to be it",
}


def of_notion(report: Report, name: str) -> Report:
    """Return a report with the two labels that a rate is about: of many, one and the rest.

    >>> rate = {"name": "false_positive_rate[soon]", "class": "soon"}
    >>> of_notion({"labels": ["later", "now", "soon"], "notions": [rate]}, rate["name"])["labels"]
    ['not soon', 'soon']
    """
    notions = report.get("notions", ())
    of_class = next((one.get("class") for one in notions if one["name"] == name), None)
    if of_class is None:
        return report
    return {**report, "labels": [f"not {of_class}", of_class]}


def rate_names(notions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is compared, in words: a rate of many classes once.

    >>> rate_names([{"name": "error_rate"}, {"name": "false_positive_rate[a]", "class": "a"},
    ...             {"name": "false_positive_rate[b]", "class": "b"}])
    ['error rate', 'false positive rate of each class']
    """
    return list(
        dict.fromkeys(
            _compared_words(one["name"])
            if one.get("class") is None
            else _of_classes(rate_and_class(one["name"])[0], "each")
            for one in notions
        )
    )


def _compared_words(name: str) -> str:
    return name if name in SCORE_NAMES else in_words(name)


def _of_classes(rate: str, which: str) -> str:
    if rate == "statistical_parity":
        return f"rate of decisions for {which} class"
    return f"{in_words(rate)} of {which} class"


def class_list(report: Report) -> str:
    """Return all labels, quoted."""
    return ", ".join(map(quoted, report["labels"]))


def class_sentences(report: Report) -> list[str]:
    """Say that each class is compared with the others, and what its rates count."""
    sentences = [f"There are {len(report['labels'])} classes: {class_list(report)}."]
    rates = [rate_and_class(one["name"])[0] for one in report["notions"] if _is_of_class(one)]
    if rates:
        sentences.append("Each is compared with all others together, and the worst is reported.")
    for rate in dict.fromkeys(rates):
        if rate in _MEANINGS:
            sentences.append(f"The {_of_classes(rate, 'a')} is, {_MEANINGS[rate]}.")
    if any(one["name"] == "error_rate" for one in report["notions"]):
        sentences.append("The error rate is, of all, the part that is decided wrongly.")
    unknown = [
        _of_classes(rate_and_class(one["name"])[0], "any")
        for one in report["notions"]
        if _is_of_class(one) and not one["worse"]
    ]
    if unknown := list(dict.fromkeys(unknown)):
        sentences.append(
            "Which class is favourable is not known: no group is called better or worse off for "
            f"its {' or its '.join(unknown)}. One class alone, compared with the rest, "
            "can be (pos_label= and favourable=, --positive and --favourable)."
        )
    return sentences


def _is_of_class(notion: Mapping[str, Any]) -> bool:
    return notion.get("class") is not None
