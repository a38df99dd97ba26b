"""Print a model as `gerrymend fit` tells of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from gerrymend.auditing.doubts import Doubt
from gerrymend.auditing.report import AuditReport
from gerrymend.cli.table_encoding import names_of
from gerrymend.cli.training_request import AnyPrepared, TrainingRequest
from gerrymend.frontier.points import OnRows
from gerrymend.inputs.sample import Sample
from gerrymend.reporting.audit.changes import level_sentences
from gerrymend.reporting.audit.direction import direction_sentences
from gerrymend.reporting.audit.document import Document
from gerrymend.reporting.audit.model import (
    LEVELS_UNKNOWN,
    predictors_words,
    proven_words,
    remedy_sentences,
    samples_sentences,
)
from gerrymend.reporting.audit.subgroup_words import summary_words, who_words
from gerrymend.reporting.audit.text import missing_facts, warning_spans
from gerrymend.reporting.audit.verdict import look, verdict_sentences
from gerrymend.reporting.audit.who_leads import EXPERTS, described
from gerrymend.reporting.audit.words import unfairness_line, withheld_sentence
from gerrymend.reporting.text import WIDEST, Facts, as_rich, fact_spans, joined, paragraph_spans
from gerrymend.reporting.wording import capitalised, count, percent, unfairness, within_strata

# The values of --gate, and verdicts from the best to the worst.
GATES = ("train", "test", "both")
# From this part of the error of deciding all alike on, a model is no better than that.
_NO_BETTER = 0.98
_LEVELS = f"{LEVELS_UNKNOWN} (--since, gerrymend frontier)"
_GRAVITY = ("within gamma", "undecided", "exceeds gamma")


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that was trained and saved, and how it does on each sample."""

    classifier: Any
    prepared: AnyPrepared
    measured: list[OnRows]
    estimator: str
    out: Path
    to_trust: list[str]
    gate: str | None = None
    fails_for_standing_out: bool = False
    test_rows: Path | None = None

    @property
    def names(self) -> list[str]:
        """The samples, in words."""
        return ["training rows", "test rows"][: len(self.measured)]

    @property
    def gated(self) -> list[int]:
        """The places of the samples that decide: of --gate, or all."""
        return {"train": [0], "test": [1]}.get(self.gate or "both", [*range(len(self.measured))])

    @property
    def deciding(self) -> int:
        """The place of the sample with the worst verdict; of two alike, that of the test rows.

        Test rows that the gate fails for are worse than training rows that are undecided.
        """
        return max(self.gated, key=lambda i: (self._gravity(self.measured[i].report), i))

    def _gravity(self, report: AuditReport) -> float:
        """Return how bad a sample is: who stands out, if the gate fails for that, is near red."""
        if self.fails_for_standing_out and report.stands_out:
            return _GRAVITY.index("exceeds gamma") - 0.5 * (report.verdict != "exceeds gamma")
        return _GRAVITY.index(report.verdict)

    @property
    def verdict(self) -> str:
        """The one verdict: that of the sample that decides."""
        return self.measured[self.deciding].report.verdict

    @property
    def warnings(self) -> list[Doubt]:
        """The warnings of all samples that decide, each once."""
        told = [doubt for i in self.gated for doubt in self.measured[i].report.warnings]
        return list(dict.fromkeys(told))

    @property
    def report(self) -> dict[str, Any]:
        """The report of the sample that decides, as plain data, with the warnings of all."""
        data = self.measured[self.deciding].report.to_dict()
        if self.names[self.deciding] == "training rows":
            data["no_p_value"] = "decisions were trained on these rows, not drawn by chance"
        elif data["n_permutations"] == 0:
            data["no_p_value"] = "--report has it tested"
        return data | {"warnings": [doubt.to_dict() for doubt in self.warnings]}


def as_data(fitted: Fitted) -> dict[str, Any]:
    """Return the model as plain data, for the page of the audit that decides."""
    return {
        "estimator": fitted.estimator,
        "n_predictors": len(fitted.classifier.weights_),
        "gamma": fitted.measured[0].report.gamma,
        "columns": fitted.prepared.columns,
        "control_features": fitted.prepared.controls,
        "audited": fitted.names[fitted.deciding],
        "gate": fitted.gate or "both",
        "samples": [
            {"name": name, **sample.to_dict()}
            for name, sample in zip(fitted.names, fitted.measured, strict=True)
        ],
    }


def show(console: Console, fitted: Fitted, request: TrainingRequest, document: Document) -> None:
    """Print whether gamma was reached, how the model does, and what is in the file.

    There is one verdict, by which the exit code goes too.
    """
    width = min(console.width, WIDEST)
    report = document.with_columns(fitted.report)
    model = as_data(fitted)
    shown = look(report)
    sentences = [
        *samples_sentences(model),
        *verdict_sentences(report, model["audited"]),
        *([] if document.since is None else level_sentences(report, document.since)),
        *remedy_sentences(report, model),
    ]
    spans = joined(
        [
            warning_spans(report, width),
            paragraph_spans(shown.style, shown.heading, sentences, width),
            fact_spans([("Unfairness", unfairness_line(report))], width),
            *(
                fact_spans(_sample(_which(name, fitted, request), sample, rows), width)
                for name, sample, rows in zip(
                    fitted.names, fitted.measured, fitted.prepared.samples, strict=True
                )
            ),
            fact_spans(
                [
                    *([] if document.since else [("Who pays", _LEVELS)]),
                    *_model(fitted, request, report),
                    *missing_facts(report),
                ],
                width,
            ),
        ]
    )
    console.print()
    console.print(as_rich(spans), soft_wrap=True)
    console.print()


def _error_words(error: float, rows: Any) -> str:
    """Return the error on some rows beside that of deciding all alike, where labels are here.

    A model that is no better than that has learned nothing, and may be fair by it.
    """
    told = f"{percent(error)}, of decisions as they are drawn"
    if not isinstance(rows, Sample):
        return told
    positive = float(np.average(rows.y, weights=rows.given_weight))
    alike = min(positive, 1.0 - positive)
    useless = "; the model is no better than that" if error >= _NO_BETTER * alike else ""
    return f"{told}; to decide all alike has {percent(alike)}{useless}"


def _which(name: str, fitted: Fitted, request: TrainingRequest) -> tuple[str, str]:
    """Return the name of some rows, and which they are: of test rows, how to have them."""
    if name == "training rows":
        return name, ""
    where = "--test-rows FILE writes them" if fitted.test_rows is None else f"in {fitted.test_rows}"
    return name, f", drawn by --seed {request.seed}; {where}"


def _sample(which: tuple[str, str], measured: OnRows, rows: Any) -> Facts:
    """Return error, unfairness and worst subgroup of a model on some rows."""
    name, drawn = which
    report = measured.report.to_dict()
    found = unfairness(report["unfairness"], report["gamma"])
    facts = [
        (capitalised(name), f"{count(report['n_rows'])}{drawn}"),
        ("  error", _error_words(measured.error, rows)),
        ("  unfairness", f"{found} at worst; {proven_words(report, report['gamma'])}"),
    ]
    # A formula for experts is told of above, as one that is below.
    shown = described(report)
    is_second = report["disadvantaged"] or [name for name, _ in shown[1:2]] == [EXPERTS]
    for standing, one in shown[: 2 if is_second else 1]:
        facts.append((f"  {standing[0].lower()}{standing[1:]}", who_words(one)))
        facts.append(("", summary_words(one, report)))
    if report["withheld"]:
        facts.append(("  withheld", withheld_sentence(report)))
    return facts


def _model(fitted: Fitted, request: TrainingRequest, report: Mapping[str, Any]) -> Facts:
    """Return what is in the file, and how to use it."""
    negative, positive = fitted.prepared.train.pair
    rounds = (
        "1 round" if fitted.classifier.n_iter_ == 1 else f"{fitted.classifier.n_iter_:,} rounds"
    )
    model = as_data(fitted)
    within = within_strata(model.get("control_features"))
    facts = [
        ("Model", f"{fitted.out}: {predictors_words(model)}"),
        ("  decides", f"{request.label}, {negative} or {positive} (positive)"),
        ("", " ".join(direction_sentences(report))),
        ("  by", names_of(fitted.prepared.columns)),
        ("  trained in", f"{rounds}, for {', '.join(request.notion)}{within}"),
        ("  use it", f"gerrymend predict {fitted.out} FILE --out predictions.csv"),
    ]
    if fitted.to_trust:
        facts.append(("", f"with --trust {','.join(fitted.to_trust)}"))
    return facts
