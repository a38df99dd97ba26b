"""Keep sums that a report publishes from disclosing small groups by subtraction.

A group whose rate is published parts the rows in the event in two, in and out. An attribute whose
values are published parts them into these and, together, the values that are left out. All blocks
of such partitions have sums that are known.

Take a block A of one, and the blocks B of another. A less the B that are inside it tells Σ (A∩B)
over those that A cuts, and these less that tell Σ (B∖A). Nothing smaller follows: a combination of
A and the B is a sum over a set of rows if each row has the factor 0 or 1; where A has the factor 1
and a B that it cuts c, these are c + 1 and c, so that c is 0 for every such B; where A has −1, c
is 1 in the same way. So both sums must be over at least `min_group_size` rows.

Any two partitions are guarded so, not what three or more could tell together.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import identifies

# The block of each active cell, in whole numbers from 0.
Blocks = NDArray[np.intp]


# Below this part of the largest, singular values and what they leave are rounding.
_RANK = 1e-9


def _indicators(blocks: Blocks) -> Array:
    """Return a row for each block, 1 where it is; blocks that are nowhere have a row of 0."""
    return (blocks == np.arange(int(blocks.max()) + 1)[:, None]).astype(np.float64)


class Published:
    """The partitions that are published of the rows in an event; `rows` is their number by cell.

    >>> rows = np.array([296, 4, 300, 300])  # blue men, blue women, green men, green women
    >>> published = Published(rows, min_group_size=10)
    >>> published.add(np.array([1, 0, 0, 0]))
    >>> published.told_by(np.array([1, 1, 2, 2]))  # blue, or all but green, less blue men are 4
    {1, 2}
    >>> published.told_by(np.array([1, 2, 1, 2]))
    set()
    """

    def __init__(self, rows: NDArray[np.intp], min_group_size: int) -> None:
        self.rows = rows.astype(np.float64)
        self.min_group_size = min_group_size
        self._partitions: list[Blocks] = []

    def add(self, blocks: Blocks) -> None:
        """Publish a partition, given as the number of each active cell's block."""
        self._partitions.append(blocks)

    def told_by(self, blocks: Blocks) -> set[int]:
        """Return the blocks that, beside a published partition, disclose too few rows."""
        told: set[int] = set()
        for other in self._partitions:
            mine, theirs, n = self._common(blocks, other)
            size = self._sizes(blocks)[mine]
            other_size = self._sizes(other)[theirs]
            # A may be a block of either: where it is theirs, those of ours that it cuts have to go,
            # and where it is ours, that block.
            told.update(mine[self._leaks(theirs, n, size) & (n < size)].tolist())
            told.update(mine[self._leaks(mine, n, other_size)].tolist())
        return told

    def told(self, groups: Blocks) -> set[int]:
        """Return which of these disjoint groups, numbered by cell, are a published block."""
        told: set[int] = set()
        size = self._sizes(groups)
        for other in self._partitions:
            mine, theirs, n = self._common(groups, other)
            whole = (n == size[mine]) & (n == self._sizes(other)[theirs])
            told.update(mine[whole].tolist())
        return told

    def follow(self, groups: Blocks) -> set[int]:
        """Return which of these disjoint groups follow from all that is published together.

        A sum over a group follows if its indicator is a combination of those of published blocks.

        >>> published = Published(np.array([60, 60, 4, 60]), min_group_size=10)
        >>> for blocks in ([0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 0]):
        ...     published.add(np.array(blocks))
        >>> published.follow(np.array([0, 1, 2, 3]))
        {0, 1, 2, 3}
        """
        there = self.rows > 0
        profiles = np.unique(np.vstack([groups, *self._partitions])[:, there], axis=1)
        wanted, *known = (_indicators(blocks) for blocks in profiles)
        table = np.vstack([np.ones(profiles.shape[1]), *known])
        _, sizes, directions = np.linalg.svd(table, full_matrices=False)
        spanned = directions[sizes > _RANK * sizes[0]]
        left = wanted - wanted @ spanned.T @ spanned
        return set(np.flatnonzero((left * left).sum(axis=1) < _RANK).tolist())

    def shown(self, groups: Blocks, fits: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Publish as many of these disjoint groups as disclose no small one; return a mask of them.

        `groups` has the number of each cell's group, from 1, and 0 where it is in none. What is
        left out is a block as well. The groups that disclose something go and, if that is the block
        of those left out, the smallest of the others.

        Parameters
        ----------
        groups : array of int
            One number a cell.
        fits : array of bool
            Groups that are large enough on their own, from that of number 1.
        """
        inside = np.bincount(groups, self.rows, len(fits) + 1)[1:]
        shown = fits.copy()
        while shown.any():
            blocks = np.where(np.r_[False, shown][groups], groups, 0)
            told = self.told_by(blocks)
            # The rest, block 0, follows from the total: it must not be small either.
            if not told and not identifies(self.rows[blocks == 0].sum(), self.min_group_size):
                self.add(blocks)
                break
            smallest = int(np.argmin(np.where(shown, inside, np.inf)))
            shown[[block - 1 for block in told - {0}] or smallest] = False
        return shown

    def _sizes(self, blocks: Blocks) -> Array:
        return np.asarray(np.bincount(blocks, self.rows), dtype=np.float64)

    def _common(self, blocks: Blocks, other: Blocks) -> tuple[Blocks, Blocks, Array]:
        """Return the pairs of blocks that share rows, and how many."""
        height = int(blocks.max()) + 1
        width = int(other.max()) + 1
        # A dense table where it is no larger than the cells; a sparse one for many blocks.
        if height * width <= len(self.rows):
            counts = np.bincount(blocks * width + other, self.rows)
            there = np.flatnonzero(counts)
            return there // width, there % width, np.asarray(counts[there], dtype=np.float64)
        table: Any = sparse.coo_array((self.rows, (blocks, other))).tocsr().tocoo()
        return table.row, table.col, table.data

    def _leaks(self, a: Blocks, n: Array, size: Array) -> NDArray[np.bool_]:
        """Return whether A discloses, for pairs of A and B that share n of the `size` rows of B."""
        # Only the B that A cuts in two: of those inside A, A less B is a block that is known.
        cut = n < size
        inside = np.bincount(a, n * cut)
        outside = np.bincount(a, (size - n) * cut)
        few = identifies(inside, self.min_group_size) | identifies(outside, self.min_group_size)
        leaks: NDArray[np.bool_] = few[a]
        return leaks
