"""Write and print what lays itself out: comparisons, looks, and audits with probabilities."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from gerrymend.cli.exit_codes import Decision
from gerrymend.cli.shared import Output, tell, tell_of_page, write_out
from gerrymend.cli.targets import Targets


class Titled(Protocol):
    """A result that is JSON, Markdown and a page, of which a title may be given."""

    def to_json(self) -> str:
        """Return the plain data as JSON."""

    def to_markdown(self, title: str | None = None) -> str:
        """Return it as Markdown."""

    def write_html(self, path: str | Path, title: str | None = None) -> Path:
        """Write it as a page."""


def write_found(found: Titled, targets: Targets, title: str | None) -> None:
    """Write JSON, Markdown and page, as they were asked for."""
    if targets.json is not None:
        write_out(found.to_json(), targets.json)
    if targets.markdown is not None:
        write_out(found.to_markdown(title).rstrip(), targets.markdown)
    if targets.page is not None:
        found.write_html(targets.page, title)


def show_found(
    console: Console, found: Any, targets: Targets, decision: Decision, brief: Sequence[str] = ()
) -> None:
    """Print a result and why the exit code is not 0; where it may not be printed, the `brief`."""
    if not targets.quiet and not targets.takes_output:
        out = Output(highlight=False)
        out.print()
        out.print(found, soft_wrap=True)
        out.print()
        if targets.page is not None:
            tell_of_page(out, targets.page)
    elif decision.code and brief:
        tell(console, " ".join(brief))
    if decision.code:
        tell(console, decision.sentence)
