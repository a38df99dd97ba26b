"""Ctrl-C in compiled code, in threads, and in the middle of what has to be whole."""

import functools
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, Self, TypeVar

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


class HeldInterrupts:
    """Hold Ctrl-C back where work must be whole, and let it through elsewhere.

    As a context it takes Ctrl-C over, once for many rounds, as a change of handlers takes longer
    than all else that a round costs beside its work. While `holding` is set, Ctrl-C is noted, and
    raised by `check`; at other times it does what it did before. Ctrl-C never reaches threads other
    than the main one: there `check` looks at whether the task was stopped.

    >>> with HeldInterrupts() as interrupts:
    ...     interrupts.holding = True
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupts.holding = False
    ...     try:
    ...         interrupts.check()
    ...     except KeyboardInterrupt:
    ...         print("pressed")
    pressed
    """

    def __init__(self) -> None:
        self.holding = False
        self._pressed = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        # None is also what a handler that wasn't set from Python is; it can't be set again.
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.holding:
            self._pressed = True
        elif callable(self._before):
            self._before(number, frame)
        elif self._before != signal.SIG_IGN:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was noted, or the task of this thread was stopped."""
        check_stopped()
        if self._pressed:
            raise KeyboardInterrupt
