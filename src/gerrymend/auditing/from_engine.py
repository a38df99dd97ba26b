"""Summing of a lazy frame by its own engine: only sums by protected values travel.

There are two queries. The first groups rows by label and decision: a handful of groups, on which
all is checked that audit() checks of its rows. The second groups by the protected values as well.

Counts are exact. Weights and probabilities are split into parts on grids by the engine, by the same
expressions as in `_numeric/sums.py`, so that the order in which it adds can't matter: the sums are
those that the rows would have given here, to the last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, grid_shifts, modest_scale
from gerrymend.auditing.classes import tally_of_classes, tally_of_counts
from gerrymend.auditing.lazy_rows import ENOUGH, LazyRows, check_none_of, missing
from gerrymend.auditing.strata import check_enough_rows, tally_of_lines
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.classes import (
    AUDIT,
    BY_LABEL,
    Decided,
    Labels,
    check_class_number,
    class_numbers,
    read_labels,
)
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.inputs.validation import (
    are_missing,
    as_vector,
    check_decided,
    decisions_from,
)
from gerrymend.inputs.weights import check_weights


def tally_of_lazy(
    data: Any,
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    control_features: Any = None,
    decided: Decided = BY_LABEL,
) -> Tally:
    """Sum a lazy frame by protected values and label, where it lives.

    The arguments are those of audit(), with the names of columns for the arrays.

    >>> import polars as pl
    >>> loans = pl.LazyFrame({"sex": ["F", "M", "F"], "repaid": [0, 1, 0], "granted": [0, 1, 1]})
    >>> tally = tally_of_lazy(loans, "repaid", "granted", "sex")
    >>> tally.n_rows.tolist(), tally.positive.tolist()
    ([[2, 0], [0, 1]], [[1.0, 0.0], [0.0, 1.0]])
    """
    rows = LazyRows.of(
        data, y_true, y_pred, sensitive_features, sample_weight, control_features, decided
    )
    # All checks are made on the first query, before the larger second one is run.
    overview = Overview.of(rows, decided)
    rows = overview.rows
    summary = rows.sums(overview.shifts)
    columns = read_columns({name: summary[key] for name, key in rows.attributes.items()})
    n = numbers_of(summary["n"])
    cells = distinct_rows(columns)
    n_rows = n.astype(np.int64)
    classes = tuple(overview.classes.tolist())
    strata = None
    if rows.controls:
        control = {name: summary[key] for name, key in rows.controls.items()}
        read = distinct_rows(read_columns(control, "control_features"))
        strata = check_enough_rows(read, overview.n_rows)
    label = overview.labels(summary)
    decided_as = overview.decided(summary)
    # Lines that count equal rows can be parted into those searched and those held out; sums of
    # weights can't, as they don't say how many rows of which weight are in them.
    if len(classes) > 2 and not rows.weighted:
        return tally_of_counts(cells, classes, label, decided_as, n_rows, strata)
    weight = parts_of(summary, "weight") if rows.weighted else n
    positive = parts_of(summary, "positive") if rows.has_sums else n
    square = parts_of(summary, "square") if rows.weighted else n
    counted = numbers_of(summary["counted"]).astype(np.int64) if rows.weighted else None

    def table(y: NDArray[np.intp], p: Array) -> Tally:
        """Sum the lines by labels and decisions of 0 and 1."""
        return tally_of_lines(
            cells,
            strata,
            y,
            n_rows,
            weight,
            p * positive,
            squared_weight=square,
            n_counted=counted,
            is_count=overview.is_count,
            labels=classes,
            is_labelled=rows.is_labelled,
        )

    if len(classes) > 2:
        return tally_of_classes(classes, label, decided_as, table)
    return table(np.zeros(len(n), dtype=np.intp) if label is None else label, decided_as)


@dataclass(frozen=True, eq=False)
class Overview:
    """Hold the result of the first query, after all of it was checked.

    Attributes
    ----------
    rows : LazyRows
    lines : narwhals.DataFrame
        A line for each label and decision, with extremes and numbers of rows.
    labelled : Labels
        The labels that were read.
    """

    rows: LazyRows
    lines: "nw.DataFrame[Any]"
    labelled: Labels

    @classmethod
    def of(cls, rows: LazyRows, decided: Decided) -> "Overview":
        """Run the first query, and raise what audit() would raise for the rows."""
        lines = rows.checks()
        labels = as_vector(lines["label"], "y_true") if rows.is_labelled else None
        cut_off = len(lines) == ENOUGH
        if not cut_off:  # otherwise there are too many values, and not all of them were counted
            if labels is not None:
                n_missing = int(numbers_of(lines["n"])[are_missing(labels)].sum())
                label = missing("label", rows.frame.collect_schema()["label"])
                check_none_of(rows.frame, label, n_missing, "y_true")
            n_missing = int(numbers_of(lines["missing"]).sum())
            check_none_of(rows.frame, nw.col("missing"), n_missing, "y_pred")
        if labels is not None:
            labels = labels[~are_missing(labels)]
        if rows.weighted:
            check_extreme_weights(lines)
        # From here on the checks are those of audit(), on the few lines in place of all rows.
        decisions = as_vector(lines["decision"], "y_pred") if decided.by_label else None
        labelled = read_labels(labels, decisions, decided, AUDIT, cut_off=cut_off)
        if decisions is not None:
            check_decided(decisions, labelled.known, "y_pred")
        if rows.probabilities:
            extremes = np.concatenate([numbers_of(lines["p_min"]), numbers_of(lines["p_max"])])
            decisions_from(extremes, labelled.classes, None, True, "y_pred")
        overview = cls(rows, lines, labelled)
        check_class_number(labelled.known, overview.n_rows, AUDIT.labels)
        # As `check_weights` scales them. Only extreme weights take a third query.
        scale = modest_scale(overview._extremes("weight")[1]) if rows.weighted else 1.0
        if scale == 1.0:
            return overview
        scaled = rows.scaled(scale)
        return cls(scaled, scaled.checks(), labelled)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, the positive one of two last."""
        return self.labelled.classes

    def decided(self, lines: "nw.DataFrame[Any]") -> NDArray[Any]:
        """Return 1 for groups of rows decided 1, or whose sums hold p already, and 0 for others.

        Of more than two classes, their numbers.
        """
        if self.rows.probabilities:
            return np.ones(len(lines))
        decisions = as_vector(lines["decision"], "y_pred")
        if len(self.classes) > 2:
            return class_numbers(decisions, self.classes)
        positive = self.classes[1] if self.rows.cut is None else True
        return (decisions == positive).astype(np.float64)

    def labels(self, lines: "nw.DataFrame[Any]") -> NDArray[np.intp] | None:
        """Return 1 for groups of rows of the positive label, 0 for others; None without labels.

        Of more than two classes, their numbers.
        """
        if not self.rows.is_labelled:
            return None
        labels = as_vector(lines["label"], "y_true")
        if len(self.classes) > 2:
            return class_numbers(labels, self.classes)
        return (labels == self.classes[1]).astype(np.intp)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(numbers_of(self.lines["n"]).sum())

    def shifts(self, name: str, power: int = 1) -> list[float]:
        """Return the shifts that put the parts of a column, or of its squares, on their grids."""
        least, largest = self._extremes(name)
        # From 0 on powers keep the order: the extremes of squares are squares of extremes.
        return grid_shifts(self.n_rows, largest**power, least**power)

    def _extremes(self, name: str) -> tuple[float, float]:
        """Return the least positive and the largest value of a column.

        They are infinity and 0 where none is positive. Of w·p only rows decided 1 matter: the
        others are left out later.
        """
        least, largest = (numbers_of(self.lines[f"{name}_{end}"]) for end in ("least", "max"))
        if name == "positive" and len(self.classes) == 2:
            chosen = self.decided(self.lines) > 0
            least = least[chosen]
            largest = largest[chosen]
        some = least[least > 0]
        return float(np.min(some, initial=np.inf)), float(np.max(largest, initial=0.0))

    @property
    def is_count(self) -> bool:
        """True where each row weighs 1 and is decided 0 or 1."""
        lines = self.lines
        if self.rows.probabilities and numbers_of(lines["certain"]).sum() < self.n_rows:
            return False
        extremes: Sequence[str] = ("weight_min", "weight_max") if self.rows.weighted else ()
        return all(bool((numbers_of(lines[name]) == 1).all()) for name in extremes)


def check_extreme_weights(lines: "nw.DataFrame[Any]") -> None:
    """Raise what a weight can be wrong in: the least and the greatest have every such fault."""
    ends = ("weight_min", "weight_least", "weight_max")
    extremes = np.concatenate([numbers_of(lines[end]) for end in ends])
    # A group without a positive weight has no least one, which is no fault.
    no_positive = np.isnan(numbers_of(lines["weight_least"]))
    extremes[len(lines) : 2 * len(lines)][no_positive] = 0.0
    # Engines leave missing values out of extremes; one is put back, for the check to see it.
    if numbers_of(lines["weight_missing"]).any():
        extremes[0] = np.nan
    check_weights(extremes, len(extremes))


def numbers_of(values: "nw.Series[Any]") -> Array:
    """Return a column of a result as floats."""
    numbers: Array = values.cast(nw.Float64).to_numpy()
    return numbers


def parts_of(lines: "nw.DataFrame[Any]", name: str) -> Array:
    """Return the sums of a column's parts, one part a row; zeros where a column has no parts."""
    parts = [numbers_of(lines[part]) for part in lines.columns if part.startswith(f"{name}_")]
    return np.array(parts or [np.zeros(len(lines))])
