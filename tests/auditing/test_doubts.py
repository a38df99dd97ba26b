"""What a report warns of, by every way in; and that nobody can take it out of a report."""

import numpy as np
import polars as pl
import pytest

from gerrymend import audit, audit_counts, check_report

N = 60
RNG = np.random.default_rng(2)
Y = np.arange(N) % 2
D = RNG.integers(0, 2, N)
SEX = np.where(np.arange(N) % 3 == 0, "F", "M")
CASES = {
    "none": ({"d": D, "a": SEX}, {}, []),
    "decisions_equal_labels": ({"d": Y, "a": SEX}, {}, ["decisions_equal_labels"]),
    "decisions_oppose_labels": ({"d": 1 - Y, "a": SEX}, {}, ["decisions_oppose_labels"]),
    "one value": ({"d": D, "a": np.full(N, "F")}, {}, ["constant_attribute"]),
    "all 0": ({"d": 0 * Y, "a": SEX}, {}, ["constant_decisions"]),
    "all 1": ({"d": 0 * Y + 1, "a": SEX}, {}, ["constant_decisions"]),
    "threshold above": ({"d": D + 0.5, "a": SEX}, {"threshold": 2}, ["threshold_outside_scores"]),
    "threshold below": ({"d": D + 0.5, "a": SEX}, {"threshold": 0}, ["threshold_outside_scores"]),
    "the label": ({"d": D, "a": Y.copy()}, {}, ["label_is_protected"]),
    "the decision": ({"d": D, "a": D.copy()}, {}, ["decision_is_protected"]),
    "a decision that is one with an attribute": ({"d": (SEX == "F") * 1, "a": SEX}, {}, []),
    "labels that are text": (
        {"y": np.array(["no", "yes"])[Y], "d": np.array(["no", "yes"])[D], "a": 1.5 * Y}, {}, []),
    "an identifier": ({"d": D, "a": np.arange(N)}, {}, ["nearly_unique_attribute"]),
}  # fmt: skip


def rows_of(case):
    columns, how, codes = CASES[case]
    return {"y": Y} | columns, how | {"gamma": 0.3, "subgroups": "marginals"}, codes


def codes_of(report):
    return [doubt.code for doubt in report.warnings]


@pytest.mark.filterwarnings("ignore:.*identifier")
@pytest.mark.parametrize("case", CASES)
def test_every_way_in_warns(case):
    data, how, codes = rows_of(case)
    arrays = {"y_true": data["y"], "y_pred": data["d"], "sensitive_features": {"a": data["a"]}}
    named = {"y_true": "y", "y_pred": "d", "sensitive_features": "a"}
    report = audit(**arrays, **how)
    assert codes_of(report) == codes
    assert codes_of(audit(**named, data=data, **how)) == codes
    assert codes_of(audit(**named, data=pl.LazyFrame(data), **how)) == codes
    counts = {"label": "y", "prediction": "d", "count": "n", "sensitive_features": "a"}
    assert codes_of(audit_counts(data | {"n": np.ones(N)}, **counts, **how)) == codes
    check = {name: how[name] for name in how if name == "threshold"}
    assert check_report(report, **arrays, **check).ok
    stripped = report.to_dict() | {"warnings": []}
    assert check_report(stripped, **arrays, **check).ok == (not codes)


def test_the_same_probability_for_all_is_no_decision():
    report = audit(Y, np.full(N, 0.3), sensitive_features={"a": SEX}, decision_probabilities=True)
    assert codes_of(report) == ["constant_decisions"]
    assert "with the same probability" in report.warnings[0].sentence


def test_a_score_among_the_attributes_is_told_by_its_name():
    data = pl.LazyFrame({"y": Y, "score": RNG.random(N)})
    report = audit("y", "score", sensitive_features="score", threshold=0.5, data=data)
    assert codes_of(report) == ["decision_is_protected"]


def test_a_holdout_of_the_same_rows():
    rows = (Y, D, {"a": SEX})
    order = RNG.permutation(N)
    shuffled = (Y[order], D[order], {"a": SEX[order]})
    first = {"y_true": Y, "y_pred": D, "sensitive_features": {"a": SEX}}
    for second in (rows, shuffled):
        assert codes_of(audit(**first, holdout=second)) == ["holdout_is_searched"]
    other = (Y[1:], D[1:], {"a": SEX[1:]})
    assert codes_of(audit(**first, holdout=other)) == []


def test_a_lie_about_warnings_is_refused():
    rows = {"y_true": Y, "y_pred": D, "sensitive_features": {"a": SEX}}
    report = audit(**rows).to_dict()
    lie = [{"code": "constant_decisions", "sentence": "All alike."}]
    assert not check_report(report | {"warnings": lie}, **rows).ok


def test_a_report_with_warnings_does_not_look_green():
    report = audit(Y, 0 * Y, sensitive_features={"a": SEX})
    assert report.verdict == "within gamma"
    text = " ".join(str(report).split())
    assert text.startswith("Warning Every row is decided alike. No subgroup can differ")
    assert "Within what is allowed, with warnings" in text
    assert 'class="verdict within"' not in report.to_html()
