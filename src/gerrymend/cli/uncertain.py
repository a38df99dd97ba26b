"""Define `gerrymend uncertain`: its options, and the work behind them.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from typing import Annotated, Any

import typer
from rich.console import Console

from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli import options
from gerrymend.cli.columns_command import ColumnsCommand
from gerrymend.cli.exit_codes import gate_decision
from gerrymend.cli.found import show_found, write_found
from gerrymend.cli.options import DATA, FILE
from gerrymend.cli.outcomes import uncertain_outcome
from gerrymend.cli.progress import progress
from gerrymend.cli.shared import (
    column,
    guarded,
    notes,
    option,
    request_fields,
)
from gerrymend.cli.targets import Targets
from gerrymend.cli.uncertain_request import UncertainRequest
from gerrymend.notions import NOTION_NAMES
from gerrymend.reporting.uncertain.words import lead_sentences, look, warnings
from gerrymend.subgroups import CLASS_NAMES
from gerrymend.uncertain.audit_uncertain import POOL_SIZE

_AUDIT = "How to audit"


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("uncertain", cls=ColumnsCommand, no_args_is_help=True)
    def uncertain(
        file: options.File,
        attribute_probabilities: Annotated[list[str], option(
            "The attribute that is not known, with a column of probabilities for each category, "
            "which add up to 1: race=Black:p_black,White:p_white, or race=p_black,p_white.", DATA,
            metavar="NAME=COLUMNS", show_default=False)],
        protected: Annotated[list[str] | None, option(
            "Protected attributes that are known, separated by commas.", DATA, metavar="COLUMNS",
            show_default=False)] = None,
        label: Annotated[str | None, column(
            "True label, of two values; statistical_parity needs none.", DATA)] = None,
        prediction: Annotated[str | None, column("Decision, of the same values.", DATA)] = None,
        score: Annotated[str | None, column("Or: score, cut at --threshold.", DATA)] = None,
        threshold: options.Threshold = None,
        probability: Annotated[str | None, column(
            "Or: probability with which a randomised model decides positive.", DATA)] = None,
        positive: options.Positive = None,
        weight: options.Weight = None,
        notion: Annotated[list[str] | None, option(
            f"Rates to compare, separated by commas: {', '.join(NOTION_NAMES)}.", _AUDIT,
            metavar="NOTIONS", show_default="false_positive_rate")] = None,
        subgroups: Annotated[str, option(
            f"Class of subgroups over the known attributes: {', '.join(CLASS_NAMES)}.", _AUDIT,
            metavar="CLASS")] = "conjunctions",
        depth: Annotated[int | None, option(
            "Conditions, attributes or questions at most, in conjunctions, value_sets and trees.",
            _AUDIT, show_default="2")] = None,
        gamma: Annotated[float, options.number(options.GAMMA_HELP, _AUDIT)] = 0.01,
        pool_size: Annotated[int, option(
            "Probabilities are taken to be right on average among so many people, with the same "
            "known attributes and the nearest probabilities.", _AUDIT)] = POOL_SIZE,
        probability_error: Annotated[float, options.number(
            "How far the shares among these may be from the mean of the probabilities: 0.05 for 5 "
            "points.", _AUDIT)] = 0.0,
        budget: Annotated[float, options.number(
            "Seconds that searches and proofs may take, and again the permutations.",
            _AUDIT)] = 30.0,
        min_group_size: Annotated[int, option(
            "Groups that fewer rows are expected in, of those that the rate is over, are not "
            "described.", _AUDIT)] = MIN_GROUP_SIZE,
        permutations: Annotated[int, option(
            "Permutations for the p-value; 0 for none.", _AUDIT)] = 199,
        seed: Annotated[int, option("Seed of search and permutations.", _AUDIT, min=0)] = 0,
        json_file: Annotated[str | None, option(
            "Write the report as JSON to this file; - is standard output.", FILE, "--json",
            metavar="FILE", show_default=False)] = None,
        report: options.Report = None,
        markdown: options.Markdown = None,
        junit: options.Junit = None,
        annotations: options.Annotations = None,
        title: options.Title = None,
        quiet: options.Quiet = False,
        accept_warnings: options.AcceptWarnings = False,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        ranges: options.Ranges = None,
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
        drop_missing: options.DropMissing = False,
    ) -> None:  # fmt: skip
        """Audit where an attribute is known as probabilities, as by BISG.

        Nobody is assigned to a group: each row counts in each category with its
        probability. The exit code is 0 where no group exceeds gamma, whoever the
        members are, 1 where one does whoever its members are, 3 where it depends on
        who they are or the report warns of what it was given, and 2 where the call
        or the data is wrong.

        Example:

        gerrymend uncertain people.csv --label repaid --prediction granted \\
            --attribute-probabilities race=Black:p_black,White:p_white \\
            --protected sex
        """
        fields = request_fields(UncertainRequest, locals() | {"protected": protected or []})
        targets = Targets(json_file, markdown, report, quiet, junit=junit, annotations=annotations)
        raise typer.Exit(run(fields, targets, title, accept_warnings))


def run(fields: dict[str, Any], targets: Targets, title: str | None, accepted: bool) -> int:
    """Audit, print, and return the code to exit with.

    Parameters
    ----------
    fields : dict
        The fields of UncertainRequest.
    targets : Targets
        Where the report goes.
    title : str or None
        Title of the page and the Markdown.
    accepted : bool
        Whether warnings leave the verdict as it is.
    """

    def work(console: Console) -> int:
        targets.check(fields["file"])
        with targets.or_none(console):
            request = UncertainRequest(**fields)
            first = f"Searching, and proving within {request.budget:g} s"
            with notes(console, request.options), progress(console, first, quiet=targets.quiet):
                found = request.audit()
            write_found(found, targets, title)
            decision = gate_decision(found.verdict, found.warnings, accepted=accepted)
            targets.write_outcome(uncertain_outcome(request.file, found, decision))
        data = found.to_dict()
        brief = [*warnings(data), f"{look(data).heading}.", *lead_sentences(data)]
        show_found(console, found, targets, decision, brief)
        return decision.code

    return guarded(work)
