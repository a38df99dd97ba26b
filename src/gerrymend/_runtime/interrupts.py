"""Handling of Ctrl-C in compiled code, in threads, and around rounds that must not be cut short."""

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class StoppableTasks:
    """Tasks in threads that others own, which can be stopped and waited for.

    Ctrl-C reaches the main thread only, and joblib's threads are daemons that go on with their
    work. If the interpreter ends before they do, a thread that returns from compiled code to take
    the GIL is ended by pthread_exit, and C++ with a destructor on the stack (pybind11's, around
    HiGHS) turns that into an abort of the process.

    >>> tasks = StoppableTasks()
    >>> tasks.run(divmod, 7, 2)
    (3, 1)
    >>> tasks.stop()  # from now on `run` raises KeyboardInterrupt
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._ended = threading.Condition()
        self._n_running = 0

    def run(self, function: Callable[..., T], *task: Any) -> T:
        """Run a task in the calling thread; `stop` ends it where it calls `check_stopped`."""
        # Counted before the first check, so that `stop` waits for a task that is just starting.
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
        """Stop the running tasks and wait for them: at most a round, or one fit of an estimator."""
        self._stopped.set()
        with self._ended:
            self._ended.wait_for(lambda: self._n_running == 0)


class _OwnTask(threading.local):
    """The event that is set when the task of this thread has to stop; None without a task."""

    stopped: threading.Event | None = None


_own = _OwnTask()


def check_stopped() -> None:
    """Raise KeyboardInterrupt if the task of this thread has been stopped."""
    if _own.stopped is not None and _own.stopped.is_set():
        raise KeyboardInterrupt


def interruptible(function: Callable[P, T]) -> Callable[P, T]:
    """Raise KeyboardInterrupt for Ctrl-C in compiled code, where numba raises a SystemError.

    Also calls `check_stopped` first, which stops the threads of a sweep.
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
    """Return True if an error was caused by Ctrl-C."""
    # Each compiled function in the call stack wraps the error of the one below.
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the context ends: half a round would leave votes that nobody counted."""
    with noted() as check:
        yield
    check()


@contextmanager
def noted() -> Iterator[Callable[[], None]]:
    """Note Ctrl-C instead of raising it; yield a function that raises it when it is called.

    To be called between rounds, so that each is whole.
    """
    pressed: list[int] = []

    def check() -> None:
        check_stopped()
        if pressed:
            raise KeyboardInterrupt

    # Python runs signal handlers in the main thread, and lets no other thread set one.
    if threading.current_thread() is not threading.main_thread():
        yield check
        return
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
