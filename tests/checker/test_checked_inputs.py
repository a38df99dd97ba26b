"""The checker reads rows as audit() does, and rows that were held out."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gerrymend import Conjunctions, ExplicitGroups, GroupMean, audit, check_report
from tests.checker.reports import report_of

N = 80
RNG = np.random.default_rng(3)
AGE = RNG.integers(20, 60, N)
LABEL = RNG.integers(0, 2, N)
DECIDED = np.where(AGE > 40, 1, LABEL)
INTERVALS = pd.cut(AGE, [0, 30, 40, 60])


def tenths(kind):
    return [kind(int(age)) / 10 for age in AGE]


COLUMNS = {
    "Decimal": tenths(Decimal),
    "Fraction": tenths(Fraction),
    "thirds": [Fraction(int(age), 3) for age in AGE],
    "Decimal of many digits": [Decimal(int(age)) / 3 for age in AGE],
    "Decimal beside int": [Decimal(int(age)) if age % 2 else int(age) for age in AGE],
    "Decimal objects": pd.Series(tenths(Decimal)),
    "Decimal of polars": pl.Series(tenths(Decimal)),
    "Decimal of arrow": pa.chunked_array([tenths(Decimal)]),
    "long doubles": AGE.astype(np.longdouble) / 10,
    "long doubles in a list": list(AGE.astype(np.longdouble)),
    "Interval": list(INTERVALS),
    "Interval Series": pd.Series(pd.arrays.IntervalArray(INTERVALS)),
    "Interval categories": pd.Series(INTERVALS),
    "Interval, one missing": [None, *INTERVALS[1:]],
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("subgroups", ["linear", "conjunctions"])
def test_columns_are_read_as_audit_reads_them(column, subgroups):
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"age": column}}
    report = audit(**data, subgroups=subgroups)
    assert report.worst is not None
    result = check_report(report.to_json(), **data)
    assert result.ok, str(result)


@pytest.mark.parametrize("kind", [Decimal, Fraction, np.longdouble])
def test_labels_weights_and_scores_are_read_as_audit_reads_them(kind):
    rows = {"y_true": [kind(int(y)) for y in LABEL], "sensitive_features": {"age": AGE},
            "sample_weight": [kind(int(age)) / 10 for age in AGE]}  # fmt: skip
    decided = {"y_pred": [kind(int(d)) for d in DECIDED]}
    scored = {"y_pred": [kind(int(age)) / 100 for age in AGE], "threshold": 0.4}
    for data in (rows | decided, rows | scored):
        result = check_report(audit(**data), **data)
        assert result.ok, str(result)


@pytest.mark.parametrize("value", [Decimal("sNaN"), Decimal("NaN"), Decimal("Infinity"),
                                   Fraction(10**400)])  # fmt: skip
def test_a_number_that_is_none_is_refused(value):
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"age": tenths(Decimal)}}
    report = audit(**data)
    data["sensitive_features"] = {"age": [value, *tenths(Decimal)[1:]]}
    with pytest.raises(ValueError, match="is a number and has missing or infinite values"):
        check_report(report, **data)


def test_no_intervals_of_weighted_rows_are_named():
    """An audit of sums has none; that it was one, no rows can show."""
    report, data = report_of("weights held out")
    fields = {"held_out.unfairness_interval", "held_out.gap_interval"}
    assert not fields & set(check_report(report, **data).fields_not_checked)
    report["held_out"] |= {"unfairness_interval": None, "gap_interval": None}
    result = check_report(report, **data)
    assert result.ok
    assert fields <= set(result.fields_not_checked)
    assert not any("held_out: all of it" in sentence for sentence in result.checked)


def test_a_number_of_rows_that_would_part_the_data_is_a_problem():
    """The rows that were held out are passed: none of the others can be among them."""
    report, data = report_of("held out")
    report["n_rows"] -= report["held_out"]["n_rows"]
    assert any("n_rows" in sentence for sentence in check_report(report, **data).problems)
    data.pop("holdout")
    with pytest.raises(ValueError, match="of which the report kept 90 out of the search"):
        check_report(report, **data)


def test_a_notion_that_counts_no_label_is_a_problem():
    report, data = report_of("weights held out")
    (notion,) = report["notions"]
    notion["event"] = [False, False]
    assert any("counts no row" in sentence for sentence in check_report(report, **data).problems)


def test_named_groups_that_are_not_there_are_refused():
    report, data = report_of("named")
    report["class"]["parameters"]["groups"] = None
    with pytest.raises(ValueError, match=r"parameters\.groups' of the report must be a mapping"):
        check_report(report, **data)


def test_labels_that_a_report_doesnt_have_are_told_as_its_own():
    """Of more than two labels decisions are labels, and the probabilities passed are none."""
    report, data = report_of("named")
    labels = report["labels"]
    with pytest.raises(ValueError, match=r"no label: 0.25, .* The labels of the report are more"):
        check_report({**report, "labels": [*labels, labels[-1]]}, **data)


@pytest.mark.parametrize(("least", "vast"), [(5e-324, 1e100), (1e-310, 0.0), (1e-310, 1e100)])
def test_the_median_of_numbers_that_hardly_differ_is_told(least, vast):
    """The step of its digits is no float, or a quotient by it is none."""
    ages = np.where(np.arange(N) % 2, 0.0, least)
    ages[:4] = vast
    job = np.where(DECIDED, "cook", "smith")
    job[::9] = "cook"
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"job": job, "age": ages}}
    report = audit(**data, subgroups=Conjunctions(max_depth=1))
    (trait,) = (trait for trait in report.worst.composition if trait.attribute == "age")
    assert {trait.median, trait.overall} <= {0.0, least}
    result = check_report(report, **data)
    assert result.ok, str(result)


def test_a_positive_label_that_can_not_be_compared_is_none():
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"age": AGE}}
    with pytest.raises(ValueError, match=r"pos_label=Decimal\('sNaN'\) is no label of y_true"):
        audit(**data, pos_label=Decimal("sNaN"))


@pytest.mark.parametrize("subgroups", ["marginals", "conjunctions", "value_sets", "trees"])
@pytest.mark.parametrize(
    "values",
    [
        (0.0, 5e-324, 1e-323),
        (0.0, 5e-324, 1.0),
        (1.0, math.nextafter(1.0, 2.0), 2.0),
        (0, 0.3, 0.1 + 0.2),
    ],
    ids=str,
)
def test_numbers_with_nothing_between_them_are_cut_at_the_larger(subgroups, values):
    """It is a row's, and there is no other number to cut at."""
    ages = np.array(values)[np.arange(N) % 3]
    data = {
        "y_true": np.zeros(N, int),
        "y_pred": ages <= values[0],
        "sensitive_features": {"age": ages},
    }
    report = audit(**data, subgroups=subgroups)
    result = check_report(report, **data)
    assert result.ok, str(result)


def test_a_cut_that_equals_a_row_s_number_is_a_problem_all_the_same():
    ages = np.array([1.0, math.nextafter(1.0, 2.0), 2.0, 3.0])[np.arange(N) % 4]
    data = {"y_true": np.zeros(N, int), "y_pred": ages < 2, "sensitive_features": {"age": ages}}
    report = audit(**data, subgroups=Conjunctions(max_depth=1)).to_dict()
    (condition,) = report["worst"]["rule"]["conditions"]
    (end,) = (name for name in ("low", "high") if condition[name] is not None)
    assert check_report(report, **data).ok
    condition[end] = 2.0
    assert any("equals that of a row" in one for one in check_report(report, **data).problems)


@pytest.mark.parametrize("reference", [None, 0.25, GroupMean({"age": (None, 40)})], ids=str)
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-160, 1e160, 1e290])
def test_intervals_of_weights_of_any_size_are_checked(size, reference):
    """Sums of their squares are no float: they were taken as 0, or ended in an OverflowError."""
    weight = size * (np.arange(N) % 3 + 1.0)
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"age": AGE}}
    result = check_report(
        audit(**data, sample_weight=weight, reference=reference), **data, sample_weight=weight
    )
    assert result.ok, str(result)


def test_a_ratio_that_no_float_holds_is_none():
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"age": AGE}}
    report = audit(**data, reference=1e-310)
    assert report.to_dict()["worst"]["ratio"] is None
    result = check_report(report, **data)
    assert result.ok, str(result)


@pytest.mark.parametrize("of_decisions", [bool, int, float, object])
@pytest.mark.parametrize("of_labels", [bool, int, float, object])
@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_value_beside_decisions_of_another_type(label, of_labels, of_decisions):
    """The other label is that of the decisions, and both have the wider type."""
    data = {
        "y_true": np.full(N, label).astype(of_labels),
        "y_pred": (AGE > 40).astype(of_decisions),
        "sensitive_features": {"age": AGE},
    }
    result = check_report(audit(**data, notion="statistical_parity"), **data)
    assert result.ok, str(result)


STRATA = {
    "numbers": np.array([10.5, -2, 3])[np.arange(N) % 3],
    "text": np.array(["b", "", "a"])[np.arange(N) % 3],
    "missing": np.array(["b", None, "a"])[np.arange(N) % 3],
    "booleans": np.arange(N) % 2 == 0,
    "intervals": pd.cut(pd.Series(np.arange(N) % 3 * 5.0), [-1, 2, 9, 20]),
}


@pytest.mark.parametrize("values", STRATA.values(), ids=STRATA)
def test_strata_are_in_order(values):
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"age": AGE}}
    data["control_features"] = {"k": values}
    asked = {"notion": ("error_rate", "statistical_parity"), "min_group_size": 2}
    report = audit(**data, **asked).to_dict()
    assert check_report(report, **data).ok
    n_strata = len(report["strata"]) // 2
    assert n_strata > 1
    report["strata"] = report["strata"][n_strata:] + report["strata"][:n_strata]
    by_notion = check_report(report, **data).problems
    report["strata"] = report["strata"][::-1]
    by_value = check_report(report, **data).problems
    expected = ["strata are not in the order of the notions and of their values."]
    # The order of intervals is that of their ends, which their words don't tell.
    assert by_notion == by_value == ([] if isinstance(values, pd.Series) else expected)


def test_a_value_that_a_rule_has_twice_is_a_problem():
    """It changes no member; a user's own group may have it."""
    sex = np.where(DECIDED, "M", "F")
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"sex": sex}}
    named = audit(**data, subgroups=ExplicitGroups({"men": {"sex": ["M", "M"]}}))
    assert check_report(named, **data).ok
    report = audit(**data, subgroups="marginals").to_dict()
    (condition,) = report["worst"]["rule"]["conditions"]
    condition["values"] *= 2
    problems = check_report(report, **data).problems
    assert "The worst subgroup: its rule has a value of 'sex' twice." in problems


@pytest.mark.parametrize("given", [int, float, np.float32, Decimal, Fraction])
@pytest.mark.parametrize("audited", [int, float])
def test_labels_of_another_type_of_number_are_the_same(audited, given):
    """The report was said to be wrong, with the fingerprint of other rows."""
    rng = np.random.default_rng(4)
    A = {"sex": rng.choice(["F", "M"], 60)}
    y, d = rng.integers(0, 2, (2, 60)).tolist()

    def as_type(kind):
        return {"y_true": [kind(v) for v in y], "y_pred": [kind(v) for v in d]}

    report = audit(**as_type(audited), sensitive_features=A, subgroups="marginals")
    result = check_report(report.to_json(), **as_type(given), sensitive_features=A)
    assert result.ok, str(result)
    flags = check_report(report.to_json(), **as_type(bool), sensitive_features=A)
    assert "labels are stated as" in str(flags)
