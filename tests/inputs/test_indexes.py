"""Indexes of pandas that disagree are refused by every way in; rows are matched by position."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import (
    SubgroupCalibrator,
    SubgroupParityClassifier,
    audit,
    bootstrap,
    calibrate,
    pareto_frontier,
    prove,
)
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.indexes import check_same_index

N = 40
RNG = np.random.default_rng(0)
LABEL = RNG.integers(0, 2, N)
NAMES = [f"p{i:02}" for i in range(N)]
SHUFFLED = list(RNG.permutation(NAMES))
X = pd.DataFrame(RNG.standard_normal((N, 2)), NAMES, columns=["u", "v"])
SEX = pd.DataFrame({"sex": ["F", "M"] * (N // 2)}, NAMES)
SCORE = pd.Series(RNG.random(N), NAMES)


def model():
    return SubgroupParityClassifier(LinearRegression(), max_iter=2, tol=None, random_state=0)


WAYS = {
    "audit": lambda y: audit(y, LABEL, sensitive_features=SEX),
    "strata": lambda y: audit(LABEL, LABEL, sensitive_features=SEX, control_features={"y": y}),
    "weights": lambda y: audit(LABEL, LABEL, sensitive_features=SEX, sample_weight=y + 1),
    "decisions": lambda y: audit(LABEL, y, sensitive_features={"sex": SEX["sex"]}),
    "numbers": lambda y: audit(None, y + 0.5, sensitive_features=SEX, notion="mean_outcome"),
    "scores": lambda y: audit(y, SCORE, sensitive_features=[0, 1] * 20, notion="multiaccuracy"),
    "prove": lambda y: prove(y, LABEL, sensitive_features=SEX, at_most=0.1),
    "bootstrap": lambda y: bootstrap(y, LABEL, sensitive_features=SEX, n_resamples=2),
    "holdout": lambda y: audit(
        LABEL, LABEL, sensitive_features={"sex": ["F", "M"] * 20}, holdout=(y, LABEL, SEX)
    ),
    "fit": lambda y: model().fit(X, y, sensitive_features=["u"]),
    "frontier": lambda y: pareto_frontier(
        model(), X, y, sensitive_features={"a": [0, 1] * 20}, gammas=[0.1]
    ),
    "calibrate": lambda y: calibrate(y, SCORE, sensitive_features=[0, 1] * 20),
    "calibrator": lambda y: SubgroupCalibrator(LogisticRegression()).fit(
        X, y, sensitive_features=["u"]
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_people_in_another_order_are_refused(way):
    with pytest.raises(ArgumentError, match=r"the same index as .*, in another order: row 0 is"):
        WAYS[way](pd.Series(LABEL, SHUFFLED))


def test_other_people_are_refused():
    with pytest.raises(ArgumentError, match="has another index than y_true: row 0 is p00 there"):
        audit(pd.Series(LABEL, [f"q{i}" for i in range(N)]), LABEL, sensitive_features=SEX)


def test_columns_of_one_argument_are_told_apart():
    columns = {"a": pd.Series([1, 2], ["x", "y"]), "b": pd.Series([1, 2], ["y", "x"])}
    words = "Column 'b' of A has the same index as Column 'a' of A, in another order"
    with pytest.raises(ArgumentError, match=words):
        check_same_index(A=columns)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(LABEL, NAMES),
        pd.Series(LABEL),  # the numbers of rows, which say nothing beside names
        pd.Series(LABEL, SHUFFLED).to_numpy(),
        pl.Series(LABEL),
        list(LABEL),
    ],
    ids=["same", "default", "array", "polars", "list"],
)
def test_what_agrees_or_has_no_index_is_read_by_position(y):
    expected = audit(LABEL, SCORE.to_numpy(), sensitive_features=SEX, threshold=0.5)
    found = audit(y, SCORE, sensitive_features=SEX, threshold=0.5)
    assert found.unfairness == expected.unfairness


def test_the_numbers_of_rows_in_another_order_are_refused():
    """As of a frame that was shuffled, beside decisions that were not."""
    shuffled = pd.Series(LABEL).sample(frac=1, random_state=0)
    with pytest.raises(ArgumentError, match=r"pass y_pred\.reindex\(y_true\.index\)"):
        audit(shuffled, pd.Series(LABEL), sensitive_features={"sex": ["F", "M"] * 20})


def test_a_part_of_a_table_beside_decisions_of_its_own_is_read():
    part = pd.Series(LABEL).sample(frac=0.5, random_state=0)
    decided = pd.Series(1 - part.to_numpy())
    report = audit(part, decided, sensitive_features={"sex": ["F", "M"] * 10})
    assert report.n_rows == 20


LEVELS = pd.MultiIndex.from_arrays([["h1", "h1", "h2"], [1, 2, 1]])


@pytest.mark.parametrize(
    "other",
    [
        pd.Index(["a", "b", "c"]),
        pd.Index([7, 8, 9]),
        pd.period_range("2026", periods=3),
        pd.MultiIndex.from_arrays([["h1", "h1", "h2"]]),
        pd.MultiIndex.from_arrays([["h1", "h1", "h2"], [1, 2, 1], [0, 0, 0]]),
    ],
    ids=["names", "numbers", "periods", "one level", "three levels"],
)
def test_levels_beside_labels_of_another_kind_are_another_index(other):
    one = pd.Series([0, 1, 1], LEVELS)
    two = pd.Series([0, 1, 1], other)
    with pytest.raises(ArgumentError, match=r"b has another index than a: row 0 is "):
        check_same_index(a=one, b=two)
    with pytest.raises(ArgumentError, match=r"b has another index than a: row 0 is "):
        check_same_index(a=two, b=one)


def test_levels_beside_the_numbers_of_rows_are_read():
    check_same_index(a=pd.Series([0, 1, 1], LEVELS), b=pd.Series([0, 1, 1]))
    check_same_index(a=pd.Series([0, 1, 1]), b=pd.Series([0, 1, 1], LEVELS))


def test_levels_in_another_order_are_refused():
    words = r"in another order: row 0 is \('h2', 1\) there, and \('h1', 1\) in a"
    with pytest.raises(ArgumentError, match=words):
        check_same_index(a=pd.Series([0, 1, 1], LEVELS), b=pd.Series([0, 1, 1], LEVELS[::-1]))


def test_the_same_labels_of_another_type_agree():
    """For pandas an index of int64 does not equal one of UInt64."""
    given = pd.Series([0, 1, 1], pd.Index([7, 8, 9], dtype="UInt64"))
    check_same_index(a=pd.Series([0, 1, 1], [7, 8, 9]), b=given)
