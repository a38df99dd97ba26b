"""The cut of a score that costs least, where rows are many and few of them have to be sorted.

A cut pays the costs of all rows above it. Rows are put into bins of scores, and what cuts between
bins pay are running sums. A cut within a bin pays no less than the one above the bin does, and the
negative costs of the bin: only the rows of bins where that is as little as the least between bins
are sorted. The cut is that of `cuts.best_cuts`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit

# Fewer rows than this are sorted in no time.
MANY_ROWS = 65_536
_BINS = 4096
# Rows that say where scores lie.
_SAMPLE = 1001


class BinnedScores:
    """Scores in bins, the highest first.

    Parameters
    ----------
    score : array of shape (n_rows,)

    Examples
    --------
    >>> scores = BinnedScores(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> scores.range, scores.best_cut(np.array([1.0, -2.0, 1.0, -1.0]), tie=1e-9, same=1e-9)
    ((4.0, 1.0), 1.5)
    """

    def __init__(self, score: Array) -> None:
        self._score = score
        sample = np.sort(score[np.linspace(0, len(score) - 1, _SAMPLE).astype(np.intp)])
        centre = float(sample[_SAMPLE // 2])
        spread = float(np.abs(sample - centre).mean())
        self._bin = np.empty(len(score), dtype=np.int32)
        self._count = np.zeros(_BINS, dtype=np.intp)
        self._low = np.full(_BINS, np.inf)
        self._high = np.full(_BINS, -np.inf)
        _into_bins(score, centre, spread or 1.0, self._bin, self._count, self._low, self._high)
        self.range = float(self._high.max()), float(self._low.min())

    def best_cut(self, cost: Array, tie: float, same: float) -> float:
        """Return the first cut that pays least, halfway between two scores; ∞ pays nothing.

        Scores that differ by no more than `tie` are never parted; of costs that differ by no more
        than `same` of the sum of all sizes the first counts, from above.
        """
        paid = np.zeros(_BINS)
        saved = np.zeros(_BINS)
        _add_costs(self._bin, cost, paid, saved)
        slack = same * float((paid + 2.0 * saved).sum())
        after = np.cumsum(paid)
        filled = np.flatnonzero(self._count)
        above = self._low[filled]
        below = np.append(self._high[filled[1:]], -np.inf)
        # One between bins whose nearest scores are tied is none.
        apart = above - below > tie
        cuts = np.append((above[:-1] + below[:-1]) / 2, -np.inf)[apart]
        between = after[filled][apart]
        most = min(0.0, float(between.min())) + slack
        reaches = (after - paid - saved <= most) & (self._high - self._low > tie)
        inner, within = self._within(reaches, cost, after - paid, tie)
        cuts = np.concatenate([cuts, inner])
        pays = np.concatenate([between, within])
        limit = min(0.0, float(pays.min())) + slack
        return math.inf if limit >= 0.0 else float(cuts[pays <= limit].max())

    def _within(
        self, reaches: NDArray[np.bool_], cost: Array, before: Array, tie: float
    ) -> tuple[Array, Array]:
        """Return the cuts between scores of some bins, and what they pay with all above."""
        rows = np.flatnonzero(reaches[self._bin])
        rows = rows[np.argsort(-self._score[rows])]
        score = self._score[rows]
        place = self._bin[rows]
        paid = np.cumsum(cost[rows])
        firsts = np.flatnonzero(np.diff(place, prepend=-1))
        # What the rows of other bins here pay is in `before` as well.
        others = np.append(0.0, paid)[firsts]
        paid += np.repeat(before[place[firsts]] - others, np.diff(firsts, append=len(rows)))
        apart = np.flatnonzero((place[:-1] == place[1:]) & (score[:-1] - score[1:] > tie))
        return (score[apart] + score[apart + 1]) / 2, paid[apart]


@njit(cache=True)
def _into_bins(
    score: Array,
    centre: float,
    spread: float,
    of_row: NDArray[np.int32],
    count: NDArray[np.intp],
    low: Array,
    high: Array,
) -> None:
    """Put each score into a bin, and tell how many are in each, the least and the largest."""
    half = 0.5 * len(count)
    for i in range(len(score)):
        far = score[i] - centre
        # From −1 to 1, and half of the scores or so in the middle half.
        even = far / (spread + abs(far))
        if not abs(even) <= 1.0:  # of an infinite score
            even = 1.0 if far > 0.0 else -1.0
        b = min(int((1.0 - even) * half), len(count) - 1)
        of_row[i] = b
        count[b] += 1
        low[b] = min(low[b], score[i])
        high[b] = max(high[b], score[i])


@njit(cache=True)
def _add_costs(of_row: NDArray[np.int32], cost: Array, paid: Array, saved: Array) -> None:
    """Add the costs of the rows of each bin, and the sizes of those below 0."""
    for i in range(len(cost)):
        paid[of_row[i]] += cost[i]
        if cost[i] < 0.0:
            saved[of_row[i]] -= cost[i]
