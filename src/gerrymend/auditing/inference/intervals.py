"""Compute confidence intervals for subgroups that were chosen beforehand.

Of rows drawn independently, let e be the part in the event, ḡ the group's part of the event, and
Δ the group's rate less the rate of the event's other rows. As overall = ḡ·rate + (1 − ḡ)·other,

    gap = rate − overall = (1 − ḡ)·Δ,    unfairness = e·ḡ·gap = c·Δ  with c = e·ḡ·(1 − ḡ).

- A rate has its exact interval (Clopper and Pearson). Where rows weigh differently n becomes the
  effective number (Σ w)² / Σ w² (Korn and Graubard); an outcome between 0 and 1 varies no more than
  one of 0 or 1 with the same mean, so its interval is wide enough too. A mean of numbers has
  Student's, with var(mean) = Σ w²·(u − mean)² / (Σ w)². The error of scores of a label is what
  happened less what was predicted, with the interval of the former.
- Δ is a difference of two independent rates, in intervals [l₁, u₁] and [l₀, u₀]. Its own (Newcombe)
  reaches from Δ − √((rate − l₁)² + (u₀ − other)²) to Δ + √((u₁ − rate)² + (other − l₀)²): each end
  with the spread that its side of either rate has, so that it is right for rates near 0 and 1.
- A product f·Δ with f = c or 1 − ḡ: given who is in the sample the estimate of Δ has no bias, so it
  is uncorrelated with that of f, and the spreads f·(Δ's) and Δ·(f's) add in squares, each end with
  its side of both. f is a mean: c of q = 1_E·(g − ḡ)², and ḡ of g over the event. To first order an
  estimated ḡ moves c by −2·mean(1_E·(g − ḡ)) = 0, so var(c) = Σ w²·(q − c)² / (Σ w)² and
  var(ḡ) = Σ_E w²·(g − ḡ)² / (Σ_E w)². Both are parts of the rows, and small ones are skewed: the
  interval of f is symmetric for its logarithm, from f·exp(−z·sd/f) to f·exp(z·sd/f).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri

from gerrymend._numeric.sums import Array
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.inference.averages import (
    mean_ends,
    overall_variance,
    rate_ends,
    score_ends,
)
from gerrymend.auditing.inference.differences import (
    Ends,
    difference_from_reference,
    difference_of_two,
)
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.group_sums import group_sums
from gerrymend.auditing.small_groups import FEWEST_TO_LIST, may_be_described, too_few
from gerrymend.auditing.tally import NotionTally
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.rules import Conjunction, Rule
from gerrymend.subgroups.within_scores import ScoreIntervals

# The confidence with which all intervals hold.
LEVEL = 0.95
# Cells of groups that are summed at once.
_ENTRIES_AT_ONCE = 1_000_000


class Interval(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True)
class GroupEstimate:
    """A group that was named beforehand, with intervals that hold for all such groups at once.

    Attributes
    ----------
    group, notion : str
        Who is in, in words, and the rate that was compared.
    size : int
        Rows in the group, in the event or not.
    rate, overall_rate, unfairness : float
        On the rows that were audited: the rate in the group, the one that it is compared with (with
        control features, what its members would have at the rates of their strata), and the
        difference times its share.
    rate_interval, unfairness_interval : Interval
        Where they are for the people that the rows were drawn from.
    rule : Rule
        Who is in.
    p_value : float or None
        Of "its rate is that of the others", for this group alone; None where no groups were to be
        flagged.
    flagged : bool or None
        Whether it is among the groups that differ, at the false discovery rate of the report.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0] * 80, [1, 1, 1, 0] * 10 + [0, 0, 0, 1] * 10, subgroups="marginals",
    ...                sensitive_features={"race": ["blue"] * 40 + ["green"] * 40})
    >>> for one in report.intervals:
    ...     low, high = one.rate_interval
    ...     print(f"{one.group}: {one.rate:.2f}, between {low:.2f} and {high:.2f}")
    race = blue: 0.75, between 0.55 and 0.90
    race = green: 0.25, between 0.10 and 0.45
    """

    group: str
    notion: str
    size: int
    rate: float
    overall_rate: float
    rate_interval: Interval
    unfairness: float
    unfairness_interval: Interval
    rule: Rule
    p_value: float | None = None
    flagged: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain data."""
        return {
            "group": self.group,
            "rule": self.rule.to_dict(),
            "notion": self.notion,
            "size": self.size,
            "rate": self.rate,
            "overall_rate": self.overall_rate,
            "rate_interval": list(self.rate_interval),
            "unfairness": self.unfairness,
            "unfairness_interval": list(self.unfairness_interval),
            "p_value": self.p_value,
            "flagged": self.flagged,
        }


class Listed(NamedTuple):
    """Groups that were named beforehand, as one notion sees them.

    `membership` is over all cells, a group a row; `sizes` are rows in the event or not.
    """

    seen: NotionTally
    rules: Sequence[Rule]
    membership: Any
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, seen: NotionTally, bound: ListedClass) -> "Listed":
        """Take the groups of a class that lists them, bound to the cells of the same rows."""
        columns = {column.name: column for column in seen.cells.columns}
        members = [rule.members(columns) for rule in bound.rules]
        membership = sparse.csr_array(np.array(members, dtype=np.float64))
        return cls(seen, bound.rules, membership, (membership @ seen.cells.n_rows).astype(int))


def named_groups(examined: Sequence[Examined]) -> list[Listed]:
    """Return the groups of a class that lists them, once for each notion; none of other classes."""
    # The paper's grid is a list as well, of 400 shades of a few groups: nothing to read.
    bounds = [
        part.bound.base if isinstance(part.bound, ScoreIntervals) else part.bound
        for part in examined
    ]
    return [
        Listed.of(part.seen, bound)
        for part, bound in zip(examined, bounds, strict=True)
        if type(bound) is ListedClass
    ]


def shown_groups(
    listed: Sequence[Listed],
    published: Mapping[FairnessNotion, Published],
    *,
    min_group_size: int,
    together: bool = False,
) -> list[NDArray[np.bool_]]:
    """Return a mask of the groups that may be listed, for each notion.

    Groups that may not be described (`small_groups`) are left out, and so are those that would
    disclose a small group beside what is `published`, by notion; the others are added to it.

    Parameters
    ----------
    listed : sequence of Listed
        The groups, once for each notion.
    published : mapping of FairnessNotion to Published
        What the report says of the same rows already; it is added to.
    min_group_size : int
        The floor of `small_groups`.
    together : bool, default=False
        Whether all groups are disjoint and add up to everyone, as the values of an attribute are.
    """
    shown = []
    for groups in listed:
        seen = groups.seen
        inside = groups.membership @ seen.rows_of_cells
        fits = may_be_described(inside, seen.rows.sum(), min_group_size)
        # Groups that users named are theirs to list.
        named = [getattr(rule, "name", "") != "" for rule in groups.rules]
        fits &= named | ~too_few(groups.sizes, FEWEST_TO_LIST)
        shown.append(_shown(groups, fits, published[seen.notion], whole=together))
    return shown


def group_estimates(
    listed: Sequence[Listed],
    shown: Sequence[NDArray[np.bool_]],
    *,
    level: float = LEVEL,
    number: int | None = None,
) -> tuple[GroupEstimate, ...]:
    """Return rates and intervals of the groups that are shown; the intervals hold all at once.

    Bonferroni: with k groups (over all notions), the rate and the unfairness of each is given the
    level 1 − (1 − level)/2k, so that all 2k hold with probability `level`, however they depend on
    each other.

    Parameters
    ----------
    listed : sequence of Listed
        The groups, once for each notion.
    shown : sequence of arrays of bool
        Which of them are shown.
    level : float, default=0.95
        The probability with which all intervals hold.
    number : int, optional
        How many groups these were chosen of, all of whose intervals are to hold; by default none
        were.
    """
    k = sum(len(groups.rules) for groups in listed) if number is None else number
    rows: list[GroupEstimate] = []
    for groups, mask in _in_parts(listed, shown):
        seen = groups.seen
        active = groups.membership[:, seen.cells.active]
        estimates = estimate(seen, active, 1 - (1 - level) / (2 * k))
        if estimates is None:
            return ()
        mass = active @ seen.cells.mass
        outcomes = active @ seen.outcomes
        values = active @ seen.residual / seen.cells.total_weight
        expected = outcomes - active @ seen.residual
        # Of scores outcomes are errors: what happened is so far from what was predicted.
        scores = np.zeros(len(mass))
        if seen.cells.predicted is not None:
            np.divide(active @ seen.cells.predicted, mass, out=scores, where=mass > 0)
        for i in np.flatnonzero(mask).tolist():
            rate = float(outcomes[i] / mass[i] + scores[i])
            low, high = _interval(estimates.rate, i)
            rows.append(
                GroupEstimate(
                    group=groups.rules[i].describe(),
                    notion=seen.notion.name,
                    size=int(groups.sizes[i]),
                    rate=rate,
                    overall_rate=float(expected[i] / mass[i] + scores[i]),
                    rate_interval=Interval(low + float(scores[i]), high + float(scores[i])),
                    unfairness=float(values[i]),
                    unfairness_interval=_interval(estimates.unfairness, i),
                    rule=groups.rules[i],
                )
            )
    return tuple(rows)


def _in_parts(
    listed: Sequence[Listed], shown: Sequence[NDArray[np.bool_]]
) -> Iterator[tuple[Listed, NDArray[np.bool_]]]:
    """Yield some groups at a time, as a copy of all memberships is large."""
    for groups, mask in zip(listed, shown, strict=True):
        n_parts = 1 + groups.membership.nnz // _ENTRIES_AT_ONCE
        for some in np.array_split(np.arange(len(mask)), min(n_parts, len(mask) or 1)):
            rules = [groups.rules[i] for i in some]
            members = groups.membership[some]
            yield Listed(groups.seen, rules, members, groups.sizes[some]), mask[some]


def _shown(
    groups: Listed, fits: NDArray[np.bool_], published: Published, *, whole: bool
) -> NDArray[np.bool_]:
    """Choose the groups to list, so that none of too few rows follows by subtraction.

    The values of an attribute go together, as they add up to everyone; others one by one, or all
    together where they are a `whole`.
    """
    together: dict[Any, list[int]] = {}
    # By attribute, for rules that are one of its values; by number, for all others.
    for i, rule in enumerate(groups.rules):
        is_value = isinstance(rule, Conjunction) and len(rule.conditions) == 1 and not rule.name
        one_by_one = next(iter(rule.attributes)) if is_value else i
        together.setdefault(None if whole else one_by_one, []).append(i)
    shown = fits.copy()
    for chosen in together.values():
        # The number of each cell's group, from 1; these groups are disjoint.
        numbers = groups.membership[chosen].T @ np.arange(1, len(chosen) + 1)
        shown[chosen] = published.shown(numbers.astype(np.intp), fits[chosen])
    return shown


class Estimates(NamedTuple):
    """Low and high ends (two rows) for many groups (columns)."""

    rate: Array
    gap: Array
    unfairness: Array

    def of(self, group: int) -> tuple[Interval, Interval, Interval]:
        """Return the intervals of one group: rate, gap and unfairness."""
        return (
            _interval(self.rate, group),
            _interval(self.gap, group),
            _interval(self.unfairness, group),
        )


def estimate(seen: NotionTally, members: Any, level: float) -> Estimates | None:
    """Return intervals for groups, one a row of `members` over active cells, or None.

    Parameters
    ----------
    seen : NotionTally
        The rows, as one notion sees them.
    members : array or sparse matrix (groups, active cells)
        1 where a cell is in the group, 0 elsewhere.
    level : float
        The confidence of each interval on its own.

    Returns
    -------
    Estimates or None
        None where rows weigh differently and only their sums are at hand: Σ w² was not summed.
    """
    sums = group_sums(seen, members)
    if sums is None:
        return None
    if seen.strata:
        return _over_strata(seen, members, level)
    inside, outside, rest, lowest, span = sums
    mass = seen.cells.mass
    n = seen.cells.total_weight
    ends: Ends = rate_ends
    if seen.tally.spread is not None:
        ends = partial(mean_ends, overall=overall_variance(seen))
    if seen.cells.predicted is not None and seen.notion.unit is None:
        ends = partial(score_ends, predicted=members @ seen.cells.predicted, centre=lowest)
    rate = ends(inside, level)
    z = float(ndtri((1 + level) / 2))
    rates = lowest + span * np.array(rate[1:])
    if seen.cells.reference is not None:
        apart = difference_from_reference(seen, members, sums, level, ends)
        share = inside[0] / n
        of_share = inside[1] * (1 - share) ** 2 + (outside[1] + rest) * share**2
        gap = np.array([apart.value - apart.below, apart.value + apart.above])
        return Estimates(rates, span * gap, span * apart.times(share, of_share / n**2, z))
    delta = difference_of_two(rate, ends(outside, level))
    # Σ w² of the rows outside the event, where q = 0, takes part in the variance of c.
    # ḡ and 1 − ḡ, c = e·ḡ·(1 − ḡ), and Σ w² times the squared deviations of g and of q (see above).
    share = inside[0] / mass.sum()
    others = outside[0] / mass.sum()
    c = inside[0] * others / n
    of_share = inside[1] * others**2 + outside[1] * share**2
    of_c = inside[1] * (others**2 - c) ** 2 + outside[1] * (share**2 - c) ** 2 + rest * c**2
    # The square of the mass may be 0, and so is divided by twice.
    return Estimates(
        rate=rates,
        gap=span * delta.times(others, of_share / mass.sum() / mass.sum(), z),
        unfairness=span * delta.times(c, of_c / n**2, z),
    )


def _over_strata(seen: NotionTally, members: Any, level: float) -> Estimates | None:
    """Return intervals where groups are compared within strata.

    Rows of different strata are independent, and unfairness is the sum over strata of each one's,
    times its part of all weight: the distances to either end of its intervals add in squares. The
    gap is unfairness over the group's share, which is taken as it is.
    """
    pooled = estimate(replace(seen, strata=()), members, level)
    assert pooled is not None
    table = np.array([seen.residual, seen.cells.mass])
    values, mass = (members @ table.T).T
    values = values / seen.cells.total_weight
    squares = np.zeros((2, len(values)))
    place = np.full(seen.tally.weight.shape[1], -1)
    place[seen.cells.active] = np.arange(len(seen.cells.active))
    for part in seen.strata:
        own = members[:, place[part.cells.active]]
        there = estimate(part, own, level)
        if there is None:
            return None
        value = own @ part.residual / part.cells.total_weight
        reach = (there.unfairness - value) * part.cells.total_weight / seen.cells.total_weight
        squares += reach**2
    away = np.sqrt(squares) * np.array([[-1.0], [1.0]])
    share = mass / seen.cells.total_weight
    unfairness = values + away
    return Estimates(pooled.rate, unfairness / np.where(share > 0, share, 1.0), unfairness)


def _interval(ends: Array, group: int) -> Interval:
    return Interval(float(ends[0, group]), float(ends[1, group]))
