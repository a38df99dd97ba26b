"""The form of a report: its fields, and the type of each."""

from collections.abc import Mapping
from typing import Any

from gerrymend.checker.form import (
    AMOUNT,
    FLAG,
    LABEL,
    MAPPING,
    NUMBER,
    OUTCOME,
    PART,
    REFERENCE,
    TEXT,
    WHOLE,
    Absent,
    Many,
    Maybe,
    unlike,
)

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
            "test": Absent(
                Maybe({"p_value": NUMBER, "n_permutations": WHOLE, "bins": Maybe(WHOLE)})
            ),
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
    "stands_out": Absent(Maybe(FLAG)),
    "held_out": Maybe(
        {
            "n_rows": WHOLE,
            "same_rows": FLAG,
            "level": PART,
            "subgroup": Maybe(_SUBGROUP),
            "unfairness_interval": Maybe(_INTERVAL),
            "gap_interval": Maybe(_INTERVAL),
            "others": Many(
                {
                    "subgroup": _SUBGROUP,
                    "unfairness_interval": Maybe(_INTERVAL),
                    "gap_interval": Maybe(_INTERVAL),
                }
            ),
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
    "empty_strata": Many(
        {"notion": TEXT, "number": WHOLE, "rows": Maybe(WHOLE), "strata": Many(TEXT)}
    ),
    "marginal_unfairness": AMOUNT,
    "single_unfairness": AMOUNT,
    "single_interval": Absent(Maybe(_SUBGROUP)),
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


def check_is_audit(stated: Mapping[str, Any]) -> None:
    """Raise a ValueError for what another function than audit() returned.

    >>> check_is_audit({"kind": "uncertain"})
    Traceback (most recent call last):
    ValueError: report is of the kind 'uncertain', which the checker doesn't read: nothing of it \
was checked. Pass what audit() returned, its to_dict(), or the JSON of that.
    """
    if "kind" in stated:
        raise ValueError(
            f"report is of the kind {stated['kind']!r}, which the checker doesn't read: nothing of "
            "it was checked. Pass what audit() returned, its to_dict(), or the JSON of that."
        )


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
