"""Changes of scores, against fractions, against sums, and of right scores."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from gerrymend.calibration.changes import (
    NumberChange,
    OddsChange,
    change_of_plain,
    for_everyone,
    towards_mean,
)


def test_odds_are_multiplied_as_fractions_have_it():
    score = np.array([0.01, 0.3, 0.5, 0.75, 0.999])
    for factor in (0.03, 0.9, 1.0, 7.5):
        for before, after in zip(score, OddsChange(factor).apply(score), strict=True):
            p = Fraction(float(before))
            odds = p / (1 - p) * Fraction(factor)
            assert after == pytest.approx(float(odds / (1 + odds)), rel=1e-15)


def test_a_power_multiplies_log_odds():
    score = np.array([0.2, 0.6, 0.9])
    changed = OddsChange(1.5, power=0.4).apply(score)
    log_odds = np.log(score / (1 - score))
    np.testing.assert_allclose(np.log(changed / (1 - changed)), 0.4 * log_odds + np.log(1.5))


def test_order_is_kept_and_ends_can_be_left():
    score = np.linspace(0, 1, 101)
    for change in (OddsChange(0.01), OddsChange(50.0), OddsChange(2.0, power=0.3)):
        changed = change.apply(score)
        assert (np.diff(changed) > 0).all()
        assert 0 < changed[0] < changed[-1] < 1


@pytest.mark.parametrize("probabilities", [True, False])
def test_scores_are_right_on_average_after_a_change(probabilities):
    rng = np.random.default_rng(0)
    for n in (3, 40, 5000):
        weight = rng.uniform(0.5, 2.0, n)
        score = rng.beta(0.5, 0.5, n) if probabilities else rng.normal(50, 20, n)
        y = (rng.random(n) < 0.2) * 1.0 if probabilities else score + rng.normal(5, 10, n)
        change = towards_mean(y, score, weight, probabilities=probabilities)
        left = weight @ (y - change.apply(score))
        before = weight @ (y - score)
        # One row more, that happened as it was predicted.
        assert left == pytest.approx(before / (n + 1), abs=1e-9 * n)


def test_rows_to_which_the_same_happened_stay_inside():
    change = towards_mean(np.zeros(20), np.full(20, 0.5), np.ones(20), probabilities=True)
    assert change.apply(np.array([0.5]))[0] == pytest.approx(0.5 / 21)


def test_scores_of_zero_and_one_can_be_changed():
    y = np.array([0.0, 1.0] * 50)
    change = towards_mean(y, np.zeros(100), np.ones(100), probabilities=True)
    assert change.apply(np.zeros(1))[0] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("power", [0.4, 2.5])
def test_scores_that_are_not_sure_enough_or_too_sure_are_put_right(power):
    rng = np.random.default_rng(1)
    right = rng.uniform(0.05, 0.95, 20_000)
    y = (rng.random(20_000) < right) * 1.0
    score = OddsChange(1.0, power).apply(right)
    found = for_everyone(y, score, np.ones(20_000), probabilities=True)
    assert found.change.power == pytest.approx(1 / power, rel=0.1)
    assert found.p_value < 1e-10
    # Right on average, but for Platt's targets.
    assert found.change.apply(score).mean() == pytest.approx(y.mean(), abs=1e-3)


def test_an_average_that_is_off_is_no_reason_for_it():
    rng = np.random.default_rng(5)
    right = rng.uniform(0.05, 0.95, 5000)
    y = (rng.random(5000) < right) * 1.0
    score = OddsChange(1.5).apply(right)
    assert for_everyone(y, score, np.ones(5000), probabilities=True).p_value > 0.05


def test_numbers_get_the_slope_of_a_regression():
    rng = np.random.default_rng(2)
    score = rng.normal(10, 3, 4000)
    y = 4 + 0.5 * score + rng.normal(0, 1, 4000)
    found = for_everyone(y, score, np.ones(4000), probabilities=False)
    slope, shift = np.polyfit(score, y, 1)
    assert found.change.slope == pytest.approx(slope, rel=1e-9)
    assert found.change.shift == pytest.approx(shift, rel=1e-9)
    assert found.p_value < 1e-10


def test_a_slope_that_falls_changes_nothing():
    rng = np.random.default_rng(3)
    score = rng.uniform(0.1, 0.9, 2000)
    y = (rng.random(2000) < 1 - score) * 1.0
    assert for_everyone(y, score, np.ones(2000), probabilities=True) is None
    assert for_everyone(-score, score, np.ones(2000), probabilities=False) is None


@pytest.mark.parametrize("probabilities", [True, False])
def test_right_scores_are_left_alone_as_often_as_stated(probabilities):
    rng = np.random.default_rng(4)
    n_nulls = 400
    alarms = 0
    for _ in range(n_nulls):
        score = rng.beta(1, 2, 300)
        y = (rng.random(300) < score) * 1.0
        if not probabilities:
            y = score + rng.normal(0, 1, 300)
        found = for_everyone(y, score, np.ones(300), probabilities=probabilities)
        alarms += found is not None and found.p_value <= 0.05
    low, high = binom.interval(0.999, n_nulls, 0.05)
    assert low <= alarms <= high


def test_plain_data_makes_the_same_change():
    for change in (OddsChange(0.1 + 0.2, 1 / 3), NumberChange(-1e-17, 0.1)):
        assert change_of_plain(change.to_dict()) == change


def test_a_sum_beyond_the_last_digit_is_come_near_to():
    """No probability is above 1: where Newton's step has no slope, it was a division by 0."""
    change = towards_mean(np.full(29, 1 + 1e-15), np.ones(29), np.ones(29), probabilities=True)
    assert change.apply(np.array([0.5]))[0] == pytest.approx(1.0)
