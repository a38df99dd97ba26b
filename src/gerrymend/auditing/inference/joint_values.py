"""List the groups of rows that have the same values of a few attributes, numbers in quarters."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.small_sets import sums_by
from gerrymend.subgroups.products.scales import Axis
from gerrymend.subgroups.rules import Conjunction, Rule

# Conditions of a group at most, and parts of equal weight that a number is cut into.
CONDITIONS = 3
BINS = 4
# Members of all groups, by kind of row: where there were more, groups have fewer conditions.
_MOST_MEMBERS = 2_000_000

Subset = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class JointValues:
    """Groups of the same values of some attributes as a cell has: `subsets` of axes, and `cells`.

    Both are by group.
    """

    axes: tuple[Axis, ...]
    subsets: list[Subset]
    cells: NDArray[np.intp]

    def __getitem__(self, group: int, /) -> Rule:
        """Return the conditions on the attributes of a group."""
        conditions = []
        for axis in (self.axes[i] for i in self.subsets[group]):
            rank = int(axis.rank[self.cells[group]])
            number = axis.scale.is_number
            conditions.append(
                axis.scale.within(rank, rank + 1) if number else axis.scale.among([rank])
            )
        return Conjunction(
            tuple(conditions), {axis.scale.name: axis.scale.kind for axis in self.axes}
        )


class Kinds(NamedTuple):
    """Cells that no axis tells apart are of one kind: the first cell of each, and each cell's."""

    first: NDArray[np.intp]
    kind_of: NDArray[np.intp]

    @classmethod
    def of(cls, axes: Sequence[Axis], n_cells: int) -> "Kinds":
        """Find the distinct joint values of all axes; without any, all cells are of one kind."""
        ranks = [axis.rank.astype(np.intp) for axis in axes]
        return cls(*joint(ranks or [np.zeros(n_cells, dtype=np.intp)]))

    @property
    def table(self) -> Any:
        """A sparse array (kinds, cells), with 1 for the kind of each cell."""
        where = (self.kind_of, np.arange(len(self.kind_of)))
        shape = (len(self.first), len(self.kind_of))
        return sparse.csr_array((np.ones(len(self.kind_of)), where), shape=shape)


def joint_groups(
    axes: tuple[Axis, ...],
    kinds: Kinds,
    subsets: Sequence[Subset],
    rows: NDArray[Any],
    fits: Callable[[Array], NDArray[np.bool_]],
) -> tuple[Any, JointValues]:
    """Return members, a sparse array (groups, kinds), and rules of joint values that `fits` takes.

    Parameters
    ----------
    axes : tuple of Axis
        The attributes, by rank.
    kinds : Kinds
        Those of the same axes.
    subsets : sequence of tuples
        The sets of axes whose joint values are groups, by their numbers.
    rows : array
        Numbers of rows, by cell.
    fits : callable
        Is given the rows of all joint values of a set, and returns a mask of those to keep.
    """
    ranks = [axis.rank[kinds.first].astype(np.intp) for axis in axes]
    n_rows = sums_by(kinds.kind_of, rows)
    chosen: list[Subset] = []
    cells: list[NDArray[np.intp]] = [np.zeros(0, dtype=np.intp)]
    members: list[NDArray[np.intp]] = [np.zeros((2, 0), dtype=np.intp)]
    for subset in subsets:
        mine, group_of = joint([ranks[i] for i in subset])
        kept = fits(sums_by(group_of, n_rows))
        number = np.where(kept, len(chosen) + np.cumsum(kept) - 1, -1)[group_of]
        inside = np.flatnonzero(number >= 0)
        members.append(np.stack([number[inside], inside]))
        cells.append(kinds.first[mine[kept]])
        chosen += [subset] * int(kept.sum())
    entries = np.concatenate(members, axis=1)
    shape = (len(chosen), len(kinds.first))
    membership = sparse.csr_array((np.ones(entries.shape[1]), tuple(entries)), shape=shape)
    return membership, JointValues(axes, chosen, np.concatenate(cells))


def few_of(n_axes: int, n_kinds: int, *, least: int = 1, most: int = CONDITIONS) -> list[Subset]:
    """Return the sets of attributes that groups are told by, fewer first.

    Sets of more attributes are left out where their groups would have too many members.

    >>> few_of(3, n_kinds=100), len(few_of(40, n_kinds=10_000))
    ([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)], 40)
    >>> few_of(3, n_kinds=100, least=2, most=2)
    [(0, 1), (0, 2), (1, 2)]
    """
    chosen: list[Subset] = []
    for number in range(least, most + 1):
        members = (len(chosen) + math.comb(n_axes, number)) * n_kinds
        if number > 1 and members > _MOST_MEMBERS:
            break
        chosen += itertools.combinations(range(n_axes), number)
    return chosen


def joint(ranks: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return a cell of each joint value, and the number of the value of each cell.

    >>> first, number = joint([np.array([0, 1, 0, 1]), np.array([2, 0, 2, 2])])
    >>> first.tolist(), number.tolist()
    ([0, 1, 3], [0, 1, 0, 2])
    """
    code = np.zeros(len(ranks[0]), dtype=np.intp)
    n_codes = 1
    for rank in ranks:
        size = int(rank.max()) + 1
        if n_codes * size > np.iinfo(np.intp).max:
            code = np.unique(code, return_inverse=True)[1]
            n_codes = int(code.max()) + 1
        code = code * size + rank
        n_codes *= size
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    return first, number
