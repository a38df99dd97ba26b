"""Capture warnings per thread; `warnings.catch_warnings` is process-wide."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any


class _Shared:
    """A context that threads share: the first thread enters it, and the last one leaves it.

    If each thread entered a context of its own, one could restore what another had just set, and
    the last to leave would restore what the first had set only for itself.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._inside = 0

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
    """The lists that collect warnings of this thread, the innermost last."""

    def __init__(self) -> None:
        self.heard: list[list[warnings.WarningMessage]] = []


_listening = _Listening()


@contextmanager
def _told_by_thread() -> Iterator[None]:
    """Send each warning to the innermost list of its own thread, or where it went before."""
    with warnings.catch_warnings():
        shown_before = warnings.showwarning
        # A filter of "once" or "default" would hide from one thread what another has seen.
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
    """Collect the warnings of this thread in a list while the context is open; show none.

    >>> with heard_warnings() as heard:
    ...     warnings.warn("few rows")
    >>> [str(warning.message) for warning in heard]
    ['few rows']
    """
    heard: list[warnings.WarningMessage] = []
    with _all_told:
        _listening.heard.append(heard)
        try:
            yield heard
        finally:
            _listening.heard.pop()
