"""Compile loops with numba, and show how far that is, since the first caller waits for seconds.

Compiled code is cached on disk, so that happens once in an environment; where loops are loaded,
nothing is shown. A terminal gets a line with the number of loops that are done, which is gone at
the end; `shown_by` shows it otherwise. The logger "gerrymend.compiling" logs a message, once in a
process, and each quarter of what is expected.
"""

import functools
import logging
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Loop = TypeVar("Loop", bound=Callable[..., Any])
# Shows words, how many loops are done, and of how many if that is known; no words: it is over.
Show = Callable[[str, int, int | None], None]

logger = logging.getLogger("gerrymend.compiling")

MESSAGE = "Compiling the search; it takes some seconds, once in this environment."
WORDS = "Compiling the search, once in this environment"
_LINE = 72  # characters


def njit(*, inner: bool = False, **options: Any) -> Callable[[Loop], Loop]:
    """Decorate a loop with `numba.njit`, whose options these are, and show its compilation.

    An `inner` loop is called by compiled code only, and neither it nor what it calls makes arrays.
    So it needs no entry from Python, and no count of who holds the arrays that it was given: a
    third of what it took to compile boxes of gaps.

    Parameters
    ----------
    inner : bool, default=False
        Whether the loop is an inner one. Python can't call it then.
    **options
        Those of `numba.njit`, such as `cache`.
    """
    import numba

    _listen()
    if inner:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}

    def decorate(function: Loop) -> Loop:
        loop: Loop = numba.njit(**options)(function)
        _loops.add(loop)
        return loop

    return decorate


@contextmanager
def expected(loops: Iterable[Any]) -> Iterator[None]:
    """Show compilation in this context as a part of these loops and of those that they call.

    Parameters
    ----------
    loops : iterable of compiled functions
        Those that are about to be called. Loops that are loaded already don't count, nor do those
        that only these call.
    """
    global _compilation
    before = _compilation
    _compilation = _Compilation(loops)
    try:
        yield
    finally:
        _compilation.end()
        _compilation = before


@contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """Have `show` called while loops are compiled, in place of the line on a terminal."""
    global _show
    before = _show
    _show = show
    try:
        yield
    finally:
        _show = before


class _Compilation:
    """The loops that are done, and those that are expected."""

    def __init__(self, loops: Iterable[Any] = ()) -> None:
        # Of a loop that is loaded, those that it calls are not compiled, and hence not expected.
        self._reached = {loop: _reached(loop) for loop in loops if not loop.overloads}
        self._expected = set[Any]().union(*self._reached.values())
        self._done = set[Any]()
        self._quarter = 0
        self._is_shown = False
        self._depth = 0

    def start(self) -> None:
        """Show that a loop is being compiled."""
        self._depth += 1
        if _announcing.acquire(blocking=False):  # never released, so that it is logged once
            logger.info(MESSAGE)
        self._tell()

    def finish(self, loop: Any) -> None:
        """Show that a loop is done."""
        self._depth -= 1
        self._done.add(loop)
        self._tell()
        if not (self._depth or self._expected):
            self.end()

    def _tell(self) -> None:
        self._is_shown = True
        loaded = (reached for loop, reached in self._reached.items() if loop.overloads)
        n_done = len(self._expected.intersection(self._done.union(*loaded)))
        n_expected = len(self._expected)
        _show(WORDS, n_done, n_expected or None)
        if n_expected and 4 * n_done // n_expected > self._quarter:
            self._quarter = 4 * n_done // n_expected
            logger.info("Compiled %d of %d loops.", n_done, n_expected)

    def end(self) -> None:
        """Show nothing any more."""
        if self._is_shown:
            self._is_shown = False
            _show("", 0, None)


def _reached(loop: Any) -> set[Any]:
    """Return a loop and all that it calls, by the names in its code."""
    reached = {loop}
    pending = [loop]
    while pending:
        function = pending.pop().py_func
        named = (function.__globals__.get(name) for name in function.__code__.co_names)
        called = {other for other in named if hasattr(other, "py_func")} - reached
        reached |= called
        pending += called
    return reached


def _show_on_terminal(words: str, done: int, of: int | None) -> None:
    """Write a line over the one before it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return
    count = "" if of is None else f": {done} of {of} loops"
    sys.stderr.write("\r" + f"{words}{count if words else ''}".ljust(_LINE) + "\r" * (not words))
    sys.stderr.flush()


_loops = weakref.WeakSet[Any]()
_announcing = threading.Lock()
_show: Show = _show_on_terminal
_compilation = _Compilation()


@functools.cache
def _listen() -> None:
    """Register a listener of numba's compile events, once in a process."""
    from numba.core import event

    class Listener(event.Listener):
        # The events are also fired for functions of numba itself and of its other users.
        def on_start(self, event: Any) -> None:
            if event.data["dispatcher"] in _loops:
                _compilation.start()

        def on_end(self, event: Any) -> None:
            if event.data["dispatcher"] in _loops:
                _compilation.finish(event.data["dispatcher"])

    event.register("numba:compile", Listener())


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
