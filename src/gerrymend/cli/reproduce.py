"""`gerrymend reproduce`: run the paper's experiments, and write figures and a report.

Imported by `cli.app` once it knows that typer and rich are there.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gerrymend._runtime.extras import need
from gerrymend.cli.exit_codes import CANT_BE_DONE, INTERRUPTED
from gerrymend.cli.progress import progress
from gerrymend.cli.shared import tell
from gerrymend.inputs.settings import check_choice
from gerrymend.reproduction import TARGETS

CHOICES = (*TARGETS, "all")


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("reproduce")
    def reproduce(
        target: Annotated[str, typer.Argument(help=f"One of {', '.join(CHOICES)}.")] = "all",
        out: Annotated[Path, typer.Option(help="Folder of records, figures and the report.")] = (
            Path("reproduction")
        ),
        jobs: Annotated[int, typer.Option(min=1, help="Processes to use.")] = 2,
        quick: Annotated[
            bool, typer.Option("--quick", help="4 gammas and 300 rounds: about a minute.")
        ] = False,
        data_home: Annotated[Path | None, typer.Option(help="Folder of the datasets.")] = None,
    ) -> None:
        """Reproduce the paper's tables and figures, and write REPRODUCTION.md beside them.

        What is recorded in the folder already is not done again: an interrupted run goes on.

        Example: gerrymend reproduce all --quick --out quick
        """
        run(target, out, jobs, quick, data_home)


def run(target: str, out: Path, jobs: int, quick: bool, data_home: Path | None) -> None:
    """Fetch the data, run what is missing, draw and write; exit with 2 where that can't be done.

    After Ctrl-C it exits with 130; the same command goes on from the records that were written.
    """
    from rich.console import Console

    console = Console(stderr=True)
    try:
        check_choice(target, "target", CHOICES)
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK):
            raise OSError(f"--out {out} can't be written to; choose another folder.")
        need("matplotlib", "The figures need")
        _reproduce(console, target, out, jobs, quick, data_home)
    except (ImportError, OSError, ValueError) as error:
        tell(console, str(error), "red")
        raise typer.Exit(CANT_BE_DONE) from None
    except KeyboardInterrupt:
        tell(console, f"Interrupted; what was done is in {out}. Run it again to go on.")
        sys.exit(INTERRUPTED)


def _reproduce(
    console: Any, target: str, out: Path, jobs: int, quick: bool, data_home: Path | None
) -> None:
    """Run the experiments, draw, write the report, and print the paths of these files.

    Datasets that stand in for the paper's are noted first.
    """
    from gerrymend.reproduction import figures, paper_data, report
    from gerrymend.reproduction.run import DATASETS, expand
    from gerrymend.reproduction.run import run as run_experiments

    targets = expand(target)
    # The toy example is made here: no dataset is fetched for it.
    names = [] if targets == ("toy",) else list(DATASETS)
    with progress(console, "Reading the datasets") as say:
        data = paper_data.load(names, data_home)
        for note in dict.fromkeys(dataset.note for dataset in data.values() if dataset.note):
            tell(console, f"Note: {note}")

        def on_unit(unit: Any, done: int, total: int) -> None:
            """Report a unit of work that has ended."""
            say(f"experiments; {unit.experiment}: {unit.name}", done, total)

        records = run_experiments(targets, data, out, quick=quick, jobs=jobs, on_unit=on_unit)
        say("Drawing")
        drawn = [path for name in targets for path in figures.draw(name, records, out)]
        written = report.write_report(records, out / "REPRODUCTION.md", quick=quick)
    for path in (*drawn, written):
        typer.echo(path)
