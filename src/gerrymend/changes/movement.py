"""The subgroup that moved most from one sample to another, or from one model to another."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.chosen_subgroups import cells_of
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.rare_values import rare_values
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.subgroup import Subgroup, beyond_rounding
from gerrymend.auditing.tally import NotionTally
from gerrymend.changes.chance_of_change import Search
from gerrymend.changes.joint_cells import JointCells
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.base import BoundClass, Bracket, Found, SubgroupClass
from gerrymend.subgroups.rules import Rule

# How often the floor is doubled, in the search for one that is large enough in both samples.
_TRIES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Movement:
    """The subgroup whose treatment, beside everyone's, moved most; and what none moved by more.

    Movement is the change of share·(rate − overall rate), and the subgroup is found by a search
    over the whole class. A change of everyone's rate does not count, and a group counts by its
    size. On the same rows, movement is the share times the change of the gap. Between two samples
    the share may have changed too, and movement is the sum of `by_rate` and `by_share`.

    Attributes
    ----------
    was, now : Subgroup or None
        The subgroup on the old rows, or by the old model, and on the new ones. None if it may not
        be described, because too few rows are in it or would follow from it.
    moved : float
        The largest change of an unfairness that was found, in groups of any size.
    upper_bound : float
        No subgroup of the class moved by more, on these rows.
    p_value : float or None
        Of so large a movement of any subgroup that was searched, if the rows of both were drawn
        alike, or if it were chance which model decided what. It has paid for the search.

    See Also
    --------
    compare : Compare an audit with an earlier one, or a model with another.
    Comparison : What changed from an audit, or from a model, to another.

    Examples
    --------
    >>> from gerrymend import compare
    >>> A = {"sex": ["F"] * 40 + ["M"] * 40}
    >>> old, new = [0, 1] * 40, [1] * 30 + [0] * 10 + [0, 1] * 20
    >>> moved = compare(old, None, new, notion="statistical_parity", sensitive_features=A).moved
    >>> print(f"{moved.now}: {moved.was.rate:.0%}, now {moved.now.rate:.0%}")
    sex = F: 50%, now 75%
    """

    was: Subgroup | None
    now: Subgroup | None
    moved: float
    upper_bound: float
    p_value: float | None = None

    @property
    def by_rate(self) -> float | None:
        """Return the part that comes from its gap: its mean share times what the gap moved by."""
        if self.was is None or self.now is None:
            return None
        return (self.was.share + self.now.share) / 2 * (self.now.gap - self.was.gap)

    @property
    def by_share(self) -> float | None:
        """Return the part that comes from its share: its mean gap times what the share moved by."""
        if self.was is None or self.now is None:
            return None
        return (self.was.gap + self.now.gap) / 2 * (self.now.share - self.was.share)

    def to_dict(self) -> dict[str, Any]:
        """Return the movement as plain data."""
        return {
            "was": None if self.was is None else self.was.to_dict(),
            "now": None if self.now is None else self.now.to_dict(),
            "moved": self.moved,
            "upper_bound": self.upper_bound,
            "by_rate": self.by_rate,
            "by_share": self.by_share,
            "p_value": self.p_value,
        }

    def __repr__(self) -> str:
        who = None if self.now is None else self.now.describe()
        told = {name: getattr(self, name) for name in ("moved", "upper_bound", "p_value")}
        return short_repr(self, who=who, **told)


@dataclass(frozen=True, eq=False)
class JointNotion:
    """One notion on both sides: its sums, the class over the joint cells, and what moved by cell.

    `active` are the joint cells that are in the event on either side, and `moved` is W/n of the new
    rows less that of the old ones there; `sided` is the class of the side that counts.
    """

    old: NotionTally
    new: NotionTally
    joint: JointCells
    bound: BoundClass
    sided: BoundClass
    active: NDArray[np.intp]
    moved: Array

    @classmethod
    def of(
        cls,
        old: NotionTally,
        new: NotionTally,
        joint: JointCells,
        subgroups: SubgroupClass,
        side: str,
    ) -> "JointNotion":
        """Bind a class to the joint cells of two sides."""
        weight = np.zeros((2, len(joint)))
        mass = np.zeros((2, len(joint)))
        values = np.zeros((2, len(joint)))
        for i, (seen, cells) in enumerate(((old, joint.of_old), (new, joint.of_new))):
            n = seen.cells.total_weight
            weight[i, cells] = seen.tally.weight.sum(axis=0) / n
            mass[i, cells[seen.cells.active]] = seen.cells.mass / n
            values[i, cells[seen.cells.active]] = seen.residual / n
        event = mass.sum(axis=0)
        active = np.flatnonzero(event > 0)
        bound = subgroups.bind(joint.columns, weight.sum(axis=0), event)
        sided = bound.one_sided(new.notion.harm) if side == "disadvantaged" else bound
        return cls(old, new, joint, bound, sided, active, (values[1] - values[0])[active])

    @property
    def search(self) -> Search:
        """Return the search that is repeated on rows that were dealt anew."""
        return Search(self.bound.quick, self.sided.quick, self.active)

    @property
    def rounding(self) -> float:
        """Return what rounding alone may make of an unfairness, on either side."""
        return max(self.old.cells.rounding, self.new.cells.rounding)

    def rows(self, same_rows: bool) -> NDArray[np.intp]:
        """Return the number of rows in the event by active cell, of both sides."""
        every = np.zeros(len(self.joint), dtype=np.intp)
        every[self.joint.of_new] += self.new.rows_of_cells
        if not same_rows:
            every[self.joint.of_old] += self.old.rows_of_cells
        return every[self.active]

    def rule(self, found: Found, min_group_size: int) -> Rule:
        """Return the rule of a subgroup, in digits that are no row's value of either side.

        Values that too few rows of a side have are not told.
        """
        columns = {column.name: column for column in self.joint.columns}
        rule = self.bound.source.rule(found.keys[0])
        selected = rule.members(columns)
        selected[self.active] = found.members[0] > 0
        few = [rare_values(one.tally, min_group_size, with_rows=True) for one in self.sides]
        names = {*few[0], *few[1]}
        none: frozenset[Any] = frozenset()
        rare = {name: few[0].get(name, none) | few[1].get(name, none) for name in names}
        return rule.in_few_digits(columns, selected).withholding(rare)

    @property
    def sides(self) -> tuple[NotionTally, NotionTally]:
        """Return the old side and the new one."""
        return self.old, self.new


# What is told of the rows of each side already, by notion.
Told = Sequence[Mapping[FairnessNotion, Published]]


def prove_movement(notions: Sequence[JointNotion], seconds: float) -> list[Bracket]:
    """Search and bound what moved most, for each notion; each has an even part of the time left."""
    deadline = time.monotonic() + seconds
    brackets = []
    for i, one in enumerate(notions):
        left = max(0.0, deadline - time.monotonic()) / (len(notions) - i)
        brackets.append(one.bound.prove(one.moved, seconds=left))
    return brackets


def movement(
    notions: Sequence[JointNotion],
    brackets: Sequence[Bracket],
    told: Told,
    *,
    min_group_size: int,
    p_value: float | None,
    same_rows: bool,
    seconds: float,
) -> Movement:
    """Measure the subgroup that moved most, if it may be told beside what is `told` already.

    `told` is of the old rows and of the new ones, and is added to; the same rows come once.
    """
    values = [abs(float(bracket.found.values[0])) for bracket in brackets]
    first = int(np.argmax(values))
    moved = beyond_rounding(values[first], notions[first].rounding)
    upper = max(moved, *(bracket.upper_bound for bracket in brackets))
    nothing = Movement(None, None, moved, upper, p_value)
    if not moved:
        return nothing
    one = notions[first]
    deadline = time.monotonic() + seconds
    for found in _large_enough(one, brackets[first].found, min_group_size, same_rows, deadline):
        rule = one.rule(found, min_group_size)
        was, now = (seen.cells.as_treated(rule, seen.outcomes) for seen in one.sides)
        if _may_be_told(one, (was, now), told, min_group_size):
            for seen, published in zip(one.sides, told, strict=False):
                published[seen.notion].add(cells_of(seen, now).astype(np.intp))
            return replace(nothing, was=was, now=now)
    return nothing


def _large_enough(
    one: JointNotion, found: Found, floor: int, same_rows: bool, deadline: float
) -> Iterator[Found]:
    """Yield what was found, and then the worst of more and more rows.

    A search knows a floor for the rows of both sides together, and each side has to have as many:
    the floor is doubled, as long as there are rows.
    """
    yield found
    rows = one.rows(same_rows)
    for _ in range(_TRIES):
        if 2 * floor > rows.sum() or time.monotonic() >= deadline:
            return
        left = (deadline - time.monotonic()) / 2
        large = one.bound.worst_of_size(one.moved, rows, floor, seconds=left)
        if large is None:
            return
        yield large
        floor *= 2


def _may_be_told(
    one: JointNotion, measured: tuple[Subgroup, Subgroup], told: Told, floor: int
) -> bool:
    """Return whether a group is large enough on both sides, and tells of no small one on either."""
    for seen, group in zip(one.sides, measured, strict=True):
        inside = int(seen.rows[cells_of(seen, group)[seen.cells.active]].sum())
        if not may_be_described(inside, seen.rows.sum(), floor):
            return False
    return all(
        published[seen.notion].told(cells_of(seen, group).astype(np.intp)) is None
        for seen, group, published in zip(one.sides, measured, told, strict=False)
    )
