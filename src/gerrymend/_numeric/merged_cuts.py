"""The cut of a score that costs least, where rows lie in blocks: the same cut as in one place.

In the order of descending scores, a cut pays the costs of all rows above it. Edges split the scores
into bins, and each block answers, for each bin, its costs' sum and the least of its own partial
sums. At any cut within a bin the rows of all blocks pay at least the sum of these least ones: a bin
for which that exceeds what a known cut pays has none that is better. Of the few bins that are left
the rows themselves are asked for, or finer edges where these are many. So the cut is exact, and
what travels doesn't grow with the rows.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.cuts import SAME, tie_of
from gerrymend._numeric.sums import Array

# Scores that each block is asked for as edges, and the most edges to begin with.
_OF_BLOCK = 256
_EDGES = 1024
# Rows of a device whose partial sums have one least: a bin has tens of thousands.
_CHUNK = 1024
# Rows of open bins that are brought here: their scores and costs are a megabyte.
_FEW_ROWS = 30_000

Ask = Callable[..., list[Any]]
"""Calls a method of `SortedScores` for each block, and returns what the blocks answer."""


class Bins(NamedTuple):
    """Facts of the rows of some bins, from the highest scores down: arrays by bin.

    `paid` has the sum of each cost, and `least` the least of its partial sums, at most 0, or less
    than that; both have a row for each cost. A bin without rows has `highest` −∞ and `lowest` ∞.
    """

    n_rows: NDArray[np.intp]
    highest: Array
    lowest: Array
    paid: Array
    least: Array


class SortedScores:
    """Scores of a block, descending, with the costs of deciding 1 by row.

    Parameters
    ----------
    score : array (n_rows,), of any library
    costs : array (n_costs, n_rows), of the same

    Examples
    --------
    >>> scores = SortedScores(np.array([1.0, 3.0, 2.0]), np.array([[1.0, -1.0, 5.0]]))
    >>> scores.bins(np.array([2.5])).paid.tolist()
    [[-1.0, 6.0]]
    """

    def __init__(self, score: Any, costs: Any) -> None:
        self._xp = array_namespace(score)
        # Negated, as searches want ascending values.
        order = self._xp.argsort(-score, stable=False)
        self._ascending = -score[order]
        self._descending = score[order]
        self._costs = self._xp.take(costs, order, axis=1)
        none = self._xp.zeros((costs.shape[0], 1), dtype=costs.dtype, device=device(costs))
        paid = self._xp.cumulative_sum(self._costs, axis=1)
        self._paid = self._xp.concat([none, paid], axis=1)

    def some(self, number: int, edges: Array | None = None) -> Array:
        """Return evenly spaced scores with both ends; of the rows between each pair of edges."""
        ends = np.array([[0, len(self._descending)]])
        if edges is not None:
            ends = np.reshape(self._places(np.ravel(edges)), (-1, 2))
        found = [
            np.linspace(first, last - 1, min(number, last - first)).round().astype(np.intp)
            for first, last in ends.tolist()
            if last > first
        ]
        if not found:
            return np.zeros(0)
        places = np.unique(np.concatenate(found))
        taken: Array = on_host(self._descending[self._here(places)])
        return taken

    def bins(self, edges: Array) -> Bins:
        """Return facts of the bins above the first of descending edges, between two, and below.

        A score that equals an edge is below it.
        """
        starts = np.concatenate([[0], self._places(edges), [len(self._descending)]]).astype(int)
        n_costs = self._costs.shape[0]
        filled = np.flatnonzero(np.diff(starts))
        highest = np.full(len(starts) - 1, -np.inf)
        lowest = np.full(len(starts) - 1, np.inf)
        least = np.zeros((n_costs, len(starts) - 1))
        if filled.size:
            first = self._here(starts[filled])
            last = self._here(starts[filled + 1] - 1)
            highest[filled] = on_host(self._descending[first])
            lowest[filled] = on_host(self._descending[last])
            least[:, filled] = self._least(starts, filled)
        at_starts = on_host(self._xp.take(self._paid, self._here(starts), axis=1))
        least[:, filled] = np.minimum(least[:, filled] - at_starts[:, filled], 0.0)
        return Bins(np.diff(starts), highest, lowest, np.diff(at_starts, axis=1), least)

    def _least(self, starts: NDArray[np.intp], filled: NDArray[np.intp]) -> Array:
        """Return the least partial sum after a row of each bin that has rows, or a lesser one."""
        if isinstance(self._paid, np.ndarray):
            # The next filled bin begins where this one ends.
            least: Array = np.minimum.reduceat(self._paid[:, 1:], starts[filled], axis=1)
            return least
        # From the chunk that a bin begins in to the one that it ends in: of both a part may be of
        # other bins, which can only make a least sum smaller.
        ends = np.column_stack([starts[filled], starts[filled + 1] - 1]) // _CHUNK
        ends[:, 1] += 1
        # Pairs of places: what is between a pair and the next is of no use.
        chunks = np.append(self._least_of_chunks, self._least_of_chunks[:, -1:], axis=1)
        of_bins: Array = np.minimum.reduceat(chunks, np.ravel(ends), axis=1)[:, ::2]
        return of_bins

    @cached_property
    def _least_of_chunks(self) -> Array:
        """The least partial sum after a row of each chunk of so many rows."""
        xp = self._xp
        n_costs, n_rows = self._paid.shape[0], self._paid.shape[1] - 1
        whole = n_rows // _CHUNK * _CHUNK
        chunks = xp.reshape(self._paid[:, 1 : whole + 1], (n_costs, -1, _CHUNK))
        parts = [xp.min(chunks, axis=2)] if whole else []
        if whole < n_rows:
            parts.append(xp.min(self._paid[:, whole + 1 :], axis=1)[:, None])
        return on_host(xp.concat(parts, axis=1))

    def between(self, edges: Array) -> Array:
        """Return scores and costs, (1 + n_costs, rows), of rows between each pair of edges."""
        ends = np.reshape(self._places(np.ravel(edges)), (-1, 2))
        found = [np.arange(first, last) for first, last in ends.tolist()]
        places = self._here(np.concatenate([np.zeros(0, dtype=np.intp), *found]))
        score = self._xp.take(self._descending, places)[None]
        rows = self._xp.concat([score, self._xp.take(self._costs, places, axis=1)])
        taken: Array = on_host(rows)
        return taken

    def _places(self, edges: Array) -> NDArray[np.intp]:
        """Return how many scores are above each edge."""
        places = self._xp.searchsorted(self._ascending, self._here(-edges), side="left")
        return on_host(places).astype(np.intp)

    def _here(self, values: NDArray[Any]) -> Any:
        return self._xp.asarray(values, device=device(self._descending))


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Cuts that one cost can have, from the highest down, and what each pays."""

    cuts: Array
    paid: Array

    def best(self, slack: float) -> float:
        """Return the first that pays least, as `best_cuts` does."""
        limit = min(0.0, float(self.paid.min())) + slack
        return math.inf if limit >= 0.0 else float(self.cuts[np.argmax(self.paid <= limit)])


def merged_best_cuts(ask: Ask, sizes: Sequence[float]) -> Array:
    """Return for each cost the cut that `best_cuts` would return for all rows together.

    Parameters
    ----------
    ask : callable
        Asks `SortedScores` of each block.
    sizes : sequence of float
        The sum of |cost| over all rows, for each cost.

    Examples
    --------
    >>> blocks = [SortedScores(np.array([1.0, 3.0]), np.array([[1.0, 1.0]])),
    ...           SortedScores(np.array([2.0, 4.0]), np.array([[-2.0, -1.0]]))]
    >>> def ask(method, *arguments):
    ...     return [method(block, *arguments) for block in blocks]
    >>> merged_best_cuts(ask, [5.0]).tolist()
    [1.5]
    """
    edges = np.unique(np.concatenate(ask(SortedScores.some, _OF_BLOCK)))[::-1]
    tie = tie_of(edges)
    if len(edges) > _EDGES:
        edges = edges[np.linspace(0, len(edges) - 1, _EDGES).round().astype(np.intp)]
    slacks = SAME * np.asarray(sizes)
    while True:
        bins = _added(ask(SortedScores.bins, edges))
        open_bins = _open(bins, slacks, tie)
        if bins.n_rows[open_bins].sum() <= _FEW_ROWS:
            break
        finer = ask(SortedScores.some, _OF_BLOCK // 4, _ends(edges, open_bins))
        edges = np.unique(np.concatenate([edges, *finer]))[::-1]
    rows = np.concatenate(ask(SortedScores.between, _ends(edges, open_bins)), axis=1)
    rows = rows[:, np.argsort(-rows[0], kind="stable")]
    starts = np.cumsum(bins.n_rows[open_bins]) - bins.n_rows[open_bins]
    return np.array(
        [
            _all_cuts(bins, open_bins, starts, rows, cost, tie).best(slacks[cost])
            for cost in range(len(slacks))
        ]
    )


def _added(parts: Sequence[Bins]) -> Bins:
    """Merge the bins of blocks."""
    return Bins(
        np.sum([part.n_rows for part in parts], axis=0),
        np.max([part.highest for part in parts], axis=0),
        np.min([part.lowest for part in parts], axis=0),
        np.sum([part.paid for part in parts], axis=0),
        np.sum([part.least for part in parts], axis=0),
    )


def _ends(edges: Array, bins: NDArray[np.intp]) -> Array:
    """Return the edges above and below each bin."""
    ends = np.concatenate([[np.inf], edges, [-np.inf]])
    return np.column_stack([ends[bins], ends[bins + 1]])


def _between_bins(bins: Bins, tie: float) -> tuple[NDArray[np.intp], Array]:
    """Return the bins after which there can be a cut, and these cuts; the last decides all 1."""
    filled = np.flatnonzero(bins.n_rows)
    above = bins.lowest[filled[:-1]]
    below = bins.highest[filled[1:]]
    apart = above - below > tie
    cuts = np.append(((above + below) / 2)[apart], -np.inf)
    return np.append(filled[:-1][apart], filled[-1]), cuts


def _open(bins: Bins, slacks: Array, tie: float) -> NDArray[np.intp]:
    """Return the bins within which a cut may be as good as the best between bins, for any cost."""
    after, _ = _between_bins(bins, tie)
    paid = np.cumsum(bins.paid, axis=1)
    best = np.minimum(paid[:, after].min(axis=1), 0.0)
    at_least = paid - bins.paid + bins.least
    promising = (at_least <= (best + slacks)[:, None]).any(axis=0)
    return np.flatnonzero(promising & (bins.highest - bins.lowest > tie))


def _all_cuts(
    bins: Bins,
    open_bins: NDArray[np.intp],
    starts: NDArray[np.intp],
    rows: Array,
    cost: int,
    tie: float,
) -> _Cuts:
    """Return the cuts between bins, and those between the rows of open bins, for one cost."""
    after, cuts = _between_bins(bins, tie)
    bottoms = np.cumsum(bins.paid[cost])
    paid = bottoms[after]
    if rows.shape[1]:
        score = rows[0]
        spent = np.cumsum(rows[1 + cost])
        of_bin = np.searchsorted(starts, np.arange(len(score)), side="right") - 1
        before = bottoms[open_bins] - bins.paid[cost, open_bins]
        # What the open bins above this one have spent is in `before` as well.
        spent += (before - np.append(0.0, spent)[starts])[of_bin]
        inner = np.flatnonzero((of_bin[:-1] == of_bin[1:]) & (score[:-1] - score[1:] > tie))
        cuts = np.concatenate([cuts, (score[inner] + score[inner + 1]) / 2])
        paid = np.concatenate([paid, spent[inner]])
    order = np.argsort(-cuts, kind="stable")
    return _Cuts(cuts[order], paid[order])
