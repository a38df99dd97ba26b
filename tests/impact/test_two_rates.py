"""The interval, the tests and the shortfall, against brute force and published examples."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

from gerrymend.impact.two_rates import (
    Rate,
    fisher,
    ratio_interval,
    ratio_of,
    shortfall,
    standard_deviations,
)


def by_definition(x1, n1, x0, n0, level=0.95):
    """Koopman's interval by a grid: constrained rates by maximising the likelihood itself."""
    quantile = ndtri(1 - (1 - level) / 2)
    kept = []
    grid = np.linspace(1e-9, 1 - 1e-9, 20_001)
    for ratio in np.exp(np.linspace(-6, 6, 2401)):
        p0 = grid[(grid * ratio < 1 - 1e-12)]
        p1 = p0 * ratio
        log = x1 * np.log(p1) + (n1 - x1) * np.log1p(-p1)
        log += x0 * np.log(p0) + (n0 - x0) * np.log1p(-p0)
        best = p0[np.argmax(log)]
        variance = ratio * best * (1 - ratio * best) / n1 + ratio**2 * best * (1 - best) / n0
        if abs(x1 / n1 - ratio * x0 / n0) <= quantile * variance**0.5:
            kept.append(ratio)
    return min(kept), max(kept)


@pytest.mark.parametrize(
    "counts", [(36, 40, 16, 80), (9, 27, 41, 68), (3, 8, 16, 25), (5, 5, 12, 20), (1, 30, 29, 30)]
)
def test_the_interval_is_the_score_tests(counts):
    x1, n1, x0, n0 = counts
    low, high = ratio_interval(Rate(x1, n1), Rate(x0, n0), 0.95)
    wanted = by_definition(*counts)
    assert (low, high) == pytest.approx(wanted, rel=0.01)  # two steps of the grid


@pytest.mark.parametrize(("x1", "x0"), [(10, 10), (10, 9), (1, 10), (0, 10), (0, 1)])
def test_ends_at_the_edges_are_finite_and_hold_the_estimate(x1, x0):
    low, high = ratio_interval(Rate(x1, 10), Rate(x0, 10), 0.95)
    assert 0 <= low <= ratio_of(Rate(x1, 10), Rate(x0, 10)) <= high < np.inf


@pytest.mark.parametrize(("n1", "n0"), [(5, 9), (12, 12), (30, 7)])
def test_where_nobody_is_selected_the_upper_end_is_missed_seldom_enough(n1, n0):
    """Whatever the rates: the part of samples with x₁ = 0 whose interval misses their ratio."""
    for p0 in np.linspace(0.05, 1, 20):
        x0 = np.arange(1, n0 + 1)
        ends = [ratio_interval(Rate(0, n1), Rate(x, n0), 0.9)[1] for x in x0.tolist()]
        for ratio in np.linspace(0.02, 1 / p0, 60):
            missed = np.array(ends) < ratio
            chance = binom.pmf(0, n1, min(1.0, ratio * p0)) * binom.pmf(x0[missed], n0, p0).sum()
            assert chance <= 0.1


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say():
    for n1, n0, p1, p0 in [(27, 68, 0.4, 0.6), (60, 200, 0.2, 0.3), (15, 400, 0.5, 0.5)]:
        x1, x0 = np.arange(n1 + 1), np.arange(1, n0 + 1)
        chance = np.outer(binom.pmf(x1, n1, p1), binom.pmf(x0, n0, p0))
        likely = np.argwhere(chance > 1e-7)
        held = 0.0
        for i, j in likely.tolist():
            low, high = ratio_interval(Rate(int(x1[i]), n1), Rate(int(x0[j]), n0), 0.95)
            held += chance[i, j] * (low <= p1 / p0 <= high)
        assert 0.94 <= held / chance[likely[:, 0], likely[:, 1]].sum() <= 0.965


@pytest.mark.parametrize(
    "counts", [(9, 27, 41, 68), (0, 4, 5, 6), (7, 17, 215, 412), (3, 3, 0, 3), (1, 2, 1, 2)]
)
def test_fisher_in_fractions(counts):
    x1, n1, x0, n0 = counts
    drawn = x1 + x0
    ways = {
        x: Fraction(comb(n1, x) * comb(n0, drawn - x), comb(n1 + n0, drawn))
        for x in range(max(0, drawn - n0), min(n1, drawn) + 1)
    }
    wanted = sum(way for way in ways.values() if way <= ways[x1])
    assert fisher(Rate(x1, n1), Rate(x0, n0)) == pytest.approx(float(wanted), rel=1e-9)


def test_shortfall_is_the_least_number_that_reaches_four_fifths():
    for x1, n1, x0, n0 in [(9, 27, 41, 68), (0, 1, 1, 1), (4, 10, 5, 10), (3, 10, 5, 10)]:
        short = shortfall(Rate(x1, n1), Rate(x0, n0))
        goal = Fraction(4 * x0, 5 * n0)
        assert Fraction(x1 + short, n1) >= goal
        assert short == 0 or Fraction(x1 + short - 1, n1) < goal


def test_standard_deviations_without_spread_are_none():
    assert standard_deviations(Rate(3, 3), Rate(4, 4)) is None


@pytest.mark.parametrize("level", [1e-300, 1e-17, 1e-9])
def test_with_no_confidence_the_interval_is_the_ratio(level):
    """Rounding decides on which side of the quantile the ratio is: the root was not bracketed."""
    group = Rate(3, 7)
    reference = Rate(19, 31)
    low, high = ratio_interval(group, reference, level)
    assert low <= high
    assert low == pytest.approx(ratio_of(group, reference), rel=1e-7)
    assert high == pytest.approx(ratio_of(group, reference), rel=1e-7)
