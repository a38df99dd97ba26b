"""Tables of more than two classes: of each against the rest, and of wrong decisions.

One against the rest is a binary audit, y = [label is c] and p = [decision is c], over the same
cells: whatever an audit does with one table it does with each, and the worst is the worst of all.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.row_data import Lines, Rows
from gerrymend.auditing.strata import tally_of_lines
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import Cells, distinct_rows
from gerrymend.inputs.sample import Sample


def tally_of_sample(sample: Sample) -> Tally:
    """Sum a sample that has decisions, of two classes or more.

    >>> sex = {"sex": ["F", "M", "F", "F", "M", "M"]}
    >>> from gerrymend.inputs.classes import Decided
    >>> sample = Sample.read(list("abcabc"), sex, decisions=list("abbaac"),
    ...                      decided=Decided(many=True))
    >>> tally = tally_of_sample(sample)
    >>> tally.labels, tally.positive.tolist(), tally.by_class["b"].positive.tolist()
    (('a', 'b', 'c'), [[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    """
    if sample.decided is None:
        return Tally.of_sample(sample)
    cells = distinct_rows(sample.columns)
    classes = tuple(sample.classes.tolist())

    def table(y: NDArray[np.intp], p: Array) -> Tally:
        return Tally.of_rows(cells, y, p, sample.weight, classes, sample.is_labelled)

    label = sample.y if sample.is_labelled else None
    tally = tally_of_classes(classes, label, sample.decided, table)
    assert tally.rows is not None
    return replace(tally, rows=tally.rows._replace(label=sample.y, decision=sample.decided))


def tally_of_classes(
    classes: tuple[Any, ...],
    label: NDArray[np.intp] | None,
    decision: NDArray[np.intp],
    table: Callable[[NDArray[np.intp], Array], Tally],
) -> Tally:
    """Return the table of wrong decisions, with that of each class against the rest.

    Parameters
    ----------
    classes : tuple of labels
    label, decision : arrays of int
        The number of the class, by row or by line of a table; `label` is None without labels.
    table : callable
        Sums by labels of 0 and 1, and by decisions of 0 and 1, which it is called with.
    """
    none = np.zeros(len(decision), dtype=np.intp)
    by_class = {}
    for number, one in enumerate(classes):
        y = none if label is None else (label == number).astype(np.intp)
        by_class[one] = table(y, (decision == number).astype(np.float64))
    # All rows get label 0, for which the error rate's outcome is the decision itself: with
    # [label ≠ decision] in its place, the mean is the part of the rows that is decided wrongly.
    wrong = np.zeros(len(decision)) if label is None else (label != decision).astype(np.float64)
    return replace(table(none, wrong), by_class=by_class)


def tally_of_counts(
    cells: Cells,
    classes: tuple[Any, ...],
    label: NDArray[np.intp] | None,
    decision: NDArray[np.intp],
    n_rows: NDArray[np.int64],
    strata: Cells | None = None,
) -> Tally:
    """Return the same of lines that count equal rows, each with its cell and stratum."""
    some = n_rows > 0
    if not some.all():  # all rows of a line may be held out
        cells = Cells(cells.columns, cells.index[some])
        strata = None if strata is None else Cells(strata.columns, strata.index[some])
        label = None if label is None else label[some]
        return tally_of_counts(cells, classes, label, decision[some], n_rows[some], strata)
    kind = np.zeros_like(decision) if label is None else label
    if strata is not None:
        # One number for a pair: no label's number reaches len(classes).
        kind = kind + len(classes) * strata.index
    weight = n_rows.astype(np.float64)

    def counted(counts: NDArray[np.int64]) -> Tally:
        """Return the table of other numbers of rows, as those that are held out."""
        return tally_of_counts(cells, classes, label, decision, counts, strata)

    def table(y: NDArray[np.intp], p: Array) -> Tally:
        tally = tally_of_lines(
            cells,
            strata,
            y,
            n_rows,
            weight,
            weight * p,
            # Each row weighs 1, so that Σ w² is the number of rows, too.
            squared_weight=weight,
            is_count=True,
            labels=classes,
            is_labelled=label is not None,
        )
        stratum = None if strata is None else strata.index
        rows = Rows(cells.index, y, p, np.ones(len(y)), stratum)
        return replace(tally, lines=Lines(rows, n_rows, kind, counted))

    return tally_of_classes(classes, label, decision, table)
