"""The form of a report: its fields, and the type of each.

A report with a missing field, or one of another type, is refused. A field that is not known here
might say anything, and is named as not checked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from gerrymend.checker.documents import A_REPORT, Document


@dataclass(frozen=True)
class Plain:
    """Describe a value that is neither a list nor a mapping, in words and by a test."""

    words: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Maybe:
    """Allow null in place of a value of the form."""

    form: Any


@dataclass(frozen=True)
class Absent:
    """Allow a field of a mapping to be left out."""

    form: Any


@dataclass(frozen=True)
class Many:
    """Describe a list with elements of one form, exactly `number` of them or `least` and more.

    >>> unknown_fields([1, 2], Many(WHOLE, number=3), "sizes")
    Traceback (most recent call last):
        ...
    ValueError: 'sizes' of the report must be a list of 3; got [1, 2].
    """

    form: Any
    number: int | None = None
    least: int = 0


# Whole numbers of Python have any size; no figure of a report is larger, nor any seed.
_LARGEST = 10**100


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number that float64 can hold, and no boolean.

    >>> is_number(0.5), is_number(True), is_number(float("inf")), is_number("1"), is_number(9**999)
    (True, False, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST if isinstance(value, int) else isfinite(value)


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number from 0 to 10¹⁰⁰, and no boolean or float.

    >>> is_whole(3), is_whole(3.0), is_whole(-1), is_whole(9**999)
    (True, False, False, False)
    """
    return is_number(value) and isinstance(value, int) and value >= 0


# Forms of plain values, each with the words that an error uses for it.
NUMBER = Plain("a finite number", is_number)
AMOUNT = Plain("a finite number, 0 or more", lambda value: is_number(value) and value >= 0)
PART = Plain("a number between 0 and 1", lambda value: is_number(value) and 0 < value < 1)
WHOLE = Plain("a whole number, 0 or more", is_whole)
TEXT = Plain("text", lambda value: isinstance(value, str))
FLAG = Plain("true or false", lambda value: isinstance(value, bool))
MAPPING = Plain("a mapping", lambda value: isinstance(value, Mapping))
# Outcomes are squared: those of a report must be so that their squares are finite.
OUTCOME = Plain(
    "a number between ±10¹⁰⁰", lambda value: is_number(value) and abs(value) <= _LARGEST
)
REFERENCE = Plain(
    "a number between ±10¹⁰⁰, a group with such a factor, or 'predicted'",
    lambda value: (
        value == "predicted"
        or OUTCOME.holds(value.get("factor") if isinstance(value, Mapping) else value)
    ),
)
LABEL = Plain("a label", lambda value: isinstance(value, str | int | float))

_INTERVAL = Many(NUMBER, 2)
# Fields of a subgroup that a report describes, and of a group that it lists.
_SUBGROUP = {
    "subgroup": TEXT,
    "rule": MAPPING,
    "notion": TEXT,
    "unit": Maybe(TEXT),
    "unfairness": NUMBER,
    "share": AMOUNT,
    "size": WHOLE,
    "rate": NUMBER,
    "overall_rate": NUMBER,
    "rest_rate": Absent(Maybe(NUMBER)),
    "within_strata": FLAG,
    "reference": Absent(TEXT),
    "apart": Absent({"shared": AMOUNT, "rate": NUMBER, "overall_rate": NUMBER}),
    "p_value": Absent(NUMBER),
    "gap": NUMBER,
    "ratio": Maybe(NUMBER),
    "treated": Maybe(TEXT),
    "composition": Many(MAPPING),
}
_GROUP = {
    "group": TEXT,
    "rule": MAPPING,
    "notion": TEXT,
    "size": WHOLE,
    "rate": NUMBER,
    "overall_rate": NUMBER,
    "rate_interval": _INTERVAL,
    "unfairness": NUMBER,
    "unfairness_interval": _INTERVAL,
    "p_value": Maybe(AMOUNT),
    "flagged": Maybe(FLAG),
}
# A bin of a calibration curve.
_POINT = {
    "low": Maybe(NUMBER),
    "high": Maybe(NUMBER),
    "rows": WHOLE,
    "predicted": NUMBER,
    "observed": NUMBER,
    "interval": _INTERVAL,
}
# All fields of a report. One that is added to reports is named as not checked until it is here.
REPORT = {
    "verdict": TEXT,
    "gamma": AMOUNT,
    "unfairness": AMOUNT,
    "upper_bound": AMOUNT,
    "exact": FLAG,
    "covers": TEXT,
    "no_bound": Maybe(TEXT),
    "partial": Many({"covers": TEXT, "upper_bound": AMOUNT}),
    "n_rows": WHOLE,
    "weighted": FLAG,
    "min_group_size": WHOLE,
    "withheld": FLAG,
    "missing": {
        "columns": Many({"column": TEXT, "rows": WHOLE}),
        "of": WHOLE,
        "dropped": WHOLE,
        "dropped_of_holdout": WHOLE,
    },
    "rare_values": Many({"attribute": TEXT, "values": WHOLE}),
    "kept_back": Many(TEXT),
    "subgroups": TEXT,
    "labels": Many(Maybe(LABEL), least=2),
    "is_labelled": FLAG,
    "attributes": Many(TEXT),
    "class": {"name": TEXT, "parameters": MAPPING},
    "notions": Many(
        {
            "name": TEXT,
            "event": Many(FLAG, 2),
            "a": Many(OUTCOME, 2),
            "b": Many(OUTCOME, 2),
            "worse": Maybe(TEXT),
            "unit": Maybe(TEXT),
            "class": Maybe(LABEL),
            "reference": Absent(Maybe(REFERENCE)),
            "score": Absent(TEXT),
            "cuts": Absent(Many(OUTCOME)),
        },
        least=1,
    ),
    "favourable": Maybe(TEXT),
    "side": TEXT,
    "disadvantaged": Maybe(_SUBGROUP),
    "favoured": Maybe(_SUBGROUP),
    "favoured_is_rest": FLAG,
    "in_a_sentence": Maybe(
        {
            "subgroup": _SUBGROUP,
            "upper_bound": AMOUNT,
            "simpler_than": Maybe(AMOUNT),
            "exact": FLAG,
            "covers": TEXT,
            "overlap": Maybe(NUMBER),
            "accounts_for": Maybe(NUMBER),
        }
    ),
    "core": Maybe(_SUBGROUP),
    "lead": Absent(
        Maybe(
            {
                "sentence": TEXT,
                "chance": Absent(TEXT),
                **{name: _SUBGROUP[name] for name in ("subgroup", "notion", "unit", "treated")},
                **{name: _SUBGROUP[name] for name in ("unfairness", "size", "rate")},
                "overall_rate": NUMBER,
                "rest_rate": _SUBGROUP["rest_rate"],
                "base": Maybe(WHOLE),
                "p_value": Maybe(NUMBER),
                "p_value_of": Absent(Maybe(TEXT)),
            }
        )
    ),
    "worst": Maybe(_SUBGROUP),
    "top": Many(_SUBGROUP),
    "why_fewer": Absent(Many(TEXT)),
    "p_value": Maybe(NUMBER),
    "n_permutations": WHOLE,
    "detectable": Maybe(AMOUNT),
    "searched_unfairness": Maybe(AMOUNT),
    "null": Absent(TEXT),
    "p_values": Absent(
        Many(
            {
                "notions": Many(TEXT, least=1),
                "p_value": NUMBER,
                "detectable": Maybe(AMOUNT),
                "searched_unfairness": AMOUNT,
            }
        )
    ),
    "permutations_asked": Absent(WHOLE),
    "no_p_value": Maybe(TEXT),
    "sharpest": Maybe(
        {
            "subgroup": Maybe(_SUBGROUP),
            "p_value": NUMBER,
            "deviations": Maybe(AMOUNT),
            "n_groups": WHOLE,
            "rate_interval": Absent(Maybe(_INTERVAL)),
            "within": Absent(Maybe(NUMBER)),
        }
    ),
    "held_out": Maybe(
        {
            "n_rows": WHOLE,
            "same_rows": FLAG,
            "level": PART,
            "subgroup": Maybe(_SUBGROUP),
            "unfairness_interval": Maybe(_INTERVAL),
            "gap_interval": Maybe(_INTERVAL),
        }
    ),
    "intervals": Many(_GROUP),
    "population": Maybe(
        {
            "confidence": PART,
            "n_resamples": WHOLE,
            "distance": Maybe(AMOUNT),
            "lower_bound": Maybe(AMOUNT),
            "upper_bound": Maybe(AMOUNT),
            "verdict": TEXT,
            "rows_needed": Maybe(WHOLE),
            "approximate": FLAG,
            "reason": Maybe(TEXT),
        }
    ),
    "discovery": Maybe(
        {
            "rate": PART,
            "tested": WHOLE,
            "flagged": WHOLE,
            "threshold": AMOUNT,
            "depth": WHOLE,
            "capped": FLAG,
            "hidden": WHOLE,
            "groups": Many(_GROUP),
        }
    ),
    "overall_rates": Many(
        {
            "notion": TEXT,
            "rate": Maybe(NUMBER),
            "rows": WHOLE,
            "reference": Absent(NUMBER),
            "compared_with": Absent(TEXT),
        }
    ),
    "control_features": Many(TEXT),
    "strata": Many({"stratum": TEXT, "notion": TEXT, "rows": WHOLE, "rate": NUMBER}),
    "strata_left_out": WHOLE,
    "empty_strata": Absent(
        Many({"notion": TEXT, "number": WHOLE, "rows": Maybe(WHOLE), "strata": Many(TEXT)})
    ),
    "marginal_unfairness": AMOUNT,
    "single_unfairness": AMOUNT,
    "marginals": Many(_GROUP),
    "marginals_left_out": WHOLE,
    "intersected": Many(TEXT),
    "intersections": Many(_GROUP),
    "intersections_left_out": WHOLE,
    "protected_used": Maybe(Many(TEXT)),
    "provenance": Maybe(
        {
            "date": TEXT,
            "versions": MAPPING,
            "fingerprint": TEXT,
            "random_state": WHOLE,
            "budget": AMOUNT,
            "top": Absent(WHOLE),
        }
    ),
    "calibration": Absent(
        {
            "subgroup": TEXT,
            "rule": MAPPING,
            "score": TEXT,
            "level": PART,
            "group": Many(_POINT),
            "everyone": Many(_POINT),
        }
    ),
    "warnings": Many({"code": TEXT, "sentence": TEXT}),
}


def unknown_fields(
    value: Any, form: Any = REPORT, path: str = "", of: Document = A_REPORT
) -> list[str]:
    """Return the paths of the fields that no form has.

    Raises a ValueError that names the field, and what it is `of`, where one is missing or not of
    its form. Fields within lists are named without their place.

    >>> unknown_fields({"size": 3, "age": 4}, {"size": WHOLE})
    ['age']
    >>> unknown_fields({"size": 3.5}, {"size": WHOLE})
    Traceback (most recent call last):
        ...
    ValueError: 'size' of the report must be a whole number, 0 or more; got 3.5.
    """
    if isinstance(form, Absent):
        return unknown_fields(value, form.form, path, of)
    if isinstance(form, Maybe):
        return [] if value is None else unknown_fields(value, form.form, path, of)
    if isinstance(form, Many):
        if not isinstance(value, list | tuple):
            raise unlike(path, "a list", value, of)
        if len(value) < form.least or form.number not in (None, len(value)):
            raise unlike(path, f"a list of {form.number or f'{form.least} or more'}", value, of)
        # Elements of a list share a path, so that each unknown field is named once.
        found = [name for part in value for name in unknown_fields(part, form.form, path, of)]
        return list(dict.fromkeys(found))
    if isinstance(form, dict):
        return _unknown_keys(value, form, path, of)
    if not form.holds(value):
        raise unlike(path, form.words, value, of)
    return []


def check_kinds(stated: Mapping[str, Any]) -> None:
    """Refuse labels of numbers, and decisions without labels: the rows are read by these.

    And named groups that are no mapping; of other classes all parameters are plain values.
    """
    units = [notion["unit"] for notion in stated["notions"]]
    if (stated["labels"] == [None, None]) != any(unit is not None for unit in units):
        raise unlike("labels", f"those of notions with the units {units!r}", stated["labels"])
    classes = {notion["class"] for notion in stated["notions"]} - {None}
    if classes and len(stated["labels"]) < 3:
        raise unlike("labels", f"more than two, as notions are of {classes!r}", stated["labels"])
    searched = stated["class"]
    groups = searched["parameters"].get("groups", {})
    if searched["name"] == "ExplicitGroups" and not isinstance(groups, Mapping):
        raise unlike("class.parameters.groups", "a mapping", groups)


def _unknown_keys(value: Any, form: Mapping[str, Any], path: str, of: Document) -> list[str]:
    """Return the unknown fields of a mapping, or raise a ValueError if it lacks known ones.

    `path` is that of the mapping in the report, empty for the report itself.
    """
    if not isinstance(value, Mapping):
        raise unlike(path, "a mapping", value, of)
    needed = [name for name, part in form.items() if not isinstance(part, Absent)]
    if missing := [name for name in needed if name not in value]:
        where = f"{path!r} of the {of.name}" if path else of.name
        raise ValueError(
            f"{where} has no {', '.join(map(repr, missing))}; pass {of.source}, its to_dict(), or "
            "the JSON of that."
        )
    before = f"{path}." if path else ""
    found = []
    for name, part in value.items():
        inside = unknown_fields(part, form[name], before + name, of) if name in form else None
        found += [f"{before}{name}"] if inside is None else inside
    return found


def unlike(path: str, words: str, value: Any, of: Document = A_REPORT) -> ValueError:
    """Return the error for a value that is not of its form, which `words` describe."""
    is_huge = isinstance(value, int) and abs(value) > _LARGEST
    got = "a whole number of more than 100 digits" if is_huge else repr(value)
    return ValueError(f"{path!r} of the {of.name} must be {words}; got {got}.")
