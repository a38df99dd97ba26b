"""One number and several categorical attributes: boxes of offsets against every threshold."""

import itertools
import math

import numpy as np
import pytest

from gerrymend import LinearThresholds
from gerrymend._runtime.clocks import Clock
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.subgroups.proofs import chain_kernel, offset_boxes
from gerrymend.subgroups.proofs.offset_boxes import bound_over_boxes
from gerrymend.subgroups.proofs.whole_points import Points
from tests.subgroups.brute_force import bind
from tests.subgroups.test_threshold_proofs import draw_residual, worst
from tests.subgroups.thresholds import worst as worst_of_points


def meeting(rng, *, sizes, n_rows=8, n_numbers=5):
    """A number and one-hot blocks of these sizes, as an audit has them; every category is there."""
    columns = [Column("age", rng.integers(0, n_numbers, n_rows).astype(float))]
    for j, size in enumerate(sizes):
        codes = np.append(np.arange(size), rng.integers(0, size, n_rows - size))
        columns.append(Column(f"c{j}", rng.permutation(codes).astype(float), tuple("abcd"[:size])))
    columns = distinct_rows(columns).columns
    return columns, draw_residual(rng, len(columns[0].values))


def points_of(rng, sizes, *, n_rows=8, n_numbers=5):
    """The last block as strata, the others as indicators of all but the first; and the widths."""
    codes = [rng.integers(0, size, n_rows) for size in sizes]
    x = [rng.integers(0, n_numbers, n_rows)]
    for code, size in zip(codes[:-1], sizes[:-1], strict=True):
        x += [(code == one).astype(np.int64) for one in range(1, size)]
    weight = rng.integers(-4, 5, n_rows) / 8.0
    points = Points(np.column_stack(x), weight, codes[-1], np.zeros(n_rows, dtype=np.intp))
    return points, [size - 1 for size in sizes[:-1]]


@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (2, 2, 2), (2, 3, 2), (2, 2, 3)])
def test_no_threshold_is_above_the_bound(sizes):
    tight = 0
    for seed in range(8):
        points, widths = points_of(np.random.default_rng([seed, *sizes]), sizes)
        true = worst_of_points(points)
        bound = bound_over_boxes(points, widths, known=0.0)
        assert bound >= true - 1e-12
        tight += bound <= true + 1e-9
    assert tight >= 3, "and it is no trivial one"


def test_bounds_below_the_target_are_no_bounds():
    """Windows leave out what is not above the target: here .25, when that was .2625."""
    x = [[0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0], [0, 1, 1], [0, 0, 1]]
    weight = np.array([-3, -3, 2, -2, -1, 1, -1, -1]) / 8.0
    stratum = np.array([1, 2, 2, 0, 0, 1, 1, 1])
    points = Points(np.array(x), weight, stratum, np.zeros(8, dtype=np.intp))
    assert worst_of_points(points) == 0.25
    assert bound_over_boxes(points, [1, 1], known=0.0) >= 0.25


def test_known_and_target_only_end_it_sooner():
    for seed in range(8):
        points, widths = points_of(np.random.default_rng(seed), (2, 2, 2))
        true = worst_of_points(points)
        for known, target in itertools.product((0.0, 0.5 * true, true), (0.9 * true, 1.2 * true)):
            bound = bound_over_boxes(points, widths, known=known, target=target)
            assert bound >= true - 1e-12


def test_a_bound_holds_whenever_the_clock_ends_it():
    class Looks(Clock):
        """A clock that moves on whenever it is looked at."""

        n = 0

        def __call__(self):
            self.n += 1
            return float(self.n)

    for seed in range(5):
        points, widths = points_of(np.random.default_rng(seed), (2, 3, 2))
        true = worst_of_points(points)
        for deadline in (0, 1, 2, 3, 5, 9):
            clock = Looks()
            bound = bound_over_boxes(points, widths, known=0.0, deadline=deadline, clock=clock)
            assert bound >= true - 1e-12
            assert clock.n <= max(deadline, 1) + 2, "no look after the deadline but each side's"


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3, 2)])
def test_an_audit_closes_its_bracket(sizes):
    for seed in range(8):
        columns, residual = meeting(np.random.default_rng([seed, *sizes]), sizes=sizes)
        bracket = bind(LinearThresholds(restarts=2), columns).prove(residual)
        true = worst(residual, columns)
        assert abs(float(bracket.found.values[0])) == pytest.approx(true, abs=1e-9)
        assert bracket.upper_bound == pytest.approx(true, abs=1e-9)


def test_it_is_much_closer_than_every_joint_category_on_its_own():
    """30,000 rows of the kind that no cone could bound: within a fifth of what was found."""
    columns, residual = people(np.random.default_rng(0))
    bound = bind(LinearThresholds(restarts=2), columns)
    found = abs(float(bound.worst(residual[None]).values[0]))
    points, widths = points_from(columns, residual)
    proven = bound_over_boxes(points, widths, known=found, target=1.2 * found)
    assert found <= proven <= 1.2 * found + 1e-9
    assert proven < 0.5 * np.maximum(residual, 0.0).sum()


def people(rng, n_rows=30_000):
    """Ages with categories that go with them, and decisions that lean on all of them."""
    age = rng.integers(18, 91, n_rows).astype(float)
    codes = [
        (rng.gumbel(size=(n_rows, size)) + np.outer((age - 50) / 40, np.arange(size))).argmax(
            axis=1
        )
        for size in (2, 4, 7)
    ]
    columns = [Column("age", age)]
    for j, code in enumerate(codes):
        columns.append(Column(f"c{j}", code.astype(float), tuple("abcdefg"[: code.max() + 1])))
    chance = 0.2 + 0.002 * (age - 50) + 0.02 * codes[0] - 0.02 * codes[1]
    decided = (rng.random(n_rows) < chance).astype(float)
    cells = distinct_rows(columns)
    return cells.columns, np.bincount(cells.index, decided - decided.mean())


def points_from(columns, residual):
    x = [columns[0].values.astype(np.int64)]
    for column in columns[1:-1]:
        x += [(column.values == one).astype(np.int64) for one in range(1, len(column.categories))]
    stratum = columns[-1].values.astype(np.intp)
    points = Points(np.column_stack(x), residual, stratum, np.zeros(len(residual), dtype=np.intp))
    return points, [len(column.categories) - 1 for column in columns[1:-1]]


def test_offsets_that_float64_could_not_tell_apart_are_left_to_cones():
    points, widths = points_of(np.random.default_rng(0), (2, 2, 2))
    assert offset_boxes.fits(points, widths)
    points.x[0, 0] = 2**40
    assert not offset_boxes.fits(points, widths)


def test_nothing_to_take_is_worth_nothing():
    points, widths = points_of(np.random.default_rng(0), (2, 2, 2))
    points.weight[:] = 0.0
    assert bound_over_boxes(points, widths, known=0.0) == 0.0
    assert math.isinf(bound_over_boxes(points_of(np.random.default_rng(1), (2, 2))[0], [1],
                                       known=0.0, deadline=-math.inf))  # fmt: skip


@pytest.mark.parametrize("widths", [(3,), (1, 2), (2, 2), (1, 1, 1), (1, 3)])
def test_no_system_of_differences_needs_larger_offsets(widths):
    """All solutions of k equations with right-hand sides ±1, against what boxes are made for."""
    rows = np.array([sum(row, ()) for row in itertools.product(*map(differences, widths))])
    first = rows[np.arange(len(rows)), (rows != 0).argmax(axis=1)]
    some = list(itertools.combinations(rows[first > 0], sum(widths)))
    systems = np.array(some)[np.abs(np.linalg.det(np.array(some))) > 0.5]
    needed = np.abs(np.linalg.inv(systems)).sum(axis=2).max(axis=0)
    points = Points(np.arange(2)[:, None], np.ones(2), np.zeros(2, int), np.zeros(2, int))
    allowed = offset_boxes._largest_offsets(points, widths)  # of numbers from 0 to 1: X + 1 = 2
    assert (2.0 * needed < allowed).all()
    assert needed.max() >= sum(widths) / 2, "and systems there are"


def differences(width):
    """Differences of two categories' indicators, the first of which has none."""
    categories = np.vstack([np.zeros(width), np.eye(width)])
    return sorted({tuple((a - b).tolist()) for a in categories for b in categories})


def test_runs_are_merged_into_one_order():
    rng = np.random.default_rng(0)
    for n_runs in (1, 2, 3, 5, 8):
        sizes = rng.integers(1, 6, n_runs)
        values = np.concatenate([np.sort(rng.integers(0, 9, size)) for size in sizes]).astype(float)
        runs = np.append(0, np.cumsum(sizes))
        order = chain_kernel._merged(values, runs)
        assert order.tolist() == np.argsort(values, kind="stable").tolist()
    assert len(chain_kernel._merged(np.empty(0), np.zeros(1, dtype=np.intp))) == 0
