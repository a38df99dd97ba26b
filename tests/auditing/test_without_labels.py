"""Decisions can be audited without labels, by notions that read none."""

import duckdb
import numpy as np
import polars as pl
import pytest

from gerrymend import (
    FairnessNotion,
    audit,
    audit_counts,
    bootstrap,
    check_report,
    discrimination_surface,
    prove,
)
from gerrymend.notions import ERROR_RATE, FALSE_POSITIVE_RATE, STATISTICAL_PARITY

PARITY = {"notion": "statistical_parity", "subgroups": "conjunctions"}
ATTRIBUTES = ["sex", "age"]


@pytest.fixture(scope="module")
def hiring():
    """Women over 45 are hired less often; nobody knows who would have done well."""
    rng = np.random.default_rng(7)
    sex = np.array(["F", "M"])[rng.integers(0, 2, 600)]
    age = rng.integers(20, 60, 600)
    hired = rng.random(600) < np.where((sex == "F") & (age > 45), 0.2, 0.5)
    return pl.DataFrame({"sex": sex, "age": age, "hired": np.where(hired, "yes", "no")})


def same(report, other):
    """Two reports agree in all but what they were made of."""
    left = report.to_dict()
    right = other.to_dict()
    for one in (left, right):
        one.pop("provenance")
        one.pop("is_labelled")
        one.pop("labels")
    assert left == right


def test_labels_that_are_not_read_make_no_difference(hiring):
    decided = (hiring["hired"] == "yes").to_numpy().astype(int)
    labels = np.random.default_rng(0).integers(0, 2, len(decided))
    settings = {"sensitive_features": hiring[ATTRIBUTES], "n_permutations": 19, **PARITY}
    without = audit(None, decided, **settings)
    same(without, audit(labels, decided, **settings))
    assert not without.is_labelled
    assert without.labels == (0, 1)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_engines_and_counts_agree_with_memory(hiring, engine):
    in_memory = audit(None, hiring["hired"], sensitive_features=hiring[ATTRIBUTES], **PARITY)
    lazy = hiring.lazy() if engine == "polars" else duckdb.sql("select * from hiring")
    same(in_memory, audit(None, "hired", sensitive_features=ATTRIBUTES, data=lazy, **PARITY))
    counts = hiring.group_by("sex", "age", "hired").len("count")
    same(
        in_memory,
        audit_counts(
            counts, label=None, prediction="hired", sensitive_features=ATTRIBUTES, **PARITY
        ),
    )
    assert in_memory.labels == ("no", "yes")


def test_weighted_probabilities_without_labels_are_one_query_group(hiring):
    drawn = np.where(hiring["hired"] == "yes", 0.75, 0.25)
    rows = hiring.with_columns(p=drawn, w=1.0 + hiring["age"] / 7)
    settings = {"decision_probabilities": True, **PARITY}
    lazy = audit(
        None, "p", sample_weight="w", sensitive_features=ATTRIBUTES, data=rows.lazy(), **settings
    )
    in_memory = audit(
        None, rows["p"], sample_weight=rows["w"], sensitive_features=rows[ATTRIBUTES], **settings
    )
    assert lazy.unfairness == in_memory.unfairness
    assert lazy.upper_bound == in_memory.upper_bound


def test_prove_bootstrap_surface_and_held_out_rows_need_none_either(hiring):
    rows = {"sensitive_features": hiring[ATTRIBUTES]}
    assert prove(None, hiring["hired"], at_most=0.2, **rows, **PARITY).status == "proved"
    assert bootstrap(None, hiring["hired"], n_resamples=3, **rows, **PARITY).n_resamples == 3
    surface = discrimination_surface(
        None, hiring["hired"], notion="statistical_parity", thetas=[0.0, 1.0], **rows
    )
    assert surface.worst()["unfairness"] != 0
    assert audit(None, hiring["hired"], test_size=0.3, **rows, **PARITY).held_out.n_rows == 180


def test_the_checker_reads_them_and_finds_a_lie(hiring):
    data = {"y_true": None, "y_pred": hiring["hired"], "sensitive_features": hiring[ATTRIBUTES]}
    report = audit(**data, **PARITY).to_dict()
    assert check_report(report, **data).problems == []
    report["is_labelled"] = True
    assert any("is_labelled" in problem for problem in check_report(report, **data).problems)


@pytest.mark.parametrize("notion", ["false_positive_rate", "error_rate", "equalized_odds"])
def test_a_notion_that_reads_labels_says_so(hiring, notion):
    rows = {"sensitive_features": hiring[ATTRIBUTES], "notion": notion}
    for call in (audit, bootstrap):
        with pytest.raises(ValueError, match=r"y_true is not given, and the .* can't be told"):
            call(None, hiring["hired"], **rows)
    with pytest.raises(ValueError, match="label is not given"):
        audit_counts({}, label=None, sensitive_features="sex", notion=notion)


def test_which_notions_read_labels():
    own = FairnessNotion("refused", event=(True, True), a=(1, 1), b=(-1, -1))
    assert not own.reads_labels
    assert not STATISTICAL_PARITY.reads_labels
    assert FALSE_POSITIVE_RATE.reads_labels
    assert ERROR_RATE.reads_labels
    assert FairnessNotion("half", event=(True, True), a=(0, 1), b=(1, 1)).reads_labels


def test_a_holdout_has_labels_if_the_first_sample_has(hiring):
    rows = {"sensitive_features": hiring[ATTRIBUTES]}
    labels = np.tile(["no", "yes"], 300)
    for first, second in ((None, labels), (labels, None)):
        with pytest.raises(ValueError, match=r"holdout .* labels"):
            audit(
                first,
                hiring["hired"],
                holdout=(second, hiring["hired"], hiring[ATTRIBUTES]),
                **rows,
                **PARITY,
            )


def test_decisions_of_one_value_show_no_second(hiring):
    with pytest.raises(ValueError, match="y_pred has only one class"):
        audit(None, ["no"] * 600, sensitive_features=hiring[ATTRIBUTES], **PARITY)
