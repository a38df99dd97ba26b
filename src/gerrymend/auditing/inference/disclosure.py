"""Keep sums that a report publishes from disclosing small groups, by all of them together.

A group whose rate is published parts the rows in two, in and out. An attribute whose values are
published parts them into these and, together, the values that are left out. All blocks of such
partitions have sums that are known, and so has every combination of them. A sum over a set of rows
follows if its indicator is in the span of those of the blocks: v = Σ_p c_p(block of partition p).

Rows that no partition tells apart are an *atom*; v is constant on each. A set of fewer than
`min_group_size` rows is 0 on all atoms of that many, the large ones, which leaves few v to look at:

- Two blocks b, b' of a partition have the same c wherever v is over too few rows, if the atoms that
  differ by b and b' alone have Σ min(rows of one, rows of the other) ≥ `min_group_size`: with
  another c, v would not be 0 on one of each two. Such blocks are merged, again and again.
- Of what is left, the v that are 0 on all large atoms are a space, from a singular value
  decomposition. A v is decided by its values at a *basis*, as many atoms as the space has
  dimensions. Take J bases that share no rows: of fewer than `min_group_size` rows, at most
  (min_group_size − 1) / J are in one of them. So all choices of so few of each basis are tried, as
  Brouwer and Zimmermann do for codes; with `min_group_size` bases there are none.

Where these are too many to try, nothing more is published.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from gerrymend._numeric.sums import Array
from gerrymend.subgroups.rules import Members

# The block of each cell, in whole numbers from 0.
Blocks = NDArray[np.intp]

# Below this part of the largest, singular values and what they leave are rounding.
_RANK = 1e-9
# Numbers of a table of atoms that is decomposed, and choices of atoms that are tried.
_MOST_NUMBERS = 4_000_000
_MOST_CHOICES = 5_000
# Groups that are tried to be shown again, after enough were left out.
_MOST_SHOWN_AGAIN = 16


class KnownSums:
    """The partitions of some rows whose sums are known; `rows` is the number of rows by cell.

    >>> rows = np.array([296, 4, 300, 300])  # blue men, blue women, green men, green women
    >>> known = KnownSums(rows, min_group_size=10)
    >>> known.add(np.array([1, 0, 0, 0]))
    >>> known.told(np.array([1, 1, 2, 2])).tolist()  # all blue people less blue men are 4
    [False, True, False, False]
    >>> known.told(np.array([1, 2, 1, 2])) is None
    True
    """

    def __init__(self, rows: NDArray[Any], min_group_size: int) -> None:
        self.cells = np.flatnonzero(rows > 0)
        self.rows = rows[self.cells].astype(np.float64)
        self.min_group_size = min_group_size
        self._partitions: list[Blocks] = []
        self._atom: Blocks = np.zeros(len(self.cells), dtype=np.intp)

    def add(self, blocks: Blocks) -> None:
        """Publish a partition, given as the number of each cell's block."""
        mine = blocks[self.cells].astype(np.intp)
        self._partitions.append(mine)
        _, self._atom = _joint(self._atom, mine)

    def told(self, blocks: Blocks) -> Members | None:
        """Return the cells of a small group that would follow with this partition; None if none.

        Where that can't be worked out in the time, the cells of all small atoms are returned.
        """
        mine = blocks[self.cells].astype(np.intp)
        first, atom = _joint(self._atom, mine)
        # One cell stands for its atom, whose cells are in the same block of each partition.
        table = np.array([partition[first] for partition in (*self._partitions, mine)])
        found = _small_set(table, _sums(atom, self.rows), self.min_group_size)
        if found is None:
            return None
        told = np.zeros(len(blocks), dtype=bool)
        told[self.cells] = found[atom]
        return told

    def known(self, groups: Blocks) -> set[int]:
        """Return which of these disjoint groups, numbered by cell, are a published block."""
        known: set[int] = set()
        mine = groups[self.cells].astype(np.intp)
        size = np.bincount(mine, self.rows)
        for other in self._partitions:
            width = int(other.max()) + 1
            pairs, place = np.unique(mine * width + other, return_inverse=True)
            both = np.bincount(place, self.rows)
            group = pairs // width
            # A block is the group itself if what they share is all of both.
            whole = both == np.bincount(other, self.rows)[pairs % width]
            known.update(group[whole & (both == size[group])].tolist())
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
        What is known of the numbers of all rows, in the event or not, by this and other events.

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
        are all left out already, the smallest of the others; those whose sums are known in any case
        stay as long as others can go. In the end some that went for nothing are shown again.

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
            shown[cut & can_go if (cut & can_go).any() else smallest] = False
        for i in np.argsort(-inside * (fits & ~shown), kind="stable")[:_MOST_SHOWN_AGAIN]:
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


def _sums(place: Blocks, values: Array) -> Array:
    """Return the sum of values by place."""
    return np.asarray(np.bincount(place, values), dtype=np.float64)


def _joint(atom: Blocks, blocks: Blocks) -> tuple[Blocks, Blocks]:
    """Return a cell of each atom that two partitions have together, and the atom of each cell."""
    width = int(blocks.max(initial=0)) + 1
    _, first, joint = np.unique(atom * width + blocks, return_index=True, return_inverse=True)
    return first, joint


def _small_set(table: Blocks, rows: Array, floor: int) -> Members | None:
    """Return a set of atoms, with fewer rows than the floor, whose sum follows; None if none does.

    `table` has a row for each partition, the block of each atom.
    """
    table, place = _merged(table, rows, floor)
    rows = _sums(place, rows)
    small = rows < floor
    if not small.any():
        return None
    n_blocks = sum(len(np.unique(partition)) for partition in table)
    if n_blocks * len(rows) > _MOST_NUMBERS:
        # Of some atoms alone; no space of these partitions has more dimensions than this.
        some = np.random.default_rng(0).permutation(len(rows))[: _MOST_NUMBERS // n_blocks]
        space = _zero_where(_indicators(table[:, some]), np.zeros(len(some), dtype=bool))
        # The blocks of each partition add up to the same vector of ones, so that of all blocks of
        # k partitions k − 1 follow from the others. If these atoms show as many dimensions, a v is
        # decided by them; unless it is 0, it has a row in each basis: too many, where there are as
        # many bases as the floor.
        if len(space) == n_blocks - len(table) + 1:
            n_bases = sum(1 for _ in _disjoint_bases(space, rows[some], floor))
            return None if n_bases == floor else small[place]
        return small[place]
    space = _zero_where(_indicators(table), ~small)
    if len(space) == 0:
        return None
    at = np.flatnonzero(small)
    found = _zero_or_one(space[:, at], rows[at], floor)
    if found is None:
        return None
    members = np.zeros(len(rows), dtype=bool)
    members[at[found]] = True
    return members[place]


def _indicators(table: Blocks) -> Array:
    """Return a row for each block of all partitions, 1 where it is."""
    return np.vstack([blocks == np.unique(blocks)[:, None] for blocks in table]).astype(np.float64)


def _merged(table: Blocks, rows: Array, floor: int) -> tuple[Blocks, Blocks]:
    """Merge blocks that no set of too few rows tells apart; return the table and atoms' places."""
    place = np.arange(table.shape[1])
    rng = np.random.default_rng(0)
    while True:
        # Profiles by a random number for each block, so that leaving one out is a subtraction.
        codes = [rng.integers(2**63, size=int(p.max()) + 1, dtype=np.int64)[p] for p in table]
        profile = np.sum(codes, axis=0)
        merged = np.array(
            [
                _merged_partition(partition, profile - code, rows, floor)
                for partition, code in zip(table, codes, strict=True)
            ]
        )
        finer, joint = np.unique(merged, axis=1, return_inverse=True)
        joint = joint.ravel()
        if finer.shape[1] == table.shape[1]:
            return table, place
        table = finer
        rows = _sums(joint, rows)
        place = joint[place]


def _merged_partition(partition: Blocks, others: Blocks, rows: Array, floor: int) -> Blocks:
    """Give the blocks of a partition that can't be told from its largest one that one's number.

    `others` is one number for the blocks that an atom is in of all other partitions.
    """
    _, other = np.unique(others, return_inverse=True)
    largest = int(np.argmax(np.bincount(partition, rows)))
    in_largest = np.bincount(other, np.where(partition == largest, rows, 0.0))
    alike = np.bincount(partition, np.minimum(rows, in_largest[other]))
    return np.where(alike[partition] >= floor, largest, partition)


def _zero_where(blocks: Array, large: Members) -> Array:
    """Return a basis of the combinations of these rows that are 0 in some columns."""
    left, sizes, _ = np.linalg.svd(blocks[:, large], full_matrices=True)
    rank = int((sizes > _RANK * sizes.max(initial=1.0)).sum())
    # Left vectors beyond the rank are the combinations c that make 0 of all large columns.
    # Different ones may make the same v, for a basis of which these are decomposed once more.
    free = left[:, rank:].T @ blocks
    _, sizes, basis = np.linalg.svd(free, full_matrices=False)
    return np.asarray(basis[sizes > _RANK * max(1.0, sizes.max(initial=0.0))])


def _zero_or_one(space: Array, rows: Array, floor: int) -> NDArray[np.intp] | None:
    """Return where a vector of a space is 1, of those of 0 and 1 over too few rows; None if none.

    Where there are too many to try, all places are returned.
    """
    bases = list(_disjoint_bases(space, rows, floor))
    most = (floor - 1) // len(bases)
    left = _MOST_CHOICES
    for basis in bases if most else ():
        choices = list(itertools.islice(_choices(rows[basis].tolist(), floor, most), left))
        left -= len(choices)
        if left == 0:
            return np.arange(len(rows))
        # The identity at the basis: the v that is 1 at some of its atoms is the sum of these rows.
        reduced = np.linalg.solve(space[:, basis], space)
        for chosen in choices:
            vector = reduced[chosen].sum(axis=0)
            members = vector > 0.5
            if np.abs(vector - members).max() < 1e-6 and rows[members].sum() < floor:
                return np.flatnonzero(members)
    return None


def _disjoint_bases(space: Array, rows: Array, at_most: int) -> Iterator[NDArray[np.intp]]:
    """Yield sets of atoms that a vector of a space is decided by, each row of an atom in one."""
    # Atoms in blocks of few rows are long vectors; made short, they are chosen only where needed.
    length = (space * space).sum(axis=0)
    short = space / np.maximum(length, 1e-3 * length.max()) ** 2
    short /= np.abs(short).max()
    left = rows.copy()
    for _ in range(at_most):
        there = np.flatnonzero(left > 0)
        if len(there) < len(space):
            return
        triangle, order = qr(short[:, there], mode="r", pivoting=True)
        if abs(triangle[len(space) - 1, len(space) - 1]) < 1e-7:
            return
        basis = there[order[: len(space)]]
        left[basis] -= 1
        yield basis


def _choices(rows: list[float], floor: float, most: int, start: int = 0) -> Iterator[list[int]]:
    """Yield each choice of `most` of these, or fewer, with fewer rows together than the floor."""
    for i in range(start, len(rows) if most else 0):
        if rows[i] < floor:
            yield [i]
            for rest in _choices(rows, floor - rows[i], most - 1, i + 1):
                yield [i, *rest]
