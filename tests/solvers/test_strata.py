"""Games within strata: sums and costs by loops over rows, and values by a linear program."""

from functools import partial

import numpy as np
import pytest

from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import ERROR_RATE, FALSE_NEGATIVE_RATE, STATISTICAL_PARITY, as_notions
from gerrymend.solvers.cell_play import CellPlay
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups import Marginals
from tests.marks import slow
from tests.solvers.test_known_games import (
    SOLVERS,
    TableLearner,
    assert_worth,
    drawn_decisions,
    groups_of,
    value_by_linear_program,
)

N = 60
WEIGHTS = {
    "ones": lambda rng: np.ones(N),
    "fractions": lambda rng: rng.random(N),
    "some nothing": lambda rng: rng.integers(0, 3, N) / 3,
}


def people(seed, weight="ones"):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    a = {"race": rng.choice(["b", "g", "r"], N), "sex": rng.choice(["F", "M"], N)}
    # The last stratum is small, and may have nobody in an event.
    stratum = rng.choice(4, N, p=[0.5, 0.3, 0.18, 0.02])
    return y, a, stratum, WEIGHTS[weight](rng), rng


def unfairness_by_loops(notion, y, p, group, weight, stratum):
    """(1/n)·Σ over rows of the group that count, of w·(u − the mean of their stratum)."""
    value = 0.0
    for s in set(stratum):
        counts = [i for i in range(len(y)) if stratum[i] == s and notion.event[y[i]]]
        of_all = sum(weight[i] for i in counts)
        u = {i: notion.a[y[i]] + notion.b[y[i]] * p[i] for i in counts}
        if of_all == 0:
            continue
        mean = sum(weight[i] * u[i] for i in counts) / of_all
        value += sum(weight[i] * (u[i] - mean) for i in counts if group[i])
    return value / sum(weight)


def game(seed, weight, notions, *, merge):
    y, a, stratum, weight, rng = people(seed, weight)
    columns = read_columns(a)
    label_cells, starts, order = LabelCells.of_sample(columns, y, weight, stratum)
    if not merge:
        cells = distinct_rows(columns)
        order = np.arange(N)
        starts = None
        label_cells = LabelCells.of_rows(cells, y, weight, stratum)
    auditor = Auditor(notions, Marginals(), label_cells)
    decisions = drawn_decisions(rng, y)
    learner = TableLearner(decisions[:, order], weight[order])
    rows = MemoryRows(learner, label_cells, weight[order], starts)
    return auditor, rows, order, decisions


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("notion", [FALSE_NEGATIVE_RATE, STATISTICAL_PARITY, ERROR_RATE])
def test_residuals_are_those_of_loops_over_rows(notion, weight, merge):
    for seed in range(6):
        y, a, stratum, weights, _ = people(seed, weight)
        auditor, rows, order, decisions = game(seed, weight, [notion], merge=merge)
        (seen,) = auditor.notions
        votes = rows.summed(decisions[:, order])
        residuals = seen.residuals(votes, 1)
        np.testing.assert_allclose(residuals.sum(axis=1), 0.0, atol=1e-12)
        listed = seen.subgroups
        of_groups = listed.values(residuals) / weights.sum()
        for rule, values in zip(listed.rules, of_groups.T, strict=True):
            group = rule.contains(a)
            expected = [
                unfairness_by_loops(notion, y, h, group, weights, stratum) for h in decisions
            ]
            np.testing.assert_allclose(values, expected, atol=1e-13)
        # The worst one, as it is told.
        answer = auditor.worst(votes, 1)
        for model, h in enumerate(decisions):
            found = auditor.subgroup(answer, model, votes[model], 1)
            assert found.within_strata
            assert found.unfairness == pytest.approx(
                unfairness_by_loops(notion, y, h, found.contains(a), weights, stratum), abs=1e-13
            )


def lagrangian(p, notion, y, weight, stratum, duals, groups):
    error = np.average(np.where(y == 1, 1 - p, p), weights=weight)
    paid = (
        dual * unfairness_by_loops(notion, y, p, group, weight, stratum)
        for dual, group in zip(duals, groups, strict=True)
    )
    return error + sum(paid)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("notion", [FALSE_NEGATIVE_RATE, STATISTICAL_PARITY, ERROR_RATE])
def test_a_cost_is_what_deciding_one_row_changes(notion, weight):
    """err + Σ λ·v is linear in decisions: each row's cost is a difference, times n, over w."""
    for seed in range(3):
        y, a, stratum, weights, rng = people(seed, weight)
        auditor, rows, order, decisions = game(seed, weight, [notion], merge=True)
        (seen,) = auditor.notions
        groups = groups_of(a)
        duals = rng.normal(size=len(groups))
        pressure = np.zeros((1, len(seen.event_weight)))
        active = distinct_rows(read_columns(a)).index
        present = np.unique(active[notion.in_event(y) & (weights > 0)])
        for dual, group in zip(duals, groups, strict=True):
            pressure[0] += dual * np.isin(present, active[group])
        cost = auditor.base_cost[None].copy()
        auditor.price([pressure], out=cost)
        by_row = np.empty(N)
        by_row[order] = rows.spread(cost[0])

        game_of = notion, y, weights, stratum, duals, groups
        before = decisions[3] * 0.5
        for i in np.flatnonzero(weights):
            after = before.copy()
            after[i] += 1.0
            difference = lagrangian(after, *game_of) - lagrangian(before, *game_of)
            assert difference == pytest.approx(by_row[i] * weights[i] / weights.sum(), abs=1e-12)


def test_strains_of_cells_are_of_their_strata():
    """One step by hand. Negatives: in stratum 0 two of a, both decided 1, and two of b, none; in
    stratum 1 one of a, decided 1, alone. Means are 1/2 and 1, so W_a = 2 − 1 + 0 = 1, W_b = −1, and
    strains 1/3 and −1/2. Their means are −1/12 in stratum 0, and 1/3 in stratum 1."""
    y = np.array([0, 0, 0, 0, 0, 1])
    columns = read_columns({"group": np.array(["a", "a", "b", "b", "a", "b"])})
    stratum = np.array([0, 0, 0, 0, 1, 1])
    label_cells, starts, order = LabelCells.of_sample(columns, y, np.ones(6), stratum)
    play = CellPlay(Auditor(as_notions("false_positive_rate"), Marginals(), label_cells))
    decided = np.array([1.0, 1, 0, 0, 1, 0])[order]
    play.answered(np.add.reduceat(decided, starts))
    costs = {
        (cell, of): cost
        for cell, of, label, cost in zip(
            label_cells.cells.index, stratum[order][starts], label_cells.labels, play.cost(),
            strict=True,
        )
        if label == 0
    }  # fmt: skip
    assert costs == pytest.approx(
        {(0, 0): 1 + 1 / 3 + 1 / 12, (1, 0): 1 - 1 / 2 + 1 / 12, (0, 1): 1.0}
    )


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize(
    "notion",
    [
        ("statistical_parity", "false_positive_rate"),
        slow("equalized_odds"),
        slow("error_rate"),
    ],
    ids=str,
)
def test_solvers_reach_the_value_of_the_game(solver, notion):
    gamma, C = 0.01, 5.0
    notions = as_notions(notion)
    auditor, rows, _, decisions = game(0, "ones", notions, merge=True)
    y, a, stratum, weight, _ = people(0)
    within = partial(unfairness_by_loops, stratum=stratum)
    value = value_by_linear_program(y, weight, a, decisions, notions, gamma, C, within)
    (end,) = solver.play(rows, auditor, gammas=[gamma], C=C, max_iter=3000, tol=2e-3)
    assert_worth(solver, end, value, C)
