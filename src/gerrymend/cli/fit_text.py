"""A model as `gerrymend fit` tells of it."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from gerrymend.cli.audit_text import WIDEST, Fact, as_text, rate_words, wrapped
from gerrymend.cli.table_encoding import names_of
from gerrymend.cli.training_request import Prepared, TrainingRequest
from gerrymend.frontier.tradeoffs import OnRows
from gerrymend.reporting.audit.words import STYLES
from gerrymend.reporting.wording import bound, unfairness


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
    """What a page says of the model, beside its last audit."""
    names = ["training rows", "test rows"][: len(fitted.measured)]
    return {
        "estimator": fitted.estimator,
        "n_predictors": len(fitted.classifier.weights_),
        "gamma": fitted.measured[0].report.gamma,
        "columns": fitted.prepared.columns,
        "audited": names[-1],
        "samples": [
            {"name": name, **one.to_dict()}
            for name, one in zip(names, fitted.measured, strict=True)
        ],
    }


def show(console: Console, fitted: Fitted, request: TrainingRequest) -> None:
    """Print whether gamma was reached, how the model does, and what is in the file."""
    width = min(console.width, WIDEST)
    verdict = fitted.measured[0].report.verdict
    words = f"{verdict.capitalize()}: {_reason(fitted.measured[0])}"
    parts = [Text("\n".join(wrapped(words, width)), STYLES[verdict])]
    for kind, measured in zip(("Training rows", "Test rows"), fitted.measured, strict=False):
        parts.append(as_text(_sample(kind, measured), width))
    parts.append(as_text(_model(fitted, request), width))
    for part in parts:
        console.print()
        console.print(part, soft_wrap=True)
    console.print()


def _reason(train: OnRows) -> str:
    report = train.report
    allowed = f"gamma allows {report.gamma:g}"
    found = unfairness(report.unfairness, report.gamma)
    limit = bound(report.upper_bound, report.gamma)
    if report.verdict == "within gamma":
        return (
            f"proven, no subgroup of the training rows has an unfairness above {limit}; {allowed}."
        )
    if report.verdict == "exceeds gamma":
        return (
            f"gamma was not reached. A subgroup of the training rows has an unfairness of "
            f"{found}; {allowed}. --certify goes on until it is proven, a larger "
            f"--max-iter plays on, and --gamma {_up(report.unfairness):g} is what this model keeps."
        )
    return (
        f"no subgroup of the training rows was found that exceeds {found}, and one "
        f"of {limit} is not ruled out; {allowed}. A longer --budget, --certify or "
        "a smaller class can decide it."
    )


def _up(value: float) -> float:
    """The next larger number of four decimals."""
    return math.ceil(value * 1e4) / 1e4


def _sample(kind: str, measured: OnRows) -> list[Fact]:
    report = measured.report
    facts = [
        (kind, f"{report.n_rows:,}"),
        ("  error", f"{measured.error:.4f}, of decisions as they are drawn"),
    ]
    found = unfairness(report.unfairness, report.gamma)
    limit = bound(report.upper_bound, report.gamma)
    proven = "this is exact" if report.exact else f"proven, none exceeds {limit}"
    facts.append(("  unfairness", f"{found} at worst; {proven}"))
    if report.worst is not None:
        facts += [("  worst", report.worst.describe()), ("", rate_words(report.worst))]
    if report.withheld:
        few = f"fewer than {report.min_group_size} rows that count, or all but so few"
        facts.append(("", f"a worse subgroup has {few}, and is not described"))
    return facts


def _model(fitted: Fitted, request: TrainingRequest) -> list[Fact]:
    columns, negative_positive = fitted.prepared.columns, fitted.classifier.classes_.tolist()
    n_predictors = len(fitted.classifier.weights_)
    drawn = "one of them is drawn for each row" if n_predictors > 1 else "it decides alone"
    facts = [
        ("Model", f"{fitted.out}: {n_predictors:,} × {fitted.estimator}; {drawn}"),
        (
            "  decides",
            f"{request.label}, {negative_positive[0]} or {negative_positive[1]} (positive)",
        ),
        ("  by", names_of(columns)),
        ("  trained in", f"{fitted.classifier.n_iter_:,} rounds, for {', '.join(request.notion)}"),
        ("  use it", f"gerrymend predict {fitted.out} FILE --out predictions.csv"),
    ]
    if fitted.to_trust:
        facts.append(("", f"with --trust {','.join(fitted.to_trust)}"))
    return facts
