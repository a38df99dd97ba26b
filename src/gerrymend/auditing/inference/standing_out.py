"""The groups that can be named, and how far each stands out from chance for its own size.

Unfairness is share times gap, and the largest is of a large group: chance alone makes as much of
some, also where a small group is hit so hard that it is beyond all doubt. So the groups that people
would name are looked at once more, each by its value v over its own standard deviation under the
same permutations. The largest is tested as the largest unfairness is: in each permutation it is
over all groups, so that its p-value has paid for having looked at them all.

The deviation is exact. In a stratum of N rows with weights w and outcomes u that are dealt anew
(π), with g the indicator of the group and q its part of the weight,

    v = Σ c_i·u_π(i),   c_i = w_i·(g_i − q),   so that Σ c_i = 0 and E v = 0,
    var v = Σ c_i² · Σ (u_j − ū)² / (N − 1),   Σ c_i² = (1 − 2·q)·Σ_g w² + q²·Σ w².

Strata are dealt independently, and their variances add up. Of scores rows are drawn independently
(`simulations`), and so do theirs.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.sums import Array
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.inference.simulations import variance_by_cell
from gerrymend.auditing.inference.value_ranges import Block, find, ranges_that_meet
from gerrymend.auditing.small_groups import FEWEST_TO_LIST, may_be_described
from gerrymend.auditing.tally import NotionTally
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.rules import Rule
from gerrymend.subgroups.within_scores import ScoreIntervals

# Values of groups, by draw, that are held at once.
_MOST_VALUES = 2_000_000
# What is below this part of all is rounding.
_ROUNDING = 1e-12
# What an end of a range costs, in squares of deviations. Of 16 places where it could be, the best
# adds as much by chance: twice the logarithm.
COST_OF_END = 5.5


class Rules(Protocol):
    """Groups by number, as rules."""

    def __getitem__(self, group: int, /) -> Rule:
        """Return who is in a group."""
        ...


@dataclass(frozen=True, eq=False)
class NamedGroups:
    """The groups that can be named and are large enough, over the active cells of a notion.

    Attributes
    ----------
    kinds : sparse array (kinds of rows, active cells)
        Cells that all groups treat alike are of one kind, of which there are few.
    atoms : sparse array (atoms, kinds of rows)
        1 for each member.
    blocks : tuple of Block
        The groups, as ranges of atoms.
    rules : Rules
        Who is in each.
    deviation : array (groups,)
        The standard deviation of the sum of residuals of each, under permutation.
    sign : {-1, 0, 1}
        The side of harm, on which values count; both where it is not known.
    """

    kinds: Any
    atoms: Any
    blocks: tuple[Block, ...]
    rules: Rules
    deviation: Array
    sign: int

    @classmethod
    def of(cls, part: Examined, min_group_size: int) -> "NamedGroups":
        """List the groups of a class that lists some and, of others, all intersections.

        These are the values, and ranges of numbers, of at most three attributes.
        """
        seen = part.seen
        floor = max(min_group_size, FEWEST_TO_LIST)
        bound = part.bound
        if isinstance(bound, ScoreIntervals) and type(bound.base) is ListedClass:
            bound = bound.at_all_scores()
        if type(bound) is ListedClass:
            kinds: Any = sparse.eye_array(len(seen.rows), format="csr")
            fits = may_be_described(bound.membership @ seen.rows, seen.rows.sum(), floor)
            numbers = np.flatnonzero(fits)
            atoms: Any = bound.membership[numbers]
            every = Block(0, (len(numbers),), np.arange(len(numbers)))
            blocks: tuple[Block, ...] = (every,) if len(numbers) else ()
            rules: Rules = [bound.rules[i] for i in numbers.tolist()]
        else:
            kinds, atoms, blocks, rules = ranges_that_meet(seen, floor)
        number = sum(len(block.kept) for block in blocks)
        groups = cls(kinds, atoms, blocks, rules, np.zeros(number), seen.notion.harm)
        return replace(groups, deviation=groups._deviation(seen))

    def __len__(self) -> int:
        return len(self.deviation)

    def scores(self, residual: Array) -> Array:
        """Return how many deviations each group is off on the side of harm.

        The residual is given by active cell. Where harm is not known, either side counts.
        """
        values = self._sums(residual[:, None])[:, 0]
        scores: Array = np.zeros(len(values))
        np.divide(values, self.deviation, out=scores, where=self.deviation > 0)
        return self.sign * scores if self.sign else np.abs(scores)

    def worth(self, scores: Array) -> Array:
        """Return how far groups stand out: the squares of scores, less what ends of ranges cost.

        A group that is off by nothing, or to the other side, is worth nothing.
        """
        worth: Array = np.maximum(scores, 0.0) ** 2 - COST_OF_END * self._n_ends
        return worth

    def largest(self, residuals: Array) -> Array:
        """Return the largest worth of each draw, 0 at least, given as (draws, active cells)."""
        found = np.zeros(len(residuals))
        widest = max((len(block.scale) for block in self._scales), default=1)
        step = max(1, _MOST_VALUES // max(widest, *self.atoms.shape))
        for start in range(0, len(residuals), step):
            draws = slice(start, start + step)
            by_atom = self.atoms @ (self.kinds @ residuals[draws].T)
            for block, (scale, cost) in zip(self.blocks, self._scales, strict=True):
                values = block.sums(by_atom)
                values *= scale[:, None]
                if self.sign:
                    np.maximum(values, 0.0, out=values)
                values *= values
                values -= cost[:, None]
                np.maximum(found[draws], values.max(axis=0), out=found[draws])
        return found

    def members(self, group: int) -> NDArray[np.bool_]:
        """Return a mask of the active cells that are in a group."""
        which, number = find(self.blocks, group)
        of_kinds = self.atoms[self.blocks[which].atoms(number)].sum(axis=0)
        inside: NDArray[np.bool_] = self.kinds.T @ of_kinds > 0
        return inside

    @cached_property
    def _n_ends(self) -> NDArray[np.intp]:
        """Count the ends of ranges that each group is told by."""
        every = [block.n_ends()[block.kept] for block in self.blocks]
        return np.concatenate([np.zeros(0, dtype=np.intp), *every])

    @cached_property
    def _scales(self) -> list["_Scale"]:
        """Return what turns a sum into a score, by block, and what its ends cost."""
        scales = []
        ends = np.cumsum([len(block.kept) for block in self.blocks])
        # Split at the last end too, and leave out what follows it: no blocks then have no parts.
        by_block = np.split(self.deviation, ends)[:-1]
        for block, own in zip(self.blocks, by_block, strict=True):
            cost = COST_OF_END * block.n_ends().astype(np.float64)
            scale = np.zeros(len(cost))
            one = np.divide(self.sign or 1, own, out=np.zeros(len(own)), where=own > 0)
            scale[block.kept] = one
            scales.append(_Scale(scale, cost))
        return scales

    def _sums(self, by_cell: Array) -> Array:
        """Return sums over each group, given as (active cells, …)."""
        by_atom: Array = self.atoms @ (self.kinds @ by_cell)
        sums = [block.sums(by_atom)[block.kept] for block in self.blocks]
        return np.concatenate([np.zeros((0, by_cell.shape[1])), *sums])

    def _deviation(self, seen: NotionTally) -> Array:
        """Return the standard deviation of each group's sum; 0 where it can't but be the same."""
        if seen.cells.predicted is not None:  # rows are drawn independently of each other
            return np.sqrt(self._sums(variance_by_cell(seen)[:, None])[:, 0])
        place = np.zeros(seen.tally.weight.shape[1], dtype=np.intp)
        place[seen.cells.active] = np.arange(len(seen.cells.active))
        deviation = np.zeros(len(self))
        for part in seen.strata or (seen,):
            dealt = _dealt(part)
            sums = np.zeros((len(seen.rows), 2))
            sums[place[part.cells.active]] = dealt.sums
            mass, squares = self._sums(sums).T
            total, all_squares = sums.sum(axis=0)
            share = mass / total
            spread = (1 - 2 * share) * squares + share**2 * all_squares
            spread[spread <= _ROUNDING * all_squares] = 0.0
            # The root of a sum of squares, which themselves may be too large for floats.
            deviation = np.hypot(deviation, dealt.deviation * np.sqrt(spread))
        return deviation


class _Scale(NamedTuple):
    """What the sums of a block's groups are multiplied by, 0 if they are left out, and costs."""

    scale: Array
    cost: Array


class _Dealt(NamedTuple):
    """What is dealt within a stratum: Σ w and Σ w² by active cell, and how far outcomes vary.

    Weights are in units of the largest one, and `deviation`, that of outcomes, in turn times that.
    """

    sums: Array
    deviation: float


def _dealt(seen: NotionTally) -> _Dealt:
    """Return what permutations deal to the rows of a stratum, by counts or row by row."""
    tally = seen.tally
    notion = seen.notion
    if tally.is_count:
        labels = np.flatnonzero(notion.event)
        positive = np.rint(tally.positive[labels].sum(axis=1))
        numbers = np.concatenate([tally.n_rows[labels].sum(axis=1) - positive, positive])
        decided = np.repeat([0.0, 1.0], len(labels))
        kinds = notion.outcome(np.tile(labels, 2), decided)
        sums = np.stack([seen.rows, seen.rows], axis=1).astype(np.float64)
        return _Dealt(sums, _deviation_of(kinds, numbers))
    rows = tally.rows
    assert rows is not None  # as permutations are made of these
    rows = rows.where(notion.in_event(rows.y) & (rows.weight > 0))
    unit = float(rows.weight.max())
    deviation = unit * _deviation_of(notion.outcome(rows.y, rows.p), np.ones(len(rows.y)))
    n_cells = tally.weight.shape[1]
    if (rows.weight == unit).all():
        by_cell = [np.bincount(rows.cell, minlength=n_cells)] * 2
    else:
        weight = rows.weight / unit
        by_cell = [np.bincount(rows.cell, w, n_cells) for w in (weight, weight**2)]
    sums = np.array(by_cell, dtype=np.float64).T[seen.cells.active]
    return _Dealt(sums, deviation)


def _deviation_of(outcomes: Array, numbers: Array) -> float:
    """Return the standard deviation of outcomes that occur so often; 0 of a single one.

    >>> _deviation_of(np.array([0.0, 1.0]), np.array([3, 1]))
    0.5
    """
    n = float(numbers.sum())
    if n < 2:
        return 0.0
    scale = float(np.abs(outcomes).max()) or 1.0
    scaled = outcomes / scale
    off = scaled - (numbers @ scaled) / n
    return scale * math.sqrt(float(numbers @ off**2) / (n - 1))


def p_values_of(worth: Array, maxima: Array, n_families: int) -> Array:
    """Return the p-values of groups, by the largest of each draw; adjusted for several families.

    They are that of the largest, and of every other group: as none of them differs, none reaches
    the largest of a draw more often than the largest does.

    >>> p_values_of(np.array([3.0, 5.0]), np.array([1.0, 2.0, 4.0]), 1).tolist()
    [0.5, 0.25]
    """
    # Ties within rounding count as at least as large, which can only raise the p-value.
    below = np.searchsorted(np.sort(maxima), worth * (1 - 1e-9), side="left")
    p_values: Array = n_families * (1 + len(maxima) - below) / (1 + len(maxima))
    return np.minimum(1.0, p_values)
