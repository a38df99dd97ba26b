"""Handling of Ctrl-C in compiled code, in threads, and around rounds that must not be cut short."""

import functools
import signal
import threading
from collections.abc import Callable
from contextlib import nullcontext
from types import FrameType
from typing import Any, ParamSpec, Self, TypeVar

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
    """Hold what stops this thread.

    Attributes
    ----------
    stopped : threading.Event or None
        Set when the task of this thread has to stop; None without a task.
    interrupts : HeldInterrupts or None
        The innermost context that has taken Ctrl-C over.
    """

    stopped: threading.Event | None = None
    interrupts: "HeldInterrupts | None" = None


_own = _OwnTask()


def check_stopped() -> None:
    """Raise KeyboardInterrupt if the task of this thread was stopped, or a Ctrl-C was lost.

    Python raises KeyboardInterrupt wherever it happens to be. In a destructor or in a function that
    C code calls, as LLVM does while it compiles for numba, it is printed and dropped.
    """
    if _own.stopped is not None and _own.stopped.is_set():
        raise KeyboardInterrupt
    if _own.interrupts is not None and _own.interrupts.raised is not None:
        raise _own.interrupts.raised


def interruptible(function: Callable[P, T]) -> Callable[P, T]:
    """Raise KeyboardInterrupt for Ctrl-C in compiled code, where numba raises a SystemError.

    Calls `check_stopped` before and after, so that threads of a sweep stop, and no Ctrl-C is lost.
    """

    @functools.wraps(function)
    def wrapped(*args: P.args, **options: P.kwargs) -> T:
        check_stopped()
        # Within another such context Ctrl-C is taken over already.
        with HeldInterrupts() if _own.interrupts is None else nullcontext():
            try:
                result = function(*args, **options)
            except SystemError as error:
                if _was_pressed(error):
                    raise KeyboardInterrupt from None
                raise
            check_stopped()
        return result

    return wrapped


def _was_pressed(error: BaseException | None) -> bool:
    """Return True if an error was caused by Ctrl-C."""
    # Each compiled function in the call stack wraps the error of the one below.
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


class HeldInterrupts:
    """Hold Ctrl-C back where work must be whole, and let it through elsewhere.

    As a context it takes Ctrl-C over, once for many rounds, as a change of handlers takes longer
    than all else that a round costs beside its work. While `holding` is set, Ctrl-C is noted, and
    raised by `check`; at other times it does what it did before, and what that raised is raised
    again by `check` if it was lost on its way. Ctrl-C never reaches threads other than the main
    one: there `check` looks at whether the task was stopped.

    `raised` is what the handler raised in this context; None before.

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
        self.raised: BaseException | None = None
        self._pressed = False
        self._before: Any = None
        self._outer: HeldInterrupts | None = None

    def __enter__(self) -> Self:
        self._outer = _own.interrupts
        if self._outer is not None:
            self.raised = self._outer.raised
        _own.interrupts = self
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        _own.interrupts = self._outer
        # None is also what a handler that wasn't set from Python is; it can't be set again.
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.holding:
            self._pressed = True
            return
        try:
            if callable(self._before):
                self._before(number, frame)
            elif self._before != signal.SIG_IGN:
                raise KeyboardInterrupt
        except BaseException as raised:
            self.raised = raised
            raise

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was noted, or the task of this thread was stopped."""
        check_stopped()
        if self._pressed:
            raise KeyboardInterrupt
