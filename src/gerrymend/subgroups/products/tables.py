"""Tables of sums over the joint values of attributes, for every combination of a few of them.

A table of few attributes has few entries, and a pass over the cells fills it. Attributes with few
values are packed into blocks first. One pass over the cells then makes the table of some blocks,
and the tables of all combinations of their attributes are its margins.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Whole
from gerrymend.subgroups.products._product_kernel import add_by, add_by_two

Ranks = NDArray[np.int32]

# The most joint values of a block: two blocks and a large attribute still fit the CPU's cache.
_BLOCK = 64
# The most entries of a full table for each cell. Beyond that most of them would be 0, and the joint
# values that occur are listed instead.
_SPARSE = 16
# A table of up to this many entries is always full, and its levels are cached.
_SMALL = 4096


class Levels(NamedTuple):
    """The ids of the joint values of attributes ℓ, ℓ + 1, …, on each level ℓ.

    Ids are numbered across levels, and ordered by value on each.

    Attributes
    ----------
    first : array of shape (n_levels, most values + 1)
        Ids first[ℓ, v] to first[ℓ, v + 1] − 1 have value v of attribute ℓ.
    child : array of length n_ids, without the last level
        The id of the remaining values on the next level.
    start : array of length n_levels + 1
        Level ℓ has the ids start[ℓ] to start[ℓ + 1] − 1.
    """

    first: Whole
    child: Whole
    start: Whole


class Table(NamedTuple):
    """Sums over the joint values of some attributes, given by position.

    `sums` has one array for each array that was summed, by id of the first level.
    """

    attributes: tuple[int, ...]
    levels: Levels
    sums: list[Whole]


class Tables:
    """The tables of all combinations of at most `depth` attributes.

    `ranks` has the rank of each cell, and `sizes` the number of ranks, by attribute.
    `combinations` lists the attributes of each table, fewer first.
    """

    def __init__(self, ranks: Sequence[Ranks], sizes: Sequence[int], depth: int) -> None:
        self._ranks = ranks
        self._sizes = sizes
        self._largest = max(_SMALL, _SPARSE * len(ranks[0]))
        self._blocks = _packed(sizes)
        self._codes = [_joint([ranks[j] for j in b], [sizes[j] for j in b]) for b in self._blocks]
        self.combinations = [
            subset
            for k in range(1, min(depth, len(sizes)) + 1)
            for subset in itertools.combinations(range(len(sizes)), k)
        ]
        block_of = {j: i for i, block in enumerate(self._blocks) for j in block}
        self._of_blocks: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for subset in self.combinations:
            blocks = tuple(sorted({block_of[j] for j in subset}))
            self._of_blocks.setdefault(blocks, []).append(subset)

    def of(self, values: Sequence[Whole]) -> Iterator[Table]:
        """Yield every table of sums of `values`, arrays by cell; those of fewer blocks first."""
        for blocks, subsets in self._of_blocks.items():
            shape = [self._sizes[j] for b in blocks for j in self._blocks[b]]
            if len(subsets) == 1 or math.prod(shape) > self._largest:
                for subset in subsets:
                    yield self.one(subset, values)
                continue
            axes = [j for b in blocks for j in self._blocks[b]]
            full = [table.reshape(shape) for table in self._summed(blocks, values)]
            for subset in subsets:
                others = tuple(i for i, j in enumerate(axes) if j not in subset)
                sums = [np.ascontiguousarray(table.sum(axis=others)).ravel() for table in full]
                yield Table(subset, _dense(tuple(self._sizes[j] for j in subset)), sums)

    def one(self, subset: tuple[int, ...], values: Sequence[Whole]) -> Table:
        """Return the table of these attributes, full if that isn't too sparse."""
        ranks = [self._ranks[j] for j in subset]
        sizes = tuple(self._sizes[j] for j in subset)
        if (size := math.prod(sizes)) <= self._largest:
            prefix = _joint(ranks[:-1], sizes[:-1])
            return Table(
                subset, _dense(sizes), _tabulated(prefix, ranks[-1], sizes[-1], values, size)
            )
        levels, cell = _listed(ranks, sizes)
        no_prefix = ranks[0][:0]
        n_ids = int(levels.start[1])
        return Table(subset, levels, _tabulated(no_prefix, cell, n_ids, values, n_ids))

    def _summed(self, blocks: tuple[int, ...], values: Sequence[Whole]) -> list[Whole]:
        """Sum the values by the joint values of all attributes of some blocks."""
        sizes = [math.prod(self._sizes[j] for j in self._blocks[b]) for b in blocks]
        codes = [self._codes[b] for b in blocks]
        prefix = _joint(codes[:-1], sizes[:-1])
        return _tabulated(prefix, codes[-1], sizes[-1], values, math.prod(sizes))


def _packed(sizes: Sequence[int]) -> list[list[int]]:
    """Pack neighbouring attributes into blocks of at most `_BLOCK` joint values."""
    blocks: list[list[int]] = []
    for j, size in enumerate(sizes):
        if blocks and math.prod(sizes[i] for i in blocks[-1]) * size <= _BLOCK:
            blocks[-1].append(j)
        else:
            blocks.append([j])
    return blocks


def _joint(ranks: Sequence[Ranks], sizes: Sequence[int]) -> Ranks:
    """Encode the ranks of several attributes as one number, in lexicographic order."""
    if not ranks:
        return np.zeros(0, dtype=np.int32)
    code = ranks[0]
    for rank, size in zip(ranks[1:], sizes[1:], strict=True):
        code = code * np.int32(size) + rank
    return code


def _tabulated(
    prefix: Ranks, code: NDArray[Any], size: int, values: Sequence[Whole], n: int
) -> list[Whole]:
    """Sum each array of values into a table of n entries, by prefix·size + code.

    The two parts of the code are combined in the compiled loop, without an array of their own.
    """
    tables = [np.zeros(n, dtype=np.int64) for _ in values]
    for by_cell, table in zip(values, tables, strict=True):
        if len(prefix):
            add_by_two(prefix, code, size, by_cell, table)
        else:
            add_by(code, by_cell, table)
    return tables


def _dense(sizes: tuple[int, ...]) -> Levels:
    """Return the levels of a full table, from a cache if it is small."""
    return _kept_levels(sizes) if math.prod(sizes) <= _SMALL else _full_levels(sizes)


def _full_levels(sizes: tuple[int, ...]) -> Levels:
    """Return the levels of a table with an entry for every joint value."""
    entries = [math.prod(sizes[level:]) for level in range(len(sizes) + 1)]
    start = np.concatenate([[0], np.cumsum(entries[:-1])])
    first = np.zeros((len(sizes), max(sizes) + 1), dtype=np.int64)
    for level, size in enumerate(sizes):
        first[level, : size + 1] = start[level] + np.arange(size + 1) * entries[level + 1]
    child = [
        start[level + 1] + np.arange(entries[level]) % entries[level + 1]
        for level in range(len(sizes) - 1)
    ]
    return Levels(first, np.concatenate([*child, np.zeros(0, dtype=np.int64)]), start)


_kept_levels = lru_cache(maxsize=1024)(_full_levels)


def _listed(ranks: Sequence[Ranks], sizes: Sequence[int]) -> tuple[Levels, NDArray[np.intp]]:
    """Return the levels of the joint values that occur, and the id of each cell on the first.

    The last level has all values of its attribute, as the kernel indexes it by value.
    """
    cell: NDArray[np.intp] = ranks[-1].astype(np.intp)
    entries = [sizes[-1]]
    children: list[NDArray[Any]] = []
    firsts = [np.arange(sizes[-1] + 1)]
    # From the last attribute to the first: a joint value is a rank and the id of what follows.
    for rank, size in zip(ranks[-2::-1], sizes[-2::-1], strict=True):
        joint, cell = np.unique(rank * np.int64(entries[0]) + cell, return_inverse=True)
        children.insert(0, joint % entries[0])
        firsts.insert(0, np.searchsorted(joint // entries[0], np.arange(size + 1)))
        entries.insert(0, len(joint))
    start = np.concatenate([[0], np.cumsum(entries)])
    first = np.zeros((len(sizes), max(sizes) + 1), dtype=np.int64)
    for level, by_value in enumerate(firsts):
        first[level, : len(by_value)] = start[level] + by_value
    child = [ids + start[level + 1] for level, ids in enumerate(children)]
    return Levels(first, np.concatenate([*child, np.zeros(0, dtype=np.int64)]), start), cell
