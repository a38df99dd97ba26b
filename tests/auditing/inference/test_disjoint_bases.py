"""Bases that grow with what is published: against every small set of rows, and by their rank."""

import itertools
from collections import Counter

import numpy as np
import pytest

from gerrymend.auditing.inference import disclosure
from gerrymend.auditing.inference.disclosure import KnownSums
from gerrymend.auditing.inference.disjoint_bases import DisjointBases, Extension


def indicators(partitions):
    return np.array(
        [blocks == value for blocks in partitions for value in np.unique(blocks)], float
    )


def follows_of_few(partitions, rows, floor):
    """Whether a sum over a set of fewer rows follows, by the projection of every such set."""
    left, sizes, _ = np.linalg.svd(indicators(partitions).T, full_matrices=False)
    span = left[:, sizes > 1e-9]
    for number in range(1, floor):
        chosen = np.array(list(itertools.combinations(range(len(rows)), number)))
        chosen = chosen[rows[chosen].sum(axis=1) < floor]
        # A set is in the span if its projection has its length.
        if (np.abs((span[chosen].sum(axis=1) ** 2).sum(axis=1) - number) < 1e-9).any():
            return True
    return False


def made(rng, m, before):
    """Blocks of values, some of them rare, or where a value meets one of an earlier attribute."""
    n_values = int(rng.integers(2, 6))
    blocks = rng.choice(n_values, m, p=rng.dirichlet(np.full(n_values, 0.7)))
    if before and rng.random() < 0.4:
        other = before[rng.integers(len(before))]
        blocks = (blocks == blocks[0]) + 2 * (other == other[0])
    return blocks.astype(int)


def test_what_is_told_is_what_any_set_of_few_rows_says(monkeypatch):
    """By extended bases, by sums that are 0 on all other rows, and by the search: each is right."""
    ways = Counter()
    small = KnownSums._small

    def counted(self, mine, extension):
        found = small(self, mine, extension)
        ways[type(extension).__name__ if self._are_enough else "few", found is None] += 1
        return found

    monkeypatch.setattr(KnownSums, "_small", counted)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(10, 45))
        floor = int(rng.integers(2, 5))
        rows = rng.integers(1, 4, m)
        known = KnownSums(rows, floor)
        published = []
        for _ in range(6):
            blocks = made(rng, m, published)
            told = known.told(blocks)
            assert (told is not None) == follows_of_few([*published, blocks], rows, floor)
            if told is None:
                known.add(blocks)
                published.append(blocks)
            else:
                assert 0 < rows[told].sum() < floor
                span = indicators([*published, blocks]).T
                factors = np.linalg.lstsq(span, told.astype(float), rcond=None)[0]
                np.testing.assert_allclose(span @ factors, told, atol=1e-8)
    for way in ("Extension", "Suspects", "few"):
        assert ways[way, True] >= 5, ways
    assert ways["Suspects", False] >= 20
    assert ways["few", False] >= 5


def attributes(n=4_000, number=14):
    rng = np.random.default_rng(0)
    for _ in range(number):
        yield rng.choice(5, n, p=[0.4, 0.3, 0.2, 0.09, 0.01])


def test_bases_have_full_rank_and_share_no_row():
    rows = np.random.default_rng(1).integers(1, 3, 4_000)
    bases = DisjointBases(rows, 11)
    published = []
    for blocks in attributes():
        published.append(blocks)
        extension = bases.extension(blocks)
        assert isinstance(extension, Extension)
        bases.extend(extension)
    table = indicators(published)
    assert np.all(np.bincount(bases.cells.ravel(), minlength=len(rows)) <= rows)
    assert bases.cells.shape == (11, 1 + 4 * 14)
    for cells in bases.cells:
        assert np.linalg.matrix_rank(table[:, cells]) == np.linalg.matrix_rank(table) == 57


def test_no_search_where_bases_can_be_extended(monkeypatch):
    """Of many attributes and rows, what was shown for some is not looked at again."""
    monkeypatch.setattr(disclosure, "small_set", None)
    known = KnownSums(np.ones(4_000, dtype=int), 10)
    for blocks in attributes():
        assert known.told(blocks) is None
        known.add(blocks)
    # Everyone of a value but three of them.
    few = np.flatnonzero(blocks == 3)[:3]
    described = (blocks == 3) & ~np.isin(np.arange(4_000), few)
    assert np.flatnonzero(known.told(described.astype(int))).tolist() == few.tolist()


def test_no_basis_is_needed_where_every_atom_is_large(monkeypatch):
    """Four attributes of two values each: 16 atoms, of 10 rows or one of 9."""
    halves = [np.arange(16) >> bit & 1 for bit in range(4)]
    known = KnownSums(np.full(16, 10), 10)
    with monkeypatch.context() as without:
        without.setattr(DisjointBases, "extension", None)
        for blocks in (*halves, *halves):
            assert known.told(blocks) is None
            known.add(blocks)
        with pytest.raises(TypeError, match="NoneType"):
            KnownSums(np.full(16, 9), 10).told(np.arange(16))
    few = KnownSums(np.append(np.full(15, 10), 9), 10)
    for blocks in halves:
        assert few.told(blocks) is None
        few.add(blocks)
    told = few.told(np.isin(np.arange(16), range(8, 15)).astype(int))  # the last half but one cell
    assert told is not None
    assert np.flatnonzero(told).tolist() == [15]


def test_a_partition_that_follows_is_not_looked_at_again(monkeypatch):
    """Even where there are too few rows for the bases, and a search was needed for the others."""
    rng = np.random.default_rng(2)
    known = KnownSums(np.ones(60, dtype=int), 10)
    both = rng.integers(0, 4, 60)
    for blocks in (both, *rng.integers(0, 2, (7, 60))):
        assert known.told(blocks) is None
        known.add(blocks)
    monkeypatch.setattr(disclosure, "small_set", None)
    assert known.told(both // 2) is None
    with pytest.raises(TypeError, match="NoneType"):
        known.told(rng.integers(0, 2, 60))


def test_too_many_columns_are_left_to_the_search():
    """Inverses of thousands of columns would take minutes, and not fit into memory."""
    blocks = np.arange(2_000) // 3
    assert DisjointBases(np.full(2_000, 20), 1).extension(blocks) is None
    # In the last block are 25 rows, of which neither 20 nor 5 follow.
    known = KnownSums(np.append(np.full(1_999, 20), 5), 10)
    for published in (blocks, np.arange(2_000) % 2):
        assert known.told(published) is None
        known.add(published)
    assert known.told(np.arange(2_000) < 1) is None
    assert known.told(blocks == 0) is None
