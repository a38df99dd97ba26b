"""The program over the pools, against a grid of mixtures and another formulation of the game."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from gerrymend.solvers.pool.program import weigh


@st.composite
def pools(draw, most_classifiers=6, most_groups=4):
    """Errors and signed unfairness, some of them coarse so that there are ties; a constant too."""
    n, m = draw(st.integers(1, most_classifiers)), draw(st.integers(0, most_groups))
    values = draw(
        st.sampled_from([st.integers(-4, 4).map(lambda i: i / 16), st.floats(-0.25, 0.25)])
    )
    error = draw(st.lists(st.integers(0, 8).map(lambda i: i / 8), min_size=n, max_size=n))
    unfairness = draw(st.lists(st.lists(values, min_size=n, max_size=n), min_size=m, max_size=m))
    return (
        np.array([*error, 0.5]),
        np.hstack([np.reshape(unfairness, (m, n)), np.zeros((m, 1))]),
    )


def worth(error, unfairness, gamma, C, q):
    worst = np.abs(unfairness @ q).max(initial=0.0)
    return error @ q + C * np.maximum(worst - gamma, 0.0)


def value_to_the_auditor(error, unfairness, gamma, C):
    """max v over λ ≥ 0, Σ λ ≤ C, with v ≤ L(h, λ) for each h: the game from the other side."""
    n_groups, n = unfairness.shape
    signed = np.vstack([unfairness, -unfairness]) - gamma
    solution = linprog(
        np.append(np.zeros(2 * n_groups), -1.0),
        A_ub=np.vstack([
            np.hstack([-signed.T, np.ones((n, 1))]),
            np.append(np.ones(2 * n_groups), 0.0),
        ]),
        b_ub=np.append(error, C),
        bounds=[(0, None)] * (2 * n_groups) + [(None, None)],
        method="highs-ipm",
    )  # fmt: skip
    return -solution.fun


GAMMAS = st.sampled_from([0.0, 0.01, 0.05, 1.0])


@given(pools(), GAMMAS, st.sampled_from([0.5, 5.0, 50.0]))
def test_value_mixture_and_duals_belong_together(pool, gamma, C):
    error, unfairness = pool
    found = weigh(error, unfairness, gamma, C)
    assert found.weights.sum() == pytest.approx(1.0)
    assert (found.weights >= 0).all()
    assert np.count_nonzero(found.weights) <= len(unfairness) + 1
    assert worth(error, unfairness, gamma, C, found.weights) == pytest.approx(found.value, abs=1e-7)
    assert found.value == pytest.approx(value_to_the_auditor(error, unfairness, gamma, C), abs=1e-6)
    # Strong duality, and complementary slackness on both sides.
    mass = np.abs(found.duals).sum()
    lagrangian = error + found.duals @ unfairness - gamma * mass
    assert mass <= C + 1e-7
    assert lagrangian.min() == pytest.approx(found.value, abs=1e-6)
    np.testing.assert_allclose(lagrangian[found.weights > 0], found.value, atol=1e-6)
    signed = unfairness @ found.weights
    slack = max(0.0, np.abs(signed).max(initial=0.0) - gamma)
    pressed = np.abs(found.duals) > 1e-7
    reached = np.sign(found.duals[pressed]) * signed[pressed]
    np.testing.assert_allclose(reached, gamma + slack, atol=1e-6)
    if slack > 1e-6:
        assert mass == pytest.approx(C, abs=1e-6)


@given(pools(most_classifiers=2), GAMMAS)
def test_no_mixture_of_a_fine_grid_is_worth_less(pool, gamma):
    error, unfairness = pool
    steps = 40
    grid = np.array([
        part for part in itertools.product(range(steps + 1), repeat=len(error))
        if sum(part) == steps
    ]) / steps  # fmt: skip
    worths = [worth(error, unfairness, gamma, 5.0, q) for q in grid]
    value = weigh(error, unfairness, gamma, 5.0).value
    assert value <= min(worths) + 1e-9
    # A mixture is within (n − 1)/2 steps, in ℓ1 (n − 1)/steps, of one of the grid; half that moves
    # err and |v| by at most the range of each.
    assert value >= min(worths) - (len(error) - 1) / steps * (1.0 + 5.0 * 0.5)


@given(pools(), st.sampled_from([0.0, 0.01, 0.05]))
def test_without_slack_every_group_is_within_gamma(pool, gamma):
    error, unfairness = pool
    found = weigh(error, unfairness, gamma, np.inf)
    assert (np.abs(unfairness @ found.weights) <= gamma + 1e-8).all()
    assert error @ found.weights == pytest.approx(found.value, abs=1e-7)
    assert np.count_nonzero(found.weights) <= len(unfairness) + 1
    # Slack that costs more than any error can pay is not used.
    mass = np.abs(found.duals).sum()
    soft = weigh(error, unfairness, gamma, 2 * mass + 1.0)
    assert soft.value == pytest.approx(found.value, abs=1e-6)
