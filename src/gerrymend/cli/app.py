"""Entry point of the command line: `gerrymend audit`, `calibrate`, `fit`, `predict`, `demo`, ….

Each command's module is imported only after typer and rich are known to be installed.
"""

import importlib
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gerrymend._runtime.extras import need
from gerrymend._runtime.interrupts import HeldInterrupts
from gerrymend._runtime.versions import versions
from gerrymend.cli.exit_codes import CANT_BE_DONE, INTERRUPTED

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Run the command line; Ctrl-C has its exit code while commands are imported, too.

    One that an import drops, in a bare `except` of its own, is raised once the command has begun.
    An error that nobody caught never ends with the code of a verdict, as Python's own 1 would be.
    """
    try:
        with HeldInterrupts():
            _run()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except SystemExit:
        raise
    except BaseException:  # panics of compiled packages are no Exception
        traceback.print_exc()
        print(
            "This is an error in gerrymend, and says nothing of the data. Please report it with "
            "the lines above.",
            file=sys.stderr,
        )
        sys.exit(CANT_BE_DONE)


def _run() -> None:
    """Run the command line, or exit with the command that installs what it needs."""
    try:
        for package in ("rich", "typer"):
            need(package, "The command line needs")
    except ImportError as missing:
        print(missing, file=sys.stderr)
        sys.exit(CANT_BE_DONE)
    application()()


def application() -> "typer.Typer":
    """Return the application with all of its commands.

    They are added by `add_to` of each command's module; `demo` is defined here.
    """
    import typer

    app = typer.Typer(no_args_is_help=True, add_completion=False)

    @app.callback()
    def gerrymend(
        version: bool = typer.Option(
            False, "--version", is_eager=True, callback=_show_version, help="Print the version."
        ),
    ) -> None:
        """Find, prove and repair fairness gerrymandering."""

    @app.command()
    def demo(
        rows: int = typer.Option(2000, min=80, help="Rows of the made data."),
        seed: int = typer.Option(0, min=0, help="Seed of the made data and of the repair."),
        save: Annotated[Path | None, typer.Option(help="Save the made data here, as CSV.")] = None,
        report: Annotated[
            Path | None,
            typer.Option(
                help="Write the report of the first audit here, as a page.",
                show_default="gerrymend-demo.html, unless another file has that name",
            ),
        ] = None,
    ) -> None:
        """Audit, repair and audit again: the paper's toy example, with nothing to download.

        Example: gerrymend demo --rows 4000
        """
        if save is not None:
            from gerrymend.cli.demo import save_rows

            try:
                save_rows(save, rows, seed)
            except OSError as error:
                typer.echo(f"--save {save} can't be written: {error.strerror}.", err=True)
                raise typer.Exit(CANT_BE_DONE) from None
        page, why_not = _page_target(report)
        if report is not None and page is None:
            typer.echo(why_not, err=True)
            raise typer.Exit(CANT_BE_DONE)
        show_demo(rows, seed)
        if page is not None:
            from gerrymend.cli.demo import page_report

            page_report(rows, seed).write_html(page)
        typer.echo(
            why_not
            if page is None
            else f"The report of the first model is in {page}; any browser opens it."
        )

    # Imported here, since their modules need typer and rich themselves.
    for part in (
        "audit",
        "impact",
        "calibrate",
        "compare",
        "fit",
        "predict",
        "frontier",
        "data",
        "reproduce",
        "uncertain",
        "watch",
    ):
        importlib.import_module(f"gerrymend.cli.{part}").add_to(app)
    return app


def _show_version(asked: bool) -> None:
    """Print the version and exit, if that was asked for."""
    if asked:
        print(f"gerrymend {versions()['gerrymend']}")
        sys.exit(0)


def _page_target(asked: Path | None) -> tuple[Path | None, str]:
    """Return the path of the demonstration's page, or None and why it can't be written.

    Without --report the page goes to gerrymend-demo.html. A file that gerrymend did not write is
    never overwritten.
    """
    from gerrymend.cli.demo import is_foreign
    from gerrymend.cli.shared import check_page

    page = asked or Path("gerrymend-demo.html")
    try:
        check_page(page)
        if is_foreign(page):
            raise ValueError(
                f"--report {page} is a file that gerrymend did not write; name another."
            )
    except (OSError, ValueError) as error:
        return None, f"No report was written: {error}"
    return page, ""


def show_demo(n_rows: int, seed: int) -> None:
    """Print the demonstration as a short table; `n_rows` is rounded down to a multiple of eight.

    The first three audits are of the score, and the last is of the repaired model.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from gerrymend.cli import demo

    console = Console()
    console.print(
        f"\n{n_rows - n_rows % 8:,} made people, blue or green, men or women, independent of the "
        "label. A score is shifted up for blue men and green women whose label is negative. Is it "
        "fair to decide by it? We compare false positive rates and allow an unfairness of "
        f"{demo.GAMMA:g}.\n"
    )
    with console.status("Auditing, repairing and auditing again …"):
        found = demo.run(n_rows, seed)
    for model in dict.fromkeys(row.model for row in found):
        rows = [row for row in found if row.model == model]
        title = f"{model}: error {rows[0].error:.1%}"
        table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        table.add_column("Audited by", min_width=10)
        table.add_column("Differs most", min_width=31)
        table.add_column("Unfairness", justify="right")
        table.add_column("At most", justify="right")
        table.add_column("Verdict", min_width=13)
        for row in rows:
            report = row.report
            words = escape(report.worst.describe()) if report.worst else "none"
            figures = f"{report.unfairness:.4f}", f"{report.upper_bound:.4f}"
            table.add_row(row.auditor, words, *figures, report.verdict)
        console.print(table)
    # The search over linear thresholds is the third audit, after marginals and regression.
    worst = found[2].report.worst
    assert worst is not None
    console.print(
        "\nOne attribute at a time (marginals) nothing shows. The paper's regression finds nothing "
        "either, as the pattern is orthogonal to it; it is a heuristic, so its verdict is "
        "undecided. The search over linear thresholds, followed by a proof that none is worse, "
        f"finds {escape(worst.describe())}: a false positive rate of {worst.rate:.0%} against "
        f"{worst.overall_rate:.0%} overall. The same proof says of the "
        f"repaired model: {found[-1].report.verdict}.\n"
    )
