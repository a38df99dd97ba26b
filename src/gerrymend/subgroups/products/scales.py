"""An attribute as a search sees it: the rank of each cell, and what ranks are in the user's units.

A number is cut at every value, or into bins; a category has no order, and each value is a rank.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column, ranked
from gerrymend.subgroups.rules import Condition, cut_between, number


@dataclass(frozen=True, eq=False)
class Scale:
    """What the ranks of an attribute stand for.

    `categories` has the category of each rank, and is None for a number; rank i of a number lies
    in [cuts[i − 1], cuts[i]), with open ends.
    """

    name: str
    kind: str
    size: int
    categories: tuple[Any, ...] | None = None
    cuts: tuple[float, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether the ranks have an order."""
        return self.categories is None

    def within(self, low: int, high: int) -> Condition:
        """The number has a rank in [low, high)."""
        return Condition(
            self.name,
            low=-np.inf if low == 0 else self.cuts[low - 1],
            high=np.inf if high == self.size else self.cuts[high - 1],
        )

    def among(self, ranks: Iterable[int]) -> Condition:
        """The category is one of these."""
        assert self.categories is not None
        return Condition(self.name, values=tuple(self.categories[rank] for rank in sorted(ranks)))


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute: its scale, and the rank of each cell that has rows in the event."""

    scale: Scale
    rank: NDArray[np.int32]


def axes_of(
    columns: Sequence[Column], weight: Array, active: NDArray[np.bool_], bins: int | None
) -> tuple[Axis, ...]:
    """The axes of the active cells; bins are quantiles over the weight of all."""
    return tuple(_axis(column, weight, active, bins) for column in columns)


def _axis(column: Column, weight: Array, active: NDArray[np.bool_], bins: int | None) -> Axis:
    if column.categories is not None:
        return _of_category(column, active)
    distinct, rank = ranked(column.values[active])
    cuts = tuple(distinct[1:].tolist())
    if bins is not None:
        cuts = _quantiles(column.values, weight, bins)
        rank = np.searchsorted(cuts, distinct, side="right")[rank]
    scale = Scale(column.name, column.kind, len(cuts) + 1, cuts=cuts)
    return Axis(scale, rank.astype(np.int32))


def _of_category(column: Column, active: NDArray[np.bool_]) -> Axis:
    assert column.categories is not None
    code = column.values[active].astype(np.int32)
    occurs = np.bincount(code, minlength=len(column.categories)) > 0
    rank = code if occurs.all() else (np.cumsum(occurs) - 1).astype(np.int32)[code]
    present = tuple(one for one, there in zip(column.categories, occurs, strict=True) if there)
    return Axis(Scale(column.name, column.kind, len(present), categories=present), rank)


def _quantiles(values: Array, weight: Array, bins: int) -> tuple[float, ...]:
    """Cuts between values, as close to equal weight in each bin as ties allow."""
    distinct, rank = ranked(values)
    share = np.cumsum(np.bincount(rank, weight))[:-1] / weight.sum()
    if len(share) == 0:
        return ()
    wanted = np.arange(1, bins) / bins
    after = np.unique([np.argmin(np.abs(share - one)) for one in wanted])
    return tuple(cut_between(float(distinct[i]), float(distinct[i + 1])) for i in after)


def cuts_in_words(scales: Sequence[Scale], bins: int | None) -> str:
    """At which values the numbers are cut: what a proof holds for."""
    numbers = [scale for scale in scales if scale.is_number]
    if not numbers:
        return ""
    if bins is None:
        return "; numbers cut at every value"
    cuts = [
        f"{scale.name} at {', '.join(map(number, scale.cuts))}" for scale in numbers if scale.cuts
    ]
    return f"; numbers cut into at most {bins} bins" + (f" ({'; '.join(cuts)})" if cuts else "")
