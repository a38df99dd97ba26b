"""Ctrl-C in compiled code."""

import functools
from collections.abc import Callable
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
