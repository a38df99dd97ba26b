"""The line and the shifts against a general minimiser, models fitted anew, and draws of chance."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

from gerrymend.calibration import together
from gerrymend.calibration.changes import OddsChange
from gerrymend.calibration.conditions import steps_of
from gerrymend.calibration.together import Regression, fit_together, p_value_of_all
from gerrymend.inputs.protected import read_columns


def made(n=900, seed=0, power=2.0, probabilities=True):
    """What happened, scores that are too sure and off for the old, weights and attributes."""
    rng = np.random.default_rng(seed)
    A = pd.DataFrame(
        {
            "town": rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2]),
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(20, 60, n),
        }
    )
    right = rng.normal(0, 1.2, n)
    off = 0.8 * (A["age"] >= 40).to_numpy()
    weight = rng.uniform(0.5, 1.5, n)
    if not probabilities:
        return right * 10 + 3 * off + rng.normal(0, 5, n), power * right * 10, weight, A
    y = (rng.random(n) < 1 / (1 + np.exp(-right - off))) * 1.0
    return y, 1 / (1 + np.exp(-power * right)), weight, A


def regression_of(n=900, seed=0, *, pairs=True, probabilities=True, **how):
    y, score, weight, A = made(n, seed, probabilities=probabilities, **how)
    steps = steps_of(read_columns(A), weight, 10, pairs=pairs)
    return Regression.of(y, score, weight, steps, probabilities=probabilities), A


def columns_of(regression, A):
    """The column of each parameter, by what the conditions say of rows."""
    by_name = {column.name: column for column in read_columns(A)}
    parts = [np.ones(len(A)), regression.x - np.average(regression.x, weights=regression.weight)]
    for step in regression.steps:
        for condition in step.conditions:
            holds = [part.holds(by_name[part.attribute]) for part in condition]
            parts.append(np.logical_and.reduce(holds) * 1.0)
    return np.stack(parts, axis=1)


def loss_of(regression, columns, ridge, rows=slice(None)):
    """The loss as it is written down, by dense columns."""

    def loss(parameters):
        found = regression.x[rows] + columns[rows] @ parameters
        if regression.logistic:
            p = 1 / (1 + np.exp(-found))
            of_row = -np.where(regression.y[rows] > 0, np.log(p), np.log(1 - p))
        else:
            of_row = (regression.y[rows] - found) ** 2 / 2
        return regression.weight[rows] @ of_row + ridge @ parameters**2 / 2

    return loss


@pytest.mark.parametrize("probabilities", [True, False])
@pytest.mark.parametrize("strength", [3.0, 100.0])
def test_a_general_minimiser_finds_the_same(probabilities, strength):
    regression, A = regression_of(probabilities=probabilities)
    columns = columns_of(regression, A)
    assert columns.shape[1] == regression.size > 15
    ridge = np.r_[0.25, np.full(regression.size - 1, strength)]
    found = together._fitted(regression, ridge, np.zeros(regression.size))
    loss = loss_of(regression, columns, ridge)
    other = minimize(loss, np.zeros(regression.size), method="BFGS", options={"gtol": 1e-4})
    assert loss(found) <= other.fun + 1e-6
    np.testing.assert_allclose(found, other.x, atol=2e-3)


def test_sums_over_codes_are_products_of_columns():
    regression, A = regression_of()
    columns = columns_of(regression, A)
    of_row = np.random.default_rng(1).uniform(0, 1, len(A))
    np.testing.assert_allclose(
        regression.products(of_row), columns.T @ (columns * of_row[:, None]), atol=1e-8
    )
    some = np.arange(0, len(A), 7)
    np.testing.assert_allclose(
        regression.sums(of_row[some], some), columns[some].T @ of_row[some], atol=1e-9
    )


def test_the_loss_on_other_rows_is_nearly_that_of_fits_without_them():
    regression, A = regression_of(seed=2)
    columns = columns_of(regression, A)
    fold = together._folds(regression.y, seed=0)
    assert np.ptp(np.bincount(fold)) <= 1
    assert np.ptp(np.bincount(fold, regression.y)) <= 1
    nothing = loss_of(regression, columns, np.zeros(regression.size))(np.zeros(regression.size))
    for strength in (10.0, 300.0):
        ridge = np.r_[0.25, np.full(regression.size - 1, strength)]
        anew = 0.0
        for number in range(5):
            rows = np.flatnonzero(fold != number)
            loss = loss_of(regression, columns, ridge, rows)
            start = np.zeros(regression.size)
            fitted = minimize(loss, start, method="BFGS", options={"gtol": 1e-3}).x
            left = np.flatnonzero(fold == number)
            anew += loss_of(regression, columns, 0 * ridge, left)(fitted)
        fitted = together._fitted(regression, ridge, np.zeros(regression.size))
        told = together._loss_on_others(regression, ridge, fitted, fold)
        # What matters is how much is gained.
        assert nothing - anew > 20
        assert nothing - told == pytest.approx(nothing - anew, rel=0.05)


@pytest.mark.parametrize("probabilities", [True, False])
def test_right_scores_have_small_p_values_as_often_as_they_say(probabilities):
    alarms = 0
    n_nulls = 400
    for seed in range(n_nulls):
        y, score, weight, A = made(400, seed, power=1.0, probabilities=probabilities)
        rng = np.random.default_rng([seed, 1])
        y = (rng.random(400) < score) * 1.0 if probabilities else score + rng.normal(0, 1, 400)
        steps = steps_of(read_columns(A), weight, 10, pairs=True)
        right = Regression.of(y, score, weight, steps, probabilities=probabilities)
        alarms += p_value_of_all(right) <= 0.05
    low, high = binom.interval(0.999, n_nulls, 0.05)
    assert low <= alarms <= high


def test_what_is_off_for_a_group_or_too_sure_has_a_small_p_value():
    assert p_value_of_all(regression_of(2000, power=1.0)[0]) < 0.001
    y, score, weight, _ = made(power=2.0)
    alone = Regression.of(y, score, weight, [], probabilities=True)
    assert p_value_of_all(alone) < 0.001


def test_a_mean_that_is_off_is_no_reason():
    y, score, weight, A = made(3000, power=1.0)
    rng = np.random.default_rng([0, 1])
    y = (rng.random(3000) < score) * 1.0
    steps = steps_of(read_columns(A), weight, 10, pairs=True)
    off = OddsChange(1.5).apply(score)
    assert p_value_of_all(Regression.of(y, off, weight, steps, probabilities=True)) > 0.05


@pytest.mark.parametrize("probabilities", [True, False])
def test_changes_make_what_was_fitted_of_scores(probabilities):
    y, score, weight, A = made(probabilities=probabilities)
    steps = steps_of(read_columns(A), weight, 10, pairs=True)
    regression = Regression.of(y, score, weight, steps, probabilities=probabilities)
    parameters = np.random.default_rng(3).normal(0, 0.2, regression.size)
    changes = together._changes(regression, parameters)
    by_name = {column.name: column for column in read_columns(A)}
    patched = changes.everyone.apply(score)
    conditions = [one for step in steps for one in step.conditions]
    for condition, change in zip(conditions, changes.shifts, strict=True):
        inside = np.logical_and.reduce([one.holds(by_name[one.attribute]) for one in condition])
        patched[inside] = change.apply(patched[inside])
    fitted = regression.predictor(parameters, np.arange(len(y)))
    if probabilities:
        np.testing.assert_allclose(patched, 1 / (1 + np.exp(-fitted)), atol=1e-6)
    else:
        np.testing.assert_allclose(patched, regression.unit * fitted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("power", [0.4, 2.5])
def test_scores_that_are_not_sure_enough_or_too_sure_are_put_right(power):
    rng = np.random.default_rng(1)
    right = rng.uniform(0.05, 0.95, 20_000)
    y = (rng.random(20_000) < right) * 1.0
    score = OddsChange(1.0, power).apply(right)
    line = Regression.of(y, score, np.ones(20_000), [], probabilities=True)
    found = fit_together(line, seed=0).everyone
    assert found.power == pytest.approx(1 / power, rel=0.1)
    assert found.apply(score).mean() == pytest.approx(y.mean(), abs=1e-3)


def test_numbers_get_nearly_the_slope_of_a_regression():
    rng = np.random.default_rng(2)
    score = rng.normal(10, 3, 4000)
    y = 4 + 0.5 * score + rng.normal(0, 1, 4000)
    line = Regression.of(y, score, np.ones(4000), [], probabilities=False)
    found = fit_together(line, seed=0).everyone
    slope, shift = np.polyfit(score, y, 1)
    assert found.slope == pytest.approx(slope, abs=0.002)
    assert found.shift == pytest.approx(shift, abs=0.02)


def test_few_numbers_get_the_slope_of_a_regression():
    rng = np.random.default_rng(2)
    score = rng.normal(10, 3, 60)
    y = 4 + 0.5 * score + rng.normal(0, 1, 60)
    weight = rng.integers(1, 4, 60)
    line = Regression.of(y, score, weight, [], probabilities=False)
    found = fit_together(line, seed=0).everyone
    slope, shift = np.polyfit(score, y, 1, w=np.sqrt(weight))
    assert found.slope == pytest.approx(slope, rel=1e-9)
    assert found.shift == pytest.approx(shift, rel=1e-9)


def test_a_slope_that_falls_changes_nothing():
    rng = np.random.default_rng(3)
    score = rng.uniform(0.1, 0.9, 2000)
    y = (rng.random(2000) < 1 - score) * 1.0
    one = np.ones(2000)
    assert fit_together(Regression.of(y, score, one, [], probabilities=True), seed=0) is None
    assert fit_together(Regression.of(-score, score, one, [], probabilities=False), seed=0) is None


def test_one_outcome_alone_moves_scores_to_no_end():
    score = np.random.default_rng(4).uniform(0.2, 0.6, 300)
    only = Regression.of(np.zeros(300), score, np.ones(300), [], probabilities=True)
    patched = fit_together(only, seed=0).everyone.apply(score)
    assert 1e-6 < patched.max() < 0.05


def test_the_unit_of_weights_and_of_numbers_changes_nothing():
    y, score, weight, A = made(probabilities=False)
    found = []
    for unit, heavier in ((1.0, 1.0), (1000.0, 64.0)):
        steps = steps_of(read_columns(A), weight * heavier, 10, pairs=False)
        regression = Regression.of(
            unit * y, unit * score, heavier * weight, steps, probabilities=False
        )
        changes = fit_together(regression, seed=0)
        found.append([changes.everyone.slope, *(one.shift / unit for one in changes.shifts)])
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-9)
    assert len(found[0]) > 5


def test_conditions_are_apart_by_enough_rows():
    rng = np.random.default_rng(5)
    # Most have one of two values, and few what is between them.
    A = {"score": rng.choice([1.0, 2.0, 3.0, 4.0], 1000, p=[0.48, 0.02, 0.02, 0.48]),
         "town": ["A"] * 500 + ["B"] * 440 + ["C"] * 60}  # fmt: skip
    number, town = steps_of(read_columns(A), np.ones(1000), 10, pairs=False)
    assert len(number.conditions) == 1
    # Town C is too small for a shift, and town A is left with it, or C's would follow.
    assert [one[0].values for one in town.conditions] == [("B",)]
    assert steps_of(read_columns(A), np.ones(1000), 600, pairs=True) == []
    few = {name: values[:90] for name, values in A.items()}
    assert steps_of(read_columns(few), np.ones(90), 10, pairs=True) == []


def test_there_are_no_pairs_where_they_would_be_too_many():
    rng = np.random.default_rng(6)
    wide = {f"x{j}": rng.normal(size=2000) for j in range(12)}
    columns = read_columns(wide)
    steps = steps_of(columns, np.ones(2000), 10, pairs=True)
    conditions = [one for step in steps for one in step.conditions]
    assert len(conditions) <= 100
    assert {len(one) for one in conditions} == {1}
    two = steps_of(columns[:2], np.ones(2000), 10, pairs=True)
    assert {len(one) for step in two for one in step.conditions} == {1, 2}
