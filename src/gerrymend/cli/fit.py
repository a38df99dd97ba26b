"""Define `gerrymend fit`: train a model from a file, save it and audit it.

Imported by `cli.main` once it knows that typer and rich are there.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console

from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli import options
from gerrymend.cli.exit_codes import EXIT_CODES
from gerrymend.cli.fit_text import Fitted, as_data, show
from gerrymend.cli.options import FILE, TRAINING
from gerrymend.cli.shared import (
    Output,
    Say,
    check_page,
    check_target,
    errors_in_options,
    guarded,
    notes,
    option,
    progress,
    request_fields,
    tell_of_page,
)
from gerrymend.cli.training_request import ESTIMATOR_NAMES, Prepared, TrainingRequest
from gerrymend.notions import NOTION_NAMES, as_notions
from gerrymend.reporting.audit.page import audit_page
from gerrymend.reporting.page import write_page

# What a page has and a terminal is spared: several subgroups, and whether it is chance.
_TOP = 3
_PERMUTATIONS = 199


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("fit", no_args_is_help=True)
    def fit(
        file: options.File,
        label: options.Label,
        protected: options.Protected,
        *,
        features: options.Features = None,
        drop: options.Drop = None,
        exclude_protected: options.ExcludeProtected = False,
        weight: options.Weight = None,
        impute: options.Impute = False,
        positive: options.Positive = None,
        favourable: options.Favourable = None,
        side: options.Side = "both",
        gamma: Annotated[float, option("Unfairness to allow.", TRAINING)] = 0.01,
        notion: Annotated[list[str] | None, option(
            f"Rates to equalise, separated by commas: {', '.join(NOTION_NAMES)}.", TRAINING,
            metavar="RATES", show_default="false_positive_rate")] = None,
        subgroups: options.Subgroups = "linear",
        estimator: Annotated[str, option(
            f"What is trained: {', '.join(ESTIMATOR_NAMES)}.", TRAINING,
            metavar="NAME")] = "logistic",
        max_iter: options.MaxIter = None,
        certify: Annotated[bool, option(
            "Go on until gamma is proven, or --budget ends.", TRAINING, "--certify")] = False,
        test_size: options.TestSize = None,
        budget: Annotated[float, option(
            "Seconds that the proof of an audit may take, and --certify.", TRAINING)] = 30.0,
        min_group_size: options.MinGroupSize = MIN_GROUP_SIZE,
        seed: options.Seed = 0,
        out: Annotated[Path, option(
            "The model is written here, as a file of skops.", FILE, metavar="MODEL",
            show_default=False)],
        checkpoint: options.Checkpoint = None,
        report: options.Report = None,
        separator: options.Separator = None,
        missing: options.Missing = None,
    ) -> None:  # fmt: skip
        """Train a model whose rates differ by at most gamma in every subgroup.

        Text columns become indicators, numbers are scaled. The model is audited on
        the rows that it was trained on and, with --test-size, on others. The exit
        code is 0 where it is proven that no subgroup of the training rows exceeds
        gamma, 1 where one does, 3 where neither could be shown, and 2 where the
        call or the data is wrong.

        Example, with data that the demonstration makes:

        gerrymend demo --save toy.csv

        gerrymend fit toy.csv --label y --protected race,gender --out m.skops
        """
        request = request_fields(TrainingRequest, locals()) | {"gammas": (gamma,)}
        raise typer.Exit(run(request, estimator, certify, out, report, checkpoint))


def run(
    fields: dict[str, Any],
    estimator: str,
    certify: bool,
    out: Path,
    page: Path | None = None,
    checkpoint: Path | None = None,
) -> int:
    """Train, save, audit, print, and return the code to exit with: that of the training rows.

    Parameters
    ----------
    fields : dict
        The fields of TrainingRequest.
    estimator : str
        One of ESTIMATOR_NAMES.
    certify : bool
        Whether to go on until gamma is proven, or the budget ends.
    out, page, checkpoint : Path
        Where the model goes, and its page and the training's state if they are asked for.
    """

    def work(console: Console) -> int:
        request = TrainingRequest(**fields)
        check_target(out, "--out", request.file)
        check_page(page, out, request.file)
        check_target(checkpoint, "--checkpoint", out, page, request.file)
        with notes(console, request.options), progress(console, f"Reading {request.file}") as say:
            prepared = request.prepare()
            try:
                with errors_in_options(request.options):
                    classifier = _trained(request, prepared, estimator, certify, checkpoint, say)
                    fitted = _saved_and_audited(
                        request, prepared, classifier, estimator, out, say, page is not None
                    )
            except KeyboardInterrupt:
                if checkpoint is not None and checkpoint.exists():
                    words = f"The training is kept in {checkpoint}: the same command goes on."
                    console.print(words, markup=False, soft_wrap=True)
                raise
        show(Output(highlight=False), fitted, request)
        if page is not None:
            write_page(audit_page(fitted.measured[-1].report.to_dict(), as_data(fitted)), page)
            tell_of_page(Output(highlight=False), page)
        return EXIT_CODES[fitted.measured[0].report.verdict]

    return guarded(work)


def _trained(
    request: TrainingRequest,
    prepared: Prepared,
    estimator: str,
    certify: bool,
    checkpoint: Path | None,
    say: Say,
) -> Any:
    """Return the classifier, fitted to the encoded columns of the training rows."""
    more: dict[str, Any] = {"certify": True, "budget": request.budget} if certify else {}
    rates: Any = request.notion
    # A classifier's positive label is the last in order.
    if prepared.train.pair[1] != max(prepared.train.pair):
        rates = tuple(rate.of_other_label() for rate in as_notions(rates))
    classifier = request.classifier(
        estimator, notion=rates, verbose=1, checkpoint=checkpoint, **more
    )
    classifier.set_params(gamma=request.gammas[0])
    train = prepared.train
    with rounds_told(say):
        return classifier.fit(
            train.features, train.labels, sensitive_features=train.protected,
            sample_weight=train.given_weight,
        )  # fmt: skip


def _saved_and_audited(
    request: TrainingRequest,
    prepared: Prepared,
    classifier: Any,
    estimator: str,
    out: Path,
    say: Say,
    for_page: bool,
) -> Fitted:
    """Save a model that takes the columns as they are in the file, and audit it on each sample."""
    from sklearn.pipeline import Pipeline

    from gerrymend.frontier.tradeoffs import OnRows, positive_probability
    from gerrymend.models.saving import save_model

    say(f"Saving {out}")
    to_trust = save_model(
        Pipeline([("encode", prepared.encoder), ("decide", classifier.mixture_)]), out
    )
    say(f"Auditing over {request.subgroups} subgroups, within {request.budget:g} s")
    how = {
        "subgroups": request.subgroup_class,
        "notion": request.notion,
        "gamma": request.gammas[0],
        "budget": request.budget,
        "min_group_size": request.min_group_size,
        "favourable": request.favourable,
        "side": request.side,
        "features": prepared.columns,
        "top": _TOP if for_page else 1,
    }
    measured = []
    for rows in prepared.samples:
        # Chance says nothing of rows on which decisions were trained to be fair.
        tested = {"n_permutations": _PERMUTATIONS} if for_page and rows is prepared.test else {}
        p = positive_probability(classifier, rows)
        measured.append(OnRows.measure(rows, p, how | tested))
    return Fitted(classifier, prepared, measured, estimator, out, to_trust)


@contextmanager
def rounds_told(say: Callable[[str, int, int], None]) -> Iterator[None]:
    """Pass what the classifier logs of its rounds on to the progress bar, and to nobody else."""

    class Teller(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            # Records of rounds have these four; others are not for a progress bar.
            if isinstance(record.args, tuple) and len(record.args) == 4:
                done, of, error, unfairness = record.args
                words = f"rounds at most: error {error:.4f}, unfairness {unfairness:.4f}"
                say(words, cast(int, done), cast(int, of))

    # The application's own handlers would print each round over the progress bar.
    logger = logging.getLogger("gerrymend")
    teller = Teller(logging.INFO)
    level = logger.level
    passes = logger.propagate
    logger.addHandler(teller)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(teller)
        logger.setLevel(level)
        logger.propagate = passes
