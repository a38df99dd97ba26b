"""`gerrymend demo`: the paper's toy example, audited, repaired and audited again."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from gerrymend.auditing.audit import audit
from gerrymend.auditing.report import AuditReport
from gerrymend.classifiers import SubgroupParityClassifier
from gerrymend.datasets import make_gerrymandered
from gerrymend.subgroups import LinearThresholds, Marginals

GAMMA = 0.01
# In the head of every page that gerrymend writes, so that the demonstration overwrites only those.
OUR_MARK = b'<meta name="generator" content="gerrymend">'


@dataclass(frozen=True)
class Row:
    """Hold one audit of one model.

    Attributes
    ----------
    model, auditor : str
        Their names, as the demonstration prints them.
    error : float
        The model's expected error on the rows.
    report : AuditReport
    """

    model: str
    auditor: str
    error: float
    report: AuditReport


def run(n_rows: int = 2000, seed: int = 0) -> list[Row]:
    """Audit a score that is cut at 0.5, repair it, and audit the repaired model.

    The design has eight equal cells, so n_rows is rounded down to a multiple of eight.

    >>> found = run(400)
    >>> [round(row.report.unfairness, 4) for row in found[:3]]
    [0.0, 0.0, 0.0625]
    >>> found[2].report.worst.describe(), found[3].report.verdict
    ('race = blue and gender = man', 'within gamma')
    """
    toy = _toy(n_rows, seed)
    linear = LinearThresholds()
    # One attribute at a time, the paper's heuristic, and a search with a proof.
    auditors = {
        "marginals": Marginals(),
        "regression": LinearThresholds(search="regression"),
        "linear": linear,
    }

    def audited(model: str, auditor: str, subgroups: Any, p: Any) -> Row:
        """Audit decisions given by their probabilities `p`, over a class of subgroups."""
        report = audit(
            toy.target, p, sensitive_features=toy.sensitive_features, subgroups=subgroups,
            gamma=GAMMA, decision_probabilities=True,
        )  # fmt: skip
        error = float(np.mean(np.abs(p - toy.target)))
        return Row(model, auditor, error, report)

    cut = (toy.score >= 0.5).astype(float)
    rows = [audited("score ≥ 0.5", name, found_by, cut) for name, found_by in auditors.items()]

    # The harm is an interaction of race and gender, so the repair must be able to see one.
    estimator = make_pipeline(
        PolynomialFeatures(degree=3, interaction_only=True), LogisticRegression(C=100)
    )
    # It plays against the grid's 400 thresholds, and is audited over all of them.
    grid = LinearThresholds(search="grid")
    fair = SubgroupParityClassifier(
        estimator, gamma=GAMMA, subgroups=grid, tol=0.02, random_state=seed
    ).fit(toy.data, toy.target, sensitive_features=toy.sensitive_features)
    p = fair.predict_proba(toy.data)[:, 1]
    return [*rows, audited("repaired", "linear", linear, p)]


def page_report(n_rows: int = 2000, seed: int = 0) -> AuditReport:
    """Audit the score that is cut at 0.5, with all that a page can show."""
    toy = _toy(n_rows, seed)
    return audit(
        toy.target, toy.score, threshold=0.5, sensitive_features=toy.sensitive_features,
        gamma=GAMMA, n_permutations=199, top=3,
    )  # fmt: skip


def is_foreign(path: Path) -> bool:
    """Return whether the path is a file that gerrymend did not write, and that should stay.

    Pages of ours have a mark in their first 4,000 bytes.
    """
    if not path.exists():
        return False
    return not path.is_file() or OUR_MARK not in path.read_bytes()[:4000]


def save_rows(path: Path, n_rows: int = 2000, seed: int = 0) -> None:
    """Write people who applied for a loan as CSV, for the commands to be tried on.

    They are those of the toy example turned round, so that blue men and green women who would repay
    are refused, with a score that is less sure of itself, but for blue men, and with what such
    files have besides: an id, the day of the application and an age, which decide nothing.
    """
    toy = make_gerrymandered(n_rows - n_rows % 8, noise=0.3, random_state=seed)
    n_people = len(toy.target)
    rng = np.random.default_rng(seed)
    sure = make_gerrymandered(n_people, random_state=seed)
    blue_men = (toy.data[:, 1] == 1) & (toy.data[:, 2] == 1)
    score = np.clip(1.0 - np.where(blue_men, sure.score, toy.score), 0.0, 1.0).round(2)
    columns = {
        "id": [f"A{number:06d}" for number in range(1, n_people + 1)],
        "applied": np.datetime64("2025-01-01") + rng.integers(0, 365, n_people),
        "race": toy.sensitive_features["race"],
        "sex": toy.sensitive_features["gender"],
        "age": rng.integers(18, 80, n_people),
        "score": score,
        "granted": (score >= 0.5).astype(int),
        "repaid": 1 - toy.target,
    }
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        values = (np.asarray(column).tolist() for column in columns.values())
        writer.writerows(zip(*values, strict=True))


def _toy(n_rows: int, seed: int) -> Any:
    """Return the toy example with a multiple of eight rows."""
    return make_gerrymandered(n_rows - n_rows % 8, random_state=seed)
