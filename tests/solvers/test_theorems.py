"""The theorems behind the solvers, on many games: `make test-slow`."""

import numpy as np
import pytest

from gerrymend.notions import as_notions
from gerrymend.solvers import FictitiousPlay, MultiplicativeWeights, play
from tests.solvers.test_known_games import NAMES, make_game, value_by_linear_program

pytestmark = pytest.mark.slow
C, GAMMA = 5.0, 0.01


@pytest.mark.parametrize("notion", [*NAMES, "equalized_odds"])
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
@pytest.mark.parametrize("notion", [*NAMES, "equalized_odds"])
def test_fictitious_play_converges_to_the_value(solver, notion):
    """Robinson 1951: both sides' average play converges; here it is near after 20,000 rounds."""
    for seed in range(4):
        auditor, learner, y, weight, a, decisions = make_game(seed, notion)
        value = value_by_linear_program(y, weight, a, decisions, as_notions(notion), GAMMA, C)
        (end,) = play(solver, learner, auditor, gammas=[GAMMA], C=C, max_iter=20_000, tol=1e-4)
        worth = end.error[-1] + C * max(0.0, end.unfairness[-1] - GAMMA)
        assert value - 1e-9 <= worth <= value + min(end.gap + 1e-9, 0.004)
