"""Define `gerrymend audit`: its options, and the work behind them.

Imported by `cli.main` once it knows that typer and rich are there.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gerrymend.auditing.inference.population import N_RESAMPLES
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli import options
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.cli.audit_text import show
from gerrymend.cli.columns_command import ColumnsCommand
from gerrymend.cli.gate import Gate
from gerrymend.cli.options import DATA, FILE
from gerrymend.cli.outcomes import audit_outcome
from gerrymend.cli.progress import progress
from gerrymend.cli.refit import training_commands, untrainable_columns
from gerrymend.cli.shared import (
    SMALL_GROUPS_HELP,
    Output,
    column,
    guarded,
    notes,
    option,
    request_fields,
    tell_decision,
    tell_of_page,
)
from gerrymend.cli.targets import Targets
from gerrymend.notions import NOTION_NAMES, OUTCOME_NAMES, SCORE_NAMES
from gerrymend.reporting.audit.next_steps import next_commands
from gerrymend.subgroups import CLASS_NAMES

_AUDIT = "How to audit"


def _column(words: str) -> Any:
    return column(words, DATA)


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("audit", cls=ColumnsCommand, no_args_is_help=True)
    def audit(
        file: options.File,
        protected: options.Protected,
        label: Annotated[
            str | None,
            _column("True label, of two values or more, or a number; statistical_parity and "
                "mean_outcome need none."),
        ] = None,
        prediction: Annotated[str | None, _column("Decision, of the same values.")] = None,
        score: Annotated[str | None, _column(
            "Or: score, cut at --threshold; or looked at itself, with --notion multicalibration."
            )] = None,
        threshold: options.Threshold = None,
        probability: Annotated[str | None, _column(
            "Or: probability with which a randomised model decides positive.")] = None,
        positive: options.Positive = None,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        ranges: options.Ranges = None,
        favourable: options.Favourable = None,
        side: options.Side = "both",
        weight: options.Weight = None,
        counts: Annotated[str | None, _column(
            "Number of rows that a line stands for: FILE is a table that GROUP BY made.")] = None,
        control: options.Control = None,
        leave_out_empty_strata: options.LeaveOutEmptyStrata = False,
        features: Annotated[list[str] | None, option(
            "Columns that the model decides by, where they are known: the report says which of "
            "them are protected.", DATA, metavar="COLUMNS", show_default=False)] = None,
        intersection: Annotated[list[str] | None, option(
            "Two protected categories to show rates of where they meet.", _AUDIT,
            metavar="COLUMNS", show_default="the first two of few values")] = None,
        notion: Annotated[list[str] | None, option(
            f"Rates to compare, separated by commas: {', '.join(NOTION_NAMES)}; or means of "
            f"numbers, which --prediction and --label then are: {', '.join(OUTCOME_NAMES)}; or "
            f"whether --score is right for everyone: {', '.join(SCORE_NAMES)}.",
            _AUDIT, metavar="NOTIONS", show_default="false_positive_rate")] = None,
        unit: Annotated[str | None, option(
            "What numbers are counted in, for means: days, EUR.", _AUDIT, metavar="TEXT",
            show_default=False)] = None,
        bins: Annotated[int | None, option(
            "Bins of the score, for multicalibration: every run of neighbouring ones is an "
            "interval.", _AUDIT, show_default="10")] = None,
        reference: Annotated[list[str] | None, option(
            "What groups are compared with, in place of everyone: a number, such as 30, or a "
            "protected group, such as sex=M (once for each condition).", _AUDIT,
            metavar="NUMBER|GROUP", show_default="everyone")] = None,
        factor: Annotated[float | None, options.number(
            "Part of that group's rate or mean: 0.8 for four fifths.", _AUDIT,
            show_default="1")] = None,
        subgroups: Annotated[str, option(
            f"Class of subgroups: {', '.join(CLASS_NAMES)}.", _AUDIT, metavar="CLASS")] = "linear",
        depth: Annotated[int | None, option(
            "Conditions, attributes or questions at most, in conjunctions, value_sets and trees.",
            _AUDIT, show_default="2")] = None,
        gamma: Annotated[float, options.number(
            f"{options.GAMMA_HELP} Of means it is in their own unit.", _AUDIT)] = 0.01,
        budget: Annotated[float, options.number(
            "Seconds that the proof may take, and again the permutations and the resamples.",
            _AUDIT)] = 30.0,
        min_group_size: Annotated[int, option(
            SMALL_GROUPS_HELP, _AUDIT)] = MIN_GROUP_SIZE,
        top: Annotated[int, option(
            "Subgroups to describe that differ from each other, if they are more than chance "
            "makes.",
            _AUDIT)] = 3,
        permutations: Annotated[int, option(
            "Permutations for the p-value; 0 for none.", _AUDIT)] = 199,
        confidence: Annotated[float | None, options.number(
            "Also bound the unfairness of every subgroup for the people that the rows were drawn "
            "from, with this confidence: 0.95, for example. The exit code stays about the rows.",
            _AUDIT, metavar="FRACTION", show_default=False)] = None,
        resamples: Annotated[int, option(
            "Resamples of the rows for --confidence.", _AUDIT)] = N_RESAMPLES,
        discovery_rate: Annotated[float | None, options.number(
            "Mark the groups that differ, of one attribute and of all in which two meet (three: "
            "--subgroups conjunctions --depth 3), so that at most this part of the marks is "
            "expected to be false: 0.1, for example.",
            _AUDIT, metavar="FRACTION", show_default=False)] = None,
        test_size: Annotated[float | None, options.number(
            "Part of the rows to keep out of the search, and to measure the worst subgroup on.",
            _AUDIT, metavar="FRACTION", show_default=False)] = None,
        holdout: Annotated[Path | None, option(
            "Or: a second file with the same columns to measure it on.", _AUDIT, metavar="FILE",
            show_default=False)] = None,
        seed: Annotated[int, option(
            "Seed of the search, of permutations, of resamples and of what is held out.", _AUDIT,
            min=0)] = 0,
        jobs: Annotated[int, option(
            "Workers for permutations and resamples; -1 for all cores.", _AUDIT)] = 1,
        json_file: Annotated[str | None, option(
            "Write the report as JSON to this file; - is standard output.", FILE, "--json",
            metavar="FILE", show_default=False)] = None,
        report: options.Report = None,
        markdown: options.Markdown = None,
        junit: options.Junit = None,
        annotations: options.Annotations = None,
        title: options.Title = None,
        model_name: options.ModelName = None,
        decisions: options.Decisions = None,
        owner: options.Owner = None,
        purpose: options.Purpose = None,
        date: options.Date = None,
        since: options.Since = None,
        quiet: options.Quiet = False,
        accept_warnings: options.AcceptWarnings = False,
        fail_on: options.FailOn = "exceeds",
        if_chance: options.IfChance = "fail",
        engine: options.Engine = "memory",
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
        drop_missing: options.DropMissing = False,
    ) -> None:  # fmt: skip
        """Find the subgroup that a model's decisions treat most differently, or worst.

        The exit code is fit for a gate in CI: 0 where it is proven that no subgroup
        exceeds gamma, 1 where one does, 3 where neither could be shown or the
        report warns of what it was given, and 2 where the call or the data is
        wrong. One that exceeds gamma may be chance: --if-chance undecided makes
        that 3 instead of 1. Unfairness counts how many people are hit: a small group
        that is hit hard may be within gamma. It is told, and shuts the gate, with 1,
        where --fail-on stands-out asks for that. Why it is not 0 is one line on
        standard error.

        Example, with data that the demonstration makes:

        gerrymend demo --save people.csv

        gerrymend audit people.csv --label repaid --prediction granted \\
            --protected race,sex --notion false_negative_rate --favourable positive
        """
        about = options.said(locals())
        targets = Targets(json_file, markdown, report, quiet, about, junit, annotations)
        gate = Gate(accept_warnings, if_chance, fail_on)
        raise typer.Exit(run(request_fields(AuditRequest, locals()), targets, gate))


def run(fields: dict[str, Any], targets: Targets, gate: Gate) -> int:
    """Audit, print, and return the code to exit with.

    Parameters
    ----------
    fields : dict
        The fields of AuditRequest.
    targets : Targets
        Where the report goes.
    gate : Gate
        How the verdict decides the code.
    """

    def work(console: Console) -> int:
        targets.check(fields["file"], fields["holdout"])
        with targets.or_none(console):
            gate.check(fields["permutations"])
            return audited(AuditRequest(**fields), console)

    def audited(request: AuditRequest, console: Console) -> int:
        within = f"within {request.budget:g} s"
        first = f"Searching {request.subgroups} subgroups, and proving {within}"
        with (
            notes(console, request.options),
            progress(console, first, quiet=targets.quiet) as say,
            request.working(say),
        ):
            report = request.audit(lambda done, of: say(f"{request.drawn}, {within}", done, of))
        data = report.to_dict()
        is_trainable = next_commands(data) and not request.counts
        dropped = untrainable_columns(request) if is_trainable else []
        commands = training_commands(request, dropped) if is_trainable else []
        # A page goes to others, whom folders of this machine don't concern.
        named = replace(request, file=Path(request.file.name))
        passed_on = training_commands(named, dropped) if is_trainable else []
        name = None if str(request.file) == "-" else named.file.name
        document = targets.write(data, **request.columns, commands=passed_on, file=name)
        out = console if targets.takes_output else Output(highlight=False, quiet=targets.quiet)
        shown = document.with_columns(data)
        if not targets.takes_output:
            show(out, report, request, shown, commands)
        decision = gate.decide(report)
        targets.write_outcome(audit_outcome("audit", request.file, shown, decision))
        if targets.page is not None and not targets.quiet:
            tell_of_page(out, targets.page)
        tell_decision(console, shown, decision, quiet=targets.quiet)
        return decision.code

    return guarded(work)
