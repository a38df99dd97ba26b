"""Cuts of a score against all cuts, one after another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend._numeric import cuts as module
from gerrymend._numeric.binned_cuts import MANY_ROWS, BinnedScores


def in_bins(score, costs):
    """Do what `best_cuts` does with many rows."""
    scores = BinnedScores(score)
    tie = module.tie_of(np.array(scores.range))
    return np.array([scores.best_cut(cost, tie, module.SAME) for cost in costs])


in_both_ways = pytest.mark.parametrize(
    "best_cuts", [module.best_cuts, in_bins], ids=["sorted", "in bins"]
)


@st.composite
def problems(draw):
    n = draw(st.integers(1, 12))
    scores = draw(st.sampled_from([st.integers(-3, 3), st.floats(-1e6, 1e6)]))
    score = draw(st.lists(scores, min_size=n, max_size=n))
    # Whole costs: equal sums are then equal, and ties a matter of the rule and not of rounding.
    costs = draw(st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=1,
                          max_size=3))  # fmt: skip
    return np.array(score, dtype=float), np.array(costs, dtype=float)


def all_cuts(score):
    """From the highest to the lowest; scores within 10⁻⁹ of their range, or rounding, are one."""
    distinct = np.unique(score)[::-1]
    tie = max(1e-9 * (score.max() - score.min()), 2**-49 * np.abs(score).max())
    apart = distinct[:-1] - distinct[1:] > tie
    return [np.inf, *((distinct[:-1] + distinct[1:]) / 2)[apart], -np.inf]


@in_both_ways
@given(problems())
def test_the_highest_of_the_cheapest_cuts(best_cuts, problem):
    score, costs = problem
    cuts = all_cuts(score)
    for cost, found in zip(costs, best_cuts(score, costs), strict=True):
        paid = [cost[score > cut].sum() for cut in cuts]
        assert found == cuts[int(np.argmin(paid))]


@in_both_ways
@given(problems(), st.randoms())
def test_the_order_of_the_rows_plays_no_part(best_cuts, problem, random):
    score, costs = problem
    order = list(range(len(score)))
    random.shuffle(order)
    np.testing.assert_array_equal(best_cuts(score[order], costs[:, order]), best_cuts(score, costs))


@in_both_ways
def test_tied_scores_are_decided_alike(best_cuts):
    score = np.array([1.0, 1.0, 2.0, 2.0])
    costs = np.array([[-1.0, 3.0, -2.0, 1.0], [-5.0, 3.0, -2.0, 1.0]])
    assert best_cuts(score, costs).tolist() == [1.5, -np.inf]


@in_both_ways
def test_scores_and_costs_that_differ_by_rounding_alone_are_equal(best_cuts):
    score = np.array([0.1 + 0.2, 0.3, 1.0])
    assert score[0] != score[1]
    assert best_cuts(score, np.array([[-2.0, 1.0, 5.0]])).tolist() == [np.inf]
    # Above 0.5 the costs sum to 0.1 + 0.2 − 0.3, which is not 0 in float64 but for rounding.
    score = np.array([1.0, 1.0, 1.0, 0.0])
    for sign in (1.0, -1.0):
        costs = sign * np.array([[0.1, 0.2, -0.3, sign]])
        assert best_cuts(score, costs).tolist() == [np.inf]


@in_both_ways
def test_a_range_of_nothing_but_rounding_is_one_score(best_cuts):
    """Halfway between neighbouring floats is one of the two: no cut lies between them."""
    score = np.nextafter(1.0, 2.0) + np.array([0.0, np.finfo(float).eps])
    assert (score[0] + score[1]) / 2 == score[1]
    assert best_cuts(score, np.array([[1.0, -1.0], [1.0, -2.0]])).tolist() == [np.inf, -np.inf]


@in_both_ways
def test_one_score_for_all_rows(best_cuts):
    assert best_cuts(np.ones(3), np.array([[1.0, -1.0, -1.0], [1.0, 1.0, -1.0]])).tolist() == [
        -np.inf,
        np.inf,
    ]


@in_both_ways
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scores_of_any_size(best_cuts, scale):
    score = np.array([1.0, 2.0, 3.0]) * scale
    (cut,) = best_cuts(score, np.array([[1.0, -2.0, -1.0]]))
    assert (score > cut).tolist() == [False, True, True]


@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_of_many_rows_few_are_sorted_and_the_cut_is_the_same(spread):
    rng = np.random.default_rng(0)
    score = np.exp(spread * rng.normal(size=MANY_ROWS))
    score[::7] = 1.0
    costs = rng.normal(size=(3, MANY_ROWS)) + np.where(score > [[0.5], [2.0], [1e9]], -0.2, 0.2)
    order = np.argsort(-score, kind="stable")
    last = np.flatnonzero(np.append(np.diff(score[order]) < -1e-9 * np.ptp(score), True))
    for cost, cut in zip(costs, module.best_cuts(score, costs), strict=True):
        paid = np.append(0.0, np.cumsum(cost[order])[last])
        assert cost[score > cut].sum() == pytest.approx(paid.min(), abs=1e-6)
