"""`gerrymend frontier`: train a model for each gamma, and compare their error and unfairness.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli import options
from gerrymend.cli.columns_command import ColumnsCommand
from gerrymend.cli.estimators import ESTIMATOR_NAMES, make_estimator
from gerrymend.cli.exit_codes import INTERRUPTED
from gerrymend.cli.options import DATA, FILE, TRAINING
from gerrymend.cli.progress import Say, progress
from gerrymend.cli.refit import fit_command
from gerrymend.cli.rounds import rounds_told
from gerrymend.cli.shared import (
    Output,
    check_jobs_option,
    check_page,
    check_target,
    column,
    errors_in_options,
    guarded,
    notes,
    option,
    request_fields,
    split,
    tell,
    write_out,
)
from gerrymend.cli.training_request import (
    TRAINABLE_NAMES,
    Prepared,
    TrainingRequest,
)
from gerrymend.inputs.held_numbers import number_of
from gerrymend.inputs.sample import Sample
from gerrymend.reporting.audit.subgroup_words import summary_words
from gerrymend.reporting.audit.who_leads import standing
from gerrymend.reporting.text import WIDEST, as_rich, fact_spans, wrapped

if TYPE_CHECKING:
    from gerrymend.frontier.points import FrontierPoint
    from gerrymend.frontier.tradeoffs import ParetoFrontier


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("frontier", cls=ColumnsCommand, no_args_is_help=True)
    def frontier(
        file: options.File,
        label: options.Label,
        protected: options.Protected,
        features: options.Features = None,
        drop: options.Drop = None,
        exclude_protected: options.ExcludeProtected = False,
        positive: options.Positive = None,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        ranges: options.Ranges = None,
        prediction: Annotated[str | None, column(
            "What your model decides today, to compare with: decisions, which nothing is trained "
            "on.", DATA)] = None,
        score: Annotated[str | None, column(
            "Or: its score, cut at --threshold.", DATA)] = None,
        threshold: options.Threshold = None,
        weight: options.Weight = None,
        control: options.Control = None,
        leave_out_empty_strata: options.LeaveOutEmptyStrata = False,
        impute: options.Impute = False,
        favourable: options.Favourable = None,
        side: options.Side = "both",
        gammas: Annotated[list[str] | None, option(
            f"{options.GAMMA_HELP} Separated by commas.", TRAINING, metavar="NUMBERS",
            show_default="0,0.001,0.002,0.005,0.01,0.02,0.05")] = None,
        notion: Annotated[list[str] | None, option(
            "Rates to equalise, separated by commas, or means of labels and decisions, 0 and 1, "
            f"each on its own: {', '.join(TRAINABLE_NAMES)}.", TRAINING, metavar="RATES",
            show_default="false_positive_rate")] = None,
        subgroups: options.Subgroups = "linear",
        depth: options.Depth = None,
        estimator: Annotated[list[str] | None, option(
            f"What is trained, each on its own: {', '.join(ESTIMATOR_NAMES)}.", TRAINING,
            metavar="NAMES", show_default="logistic")] = None,
        max_iter: options.MaxIter = None,
        test_size: options.TestSize = None,
        budget: Annotated[float | None, options.number(
            "Seconds that training one model may take, and the proof of one audit.", TRAINING,
            show_default="training ends by itself; 10 an audit")] = None,
        min_group_size: options.MinGroupSize = MIN_GROUP_SIZE,
        seed: options.Seed = 0,
        jobs: Annotated[int, option("Processes; -1 for all cores.", TRAINING)] = 1,
        marginal: Annotated[bool | None, option(
            "Train the paper's MARGINAL too, which looks at one attribute at a time: for contrast, "
            "in as much time again.", TRAINING, "--marginal/--no-marginal",
            show_default="with --report")] = None,
        report: Annotated[Path | None, option(
            "Write a page to choose on to this HTML file.", FILE, metavar="FILE",
            show_default=False)] = None,
        json_file: Annotated[str | None, option(
            "Write the points as JSON to this file; - is standard output.", FILE, "--json",
            metavar="FILE", show_default=False)] = None,
        quiet: options.Quiet = False,
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
        drop_missing: options.DropMissing = False,
    ) -> None:  # fmt: skip
        """Show what each unfairness costs in error, for people to choose from.

        A model is trained for every gamma, and audited as gerrymend audit does it,
        on the training rows and, with --test-size, on others. Points that another
        one beats in both are marked, and the knee is suggested. Beside them are each
        estimator without constraint and, with --prediction or --score, your model
        today. What is chosen is trained by gerrymend fit, with --gamma.

        Example, with data that the demonstration makes:

        gerrymend demo --save people.csv

        gerrymend frontier people.csv --label repaid --protected race,sex \\
            --drop id,applied,granted --report f.html
        """
        request = request_fields(TrainingRequest, locals())
        asked = Asked(
            gammas=gammas,
            estimators=split(estimator or ["logistic"], []),
            jobs=jobs,
            marginal=report is not None and subgroups != "marginals"
            if marginal is None
            else marginal,
            json_file=json_file,
            report=report,
            quiet=quiet,
        )
        raise typer.Exit(run(request, asked))


@dataclass(frozen=True)
class Asked:
    """Hold the options of `gerrymend frontier` that `gerrymend fit` doesn't have.

    `gammas` are numbers as text, each entry several separated by commas.
    """

    gammas: list[str] | None
    estimators: list[str]
    jobs: int
    marginal: bool
    json_file: str | None
    report: Path | None
    quiet: bool


def run(fields: dict[str, Any], asked: Asked) -> int:
    """Train, audit, print and write, and return the exit code.

    It is 0, 2 where the call or the data is wrong, and 130 after Ctrl-C: the models that were done
    by then are printed and written all the same.
    """

    def work(console: Console) -> int:
        """Run the command, with progress and notes on `console`."""
        from gerrymend.frontier.settings import GAMMAS
        from gerrymend.frontier.sweep import FrontierInterrupted

        levels = GAMMAS if asked.gammas is None else _numbers(asked.gammas)
        for name, given in {"--estimator": asked.estimators, "--notion": fields["notion"]}.items():
            _check_once(given, name)
        check_jobs_option(asked.jobs)
        request = TrainingRequest(**fields | {"gammas": levels})
        check_target(asked.json_file, "--json", request.file)
        check_page(asked.report, asked.json_file, request.file, needs=("jinja2", "plotly"))
        # Before the file is read, so that a name that is wrong is an error at once.
        made = {name: make_estimator(name) for name in asked.estimators}
        with (
            notes(console, request.options),
            progress(console, f"Reading {request.file}", quiet=asked.quiet) as say,
        ):
            prepared = request.prepare()
            try:
                frontier = _frontier(request, prepared, made, asked, say)
                code = 0
            except FrontierInterrupted as stop:
                frontier = stop.frontier
                code = INTERRUPTED
        if code:
            console.print("Interrupted; these points were done.")
        # After an interruption too: what was done can be trained again by itself.
        dropped = prepared.missing if prepared.missing.dropped else None
        frontier = replace(_with_commands(frontier, request), dropped=dropped)
        if asked.json_file is not None:
            write_out(frontier.to_json(), asked.json_file)
        if asked.report is not None:
            frontier.write_html(asked.report)
        if asked.json_file != "-":
            show(Output(highlight=False, quiet=asked.quiet), frontier, asked.report)
        return code

    return guarded(work)


def _with_commands(frontier: "ParetoFrontier", request: TrainingRequest) -> "ParetoFrontier":
    """Return the frontier with its label's name, and the command that trains each point.

    Python code would be about the encoded columns, which only the command line has.
    """
    points = tuple(
        replace(
            point,
            code=None,
            command=fit_command(request, point.gamma, point.notion, point.estimator),
        )
        for point in frontier.points
    )
    contrast = tuple(replace(point, code=None) for point in frontier.marginal_points)
    return replace(frontier, points=points, marginal_points=contrast, label=request.label)


class _ProgressListener:
    """Listen to rounds and points, and report how many models are done."""

    def __init__(self, say: Say, n_models: int) -> None:
        self._say = say
        self._done = 0
        self._n_models = n_models
        self._report("training")

    def on_round(self, words: str, done: int = 0, of: int | None = None) -> None:
        """Report a round of the model that is being trained, or what follows its rounds."""
        self._report(words if of is None else f"training, round {done} of at most {of}")

    def on_point(self, point: "FrontierPoint", of: int) -> None:
        """Report a model that was trained and audited."""
        self._done += 1
        self._report(f"gamma {point.gamma:g} has error {point.train.error:.4f}")

    def _report(self, words: str) -> None:
        """Show the words and the number of models that are done."""
        self._say(f"models; {words}", self._done, self._n_models)


def _frontier(
    request: TrainingRequest, prepared: Prepared, made: dict[str, Any], asked: Asked, say: Say
) -> "ParetoFrontier":
    """Train and audit a model for each gamma, notion and estimator of those that are `made`.

    Raises a ValueError in the terms of the command, and FrontierInterrupted, with what was done by
    then, after Ctrl-C.
    """
    from gerrymend.frontier.sweep import pareto_frontier

    train = prepared.train
    test = prepared.test
    second = {} if test is None else {
        "X_test": test.features,
        "y_test": test.labels,
        "sensitive_features_test": test.protected,
        "control_features_test": test.control,
        "sample_weight_test": test.given_weight,
        "today_test": _today(test),
    }  # fmt: skip
    n_settings = len(made) * len(request.notion) * (1 + asked.marginal)
    listener = _ProgressListener(say, n_settings * len(request.gammas))
    with errors_in_options(request.options), rounds_told(listener.on_round):
        return pareto_frontier(
            request.classifier(asked.estimators[0], verbose=1),
            train.features,
            train.labels,
            sensitive_features=train.protected,
            control_features=train.control,
            sample_weight=train.given_weight,
            pos_label=train.pair[1],
            favourable=request.favourable,
            side=request.side,
            today=_today(train),
            # A list: the default gammas serve means of decisions as well, which are 0 and 1 here.
            gammas=list(request.gammas),
            notions=list(request.notion),
            estimators=made,
            marginal=asked.marginal,
            audit_subgroups=request.subgroup_class,
            audit_budget=request.audit_budget,
            min_group_size=request.min_group_size,
            n_jobs=asked.jobs,
            on_point=listener.on_point,
            **second,
        )


def _today(rows: Sample) -> Any:
    """Return what the model of today decides, as labels; None where it was not told."""
    return None if rows.p is None else rows.classes[rows.p.astype(int)]


def _numbers(given: list[str]) -> tuple[float, ...]:
    """Return the numbers of --gammas, or raise a ValueError.

    >>> _numbers(["0,0.01", "0.05"])
    (0.0, 0.01, 0.05)
    """
    words = [word for word in split(given, []) if word]
    try:
        return tuple(map(number_of, words))
    except ValueError:
        raise ValueError(
            f"--gammas must be numbers, separated by commas, such as 0,0.005,0.01; got "
            f"{','.join(given)!r}."
        ) from None


def _check_once(names: Sequence[str], option_name: str) -> None:
    """Raise a ValueError if a name is given more than once."""
    for name in names:
        if list(names).count(name) > 1:
            raise ValueError(f"{option_name} names {name!r} more than once; name it once.")


def show(console: Console, frontier: "ParetoFrontier", report: Path | None = None) -> None:
    """Print the table, the worst subgroups at the knees, and what the table can't say.

    The knee is the point from which fairness becomes dear; which point to take is left to people.
    """
    width = min(console.width, WIDEST)
    console.print()
    tell(console, str(frontier))
    for point in frontier.suggested:
        facts: list[tuple[str, str]] = []
        for where, rows in (("test", point.test), ("training", point.train)):
            worst = None if rows is None else rows.shown
            if rows is not None and worst is not None:
                named = "" if facts else "At the knee"
                lead = f"gamma {point.gamma:g}: of" if not facts else "Of"
                facts += [
                    (named, f"{lead} the {where} rows, {standing(worst.treated).lower()}:"),
                    ("", str(worst)),
                    ("", summary_words(worst.to_dict(), rows.report.to_dict())),
                ]
        if facts:
            console.print()
            console.print(as_rich(fact_spans(facts, width)), soft_wrap=True)
    console.print()
    words = (
        "How much error a fairer treatment of every subgroup is worth is a question of policy, "
        "for those who answer for the decisions and those who live with them: the table can't "
        "answer it. Train the model of a point with gerrymend fit --gamma."
    )
    console.print("\n".join(wrapped(words, width)), soft_wrap=True)
    if report is not None:
        tell(console, f"\nThe page to choose on: {report}")
    console.print()
