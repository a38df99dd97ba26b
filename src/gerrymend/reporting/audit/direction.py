"""Word who is treated worse and who better, where that is known, and how to tell where it is not.

A rate that differs is bad for a group or good for it, depending on which decision people wish for.
Nothing is called worse or better unless the report knows.
"""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.class_words import class_sentences
from gerrymend.reporting.audit.score_words import direction_of_scores, of_scores
from gerrymend.reporting.audit.subgroup_words import compared_sentence, notion_meaning
from gerrymend.reporting.wording import capitalised, decision_words, label_words

Report = Mapping[str, Any]
Subgroup = Mapping[str, Any]

# A subgroup as a reader finds it at the head of a list, by how it is treated.
_FIRST = {"worse": "Treated worst", "better": "Most favoured", None: "Differs most"}
_ANOTHER = {"worse": "Also worse off", "better": "Also favoured", None: "Also"}
# A further one that is allowed, and no more than what chance finds.
_LOOKED_AT = "Also looked at"
_SENTENCE = {
    "worse": "The subgroup treated worst",
    "better": "The most favoured subgroup",
    None: "The subgroup that differs most",
}
# What the group is called that stands out most from chance for its size.
STANDS_OUT = "Stands out"
# A group in a sentence leads if it has this part of the worst's unfairness, or more.
MOST = 0.8
# Up to this a p-value speaks against chance.
SMALL = 0.05


def leads(report: Report) -> list[Subgroup]:
    """Return the subgroups that come first: who is treated worst and best, or who differs most."""
    worst = report["worst"]
    if worst is not None and worst["treated"] is None:
        return [worst]
    return _sides(report) or [*filter(None, [worst])]


def _sides(report: Report) -> list[Subgroup]:
    """Return who is treated worst, and who best, as far as they are described."""
    return [one for one in (report["disadvantaged"], report["favoured"]) if one is not None]


def is_chance(report: Report) -> bool:
    """Return whether chance was tested, and may well have made the largest unfairness."""
    return report["p_value"] is not None and report["p_value"] > SMALL


def sharpest(report: Report) -> Subgroup | None:
    """Return the group that stands out from chance and is told; None where there is none."""
    return (report.get("sharpest") or {}).get("subgroup")


def headline(report: Report) -> Subgroup | None:
    """Return the subgroup that a report is about, and leads with.

    It is the one of the largest unfairness; where that may be chance, the one that stands out from
    chance, if there is one.
    """
    first = largest(report)
    one = sharpest(report)
    if one is None or not is_chance(report) or is_named(one, first):
        return first
    return one


def sharpest_leads(report: Report) -> bool:
    """Return whether a report leads with who stands out, before another one that may be chance."""
    return headline(report) != largest(report)


def is_part(report: Report) -> bool:
    """Return whether who stands out is a part of who leads: no second finding, then."""
    within = (report.get("sharpest") or {}).get("within")
    return within is not None and within >= MOST and not is_chance(report)


def is_named(one: Subgroup, other: Subgroup | None) -> bool:
    """Return whether two groups are told by the same words."""
    return other is not None and bool(one["subgroup"] == other["subgroup"])


def largest(report: Report) -> Subgroup | None:
    """Return who has the largest unfairness: the worst or, for it, the group in a sentence."""
    if says_most(report):
        said: Subgroup = report["in_a_sentence"]["subgroup"]
        return said
    return next(iter(leads(report)), None)


def says_most(report: Report) -> bool:
    """Return whether the group in a sentence leads: it has most of the worst's unfairness.

    A sum of ten terms names nobody, and who is in it by composition makes a sharp group look
    diluted. Both have to be on the same side of gamma, which the verdict is about.
    """
    said = report["in_a_sentence"]
    if said is None:
        return False
    own = said["subgroup"]["unfairness"]
    return sentence_leads(own, leads(report)[0]["unfairness"], report["gamma"])


def sentence_leads(own: float, worst: float, gamma: float) -> bool:
    """Return whether a group in a sentence leads, by its unfairness and that of the worst.

    >>> sentence_leads(0.016, 0.018, 0.01), sentence_leads(0.009, 0.011, 0.01)
    (True, False)
    """
    has_most = abs(own) >= MOST * abs(worst)
    return has_most and (abs(own) > gamma) == (abs(worst) > gamma)


def is_the_same(report: Report) -> bool:
    """Return whether the group in a sentence has the very rows of the one that it stands for."""
    said = report["in_a_sentence"]
    if said is None or said["overlap"] is None:
        return False
    same_size = said["subgroup"]["size"] == leads(report)[0]["size"]
    return bool(said["overlap"] == 1.0 and same_size)


def stands_alone(report: Report) -> bool:
    """Return whether a group in a sentence leads that is another than the one it stands for."""
    return says_most(report) and not is_the_same(report)


def of_all(report: Report) -> str:
    """Return what the one is called that a group in a sentence stands for, and leads before."""
    if is_the_same(report):
        return "As a formula"
    return "For experts"


def is_rest(subgroup: Subgroup, report: Report) -> bool:
    """Return whether a subgroup is described as all who are not in the one before it."""
    return bool(report["favoured_is_rest"]) and subgroup == report["favoured"]


def described(report: Report) -> list[tuple[str, Subgroup]]:
    """Return all subgroups that are described, in the order of reading, each with its standing."""
    first = leads(report)
    others: list[Subgroup] = []
    for one in (*_sides(report), *report["top"]):
        if one not in (*first, *others):
            others.append(one)
    said = report["in_a_sentence"]
    shown = [(_FIRST[one["treated"]], one) for one in first]
    if says_most(report):
        shown[0:1] = [(shown[0][0], said["subgroup"]), (of_all(report), first[0])]
    elif said is not None:  # beside the one that it stands for, before the other side
        shown[1:1] = [("In plain words", said["subgroup"])]
    sharp = sharpest(report)
    if sharp is not None and sharpest_leads(report):
        shown = [(STANDS_OUT, sharp), *(one for one in shown if not is_named(sharp, one[1]))]
    elif sharp is not None and not (
        is_part(report) or any(is_named(sharp, one) for _, one in shown)
    ):
        shown.append((STANDS_OUT, sharp))
    shown += [(_further(one, report), one) for one in others]
    # All others are not alike: those who are most favoured are some of them.
    named = [("Everyone else" if is_rest(one, report) else name, one) for name, one in shown]
    return [(name, one) for name, one in named if name != "Everyone else" or tells_rest(report)]


def is_further(standing: str) -> bool:
    """Return whether a subgroup is told beside those that lead, by its standing.

    >>> is_further("Also worse off"), is_further("Treated worst")
    (True, False)
    """
    return standing in (*_ANOTHER.values(), _LOOKED_AT)


def _further(subgroup: Subgroup, report: Report) -> str:
    """Return what a further subgroup is called: worse off, or favoured, if that matters.

    It doesn't where the report is within gamma, and chance alone finds as much.
    """
    calm = report["verdict"] == "within gamma"
    line = report["detectable"]
    if calm and line is not None and abs(subgroup["unfairness"]) <= line:
        return _LOOKED_AT
    return _ANOTHER[subgroup["treated"]]


def tells_rest(report: Report) -> bool:
    """Return whether everyone else is told of: not where these are not the rest of who leads."""
    return is_the_same(report) or not says_most(report)


def standing(treated: str | None) -> str:
    """Return what a subgroup that leads is called, by how it is treated.

    >>> standing("worse"), standing(None)
    ('Treated worst', 'Differs most')
    """
    return _FIRST[treated]


def subject(subgroup: Subgroup) -> str:
    """Return a subgroup that leads as the subject of a sentence."""
    return _SENTENCE[subgroup["treated"]]


def as_object(subgroup: Subgroup, report: Report) -> str:
    """Return a subgroup that leads as it is called within a sentence."""
    if sharpest_leads(report) and subgroup == sharpest(report):
        return "the group that stands out"
    return subject(subgroup).replace("The", "the", 1)


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


def counts_sentence(treated: str | None, average: str = "rate") -> str:
    """Say what a subgroup is called worst by, or the one that differs most.

    >>> counts_sentence("worse")
    "“Worst” counts both how far a group's rate is off and how many people are in it."
    """
    word = "Most" if treated is None else "Worst"
    return f"“{word}” counts both how far a group's {average} is off and how many people are in it."


def strata_sentences(report: Report) -> list[str]:
    """Say within what groups are compared; nothing where there are no control features.

    >>> strata_sentences({"control_features": ["job"], "notions": []})
    ['Everyone is compared within strata of job: with the rate of those who are alike in that, not \
with the overall one.']
    """
    if not (controls := report.get("control_features")):
        return []
    names = " and ".join(controls)
    alike = f"with the {average(report)} of those who are alike in that, not with the overall one."
    if "strata" not in report:  # a frontier, of many reports
        return [f"Everyone is compared within strata of {names}: {alike}"]
    n_notions = len(report["notions"])
    shown = len(report["strata"]) // n_notions
    number = shown + report["strata_left_out"] // n_notions
    sentences = [
        f"Everyone is compared within strata of {names}, of which there are {number:,}: {alike}"
    ]
    if report["strata_left_out"]:
        sentences.append(
            f"Of {number - shown:,} the {average(report)}s are not shown: they have too few rows "
            "to tell, or as few could be worked out from the others."
        )
    return sentences


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
    refused, granted = decision_words(report)
    sentences = [f"{positive} is the positive {labelled(report)}, {negative} the negative one."]
    if granted != positive:
        sentences.append(f"Decided positive are rows with {granted}.")
    for one in report["notions"]:
        if meaning := notion_meaning(one["name"], report):
            sentences.append(f"The {in_words(one['name'])} is, {meaning}.")
    if report["favourable"] is not None:
        good = granted if report["favourable"] == "positive" else refused
        sentences.append(f"To be decided {good} is favourable.")
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
    return _and_compared([*sentences, *strata_sentences(report)], report)


def _and_compared(sentences: list[str], report: Report) -> list[str]:
    """Return sentences, with what groups are compared with, and which of them count."""
    overall = report.get("overall_rates", ())  # which a frontier has none of
    told = (compared_sentence(one, report) for one in overall)
    sentences = [*sentences, *dict.fromkeys(filter(None, told))]
    if report["side"] == "disadvantaged":
        sentences.append("Only subgroups that are treated worse count here, in every figure.")
    return sentences
