"""Say who is in a subgroup, attribute by attribute, beside everyone: the values that mark it.

A rule says how members are told from others, and not who they are: a term for a category that one
member in thirty has may come first. Nor does the most common value: most of those who are hit for
not speaking English may speak it, if fewer than of everyone. The value that marks a group is the
one whose share is furthest above everyone's. That difference is of members, so many in 100 more
than of everyone, and so puts attributes in order: one that is divided by its spread would have a
value of 2 members in 100 come first, if it is rare enough. A median is as far off as its rank among
everyone is from a half, a difference of shares too: of those up to that number.

Shares and medians are of rows, whatever these weigh. They tell nothing of labels or decisions, but
a share tells a number of rows: those below the floor of `small_groups`, in the subgroup or outside,
are never told.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import FEWEST_TO_LIST, identifies, too_few
from gerrymend.inputs.protected import Column

# Bins of values, of which those in one are sorted for a quantile.
_BINS = 4096


@dataclass(frozen=True)
class Trait:
    """One attribute of a subgroup's rows, and of all rows.

    Attributes
    ----------
    attribute : str
        The protected column.
    value : value of a category, or None for a number
        The one that may be told whose share is furthest above everyone's, or least below where
        those that are above may not. (A category may itself be None, where it is missing: `median`
        tells them apart.)
    share : float or None
        The part of the subgroup's rows that have it; None for a number.
    at_least : bool
        Whether `share` is only no more than the part: so few others are in the subgroup, or so few
        with the value are not, that their number is not told.
    median : float or None
        The median of a number in the subgroup, to two digits of how far apart the numbers of
        people are; None for a category.
    overall : float
        The share, or the median, of all rows.
    """

    attribute: str
    value: Any
    share: float | None
    at_least: bool
    median: float | None
    overall: float

    def to_dict(self) -> dict[str, Any]:
        """Return the trait as plain data: of a category or of a number."""
        if self.median is not None:
            return {"attribute": self.attribute, "median": self.median, "overall": self.overall}
        return {
            "attribute": self.attribute,
            "value": self.value,
            "share": self.share,
            "at_least": self.at_least,
            "overall": self.overall,
        }


def composition(
    columns: Sequence[Column],
    n_rows: NDArray[np.intp],
    members: NDArray[np.bool_],
    min_group_size: int,
) -> tuple[Trait, ...]:
    """Return a trait of each attribute, those that differ most from everyone's first.

    Parameters
    ----------
    columns : sequence of Column
        The protected values of each cell.
    n_rows : array of int
        Rows of each cell.
    members : array of bool
        The cells that are in the subgroup.
    min_group_size : int
        The floor of `small_groups`. An attribute is left out where no value can be told.

    >>> sex = Column("sex", np.array([0.0, 1.0]), ("F", "M"))
    >>> age = Column("age", np.array([30.0, 50.0]))
    >>> people = composition((sex, age), np.array([40, 60]), np.array([False, True]), 10)
    >>> [(one.attribute, one.value, one.share, one.median, one.overall) for one in people]
    [('sex', 'M', 1.0, None, 0.6), ('age', None, None, 50.0, 50.0)]
    """
    min_group_size = max(min_group_size, FEWEST_TO_LIST)
    inside = np.where(members, n_rows, 0)
    outside = n_rows - inside
    if too_few([inside.sum(), outside.sum()], min_group_size).any():
        return ()
    found = []
    for column in columns:
        if column.categories is None:
            found.append(_median_trait(column, inside, n_rows))
        else:
            found.append(_value_trait(column, inside, outside, min_group_size))
    told = [pair for pair in found if pair is not None]
    return tuple(trait for _, trait in sorted(told, key=lambda pair: -pair[0]))


def _value_trait(
    column: Column, inside: NDArray[np.intp], outside: NDArray[np.intp], min_group_size: int
) -> tuple[float, Trait] | None:
    """Return the value that marks the group, after how far its share is above everyone's."""
    assert column.categories is not None
    code = column.values.astype(np.intp)
    n_values = len(column.categories)
    with_it = np.bincount(code, inside, n_values)
    with_it_outside = np.bincount(code, outside, n_values)
    size = inside.sum()
    # What is outside follows from everyone's share.
    few_without = identifies(outside.sum() - with_it_outside, min_group_size)
    (told,) = np.nonzero(~(too_few(with_it, min_group_size) | few_without))
    if not len(told):
        return None
    everyone = with_it + with_it_outside
    overall = everyone / (size + outside.sum())
    # The more common of two that are as far above.
    place = told[np.lexsort((-with_it[told], (overall - with_it / size)[told]))[0]]
    # So few others in it, or so few with it outside, that a bound is told in place of the number.
    wholes = np.array([size, everyone[place]])
    few = identifies(wholes - with_it[place], min_group_size)
    number = wholes[few].min() - min_group_size if few.any() else with_it[place]
    share = float(number / size)
    value = column.categories[place]
    trait = Trait(column.name, value, share, bool(few.any()), None, float(overall[place]))
    return share - trait.overall, trait


def _median_trait(
    column: Column, inside: NDArray[np.intp], n_rows: NDArray[np.intp]
) -> tuple[float, Trait] | None:
    """Return the median of a number, after how far from the middle of everyone it is."""
    ends = float(column.values.min()), float(column.values.max())
    if ends[0] == ends[1]:
        return None
    quantiles = _Quantiles(column.values)
    own = quantiles.of(inside, 0.5)
    below = float(n_rows[column.values < own].sum() + n_rows[column.values <= own].sum())
    far = abs(below / (2 * n_rows.sum()) - 0.5)
    # To two digits of the middle 80 % of people: nobody's own number, where numbers are fine. A
    # few that are far away, 9999 for unknown, don't make it coarse.
    low, middle, high = (quantiles.of(n_rows, part) for part in (0.1, 0.5, 0.9))
    apart = high - low or ends[1] - ends[0]
    step = 10.0 ** (math.floor(math.log10(apart)) - 1) or 5e-324  # floats have no smaller one
    shown, overall = (float(f"{_to_step(value, step):.12g}") for value in (own, middle))
    return far, Trait(column.name, None, None, False, shown, overall)


def _to_step(value: float, step: float) -> float:
    """Return the nearest multiple of a step; the value itself where it is vast beside that."""
    quotient = value / step
    return round(quotient) * step if math.isfinite(quotient) else value


class _Quantiles:
    """Quantiles of some values, for one number of rows of each or another.

    Values are put into bins once, in order; only those of the bin that a quantile is in are sorted.
    """

    def __init__(self, values: Array) -> None:
        self._values = values
        low = float(values.min())
        wide = float(values.max()) - low
        steps = _BINS / wide if wide else math.inf
        # Of vastly different numbers there may be no bins: then all are in one.
        finite = math.isfinite(wide) and math.isfinite(steps)
        place = (values - low) * steps if finite else np.zeros(len(values))
        self._bin = np.minimum(place.astype(np.intp), _BINS - 1)

    def of(self, rows: NDArray[np.intp], part: float) -> float:
        """Return the least value that this part of the rows, or more, do not exceed."""
        counted = np.cumsum(np.bincount(self._bin, rows, _BINS)).astype(np.intp)
        # In tenths, which are whole: no rounding decides.
        wanted = round(10 * part) * counted[-1]
        which = int(np.searchsorted(10 * counted, wanted))
        (within,) = np.nonzero(self._bin == which)
        within = within[np.argsort(self._values[within], kind="stable")]
        before = counted[which - 1] if which else 0
        place = np.searchsorted(10 * (before + np.cumsum(rows[within])), wanted)
        return float(self._values[within[place]])
