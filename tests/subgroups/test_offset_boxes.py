"""One number and several categorical attributes: boxes of gaps against every threshold."""

import itertools
import math

import numpy as np
import pytest

from gerrymend import LinearThresholds
from gerrymend._runtime.clocks import Clock, WorkClock
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.subgroups.proofs import chains, offset_boxes
from gerrymend.subgroups.proofs.branch_and_bound import Solved
from gerrymend.subgroups.proofs.chains import Chains, Meeting
from gerrymend.subgroups.proofs.gap_boxes import (
    N_HEAP,
    N_KEPT_FREE,
    N_STACK,
    Boxes,
    free_place,
    pop,
    push,
    take_place,
)
from gerrymend.subgroups.proofs.gap_kernel import explore
from gerrymend.subgroups.proofs.offset_ascent import Ascent
from gerrymend.subgroups.proofs.offset_boxes import close_in
from gerrymend.subgroups.proofs.whole_points import Points
from tests.subgroups.brute_force import bind
from tests.subgroups.test_threshold_proofs import draw_residual, worst
from tests.subgroups.thresholds import is_threshold
from tests.subgroups.thresholds import worst as worst_of_points


def meeting_of(rng, sizes, *, n_rows=8, n_numbers=5):
    """A number and so many categories; and the same as points, the last attribute as strata."""
    codes = [rng.integers(0, size, n_rows) for size in sizes]
    number = rng.integers(0, n_numbers, n_rows)
    weight = rng.integers(-4, 5, n_rows) / 8.0
    x = [number]
    for code, size in zip(codes[:-1], sizes[:-1], strict=True):
        x += [(code == one).astype(np.int64) for one in range(1, size)]
    points = Points(np.column_stack(x), weight, codes[-1], np.zeros(n_rows, dtype=np.intp))
    return Meeting(number, codes, weight), points


SIZES = [(2, 2), (3, 2), (2, 2, 2), (2, 3, 2), (2, 2, 3)]


@pytest.mark.parametrize("sizes", SIZES)
def test_both_sides_meet_at_the_worst_threshold(sizes):
    for seed in range(8):
        meeting, points = meeting_of(np.random.default_rng([seed, *sizes]), sizes)
        true = worst_of_points(points)
        closed = close_in(meeting, known=0.0)
        assert closed.upper_bound == pytest.approx(true, abs=1e-9)
        assert closed.value == pytest.approx(true, abs=1e-9)
        if closed.members is not None:
            assert is_threshold(points, closed.members)
            assert meeting.weight[closed.members].sum() == closed.value


def test_boxes_alone_find_what_the_ascent_has_missed(monkeypatch):
    monkeypatch.setattr(offset_boxes, "_STARTS", 0)
    for seed in range(12):
        meeting, points = meeting_of(np.random.default_rng(seed), (2, 3, 2))
        closed = close_in(meeting, known=0.0)
        assert closed.value == pytest.approx(worst_of_points(points), abs=1e-9)
        assert closed.members is None or is_threshold(points, closed.members)


def test_boxes_without_room_are_explored_depth_first(monkeypatch):
    """With room for no more than a path of them, the same value, and the same bound at the end."""
    monkeypatch.setattr(offset_boxes, "_STARTS", 0)
    monkeypatch.setattr(offset_boxes, "_READS_A_LOOK", 1)
    stacked = 0
    for seed in range(6):
        meeting, points = meeting_of(np.random.default_rng(seed), (2, 3, 2), n_rows=10)
        true = worst_of_points(points)
        side = offset_boxes._Side(Chains.of(meeting, 1), 1e-12)
        side._boxes.counts[N_KEPT_FREE] = len(side._boxes.free)
        best = Solved(0.0, None, math.inf)
        while side.bound > best.value + 1e-12:
            best = side.explore(best, 0.0, Clock())
            stacked += side._boxes.counts[N_STACK]
            assert best.value <= true + 1e-12
            assert side._boxes.counts[N_HEAP] == 0
        other = close_in(meeting._replace(number=-meeting.number), known=best.value)
        assert max(best.value, other.value) == pytest.approx(true, abs=1e-9)
    assert stacked > 50


def test_the_box_with_the_highest_bound_is_next_and_places_are_used_again():
    rng = np.random.default_rng(0)
    boxes = Boxes.with_room(10_000, (2, 3, 4), 7)
    waiting = {}
    for _ in range(300):
        if waiting and (rng.random() < 0.4 or len(waiting) > 20):
            box = pop(boxes)
            assert waiting.pop(box) == max([boxes.bound[box], *waiting.values()])
            free_place(boxes, box)
        else:
            box = take_place(boxes)
            assert box not in waiting
            boxes.bound[box] = waiting[box] = rng.integers(0, 9)
            push(boxes, box)
        assert boxes.highest == max(waiting.values(), default=-math.inf)


def test_known_enough_and_target_only_end_it_sooner(monkeypatch):
    monkeypatch.setattr(offset_boxes, "_STARTS", 2)
    for seed in range(8):
        meeting, points = meeting_of(np.random.default_rng(seed), (2, 2, 2))
        true = worst_of_points(points)
        for known, factor in itertools.product((0.0, 0.5 * true, true), (0.9, 1.2)):
            closed = close_in(meeting, known=known, target=factor * true)
            assert closed.upper_bound >= true - 1e-12
            closed = close_in(meeting, known=known, enough=factor * true)
            assert closed.value <= true + 1e-12 <= closed.upper_bound + 2e-12


def test_a_bound_holds_whenever_the_clock_ends_it():
    class Looks(Clock):
        """A clock that moves on whenever it is looked at."""

        n = 0

        def __call__(self):
            self.n += 1
            return float(self.n)

    for seed in range(5):
        meeting, points = meeting_of(np.random.default_rng(seed), (2, 3, 2))
        true = worst_of_points(points)
        for deadline in (0, 1, 2, 3, 5, 9, 90, 140, 160):
            clock = Looks()
            closed = close_in(meeting, known=0.0, deadline=deadline, clock=clock)
            assert closed.upper_bound >= true - 1e-12 >= closed.value - 2e-12
            assert clock.n <= deadline + 6, "no look after the deadline but each side's"


def test_a_bound_by_work_ends_by_work_alone():
    """The same whatever the time, as good as the work allows, and right wherever it ends."""
    for seed in range(5):
        meeting, points = meeting_of(np.random.default_rng(seed), (2, 3, 2))
        true = worst_of_points(points)
        ends = []
        for work in (0.0, 1e3, 1e5, 1e12):
            closed, again = (
                close_in(meeting, known=0.0, deadline=work, clock=WorkClock()) for _ in range(2)
            )
            assert (closed.value, closed.upper_bound) == (again.value, again.upper_bound)
            assert closed.upper_bound >= true - 1e-12 >= closed.value - 2e-12
            ends.append(closed.upper_bound)
        assert ends[0] == math.inf
        assert ends[-1] == pytest.approx(true)
        assert ends == sorted(ends, reverse=True)


@pytest.mark.parametrize("limit", ["MOST_NUMBERS", "_MOST_CHAINS"])
def test_a_bound_holds_of_pooled_numbers_and_of_joint_strata(monkeypatch, limit):
    monkeypatch.setattr(chains, limit, 3)
    monkeypatch.setattr(chains, "_FEWEST_NUMBERS", 3)
    tight = 0
    for seed in range(20):
        meeting, points = meeting_of(np.random.default_rng(seed), (2, 2, 3), n_numbers=12)
        assert not Chains.of(meeting, 1).is_whole
        closed = close_in(meeting, known=0.0)
        assert closed.members is None, "no group of the class is at hand"
        tight += closed.upper_bound < np.maximum(meeting.weight, 0.0).sum() - 1e-9
        assert closed.upper_bound >= worst_of_points(points) - 1e-12
    assert tight >= 3, "and it is no trivial one"


def test_numbers_of_any_length_are_pooled(monkeypatch):
    monkeypatch.setattr(chains, "MOST_NUMBERS", 16)
    meeting, points = meeting_of(np.random.default_rng(4), (2, 2, 2), n_numbers=9)
    long = np.array([10**40 * int(number) for number in meeting.number], dtype=object)
    assert not Chains.of(meeting._replace(number=long), 1).is_whole
    closed = close_in(meeting._replace(number=long), known=0.0)
    assert closed.upper_bound >= worst_of_points(points) - 1e-12


def test_tables_are_in_one_piece():
    """Else numba compiles loops for strided arrays, which are slower to compile and to run."""
    meeting, _ = meeting_of(np.random.default_rng(0), (2, 3, 2))
    chains_of = Chains.of(meeting, 1)
    for array in (chains_of.worth, chains_of.table.highest, chains_of.table.last):
        assert array.flags.c_contiguous


def test_offsets_of_an_ascent_are_worth_what_it_says():
    for seed in range(6):
        meeting, points = meeting_of(np.random.default_rng(seed), (3, 2, 4), n_rows=30)
        ascent = Ascent(Chains.of(meeting, 1))
        values = []
        for start in range(4):
            values.append(ascent.start(start))
            assert meeting.weight[ascent.members()].sum() == pytest.approx(values[-1], abs=1e-12)
            assert is_threshold(points, ascent.members())
        assert max(values) > 0.0


def test_gaps_add_up():
    """Of random offsets: a gap is the difference of two chains', a sum that of two gaps."""
    (gap, opposite, sums, *_), has_category = chains._gaps([2, 3])
    rng = np.random.default_rng(0)
    offset = has_category @ rng.standard_normal(5)
    assert len(has_category) == 6
    assert len(opposite) == 3 * 7, "as many as pairs of categories, or none, of either attribute"
    apart = np.zeros(len(opposite))
    apart[gap] = offset[:, None] - offset
    assert np.allclose(apart[gap], offset[:, None] - offset)
    assert np.allclose(apart[opposite], -apart)
    first, second = np.nonzero(sums >= 0)
    assert np.allclose(apart[sums[first, second]], apart[first] + apart[second])
    assert len(first) > 100


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3, 2)])
def test_an_audit_closes_its_bracket(sizes):
    for seed in range(8):
        columns, residual = meeting_columns(np.random.default_rng([seed, *sizes]), sizes=sizes)
        bracket = bind(LinearThresholds(restarts=2), columns).prove(residual)
        true = worst(residual, columns)
        assert abs(float(bracket.found.values[0])) == pytest.approx(true, abs=1e-9)
        assert bracket.upper_bound == pytest.approx(true, abs=1e-9)


def meeting_columns(rng, *, sizes, n_rows=8, n_numbers=5):
    """A number and one-hot blocks of these sizes, as an audit has them; every category is there."""
    columns = [Column("age", rng.integers(0, n_numbers, n_rows).astype(float))]
    for j, size in enumerate(sizes):
        codes = np.append(np.arange(size), rng.integers(0, size, n_rows - size))
        columns.append(Column(f"c{j}", rng.permutation(codes).astype(float), tuple("abcd"[:size])))
    columns = distinct_rows(columns).columns
    return columns, draw_residual(rng, len(columns[0].values))


def test_the_bound_of_many_people_is_within_a_tenth_of_what_is_found():
    """30,000 rows of the kind that no cone could bound."""
    columns, residual = people(np.random.default_rng(0))
    codes = [column.values.astype(np.intp) for column in columns[1:]]
    meeting = Meeting(columns[0].values.astype(np.int64), codes, residual)
    search = bind(LinearThresholds(restarts=2), columns)
    known = abs(float(search.worst(residual[None]).values[0]))
    closed = close_in(meeting, known=known, target=1.1 * known)
    assert known <= closed.value <= closed.upper_bound <= 1.1 * closed.value + 1e-9


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


def test_nothing_to_take_is_worth_nothing():
    meeting, _ = meeting_of(np.random.default_rng(0), (2, 2, 2))
    assert close_in(meeting._replace(weight=np.zeros(8)), known=0.0).upper_bound == 0.0
    assert math.isinf(close_in(meeting, known=0.0, deadline=-math.inf).upper_bound)


def values_of(chains_of, offsets):
    """Value of each stratum with its last row in chain r at number x, of given offsets; −∞: none.

    A chain's rows are in from the last row's number plus the gap of the two chains on.
    """
    n_strata, n_chains, n_numbers = chains_of.table.last.shape
    offset = chains_of.has_category @ offsets
    value = np.full((n_strata, n_chains, n_numbers), -math.inf)
    for s, r, x in np.argwhere(np.isfinite(chains_of.table.last)):
        begins = np.ceil(x + offset[r] - offset).clip(0, n_numbers).astype(int)
        value[s, r, x] = chains_of.worth[s, range(n_chains), begins].sum()
    return value


def bound_each_for_itself(chains_of, low, high):
    """The bound of a box where each chain has its own threshold."""
    n_strata, n_chains, n_numbers = chains_of.table.last.shape
    best = np.zeros(n_strata)
    for s, r, x in np.argwhere(np.isfinite(chains_of.table.last)):
        bound = chains_of.table.last[s, r, x]
        for y in set(range(n_chains)) - {r}:
            gap = chains_of.gaps.between[r, y]
            begins = np.arange(x + low[gap] + 1, x + high[gap] + 1).clip(0, n_numbers)
            bound += chains_of.worth[s, y, begins].max()
        best[s] = max(best[s], bound)
    return best.sum()


def gaps_of(chains_of, offsets):
    offset = chains_of.has_category @ offsets
    gap = np.zeros(len(chains_of.gaps.opposite))
    gap[chains_of.gaps.between] = offset[:, None] - offset
    return gap


def assert_bounded(side, box, offsets):
    """Neither a last row, nor a stratum, nor their sum is worth more than a box says."""
    value = values_of(side._chains, offsets)
    assert (value.max(axis=2) <= side._boxes.peak[box] + 1e-12).all()
    assert value.max(axis=(1, 2)).clip(0.0).sum() <= side._boxes.bound[box] + 1e-12
    return value


FAMILIES = [(2, 2, 2), (3, 2, 3), (3, 3, 3), (2, 2, 2, 3)]
NO_GOAL = -1e9  # so that no last row and no box is left out


@pytest.mark.parametrize("sizes", FAMILIES)
def test_no_offsets_in_a_box_are_above_its_bounds(sizes):
    """80 boxes around offsets, and families make bounds lower than chains for themselves."""
    lower = 0
    for seed in range(80):
        rng = np.random.default_rng([seed, *sizes])
        meeting, _ = meeting_of(rng, sizes, n_rows=60, n_numbers=9)
        side = offset_boxes._Side(Chains.of(meeting, 1), 1e-12)
        boxes = side._boxes
        offsets = rng.uniform(-4.0, 4.0, side._chains.has_category.shape[1])
        gap = gaps_of(side._chains, offsets)
        box = side._put_all()
        room = rng.integers(0, rng.integers(1, 7), len(gap))
        boxes.low[box, 1:] = (np.floor(gap) - room)[1:]
        boxes.high[box, 1:] = -boxes.low[box, side._chains.gaps.opposite[1:]]
        explore(side._chains.table, side._chains.gaps, boxes, side._desk, box, NO_GOAL, 0)
        value = assert_bounded(side, box, offsets)
        is_read = side._desk.stage > 0
        assert is_read.any()
        assert (value[is_read] <= side._desk.profile[is_read] + 1e-12).all()
        for_itself = bound_each_for_itself(side._chains, boxes.low[box], boxes.high[box])
        assert boxes.bound[box] <= for_itself + 1e-12
        lower += boxes.bound[box] < for_itself - 1e-9
    assert lower > 10


@pytest.mark.parametrize("sizes", FAMILIES)
def test_what_boxes_pass_on_bounds_all_offsets_in_their_halves(sizes):
    n_found = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, *sizes])
        meeting, _ = meeting_of(rng, sizes, n_rows=200, n_numbers=24)
        side = offset_boxes._Side(Chains.of(meeting, 1), 1e-12)
        boxes = side._boxes
        first = side._put_all()
        explore(side._chains.table, side._chains.gaps, boxes, side._desk, first, NO_GOAL, 10**7)
        waiting = boxes.heap[: boxes.counts[N_HEAP]]
        for _ in range(100):
            offsets = rng.uniform(-9.0, 9.0, side._chains.has_category.shape[1])
            gap = gaps_of(side._chains, offsets)[1:]
            within = (boxes.low[waiting, 1:] < gap) & (gap < boxes.high[waiting, 1:])
            for box in waiting[within.all(axis=1)]:
                assert_bounded(side, box, offsets)
                n_found += 1
    assert n_found > 100, "but for those in the box that is being halved"
