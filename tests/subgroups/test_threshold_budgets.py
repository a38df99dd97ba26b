"""Proofs over linear thresholds keep to their time: what is looked at, and what is not begun."""

import itertools
import math
import time

import numpy as np
import pytest
from scipy.optimize import linprog

from gerrymend import LinearThresholds
from gerrymend._runtime.clocks import WorkClock
from gerrymend.inputs.protected import Column
from gerrymend.subgroups import linear
from gerrymend.subgroups.proofs import (
    branch_and_bound,
    planar,
    separating_rule,
    threshold_proofs,
)
from gerrymend.subgroups.thresholds import circles, search
from tests.subgroups.brute_force import bind
from tests.subgroups.thresholds import points_of


def wide_columns(rng, *, widths, n_rows=120):
    """Categorical attributes with so many categories, all of them there, and a residual."""
    columns = tuple(
        Column(f"c{j}", rng.permutation(np.arange(n_rows) % width).astype(float),
               tuple(f"v{i}" for i in range(width)))
        for j, width in enumerate(widths)
    )  # fmt: skip
    residual = rng.standard_normal(n_rows)
    return columns, residual - residual.mean()


def test_attributes_of_too_many_categories_are_not_begun(monkeypatch):
    """Exact elimination in hundreds of columns took twice the budget before the first bound."""
    columns, residual = wide_columns(np.random.default_rng(0), widths=(60, 50))
    seen = []
    solve = threshold_proofs.solve

    def counted(points, **how):
        seen.append(points.x.shape[1])
        return solve(points, **how)

    monkeypatch.setattr(threshold_proofs, "solve", counted)
    bracket = bind(LinearThresholds(restarts=0), columns).prove(residual, seconds=1e6)
    assert max(seen, default=0) <= 32
    assert bracket.upper_bound == pytest.approx(np.maximum(residual, 0.0).sum())
    assert bracket.partial == ()


def test_what_cannot_be_proven_is_known_before_any_search():
    rng = np.random.default_rng(0)
    columns, _ = wide_columns(rng, widths=(60, 50))
    unprovable = bind(LinearThresholds(restarts=0), columns).unprovable
    assert "49 dimensions" in unprovable
    assert "above 32" in unprovable
    assert bind(LinearThresholds(restarts=0), columns[:1]).unprovable == ""
    numbers = tuple(Column(f"x{j}", rng.standard_normal(40)) for j in range(9))
    assert "above 8" in bind(LinearThresholds(restarts=0), numbers).unprovable
    assert bind(LinearThresholds(restarts=0), numbers[:8]).unprovable == ""


def test_no_proof_is_begun_when_the_search_has_used_all_the_time(monkeypatch):
    columns, residual = wide_columns(np.random.default_rng(1), widths=(3, 4))
    proofs = bind(LinearThresholds(restarts=0), columns)._proofs
    monkeypatch.setattr(threshold_proofs, "_points", lambda *_: pytest.fail("a proof was begun"))
    found = bind(LinearThresholds(restarts=0), columns).worst(residual[None])
    bracket = proofs.prove(residual, found, None, 0.0)
    assert bracket.upper_bound == pytest.approx(np.maximum(residual, 0.0).sum())


def test_the_first_cones_look_at_the_clock(monkeypatch):
    """With a million rows the cover alone outlasted the budget."""
    rng = np.random.default_rng(2)
    points = points_of(rng.integers(0, 50, (40, 6)), rng.standard_normal(40))
    bounds = []
    cone_bound = branch_and_bound.cone_bound
    monkeypatch.setattr(
        branch_and_bound, "cone_bound", lambda *how: bounds.append(1) or cone_bound(*how)
    )
    monkeypatch.setattr(time, "monotonic", lambda: float(len(bounds)))
    solved = branch_and_bound.solve(points, deadline=2.0)
    assert len(bounds) == 2
    assert solved.upper_bound >= points.weight.max()


def test_the_search_factorises_nothing_a_second_time(monkeypatch):
    """Least squares of the design took minutes for thousands of categories, without a clock."""
    columns, residual = wide_columns(np.random.default_rng(3), widths=(5, 4))
    columns = (*columns, Column("age", np.arange(120.0)), Column("same", np.ones(120)))
    bound = bind(LinearThresholds(restarts=0), columns)
    regression = bind(LinearThresholds("regression"), columns).worst(residual[None])
    monkeypatch.setattr(np.linalg, "lstsq", lambda *_, **__: pytest.fail("a factorisation"))
    direction = bound._regression_direction(residual)
    assert np.array_equal(direction @ bound._ascent.circles.z > 1e-12, regression.members[0] > 0)


@pytest.mark.parametrize("n_numbers", [3, 4])
def test_a_proof_by_work_ends_by_work_alone(n_numbers, monkeypatch):
    """It is the same whatever the clock says, holds wherever it ends, and more work adds to it."""
    rng = np.random.default_rng(n_numbers)
    columns = tuple(
        Column(f"x{j}", rng.integers(0, 30, 60).astype(float)) for j in range(n_numbers)
    )
    residual = rng.standard_normal(60)
    residual -= residual.mean()
    bound = bind(LinearThresholds(restarts=1), columns)
    found = bound.worst(residual[None])
    proofs = [bound.close_in(residual, found, work=work) for work in (1.0, 1e4, 1e5, 1e12)]
    monkeypatch.setattr(time, "monotonic", itertools.count(0.0, 1e6).__next__)
    again = [bound.close_in(residual, found, work=work) for work in (1.0, 1e4, 1e5, 1e12)]
    assert [one.upper_bound for one in again] == [one.upper_bound for one in proofs]
    assert [one.found.values[0] for one in again] == [one.found.values[0] for one in proofs]
    exact = abs(float(proofs[-1].found.values[0]))
    assert proofs[-1].upper_bound == pytest.approx(exact)
    bounds = [one.upper_bound for one in proofs]
    assert bounds[0] > exact
    assert bounds == sorted(bounds, reverse=True)
    assert all(abs(float(one.found.values[0])) <= exact + 1e-12 for one in proofs)


def test_a_sweep_of_the_plane_ends_by_work_too():
    rng = np.random.default_rng(0)
    points = np.unique(rng.integers(0, 200, (3000, 2)), axis=0)
    residual = rng.standard_normal(len(points))
    residual -= residual.mean()
    _, complete = planar.worst_half_plane(points, residual, 1.0, WorkClock())
    assert not complete
    _, complete = planar.worst_half_plane(points, residual, 1e12, WorkClock())
    assert complete


def test_the_regression_of_thousands_of_categories_is_not_dense(monkeypatch):
    """Its least squares took minutes; the same group comes out of sparse products."""
    columns, residual = wide_columns(np.random.default_rng(5), widths=(9, 7))
    dense = bind(LinearThresholds("regression"), columns).worst(residual[None])
    monkeypatch.setattr(linear, "is_too_wide", lambda *_: True)
    monkeypatch.setattr(np.linalg, "svd", lambda *_, **__: pytest.fail("a factorisation"))
    bound = bind(LinearThresholds("regression"), columns)
    thin = bound.worst(residual[None])
    assert np.array_equal(thin.members, dense.members)
    assert thin.values == pytest.approx(dense.values)
    rule = bound.source.rule(thin.keys[0])
    assert np.array_equal(rule.members({c.name: c for c in columns}), thin.members[0] > 0)
    assert bound.worst_of_size(residual, np.ones(120, dtype=np.intp), 61) is None


def test_numbers_of_very_many_values_are_not_begun(monkeypatch):
    """Writing a million values as whole numbers took longer than the budget, for no bound."""
    monkeypatch.setattr(threshold_proofs, "_MOST_LEVELS", 20)
    monkeypatch.setattr(threshold_proofs, "whole_numbers", lambda *_: pytest.fail("was begun"))
    rng = np.random.default_rng(0)
    columns = (Column("x", rng.random(30)), Column("z", rng.random(30).round(1)))
    residual = rng.standard_normal(30)
    residual -= residual.mean()
    bound = bind(LinearThresholds(restarts=1), columns)
    assert bound.unprovable.startswith("x has 30 different values, and above 20 no proof")
    bracket = bound.prove(residual)
    assert bracket.upper_bound == pytest.approx(residual[residual > 0].sum())


@pytest.mark.parametrize(
    ("n_cells", "restarts", "work", "starts"),
    [
        (60, 100, math.inf, 800),  # eight times as many
        (60, 100, 50 * 120 * 300, 300),  # two columns, one of them of ones
        (60, 100, 1.0, 100),  # never fewer than its own
        (60, 0, math.inf, 0),
    ],
)
def test_a_thorough_search_has_as_many_starts_as_its_work_allows(n_cells, restarts, work, starts):
    columns = (Column("x", np.arange(float(n_cells))),)
    assert bind(LinearThresholds(restarts=restarts), columns).thorough(work)._restarts == starts


def test_the_program_for_a_rule_has_an_entry_for_each_attribute_of_a_row(monkeypatch):
    """Centred indicators are all entries: hundreds of them took seconds, limit or no limit."""
    rng = np.random.default_rng(0)
    columns, residual = wide_columns(rng, widths=(60, 7))
    columns = (*columns, Column("age", 1e6 + np.arange(120.0)))
    bound = bind(LinearThresholds(restarts=0), columns)
    members = bound.worst(residual[None]).members[0] > 0
    programs = []

    def noted(**program):
        programs.append(program["A_ub"])
        return linprog(**program)

    monkeypatch.setattr(separating_rule, "linprog", noted)
    rule = separating_rule.separating_rule(
        columns, bound._encoding, members, np.ones(120, dtype=bool)
    )
    assert np.array_equal(rule.members({column.name: column for column in columns}), members)
    assert programs[0].nnz <= 120 * (2 * len(columns) + 1)
    # The same least Σ |coefficient|·deviation as of columns that are centred.
    design = bound._encoding.matrix(columns)
    spread = design.std(axis=0)
    z = (design - design.mean(axis=0)) / spread
    d = z.shape[1]
    dense = linprog(
        c=np.r_[np.ones(2 * d), 0.0],
        A_ub=np.column_stack([z, -z, -np.ones(120)]) * np.where(members, -1.0, 1.0)[:, None],
        b_ub=-np.ones(120),
        bounds=[(0, None)] * (2 * d) + [(None, None)],
    )
    given = np.array(rule.coefficients)
    margin = np.abs(design @ given - rule.threshold).min()
    assert np.abs(given * spread).sum() / margin == pytest.approx(dense.fun)


def test_between_two_looks_an_ascent_passes_few_circles_of_a_wide_design(monkeypatch):
    """A circle that leads higher reads every column, and with hundreds of them took seconds."""
    passed = []

    def noted(z, *how):
        passed.append(how[-2] * z.size)
        return ascend(z, *how)

    ascend = circles.ascend
    monkeypatch.setattr(circles, "ascend", noted)
    columns, residual = wide_columns(np.random.default_rng(0), widths=(900,), n_rows=900)
    bind(LinearThresholds(restarts=0), columns).search(residual, seconds=0.0)
    assert 0 < max(passed) <= 250_000_000  # some tenths of a second, if each leads higher


def test_no_logistic_regression_is_begun_when_the_time_is_up(monkeypatch):
    columns, residual = wide_columns(np.random.default_rng(0), widths=(4, 3))
    bound = bind(LinearThresholds(), columns)
    monkeypatch.setattr(search, "LogisticRegression", lambda **_: pytest.fail("one was begun"))
    assert bound.search(residual, seconds=0.0).members.shape == (1, 120)


def test_comparing_rows_in_flows_is_work(monkeypatch):
    """A fit over 10,000 cells took ten times as long as its work said, half of it in flows."""
    bounds = []
    cone_bound = branch_and_bound.cone_bound
    monkeypatch.setattr(
        branch_and_bound, "cone_bound", lambda *how: bounds.append(1) or cone_bound(*how)
    )
    n_bounds = {}
    for n_rows in (1000, 9000):
        rng = np.random.default_rng(4)
        points = points_of(rng.integers(0, 1000, (n_rows, 4)), rng.standard_normal(n_rows))
        bounds.clear()
        branch_and_bound.solve(points, deadline=2e7, clock=WorkClock())
        n_bounds[n_rows] = len(bounds)
    # A cone of nine times as many rows takes more than nine times as long, less what any takes.
    assert n_bounds[1000] > 6 * n_bounds[9000]


def test_comparing_rows_in_leaves_is_work(monkeypatch):
    """The other half: of each row in question and each row there is a difference."""
    clock = WorkClock()
    leaves = []

    def watched(points, u, last, *how):
        leaves.append((clock(), len(last) * u.size))

    monkeypatch.setattr(branch_and_bound, "tied_leaf", watched)
    rng = np.random.default_rng(5)
    x = rng.integers(0, 1000, (3000, 3))
    points = points_of(x, rng.standard_normal(3000) + np.sign(x[:, 0] - 500.0))
    branch_and_bound.solve(points, deadline=2e8, clock=clock)
    assert len(leaves) > 2
    before = 0.0
    for now, differences in leaves:
        assert now - before >= differences
        before = now
