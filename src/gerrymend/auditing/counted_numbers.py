"""Tables of numbers that were counted, or summed, before they came here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, exact_parts
from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.outcome_tables import tally_of_outcomes
from gerrymend.auditing.strata import stratified, tally_of_lines
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import Cells, Column, distinct_rows, take_rows
from gerrymend.inputs.sample import Numbers
from gerrymend.notions import AnyNotion, OutcomeNotion

# Rows that are written out, at 50 bytes or so each.
MOST_ROWS = 10_000_000
# Rounding of sums of squares, beside which they may be less than can be.
_ROUNDING = 1e-9


def tally_of_counted(
    lines: Numbers,
    n_rows: NDArray[np.int64],
    strata: Cells | None,
    notions: Sequence[OutcomeNotion],
) -> Tally:
    """Return the table of lines that count equal rows, which are written out.

    Numbers have many values, so that a table of their counts is not much shorter than the rows.

    Parameters
    ----------
    lines : Numbers
        One row for each line; its weights are not read, as every row weighs 1.
    n_rows : array (lines,) of int
        How many rows each line stands for.
    strata : Cells or None
        The stratum of each line, where groups are compared within strata.
    notions : sequence of OutcomeNotion
        One at least.

    Raises
    ------
    ArgumentError
        For more than `MOST_ROWS` rows in all.

    Examples
    --------
    >>> from gerrymend.notions import MEAN_OUTCOME
    >>> lines = Numbers.read(None, [3, 4.5], {"town": ["Au", "Ulm"]})
    >>> tally_of_counted(lines, np.array([2, 1]), None, [MEAN_OUTCOME]).positive[1].tolist()
    [6.0, 4.5]
    """
    if n_rows.sum() > MOST_ROWS:
        raise ArgumentError(
            "count",
            f"adds up to {int(n_rows.sum()):,} rows, and numbers are compared of {MOST_ROWS:,} at "
            "most by their counts. Sum them by protected values (total, squares), or audit a lazy "
            "frame of the rows.",
        )
    number = np.repeat(np.arange(len(n_rows)), n_rows)
    rows = Numbers(
        None if lines.y is None else lines.y[number],
        lines.p[number],
        take_rows(lines.columns, number),
        np.ones(len(number)),
    )
    tally = tally_of_outcomes(rows, notions)
    if strata is None:
        return tally
    return stratified(tally, Cells(strata.columns, strata.index[number]))


def check_summed(total: Any, squares: Any, notions: Sequence[AnyNotion]) -> None:
    """Raise an ArgumentError unless the sums given are all that one mean of numbers takes.

    Parameters
    ----------
    total, squares
        The arguments of these names, of which one at least was given; only None is looked for.
    notions : sequence of notions
        There must be one, an OutcomeNotion without an event: sums over all rows of a line don't
        tell those over the rows of an event.
    """
    for argument, given, other in (("total", total, "squares"), ("squares", squares, "total")):
        if given is None:
            raise ArgumentError(
                argument,
                f"is None, and {other} is given: a mean and how it varies take the sum of the "
                "outcomes and that of their squares. Name both columns.",
            )
    notion = notions[0]
    if len(notions) > 1 or not isinstance(notion, OutcomeNotion) or notion.event is not None:
        raise ArgumentError(
            "total",
            "is the sum of one outcome over all rows of a line, for one mean of numbers without an "
            "event of its own (notion='mean_outcome', for example); got "
            f"{', '.join(one.name for one in notions)}.",
        )


def tally_of_summed(
    columns: Sequence[Column],
    n_rows: NDArray[np.int64],
    total: Array,
    squares: Array,
    strata: Cells | None,
    notion: OutcomeNotion,
) -> Tally:
    """Return the table of lines with the sums of their rows' outcomes, and of their squares.

    The range of the outcomes is not known.

    Parameters
    ----------
    columns : sequence of Column
        The protected values of each line; several lines may have the same.
    n_rows : array (lines,) of int
        How many rows were summed, one at least.
    total, squares : arrays (lines,)
        Σ u and Σ u², in the unit of the outcome and in its square.
    strata : Cells or None
        The stratum of each line.
    notion : OutcomeNotion
        The one whose outcomes these are.

    Raises
    ------
    ArgumentError
        If squares are less than any numbers with this total have.

    Examples
    --------
    >>> from gerrymend.inputs.protected import read_columns
    >>> from gerrymend.notions import MEAN_OUTCOME
    >>> columns = read_columns({"town": ["Au", "Ulm"]})
    >>> sums = np.array([2, 1]), np.array([6.0, 4.5]), np.array([20.0, 20.25])
    >>> tally = tally_of_summed(columns, *sums, None, MEAN_OUTCOME)
    >>> tally.centre, tally.spread[1, 1].tolist()
    (3.5, [2.5, 1.0])
    """
    mean = total / n_rows
    # Σ u² = Σ (u − mean)² + n·mean², by line: the first is not negative.
    within = squares - n_rows * mean**2
    wrong = within < -_ROUNDING * squares
    if wrong.any():
        line = int(np.flatnonzero(wrong)[0])
        raise ArgumentError(
            "squares",
            f"has {squares[line]:g} where {int(n_rows[line]):,} rows have a total of "
            f"{total[line]:g}: their squares add up to {n_rows[line] * mean[line] ** 2:g} or more. "
            "It is the sum of squared outcomes, not of squared differences, nor their mean.",
        )
    centre = float(total.sum() / n_rows.sum())
    away = mean - centre
    spread = [n_rows * away, np.maximum(within, 0.0) + n_rows * away**2]
    weight = n_rows.astype(np.float64)

    def parts(values: Array) -> Array:
        """Return parts of sums that add up without a further error."""
        return np.array([*exact_parts(values), np.zeros(len(values))])

    tally = tally_of_lines(
        distinct_rows(tuple(columns)),
        strata,
        np.ones(len(n_rows), dtype=np.intp),
        n_rows,
        weight,
        parts(total),
        squared_weight=weight,
        spread=[*map(parts, spread)],
        is_count=False,
        labels=(None, None),
        is_labelled=False,
        centre=centre,
        outcome_range=(-np.inf, np.inf),
    )
    return replace(tally, views={notion.name: tally})
