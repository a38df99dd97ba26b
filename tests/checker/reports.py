"""Real reports of every kind that an audit makes, small enough to be checked thousands of times."""

import json
from typing import Any

import numpy as np

from gerrymend import (
    Conjunctions,
    ExplicitGroups,
    FairnessNotion,
    LinearThresholds,
    Trees,
    ValueSets,
    audit,
)

ACCURACY = FairnessNotion("accuracy", event=(True, True), a=(100, 0), b=(-100, 100))
GROUPS = ExplicitGroups(
    {
        "blue or red men": {"race": ["blue", "red"], "sex": "M"},
        "over 40": {"age": (40, None)},
        "race = green": {"race": "green"},
    }
)


def _people(seed: int, n: int = 90) -> dict[str, Any]:
    """Some people, and decisions that are harder on the blue men among them."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["blue", "green", "red"], n)
    sex = rng.choice(["F", "M"], n)
    chance = np.where((race == "blue") & (sex == "M"), 0.9, 0.35)
    return {
        "y_true": rng.integers(0, 2, n),
        "y_pred": (rng.random(n) < chance).astype(int),
        "sensitive_features": {"race": race, "sex": sex, "age": rng.integers(2, 7, n) * 10},
    }


def _weighted(data: dict[str, Any], seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {**data, "sample_weight": rng.integers(0, 5, len(data["y_true"])) / 4}


def _only(data: dict[str, Any], *names: str) -> dict[str, Any]:
    features = {name: data["sensitive_features"][name] for name in names}
    return {**data, "sensitive_features": features}


def _probable(data: dict[str, Any], seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 5, len(data["y_true"])) / 4
    return {**data, "y_pred": p, "decision_probabilities": True}


def _renamed(data: dict[str, Any]) -> dict[str, Any]:
    names = np.array(["kept", "let go"])
    return {**data, "y_true": names[data["y_true"]], "y_pred": names[data["y_pred"]]}


def _numbers(seed: int) -> dict[str, Any]:
    """Many numbers, over which no proof is quick."""
    rng = np.random.default_rng(seed)
    n = 80
    return {
        "y_true": rng.integers(0, 2, n),
        "y_pred": rng.integers(0, 2, n),
        "sensitive_features": rng.standard_normal((n, 9)).round(2),
    }


def _second(data: dict[str, Any]) -> tuple[Any, ...]:
    return data["y_true"], data["y_pred"], data["sensitive_features"]


def _kinds() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """By name: the data, and what else is asked of the audit."""
    people, others = _people(0), _people(1)
    return {
        "linear": (_only(people, "race", "age"), {"top": 3, "features": ["age", "income"]}),
        "permuted": (
            people,
            {
                "subgroups": Conjunctions(max_depth=3, numeric="half_lines"),
                "notion": "equalized_odds",
                "n_permutations": 99,
                "top": 3,
                "min_group_size": 4,
                "confidence": 0.9,
                "n_resamples": 39,
            },
        ),
        "weighted": (
            _weighted(people, 2),
            {
                "subgroups": ValueSets(),
                "notion": ("statistical_parity", "error_rate"),
                "gamma": 0.2,
                "confidence": 0.8,
                "n_resamples": 9,
            },
        ),
        "held out": (
            people,
            {"subgroups": Trees(), "notion": "error_rate", "holdout": _second(others)},
        ),
        "weights held out": (
            _weighted(people, 2),
            {"subgroups": "marginals", "holdout": (*_second(others), np.arange(90) % 3)},
        ),
        "marginals": (
            _renamed(people),
            {
                "subgroups": "marginals",
                "notion": ("false_negative_rate", "statistical_parity"),
                "n_permutations": 39,
                "pos_label": "kept",
                "discovery_rate": 0.6,
            },
        ),
        "named": (
            _probable(people, 3),
            {"subgroups": GROUPS, "notion": "statistical_parity"},
        ),
        "named and flagged": (
            people,
            {"subgroups": GROUPS, "notion": "statistical_parity", "discovery_rate": 0.9},
        ),
        "withheld": (people, {"subgroups": "conjunctions", "min_group_size": 14}),
        "own notion": (people, {"subgroups": Conjunctions(bins=3), "notion": ACCURACY}),
        "grid": (_only(people, "sex", "age"), {"subgroups": LinearThresholds("grid")}),
        "through the mean": (
            _only(people, "sex", "age"),
            {"subgroups": LinearThresholds(intercept=False)},
        ),
        "undecided": (_numbers(4), {"budget": 0.2, "gamma": 0.1, "n_permutations": 9}),
        "both sides": (
            people,
            {
                "subgroups": Conjunctions(max_depth=3),
                "notion": "equalized_odds",
                "favourable": "positive",
            },
        ),
        "disadvantaged": (
            _renamed(people),
            {
                "subgroups": "marginals",
                "favourable": "negative",
                "side": "disadvantaged",
                "holdout": _second(_renamed(people)),
                "pos_label": "kept",
            },
        ),
        "complements": (
            _only(people, "race", "sex"),
            {"notion": "statistical_parity", "favourable": "positive", "n_permutations": 19},
        ),
        "core": (
            _only(_people(2, 400), "race", "sex"),
            {
                "subgroups": Conjunctions(max_depth=1),
                "notion": "statistical_parity",
                "n_permutations": 39,
            },
        ),
        "fair": (
            {**people, "y_pred": 0 * people["y_pred"]},
            {"subgroups": "conjunctions", "min_group_size": 30},
        ),
    }


def report_of(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A report as it is read from JSON, and what check_report() takes beside it."""
    data, asked = _kinds()[kind]
    report = json.loads(audit(**data, **asked).to_json())
    given = dict(data)
    for name in ("holdout", "pos_label"):
        if name in asked:
            given[name] = asked[name]
    return report, given


KINDS = tuple(_kinds())
