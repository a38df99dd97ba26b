"""Tell of the rounds of a training while a user waits, and how long they may still take."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from gerrymend.cli.progress import Say

# A wait that a user should know of beforehand, in seconds.
_LONG = 60.0


class Waiting:
    """Estimate from the rounds that were played how long all others take.

    The first one is not counted: code is compiled in it, and rows are read.

    >>> times = iter([9.0, 11.0, 12.0])
    >>> waiting = Waiting(clock=lambda: next(times))
    >>> waiting.left(1, 120), waiting.left(2, 120), waiting.left(3, 120)
    (None, 236.0, 175.5)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None

    def left(self, done: int, of: int) -> float | None:
        """Return the seconds that the rounds after `done` take, if all are played; None at first.

        Training that goes on from a checkpoint begins with a later round.
        """
        now = self._clock()
        if self._first is None or done <= self._first[1]:
            self._first = (now, done)
            return None
        began, first = self._first
        return (now - began) / (done - first) * (of - done)


def duration(seconds: float) -> str:
    """Return a time in words, in the unit in which it is said.

    >>> [duration(seconds) for seconds in (0.2, 59, 236, 5400, 86400)]
    ['1 s', '59 s', '4 min', '2 h', '24 h']
    """
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"


def long_wait_words(left: float, done: int, of: int) -> str | None:
    """Say how long a training may still take, and what shortens it; None where that is not long.

    >>> long_wait_words(59.0, 2, 120) is None
    True
    >>> long_wait_words(236.0, 2, 120)
    'Note: a round takes about 2 s, and up to 118 more are played: 4 min at most. Training ends \
sooner where it converges, and --max-iter plays fewer rounds.'
    """
    if left < _LONG:
        return None
    each = duration(left / (of - done))
    return (
        f"Note: a round takes about {each}, and up to {of - done:,} more are played: "
        f"{duration(left)} at most. Training ends sooner where it converges, and --max-iter plays "
        "fewer rounds."
    )


@contextmanager
def rounds_told(say: Say, note: Callable[[str], None] | None = None) -> Iterator[None]:
    """Pass what the classifier logs of its rounds on to the progress bar, and to nobody else.

    A wait that will be long is told to `note`, once.
    """
    from gerrymend.training.callbacks import LAST_LOOK

    waiting = Waiting()
    noted = False

    class Teller(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            nonlocal noted
            if record.msg == LAST_LOOK:
                say(LAST_LOOK % record.args)
                return
            # Records of rounds have these four; others are not for a progress bar.
            if not isinstance(record.args, tuple) or len(record.args) != 4:
                return
            done, of, error, unfairness = record.args
            played = cast(int, done)
            at_most = cast(int, of)
            left = waiting.left(played, at_most)
            # First what a narrow terminal has room for.
            wait = f", {duration(left)}" if left else ""
            words = f"rounds{wait} at most: error {error:.3f}, unfairness {unfairness:.4f}"
            say(words, played, at_most)
            if note is not None and left and not noted:
                told = long_wait_words(left, played, at_most)
                if told is not None:
                    noted = True
                    note(told)

    # The application's own handlers would print each round over the progress bar.
    logger = logging.getLogger("gerrymend")
    teller = Teller(logging.INFO)
    level = logger.level
    passes = logger.propagate
    logger.addHandler(teller)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(teller)
        logger.setLevel(level)
        logger.propagate = passes
