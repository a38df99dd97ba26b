"""Rows in blocks play the games of rows in memory, whatever the blocks are."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend.models.estimators import LogisticSettings
from gerrymend.models.mixture import LinearPredictor
from gerrymend.notions import as_notions
from gerrymend.solvers.blocks import LocalBlocks
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.block_learners import LeastSquaresFromSums, LogisticFromSums
from gerrymend.solvers.players.block_rows import BlockRows, LabelCellBlocks
from gerrymend.solvers.players.row_block import RowBlock
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups import Marginals
from tests.marks import slow
from tests.solvers.test_rows import SOLVERS, WEIGHTS, N, game, people

PARTS = (slice(0, 1), slice(1, 100), slice(100, 100), slice(100, N))
# Where a fit stops early, it does so elsewhere in every place: near the optimum all are the same.
LOGISTIC = LogisticRegression(tol=1e-9, max_iter=1000)
RULES = {"gammas": [0.0, 0.02], "C": 5.0, "max_iter": 25, "tol": None}


def block_game(weight, estimator, *, parts=PARTS, array=np.asarray, notion="equalized_odds"):
    X, y, columns = people()
    label_cells, _, order = LabelCells.of_sample(columns, y, weight)
    place = np.empty(N, dtype=np.intp)
    place[order] = np.repeat(np.arange(len(label_cells)), label_cells.n_rows)
    auditor = Auditor(as_notions(notion), Marginals(), label_cells)
    cells, blocks = [], []
    for part in parts:
        own, cell = np.unique(place[part], return_inverse=True)
        cells.append(own)
        blocks.append(RowBlock(array(X[part]), array(weight[part]), array(cell), len(own)))
    there = LabelCellBlocks(LocalBlocks(blocks), cells, len(label_cells))
    learner = LeastSquaresFromSums(there)
    if isinstance(estimator, LogisticRegression):
        settings = LogisticSettings.of(estimator)
        learner = LogisticFromSums(there, settings, label_cells.weight, auditor.base_cost)
    return BlockRows(there, label_cells, learner), auditor


def assert_same_games(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.error, other.error, atol=1e-10)
        np.testing.assert_allclose(one.unfairness, other.unfairness, atol=1e-10)
        np.testing.assert_allclose(one.mixture.weights, other.mixture.weights, atol=1e-8)
        assert one.gap == pytest.approx(other.gap, abs=1e-9)
        assert str(one.worst) == str(other.worst)
        X = people()[0]
        np.testing.assert_allclose(
            one.mixture.positive_probability(X), other.mixture.positive_probability(X), atol=1e-8
        )


@pytest.mark.parametrize("estimator", [LinearRegression(), LOGISTIC], ids=["linear", "logistic"])
@pytest.mark.parametrize("weight", ["whole", "some nothing", slow("ones"), slow("fractions")])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_games_over_blocks_are_the_games_in_memory(solver, weight, estimator):
    weight = WEIGHTS[weight]
    theirs = solver.play(*game(weight, merge=True, estimator=estimator), **RULES)
    assert_same_games(solver.play(*block_game(weight, estimator), **RULES), theirs)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_what_is_kept_is_what_is_decided(weight):
    weight = WEIGHTS[weight]
    rows, auditor = block_game(weight, LOGISTIC)
    there, _ = game(weight, merge=True, estimator=LOGISTIC)
    plays = [*rows.answers(auditor.base_cost), rows.constant(False), rows.constant(True)]
    same = [there.recall(play.key) for play in plays]
    np.testing.assert_allclose(
        rows.decided([play.decisions for play in plays]),
        there.decided([play.decisions for play in same]),
        rtol=1e-14,
    )
    X = people()[0]
    assert [p.decisions.tobytes() for p in plays] == [
        rows.recall(play.key).decisions.tobytes() for play in plays
    ]
    assert plays[-1].key.decide(X).all()
    assert not plays[-2].key.decide(X).any()


def test_the_same_weights_of_other_rows_are_other_decisions():
    """The pool takes predictors with equal bytes for one."""
    x, two = np.array([[1.0], [2.0]]), np.zeros(2, dtype=np.intp)
    label_cells = LabelCells.of_rows(
        LabelCells.of_sample(people()[2], people()[1], np.ones(N))[0].cells, np.zeros(1, np.intp)
    )
    blocks = LabelCellBlocks(LocalBlocks([RowBlock(x, np.ones(2), two, 1)]), [np.arange(1)], 1)
    rows = BlockRows(blocks, label_cells, LeastSquaresFromSums(blocks))
    above, below, also_above = (
        rows.recall(LinearPredictor(np.array([slope]), cut))
        for slope, cut in ((1.0, -1.5), (-1.0, 1.5), (2.0, -3.5))
    )
    assert rows.decided([above.decisions, below.decisions]).tolist() == [[1.0], [1.0]]
    assert above.decisions.tobytes() != below.decisions.tobytes()
    assert above.decisions.tobytes() == also_above.decisions.tobytes()


def test_coefficients_are_those_of_scikit_learn():
    weight = WEIGHTS["fractions"]
    X, _, _ = people()
    rng = np.random.default_rng(4)
    for estimator in (LogisticRegression(C=0.3, tol=1e-12, max_iter=10_000), LinearRegression()):
        rows, _ = block_game(weight, estimator)
        there, _ = game(weight, merge=True, estimator=estimator)
        cost = rng.normal(size=len(rows.label_cells))
        _, (found,) = rows.best_response(cost[None])
        by_row = there.as_given(cost)
        if isinstance(estimator, LogisticRegression):
            estimator.fit(X, by_row < 0, sample_weight=weight * np.abs(by_row))
            expected = np.append(estimator.coef_, estimator.intercept_)
        else:
            estimator.fit(X, -by_row, sample_weight=weight)
            expected = np.append(estimator.coef_, estimator.intercept_)
        np.testing.assert_allclose(np.append(found.coef, found.intercept), expected, atol=1e-6)


def test_a_game_goes_on_from_a_state_bit_for_bit():
    """Fits start from earlier ones; a state has these."""
    rows, auditor = block_game(WEIGHTS["whole"], LOGISTIC)
    rng = np.random.default_rng(0)
    costs = [auditor.base_cost + 0.3 * rng.normal(size=len(rows.label_cells)) for _ in range(4)]
    for cost in costs[:2]:
        rows.answers(cost)
    state = rows.state()
    expected = [rows.answers(cost) for cost in costs[2:]]
    anew, _ = block_game(WEIGHTS["whole"], LOGISTIC)
    anew.restore(state)
    for cost, plays in zip(costs[2:], expected, strict=True):
        for one, other in zip(anew.answers(cost), plays, strict=True):
            np.testing.assert_array_equal(one.key.coef, other.key.coef)
            assert one.key.intercept == other.key.intercept


def test_a_fit_that_does_not_converge_says_so():
    rows, auditor = block_game(WEIGHTS["whole"], LogisticRegression(max_iter=1))
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        rows.best_response(auditor.base_cost[None])


@pytest.mark.parametrize(
    ("settings", "known"),
    [
        ({"C": 2.0, "tol": 1e-3, "solver": "newton-cg"}, True),
        ({"fit_intercept": False, "n_jobs": 2}, True),
        ({"penalty": "l2"}, True),
        ({"class_weight": "balanced"}, False),
        ({"solver": "liblinear"}, False),
        ({"l1_ratio": 1.0, "solver": "saga"}, False),
    ],
)
def test_only_the_default_penalty_is_fitted_from_sums(settings, known):
    assert (LogisticSettings.of(LogisticRegression(**settings)) is not None) is known
