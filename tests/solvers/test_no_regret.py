"""The perturbed leader: a game worked by hand, seeds, and what a round answers."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import SubgroupParityClassifier
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import as_notions
from gerrymend.solvers import FictitiousPlay, NoRegret, as_solver, play
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups import Marginals
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.solvers.linear_players import linear_players
from tests.solvers.test_known_games import TableLearner, make_game

C, GAMMA = 4.0, 0.01


def fair_or_right():
    """Four rows, y = a. A classifier h = a is right, another, h = 0, is fair.

    Statistical parity: with h = a the group a = 1 has v = 1/2·(1 − 1/2) = 1/4, and with h = 0 the
    error is 1/2. Playing h = a with probability q is worth (1 − q)/2 + 4·max(0, q/4 − .01): least
    at q = .04, where it is .48.
    """
    y = np.array([0, 0, 1, 1])
    decisions = np.array([y, [0, 0, 0, 0]], dtype=float)
    cells = distinct_rows(read_columns({"a": ["n", "n", "y", "y"]}))
    auditor = Auditor(as_notions("statistical_parity"), Marginals(), LabelCells.of_rows(cells, y))
    return auditor, MemoryRows(TableLearner(decisions, np.ones(4)), auditor.label_cells)


def play_four_rows(n_samples, n_answers, perturbation=0.1, random_state=0, C=C):
    (end,) = play(
        NoRegret(n_samples, perturbation, random_state), *fair_or_right()[::-1], gammas=[GAMMA],
        C=C, max_iter=n_samples * n_answers, tol=None, keep_plays=False,
    )  # fmt: skip
    return end, end.error[-1] + C * max(0.0, end.unfairness[-1] - GAMMA)


def test_the_auditor_must_see_the_distribution():
    """To one draw it answers C if that is h = a, and 0 if not, so λ̄ = 4q.

    The Learner is indifferent where λ̄/4 = 1/2: q = 1/2, worth 1/4 + 4·(1/8 − .01) = .71. If the
    Auditor sees some hundred draws, it presses down q to about γ/v.
    """
    _, by_the_draw = play_four_rows(n_samples=1, n_answers=1500)
    assert by_the_draw == pytest.approx(0.71, abs=0.01)
    _, by_the_distribution = play_four_rows(n_samples=100, n_answers=40)
    assert 0.48 - 1e-9 <= by_the_distribution < 0.54


def test_seeds():
    auditor, learner, *_ = make_game(0, "equalized_odds")
    rules = {"gammas": [0.01], "C": 5.0, "max_iter": 60, "tol": None}
    (one,) = play(NoRegret(random_state=3), learner, auditor, **rules)
    (same,) = play(NoRegret(random_state=3), learner, auditor, **rules)
    (other,) = play(NoRegret(random_state=4), learner, auditor, **rules)
    np.testing.assert_array_equal(one.error, same.error)
    np.testing.assert_array_equal(one.unfairness, same.unfairness)
    assert (one.error != other.error).any()


def linear_game(toy):
    X, y, protected = toy
    return linear_players(X, protected, y, np.ones(len(y)), "false_positive_rate")


def test_games_of_many_gammas_are_the_games_of_each(toy):
    learner, auditor = linear_game(toy)
    gammas = [0.0, 0.003, 0.01]
    rules = {"C": 10.0, "max_iter": 95, "tol": 0.05}
    solver = NoRegret(random_state=0)
    together = play(solver, learner, auditor, gammas=gammas, **rules)
    for gamma, one in zip(gammas, together, strict=True):
        (alone,) = play(solver, learner, auditor, gammas=[gamma], **rules)
        assert (one.n_rounds, one.converged) == (alone.n_rounds, alone.converged)
        np.testing.assert_allclose(one.error, alone.error, atol=1e-12)
        np.testing.assert_allclose(one.unfairness, alone.unfairness, atol=1e-12)
        assert one.gap == pytest.approx(alone.gap)


def test_a_round_answers_the_leader_and_fresh_noise_of_the_size_that_was_derived():
    """Costs by hand: before any answer ±1 and noise of at most 2ρ√(R·A/k), in pressed rows only.

    R = 1 + C·P(E)/2 and A = C·n_E/2, with 3 of 5 rows in the event.
    """
    y = np.array([0, 0, 0, 1, 1])
    cells = distinct_rows(read_columns({"a": ["n", "y", "y", "n", "y"]}))
    auditor = Auditor(as_notions("false_positive_rate"), Marginals(), LabelCells.of_rows(cells, y))
    seen = []

    class Spy(TableLearner):
        def best_response(self, costs):
            seen.append(costs.copy())
            return super().best_response(costs)

    learner = Spy(np.array([[0, 0, 0, 0, 0], [0, 1, 1, 1, 1.0]]), np.ones(5))
    rows = MemoryRows(learner, auditor.label_cells)
    solver = NoRegret(n_samples=500, perturbation=0.25, random_state=0)
    play(solver, rows, auditor, gammas=[0.0], C=C, max_iter=1000, tol=None)
    first, second = np.array(seen[:500])[:, 0], np.array(seen[500:1000])[:, 0]
    np.testing.assert_array_equal(first[:, 3:], -1.0)
    np.testing.assert_array_equal(second[:, 3:], -1.0)
    bound = 2 * 0.25 * np.sqrt((1 + C * 0.6 / 2) * (C * 3 / 2))
    for costs, half_width in ((first, bound), (second, bound / np.sqrt(2))):
        noise = costs[:, :3] - costs[:, :3].mean(axis=0)
        assert 0.95 * half_width < np.abs(noise).max() < 1.1 * half_width
        assert np.abs(np.corrcoef(noise.T) - np.eye(3)).max() < 0.2
    # Some draws of the first 500 decide a = 1 alone 1: its rate is too high, and C/2 presses it.
    pressure = second[:, :3].mean(axis=0) - 1.0
    np.testing.assert_allclose(pressure, C / 2 * np.array([-2, 1, 1]) / 3, atol=0.2)
    assert len(seen) == 1001, "one more answer, to the duals themselves, for the gap"
    np.testing.assert_allclose(seen[-1][0, :3] - 1.0, C / 2 * np.array([-2, 1, 1]) / 3)


def test_without_noise_and_pressure_it_is_the_plain_answer(toy):
    learner, auditor = linear_game(toy)
    rules = {"gammas": [1.0], "C": 10.0, "max_iter": 20, "tol": None}
    (end,) = play(NoRegret(perturbation=0.0), learner, auditor, **rules)
    (plain,) = play(FictitiousPlay(), learner, auditor, **rules)
    np.testing.assert_array_equal(end.error, plain.error)
    assert end.gap == pytest.approx(plain.gap)


@MAY_EXCEED_GAMMA
def test_by_name_and_in_a_classifier(toy):
    X, y, protected = toy
    assert isinstance(as_solver("no_regret"), NoRegret)
    clf = SubgroupParityClassifier(
        LinearRegression(), solver=NoRegret(random_state=0), max_iter=30, tol=None
    )
    clf.fit(X, y, sensitive_features=protected)
    p = clf.predict_proba(X)[:, 1]
    assert clf.history_["error"][-1] == pytest.approx(np.abs(y - p).mean())
    again = clf.fit(X, y, sensitive_features=protected).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(p, again)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (NoRegret(n_samples=0), "n_samples"),
        (NoRegret(n_samples=2.5), "n_samples"),
        (NoRegret(perturbation=-1.0), "perturbation"),
        (NoRegret(perturbation="small"), "perturbation"),
    ],
)
def test_bad_parameters_are_named(solver, message):
    auditor, _ = fair_or_right()
    with pytest.raises((ValueError, TypeError), match=message):
        solver.start(auditor, np.array([0.0]), C)
