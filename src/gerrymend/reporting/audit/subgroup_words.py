"""One subgroup in words: who is in, its rate beside the overall one, and what that comes to.

Plain text, with names and values from the data as they are: whoever renders it escapes it.
"""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.wording import capitalised, count, percent, points, unfairness
from gerrymend.subgroups.rules import Term, number

# Descriptions of more characters are put into no heading and no sentence.
_LONG = 120
_LARGEST = 3


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


def in_cases(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> str | None:
    """The unfairness of a subgroup as a number of cases; None where rows have no such meaning.

    unfairness·n = (rows of the group that count)·(rate − overall rate).
    """
    happens = _outcome(subgroup["notion"], report["labels"])
    cases = abs(subgroup["unfairness"]) * report["n_rows"]
    if happens is None or report["weighted"] or cases < 0.5:
        return None
    more = "more" if subgroup["unfairness"] > 0 else "fewer"
    so_many = f"1 {more} case" if round(cases) == 1 else f"{count(cases)} {more} cases"
    verb = "is" if round(cases) == 1 else "are"
    return (
        f"About {so_many} in this group {verb} {happens} than there would be at the overall rate."
    )


def rate_sentence(subgroup: Mapping[str, Any]) -> str:
    """A subgroup's rate beside the overall one."""
    return (
        f"{in_words(subgroup['notion'])} {percent(subgroup['rate'])}, against "
        f"{percent(subgroup['overall_rate'])} overall"
    )


def subgroup_facts(subgroup: Mapping[str, Any], report: Mapping[str, Any]) -> list[tuple[str, str]]:
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
        (
            "Unfairness",
            f"{unfairness(subgroup['unfairness'], report['gamma'])}; {report['gamma']:g} is "
            "allowed",
        )
    )
    return facts


def short_name(subgroup: Mapping[str, Any]) -> str:
    """A subgroup's description, or the gist of a long one.

    >>> terms = [{"attribute": "district", "value": f"d{i}", "coefficient": i - 20}
    ...          for i in range(45)]
    >>> rule = {"kind": "linear", "terms": terms, "threshold": 3.0}
    >>> short_name({"subgroup": "20·[district=d0] " * 45, "rule": rule})
    'a sum of 45 terms, the largest 24·[district=d44], 23·[district=d43], 22·[district=d42]'
    """
    if not is_long(subgroup):
        return str(subgroup["subgroup"])
    if not is_formula(subgroup):
        return f"{subgroup['subgroup'][: _LONG - 1].rstrip()}…"
    terms = sorted(subgroup["rule"]["terms"], key=lambda term: -abs(term["coefficient"]))
    largest = ", ".join(map(_term, terms[:_LARGEST]))
    return f"a sum of {len(terms)} terms, the largest {largest}"


def _term(term: Mapping[str, Any]) -> str:
    words = Term(term["attribute"], "value" in term, term.get("value")).describe()
    coefficient = number(float(format(term["coefficient"], ".3g")))
    return {"1": words, "−1": f"−{words}"}.get(coefficient, f"{coefficient}·{words}")


def is_long(subgroup: Mapping[str, Any]) -> bool:
    """Whether a subgroup's description is too long for a heading or a sentence."""
    return len(subgroup["subgroup"]) > _LONG


def is_formula(subgroup: Mapping[str, Any]) -> bool:
    """Whether a subgroup is told as a weighted sum of attributes, which not everyone reads."""
    return "·" in subgroup["subgroup"] and subgroup["rule"]["kind"] == "linear"
