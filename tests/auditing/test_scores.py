"""Multiaccuracy and multicalibration: by hand, by loops over rows, and by the checker's listing."""

import itertools
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gerrymend import (
    Conjunctions,
    ExplicitGroups,
    LinearThresholds,
    Multiaccuracy,
    Multicalibration,
    SubgroupParityClassifier,
    Trees,
    ValueSets,
    audit,
    audit_counts,
    bootstrap,
    prove,
)
from gerrymend.notions import as_notions
from tests.checking import assert_checked

CLASSES = {
    "conjunctions": Conjunctions(),
    "value sets": ValueSets(),
    "marginals": "marginals",
    "trees": Trees(),
    "linear": LinearThresholds(restarts=5),
    "named": ExplicitGroups(
        {"old in Au": {"town": "Au", "age": (3, None)}, "Ulm": {"town": "Ulm"}}
    ),
}
SETTINGS = [
    {},
    {"favourable": "positive"},
    {"favourable": "negative", "side": "disadvantaged"},
    {"favourable": "positive", "side": "disadvantaged"},
]


def made(seed, n=60, *, numbers=False, weighted=False, effect=0.3):
    """A few towns and ages, scores with ties, and what happened: worse than foretold in Au."""
    rng = np.random.default_rng([seed, 5])
    town = rng.choice(["Au", "Bonn", "Ulm"], n)
    age = rng.integers(1, 5, n)
    score = rng.integers(0, 11, n) / 10
    chance = np.clip(np.where(town == "Au", score - effect, score), 0, 1)
    happened = (rng.random(n) < chance).astype(int)
    happened[:2] = (0, 1)
    data = {"sensitive_features": {"town": town, "age": age}, "y_true": happened, "y_pred": score}
    if numbers:
        data["y_pred"] = (10 * score).round(2)
        data["y_true"] = (10 * chance + rng.integers(-3, 4, n) / 2).round(2)
    if weighted:
        data["sample_weight"] = rng.integers(0, 4, n) / 2
    return data


def check(name, seed):
    """Audit each kind of score in each notion, and list all subgroups and intervals."""
    for numbers, notion in itertools.product((False, True), ("multiaccuracy", Multicalibration(4))):
        data = made(seed, numbers=numbers, weighted=bool(seed % 2))
        report = audit(
            **data,
            notion=notion,
            subgroups=CLASSES[name],
            min_group_size=2,
            gamma=0.1,
            **SETTINGS[seed % 4],
        )
        assert_checked(report, **data, bound=True)
        assert report.exact


@pytest.mark.parametrize("name", CLASSES)
def test_what_is_found_and_proven_is_so_by_enumeration(name):
    for seed in range(2):
        check(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_what_is_found_and_proven_is_so_in_many_instances(name):
    for seed in range(80):  # each of four: labels and numbers, at all scores and within intervals
        check(name, seed)


@pytest.mark.parametrize("side", [None, "positive", "negative"])
def test_the_worst_is_that_of_loops_over_rows(side):
    """Every conjunction of a town and an interval of ages, in every interval of scores."""
    for seed in range(4):
        data = made(seed, 80, weighted=bool(seed % 2))
        town, age = data["sensitive_features"].values()
        weight = data.get("sample_weight", np.ones(80))
        error = weight * (data["y_true"] - data["y_pred"])
        worst = 0.0
        towns = [np.ones(80, dtype=bool), *(town == one for one in np.unique(town))]
        ages = [(age >= low) & (age <= high) for low in range(1, 5) for high in range(low, 5)]
        edges = (-1, 0.25, 0.5, 0.75, 2)
        for in_town, in_age in itertools.product(towns, ages):
            for low, high in itertools.combinations(edges, 2):
                inside = in_town & in_age & (data["y_pred"] >= low) & (data["y_pred"] < high)
                value = float(error[inside].sum() / weight.sum())
                # A high score is good: too low a one is an error above 0.
                sign = {None: 0, "positive": 1, "negative": -1}[side]
                worst = max(worst, sign * value if sign else abs(value))
        how = {} if side is None else {"favourable": side, "side": "disadvantaged"}
        report = audit(**data, notion=Multicalibration(4), subgroups=Conjunctions(), **how)
        assert report.unfairness == pytest.approx(worst, abs=1e-12)
        assert report.upper_bound == pytest.approx(worst, abs=1e-12)


def test_the_issue_in_figures():
    """Of 1,000 Black people with scores of .6 to .8 710 are predicted; it happened to 580."""
    race = np.repeat(["Black", "White"], 3000)
    score = np.tile(np.repeat([0.3, 0.71, 0.9], 1000), 2)
    happened = np.concatenate([np.arange(1000) < 10 * k for k in (35, 58, 92, 30, 71, 90)])
    happened = happened.astype(int)
    report = audit(
        happened,
        score,
        sensitive_features={"race": race},
        notion=Multicalibration([0.2, 0.4, 0.6, 0.8]),
        subgroups="conjunctions",
        n_permutations=99,
        gamma=0.005,
    )
    worst = report.worst
    assert worst.describe() == "race = Black and 0.6 ≤ score < 0.8"
    assert (worst.size, worst.rate, worst.overall_rate) == (1000, 0.58, pytest.approx(0.71))
    assert worst.unfairness == pytest.approx(-13 / 600)
    told = "race = Black and 0.6 ≤ score < 0.8, 1,000 of 6,000 rows: 71 % predicted, 58 % happened."
    assert told in " ".join(str(report).split())
    assert report.p_value <= 0.05
    assert report.permutation_test.null == "right_scores"
    # The curve is of all Black people, whatever their scores.
    assert report.calibration.rule.describe() == "race = Black"
    points = [(one.rows, one.observed) for one in report.calibration.group]
    assert points == [(1000, 0.35), (1000, 0.58), (1000, 0.92)]
    assert [one.rows for one in report.calibration.everyone] == [2000, 2000, 2000]
    assert_checked(report, happened, score, sensitive_features={"race": race}, bound=True)


def test_the_score_is_no_protected_attribute():
    data = made(0, 200)
    report = audit(**data, notion="multicalibration", n_permutations=19, intersection=None)
    plain = report.to_dict()
    assert plain["attributes"] == ["town", "age"]
    assert plain["notions"][0]["score"] == "score"
    listed = [one["group"] for one in (*plain["marginals"], *plain["intersections"])]
    assert listed
    assert not any("score" in group for group in listed)
    assert not any("score" in one["attribute"] for one in plain["worst"]["composition"])
    assert not any("score" in one.sentence for one in report.warnings)
    with pytest.raises(ValueError, match="names 'score', which is not protected"):
        audit(**data, notion="multicalibration", intersection=["town", "score"])


def test_multiaccuracy_is_the_mean_of_errors_against_0():
    for numbers in (False, True):
        data = made(3, 150, numbers=numbers, weighted=True)
        report = audit(**data, notion="multiaccuracy", subgroups="conjunctions", confidence=0.9)
        errors = audit(
            **data, notion="mean_error", reference=0, subgroups="conjunctions", confidence=0.9
        )
        assert report.unfairness == errors.unfairness
        assert report.worst.describe() == errors.worst.describe()
        assert report.population == errors.population
        assert report.worst.gap == pytest.approx(errors.worst.gap)
        assert prove(**data, notion="multiaccuracy", at_most=1.0).status == "proved"


def test_multicalibration_has_multiaccuracy_in_it():
    data = made(4, 120)
    within = audit(**data, notion="multicalibration", subgroups="value_sets")
    whole = audit(**data, notion="multiaccuracy", subgroups="value_sets")
    assert within.unfairness >= whole.unfairness
    limit = within.unfairness
    how = {"notion": "multicalibration", "subgroups": "value_sets"}
    assert prove(**data, **how, at_most=limit * 1.001).status == "proved"
    proof = prove(**data, **how, at_most=limit * 0.999)
    assert proof.status == "refuted"
    assert proof.subgroup.describe() == within.worst.describe()


def test_labels_of_any_kind_are_the_same():
    data = made(5, 120)
    first = audit(**data, notion="multicalibration", subgroups="marginals").to_dict()
    words = np.array(["no", "yes"])[data["y_true"]]
    for labels, positive in ((words, None), (words, "yes"), (data["y_true"] == 1, None)):
        other = audit(
            **{**data, "y_true": labels},
            pos_label=positive,
            notion="multicalibration",
            subgroups="marginals",
        ).to_dict()
        for name in ("unfairness", "upper_bound", "worst", "marginals", "calibration"):
            assert other[name] == first[name]
    turned = audit(
        **{**data, "y_pred": 1 - data["y_pred"]},
        pos_label=0,
        notion=Multicalibration([0.45]),
        subgroups="marginals",
    )
    straight = audit(**data, notion=Multicalibration([0.55]), subgroups="marginals")
    assert turned.unfairness == pytest.approx(straight.unfairness, abs=1e-12)


def test_a_second_sample_is_cut_where_the_first_is():
    data = made(6, 200, numbers=True)
    other = made(7, 200, numbers=True)
    holdout = (other["y_true"], other["y_pred"] + 3, other["sensitive_features"])
    how = {"notion": Multicalibration(3), "subgroups": "conjunctions"}
    report = audit(**data, **how, holdout=holdout)
    there = report.held_out.subgroup
    inside = report.worst.contains({**other["sensitive_features"], "score": holdout[1]})
    assert there.size == inside.sum()
    assert there.rate == pytest.approx(np.mean(holdout[0][inside]))
    assert there.overall_rate == pytest.approx(np.mean(holdout[1][inside]))
    assert_checked(report, **data, holdout=holdout)
    parted = audit(**data, **how, test_size=0.4, random_state=1)
    assert parted.n_rows == 120
    assert parted.held_out.n_rows == 80
    assert parted.notions[0].bins == report.notions[0].bins


@pytest.mark.parametrize("notion", ["multiaccuracy", "multicalibration"])
def test_frames_of_any_kind_give_the_same_report(notion):
    data = made(8, 150)
    columns = {**data["sensitive_features"], "y": data["y_true"], "p": data["y_pred"]}
    how = {"notion": notion, "subgroups": "conjunctions", "n_permutations": 9}
    names = {"sensitive_features": ["town", "age"]}
    reports = [
        audit("y", "p", **names, data=frame, **how).to_dict()
        for frame in (columns, pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns))
    ]
    for report in reports:
        del report["provenance"]["date"]
        assert report == reports[0]
    if notion == "multicalibration":
        assert reports[0]["notions"][0]["score"] == "p"
    order = np.random.default_rng(0).permutation(150)
    shuffled = audit("y", "p", **names, data=pd.DataFrame(columns).iloc[order], **how).to_dict()
    del shuffled["provenance"]["date"]
    assert shuffled == reports[0]


def test_a_protected_attribute_may_be_called_score():
    data = made(9, 120)
    features = {"score": data["sensitive_features"]["town"]}
    report = audit(
        data["y_true"], data["y_pred"], sensitive_features=features, notion="multicalibration"
    )
    assert report.notions[0].score == "predicted score"
    assert_checked(report, data["y_true"], data["y_pred"], sensitive_features=features)


def test_what_the_rows_are_doubted_for():
    data = made(10, 100)
    same = audit(**{**data, "y_pred": data["y_true"]}, notion="multiaccuracy")
    assert "scores_equal_outcomes" in [one.code for one in same.warnings]
    numbers = made(10, 100, numbers=True)
    above = {**numbers, "y_pred": numbers["y_pred"] + 100}
    report = audit(**above, notion="multiaccuracy", gamma=1.0)
    assert [one.code for one in report.warnings] == ["scores_on_one_side"]
    assert "Every score is above what happened" in report.warnings[0].sentence
    for one, given in ((same, {**data, "y_pred": data["y_true"]}), (report, above)):
        assert_checked(one, **given)


BAD = {
    "outside": (
        {"y_pred": lambda p: p * 3},
        {},
        r"y_pred has \d+ scores outside of \[0, 1\], such as .*probabilities of 1",
    ),
    "constant": (
        {"y_pred": lambda p: 0 * p + 0.4},
        {},
        r"y_pred is 0.4 in every row: .*Choose notion='multiaccuracy'",
    ),
    "lengths": ({"y_pred": lambda p: p[1:]}, {}, "differ in their number of rows"),
    "missing": ({"y_pred": lambda p: np.where(p > 0.5, p, np.nan)}, {}, "y_pred has .* missing"),
    "no labels": ({"y_true": lambda y: None}, {}, "y_true is not given, and the observed average"),
    "three labels": (
        {"y_true": lambda y: np.array(["a", "b", "c"])[np.arange(len(y)) % 3]},
        {},
        "y_true has 3 classes",
    ),
    "threshold": ({}, {"threshold": 0.5}, "threshold=0.5 is for decisions"),
    "controls": (
        {},
        {"control_features": np.arange(60) % 2},
        "control_features can't be combined with 'multicalibration'",
    ),
    "reference": ({}, {"reference": 0.2}, "reference=0.2 is not what 'multicalibration' itself"),
    "flags": ({}, {"discovery_rate": 0.1}, "discovery_rate"),
    "cuts": ({}, {"notion": Multicalibration([-1, 2])}, "bins has no cut between 0 and 1"),
    "two": ({}, {"notion": ("multicalibration", "mean_error")}, "beside others"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_a_clear_error(case):
    changed, how, message = BAD[case]
    data = made(0)
    data |= {name: change(data[name]) for name, change in changed.items()}
    with pytest.raises(ValueError, match=message):
        audit(**{**data, "notion": "multicalibration", **how})


@pytest.mark.parametrize("bins", [1, 0, 101, 2.5, [], [0.5, 0.5], [0.7, 0.2], [float("nan")], "10"])
def test_bins_that_cannot_be(bins):
    with pytest.raises((ValueError, TypeError), match="bins"):
        Multicalibration(bins)


def test_other_commands_refuse_scores():
    data = made(0)
    with pytest.raises(ValueError, match="needs the score of each row"):
        audit_counts(
            {"town": ["Au"], "n": [3], "y": [1], "p": [0.5]},
            label="y",
            prediction="p",
            count="n",
            sensitive_features="town",
            notion="multiaccuracy",
        )
    with pytest.raises(ValueError, match="mean of numbers"):
        bootstrap(**data, notion="multicalibration")
    with pytest.raises(ValueError, match="predicted"):
        SubgroupParityClassifier(notion="multiaccuracy").fit(
            np.ones((60, 1)), data["y_true"], sensitive_features=data["sensitive_features"]
        )


def test_notions_are_chosen_by_name_and_print_as_code():
    assert as_notions("multiaccuracy") == (Multiaccuracy(),)
    assert as_notions("multicalibration") == (Multicalibration(),)
    assert repr(Multicalibration(5)) == "Multicalibration(unit='', target=None, bins=5, score=None)"
    with pytest.raises(ValueError, match="leave it out"):
        Multiaccuracy().against(0.3)
    report = audit(**made(0), notion="multiaccuracy")
    assert as_notions(report.worst.notion) == (Multiaccuracy(),)
    within = audit(**made(0), notion="multicalibration")
    with pytest.raises(ValueError, match="as notions of the report has it"):
        as_notions(within.worst.notion)
    again = audit(**made(0), notion=within.notions[0])
    assert json.loads(again.to_json())["unfairness"] == within.unfairness


def test_numbers_of_two_values_may_be_meant():
    data = made(0)
    two = {**data, "y_true": 5.0 * data["y_true"], "y_pred": 5.0 * data["y_pred"]}
    with pytest.raises(ValueError, match="with target='numbers'"):
        audit(**two, notion="multicalibration")
    report = audit(**two, notion=Multicalibration(target="numbers", unit="days"))
    assert report.to_dict()["labels"] == [None, None]
    assert "days predicted" in str(report)
    assert_checked(report, **two)
