"""Fictitious play from sums is the game as it is written: costs, fits and audits, one by one."""

import os
import signal

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import LinearThresholds, SubgroupParityClassifier
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import (
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    STATISTICAL_PARITY,
    FairnessNotion,
)
from gerrymend.solvers import FictitiousPlay, play
from gerrymend.solvers.base import Interrupted
from gerrymend.solvers.loop import Listener
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.solvers.regression import cell_rows
from gerrymend.solvers.regression.cell_rows import CellRows
from tests.solvers import test_hand_worked as by_hand
from tests.solvers.linear_players import linear_players as players

# A rate with an offset and a slope that are no 0 and 1.
PRICED = FairnessNotion("priced", event=(False, True), a=(0.0, 0.25), b=(0.0, -1.5))
NOTIONS = [FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE, PRICED]
# None is a fraction of the rows: a tie with gamma would be decided by rounding.
GAMMAS = [0.0, 0.0051, 0.0203]
C = 7.3


def problem(n=400, seed=0, weight="fractions", repeated=True):
    """Features, protected numbers, labels and weights."""
    rng = np.random.default_rng(seed)
    first = rng.standard_normal(n)
    A = np.column_stack([first.round(1) if repeated else first, rng.integers(0, 4, n)])
    X = np.column_stack([rng.standard_normal((n, 4)), A, 2 * A[:, 0] - 1])  # one is collinear
    signal = X[:, 0] + A[:, 0] * (A[:, 1] > 1) + rng.standard_normal(n)
    weights = {
        "none": np.ones(n),
        "counts": rng.integers(1, 4, n) * 1.0,
        "fractions": rng.random(n),
    }
    return X, A, (signal > 0.3).astype(int), weights[weight] + 0.5 * (weight == "fractions")


@pytest.fixture(autouse=True)
def played(monkeypatch):
    """Counts the games that were played from sums."""
    games = []
    begin = CellRows.__init__
    monkeypatch.setattr(
        CellRows, "__init__",
        lambda self, *args, **options: games.append(self) or begin(self, *args, **options),
    )  # fmt: skip
    return games


def with_scikit_learn(X, A, y, weight, notion, gamma, rounds):
    """The paper's algorithm, word for word; nothing is kept between rounds but the averages."""
    label = notion.event.index(True)
    event, n, sign = y == label, weight.sum(), 1 - 2 * y
    a, b = notion.a[label], notion.b[label]
    pressure, votes, errors, unfairness = np.zeros(len(y)), np.zeros(len(y)), [], []
    for t in range(1, rounds + 1):
        mean = np.average(pressure[event], weights=weight[event])
        cost = sign + np.where(event, b * (pressure - mean) / t, 0.0)
        votes += LinearRegression().fit(X, cost, sample_weight=weight).predict(X) < -1e-12
        p = votes / t
        errors.append(np.average(np.where(y == 1, 1 - p, p), weights=weight))
        outcome = a + b * p[event]
        residual = outcome - np.average(outcome, weights=weight[event])
        fit = LinearRegression().fit(A[event], residual, sample_weight=weight[event])
        members = fit.predict(A[event]) > 1e-12
        value = (weight[event] * residual)[members].sum() / n
        unfairness.append(abs(value))
        if abs(value) > gamma:
            pressure[np.flatnonzero(event)[members]] += np.copysign(C, value)
    return votes, errors, unfairness


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
@pytest.mark.parametrize("weight", ["none", "fractions"])
@pytest.mark.parametrize("repeated", [True, False], ids=["cells", "rows"])
def test_rounds_are_those_of_the_algorithm_as_written(notion, weight, repeated, played):
    rows = problem(weight=weight, repeated=repeated)
    rules = {"gammas": GAMMAS, "C": C, "max_iter": 25, "tol": None}
    ends = FictitiousPlay().play(*players(*rows, notion), **rules)
    assert len(played) == 1
    for end, gamma in zip(ends, GAMMAS, strict=True):
        votes, errors, unfairness = with_scikit_learn(*rows, notion, gamma, 25)
        np.testing.assert_allclose(end.error, errors, atol=1e-9)
        np.testing.assert_allclose(end.unfairness, unfairness, atol=1e-9)
        np.testing.assert_allclose(end.mixture.positive_probability(rows[0]), votes / 25)


def assert_same(ends, others):
    for one, other in zip(ends, others, strict=True):
        assert (one.n_rounds, one.converged) == (other.n_rounds, other.converged)
        for name in ("error", "unfairness", "gap", "upper_bound"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)
        assert len(one.subgroups) == len(other.subgroups) == one.n_rounds
        assert str(one.worst) == str(other.worst)
        assert one.worst.unfairness == pytest.approx(other.worst.unfairness, abs=1e-9)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
@pytest.mark.parametrize(
    ("solver", "max_iter", "tol"),
    [
        (FictitiousPlay(), 120, None),
        (FictitiousPlay(), 400, 0.02),
        (FictitiousPlay(divisor="t-1"), 60, None),
        (FictitiousPlay(side="predicted"), 60, None),
    ],
    ids=repr,
)
def test_games_end_as_those_that_make_every_cost(notion, solver, max_iter, tol, played):
    rows = problem(seed=1)
    rules = {"gammas": GAMMAS, "C": C, "max_iter": max_iter, "tol": tol}
    ends = solver.play(*players(*rows, notion), **rules)
    assert len(played) == 1
    assert_same(ends, play(solver, *players(*rows, notion), **rules))


@pytest.mark.parametrize("room", [1, 7, 100])
def test_pieces_of_any_size(room, monkeypatch):
    rows = problem(seed=2)
    rules = {"gammas": GAMMAS, "C": C, "max_iter": 40, "tol": None}
    whole = FictitiousPlay().play(*players(*rows, FALSE_POSITIVE_RATE), **rules)
    monkeypatch.setattr(cell_rows, "_NUMBERS", room)
    monkeypatch.setattr(cell_rows, "_PLAYS", 5)
    assert_same(FictitiousPlay().play(*players(*rows, FALSE_POSITIVE_RATE), **rules), whole)


def test_many_games_are_as_each_alone():
    rows, gammas = problem(seed=3, n=200), np.linspace(0.0001, 0.0301, 70)
    sides = players(*rows, FALSE_POSITIVE_RATE)
    rules = {"C": C, "max_iter": 30, "tol": 0.01}
    together = FictitiousPlay().play(*sides, gammas=gammas, **rules)
    assert len({end.n_rounds for end in together}) > 1
    for gamma, end in zip(gammas, together, strict=True):
        assert_same([end], FictitiousPlay().play(*sides, gammas=[gamma], **rules))


def test_three_rounds_worked_by_hand(played):
    weight = np.ones(10)
    order, cells = distinct_rows(read_columns({"a": by_hand.A})).sorted_by(by_hand.Y)
    y = by_hand.Y[order]
    auditor = Auditor(
        [FALSE_POSITIVE_RATE], LinearThresholds("regression"), LabelCells.of_rows(cells, y, weight)
    )
    learner = MemoryRows(
        LinearLearner(by_hand.X[order], weight, auditor.base_cost, auditor.pressed),
        auditor.label_cells,
    )
    (end,) = FictitiousPlay().play(learner, auditor, gammas=[0.005], C=12.0, max_iter=3, tol=None)
    assert len(played) == 1
    np.testing.assert_allclose(end.error, [0.4, 0.5, 14 / 30])
    np.testing.assert_allclose(end.unfairness, [0.02, 0.0, 1 / 150], atol=1e-15)
    assert end.gap == pytest.approx(14 / 30 + 12 * (1 / 150 - 0.005) - 0.46)
    assert end.worst.describe() == "a ≥ 1"
    assert end.upper_bound == pytest.approx(1 / 150)


def classifier(**parameters):
    usual = {
        "solver": "fictitious_play", "subgroups": LinearThresholds("regression"), "C": C,
        "gamma": 0.0051, "max_iter": 80, "tol": None, "random_state": 0,
    }  # fmt: skip
    return SubgroupParityClassifier(LinearRegression(), **usual | parameters)


@pytest.mark.parametrize("weight", ["none", "fractions"])
def test_the_order_of_rows_changes_no_bit_of_what_an_auditor_finds(weight, played):
    X, A, y, w = problem(seed=4, weight=weight)
    order = np.random.default_rng(1).permutation(len(y))
    one = classifier().fit(X, y, sensitive_features=A, sample_weight=w)
    other = classifier().fit(
        X[order], y[order], sensitive_features=A[order], sample_weight=w[order]
    )
    assert len(played) == 2
    np.testing.assert_array_equal(one.history_["unfairness"], other.history_["unfairness"])
    assert str(one.worst_subgroup_) == str(other.worst_subgroup_)
    assert one.upper_bound_ == other.upper_bound_


def test_what_has_no_sums_is_played_as_before(played):
    X, A, y, weight = problem()
    rules = {"gammas": GAMMAS, "C": C, "max_iter": 5, "tol": None}
    FictitiousPlay("appendix").play(*players(X, A, y, weight, FALSE_POSITIVE_RATE), **rules)
    FictitiousPlay().play(*players(X, A, y, weight, STATISTICAL_PARITY), **rules)
    weight[::7] = 0.0  # the event is no slice of rows
    FictitiousPlay().play(*players(X, A, y, weight, FALSE_POSITIVE_RATE), **rules)
    assert not played
    with pytest.raises(ValueError, match="certify=True needs solver='exponentiated_gradient'"):
        FictitiousPlay().play(*players(*problem(), FALSE_POSITIVE_RATE), **rules, certify=True)


def test_who_asks_for_votes_gets_them_and_who_does_not_hears_the_same(played):
    sides = players(*problem(seed=5), FALSE_POSITIVE_RATE)
    rules = {"gammas": GAMMAS, "C": C, "max_iter": 70, "tol": None}
    with_votes, without = [], []
    FictitiousPlay().play(*sides, **rules, on_round=with_votes.append)
    assert not played
    FictitiousPlay().play(*sides, **rules, on_round=Listener(without.append, needs_votes=False))
    assert len(played) == 1
    assert with_votes[-1].votes.shape == (3, 400)
    for one, other in zip(with_votes, without, strict=True):
        assert one.number == other.number
        np.testing.assert_allclose(one.error, other.error, atol=1e-12)
        np.testing.assert_allclose(one.unfairness, other.unfairness, atol=1e-12)


def test_an_interrupt_leaves_whole_rounds():
    """Ctrl-C in the middle of a round, after 64 and more that no error was asked of."""
    sides = players(*problem(seed=6), FALSE_POSITIVE_RATE)
    rules = {"gammas": [0.0], "C": C, "tol": None}
    game = FictitiousPlay()._from_sums(*sides, [0.0], C)
    find, n_rounds = game._rows.find, iter(range(1, 1000))

    def pressing(group):
        if next(n_rounds) == 77:
            os.kill(os.getpid(), signal.SIGINT)
        return find(group)

    game._rows.find = pressing
    with pytest.raises(Interrupted) as caught:
        game.play(max_iter=1000, tol=None)
    whole = FictitiousPlay().play(*sides, **rules, max_iter=77)
    assert_same(caught.value.equilibria, whole)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_budget_ends_it():
    sides = players(*problem(), FALSE_POSITIVE_RATE)
    rules = {"gammas": GAMMAS, "C": C, "tol": None, "max_iter": 10**6}
    assert {end.n_rounds for end in FictitiousPlay().play(*sides, **rules, budget=1e-9)} == {1}
