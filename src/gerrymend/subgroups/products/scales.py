"""Attributes as ranks: the rank of each cell, and the meaning of ranks in the user's units.

A number is cut at every value, or into bins. A category has no order; each value is a rank.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.inputs.bins import quantile_cuts
from gerrymend.inputs.protected import Column
from gerrymend.inputs.ranks import ranked
from gerrymend.subgroups.rules import Condition, number


@dataclass(frozen=True, eq=False)
class Scale:
    """The meaning of the ranks of an attribute.

    Attributes
    ----------
    name, kind : str
        Of the column.
    size : int
        Number of ranks.
    categories : tuple or None
        The category of each rank; None for a number.
    cuts : tuple of float
        Rank i of a number lies in [cuts[i − 1], cuts[i]), with open ends.
    """

    name: str
    kind: str
    size: int
    categories: tuple[Any, ...] | None = None
    cuts: tuple[float, ...] = ()

    @property
    def is_number(self) -> bool:
        """True if the ranks have an order."""
        return self.categories is None

    def within(self, low: int, high: int) -> Condition:
        """Return the condition that a number has a rank in [low, high)."""
        return Condition(
            self.name,
            low=-np.inf if low == 0 else self.cuts[low - 1],
            high=np.inf if high == self.size else self.cuts[high - 1],
        )

    def among(self, ranks: Iterable[int]) -> Condition:
        """Return the condition that a category has one of these ranks."""
        assert self.categories is not None
        return Condition(self.name, values=tuple(self.categories[rank] for rank in sorted(ranks)))


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute: its scale, and the rank of each cell with rows in the event."""

    scale: Scale
    rank: NDArray[np.int32]


def axes_of(
    columns: Sequence[Column], weight: Array, active: NDArray[np.bool_], bins: int | None
) -> tuple[Axis, ...]:
    """Return an axis for each column, with the ranks of the active cells.

    Bins are quantiles of the weight of all cells, so that every notion gets the same ones.
    """
    return tuple(_axis(column, weight, active, bins) for column in columns)


def _axis(column: Column, weight: Array, active: NDArray[np.bool_], bins: int | None) -> Axis:
    if column.categories is not None:
        return _of_category(column, active)
    distinct, rank = ranked(column.values[active])
    # x < cut at each value but the first: half-open bins of one value each.
    cuts = tuple(distinct[1:].tolist())
    if bins is not None:
        cuts = quantile_cuts(column.values, weight, bins)
        rank = np.searchsorted(cuts, distinct, side="right")[rank]
    scale = Scale(column.name, column.kind, len(cuts) + 1, cuts=cuts)
    return Axis(scale, rank.astype(np.int32))


def _of_category(column: Column, active: NDArray[np.bool_]) -> Axis:
    """Return the axis of a category, without the values that no active cell has."""
    assert column.categories is not None
    code = column.values[active].astype(np.int32)
    occurs = np.bincount(code, minlength=len(column.categories)) > 0
    rank = code if occurs.all() else (np.cumsum(occurs) - 1).astype(np.int32)[code]
    present = tuple(
        category for category, there in zip(column.categories, occurs, strict=True) if there
    )
    return Axis(Scale(column.name, column.kind, len(present), categories=present), rank)


def cuts_in_words(scales: Sequence[Scale], bins: int | None) -> str:
    """Say where the numbers are cut, as the end of the sentence that a proof holds for."""
    numbers = [scale for scale in scales if scale.is_number]
    if not numbers:
        return ""
    if bins is None:
        return "; numbers cut at every value"
    cuts = [
        f"{scale.name} at {', '.join(map(number, scale.cuts))}" for scale in numbers if scale.cuts
    ]
    return f"; numbers cut into at most {bins} bins" + (f" ({'; '.join(cuts)})" if cuts else "")
