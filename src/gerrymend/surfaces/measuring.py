"""discrimination_surface(): from decisions, by way of sums by cell, to a surface of half-planes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.from_rows import Given, read_tally
from gerrymend.auditing.small_groups import (
    MIN_GROUP_SIZE,
    check_min_group_size,
    identifies,
    may_be_described,
    too_few,
)
from gerrymend.auditing.strata import check_counted, stratum_words
from gerrymend.auditing.tally import NotionTally, Tally
from gerrymend.inputs.protected import Cells, Column, take_rows
from gerrymend.inputs.sample import Decided
from gerrymend.inputs.settings import check_flag
from gerrymend.notions import FairnessNotion, NotionLike, as_rates
from gerrymend.surfaces.half_planes import HalfPlanes, cells_of_two
from gerrymend.surfaces.surface import DiscriminationSurface, SurfaceRound


def discrimination_surface(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    attributes: Any = None,
    notion: NotionLike = "false_positive_rate",
    thetas: Sequence[float] | None = None,
    standardize: bool = True,
    min_group_size: int = MIN_GROUP_SIZE,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    sample_weight: Any = None,
    data: Any = None,
    control_features: Any = None,
    leave_out_empty_strata: bool = False,
) -> DiscriminationSurface:
    """Measure the unfairness of every half-plane of two attributes, for one model or several.

    Parameters
    ----------
    y_true
        As in audit().
    y_pred
        As in audit(); or a mapping from names (or rounds) to these, for several models.
    sensitive_features
        As in audit().
    attributes : pair
        Two of the protected attributes: the name of a number, or of a category with two values; or
        (name, value) for one value of a category, which at least `min_group_size` rows must have.
        Not needed where there are just two.
    notion : str or FairnessNotion
        One rate.
    thetas : sequence of float, optional
        The grid, for either attribute; by default −1, −0.9, …, 1. Only directions matter.
    standardize : bool, default=True
        Measure both attributes in standard deviations; False is the paper's, which had both between
        0 and 1.
    min_group_size : int, default=10
        Groups with fewer rows in the notion's event (of false positive rates, fewer negatives),
        inside or outside, are not shown, and groups that differ by fewer are shown as one.
    threshold, decision_probabilities, pos_label, sample_weight, data
        As in audit().
    control_features, leave_out_empty_strata
        As in audit(): groups are compared within strata. Each stratum needs `min_group_size` rows
        in the notion's event, and so does its part in a group and outside for that to be shown.

    Returns
    -------
    DiscriminationSurface
        The unfairness of every group of the grid, for each model.

    See Also
    --------
    SurfaceDisplay
        Draw one round of a discrimination surface, on a scale of colours that all rounds share.
    audit : Find the subgroup that a model's decisions treat most differently, or worst.

    Examples
    --------
    The paper's toy example. Blue men are in the corner, where both attributes have a weight of 1:

    >>> from gerrymend import discrimination_surface
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(800)
    >>> surface = discrimination_surface(
    ...     toy.target, (toy.score >= 0.5).astype(int), sensitive_features=toy.sensitive_features)
    >>> surface.attributes
    ('race = blue', 'gender = man')
    >>> worst = surface.worst()
    >>> worst["subgroup"], worst["size"], worst["rate"], worst["unfairness"]
    ('race = blue and gender = man', 200, 1.0, 0.0625)
    >>> worst["theta"]
    [1.0, 1.0]
    >>> print(surface)
    Discrimination surface of race = blue and gender = man: false positive rate, 800 rows
      decisions: race = blue and gender = man
        200 rows; rate 100 %, overall 50 %; unfairness 0.0625
    """
    standardize = check_flag(standardize, "standardize")
    rate = one_notion(as_rates(notion))
    smallest = check_min_group_size(min_group_size)
    models = y_pred if isinstance(y_pred, Mapping) else {"decisions": y_pred}
    if not models:
        raise ValueError("y_pred is an empty mapping; pass the predictions of at least one model.")
    decided = Decided(threshold, decision_probabilities, pos_label)
    given = Given(y_true, None, sensitive_features, sample_weight, control_features)
    tallies = {}
    for name, predictions in models.items():
        tally = read_tally(data, given._replace(y_pred=predictions), decided, [rate])
        check_counted(tally, (rate,), leave_out=leave_out_empty_strata)
        tallies[name] = over_two(tally, attributes, smallest)
    return measure_surface(
        tallies, rate, attributes,
        thetas=thetas, standardize=standardize, min_group_size=smallest,
    )  # fmt: skip


def measure_surface(
    tallies: Mapping[Any, Tally],
    notion: FairnessNotion,
    attributes: Any,
    *,
    thetas: Sequence[float] | None,
    standardize: bool,
    min_group_size: int,
) -> DiscriminationSurface:
    """Return the surface of several tallies, which are over the same cells.

    Parameters
    ----------
    tallies : mapping of int or str to Tally
        By round or by the model's name: decisions, summed by the two attributes.
    notion : FairnessNotion
    attributes, thetas, standardize, min_group_size :
        As in discrimination_surface().
    """
    # Cells, weights and labels are the same in all tallies, and only the decisions differ: sizes,
    # and what may be shown, are taken from the first.
    seen = [tally.of_notion(notion) for tally in tallies.values()]
    first = next(iter(tallies.values()))
    planes = HalfPlanes.of(
        first.columns, first.weight.sum(axis=0), attributes, thetas, standardize=standardize
    )
    groups = _sizes(planes, seen[0])
    large = may_be_described(groups.counted, seen[0].rows.sum(), min_group_size)
    rows, counted = _rows_by_stratum(seen[0], min_group_size)
    shown = planes.shown(first.columns, rows, counted, large, min_group_size)

    def of_shown(values: Array) -> Array:
        """Return the value of the group that each square shows, NaN where it shows none."""
        # At −1 the last value is looked up, and discarded.
        return np.where(shown < 0, np.nan, values.ravel()[shown])

    def by_group(values: list[Array]) -> Array:
        """Return sums over the members of each group, of values by active cell."""
        return planes.sums(_active(seen[0]), np.stack(values))

    unfairness = by_group([notion_tally.residual for notion_tally in seen]) / first.total_weight
    expected: Sequence[Array | None] = [None] * len(seen)
    if first.strata is not None:
        # The residual is outcome − expected by cell, so that outcomes − residual is what the rates
        # of the strata would bring; per weight it is the expected rate. 0/0 becomes NaN.
        mass = np.where(groups.mass > 0, groups.mass, np.nan)
        sums = by_group([notion_tally.outcomes - notion_tally.residual for notion_tally in seen])
        expected = [of_shown(values / mass) for values in sums]
    return DiscriminationSurface(
        attributes=planes.names,
        notion=notion,
        thetas=planes.thetas,
        subgroups=planes.describe(first.columns, shown),
        size=of_shown(groups.size),
        share=of_shown(groups.mass / first.total_weight),
        rounds=tuple(
            SurfaceRound(
                name=name if isinstance(name, int) else str(name),
                unfairness=of_shown(values),
                overall_rate=_overall_rate(notion_tally, min_group_size),
                error=_error(notion_tally, min_group_size),
                expected_rate=by_strata,
            )
            for name, notion_tally, values, by_strata in zip(
                tallies, seen, unfairness, expected, strict=True
            )
        ),
        n_rows=int(first.n_rows.sum()),
        min_group_size=min_group_size,
        standardized=standardize,
        control_features=tuple(column.name for column in first.strata_columns),
    )


def _rows_by_stratum(
    seen: NotionTally, min_group_size: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return numbers of rows, and of those in the event, by stratum and cell.

    Strata that are left out, as no row of theirs is in the event, are with the first of the others:
    nothing but their number of rows is told of. Raises an ArgumentError for a stratum whose rate is
    of fewer rows than may be told of.
    """
    strata = seen.tally.strata
    if strata is None:
        return seen.tally.n_rows.sum(axis=0)[None], seen.rows_of_cells[None]
    rows = np.array([part.n_rows.sum(axis=0) for part in strata.parts])
    event = np.asarray(seen.notion.event)
    counted = np.array([
        event @ (part.n_rows if part.n_counted is None else part.n_counted)
        for part in strata.parts
    ])  # fmt: skip
    number = counted.sum(axis=1)
    few = identifies(number, min_group_size)
    if few.any():
        first = int(few.argmax())
        raise ArgumentError(
            "control_features",
            f"has a stratum with {number[first]} rows that the {seen.notion.words} is over: "
            f"{stratum_words(strata, first)}. With fewer than {min_group_size} a surface would "
            "tell of persons; merge it with another, or lower ",
            Argument("min_group_size"),
            ".",
        )
    kept = number > 0
    # Their rows are in the sizes that are shown, so they must be in some part, or a difference of
    # sizes could tell of a few of them.
    rows[np.flatnonzero(kept)[0]] += rows[~kept].sum(axis=0)
    return rows[kept], counted[kept]


class _Groups(NamedTuple):
    """Hold the number of rows of every group, those in the event, and their weight: each (k, k)."""

    size: Array
    counted: Array
    mass: Array


def _sizes(planes: HalfPlanes, seen: NotionTally) -> _Groups:
    """Return the sizes of every group, from the sums by cell."""
    (size,) = planes.sums(seen.tally.columns, seen.cells.n_rows[None].astype(float))
    counted, mass = planes.sums(_active(seen), np.stack([seen.rows.astype(float), seen.cells.mass]))
    return _Groups(size, counted, mass)


def _active(seen: NotionTally) -> tuple[Column, ...]:
    """Return the columns of the cells that have rows in the event."""
    return take_rows(seen.tally.columns, seen.cells.active)


def over_two(tally: Tally, attributes: Any, smallest: int) -> Tally:
    """Return the same sums by the values of the two attributes alone.

    Raises a ValueError where fewer than `smallest` rows have, or lack, a value that is named.
    """
    weight = tally.weight.sum(axis=0)
    rows = tally.n_rows.sum(axis=0).astype(float)
    cells = cells_of_two(tally.columns, weight, rows, attributes, smallest)
    # A tally has a row for each of two labels, which ravel() lays out one after the other.
    return _summed(tally, Cells(cells.columns, np.tile(cells.index, 2)))


def _summed(tally: Tally, both: Cells) -> Tally:
    """Return the same sums, and those of its strata, by fewer cells; `both` has them by label."""
    summed = Tally.of_sums(
        both,
        np.repeat([0, 1], len(both.index) // 2),
        tally.n_rows.ravel(),
        tally.weight.ravel(),
        tally.positive.ravel(),
        tally.is_count,
        tally.labels,
        n_counted=None if tally.n_counted is None else tally.n_counted.ravel(),
    )
    if tally.strata is None:
        return summed
    parts = tuple(_summed(part, both) for part in tally.strata.parts)
    return replace(summed, strata=replace(tally.strata, parts=parts))


def _overall_rate(seen: NotionTally, smallest: int) -> float:
    """Return the rate of all rows in the event, or NaN where these are too few to be described."""
    if too_few(seen.rows.sum(), smallest):
        return math.nan
    return float(seen.outcomes.sum() / seen.cells.mass.sum())


def _error(seen: NotionTally, smallest: int) -> float:
    """Return the expected error of all decisions, or NaN where it discloses that of a few rows.

    Beside the overall rate it does so, too, where few rows are outside of the event: the error
    times all weight, less the wrong decisions within the event, is that of the others.
    """
    tally = seen.tally
    counted = seen.rows.sum()
    others = (tally.n_rows if tally.n_counted is None else tally.n_counted).sum() - counted
    # 0 others are fine, since nothing follows of nobody; a few are not.
    few = identifies([counted, others], smallest).any()
    if few or too_few(counted + others, smallest):
        return math.nan
    # Negatives decided 1, and positives decided 0.
    wrong = tally.positive[0].sum() + (tally.weight[1] - tally.positive[1]).sum()
    return float(wrong / tally.total_weight)


def one_notion(notions: Sequence[FairnessNotion]) -> FairnessNotion:
    """Return the only notion, or raise a ValueError if there are several."""
    if len(notions) > 1:
        raise ValueError(
            f"A surface compares one rate; got {len(notions)}: "
            f"{', '.join(notion.name for notion in notions)}. Choose one with notion=."
        )
    return notions[0]
