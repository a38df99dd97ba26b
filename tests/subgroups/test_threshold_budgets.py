"""Proofs over linear thresholds keep to their time: what is looked at, and what is not begun."""

import numpy as np
import pytest

from gerrymend import LinearThresholds
from gerrymend.inputs.protected import Column
from gerrymend.subgroups import linear
from gerrymend.subgroups.proofs import branch_and_bound, threshold_proofs
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


def test_what_cannot_be_proven_is_said_before_it_is_not(caplog):
    columns, residual = wide_columns(np.random.default_rng(0), widths=(60, 50))
    bound = bind(LinearThresholds(restarts=0), columns)
    bound.prove(residual, seconds=1e6)
    assert "49 dimensions" in caplog.text
    assert "give numbers as numbers" in caplog.text
    caplog.clear()
    bind(LinearThresholds(restarts=0), columns[:1]).prove(residual, seconds=1e6)
    assert not caplog.text


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
    monkeypatch.setattr(branch_and_bound.time, "monotonic", lambda: float(len(bounds)))
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
    assert np.array_equal(direction @ bound._zt > 1e-12, regression.members[0] > 0)


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
