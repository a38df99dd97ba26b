"""Define `gerrymend fit`: train a model from a file, save it and audit it.

Imported by `cli.main` once it knows that typer and rich are there.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gerrymend._runtime.extras import check_installed
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli import options
from gerrymend.cli.columns_command import ColumnsCommand
from gerrymend.cli.estimators import ESTIMATOR_NAMES, make_estimator
from gerrymend.cli.fit_text import GATES, Fitted, as_data, show
from gerrymend.cli.gate import Gate
from gerrymend.cli.kept_out import check_test_rows, write_test_rows
from gerrymend.cli.options import FILE, TRAINING
from gerrymend.cli.outcomes import audit_outcome
from gerrymend.cli.progress import Say, progress
from gerrymend.cli.protected_missing import after_dropping
from gerrymend.cli.rounds import rounds_told
from gerrymend.cli.shared import (
    Output,
    check_target,
    errors_in_options,
    guarded,
    notes,
    option,
    request_fields,
    tell,
    tell_decision,
    tell_of_page,
)
from gerrymend.cli.targets import Targets
from gerrymend.cli.training_request import (
    TRAINABLE_NAMES,
    AnyPrepared,
    FitRequest,
    Prepared,
    TrainingRequest,
)
from gerrymend.inputs.settings import check_choice
from gerrymend.models.estimators import can_be_fitted_from_sums
from gerrymend.notions import as_notions

# What a page has and a terminal is spared: several subgroups, and whether it is chance.
_TOP = 3
_PERMUTATIONS = 199


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("fit", cls=ColumnsCommand, no_args_is_help=True)
    def fit(
        file: options.File,
        label: options.Label,
        protected: options.Protected,
        *,
        features: options.Features = None,
        drop: options.Drop = None,
        exclude_protected: options.ExcludeProtected = False,
        positive: options.Positive = None,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        ranges: options.Ranges = None,
        weight: options.Weight = None,
        control: options.Control = None,
        leave_out_empty_strata: options.LeaveOutEmptyStrata = False,
        impute: options.Impute = False,
        favourable: options.Favourable = None,
        side: options.Side = "both",
        gamma: Annotated[float, options.number(options.GAMMA_HELP, TRAINING)] = 0.01,
        notion: Annotated[list[str] | None, option(
            "Rates to equalise, separated by commas, or means of labels and decisions, 0 and 1: "
            f"{', '.join(TRAINABLE_NAMES)}.", TRAINING,
            metavar="RATES", show_default="false_positive_rate")] = None,
        subgroups: options.Subgroups = "linear",
        depth: options.Depth = None,
        estimator: Annotated[str, option(
            f"What is trained: {', '.join(ESTIMATOR_NAMES)}.", TRAINING,
            metavar="NAME")] = "logistic",
        max_iter: options.MaxIter = None,
        bins: Annotated[int | None, option(
            "Cut each protected number into so many bins, at its quantiles: gamma is then about "
            "groups of these, which are told as 'age (binned)'.", TRAINING, min=2,
            show_default="none, but where --engine dask has too many different values")] = None,
        certify: Annotated[bool, option(
            "Go on until gamma is proven, or --budget ends.", TRAINING, "--certify")] = False,
        test_size: options.TestSize = None,
        test_rows: Annotated[Path | None, option(
            "Write the rows that --test-size keeps out here, as they stand in FILE: a .csv or "
            ".parquet file.", FILE, metavar="FILE", show_default=False)] = None,
        gate: Annotated[str | None, option(
            "Rows whose audit decides the exit code: train, test or both.", TRAINING,
            metavar="ROWS", show_default="both, where there are test rows")] = None,
        budget: Annotated[float | None, options.number(
            "Seconds that training may take, --certify included, and the proof of each audit.",
            TRAINING, show_default="training ends by itself; 60 with --certify; 30 an audit",
        )] = None,
        min_group_size: options.MinGroupSize = MIN_GROUP_SIZE,
        seed: options.Seed = 0,
        out: Annotated[Path, option(
            "The model is written here, as a file of skops.", FILE, metavar="MODEL",
            show_default=False)],
        checkpoint: options.Checkpoint = None,
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
        engine: options.Engine = "memory",
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
        drop_missing: options.DropMissing = False,
    ) -> None:  # fmt: skip
        """Train a model whose rates differ by at most gamma in every subgroup.

        Text columns become indicators, numbers are scaled. The model is audited on
        the rows that it was trained on and, with --test-size, on others; there is
        one verdict, of the worse of the two or as --gate says. The exit code is 0
        where it is proven that no subgroup exceeds gamma, 1 where one does, 3 where
        neither could be shown or the report warns of what it was given, and 2 where
        the call or the data is wrong. --fail-on stands-out makes it 1 as well where a
        group of the test rows stands out from chance within gamma.

        Example, with data that the demonstration makes:

        gerrymend demo --save people.csv

        gerrymend fit people.csv --label repaid --protected race,sex \\
            --drop id,applied,granted --out m.skops
        """
        request = request_fields(FitRequest, locals()) | {"gammas": (gamma,)}
        about = options.said(locals())
        targets = Targets(None, markdown, report, quiet, about, junit, annotations)
        decides = Gate(accept_warnings, fail_on=fail_on)
        asked = Asked(estimator, certify, out, targets, checkpoint, gate, decides, test_rows, bins)
        raise typer.Exit(run(request, asked))


@dataclass(frozen=True)
class Asked:
    """Hold the options that are not about the rows; see the help of the command."""

    estimator: str
    certify: bool
    out: Path
    targets: Targets
    checkpoint: Path | None
    gated_rows: str | None
    gate: Gate
    test_rows: Path | None
    bins: int | None

    def check(self, request: TrainingRequest) -> None:
        """Raise an error for files that can't be written, and a gate that can't be closed."""
        check_installed("skops", "Saving a model needs")
        if request.engine == "dask":
            self._check_trained_in_parts()
        check_target(self.out, "--out", request.file)
        self.targets.check(self.out, request.file)
        taken = (self.out, request.file, *self.targets.files)
        check_target(self.checkpoint, "--checkpoint", *taken)
        check_test_rows(self.test_rows, request, request.test_size, self.checkpoint, *taken)
        if self.gated_rows is not None:
            check_choice(self.gated_rows, "--gate", GATES)
            if self.gated_rows != "train" and request.test_size is None:
                raise ValueError(
                    f"--gate {self.gated_rows} is about test rows, and there are none; keep some "
                    "out with --test-size."
                )
        self.gate.check(_PERMUTATIONS)
        if not self.gate.asks_who_stands_out:
            return
        # Decisions were trained to be alike on the training rows: these are no draw of chance.
        about = "--fail-on stands-out is about test rows"
        if request.test_size is None:
            raise ValueError(f"{about}, and there are none; keep some out with --test-size.")
        if self.gated_rows == "train":
            raise ValueError(f"{about}, and --gate train leaves them out; ask for --gate both.")

    def _check_trained_in_parts(self) -> None:
        """Raise a ValueError for an estimator that needs all rows in one place."""
        check_choice(self.estimator, "--estimator", ESTIMATOR_NAMES)
        if not can_be_fitted_from_sums(make_estimator(self.estimator)):
            raise ValueError(
                f"--estimator {self.estimator} needs all rows in one place, and --engine dask "
                "leaves them on workers; choose logistic or linear-regression, which are fitted "
                "from sums, or leave --engine out."
            )


def run(fields: dict[str, Any], asked: Asked) -> int:
    """Train, save, audit, print, and return the code to exit with: that of the rows of --gate.

    `fields` are those of FitRequest.
    """

    def work(console: Console) -> int:
        request = FitRequest(**fields)
        asked.check(request)
        with asked.targets.or_none(console):
            return fitted_and_told(request, console)

    def fitted_and_told(request: FitRequest, console: Console) -> int:
        with (
            notes(console, request.options),
            progress(console, f"Reading {request.file}", quiet=asked.targets.quiet) as say,
            request.working(say),
        ):
            prepared = request.prepare_anywhere()
            if asked.test_rows is not None:
                assert isinstance(prepared, Prepared)  # --test-size is for rows in memory
                write_test_rows(
                    asked.test_rows, request, request.label, prepared.test_rows, console
                )
            try:
                with errors_in_options(request.options):
                    classifier = _trained(request, prepared, asked, say, console)
                    fitted = _saved_and_audited(request, prepared, classifier, asked, say)
            except KeyboardInterrupt:
                if asked.checkpoint is not None and asked.checkpoint.exists():
                    words = f"The training is kept in {asked.checkpoint}: the same command goes on."
                    tell(console, words)
                raise
        targets = asked.targets
        # The model decides what the label's column says.
        document = targets.write(
            fitted.report, as_data(fitted), label=request.label, decision=request.label
        )
        out = console if targets.takes_output else Output(highlight=False, quiet=targets.quiet)
        if not targets.takes_output:
            show(out, fitted, request, document)
        # The last sample is that of the test rows, where there are any.
        tested = fitted.measured[-1].report
        decision = asked.gate.decide(tested, fitted.verdict, fitted.warnings)
        shown = document.with_columns(fitted.report)
        targets.write_outcome(audit_outcome("fit", request.file, shown, decision))
        if targets.page is not None and not targets.quiet:
            tell_of_page(out, targets.page)
        tell_decision(console, shown, decision, quiet=targets.quiet)
        return decision.code

    return guarded(work)


def _trained(
    request: TrainingRequest, prepared: AnyPrepared, asked: Asked, say: Say, console: Console
) -> Any:
    """Return the classifier, fitted to the encoded columns of the training rows."""
    classifier = request.classifier(
        asked.estimator,
        notion=request.notions(prepared.train.pair),
        verbose=1,
        checkpoint=asked.checkpoint,
        certify=asked.certify,
        bins=asked.bins,
    )
    classifier.set_params(gamma=request.gammas[0])
    train = prepared.train
    with rounds_told(say, lambda words: tell(console, words, "yellow")):
        classifier.fit(
            train.features, train.labels, sensitive_features=train.protected,
            control_features=train.control, sample_weight=train.given_weight,
        )  # fmt: skip
    return classifier


def _saved_and_audited(
    request: TrainingRequest,
    prepared: AnyPrepared,
    classifier: Any,
    asked: Asked,
    say: Say,
) -> Fitted:
    """Save a model that takes the columns as they are in the file, and audit it on each sample."""
    from sklearn.pipeline import Pipeline

    from gerrymend.models.saving import save_model

    say(f"Saving {asked.out}")
    to_trust = save_model(
        Pipeline([("encode", prepared.encoder), ("decide", classifier.mixture_)]), asked.out
    )
    say(f"Auditing over {request.subgroups} subgroups, within {request.audit_budget:g} s")
    for_people = asked.targets.is_for_people
    asks_chance = for_people or asked.gate.asks_who_stands_out
    how = {
        "subgroups": request.subgroup_class,
        "notion": as_notions(request.notion),
        "gamma": request.gammas[0],
        "budget": request.audit_budget,
        "min_group_size": request.min_group_size,
        "favourable": request.favourable,
        "side": request.side,
        "leave_out_empty_strata": request.leave_out_empty_strata,
        "features": prepared.columns,
        "top": _TOP if for_people else 1,
    }
    measured = []
    for rows in prepared.samples:
        # Chance says nothing of rows on which decisions were trained to be fair.
        is_tested = asks_chance and rows is prepared.test
        tested = {"n_permutations": _PERMUTATIONS} if is_tested else {}
        on_rows = prepared.measured(rows, classifier, how | tested)
        report = after_dropping(on_rows.report, prepared.missing)
        measured.append(replace(on_rows, report=report))
    return Fitted(
        classifier, prepared, measured, asked.estimator, asked.out, to_trust, asked.gated_rows,
        fails_for_standing_out=asked.gate.asks_who_stands_out,
        test_rows=asked.test_rows,
    )  # fmt: skip
