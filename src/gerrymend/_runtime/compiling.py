"""Compile loops with numba, and say so: whoever comes first waits for seconds.

Compiled code is kept on disk, so it happens once in an environment. The logger
"gerrymend.compiling" says it, once in a process, when a loop is compiled rather than loaded.
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


def njit(**options: Any) -> Callable[[Loop], Loop]:
    """Decorate a loop as `numba.njit` does, and have its compilation announced."""
    import numba

    _listen()
    decorator: Callable[[Loop], Loop] = numba.njit(**options)
    return decorator


@functools.cache
def _listen() -> None:
    """Hear from numba when it compiles, from now on."""
    from numba.core import event

    class Announcer(event.Listener):
        def on_start(self, event: Any) -> None:
            # numba compiles parts of itself as well, and what its other users have.
            module = event.data["dispatcher"].py_func.__module__
            if (module or "").startswith("gerrymend."):
                _announce_once()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Announcer())


_announcing = threading.Lock()


def _announce_once() -> None:
    """Log the message; the lock is never released, so that nobody else does."""
    if _announcing.acquire(blocking=False):
        logger.info(MESSAGE)


@contextmanager
def compilation_told(say: Callable[[str], None]) -> Iterator[None]:
    """Pass on to `say` what is logged of compilation while the context is open.

    >>> with compilation_told(print):
    ...     logger.info(MESSAGE)
    Compiling the search; it takes some seconds, once in this environment.
    """

    class Teller(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.getMessage())

    teller, level = Teller(logging.INFO), logger.level
    logger.addHandler(teller)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(teller)
        logger.setLevel(level)
