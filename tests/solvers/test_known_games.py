"""Games small enough to solve by a linear program that shares no code with the solvers."""

import numpy as np
import pytest
from scipy.optimize import linprog

from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.models.mixture import Mixture
from gerrymend.notions import FairnessNotion, as_notions
from gerrymend.solvers import (
    ExponentiatedGradient,
    FictitiousPlay,
    MultiplicativeWeights,
    NoRegret,
    play,
)
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import Learner, make_learner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups import LinearThresholds, Marginals
from tests.marks import slow
from tests.solvers.linear_players import linear_players


class TablePredictor:
    """Decides the rows of the game, which are given by their numbers."""

    def __init__(self, decisions):
        self.decisions = decisions

    def decide(self, X):
        return self.decisions[X] > 0


class TableLearner(Learner):
    """The exact best response over a short list of classifiers, the two constant ones among it."""

    def __init__(self, decisions, weight):
        self.decisions, self.weight = decisions, weight

    def best_response(self, costs):
        best = np.argmin(self.decisions @ (costs * self.weight).T, axis=0)
        return self.decisions[best] > 0, best

    def answers(self, cost, others=()):
        decisions, keys = self.best_response(np.array([cost, *others]))
        return list(zip(decisions, keys.tolist(), strict=True))

    def constant(self, decision):
        return int(np.flatnonzero((self.decisions == decision).all(axis=1))[0])

    def recall(self, predictor):
        raise NotImplementedError("no game of these tests starts from an earlier one")

    def mixture(self, keys, weights=None):
        weights = np.ones(len(keys)) if weights is None else weights
        predictors = [TablePredictor(self.decisions[key]) for key in keys]
        return Mixture(predictors, weights / np.sum(weights))


def make_game(seed, notion_name):
    rng = np.random.default_rng(seed)
    n = 60
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    weight = rng.integers(1, 4, n).astype(float)
    a = {"race": rng.choice(["b", "g", "r"], n), "sex": rng.choice(["F", "M"], n)}
    decisions = drawn_decisions(rng, y)
    auditor = Auditor(
        as_notions(notion_name),
        Marginals(),
        LabelCells.of_rows(distinct_rows(read_columns(a)), y, weight),
    )
    rows = MemoryRows(TableLearner(decisions, weight), auditor.label_cells)
    return auditor, rows, y, weight, a, decisions


def groups_of(a):
    return [values == value for values in a.values() for value in np.unique(values)]


def drawn_decisions(rng, y):
    """Eight predictors: one that is mostly right, two constants, and others by lot."""
    decisions = (rng.random((8, len(y))) < 0.5).astype(float)
    decisions[0] = np.where(rng.random(len(y)) < 0.85, y, 1 - y)
    decisions[1], decisions[2] = 0.0, 1.0
    return decisions


def value_by_linear_program(y, weight, a, decisions, notions, gamma, C, unfairness=None):
    """min err·q + C·s, s ≥ ±unfairness_g(q) − gamma, q a distribution, written row by row."""
    unfairness = unfairness or FairnessNotion.unfairness
    error = [(weight * (h != y)).sum() / weight.sum() for h in decisions]
    rows = []
    for notion in notions:
        for group in groups_of(a):
            signed = np.array([unfairness(notion, y, h, group, weight) for h in decisions])
            rows += [signed, -signed]
    A_ub = np.column_stack([np.array(rows), -np.ones(len(rows))])
    result = linprog(
        [*error, C],
        A_ub=A_ub,
        b_ub=np.full(len(rows), gamma),
        A_eq=[[1.0] * len(decisions) + [0.0]],
        b_eq=[1.0],
    )
    return result.fun


NOTIONS = ["false_positive_rate", "equalized_odds"]
OTHER_NOTIONS = ["false_negative_rate", "statistical_parity", "error_rate"]


def assert_worth(solver, end, value, C):
    """What a game ends with is worth its value, as far as the gap says."""
    worth = end.error[-1] + C * max(0.0, end.unfairness[-1] - end.gamma)
    assert worth >= value - 1e-9, "a mixture can't be worth less than the value of the game"
    assert worth <= value + end.gap + 1e-9, "with exact answers the gap is a bound"
    # The noise of a perturbed leader is slow to average out; its rate is in test_theorems.py.
    assert worth == pytest.approx(value, abs=0.02 if isinstance(solver, NoRegret) else 0.01)


SOLVERS = [
    FictitiousPlay(),
    FictitiousPlay("appendix"),
    MultiplicativeWeights(),
    ExponentiatedGradient(),
    NoRegret(n_samples=40, random_state=0),
]


# Each solver with one rate, and that of certificates with two at once; `make test-slow` has all.
GAMES = [
    (pytest.param if of_suite else slow)(solver, notion)
    for solver in SOLVERS
    for notion, of_suite in [
        (NOTIONS[0], True),
        (NOTIONS[1], isinstance(solver, ExponentiatedGradient)),
        *((notion, False) for notion in OTHER_NOTIONS),
    ]
]


@pytest.mark.parametrize(("solver", "notion"), GAMES, ids=repr)
@pytest.mark.parametrize("seed", [0, slow(1)])
def test_solvers_reach_the_value_of_the_game(solver, notion, seed):
    gamma, C = 0.01, 5.0
    auditor, learner, y, weight, a, decisions = make_game(seed, notion)
    value = value_by_linear_program(y, weight, a, decisions, as_notions(notion), gamma, C)
    (end,) = solver.play(learner, auditor, gammas=[gamma], C=C, max_iter=4000, tol=2e-3)
    assert_worth(solver, end, value, C)
    if isinstance(solver, ExponentiatedGradient):
        assert end.gap <= 2e-3


def test_games_of_many_gammas_are_the_games_of_each(toy):
    X, y, protected = toy
    learner, auditor = linear_players(X, protected, y, np.ones(len(y)), "equalized_odds")
    gammas = [0.0, 0.003, 0.01, 1.0]
    together = play(FictitiousPlay(), learner, auditor, gammas=gammas, C=10, max_iter=80, tol=0.01)
    for gamma, one in zip(gammas, together, strict=True):
        (alone,) = play(
            FictitiousPlay(), learner, auditor, gammas=[gamma], C=10, max_iter=80, tol=0.01
        )
        assert one.n_rounds == alone.n_rounds
        assert one.converged == alone.converged
        np.testing.assert_allclose(one.error, alone.error, atol=1e-12)
        np.testing.assert_allclose(one.unfairness, alone.unfairness, atol=1e-12)
        assert one.gap == pytest.approx(alone.gap)
    assert together[-1].n_rounds == 1, "nothing to do where everything is within gamma"


def test_no_fairness_pressure_gives_the_plain_estimator(toy):
    from sklearn.linear_model import LogisticRegression

    X, y, protected = toy
    weight = np.ones(len(y))
    auditor = Auditor(
        as_notions("error_rate"),
        Marginals(),
        LabelCells.of_rows(distinct_rows(read_columns(protected)), y, weight),
    )
    learner = MemoryRows(
        make_learner(LogisticRegression(), X, weight, auditor.base_cost, auditor.pressed),
        auditor.label_cells,
    )
    (end,) = play(FictitiousPlay(), learner, auditor, gammas=[1.0], C=10.0, max_iter=10, tol=1e-3)
    plain = LogisticRegression().fit(X, y).predict(X)
    np.testing.assert_array_equal(end.mixture.positive_probability(X), plain)


def test_multiplicative_weights_needs_a_list(toy):
    _, y, protected = toy
    cells = distinct_rows(read_columns(protected))
    auditor = Auditor(
        as_notions("error_rate"),
        LinearThresholds("regression"),
        LabelCells.of_rows(cells, y),
    )
    with pytest.raises(ValueError, match="needs a class that lists its subgroups"):
        MultiplicativeWeights().start(auditor, np.array([0.0]), 10.0)


def test_an_interrupt_keeps_whole_rounds():
    from gerrymend.solvers.base import Interrupted

    auditor, learner, *_ = make_game(0, "false_positive_rate")

    def stop(played):
        if played.number == 7:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        play(FictitiousPlay(), learner, auditor, gammas=[0.0], C=5, max_iter=99, tol=None,
             on_round=stop)  # fmt: skip
    (end,) = caught.value.equilibria
    (whole,) = play(FictitiousPlay(), learner, auditor, gammas=[0.0], C=5, max_iter=7, tol=None)
    assert end.n_rounds == 7
    np.testing.assert_array_equal(end.error, whole.error)
    assert end.worst.unfairness == whole.worst.unfairness
