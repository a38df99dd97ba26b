"""Numbers without rounding, and the rows of an audit summed in them.

A float stands for the decimal that it prints as: 0.1 is 1/10, not the binary fraction next to it. A
rule is defined by the numbers it prints, data was written in decimals too, and a reader who checks
with pencil and paper uses these. The order of two floats is that of their decimals, so comparisons
with a cut are the same either way; sums are not, and where float64 arithmetic would select other
rows than exact arithmetic does, the checker says so.

Rows are read and summed one by one in Python: slow, and easy to believe.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isfinite
from typing import Any

import narwhals as nw

from gerrymend.checker.plain import listed_values, of_one_type

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
    predicted = read_vector(y_pred, "y_pred")
    are_decisions = threshold is None and not decision_probabilities
    if y_true is None:
        # Decisions show both labels, or are numbers, to be decided 0 and 1 by.
        shown: list[Any] = sorted(set(predicted)) if are_decisions else [0, 1]
        chosen = _classes(shown, [], pos_label) if like is None else list(like.labels)
        # Any label would do: the rates that rows without labels have are the same for both.
        labels = [chosen[0]] * len(predicted)
    else:
        labels = read_vector(y_true, "y_true")
    columns = read_columns(sensitive_features)
    weights = (
        [1] * len(labels) if sample_weight is None else read_vector(sample_weight, "sample_weight")
    )
    lengths = {"y_true": len(labels), "y_pred": len(predicted), "sample_weight": len(weights)}
    lengths |= {f"{name!r} of sensitive_features": len(v) for name, (_, v) in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"The arguments differ in their number of rows: {counts}.")
    # A second sample may have only one of the labels, which then must not be taken for both.
    if y_true is None:
        classes = chosen
    elif like is not None and (
        set(labels) <= set(like.labels) or like.labels[0] == f"not {like.labels[1]}"
    ):
        classes = list(like.labels)
    else:
        classes = _classes(labels, predicted if are_decisions else [], pos_label)
    if threshold is not None:
        decided: list[Any] = [int(score >= threshold) for score in predicted]
    else:
        # One of many labels is compared with the rest, and decisions may be any of them.
        rest = classes[0] == f"not {classes[1]}"
        known = [*classes, *labels, *(predicted if like is not None else [])] if rest else classes
        decided = _decisions(predicted, classes[1], known) if are_decisions else predicted
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
    by_stratum: dict[tuple[Any, ...], list[Any]] = {}
    keys = zip(*(values for _, values in controls.values()), strict=True)
    for key, row in zip(keys, rows, strict=True):
        by_stratum.setdefault(key, []).append(row)
    strata = {key: make(some) for key, some in by_stratum.items()}
    kinds = {name: is_number for name, (is_number, _) in controls.items()}
    return replace(table, strata=strata, controls=kinds)


def summed(
    columns: dict[str, tuple[bool, list[Any]]],
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
    if not isfinite(value) or value < 0:
        raise ValueError(f"sample_weight has the value {value!r}; weights are finite, 0 or more.")
    return exact(value)


def _probability(value: Any) -> Fraction:
    """Return a probability as a fraction, or raise a ValueError if it is outside of [0, 1]."""
    # A sum of a mixture's weights in float64 may be a rounding above 1, and is cut off there.
    p = exact(value)
    if not -SLACK <= p <= 1 + SLACK:
        raise ValueError(
            f"y_pred has the value {value!r}; with decision_probabilities=True it lies in [0, 1]."
        )
    return min(max(p, ZERO), Fraction(1))


def _classes(labels: list[Any], decisions: list[Any], pos_label: Any) -> list[Any]:
    """Return the two labels, the positive one last.

    Where `labels` show only one, `decisions` may show the other. Raises a ValueError unless there
    are two, or if `pos_label` is neither.

    >>> _classes(["no", "no"], ["yes", "no"], None)
    ['no', 'yes']
    >>> _classes([0, 1], [], pos_label=0)
    [1, 0]
    >>> _classes(["a", "b", "c"], [], pos_label="b")
    ['not b', 'b']
    """
    classes = _in_order(labels)
    if len(classes) == 1:
        classes = _in_order(of_one_type([*labels, *decisions]))
    if len(classes) > 2 and pos_label in classes:
        own = classes[classes.index(pos_label)]
        return [f"not {own}", own]
    if len(classes) != 2:
        raise ValueError(
            f"y_true must have two labels, as it had in the audit; it has {len(classes)}: "
            f"{', '.join(map(repr, classes[:6]))}."
        )
    if pos_label is None:
        return classes
    if pos_label not in classes:
        raise ValueError(
            f"pos_label={pos_label!r} is no label of y_true; its labels are "
            f"{', '.join(map(repr, classes))}."
        )
    return sorted(classes, key=lambda label: bool(label == pos_label))


def _in_order(labels: list[Any]) -> list[Any]:
    """Return the distinct labels in order, numbers before text."""
    return sorted(set(labels), key=lambda label: (isinstance(label, str), label))


def _decisions(predicted: list[Any], positive: Any, known: list[Any]) -> list[int]:
    """Return decisions as 0 and 1, or raise a ValueError for a value that is no known label."""
    unknown = sorted(map(repr, set(predicted) - set(known)))
    if unknown:
        raise ValueError(
            f"y_pred has values that are no label: {', '.join(unknown[:3])}. Pass what was passed "
            "to audit(): threshold for scores, decision_probabilities=True for a mixture's."
        )
    return [int(decision == positive) for decision in predicted]


def read_vector(values: Any, argument: str) -> list[Any]:
    """Return an argument as a list of plain values, one a row.

    Raises a ValueError where it is empty, has missing values or more than one column.
    """
    frame = nw.from_native(values, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if len(frame.columns) != 1:
            raise ValueError(f"{argument} must have one column; it has {len(frame.columns)}.")
        values = frame.get_column(frame.columns[0]).to_native()
    listed = listed_values(values, argument)
    if not listed:
        raise ValueError(f"{argument} is empty: it has no rows.")
    if None in listed:
        raise ValueError(f"{argument} has missing values; fill in or drop these rows.")
    if isinstance(listed[0], list | tuple):
        raise ValueError(f"{argument} must have one dimension.")
    return listed


def read_columns(
    data: Any, argument: str = "sensitive_features"
) -> dict[str, tuple[bool, list[Any]]]:
    """Return, by name, whether each attribute is a number, and its values."""
    columns = [_column(str(name), values) for name, values in _named(data)]
    names = [name for name, _, _ in columns]
    if not columns or len(set(names)) < len(names):
        raise ValueError(f"{argument} needs columns of different names; got {names}.")
    return {name: (is_number, values) for name, is_number, values in columns}


def _named(data: Any) -> Iterable[tuple[Any, Any]]:
    """Return pairs of name and values from a frame, a Series, a mapping or rows without names."""
    seen = nw.from_native(data, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(seen, nw.DataFrame):
        return [(name, seen.get_column(name).to_native()) for name in seen.columns]
    if isinstance(seen, nw.Series):
        return [(seen.name or "attribute_0", data)]
    if isinstance(data, Mapping):
        return data.items()
    table = listed_values(data, "sensitive_features")
    if not any(isinstance(row, Sequence) and not isinstance(row, str) for row in table):
        return [("attribute_0", table)]
    return [(f"attribute_{j}", list(values)) for j, values in enumerate(zip(*table, strict=True))]


def _column(name: str, values: Any) -> tuple[str, bool, list[Any]]:
    """Return a column's name, whether it is a number, and its values.

    A column of a categorical type has categories even if these are numbers, and booleans are
    categories. Raises a ValueError for a number that is missing or infinite.
    """
    where = f"{name!r} of sensitive_features"
    series = nw.from_native(values, series_only=True, pass_through=True)
    dtype = series.dtype if isinstance(series, nw.Series) else None
    listed = listed_values(values, where)
    kinds = {type(value) for value in listed if value is not None}
    if (
        isinstance(dtype, nw.Categorical | nw.Enum)
        or str(getattr(values, "dtype", "")) == "category"
    ):
        return name, False, listed
    # bool is a subclass of int, and a category.
    numbers = bool(kinds) and all(issubclass(k, int | float) and k is not bool for k in kinds)
    if not (numbers or (dtype is not None and dtype.is_numeric())):
        return name, False, listed
    if not all(value is not None and isfinite(value) for value in listed):
        raise ValueError(f"{where} is a number and has missing or infinite values.")
    return name, True, listed
