"""Find small sets of rows whose sums follow from those of the blocks of some partitions.

Rows that no partition tells apart are an *atom*. The sum over a set follows if its indicator is in
the span of those of the blocks: v = Σ_p c_p(block of partition p), constant on each atom. A set of
fewer than `floor` rows is 0 on all atoms of that many, the large ones. Few v are left to look at:

- Two blocks b, b' of a partition have the same c wherever v is over too few rows, if the atoms that
  differ by b and b' alone have Σ min(rows of one, rows of the other) ≥ floor: with another c, v
  would not be 0 on one of each two. Such blocks are merged, again and again.
- Of what is left, the v that are 0 on all large atoms are a space, from a singular value
  decomposition. A v is decided by its values at a *basis*, as many atoms as the space has
  dimensions. Take J bases that share no rows: of fewer than `floor` rows, at most (floor − 1) / J
  are in one of them. So all choices of so few of each basis are tried, as Brouwer and Zimmermann do
  for codes; with as many bases as the floor there are none.

Where these are too many to try, or where there is no time for it, nothing more is published.
"""

import itertools
import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqp3

from gerrymend._numeric.sums import Array
from gerrymend.subgroups.rules import Members

# The block of each cell, in whole numbers from 0.
Blocks = NDArray[np.intp]

# Below this part of the largest, singular values and what they leave are rounding.
_RANK = 1e-9
# Numbers of a table of atoms that is decomposed, and choices of atoms that are tried.
_MOST_NUMBERS = 4_000_000
_MOST_CHOICES = 5_000
# Products of a decomposition, rows · columns · the fewer of both, that a core does in a second.
_PER_SECOND = 2e9
# Places at which a choice is looked at first.
_PROBES = 16


class Allowance:
    """Seconds to look for small sets in, which pass `with` it alone; `ran_out` says if they did.

    >>> allowance = Allowance(1.0)
    >>> with allowance:
    ...     allowance.affords(10), allowance.affords(1e12), allowance.ran_out
    (True, False, True)
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self.ran_out = False
        self._left = seconds
        self._since = 0.0

    def __enter__(self) -> None:
        """Start the clock."""
        self._since = time.monotonic()

    def __exit__(self, *_: object) -> None:
        """Stop the clock."""
        self._left -= time.monotonic() - self._since

    @property
    def is_spent(self) -> bool:
        """Return whether no time is left, as it was when the clock stopped."""
        return self._left <= 0

    def affords(self, products: float = 0.0) -> bool:
        """Return whether there is time for so many products, which is remembered if there is not.

        The clock runs.
        """
        left = self._left - (time.monotonic() - self._since)
        enough = left > products / _PER_SECOND
        self.ran_out |= not enough
        return enough


def sums_by(place: Blocks, values: NDArray[Any]) -> Array:
    """Return the sum of values by place."""
    return np.asarray(np.bincount(place, values), dtype=np.float64)


def small_set(
    table: Blocks, rows: Array, floor: int, allowance: Allowance | None = None
) -> Members | None:
    """Return a set of atoms, with fewer rows than the floor, whose sum follows; None if none does.

    Parameters
    ----------
    table : array (partitions, atoms) of int
        The block of each atom; no two atoms are in the same block of all partitions.
    rows : array (atoms,)
        How many rows each atom has.
    floor : int
        Sums over so many rows, or more, may be known.
    allowance : Allowance, optional
        The time for it, which passes.

    Returns
    -------
    array (atoms,) of bool or None
        The set; where there are too many to try, or no time is left for it, all atoms that are in
        merged ones of too few rows.

    Examples
    --------
    All but the first atom are a block, and so are the first two; the second has 4 rows.

    >>> table = np.array([[1, 0, 0], [1, 1, 0]])
    >>> small_set(table, np.array([60.0, 4.0, 60.0]), floor=10).tolist()
    [False, True, False]
    """
    allowance = allowance or Allowance()
    table, place = _merged(table, rows, floor)
    rows = sums_by(place, rows)
    small = rows < floor
    if not small.any():
        return None
    n_blocks = sum(len(np.unique(partition)) for partition in table)
    n_looked_at = min(len(rows), _MOST_NUMBERS // n_blocks)
    if not allowance.affords(_products(n_blocks, n_looked_at)):
        return np.asarray(small[place])
    if n_looked_at < len(rows):
        # Of some atoms alone; no space of these partitions has more dimensions than this.
        some = np.random.default_rng(0).permutation(len(rows))[:n_looked_at]
        space = _zero_where(_indicators(table[:, some]), np.zeros(len(some), dtype=bool))
        # The blocks of each partition add up to the same vector of ones, so that of all blocks of
        # k partitions k − 1 follow from the others. If these atoms show as many dimensions, a v is
        # decided by them; unless it is 0, it has a row in each basis: too many, where there are as
        # many bases as the floor.
        is_all = len(space) == n_blocks - len(table) + 1
        if is_all and allowance.affords(floor * _products(*space.shape)):
            n_bases = sum(len(b) == len(space) for b in _disjoint_bases(space, rows[some], floor))
            return None if n_bases == floor else small[place]
        return small[place]
    space = _zero_where(_indicators(table), ~small)
    if len(space) == 0:
        return None
    at = np.flatnonzero(small)
    found = zero_or_one(space[:, at], rows[at], floor, allowance)
    if found is None:
        return None
    members = np.zeros(len(rows), dtype=bool)
    members[at[found]] = True
    return members[place]


def _products(n_rows: int, n_columns: int) -> int:
    """Return how many products it takes to decompose a matrix."""
    return n_rows * n_columns * min(n_rows, n_columns)


def _indicators(table: Blocks) -> Array:
    """Return a row for each block of all partitions, 1 where it is."""
    return np.vstack([blocks == np.unique(blocks)[:, None] for blocks in table]).astype(np.float64)


def _merged(table: Blocks, rows: Array, floor: int) -> tuple[Blocks, Blocks]:
    """Merge blocks that no set of too few rows tells apart; return the table and atoms' places.

    Atoms that are in the same merged blocks become one. That is repeated, since larger atoms let
    more blocks be merged, until no more atoms do.

    Returns
    -------
    table : array (partitions, merged atoms) of int
        The block of each merged atom.
    place : array (atoms,) of int
        The merged atom that each is in.
    """
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
        rows = sums_by(joint, rows)
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
    # All left vectors, and not all of the right ones, which may be many.
    left, sizes, _ = np.linalg.svd(blocks[:, large], full_matrices=len(blocks) > large.sum())
    rank = int((sizes > _RANK * sizes.max(initial=1.0)).sum())
    # Left vectors beyond the rank are the combinations c that make 0 of all large columns.
    # Different ones may make the same v, for a basis of which these are decomposed once more.
    free = left[:, rank:].T @ blocks
    _, sizes, basis = np.linalg.svd(free, full_matrices=False)
    return np.asarray(basis[sizes > _RANK * max(1.0, sizes.max(initial=0.0))])


def zero_or_one(
    space: Array, rows: Array, floor: int, allowance: Allowance | None = None
) -> NDArray[np.intp] | None:
    """Return where a vector of a space is 1, of those of 0 and 1 over too few rows; None if none.

    Where there are too many to try, or no time is left for it, all places are returned.

    Parameters
    ----------
    space : array (dimensions, places)
        A basis of the space.
    rows : array (places,)
        How many rows each place stands for.
    floor : int
        Too few are fewer rows than this.
    allowance : Allowance, optional
        The time for it, which passes.

    Examples
    --------
    >>> zero_or_one(np.array([[1.0, 1.0, 0.0]]), np.array([2.0, 3.0, 4.0]), floor=10).tolist()
    [0, 1]
    >>> zero_or_one(np.array([[1.0, 1.0, 0.0]]), np.array([2.0, 3.0, 4.0]), floor=5) is None
    True
    """
    allowance = allowance or Allowance()
    while len(space):
        if not allowance.affords(floor * _products(*space.shape)):
            return np.arange(len(rows))
        bases = list(_disjoint_bases(space, rows, floor))
        if len(bases) < floor:
            break
        # Each basis decides all rows that are in none: a v that is not 0 at the last of so many is
        # not 0 at any, and has too many rows.
        space = _zero_at(space, bases[-1])
    else:
        return None
    bases = [basis for basis in bases if len(basis) == len(space)]
    most = (floor - 1) // len(bases)
    left = _MOST_CHOICES
    for basis in bases if most else ():
        if not allowance.affords(_products(*space.shape)):
            return np.arange(len(rows))
        choices = list(itertools.islice(_choices(rows[basis].tolist(), floor, most), left))
        left -= len(choices)
        if left == 0:
            return np.arange(len(rows))
        # The identity at the basis: the v that is 1 at some of its atoms is the sum of these rows.
        reduced = np.asarray(np.linalg.solve(space[:, basis], space), dtype=np.float64)
        for chosen in _likely(choices, reduced):
            vector = reduced[chosen].sum(axis=0)
            members = vector > 0.5
            if np.abs(vector - members).max() < 1e-6 and rows[members].sum() < floor:
                return np.flatnonzero(members)
    return None


def _likely(choices: list[list[int]], reduced: Array) -> Iterator[list[int]]:
    """Yield the choices of rows whose sum is 0 or 1 at a few places."""
    some = reduced[:, :: max(1, reduced.shape[1] // _PROBES)]
    most = max(map(len, choices), default=0)
    # Choices of fewer are filled up by a row of zeros.
    filled = np.full((len(choices), most), len(some))
    for i in range(most):
        longer = [at for at, chosen in enumerate(choices) if len(chosen) > i]
        filled[longer, i] = [choices[at][i] for at in longer]
    sums = np.vstack([some, np.zeros(some.shape[1])])[filled].sum(axis=1)
    apart = np.abs(sums - (sums > 0.5)).max(axis=1, initial=0.0)
    for at in np.flatnonzero(apart < 1e-6):
        yield choices[at]


def _disjoint_bases(space: Array, rows: Array, at_most: int) -> Iterator[NDArray[np.intp]]:
    """Yield sets of atoms that a vector of a space is decided by, each row of an atom in one."""
    # Atoms in blocks of few rows are long vectors; made short, they are chosen only where needed.
    length = (space * space).sum(axis=0)
    short = space / np.maximum(length, 1e-3 * length.max()) ** 2
    short /= np.abs(short).max()
    left = rows.copy()
    for _ in range(at_most):
        there = np.flatnonzero(left > 0)
        if len(there) == 0:
            return
        triangle, order, *_ = dgeqp3(short[:, there])
        rank = int((np.abs(np.diagonal(triangle)) > 1e-7).sum())
        if rank == 0:
            return
        basis = there[order[:rank] - 1]
        left[basis] -= 1
        yield basis


def _zero_at(space: Array, places: NDArray[np.intp]) -> Array:
    """Return a basis of the vectors of a space that are 0 at some places."""
    left, sizes, _ = np.linalg.svd(space[:, places])
    rank = int((sizes > 1e-7 * sizes.max(initial=0.0)).sum())
    return np.asarray(left[:, rank:].T @ space)


def _choices(rows: list[float], floor: float, most: int, start: int = 0) -> Iterator[list[int]]:
    """Yield each choice of `most` of these, or fewer, with fewer rows together than the floor."""
    for i in range(start, len(rows) if most else 0):
        if rows[i] < floor:
            yield [i]
            for rest in _choices(rows, floor - rows[i], most - 1, i + 1):
                yield [i, *rest]
