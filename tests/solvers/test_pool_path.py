"""Games over a pool in the loop: where they go on after they were cut short."""

import numpy as np
import pytest

from gerrymend.solvers import ExponentiatedGradient
from gerrymend.solvers.base import Interrupted
from gerrymend.solvers.pool.last_look import LastLook
from tests.solvers.test_known_games import make_game
from tests.solvers.test_loop import Kept, press


class KeptPath(Kept):
    """Has the state that was reached last, and by how many rounds of the game in play."""

    def reached(self, state):
        self.state = state()
        self.reached_rounds.append([game["number"] for game in self.state["games"].values()][-1])


def played(learner, auditor, **rules):
    rules = {"gammas": [0.01], "C": 5.0, "max_iter": 200, "tol": 2e-3} | rules
    return ExponentiatedGradient().play(learner, auditor, **rules)


def counted(learner, monkeypatch):
    """Return a list that grows by one with each fit."""
    calls, answers = [], learner.answers
    monkeypatch.setattr(learner, "answers", lambda *costs: calls.append(1) or answers(*costs))
    return calls


def test_rounds_before_a_last_look_are_not_played_again(monkeypatch):
    auditor, learner, *_ = make_game(0, "false_positive_rate")
    (whole,) = played(learner, auditor)
    assert whole.converged
    kept, calls = KeptPath(), counted(learner, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(LastLook, "best_from", lambda *look, **how: press())
        with pytest.raises(Interrupted):
            played(learner, auditor, checkpoint=kept)
    assert len(calls) == whole.n_rounds
    (resumed,) = played(learner, auditor, checkpoint=kept)
    assert len(calls) == whole.n_rounds
    np.testing.assert_array_equal(resumed.mixture.weights, whole.mixture.weights)
    np.testing.assert_array_equal(resumed.unfairness, whole.unfairness)


def test_each_gamma_has_all_rounds_and_seconds_to_itself(monkeypatch):
    auditor, learner, *_ = make_game(1, "false_positive_rate")
    now, answers = [0.0], learner.answers

    def slow(*costs):
        now[0] += 1.0
        return answers(*costs)

    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(learner, "answers", slow)
    rules = {"gammas": [0.0, 0.02], "tol": None}
    assert [end.n_rounds for end in played(learner, auditor, max_iter=7, **rules)] == [7, 7]
    # Rounds have 65 % of a budget. The eighth is after 7.8 s, and then one closes the game.
    kept = KeptPath()
    ends = played(learner, auditor, max_iter=99, budget=12.0, checkpoint=kept, **rules)
    assert [end.n_rounds for end in ends] == [9, 9]
    assert kept.reached_rounds[:11] == [*range(1, 10), 9, 1]
