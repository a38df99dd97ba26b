"""Flag the groups of a list that differ, with a bound on the part of flags that are false.

Intervals that hold all at once ask that not one of many groups is wrong, and so are wide. A list to
look into may have a few wrong ones: the false discovery rate is the expected part of flags that are
of groups which don't differ, 0 where none is flagged. Benjamini and Yekutieli (2001): of m p-values
in order let k be the largest with p_(k) ≤ k·q/(m·(1 + 1/2 + … + 1/m)), and flag the first k. The
rate is then at most q however the groups overlap, as groups of the same rows do. m counts every
group that was named, also those too small to be listed, whose p-value is as if it were 1.

A group's p-value is of "its rate is that of the other rows in the event":

- Equal rows whose outcomes are of two kinds: given the sizes and the number of outcomes in all, the
  group's number is hypergeometric (Fisher). p is twice the smaller tail, 1 at most: exact.
- Rates of rows that weigh differently or are decided with a probability: z of the difference, with
  the variance r·(1 − r)·(1/n₁ + 1/n₀) that the overall rate r gives it where nothing differs. n is
  the effective number (Σ w)²/Σ w² of rows; outcomes between 0 and 1 vary no more (a score test).
- Within strata: z of the sum of the strata's differences, with the sum of their variances, as of
  Mantel and Haenszel.
- Numbers: Welch's t, with var(mean) as in `intervals` and the degrees of freedom of Satterthwaite.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr
from scipy.stats import hypergeom

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.group_sums import group_sums
from gerrymend.auditing.inference.intervals import GroupEstimate
from gerrymend.auditing.tally import NotionTally

Groups = tuple[GroupEstimate, ...]


@dataclass(frozen=True)
class Discovery:
    """The flags of the groups that a report lists.

    Attributes
    ----------
    rate : float
        The false discovery rate that was asked for: of the groups that are flagged, at most this
        part is expected not to differ.
    tested : int
        Groups that were named, over all lists and notions.
    flagged : int
        Groups that are flagged.
    threshold : float
        The largest p-value that is flagged, or would be.

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

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {
            "rate": self.rate,
            "tested": self.tested,
            "flagged": self.flagged,
            "threshold": self.threshold,
        }


class Flagged(NamedTuple):
    """Lists of groups with their flags, and the summary of all of them."""

    lists: dict[str, Groups]
    discovery: Discovery


def flag_groups(
    seen: Sequence[NotionTally], lists: Mapping[str, Groups], *, tested: int, rate: float
) -> Flagged:
    """Return the same lists, each group with its p-value and its flag.

    Parameters
    ----------
    seen : sequence of NotionTally
        The rows, as each notion sees them.
    lists : mapping of str to tuple of GroupEstimate
        The groups to flag, all of them at once.
    tested : int
        How many were named: those in `lists`, and those too small to be.
    rate : float
        The false discovery rate.
    """
    by_notion = {part.notion.name: part for part in seen}
    groups = [group for listed in lists.values() for group in listed]
    p_values = np.ones(len(groups))
    for name, part in by_notion.items():
        places = [i for i, group in enumerate(groups) if group.notion == name]
        if places:
            p_values[places] = group_p_values(part, [groups[i] for i in places])
    threshold = benjamini_yekutieli(p_values, tested, rate)
    flags = p_values <= threshold
    told = iter(zip(p_values.tolist(), flags.tolist(), strict=True))
    flagged = {
        name: tuple(
            replace(group, p_value=p, flagged=flag)
            for group, (p, flag) in zip(listed, told, strict=False)
        )
        for name, listed in lists.items()
    }
    return Flagged(flagged, Discovery(rate, tested, int(flags.sum()), threshold))


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
    members = members[:, seen.cells.active]
    # A group that is everyone has no others to differ from.
    p_values = np.ones(len(groups))
    apart = np.flatnonzero((members @ seen.cells.mass > 0) & ((1 - members) @ seen.cells.mass > 0))
    if apart.size:
        p_values[apart] = _p_values(seen, members[apart])
    return p_values


def _p_values(seen: NotionTally, members: Array) -> Array:
    """Return the p-value of each group, a row of `members` over active cells."""
    if seen.strata:
        return _within_strata(seen, members)
    if seen.tally.is_count and (counts := _two_kinds(seen)) is not None:
        return _fisher(members @ counts, members @ seen.rows, counts.sum(), seen.rows.sum())
    test = _compare(seen, members)
    return _two_sided(test.difference, test.variance, test.freedom)


def _within_strata(seen: NotionTally, members: Array) -> Array:
    """Return p-values of z, with the sums and variances of all strata added up.

    In a stratum of weight M, with m₁ in the group and m₀ outside, the group's part of the sum is
    m₁·(rate − overall) = (m₁·m₀/M)·(rate − others').
    """
    sums = np.zeros((2, len(members)))
    place = np.full(seen.tally.weight.shape[1], -1)
    place[seen.cells.active] = np.arange(len(seen.cells.active))
    for part in seen.strata:
        own = members[:, place[part.cells.active]]
        mass = own @ part.cells.mass
        others = (1 - own) @ part.cells.mass
        apart = np.flatnonzero((mass > 0) & (others > 0))
        if apart.size:
            test = _compare(part, own[apart])
            factor = (mass * others / part.cells.mass.sum())[apart]
            sums[:, apart] += factor * test.difference, factor**2 * test.variance
    scale = seen.cells.mass.sum()
    return _two_sided(sums[0] / scale, sums[1] / scale**2)


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


class _Compared(NamedTuple):
    """Rates of groups less the others', with variances, and degrees of freedom of numbers."""

    difference: Array
    variance: Array
    freedom: Array | None = None


def _compare(seen: NotionTally, members: Array) -> _Compared:
    """Return the difference of each group, with its variance where nothing differs."""
    sums = group_sums(seen, members)
    assert sums is not None  # groups without Σ w² are not listed
    if seen.tally.spread is not None:
        return _welch(sums.inside, sums.outside)
    mass, squares, outcomes = sums.inside
    other_mass, other_squares, other_outcomes = sums.outside
    rate = (outcomes + other_outcomes) / (mass + other_mass)
    spread = rate * (1 - rate) * (squares / mass**2 + other_squares / other_mass**2)
    return _Compared(outcomes / mass - other_outcomes / other_mass, spread)


def _welch(inside: Array, outside: Array) -> _Compared:
    """Return the difference of means with variance and freedom, from the sums of `group_sums`."""
    means = []
    variances = []
    parts = []
    for mass, squares, outcomes, first, second in (inside, outside):
        mean = outcomes / mass
        freedom = np.maximum(mass**2 / squares - 1, 0.5)
        deviations = np.maximum(second - 2 * mean * first + mean**2 * squares, 0.0)
        variance = deviations / mass**2 * (freedom + 1) / freedom
        means.append(mean)
        variances.append(variance)
        parts.append(variance**2 / freedom)
    spread = variances[0] + variances[1]
    freedom = np.divide(spread**2, parts[0] + parts[1], out=np.ones_like(spread), where=spread > 0)
    return _Compared(means[0] - means[1], spread, freedom)


def _two_sided(difference: Array, variance: Array, freedom: Array | None = None) -> Array:
    """Return twice the tail beyond a difference, of the normal or of Student's distribution."""
    sd = np.sqrt(np.maximum(variance, 0.0))
    # Without any variance a difference is certain, unless it is none.
    certain = np.where(np.abs(difference) > 1e-12, -np.inf, 0.0)
    z = -np.divide(np.abs(difference), sd, out=-certain, where=sd > 0)
    tail: NDArray[np.float64] = ndtr(z) if freedom is None else stdtr(freedom, z)
    return np.minimum(1.0, 2 * tail)
