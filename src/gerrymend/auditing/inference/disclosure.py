"""Keep sums that a report publishes from disclosing small groups, by all of them together.

A group whose rate is published parts the rows in two, in and out. An attribute whose values are
published parts them into these and, together, the values that are left out. All blocks of such
partitions have sums that are known, and so has every combination of them. A sum over a set of rows
follows if its indicator is in the span of those of the blocks: v = Σ_p c_p(block of partition p).

It is constant on the *atoms*, sets of cells that are in the same block of each partition: as long
as each atom has `min_group_size` rows, so has every set that follows. No set of fewer rows follows
either as long as there are as many bases that share no row (`disjoint_bases`). Where neither is so,
such sets are searched for (`small_sets`), as long as there is time: what is not known to be safe by
then is not published.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend.auditing.inference.disjoint_bases import DisjointBases, Extension, Suspects
from gerrymend.auditing.inference.small_sets import (
    Allowance,
    Blocks,
    small_set,
    sums_by,
    zero_or_one,
)
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import NotionTally
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.rules import Members

# Groups that are tried to be shown again, after enough were left out.
_MOST_SHOWN_AGAIN = 16


class KnownSums:
    """The partitions of some rows whose sums are known; `rows` is the number of rows by cell.

    So many `seconds` are there to work out what follows from them.

    >>> rows = np.array([296, 4, 300, 300])  # blue men, blue women, green men, green women
    >>> known = KnownSums(rows, min_group_size=10)
    >>> known.add(np.array([1, 0, 0, 0]))
    >>> known.told(np.array([1, 1, 2, 2])).tolist()  # all blue people less blue men are 4
    [False, True, False, False]
    >>> known.told(np.array([1, 2, 1, 2])) is None
    True
    """

    def __init__(self, rows: NDArray[Any], min_group_size: int, seconds: float = math.inf) -> None:
        self.allowance = Allowance(seconds)
        self.cells = np.flatnonzero(rows > 0)
        self.rows = rows[self.cells].astype(np.float64)
        self.min_group_size = min_group_size
        self._partitions: list[Blocks] = []
        # Of these, how many the bases are of, and those whose sums didn't follow from earlier ones.
        self._n_known = 0
        self._telling: list[Blocks] = []
        self._atom: Blocks = np.zeros(len(self.cells), dtype=np.intp)
        # One more than sets of fewer rows are excluded by; see `Suspects`.
        self._bases = DisjointBases(self.rows, min_group_size + 1)
        # Whether it is known that no small group follows, and what a partition would add to that.
        self._is_safe = self._are_enough
        self._looked_at: tuple[Blocks, Extension | Suspects | None] | None = None

    @property
    def _are_enough(self) -> bool:
        """Return whether there are so many bases that no small group follows."""
        return self._bases.number > self.min_group_size

    def add(self, blocks: Blocks) -> None:
        """Publish a partition, given as the number of each cell's block."""
        mine = self._mine(blocks)
        self._partitions.append(mine)
        _, self._atom = _joint(self._atom, mine)

    def _are_large(self, atom: Blocks) -> bool:
        """Return whether each atom, given by cell, has so many rows that no small group follows."""
        return bool(sums_by(atom, self.rows).min(initial=np.inf) >= self.min_group_size)

    def _extend_bases(self) -> bool:
        """Extend the bases by what was published since they were needed; return if in time."""
        for mine in self._partitions[self._n_known :]:
            if not self.allowance.affords():
                return False
            self._extend_by(mine)
            self._n_known += 1
        self._is_safe = self._is_safe or self._are_large(self._atom)
        return self.allowance.affords()

    def _extend_by(self, mine: Blocks) -> None:
        """Extend the bases by a partition, or have a single one where there are too few rows."""
        if self._looked_at is None or not np.array_equal(mine, self._looked_at[0]):
            self._looked_at = (mine, self._bases.extension(mine))
            self._is_safe = False
        extension = self._looked_at[1]
        self._looked_at = None
        if isinstance(extension, Extension):
            self._bases.extend(extension)
            if extension.tells_nothing:
                return
        self._telling.append(mine)
        if not isinstance(extension, Extension):
            # One basis is enough to see that a partition tells nothing.
            self._bases = DisjointBases.of(self.rows, 1, self._telling)

    def told(self, blocks: Blocks) -> Members | None:
        """Return the cells of a small group that would follow with this partition; None if none.

        Where that can't be worked out in the time, the cells of all small atoms are returned.
        """
        with self.allowance:
            found = self._told(self._mine(blocks))
        if found is None:
            return None
        told = np.zeros(len(blocks), dtype=bool)
        told[self.cells] = found
        return told

    def _told(self, mine: Blocks) -> Members | None:
        """Return what is told by a partition of the cells that have rows; see `told`."""
        _, atom = _joint(self._atom, mine)
        if self._are_large(atom):
            return None
        if not self._extend_bases():
            return np.asarray((sums_by(atom, self.rows) < self.min_group_size)[atom])
        extension = self._bases.extension(mine)
        found = self._small(mine, extension)
        if found is None:
            self._is_safe = True
            self._looked_at = (mine, extension)
        return found

    def _mine(self, blocks: Blocks) -> Blocks:
        """Return the blocks of the cells that have rows, in as few bytes as hold them."""
        return blocks[self.cells].astype(np.min_scalar_type(int(blocks.max(initial=0))))

    def _small(self, mine: Blocks, extension: Extension | Suspects | None) -> Members | None:
        """Return the cells of a small group, of those that have rows; None if there is none."""
        if isinstance(extension, Extension) and (
            self._are_enough or (extension.tells_nothing and self._is_safe)
        ):
            return None
        if isinstance(extension, Suspects) and self._are_enough:
            rows = self.rows[extension.cells]
            at = zero_or_one(extension.values, rows, self.min_group_size, self.allowance)
            return None if at is None else np.isin(np.arange(len(mine)), extension.cells[at])
        first, atom = _joint(self._atom, mine)
        # One cell stands for its atom, whose cells are in the same block of each partition.
        table = np.array([partition[first] for partition in (*self._telling, mine)], dtype=np.intp)
        sizes = sums_by(atom, self.rows)
        found = small_set(table, sizes, self.min_group_size, self.allowance)
        return None if found is None else found[atom]

    def known(self, groups: Blocks) -> set[int]:
        """Return which of these disjoint groups, numbered by cell, are a published block."""
        known: set[int] = set()
        mine = self._mine(groups)
        size = np.bincount(mine, self.rows)
        first = np.zeros(len(size), dtype=np.intp)
        first[mine[::-1]] = np.arange(len(mine))[::-1]
        for other in self._partitions:
            # A group is a block if what it shares with that of its first cell is all of both.
            block = other[first]
            shared = np.bincount(mine, np.where(other == block[mine], self.rows, 0.0))
            whole = (size > 0) & (shared == size) & (shared == np.bincount(other, self.rows)[block])
            known.update(np.flatnonzero(whole).tolist())
        return known


class Published:
    """All that a report tells of the rows in an event, as partitions of the cells.

    It is told of what is published in the order of importance, and says whether the next may be.

    Parameters
    ----------
    rows : array of int
        The number of rows in the event, by cell.
    min_group_size : int
        The floor of `small_groups`.
    people : KnownSums, optional
        What is known of the numbers of all rows, in the event or not, by this and other events; all
        of these share its time.

    Examples
    --------
    >>> published = Published(np.array([60, 60, 4, 60]), min_group_size=10)
    >>> for blocks in ([0, 1, 0, 1], [0, 0, 1, 1]):
    ...     published.add(np.array(blocks))
    >>> published.told(np.array([1, 0, 0, 0])).tolist()  # with two others, it tells each cell
    [False, False, True, False]
    """

    def __init__(
        self, rows: NDArray[np.intp], min_group_size: int, people: KnownSums | None = None
    ) -> None:
        self.min_group_size = min_group_size
        self.in_event = KnownSums(rows, min_group_size)
        if people is not None:
            self.in_event.allowance = people.allowance
        self.people = people
        self._rows = rows

    def add(self, blocks: Blocks) -> None:
        """Publish a partition, given as the number of each cell's block: rates, and sizes."""
        for sums in self._sums():
            sums.add(blocks)

    def told(self, blocks: Blocks) -> Members | None:
        """Return the cells of a small group that would follow with a partition; None if none."""
        return next((cells for s in self._sums() if (cells := s.told(blocks)) is not None), None)

    def shown(self, groups: Blocks, fits: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Publish as many of these disjoint groups as disclose no small one; return a mask of them.

        `groups` has the number of each cell's group, from 1, and 0 where it is in none. What is
        left out is a block as well. Groups that share rows with what is disclosed go and, if these
        are all left out already, the smallest of the others (all of them, once no time is left);
        those whose sums are known in any case stay as long as others can go. In the end some that
        went for nothing are shown again.

        Parameters
        ----------
        groups : array of int
            One number a cell.
        fits : array of bool
            Groups that are large enough on their own, from that of number 1.
        """
        inside = np.bincount(groups, self._rows, len(fits) + 1)[1:]
        known = np.isin(np.arange(1, len(fits) + 1), [*self.in_event.known(groups)])
        shown = fits.copy()

        def blocks_of(chosen: NDArray[np.bool_]) -> Blocks:
            return np.where(np.r_[False, chosen][groups], groups, 0)

        while shown.any() and (told := self.told(blocks_of(shown))) is not None:
            # Each turn leaves out one group at least, so that it ends.
            can_go = shown & ~known if (shown & ~known).any() else shown
            cut = np.bincount(groups[told], minlength=len(fits) + 1)[1:] > 0
            smallest = np.argmin(np.where(can_go, inside, np.inf))
            others = can_go if self.in_event.allowance.is_spent else smallest
            shown[cut & can_go if (cut & can_go).any() else others] = False
        for i in np.argsort(-inside * (fits & ~shown), kind="stable")[:_MOST_SHOWN_AGAIN]:
            if self.in_event.allowance.is_spent:
                break
            again = shown | (np.arange(len(fits)) == i)
            if fits[i] and not shown[i] and self.told(blocks_of(again)) is None:
                shown = again
        if shown.any():
            self.add(blocks_of(shown))
        return shown

    def _sums(self) -> Iterator[KnownSums]:
        yield self.in_event
        if self.people is not None:
            yield self.people


def cells_of(seen: NotionTally, subgroup: Subgroup) -> Members:
    """Return a mask of all cells that are in a subgroup."""
    return subgroup.rule.members({column.name: column for column in seen.tally.columns})


def published_by(
    seen: Sequence[NotionTally], groups: Sequence[Subgroup], floor: int, seconds: float = math.inf
) -> dict[FairnessNotion, Published]:
    """Return what these groups publish of each notion; so many seconds are to see what more may."""
    people = KnownSums(seen[0].cells.n_rows, floor, seconds)  # their sizes are one for all
    published = {one.notion: Published(one.rows_of_cells, floor, people) for one in seen}
    for one in seen:
        if one.compared.group is not None:
            published[one.notion].in_event.add(one.compared.group.astype(np.intp))
    for subgroup in groups:
        published[subgroup.notion].add(cells_of(seen[0], subgroup).astype(np.intp))
    return published


def _joint(atom: Blocks, blocks: Blocks) -> tuple[Blocks, Blocks]:
    """Return a cell of each atom that two partitions have together, and the atom of each cell.

    >>> first, atom = _joint(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0]))
    >>> first.tolist(), atom.tolist()
    ([0, 1, 2], [0, 1, 2, 2])
    """
    width = int(blocks.max(initial=0)) + 1
    key = atom * width
    key += blocks
    # A table of the pairs, where it is short, takes less time and memory than a sort of the cells.
    size = int(key.max(initial=0)) + 1
    if size > len(key):
        _, first, joint = np.unique(key, return_index=True, return_inverse=True)
        return first, joint
    first = np.full(size, -1, dtype=np.intp)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1)  # the last that is written is the first cell
    occurs = first >= 0
    return first[occurs], (np.cumsum(occurs) - 1)[key]
