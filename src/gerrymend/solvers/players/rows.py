"""The seam between games and rows: all that a game knows of people, and all that it may ask.

A game asks nothing of rows that is not a function of the label and the protected values and, where
groups are compared within strata, the stratum; of means of one's own, what either decision brings
about. The distinct ones of these are the *label-cells*. A cost is a vector over label-cells, and so
is what a predictor decides: the weight that it decides 1 in each. Error, the residual of every
notion and the unfairness to every subgroup are linear in it. So only `Rows` see rows, in memory
(`memory_rows.py`) or elsewhere, and no game knows where.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.places import MEMORY, Place
from gerrymend._numeric.sums import Array, total_by_cell
from gerrymend.inputs.protected import Cells, Column, distinct_rows
from gerrymend.models.mixture import Mixture
from gerrymend.notions import FairnessNotion, Moment, moment_of

Keys = Sequence[Any] | NDArray[Any]
Bits = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class LabelCells:
    """The pairs of a label and a protected row, in each stratum, and how many people have them.

    Attributes
    ----------
    labels : array of 0 and 1
    cells : Cells
        The distinct protected rows; `cells.index` has that of each label-cell.
    weight : array
    n_rows : array of int
    is_whole : bool
        Whether each row weighs a whole number: then so does what is decided of a label-cell.
    stratum : array of int or None
        The number of the stratum that each is compared within; None where all are one.
    own_moments : tuple of Moment
        Those that don't follow from the label.
    """

    labels: NDArray[np.intp]
    cells: Cells
    weight: Array
    n_rows: NDArray[np.intp]
    is_whole: bool
    stratum: NDArray[np.intp] | None = None
    own_moments: tuple[Moment, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of_rows(
        cls,
        cells: Cells,
        labels: NDArray[np.intp],
        weight: Array | None = None,
        stratum: NDArray[np.intp] | None = None,
        own_moments: tuple[Moment, ...] = (),
    ) -> "LabelCells":
        """Return label-cells of one row each; two may have the same label and protected row."""
        weight = np.ones(len(labels)) if weight is None else weight
        is_whole = bool((weight == np.rint(weight)).all())
        ones = np.ones(len(labels), dtype=np.intp)
        return cls(labels, cells, weight, ones, is_whole, stratum, own_moments)

    @classmethod
    def of_sample(
        cls,
        columns: Sequence[Column],
        labels: NDArray[np.intp],
        weight: Array,
        stratum: NDArray[np.intp] | None = None,
        own_moments: tuple[Moment, ...] = (),
        place: Place = MEMORY,
    ) -> tuple["LabelCells", NDArray[np.intp], NDArray[np.intp]]:
        """Return distinct label-cells, where rows of each begin, and the order of these rows.

        Parameters
        ----------
        columns : sequence of Column
            The protected attributes, by row.
        labels, weight, stratum : arrays
            By row; without strata all rows are compared with all.
        own_moments : tuple of Moment
            Those that don't follow from the label: rows that differ in them are no one cell.
        place : Place
            Where rows are sorted.
        """
        rows = cls.of_rows(distinct_rows(columns, place), labels, weight, stratum, own_moments)
        return rows._distinct(place)

    @classmethod
    def of_parts(
        cls,
        columns: Sequence[Column],
        labels: NDArray[np.intp],
        weight: Array,
        n_rows: NDArray[np.intp],
        *,
        is_whole: bool,
        stratum: NDArray[np.intp] | None = None,
        own_moments: tuple[Moment, ...] = (),
    ) -> tuple["LabelCells", NDArray[np.intp]]:
        """Return distinct label-cells of those of several parts of the rows, and which each is.

        >>> from gerrymend.inputs.protected import read_columns
        >>> sex, ones = read_columns({"sex": ["F", "M", "F"]}), np.ones(3)
        >>> label_cells, place = LabelCells.of_parts(
        ...     sex, np.array([0, 1, 0]), ones, np.array([2, 1, 5]), is_whole=True)
        >>> label_cells.n_rows.tolist(), place.tolist()
        ([7, 1], [0, 1, 0])
        """
        parts = cls(labels, distinct_rows(columns), weight, n_rows, is_whole, stratum, own_moments)
        label_cells, starts, order = parts._distinct()
        # Parts sorted by `order` fall into runs, one a label-cell; scatter the run's number back.
        place = np.empty(len(labels), dtype=np.intp)
        number = np.diff(starts, append=len(labels))
        place[order] = np.repeat(np.arange(len(label_cells)), number)
        return label_cells, place

    def _distinct(
        self, place: Place = MEMORY
    ) -> tuple["LabelCells", NDArray[np.intp], NDArray[np.intp]]:
        """Sort and merge; return also where those of each begin, in which order."""
        order, cells = self.cells.sorted_by(self.labels, *self._finer, place=place)
        return *replace(self._taken(order), cells=cells)._merged(), order

    @property
    def _finer(self) -> list[NDArray[Any]]:
        """List what may differ within a label and a protected row."""
        finer: list[NDArray[Any]] = [] if self.stratum is None else [self.stratum]
        return finer + [part for moment in self.own_moments for part in moment[1:]]

    def _taken(self, chosen: NDArray[np.intp]) -> "LabelCells":
        """Return these label-cells; the cells are all still there."""
        return replace(
            self,
            labels=self.labels[chosen],
            cells=replace(self.cells, index=self.cells.index[chosen]),
            weight=self.weight[chosen],
            n_rows=self.n_rows[chosen],
            stratum=None if self.stratum is None else self.stratum[chosen],
            own_moments=tuple(moment.take(chosen) for moment in self.own_moments),
        )

    def _merged(self) -> tuple["LabelCells", NDArray[np.intp]]:
        """Return the distinct label-cells of sorted rows, and where the rows of each begin."""
        keys = (self.cells.index, self.labels, *self._finer)
        # Sorted, so that equal rows are neighbours and a row that differs from the last begins a
        # cell.
        differs = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
        starts = np.append(0, np.flatnonzero(differs) + 1)
        if len(starts) == len(self):
            return self, starts
        of_row = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(self)))
        # Summed exactly: the weight of a label-cell must not depend on the order of its rows.
        weight = total_by_cell(of_row, self.weight, len(starts))
        n_rows = np.add.reduceat(self.n_rows, starts)
        return replace(self._taken(starts), weight=weight, n_rows=n_rows), starts

    def moment(self, notion: FairnessNotion) -> Moment:
        """Return the outcomes of a notion, by what is decided."""
        # A mean of one's own is known by its rate alone; only rates of labels follow from labels.
        own = (moment for moment in self.own_moments if moment.rate == notion)
        return next(own, None) or moment_of(notion, self.labels)


class Play(NamedTuple):
    """A predictor, by the key that `Rows.mixture` knows it by, and what it decides.

    `decisions` are bytes that only its rows can read. They are the same for predictors that decide
    the same of each row, and no others.
    """

    decisions: Bits
    key: Any


class Rows(Protocol):
    """The people, wherever they are, and who learns to decide about them.

    The cost of a label-cell is the cost of deciding 1 less that of deciding 0, per unit of weight.
    """

    @property
    def label_cells(self) -> LabelCells:
        """Return labels, protected values and weights."""
        ...

    def best_response(self, costs: Array) -> tuple[Array, Keys]:
        """Fit to each row of costs; return the weights decided 1, and keys of the predictors."""
        ...

    def answers(self, cost: Array, others: Sequence[Array] = ()) -> list[Play]:
        """Fit once, to a cost; cut the score where that costs least, and for each of the others."""
        ...

    def constant(self, decision: bool) -> Play:
        """Return the predictor that decides the same of everyone."""
        ...

    def recall(self, predictor: Any) -> Play:
        """Return a predictor of an earlier fit."""
        ...

    def decided(self, decisions: Sequence[Bits]) -> Array:
        """Return the weight that is decided 1 in each label-cell, one predictor a row."""
        ...

    def mixture(self, keys: Keys, weights: Array | None = None) -> Mixture:
        """Return the mixture of the predictors of these keys, uniform without weights."""
        ...

    def state(self) -> Any:
        """Return what answers depend on besides the costs: as a rule nothing."""
        ...

    def restore(self, state: Any) -> None:
        """Go on from a state."""
        ...
