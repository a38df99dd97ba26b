"""Word an audit with probabilities, from its plain data: a heading, sentences, a table, facts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.verdict import Look
from gerrymend.reporting.wording import (
    at_least,
    bound,
    count,
    p_equals,
    percent,
    quoted,
    signed_unfairness,
    unfairness,
)

Data = Mapping[str, Any]

TITLE = "Subgroup fairness, with an attribute that is not known"
_LOOKS = {
    "within gamma": Look("Within what is allowed, whoever is who", "✓", "within", "bold green"),
    "exceeds gamma": Look("More unfair than allowed, whoever is who", "✕", "exceeds", "bold red"),
    "undecided": Look("Not decided", "?", "undecided", "bold yellow"),
}
_EXPECTED = "Expected to be more unfair than allowed, and not decided"
# p-values up to this are called more than chance.
_LEVEL = 0.05
# Of each group: what is expected, and the ends of what its unfairness may be in truth.
HEADS = ("Group", "Rate", "Rows", "Unfairness", "In truth")


def look(data: Data) -> Look:
    """Return how the verdict looks; one that warns of its rows must not be green.

    >>> told = {"verdict": "within gamma", "expected_unfairness": 0.0, "gamma": 0.1, "warnings": []}
    >>> look(told).heading, look(told | {"warnings": ["constant_decisions"]}).sign
    ('Within what is allowed, whoever is who', '!')
    """
    plain = _LOOKS[data["verdict"]]
    if data["verdict"] == "undecided" and data["expected_unfairness"] > data["gamma"]:
        plain = plain._replace(heading=_EXPECTED)
    if not data["warnings"]:
        return plain
    kind, style = (plain if data["verdict"] == "exceeds gamma" else _LOOKS["undecided"])[2:]
    return Look(f"{plain.heading}, with warnings", "!", kind, style)


def made_on(data: Data) -> str:
    """Return the day on which the report was made."""
    date = datetime.fromisoformat(data["provenance"]["date"])
    return f"{date.day} {date:%B %Y}"


def lead_sentences(data: Data) -> list[str]:
    """Say what is expected, what is sure, and what no group exceeds whoever is who."""
    return [*_expected(data), *_sure(data), *_possible(data)]


def _expected(data: Data) -> list[str]:
    """Say who differs most in expectation."""
    group = data["worst"]
    if group is None:
        value = unfairness(data["expected_unfairness"])
        return [
            f"No group with {data['min_group_size']} rows or more, inside and outside, is expected "
            f"to differ; the largest expected unfairness of any is {value}."
        ]
    allowed = unfairness(data["gamma"])
    value = unfairness(group["unfairness"], data["gamma"])
    told = [
        f"The group that is expected to differ most is {group['subgroup']}, some "
        f"{count(group['size'])} of {count(data['n_rows'])} rows: {in_words(group['notion'])} "
        f"{percent(group['rate'])}, against {percent(group['overall_rate'])} overall. Its expected "
        f"unfairness is {value}, and {allowed} is allowed.",
        f"Nobody was assigned to a category of {data['attribute']}: each row counts in each with "
        "its probability.",
    ]
    if not group["categories"]:
        told.append("Who is in the group is known.")
    if data["expected_unfairness"] > abs(group["unfairness"]) * (1 + 1e-9):
        largest = unfairness(data["expected_unfairness"], data["gamma"])
        told.append(f"One too small to be described is expected to have {largest}.")
    return told


def _sure(data: Data) -> list[str]:
    """Say what is so whoever is who, where it is more than is allowed."""
    least = data["lower_bound"]
    if data["verdict"] != "exceeds gamma":
        return []
    group = data["surely"]
    who = "A group" if group is None else group["subgroup"]
    have = at_least(least if group is None else group["surely"], data["gamma"])
    return [f"{who} has an unfairness of {have} or more, whoever its members are."]


def _possible(data: Data) -> list[str]:
    """Say what no group exceeds."""
    at_most = bound(data["upper_bound"], data["gamma"])
    return [
        f"What is so in truth depends on who is who: no group has more than {at_most}, whoever the "
        f"members are, as long as the probabilities are right on average."
    ]


def table_rows(data: Data) -> list[tuple[str, ...]]:
    """Return the groups that are told of, a row each: what HEADS says."""
    surely = data["surely"] if data["verdict"] == "exceeds gamma" else None
    groups: dict[tuple[str, str], Data] = {}
    for one in (data["worst"], surely, *data["categories"]):
        if one is not None:
            groups.setdefault((one["subgroup"], one["notion"]), one)
    several = len(data["notions"]) > 1
    return [_row(one, several) for one in groups.values()]


def _row(group: Data, several: bool) -> tuple[str, ...]:
    """Return a group as the cells of a row."""
    rate = percent(group["rate"])
    return (
        group["subgroup"],
        f"{in_words(group['notion'])} {rate}" if several else rate,
        count(group["size"]),
        signed_unfairness(group["unfairness"]),
        f"{signed_unfairness(group['low'])} to {signed_unfairness(group['high'])}",
    )


def facts(data: Data) -> list[tuple[str, list[str]]]:
    """Return how it was found and what it rests on, a name and sentences each."""
    found = [
        ("Expected", _expectation(data)),
        ("In truth", _pools(data)),
        ("Searched", _searched(data)),
        ("Chance", _chance(data)),
        ("Verdict", _verdict(data)),
        ("Labels", _labels(data)),
    ]
    return [(name, sentences) for name, sentences in found if sentences]


def _expectation(data: Data) -> list[str]:
    """Say what the expected figures rest on."""
    group = data["worst"]
    known = f"{', '.join(data['known_attributes'])} and " if data["known_attributes"] else ""
    depend = "neither decisions nor labels" if data["is_labelled"] else "decisions don't"
    told = [
        f"Expected figures are right on average if, among people of the same {known}probabilities, "
        f"{depend} depend on {data['attribute']} itself. Else they are too small or too large."
    ]
    if group is not None and group["deviation"]:
        told.append(
            "Even then who is who is drawn, and the unfairness of "
            f"{group['subgroup']} is in truth off by {unfairness(group['deviation'])} (one "
            "standard deviation)."
        )
    return told


def _pools(data: Data) -> list[str]:
    """Say what the bound takes to be right."""
    size = count(data["pool_size"])
    same = ", ".join(data["known_attributes"])
    of = f" with the same {same} and the nearest probabilities" if same else ""
    error = data["probability_error"]
    off = f", or to within {percent(error)} of them" if error else ""
    told = [
        f"The bound takes the probabilities to be right on average in each of "
        f"{count(data['n_pools'])} pools of {size} people or more{of}: as many are in each "
        f"category as they add up to{off}. It allows for any decisions to be those of the members.",
    ]
    if not error:
        told.append(
            "Chance moves the shares of pools by some points, of each in another direction; "
            "probability_error, --probability-error, allows for that in all of them at once."
        )
    if data["n_free"]:
        told.append(
            f"{count(data['n_free'])} people share their known attributes with fewer than {size}: "
            "of them nothing is taken to be right, so that they widen the bound. Fewer attributes, "
            "or numbers in ranges (--ranges, pandas.cut), make larger pools."
        )
    return told


def _searched(data: Data) -> list[str]:
    """Say what was searched, and if more is possible than was found."""
    told = [f"{data['covers'][:1].upper()}{data['covers'][1:]}."]
    if not data["exact"]:
        most = bound(data["expected_bound"])
        told.append(
            f"No group is expected to have more than {most}; a larger budget may show less."
        )
    return told


def _chance(data: Data) -> list[str]:
    """Say if chance may have made what is expected."""
    if data["p_value"] is None:
        return [
            "Whether chance alone makes as much was not tested (n_permutations=199, --permutations "
            "199 would): the worst of many groups looks bad even where none differs."
        ]
    how = "hardly makes" if data["p_value"] <= _LEVEL else "may make"
    return [
        f"Chance alone {how} as large an expected unfairness of any group: "
        f"{p_equals(data['p_value'])}, by {count(data['n_permutations'])} shuffles of the "
        "decisions among people of the same label, each searched alike. Known attributes and "
        "probabilities stayed where they are."
    ]


def _verdict(data: Data) -> list[str]:
    """Say the verdict by the name that programs compare with, and its rule."""
    return [
        f"{data['verdict']}; gamma is {data['gamma']:g}.",
        "“Within gamma” is that no group exceeds it, and “exceeds gamma” that one does, whoever "
        "the members are. What is expected decides neither.",
    ]


def _labels(data: Data) -> list[str]:
    """Say which label is which."""
    negative, positive = map(quoted, data["labels"])
    what = "label" if data["is_labelled"] else "decision"
    return [f"{positive} is the positive {what}, {negative} the negative one."]


def warnings(data: Data) -> list[str]:
    """Say why it may say nothing of fairness."""
    return [one["sentence"] for one in data["warnings"]]
