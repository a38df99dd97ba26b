"""Branch and bound against every linear threshold, listed by code that shares none with it."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from gerrymend._runtime.clocks import WorkClock
from gerrymend.subgroups.proofs.branch_and_bound import solve
from gerrymend.subgroups.proofs.cone_bounds import (
    best_thresholds,
    cone_bound,
    dominance_bound,
    profile_bound,
    sides,
)
from tests.subgroups.thresholds import groups, is_threshold, points_of, random_points, value, worst

# Numbers that a proof may read here, so that one that would never end is seen on any machine.
WORK = 1e10
seeds = st.integers(0, 1_000_000)


def assert_proven(points, solved, expected=None):
    """The largest value of all, and a group that has it and exists."""
    expected = worst(points) if expected is None else expected
    assert solved.value == pytest.approx(expected, abs=1e-9)
    assert solved.upper_bound == solved.value
    if solved.members is not None:
        counted = points.weight != 0
        assert float(value(points.weight, solved.members)) == pytest.approx(solved.value, abs=1e-9)
        if (points.rank == 0).all():
            assert is_threshold(points, solved.members)
        assert any(np.array_equal(g[counted], solved.members[counted]) for g in groups(points))


@pytest.mark.parametrize("block", range(6))
def test_the_proven_value_is_the_largest_of_all(block):
    for seed in range(60):
        points = random_points(np.random.default_rng([block, seed]), ranked=block % 3 == 0)
        assert_proven(points, solve(points))


@given(seeds)
def test_any_instance(seed):
    points = random_points(np.random.default_rng(seed), most_rows=9)
    assert_proven(points, solve(points))


def test_weights_that_cancel_are_neither_positive_nor_negative():
    """Sorted among the positive rows, one made the bounds of others too low."""
    x = [[0, 1], [0, 1], [1, 0], [0, 0], [2, 2]]
    points = points_of(x, [1.0, -1.0, 1.0, -1.0, -2.0])
    solved = solve(points)
    assert_proven(points, solved, 1.0)
    assert solved.members[0] == solved.members[1], "no threshold parts rows that coincide"


def test_cancelled_rows_are_on_the_side_that_the_threshold_puts_them():
    points = points_of([[0], [1], [1], [2], [3]], [-1.0, 1.0, -1.0, -1.0, 3.0])
    assert solve(points).members.tolist() == [False, False, False, False, True]
    points = points_of([[0], [1], [1], [2], [3]], [-1.0, 1.0, -1.0, 2.0, 3.0])
    assert solve(points).members[3:].all()
    points = points_of([[0], [1], [1], [2]], [1.0, 1.0, -1.0, 2.0])
    assert solve(points).members.all(), "the rows between two that are in"


@pytest.mark.parametrize("weight", [[0.0, 0.0], [1.0, 2.0], [-1.0, -2.0], [0.0, 1.0]])
def test_one_sign_leaves_nothing_to_choose(weight):
    solved = solve(points_of([[0], [1]], weight))
    assert solved.value == solved.upper_bound == max(0.0, sum(weight))


def test_nothing_to_order_by():
    points = points_of(np.zeros((4, 0)), [1.0, -2.0, 3.0, -1.0], [0, 0, 1, 1])
    assert solve(points).value == 2.0


@pytest.mark.parametrize("seed", range(12))
def test_grids_on_which_halving_would_never_end(seed):
    """3 × 3 × 3: whole planes are tied in each direction that matters."""
    rng = np.random.default_rng(seed)
    grid = np.array(np.meshgrid(*[range(3)] * 3)).reshape(3, -1).T
    chosen = rng.choice(len(grid), 14, replace=False) if seed % 2 else np.arange(18)
    points = points_of(grid[chosen], rng.choice([-1.0, 1.0], len(chosen)))
    assert_proven(points, solve(points, deadline=WORK, clock=WorkClock()))


def test_a_large_grid_of_ties_ends():
    """More rows of a plane are in question than is cheap to compare: still it must end."""
    rng = np.random.default_rng(0)
    grid = np.array(np.meshgrid(*[range(16)] * 3)).reshape(3, -1).T
    weight = np.where(grid[:, 0] >= 8, 1.0, -1.0) * np.where(rng.random(len(grid)) < 0.9, 1, -1)
    solved = solve(points_of(grid, weight), deadline=WORK, clock=WorkClock())
    assert solved.upper_bound == solved.value


def test_whole_planes_at_high_and_low_ranks():
    rng = np.random.default_rng(5)
    for _ in range(25):
        points = random_points(rng, ranked=True, most_rows=9)
        assert_proven(points, solve(points))


# --- Brackets ---


@given(seeds, st.sampled_from([0.0, 0.0005, 0.003]))
def test_a_bracket_holds_whenever_it_ends(seed, seconds):
    points = random_points(np.random.default_rng(seed), most_rows=9)
    true = worst(points)
    solved = solve(points, deadline=time.monotonic() + seconds)
    assert solved.value <= true + 1e-9 <= solved.upper_bound + 2e-9
    if solved.members is not None:
        assert is_threshold(points, solved.members)


@given(seeds, st.sampled_from([0.3, 0.9, 1.0, 1.1, 3.0]))
def test_a_question_is_answered_right(seed, factor):
    points = random_points(np.random.default_rng(seed), most_rows=9)
    true = worst(points)
    limit = factor * true
    solved = solve(points, enough=limit, target=limit)
    assert solved.value <= true + 1e-9 <= solved.upper_bound + 2e-9
    if factor < 1.0 and true > 1e-6:
        assert solved.value > limit
    else:
        assert solved.upper_bound <= limit + 1e-9


@given(seeds, st.sampled_from([-2.0, 0.5, 1.0, 2.0]))
def test_what_is_known_is_the_least_that_comes_out(seed, factor):
    points = random_points(np.random.default_rng(seed), most_rows=8)
    true = worst(points)
    known = factor * true
    solved = solve(points, known=known)
    assert solved.value == pytest.approx(max(true, known), abs=1e-9)
    assert (solved.members is None) == (solved.value == known)
    assert solved.upper_bound == pytest.approx(max(true, known), abs=1e-9)


# --- Bounds of one cone ---


def sorted_rows(points):
    order = np.lexsort((points.stratum, points.weight <= 0))
    points = points.take(order)
    n_positive = int((points.weight > 0).sum())
    strata = np.arange(points.n_strata + 1)
    positives = np.searchsorted(points.stratum[:n_positive], strata)
    return points, positives, n_positive + np.searchsorted(points.stratum[n_positive:], strata)


def best_in_direction(points, u):
    """The best thresholds of one direction, cut by cut."""
    total = 0.0
    for stratum in np.unique(points.stratum):
        mine = points.stratum == stratum
        cuts = [points.weight[mine & (u >= cut)].sum() for cut in np.unique(u[mine])]
        total += max(0.0, *cuts)
    return total


@given(seeds)
def test_no_direction_of_a_cone_is_above_its_bounds(seed):
    rng = np.random.default_rng(seed)
    points, positives, negatives = sorted_rows(random_points(rng, most_rows=14))
    z = points.x.astype(float)
    d = z.shape[1]
    generators = rng.standard_normal(d) + rng.choice([0.02, 0.3, 2.0]) * rng.standard_normal((d, d))
    offsets = rng.standard_normal((d, points.n_strata))
    u = generators @ z.T - offsets[:, points.stratum]
    eps = 1e-10
    both = cone_bound(u, points.weight, positives, negatives, -np.inf, eps)
    profile = profile_bound(u, points.weight, positives, negatives, eps)
    dominance = dominance_bound(u, points.weight, positives, negatives, -np.inf, eps)
    extreme = np.where(points.weight > 0, u.max(axis=0), u.min(axis=0))
    thresholds = np.empty(points.n_strata)
    again = best_thresholds(extreme, points.weight, positives, negatives, eps, thresholds)
    assert both == min(profile, dominance)
    assert profile == pytest.approx(again)
    parts = np.vstack([np.eye(d), rng.dirichlet(np.ones(d), 60)])
    reached = max(best_in_direction(points, part @ generators @ z.T) for part in parts)
    assert reached <= both + 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_the_flow_is_at_least_half_of_the_largest(seed):
    """As no more can be added to it; of more rows than are compared at once. Ties are frequent."""
    rng = np.random.default_rng(seed)
    points, positives, negatives = sorted_rows(
        points_of(
            rng.integers(0, 40, (600, 3)), rng.integers(-9, 3, 600) + 0.0, rng.integers(0, 2, 600)
        )
    )
    u = (np.eye(3) + rng.random((3, 3)).round(1)) @ points.x.T
    n_positive = positives[-1]
    most = points.weight[:n_positive].sum()
    apart = u[:, :n_positive, None] + 1e-10 <= u[:, None, n_positive:]
    same = points.stratum[:n_positive, None] == points.stratum[n_positive:]
    largest = largest_flow(points.weight, n_positive, apart.all(axis=0) & same)
    flow = most - dominance_bound(u, points.weight, positives, negatives, -np.inf, 1e-10)
    assert 0.5 * largest <= flow <= largest
    for target in (most - 0.3 * flow, most - flow, most - 2 * flow):
        bound = dominance_bound(u, points.weight, positives, negatives, target, 1e-10)
        assert most - flow <= bound <= max(target, most - flow)


def largest_flow(weight, n_positive, dominated):
    """From rows of positive weight to those of negative weight, by the book."""
    m = len(weight)
    capacity = np.zeros((m + 2, m + 2), dtype=np.int32)
    capacity[m, :n_positive] = weight[:n_positive]
    capacity[n_positive:m, m + 1] = -weight[n_positive:]
    capacity[:n_positive, n_positive:m] = 10**6 * dominated
    return maximum_flow(csr_array(capacity), m, m + 1).flow_value


@given(seeds)
def test_sides_hold_in_the_whole_cone(seed):
    rng = np.random.default_rng(seed)
    u = rng.integers(0, 4, (int(rng.integers(1, 4)), 9)).astype(float)
    stratum = rng.integers(0, 2, 9)
    rows = rng.permutation(9)[:4]
    for j, side in zip(rows, sides(u, rows, stratum, 1e-10), strict=True):
        for i in range(9):
            difference = u[:, i] - u[:, j]
            expected = (difference > 0).all() * 1 - (difference < 0).all() * 1
            assert side[i] == (expected if stratum[i] == stratum[j] and i != j else 2)


@given(seeds)
def test_a_cone_of_one_direction_is_bounded_by_its_value(seed):
    rng = np.random.default_rng(seed)
    points, positives, negatives = sorted_rows(random_points(rng, most_rows=14))
    u = rng.integers(0, 5, len(points.weight)).astype(float)
    bound = cone_bound(u[None], points.weight, positives, negatives, -np.inf, 1e-10)
    assert bound >= best_in_direction(points, u) - 1e-9
    thresholds = np.empty(points.n_strata)
    apart = rng.permutation(len(u)).astype(float)
    exact = best_thresholds(apart, points.weight, positives, negatives, 1e-10, thresholds)
    assert exact == pytest.approx(best_in_direction(points, apart), abs=1e-9)


# --- Numbers ---


def nearly(points, rng):
    """A column that is another, or a fraction of two, but for a bit."""
    large = points.x.astype(object) * 10 ** int(rng.integers(3, 18))
    bit = rng.integers(0, 3, len(large)).astype(object)
    if large.shape[1] > 1 and rng.random() < 0.5:
        return np.column_stack([large, (3 * large[:, 0] + 4 * large[:, 1]) // 10 + bit])
    return np.column_stack([large, large[:, 0] + bit])


@given(seeds)
def test_columns_that_almost_depend_on_others(seed):
    """A direction in which columns all but cancel is a direction like any other."""
    rng = np.random.default_rng(seed)
    points = random_points(rng, most_rows=9, most_dimensions=2)
    points = points_of(nearly(points, rng), points.weight, points.stratum)
    solved = solve(points, deadline=WORK, clock=WorkClock())
    true = worst(points)
    assert solved.value <= true + 1e-9 <= solved.upper_bound + 2e-9
    assert solved.upper_bound == pytest.approx(true, abs=1e-9)


def test_a_billion_and_one():
    large = np.arange(6) * 10**9
    x = np.column_stack([large, large + np.arange(6) % 2])
    points = points_of(x, [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    assert solve(points).value == 3.0


def test_strata_far_from_each_other():
    """What is between strata costs no digits within them."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        points = random_points(rng, most_rows=9, most_dimensions=3)
        far = points.x + 10**14 * points.stratum[:, None]
        solved = solve(points_of(far, points.weight, points.stratum))
        assert_proven(points, solved)


def test_one_number_of_any_size():
    values = np.array([0, 1, 2, 10**30, 10**30 + 1, 10**700], dtype=object)
    points = points_of(values[:, None], [-1.0, 1.0, -1.0, -1.0, 1.0, 1.0])
    solved = solve(points)
    assert solved.value == solved.upper_bound == 2.0


@pytest.mark.parametrize("d", [2, 3])
def test_numbers_in_general_position(d):
    rng = np.random.default_rng(d)
    for _ in range(5):
        x = rng.integers(0, 10**17, (12, d)).astype(object)
        points = points_of(x, rng.standard_normal(12))
        solved = solve(points)
        assert solved.value == solved.upper_bound == pytest.approx(worst(points), abs=1e-9)
