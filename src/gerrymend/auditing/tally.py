"""Tally: sums by cell and label, which are all that an audit needs of the rows.

A notion's event and outcome depend on the label and are affine in the decision, so that the weight
and the weight decided positive, by protected values and label, give every rate of every subgroup.
They can be summed wherever the data lives: only this table travels.

Of numbers the same table is made once for each notion (`views`): the label then says whether a row
counts, and the decision is its outcome. Of more than two classes it is made once for each
(`by_class`), whose label and decision are positive there, and all others negative.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, add_parts, total, total_by_cell
from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.compared import Compared
from gerrymend.auditing.row_data import Lines, Rows
from gerrymend.auditing.subgroup import EventCells, Subgroup, rounding_of
from gerrymend.inputs.bins import protected
from gerrymend.inputs.protected import Cells, Column, distinct_rows
from gerrymend.inputs.sample import Sample
from gerrymend.notions import OVERALL, AnyNotion, FairnessNotion, OutcomeNotion, nothing_counts
from gerrymend.subgroups.base import BoundClass, SubgroupClass
from gerrymend.subgroups.rules import Members, Rule
from gerrymend.subgroups.within_scores import within_scores


@dataclass(frozen=True, eq=False)
class Tally:
    """Hold sums by label (two rows) and cell (columns).

    Attributes
    ----------
    columns : tuple of Column
        The protected values of each cell, cells in lexicographic order; the last may be a score.
    n_rows : array (2, m) of int
        Rows of label 0 and of label 1.
    weight, positive : arrays (2, m)
        Σ w and Σ w·p, with p the probability of deciding 1.
    is_count : bool
        Whether each row weighs 1 and is decided 0 or 1: the table then says all that rows could.
    labels : pair, or more
        The user's labels behind 0 and 1; or all of more than two classes.
    squared_weight : array (2, m) or None
        Σ w², for intervals; None where it was not summed.
    n_counted : array (2, m) of int or None
        Rows of positive weight; None where that is every row.
    rows : Rows or None
        The rows themselves, where they are at hand.
    is_labelled : bool
        False if rows have no labels: all then stand with the negative one.
    spread : array (2, 2, m) or None
        Of numbers, Σ w²·(u − c) and Σ w²·(u − c)² by label and cell, for intervals, with c the
        `centre`: squares of large numbers keep no digits. None for decisions.
    outcome_range : pair of float
        Of numbers, the smallest and the largest outcome of the rows that count.
    views : mapping of str to Tally
        Of numbers, the table of each notion, by its name; empty for decisions.
    strata : Strata or None
        The same rows by stratum, where groups are compared within strata.
    by_class : mapping of label to Tally
        Of more than two classes, the table of each against the rest. This one then has the wrong
        decisions as positive ones, and every row with label 0.
    lines : Lines or None
        Of more than two classes, the counts of equal rows, where rows are not at hand.
    predicted : array (2, m) or None
        Of notions of scores Σ w·score, where `positive` has the sums of errors.
    """

    columns: tuple[Column, ...]
    n_rows: NDArray[np.intp]
    weight: Array
    positive: Array
    is_count: bool
    labels: tuple[Any, ...] = (0, 1)
    squared_weight: Array | None = None
    n_counted: NDArray[np.intp] | None = None
    rows: Rows | None = None
    is_labelled: bool = True
    spread: Array | None = None
    centre: float = 0.0
    outcome_range: tuple[float, float] = (0.0, 1.0)
    views: Mapping[str, "Tally"] = field(default_factory=dict)
    strata: "Strata | None" = None
    by_class: Mapping[Any, "Tally"] = field(default_factory=dict)
    lines: Lines | None = None
    predicted: Array | None = None

    @classmethod
    def of_rows(
        cls,
        cells: Cells,
        y: NDArray[np.intp],
        p: Array,
        weight: Array,
        labels: tuple[Any, ...] = (0, 1),
        is_labelled: bool = True,
    ) -> "Tally":
        """Sum rows by cell and label, to the same bits for every order of the rows.

        `y` has 0 and 1, and `p` the probability of deciding 1, by row.
        """
        m = len(cells)
        # Label and cell in one number, so that one pass sums by both.
        key = cells.index + m * y

        def by_label(values: Array) -> Array:
            """Return sums by label and cell."""
            return total_by_cell(key, values, 2 * m).reshape(2, m)

        # Rows of weight 1 are summed once, and counted once where all weights are positive.
        sums = by_label(weight)
        is_one = bool((weight == 1).all())
        n_rows = np.bincount(key, minlength=2 * m).reshape(2, m)
        is_counted = weight > 0
        return cls(
            columns=cells.columns,
            n_rows=n_rows,
            weight=sums,
            positive=by_label(weight * p),
            is_count=is_one and bool(((p == 0) | (p == 1)).all()),
            labels=labels,
            squared_weight=sums if is_one else by_label(weight**2),
            n_counted=n_rows
            if is_counted.all()
            else np.bincount(key[is_counted], minlength=2 * m).reshape(2, m),
            rows=Rows(cells.index, y, p, weight),
            is_labelled=is_labelled,
        )

    @classmethod
    def of_sample(cls, sample: Sample) -> "Tally":
        """Sum a sample that has decisions."""
        assert sample.p is not None
        cells = distinct_rows(sample.columns)
        return cls.of_rows(
            cells, sample.y, sample.p, sample.weight, sample.pair, sample.is_labelled
        )

    @classmethod
    def of_sums(
        cls,
        cells: Cells,
        y: NDArray[np.intp],
        n_rows: NDArray[np.int64],
        weight: Array,
        positive: Array,
        is_count: bool,
        labels: tuple[Any, ...] = (0, 1),
        squared_weight: Array | None = None,
        n_counted: NDArray[np.int64] | None = None,
        is_labelled: bool = True,
        spread: Sequence[Array] | None = None,
        **numbers: Any,
    ) -> "Tally":
        """Add up entries that each stand for many rows of one cell and label.

        Parameters
        ----------
        cells : Cells
            The cell of each entry.
        y : array (entries,) of int
            The label of each, 0 or 1.
        n_rows, n_counted : arrays (entries,) of int
            Numbers of rows, and of those with a positive weight.
        weight, positive, squared_weight : arrays (entries,) or (parts, entries)
            Σ w, Σ w·p and Σ w²: whole numbers, or sums of what `exact_parts` made, one part a row.
            Adding these makes no error, and gives what the rows would have.
        is_count : bool
            Whether each row weighs 1 and is decided 0 or 1.
        labels : pair
            The user's labels behind 0 and 1.
        spread : pair of arrays (parts, entries), optional
            Of numbers, with their `centre` and `outcome_range`.
        """
        m = len(cells)
        key = cells.index + m * y

        def by_label(values: NDArray[Any]) -> Array:
            """Return sums by label and cell; parts add up without error."""
            sums = (np.bincount(key, part, 2 * m) for part in np.atleast_2d(values))
            return add_parts(sums, 2 * m).reshape(2, m)

        rows = by_label(n_rows).astype(np.intp)
        squares = None if squared_weight is None else by_label(squared_weight)
        counted = None if n_counted is None else by_label(n_counted).astype(np.intp)
        return cls(
            cells.columns,
            rows,
            by_label(weight),
            by_label(positive),
            is_count,
            labels,
            squares,
            counted,
            is_labelled=is_labelled,
            spread=None if spread is None else np.array([by_label(parts) for parts in spread]),
            **numbers,
        )

    @cached_property
    def total_weight(self) -> float:
        """The weight of all rows, n in the formulas."""
        return total(self.weight.ravel())

    @property
    def protected(self) -> tuple[Column, ...]:
        """The columns that are protected attributes, and no score."""
        return protected(self.columns)

    @property
    def strata_columns(self) -> tuple[Column, ...]:
        """The control features, a value a stratum."""
        return () if self.strata is None else self.strata.columns

    def view(self, notion: AnyNotion) -> "Tally":
        """Return the table that has the outcomes of a notion."""
        if isinstance(notion, FairnessNotion) and notion.of_class is not None:
            return self.by_class.get(notion.of_class, self)
        return self.views.get(notion.name, self)

    def of_notion(self, notion: AnyNotion) -> "NotionTally":
        """Return the sums of one notion; raise a ValueError where no row is in its event."""
        rate = notion.rate if isinstance(notion, OutcomeNotion) else notion
        return NotionTally.of(rate, self.view(notion))


@dataclass(frozen=True, eq=False)
class Strata:
    """Hold the strata of some rows: the values of each, and its table, over the cells of all."""

    columns: tuple[Column, ...]
    parts: tuple[Tally, ...]

    def values(self, number: int) -> dict[str, Any]:
        """Return the control features of a stratum."""
        return {
            column.name: float(column.values[number])
            if column.categories is None
            else column.categories[int(column.values[number])]
            for column in self.columns
        }


@dataclass(frozen=True, eq=False)
class NotionTally:
    """Hold the sums of one notion over the cells that have weight in its event, the active ones.

    `outcomes` is Σ w·u of each, `rows` its number of rows in the event; `residual` is W, the
    outcomes less what they are `compared` with: its sum over a group, over all weight, is the
    group's unfairness. `strata` are those that have weight in the event; W is then the sum of
    theirs.
    """

    cells: EventCells
    tally: Tally
    outcomes: Array
    rows: NDArray[np.intp]
    strata: tuple["NotionTally", ...] = ()
    compared: Compared = field(default_factory=Compared)

    @classmethod
    def of(cls, notion: FairnessNotion, tally: Tally) -> "NotionTally":
        """Sum a tally over the labels that are in the event of a notion.

        Raises a ValueError where no row has weight there.
        """
        event = np.asarray(notion.event, dtype=float)
        mass = event @ tally.weight
        active = np.flatnonzero(mass > 0)
        if active.size == 0:
            raise nothing_counts(notion)
        # Zero outside of the event, so that one product sums over both labels.
        a, b = (event * np.asarray(pair, dtype=float) for pair in (notion.a, notion.b))
        cells = EventCells(
            notion=notion,
            columns=tally.columns,
            n_rows=tally.n_rows.sum(axis=0),
            active=active,
            mass=mass[active],
            total_weight=tally.total_weight,
        )
        # A row of weight 0 is in no rate: it can't hide who is.
        rows = np.asarray(notion.event) @ (
            tally.n_rows if tally.n_counted is None else tally.n_counted
        )
        outcomes = (a @ tally.weight + b @ tally.positive)[active]
        ends = _outcome_range(notion, tally)
        if not np.isfinite(ends).all():  # as it is of sums alone: a cell's mean has its scale
            ends = float((outcomes / cells.mass).min()), float((outcomes / cells.mass).max())
        cells = replace(cells, rounding=rounding_of(*ends))
        if notion.reference != OVERALL:
            return cls(cells, tally, outcomes, rows[active])._against_reference()
        if tally.strata is None:
            return cls(cells, tally, outcomes, rows[active])
        parts = (part for part in tally.strata.parts if (event @ part.weight).any())
        strata = tuple(cls.of(notion, part) for part in parts)
        seen = cls(cells, tally, outcomes, rows[active], strata)
        return replace(seen, cells=replace(cells, expected=outcomes - seen.residual))

    def _against_reference(self) -> "NotionTally":
        """Return the same sums, compared with the notion's reference."""
        compared = Compared.of(self.notion, self.tally.columns)
        if compared.group is not None and not compared.group[self.cells.active].any():
            raise ArgumentError(
                "reference",
                f"is {compared.words}, and no such row is among those that the {self.notion.words} "
                "is over; name another group.",
            )
        rate = compared.rate(self.outcomes, self.cells.mass, self.cells.active)
        cells = replace(
            self.cells,
            reference=float(rate),
            compared_with=compared.words,
            rounding=max(self.cells.rounding, rounding_of(float(rate))),
        )
        if (scores := self.tally.predicted) is not None:
            event = np.asarray(self.notion.event, dtype=float)
            cells = replace(cells, predicted=(event @ scores)[self.cells.active])
        return replace(self, cells=cells, compared=compared)

    @property
    def notion(self) -> FairnessNotion:
        """The notion that was summed."""
        return self.cells.notion

    @property
    def outcome_range(self) -> tuple[float, float]:
        """The least and the largest outcome: of numbers those of the rows, of a rate any."""
        return _outcome_range(self.notion, self.tally)

    @property
    def rows_of_cells(self) -> NDArray[np.intp]:
        """Numbers of rows in the event, over all cells."""
        rows = np.zeros(len(self.cells.n_rows), dtype=np.intp)
        rows[self.cells.active] = self.rows
        return rows

    @cached_property
    def residual(self) -> Array:
        """Outcomes less what they are compared with, W, by active cell."""
        if self.cells.reference is not None:
            return self.outcomes - self.cells.reference * self.cells.mass
        if not self.strata:
            return self.centred(self.outcomes)
        every = np.zeros(self.tally.weight.shape[1])
        for part in self.strata:
            every[part.cells.active] += part.residual
        return every[self.cells.active]

    def simulated(self, outcomes: Array) -> Array:
        """Return W for outcomes of the same rows that were drawn: centred, or less the reference.

        They are given as (…, active cells).
        """
        if self.cells.reference is None:
            return self.centred(outcomes)
        residual: Array = outcomes - self.cells.reference * self.cells.mass
        return residual

    def centred(self, outcomes: Array) -> Array:
        """Return W for other outcomes of the same rows, compared with the overall rate.

        They are given as (…, active cells).
        """
        mass = self.cells.mass
        # W sums to 0: outcomes less the overall rate's share of each cell's weight in the event.
        residual: Array = outcomes - outcomes.sum(axis=-1, keepdims=True) * (mass / mass.sum())
        return residual

    def bind(self, subgroups: SubgroupClass) -> BoundClass:
        """Bind a class of subgroups to these cells and their weights, in all and in the event."""
        # Over all cells, as classes are bound to all of them; 0 where none is in the event.
        event_weight = np.zeros(self.tally.weight.shape[1])
        event_weight[self.cells.active] = self.cells.mass
        columns = self.tally.columns
        searched = within_scores(subgroups, columns)
        return searched.bind(columns, self.tally.weight.sum(axis=0), event_weight)

    def measure(self, rule: Rule, members: Members, min_group_size: int) -> Subgroup | None:
        """Return the subgroup of a rule, given its members among the active cells."""
        return self.cells.measure(rule, members, self.outcomes, min_group_size)


def _outcome_range(notion: FairnessNotion, tally: Tally) -> tuple[float, float]:
    """Return the least and the largest outcome of a notion, by its own table."""
    return notion.outcome_range if tally.spread is None else tally.outcome_range


def largest_rounding(seen: Iterable[NotionTally]) -> float:
    """Return what rounding alone may make of the largest unfairness over several notions."""
    return max(one.cells.rounding for one in seen)
