"""Show what a command is at, and how much is done: a bar on a terminal, elsewhere some lines."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from gerrymend._runtime.compiling import shown_by
from gerrymend.cli.shared import tell
from gerrymend.reporting.wording import visible

# Seconds after which the first line comes where there is no terminal; each next one comes after
# twice as long, so that a night's log has a dozen.
_FIRST_LINE = 20.0


class Say(Protocol):
    """A function that says what is going on, and how much of it is done where that is known."""

    def __call__(self, words: str, done: int = 0, of: int | None = None) -> None:
        """Show the words, and a bar if there is a number to reach."""


@contextmanager
def progress(console: Console, first: str, *, quiet: bool = False) -> Iterator[Say]:
    """Show what is going on, and for how long; yields what says so.

    Parameters
    ----------
    console : Console
        A terminal gets a bar. Elsewhere, as in the log of a job, long work gets some lines.
    first : str
        What is going on at first.
    quiet : bool, default=False
        Leave out the lines.
    """
    if console.is_terminal:
        shown: Any = _bar(console, first)
    else:
        shown = _Lines(console, first, quiet=quiet)
    with shown as show:
        # What compiles, and whatever else is shown for a while, gives way to what was said last.
        said: tuple[str, int, int | None] = (first, 0, None)

        def say(words: str, done: int = 0, of: int | None = None) -> None:
            nonlocal said
            said = (words, done, of)
            show(*said)

        def show_compilation(words: str, done: int, of: int | None) -> None:
            show(*((words, done, of) if words else said))

        with shown_by(show_compilation):
            yield say


class _Bar(BarColumn):
    """A bar where there is a number to reach, and nothing elsewhere."""

    def render(self, task: Task) -> Any:
        return Text("") if task.total is None else super().render(task)


class _Count(MofNCompleteColumn):
    """The number done of all, in the same way."""

    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else super().render(task)


@contextmanager
def _bar(console: Console, first: str) -> Iterator[Say]:
    """Show a bar that is wiped off at the end."""
    columns = (
        SpinnerColumn(),
        TimeElapsedColumn(),
        _Bar(bar_width=24),
        _Count(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        bars.add_task(visible(first), total=None)
        (task,) = bars.tasks

        def show(words: str, done: int = 0, of: int | None = None) -> None:
            # update() can't make a known total unknown
            task.total = of
            task.completed = done
            bars.update(task.id, description=visible(words))

        yield show


class _Lines:
    """Print a line of what is going on after some seconds, and after twice as many again."""

    def __init__(self, console: Console, first: str, *, quiet: bool) -> None:
        self._console = console
        self._quiet = quiet
        self._shown: tuple[str, int, int | None] = (first, 0, None)
        self._ended = threading.Event()
        # A daemon: it never keeps a process that is to end.
        self._teller = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> "_Lines":
        if not self._quiet:
            self._teller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._teller.is_alive():
            self._teller.join()

    def __call__(self, words: str, done: int = 0, of: int | None = None) -> None:
        """Keep what is going on for the next line."""
        self._shown = (words, done, of)

    def _tell(self) -> None:
        start = time.monotonic()
        after = _FIRST_LINE
        while not self._ended.wait(start + after - time.monotonic()):
            words, done, of = self._shown
            count = "" if of is None else f"{done:,} of {of:,} "
            tell(self._console, f"After {after:g} s: {count}{words}")
            after *= 2
