"""Divide draws into rounds: a block for each worker, and larger ones where they are quick."""

import time
from collections.abc import Iterator

from gerrymend._runtime.interrupts import check_stopped

# A block of draws is searched at once; it grows while a round is quick, to so many numbers.
_QUICK_SECONDS = 0.1
_MOST_NUMBERS = 2_000_000


def rounds(n_draws: int, *, workers: int, width: int, deadline: float) -> Iterator[list[range]]:
    """Yield blocks of draws, a round at a time, until all are made or it is too late.

    There is one round at least, and the last draws are shared evenly.

    Parameters
    ----------
    n_draws : int
        Draws to make.
    workers : int
        Blocks of a round.
    width : int
        Numbers that a draw holds in memory.
    deadline : float
        By time.monotonic(); no round starts after it.

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
        if time.monotonic() >= deadline:
            return
        if time.monotonic() - start < _QUICK_SECONDS:
            size = max(1, min(2 * size, _MOST_NUMBERS // width))
