"""Divide draws into rounds: a block for each worker, and larger ones where they are quick.

And have how a block is searched, and what the compiled draws of rows share.
"""

import math
import time
from collections.abc import Iterator

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import check_stopped
from gerrymend.subgroups.base import BoundClass, most_of_any

# A block of draws is searched at once; it grows while a round is quick, to so many numbers.
_QUICK_SECONDS = 0.1
_MOST_NUMBERS = 2_000_000


def rounds(n_draws: int, *, workers: int, width: int, deadline: float) -> Iterator[list[range]]:
    """Yield blocks of draws, a round at a time, until all are made or it is too late.

    There is one round at least, and the last draws are shared evenly. It is too late for a round
    that would not end by the deadline if it took as long as the one before.

    Parameters
    ----------
    n_draws : int
        Draws to make.
    workers : int
        Blocks of a round.
    width : int
        Numbers that a draw holds in memory.
    deadline : float
        By time.monotonic().

    >>> [len(blocks) for blocks in rounds(5, workers=2, width=10, deadline=0.0)]
    [2]
    """
    done = 0
    # A draw may take minutes, which nobody knows before the first: blocks begin with one, and
    # double only while rounds are quick, so that the deadline is not overrun by much.
    size = 1
    while done < n_draws:
        start = time.monotonic()
        # The last round in even blocks (a quotient that is rounded up), not one worker with all.
        size = min(size, -(-(n_draws - done) // workers))
        stop = min(done + workers * size, n_draws)
        yield [range(first, min(first + size, stop)) for first in range(done, stop, size)]
        check_stopped()
        done = stop
        now = time.monotonic()
        if now + (now - start) >= deadline:
            return
        if now - start < _QUICK_SECONDS:
            size = max(1, min(2 * size, _MOST_NUMBERS // width))


def largest_values(bound: BoundClass, residuals: Array, deadline: float) -> Array:
    """Return the largest |value| that a search finds in each draw.

    A search that the deadline cuts short has found no more than a part of that. The draw then has
    the largest |value| of any set of its rows, which is never less: a quantile of the draws, or a
    p-value, can only become more careful by it.
    """
    if len(residuals) > 1:  # a block of several is made only where draws are quick
        return np.abs(bound.worst(residuals).values)
    found = bound.search(residuals[0], seconds=max(0.0, deadline - time.monotonic()))
    return most_of_any(residuals) if time.monotonic() >= deadline else np.abs(found.values)


def word(rng: np.random.Generator) -> np.uint64:
    """Return a random word, the seed of compiled draws."""
    return rng.integers(0, 2**64, dtype=np.uint64)


def rarely_exceeded(sizes: Array) -> Array:
    """Return means of counts, so that one of them is above its size in at most a draw of 20.

    Of a sum of independent zeros and ones, or a Poisson variable, with the mean s − t the chance to
    be above s is at most exp(−t²/(2·(s − t + t/3))) ≤ exp(−t²/(2·s)), by Bernstein's inequality.
    With t² = 2·s·ln(20·k) that is 1/(20·k) for each of k sizes.

    >>> rarely_exceeded(np.array([10_000.0])).round().tolist()
    [9755.0]
    """
    means: Array = np.maximum(0.0, sizes - np.sqrt(2 * math.log(20 * len(sizes)) * sizes))
    return means
