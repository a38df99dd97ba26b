"""Define `gerrymend impact`: its options, and the work behind them.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from gerrymend._runtime.extras import check_installed
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli import options
from gerrymend.cli.columns_command import ColumnsCommand
from gerrymend.cli.impact_request import ImpactRequest
from gerrymend.cli.options import DATA, FILE
from gerrymend.cli.outcomes import impact_outcome
from gerrymend.cli.progress import progress
from gerrymend.cli.shared import (
    Output,
    check_target,
    column,
    guarded,
    notes,
    option,
    request_fields,
    tell,
    tell_of_page,
    write_out,
)
from gerrymend.cli.targets import Targets, removed_unless_done
from gerrymend.impact.profiles import PROFILES
from gerrymend.impact.table import ImpactTable
from gerrymend.reporting.impact.beyond import beyond_lead
from gerrymend.reporting.impact.text import impact_spans
from gerrymend.reporting.text import RichSpans
from gerrymend.subgroups import CLASS_NAMES

_TABLES = "What is compared"
_SEARCH = "Who is in no table"


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("impact", cls=ColumnsCommand, no_args_is_help=True)
    def impact(
        file: options.File,
        protected: options.Protected,
        selected: Annotated[str | None, column(
            "Decision, of two values: who is selected.", DATA)] = None,
        score: Annotated[str | None, column(
            "Or: score. Those above the sample's median count; with --threshold, those at or above "
            "it are selected.", DATA)] = None,
        threshold: Annotated[float | None, option(
            "Scores of at least this are selected.", DATA, metavar="<float>",
            show_default=False, parser=options.exact_number)] = None,
        positive: Annotated[str | None, option(
            "The decision that is selected; of more than two, the one to compare with the rest.",
            DATA, metavar="LABEL", show_default="the last of two in order")] = None,
        weight: options.Weight = None,
        unknown: Annotated[list[str] | None, option(
            "A value that stands for an unknown category, beside empty fields; may be given again.",
            DATA, metavar="TEXT", show_default=False)] = None,
        profile: Annotated[str | None, option(
            f"The rule to follow: {', '.join(PROFILES)}. It chooses tables, words and page, and is "
            "no legal advice.", _TABLES, metavar="RULE", show_default=False)] = None,
        reference: Annotated[list[str] | None, option(
            "The group to compare with, such as race=White (once for each attribute); or highest.",
            _TABLES, metavar="GROUP", show_default="highest: the most selected")] = None,
        depth: Annotated[int | None, option(
            "So many attributes meet in a table, at most.", _TABLES,
            show_default="2; 1 with four-fifths")] = None,
        exclude_small: Annotated[bool, option(
            "Give groups of less than 2 % of their table no ratio, as some rules allow.", _TABLES,
            "--exclude-small")] = False,
        confidence: Annotated[float, option(
            "Confidence of the intervals of ratios.", _TABLES, metavar="FRACTION")] = 0.95,
        no_search: Annotated[bool, option(
            "Do not look for the worst subgroup that is in no table.", _SEARCH,
            "--no-search")] = False,
        search_class: Annotated[str | None, option(
            f"Class of subgroups to search: {', '.join(CLASS_NAMES)}.", _SEARCH, metavar="CLASS",
            show_default="conjunctions beyond the tables, or value_sets")] = None,
        search_depth: Annotated[int | None, option(
            "Conditions, attributes or questions at most.", _SEARCH, show_default=False)] = None,
        budget: Annotated[float, option(
            "Seconds that search and proof may take, and again the permutations.",
            _SEARCH)] = 30.0,
        min_group_size: Annotated[int, option(
            "Groups of fewer rows are not described, and are marked in the tables.",
            _SEARCH)] = MIN_GROUP_SIZE,
        permutations: Annotated[int, option(
            "Permutations for the p-value; 0 for none.", _SEARCH)] = 199,
        seed: Annotated[int, option("Seed of search and permutations.", _SEARCH, min=0)] = 0,
        fail_below: Annotated[float | None, option(
            "Exit with 1 where a group of a table has a ratio below this.", FILE, metavar="RATIO",
            show_default="0.8 with four-fifths, else never")] = None,
        if_chance: Annotated[str, option(
            "Exit code where chance may have made all ratios below --fail-below (p above 0.05 "
            "each): fail, which is 1, or undecided, which is 3.", FILE, "--if-chance",
            metavar="fail|undecided")] = "fail",
        json_file: Annotated[str | None, option(
            "Write the tables as JSON to this file; - is standard output.", FILE, "--json",
            metavar="FILE", show_default=False)] = None,
        csv_file: Annotated[Path | None, option(
            "Write the groups as CSV; text that a spreadsheet would run as a formula has a ' "
            "before it.", FILE, "--csv", metavar="FILE", show_default=False)] = None,
        xlsx_file: Annotated[Path | None, option(
            "Write the groups as an xlsx workbook.", FILE, "--xlsx", metavar="FILE",
            show_default=False)] = None,
        report: options.Report = None,
        markdown: options.Markdown = None,
        junit: options.Junit = None,
        annotations: options.Annotations = None,
        title: options.Title = None,
        model_name: options.ModelName = None,
        owner: options.Owner = None,
        purpose: options.Purpose = None,
        date: options.Date = None,
        quiet: options.Quiet = False,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        ranges: options.Ranges = None,
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
    ) -> None:  # fmt: skip
        """Make the tables of impact ratios that regulators ask for.

        How often each category, and those in which several meet, are selected, over
        the rate of the most selected group, or of one that is named. After the
        tables comes the worst subgroup that is in none of them. The exit code is 0,
        or 2 where the call or the data is wrong; with --fail-below it is 1 where a
        group is below that, and 3 where chance may have made it and --if-chance
        undecided leaves that open.

        Example, with data that the demonstration makes:

        gerrymend demo --save people.csv

        gerrymend impact people.csv --selected granted --protected race,sex \\
            --profile four-fifths
        """
        document = {"model": model_name, "title": title, "owner": owner, "purpose": purpose,
                    "date": date}  # fmt: skip
        targets = Targets(json_file, markdown, report, quiet, document, junit, annotations)
        fields = request_fields(ImpactRequest, locals() | {"label": None, "prediction": None})
        fields["unknown"] = tuple(unknown or ())
        raise typer.Exit(run(fields, targets, Sheets(csv_file, xlsx_file)))


class Sheets(NamedTuple):
    """Say to which files the groups go as spreadsheets; None for none."""

    csv: Path | None
    xlsx: Path | None

    def check(self, *others: str | Path | None) -> None:
        """Raise a ValueError for what can't be written, or lacks its package, before any work."""
        for name, target in (("--csv", self.csv), ("--xlsx", self.xlsx)):
            if target is not None and str(target) == "-":
                raise ValueError(f"{name} - is no file; name one.")
            check_target(target, name, *others)
        check_target(self.xlsx, "--xlsx", self.csv)
        if self.xlsx is not None:
            check_installed("openpyxl", "--xlsx needs")

    def write(self, table: ImpactTable) -> None:
        """Write the files that were asked for."""
        if self.csv is not None:
            table.write_csv(self.csv)
        if self.xlsx is not None:
            table.write_xlsx(self.xlsx)


def run(fields: dict[str, Any], targets: Targets, sheets: Sheets) -> int:
    """Make the tables, print and write them, and return the code to exit with.

    Parameters
    ----------
    fields : dict
        The fields of ImpactRequest.
    targets : Targets
        Where the tables go, and what is said of the model.
    sheets : Sheets
        Where they go as spreadsheets.
    """

    def work(console: Console) -> int:
        targets.check(fields["file"])
        sheets.check(fields["file"], *targets.files)
        with targets.or_none(console), removed_unless_done(console, *sheets):
            request = ImpactRequest(**fields)
            if targets.tells_outcome and request.gate is None:
                raise ValueError(
                    "--junit and --annotations tell of a gate, and there is none; say below which "
                    "ratio it fails with --fail-below 0.8."
                )
            first = f"Counting, and searching within {request.budget:g} s"
            with notes(console, request.options), progress(console, first, quiet=targets.quiet):
                table = request.tables()
            _write(table, targets)
            sheets.write(table)
            decision = request.decide(table)
            if request.gate is not None:
                outcome = impact_outcome(request.file, table, request.gate, decision)
                targets.write_outcome(outcome)
        _show(console, table, request, targets)
        told = beyond_lead(table.to_dict()) if targets.quiet else []
        if words := " ".join(filter(None, [decision.sentence, *told])):
            tell(console, words)
        return decision.code

    return guarded(work)


def _write(table: ImpactTable, targets: Targets) -> None:
    """Write JSON, Markdown and page, as they were asked for."""
    if targets.json is not None:
        write_out(table.to_json(**targets.document), targets.json)
    if targets.markdown is not None:
        write_out(table.to_markdown(**targets.document).rstrip(), targets.markdown)
    if targets.page is not None:
        table.write_html(targets.page, **targets.document)


def _show(console: Console, table: ImpactTable, request: ImpactRequest, targets: Targets) -> None:
    """Print the tables, unless standard output is a file's."""
    if targets.takes_output:
        return
    out = Output(highlight=False, quiet=targets.quiet)
    out.print()
    file = [("File", str(request.file))]
    out.print(RichSpans(partial(impact_spans, table.to_dict(), more=file)), soft_wrap=True)
    out.print()
    if targets.page is not None and not targets.quiet:
        tell_of_page(out, targets.page)
