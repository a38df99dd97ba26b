"""Count the bytes that tables of an audit allocate: copies of 10⁶ cells fill a memory."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gerrymend.auditing.inference import intervals
from gerrymend.auditing.inference.disclosure import _joint
from gerrymend.auditing.inference.intervals import Listed, group_estimates
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.subgroups.marginals import marginal_groups

CELLS = 50_000


def counted(call):
    """What a call returns, and the most bytes that it had."""
    tracemalloc.start()
    try:
        result = call()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return result, peak


def listed_groups():
    rng = np.random.default_rng(0)
    numbers = tuple(Column(f"x{j}", rng.standard_normal(CELLS)) for j in range(12))
    y = rng.integers(0, 2, CELLS)
    p = rng.integers(0, 2, CELLS).astype(float)
    tally = Tally.of_rows(distinct_rows(numbers), y, p, np.ones(CELLS))
    rules, membership = marginal_groups(tally.columns, np.ones(CELLS))
    sizes = np.asarray(membership.sum(axis=1)).astype(int)
    return Listed(tally.of_notion(FALSE_POSITIVE_RATE), rules, membership, sizes)


def test_estimates_copy_few_memberships_at_a_time(monkeypatch):
    listed = listed_groups()
    shown = np.ones(len(listed.rules), dtype=bool)
    monkeypatch.setattr(intervals, "_ENTRIES_AT_ONCE", 2 * CELLS)
    group_estimates([listed], [shown])  # caches are not counted
    found, peak = counted(lambda: group_estimates([listed], [shown]))
    # Of 12 attributes, two at a time: the copy of all has 12 bytes an entry in the event.
    assert peak < 12 * 12 * CELLS / 2
    active = listed.seen.cells.active
    for rule, row, each in zip(listed.rules, listed.membership.toarray(), found, strict=True):
        inside = row[active] > 0
        rate = listed.seen.outcomes[inside].sum() / listed.seen.cells.mass[inside].sum()
        assert_allclose(each.rate, rate, rtol=1e-12)
        assert each.group == rule.describe()


@pytest.mark.parametrize("n_blocks", [1, 3, 40_000])
@pytest.mark.parametrize("n_atoms", [1, 5])
def test_atoms_are_those_of_a_dictionary_of_pairs(n_atoms, n_blocks):
    rng = np.random.default_rng(n_blocks)
    atom = rng.integers(0, n_atoms, 500)
    blocks = rng.integers(0, n_blocks, 500)
    first, joint = _joint(atom, blocks)
    cells = {}
    for cell, pair in enumerate(zip(atom.tolist(), blocks.tolist(), strict=True)):
        cells.setdefault(pair, []).append(cell)
    assert first.tolist() == [cells[pair][0] for pair in sorted(cells)]
    for number, pair in enumerate(sorted(cells)):
        assert np.flatnonzero(joint == number).tolist() == cells[pair]


def test_atoms_of_few_blocks_are_told_without_a_sort_of_the_cells():
    atom = np.zeros(CELLS, dtype=np.intp)
    blocks = np.arange(CELLS) % 3
    (first, joint), peak = counted(lambda: _joint(atom, blocks))
    assert first.tolist() == [0, 1, 2]
    assert np.array_equal(joint, blocks)
    # The pairs, the atoms and who stands for each; a sort has an order, its values and ranks more.
    assert peak < 3.5 * 8 * CELLS
