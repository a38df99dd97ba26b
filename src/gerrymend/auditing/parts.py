"""Parts of a tally: some of its rows, or the cells that have any."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend.auditing.outcome_tables import with_outcomes, with_scores
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import Cells, take_rows


def part_of(tally: Tally, chosen: NDArray[np.bool_]) -> Tally:
    """Return the tally of some of the rows, which are at hand, over all cells."""
    assert tally.rows is not None
    rows = tally.rows
    cells = Cells(tally.columns, rows.cell[chosen])
    y, p, weight = rows.y[chosen], rows.p[chosen], rows.weight[chosen]
    decided = p if tally.spread is None else np.zeros(len(p))
    taken = Tally.of_rows(cells, y, decided, weight, tally.labels, tally.is_labelled)
    if tally.spread is not None:
        taken = with_outcomes(taken, p)
    if rows.score is not None:
        taken = with_scores(taken, rows.score[chosen])
    views = {name: part_of(replace(view, views={}), chosen) for name, view in tally.views.items()}
    classes = {label: part_of(table, chosen) for label, table in tally.by_class.items()}
    taken = replace(taken, views=views, by_class=classes)
    if tally.strata is None or rows.stratum is None:
        return taken
    alone = replace(tally, views={}, strata=None, by_class={})
    numbers = range(len(tally.strata.parts))
    parts = tuple(part_of(alone, chosen & (rows.stratum == number)) for number in numbers)
    assert taken.rows is not None
    kept = taken.rows._replace(stratum=rows.stratum[chosen])
    return replace(taken, rows=kept, strata=replace(tally.strata, parts=parts))


def within(tally: Tally, there: NDArray[np.bool_]) -> Tally:
    """Return the same table without the other cells, which have no rows."""
    rows = tally.rows
    lines = tally.lines
    number = np.cumsum(there) - 1
    if rows is not None:
        rows = rows._replace(cell=number[rows.cell])
    if lines is not None:
        lines = lines._replace(rows=lines.rows._replace(cell=number[lines.rows.cell]))
    strata = tally.strata
    if strata is not None:
        strata = replace(strata, parts=tuple(within(part, there) for part in strata.parts))

    def kept(sums: Any) -> Any:
        return None if sums is None else sums[..., there]

    return replace(
        tally,
        columns=take_rows(tally.columns, there),
        n_rows=kept(tally.n_rows),
        weight=kept(tally.weight),
        positive=kept(tally.positive),
        squared_weight=kept(tally.squared_weight),
        n_counted=kept(tally.n_counted),
        spread=kept(tally.spread),
        predicted=kept(tally.predicted),
        rows=rows,
        lines=lines,
        views={name: within(view, there) for name, view in tally.views.items()},
        strata=strata,
        by_class={label: within(table, there) for label, table in tally.by_class.items()},
    )


def compacted(tally: Tally) -> Tally:
    """Return the table over the cells that have rows."""
    return within(tally, tally.n_rows.sum(axis=0) > 0)
