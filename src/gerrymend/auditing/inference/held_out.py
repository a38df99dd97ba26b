"""Hold rows out of a search, and measure on them the subgroups that it found.

What was found worst on some rows is worst partly by luck; on rows that had no part in the search
its unfairness is an honest estimate, with an ordinary confidence interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.inference.disclosure import cells_of, published_by
from gerrymend.auditing.inference.intervals import Interval, estimate
from gerrymend.auditing.inference.shuffles import MOST_ROWS
from gerrymend.auditing.parts import compacted, part_of
from gerrymend.auditing.provenance import fingerprint
from gerrymend.auditing.references import check_references
from gerrymend.auditing.row_data import Lines
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import Strata, Tally
from gerrymend.notions import FairnessNotion


@dataclass(frozen=True, eq=False)
class MeasuredGroup:
    """A subgroup on rows that were not searched, with intervals as `HeldOut` has them."""

    subgroup: Subgroup
    unfairness_interval: Interval | None
    gap_interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as plain data."""
        return {
            "subgroup": self.subgroup.to_dict(),
            "unfairness_interval": _plain(self.unfairness_interval),
            "gap_interval": _plain(self.gap_interval),
        }


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut:
    """The subgroups that a report tells of, on rows that were not searched.

    Attributes
    ----------
    n_rows : int
        Rows that were held out.
    subgroup : Subgroup or None
        The subgroup that the report leads with, as it is treated there; None where the search found
        none, or where it is too small there to be described.
    unfairness_interval, gap_interval : Interval or None
        Confidence intervals for its unfairness, with sign, and for rate − overall_rate, for the
        people that the rows were drawn from. None where rows weigh differently and only their
        sums are at hand.
    level : float
        The confidence.
    same_rows : bool
        Whether these are, by their sums, the very rows that were searched, which confirm nothing.
    others : tuple of MeasuredGroup
        The same of who stands out, and of each other subgroup that is told of and exceeds gamma on
        the rows that were searched; without those that are too small there to be described.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0] * 80, [1, 1, 1, 0] * 10 + [0, 0, 0, 1] * 10, subgroups="marginals",
    ...                sensitive_features={"race": ["blue"] * 40 + ["green"] * 40}, test_size=0.5)
    >>> there = report.held_out.subgroup
    >>> print(report.n_rows, report.held_out.n_rows, there)
    40 40 race = blue
    >>> low, high = report.held_out.unfairness_interval
    >>> low < there.unfairness < high
    True
    """

    n_rows: int
    subgroup: Subgroup | None = None
    unfairness_interval: Interval | None = None
    gap_interval: Interval | None = None
    level: float = 0.95
    same_rows: bool = False
    others: tuple[MeasuredGroup, ...] = ()

    @property
    def unfairness(self) -> float | None:
        """Return the unfairness of `subgroup`, with its sign; None where there is none."""
        return None if self.subgroup is None else self.subgroup.unfairness

    def __repr__(self) -> str:
        interval = self.unfairness_interval
        return short_repr(
            self,
            n_rows=self.n_rows,
            subgroup=None if self.subgroup is None else self.subgroup.describe(),
            unfairness=self.unfairness,
            unfairness_interval=None if interval is None else tuple(interval),
            same_rows=self.same_rows,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as plain data."""
        return {
            "n_rows": self.n_rows,
            "same_rows": self.same_rows,
            "level": self.level,
            "subgroup": None if self.subgroup is None else self.subgroup.to_dict(),
            "unfairness_interval": _plain(self.unfairness_interval),
            "gap_interval": _plain(self.gap_interval),
            "others": [one.to_dict() for one in self.others],
        }


def measure_held_out(
    found: Subgroup | None,
    tally: Tally,
    *,
    searched: Tally,
    min_group_size: int,
    level: float = 0.95,
    others: Sequence[Subgroup] = (),
    seconds: float = math.inf,
) -> HeldOut:
    """Measure on these rows subgroups that were found on others.

    Parameters
    ----------
    found : Subgroup or None
        The subgroup that leads.
    tally : Tally
        The rows that were held out.
    searched : Tally
        The rows that were searched: where these are the same, that is noted.
    min_group_size : int
        The floor of `small_groups`: below it nothing but the number of rows is returned.
    level : float, default=0.95
        The confidence of the intervals.
    others : sequence of Subgroup, optional
        Others to measure, those that matter most first. One that would tell of few rows beside
        those before it is left out, and so is one where it takes too long to know.
    seconds : float, default=inf
        Time for that.
    """
    n_rows = int(tally.n_rows.sum())
    same_rows = fingerprint(tally) == fingerprint(searched)
    lead = None if found is None else _measured(found, tally, min_group_size, level)
    beside: list[MeasuredGroup] = []
    if not same_rows:
        measured = (_measured(one, tally, min_group_size, level) for one in others)
        beside = [one for one in measured if one is not None]
    told = [] if lead is None else [lead]
    if beside:
        notions = dict.fromkeys(one.subgroup.notion for one in (*told, *beside))
        seen = [tally.of_notion(notion) for notion in notions]
        first = [one.subgroup for one in told]
        published = published_by(seen, first, min_group_size, seconds)
    for one in beside:
        blocks = cells_of(seen[0], one.subgroup).astype(np.intp)
        if published[one.subgroup.notion].told(blocks) is None:
            published[one.subgroup.notion].add(blocks)
            told.append(one)
    kept: dict[str, Any] = {
        "level": level,
        "same_rows": same_rows,
        "others": tuple(told[lead is not None :]),
    }
    if lead is None:
        return HeldOut(n_rows, **kept)
    return HeldOut(n_rows, lead.subgroup, lead.unfairness_interval, lead.gap_interval, **kept)


def _measured(
    found: Subgroup, tally: Tally, min_group_size: int, level: float
) -> MeasuredGroup | None:
    """Measure a subgroup on these rows; None where too few of them are in it to describe it.

    Or are in the event of its notion, or in the group that it is compared with.
    """
    if not _counts_any(tally, found.notion):
        return None
    try:
        check_references(tally, [found.notion], min_group_size)
    except ArgumentError:
        return None
    seen = tally.of_notion(found.notion)
    members = found.rule.members({column.name: column for column in tally.columns})
    members = members[seen.cells.active]
    inside = int(seen.rows[members].sum())
    if not may_be_described(inside, seen.rows.sum(), min_group_size, or_everyone=True):
        return None
    # The rule as it was published, not shortened again for these rows.
    subgroup = seen.cells.as_treated(found.rule, seen.outcomes)
    estimates = estimate(seen, members[None].astype(float), level)
    if estimates is None:
        return MeasuredGroup(subgroup, None, None)
    _, gap, unfairness = estimates.of(0)
    return MeasuredGroup(subgroup, unfairness, gap)


def _counts_any(tally: Tally, notion: FairnessNotion) -> bool:
    """Return whether any row with weight is in the event of a notion."""
    return bool((np.asarray(notion.event, float) @ tally.view(notion).weight).any())


def split(tally: Tally, test_size: float, random_state: int) -> tuple[Tally, Tally]:
    """Part the rows at random: those to search, and `test_size` of each label to hold out.

    Which rows go where depends on the seed and on what the rows are, not on their order.
    """
    # 0 keeps it apart from the draws of permutations (1) and of the bootstrap (2).
    rng = np.random.default_rng([random_state, 0])
    if tally.lines is not None:
        kept, held = _split_lines(tally.lines, test_size, rng)
    elif tally.is_count and not tally.by_class:
        kept, held = _split_counts(tally, test_size, rng)
    else:
        kept, held = _split_rows(tally, test_size, rng)
    return compacted(kept), compacted(held)


def _number_held_out(n: int, test_size: float) -> int:
    """Return how many of n rows to hold out: one at least on either side of two, none of one."""
    return min(max(round(test_size * n), 1), n - 1) if n > 1 else 0


def _split_counts(tally: Tally, test_size: float, rng: np.random.Generator) -> tuple[Tally, Tally]:
    """Split equal rows of whole decisions, by drawing how many of each kind are held out."""
    if tally.strata is not None:
        # Of each stratum, so that it is there on both sides.
        halves = [_split_counts(part, test_size, rng) for part in tally.strata.parts]
        kept, out = zip(*halves, strict=True)
        return _added_up(tally.strata, kept), _added_up(tally.strata, out)
    positive = np.rint(tally.positive).astype(np.int64)
    by_decision = np.stack([tally.n_rows - positive, positive])  # decision, label, cell
    held = np.zeros_like(by_decision)
    for label in (0, 1):
        held[:, label] = _drawn(by_decision[:, label].ravel(), test_size, rng).reshape(2, -1)
    return _of_counts(tally, by_decision - held), _of_counts(tally, held)


def _drawn(
    kinds: NDArray[np.int64], test_size: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw how many rows of each kind are held out, of so many of one label."""
    if kinds.sum() >= MOST_ROWS:
        raise ValueError(
            f"test_size={test_size:g} can't part {MOST_ROWS:,} rows or more of one label; pass a "
            "second sample as holdout."
        )
    # Rows drawn without replacement, by kind (decision and cell), are hypergeometric.
    number = _number_held_out(int(kinds.sum()), test_size)
    return rng.multivariate_hypergeometric(kinds, number, method="marginals")


def _split_lines(lines: Lines, test_size: float, rng: np.random.Generator) -> tuple[Tally, Tally]:
    """Split counts of more than two classes, of each label in each stratum."""
    held = np.zeros_like(lines.n_rows)
    for kind in np.unique(lines.kind).tolist():
        alike = lines.kind == kind
        held[alike] = _drawn(lines.n_rows[alike], test_size, rng)
    return lines.tally(lines.n_rows - held), lines.tally(held)


def _of_counts(tally: Tally, by_decision: NDArray[np.int64]) -> Tally:
    """Return the tally of so many rows by decision, label and cell."""
    n_rows = by_decision.sum(axis=0)
    return Tally(
        columns=tally.columns,
        n_rows=n_rows.astype(np.intp),
        weight=n_rows.astype(np.float64),
        positive=by_decision[1].astype(np.float64),
        is_count=True,
        labels=tally.labels,
        squared_weight=n_rows.astype(np.float64),
        is_labelled=tally.is_labelled,
    )


def _added_up(strata: Strata, parts: tuple[Tally, ...]) -> Tally:
    """Return the tally of all strata, given the counts of each."""
    counts = [np.stack([part.n_rows - part.positive, part.positive]) for part in parts]
    everyone = _of_counts(parts[0], np.sum(counts, axis=0).astype(np.int64))
    return replace(everyone, strata=replace(strata, parts=parts))


def _split_rows(tally: Tally, test_size: float, rng: np.random.Generator) -> tuple[Tally, Tally]:
    """Split rows that weigh differently or are decided with a probability, one by one."""
    if tally.rows is None:
        raise ArgumentError(
            "test_size",
            "can't part rows that weigh differently, have numbers or are decided with a "
            "probability where only their sums are at hand; collect the frame, or pass a second "
            "sample as holdout.",
        )
    rows = tally.rows
    # By value first, so that what is drawn doesn't depend on the order of the rows.
    label = rows.y if rows.label is None else rows.label
    decision = rows.p if rows.decision is None else rows.decision
    order = np.lexsort((decision, rows.weight, rows.cell, label))
    held = np.zeros(len(order), dtype=bool)
    # Of each label, in each stratum.
    kind = label if rows.stratum is None else label + len(tally.labels) * rows.stratum
    for one in np.unique(kind).tolist():
        alike = order[kind[order] == one]
        held[rng.permutation(alike)[: _number_held_out(len(alike), test_size)]] = True
    return part_of(tally, ~held), part_of(tally, held)


def _plain(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
