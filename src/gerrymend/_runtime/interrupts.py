"""Ctrl-C in compiled code, in threads, and in the middle of what has to be whole."""

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class StoppableTasks:
    """Run tasks in threads of others, so that they can be stopped and waited for.

    Ctrl-C reaches the main thread only, and joblib's threads are daemons that it leaves behind with
    what they are at. Where the interpreter ends before they do, a thread that comes back from
    compiled code to take the GIL is ended by pthread_exit, and C++ that has a destructor on the
    stack (pybind11's, around HiGHS) turns that into an abort of the process.

    >>> tasks = StoppableTasks()
    >>> tasks.run(divmod, 7, 2)
    (3, 1)
    >>> tasks.stop()  # and from now on none begins
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._ended = threading.Condition()
        self._n_running = 0

    def run(self, function: Callable[..., T], *task: Any) -> T:
        """Run a task in this thread; it is stopped where it calls `check_stopped`."""
        with self._ended:
            self._n_running += 1
        try:
            _own.stopped = self._stopped
            check_stopped()
            return function(*task)
        finally:
            _own.stopped = None
            with self._ended:
                self._n_running -= 1
                self._ended.notify_all()

    def stop(self) -> None:
        """Stop what is running and wait for it: a round, or the fit of an estimator, at most."""
        self._stopped.set()
        with self._ended:
            self._ended.wait_for(lambda: self._n_running == 0)


class _OwnTask(threading.local):
    """The task that this thread runs: what is set when it has to stop, if it has one."""

    stopped: threading.Event | None = None


_own = _OwnTask()


def check_stopped() -> None:
    """Raise KeyboardInterrupt in a task that nobody waits for any more."""
    if _own.stopped is not None and _own.stopped.is_set():
        raise KeyboardInterrupt


def interruptible(function: Callable[P, T]) -> Callable[P, T]:
    """Let Ctrl-C be a KeyboardInterrupt in compiled code too: numba makes it a SystemError.

    It is looked for in the threads of a sweep too, when the function is called.
    """

    @functools.wraps(function)
    def wrapped(*args: P.args, **options: P.kwargs) -> T:
        check_stopped()
        try:
            return function(*args, **options)
        except SystemError as error:
            if _was_pressed(error):
                raise KeyboardInterrupt from None
            raise

    return wrapped


def _was_pressed(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is behind an error: compiled code that calls others wraps it anew."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


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
        check_stopped()
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
