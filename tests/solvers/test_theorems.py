"""The theorems behind the solvers, on many games: `make test-slow`."""

import numpy as np
import pytest

from gerrymend.notions import as_notions
from gerrymend.solvers import FictitiousPlay, MultiplicativeWeights, NoRegret, play
from tests.solvers.test_known_games import (
    NOTIONS,
    OTHER_NOTIONS,
    make_game,
    value_by_linear_program,
)
from tests.solvers.test_no_regret import play_four_rows

pytestmark = pytest.mark.slow
C, GAMMA = 5.0, 0.01


@pytest.mark.parametrize("notion", [*NOTIONS, *OTHER_NOTIONS])
def test_regret_of_multiplicative_weights(notion):
    """The gap of T rounds is at most C·ρ·3√(log(K+1)/T), ρ the largest violation of a play.

    Follow-the-regularised-leader with the entropy and η_t = √(log(K+1)/Σ_s r_s²) has regret at
    most 2·√(log(K+1)·Σ r²) + max r, times C; divided by T, with r ≤ ρ.
    """
    for seed in range(6):
        auditor, learner, _, _, _, decisions = make_game(seed, notion)
        n_constraints = 2 * sum(len(one.subgroups.rules) for one in auditor.notions)
        largest = max(
            np.abs(one.subgroups.values(one.residuals(decisions, None))).max()
            / auditor.total_weight
            for one in auditor.notions
        )
        for rounds in (50, 1000):
            (end,) = play(
                MultiplicativeWeights(), learner, auditor, gammas=[GAMMA], C=C, max_iter=rounds,
                tol=None,
            )  # fmt: skip
            bound = C * (largest + GAMMA) * 3 * np.sqrt(np.log(n_constraints + 1) / rounds)
            assert end.gap <= bound


@pytest.mark.parametrize("solver", [FictitiousPlay(), FictitiousPlay("appendix")], ids=repr)
@pytest.mark.parametrize("notion", [*NOTIONS, *OTHER_NOTIONS])
def test_fictitious_play_converges_to_the_value(solver, notion):
    """Robinson 1951: both sides' average play converges; here it is near after 20,000 rounds."""
    for seed in range(4):
        auditor, learner, y, weight, a, decisions = make_game(seed, notion)
        value = value_by_linear_program(y, weight, a, decisions, as_notions(notion), GAMMA, C)
        (end,) = play(solver, learner, auditor, gammas=[GAMMA], C=C, max_iter=20_000, tol=1e-4)
        worth = end.error[-1] + C * max(0.0, end.unfairness[-1] - GAMMA)
        assert value - 1e-9 <= worth <= value + min(end.gap + 1e-9, 0.004)


def regret_and_sampling(n, share, n_constraints, *, K, m, ratio=1.0, unequal=1.0):
    """What KNRW18's theorem allows the gap to be after K answers to m plays each, on average.

    The Auditor's regret is at most 0, so the gap is at most the Learner's, (ρ + κ/ρ)/2·√(R·A/K)
    with κ = 2 for rows of unequal weight (`_PerturbedPlayer`), and what the Auditor makes of m
    draws instead of their distribution: C·E max ±(v̂ − v), for 2G signed means of m values that
    range over P(E)/2, hence C·P(E)/4·√(2·log 2G / m). The last answer is not in the duals of the
    last round yet, which is at most C·P(E)/4 of K.
    """
    R, A = 1 + C * share / 2, C * n * share / 2
    learner = (ratio + unequal / ratio) / 2 * np.sqrt(R * A / K)
    return learner + C * share / 4 * (np.sqrt(2 * np.log(n_constraints) / m) + 1 / K)


@pytest.mark.parametrize("random_state", range(3))
def test_rate_of_the_perturbed_leader(random_state):
    """On four rows, over a hundredfold of answers."""
    for n_answers in (20, 200, 2000):
        end, _ = play_four_rows(25, n_answers, 1.0, random_state, C=C)
        # Two values of one attribute: the complement has the opposite sign, so that G = 1.
        assert 0 <= end.gap <= regret_and_sampling(4, 1.0, 2, K=n_answers, m=25)


@pytest.mark.parametrize("notion", [*NOTIONS, *OTHER_NOTIONS])
def test_regret_of_the_perturbed_leader(notion):
    for seed in range(3):
        auditor, learner, y, weight, a, decisions = make_game(seed, notion)
        value = value_by_linear_program(y, weight, a, decisions, as_notions(notion), GAMMA, C)
        share = max(one.event_weight.sum() for one in auditor.notions) / auditor.total_weight
        n_constraints = 2 * sum(len(one.subgroups.rules) for one in auditor.notions)
        for ratio in (0.1, 1.0):
            solver = NoRegret(20, ratio, random_state=seed)
            (end,) = play(solver, learner, auditor, gammas=[GAMMA], C=C, max_iter=4000, tol=None)
            worth = end.error[-1] + C * max(0.0, end.unfairness[-1] - GAMMA)
            assert value - 1e-9 <= worth <= value + end.gap + 1e-9
            assert end.gap <= regret_and_sampling(
                len(y), share, n_constraints, K=200, m=20, ratio=ratio, unequal=2.0
            )
