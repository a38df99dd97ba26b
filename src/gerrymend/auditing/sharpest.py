"""Tell the group that stands out most from chance, of those that can be named.

The worst group counts its size, so that a small one that is hit hard is not it. What is tested, and
how, is in `inference.standing_out`; here it is decided whether it may be told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gerrymend.auditing.inference.disclosure import Published, cells_of
from gerrymend.auditing.inference.intervals import LEVEL as CONFIDENCE
from gerrymend.auditing.inference.intervals import Interval, estimate
from gerrymend.auditing.inference.permutation_result import PermutationTest
from gerrymend.auditing.inference.standing_out import NamedGroups, p_values_of
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import NotionTally
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.rules import Members

# A group is told up to this p-value; chance makes the others, and what is told costs other figures.
LEVEL = 0.05
# Groups that are tried to be told, where those that stand out more would disclose.
_MOST_TRIED = 20


@dataclass(frozen=True, eq=False)
class SharpestGroup:
    """The group that stands out most from chance, for its size, of those that can be named.

    These are the values of each attribute, the ranges of numbers and the intersections of two and
    three of them, with enough rows to be described; of a class that lists its groups, these. Ends
    of ranges are at sixteenths of the rows, or at eighths or quarters where two or three numbers
    meet, and one is told only if the group stands out clearly more by it. A small group that is hit
    hard shows here, and not in the largest unfairness.

    Attributes
    ----------
    subgroup : Subgroup or None
        The group; None where its p-value is above 5 %, or where it would disclose few rows.
    p_value : float
        Of so large a deviation of any of the groups, by the permutations of the report: it is
        adjusted for having looked at them all. Without a `subgroup` it is that of the largest.
    deviations : float or None
        The group's difference, over its standard deviation where outcomes have nothing to do with
        the attributes; None without a `subgroup`.
    n_groups : int
        Groups that were looked at, over all notions.
    rate_interval : Interval or None
        Where the group's rate is for the people that the rows were drawn from. The intervals of all
        groups that were looked at hold at once with 95 % confidence (Bonferroni), so that this one
        does although the group was chosen for its rate. None without a `subgroup`.
    within : float or None
        The part of the group, of its weight in the event, that is in the one of the largest
        unfairness; None where that is the same group, where one is better and the other worse off,
        and where it would tell of few rows.

    Examples
    --------
    Of 400 people 20 have a rate of 90 %, and the others one of 47 %.

    >>> from gerrymend import audit
    >>> report = audit([0] * 400, ([1] * 9 + [0]) * 2 + ([0, 1] * 9 + [0]) * 20, gamma=0.05,
    ...                sensitive_features={"town": ["Au"] * 20 + ["Ulm", "Bonn"] * 190},
    ...                notion="statistical_parity", n_permutations=99, favourable="negative")
    >>> report.verdict, report.p_value <= 0.05
    ('within gamma', False)
    >>> print(report.sharpest.subgroup, report.sharpest.p_value, report.sharpest.n_groups)
    town = Au 0.01 3
    >>> [round(end, 2) for end in report.sharpest.rate_interval]
    [0.63, 0.99]
    """

    subgroup: Subgroup | None
    p_value: float
    deviations: float | None
    n_groups: int
    rate_interval: Interval | None = None
    within: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the group as plain data."""
        return {
            "subgroup": None if self.subgroup is None else self.subgroup.to_dict(),
            "p_value": self.p_value,
            "deviations": self.deviations,
            "n_groups": self.n_groups,
            "rate_interval": None if self.rate_interval is None else list(self.rate_interval),
            "within": self.within,
        }


class _Candidate(NamedTuple):
    """A group by the number of its notion and its own, with what it is chosen and tested by."""

    worth: float
    p_value: float
    score: float
    notion: int
    group: int


def sharpest_group(
    seen: Sequence[NotionTally],
    named: Sequence[NamedGroups],
    test: PermutationTest | None,
    published: Mapping[FairnessNotion, Published],
    *,
    min_group_size: int,
) -> tuple[SharpestGroup | None, bool]:
    """Return the group that stands out most and may be told; None where that was not tested.

    Also returns whether one that stands out more would disclose few rows beside what is published.

    Parameters
    ----------
    seen, named : sequences of NotionTally and NamedGroups
        One a notion.
    test : PermutationTest or None
        With the largest score of each draw.
    published : mapping of notion to Published
        What is told already; what is returned is added to it.
    min_group_size : int
        The floor of `small_groups`.
    """
    n_groups = sum(map(len, named))
    if test is None or not test.maxima or not n_groups:
        return None, False
    kept_back = False
    candidates, least = _candidates(seen, named, test)
    for one in candidates:
        there = seen[one.notion]
        rule = named[one.notion].rules[one.group]
        members = named[one.notion].members(one.group)
        subgroup = there.measure(rule, members, min_group_size)
        assert subgroup is not None
        blocks = cells_of(there, subgroup).astype(np.intp)
        if published[there.notion].told(blocks) is None:
            published[there.notion].add(blocks)
            interval = _rate_interval(there, members, n_groups)
            return SharpestGroup(subgroup, one.p_value, one.score, n_groups, interval), kept_back
        kept_back = True
    return SharpestGroup(None, least, None, n_groups), kept_back


def _rate_interval(seen: NotionTally, members: Members, n_groups: int) -> Interval | None:
    """Return an interval of a group's rate that holds beside those of all others, all at once."""
    found = estimate(seen, members[np.newaxis].astype(np.float64), 1 - (1 - CONFIDENCE) / n_groups)
    if found is None:
        return None
    interval = found.of(0)[0]
    if seen.cells.predicted is None:
        return interval
    # Of scores that is of the error: what happened is so far from what was predicted.
    score = float(seen.cells.predicted[members].sum() / seen.cells.mass[members].sum())
    return Interval(interval.low + score, interval.high + score)


def _candidates(
    seen: Sequence[NotionTally], named: Sequence[NamedGroups], test: PermutationTest
) -> tuple[list[_Candidate], float]:
    """Return groups that chance hardly makes, in the order of being told, and the least p-value."""
    found = []
    least = 1.0
    for i, groups in enumerate(named):
        scores = groups.scores(seen[i].residual)
        worth = groups.worth(scores)
        p_values = p_values_of(worth, test.maxima[i], test.n_families)
        least = min(least, float(p_values.min(initial=1.0)))
        found += [
            _Candidate(float(worth[j]), float(p_values[j]), float(scores[j]), i, j)
            for j in np.flatnonzero(p_values <= LEVEL).tolist()
        ]
    # Nearly equal counts as equal; of equal ones those with fewer conditions come first.
    found.sort(key=lambda one: -round(one.worth, 6))
    return found[:_MOST_TRIED], least
