"""Test whether a group's outcomes are those of others within strata: exactly, by counts.

Of equal rows whose outcomes are of two kinds the group's number of one is hypergeometric in each
stratum, given its sizes and the stratum's number in all, and strata are independent of each other.
So the group's number over all strata is a sum of independent hypergeometric variables, whose
distribution is the convolution of theirs: the exact conditional test of which Cochran, Mantel and
Haenszel's is the approximation. Of few rows a stratum that one fails, and this one doesn't.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from gerrymend._numeric.sums import Array

# What is added to each tail, for the terms that are left out and the rounding of the others. Flags
# can't depend on it: the smallest step of 100,000 groups at a rate of 1 in 1,000 is 10⁻⁹.
GUARD = 1e-12
# Terms are left out that have less than this on each side, in each stratum.
_LEFT_OUT = 1e-17


def p_values_within(
    found: Array, sizes: Array, outcomes: NDArray[Any], rows: NDArray[Any]
) -> Array:
    """Return twice the smaller tail of each group's number of outcomes, 1 at most.

    Two strata of two rows, of which one has the outcome; the group is a row of each, and both have
    it: 1 of the 4 ways.

    >>> within = p_values_within(np.array([2.0]), np.array([[1, 1]]), np.array([1, 1]),
    ...                          np.array([2, 2]))
    >>> within.round(9).tolist()
    [0.5]

    Parameters
    ----------
    found : array (groups,)
        Rows of the group with the outcome, over all strata.
    sizes : array (groups, strata)
        Rows of the group in each.
    outcomes, rows : arrays (strata,)
        Rows with the outcome, and all rows of each stratum.
    """
    p_values = np.ones(len(found))
    for group, size in enumerate(sizes):
        least, chances = _distribution(size, outcomes, rows)
        place = round(float(found[group])) - least
        below = float(chances[: max(0, place + 1)].sum())
        above = float(chances[max(0, place) :].sum())
        p_values[group] = min(1.0, 2 * (max(0.0, min(below, above)) + GUARD))
    return p_values


def _distribution(sizes: Array, outcomes: NDArray[Any], rows: NDArray[Any]) -> tuple[int, Array]:
    """Return the chances of a sum of hypergeometric variables, from a number on."""
    # Where all rows have the outcome, or none, or the group is all or nothing, there is no chance.
    varies = (sizes > 0) & (sizes < rows) & (outcomes > 0) & (outcomes < rows)
    least = round(float((sizes * (outcomes / rows))[~varies].sum()))
    parts = [
        _hypergeometric(round(n), round(k), round(total))
        for n, k, total in zip(sizes[varies], outcomes[varies], rows[varies], strict=True)
    ]
    least += sum(first for first, _ in parts)
    length = 1 + sum(len(chances) - 1 for _, chances in parts)
    # A product of transforms is the transform of the convolution, in O(length·log(length)).
    product = np.ones(length // 2 + 1, complex)
    for _, chances in parts:
        product *= np.fft.rfft(chances, length)
    return least, np.fft.irfft(product, length)


def _hypergeometric(size: int, outcomes: int, rows: int) -> tuple[int, Array]:
    """Return the chances of how many of `size` rows have the outcome, from a number on.

    >>> first, chances = _hypergeometric(2, 2, 4)
    >>> first, (6 * chances).round(9).tolist()
    (0, [1.0, 4.0, 1.0])
    """
    mean = size * (outcomes / rows)
    # Bernstein's inequality, of which the variance is that of drawing with replacement (Hoeffding,
    # 1963): exp(−t²/(2·(variance + t/3))) is what is left out for this t.
    log = -math.log(_LEFT_OUT)
    variance = mean * (1 - outcomes / rows)
    away = log / 3 + math.sqrt(log**2 / 9 + 2 * log * variance)
    first = max(0, size + outcomes - rows, math.floor(mean - away))
    last = min(size, outcomes, math.ceil(mean + away))
    k = np.arange(first, last + 1, dtype=np.float64)
    ways = _log_ways(outcomes, k) + _log_ways(rows - outcomes, size - k)
    chances = np.exp(ways - ways.max())
    return first, chances / chances.sum()


def _log_ways(n: int, k: Array) -> Array:
    """Return the logarithms of the numbers of ways to choose k of n, but for a part that is n's."""
    ways: Array = -gammaln(k + 1) - gammaln(n - k + 1)
    return ways
