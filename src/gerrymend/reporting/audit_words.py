"""What an audit's plain data says, in sentences for people who don't read arrays.

Sentences are plain text, with names and values from the data as they are: whoever renders them
escapes them.
"""

import shlex
from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.wording import capitalised, count, p_value, percent, points, unfairness

Report = Mapping[str, Any]

HEADINGS = {
    "exceeds gamma": "More unfair than allowed",
    "within gamma": "Within what is allowed",
    "undecided": "Not decided",
}
# Below this a p-value is called small.
_SMALL = 0.05
# Descriptions of more characters are not put into a sentence.
_LONG = 120


def notion_meaning(name: str, labels: list[Any]) -> str | None:
    """What a rate counts; None for one of the user's own.

    >>> notion_meaning("false_positive_rate", ["no", "yes"])
    'of those whose label is “no”, the part that is decided “yes”'
    """
    negative, positive = (f"“{label}”" for label in labels)
    return {
        "false_positive_rate": f"of those whose label is {negative}, the part that is decided "
        f"{positive}",
        "false_negative_rate": f"of those whose label is {positive}, the part that is decided "
        f"{negative}",
        "statistical_parity": f"of all, the part that is decided {positive}",
        "error_rate": "of all, the part that is decided wrongly",
    }.get(name)


def _outcome(name: str, labels: list[Any]) -> str | None:
    """What happens to those that a rate counts."""
    negative, positive = (f"“{label}”" for label in labels)
    return {
        "false_positive_rate": f"wrongly decided {positive}",
        "false_negative_rate": f"wrongly decided {negative}",
        "statistical_parity": f"decided {positive}",
        "error_rate": "decided wrongly",
    }.get(name)


def in_cases(subgroup: Mapping[str, Any], report: Report) -> str | None:
    """The unfairness of a subgroup as a number of cases; None where rows have no such meaning.

    unfairness·n = (rows of the group that count)·(rate − overall rate).
    """
    happens = _outcome(subgroup["notion"], report["labels"])
    cases = abs(subgroup["unfairness"]) * report["n_rows"]
    if happens is None or report["weighted"] or cases < 0.5:
        return None
    more = "more" if subgroup["unfairness"] > 0 else "fewer"
    number = f"1 {more} case" if round(cases) == 1 else f"{count(cases)} {more} cases"
    verb = "is" if round(cases) == 1 else "are"
    return f"About {number} in this group {verb} {happens} than there would be at the overall rate."


def rate_sentence(subgroup: Mapping[str, Any]) -> str:
    """A subgroup's rate beside the overall one."""
    return (
        f"{in_words(subgroup['notion'])} {percent(subgroup['rate'])}, against "
        f"{percent(subgroup['overall_rate'])} overall"
    )


def verdict_sentences(report: Report) -> list[str]:
    """The verdict, who is affected and how much, and how sure that is."""
    verdict, allowed = report["verdict"], f"{report['gamma']:g}"
    found, limit = unfairness(report["unfairness"]), unfairness(report["upper_bound"])
    worst = report["worst"]
    if verdict == "within gamma":
        first = (
            f"It is proven that on these {count(report['n_rows'])} rows no subgroup of those that "
            f"were searched has an unfairness above {limit}; {allowed} is allowed."
        )
        return [first, *([_worst_sentence(report)] if worst else [])]
    if verdict == "undecided":
        return [
            f"The worst subgroup that was found has an unfairness of {found}, and {allowed} is "
            f"allowed. But the search can miss a worse one: up to {limit} is not ruled out.",
            *([_worst_sentence(report)] if worst else []),
        ]
    sentences = []
    if worst is None or abs(worst["unfairness"]) <= report["gamma"]:
        sentences.append(
            f"A subgroup that is too small to be described has an unfairness of {found}; {allowed} "
            "is allowed."
        )
        return [*sentences, *([_worst_sentence(report)] if worst else []), chance_sentence(report)]
    sentences += [_worst_sentence(report), in_cases(worst, report) or ""]
    value = unfairness(worst["unfairness"])
    if report["withheld"]:
        bound = f"a group that is too small to be described has {found}"
    elif report["exact"]:
        bound = "no subgroup of those that were searched is worse"
    else:
        bound = f"a worse one, up to {limit}, is not ruled out"
    sentences.append(f"Its unfairness is {value}, and {allowed} is allowed; {bound}.")
    return [*filter(None, [*sentences, chance_sentence(report), _confirmation(report)])]


def _confirmation(report: Report) -> str | None:
    """Whether rows that were not searched show the same; None where they can't say."""
    held_out = report["held_out"]
    if held_out is None or held_out["subgroup"] is None or not held_out["unfairness_interval"]:
        return None
    low, high = held_out["unfairness_interval"]
    confirmed = low > 0 if report["worst"]["unfairness"] > 0 else high < 0
    verb = "confirm" if confirmed else "do not confirm"
    return (
        f"The {count(held_out['n_rows'])} rows that were not searched {verb} it: there the group's "
        f"unfairness is {_signed(held_out['subgroup']['unfairness'])}, between {_signed(low)} and "
        f"{_signed(high)} with {percent(held_out['level'])} confidence."
    )


def _worst_sentence(report: Report) -> str:
    worst = report["worst"]
    which = "that may be described" if report["withheld"] else "that was found"
    long = is_formula(worst) or len(worst["subgroup"]) > _LONG
    who = "the first one below" if long else worst["subgroup"]
    return (
        f"The worst subgroup {which} is {who}, {count(worst['size'])} of "
        f"{count(report['n_rows'])} rows: {rate_sentence(worst)}."
    )


def chance_sentence(report: Report) -> str:
    """Whether chance alone could have made as much."""
    value = report["p_value"]
    if value is None:
        return "Whether chance alone could make as much was not tested."
    if value <= _SMALL:
        return f"Chance alone would hardly make so much (p-value {p_value(value)})."
    return f"Chance alone could make as much (p-value {p_value(value)})."


def bound_sentence(report: Report) -> str:
    """Whether what was found is all there is."""
    if report["exact"]:
        return f"Exact: proven over {report['covers']}, none is worse."
    return (
        f"A lower bound: the search may have missed a worse one. None is above "
        f"{unfairness(report['upper_bound'])}, proven over {report['covers']}."
    )


def interval_sentence(report: Report) -> str:
    """Where the worst subgroup's unfairness may be for others than these rows."""
    held_out, general = report["held_out"], report["generalisation"]
    if held_out is not None:
        return _held_out_sentence(held_out)
    if general is not None and not general["vacuous"]:
        middle, distance = abs(report["worst"]["unfairness"]), general["distance"]
        return (
            f"Unfairness between {unfairness(max(0.0, middle - distance))} and "
            f"{unfairness(middle + distance)} for all from whom the rows were drawn, with "
            f"{percent(general['confidence'])} confidence."
        )
    return (
        "None: a subgroup that was chosen as the worst of many looks worse than it is elsewhere. "
        "Rows that are held out of the search give one (test_size, --test-size)."
    )


def _held_out_sentence(held_out: Mapping[str, Any]) -> str:
    where = f"On {count(held_out['n_rows'])} rows that were not searched"
    there = held_out["subgroup"]
    if there is None:
        return f"{where}, too few of its rows count to say anything."
    words = f"{where}: {rate_sentence(there)}, unfairness {_signed(there['unfairness'])}"
    if held_out["unfairness_interval"] is None:
        return f"{words}."
    low, high = held_out["unfairness_interval"]
    return (
        f"{words}; between {_signed(low)} and {_signed(high)} with {percent(held_out['level'])} "
        "confidence."
    )


def _signed(value: float) -> str:
    """An unfairness, the sign before it.

    >>> _signed(0.0123), _signed(-0.05), _signed(0.0)
    ('+0.0123', '−0.0500', '0')
    """
    sign = "" if value == 0 else "−" if value < 0 else "+"
    return f"{sign}{unfairness(value)}"


def gap_sentence(report: Report) -> str:
    """What an audit of one attribute at a time would have shown of it."""
    alone, together = report["marginal_unfairness"], report["unfairness"]
    if together == 0 and alone == 0:
        return "Neither one attribute at a time nor any subgroup that was found differs at all."
    if alone >= together * 0.995:
        return (
            "One attribute at a time shows all that was found: combinations of them add nothing "
            "here."
        )
    part = "nothing" if alone == 0 else percent(alone / together)
    return (
        f"One attribute at a time shows {part} of it: the largest unfairness there is "
        f"{unfairness(alone)}, and in the worst combination {unfairness(together)}."
    )


def detection_sentences(report: Report) -> list[str]:
    """What this sample could and couldn't show."""
    sentences = _by_chance(report)
    general = report["generalisation"]
    if general is not None:
        confidence = percent(general["confidence"])
        sentences.append(
            "For others than these rows, so few give no guarantee over all subgroups at once."
            if general["vacuous"]
            else f"With {confidence} confidence no subgroup's unfairness is more than "
            f"{unfairness(general['distance'])} off for all from whom the rows were drawn "
            f"({general['basis']})."
        )
    sentences.append(
        f"Groups with fewer than {count(report['min_group_size'])} rows that count, or all but so "
        "few, are not described, as few rows identify people; what is proven covers them too."
    )
    if report["withheld"]:
        sentences.append("Such a group has the largest unfairness that was found.")
    if left_out := report["marginals_left_out"]:
        are = "is" if left_out == 1 else "are"
        sentences.append(
            f"For that reason {count(left_out)} of the groups of one attribute {are} left out."
        )
    return sentences


def _by_chance(report: Report) -> list[str]:
    if report["p_value"] is None:
        why = report["no_p_value"] or (
            "no permutations were made (n_permutations=199, --permutations 199)"
        )
        return [f"What chance alone would make of so many rows was not tested: {why}."]
    draws, line = count(report["n_permutations"]), report["detectable"]
    tested = (
        "The p-value tests “no subgroup differs at all”, not “none exceeds what is allowed”; the "
        "verdict is about these rows."
    )
    if line is None:
        return [f"{draws} permutations are too few to say what chance alone would make.", tested]
    found = report["searched_unfairness"]
    beside = (
        ""
        if found is None
        else f" In the rows as they are the same quick search finds {unfairness(found)}."
    )
    share = next((part for part in (0.1, 0.25, 0.5) if line / part < 0.5), None)
    example = (
        ""
        if share is None
        else f" That is, for example, {points(line / share).lstrip('+')} for a group whose rows "
        f"that count are {percent(share)} of all rows."
    )
    return [
        f"With so many rows, a quick search finds up to {unfairness(line)} in 19 of 20 samples "
        f"where nothing differs ({draws} permutations): less than that can't be told from chance."
        f"{example}{beside}",
        tested,
    ]


def protected_sentences(report: Report) -> list[str]:
    """Whether the model decides by protected columns, where that is known."""
    used = report["protected_used"]
    if used is None:
        return [
            "Not known: an audit sees decisions, not the model. (features=, --features tell the "
            "report by which columns it decides.)"
        ]
    others = "Other columns can stand in for protected ones; the audit counts what comes of both."
    if not used:
        names = ", ".join(report["attributes"])
        return [f"No: the model decides by none of {names}. {others}"]
    return [f"Yes: the model decides by {', '.join(used)}."]


def next_sentences(report: Report) -> list[str]:
    """What to do about it, and what an audit can't know."""
    if report["verdict"] == "within gamma":
        return [
            "Nothing has to be mended to keep what is allowed on these rows. Audit again when the "
            "model or the people change; new rows can differ."
        ]
    cost = (
        "What a fairer model would cost in accuracy is not known from an audit. The first of these "
        "commands trains models for several allowed levels and shows the error of each beside its "
        "unfairness; which to take is a question of policy. The second trains one."
    )
    if report["verdict"] == "undecided":
        more = "More time (budget, --budget), or a smaller class of subgroups, can decide it."
        return [more, cost]
    return [cost]


def next_commands(report: Report) -> list[str]:
    """What to type for it; names from the data are quoted for a shell."""
    if report["verdict"] == "within gamma":
        return []
    names = [shlex.quote(" ".join(name.split())) for name in report["attributes"]]
    protected = " ".join(f"--protected {name}" for name in names)
    return [
        f"gerrymend frontier FILE --label LABEL {protected} --test-size 0.3",
        f"gerrymend fit FILE --label LABEL {protected} --gamma {report['gamma']:g} --out MODEL",
    ]


def model_sentence(model: Mapping[str, Any]) -> str:
    """What the rows that a trained model was audited on can say of others."""
    if model["audited"] == "test rows":
        return (
            "What is said on this page, but for the table below, is of the test rows, which had no "
            "part in the training."
        )
    return (
        "These are the rows that the model was trained on; expect it to be less fair on others. "
        "--test-size keeps some out of the training, and audits those."
    )


def heading(report: Report) -> str:
    """The verdict in a few words."""
    return HEADINGS[report["verdict"]]


def is_formula(subgroup: Mapping[str, Any]) -> bool:
    """Whether a subgroup is told as a weighted sum of attributes, which not everyone reads."""
    return "·" in subgroup["subgroup"] and subgroup["rule"]["kind"] == "linear"


def subgroup_facts(subgroup: Mapping[str, Any], report: Report) -> list[tuple[str, str]]:
    """Size, rate, difference and unfairness of a subgroup, by name."""
    ratio = "" if subgroup["ratio"] is None else f", {subgroup['ratio']:.2f} times the overall rate"
    shown = f"{percent(subgroup['rate'])}, against {percent(subgroup['overall_rate'])} overall"
    facts = [
        (
            "Size",
            f"{count(subgroup['size'])} of {count(report['n_rows'])} rows "
            f"({percent(subgroup['size'] / report['n_rows'])}); those that count are "
            f"{percent(subgroup['share'])} of all rows",
        ),
        (capitalised(in_words(subgroup["notion"])), shown),
        ("Difference", f"{points(subgroup['gap'])}{ratio}"),
    ]
    if cases := in_cases(subgroup, report):
        facts.append(("In cases", cases))
    facts.append(
        ("Unfairness", f"{unfairness(subgroup['unfairness'])}; {report['gamma']:g} is allowed")
    )
    return facts
