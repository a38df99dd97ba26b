"""Define `gerrymend audit`: its options, and the work behind them.

Imported by `cli.main` once it knows that typer and rich are there.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli import options
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.cli.audit_text import show
from gerrymend.cli.exit_codes import gate_code
from gerrymend.cli.options import DATA, FILE
from gerrymend.cli.shared import (
    SMALL_GROUPS_HELP,
    Output,
    check_page,
    check_target,
    column,
    errors_in_options,
    guarded,
    notes,
    option,
    progress,
    request_fields,
    tell_of_page,
    tell_warnings,
    write_out,
)
from gerrymend.notions import NOTION_NAMES
from gerrymend.reporting.audit.document import Document
from gerrymend.subgroups import CLASS_NAMES

_AUDIT = "How to audit"


def _column(words: str) -> Any:
    return column(words, DATA)


def _said(words: str) -> Any:
    return option(words, "What the report says of the model", metavar="TEXT", show_default=False)


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("audit", no_args_is_help=True)
    def audit(
        file: options.File,
        protected: options.Protected,
        label: Annotated[
            str | None,
            _column("True label, of two values; every rate but statistical_parity needs it."),
        ] = None,
        prediction: Annotated[str | None, _column("Decision, of the same values.")] = None,
        score: Annotated[str | None, _column("Or: score, cut at --threshold.")] = None,
        threshold: Annotated[float | None, option(
            "Scores of at least this are decided positive.", DATA, show_default="0.5")] = None,
        probability: Annotated[str | None, _column(
            "Or: probability with which a randomised model decides positive.")] = None,
        positive: options.Positive = None,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        favourable: options.Favourable = None,
        side: options.Side = "both",
        weight: options.Weight = None,
        counts: Annotated[str | None, _column(
            "Number of rows that a line stands for: FILE is a table that GROUP BY made.")] = None,
        features: Annotated[list[str] | None, option(
            "Columns that the model decides by, where they are known: the report says which of "
            "them are protected.", DATA, metavar="COLUMNS", show_default=False)] = None,
        intersection: Annotated[list[str] | None, option(
            "Two protected categories to show rates of where they meet.", _AUDIT,
            metavar="COLUMNS", show_default="the first two of few values")] = None,
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
        markdown: Annotated[str | None, option(
            "Write the report as Markdown to this file; - is standard output.", FILE,
            metavar="FILE", show_default=False)] = None,
        title: Annotated[str | None, _said("Title of the report.")] = None,
        model_name: Annotated[str | None, _said("Which model this is about.")] = None,
        owner: Annotated[str | None, _said("Who answers for the model.")] = None,
        purpose: Annotated[str | None, _said("What the model decides.")] = None,
        date: Annotated[str | None, _said("As of when, if not as of today.")] = None,
        since: Annotated[Path | None, option(
            "An earlier report, as --json wrote it: the page says what changed.", FILE,
            metavar="FILE", show_default=False)] = None,
        quiet: options.Quiet = False,
        accept_warnings: options.AcceptWarnings = False,
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
    ) -> None:  # fmt: skip
        """Find the subgroup that a model's decisions treat most differently, or worst.

        The exit code is fit for a gate in CI: 0 where it is proven that no subgroup
        exceeds gamma, 1 where one does, 3 where neither could be shown or the
        report warns of what it was given, and 2 where the call or the data is
        wrong.

        Example, with data that the demonstration makes:

        gerrymend demo --save people.csv

        gerrymend audit people.csv --label repaid --prediction granted \\
            --protected race,sex --notion false_negative_rate --favourable positive
        """
        document = {"title": title, "model": model_name, "owner": owner, "purpose": purpose,
                    "date": date, "since": since}  # fmt: skip
        targets = Targets(json_file, markdown, report, quiet, document)
        raise typer.Exit(run(request_fields(AuditRequest, locals()), targets, accept_warnings))


class Targets(NamedTuple):
    """Say where a report goes: files, of which - is standard output, or None; and if it is quiet.

    The text for people is left out where standard output is taken, or `quiet`. `document` is what
    is said of the model, as in AuditReport.to_html().
    """

    json: str | None = None
    markdown: str | None = None
    page: Path | None = None
    quiet: bool = False
    document: Mapping[str, Any] = MappingProxyType({})

    def check(self, *read: Path | None) -> None:
        """Raise a ValueError for what can't be written, before minutes are spent on an audit."""
        if self.json == self.markdown == "-":
            raise ValueError("--json - and --markdown - exclude each other; name a file for one.")
        check_target(self.json, "--json", *read)
        check_target(self.markdown, "--markdown", self.json, *read)
        check_page(self.page, self.json, self.markdown, *read)
        with errors_in_options({"since": "--since"}):
            Document.of(**self.document)

    @property
    def takes_output(self) -> bool:
        """Whether standard output is a file's alone."""
        return "-" in (self.json, self.markdown)

    def write(self, report: AuditReport) -> None:
        """Write the files that were asked for."""
        if self.json is not None:
            write_out(report.to_json(**self.document), self.json)
        if self.markdown is not None:
            write_out(report.to_markdown(**self.document).rstrip(), self.markdown)
        if self.page is not None:
            report.write_html(self.page, **self.document)


def run(fields: dict[str, Any], targets: Targets, accepted: bool = False) -> int:
    """Audit, print, and return the code to exit with.

    Parameters
    ----------
    fields : dict
        The fields of AuditRequest.
    targets : Targets
        Where the report goes.
    accepted : bool
        Whether the verdict decides the exit code, whatever the report warns of.
    """

    def work(console: Console) -> int:
        request = AuditRequest(**fields)
        targets.check(request.file, request.holdout, targets.document.get("since"))
        within = f"within {request.budget:g} s"
        first = f"Searching {request.subgroups} subgroups, and proving {within}"
        with notes(console, request.options), progress(console, first) as say:
            report = request.audit(lambda done, of: say(f"permutations, {within}", done, of))
        targets.write(report)
        out = console if targets.takes_output else Output(highlight=False, quiet=targets.quiet)
        if not targets.takes_output:
            show(out, report, request)
        if targets.quiet:
            tell_warnings(console, report.warnings)
        elif targets.page is not None:
            tell_of_page(out, targets.page)
        return gate_code(report.verdict, report.warnings, accepted=accepted)

    return guarded(work)
