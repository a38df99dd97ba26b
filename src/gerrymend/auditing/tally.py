"""All that an audit needs of the rows: sums by cell and label.

A notion's event and outcome depend on the label and are affine in the decision, so the weight and
the weight decided positive, by protected values and label, give every rate of every subgroup. They
can be summed wherever the data lives: only this table travels.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, add_parts, total, total_by_cell
from gerrymend.auditing.subgroup import EventCells, Subgroup
from gerrymend.inputs.protected import Cells, Column
from gerrymend.notions import FairnessNotion, nothing_counts
from gerrymend.subgroups.base import BoundClass, Bracket, SubgroupClass
from gerrymend.subgroups.rules import Members, Rule


class Rows(NamedTuple):
    """The rows behind a tally, where they are at hand: cell, label, decision and weight of each."""

    cell: NDArray[np.intp]
    y: NDArray[np.intp]
    p: Array
    weight: Array


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums by label (two rows) and cell (columns).

    Attributes
    ----------
    columns : tuple of Column
        The protected values of each cell, cells in lexicographic order.
    n_rows : array (2, m) of int
        Rows of label 0 and of label 1.
    weight, positive : arrays (2, m)
        Σ w and Σ w·p, with p the probability of deciding 1.
    is_count : bool
        Whether each row weighs 1 and is decided 0 or 1: the table then says all that rows could.
    labels : pair
        The user's labels behind 0 and 1.
    squared_weight : array (2, m) or None
        Σ w², for intervals; None where it was not summed.
    n_counted : array (2, m) of int or None
        Rows of positive weight; None where that is every row.
    rows : Rows or None
        The rows themselves, where they are at hand.
    """

    columns: tuple[Column, ...]
    n_rows: NDArray[np.intp]
    weight: Array
    positive: Array
    is_count: bool
    labels: tuple[Any, Any] = (0, 1)
    squared_weight: Array | None = None
    n_counted: NDArray[np.intp] | None = None
    rows: Rows | None = None

    @classmethod
    def of_rows(
        cls,
        cells: Cells,
        y: NDArray[np.intp],
        p: Array,
        weight: Array,
        labels: tuple[Any, Any] = (0, 1),
    ) -> "Tally":
        """Sum rows by cell and label, the same for every order of the rows."""
        m = len(cells)
        key = cells.index + m * y

        def by_label(values: Array) -> Array:
            return total_by_cell(key, values, 2 * m).reshape(2, m)

        return cls(
            columns=cells.columns,
            n_rows=np.bincount(key, minlength=2 * m).reshape(2, m),
            weight=by_label(weight),
            positive=by_label(weight * p),
            is_count=bool((weight == 1).all() and ((p == 0) | (p == 1)).all()),
            labels=labels,
            squared_weight=by_label(weight**2),
            n_counted=np.bincount(key[weight > 0], minlength=2 * m).reshape(2, m),
            rows=Rows(cells.index, y, p, weight),
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
        labels: tuple[Any, Any] = (0, 1),
        squared_weight: Array | None = None,
        n_counted: NDArray[np.int64] | None = None,
    ) -> "Tally":
        """Add up lines that each stand for many rows of one cell and label.

        `weight`, `positive` and `squared_weight` are whole numbers, or sums of what `exact_parts`
        made, one part a row: adding makes no error, and gives what the rows would have.
        """
        m = len(cells)
        key = cells.index + m * y

        def by_label(values: NDArray[Any]) -> Array:
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
        )

    @cached_property
    def total_weight(self) -> float:
        """The weight of all rows, n of the formulas."""
        return total(self.weight.ravel())

    def of_notion(self, notion: FairnessNotion) -> "NotionTally":
        """What one notion makes of it."""
        return NotionTally.of(notion, self)


@dataclass(frozen=True, eq=False)
class NotionTally:
    """One notion over the cells that have weight in its event, the active ones.

    `outcomes` is Σ w·u of each, `rows` its number of rows in the event; `residual` is W, the
    centred outcomes: its sum over a group, over all weight, is the group's unfairness.
    """

    cells: EventCells
    tally: Tally
    outcomes: Array
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, notion: FairnessNotion, tally: Tally) -> "NotionTally":
        """Sum the labels that are in the event."""
        event = np.asarray(notion.event, dtype=float)
        mass = event @ tally.weight
        active = np.flatnonzero(mass > 0)
        if active.size == 0:
            raise nothing_counts(notion)
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
        return cls(cells, tally, (a @ tally.weight + b @ tally.positive)[active], rows[active])

    @property
    def notion(self) -> FairnessNotion:
        """The notion."""
        return self.cells.notion

    @cached_property
    def residual(self) -> Array:
        """W by active cell."""
        return self.centred(self.outcomes)

    def centred(self, outcomes: Array) -> Array:
        """W for other outcomes of the same rows, one or many a stack."""
        mass = self.cells.mass
        residual: Array = outcomes - outcomes.sum(axis=-1, keepdims=True) * (mass / mass.sum())
        return residual

    def bind(self, subgroups: SubgroupClass) -> BoundClass:
        """The class over these cells."""
        event_weight = np.zeros(self.tally.weight.shape[1])
        event_weight[self.cells.active] = self.cells.mass
        return subgroups.bind(self.tally.columns, self.tally.weight.sum(axis=0), event_weight)

    def measure(self, rule: Rule, members: Members) -> Subgroup | None:
        """The subgroup of a rule, with its members among the active cells."""
        return self.cells.measure(rule, members, self.outcomes)


class Examined(NamedTuple):
    """One notion of an audit: its sums, the class over its cells, and the bracket of the worst."""

    seen: NotionTally
    bound: BoundClass
    bracket: Bracket
