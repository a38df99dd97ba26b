"""Tables of numbers: sums of outcomes by cell, and how they are spread around their mean."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gerrymend._numeric.sums import (
    Array,
    add_parts,
    grid_shifts,
    parts_by_key,
    total,
    total_by_cell,
)
from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.inputs.sample import Numbers
from gerrymend.inputs.scores import Scores
from gerrymend.notions import Multiaccuracy, OutcomeNotion


def tally_of_outcomes(numbers: Numbers, notions: Iterable[OutcomeNotion]) -> Tally:
    """Sum the outcomes of each notion by cell; the first is the table itself.

    Parameters
    ----------
    numbers : Numbers
        The rows, as they were read.
    notions : iterable of OutcomeNotion
        One at least. Those without an event count the same rows, which are tallied once for all.

    Returns
    -------
    Tally
        With a table for each notion in `views`, by its name. Rows that count have label 1.

    Examples
    --------
    >>> from gerrymend.notions import MEAN_OUTCOME
    >>> rows = Numbers.read(None, [3, 4.5, 1], {"town": ["Au", "Ulm", "Au"]})
    >>> tally = tally_of_outcomes(rows, [MEAN_OUTCOME])
    >>> tally.positive[1].tolist(), tally.outcome_range
    ([4.0, 4.5], (1.0, 4.5))
    """
    cells = distinct_rows(numbers.columns)
    views: dict[str, Tally] = {}
    tables: dict[bool, Tally] = {}
    for notion in notions:
        counts = notion.counts(numbers.y, numbers.p)
        # A row that doesn't count has no outcome, whatever the function makes of it.
        u = np.where(counts, notion.outcomes(numbers.y, numbers.p, counts), 0.0)
        everyone = notion.event is None  # the same rows for all such notions, weights and all
        table = tables.get(everyone) if everyone else None
        if table is None:
            y = counts.astype(np.intp)
            nothing = np.zeros(len(u))
            labelled = numbers.y is not None
            table = Tally.of_rows(cells, y, nothing, numbers.weight, (None, None), labelled)
            tables[everyone] = table
        views[notion.name] = with_outcomes(table, u)
    return replace(next(iter(views.values())), views=views)


def with_outcomes(tally: Tally, u: Array) -> Tally:
    """Return the table of rows at hand with these outcomes, which are 0 where a row doesn't count.

    Label 1 says that it does.

    Parameters
    ----------
    tally : Tally
        Of any decisions; these are replaced.
    u : array (rows,)
        One outcome a row, in the order of `tally.rows`.

    Returns
    -------
    Tally
        Its `centre` is the mean outcome of the rows that count, 0 where these have no weight.
    """
    assert tally.rows is not None
    rows = tally.rows
    m = tally.weight.shape[1]
    key = rows.cell + m * rows.y
    counts = rows.y == 1
    # Sums of parts have no error, so that neither the order of the rows nor their cells show.
    sums = parts_by_key(key, rows.weight * u, 2 * m)
    mass = total(rows.weight * counts)
    centre = math.fsum(np.concatenate([np.zeros(1), *sums])) / mass if mass else 0.0
    outcomes = u[counts]
    ends = float(outcomes.min(initial=np.inf)), float(outcomes.max(initial=-np.inf))
    grids = spread_shifts(len(u), float(rows.weight.max()), centre, ends)
    away = np.where(counts, u - centre, 0.0)
    first = rows.weight**2 * away
    spread = [
        total_by_cell(key, values, 2 * m, shifts).reshape(2, m)
        for values, shifts in zip((first, first * away), grids, strict=True)
    ]
    return replace(
        tally,
        positive=add_parts(sums, 2 * m).reshape(2, m),
        is_count=False,
        rows=rows._replace(p=u),
        spread=np.array(spread),
        centre=centre,
        outcome_range=ends,
    )


def tally_of_scores(scores: Scores, notion: Multiaccuracy, score: Column | None) -> Tally:
    """Sum the errors of scores by cell, and the scores.

    Parameters
    ----------
    scores : Scores
        The rows, as they were read.
    notion : Multiaccuracy
        What they are compared by.
    score : Column or None
        The score in bins, one more column of the cells; None where its intervals don't matter.

    Examples
    --------
    >>> from gerrymend.notions import Multiaccuracy
    >>> read = Scores.read([0, 1, 1], [0.25, 0.5, 0.5], {"town": ["Au", "Ulm", "Au"]})
    >>> tally = tally_of_scores(read, Multiaccuracy(), None)
    >>> tally.positive[1].tolist(), tally.predicted[1].tolist()
    ([0.25, 0.5], [0.75, 0.5])
    """
    rows = scores.rows
    columns = rows.columns if score is None else (*rows.columns, score)
    tally = with_scores(tally_of_outcomes(replace(rows, columns=columns), [notion]), rows.p)
    tally = replace(tally, labels=scores.labels, views={})
    return replace(tally, views={notion.name: tally})


def with_scores(tally: Tally, score: Array) -> Tally:
    """Return the table of rows at hand, with the sums of their scores."""
    assert tally.rows is not None
    rows = tally.rows
    m = tally.weight.shape[1]
    sums = total_by_cell(rows.cell + m * rows.y, rows.weight * score, 2 * m)
    return replace(tally, rows=rows._replace(score=score), predicted=sums.reshape(2, m))


def spread_shifts(
    n_rows: int, heaviest: float, centre: float, outcome_range: tuple[float, float]
) -> tuple[list[float], list[float]]:
    """Return the grids on which w²·(u − c) and w²·(u − c)² are summed, wherever the rows are.

    Intervals need no more than the digits above 2⁻⁸⁰ of what is largest: three grids, or four.

    Parameters
    ----------
    n_rows : int
        How many terms a sum may have.
    heaviest : float
        The largest weight.
    centre : float
        c, the mean outcome.
    outcome_range : pair of float
        The least and the largest outcome of the rows that count; (∞, −∞) where none does.

    Raises
    ------
    ArgumentError
        Where the sums of squares would overflow.
    """
    low, high = outcome_range
    widest = max(high - centre, centre - low, 0.0)
    largest = heaviest * widest
    # A grid reaches four times as far as the largest sum.
    if not math.isfinite(4 * n_rows * largest * largest):
        raise ArgumentError(
            "sample_weight",
            f"is up to {heaviest:g}, and outcomes are up to {widest:g} from their mean: the sums "
            "of their squares overflow. Give either in a larger unit.",
        )
    first, second = (
        grid_shifts(n_rows, power, power * 2.0**-28)
        for power in (heaviest * largest, largest * largest)
    )
    return first, second
