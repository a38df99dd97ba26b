"""Clocks that end a computation: by time, for whoever waits; by work, for whoever repeats it."""

import time


class Clock:
    """The seconds that have passed; how much was done in them doesn't matter.

    >>> clock = Clock()
    >>> clock.worked(10**9)
    >>> clock() <= clock()
    True
    """

    is_time = True

    def __call__(self) -> float:
        """Return the time, in seconds."""
        return time.monotonic()

    def worked(self, numbers: float) -> None:
        """Take note that so many numbers were read."""


WALL_CLOCK = Clock()


class WorkClock(Clock):
    """The numbers that were read so far, in place of seconds.

    What a computation comes to by such a clock is the same on any machine, however busy it is.

    >>> clock = WorkClock()
    >>> clock.worked(1000)
    >>> clock()
    1000.0
    """

    is_time = False

    def __init__(self) -> None:
        self._numbers = 0.0

    def __call__(self) -> float:
        """Return how many numbers were read."""
        return self._numbers

    def worked(self, numbers: float) -> None:
        """Move the clock on by so many numbers."""
        self._numbers += numbers
