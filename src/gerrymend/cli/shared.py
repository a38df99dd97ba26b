"""Share among commands: options, notes, files that are written, and errors."""

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from gerrymend._runtime.compiling import logs_told
from gerrymend._runtime.errors import Message
from gerrymend._runtime.files import can_be_written
from gerrymend._runtime.interrupts import HeldInterrupts
from gerrymend.cli.exit_codes import CANT_BE_DONE, INTERRUPTED, STANDS_OUT, Decision
from gerrymend.inputs.identifiers import IdentifierWarning
from gerrymend.reporting.audit.lead import brief_sentences, passing_sentences
from gerrymend.reporting.audit.verdict import look, warning_sentences
from gerrymend.reporting.audit.words import missing_sentence
from gerrymend.reporting.page import check_installed
from gerrymend.reporting.text import wrapped
from gerrymend.reporting.wording import visible
from gerrymend.reproduction.records import write_text

SMALL_GROUPS_HELP = (
    "Groups with fewer rows that a rate is over (negatives, for false positives), inside or "
    "outside, are not described."
)


def option(words: str, panel: str, *names: str, **more: Any) -> Any:
    """Return an option, in a panel of the help."""
    return typer.Option(*names, help=words, rich_help_panel=panel, **more)


def column(words: str, panel: str, *names: str) -> Any:
    """Return an option that names a column."""
    return option(words, panel, *names, metavar="COLUMN", show_default=False)


class Output(Console):
    """Standard output; where its reader has gone, the exit code still says the verdict."""

    def on_broken_pipe(self) -> None:
        """Write no more, and go on."""
        # Python flushes standard output once more as it exits; that must not fail either.
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(console: Console, words: str, style: str = "") -> None:
    """Print a line as it is: nothing of it is markup, and no name in it acts on the terminal.

    A terminal breaks it between words, and none of them; elsewhere it stays one line.
    """
    lines = visible(words).split("\n")
    if console.is_terminal:
        folded = [wrapped(line, console.width) if len(line) > console.width else [line]
                  for line in lines]  # fmt: skip
        lines = [part for parts in folded for part in parts]
    text = "\n".join(lines)
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def guarded(work: Callable[[Console], int]) -> int:
    """Do some work and return its exit code; an error becomes one line on standard error.

    Parameters
    ----------
    work : callable
        Takes a console on standard error, and returns an exit code. EOFError (of a file that was
        cut off), ImportError, OSError, TypeError and ValueError are the user's to mend; others are
        bugs, of which `app.main` shows the traceback.
    """
    console = Console(stderr=True, highlight=False)
    try:
        with HeldInterrupts() as interrupts:
            interrupts.check()
            code = work(console)
            # Work that has told of a Ctrl-C itself is done with it.
            if code != INTERRUPTED:
                interrupts.check()
        return code
    except KeyboardInterrupt:
        console.print("Interrupted.")
        return INTERRUPTED
    except (EOFError, ImportError, OSError, TypeError, ValueError) as error:
        tell(console, str(error), "red")
        return CANT_BE_DONE


@contextmanager
def errors_in_options(options: Mapping[str, str]) -> Iterator[None]:
    """Raise errors of the library as ValueErrors in the terms of the command.

    `options` has an option for each argument that the command sets.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if not isinstance(error, Message):
            raise
        raise ValueError(error.in_terms(options)) from None


@contextmanager
def notes(
    console: Console, options: Mapping[str, str], *, identifiers: bool = False
) -> Iterator[None]:
    """Print warnings, and what can't be proven, as notes: one a line, each once, as they come.

    Identifiers are left out, unless they are asked for: a report itself warns of them, before its
    verdict.
    """
    seen: set[str] = set()

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        if isinstance(message, IdentifierWarning) and not identifiers:
            return
        words = message.in_terms(options) if isinstance(message, Message) else str(message)
        # Each notion and each sample may warn of the same.
        if words not in seen:
            seen.add(words)
            tell(console, f"Note: {words}", "yellow")

    with warnings.catch_warnings(), logs_told(logging.getLogger("gerrymend.proving"), show_warning):
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show_warning
        yield


def split(given: list[str], there: list[str]) -> list[str]:
    """Return names that are separated by commas, keeping a column with a comma in its name whole.

    `there` are the columns of the file; names that are not among them lose the blanks around them.

    >>> split(["race,sex", "income, net"], ["race", "sex", "income, net"])
    ['race', 'sex', 'income, net']
    """
    parts = [[text] if text in there else text.split(",") for text in given]
    return [name if name in there else name.strip() for part in parts for name in part]


def request_fields(kind: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a command, all `given` by name, that are fields of its request.

    Names of rates are split at commas, and false_positive_rate is their default.
    """
    found = {field.name: given[field.name] for field in fields(kind) if field.name in given}
    if "notion" in found:
        found["notion"] = tuple(split(found["notion"] or ["false_positive_rate"], []))
    for name in ("missing", "categorical", "ranges"):
        found[name] = tuple(found[name] or ())
    return found


def options_of(request: Any, **others: str) -> dict[str, str]:
    """Return the option behind each argument: that of the same name, or one of `others`.

    `request` is a dataclass whose fields are the options of a command.
    """
    return {field.name: f"--{field.name.replace('_', '-')}" for field in fields(request)} | others


def check_target(target: str | Path | None, name: str, *others: str | Path | None) -> None:
    """Check that a file can be written, and is none that the command reads or writes already.

    `name` is the option that names it; - is standard output, which always can be.
    """
    if target is None or str(target) == "-":
        return
    path = Path(target)
    if not can_be_written(path):
        raise ValueError(f"{name} {path} can't be written; name a file in a folder that can.")
    for other in others:
        if other is not None and _are_one(path, Path(other)):
            raise ValueError(
                f"{name} {path} is read, or written, by this command already; name another file."
            )


def _are_one(path: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, by links too."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def check_page(
    target: Path | None, *others: str | Path | None, needs: Sequence[str] = ("jinja2",)
) -> None:
    """Check that a page can be written to a file, and that what it takes is installed."""
    if target is None:
        return
    if str(target) == "-":
        raise ValueError("--report - is no file; name one, as in --report report.html.")
    check_target(target, "--report", *others)
    try:
        check_installed(*needs)
    except ImportError as missing:
        raise ValueError(f"--report {target}: {missing}") from None


def tell_of_page(console: Console, target: Path) -> None:
    """Say where a page is."""
    tell(console, f"The report is in {target}; any browser opens it.")


def tell_decision(
    console: Console, report: Mapping[str, Any], decision: Decision, *, quiet: bool
) -> None:
    """Print why the exit code is not 0, in one line, and where the report is not printed more.

    That is what it warns of, that rows were dropped, and who leads. Where gamma is not why, it is
    who stands out from chance: gamma counts how many are hit.
    """
    if not quiet:
        if decision.code:
            tell(console, decision.sentence)
        return
    for sentence in warning_sentences(report):
        tell(console, f"Warning: {sentence}")
    missing = report["missing"]
    is_warned = any(warning["code"] == "rows_dropped" for warning in report["warnings"])
    if (missing["dropped"] or missing["dropped_of_holdout"]) and not is_warned:
        tell(console, f"Missing: {missing_sentence(report)}")
    # Where it is 1 and nothing exceeds gamma, the gate was asked to fail for who stands out.
    code = decision.code
    for_gamma = code and (code != STANDS_OUT or report["verdict"] == "exceeds gamma")
    told = brief_sentences(report) if for_gamma else passing_sentences(report)
    if told:
        told = [f"{look(report).heading}.", *told]
    if words := " ".join(filter(None, [decision.sentence, *told])):
        tell(console, words)


def write_out(text: str, target: str) -> None:
    """Write JSON or Markdown to a file, whole or not at all, or to standard output."""
    if target == "-":
        typer.echo(text)
    else:
        write_text(Path(target), f"{text}\n")


def check_jobs_option(jobs: int) -> int:
    """Check a number of workers, and return it."""
    if jobs < 1 and jobs != -1:
        raise ValueError(f"--jobs must be 1 or more, or -1 for all cores; got {jobs}.")
    return jobs
