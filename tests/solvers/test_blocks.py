"""The game over blocks is the game: whatever the blocks, the library and the type."""

import gc
import itertools
import weakref

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend._numeric.projection import RANK_TOLERANCE
from gerrymend.inputs.protected import read_columns
from gerrymend.models.mixture import LinearPredictor
from gerrymend.notions import (
    ERROR_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    STATISTICAL_PARITY,
)
from gerrymend.solvers import FictitiousPlay, play
from gerrymend.solvers.blocks import LocalBlocks
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.solvers.regression.compiled_block import CompiledBlock
from gerrymend.solvers.regression.game import RegressionGame
from gerrymend.solvers.regression.learners import Taught
from gerrymend.solvers.regression.rows import SummedBlocks
from gerrymend.subgroups.encoding import LinearEncoding
from tests.solvers.linear_players import linear_players

NOTIONS = [FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE, STATISTICAL_PARITY, ERROR_RATE]
# None of them is a fraction of 600 rows: a tie with gamma would be decided by rounding.
GAMMAS = [0.0, 0.0051, 0.0203]


def problem(n=600, d=5, seed=0, weighted=True):
    """Features, protected numbers (some distinct rows repeat), labels and weights."""
    rng = np.random.default_rng(seed)
    A = np.column_stack([rng.standard_normal(n).round(1), rng.integers(0, 4, n)])
    X = np.column_stack([rng.standard_normal((n, d)), A, 2 * A[:, 0] - 1])  # one is collinear
    signal = X[:, 0] + A[:, 0] * (A[:, 1] > 1) + rng.standard_normal(n)
    weight = rng.integers(0, 4, n) / 2 if weighted else np.ones(n)
    return X, A, (signal > 0.3).astype(int), weight


def reference(X, A, y, weight, notion, max_iter, tol, solver=None):
    """The game over cells."""
    players = linear_players(X, A, y, weight, notion)
    solver = solver or FictitiousPlay()
    return play(solver, *players, gammas=GAMMAS, C=7.3, max_iter=max_iter, tol=tol)


def over_blocks(X, A, y, weight, notion, max_iter, tol, solver=None, cuts=(), kind=ArrayBlock):
    ends = [0, *cuts, len(y)]
    parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
    blocks = LocalBlocks([kind(X[p], A[p], y[p], weight[p], notion) for p in parts])
    rows = SummedBlocks(blocks)
    encoding = LinearEncoding.of(read_columns(A), weight)
    game = RegressionGame(rows, notion, encoding, solver or FictitiousPlay(), GAMMAS, C=7.3)
    return game.play(max_iter=max_iter, tol=tol)


def assert_same(ours, theirs, X):
    for one, other in zip(ours, theirs, strict=True):
        assert one.n_rounds == other.n_rounds
        assert one.converged == other.converged
        np.testing.assert_allclose(one.error, other.error, atol=1e-9)
        np.testing.assert_allclose(one.unfairness, other.unfairness, atol=1e-9)
        assert one.gap == pytest.approx(other.gap, abs=1e-9)
        np.testing.assert_allclose(one.mixture.weights, other.mixture.weights, atol=1e-9)
        np.testing.assert_allclose(
            one.mixture.positive_probability(X), other.mixture.positive_probability(X), atol=1e-9
        )
        # Blocks don't see rows of all others, and may keep terms that decide nothing.
        groups = (found.worst.contains(X[:, 5:7]) for found in (one, other))
        np.testing.assert_array_equal(*groups)
        assert one.worst.size == other.worst.size
        assert one.worst.unfairness == pytest.approx(other.worst.unfairness, abs=1e-9)
        assert one.worst.rate == pytest.approx(other.worst.rate, abs=1e-9)
        assert [len(one.subgroups)] == [one.n_rounds]
        # Rows of a cell may have residuals of both signs, which the cell's sum has not.
        assert one.upper_bound >= other.upper_bound - 1e-12


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
@pytest.mark.parametrize("cuts", [(), (1, 8, 250, 251, 599)], ids=["one", "odd"])
@pytest.mark.parametrize("weighted", [True, False])
def test_blocks_play_the_game_of_cells(notion, cuts, weighted):
    rows = problem(weighted=weighted)
    expected = reference(*rows, notion, 150, None)
    assert_same(over_blocks(*rows, notion, 150, None, cuts=cuts), expected, rows[0])


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
def test_compiled_blocks_play_it_too(notion):
    rows = problem(seed=3)
    expected = reference(*rows, notion, 150, None)
    ours = over_blocks(*rows, notion, 150, None, cuts=(1, 8, 250), kind=CompiledBlock)
    assert_same(ours, expected, rows[0])


@pytest.mark.parametrize("kind", [ArrayBlock, CompiledBlock])
def test_rounds_that_are_replayed_leave_the_same_bits(kind):
    X, A, y, weight = problem(seed=4)
    rng = np.random.default_rng(0)
    played, replayed = (kind(X, A, y, weight, STATISTICAL_PARITY) for _ in range(2))
    for block in (played, replayed):
        rows = SummedBlocks.of(block)
        bases = [rows.basis(columns, RANK_TOLERANCE) for columns in ("features", "protected")]
        rows.prepare(*bases, 3)
    multipliers = 1.0 * rng.integers(-1, 2, (150, 3))
    plays, groups = (rng.standard_normal((150, 3, basis.turn.shape[1])) for basis in bases)
    for one in zip(multipliers, plays, groups, strict=True):
        played.decide(*one[:2])
        played.find(one[2])
    replayed.replay(multipliers[:70], plays[:70], groups[:70])
    replayed.replay(multipliers[70:], plays[70:], groups[70:])
    for name in ("_votes", "_pressure", "_members"):
        np.testing.assert_array_equal(getattr(played, name), getattr(replayed, name))


@pytest.mark.parametrize("kind", [ArrayBlock, CompiledBlock])
@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
def test_a_row_of_no_weight_has_no_say_in_the_sign_of_costs(notion, kind):
    X, A, y, weight = problem()
    rows = SummedBlocks.of(kind(X, A, y, weight, notion))
    bases = [rows.basis(columns, RANK_TOLERANCE) for columns in ("features", "protected")]
    *_, scalars = rows.prepare(*bases, 1)
    outside = y[~notion.in_event(y) & (weight > 0)]
    assert scalars[4:].tolist() == [(outside == 0).sum(), (outside == 1).sum()]


@pytest.mark.parametrize("notion", NOTIONS[:3], ids=lambda notion: notion.name)
def test_games_end_in_the_same_round(notion):
    rows = problem(seed=1)
    expected = reference(*rows, notion, 400, 0.02)
    assert any(one.converged for one in expected)
    assert_same(over_blocks(*rows, notion, 400, 0.02, cuts=(100, 333)), expected, rows[0])


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
def test_games_that_end_themselves_end_as_if_they_were_asked(notion):
    """On a device nobody asks in every round who may have converged."""
    X, A, y, weight = problem(seed=1)
    gammas = np.linspace(0.0003, 0.0303, 12).tolist()
    ends = []
    told = []
    for at_hand in (False, True):
        block = ArrayBlock(X, A, y, weight, notion)
        rows = SummedBlocks(LocalBlocks([block]), at_hand=at_hand)
        encoding = LinearEncoding.of(read_columns(A), weight)
        game = RegressionGame(rows, notion, encoding, FictitiousPlay(), gammas, C=7.3)
        assert game._ends_at_once == at_hand
        rounds = []
        told.append(rounds)
        ends.append(game.play(max_iter=600, tol=0.03, on_round=rounds.append))
        assert game.over
        assert game.n_rounds < 600
    assert len({one.n_rounds for one in ends[0]}) > 2
    assert_same(*ends, X)
    assert [played.number for played in told[0]] == [played.number for played in told[1]]
    for one, other in zip(*told, strict=True):
        np.testing.assert_allclose(one.error, other.error, atol=1e-12)


@pytest.mark.parametrize(("divisor", "side"), [("t-1", "realised"), ("t", "predicted")])
def test_conventions_are_the_same(divisor, side):
    rows, solver = problem(seed=2), FictitiousPlay(divisor=divisor, side=side)
    expected = reference(*rows, FALSE_POSITIVE_RATE, 60, None, solver)
    ours = over_blocks(*rows, FALSE_POSITIVE_RATE, 60, None, solver, cuts=(17,))
    assert_same(ours, expected, rows[0])


def test_a_game_that_has_ended_is_taught_no_more():
    """A classifier that trains on a cluster may take minutes, and nobody would ask for it."""
    X, A, y, weight = problem(seed=1)
    blocks = LocalBlocks([ArrayBlock(X, A, y, weight, FALSE_POSITIVE_RATE)])
    lessons = []

    def teach(multipliers, mean, scale, game):
        lessons.append(game)
        ((labels, saved),) = blocks.gather(ArrayBlock.costs, multipliers, mean, scale, game)
        fitted = LinearRegression().fit(X, np.where(labels, 1, -1), sample_weight=saved)
        return LinearPredictor(fitted.coef_, float(fitted.intercept_))

    encoding = LinearEncoding.of(read_columns(A), weight)
    settings = FALSE_POSITIVE_RATE, encoding, FictitiousPlay(), [0.0, 0.0203], 7.3
    game = RegressionGame(SummedBlocks(blocks), *settings, learner=Taught(teach))
    ends = game.play(max_iter=40, tol=0.05)
    assert ends[1].converged
    assert ends[1].n_rounds < ends[0].n_rounds
    assert [lessons.count(game) for game in range(2)] == [end.n_rounds for end in ends]


def test_a_game_that_is_over_lets_go_of_its_rows():
    """At once, and not when garbage is collected: they fill a device, or the memory of workers."""
    X, A, y, weight = problem()
    rows = ArrayBlock(X, A, y, weight, FALSE_POSITIVE_RATE)
    encoding = LinearEncoding.of(read_columns(A), weight)
    played = SummedBlocks.of(rows)
    game = RegressionGame(played, FALSE_POSITIVE_RATE, encoding, FictitiousPlay(), GAMMAS, C=7.3)
    kept = weakref.ref(rows)
    gc.disable()
    try:
        game.play(max_iter=3, tol=0.01)
        del game, played, rows
        assert kept() is None
    finally:
        gc.enable()
