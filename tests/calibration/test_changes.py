"""Changes of scores, against fractions, against sums, and of right scores."""

from fractions import Fraction

import numpy as np
import pytest

from gerrymend.calibration.changes import (
    NumberChange,
    OddsChange,
    change_of_plain,
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


def test_plain_data_makes_the_same_change():
    for change in (OddsChange(0.1 + 0.2, 1 / 3), NumberChange(-1e-17, 0.1)):
        assert change_of_plain(change.to_dict()) == change


def test_a_sum_beyond_the_last_digit_is_come_near_to():
    """No probability is above 1: where Newton's step has no slope, it was a division by 0."""
    change = towards_mean(np.full(29, 1 + 1e-15), np.ones(29), np.ones(29), probabilities=True)
    assert change.apply(np.array([0.5]))[0] == pytest.approx(1.0)
