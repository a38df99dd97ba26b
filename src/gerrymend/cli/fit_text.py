"""Print a model as `gerrymend fit` tells of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from gerrymend.cli.table_encoding import names_of
from gerrymend.cli.training_request import Prepared, TrainingRequest
from gerrymend.frontier.tradeoffs import OnRows
from gerrymend.reporting.audit.direction import described, direction_sentences
from gerrymend.reporting.audit.model import predictors_words, proven_words, remedy_sentences
from gerrymend.reporting.audit.subgroup_words import summary_words, who_words
from gerrymend.reporting.audit.verdict import look, verdict_sentences
from gerrymend.reporting.audit.words import withheld_sentence
from gerrymend.reporting.text import WIDEST, Facts, as_rich, fact_spans, joined, paragraph_spans
from gerrymend.reporting.wording import capitalised, count, percent, unfairness


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that was trained and saved, and how it does on each sample."""

    classifier: Any
    prepared: Prepared
    measured: list[OnRows]
    estimator: str
    out: Path
    to_trust: list[str]


def as_data(fitted: Fitted) -> dict[str, Any]:
    """Return the model as plain data, for the page of its last audit.

    That is of the test rows where there are some: they had no part in the training.
    """
    names = _sample_names(fitted)
    return {
        "estimator": fitted.estimator,
        "n_predictors": len(fitted.classifier.weights_),
        "gamma": fitted.measured[0].report.gamma,
        "columns": fitted.prepared.columns,
        "audited": names[-1],
        "samples": [
            {"name": name, **sample.to_dict()}
            for name, sample in zip(names, fitted.measured, strict=True)
        ],
    }


def _sample_names(fitted: Fitted) -> list[str]:
    return ["training rows", "test rows"][: len(fitted.measured)]


def show(console: Console, fitted: Fitted, request: TrainingRequest) -> None:
    """Print whether gamma was reached, how the model does, and what is in the file.

    The verdict is that of the training rows, as the exit code is; test rows have theirs below.
    """
    width = min(console.width, WIDEST)
    report = fitted.measured[0].report.to_dict()
    shown = look(report)
    sentences = [*verdict_sentences(report, "training rows"), *remedy_sentences(report)]
    spans = joined(
        [
            paragraph_spans(shown.style, shown.heading, sentences, width),
            *(
                fact_spans(_sample(name, sample), width)
                for name, sample in zip(_sample_names(fitted), fitted.measured, strict=True)
            ),
            fact_spans(_model(fitted, request), width),
        ]
    )
    console.print()
    console.print(as_rich(spans), soft_wrap=True)
    console.print()


def _sample(name: str, measured: OnRows) -> Facts:
    """Return error, unfairness and worst subgroup of a model on some rows."""
    report = measured.report.to_dict()
    found = unfairness(report["unfairness"], report["gamma"])
    facts = [
        (capitalised(name), count(report["n_rows"])),
        ("  error", f"{percent(measured.error)}, of decisions as they are drawn"),
        ("  unfairness", f"{found} at worst; {proven_words(report, report['gamma'])}"),
        ("  verdict", f"{report['verdict']}; gamma is {report['gamma']:g}"),
    ]
    for standing, one in described(report)[: 2 if report["disadvantaged"] else 1]:
        facts.append((f"  {standing[0].lower()}{standing[1:]}", who_words(one)))
        facts.append(("", summary_words(one, report)))
    if report["withheld"]:
        facts.append(("  withheld", withheld_sentence(report)))
    return facts


def _model(fitted: Fitted, request: TrainingRequest) -> Facts:
    """Return what is in the file, and how to use it."""
    negative, positive = fitted.prepared.train.pair
    report = fitted.measured[0].report.to_dict()
    facts = [
        ("Model", f"{fitted.out}: {predictors_words(as_data(fitted))}"),
        ("  decides", f"{request.label}, {negative} or {positive} (positive)"),
        ("", " ".join(direction_sentences(report))),
        ("  by", names_of(fitted.prepared.columns)),
        (
            "  trained in",
            f"{count(fitted.classifier.n_iter_)} rounds, for {', '.join(request.notion)}",
        ),
        ("  use it", f"gerrymend predict {fitted.out} FILE --out predictions.csv"),
    ]
    if fitted.to_trust:
        facts.append(("", f"with --trust {','.join(fitted.to_trust)}"))
    return facts
