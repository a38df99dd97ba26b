"""List the groups that people would name: values, ranges of numbers, and where a few of them meet.

A number is cut into parts of equal weight, and every range of them is a group: there are
b·(b + 1)/2 − 1 of b parts. Sums over all ranges are a product of a matrix of as many lines with the
sums over parts, of each joint value of the categories that they meet with, which costs next to
nothing: so parts are fine where one number is in a group, and coarser where two or three are.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.joint_values import Kinds, Subset, few_of, joint
from gerrymend.auditing.inference.small_sets import sums_by
from gerrymend.auditing.small_groups import may_be_described, too_few
from gerrymend.auditing.tally import NotionTally
from gerrymend.subgroups.products.scales import Axis, Scale, axes_of
from gerrymend.subgroups.rules import Conjunction, Rule

# Parts of equal weight that a number is cut into, by how many numbers meet: powers of 2, so that
# each of the coarser cuts is one of the finer.
BINS = (16, 8, 4)
# Where groups would be more, parts are fewer.
_MOST_GROUPS = 50_000


@dataclass(frozen=True, eq=False)
class Block:
    """The groups of one set of attributes: its atoms, and ranges of them.

    Attributes
    ----------
    start : int
        The first of its atoms, among those of all blocks.
    shape : tuple of int
        The joint values of its categories, and the parts of each of its numbers: an atom for each.
    kept : array of int
        Those of its groups that are large enough. All of them are the joint values of categories
        times the ranges of each number, in this order.
    """

    start: int
    shape: tuple[int, ...]
    kept: NDArray[np.intp]

    @property
    def stop(self) -> int:
        """The end of its atoms."""
        return self.start + math.prod(self.shape)

    def sums(self, by_atom: Array) -> Array:
        """Return sums over all of its groups, given those over the atoms of all blocks, (…, k).

        >>> Block(0, (1, 3), np.arange(5)).sums(np.array([[1.0], [10.0], [100.0]]))[:, 0].tolist()
        [1.0, 11.0, 10.0, 110.0, 100.0]
        """
        sums = by_atom[self.start : self.stop]
        width = sums.shape[1]
        # Sums over the ranges of later axes, for each part: reshape can't tell it of no atoms.
        per_part = width
        for axis in range(len(self.shape) - 1, 0, -1):
            inside = _in_range(self.shape[axis])
            before = math.prod(self.shape[:axis])
            sums = inside @ sums.reshape(before, self.shape[axis], per_part)
            per_part *= len(inside)
        return sums.reshape(-1, width)

    def place(self, number: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Return the joint value and the range of each number that a group is of, by its number."""
        sizes = [len(ranges(size)) for size in self.shape[1:]]
        at = np.unravel_index(int(self.kept[number]), (self.shape[0], *sizes))
        chosen = zip(self.shape[1:], at[1:], strict=True)
        return int(at[0]), tuple(ranges(size)[int(i)] for size, i in chosen)

    def atoms(self, number: int) -> NDArray[np.intp]:
        """Return the atoms that a group is of, by its number."""
        value, chosen = self.place(number)
        lines = np.ix_(np.array([value]), *(np.arange(low, high) for low, high in chosen))
        return self.start + np.ravel_multi_index(lines, self.shape).ravel()

    def n_ends(self) -> NDArray[np.intp]:
        """Return how many ends of ranges each group is told by, also those that are too small."""
        ends = np.zeros(self.shape[0], dtype=np.intp)
        for size in self.shape[1:]:
            own = [(low > 0) + (high < size) for low, high in ranges(size)]
            ends = np.add.outer(ends, own).ravel()
        return ends


@functools.cache
def ranges(size: int) -> tuple[tuple[int, int], ...]:
    """Return all ranges [low, high) of so many parts, but for that of all.

    >>> ranges(3)
    ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3))
    """
    every = itertools.combinations(range(size + 1), 2)
    return tuple(ends for ends in every if ends != (0, size))


@functools.cache
def _in_range(size: int) -> Array:
    """Return a matrix (ranges, parts) with 1 for each part of a range."""
    part = np.arange(size)
    inside = [(low <= part) & (part < high) for low, high in ranges(size)]
    return np.array(inside, dtype=np.float64).reshape(-1, size)


class _Told(NamedTuple):
    """What the groups of a block are told by: scales, categories first, and joint values.

    `order` has the place of each scale among the attributes.
    """

    order: tuple[int, ...]
    scales: tuple[Scale, ...]
    values: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RangeRules:
    """The rules of the groups of all blocks, by number."""

    blocks: tuple[Block, ...]
    told: tuple[_Told, ...]
    kinds: dict[str, str]

    def __getitem__(self, group: int, /) -> Rule:
        """Return the conditions on the attributes of a group."""
        which, number = find(self.blocks, group)
        told = self.told[which]
        value, chosen = self.blocks[which].place(number)
        categories = told.values[value].tolist()
        conditions = [
            *(scale.among([rank]) for scale, rank in zip(told.scales, categories, strict=False)),
            *(
                scale.within(low, high)
                for scale, (low, high) in zip(told.scales[len(categories) :], chosen, strict=True)
            ),
        ]
        in_order = sorted(zip(told.order, conditions, strict=True), key=lambda pair: pair[0])
        return Conjunction(tuple(condition for _, condition in in_order), self.kinds)


def find(blocks: Sequence[Block], group: int) -> tuple[int, int]:
    """Return the number of a group's block, and its own within that."""
    for which, block in enumerate(blocks):
        if group < len(block.kept):
            return which, group
        group -= len(block.kept)
    raise IndexError(f"there is no group {group}")


class Ranges(NamedTuple):
    """All groups: kinds of rows by cell, atoms by kind, blocks of atoms, and their rules."""

    kinds: Any
    atoms: Any
    blocks: tuple[Block, ...]
    rules: RangeRules


def ranges_that_meet(seen: NotionTally, floor: int) -> Ranges:
    """Return the values and ranges of at most three attributes that leave `floor` rows, and others.

    Numbers are cut as finely as leaves no more than 50,000 groups, and as many attributes in each
    as the coarsest cuts do.
    """
    coarsest = _Cut.of(seen, BINS[-1])
    for finest in BINS[:-1]:
        cut = _Cut.of(seen, finest)
        if len(cut.subsets) < len(coarsest.subsets):
            continue
        found = cut.listed(seen.rows, floor)
        if sum(len(block.kept) for block in found.blocks) <= _MOST_GROUPS:
            return found
    return coarsest.listed(seen.rows, floor)


class _Coarser(NamedTuple):
    """A scale of fewer parts, and of which of them each part of the finer one is."""

    scale: Scale
    part_of: NDArray[np.intp]

    @classmethod
    def of(cls, scale: Scale, below: Array, bins: int) -> "_Coarser":
        """Keep the cuts nearest to even parts; `below` is the part of the weight below each cut.

        >>> scale = Scale("age", "float", 4, cuts=(20.0, 30.0, 40.0))
        >>> coarser = _Coarser.of(scale, np.array([0.2, 0.5, 0.8]), 2)
        >>> coarser.scale.cuts, coarser.part_of.tolist()
        ((30.0,), [0, 0, 1, 1])
        """
        wanted = np.arange(1, bins) / bins
        kept = np.unique(np.abs(below - wanted[:, None]).argmin(axis=1)) if len(below) else below
        cuts = tuple(scale.cuts[int(i)] for i in kept)
        part_of = np.searchsorted(kept, np.arange(scale.size), side="left")
        return cls(replace(scale, size=len(cuts) + 1, cuts=cuts), part_of)


@dataclass(frozen=True, eq=False)
class _Cut:
    """Attributes whose numbers are cut, at most, into so many parts.

    Attributes
    ----------
    axes : tuple of Axis
        By cell.
    below : list of arrays
        The part of the weight below each cut, by axis; none of a category.
    kinds : Kinds
        Cells that no axis tells apart.
    subsets : list of tuples
        The sets of axes whose groups are listed, fewer first.
    finest : int
        The parts, where a single number is in a set.
    """

    axes: tuple[Axis, ...]
    below: list[Array]
    kinds: Kinds
    subsets: list[Subset]
    finest: int

    @classmethod
    def of(cls, seen: NotionTally, finest: int) -> "_Cut":
        """Cut the attributes of all cells with rows in the event."""
        weight = seen.tally.weight.sum(axis=0)
        is_active = np.zeros(len(weight), dtype=bool)
        is_active[seen.cells.active] = True
        columns = seen.tally.columns
        axes = axes_of(columns, weight, is_active, finest)
        below = []
        for axis, column in zip(axes, columns, strict=True):
            cuts = axis.scale.cuts
            part = np.searchsorted(cuts, column.values, side="right") if cuts else None
            by_part = np.zeros(1) if part is None else np.bincount(part, weight, len(cuts) + 1)
            below.append(np.cumsum(by_part)[:-1] / weight.sum())
        kinds = Kinds.of(axes, len(seen.rows))
        return cls(axes, below, kinds, few_of(len(axes), len(kinds.first)), finest)

    def listed(self, rows: NDArray[Any], floor: int) -> Ranges:
        """Return the groups of all sets that leave enough rows, inside and outside."""
        n_rows = sums_by(self.kinds.kind_of, rows)
        members = [np.zeros((2, 0), dtype=np.intp)]
        blocks: list[Block] = []
        told: list[_Told] = []
        start = 0
        for subset in self.subsets:
            shape, (atom, inside), words = self._atoms(subset, n_rows, floor)
            by_atom: Array = np.zeros((math.prod(shape), 1))
            np.add.at(by_atom[:, 0], atom, n_rows[inside])
            every = Block(0, shape, np.zeros(0, dtype=np.intp)).sums(by_atom)[:, 0]
            kept = np.flatnonzero(may_be_described(every, n_rows.sum(), floor))
            if len(kept):
                members.append(np.stack([start + atom, inside]))
                blocks.append(Block(start, shape, kept))
                told.append(words)
                start += math.prod(shape)
        entries = np.concatenate(members, axis=1)
        shape = (start, len(n_rows))
        atoms = sparse.csr_array((np.ones(entries.shape[1]), tuple(entries)), shape=shape)
        names = {axis.scale.name: axis.scale.kind for axis in self.axes}
        rules = RangeRules(tuple(blocks), tuple(told), names)
        return Ranges(self.kinds.table, atoms, tuple(blocks), rules)

    def _atoms(
        self, subset: Subset, n_rows: Array, floor: int
    ) -> tuple[tuple[int, ...], tuple[NDArray[np.intp], NDArray[np.intp]], _Told]:
        """Return the shape of a set's table, the atoms of kinds that are in it, and its words."""
        first = self.kinds.first
        categories = [i for i in subset if not self.axes[i].scale.is_number]
        numbers = [i for i in subset if self.axes[i].scale.is_number]
        bins = max(BINS[-1], self.finest >> max(0, len(numbers) - 1))
        coarser = [_Coarser.of(self.axes[i].scale, self.below[i], bins) for i in numbers]
        ranks = [self.axes[i].rank[first].astype(np.intp) for i in categories]
        mine, value_of = joint(ranks or [np.zeros(len(first), dtype=np.intp)])
        # Values of too few rows have no range of enough.
        large = ~too_few(sums_by(value_of, n_rows), floor)
        value = np.where(large, np.cumsum(large) - 1, -1)[value_of]
        inside = np.flatnonzero(value >= 0)
        shape = (int(large.sum()), *(one.scale.size for one in coarser))
        parts = [
            one.part_of[self.axes[i].rank[first[inside]]]
            for i, one in zip(numbers, coarser, strict=True)
        ]
        atom = np.zeros(0, dtype=np.intp)
        if len(inside):
            atom = np.ravel_multi_index((value[inside], *parts), shape)
        values = np.array([rank[mine[large]] for rank in ranks], dtype=np.intp)
        told = _Told(
            (*categories, *numbers),
            (*(self.axes[i].scale for i in categories), *(one.scale for one in coarser)),
            values.reshape(len(categories), shape[0]).T,
        )
        return shape, (atom, inside), told
