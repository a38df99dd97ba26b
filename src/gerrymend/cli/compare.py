"""Define `gerrymend compare`: what changed since an earlier report, or from model to model.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gerrymend.cli import options
from gerrymend.cli.columns_command import ColumnsCommand
from gerrymend.cli.compare_request import CompareRequest
from gerrymend.cli.exit_codes import change_decision
from gerrymend.cli.found import show_found, write_found
from gerrymend.cli.options import DATA, FILE
from gerrymend.cli.outcomes import comparison_outcome
from gerrymend.cli.progress import progress
from gerrymend.cli.shared import (
    SMALL_GROUPS_HELP,
    column,
    guarded,
    notes,
    option,
    request_fields,
    split,
)
from gerrymend.cli.targets import Targets
from gerrymend.inputs.settings import check_choice
from gerrymend.notions import NOTION_NAMES, OUTCOME_NAMES
from gerrymend.reporting.changes.words import look, verdict_sentences, warnings
from gerrymend.subgroups import CLASS_NAMES

_COMPARE = "How to compare"
_OF_REPORT = "that of the report, or "


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("compare", cls=ColumnsCommand, no_args_is_help=True)
    def compare(
        old: Annotated[Path, typer.Argument(
            metavar="OLD", help="An earlier report, as audit --json wrote it (*.json); or a table "
            "of older rows, with the same columns.")],
        file: options.File,
        protected: options.Protected,
        label: Annotated[str | None, column(
            "True label, of two values or more, or a number.", DATA)] = None,
        prediction: Annotated[str | None, column("Decision, of the same values.", DATA)] = None,
        score: Annotated[str | None, column("Or: score, cut at --threshold.", DATA)] = None,
        threshold: options.Threshold = None,
        probability: Annotated[str | None, column(
            "Or: probability with which a randomised model decides positive.", DATA)] = None,
        old_prediction: Annotated[str | None, column(
            "Decision of the old model, in OLD. Where OLD is FILE two models are compared on the "
            "same rows.", DATA)] = None,
        old_score: Annotated[str | None, column("Or: its score.", DATA)] = None,
        positive: options.Positive = None,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        ranges: options.Ranges = None,
        favourable: options.Favourable = None,
        side: Annotated[str | None, option(
            "Which subgroups count: both, or disadvantaged alone.", DATA, "--side",
            metavar="WHICH", show_default=f"{_OF_REPORT}both")] = None,
        weight: options.Weight = None,
        control: options.Control = None,
        leave_out_empty_strata: options.LeaveOutEmptyStrata = False,
        notion: Annotated[list[str] | None, option(
            f"Rates to compare, separated by commas: {', '.join(NOTION_NAMES)}; or means of "
            f"numbers: {', '.join(OUTCOME_NAMES)}.", _COMPARE, metavar="NOTIONS",
            show_default=f"{_OF_REPORT}false_positive_rate")] = None,
        subgroups: Annotated[str | None, option(
            f"Class of subgroups: {', '.join(CLASS_NAMES)}.", _COMPARE, metavar="CLASS",
            show_default=f"{_OF_REPORT}linear")] = None,
        depth: Annotated[int | None, option(
            "Conditions, attributes or questions at most, in conjunctions, value_sets and trees.",
            _COMPARE, show_default="2")] = None,
        gamma: Annotated[float | None, option(
            "Unfairness to allow, as in audit.", _COMPARE,
            show_default=f"{_OF_REPORT}0.01")] = None,
        tolerance: Annotated[float | None, option(
            "A change of the largest unfairness by no more than this is none.", _COMPARE,
            show_default="gamma")] = None,
        budget: Annotated[float, option(
            "Seconds that searches and proofs may take, and again the permutations.",
            _COMPARE)] = 30.0,
        min_group_size: Annotated[int | None, option(
            SMALL_GROUPS_HELP, _COMPARE, show_default=f"{_OF_REPORT}10")] = None,
        permutations: Annotated[int, option(
            "Permutations for the p-values; 0 for none.", _COMPARE)] = 199,
        seed: Annotated[int, option("Seed of the permutations.", _COMPARE, min=0)] = 0,
        json_file: Annotated[str | None, option(
            "Write the comparison as JSON to this file; - is standard output.", FILE, "--json",
            metavar="FILE", show_default=False)] = None,
        report: options.Report = None,
        markdown: options.Markdown = None,
        junit: options.Junit = None,
        annotations: options.Annotations = None,
        title: options.Title = None,
        quiet: options.Quiet = False,
        accept_warnings: options.AcceptWarnings = False,
        fail_on: Annotated[str, option(
            "What is 1: worse than before; or also, with exceeds, a subgroup that exceeds gamma "
            "now.", FILE, "--fail-on", metavar="worse|exceeds")] = "worse",
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
        drop_missing: options.DropMissing = False,
    ) -> None:  # fmt: skip
        """Say what changed: is a model worse than before, for whom, and may it be chance?

        OLD is the report of an earlier audit, or the rows that it was of. With
        these, the subgroup that moved most is searched for, too. The exit code is 0
        where it is the same or better, 1 where it is worse, 3 where that can't be
        told or the rows are warned of, and 2 where the call or the data is wrong.

        Example, with data that the demonstration makes:

        gerrymend demo --save people.csv

        gerrymend audit people.csv --label repaid --prediction granted \\
            --protected race,sex --json old.json

        gerrymend compare old.json people.csv --label repaid --prediction granted \\
            --protected race,sex
        """
        given = locals()
        fields = request_fields(CompareRequest, given)
        fields |= {
            "notion": tuple(split(notion or [], [])),
            "class_name": subgroups,
            "subgroups": subgroups or "linear",
        }
        targets = Targets(json_file, markdown, report, quiet, junit=junit, annotations=annotations)
        raise typer.Exit(run(fields, targets, title, fail_on, accept_warnings))


def run(
    fields: dict[str, Any], targets: Targets, title: str | None, fail_on: str, accepted: bool
) -> int:
    """Compare, print, and return the code to exit with.

    Parameters
    ----------
    fields : dict
        The fields of CompareRequest.
    targets : Targets
        Where the comparison goes.
    title : str or None
        Title of the page and the Markdown.
    fail_on : {"worse", "exceeds"}
        What is 1.
    accepted : bool
        Whether warnings leave the verdict as it is.
    """

    def work(console: Console) -> int:
        check_choice(fail_on, "--fail-on", ("worse", "exceeds"))
        targets.check(fields["file"], fields["old"])
        with targets.or_none(console):
            request = CompareRequest(**fields)
            first = f"Searching, and proving within {request.budget:g} s"
            with (
                notes(console, request.options),
                progress(console, first, quiet=targets.quiet) as say,
            ):
                found = request.compare(lambda done, of: say("Permutations", done, of))
            write_found(found, targets, title)
            decision = change_decision(found, fail_on, accepted=accepted)
            targets.write_outcome(comparison_outcome(request.file, found, decision))
        data = found.to_dict()
        brief = [*warnings(data), f"{look(data).heading}.", *verdict_sentences(data)]
        show_found(console, found, targets, decision, brief)
        return decision.code

    return guarded(work)
