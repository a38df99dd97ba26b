"""The seam between games and rows: sums by label-cell, and games that know nothing else."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import as_notions
from gerrymend.solvers import (
    ExponentiatedGradient,
    FictitiousPlay,
    MultiplicativeWeights,
    NoRegret,
)
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups import Marginals

N = 240
SOLVERS = [
    FictitiousPlay(),
    FictitiousPlay("appendix"),
    NoRegret(perturbation=0.0, random_state=0),
    MultiplicativeWeights(),
    ExponentiatedGradient(),
]
WEIGHTS = {
    "ones": np.ones(N),
    "whole": np.random.default_rng(1).integers(1, 5, N).astype(float),
    "fractions": np.random.default_rng(2).random(N),
    "some nothing": np.random.default_rng(3).integers(0, 3, N) / 3,
}


def people():
    """Rows of which many share a label and protected values."""
    rng = np.random.default_rng(0)
    a = {"race": rng.choice(["b", "g", "r"], N), "sex": rng.choice(["F", "M"], N)}
    X = np.column_stack([rng.normal(size=(N, 3)), a["sex"] == "F"]).astype(float)
    y = (X[:, 0] + X[:, 3] + (a["race"] == "b") + rng.normal(size=N) > 1).astype(int)
    return X, y, read_columns(a)


def game(weight, *, merge, notion="equalized_odds", estimator=None):
    X, y, columns = people()
    label_cells, starts, order = LabelCells.of_sample(columns, y, weight)
    if not merge:
        _, cells = distinct_rows(columns).sorted_by(y)
        label_cells, starts = LabelCells.of_rows(cells, y[order], weight[order]), None
    auditor = Auditor(as_notions(notion), Marginals(), label_cells)
    estimator = LinearRegression() if estimator is None else estimator
    where = (label_cells, auditor.pressed, weight[order], starts)
    return MemoryRows.of(estimator, X, order, *where), auditor


@pytest.mark.parametrize("weight", WEIGHTS)
def test_label_cells_are_the_distinct_pairs(weight):
    _, y, columns = people()
    merged, starts, order = LabelCells.of_sample(columns, y, WEIGHTS[weight])
    weight = WEIGHTS[weight][order]
    index = distinct_rows(columns).index[order]
    pairs = list(zip(y[order].tolist(), index.tolist(), strict=True))
    assert list(zip(merged.labels, merged.cells.index, strict=True)) == sorted(set(pairs))
    for pair, start, n_rows, total in zip(
        sorted(set(pairs)), starts, merged.n_rows, merged.weight, strict=True
    ):
        own = [i for i, other in enumerate(pairs) if other == pair]
        assert own == list(range(start, start + n_rows))
        assert total == pytest.approx(weight[own].sum(), rel=1e-15)
    assert len(merged) == 12


@pytest.mark.parametrize("weight", WEIGHTS)
def test_what_is_decided_is_the_weight_of_rows(weight):
    rows, _ = game(WEIGHTS[weight], merge=True)
    plays = rows.answers(np.where(rows.label_cells.labels == 1, -1.0, 1.0))
    plays += [rows.constant(False), rows.constant(True)]
    _, y, columns = people()
    own = WEIGHTS[weight][distinct_rows(columns).sorted_by(y)[0]]
    for play, decided in zip(plays, rows.decided([p.decisions for p in plays]), strict=True):
        bits = np.unpackbits(play.decisions, count=N)
        ends = itertools.pairwise([*rows.starts, N])
        expected = [(own[a:b] * bits[a:b]).sum() for a, b in ends]
        np.testing.assert_allclose(decided, expected, rtol=1e-14)
    np.testing.assert_array_equal(rows.decided([plays[-2].decisions]), np.zeros((1, 12)))


@pytest.mark.parametrize("notion", ["false_positive_rate", "equalized_odds"])
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_games_over_label_cells_are_the_games_over_rows(solver, weight, notion):
    """Without noise, which is drawn by label-cell."""
    rules = {"gammas": [0.0, 0.02], "C": 5.0, "max_iter": 25, "tol": None}
    by_row, by_label_cell = (
        solver.play(*game(WEIGHTS[weight], merge=merge, notion=notion), **rules)
        for merge in (False, True)
    )
    for one, other in zip(by_row, by_label_cell, strict=True):
        np.testing.assert_allclose(one.error, other.error, atol=1e-12)
        np.testing.assert_allclose(one.unfairness, other.unfairness, atol=1e-12)
        np.testing.assert_allclose(one.mixture.weights, other.mixture.weights, atol=1e-9)
        assert one.gap == pytest.approx(other.gap, abs=1e-11)
        assert one.worst.size == other.worst.size
        assert str(one.worst.rule) == str(other.worst.rule)


class Elsewhere:
    """Rows of which nothing but the protocol can be reached, and that speak in lists."""

    def __init__(self, rows):
        self.label_cells = rows.label_cells
        self.best_response = lambda costs: self._told(*rows.best_response(np.array(costs.tolist())))
        for name in ("answers", "constant", "recall", "decided", "mixture", "state", "restore"):
            setattr(self, name, getattr(rows, name))

    def _told(self, decided, keys):
        assert decided.shape[1] == len(self.label_cells) == 12
        return np.array(decided.tolist()), keys


@pytest.mark.parametrize("solver", [*SOLVERS, NoRegret(random_state=0)], ids=repr)
def test_no_game_asks_for_more_than_the_protocol(solver):
    rules = {"gammas": [0.0, 0.02], "C": 5.0, "max_iter": 15, "tol": None}
    rows, auditor = game(WEIGHTS["whole"], merge=True, estimator=LogisticRegression())
    here = solver.play(rows, auditor, **rules)
    rows, auditor = game(WEIGHTS["whole"], merge=True, estimator=LogisticRegression())
    there = solver.play(Elsewhere(rows), auditor, **rules)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.error, other.error)
        np.testing.assert_array_equal(one.unfairness, other.unfairness)
        np.testing.assert_array_equal(one.mixture.weights, other.mixture.weights)
