"""Numbers without rounding, and the rows of an audit summed in them.

A float stands for the decimal that it prints as: 0.1 is 1/10, not the binary fraction next to it. A
rule is defined by the numbers it prints, data was written in decimals too, and a reader who checks
with pencil and paper uses these. The order of two floats is that of their decimals, so comparisons
with a cut are the same either way; sums are not, and where float64 arithmetic would select other
rows than exact arithmetic does, the checker says so.

Rows are read and summed one by one in Python: slow, and easy to believe.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from gerrymend.checker.arguments import (
    Columns,
    check_lengths,
    read_columns,
    read_labels,
    read_vector,
    read_weights,
)
from gerrymend.checker.labels import classes_of, decisions_of
from gerrymend.checker.plain import is_finite, shown_value

ZERO = Fraction(0)
# A probability that a mixture summed in float64 may be outside [0, 1] by as much.
SLACK = Fraction(1, 10**9)


# By type too: the float 0.1 is a tenth, and equals a fraction that is not quite one.
@lru_cache(maxsize=65_536, typed=True)
def exact(number: Any) -> Fraction:
    """Return the decimal that a number prints as, as a fraction.

    >>> exact(0.1), exact(3), exact(0.1 + 0.2)
    (Fraction(1, 10), Fraction(3, 1), Fraction(7500000000000001, 25000000000000000))
    """
    if isinstance(number, float):
        return Fraction(repr(float(number)))
    return Fraction(number)


def _whole(number: Any) -> Fraction | int:
    """Return the decimal that a number prints as; a whole one as an integer, which is quicker."""
    value = exact(number)
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True)
class Attribute:
    """Hold a protected attribute by cell: whole numbers and fractions, or categories.

    A missing category is None.
    """

    name: str
    is_number: bool
    values: tuple[Any, ...]

    @property
    def categories(self) -> list[Any]:
        """The distinct categories in order, a missing one last."""
        present = set(self.values)
        return [*sorted(present - {None}), *(present & {None})]

    @cached_property
    def ascending(self) -> list[int]:
        """The cells by the number that they have, the least first."""
        return sorted(range(len(self.values)), key=self.values.__getitem__)


@dataclass(frozen=True)
class Table:
    """Hold the rows of an audit, summed by cell (distinct protected row) and label.

    `rows[c][y]`, `weight[c][y]` and `positive[c][y]` are the number of rows, their weight and the
    weight that is decided positive; `weighty[c][y]` is the number of rows that have any weight,
    None where all do, and `squares[c][y]` the sum of their squared weights, None where each row
    weighs 1. `labels` are the negative and the positive one; where rows have none (`is_labelled`),
    those of decisions, and every row stands with the negative one.

    Of numbers there is a table for each notion, in `views` of the first. Its label is 1 for rows
    that count, and `positive` the sum of outcomes, from the first to the second of `ends`; `spread`
    has the sums of outcomes, and of their squares, by squared weight.

    Of more than two classes there is a table for each against the rest, in `by_class` of one whose
    positive decisions are the wrong ones.

    Of scores `positive` has the sums of their errors, and `predicted` those of the scores, by cell;
    `variance` is that of the errors' sum where scores are right. In bins, cut at `cuts`, the score
    is one more value of each cell: `score`, which is no attribute.

    `strata` has the tables of rows with equal values of the `controls`, over the same cells, and
    `controls` whether each of these is a number; `is_count` is whether each row weighs 1 and is
    decided 0 or 1.
    """

    attributes: dict[str, Attribute]
    rows: list[list[int]]
    weight: list[list[Fraction]]
    positive: list[list[Fraction]]
    weighty: list[list[int]] | None = None
    squares: list[list[Fraction]] | None = None
    labels: tuple[Any, ...] = (0, 1)
    is_labelled: bool = True
    is_count: bool = True
    spread: list[list[list[Fraction]]] | None = None
    ends: tuple[Fraction, Fraction] = (ZERO, Fraction(1))
    views: "Mapping[str, Table]" = field(default_factory=dict)
    strata: "Mapping[tuple[Any, ...], Table]" = field(default_factory=dict)
    controls: Mapping[str, bool] = field(default_factory=dict)
    by_class: "Mapping[Any, Table]" = field(default_factory=dict)
    predicted: list[Fraction] | None = None
    variance: list[Fraction] | None = None
    score: Attribute | None = None
    cuts: list[Fraction] = field(default_factory=list)

    @property
    def columns(self) -> dict[str, Attribute]:
        """The attributes, and the score where it is in bins: all that rules may be about."""
        return self.attributes | ({} if self.score is None else {self.score.name: self.score})

    def view(self, notion: Mapping[str, Any]) -> "Table":
        """Return the table of a notion, given as plain data."""
        if notion["class"] is not None:
            return self.by_class.get(notion["class"], self)
        return self.views.get(notion["name"], self)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(map(sum, self.rows))

    @cached_property
    def total_weight(self) -> Fraction:
        """Sum of all weights."""
        return sum((mass for by_label in self.weight for mass in by_label), ZERO)

    @property
    def squared_weight(self) -> list[list[Fraction]]:
        """Sums of squared weights, by cell and label."""
        if self.squares is not None:
            return self.squares
        return [[Fraction(count) for count in by_label] for by_label in self.rows]

    @cached_property
    def total_squares(self) -> Fraction:
        """Sum of all squared weights."""
        return sum((one for by_label in self.squared_weight for one in by_label), ZERO)


def read_table(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    threshold: float | None,
    decision_probabilities: bool,
    pos_label: Any,
    like: Table | None = None,
    control_features: Any = None,
) -> Table:
    """Read the arguments of an audit, and sum them without rounding.

    The arguments are those of `audit()`. A second sample has the labels of the first one, which it
    is `like`. Raises a ValueError or a TypeError that names the argument, as an audit would.
    """
    if threshold is not None and decision_probabilities:
        raise ValueError("threshold and decision_probabilities exclude each other; pass one.")
    are_decisions = threshold is None and not decision_probabilities
    predicted = (read_labels if are_decisions else read_vector)(y_pred, "y_pred")
    if threshold is not None and not all(map(is_finite, predicted)):
        raise ValueError("y_pred must be finite numbers where threshold is given.")
    if y_true is None:
        # Decisions show both labels, or are numbers, to be decided 0 and 1 by.
        shown: list[Any] = sorted(set(predicted)) if are_decisions else [0, 1]
        chosen = classes_of(shown, [], pos_label) if like is None else list(like.labels)
        # Any label would do: the rates that rows without labels have are the same for both.
        labels = [chosen[0]] * len(predicted)
    else:
        labels = read_labels(y_true, "y_true")
    columns = read_columns(sensitive_features)
    weights = read_weights(sample_weight, len(labels))
    check_lengths(columns, y_true=labels, y_pred=predicted, sample_weight=weights)
    # A second sample may have only one of the labels, which then must not be taken for both.
    if y_true is None:
        classes = chosen
    elif like is not None and (
        set(labels) <= set(like.labels) or like.labels[0] == f"not {like.labels[1]}"
    ):
        classes = list(like.labels)
    else:
        classes = classes_of(labels, predicted if are_decisions else [], pos_label)
    if threshold is not None:
        decided: list[Any] = [int(score >= threshold) for score in predicted]
    else:
        # One of many labels is compared with the rest, and decisions may be any of them.
        rest = classes[0] == f"not {classes[1]}"
        known = [*classes, *labels, *(predicted if like is not None else [])] if rest else classes
        decided = decisions_of(predicted, classes[1], known) if are_decisions else predicted
    cells = list(zip(*(values for _, values in columns.values()), strict=True))
    y = [int(label == classes[1]) for label in labels]
    # Equal rows are summed at once: a fraction for each of them would take most of the time.
    rows = list(zip(cells, y, decided, weights, strict=True))
    pair = (classes[0], classes[1])
    table = replace(summed(columns, Counter(rows), pair), is_labelled=y_true is not None)
    if not any(map(any, table.weight)):
        raise ValueError("sample_weight is zero in every row; pass at least one positive weight.")
    places = list(dict.fromkeys(cells))
    return with_strata(
        table, control_features, rows, lambda some: summed(columns, Counter(some), pair, places)
    )


def with_strata(
    table: Table,
    control_features: Any,
    rows: list[Any],
    make: Callable[[list[Any]], Table],
) -> Table:
    """Return a table with one for the rows of each stratum, as `make` sums them."""
    if control_features is None:
        return table
    controls = read_columns(control_features, "control_features")
    check_lengths(controls, "control_features", y_pred=rows)
    by_stratum: dict[tuple[Any, ...], list[Any]] = {}
    keys = zip(*(values for _, values in controls.values()), strict=True)
    for key, row in zip(keys, rows, strict=True):
        by_stratum.setdefault(key, []).append(row)
    strata = {key: make(some) for key, some in by_stratum.items()}
    kinds = {name: is_number for name, (is_number, _) in controls.items()}
    return replace(table, strata=strata, controls=kinds)


def summed(
    columns: Columns,
    counted: Counter[tuple[Any, int, Any, Any]],
    labels: tuple[Any, ...],
    cells: list[Any] | None = None,
    outcome_of: Callable[[Any], Fraction] | None = None,
) -> Table:
    """Sum counted rows, keyed by (cell, label, decision, weight), into a table.

    A decision is a probability, unless `outcome_of` makes another number of it. `cells` may be more
    than those of the rows.

    Cells come in the order in which they are first seen.
    """
    there = dict.fromkeys(cell for cell, *_ in counted) if cells is None else cells
    place = {cell: i for i, cell in enumerate(there)}
    rows, weighty = ([[0, 0] for _ in place] for _ in range(2))
    weight, positive, squares = ([[ZERO, ZERO] for _ in place] for _ in range(3))
    for (cell, y, p, w), count in counted.items():
        each = weigh(w)
        mass = each * count
        rows[place[cell]][y] += count
        weighty[place[cell]][y] += count * (mass > 0)
        weight[place[cell]][y] += mass
        squares[place[cell]][y] += mass * each
        positive[place[cell]][y] += mass * (outcome_of or _probability)(p)
    attributes = {
        name: Attribute(name, is_number, tuple(map(_whole, values) if is_number else values))
        for (name, (is_number, _)), values in zip(
            columns.items(), zip(*place, strict=True), strict=True
        )
    }
    is_count = all(w == 1 and p in (0, 1) for _, _, p, w in counted)
    return Table(attributes, rows, weight, positive, weighty, squares, labels, is_count=is_count)


def weigh(value: Any) -> Fraction:
    """Return a weight as a fraction, or raise a ValueError if it is negative or not finite."""
    if not is_finite(value) or value < 0:
        raise ValueError(
            f"sample_weight has the value {shown_value(value)}; weights are finite, 0 or more."
        )
    return exact(value)


def _probability(value: Any) -> Fraction:
    """Return a probability as a fraction, or raise a ValueError if it is outside of [0, 1]."""
    # A sum of a mixture's weights in float64 may be a rounding above 1, and is cut off there.
    p = exact(value) if is_finite(value) else None
    if p is None or not -SLACK <= p <= 1 + SLACK:
        raise ValueError(
            f"y_pred has the value {shown_value(value)}; with decision_probabilities=True it lies "
            "in [0, 1]."
        )
    return min(max(p, ZERO), Fraction(1))
