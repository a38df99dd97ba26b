"""The sweep of the plane against every half-plane, and against branch and bound."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend.subgroups.proofs import planar
from gerrymend.subgroups.proofs.branch_and_bound import solve
from gerrymend.subgroups.proofs.whole_points import whole_numbers
from tests.subgroups.thresholds import groups, points_of, value

seeds = st.integers(0, 1_000_000)


def instance(rng, *, most_rows=14, size=None):
    """Points that all differ, on grids, lines and anywhere; a residual that sums to 0."""
    m = int(rng.integers(2, most_rows + 1))
    size = size or int(rng.choice([3, 4, 6, 1000, 190_000]))
    x = rng.integers(0, size, (m, 2))
    if rng.random() < 0.3:
        x[:, 1] = rng.choice([0, 2]) * x[:, 0] + (rng.random(m) < 0.3)
    x = np.unique(x, axis=0)
    residual = (
        rng.choice([-1.0, 0.0, 1.0, 2.0], len(x)) if rng.random() < 0.6 else rng.random(len(x))
    )
    return rng.permutation(x), residual - residual.mean()


def worst(points):
    return float(max(abs(value(points.weight, members)) for members in groups(points)))


@pytest.mark.parametrize("block", range(4))
def test_the_sweep_finds_the_worst_half_plane(block):
    for seed in range(60):
        x, residual = instance(np.random.default_rng([block, seed]))
        members, complete = planar.worst_half_plane(x, residual)
        every = list(groups(points_of(x, residual)))
        true = float(max(abs(value(residual, group)) for group in every))
        assert complete
        assert abs(float(value(residual, members))) == pytest.approx(true, abs=1e-9)
        assert any(np.array_equal(group, members) for group in every)


@given(seeds)
def test_the_sweep_and_branch_and_bound_agree(seed):
    x, residual = instance(np.random.default_rng(seed), most_rows=40)
    members, _ = planar.worst_half_plane(x, residual)
    solved = solve(points_of(x, residual))
    assert abs(residual[members].sum()) == pytest.approx(solved.value, abs=1e-9)
    assert solved.upper_bound == solved.value


def test_directions_that_differ_by_as_little_as_they_can():
    """(n, n − 1) and (n − 1, n − 2): an angle of about 1/2n², at the largest n."""
    n = 199_999
    x = np.array([[0, 0], [n, n - 1], [n - 1, n - 2], [n - 2, n - 3], [1, 1]])
    for signs in range(1, 31):
        residual = np.where((signs >> np.arange(5)) & 1, 1.0, -1.0)
        residual -= residual.mean()
        members, _ = planar.worst_half_plane(x, residual)
        points = points_of(x, residual)
        assert abs(residual[members].sum()) == pytest.approx(worst(points), abs=1e-9)


def test_a_deadline_is_kept_and_said():
    rng = np.random.default_rng(0)
    x, residual = rng.integers(0, 1000, (50, 2)), rng.standard_normal(50)
    members, complete = planar.worst_half_plane(x, residual, time.monotonic())
    assert not complete
    assert not members.any()


def test_only_numbers_that_are_small_enough_are_swept():
    assert planar.fits(np.array([[0, 0], [199_999, 5]]))
    assert not planar.fits(np.array([[0, 0], [200_000, 5]]))
    assert not planar.fits(np.column_stack([whole_numbers(np.array([0.0, 1e-17, 1e30]))] * 2))
