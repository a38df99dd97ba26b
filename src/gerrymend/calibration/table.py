"""Scores as the search for patches sees them: errors, summed by protected row and bin of the score.

Rows are put in an order of their own values, so that sums, and all that follows from them, don't
depend on how they came. A row's protected values stay, and its bin follows its score: the class of
subgroups is bound once.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.simulations import RightScores, SignFlips, Simulation
from gerrymend.auditing.rare_values import can_merge, merged, rare_of, rows_by_value
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.inputs.bins import lower_ends
from gerrymend.inputs.protected import Cells, Column, distinct_rows, take_rows
from gerrymend.subgroups.base import BoundClass, Bracket, Found, SubgroupClass
from gerrymend.subgroups.rules import Conjunction, Rule
from gerrymend.subgroups.trees import Trees
from gerrymend.subgroups.within_scores import ScoreIntervals


class Candidate(NamedTuple):
    """A subgroup within an interval, low ≤ score < high, whose scores could be changed.

    `value` is its violation, with its sign: the share of the weight that is in it, times how far
    what happened is above what was predicted. `members` says of each row whether it is in.
    """

    rule: Rule
    low: float
    high: float
    value: float
    members: NDArray[np.bool_]


@dataclass(eq=False)
class ScoredRows:
    """What happened, scores and weights of rows, and the protected row of each.

    Attributes
    ----------
    y, score, weight : arrays (n,)
        All weights are positive. `score` is the only one that changes.
    columns : tuple of Column
        The protected attributes, by row.
    probabilities : bool
        Whether scores are probabilities of y being 1, or predictions of a number.
    """

    y: Array
    score: Array
    weight: Array
    columns: tuple[Column, ...]
    probabilities: bool

    @classmethod
    def of(
        cls,
        y: Array,
        score: Array,
        weight: Array,
        columns: tuple[Column, ...],
        *,
        probabilities: bool,
    ) -> "ScoredRows":
        """Return the rows that have weight, in an order of their own."""
        counted = np.flatnonzero(weight > 0)
        cell = distinct_rows(columns).index
        keys = (one[counted] for one in (weight, y, score, cell))
        rows = counted[np.lexsort(tuple(keys))]
        taken = take_rows(columns, rows)
        return cls(y[rows], score[rows].copy(), weight[rows], taken, probabilities)

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def errors(self) -> Array:
        """Σ w·(y − score), a row each."""
        errors: Array = self.weight * (self.y - self.score)
        return errors

    @property
    def variance(self) -> float:
        """The variance of what chance makes of the sum of all errors."""
        of_row = (self.y - self.score) ** 2
        if self.probabilities:
            of_row = self.score * (1 - self.score)
        return float(self.weight**2 @ of_row)

    def squared_error(self, score: Array) -> float:
        """Return the mean squared error of scores: of probabilities the Brier score."""
        return float(self.weight @ (self.y - score) ** 2) / self.total_weight


class ScoreTable:
    """The cells of protected row and bin, and a class of subgroups that is bound to them.

    Parameters
    ----------
    rows : ScoredRows
    columns : tuple of Column
        The attributes that the class is over, by row: some may be left out, or values merged.
    subgroups : SubgroupClass
    cuts : tuple of float
        Where the score is cut into bins.
    score : str or None
        What the score is called; None where its intervals don't matter.
    """

    def __init__(
        self,
        rows: ScoredRows,
        columns: tuple[Column, ...],
        subgroups: SubgroupClass,
        cuts: tuple[float, ...],
        score: str | None,
    ) -> None:
        self.rows = rows
        self._cells: Cells = distinct_rows(columns)
        self._columns = {column.name: column for column in self._cells.columns}
        self._n_bins = len(cuts) + 1
        self._cuts = cuts
        mass = np.bincount(self._cells.index, rows.weight).astype(np.float64)
        self.bound: BoundClass = subgroups.bind(self._cells.columns, mass, mass)
        if score is not None:
            row, bins = np.divmod(np.arange(len(self._cells) * self._n_bins), self._n_bins)
            name = Column(score, lower_ends(cuts), cuts=cuts)
            self.bound = ScoreIntervals(self.bound, row, bins, name)

    @property
    def place(self) -> NDArray[np.intp]:
        """The number of each row's cell, by its protected row and the bin of its score."""
        bins = np.searchsorted(self._cuts, self.rows.score, side="right")
        place: NDArray[np.intp] = self._cells.index * self._n_bins + bins
        return place

    @property
    def size(self) -> int:
        """The number of cells, those without rows included."""
        return len(self._cells) * self._n_bins

    def residual(self) -> Array:
        """Return Σ w·(y − score) by cell, as a part of the weight of all."""
        errors = self.rows.errors / self.rows.total_weight
        return np.bincount(self.place, errors, self.size).astype(np.float64)

    def simulation(self) -> Simulation:
        """Return a way to draw what would have happened if scores were right, by cell."""
        if self.rows.probabilities:
            return RightScores(self.place, self.rows.weight, self.rows.score, self.size)
        return SignFlips(self.place, self.rows.errors, self.size)

    def worst(self) -> Found:
        """Return the subgroup of the worst violation that the search of draws finds."""
        return self.bound.quick.worst(self.residual()[None])

    def prove(self, at_most: float | None, seconds: float) -> Bracket:
        """Bracket the worst violation from below and above, as far as `at_most` is decided."""
        return self.bound.prove(self.residual(), at_most=at_most, seconds=seconds)

    def describable(self, found: Found, min_group_size: int) -> Candidate | None:
        """Return what was found if it may be told; else the worst that may, everyone included.

        What leaves fewer than `min_group_size` rows, in it or out of it, tells of few. None is
        returned where every subgroup does.
        """
        counts = np.bincount(self.place, minlength=self.size)
        inside = int(counts[found.members[0] > 0].sum())
        total = int(counts.sum())
        if may_be_described(inside, total, min_group_size, or_everyone=True):
            return self.candidate(found)
        large = self.bound.worst_of_size(self.residual(), counts, min_group_size)
        others = [] if large is None else [self.candidate(large)]
        if self.bound.has_everyone and total >= min_group_size:
            others.append(self.everyone())
        return max(others, key=lambda one: abs(one.value), default=None)

    def everyone(self) -> Candidate:
        """Return all rows, at all scores."""
        rule = Conjunction((), {name: column.kind for name, column in self._columns.items()})
        errors = self.rows.errors
        value = float(errors.sum()) / self.rows.total_weight
        return Candidate(rule, -np.inf, np.inf, value, np.ones(len(errors), dtype=bool))

    def candidate(self, found: Found) -> Candidate:
        """Return the rule, the interval and the rows of what was found.

        The rows are those of the rule as it is told, and as it will be applied.
        """
        key: Any = found.keys[0]
        source: Any = self.bound.source
        low = -np.inf
        high = np.inf
        if isinstance(self.bound, ScoreIntervals):
            key, first, after = key
            low = source.lows[first]
            high = source.highs[after - 1]
            source = source.base
        rule = source.rule(key).without_others()
        by_row = rule.members(self._columns)
        rule = rule.in_few_digits(self._columns, by_row)
        inside = rule.members(self._columns)[self._cells.index]
        members = inside & in_interval(self.rows.score, low, high)
        value = float(self.rows.errors[members].sum()) / self.rows.total_weight
        return Candidate(rule, low, high, value, members)


def in_interval(score: Array, low: float, high: float) -> NDArray[np.bool_]:
    """Return whether low ≤ score < high, for each score."""
    inside: NDArray[np.bool_] = (score >= low) & (score < high)
    return inside


def describable_columns(
    subgroups: SubgroupClass, columns: tuple[Column, ...], min_group_size: int
) -> tuple[Column, ...]:
    """Return the attributes as patches may tell of them: without values that few rows have.

    Linear thresholds and value sets can treat these alike, as one. A tree may ask for one of them
    and be of many rows: it can't have the attribute. Of other classes a group of such a value is
    itself of few rows, and is passed over as that.
    """
    rare = rare_of(rows_by_value(columns), min_group_size)
    if can_merge(subgroups):
        return tuple(merged(column, rare.get(column.name, frozenset())) for column in columns)
    if isinstance(subgroups, Trees):
        return tuple(column for column in columns if column.name not in rare)
    return columns
