"""Ascents along arcs, against the values of half-planes that are counted one by one."""

import numpy as np
import pytest

from gerrymend.subgroups.thresholds import arcs as module
from gerrymend.subgroups.thresholds.arcs import Arcs
from gerrymend.subgroups.thresholds.circles import MemoryCircles
from gerrymend.subgroups.thresholds.great_circles import best_on_circle


def cells(seed, n=3000):
    """Two standardised columns and the ones, and W that a half-plane tells apart a little."""
    rng = np.random.default_rng(seed)
    z = np.vstack([rng.standard_normal((2, n)), np.ones(n)])
    residual = rng.standard_normal(n) + 0.3 * (z[0] - z[1] > 0.2)
    return z, residual - residual.mean()


def arcs_of(z, *wanted):
    return Arcs(MemoryCircles(lambda: z), *wanted)


def value_of(direction, z, residual, half=0.0):
    return abs(residual[direction @ z > 0].sum() - half)


@pytest.mark.parametrize("half", [0.0, 7.0])
@pytest.mark.parametrize("seed", range(3))
def test_every_step_of_an_arc_has_the_value_of_its_group(seed, half):
    z, residual = cells(seed)
    arcs = arcs_of(z, residual, half, np.zeros(len(residual), dtype=np.intp), 0)
    side = arcs._side(np.array([1.0, 0.4, -0.1]))
    for axis in range(3):
        along = arcs._along(side.u, axis, residual, side.sums[0])
        for place in range(0, module._N_BINS + 1, 97):
            moved = side.direction.copy()
            moved[axis] += arcs._tangents[place]
            assert along[place] == pytest.approx(residual[moved @ z > 0].sum(), abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_an_ascent_ends_where_no_direction_near_by_is_much_better(seed):
    z, residual = cells(seed)
    arcs = arcs_of(z, residual, 0.0, np.zeros(len(residual), dtype=np.intp), 0)
    start = np.array([1.0, -0.7, -0.4])
    direction, value = arcs.ascend(start)
    assert value == pytest.approx(value_of(direction, z, residual))
    assert value >= value_of(start, z, residual)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    for axis in range(3):
        for tangent in np.linspace(-0.1, 0.1, 41):
            moved = direction.copy()
            moved[axis] += tangent
            assert value_of(moved, z, residual) <= value * 1.02 + 2.0


def test_arcs_lead_to_the_best_of_a_circle_that_begins_near_it():
    z, residual = cells(11)
    z = z[:2]  # all directions are on one circle
    no_rows = np.zeros(len(residual), dtype=np.intp)
    angle = best_on_circle(z[0], z[1], residual, 0.0, no_rows, 0)
    best = value_of(np.array([np.cos(angle), np.sin(angle)]), z, residual)
    near = np.array([np.cos(angle + 0.15), np.sin(angle + 0.15)])
    assert arcs_of(z, residual, 0.0, no_rows, 0).ascend(near)[1] >= 0.99 * best


@pytest.mark.parametrize("smallest", [1, 200, 1400])
def test_groups_on_the_way_are_large_enough(smallest):
    z, residual = cells(4)
    rows = np.random.default_rng(4).integers(0, 3, len(residual))
    arcs = arcs_of(z, residual, 0.0, rows, smallest)
    direction, value = arcs.ascend(np.array([1.0, 0.1, -1.0]))
    inside = rows[direction @ z > 0].sum()
    if value >= 0:
        assert smallest <= inside <= rows.sum() - smallest
        assert value == pytest.approx(value_of(direction, z, residual))
    nobody = arcs_of(z, residual, 0.0, rows, int(rows.sum())).ascend(np.array([1.0, 0.1, -1.0]))
    assert nobody[1] == -1.0


def test_ties_are_left_out():
    z = np.array([[1.0, 0.0, -1.0], [1.0, 1.0, 1.0]])
    arcs = arcs_of(z, np.array([1.0, -0.5, -0.5]), 0.0, np.zeros(3, dtype=np.intp), 0)
    assert arcs.ascend(np.array([1.0, 0.0]))[1] == 1.0


def test_a_deadline_ends_an_ascent_with_what_it_has():
    z, residual = cells(2)
    arcs = arcs_of(z, residual, 0.0, np.zeros(len(residual), dtype=np.intp), 0)
    start = np.array([1.0, -0.7, -0.4])
    direction, value = arcs.ascend(start, deadline=-np.inf)
    np.testing.assert_allclose(direction, start / np.linalg.norm(start))
    assert value == pytest.approx(value_of(start, z, residual))
