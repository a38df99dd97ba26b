"""Rows with probabilities, read and checked, and their residuals and sums for each notion."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, total
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.from_rows import Given, rows_of
from gerrymend.inputs.classes import AUDIT, Decided, Names
from gerrymend.inputs.identifiers import check_identifiers
from gerrymend.inputs.indexes import check_same_index
from gerrymend.inputs.protected import Cells, Column, distinct_rows
from gerrymend.inputs.sample import Sample
from gerrymend.inputs.validation import check_same_length
from gerrymend.notions import (
    OVERALL,
    AnyNotion,
    FairnessNotion,
    OutcomeNotion,
    check_labels_given,
    nothing_counts,
)
from gerrymend.uncertain.extremes import Extremes, extreme_sums
from gerrymend.uncertain.pools import Pool
from gerrymend.uncertain.probabilities import ARGUMENT, Probabilities, read_probabilities

# A column that tells nobody apart stands for known attributes where there are none.
_EVERYONE = "everyone"


@dataclass(frozen=True, eq=False)
class People:
    """Rows that were read and checked, those of weight 0 left out.

    Attributes
    ----------
    sample : Sample
    probabilities : Probabilities
    cells : Cells
        By known attributes; one where there are none.
    of_sets : array (n_rows, n_sets)
        The probability of each set of categories.
    has_known : bool
        Whether there are known attributes.
    """

    sample: Sample
    probabilities: Probabilities
    cells: Cells
    of_sets: Array
    has_known: bool

    @classmethod
    def read(
        cls,
        given: Given,
        probabilities: Any,
        data: Any,
        decided: Decided,
        notions: Sequence[AnyNotion],
    ) -> "People":
        """Read rows in any container; raise an ArgumentError for what can't be used."""
        check_labels_given(given.y_true, notions, "y_true")
        read = read_probabilities(probabilities, data)
        has_known = given.sensitive_features is not None
        n_rows = len(read.values)
        rows, names = _rows(given, data, n_rows)
        sample = Sample.read(
            rows.y_true,
            rows.sensitive_features,
            rows.sample_weight,
            decisions=rows.y_pred,
            decided=decided,
            names=names,
        )
        check_same_length(**{ARGUMENT: n_rows, "y_pred": len(sample.labels)})
        if data is None:
            check_same_index(
                y_true=rows.y_true,
                y_pred=rows.y_pred,
                sensitive_features=rows.sensitive_features,
                sample_weight=rows.sample_weight,
                **{ARGUMENT: next(iter(probabilities.values()))},
            )
        columns = sample.columns
        if any(column.name == read.name for column in columns):
            raise ArgumentError(
                Argument("sensitive_features", column=repr(read.name)),
                "is an attribute of which probabilities are given, too. Where it is known no "
                "probabilities are needed: audit(); leave out one of the two.",
            )
        if has_known:
            check_identifiers(columns, n_rows, stacklevel=4)
        counted = np.flatnonzero(sample.weight > 0)
        sample = sample.take(counted)
        read = Probabilities(read.name, read.categories, read.values[counted])
        return cls(sample, read, distinct_rows(sample.columns), read.of_sets(), has_known)

    @property
    def known(self) -> tuple[Column, ...]:
        """The known attributes, a value a cell."""
        return self.cells.columns if self.has_known else ()

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return total(self.sample.weight)

    def by_cell(self, values: Array) -> Array:
        """Return sums by cell of values by row; of (n_rows, n_sets), by cell and set."""
        n_sets = values.shape[1]
        key = self.cells.index[:, None] * n_sets + np.arange(n_sets)
        size = len(self.cells) * n_sets
        sums = np.bincount(key.ravel(), values.ravel(), size).astype(np.float64)
        return sums.reshape(-1, n_sets)


def _rows(given: Given, data: Any, n_rows: int) -> tuple[Given, Names]:
    """Return the columns, with one that has everyone where no attributes are known."""
    if given.sensitive_features is not None:
        return rows_of(data, given), AUDIT
    everyone = {_EVERYONE: np.full(n_rows, _EVERYONE)}
    # Of a frame some column has to be named; it is replaced.
    stand_in = everyone if data is None else [given.y_pred]
    rows = rows_of(data, given._replace(sensitive_features=stand_in))
    return rows._replace(sensitive_features=everyone), AUDIT._replace(protected=ARGUMENT)


def check_rates(notions: Sequence[AnyNotion]) -> tuple[FairnessNotion, ...]:
    """Return notions that are rates; raise an ArgumentError for means, and references of one's own.

    >>> from gerrymend.notions import as_notions
    >>> check_rates(as_notions("mean_outcome"))
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: notion='mean_outcome' is a mean of numbers, and \
probabilities of attributes are for rates of decisions: cut the numbers at a threshold that \
matters, and compare rates.
    """
    rates = []
    for notion in notions:
        if isinstance(notion, OutcomeNotion):
            raise ArgumentError(
                Argument("notion", value=repr(notion.name)),
                "is a mean of numbers, and probabilities of attributes are for rates of decisions: "
                "cut the numbers at a threshold that matters, and compare rates.",
            )
        if notion.reference != OVERALL:
            raise ArgumentError(
                Argument("notion", value=repr(notion.name)),
                "has a reference of its own, and with probabilities groups are compared with the "
                "overall rate; leave the reference out.",
            )
        rates.append(notion)
    return tuple(rates)


@dataclass(frozen=True, eq=False)
class Rated:
    """The people as one notion sees them.

    Attributes
    ----------
    notion : FairnessNotion
    people : People
    outcome, weight : arrays (n_rows,)
        Outcomes, and weights within the event: 0 outside.
    residual : array (n_rows,)
        Outcomes less the overall rate, 0 outside of the event.
    overall_rate : float
    """

    notion: FairnessNotion
    people: People
    outcome: Array
    weight: Array
    residual: Array
    overall_rate: float

    @classmethod
    def of(cls, notion: FairnessNotion, people: People, decisions: Array | None = None) -> "Rated":
        """Return what a notion sees, of other `decisions` than those that were made, if given.

        Raises a ValueError where no row is in its event.
        """
        y = people.sample.y
        decided = people.sample.p if decisions is None else decisions
        event, a, b = (np.asarray(pair, dtype=float) for pair in (notion.event, notion.a, notion.b))
        outcome = a[y] + b[y] * decided
        weight = people.sample.weight * event[y]
        mass = total(weight)
        if mass == 0:
            raise nothing_counts(notion)
        rate = total(weight * outcome) / mass
        return cls(notion, people, outcome, weight, event[y] * (outcome - rate), rate)

    @property
    def active(self) -> NDArray[np.bool_]:
        """Cells with rows in the event."""
        sums = np.bincount(self.people.cells.index, self.weight, len(self.people.cells))
        active: NDArray[np.bool_] = sums > 0
        return active

    def expected(self) -> Array:
        """Return Σ w·q·(u − mean) by cell and set: the expected sums of residuals."""
        # By category first: sets are sums of these.
        people = self.people
        by_category = people.by_cell(
            (people.sample.weight * self.residual)[:, None] * people.probabilities.values
        )
        expected: Array = by_category @ people.probabilities.sets.T
        return expected

    def extremes(self, pools: Sequence[Pool], error: float) -> Extremes:
        """Return what the sums of residuals can be, by cell and set."""
        people = self.people
        weight = people.sample.weight
        return extreme_sums(self.residual, weight, people.of_sets, pools, error=error)
