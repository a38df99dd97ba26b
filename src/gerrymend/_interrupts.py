"""Ctrl-C in compiled code, and in the middle of what has to be whole."""

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def interruptible(function: Callable[P, T]) -> Callable[P, T]:
    """Let Ctrl-C be a KeyboardInterrupt in compiled code too: numba makes it a SystemError."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **options: P.kwargs) -> T:
        try:
            return function(*args, **options)
        except SystemError as error:
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise

    return wrapped


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the end of a round: half of one would leave votes that nobody counted."""
    with noted() as check:
        yield
    check()


@contextmanager
def noted() -> Iterator[Callable[[], None]]:
    """Ctrl-C is noted, and raised by what this gives: between rounds, which are then whole."""
    pressed: list[int] = []

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield check
        return
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
