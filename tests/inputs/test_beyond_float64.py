"""Whole numbers that float64 does not hold: each is told apart to its last digit, or refused."""

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from gerrymend import (
    SubgroupCalibrator,
    SubgroupParityClassifier,
    audit,
    audit_counts,
    load_model,
    save_model,
)
from gerrymend.inputs.arrays import as_array
from gerrymend.inputs.numbers import at_least, is_exact, is_whole
from gerrymend.notions import OutcomeNotion

B = 2**53
# Of 200 rows in two groups of the same size.
P = np.arange(200) % 2
SEX = {"sex": np.where(P, "F", "M")}
REFUSED = (
    "has (whole numbers that float64 does not hold, such as 9007199254740993"
    r"|numbers that float64 can't tell apart, such as Decimal\('9007199254740992'\))"
)
CONTAINERS = {
    "array": lambda values: values,
    "unsigned": lambda values: values.astype(np.uint64),
    "list": lambda values: values.tolist(),
    "objects": lambda values: values.astype(object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "beside a fraction": lambda values: [0.5, *values.tolist()[1:]],
    "decimals": lambda values: [Decimal(value) for value in values.tolist()],
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_outcomes_are_not_rounded(container):
    numbers = CONTAINERS[container](B + P)
    with pytest.raises(ValueError, match=f"^y_pred {REFUSED}"):
        audit(None, numbers, notion="mean_outcome", sensitive_features=SEX)
    with pytest.raises(ValueError, match=f"^y_true {REFUSED}"):
        audit(numbers, np.zeros(200), notion="mean_error", sensitive_features=SEX)


@pytest.mark.parametrize("container", CONTAINERS)
def test_targets_of_a_regressor_are_not_rounded(container):
    numbers = CONTAINERS[container](B + P)
    model = SubgroupCalibrator(LinearRegression())
    with pytest.raises(ValueError, match=f"^y {REFUSED}"):
        model.fit(np.arange(200.0)[:, None], numbers, sensitive_features=SEX)


@pytest.mark.parametrize("container", CONTAINERS)
def test_values_that_are_controlled_for_are_not_merged(container):
    given = {"control_features": {"year": CONTAINERS[container](B + P)}, "sensitive_features": SEX}
    with pytest.raises(ValueError, match=f"^Column 'year' of control_features {REFUSED}"):
        audit(P, P, **given)
    with pytest.raises(ValueError, match=f"^Column 'year' of control_features {REFUSED}"):
        SubgroupParityClassifier().fit(np.arange(200.0)[:, None], P, **given)


@pytest.mark.parametrize("base", [B, 10**30])
def test_a_saved_model_has_labels_with_all_their_digits(base, tmp_path):
    labels = np.array([base + int(one) for one in P], dtype=object)
    X = np.random.default_rng(0).normal(size=(200, 2)) + P[:, None]
    model = SubgroupParityClassifier(gamma=0.2, max_iter=3, random_state=0)
    model.fit(X, labels, sensitive_features=SEX)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert set(loaded.predict(X).tolist()) == {base, base + 1}
    assert (loaded.predict(X) == model.predict(X)).all()


def test_whole_decimals_are_not_rounded_where_they_are_all_the_same():
    """They are compared with the other column: each error is 1."""
    with pytest.raises(ValueError, match=r"^y_true has whole numbers that float64 does not hold"):
        audit([Decimal(B + 1)] * 200, [B] * 200, notion="mean_error", sensitive_features=SEX)


@pytest.mark.parametrize("container", ["array", "unsigned", "list", "objects", "pandas", "polars"])
def test_outcomes_that_are_floats_are_taken(container):
    numbers = CONTAINERS[container](P * 2**60)
    found = audit(None, numbers, notion="mean_outcome", sensitive_features=SEX).worst
    # Half of the people, and half of 2⁶⁰ from the mean.
    assert found.unfairness == 2.0**58


MADE = {
    "array": lambda y, p: p.astype(np.int64) + B,
    "list": lambda y, p: [B + int(value) for value in p],
    "beside a fraction": lambda y, p: [0.5, *(B + int(value) for value in p[1:])],
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_outcomes_of_a_function_are_not_rounded(made):
    with pytest.raises(ValueError, match=f"^outcome of the notion 'made' {REFUSED}"):
        audit(P, P, notion=OutcomeNotion("made", made), sensitive_features=SEX)


def test_outcomes_of_rows_that_do_not_count_may_be_any():
    made = OutcomeNotion(
        "made", lambda y, p: np.where(p == 2, B + 1, p.astype(int)), event=lambda y, p: p < 2
    )
    numbers = np.where(np.arange(200) < 20, 2, P)
    # 90 women of 200 people count, with a mean of 1 where all who count have ½.
    assert audit(numbers, numbers, notion=made, sensitive_features=SEX).worst.unfairness == 0.225


def test_a_masked_outcome_is_none():
    hidden = OutcomeNotion("hidden", lambda y, p: np.ma.masked_array(p, mask=p == 1))
    with pytest.raises(ValueError, match="'hidden' has the outcome nan in a row"):
        audit(P, P, notion=hidden, sensitive_features=SEX)
    counted = OutcomeNotion(
        "hidden", lambda y, p: np.ma.masked_array(p, mask=p == 2), event=lambda y, p: p < 2
    )
    numbers = np.where(np.arange(200) < 20, 2, P)
    assert audit(numbers, numbers, notion=counted, sensitive_features=SEX).worst.unfairness == 0.225


PAIRS = [(2**64 - 1, 2**64 - 2), (2**64 - 1, -1), (B, B + 1), (-(2**63), 2**64 - 1), (10**30, 1)]


@pytest.mark.parametrize("pair", PAIRS)
def test_labels_of_any_size_are_told_apart(pair):
    labels = [pair[i] for i in P]
    found = audit(
        labels, labels[::-1], notion="statistical_parity", sensitive_features=SEX, pos_label=pair[1]
    )
    # All men, and no woman: half of the people, and half of all decided 1.
    assert found.labels == pair
    assert found.worst.unfairness == 0.25


def test_more_labels_than_two_are_told_apart_beside_one_that_makes_them_floats():
    labels = [(2**64 - 1, 2**64 - 2, -1)[i % 3] for i in range(300)]
    assert len(np.unique(as_array(labels, "y"))) == 3


SCORES = {
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "list": list,
}


@pytest.mark.parametrize("threshold", [B + 1, np.int64(B + 1), Decimal(B + 1), Fraction(B + 1)])
@pytest.mark.parametrize("container", SCORES)
def test_scores_are_cut_at_a_threshold_of_any_size(container, threshold):
    scores = SCORES[container]((B + P).tolist())
    found = audit(
        P, scores, threshold=threshold, notion="statistical_parity", sensitive_features=SEX
    )
    assert found.worst.unfairness == 0.25


WHOLE = st.one_of(
    st.integers(B - 4, B + 4), st.integers(-(2**66), 2**66), st.integers(2**64 - 2, 2**64 + 2)
)


@given(st.lists(WHOLE, min_size=1, max_size=6), WHOLE)
def test_cuts_are_those_of_fractions(values, cut):
    expected = [value >= cut for value in values]
    assert at_least(np.array(values, dtype=object), cut, "y_pred").tolist() == expected
    floats = [float(value) for value in values]
    expected = [Fraction(value) >= cut for value in floats]
    assert at_least(np.array(floats), cut, "y_pred").tolist() == expected


@given(st.lists(st.one_of(WHOLE, st.integers(-3, 3).map(lambda k: k / 2)), min_size=1, max_size=5))
def test_a_list_is_read_as_it_is(values):
    assert [Fraction(value) for value in as_array(values, "y").tolist()] == list(
        map(Fraction, values)
    )


@given(WHOLE, st.sampled_from([int, Decimal, Fraction, np.longdouble]))
def test_exact_is_what_a_float_equals(value, kind):
    number = kind(str(value)) if kind is np.longdouble else kind(value)
    there = Fraction(int(number))  # what the type made of it
    assert is_whole(number)
    assert is_exact(number) == (Fraction(float(there)) == there)


def test_numbers_with_places_are_not_whole():
    parts = [Decimal("0.5"), Fraction(1, 2), 0.5, np.longdouble("0.5"), Decimal("NaN"), np.inf]
    for value in itertools.chain(parts, [Decimal("Infinity"), None, "3"]):
        assert not is_whole(value)
        assert is_exact(value)


def test_squares_may_be_rounded_and_totals_may_not():
    """A million incomes have squares beyond 2⁵³, which tell a spread alone."""
    lines = {"sex": ["F", "M"], "n": [100, 100], "total": [100, 300], "squares": [B + 1, B + 3]}
    how = {"label": None, "count": "n", "total": "total", "squares": "squares"}
    how |= {"sensitive_features": ["sex"], "notion": "mean_outcome", "n_permutations": 0}
    report = audit_counts(pl.DataFrame(lines), **how, subgroups="conjunctions")
    assert report.unfairness == pytest.approx(0.5)  # half of the rows, off by 1 each
    with pytest.raises(ValueError, match="total has whole numbers that float64 does not hold"):
        audit_counts(pl.DataFrame(lines | {"total": [B, B + 1]}), **how)
