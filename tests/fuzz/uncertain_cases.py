"""Cases of audit_uncertain(): rows with probabilities, valid and hostile."""

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from gerrymend import audit_uncertain
from tests.fuzz.oracle import Case
from tests.fuzz.row_cases import ROWS, draw_rows, draw_settings
from tests.fuzz.samples import CLASSES, make_sample, pick

NAMES = (*ROWS, "attribute_probabilities", "notion", "subgroups", "gamma", "threshold", "pos_label",
         "decision_probabilities", "pool_size", "probability_error", "budget", "min_group_size",
         "n_permutations", "random_state")  # fmt: skip


def uncertain_case(rng: np.random.Generator) -> Case:
    """Audit rows in some disguise, with probabilities of one more attribute."""
    sample = make_sample(rng)
    rows, decided = draw_rows(rng, sample)
    n = len(sample)
    columns = _probabilities(rng, n)
    is_odd = rng.random() < 0.2
    given = _odd(rng, columns) if is_odd else pick(rng, (dict, pd.DataFrame, pl.DataFrame))(columns)
    own: dict[str, Any] = {
        "notion": pick(rng, ("false_positive_rate", "error_rate", "statistical_parity")),
        "subgroups": pick(rng, CLASSES),
        "gamma": pick(rng, (0, 0.01, 0.2)),
        "pool_size": pick(rng, (1, 3, 10, 10**6)),
        "probability_error": pick(rng, (0.0, 0.05, 2)),
        "budget": 2,
        "min_group_size": pick(rng, (1, 2, 10)),
        "n_permutations": pick(rng, (0, 0, 3)),
        "random_state": int(rng.integers(5)),
    }
    how, odd = draw_settings(rng, own | decided)
    # What is wrong with labels is nothing to a notion that reads none.
    unread = how.get("notion") == "statistical_parity" and ("y_true", "") in rows.disguised
    comparable = rows.expect in ("result", "either") and not odd and not is_odd

    def call(data: dict[str, Any], probabilities: Any) -> Any:
        return _shown(audit_uncertain(**data, attribute_probabilities=probabilities, **how))

    return Case(
        entry="audit_uncertain",
        told="; ".join([*rows.told, *odd, repr(how)[:300], repr(given)[:100] * is_odd]),
        call=lambda: call(rows.given, {"not known": given}),
        names=NAMES,
        expect="error" if rows.expect == "error" and not unread else "either",
        plain=(lambda: call(rows.plain, {"not known": columns})) if comparable else None,
        figures=_figures if comparable else None,
    )


def _probabilities(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return probabilities of two to four categories, some of them 0 and 1."""
    n_categories = int(rng.integers(2, 5))
    values = rng.dirichlet(np.full(n_categories, pick(rng, (0.05, 1.0))), n)
    sure = rng.random(n) < 0.2
    values[sure] = np.eye(n_categories)[rng.integers(0, n_categories, int(sure.sum()))]
    return {f"category {i}": values[:, i].tolist() for i in range(n_categories)}


def _odd(rng: np.random.Generator, columns: dict[str, Any]) -> Any:
    """Return what is no frame of probabilities."""
    first = next(iter(columns))
    values = columns[first]
    changed = pick(rng, ([None, *values[1:]], [-0.5, *values[1:]], values[1:], "x", 3, [[0]],
                         [float("nan"), *values[1:]], list(map(str, values)), None))  # fmt: skip
    return pick(rng, (columns | {first: changed}, changed, {first: values}, {}))


def _shown(report: Any) -> Any:
    """Make all forms of the report: each has to be made of whatever was found."""
    json.dumps(report.to_dict(), allow_nan=False)
    for text in (str(report), repr(report), report.to_markdown(), report.to_html()):
        assert text
    assert report.lower_bound <= report.expected_unfairness + 1e-9
    assert report.expected_unfairness <= report.expected_bound + 1e-9
    return report


def _figures(report: Any) -> Any:
    """Return what has to be the same in every disguise of the rows.

    A search that the budget ends finds more or less by how busy the machine is.
    """
    counts = [report.n_rows, report.n_pools, report.n_free]
    if report.subgroups.to_dict()["name"] != "Marginals":
        return counts
    return [*counts, report.lower_bound, report.expected_unfairness, report.upper_bound]
