"""The command line's `gerrymend audit`: its options, and its exit codes.

Imported by `cli.main` once it knows that typer and rich are there.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from gerrymend.cli_audit_request import AuditRequest, split
from gerrymend.cli_audit_text import show
from gerrymend.notions import NOTION_NAMES
from gerrymend.report import AuditReport
from gerrymend.reproduction.records import write_text
from gerrymend.subgroups import CLASS_NAMES

EXIT_CODES = {"within gamma": 0, "exceeds gamma": 1, "undecided": 3}

_DATA, _AUDIT, _FILE = "What is in FILE", "How to audit", "Reading and writing"


def _option(words: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=words, rich_help_panel=panel, **more)


def _column(words: str, *names: str) -> Any:
    return _option(words, _DATA, *names, metavar="COLUMN", show_default=False)


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("audit", no_args_is_help=True)
    def audit(
        file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV or Parquet file.")],
        label: Annotated[str, _column("True label, of two values.")],
        protected: Annotated[list[str], _option(
            "Protected attributes, separated by commas.", _DATA, metavar="COLUMNS",
            show_default=False)],
        prediction: Annotated[str | None, _column("Decision, of the same values.")] = None,
        score: Annotated[str | None, _column("Or: score, cut at --threshold.")] = None,
        threshold: Annotated[float | None, _option(
            "Scores of at least this are decided positive.", _DATA, show_default="0.5")] = None,
        probability: Annotated[str | None, _column(
            "Or: probability with which a randomised model decides positive.")] = None,
        positive: Annotated[str | None, _option(
            "The positive label.", _DATA, metavar="LABEL",
            show_default="the last in order")] = None,
        weight: Annotated[str | None, _column("Weight of each row.")] = None,
        counts: Annotated[str | None, _column(
            "Number of rows that a line stands for: FILE is a table that GROUP BY made.")] = None,
        notion: Annotated[list[str] | None, _option(
            f"Rates to compare, separated by commas: {', '.join(NOTION_NAMES)}.", _AUDIT,
            metavar="RATES", show_default="false_positive_rate")] = None,
        subgroups: Annotated[str, _option(
            f"Class of subgroups: {', '.join(CLASS_NAMES)}.", _AUDIT, metavar="CLASS")] = "linear",
        depth: Annotated[int | None, _option(
            "Conditions, attributes or questions at most, in conjunctions, value_sets and trees.",
            _AUDIT, show_default="2")] = None,
        gamma: Annotated[float, _option("Unfairness to allow.", _AUDIT)] = 0.01,
        budget: Annotated[float, _option(
            "Seconds that the proof may take, and again the permutations.", _AUDIT)] = 30.0,
        min_group_size: Annotated[int, _option(
            "Groups with fewer rows that count are not described.", _AUDIT)] = 10,
        top: Annotated[int, _option(
            "Subgroups to describe that differ from each other.", _AUDIT)] = 3,
        permutations: Annotated[int, _option(
            "Permutations for the p-value; 0 for none.", _AUDIT)] = 199,
        test_size: Annotated[float | None, _option(
            "Part of the rows to keep out of the search, and to measure the worst subgroup on.",
            _AUDIT, metavar="FRACTION", show_default=False)] = None,
        holdout: Annotated[Path | None, _option(
            "Or: a second file with the same columns to measure it on.", _AUDIT, metavar="FILE",
            show_default=False)] = None,
        seed: Annotated[int, _option(
            "Seed of the search, of the permutations and of what is held out.", _AUDIT,
            min=0)] = 0,
        json_file: Annotated[str | None, _option(
            "Write the report as JSON to this file; - is standard output.", _FILE, "--json",
            metavar="FILE", show_default=False)] = None,
        separator: Annotated[str | None, _option(
            "Separator of a CSV file: one character, or tab.", _FILE, metavar="CHARACTER",
            show_default="the one of , ; tab | that fits")] = None,
        missing: Annotated[list[str] | None, _option(
            "Text that stands for a missing value, as NA; may be given again.", _FILE,
            metavar="TEXT", show_default="empty fields only")] = None,
    ) -> None:  # fmt: skip
        """Find the subgroup that a model's decisions treat worst.

        The exit code is fit for a gate in CI: 0 where it is proven that no subgroup
        exceeds gamma, 1 where one does, 3 where neither could be shown, and 2 where
        the call or the data is wrong.

        Example, with data that the demonstration makes:

        gerrymend demo --save toy.csv

        gerrymend audit toy.csv --label y --prediction decided --protected race,gender
        """
        options = {
            "file": file,
            "label": label,
            "protected": protected,
            "prediction": prediction,
            "score": score,
            "threshold": threshold,
            "probability": probability,
            "positive": positive,
            "weight": weight,
            "counts": counts,
            "notion": tuple(split(notion or ["false_positive_rate"], [])),
            "subgroups": subgroups,
            "depth": depth,
            "gamma": gamma,
            "budget": budget,
            "min_group_size": min_group_size,
            "top": top,
            "permutations": permutations,
            "test_size": test_size,
            "holdout": holdout,
            "seed": seed,
            "separator": separator,
            "missing": tuple(missing or ()),
        }
        raise typer.Exit(run(options, json_file))


class _Output(Console):
    """Standard output; where its reader has gone, the exit code still says the verdict."""

    def on_broken_pipe(self) -> None:
        """Write no more, and go on."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(options: dict[str, Any], json_file: str | None) -> int:
    """Audit, print, and say with which code to exit."""
    console = Console(stderr=True, highlight=False)
    try:
        request = AuditRequest(**options)
        _check_target(json_file)
        with _notes(console, request), _progress(console, request) as on_draw:
            report = request.audit(on_draw)
        if json_file is not None:
            _write(report, json_file)
        if json_file != "-":
            show(_Output(highlight=False), report, request)
    except KeyboardInterrupt:
        console.print("Interrupted.")
        return 130
    except (OSError, TypeError, ValueError) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        return 2
    return EXIT_CODES[report.verdict]


@contextmanager
def _notes(console: Console, request: AuditRequest) -> Iterator[None]:
    """Print warnings as notes, one a line and each once, as they come."""
    seen: set[str] = set()

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        words = request.in_options(str(message))
        if words not in seen:
            seen.add(words)
            console.print(f"Note: {words}", style="yellow", markup=False, soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show_warning
        yield


@contextmanager
def _progress(console: Console, request: AuditRequest) -> Iterator[Callable[[int, int], None]]:
    """Show on a terminal what is going on, and for how long; yields what hears of permutations."""
    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        within = f"within {request.budget:g} s"
        task = bar.add_task(f"Searching {request.subgroups} subgroups, and proving {within}")

        def on_draw(done: int, of: int) -> None:
            bar.update(task, description=f"Permutation {done} of {of}, {within}")

        yield on_draw


def _check_target(json_file: str | None) -> None:
    if json_file in (None, "-"):
        return
    target = Path(str(json_file))
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise ValueError(f"--json {target} can't be written; name a file in a folder that can.")


def _write(report: AuditReport, json_file: str) -> None:
    text = json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    if json_file == "-":
        typer.echo(text)
    else:
        write_text(Path(json_file), f"{text}\n")
