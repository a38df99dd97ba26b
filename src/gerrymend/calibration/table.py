"""Scores as the search for patches sees them: errors, summed by protected row and bin of the score.

Rows are put in an order of their own values, so that sums, and all that follows from them, don't
depend on how they came. A row's protected values stay, and its bin follows its score: the class of
subgroups is bound once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.inference.simulations import RightScores, SignFlips, Simulation
from gerrymend.auditing.rare_values import can_merge, merged, rare_of, rows_by_value
from gerrymend.auditing.small_groups import may_be_described, too_few
from gerrymend.inputs.bins import lower_ends
from gerrymend.inputs.protected import Cells, Column, Others, distinct_rows, take_rows
from gerrymend.subgroups.base import BoundClass, Found, RuleSource, SubgroupClass
from gerrymend.subgroups.rules import Condition, Conjunction, Rule
from gerrymend.subgroups.tree_rule import TreeRule
from gerrymend.subgroups.trees import Trees
from gerrymend.subgroups.within_scores import IntervalRules, ScoreIntervals

# The part of the worst violation that a subgroup has to have, to be changed in its place, and how
# many times as much the change has to lower the error: a little more may be chance.
_NEARLY = 0.8
_HELPS = 1.25


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


class Spotted(NamedTuple):
    """What a search found among the cells of a table, and the source of its rule."""

    found: Found
    source: RuleSource

    @property
    def size(self) -> float:
        """The violation, without its sign."""
        return abs(float(self.found.values[0]))

    @property
    def members(self) -> NDArray[np.bool_]:
        """Tell of each cell if it is in."""
        inside: NDArray[np.bool_] = self.found.members[0] > 0
        return inside


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
    def kinds(self) -> dict[str, str]:
        """The kind of each attribute, by name."""
        return {column.name: column.kind for column in self.columns}

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
        self._placed: Array | None = None  # the scores that `_place` is of
        mass = np.bincount(self._cells.index, rows.weight).astype(np.float64)
        self.bound: BoundClass = subgroups.bind(self._cells.columns, mass, mass)
        if score is not None:
            row, bins = np.divmod(np.arange(len(self._cells) * self._n_bins), self._n_bins)
            name = Column(score, lower_ends(cuts), cuts=cuts)
            self.bound = ScoreIntervals(self.bound, row, bins, name)

    @property
    def place(self) -> NDArray[np.intp]:
        """The number of each row's cell, by its protected row and the bin of its score."""
        if self._placed is not self.rows.score:  # a patch makes an array of its own
            bins = np.searchsorted(self._cuts, self.rows.score, side="right")
            self._place: NDArray[np.intp] = self._cells.index * self._n_bins + bins
            self._placed = self.rows.score
        return self._place

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

    def worst(self) -> Spotted:
        """Return the subgroup of the worst violation that the search of draws finds."""
        search = self.bound.quick
        return Spotted(search.worst(self.residual()[None]), search.source)

    def narrowed(self, spotted: Spotted, at_least: float) -> Spotted:
        """Return a subgroup of nearly the same violation, where a change lowers the error more.

        The worst subgroup may be padded by rows that are right, or nearly so: they cost nothing
        there, and a change makes them wrong. To change a group of share q by its gap g = v/q lowers
        the squared error by v²/q, which is the largest value, over λ, of 2·λ·v − λ²·q. At the gap
        of what was found, λ = g, the best subgroup is that of the largest v − q·g/2: a search for a
        residual that is less by half of the gap. What it finds is returned if that is worth it, and
        its violation is above `at_least`.
        """
        residual = self.residual()
        weight = self.rows.weight / self.rows.total_weight
        share = np.bincount(self.place, weight, self.size).astype(np.float64)
        value = float(residual[spotted.members].sum())
        gap = value / float(share[spotted.members].sum())
        sign = 1 if value > 0 else -1
        side = self.bound.quick.one_sided(1)
        found = side.worst((sign * (residual - share * gap / 2))[None])
        inside = found.members[0] > 0
        own = float(residual[inside].sum())
        if sign * own <= max(at_least, _NEARLY * abs(value)):
            return spotted
        if own**2 / float(share[inside].sum()) < _HELPS * value * gap:
            return spotted
        return Spotted(found._replace(values=np.array([own])), side.source)

    def others(self, spotted: Spotted, above: float) -> Iterator[Spotted]:
        """Yield the worst subgroups of the rows that what was found, and those yielded, leave.

        Each has a violation above a limit, on these rows.
        """
        search = self.bound.quick
        residual = self.residual()
        while True:
            residual[spotted.members] = 0.0
            spotted = Spotted(search.worst(residual[None]), search.source)
            if spotted.size <= above:
                return
            yield spotted

    def prove(self, at_most: float | None, seconds: float) -> tuple[Spotted, float]:
        """Return the worst violation that is found, and what is proven that none exceeds.

        The search goes on as far as `at_most` is decided.
        """
        bracket = self.bound.prove(self.residual(), at_most=at_most, seconds=seconds)
        return Spotted(bracket.found, self.bound.source), bracket.upper_bound

    def told(self, spotted: Spotted, min_group_size: int) -> Candidate | None:
        """Return what was found; None where it tells of fewer than `min_group_size` rows."""
        inside = int(spotted.members[self.place].sum())
        total = len(self.rows.score)
        enough = may_be_described(inside, total, min_group_size, or_everyone=True)
        return self.candidate(spotted) if enough else None

    def describable(self, spotted: Spotted, min_group_size: int) -> Candidate | None:
        """Return what was found if it may be told, else the worst that may.

        What leaves fewer than `min_group_size` rows, in it or out of it, tells of few; where these
        are out of it, everyone may stand for it. None is returned where every subgroup does.
        """
        told = self.told(spotted, min_group_size)
        if told is not None:
            return told
        counts = np.bincount(self.place, minlength=self.size)
        inside = int(counts[spotted.members].sum())
        large = self.bound.worst_of_size(self.residual(), counts, min_group_size)
        others = [] if large is None else [self.candidate(Spotted(large, self.bound.source))]
        if self.bound.has_everyone and not too_few(inside, min_group_size):
            others.append(self.everyone())
        return max(others, key=lambda one: abs(one.value), default=None)

    def everyone(self) -> Candidate:
        """Return all rows, at all scores."""
        return self.at_all_scores(())

    def at_all_scores(self, conditions: tuple[Condition, ...]) -> Candidate:
        """Return the rows that meet conditions, at all scores."""
        rule = Conjunction(conditions, self.rows.kinds)
        inside = rule.members(self._columns)[self._cells.index]
        value = float(self.rows.errors[inside].sum()) / self.rows.total_weight
        return Candidate(rule, -np.inf, np.inf, value, inside)

    def candidate(self, spotted: Spotted) -> Candidate:
        """Return the rule, the interval and the rows of what was found.

        The rows are those of the rule as it is told, and as it will be applied.
        """
        key: Any = spotted.found.keys[0]
        source: Any = spotted.source
        low = -np.inf
        high = np.inf
        if isinstance(source, IntervalRules):
            key, first, after = key
            low = source.lows[first]
            high = source.highs[after - 1]
            source = source.base
        rule = as_saved(source.rule(key).without_others())
        by_row = rule.members(self._columns)
        rule = rule.in_few_digits(self._columns, by_row)
        if isinstance(rule, Conjunction | TreeRule):  # of one list of patches, rules of one table
            rule = replace(rule, kinds=self.rows.kinds)
        inside = rule.members(self._columns)[self._cells.index]
        members = inside & in_interval(self.rows.score, low, high)
        value = float(self.rows.errors[members].sum()) / self.rows.total_weight
        return Candidate(rule, low, high, value, members)


def as_saved(rule: Rule) -> Rule:
    """Return the same rule in the form in which a file tells it: who is out, where others are in.

    >>> from gerrymend.inputs.protected import Others
    >>> values = ("blue", Others(("blue", "red")))
    >>> as_saved(Conjunction((Condition("colour", values=values),), {})).conditions[0].values
    (Others(known=('red',)),)
    """
    if not isinstance(rule, Conjunction):
        return rule
    return replace(rule, conditions=tuple(map(_told_by_others, rule.conditions)))


def _told_by_others(condition: Condition) -> Condition:
    is_in, values = condition.listed
    return condition if is_in else replace(condition, values=(Others(values),))


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
        left = tuple(column for column in columns if column.name not in rare)
        if not left:
            raise ArgumentError(
                "subgroups",
                "can't be trees: each attribute has values of fewer rows than ",
                Argument("min_group_size", value=str(min_group_size)),
                ", which a tree could single out. Merge such values, or use 'value_sets', which "
                "treats them as one.",
            )
        return left
    return columns
