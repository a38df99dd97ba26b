"""The figures of a pool against those of each classifier and subgroup, row by row."""

import numpy as np
import pytest

from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import NOTION_NAMES, FairnessNotion, as_notions
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import Learner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells, Play
from gerrymend.solvers.pool import pool as pool_module
from gerrymend.solvers.pool.pool import Pool, PooledGroup
from gerrymend.subgroups import Marginals

N = 90
SKEWED = FairnessNotion("skewed", (True, True), a=(0.5, -1.0), b=(2.0, -0.5))


def make_pool(notion, *, weighted):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, N)
    weight = rng.integers(0, 4, N) * rng.random(N) if weighted else np.ones(N)
    a = {"race": rng.choice(["b", "g", "r"], N), "age": rng.integers(20, 30, N)}
    cells = distinct_rows(read_columns(a))
    auditor = Auditor(as_notions(notion), Marginals(), LabelCells.of_rows(cells, y, weight))

    class Decisions(Learner):
        """Nobody learns; the tests say what is decided."""

        best_response = answers = constant = recall = mixture = None

    rows = MemoryRows(Decisions(), auditor.label_cells)
    return auditor, Pool(rows, auditor), rng, y, weight, a, cells


def a_play(decided, key=None):
    return Play(np.packbits(decided), key)


def groups_of_rows(auditor, a, cells, y, weight, rng, n_groups):
    """Random sets of cells, as what the pool is given and as rows."""
    for number in range(n_groups):
        which = number % len(auditor.notions)
        in_cell = rng.random(len(cells)) < 0.4
        counts = auditor.notions[which].notion.in_event(y) & (weight > 0)
        active = np.unique(cells.index[counts])
        yield PooledGroup(which, in_cell[active], number), in_cell[cells.index]


@pytest.mark.parametrize("notion", [*NOTION_NAMES, SKEWED], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_and_unfairness(notion, weighted, monkeypatch):
    auditor, pool, rng, y, weight, a, cells = make_pool(notion, weighted=weighted)
    monkeypatch.setattr(pool_module, "_BLOCK", 2 * N)  # two classifiers are unpacked at a time
    decisions = rng.random((7, N)) < rng.random((7, 1))
    groups = list(groups_of_rows(auditor, a, cells, y, weight, rng, 6))
    # Classifiers and groups come in turns, so that both ways of filling the matrix are used.
    for number, decided in enumerate(decisions):
        assert pool.add_classifier(a_play(decided, f"h{number}")) == number
        for group, _ in groups[number : number + 1]:
            pool.add_group(group)
    assert len(pool) == 7
    assert pool.keys == [f"h{number}" for number in range(7)]
    error = [np.average(decided != y, weights=weight) for decided in decisions]
    np.testing.assert_allclose(pool.error, error, atol=1e-11)
    expected = [
        [as_notions(notion)[group.notion].unfairness(y, decided, rows, weight)
         for decided in decisions]
        for group, rows in groups
    ]  # fmt: skip
    np.testing.assert_allclose(pool.unfairness, expected, atol=1e-11)


def test_classifiers_that_decide_the_same_are_one():
    _, pool, rng, *_ = make_pool("equalized_odds", weighted=True)
    decided = rng.random(N) < 0.5
    assert pool.add_classifier(a_play(decided, "first")) == 0
    assert pool.add_classifier(a_play(~decided, "other")) == 1
    assert pool.add_classifier(a_play(decided.copy(), "again")) == 0
    assert pool.keys == ["first", "other"]
    assert pool.unfairness.shape == (0, 2)


@pytest.mark.parametrize("notion", ["false_positive_rate", "equalized_odds", SKEWED], ids=str)
def test_probability_cost_and_values_are_those_of_the_game(notion):
    """L(h, λ) is the error and what the duals charge; the cost is its slope in each decision."""
    auditor, pool, rng, y, weight, a, cells = make_pool(notion, weighted=True)
    decisions = rng.random((4, N)) < 0.5
    for decided in decisions:
        pool.add_classifier(a_play(decided))
    groups = list(groups_of_rows(auditor, a, cells, y, weight, rng, 5))
    for group, _ in groups:
        pool.add_group(group)
    duals, gamma = np.array([1.0, 0.0, -2.5, 0.25, -1.0]), 0.02

    mixed = np.array([0.5, 0.0, 0.125, 0.375])
    np.testing.assert_allclose(pool.decided(mixed), weight * (mixed @ decisions))

    def lagrangian(p):
        paid = [
            dual * as_notions(notion)[group.notion].unfairness(y, p, rows, weight)
            for dual, (group, rows) in zip(duals, groups, strict=True)
        ]
        return np.average(np.abs(y - p), weights=weight) + sum(paid) - gamma * np.abs(duals).sum()

    values = [lagrangian(decided.astype(float)) for decided in decisions]
    np.testing.assert_allclose(pool.values(duals, gamma), values, atol=1e-10)

    cost = pool.cost(duals)
    for row in np.flatnonzero(weight)[:20]:
        one = np.zeros(N)
        one[row] = 1.0
        slope = lagrangian(one) - lagrangian(np.zeros(N))
        assert cost[row] * weight[row] / weight.sum() == pytest.approx(slope, abs=1e-12)


def test_ctrl_c_leaves_a_pool_as_it_was(monkeypatch):
    auditor, pool, rng, y, weight, a, cells = make_pool("equalized_odds", weighted=True)
    pool.add_classifier(a_play(rng.random(N) < 0.5, "first"))
    first, second = [group for group, _ in groups_of_rows(auditor, a, cells, y, weight, rng, 2)]
    pool.add_group(first)
    before = pool.state()

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "_values", stopped)
    with pytest.raises(KeyboardInterrupt):
        pool.add_classifier(a_play(rng.random(N) < 0.5, "other"))
    with pytest.raises(KeyboardInterrupt):
        pool.add_group(second)
    assert len(pool) == len(pool.error) == pool.unfairness.shape[1] == 1
    assert all(pool.state()[name] is before[name] for name in before)
