"""Measure one attribute at a time, beside any class: what an ordinary audit would show.

Whatever class is audited, its report has the rates of each marginal group, and the largest of their
unfairness. The distance from there to the worst subgroup is what gerrymandering hides.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.short_numbers import cut_between
from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.intervals import (
    GroupEstimate,
    Listed,
    group_estimates,
    shown_groups,
)
from gerrymend.auditing.small_groups import too_few
from gerrymend.auditing.subgroup import Subgroup, beyond_rounding
from gerrymend.auditing.tally import NotionTally, largest_rounding
from gerrymend.inputs.protected import Column
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.marginals import marginal_groups
from gerrymend.subgroups.rules import Condition, Conjunction


@dataclass(frozen=True)
class OverallRate:
    """The rate that groups are compared with.

    Attributes
    ----------
    notion : str
        What is counted.
    rate : float or None
        Over all rows in the event; None where these are too few to be described.
    rows : int
        How many these are.
    reference : float or None
        What groups are compared with in place of it, where the notion has a reference of its own.
    compared_with : str or None
        What that is, in words.
    """

    notion: str
    rate: float | None
    rows: int
    reference: float | None = None
    compared_with: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the rate as plain data."""
        overall = {"notion": self.notion, "rate": self.rate, "rows": self.rows}
        if self.reference is None:
            return overall
        return {**overall, "reference": self.reference, "compared_with": self.compared_with}


@dataclass(frozen=True)
class MarginalRates:
    """The marginal groups of all notions.

    `groups` are those that may be described, and `left_out` is how many may not; `unfairness` is
    the largest of theirs, without sign or on the side that counts, and `single` that of these and
    of each interval of a number that is large enough; `interval` is the one that has it, if none of
    the groups does. It is not known yet whether that one may be told.
    """

    unfairness: float
    single: float
    groups: tuple[GroupEstimate, ...]
    left_out: int
    interval: Subgroup | None = None


def overall_rates(seen: Sequence[NotionTally], *, min_group_size: int) -> tuple[OverallRate, ...]:
    """Return the overall rate of each notion; None where it would be of too few rows."""

    def overall(notion_tally: NotionTally) -> OverallRate:
        rows = int(notion_tally.rows.sum())
        cells = notion_tally.cells
        rate = None
        reference = cells.reference
        told = not too_few(rows, min_group_size)
        if told:
            rate = float(notion_tally.outcomes.sum() / cells.mass.sum())
        if rate is not None and reference is not None and cells.predicted is not None:
            # Outcomes are errors, and what is compared with is what was predicted.
            reference = float(cells.predicted.sum() / cells.mass.sum())
            rate += reference
        return OverallRate(notion_tally.notion.name, rate, rows, reference, cells.compared_with)

    return tuple(map(overall, seen))


def marginal_rates(
    seen: Sequence[NotionTally],
    published: Mapping[FairnessNotion, Published],
    *,
    min_group_size: int,
    side: str = "both",
) -> MarginalRates:
    """Return rates of all marginal groups, from one product with a sparse matrix.

    Parameters
    ----------
    seen : sequence of NotionTally
        The rows, as each notion sees them.
    published : mapping of FairnessNotion to Published
        What the report says already; groups that would disclose smaller ones beside it are left
        out, and the others are added to it.
    min_group_size : int
        The floor of `small_groups`.
    side : {"both", "disadvantaged"}
        Which groups count for the largest unfairness.
    """
    tally = seen[0].tally
    rules, membership = marginal_groups(tally.protected, tally.weight.sum(axis=0))
    sizes = (membership @ tally.n_rows.sum(axis=0)).astype(int)
    listed = [Listed(notion_tally, rules, membership, sizes) for notion_tally in seen]
    shown = shown_groups(listed, published, min_group_size=min_group_size)
    groups = group_estimates(listed, shown)

    # Of those that are listed alone: from all digits of another, its sums could be worked out.
    def largest(each: Listed, mask: NDArray[np.bool_]) -> float:
        residual = np.zeros(each.membership.shape[1])  # of all cells: no part of a large matrix
        residual[each.seen.cells.active] = each.seen.residual
        values = (each.membership @ residual)[mask]
        return float(_on_side(each.seen, values, side).max(initial=0.0))

    worst = max(map(largest, listed, shown)) / tally.total_weight
    within, interval = _largest_interval(seen, min_group_size, side)
    rounding = largest_rounding(seen)
    single = max(worst, within)
    left_out = len(rules) * len(seen) - len(groups)
    return MarginalRates(
        beyond_rounding(worst, rounding),
        beyond_rounding(single, rounding),
        groups,
        left_out,
        interval if within > worst + rounding else None,
    )


def _on_side(seen: NotionTally, values: Array, side: str) -> Array:
    """Return values without sign, or those of the side of harm as positive ones."""
    return seen.notion.harm * values if side == "disadvantaged" else np.abs(values)


def _largest_interval(
    seen: Sequence[NotionTally], min_group_size: int, side: str
) -> tuple[float, Subgroup | None]:
    """Return the largest unfairness over intervals of a number that are large enough, and whose.

    Nobody's where it is 0.
    """
    worst = 0.0
    group = None
    for notion_tally in seen:
        for column in notion_tally.tally.protected:
            if column.is_categorical:
                continue
            values, place = np.unique(column.values[notion_tally.cells.active], return_inverse=True)
            residual = np.bincount(place, notion_tally.residual)
            rows = np.bincount(place, notion_tally.rows)
            for sign in (1, -1):
                value, first, after = largest_interval(sign * residual, rows, min_group_size)
                if float(_on_side(notion_tally, np.array([sign * value]), side)[0]) > worst:
                    worst = value
                    group = _within(notion_tally, column, values, (first, after))
    return worst / seen[0].tally.total_weight, group


def _within(
    seen: NotionTally, column: Column, values: Array, ends: tuple[int, int]
) -> Subgroup | None:
    """Return the group of an interval, from one of the values up to before another, measured."""
    first, after = ends
    low = cut_between(values[first - 1], values[first]) if first > 0 else -math.inf
    high = cut_between(values[after - 1], values[after]) if after < len(values) else math.inf
    rule = Conjunction((Condition(column.name, low=low, high=high),), {column.name: column.kind})
    held = column.values[seen.cells.active]
    found = seen.measure(rule, (held >= low) & (held < high), 0)
    # Who is in it is told of no group that is listed beside others.
    return None if found is None else replace(found, composition=())


def largest_interval(
    values: NDArray[Any], rows: NDArray[Any], min_group_size: int
) -> tuple[float, int, int]:
    """Return the largest sum of neighbouring values with enough rows inside and outside, or 0.

    With the place of the first value of the interval, and of the first one after it. A sum is the
    difference of two running sums, so that the least before it is wanted. Only where few rows are
    left after an interval does it matter how many are before.

    >>> values, rows = np.array([5.0, -1.0, 3.0, -7.0]), np.array([1, 4, 4, 9])
    >>> [largest_interval(values, rows, at_least) for at_least in (1, 5, 10)]
    [(7.0, 0, 3), (7.0, 0, 3), (0.0, 0, 0)]
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    counts = np.concatenate([[0.0], np.cumsum(rows)])
    # An interval that ends at j begins at first[j] to last[j].
    first = np.searchsorted(counts, counts - (counts[-1] - min_group_size), side="left")
    last = np.searchsorted(counts, counts - min_group_size, side="right") - 1
    free = np.flatnonzero((first == 0) & (last >= 0))
    least = np.minimum.accumulate(sums)
    best = (0.0, 0, 0)
    if len(free):
        gains = sums[free] - least[last[free]]
        place = int(np.argmax(gains))
        after = int(free[place])
        best = max(best, (float(gains[place]), int(np.argmin(sums[: last[after] + 1])), after))
    for j in np.flatnonzero((first > 0) & (last >= first)):
        begins = first[j] + int(np.argmin(sums[first[j] : last[j] + 1]))
        best = max(best, (float(sums[j] - sums[begins]), int(begins), int(j)))
    return best
