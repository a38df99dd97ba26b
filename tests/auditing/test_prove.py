"""prove(): each status against every threshold, by brute force."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend import audit, prove
from gerrymend.checker.dichotomies import dichotomies
from gerrymend.notions import FALSE_NEGATIVE_RATE, FALSE_POSITIVE_RATE

seeds = st.integers(0, 1_000_000)


def question(seed):
    """Rows of three attributes, and the largest unfairness of a linear threshold over them."""
    rng = np.random.default_rng(seed)
    n = 30
    frame = {"a": rng.integers(0, 3, n), "b": rng.integers(0, 3, n), "c": rng.integers(0, 2, n)}
    y, p = np.r_[0, 1, rng.integers(0, 2, n - 2)], rng.integers(0, 2, n)
    rows = list(zip(*(v.tolist() for v in frame.values()), strict=True))
    counted = sorted({row for row, label in zip(rows, y, strict=True) if label == 0})
    place = np.array([counted.index(row) if row in counted else len(counted) for row in rows])
    masks = dichotomies([tuple(map(Fraction, row)) for row in counted])
    worst = max(
        abs(FALSE_POSITIVE_RATE.unfairness(y, p, (mask >> place) & 1 == 1)) for mask in masks
    )
    return {"y_true": y, "y_pred": p, "sensitive_features": frame, "min_group_size": 1}, worst


@given(seeds, st.sampled_from([0.5, 0.99, 1.0, 1.01, 2.0]))
def test_the_status_is_right(seed, factor):
    data, worst = question(seed)
    proof = prove(**data, at_most=factor * worst)
    assert proof.status == ("proved" if factor >= 1.0 or worst == 0 else "refuted")
    assert proof.unfairness <= worst + 1e-12
    assert proof.upper_bound >= worst - 1e-12
    assert proof.gap == 0.0
    if proof.status == "refuted":
        members = proof.subgroup.contains(data["sensitive_features"])
        value = FALSE_POSITIVE_RATE.unfairness(data["y_true"], data["y_pred"], members)
        assert abs(value) > factor * worst
        assert proof.unfairness == pytest.approx(abs(value), abs=1e-12)
        assert proof.subgroup.describe() in str(proof)
    else:
        assert proof.subgroup is None
        assert str(proof).startswith("Proved over every linear threshold of a, b, c")


@given(seeds)
def test_no_time_at_all_proves_nothing_wrong(seed):
    data, worst = question(seed)
    proof = prove(**data, at_most=worst * 1.05, budget=1e-9)
    assert proof.status in ("proved", "undecided") or worst == 0
    assert proof.unfairness <= worst + 1e-12 <= proof.upper_bound + 2e-12
    assert proof.gap == (proof.upper_bound - proof.at_most if proof.status == "undecided" else 0.0)


def test_undecided_says_by_how_much():
    rng = np.random.default_rng(0)
    n = 400
    frame = {f"a{j}": rng.integers(0, 5, n) for j in range(10)}
    y, p = rng.integers(0, 2, n), rng.integers(0, 2, n)
    proof = prove(y, p, sensitive_features=frame, at_most=0.1, budget=0.01)
    assert proof.status == "undecided"
    assert proof.gap == pytest.approx(proof.upper_bound - 0.1)
    assert "No bound was proven: linear thresholds of these attributes have 10 dim" in str(proof)
    assert "A larger budget may decide it" in str(replace(proof, no_bound=None))
    assert json.loads(json.dumps(proof.to_dict()))["status"] == "undecided"


@pytest.mark.parametrize("apart", [4e-13, 3e-12])
def test_what_is_rounding_is_none_for_an_audit_and_a_proof(apart):
    """Rates that are 4e-13 apart differ by less than sums are known to; 3e-12 is told by both."""
    sex = ["F", "M"] * 50
    decided = [0.5 + (2 * apart if one == "M" else -2 * apart) for one in sex]
    rows = {"y_true": [0] * 99 + [1], "y_pred": decided, "decision_probabilities": True,
            "sensitive_features": {"sex": sex}, "subgroups": "marginals"}  # fmt: skip
    proof = prove(**rows, at_most=0.0)
    report = audit(**rows, gamma=0.0)
    assert proof.unfairness == pytest.approx(report.unfairness, rel=1e-3, abs=0)
    assert (proof.unfairness == 0) == (proof.status == "proved") == (apart == 4e-13)
    assert proof.upper_bound >= proof.unfairness


def test_of_several_notions_each_counts():
    data, worst = question(3)
    both = prove(**data, at_most=worst, notion=("false_positive_rate", "false_negative_rate"))
    one = prove(**data, at_most=worst, notion=FALSE_NEGATIVE_RATE)
    assert both.status == one.status
    assert both.upper_bound >= one.upper_bound - 1e-12 or one.status == "refuted"


def test_a_group_too_small_to_describe_refutes_all_the_same():
    y, p = np.zeros(40, dtype=int), np.r_[1, np.zeros(39, dtype=int)]
    proof = prove(
        y, p, sensitive_features={"a": np.arange(40) + 0.5}, at_most=0.02, min_group_size=20
    )
    assert (proof.status, proof.subgroup) == ("refuted", None)
    assert "a group that may not be described" in str(proof)


@pytest.mark.parametrize("at_most", [-0.1, float("nan"), "much", None])
def test_at_most_is_an_unfairness(at_most):
    with pytest.raises((ValueError, TypeError), match="at_most"):
        prove([0, 1], [0, 1], sensitive_features={"a": [1, 2]}, at_most=at_most)


@pytest.mark.parametrize("subgroups", ["conjunctions", "value_sets", "trees", "marginals"])
def test_everything_is_within_the_largest_numbers(subgroups):
    """Where residuals are small, they are more units of these than a float can say."""
    values = np.arange(40) / 4096
    proof = prove(None, values, sensitive_features={"a": ["u", "v"] * 20}, notion="mean_outcome",
                  subgroups=subgroups, at_most=1e308)  # fmt: skip
    assert proof.status == "proved"


def test_a_bound_in_another_unit_is_warned_of_as_in_an_audit():
    rng = np.random.default_rng(0)
    days = rng.gamma(2, 5, 200)
    same = {"sensitive_features": {"sex": np.resize(["F", "M"], 200)}, "notion": "mean_outcome",
            "subgroups": "marginals"}  # fmt: skip
    proof = prove(None, days, at_most=1e6, **same)
    codes = [doubt.code for doubt in audit(None, days, gamma=1e6, **same).warnings]
    assert [doubt.code for doubt in proof.warnings] == codes == ["gamma_allows_everything"]
    assert "Warning: at_most 1e+06 allows everything" in str(proof)
    assert proof.to_dict()["warnings"][0]["code"] == "gamma_allows_everything"
    assert not prove(None, days, at_most=1.0, **same).warnings
