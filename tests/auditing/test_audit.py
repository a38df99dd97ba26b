import json
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gerrymend import LinearThresholds, audit
from gerrymend.datasets import make_gerrymandered


@pytest.fixture
def decisions(toy):
    return np.random.default_rng(9).integers(0, 2, len(toy[1]))


def test_the_same_report_from_every_container(toy, decisions):
    _, y, protected = toy
    expected = audit(y, decisions, sensitive_features=protected).to_dict()
    with_names = protected.set_index(pd.Index([f"person {i}" for i in range(len(y))]))
    for labels, predicted, frame in [
        (pl.Series(y), pl.Series(decisions), pl.from_pandas(protected)),
        (pa.array(y), pa.array(decisions), pa.Table.from_pandas(protected)),
        (y.tolist(), decisions.tolist(), {c: protected[c].tolist() for c in protected}),
        (pd.Series(y), pd.DataFrame({"p": decisions}), with_names),
    ]:
        assert audit(labels, predicted, sensitive_features=frame).to_dict() == expected


def test_any_two_labels_and_a_positive_one_of_choice(toy, decisions):
    _, y, protected = toy
    expected = audit(y, decisions, sensitive_features=protected)
    words = np.array(["bad", "good"])
    named = audit(words[y], words[decisions], sensitive_features=protected)
    assert named.unfairness == expected.unfairness
    swapped = audit(words[1 - y], words[1 - decisions], sensitive_features=protected,
                    pos_label="bad")  # fmt: skip
    assert swapped.unfairness == expected.unfairness
    assert audit(y == 1, decisions == 1, sensitive_features=protected).unfairness == (
        expected.unfairness
    )
    with pytest.raises(ValueError, match="pos_label='ugly' is no label of y_true"):
        audit(words[y], words[y], sensitive_features=protected, pos_label="ugly")


def test_scores_and_probabilities_are_asked_for(toy):
    _, y, protected = toy
    scores = np.random.default_rng(1).random(len(y))
    with pytest.raises(ValueError, match=r"no label: .*threshold=0.5.*decision_probabilities=True"):
        audit(y, scores, sensitive_features=protected)
    cut = audit(y, scores, sensitive_features=protected, threshold=0.5)
    assert cut.unfairness == audit(y, (scores >= 0.5).astype(int),
                                   sensitive_features=protected).unfairness  # fmt: skip
    mixed = audit(y, scores, sensitive_features=protected, decision_probabilities=True)
    assert mixed.unfairness < cut.unfairness
    with pytest.raises(ValueError, match="exclude each other"):
        audit(y, scores, sensitive_features=protected, threshold=0.5, decision_probabilities=True)
    with pytest.raises(ValueError, match=r"ranges from .* must lie in \[0, 1\]"):
        audit(y, 2 * scores, sensitive_features=protected, decision_probabilities=True)


def test_a_weight_is_a_number_of_equal_rows(toy, decisions):
    _, y, protected = toy
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    for subgroups in ("linear", "marginals"):
        for notion in ("equalized_odds", "error_rate", "statistical_parity"):
            weighted = audit(y, decisions, sensitive_features=protected, sample_weight=weight,
                             notion=notion, subgroups=subgroups)  # fmt: skip
            duplicated = audit(y[repeated], decisions[repeated], notion=notion,
                               sensitive_features=protected.iloc[repeated],
                               subgroups=subgroups)  # fmt: skip
            assert weighted.unfairness == pytest.approx(duplicated.unfairness, abs=1e-12)
            assert weighted.upper_bound == pytest.approx(duplicated.upper_bound, abs=1e-12)
            there = protected[weight > 0]
            np.testing.assert_array_equal(
                weighted.worst.contains(there), duplicated.worst.contains(there)
            )


def test_several_notions_report_the_worst(toy, decisions):
    _, y, protected = toy
    rates = ("false_positive_rate", "false_negative_rate")
    alone = [audit(y, decisions, sensitive_features=protected, notion=rate) for rate in rates]
    both = audit(y, decisions, sensitive_features=protected, notion="equalized_odds")
    worse = max(alone, key=lambda report: report.unfairness)
    assert both.unfairness == worse.unfairness
    assert both.worst.notion == worse.worst.notion
    assert both.upper_bound == max(report.upper_bound for report in alone)


def test_verdicts_are_proven_shown_or_undecided(toy, decisions):
    _, y, protected = toy
    how = {"sensitive_features": protected, "subgroups": LinearThresholds("regression")}
    report = audit(y, decisions, **how, gamma=0.0)
    assert report.verdict == "exceeds gamma"
    between = (report.unfairness + report.upper_bound) / 2
    undecided = audit(y, decisions, **how, gamma=between)
    assert undecided.verdict == "undecided"
    assert "A lower bound: the search may have missed a larger one" in str(undecided)
    above = audit(y, decisions, **how, gamma=report.upper_bound)
    assert above.verdict == "within gamma"
    assert json.loads(json.dumps(report.to_dict()))["worst"]["notion"] == "false_positive_rate"


def test_a_value_that_equals_gamma_is_within_it():
    """Halves, quarters and eighths are what they are; tenths must not be let down by rounding."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(6, 40))
        y, decided = np.r_[0, 0, 1, rng.integers(0, 2, n)], rng.integers(0, 2, n + 3)
        group = rng.integers(0, 2, n + 3)
        negatives, inside = y == 0, (y == 0) & (group == 1)
        share = Fraction(int(inside.sum()), n + 3)
        rate = Fraction(int(decided[inside].sum()), max(1, int(inside.sum())))
        overall = Fraction(int(decided[negatives].sum()), int(negatives.sum()))
        exact = abs(share * (rate - overall))
        report = audit(y, decided, sensitive_features={"g": group.astype(str)},
                       subgroups="marginals", gamma=float(exact))  # fmt: skip
        assert report.verdict == "within gamma"
        assert report.upper_bound == report.unfairness


def test_a_perfect_model_has_no_worst_group(toy):
    _, y, protected = toy
    report = audit(y, y, sensitive_features=protected)
    assert (report.worst, report.unfairness, report.verdict) == (None, 0.0, "within gamma")
    assert "No subgroup was found that differs at all" in str(report)


def test_one_true_label_is_enough_where_the_rate_is_defined():
    report = audit([0, 0, 0, 0], [1, 1, 0, 0], sensitive_features={"sex": ["M", "M", "F", "F"]},
                   min_group_size=1)  # fmt: skip
    assert str(report.worst) == "sex = M"
    with pytest.raises(ValueError, match="There are no rows for the false negative rate"):
        audit([0, 0], [1, 0], sensitive_features={"sex": ["M", "F"]}, notion="false_negative_rate")


def test_the_toy_example_of_the_paper():
    """Marginals and the regression are blind; the grid names blue men, at 1/8 · 1/2."""
    data = make_gerrymandered(800, random_state=3)
    decided = (data.score >= 0.5).astype(int)

    def by(subgroups):
        return audit(data.target, decided, sensitive_features=data.sensitive_features,
                     subgroups=subgroups)  # fmt: skip

    assert by("marginals").unfairness < 1e-12
    assert by(LinearThresholds(search="regression")).worst is None
    found = by(LinearThresholds(search="grid"))
    assert found.unfairness == 0.0625
    assert found.worst.describe() == "race = blue and gender = man"
    assert (found.worst.rate, found.worst.overall_rate, found.worst.size) == (1.0, 0.5, 200)


BAD = [
    ({"y_pred": [0, 1]}, "differ in their number of rows: y_true has 6, y_pred has 2"),
    ({"sensitive_features": {"a": [1, 2]}}, "sensitive_features has 2"),
    ({"y_true": [0] * 6, "y_pred": [0] * 6}, "only one class, 0"),
    ({"y_pred": ["a", 1, 0, 1, 1, 1]}, "y_pred has values that are no label: 'a'"),
    ({"gamma": -0.1}, "gamma must be a number of at least 0; got -0.1"),
    ({"gamma": float("nan")}, "gamma must be a number .* got nan"),
    ({"gamma": "0.1"}, "gamma must be a number"),
    ({"gamma": True}, "gamma must be a number"),
    ({"notion": "fpr"}, "notion='fpr' is unknown.*Known: false_positive_rate"),
    ({"subgroups": "lineer"}, "subgroups='lineer' is unknown .did you mean 'linear'"),
    ({"subgroups": 3}, "subgroups must be one of"),
    (
        {"sample_weight": [1, 0, 1, 0, 1, 0], "y_true": [1, 0, 1, 0, 1, 0]},
        "There are no rows for the",
    ),
    ({"sensitive_features": pd.DataFrame()}, "sensitive_features has no columns"),
    ({"sensitive_features": None}, "sensitive_features must be a frame"),
    ({"threshold": float("nan")}, "threshold must be a number"),
    ({"y_pred": ["a"] * 6, "threshold": 0.5}, "y_pred must be numbers where threshold is given"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_named_with_a_remedy(change, message):
    arguments = {
        "y_true": [0, 1, 0, 1, 0, 1],
        "y_pred": [0, 1, 1, 1, 0, 0],
        "sensitive_features": {"a": [1, 2, 3, 4, 5, 6]},
    } | change
    with pytest.raises((ValueError, TypeError), match=message):
        audit(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)


def test_rows_of_no_weight_hide_no_one():
    """Nineteen rows of weight 0 do not make a group of one row that counts large enough."""
    race, weight = ["a"] * 20 + ["b"] * 40, [1.0] + [0.0] * 19 + [1.0] * 40
    decided = [1] * 20 + [0, 1] * 20
    report = audit([0] * 60, decided, sensitive_features={"race": race}, sample_weight=weight)
    assert report.worst is None
    assert report.withheld
    frame = pl.LazyFrame({"race": race, "w": weight, "y": [0] * 60, "d": decided})
    lazy = audit("y", "d", sensitive_features="race", sample_weight="w", data=frame)
    assert lazy.to_dict() == report.to_dict()


def test_a_group_that_is_left_out_cannot_be_had_by_subtraction():
    """Of a, b and c, which is small, one of the others: the one that is described anyway."""
    race = ["a"] * 60 + ["b"] * 37 + ["c"] * 3
    for decided, worst in (([1, 0] * 50, "race = b"), ([1] * 60 + [1, 0] * 20, "race = a")):
        report = audit([0] * 100, decided, sensitive_features={"race": race}, subgroups="marginals")
        assert str(report.worst) == worst
        assert [one.group for one in report.intervals] == [worst]


def test_one_outcome_for_all_is_no_unfairness_whatever_rounding_makes_of_it():
    """22·(15/22) is not 15: both cells were left with a residual of the same sign."""
    protected = {"a": ["a"] * 22, "b": [0] * 15 + [1] * 7}
    report = audit([0] * 22, [1] * 22, sensitive_features=protected, min_group_size=1)
    assert (report.worst, report.unfairness, report.verdict) == (None, 0.0, "within gamma")
