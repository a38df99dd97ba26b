"""List all groups in which two attributes meet, or three, to be flagged where they differ.

A report's tables show one attribute at a time, and where one pair of them meets. Who differs may be
told by another pair, or by three. So all joint values are tested beside the tables, numbers cut
into quarters, and those that are flagged are told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.intervals import GroupEstimate, Listed, group_estimates
from gerrymend.auditing.inference.joint_values import (
    BINS,
    CONDITIONS,
    JointValues,
    Kinds,
    few_of,
    joint_groups,
)
from gerrymend.auditing.inference.small_sets import sums_by
from gerrymend.auditing.small_groups import FEWEST_TO_LIST, may_be_described, too_few
from gerrymend.auditing.tally import NotionTally, Tally
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.base import SubgroupClass
from gerrymend.subgroups.conjunctions import Conjunctions
from gerrymend.subgroups.products.scales import axes_of
from gerrymend.subgroups.rules import Members

# Attributes that meet, where the class is not of groups of three or more.
_PAIRS = 2
# Groups over all notions: where there were more, fewer attributes meet.
MOST_TESTED = 100_000
# Groups that are tried to be told, of those that may be flagged: the surest first.
MOST_TRIED = 100


def attributes_that_meet(subgroups: SubgroupClass | None) -> int:
    """Return how many attributes meet in groups that are tested: three if the class has such."""
    is_deep = isinstance(subgroups, Conjunctions) and subgroups.max_depth >= CONDITIONS
    return CONDITIONS if is_deep else _PAIRS


@dataclass(frozen=True, eq=False)
class CrossedGroups:
    """All joint values of two attributes or more, but for those that a table has.

    Attributes
    ----------
    kinds : sparse array (kinds of rows, cells)
        Cells that all groups treat alike are of one kind.
    membership : sparse array (groups, kinds of rows)
        1 for each member.
    rules : JointValues
        Who is in each.
    sizes : array (groups,) of int
        Rows in each, in an event or not.
    depth : int
        So many attributes, at most, meet in groups that are all here or in the table.
    capped : bool
        Whether groups of more attributes were too many to test.
    """

    kinds: Any
    membership: Any
    rules: JointValues
    sizes: NDArray[np.intp]
    depth: int
    capped: bool

    @classmethod
    def of(
        cls, tally: Tally, table: Sequence[str], *, wanted: int, n_notions: int
    ) -> "CrossedGroups":
        """List the groups of up to `wanted` attributes; those of the pair in `table` are there."""
        weight = tally.weight.sum(axis=0)
        everywhere = np.ones(len(weight), dtype=bool)
        # An attribute that is the same in every row makes no groups beside those of others.
        n_rows = tally.n_rows.sum(axis=0)
        axes = tuple(
            axis
            for axis in axes_of(tally.columns, weight, everywhere, BINS)
            if len(np.unique(axis.rank[n_rows > 0])) > 1
        )
        names = [axis.scale.name for axis in axes]
        listed = tuple(sorted(names.index(name) for name in table if name in names))
        most = min(wanted, len(axes))
        kinds = Kinds.of(axes, len(weight))
        while True:
            subsets = few_of(len(axes), len(kinds.first), least=_PAIRS, most=most)
            others = [one for one in subsets if one != listed]
            membership, rules = joint_groups(axes, kinds, others, n_rows, _all_of)
            if membership.shape[0] * n_notions <= MOST_TESTED:
                break
            most -= 1
        depth = max(map(len, subsets), default=1)
        sizes = (membership @ sums_by(kinds.kind_of, n_rows)).astype(np.intp)
        capped = depth < min(wanted, len(axes))
        return cls(kinds.table, membership, rules, sizes, depth, capped)

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, seen: NotionTally) -> Array:
        """Return the rows of each group in the event of a notion."""
        rows: Array = self.sums(seen.rows_of_cells)
        return rows

    def sums(self, by_cell: NDArray[Any]) -> Array:
        """Return sums over each group."""
        sums: Array = self.membership @ (self.kinds @ by_cell)
        return sums

    def may_be_shown(self, seen: NotionTally, min_group_size: int) -> NDArray[np.bool_]:
        """Return which groups are large enough to be told of, one by one."""
        fits = may_be_described(self.rows(seen), seen.rows.sum(), min_group_size)
        return fits & ~too_few(self.sizes, FEWEST_TO_LIST)

    def members(self, group: int) -> Members:
        """Return a mask of the cells that are in a group."""
        inside: Members = self.kinds.T @ self.membership[[group]].toarray()[0] > 0
        return inside

    def told(
        self,
        seen: Sequence[NotionTally],
        published: Mapping[FairnessNotion, Published],
        candidates: Sequence[tuple[int, int]],
    ) -> NDArray[np.bool_]:
        """Publish the groups that disclose no small one, in this order; return which, by notion.

        Parameters
        ----------
        seen : sequence of NotionTally
            The rows, as each notion sees them.
        published : mapping of FairnessNotion to Published
            What the report says already; it is added to.
        candidates : sequence of pairs
            The numbers of a notion and of a group.
        """
        shown = np.zeros((len(seen), len(self)), dtype=bool)
        for notion, group in candidates[:MOST_TRIED]:
            sums = published[seen[notion].notion]
            blocks = self.members(group).astype(np.intp)
            if not sums.in_event.allowance.is_spent and sums.told(blocks) is None:
                sums.add(blocks)
                shown[notion, group] = True
        return shown

    def estimates(
        self, seen: Sequence[NotionTally], chosen: NDArray[np.bool_]
    ) -> tuple[GroupEstimate, ...]:
        """Return rates and intervals of some groups, by notion; these hold for all groups."""
        if not chosen.any():
            return ()
        listed = []
        for part, mask in zip(seen, chosen, strict=True):
            numbers = np.flatnonzero(mask)
            rules = [self.rules[i] for i in numbers.tolist()]
            membership = self.membership[numbers] @ self.kinds
            listed.append(Listed(part, rules, membership, self.sizes[numbers]))
        every = [np.ones(len(groups.rules), dtype=bool) for groups in listed]
        return group_estimates(listed, every, number=len(self) * len(seen))


def _all_of(rows: Array) -> NDArray[np.bool_]:
    return rows > 0
