"""Cut numbers at their quantiles, where rows lie in blocks: the same cuts as in one place.

Bisection over all float64 numbers in order: blocks count how many of theirs are at or below each of
some edges, and a few passes leave one number for each quantile, whatever the blocks are. Counts are
whole numbers, so that the cuts depend on the rows alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.short_numbers import cut_between
from gerrymend._numeric.sums import Array

# Edges of each quantile in a pass: 2⁶⁴ numbers are told apart in 64 / 6 passes.
_EDGES = 64
_SIGN = np.uint64(1 << 63)

Ask = Callable[..., list[Any]]
"""Calls a method of `SortedNumbers` for each block, and returns what the blocks answer."""


class SortedNumbers:
    """The numbers of some rows, sorted; all finite, and none of them −0.

    >>> numbers = SortedNumbers(np.array([3.0, 1.0, 2.0]))
    >>> numbers.at_or_below(np.array([2.0, 9.0])).tolist()
    [2, 3]
    """

    def __init__(self, values: Array) -> None:
        self._values = np.sort(values)

    def count(self) -> int:
        """Return how many rows there are."""
        return len(self._values)

    def distinct(self, most: int) -> Array | None:
        """Return the distinct numbers; None where there are more than `most`."""
        starts = np.flatnonzero(np.diff(self._values, prepend=-np.inf))
        return None if len(starts) > most else self._values[starts]

    def at_or_below(self, edges: Array) -> NDArray[np.intp]:
        """Return how many numbers are at or below each edge."""
        return np.searchsorted(self._values, edges, side="right")

    def beside(self, values: Array) -> tuple[Array, Array]:
        """Return the largest number below each value, and the smallest above; ±∞ for none."""
        padded = np.concatenate([[-np.inf], self._values, [np.inf]])
        below = np.searchsorted(self._values, values, side="left")
        return padded[below], padded[self.at_or_below(values) + 1]


def merged_quantile_cuts(ask: Ask, bins: int) -> tuple[float, ...]:
    """Return cuts between numbers, with the rows of bins as close to equal as ties allow.

    No cut is needed, and none is made, where there are at most so many distinct numbers as bins.

    >>> numbers = SortedNumbers(np.arange(8.0))
    >>> merged_quantile_cuts(lambda method, *arguments: [method(numbers, *arguments)], 4)
    (1.5, 3.5, 5.5)
    """
    distinct = ask(SortedNumbers.distinct, bins)
    few = all(part is not None for part in distinct)
    if few and len(np.unique(np.concatenate(distinct))) <= bins:
        return ()
    # In whole numbers, as are counts: k·n / bins, rounded up, is the rank of the k-th quantile.
    wanted = np.arange(1, bins) * sum(ask(SortedNumbers.count))

    def at_or_below(values: Array) -> NDArray[np.intp]:
        counts: NDArray[np.intp] = np.sum(ask(SortedNumbers.at_or_below, values), axis=0)
        return counts

    upper = np.unique(_first_reaching(at_or_below, -(-wanted // bins)))
    below, above = _beside(ask, upper)
    ends = at_or_below(upper)
    starts = at_or_below(below)
    cuts = set()
    for share in wanted.tolist():
        # The first number at or below which there are as many rows as wanted, or the one before,
        # whichever is nearer; of the two a cut behind the last number would cut nothing.
        i = int(np.searchsorted(ends * bins, share))
        past = int(ends[i]) * bins - share
        short = share - int(starts[i]) * bins
        if np.isfinite(below[i]) and (short <= past or not np.isfinite(above[i])):
            cuts.add((float(below[i]), float(upper[i])))
        else:
            cuts.add((float(upper[i]), float(above[i])))
    return tuple(sorted(cut_between(low, high) for low, high in cuts))


def _first_reaching(
    at_or_below: Callable[[Array], NDArray[np.intp]], ranks: NDArray[np.intp]
) -> Array:
    """Return, for each rank, the smallest number at or below which there are so many rows."""
    low = np.full(len(ranks), _key(np.array([-np.inf]))[0])
    high = np.full(len(ranks), _key(np.array([np.inf]))[0])
    steps = np.arange(1, _EDGES, dtype=np.uint64)
    # Fewer rows than the rank are at or below `low`, and enough at or below `high`.
    while (high - low > 1).any():
        width = (high - low) // np.uint64(_EDGES) + np.uint64(1)
        edges = np.minimum(low[:, None] + width[:, None] * steps, high[:, None])
        counts = at_or_below(_number(edges.ravel())).reshape(edges.shape)
        short = (counts < ranks[:, None]).sum(axis=1)
        ends = np.column_stack([low, edges, high])
        rows = np.arange(len(ranks))
        low = ends[rows, short]
        high = ends[rows, short + 1]
    return _number(high)


def _beside(ask: Ask, values: Array) -> tuple[Array, Array]:
    """Return the largest number of any block below each value, and the smallest above."""
    below, above = zip(*ask(SortedNumbers.beside, values), strict=True)
    return np.max(below, axis=0), np.min(above, axis=0)


def _key(values: Array) -> NDArray[np.uint64]:
    """Return whole numbers in the order of float64 numbers, without gaps between neighbours.

    >>> np.diff(_key(np.array([-5e-324, -0.0, 0.0, 5e-324]))).tolist()
    [1, 1, 1]
    """
    bits = values.view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _number(keys: NDArray[np.uint64]) -> Array:
    """Return the numbers of keys."""
    bits = np.where(keys & _SIGN, keys ^ _SIGN, ~keys)
    numbers: Array = bits.view(np.float64) + 0.0  # as −0 is no number of a column
    return numbers
