"""Compile loops with numba, and announce it, since the first caller waits for seconds.

Compiled code is cached on disk, so that happens once in an environment. The logger
"gerrymend.compiling" logs a message, once in a process, when a loop is compiled and not loaded.
"""

import functools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Loop = TypeVar("Loop", bound=Callable[..., Any])

logger = logging.getLogger("gerrymend.compiling")

MESSAGE = "Compiling the search; it takes some seconds, once in this environment."


def njit(*, inner: bool = False, **options: Any) -> Callable[[Loop], Loop]:
    """Decorate a loop with `numba.njit`, whose options these are, and announce its compilation.

    An `inner` loop is called by compiled code only, and neither it nor what it calls makes arrays.
    So it needs no entry from Python, and no count of who holds the arrays that it was given: a
    third of what it took to compile boxes of gaps.
    """
    import numba

    _listen()
    if inner:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    decorator: Callable[[Loop], Loop] = numba.njit(**options)
    return decorator


@functools.cache
def _listen() -> None:
    """Register a listener of numba's compile events, once in a process."""
    from numba.core import event

    class Announcer(event.Listener):
        def on_start(self, event: Any) -> None:
            # The event is also fired for functions of numba itself and of its other users.
            module = event.data["dispatcher"].py_func.__module__
            if (module or "").startswith("gerrymend."):
                _announce_once()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Announcer())


_announcing = threading.Lock()


def _announce_once() -> None:
    """Log the message; the lock is never released, so that it is logged once."""
    if _announcing.acquire(blocking=False):
        logger.info(MESSAGE)


@contextmanager
def logs_told(logger: logging.Logger, say: Callable[[str], None]) -> Iterator[None]:
    """Pass a logger's messages of level INFO and above on to `say` while the context is open.

    >>> with logs_told(logger, print):
    ...     logger.info(MESSAGE)
    Compiling the search; it takes some seconds, once in this environment.
    """

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.getMessage())

    handler = Handler(logging.INFO)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
