"""Weights over many orders of magnitude: right, or refused; never lost, and no crash.

Kernel weights fall off by hundreds of orders of magnitude, and only ratios of weights matter.
"""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from gerrymend import (
    Conjunctions,
    ExplicitGroups,
    LinearThresholds,
    Marginals,
    SubgroupParityClassifier,
    Trees,
    ValueSets,
    audit,
)
from gerrymend._numeric.sums import grid_shifts, total, total_by_cell
from gerrymend.auditing.from_engine import tally_of_lazy
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.inputs.protected import Column
from gerrymend.notions import STATISTICAL_PARITY
from tests.checking import assert_checked

CLASSES = {
    "linear": LinearThresholds(restarts=2),
    "regression": LinearThresholds(search="regression"),
    "conjunctions": Conjunctions(),
    "value sets": ValueSets(),
    "trees": Trees(),
    "marginals": Marginals(),
    "named": ExplicitGroups({"young": {"age": (None, 40)}, "red": {"colour": "red"}}),
}
# The largest weight is 10^high; the smallest so many orders of magnitude below it.
highs, spans = st.integers(-300, 300), st.integers(0, 300)


# Ours, or SciPy's and NumPy's of a product of matrices.
OTHER_CELLS = "bound to 50 cells|dimension mismatch|mismatch in its core dimension|matmul"


def rows_of(seed, n=60):
    rng = np.random.default_rng(seed)
    frame = {
        "age": rng.uniform(18, 90, n).round(1),
        "colour": rng.choice(["red", "green", "blue"], n),
    }
    frame["colour"][:3] = "red", "green", "blue"
    y, p = rng.integers(0, 2, n), rng.integers(0, 2, n)
    y[:2] = 0, 1
    return rng, frame, y, p


def weights_of(rng, n, high, span):
    """Weights whose exponents fill the range, a tenth of them 0."""
    weight = 10.0 ** rng.uniform(high - span, high, n)
    weight[rng.random(n) < 0.1] = 0.0
    weight[:2] = 10.0**high
    return weight


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=40))
def test_a_sum_is_right_to_the_last_digits_whatever_the_scales(values):
    weight = np.array(values)
    exact = sum(map(Fraction, values))
    assert abs(Fraction(total(weight)) - exact) <= exact * Fraction(1, 2**51)
    alone = total_by_cell(np.arange(len(weight)), weight, len(weight) + 1)
    np.testing.assert_array_equal(alone, np.append(weight, 0.0))  # no cell loses what it has


@given(st.integers(1, 10**7), st.floats(1e-300, 1e100), st.floats(0, 1))
def test_so_many_grids_are_enough(n, largest, ratio):
    smallest = max(largest * ratio, 5e-324)
    rest = np.array([smallest, largest, (smallest + largest) / 2, smallest * 1.1])
    for shift in grid_shifts(n, largest * 1.1, smallest):
        rest = rest - ((rest + shift) - shift)
    assert not rest.any()


@pytest.mark.parametrize("name", CLASSES)
@settings(max_examples=settings.default.max_examples // 2)
@given(seed=st.integers(0, 10**6), high=highs, span=spans)
@example(seed=263, high=0, span=236)  # a quotient of unfairnesses near 1e-8
@example(seed=180, high=-289, span=147)  # the rest of a leaf, which is no leaf
def test_an_audit_of_any_weights_is_right(name, seed, high, span):
    rng, frame, y, p = rows_of(seed)
    weight = weights_of(rng, len(y), high, span)
    options = {"notion": STATISTICAL_PARITY, "subgroups": CLASSES[name], "budget": 5.0}
    report = audit(y, p, sensitive_features=frame, sample_weight=weight, **options)
    exact = [Fraction(w) for w in weight.tolist()]
    if report.worst is not None:  # its figures, in fractions over the rows
        inside = report.worst.contains(frame)
        n, mass = sum(exact), sum(w for w, i in zip(exact, inside, strict=True) if i)
        decided = [w * int(one) for w, one in zip(exact, p, strict=True)]
        rate = sum(w for w, i in zip(decided, inside, strict=True) if i) / mass
        assert report.worst.rate == pytest.approx(float(rate), rel=1e-9)
        unfairness = float(mass / n * (rate - sum(decided) / n))
        assert report.worst.unfairness == pytest.approx(unfairness, abs=1e-11)
    assert 0.0 <= report.unfairness <= report.upper_bound + 1e-12 <= 0.25 + 2e-12
    same = audit(y, p, sensitive_features=frame, sample_weight=weight * 4.0, **options)
    assert same.unfairness == pytest.approx(report.unfairness, abs=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # three rounds
@pytest.mark.parametrize("name", CLASSES)
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6), high=highs, span=spans)
def test_a_fit_with_any_weights_ends(name, seed, high, span):
    rng, frame, y, _ = rows_of(seed)
    weight = weights_of(rng, len(y), high, span)
    X = np.column_stack([frame["age"] / 100, rng.normal(size=len(y))])
    model = SubgroupParityClassifier(
        LogisticRegression(), gamma=0.3, subgroups=CLASSES[name], max_iter=3
    )
    model.fit(X, y, sensitive_features=frame, sample_weight=weight)
    assert np.isfinite(model.history_["unfairness"]).all()
    assert 0.0 <= model.score(X, y, sample_weight=weight) <= 1.0 + 1e-12


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # three rounds
@pytest.mark.parametrize("name", CLASSES)
def test_kernel_weights_are_ordinary(name):
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 95, 2000).round(1)
    X, y = np.column_stack([age, rng.normal(size=2000)]), rng.integers(0, 2, 2000)
    weight = np.exp(-0.5 * ((age - 30) / 7) ** 2)
    frame = {"age": age, "colour": rng.choice(["red", "blue"], 2000)}
    model = SubgroupParityClassifier(gamma=0.02, subgroups=CLASSES[name], max_iter=3)
    model.fit(X, y, sensitive_features=frame, sample_weight=weight)
    assert np.isfinite(model.history_["unfairness"]).all()


@pytest.mark.parametrize("size", [1e-300, 5e-324, 1e-17, 1e300, 1.7e308])
@pytest.mark.parametrize("name", CLASSES)
def test_weights_that_are_all_the_same_are_as_none(name, size):
    _, frame, y, p = rows_of(3)
    options = {"sensitive_features": frame, "subgroups": CLASSES[name], "min_group_size": 5}
    plain = audit(y, p, **options)
    weighted = audit(y, p, sample_weight=np.full(len(y), size), **options)
    assert weighted.unfairness == pytest.approx(plain.unfairness, abs=1e-12)
    assert weighted.upper_bound == pytest.approx(plain.upper_bound, abs=1e-12)
    assert str(weighted.worst) == str(plain.worst)
    assert weighted.worst.rate == pytest.approx(plain.worst.rate)


def test_weights_that_no_float_can_hold_together_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight goes from 1e-300 to 1e\+300.*Pass 0"):
        audit([0, 1], [0, 1], sensitive_features={"a": [1, 2]}, sample_weight=[1e-300, 1e300])
    frame = pl.LazyFrame({"y": [0, 1], "p": [0, 1], "a": [1, 2], "w": [1e-300, 1e300]})
    with pytest.raises(ValueError, match="sample_weight goes from 1e-300"):
        audit("y", "p", sensitive_features="a", sample_weight="w", data=frame)


@given(seed=st.integers(0, 10**6), high=highs, span=spans)
def test_an_engine_sums_weights_of_any_scale_as_we_do(seed, high, span):
    rng, frame, y, p = rows_of(seed)
    weight = weights_of(rng, len(y), high, span)
    columns = {**frame, "y": y, "p": p, "w": weight}
    lazy = tally_of_lazy(
        pl.LazyFrame(columns),
        y_true="y", y_pred="p", sensitive_features=["age", "colour"], sample_weight="w",
    )  # fmt: skip
    here = tally_of_rows(y, p, frame, weight)
    for name in ("weight", "positive", "squared_weight", "n_counted"):
        np.testing.assert_array_equal(getattr(lazy, name), getattr(here, name))


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "regression"])
def test_no_compiled_loop_is_reached_with_values_of_other_cells(name):
    rng = np.random.default_rng(0)
    columns = (
        Column("age", np.arange(50.0)),
        Column("colour", rng.integers(0, 3, 50).astype(float), ("red", "green", "blue")),
    )
    bound = CLASSES[name].bind(columns, np.ones(50), np.ones(50))
    for n in (10, 49, 51, 5000):
        residual, rows = rng.normal(size=n), np.ones(n, dtype=np.intp)
        with pytest.raises(ValueError, match=OTHER_CELLS):
            bound.worst(residual[None])
        with pytest.raises(ValueError, match=OTHER_CELLS):
            bound.prove(residual)
        with pytest.raises(ValueError, match=OTHER_CELLS):
            bound.worst_of_size(np.zeros(50), rows, 2)


def test_an_interval_keeps_the_digits_of_a_light_rest():
    """Σ w² of the rows out of the group is 1e-14 of all: a difference of sums has none of it."""
    rng, frame, y, p = rows_of(141183)
    weight = weights_of(rng, len(y), 0, 112)
    report = audit(
        y, p, sensitive_features=frame, sample_weight=weight, notion=STATISTICAL_PARITY,
        subgroups=CLASSES["named"],
    )  # fmt: skip
    assert_checked(report, y, p, sensitive_features=frame, sample_weight=weight)
