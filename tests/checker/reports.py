"""Real reports of every kind that an audit makes, small enough to be checked thousands of times."""

import json
from typing import Any

import numpy as np

from gerrymend import (
    Conjunctions,
    ExplicitGroups,
    FairnessNotion,
    GroupMean,
    LinearThresholds,
    Multicalibration,
    OutcomeNotion,
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


OVERTIME = OutcomeNotion(
    "overtime", lambda y, p: p - 2.5, event=lambda y, p: p > 2, unit="hours", worse="higher"
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


def _priced(data: dict[str, Any], seed: int) -> dict[str, Any]:
    """Numbers in place of labels and decisions, some of them fractions."""
    rng = np.random.default_rng(seed)
    dear = np.asarray(data["y_pred"]) * 3 + rng.integers(0, 9, len(data["y_pred"])) / 4
    return {**data, "y_true": rng.integers(0, 5, len(dear)), "y_pred": dear}


def _graded(data: dict[str, Any], seed: int) -> dict[str, Any]:
    """Three classes in place of two."""
    rng = np.random.default_rng(seed)
    grades = np.array(["high", "low", "middle"])
    decided = np.where(data["y_pred"] == 1, 0, rng.integers(0, 3, len(data["y_pred"])))
    return {**data, "y_true": grades[rng.integers(0, 3, len(decided))], "y_pred": grades[decided]}


def _scored(data: dict[str, Any], seed: int) -> dict[str, Any]:
    """Scores in place of decisions, too high for those whom these are harder on."""
    rng = np.random.default_rng(seed)
    score = rng.integers(1, 20, len(data["y_pred"])) / 20
    chance = np.where(data["y_pred"] == 1, score / 3, score)
    return {**data, "y_true": (rng.random(len(score)) < chance).astype(int), "y_pred": score}


def _foretold(data: dict[str, Any], seed: int) -> dict[str, Any]:
    """Numbers and predictions of them, too high for the same people."""
    rng = np.random.default_rng(seed)
    foretold = rng.integers(4, 40, len(data["y_pred"])) / 4
    true = foretold - 2 * data["y_pred"] + rng.integers(-8, 9, len(foretold)) / 4
    return {**data, "y_true": true, "y_pred": foretold}


def _controlled(data: dict[str, Any], seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    job = rng.choice(["cook", "smith"], len(data["y_pred"]))
    return {**data, "control_features": {"job": job}}


def _incomplete(data: dict[str, Any], seed: int) -> dict[str, Any]:
    """Scores for decisions, and attributes that some rows lack, or few have."""
    rng = np.random.default_rng(seed)
    n = len(data["y_true"])
    race = np.where(rng.random(n) < 0.1, None, data["sensitive_features"]["race"])
    race[:2] = "grey"
    return {
        **data,
        "y_pred": rng.integers(0, 8, n) / 8,
        "threshold": 0.5,
        "sensitive_features": {"race": race, "citizen": rng.random(n) < 0.5},
    }


def _meeting(seed: int) -> dict[str, Any]:
    """Decisions that depend on whether two attributes agree, and on no one of them."""
    rng = np.random.default_rng(seed)
    features = {name: rng.choice(["no", "yes"], 90) for name in "abc"}
    agree = features["b"] == features["c"]
    decided = (rng.random(90) < np.where(agree, 0.9, 0.2)).astype(int)
    return {"y_true": None, "y_pred": decided, "sensitive_features": features}


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
        "meeting and flagged": (
            _meeting(7),
            {
                "subgroups": Conjunctions(max_depth=3),
                "notion": "statistical_parity",
                "discovery_rate": 0.9,
                "min_group_size": 4,
            },
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
        "means": (
            _priced(_only(people, "race", "sex"), 5),
            {
                "notion": ("mean_outcome", "absolute_error"),
                "subgroups": Conjunctions(max_depth=2),
                "favourable": "positive",
                "n_permutations": 39,
                "confidence": 0.8,
                "n_resamples": 9,
                "top": 2,
                "holdout": _second(_priced(_only(others, "race", "sex"), 6)),
            },
        ),
        "own means": (
            _weighted(_priced(people, 5), 2),
            {
                "notion": OVERTIME,
                "subgroups": ValueSets(max_depth=2),
                "intersection": ("race", "sex"),
            },
        ),
        "classes": (
            _graded(_only(people, "race", "sex"), 5),
            {
                "notion": ("statistical_parity", "error_rate"),
                "n_permutations": 39,
                "holdout": _second(_graded(_only(others, "race", "sex"), 6)),
                "top": 2,
            },
        ),
        "within strata": (
            _controlled(people, 5),
            {
                "notion": "statistical_parity",
                "subgroups": Conjunctions(max_depth=2),
                "n_permutations": 39,
                "confidence": 0.8,
                "n_resamples": 9,
                "intersection": ("race", "sex"),
            },
        ),
        "means within strata": (
            _weighted(_controlled(_priced(people, 5), 6), 2),
            {"notion": "mean_error", "subgroups": "marginals"},
        ),
        "reference group": (
            _only(people, "race", "sex"),
            {
                "notion": "statistical_parity",
                "reference": GroupMean({"sex": "F"}, factor=0.8),
                "subgroups": "conjunctions",
                "favourable": "positive",
                "side": "disadvantaged",
                "confidence": 0.8,
                "n_resamples": 9,
                "holdout": _second(_only(others, "race", "sex")),
            },
        ),
        "reference number": (
            _priced(_only(people, "race", "sex"), 5),
            {"notion": "mean_outcome", "reference": 2.25, "subgroups": "linear", "top": 2},
        ),
        "multicalibration": (
            _scored(_only(_people(3, 300), "race", "sex"), 5),
            {
                "notion": Multicalibration(4),
                "subgroups": Conjunctions(max_depth=2),
                "favourable": "positive",
                "n_permutations": 39,
                "confidence": 0.8,
                "n_resamples": 9,
                "top": 2,
                "holdout": _second(_scored(_only(others, "race", "sex"), 6)),
            },
        ),
        "multicalibration of a formula": (
            _scored(_only(_people(4, 300), "race", "age"), 5),
            {"notion": Multicalibration([0.4, 0.7]), "subgroups": "linear", "pos_label": 0},
        ),
        "multicalibration of numbers": (
            _weighted(_foretold(_people(3, 200), 5), 2),
            {
                "notion": Multicalibration(3, unit="days"),
                "subgroups": GROUPS,
                "n_permutations": 19,
                "min_group_size": 4,
            },
        ),
        "multiaccuracy": (
            _scored(people, 5),
            {"notion": "multiaccuracy", "subgroups": Trees(), "n_permutations": 19},
        ),
        "incomplete": (
            _incomplete(people, 5),
            {
                "notion": "equalized_odds",
                "subgroups": "value_sets",
                "min_group_size": 3,
                "favourable": "negative",
                "side": "disadvantaged",
                "n_permutations": 39,
            },
        ),
        "unlabelled": (
            {**_only(people, "race", "age"), "y_true": None},
            {"notion": "statistical_parity", "discovery_rate": 0.3, "subgroups": "marginals"},
        ),
        "tested in a sentence": (
            _only(_people(11, 150), "race", "sex"),
            {"notion": "statistical_parity", "favourable": "negative", "n_permutations": 39},
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
    if asked.get("notion") is OVERTIME:
        given["notion"] = OVERTIME
    for name in ("holdout", "pos_label"):
        if name in asked:
            given[name] = asked[name]
    return report, given


KINDS = tuple(_kinds())
