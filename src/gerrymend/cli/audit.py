"""Define `gerrymend audit`: its options, and the work behind them.

Imported by `cli.main` once it knows that typer and rich are there.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli import options
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.cli.audit_text import show
from gerrymend.cli.exit_codes import EXIT_CODES
from gerrymend.cli.options import DATA, FILE
from gerrymend.cli.shared import (
    SMALL_GROUPS_HELP,
    Output,
    check_page,
    check_target,
    column,
    guarded,
    notes,
    option,
    progress,
    request_fields,
    tell_of_page,
    write_json,
)
from gerrymend.notions import NOTION_NAMES
from gerrymend.subgroups import CLASS_NAMES

_AUDIT = "How to audit"


def _column(words: str) -> Any:
    return column(words, DATA)


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("audit", no_args_is_help=True)
    def audit(
        file: options.File,
        label: Annotated[str, _column("True label, of two values.")],
        protected: options.Protected,
        prediction: Annotated[str | None, _column("Decision, of the same values.")] = None,
        score: Annotated[str | None, _column("Or: score, cut at --threshold.")] = None,
        threshold: Annotated[float | None, option(
            "Scores of at least this are decided positive.", DATA, show_default="0.5")] = None,
        probability: Annotated[str | None, _column(
            "Or: probability with which a randomised model decides positive.")] = None,
        positive: options.Positive = None,
        favourable: options.Favourable = None,
        side: options.Side = "both",
        weight: options.Weight = None,
        counts: Annotated[str | None, _column(
            "Number of rows that a line stands for: FILE is a table that GROUP BY made.")] = None,
        features: Annotated[list[str] | None, option(
            "Columns that the model decides by, where they are known: the report says which of "
            "them are protected.", DATA, metavar="COLUMNS", show_default=False)] = None,
        notion: Annotated[list[str] | None, option(
            f"Rates to compare, separated by commas: {', '.join(NOTION_NAMES)}.", _AUDIT,
            metavar="RATES", show_default="false_positive_rate")] = None,
        subgroups: Annotated[str, option(
            f"Class of subgroups: {', '.join(CLASS_NAMES)}.", _AUDIT, metavar="CLASS")] = "linear",
        depth: Annotated[int | None, option(
            "Conditions, attributes or questions at most, in conjunctions, value_sets and trees.",
            _AUDIT, show_default="2")] = None,
        gamma: Annotated[float, option("Unfairness to allow.", _AUDIT)] = 0.01,
        budget: Annotated[float, option(
            "Seconds that the proof may take, and again the permutations.", _AUDIT)] = 30.0,
        min_group_size: Annotated[int, option(
            SMALL_GROUPS_HELP, _AUDIT)] = MIN_GROUP_SIZE,
        top: Annotated[int, option(
            "Subgroups to describe that differ from each other.", _AUDIT)] = 3,
        permutations: Annotated[int, option(
            "Permutations for the p-value; 0 for none.", _AUDIT)] = 199,
        test_size: Annotated[float | None, option(
            "Part of the rows to keep out of the search, and to measure the worst subgroup on.",
            _AUDIT, metavar="FRACTION", show_default=False)] = None,
        holdout: Annotated[Path | None, option(
            "Or: a second file with the same columns to measure it on.", _AUDIT, metavar="FILE",
            show_default=False)] = None,
        seed: Annotated[int, option(
            "Seed of the search, of the permutations and of what is held out.", _AUDIT,
            min=0)] = 0,
        jobs: Annotated[int, option(
            "Workers for the permutations; -1 for all cores.", _AUDIT)] = 1,
        json_file: Annotated[str | None, option(
            "Write the report as JSON to this file; - is standard output.", FILE, "--json",
            metavar="FILE", show_default=False)] = None,
        report: Annotated[Path | None, option(
            "Write the report as a page for people, one HTML file that needs no network.", FILE,
            metavar="FILE", show_default=False)] = None,
        separator: options.Separator = None,
        missing: options.Missing = None,
    ) -> None:  # fmt: skip
        """Find the subgroup that a model's decisions treat most differently, or worst.

        The exit code is fit for a gate in CI: 0 where it is proven that no subgroup
        exceeds gamma, 1 where one does, 3 where neither could be shown, and 2 where
        the call or the data is wrong.

        Example, with data that the demonstration makes:

        gerrymend demo --save toy.csv

        gerrymend audit toy.csv --label y --prediction decided --protected race,gender
        """
        raise typer.Exit(run(request_fields(AuditRequest, locals()), json_file, report))


def run(fields: dict[str, Any], json_file: str | None, page: Path | None = None) -> int:
    """Audit, print, and return the code to exit with.

    Parameters
    ----------
    fields : dict
        The fields of AuditRequest.
    json_file : str or None
        Where the JSON goes; - is standard output, and the text for people is left out then.
    page : Path, optional
        Where the page goes.
    """

    def work(console: Console) -> int:
        request = AuditRequest(**fields)
        # Whatever can't be written is told before minutes are spent on an audit.
        read = (request.file, request.holdout)
        check_target(json_file, "--json", *read)
        check_page(page, json_file, *read)
        within = f"within {request.budget:g} s"
        first = f"Searching {request.subgroups} subgroups, and proving {within}"
        with notes(console, request.options), progress(console, first) as say:
            report = request.audit(lambda done, of: say(f"permutations, {within}", done, of))
        if json_file is not None:
            write_json(report.to_json(), json_file)
        # Standard output is JSON's alone where it was asked for there.
        out = console if json_file == "-" else Output(highlight=False)
        if json_file != "-":
            show(out, report, request)
        if page is not None:
            report.write_html(page)
            tell_of_page(out, page)
        return EXIT_CODES[report.verdict]

    return guarded(work)
