"""What is one for all threads of a process, and has to differ by thread."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any


class _Shared:
    """A context that threads share: the first to come enters it, the last to go leaves it.

    Were each to enter and leave one of its own, a thread could restore what another had just set,
    and the last would restore what the first had set for its own time only.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make, self._lock, self._inside = make, threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._context = self._make()
                self._context.__enter__()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._context.__exit__(None, None, None)


class _Listening(threading.local):
    """Where the warnings of this thread go, the innermost last."""

    def __init__(self) -> None:
        self.heard: list[list[warnings.WarningMessage]] = []


_listening = _Listening()


@contextmanager
def _told_by_thread() -> Iterator[None]:
    """Every warning goes to those who listen in its own thread, and others where they went."""
    with warnings.catch_warnings():
        shown_before = warnings.showwarning
        warnings.simplefilter("always")

        def tell(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if _listening.heard:
                told = warnings.WarningMessage(message, category, *where, **more)
                _listening.heard[-1].append(told)
            else:
                shown_before(message, category, *where, **more)

        warnings.showwarning = tell
        yield


_all_told = _Shared(_told_by_thread)


@contextmanager
def heard_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """The warnings of this thread, which are not shown; catch_warnings() is of all threads at once.

    >>> with heard_warnings() as heard:
    ...     warnings.warn("few rows")
    >>> [str(one.message) for one in heard]
    ['few rows']
    """
    heard: list[warnings.WarningMessage] = []
    with _all_told:
        _listening.heard.append(heard)
        try:
            yield heard
        finally:
            _listening.heard.pop()
