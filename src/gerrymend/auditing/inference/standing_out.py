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
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.joint_values import (
    BINS,
    JointValues,
    Kinds,
    few_of,
    joint_groups,
)
from gerrymend.auditing.inference.simulations import variance_by_cell
from gerrymend.auditing.small_groups import FEWEST_TO_LIST, may_be_described
from gerrymend.auditing.tally import Examined, NotionTally
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.products.scales import axes_of
from gerrymend.subgroups.rules import Rule
from gerrymend.subgroups.within_scores import ScoreIntervals

# Values of groups, by draw, that are held at once.
_MOST_VALUES = 2_000_000
# What is below this part of all is rounding.
_ROUNDING = 1e-12


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
    membership : sparse array (groups, kinds of rows)
        1 for each member.
    rules : Rules
        Who is in each.
    deviation : array (groups,)
        The standard deviation of the sum of residuals of each, under permutation.
    sign : {-1, 0, 1}
        The side of harm, on which values count; both where it is not known.
    """

    kinds: Any
    membership: Any
    rules: Rules
    deviation: Array
    sign: int

    @classmethod
    def of(cls, part: Examined, min_group_size: int) -> "NamedGroups":
        """List the groups of a class that lists some and, of others, all intersections.

        These are the joint values of at most three attributes, with numbers cut into quarters.
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
            membership: Any = bound.membership[numbers]
            rules: Rules = [bound.rules[i] for i in numbers.tolist()]
        else:
            kinds, membership, rules = _intersections(seen, floor)
        groups = cls(kinds, membership, rules, np.zeros(membership.shape[0]), seen.notion.harm)
        return replace(groups, deviation=groups._deviation(seen))

    def __len__(self) -> int:
        return len(self.deviation)

    def scores(self, residuals: Array) -> Array:
        """Return how many deviations each group is off on the side of harm, (draws, groups).

        Residuals are given as (draws, active cells). Where harm is not known, either side counts.
        """
        values = self._sums(residuals.T).T
        apart = self.deviation > 0
        scores: Array = np.zeros(values.shape)
        np.divide(values, self.deviation, out=scores, where=apart)
        return self.sign * scores if self.sign else np.abs(scores)

    def largest(self, residuals: Array) -> Array:
        """Return the largest score of each draw, 0 at least."""
        found = np.zeros(len(residuals))
        step = max(1, _MOST_VALUES // max(1, len(self)))
        for start in range(0, len(residuals), step):
            block = slice(start, start + step)
            found[block] = self.scores(residuals[block]).max(axis=1, initial=0.0)
        return found

    def furthest(self, residual: Array, number: int) -> list[tuple[int, float]]:
        """Return the groups of the largest scores, each with its own; fewer conditions first."""
        scores = self.scores(residual[None])[0]
        # Equal to nine digits counts as equal; groups of fewer conditions come first.
        rounded = np.array([float(f"{score:.9e}") for score in scores])
        order = np.argsort(-rounded, kind="stable")[:number]
        return [(int(group), float(scores[group])) for group in order]

    def members(self, group: int) -> NDArray[np.bool_]:
        """Return a mask of the active cells that are in a group."""
        inside: NDArray[np.bool_] = self.kinds.T @ self.membership[[group]].toarray()[0] > 0
        return inside

    def _sums(self, by_cell: Array) -> Array:
        """Return sums over each group, given as (active cells, …)."""
        sums: Array = self.membership @ (self.kinds @ by_cell)
        return sums

    def _deviation(self, seen: NotionTally) -> Array:
        """Return the standard deviation of each group's sum; 0 where it can't but be the same."""
        if seen.cells.predicted is not None:  # rows are drawn independently of each other
            return np.sqrt(self._sums(variance_by_cell(seen)))
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
    counts = notion.in_event(rows.y) & (rows.weight > 0)
    unit = float(rows.weight[counts].max())
    weight = rows.weight[counts] / unit
    n_cells = tally.weight.shape[1]
    by_cell = [np.bincount(rows.cell[counts], w, n_cells) for w in (weight, weight**2)]
    outcomes = notion.outcome(rows.y[counts], rows.p[counts])
    sums = np.array(by_cell, dtype=np.float64).T[seen.cells.active]
    return _Dealt(sums, unit * _deviation_of(outcomes, np.ones(len(outcomes))))


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


def _intersections(seen: NotionTally, floor: int) -> tuple[Any, Any, JointValues]:
    """Return the kinds of rows, and the members and rules of all joint values of few attributes."""
    weight = seen.tally.weight.sum(axis=0)
    is_active = np.zeros(len(weight), dtype=bool)
    is_active[seen.cells.active] = True
    axes = axes_of(seen.tally.columns, weight, is_active, BINS)
    kinds = Kinds.of(axes, len(seen.rows))

    def fits(rows: Array) -> NDArray[np.bool_]:
        return may_be_described(rows, seen.rows.sum(), floor)

    subsets = few_of(len(axes), len(kinds.first))
    membership, rules = joint_groups(axes, kinds, subsets, seen.rows, fits)
    return kinds.table, membership, rules


def p_value_of(score: float, maxima: Array, n_families: int) -> float:
    """Return the p-value of a score, by the largest of each draw; adjusted for several families.

    It is that of the largest, and of every other group: as none of them differs, none reaches the
    largest of a draw more often than the largest does.

    >>> p_value_of(3.0, np.array([1.0, 2.0, 4.0]), 1)
    0.5
    """
    # Ties within rounding count as at least as large, which can only raise the p-value.
    reached = int(np.sum(maxima >= score * (1 - 1e-9)))
    return min(1.0, n_families * (1 + reached) / (1 + len(maxima)))
