"""Cuts of a score against all cuts, one after another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend._numeric.cuts import best_cuts


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


@given(problems())
def test_the_highest_of_the_cheapest_cuts(problem):
    score, costs = problem
    cuts = all_cuts(score)
    for cost, found in zip(costs, best_cuts(score, costs), strict=True):
        paid = [cost[score > cut].sum() for cut in cuts]
        assert found == cuts[int(np.argmin(paid))]


@given(problems(), st.randoms())
def test_the_order_of_the_rows_plays_no_part(problem, random):
    score, costs = problem
    order = list(range(len(score)))
    random.shuffle(order)
    np.testing.assert_array_equal(best_cuts(score[order], costs[:, order]), best_cuts(score, costs))


def test_tied_scores_are_decided_alike():
    score = np.array([1.0, 1.0, 2.0, 2.0])
    costs = np.array([[-1.0, 3.0, -2.0, 1.0], [-5.0, 3.0, -2.0, 1.0]])
    assert best_cuts(score, costs).tolist() == [1.5, -np.inf]


def test_scores_and_costs_that_differ_by_rounding_alone_are_equal():
    score = np.array([0.1 + 0.2, 0.3, 1.0])
    assert score[0] != score[1]
    assert best_cuts(score, np.array([[-2.0, 1.0, 5.0]])).tolist() == [np.inf]
    # Above 0.5 the costs sum to 0.1 + 0.2 − 0.3, which is not 0 in float64 but for rounding.
    score = np.array([1.0, 1.0, 1.0, 0.0])
    for sign in (1.0, -1.0):
        costs = sign * np.array([[0.1, 0.2, -0.3, sign]])
        assert best_cuts(score, costs).tolist() == [np.inf]


def test_a_range_of_nothing_but_rounding_is_one_score():
    """Halfway between neighbouring floats is one of the two: no cut lies between them."""
    score = np.nextafter(1.0, 2.0) + np.array([0.0, np.finfo(float).eps])
    assert (score[0] + score[1]) / 2 == score[1]
    assert best_cuts(score, np.array([[1.0, -1.0], [1.0, -2.0]])).tolist() == [np.inf, -np.inf]


def test_one_score_for_all_rows():
    assert best_cuts(np.ones(3), np.array([[1.0, -1.0, -1.0], [1.0, 1.0, -1.0]])).tolist() == [
        -np.inf,
        np.inf,
    ]


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scores_of_any_size(scale):
    score = np.array([1.0, 2.0, 3.0]) * scale
    (cut,) = best_cuts(score, np.array([[1.0, -2.0, -1.0]]))
    assert (score > cut).tolist() == [False, True, True]
