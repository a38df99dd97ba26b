"""Summing of numbers in a lazy frame by its own engine: only sums by protected values travel.

There are three queries. The first has extremes, on which all is checked that audit() checks of its
rows; the second the sums of outcomes, for their means; the third groups by the protected values,
and has squared distances from these means too. All group by the events of the notions, so that a
line counts as a whole or not at all; where all rows count that is one line. Sums are made on grids,
as in `from_engine`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import grid_shifts, modest_scale
from gerrymend.auditing.formulas import formulas_of
from gerrymend.auditing.from_engine import check_extreme_weights, numbers_of, parts_of
from gerrymend.auditing.lazy_exact import check_exact
from gerrymend.auditing.lazy_rows import (
    ChosenColumns,
    as_numbers,
    check_none_of,
    in_parts,
    missing,
)
from gerrymend.auditing.outcome_tables import spread_shifts
from gerrymend.auditing.strata import check_enough_rows, tally_of_lines
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.numbers import LARGEST, LARGEST_WHOLE
from gerrymend.inputs.protected import Cells, distinct_rows, read_columns
from gerrymend.inputs.sample import too_large
from gerrymend.inputs.validation import as_vector, check_column
from gerrymend.notions import OutcomeNotion

Lines: TypeAlias = "nw.DataFrame[Any]"


def numbers_of_lazy(
    data: Any,
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    control_features: Any,
    notions: Sequence[OutcomeNotion],
) -> Tally | None:
    """Sum the outcomes of each notion where they live; return None if one is no formula.

    The arguments are those of audit(), with the names of columns for the arrays.

    Parameters
    ----------
    data : lazy frame
        Any that narwhals takes. Its rows stay where they are.
    y_true, sample_weight : str or None
        None where rows have no labels, and where each of them weighs 1.
    y_pred : str
        The column of the numbers that were predicted.
    sensitive_features, control_features : str or several
        The columns that make cells, and those that make strata; None for no strata.
    notions : sequence of OutcomeNotion
        One at least; all of them are summed by the same queries.

    Returns
    -------
    Tally or None
        The table of the first notion; `views` has that of each. The rows are not at hand.

    Examples
    --------
    >>> import polars as pl
    >>> from gerrymend.notions import MEAN_OUTCOME
    >>> waits = pl.LazyFrame({"town": ["Au", "Ulm", "Au"], "days": [3.5, 4.0, 1.0]})
    >>> tally = numbers_of_lazy(waits, None, "days", "town", None, None, [MEAN_OUTCOME])
    >>> tally.n_rows[1].tolist(), tally.positive[1].tolist()
    ([2, 1], [4.5, 4.0])
    """
    rows = LazyNumbers.of(
        data, y_true, y_pred, sensitive_features, sample_weight, control_features, notions
    )
    if rows is None:
        return None
    extremes = rows.extremes()
    rows.check(extremes)
    scale = modest_scale(extremes.heaviest)
    if scale != 1.0:  # as `check_weights` scales them: only extreme weights take another query
        rows = rows.scaled(scale)
        extremes = rows.extremes()
    centres = rows.means(extremes)
    lines = rows.sums(extremes, centres)
    read = read_columns({name: lines[key] for name, key in rows.attributes.items()})
    cells = distinct_rows(read)
    strata = None
    if rows.controls:
        control = {name: lines[key] for name, key in rows.controls.items()}
        strata = distinct_rows(read_columns(control, "control_features"))
        check_enough_rows(strata, extremes.n_rows)
    views = {
        outcome.notion.name: _view(lines, cells, strata, outcome, centre, y_true is not None)
        for outcome, centre in zip(rows.outcomes, centres, strict=True)
    }
    return replace(next(iter(views.values())), views=views)


class LazyOutcome(NamedTuple):
    """A notion with the names of its columns: its outcome, and its event unless all rows count."""

    notion: OutcomeNotion
    name: str
    event: str | None

    @property
    def product(self) -> str:
        """The name of the column of w·u."""
        return f"product_{self.name}"

    @property
    def spread(self) -> tuple[str, str]:
        """The names of the columns of w²·(u − c) and w²·(u − c)²."""
        return f"first_{self.name}", f"second_{self.name}"

    def counts(self, lines: Lines) -> NDArray[np.bool_]:
        """Return a mask of the lines that count."""
        if self.event is None:
            return np.ones(len(lines), dtype=bool)
        return np.asarray(lines[self.event].to_numpy(), dtype=bool)

    def ends(self, lines: Lines, chosen: Any = slice(None)) -> tuple[float, float]:
        """Return the least and the largest outcome of the lines that count, of those chosen.

        These are ∞ and −∞ where none counts.
        """
        counts = self.counts(lines)[chosen]
        low, high = (numbers_of(lines[f"{self.name}_{end}"])[chosen] for end in ("min", "max"))
        return float(low[counts].min(initial=np.inf)), float(high[counts].max(initial=-np.inf))


class Extremes(NamedTuple):
    """Hold the result of the first query."""

    lines: Lines

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(numbers_of(self.lines["n"]).sum())

    @property
    def heaviest(self) -> float:
        """The largest weight."""
        return float(numbers_of(self.lines["weight_max"]).max(initial=0.0))

    def shifts(self, name: str, power: int = 1, chosen: Any = slice(None)) -> list[float]:
        """Return the shifts that put the parts of a column, or of its powers, on their grids.

        Parameters
        ----------
        name : str
            A column of numbers of at least 0, with its least positive and its largest one.
        power : int, default=1
            2 for the grids of its squares.
        chosen : mask of lines, optional
            The lines that are summed, if not all are.
        """
        least = numbers_of(self.lines[f"{name}_least"])[chosen]
        largest = float(numbers_of(self.lines[f"{name}_max"])[chosen].max(initial=0.0))
        # From 0 on powers keep the order: the extremes of squares are squares of extremes.
        smallest = float(np.min(least[least > 0], initial=np.inf))
        return grid_shifts(self.n_rows, largest**power, smallest**power)


@dataclass(frozen=True, eq=False)
class LazyNumbers:
    """Hold the query of the columns that an audit of numbers needs, under names of our own.

    They are those of the arguments `given`, as `true` and `predicted`, whether each is missing, and
    each with its own type; `weight`; and those of the `outcomes`.

    Attributes
    ----------
    frame : narwhals.LazyFrame
        The query; nothing of it has run.
    attributes, controls : mappings of str to str
        The names in `frame` of the protected attributes and control features, by the user's names.
    given : mapping of str to str
        The argument behind `predicted` and, where there are labels, `true`.
    outcomes : sequence of LazyOutcome
        One for each notion, in their order.
    weighted : bool
        Whether weights were given; if not, `weight` is 1 in all rows.
    """

    frame: "nw.LazyFrame[Any]"
    attributes: Mapping[str, str]
    controls: Mapping[str, str]
    given: Mapping[str, str]
    outcomes: Sequence[LazyOutcome]
    weighted: bool

    @classmethod
    def of(
        cls,
        data: Any,
        y_true: Any,
        y_pred: Any,
        sensitive_features: Any,
        sample_weight: Any,
        control_features: Any,
        notions: Sequence[OutcomeNotion],
    ) -> "LazyNumbers | None":
        """Choose the columns of an audit; raise an error that names one that can't be used.

        Returns None if an outcome is no formula.
        """
        columns = ChosenColumns.of(data, sensitive_features, sample_weight, control_features)
        schema = columns.schema
        chosen = {}
        given = {"true": "y_true", "predicted": "y_pred"}
        if y_true is None:
            given.pop("true")
        for key, argument in given.items():
            name = check_column(y_true if key == "true" else y_pred, argument, schema, "data")
            chosen[key] = as_numbers(name, schema[name], argument)
            chosen[f"{key}_missing"] = missing(name, schema[name])
            chosen[f"{key}_given"] = nw.col(name)
        frame = columns.select(chosen)
        if not columns.weighted:
            frame = frame.with_columns(weight=nw.lit(1.0))
        numbers = nw.col("true") if "true" in given else None, nw.col("predicted")
        outcomes = []
        made = {}
        for number, notion in enumerate(notions):
            formulas = formulas_of(notion, *numbers)
            if formulas is None:
                return None
            outcome = LazyOutcome(
                notion, f"outcome_{number}", f"event_{number}" if notion.event else None
            )
            made[outcome.name], event = formulas
            if outcome.event is not None and event is not None:
                made[outcome.event] = event
            outcomes.append(outcome)
        frame = frame.with_columns(**made)
        made_of = columns.attributes, columns.controls
        return cls(frame, *made_of, given, outcomes, columns.weighted)

    def scaled(self, scale: float) -> "LazyNumbers":
        """Multiply the weights by a power of two."""
        return replace(self, frame=self.frame.with_columns(weight=nw.col("weight") * scale))

    def extremes(self) -> Extremes:
        """Run the first query: what is to be checked, and what grids depend on."""
        rows = self.frame
        wanted = [nw.len().alias("n"), nw.col("weight").min().alias("weight_min")]
        if self.weighted:
            wanted.append(nw.col("weight_missing").sum())
        made = {}
        for key in self.given:
            made[f"{key}_wrong"] = (~(nw.col(key).abs() <= LARGEST)).cast(nw.Int64)
            wanted += [nw.col(f"{key}_{what}").sum() for what in ("missing", "wrong")]
            wanted += _ends(key)
        for outcome in self.outcomes:
            made[outcome.product] = (nw.col("weight") * nw.col(outcome.name)).abs()
            wanted += _ends(outcome.name)
        rows = rows.with_columns(**made)
        sizes = ["weight", *(outcome.product for outcome in self.outcomes)]
        # Grids depend on the least positive number, and min() over all would find the zeros.
        rows = rows.with_columns(
            **{f"{name}_some": nw.when(nw.col(name) > 0).then(nw.col(name)) for name in sizes}
        )
        for name in sizes:
            wanted += [nw.col(name).max().alias(f"{name}_max"),
                       nw.col(f"{name}_some").min().alias(f"{name}_least")]  # fmt: skip
        return Extremes(self._grouped(rows, (), wanted))

    def check(self, extremes: Extremes) -> None:
        """Raise what audit() would raise for the rows."""
        lines = extremes.lines
        for key, argument in self.given.items():
            if not extremes.n_rows:
                as_vector([], argument)  # which says that there are none
            n_missing = int(numbers_of(lines[f"{key}_missing"]).sum())
            check_none_of(self.frame, nw.col(f"{key}_missing"), n_missing, argument)
            ends = np.concatenate([numbers_of(lines[f"{key}_{end}"]) for end in ("min", "max")])
            if wrong := int(numbers_of(lines[f"{key}_wrong"]).sum()):
                raise too_large(wrong, float(max(ends, key=abs)), argument)
            # Whole numbers up to 2⁵³ are exact; decimals of any size may have too many places.
            given = self.frame.collect_schema()[f"{key}_given"]
            if np.abs(ends).max() >= LARGEST_WHOLE or isinstance(given, nw.Decimal):
                check_exact(self.frame, f"{key}_given", argument)
        if self.weighted:
            check_extreme_weights(lines)

    def means(self, extremes: Extremes) -> list[float]:
        """Check the range of each outcome, and run the second query: their means."""
        for outcome in self.outcomes:
            if outcome.counts(extremes.lines).any():
                outcome.notion.check_outcomes(*outcome.ends(extremes.lines))
        lines = self._sums(extremes)
        means = []
        for outcome in self.outcomes:
            counts = outcome.counts(lines)
            product, weight = (
                math.fsum(parts_of(lines, name)[:, counts].ravel())
                for name in (outcome.product, "weight")
            )
            means.append(product / weight if weight else 0.0)
        return means

    def sums(self, extremes: Extremes, centres: Sequence[float]) -> Lines:
        """Run the third query: all sums by protected values and strata."""
        return self._sums(extremes, [*self.attributes.values(), *self.controls.values()], centres)

    def _sums(
        self, extremes: Extremes, keys: Sequence[str] = (), centres: Sequence[float] = ()
    ) -> Lines:
        """Sum weights and outcomes, and squared distances from `centres` where these are known.

        Parameters
        ----------
        extremes : Extremes
            The result of the first query, for the grids that numbers are summed on.
        keys : sequence of str
            Columns to group by, beside the events.
        centres : sequence of float
            The mean of each outcome; with none, squared weights are not summed either.
        """
        weight = nw.col("weight")
        made = {"square": weight * weight, "counted": (weight > 0).cast(nw.Int64)}
        wanted = [nw.len().alias("n"), nw.col("counted").sum()]
        shifts = {"weight": extremes.shifts("weight")}
        for outcome in self.outcomes:
            made[outcome.product] = weight * nw.col(outcome.name)
            counts = outcome.counts(extremes.lines)
            shifts[outcome.product] = extremes.shifts(outcome.product, chosen=counts)
        if centres:
            shifts["square"] = extremes.shifts("weight", 2)
        for outcome, centre in zip(self.outcomes, centres, strict=False):
            away = nw.col(outcome.name) - centre
            first, second = outcome.spread
            made[first] = weight * weight * away
            made[second] = weight * weight * away * away
            ends = outcome.ends(extremes.lines)
            grids = spread_shifts(extremes.n_rows, extremes.heaviest, centre, ends)
            shifts |= dict(zip(outcome.spread, grids, strict=True))
            wanted += _ends(outcome.name)
        rows, sums = in_parts(self.frame.with_columns(**made), shifts)
        return self._grouped(rows, keys, wanted + sums)

    def _grouped(
        self, rows: "nw.LazyFrame[Any]", keys: Iterable[str], wanted: Iterable[nw.Expr]
    ) -> Lines:
        """Return a line for each combination of keys and events."""
        by = [*keys, *(outcome.event for outcome in self.outcomes if outcome.event)]
        return (rows.group_by(by).agg(*wanted) if by else rows.select(*wanted)).collect()


def _ends(name: str) -> list[nw.Expr]:
    """Return the least and the largest value of a column."""
    return [nw.col(name).min().alias(f"{name}_min"), nw.col(name).max().alias(f"{name}_max")]


def _view(
    lines: Lines,
    cells: Cells,
    strata: Cells | None,
    outcome: LazyOutcome,
    centre: float,
    is_labelled: bool,
) -> Tally:
    """Return the table of one notion, given the lines of the third query."""
    y = outcome.counts(lines).astype(np.intp)
    n_rows, n_counted = (numbers_of(lines[name]).astype(np.int64) for name in ("n", "counted"))
    weight, square, *of_outcome = (
        parts_of(lines, name) for name in ("weight", "square", outcome.product, *outcome.spread)
    )
    # A row that doesn't count has no outcome, whatever the formula makes of it.
    positive, *spread = (np.where(y == 1, parts, 0.0) for parts in of_outcome)
    return tally_of_lines(
        cells,
        strata,
        y,
        n_rows,
        weight,
        positive,
        squared_weight=square,
        n_counted=n_counted,
        spread=spread,
        ends=partial(outcome.ends, lines),
        is_count=False,
        labels=(None, None),
        is_labelled=is_labelled,
        centre=centre,
    )
