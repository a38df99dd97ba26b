"""What an audit's plain data says, in sentences for people who don't read arrays.

Sentences are plain text, with names and values from the data as they are: whoever renders them
escapes them.
"""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.subgroup_words import in_cases, is_formula, is_long, rate_sentence
from gerrymend.reporting.wording import bound, count, p_value, percent, points, unfairness

Report = Mapping[str, Any]

# How rich shows each verdict.
STYLES = {"within gamma": "bold green", "exceeds gamma": "bold red", "undecided": "bold yellow"}
HEADINGS = {
    "exceeds gamma": "More unfair than allowed",
    "within gamma": "Within what is allowed",
    "undecided": "Not decided",
}
# Below this a p-value is called small.
_SMALL = 0.05


def verdict_sentences(report: Report) -> list[str]:
    """The verdict, who is affected and how much, and how sure that is."""
    verdict, gamma = report["verdict"], report["gamma"]
    found, limit = unfairness(report["unfairness"], gamma), bound(report["upper_bound"], gamma)
    described = [_worst_sentence(report)] if report["worst"] else []
    if verdict == "within gamma":
        first = (
            f"It is proven that on these {count(report['n_rows'])} rows no subgroup of those that "
            f"were searched has an unfairness above {limit}; {gamma:g} is allowed."
        )
        return [first, *described, *_not_searched(report)]
    if verdict == "undecided":
        first = (
            f"The worst subgroup that was found has an unfairness of {found}, and {gamma:g} is "
            f"allowed. But the search can miss a worse one: up to {limit} is not ruled out."
        )
        return [first, *described, *_not_searched(report)]
    if report["worst"] is None or abs(report["worst"]["unfairness"]) <= gamma:
        first = (
            f"A subgroup that is too small to be described has an unfairness of {found}; {gamma:g} "
            "is allowed."
        )
        return [first, *described, chance_sentence(report)]
    return [*described, *_exceeding(report), chance_sentence(report), *_confirmation(report)]


def _exceeding(report: Report) -> list[str]:
    """By how much the worst subgroup exceeds what is allowed, and whether it is the worst."""
    worst, gamma = report["worst"], report["gamma"]
    if report["withheld"]:
        beside = f"a group that is too small to be described has {unfairness(report['unfairness'])}"
    elif report["exact"]:
        beside = "no subgroup of those that were searched is worse"
    else:
        beside = f"a worse one, up to {bound(report['upper_bound'])}, is not ruled out"
    value = f"Its unfairness is {unfairness(worst['unfairness'], gamma)}, and {gamma:g} is allowed"
    return [*filter(None, [in_cases(worst, report)]), f"{value}; {beside}."]


def exceeds_alone(report: Report) -> bool:
    """Whether a group of one attribute, which was not searched, exceeds what is allowed."""
    return bool(report["marginal_unfairness"] > report["gamma"] >= report["unfairness"])


def _not_searched(report: Report) -> list[str]:
    if not exceeds_alone(report):
        return []
    return [
        "But one attribute at a time the largest unfairness is "
        f"{unfairness(report['marginal_unfairness'], report['gamma'])}, more than is allowed: "
        f"{_why_not_found(report)}."
    ]


def _why_not_found(report: Report) -> str:
    """Why a group of one attribute that is worse than all that was found was not found."""
    if report["marginal_unfairness"] > report["upper_bound"]:
        return "that group is none of those that were searched"
    return "the search missed that group, or it is none of those that were searched"


def _confirmation(report: Report) -> list[str]:
    """What rows that were not searched say of the worst subgroup; nothing where they can't."""
    held_out, gamma = report["held_out"], report["gamma"]
    if held_out is None or held_out["subgroup"] is None or not held_out["unfairness_interval"]:
        return []
    low, high = ends = held_out["unfairness_interval"]
    least, most = (low, high) if report["worst"]["unfairness"] > 0 else (-high, -low)
    if least > gamma:
        verdict = "confirm it"
    elif least <= 0:
        verdict = "do not confirm it"
    elif most <= gamma:
        verdict = "confirm that this group differs, but by no more than is allowed"
    else:
        verdict = "confirm that this group differs, not that it does by more than is allowed"
    there = _signed(held_out["subgroup"]["unfairness"], gamma)
    between = " and ".join(_signed(end, gamma) for end in ends)
    return [
        f"The {count(held_out['n_rows'])} rows that were not searched {verdict}: there the group's "
        f"unfairness is {there}, between {between} with {percent(held_out['level'])} confidence."
    ]


def _worst_sentence(report: Report) -> str:
    worst = report["worst"]
    which = "that may be described" if report["withheld"] else "that was found"
    long = is_formula(worst) or is_long(worst)
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
    where = "" if report["held_out"] is None else " in the rows that were searched"
    verb = "would hardly make so much" if value <= _SMALL else "could make as much"
    return f"Chance alone {verb}{where} (p-value {p_value(value)})."


def bound_sentence(report: Report) -> str:
    """Whether what was found is all there is."""
    if report["exact"]:
        return f"Exact: proven over {report['covers']}, none is worse."
    return (
        f"A lower bound: the search may have missed a worse one. None is above "
        f"{bound(report['upper_bound'])}, proven over {report['covers']}."
    )


def interval_sentence(report: Report) -> str:
    """Where the worst subgroup's unfairness may be for others than these rows."""
    held_out, general = report["held_out"], report["generalisation"]
    if held_out is not None:
        return _held_out_sentence(held_out, report["gamma"])
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


def _held_out_sentence(held_out: Mapping[str, Any], gamma: float) -> str:
    where = f"On {count(held_out['n_rows'])} rows that were not searched"
    there = held_out["subgroup"]
    if there is None:
        return f"{where}, too few of its rows count to say anything."
    words = f"{where}: {rate_sentence(there)}, unfairness {_signed(there['unfairness'], gamma)}"
    if held_out["unfairness_interval"] is None:
        return f"{words}."
    low, high = (_signed(end, gamma) for end in held_out["unfairness_interval"])
    return f"{words}; between {low} and {high} with {percent(held_out['level'])} confidence."


def _signed(value: float, beside: float | None = None) -> str:
    """An unfairness, the sign before it.

    >>> _signed(0.0123), _signed(-0.05), _signed(0.0)
    ('+0.0123', '−0.0500', '0')
    """
    sign = "" if value == 0 else "−" if value < 0 else "+"
    return f"{sign}{unfairness(value, beside)}"


def gap_sentence(report: Report) -> str:
    """What an audit of one attribute at a time would have shown of it."""
    alone, together = report["marginal_unfairness"], report["unfairness"]
    if together == 0 and alone == 0:
        return "Neither one attribute at a time nor any subgroup that was found differs at all."
    if alone > together * 1.005:
        return (
            f"One attribute at a time shows more, an unfairness of {unfairness(alone)}, and the "
            f"search found {unfairness(together)}: {_why_not_found(report)}."
        )
    if alone >= together * 0.995:
        return f"One attribute at a time shows {_all_of_it(report)}."
    part = "nothing" if alone == 0 else percent(alone / together)
    return (
        f"One attribute at a time shows {part} of it: the largest unfairness there is "
        f"{unfairness(alone)}, and in the worst combination {unfairness(together)}."
    )


def _all_of_it(report: Report) -> str:
    """What it means that no combination was found that is worse than a single attribute."""
    name = report["class"]["name"]
    if name == "Marginals":
        return "all that was searched: there were no combinations among it"
    if name == "ExplicitGroups":
        return "as much as the groups that were named"
    if report["exact"]:
        return "all there is: the combinations that were searched add nothing"
    return "all that was found; a combination that is worse is not ruled out"


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
            f"For that reason {count(left_out)} of the groups of one attribute {are} left out: too "
            "small, or so much like others that a group of few rows would follow by subtraction."
        )
    sentences.append("Names of categories are shown however few rows have them.")
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
    words = HEADINGS[report["verdict"]]
    return f"{words}, of what was searched" if exceeds_alone(report) else words
