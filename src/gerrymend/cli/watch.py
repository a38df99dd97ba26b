"""Define `gerrymend watch`: take in a batch, and raise an alarm where there is enough evidence.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gerrymend.cli import options
from gerrymend.cli.columns_command import ColumnsCommand
from gerrymend.cli.exit_codes import alarm_decision
from gerrymend.cli.found import show_found
from gerrymend.cli.options import DATA, FILE
from gerrymend.cli.outcomes import watch_outcome
from gerrymend.cli.progress import progress
from gerrymend.cli.shared import (
    SMALL_GROUPS_HELP,
    check_target,
    column,
    guarded,
    notes,
    option,
    request_fields,
    split,
    write_out,
)
from gerrymend.cli.targets import Targets
from gerrymend.cli.watch_request import WatchRequest
from gerrymend.notions import NOTION_NAMES
from gerrymend.subgroups import CLASS_NAMES

_WATCH = "How to watch (of the first batch; later ones go on with it)"


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("watch", cls=ColumnsCommand, no_args_is_help=True)
    def watch(
        state: Annotated[Path, typer.Argument(
            metavar="STATE", help="The file of the watch, which the first batch makes (JSON; no "
            "row is in it).")],
        file: options.File,
        protected: options.Protected,
        label: Annotated[str | None, column("True label, of two values or more.", DATA)] = None,
        prediction: Annotated[str | None, column("Decision, of the same values.", DATA)] = None,
        score: Annotated[str | None, column("Or: score, cut at --threshold.", DATA)] = None,
        threshold: options.Threshold = None,
        at: Annotated[str | None, option(
            "When the batch was, such as 2025-03: later than the one before.", DATA,
            metavar="TIME", show_default=False)] = None,
        positive: options.Positive = None,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        ranges: options.Ranges = None,
        favourable: options.Favourable = None,
        side: Annotated[str | None, option(
            "Which subgroups count: both, or disadvantaged alone.", _WATCH, "--side",
            metavar="WHICH", show_default="both")] = None,
        notion: Annotated[list[str] | None, option(
            f"Rates to compare, separated by commas: {', '.join(NOTION_NAMES)}.", _WATCH,
            metavar="NOTIONS", show_default="false_positive_rate")] = None,
        subgroups: Annotated[str | None, option(
            f"Class of subgroups: {', '.join(CLASS_NAMES)}.", _WATCH, metavar="CLASS",
            show_default="linear")] = None,
        depth: Annotated[int | None, option(
            "Conditions, attributes or questions at most, in conjunctions, value_sets and trees.",
            _WATCH, show_default="2")] = None,
        gamma: Annotated[float | None, option(
            "Unfairness to allow, as in audit.", _WATCH, show_default="0.01")] = None,
        level: Annotated[float | None, option(
            "Probability of a false alarm, over all batches.", _WATCH,
            show_default="0.05")] = None,
        groups: Annotated[Path | None, option(
            "A report, as audit --json wrote it, whose groups are watched from the first batch on.",
            _WATCH, metavar="FILE", show_default=False)] = None,
        min_group_size: Annotated[int | None, option(
            SMALL_GROUPS_HELP, _WATCH, show_default="10")] = None,
        seed: Annotated[int, option("Seed of the watch.", _WATCH, min=0)] = 0,
        json_file: Annotated[str | None, option(
            "Write what is found as JSON to this file; - is standard output.", FILE, "--json",
            metavar="FILE", show_default=False)] = None,
        junit: options.Junit = None,
        annotations: options.Annotations = None,
        quiet: options.Quiet = False,
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
        drop_missing: options.DropMissing = False,
    ) -> None:  # fmt: skip
        """Take in a batch of a stream: is there enough evidence that a subgroup exceeds gamma?

        Run it for each batch, in their order. However many batches there are, a
        false alarm is ever raised with a probability of at most --level. The exit
        code is 0 without an alarm, 1 with one (and for all batches after it, until
        another STATE is begun), and 2 where the call or the data is wrong; STATE is
        then as it was.

        Example, with data that the demonstration makes:

        gerrymend demo --save people.csv

        gerrymend watch watch.json people.csv --label repaid --prediction granted \\
            --protected race,sex --at 2025-01
        """
        fields = request_fields(WatchRequest, locals())
        fields |= {
            "notion": tuple(split(notion or [], [])),
            "class_name": subgroups,
            "subgroups": subgroups or "linear",
        }
        targets = Targets(json_file, quiet=quiet, junit=junit, annotations=annotations)
        raise typer.Exit(run(fields, targets))


def run(fields: dict[str, Any], targets: Targets) -> int:
    """Take in a batch, print, and return the code to exit with.

    Parameters
    ----------
    fields : dict
        The fields of WatchRequest.
    targets : Targets
        Where the look goes; a quiet one tells of an alarm alone.
    """

    def work(console: Console) -> int:
        targets.check(fields["file"], fields["state"], fields["groups"])
        check_target(fields["state"], "STATE", fields["file"], fields["groups"])
        with targets.or_none(console):
            request = WatchRequest(**fields)
            with (
                notes(console, request.options),
                progress(console, "Searching the batch", quiet=targets.quiet),
            ):
                look = request.look()
            if targets.json is not None:
                write_out(look.to_json(), targets.json)
            decision = alarm_decision(look.raised)
            targets.write_outcome(watch_outcome(fields["state"], look, decision))
        show_found(console, look, targets, decision)
        return decision.code

    return guarded(work)
