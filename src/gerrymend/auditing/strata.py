"""Strata: rows that are alike in what may rightly matter, within which groups are compared.

With control features every row is compared with the rate of its own stratum s, not with the overall
rate: v_g = (1/n) Σ_{g ∩ E} w·(u − mean_{E ∩ s} u), the sum over strata of what an audit of each
alone would have, times its part of all rows. Residuals still sum to 0, in each stratum and in all,
so that nothing below changes; a group that is treated like everyone in each stratum has value 0,
however unevenly it is spread over them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.parts import part_of
from gerrymend.auditing.small_groups import may_be_described, too_few
from gerrymend.auditing.tally import NotionTally, Strata, Tally
from gerrymend.inputs.protected import Cells, Column, distinct_rows, read_columns
from gerrymend.inputs.sample import Sample
from gerrymend.inputs.settings import check_flag
from gerrymend.notions import AnyNotion, FairnessNotion, Moment, OutcomeNotion
from gerrymend.subgroups.rules import Members, category_label

# Rows a stratum, on average, below which there is next to nothing to compare within them: a rate of
# n rows takes 1/n of each row's difference for its own.
_FEWEST = 10


def read_strata(control_features: Any, n_rows: int) -> Cells:
    """Read control features, and number the strata: the distinct rows of their values.

    Parameters
    ----------
    control_features
        Columns in any container that protected attributes may be in.
    n_rows : int
        Rows of y_pred, which these must be as many as.

    Raises
    ------
    ArgumentError
        Where there are too many strata for the rows, or other than `n_rows` values.
    """
    columns = read_columns(control_features, "control_features")
    if len(columns[0].values) != n_rows:
        raise ArgumentError(
            "control_features",
            f"has {len(columns[0].values)} rows, and y_pred has {n_rows}. Rows are matched by "
            "position.",
        )
    return check_enough_rows(distinct_rows(columns), n_rows)


def check_enough_rows(strata: Cells, n_rows: int) -> Cells:
    """Return the strata, or raise an ArgumentError where there are too many for the rows."""
    if len(strata) > 1 and n_rows < _FEWEST * len(strata):
        names = " and ".join(column.name for column in strata.columns)
        raise ArgumentError(
            "control_features",
            f"makes {len(strata):,} strata of {n_rows:,} rows, by the values of {names}: next to "
            "nothing is left to compare within them. Cut numbers into a few ranges, or leave some "
            "out.",
        )
    return strata


def stratified(tally: Tally, strata: Cells) -> Tally:
    """Return the tally of rows that are at hand with its strata."""
    assert tally.rows is not None
    views = {name: stratified(view, strata) for name, view in tally.views.items()}
    classes = {label: stratified(table, strata) for label, table in tally.by_class.items()}
    alone = replace(tally, views={}, by_class={})
    parted = with_strata(alone, strata, partial(part_of, alone))
    rows = tally.rows._replace(stratum=strata.index)
    return replace(parted, views=views, by_class=classes, rows=rows)


def with_strata(tally: Tally, strata: Cells, part: Callable[[NDArray[np.bool_]], Tally]) -> Tally:
    """Return a tally with its strata; `part` sums the rows or entries of a mask, over all cells.

    Parameters
    ----------
    tally : Tally
        The sums over all strata.
    strata : Cells
        The stratum of each row or entry, in the order that `part` takes its mask in.
    part : callable
        All cells are kept, also those without rows, so that sums of strata add up by position.
    """
    parts = tuple(part(strata.index == number) for number in range(len(strata)))
    return replace(tally, strata=Strata(strata.columns, parts))


def tally_of_lines(
    cells: Cells,
    strata: Cells | None,
    y: NDArray[np.intp],
    n_rows: NDArray[np.int64],
    weight: Array,
    positive: Array,
    *,
    squared_weight: Array,
    n_counted: NDArray[np.int64] | None = None,
    spread: Sequence[Array] | None = None,
    ends: Callable[[Any], tuple[float, float]] | None = None,
    **same: Any,
) -> Tally:
    """Add up lines that each stand for many rows of one cell and label, in all and by stratum.

    The others of `Tally.of_sums` are the same for any lines; lines are along the last axis.

    Parameters
    ----------
    cells, strata : Cells
        The cell of each line, and its stratum; None where all are one.
    ends : callable, optional
        Of numbers, returns the range of the outcomes of some lines.
    """

    def summed(chosen: Any = slice(None)) -> Tally:
        return Tally.of_sums(
            Cells(cells.columns, cells.index[chosen]),
            y[chosen],
            n_rows[chosen],
            weight[..., chosen],
            positive[..., chosen],
            squared_weight=squared_weight[..., chosen],
            n_counted=None if n_counted is None else n_counted[chosen],
            spread=None if spread is None else [parts[..., chosen] for parts in spread],
            **same if ends is None else same | {"outcome_range": ends(chosen)},
        )

    return summed() if strata is None else with_strata(summed(), strata, summed)


def strata_of(sample: Sample, moments: Iterable[Moment], *, leave_out: bool) -> Cells | None:
    """Return the strata of rows that were read, for decisions that are yet to be made.

    Parameters
    ----------
    sample : Sample
        The rows, with their control features.
    moments : iterable of Moment
        What is to be compared within strata; `counts` are in the order of the rows.
    leave_out : bool
        Allow strata in which nobody with weight counts.

    Returns
    -------
    Cells or None
        None where there are no control features.

    Raises
    ------
    ArgumentError
        Where there are too many strata, or one has no row that a moment is over, unless those are
        to be left out.
    """
    if not sample.controls:
        return None
    n_rows = len(sample.weight)
    return checked_strata(sample.controls, moments, sample.weight, n_rows, leave_out=leave_out)


def checked_strata(
    controls: Sequence[Column],
    moments: Iterable[Moment],
    weight: Array,
    n_rows: int,
    *,
    leave_out: bool,
) -> Cells:
    """Return the strata of rows, or of sets of rows with the same control features.

    `n_rows` are rows in all. Raises as `strata_of` does.
    """
    strata = check_enough_rows(distinct_rows(controls), n_rows)
    for moment in () if leave_out else moments:
        counted = strata.index[moment.counts & (weight > 0)]
        empty = np.flatnonzero(np.bincount(counted, minlength=len(strata)) == 0)
        if empty.size:
            raise _empty_stratum(moment.rate, Strata(strata.columns, ()), int(empty[0]))
    return strata


def check_counted(tally: Tally, notions: tuple[AnyNotion, ...], *, leave_out: bool) -> None:
    """Raise an ArgumentError if a stratum has no row in the event of a notion, unless asked to.

    Without such a row there is no rate to compare with, and the stratum has no part in the sum.
    """
    if check_flag(leave_out, "leave_out_empty_strata") or tally.strata is None:
        return
    for notion in notions:
        view = tally.view(notion)
        assert view.strata is not None
        rate = notion.rate if isinstance(notion, OutcomeNotion) else notion
        event = np.asarray(rate.event, dtype=float)
        for number, part in enumerate(view.strata.parts):
            if not (event @ part.weight).any():
                raise _empty_stratum(rate, view.strata, number)


def _empty_stratum(rate: FairnessNotion, strata: Strata, number: int) -> ArgumentError:
    """Return the error for a stratum without a row that a rate is over."""
    return ArgumentError(
        "control_features",
        f"has a stratum without a row that the {rate.words} is over: "
        f"{stratum_words(strata, number)}. Merge it with another, or pass ",
        Argument("leave_out_empty_strata", value="True"),
        " to leave it out of the comparison.",
    )


def stratum_words(strata: Strata, number: int) -> str:
    """Return the values of a stratum, in words.

    >>> from gerrymend.inputs.protected import distinct_rows, read_columns
    >>> columns = distinct_rows(read_columns({"job": ["cook", "cook"], "years": [3, 4]})).columns
    >>> stratum_words(Strata(columns, ()), 1)
    'job = cook and years = 4'
    """
    return " and ".join(
        f"{name} = {f'{value:.15g}' if isinstance(value, float) else category_label(value)}"
        for name, value in strata.values(number).items()
    )


@dataclass(frozen=True)
class Stratum:
    """A stratum as a report shows it.

    Attributes
    ----------
    stratum : str
        Its values, in words.
    notion : str
        What is compared within it.
    rows : int
        Rows that the rate is over.
    rate : float
        The rate that rows of the stratum are compared with.
    """

    stratum: str
    notion: str
    rows: int
    rate: float

    def to_dict(self) -> dict[str, Any]:
        """Return the stratum as plain data."""
        return {
            "stratum": self.stratum,
            "notion": self.notion,
            "rows": self.rows,
            "rate": self.rate,
        }


@dataclass(frozen=True)
class EmptyStrata:
    """The strata that have no part in a comparison, as none of their rows is one that it is over.

    Attributes
    ----------
    notion : str
        What is compared.
    number : int
        How many these are.
    rows : int or None
        Rows in all of them together; None where that would tell of few.
    strata : tuple of str
        The values of each, in words, but for those that few rows have.
    """

    notion: str
    number: int
    rows: int | None
    strata: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the strata as plain data."""
        return {
            "notion": self.notion,
            "number": self.number,
            "rows": self.rows,
            "strata": list(self.strata),
        }


def empty_strata(
    seen: NotionTally, min_group_size: int, groups: Sequence[Members]
) -> EmptyStrata | None:
    """Return the strata that were left out of the comparison of one notion; None if none was.

    `groups` are those that the report shows, of any notion, given over all cells: beside them the
    number of rows must not tell of few.
    """
    strata = seen.tally.strata
    if strata is None:
        return None
    event = np.asarray(seen.notion.event, dtype=float)
    empty = [i for i, part in enumerate(strata.parts) if not (event @ part.weight).any()]
    if not empty:
        return None
    people = [strata.parts[i].n_rows.sum(axis=0) for i in empty]
    together = np.sum(people, axis=0, keepdims=True)
    everyone = seen.cells.n_rows
    tells = ~may_be_described(together.sum(), everyone.sum(), min_group_size)
    tells |= _telling(together, everyone, groups, min_group_size)[0]
    named = [
        stratum_words(strata, i)
        for i, rows in zip(empty, people, strict=True)
        if not too_few(rows.sum(), min_group_size)
    ]
    rows = None if tells else int(together.sum())
    return EmptyStrata(seen.notion.name, len(empty), rows, tuple(named))


def _telling(
    strata: NDArray[Any], rows: NDArray[np.intp], groups: Sequence[Members], min_group_size: int
) -> NDArray[np.bool_]:
    """Return which strata, by their rows in each cell, tell of few rows beside a group.

    Where one of two sets has the other in it, their difference follows from both; so it is with
    either and the complement of the other.

    Parameters
    ----------
    strata : array (strata, cells)
        Rows in the event.
    rows : array (cells,)
        The same of all strata.
    groups : sequence of masks (cells,)
        Each is a group that is shown.
    """
    telling = np.zeros(len(strata), dtype=bool)
    mine = strata.sum(axis=1)
    for members in groups:
        both = strata[:, members].sum(axis=1)
        theirs = rows[members].sum() - both
        parts = np.array([both, mine - both, theirs, rows.sum() - mine - theirs])
        # With one of the four parts empty the others follow.
        is_few = ((parts > 0) & (parts < min_group_size)).any(axis=0)
        telling |= is_few & ~parts.all(axis=0)
    return telling


def stratum_rates(
    seen: NotionTally, min_group_size: int, groups: Sequence[Members]
) -> tuple[tuple[Stratum, ...], int]:
    """Return the strata of one notion that may be shown, and how many may not be.

    One with fewer rows in the event than `min_group_size` is left out, and so is one that tells of
    so few beside one of the `groups` that the report shows, given over all cells. All strata add up
    to everyone, whose rate is shown: where those that are left out have too few rows together, the
    smallest of the others is left out as well. Those without any (`empty_strata`) are none of them.
    """
    strata = seen.tally.strata
    if strata is None:
        return (), 0
    event = np.asarray(seen.notion.event, dtype=float)
    counted = [part.n_rows if part.n_counted is None else part.n_counted for part in strata.parts]
    by_cell = np.array([event @ by_label for by_label in counted])
    rows = by_cell.sum(axis=1).astype(int)
    shown = ~too_few(rows, min_group_size)
    shown &= ~_telling(by_cell, seen.rows_of_cells, groups, min_group_size)
    there = rows > 0
    shown &= there
    while (hidden := there & ~shown).any() and shown.any():
        if not too_few(rows[hidden].sum(), min_group_size):
            break
        shown[np.flatnonzero(shown)[np.argmin(rows[shown])]] = False
    found = []
    for number in np.flatnonzero(shown).tolist():
        part = NotionTally.of(seen.notion, strata.parts[number])
        rate = float(part.outcomes.sum() / part.cells.mass.sum())
        words = stratum_words(strata, number)
        found.append(Stratum(words, seen.notion.name, int(rows[number]), rate))
    return tuple(found), int(hidden.sum())
