"""Cells that lie on a device are searched as those in memory are: here by torch, on the CPU."""

from functools import partial

import numpy as np
import pytest

from gerrymend import Conjunctions, LinearThresholds, Trees
from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.places import MEMORY, Place
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.subgroups.proofs.threshold_proofs import ThresholdProofs
from gerrymend.subgroups.thresholds import ascents
from gerrymend.subgroups.thresholds.circles import Climb, MemoryCircles
from gerrymend.subgroups.thresholds.placed_circles import PlacedCircles
from gerrymend.subgroups.thresholds.standardised import standardised
from tests.subgroups.brute_force import bind
from tests.subgroups.test_clusters import best_of_two_numbers

N = 400


@pytest.fixture(scope="module")
def place():
    """Where tensors are; torch is imported by the process that runs these tests alone."""
    return Place.of(pytest.importorskip("torch").zeros(1))


def cells(seed, *, ties):
    """Standardised columns and a row of ones, and a residual that sums to 0 or not."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((3, N))
    if ties:
        columns = np.rint(2 * columns)
    z = standardised(columns, N, columns.mean(axis=1), columns.std(axis=1))
    residual = rng.standard_normal(N)  # no two groups have the same sum
    return z, residual - (residual.mean() if seed % 2 else 0.0)


def both(z, place):
    here = MemoryCircles(lambda: z)
    return here, PlacedCircles(here, place)


@pytest.mark.parametrize("smallest", [0, 60])
@pytest.mark.parametrize("ties", [False, True], ids=["apart", "tied"])
@pytest.mark.parametrize("seed", range(6))
def test_each_circle_leads_as_high_as_in_memory(place, seed, ties, smallest):
    """From the same direction: the first group of a circle and the last are as bad as one another.

    Where W sums to 0 they are complements, and rounding tells in memory which of them it takes.
    """
    z, residual = cells(seed, ties=ties)
    rows = np.random.default_rng(seed).integers(1, 4, N)
    here, there = both(z, place)
    wanted = here.wanted(residual, rows, smallest)
    wanted_there = there.wanted(place.put(residual), rows, smallest)
    for start in np.random.default_rng(seed + 100).standard_normal((4, len(z))):
        at = Climb(start / np.linalg.norm(start))
        while at.since_gain < len(z):
            other = there.climb(wanted_there, at, 1, 1e-12)
            at = here.climb(wanted, at, 1, 1e-12)
            assert other.value == pytest.approx(at.value, abs=1e-9)
            assert other.turn == at.turn
            assert there.value(wanted_there, at.direction) == pytest.approx(at.value, abs=1e-9)
        whole = there.climb(wanted_there, Climb(start / np.linalg.norm(start)), 1000, 1e-12)
        assert whole.since_gain == len(z)
        again = there.climb(wanted_there, Climb(whole.direction), len(z), 1e-12)
        assert again.since_gain == len(z)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_of_directions_is_the_same(place, seed):
    z, residual = cells(seed, ties=True)
    here, there = both(z, place)
    directions = np.random.default_rng(seed).standard_normal((5, len(z)))
    directions[0] = [1.0, 0.0, 0.0, -z[0, 7]]  # through some cells
    put = place.put(residual)
    for direction in directions:
        one = here.side(residual, direction)
        other = there.side(put, direction)
        assert other.value == pytest.approx(one.value, abs=1e-12)
        assert other[1:] == one[1:]
    found = here.found(np.stack([residual] * 5), directions)
    found_there = there.found(place.xp.stack([put] * 5), directions)
    np.testing.assert_allclose(found_there.values, found.values, atol=1e-12)
    np.testing.assert_array_equal(on_host(found_there.members), found.members)
    np.testing.assert_allclose(there.products(put), here.products(residual), atol=1e-10)


def test_clusters_have_the_sums_of_their_cells(place):
    z, residual = cells(1, ties=False)
    rows = np.arange(N)
    here, there = both(z, place)
    ours = there.clusters(50)
    theirs = here.clusters(50)
    np.testing.assert_array_equal(ours.means, theirs.means)
    for smallest in (0, 10):
        sums = ours.summed(there.wanted(place.put(residual), rows, smallest))
        expected = theirs.summed(here.wanted(residual, rows, smallest))
        np.testing.assert_allclose(sums.residual, expected.residual, atol=1e-12)
        assert not smallest or np.array_equal(sums.rows, expected.rows)


@pytest.mark.parametrize("smallest", [0, 100])
@pytest.mark.parametrize("seed", range(4))
def test_arcs_lead_where_those_in_memory_do(place, seed, smallest):
    z, residual = cells(seed, ties=False)
    rows = np.random.default_rng(seed).integers(1, 4, N)
    here, there = both(z, place)
    wanted = here.wanted(residual, rows, smallest)
    wanted_there = there.wanted(place.put(residual), rows, smallest)
    for start in np.random.default_rng(seed).standard_normal((6, len(z))):
        direction, value = here.climb_arcs(wanted, start, np.inf)
        found, reached = there.climb_arcs(wanted_there, start, np.inf)
        assert reached == pytest.approx(value, abs=1e-9)
        np.testing.assert_allclose(found, direction, atol=1e-12)


def test_points_are_the_cells_that_count(place):
    z, residual = cells(3, ties=False)
    residual[::3] = 0.0
    here, there = both(z, place)
    for one, other in zip(there.points(place.put(residual)), here.points(residual), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(3))
def test_a_search_elsewhere_finds_the_worst_half_plane(monkeypatch, place, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((4000, 2))
    decided = rng.random(4000) < 0.3 + 0.2 * (x @ rng.standard_normal(2) > 0.4)
    residual = decided - decided.mean()
    monkeypatch.setattr(ascents, "_MANY_CELLS", 1000)
    columns = read_columns({"a": x[:, 0], "b": x[:, 1]})
    ones = np.ones(4000)
    bound = LinearThresholds(restarts=20).bind(columns, ones, ones).at(place)
    found = bound.worst(place.put(residual)[None])
    members = on_host(found.members[0]) > 0
    assert abs(float(found.values[0])) == pytest.approx(abs(residual[members].sum()), abs=1e-9)
    assert abs(float(found.values[0])) >= 0.98 * best_of_two_numbers(x, residual)
    np.testing.assert_array_equal(
        members, bound.source.rule(found.keys[0]).members({c.name: c for c in columns})
    )


@pytest.mark.parametrize("subgroups", [Conjunctions(), Trees(), LinearThresholds("regression")])
def test_any_class_answers_for_residuals_elsewhere(place, subgroups):
    rng = np.random.default_rng(0)
    columns = read_columns({name: rng.integers(0, 3, 80).astype(float) for name in "abc"})
    columns = distinct_rows(columns).columns
    bound = bind(subgroups, columns)
    there = bound.at(place)
    residual = rng.standard_normal(len(columns[0].values))
    put = place.put(residual)
    rows = np.ones(len(residual), dtype=np.intp)
    searches = {
        "worst": lambda one, w: one.worst(w[None]),
        "search": lambda one, w: one.search(w),
        "thorough": lambda one, w: one.thorough(1e6).worst(w[None]),
        "quick": lambda one, w: one.quick.worst(w[None]),
        "one side": lambda one, w: one.one_sided(-1).worst(w[None]),
        "of a size": lambda one, w: one.worst_of_size(w, rows, 3),
        "proof": lambda one, w: one.prove(w).found,
        "from there": lambda one, w: one.close_in(w, one.worst(w[None]), work=1e6).found,
    }
    for name, search in searches.items():
        expected = search(bound, residual)
        found = search(there, put)
        assert Place.of(found.members) == place, name
        np.testing.assert_array_equal(on_host(found.members), expected.members, err_msg=name)
        np.testing.assert_array_equal(found.values, expected.values, err_msg=name)
    assert there.upper_bound(put[None]) == bound.upper_bound(residual[None])
    assert (there.exact, there.covers) == (bound.exact, bound.covers)


@pytest.mark.parametrize("whole", [False, True])
def test_rows_are_sorted_there_as_they_are_here(place, whole):
    rng = np.random.default_rng(2)
    values = rng.standard_normal((3, 500))
    columns = read_columns(
        {name: np.rint(v) if whole else v for name, v in zip("abc", values, strict=True)}
    )
    here = distinct_rows(columns)
    there = distinct_rows(columns, place)
    np.testing.assert_array_equal(there.index, here.index)
    labels = rng.integers(0, 2, 500)
    orders = [cells.sorted_by(labels, place=p)[0] for cells, p in ((here, MEMORY), (there, place))]
    np.testing.assert_array_equal(*orders)


def test_searches_that_differ_in_starts_share_their_cells():
    columns = read_columns({"a": np.arange(30.0), "b": np.arange(30.0) ** 2})
    bound = bind(LinearThresholds(restarts=None, random_state=3), columns)
    linear = partial(LinearThresholds, random_state=3)
    other = bound.searched_as(linear(restarts=7))
    assert other._ascent is bound._ascent
    assert (other._restarts, bound._restarts) == (7, 200)
    for different in (linear(restarts=7, search="regression"), LinearThresholds(), Trees()):
        assert bound.searched_as(different) is None


@pytest.mark.parametrize("seed", range(3))
def test_proofs_are_made_in_memory(monkeypatch, place, seed):
    """NumPy takes tensors of the CPU for arrays, but none of a GPU."""
    rng = np.random.default_rng(seed)
    columns = read_columns({"a": rng.integers(0, 6, 40) * 1.0, "b": rng.integers(0, 6, 40) * 1.0})
    columns = distinct_rows(columns).columns
    residual = rng.standard_normal(len(columns[0].values))
    bound = bind(LinearThresholds(restarts=3), columns)
    there = bound.at(place)
    prove = ThresholdProofs.prove

    def in_memory(proofs, residual, found, *how):
        assert isinstance(residual, np.ndarray)
        assert isinstance(found.members, np.ndarray)
        return prove(proofs, residual, found, *how)

    monkeypatch.setattr(ThresholdProofs, "prove", in_memory)
    put = place.put(residual)
    for bracket in (there.prove(put), there.close_in(put, there.worst(put[None]), work=1e7)):
        assert Place.of(bracket.found.members) == place
        assert bracket.upper_bound == pytest.approx(bound.prove(residual).upper_bound, abs=1e-9)
        assert abs(float(bracket.found.values[0])) == pytest.approx(bracket.upper_bound, abs=1e-9)
