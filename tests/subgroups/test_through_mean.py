"""Thresholds through the mean, and of a size, against enumeration in whole numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gerrymend import LinearThresholds
from gerrymend.inputs.protected import Column, distinct_rows
from tests.subgroups.brute_force import bind, value, worst, worst_of_size
from tests.subgroups.thresholds import groups, points_of

seeds = st.integers(0, 1_000_000)


def instance(rng, *, most_rows=12):
    """Two columns, a residual and rows by cell; whole numbers, often with a row at the mean."""
    size = int(rng.choice([2, 3, 5, 40]))
    x = rng.integers(-size, size + 1, (int(rng.integers(2, most_rows)), 2))
    if rng.random() < 0.5:  # pairs on lines through the mean, which is 0
        x = np.vstack([x, -x, [[0, 0]]])
    columns = distinct_rows(
        [Column(name, v.astype(float)) for name, v in zip("ab", x.T, strict=True)]
    ).columns
    m = len(columns[0].values)
    residual = rng.integers(-4, 5, m) / 8.0
    residual[rng.integers(m)] -= residual.sum()
    return columns, residual, rng.integers(1, 6, m)


def groups_through_mean(columns, weight=None):
    """θ·(x − mean) > 0 and ≥ 0, at every θ that has rows on its line, and just beside it."""
    x = np.column_stack([c.values for c in columns]).astype(int).tolist()
    weight = [1] * len(x) if weight is None else [int(w) for w in weight]
    n = sum(weight)
    total = [sum(w * row[k] for w, row in zip(weight, x, strict=True)) for k in (0, 1)]
    centred = [(n * a - total[0], n * b - total[1]) for a, b in x]
    far = 4 * max(abs(v) for row in centred for v in row) ** 2 + 1
    for a, b in [*centred, (1, 0)]:
        for sign in (-1, 1):
            across = (-sign * b, sign * a)
            for beside in (-1, 0, 1):
                theta = [far * across[k] + beside * (a, b)[k] for k in (0, 1)]
                if theta == [0, 0]:
                    continue
                scores = np.array([theta[0] * p + theta[1] * q for p, q in centred], dtype=object)
                yield (scores > 0).astype(bool)
                yield (scores >= 0).astype(bool)


@pytest.mark.parametrize("block", range(4))
def test_the_worst_through_the_mean(block):
    through = LinearThresholds(intercept=False)
    for seed in range(60):
        columns, residual, rows = instance(np.random.default_rng([block, seed]))
        every = list(groups_through_mean(columns))
        bound = bind(through, columns)
        found = bound.worst(residual[None])
        assert abs(found.values[0]) == pytest.approx(float(worst(residual, every)), abs=1e-12)
        members = found.members[0] > 0
        assert any(np.array_equal(group, members) for group in every)
        rule = bound.source.rule(found.keys[0])
        np.testing.assert_array_equal(rule.members({c.name: c for c in columns}), members)
        for smallest in (1, 4, 10):
            expected = worst_of_size(residual, rows, smallest, every)
            large = bound.worst_of_size(residual, rows, smallest)
            assert (large is None) == (expected is None)
            if large is not None:
                inside = int(rows[large.members[0] > 0].sum())
                assert smallest <= inside <= rows.sum() - smallest
                assert abs(large.values[0]) == pytest.approx(float(expected), abs=1e-12)


@given(seeds)
def test_the_mean_is_that_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    columns, residual, _ = instance(rng)
    weight = rng.integers(1, 4, len(residual)).astype(float)
    bound = LinearThresholds(intercept=False).bind(columns, weight, np.ones(len(weight)))
    every = groups_through_mean(columns, weight)
    found = abs(bound.worst(residual[None]).values[0])
    assert found == pytest.approx(float(worst(residual, every)), abs=1e-12)


def test_all_rows_at_the_mean():
    (column,) = distinct_rows([Column("a", np.zeros(1))]).columns
    bound = bind(LinearThresholds(intercept=False), (column, Column("b", np.ones(1))))
    assert bound.worst(np.zeros((1, 1))).values[0] == 0.0


@settings(max_examples=15)
@given(seeds)
def test_the_grid_and_its_worst_of_a_size(seed):
    columns, residual, rows = instance(np.random.default_rng(seed))
    x = [
        tuple(Fraction(int(v)) for v in row)
        for row in zip(*(c.values for c in columns), strict=True)
    ]
    mean = [sum(row[k] for row in x) / len(x) for k in (0, 1)]
    every = [
        np.array([a * (p - mean[0]) + b * (q - mean[1]) < 0 for p, q in x])
        for a in range(-10, 10)
        for b in range(-10, 10)
    ]
    bound = bind(LinearThresholds("grid"), columns)
    assert abs(bound.worst(residual[None]).values[0]) == float(worst(residual, every))
    for smallest in (1, 5):
        expected = worst_of_size(residual, rows, smallest, every)
        large = bound.worst_of_size(residual, rows, smallest)
        assert (large is None) == (expected is None)
        if large is not None:
            assert abs(large.values[0]) == pytest.approx(float(expected))


@given(seeds)
def test_no_heuristic_is_above_the_exact_worst_of_a_size(seed):
    columns, residual, rows = instance(np.random.default_rng(seed), most_rows=8)
    every = list(groups(points_of(np.column_stack([c.values for c in columns]), residual)))
    for how in ("search", "regression"):
        bound = bind(LinearThresholds(how, restarts=3), columns)
        for smallest in (1, 4, 10):
            expected = worst_of_size(residual, rows, smallest, every)
            large = bound.worst_of_size(residual, rows, smallest)
            if large is None:
                continue
            members = large.members[0] > 0
            assert smallest <= rows[members].sum() <= rows.sum() - smallest
            assert abs(large.values[0]) == pytest.approx(float(abs(value(residual, members))))
            assert abs(large.values[0]) <= float(expected) + 1e-12
            assert any(np.array_equal(group, members) for group in every)
