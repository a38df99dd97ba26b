"""The command line: `gerrymend demo`."""

import sys


def main() -> None:
    """Run the command line, or say what to install for it."""
    try:
        import typer
    except ModuleNotFoundError:
        sys.exit("The command line needs two more packages: pip install 'gerrymend[cli]'")
    from gerrymend import demo

    app = typer.Typer(
        help="Find, prove and repair fairness gerrymandering.",
        no_args_is_help=True,
        add_completion=False,
    )

    @app.callback()
    def root() -> None:
        """Find, prove and repair fairness gerrymandering."""

    @app.command("demo")
    def run_demo(
        rows: int = typer.Option(2000, min=80, help="Rows of the made data."),
        seed: int = typer.Option(0, help="Seed of the made data and of the learner."),
    ) -> None:
        """Audit, repair and audit again, on the paper's toy example; nothing is downloaded.

        Example: gerrymend demo --rows 4000
        """
        demo.show(rows, seed)

    app()
