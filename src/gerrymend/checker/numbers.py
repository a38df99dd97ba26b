"""Rows of numbers, summed without rounding: the tables of means, one for each notion.

The outcomes of the notions that have a name are worked out in fractions; those of a notion of one's
own are what its function makes of the numbers, in float64.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from gerrymend.checker.arguments import check_lengths, read_columns, read_vector, read_weights
from gerrymend.checker.exact import ZERO, Table, exact, summed, weigh, with_strata
from gerrymend.checker.plain import is_finite, shown_value

NAMED = ("mean_outcome", "mean_error", "absolute_error", "squared_error")


def read_numbers(
    names: Sequence[str],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    own: Iterable[Any] = (),
    control_features: Any = None,
) -> Table:
    """Read the arguments of an audit of numbers; the first notion's table, with all as `views`.

    Parameters
    ----------
    names : sequence of str
        The notions that the report is about.
    y_true, y_pred, sensitive_features, sample_weight, control_features
        As they were passed to `audit()`.
    own : iterable of OutcomeNotion
        Those of one's own among them. Raises a ValueError for a name that is neither.
    """
    predicted = finite_numbers(y_pred, "y_pred")
    true = None if y_true is None else finite_numbers(y_true, "y_true")
    columns = read_columns(sensitive_features)
    given = read_weights(sample_weight, len(predicted))
    check_lengths(columns, y_pred=predicted, sample_weight=given, y_true=true)
    cells = list(zip(*(values for _, values in columns.values()), strict=True))
    places = list(dict.fromkeys(cells))

    def make(some: list[Any]) -> Table:
        """Sum some of the rows, over the cells of all."""
        return summed_numbers(columns, places, some, is_labelled=true is not None)

    by_name = {notion.name: notion for notion in own}
    views = {}
    for name in names:
        that_count, outcomes = _outcomes(name, true, predicted, by_name)
        rows = list(zip(cells, map(int, that_count), outcomes, given, strict=True))
        views[name] = with_strata(make(rows), control_features, rows, make)
    return replace(next(iter(views.values())), views=views)


def finite_numbers(values: Any, argument: str) -> list[Fraction]:
    """Return finite numbers as fractions."""
    listed = read_vector(values, argument)
    for value in listed:
        if not is_finite(value):
            raise ValueError(
                f"{argument} has the value {shown_value(value)}, and the notions of the report are "
                "means of finite numbers."
            )
    return [exact(value) for value in listed]


def _outcomes(
    name: str, true: list[Fraction] | None, predicted: list[Fraction], own: Mapping[str, Any]
) -> tuple[list[bool], list[Fraction]]:
    """Return which rows count, and the outcome of each."""
    everyone = [True] * len(predicted)
    if name in own:
        y = None if true is None else np.array(true, dtype=float)
        p = np.array(predicted, dtype=float)
        notion = own[name]
        counts = everyone if notion.event is None else np.asarray(notion.event(y, p)).tolist()
        made = np.asarray(notion.outcome(y, p), dtype=float).tolist()
        # A row that doesn't count may have any outcome, also NaN, of which there is no fraction.
        return counts, [exact(u) if c else ZERO for c, u in zip(counts, made, strict=True)]
    if name not in NAMED:
        raise ValueError(
            f"{name!r}, a notion of the report, is none that has a name here: pass it as notion, "
            "as it was passed to audit()."
        )
    if name == "mean_outcome":
        return everyone, predicted
    if true is None:
        raise ValueError(f"y_true is None, and the report is about the {name}.")
    errors = [y - p for y, p in zip(true, predicted, strict=True)]
    if name == "mean_error":
        return everyone, errors
    if name == "absolute_error":
        return everyone, list(map(abs, errors))
    return everyone, [error**2 for error in errors]


def summed_numbers(
    columns: dict[str, tuple[bool, list[Any]]],
    cells: list[Any],
    rows: list[tuple[Any, int, Fraction, Any]],
    *,
    is_labelled: bool,
) -> Table:
    """Return the table of one notion: label 1 for rows that count, and outcomes as decisions."""
    counted = Counter(rows)
    table = summed(columns, counted, (None, None), cells, outcome_of=lambda outcome: outcome)
    place = {cell: i for i, cell in enumerate(cells)}
    # The variance of a weighted mean r needs Σ w²·(u − r)² = Σ w²u² − 2r·Σ w²u + r²·Σ w²: here are
    # the first two sums, and the table has the third.
    spread = [[[ZERO, ZERO], [ZERO, ZERO]] for _ in place]
    for (cell, y, u, w), count in counted.items():
        square = weigh(w) ** 2 * count
        spread[place[cell]][y][0] += square * u
        spread[place[cell]][y][1] += square * u**2
    that_count = [u for _, counts, u, _ in counted if counts] or [ZERO]
    return replace(
        table,
        is_labelled=is_labelled,
        spread=spread,
        ends=(min(that_count), max(that_count)),
    )
