"""Has every report of the suite checked by code that shares nothing with what made it."""

import hashlib
import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from gerrymend import AuditReport, CheckResult, check_report
from gerrymend.auditing.tally import Tally

# The checker loops over rows, so that larger audits would take the suite too long.
MOST_ROWS = 10_000


def assert_checked(
    report: AuditReport, y_true: Any, y_pred: Any, *, bound: bool = False, **data: Any
) -> CheckResult:
    """Fail unless all that the report states, written as JSON, holds.

    Parameters
    ----------
    report : AuditReport
    y_true, y_pred, **data
        As they were passed to `audit()`: sensitive_features, sample_weight and so on.
    bound : bool, default=False
        Fail also where the upper bound could not be verified, the class being too large.
    """
    as_json = json.dumps(report.to_dict(), allow_nan=False)
    result = check_report(as_json, y_true, y_pred, **data)
    assert result.ok, str(result)
    assert not bound or any("upper bound" in one for one in result.checked), str(result)
    return result


def assert_tally_checked(report: AuditReport, tally: Tally) -> None:
    """The same from rows that were read already, where they are at hand and not too many."""
    rows = tally.rows
    # Of numbers only the outcomes are left: tests of them pass the rows to the checker.
    if rows is None or tally.views or len(rows.cell) > MOST_ROWS:
        return
    # So are, of many classes, wrong decisions among rows that are a part of others.
    if tally.by_class and rows.label is None:
        return
    key = _digest(report, tally)
    if key in _CHECKED:
        return
    features: dict[str, Any] = {}
    for column in tally.columns:
        values = column.values[rows.cell]
        if column.categories is not None:
            values = pd.Categorical([column.categories[int(code)] for code in values])
        features[column.name] = values
    decided = set(rows.p.tolist()) <= {0, 1}
    label, decision = (rows.label, rows.decision) if tally.by_class else (rows.y, rows.p)
    labels = _labels(tally)
    assert_checked(
        report,
        [next(labels[y]) for y in label.tolist()] if tally.is_labelled else None,
        [next(labels[int(p)]) for p in decision.tolist()] if decided else rows.p,
        sensitive_features=features,
        sample_weight=rows.weight,
        decision_probabilities=not decided,
        pos_label=None if tally.by_class else tally.labels[1],
        control_features=_controls(tally),
    )
    _CHECKED.add(key)


def _labels(tally: Tally) -> list[Iterator[Any]]:
    """What rows of each label have, by turns; "not 1" stands for any others that are like 1."""
    named = [itertools.repeat(label) for label in tally.labels]
    *_, positive = tally.labels
    if len(named) == 2 and isinstance(tally.labels[0], str) and not isinstance(positive, str):
        named[0] = itertools.cycle((positive + 1, positive + 2))
    return named


def _controls(tally: Tally) -> dict[str, Any] | None:
    """The control features of each row, as they were read."""
    if tally.strata is None:
        return None
    assert tally.rows is not None
    strata = [tally.strata.values(number) for number in tally.rows.stratum.tolist()]
    controls: dict[str, Any] = {}
    for column in tally.strata.columns:
        values = [stratum[column.name] for stratum in strata]
        controls[column.name] = values if column.categories is None else pd.Categorical(values)
    return controls


# What was checked in this process: the same words about the same rows are as true again.
_CHECKED: set[bytes] = set()


def _digest(report: AuditReport, tally: Tally) -> bytes:
    """Digest all that the report states and all that it is checked against."""
    rows, columns = tally.rows, tally.columns
    stated = [report.to_dict(), [(one.name, one.categories) for one in columns], tally.labels]
    digest = hashlib.sha256(json.dumps(stated, default=repr).encode())
    weight = np.ones(1) if rows.weight is None else rows.weight
    for array in (rows.cell, rows.y, rows.p, weight, *(one.values for one in columns)):
        whole = np.ascontiguousarray(array)
        digest.update(f"{whole.dtype} {whole.shape}".encode())
        digest.update(whole.tobytes())
    return digest.digest()
