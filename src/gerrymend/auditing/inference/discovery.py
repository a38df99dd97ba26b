"""Flag the groups of a list that differ, with a bound on the part of flags that are false.

Intervals that hold all at once ask that not one of many groups is wrong, and so are wide. A list to
look into may have a few wrong ones: the false discovery rate is the expected part of flags that are
of groups which don't differ, 0 where none is flagged. Benjamini and Yekutieli (2001): of m p-values
in order let k be the largest with p_(k) ≤ k·q/(m·(1 + 1/2 + … + 1/m)), and flag the first k. The
rate is then at most q however the groups overlap, as groups of the same rows do. m counts every
group that was named, also those too small to be listed, whose p-value is as if it were 1.

Groups in which two attributes meet, or three, that are in no table (`crossed_groups`) are told if
they are flagged. One that may not be told beside the others has a p-value as if it were 1 as well:
p-values only get larger by that, and the rate is kept.

A group's p-value is of "its rate is that of the other rows in the event", or in each stratum of it.
Of equal rows whose outcomes are of two kinds the group's number of one is hypergeometric, given the
sizes and the number in all (Fisher), and a sum of such over strata (`counts_within_strata`). p is
twice the smaller tail, 1 at most: exact. For weights and numbers there are approximate tests, whose
small p-values come up many times too often where outcomes are skewed: no rate could be promised,
and nothing is flagged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.inference.counts_within_strata import p_values_within
from gerrymend.auditing.inference.crossed_groups import CrossedGroups
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.intervals import GroupEstimate
from gerrymend.auditing.tally import NotionTally
from gerrymend.notions import OVERALL, FairnessNotion

Groups = tuple[GroupEstimate, ...]


@dataclass(frozen=True)
class Discovery:
    """The flags of all groups that were named: those that a report lists, and intersections.

    Attributes
    ----------
    rate : float
        The false discovery rate that was asked for: of the groups that are flagged, at most this
        part is expected not to differ.
    tested : int
        Groups that were named, over all lists and notions, and all intersections.
    flagged : int
        Groups that are flagged.
    threshold : float
        The largest p-value that is flagged, or would be.
    depth : int
        Attributes of which all intersections were tested: 2, or 3 where the class is of
        conjunctions of so many, with numbers cut into quarters. 1 where there are none, or too
        many.
    capped : bool
        Whether intersections of more attributes were too many to test.
    hidden : int
        Groups of these that may not be told, flagged or not: they have few rows, or would tell of
        few beside others, or others were surer.
    groups : tuple of GroupEstimate
        The intersections that are flagged and are in no other list, with intervals that hold for
        all of them that were tested at once.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0] * 80, [1, 1, 1, 0] * 10 + [0, 0, 0, 1] * 10, subgroups="marginals",
    ...                sensitive_features={"race": ["blue"] * 40 + ["green"] * 40},
    ...                discovery_rate=0.1)
    >>> [(group.group, group.flagged, f"{group.p_value:.0e}") for group in report.marginals]
    [('race = blue', True, '1e-05'), ('race = green', True, '1e-05')]
    """

    rate: float
    tested: int
    flagged: int
    threshold: float
    depth: int = 1
    capped: bool = False
    hidden: int = 0
    groups: Groups = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {
            "rate": self.rate,
            "tested": self.tested,
            "flagged": self.flagged,
            "threshold": self.threshold,
            "depth": self.depth,
            "capped": self.capped,
            "hidden": self.hidden,
            "groups": [group.to_dict() for group in self.groups],
        }


class Flagged(NamedTuple):
    """Lists of groups with their flags, and the summary of all of them."""

    lists: dict[str, Groups]
    discovery: Discovery


def check_exact(seen: Iterable[NotionTally]) -> None:
    """Raise an ArgumentError unless the p-values of groups are exact."""
    for part in seen:
        if part.notion.reference != OVERALL:
            raise ArgumentError(
                "discovery_rate",
                "flags groups that differ from all others, and with ",
                Argument("reference"),
                " they are compared with that. Leave one of them out: without flags, intervals of "
                "groups say how far each is from the reference, and ",
                Argument("confidence"),
                " bounds all subgroups at once.",
            )
        if not part.tally.is_count or _two_kinds(part) is None:
            raise ArgumentError(
                "discovery_rate",
                "is kept by exact tests, which there are for decisions, 0 or 1, of rows that weigh "
                "the same. Ask for a rate of such, as of a number being above a limit, and pass "
                "weights that count equal rows as so many rows; or leave it out: ",
                Argument("n_permutations"),
                " tests the worst of all groups, ",
                Argument("confidence"),
                " bounds them, and intervals are in the report.",
            )


def flag_groups(
    seen: Sequence[NotionTally],
    lists: Mapping[str, Groups],
    crossed: CrossedGroups,
    published: Mapping[FairnessNotion, Published],
    *,
    tested: int,
    rate: float,
    min_group_size: int,
) -> Flagged:
    """Return the same lists, each group with its p-value and its flag.

    Parameters
    ----------
    seen : sequence of NotionTally
        The rows, as each notion sees them.
    lists : mapping of str to tuple of GroupEstimate
        The groups to flag, all of them at once.
    crossed : CrossedGroups
        Further ones, which are told if they are flagged.
    published : mapping of FairnessNotion to Published
        What the report says already; it is added to.
    tested : int
        How many were named: those in `lists`, and those too small to be.
    rate : float
        The false discovery rate.
    min_group_size : int
        The floor of `small_groups`.
    """
    by_notion = {part.notion.name: part for part in seen}
    groups = [group for listed in lists.values() for group in listed]
    p_values = np.ones(len(groups))
    for name, part in by_notion.items():
        places = [i for i, group in enumerate(groups) if group.notion == name]
        if places:
            p_values[places] = group_p_values(part, [groups[i] for i in places])
    found = np.array([_crossed_p_values(part, crossed, min_group_size) for part in seen])
    every = tested + found.size
    # What is told takes away from what else may be: only those are that can be flagged, at most.
    highest = benjamini_yekutieli([*p_values, *found.ravel()], every, rate)
    order = np.argsort(found, axis=None, kind="stable").tolist()
    may_be_flagged = [np.unravel_index(i, found.shape) for i in order if found.flat[i] <= highest]
    candidates = [(int(notion), int(group)) for notion, group in may_be_flagged]
    shown = crossed.told(seen, published, candidates)
    found[~shown] = 1.0
    threshold = benjamini_yekutieli([*p_values, *found.ravel()], every, rate)
    flags = p_values <= threshold
    told = iter(zip(p_values.tolist(), flags.tolist(), strict=True))
    flagged = {
        name: tuple(
            replace(group, p_value=p, flagged=flag)
            for group, (p, flag) in zip(listed, told, strict=False)
        )
        for name, listed in lists.items()
    }
    too_small = sum(int((~crossed.may_be_shown(part, min_group_size)).sum()) for part in seen)
    chosen = found <= threshold
    further = tuple(
        replace(group, p_value=float(p), flagged=True)
        for group, p in zip(crossed.estimates(seen, chosen), found[chosen], strict=True)
    )
    hidden = tested - len(groups) + too_small + len(candidates) - int(shown.sum())
    return Flagged(
        flagged,
        Discovery(
            rate=rate,
            tested=every,
            flagged=int(flags.sum()) + len(further),
            threshold=threshold,
            depth=crossed.depth,
            capped=crossed.capped,
            hidden=hidden,
            groups=further,
        ),
    )


def benjamini_yekutieli(p_values: Iterable[float], tested: int, rate: float) -> float:
    """Return the p-value up to which groups are flagged.

    Of three p-values at 10 %, steps are k·0.1/(3·(1 + 1/2 + 1/3)) = k·0.01818…: the largest k with
    p_(k) at most that is 2.

    >>> round(benjamini_yekutieli([0.03, 0.5, 0.019], 3, 0.1), 5)
    0.03636

    Where no p-value is at most its step the first step is returned, which none reaches.

    >>> round(benjamini_yekutieli([0.02, 0.5], 3, 0.1), 5)
    0.01818
    """
    step = rate / (tested * float((1 / np.arange(1, tested + 1)).sum())) if tested else rate
    ordered = np.sort(np.fromiter(p_values, dtype=float))
    reached = np.flatnonzero(ordered <= step * np.arange(1, len(ordered) + 1))
    return float(step * (reached[-1] + 1 if reached.size else 1))


def group_p_values(seen: NotionTally, groups: Sequence[GroupEstimate]) -> Array:
    """Return the p-value of each group of one notion: does its rate differ from the others'?"""
    columns = {column.name: column for column in seen.cells.columns}
    members = np.array([group.rule.members(columns) for group in groups], dtype=float)
    # A group that is everyone has no others to differ from.
    p_values = np.ones(len(groups))
    inside = members[:, seen.cells.active] @ seen.cells.mass
    apart = np.flatnonzero(
        (inside > 0) & ((1 - members)[:, seen.cells.active] @ seen.cells.mass > 0)
    )
    if apart.size:
        p_values[apart] = _p_values(seen, lambda by_cell: members[apart] @ by_cell)
    return p_values


def _crossed_p_values(seen: NotionTally, crossed: CrossedGroups, min_group_size: int) -> Array:
    """Return the p-value of each intersection; 1 of those that are too small to be told of."""
    p_values = np.ones(len(crossed))
    fits = np.flatnonzero(crossed.may_be_shown(seen, min_group_size))
    if fits.size:
        p_values[fits] = _p_values(seen, lambda by_cell: crossed.sums(by_cell)[fits])
    return p_values


def _p_values(seen: NotionTally, sums: Callable[[Array], Array]) -> Array:
    """Return the p-value of each group, by sums over groups of what all cells have."""

    def of_cells(part: NotionTally, active: NDArray[Any]) -> Array:
        by_cell = np.zeros(len(seen.cells.n_rows))
        by_cell[part.cells.active] = active
        return sums(by_cell)

    parts = seen.strata or (seen,)
    counts = [_larger_of_two(part) for part in parts]
    outcomes = np.array([count.sum() for count in counts])
    rows = np.array([part.rows.sum() for part in parts])
    sizes = np.stack([of_cells(part, part.rows) for part in parts], axis=1)
    by_part = [of_cells(part, count) for part, count in zip(parts, counts, strict=True)]
    found: Array = np.sum(by_part, axis=0)
    if not seen.strata:
        return _fisher(found, sizes[:, 0], outcomes[0], rows[0])
    return p_values_within(found, sizes, outcomes, rows)


def _larger_of_two(seen: NotionTally) -> Array:
    """Return rows of the larger outcome by active cell, of which there are two, as was checked."""
    counts = _two_kinds(seen)
    assert counts is not None  # as `check_exact` saw
    return counts


def _two_kinds(seen: NotionTally) -> Array | None:
    """Return rows of the larger outcome by active cell; None where there are three or more."""
    notion = seen.notion
    kinds = {
        notion.a[label] + notion.b[label] * decision
        for label in (0, 1)
        if notion.event[label]
        for decision in (0.0, 1.0)
    }
    if len(kinds) > 2:
        return None
    low = min(kinds)
    span = (max(kinds) - low) or 1.0
    larger: Array = np.rint((seen.outcomes - low * seen.rows) / span)
    return larger


def _fisher(found: Array, sizes: Array, outcomes: float, rows: float) -> Array:
    """Return twice the smaller tail of the hypergeometric distribution, 1 at most.

    Of 4 rows 2 have the outcome, and so have both rows of the group: 1 of the 6 ways to choose 2.

    >>> _fisher(np.array([2.0, 1.0]), np.array([2.0, 2.0]), 2, 4).round(12).tolist()
    [0.333333333333, 1.0]
    """
    below = hypergeom.cdf(found, rows, outcomes, sizes)
    above = hypergeom.sf(found - 1, rows, outcomes, sizes)
    p_values: Array = np.minimum(1.0, 2 * np.minimum(below, above))
    return p_values
