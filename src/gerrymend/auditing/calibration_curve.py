"""Measure the calibration curve of the worst subgroup, beside that of everyone.

By bins of the score it tells what was predicted and what happened. The subgroup is taken at all
scores, whatever interval its rule is within. Bins of few rows, in it or out of it, are left out,
and so are those that would tell of few rows beside what else is published.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.intervals import Interval, estimate
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import NotionTally
from gerrymend.inputs.bins import bin_of, score_of
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.interval_rule import at_all_scores
from gerrymend.subgroups.rules import Members, Rule

# The confidence of each interval, on its own.
LEVEL = 0.95


@dataclass(frozen=True)
class CalibrationPoint:
    """What was predicted and what happened in one bin of the score.

    Attributes
    ----------
    low, high : float
        The bin: low ≤ score < high; the first and the last are open.
    rows : int
        How many are in it.
    predicted, observed : float
        The mean score, and the mean of what happened.
    interval : Interval
        Where `observed` is for the people that the rows were drawn from, in 95 % of samples.
    """

    low: float
    high: float
    rows: int
    predicted: float
    observed: float
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return the point as plain data; an open end is None."""
        low, high = (end if math.isfinite(end) else None for end in (self.low, self.high))
        return {
            "low": low,
            "high": high,
            "rows": self.rows,
            "predicted": self.predicted,
            "observed": self.observed,
            "interval": list(self.interval),
        }


@dataclass(frozen=True)
class CalibrationCurve:
    """The calibration of a subgroup by bins of the score, and of everyone.

    Attributes
    ----------
    rule : Rule
        Who is in the subgroup, at all scores.
    score : str
        The column of scores.
    group, everyone : tuple of CalibrationPoint
        Those that may be shown; none of a group that is everyone.
    level : float
        The confidence of each interval, on its own.

    Examples
    --------
    >>> from gerrymend import audit
    >>> score = [0.3] * 40 + [0.7] * 40
    >>> happened = [0] * 20 + [1] * 10 + [0] * 10 + [1] * 20 + [0] * 10 + [1] * 10
    >>> report = audit(happened, score, notion="multicalibration", subgroups="marginals",
    ...                sensitive_features={"sex": (["F"] * 20 + ["M"] * 20) * 2})
    >>> print(report.worst, "|", report.calibration.rule)
    sex = F and score ≥ 0.7 | sex = F
    >>> [(point.rows, round(point.predicted, 3), round(point.observed, 3))
    ...  for point in report.calibration.group]
    [(20, 0.3, 0.0), (20, 0.7, 1.0)]
    """

    rule: Rule
    score: str
    group: tuple[CalibrationPoint, ...]
    everyone: tuple[CalibrationPoint, ...]
    level: float = LEVEL

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {
            "subgroup": self.rule.describe(),
            "rule": self.rule.to_dict(),
            "score": self.score,
            "level": self.level,
            "group": [point.to_dict() for point in self.group],
            "everyone": [point.to_dict() for point in self.everyone],
        }


def calibration_curve(
    seen: NotionTally,
    subgroup: Subgroup | None,
    published: Mapping[FairnessNotion, Published],
    min_group_size: int,
) -> CalibrationCurve | None:
    """Return the curve of a subgroup; None where the score is not in bins, or there is none.

    Parameters
    ----------
    seen : NotionTally
        The rows, as the notion of the subgroup sees them.
    subgroup : Subgroup or None
        The one that the report begins with.
    published : mapping of FairnessNotion to Published
        What the report says already; it is added to.
    min_group_size : int
        The floor of `small_groups`.
    """
    score = score_of(seen.tally.columns)
    if score is None or subgroup is None:
        return None
    rule = at_all_scores(subgroup.rule, score.name)
    inside = rule.members({column.name: column for column in seen.tally.columns})
    number = bin_of(score) + 1
    told = published[seen.notion]
    everyone = _points(seen, number, told, min_group_size)
    group: tuple[CalibrationPoint, ...] = ()
    if not inside.all():
        group = _points(seen, np.where(inside, number, 0), told, min_group_size)
    return CalibrationCurve(rule, score.name, group, everyone)


def _points(
    seen: NotionTally, number: NDArray[np.intp], published: Published, min_group_size: int
) -> tuple[CalibrationPoint, ...]:
    """Return a point of each bin that may be shown; bins are numbered by cell, from 1."""
    score = score_of(seen.tally.columns)
    assert score is not None
    assert score.cuts is not None
    assert seen.cells.predicted is not None
    n_bins = len(score.cuts) + 1
    rows = np.bincount(number, seen.rows_of_cells, n_bins + 1)[1:]
    fits = may_be_described(rows, seen.rows.sum(), min_group_size)
    shown = np.flatnonzero(published.shown(number, fits))
    active = number[seen.cells.active]
    members: Members = active[None] == shown[:, None] + 1
    estimates = estimate(seen, members.astype(np.float64), LEVEL)
    assert estimates is not None  # as the rows themselves are at hand
    mass = members @ seen.cells.mass
    predicted = members @ seen.cells.predicted / mass
    observed = predicted + members @ seen.outcomes / mass
    ends = (-math.inf, *score.cuts, math.inf)
    return tuple(
        CalibrationPoint(
            low=ends[one],
            high=ends[one + 1],
            rows=int(rows[one]),
            predicted=float(predicted[i]),
            observed=float(observed[i]),
            interval=Interval(*(predicted[i] + estimates.rate[:, i]).tolist()),
        )
        for i, one in enumerate(shown.tolist())
    )
