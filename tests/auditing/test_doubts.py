"""What a report warns of, by every way in; and that nobody can take it out of a report."""

import numpy as np
import polars as pl
import pytest

from gerrymend import audit, audit_counts, check_report
from gerrymend.auditing.doubts import doubts_of
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.inputs.sample import Decided
from gerrymend.notions import STATISTICAL_PARITY

N = 60
RNG = np.random.default_rng(2)
Y = np.arange(N) % 2
D = RNG.integers(0, 2, N)
SEX = np.where(np.arange(N) % 3 == 0, "F", "M")
P = np.random.default_rng(3).random(N)
# Numbers as text, each in two rows or more, and missing in some.
AMOUNTS = [None if i % 5 == 0 else str(20 + i % 23) for i in range(N)]


def as_categories(texts):
    """Texts that the user says are categories, whatever they look like."""
    return pl.Series(texts, dtype=pl.Categorical)


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
    "the label in other words": (
        {"d": D, "a": np.array(["defaulted", "paid"])[Y]}, {}, ["label_is_protected"]),
    "a label of text as a number": (
        {"y": np.array(["no", "yes"])[Y], "d": np.array(["no", "yes"])[D], "a": 1.5 * Y}, {},
        ["label_is_protected"]),
    "the label but for a row": (
        {"d": D, "a": np.where(np.arange(N) == 3, "paid", np.array(["late", "paid"])[1 - Y])}, {},
        []),
    "a label of three words": ({"d": D, "a": Y + (np.arange(N) % 4 == 1)}, {}, []),
    "the decision in other words": (
        {"d": (SEX == "F") * 1, "a": SEX}, {}, ["decision_is_protected"]),
    "gamma that nothing exceeds": (
        {"d": D, "a": SEX}, {"gamma": 0.125}, ["gamma_allows_everything"]),
    "gamma that hardly anything exceeds": ({"d": D, "a": SEX}, {"gamma": 0.1249}, []),
    "gamma that nothing exceeds, of two rates": (
        {"d": D, "a": SEX}, {"gamma": 0.25, "notion": ("false_positive_rate", "error_rate")},
        ["gamma_allows_everything"]),
    "gamma that one of two rates exceeds": (
        {"d": D, "a": SEX}, {"gamma": 0.2, "notion": ("false_positive_rate", "error_rate")}, []),
    "missing numbers": ({"d": D, "a": as_categories(AMOUNTS)}, {}, ["missing_is_category"]),
    "missing numbers by a word": (
        {"d": D, "a": as_categories([text or "n/a" for text in AMOUNTS])}, {},
        ["missing_is_category"]),
    "missing codes": (
        {"d": D, "a": as_categories([text and f"0{text}" for text in AMOUNTS])}, {}, []),
    "numbers by name": ({"d": D, "a": as_categories([text or "12" for text in AMOUNTS])}, {}, []),
    "numbers of which the rest is no column": ({"d": D, "a": P}, {}, []),
    "an identifier": ({"d": D, "a": np.arange(N)}, {}, ["nearly_unique_attribute"]),
}  # fmt: skip


def rows_of(case):
    columns, how, codes = CASES[case]
    return {"y": Y} | columns, {"gamma": 0.1, "subgroups": "marginals"} | how, codes


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


@pytest.mark.parametrize(("values", "remedy"), [
    (np.arange(N), "Leave it out if it is an identifier; a measurement, such as income in cents, "
     "belongs into ranges (--ranges, pandas.cut)."),
    (as_categories([f"p{i}" for i in range(N)]), "Leave it out, or put its values into groups."),
])  # fmt: skip
def test_an_identifier_is_warned_of_with_the_remedy(values, remedy):
    with pytest.warns(UserWarning, match="it is probably an identifier") as heard:
        report = audit(Y, D, sensitive_features={"a": values}, gamma=0.1, subgroups="marginals")
    (doubt,) = report.warnings
    shut = "A gate ends with 3 in place of 0 as long as it is there (--accept-warnings)."
    assert doubt.sentence.endswith(f"it tells people apart, not groups. {remedy} {shut}")
    is_number = isinstance(values, np.ndarray)
    (message,) = (str(one.message) for one in heard)
    assert message.endswith("or put it into ranges if it is a measurement.") == is_number


def test_numbers_of_a_measurement_are_no_identifier():
    """Income with cents as a fraction, or in ranges, is as good as any other number."""
    cents = RNG.permutation(np.arange(N)) * 1201 + 7
    ranges = np.array(["low", "high"])[(cents > np.median(cents)).astype(int)]
    for income in (cents / 100, ranges):
        how = {"gamma": 0.1, "subgroups": "marginals"}
        assert codes_of(audit(Y, D, sensitive_features={"income": income}, **how)) == []


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


@pytest.mark.parametrize("what", ["equal", "oppose"])
@pytest.mark.parametrize(("apart", "code"), [(0, ""), (1, "nearly_"), (5, "nearly_"), (6, None)])
def test_decisions_that_are_nearly_the_labels_are_told_with_their_number(what, apart, code):
    """Up to 1 row that differs for 100 of the rarer label, of which there are 500."""
    y = np.arange(2000) % 4 == 0
    decided = np.where(np.arange(2000) < apart, ~y, y)
    if what == "oppose":
        decided = ~decided
    rows = {"y_true": y, "y_pred": decided, "sensitive_features": {"a": np.arange(2000) % 3}}
    report = audit(**rows)
    assert codes_of(report) == ([] if code is None else [f"decisions_{code}{what}_labels"])
    if code:
        assert f"in all but {apart} of 2,000 rows: " in report.warnings[0].sentence
    assert check_report(report, **rows).ok
    assert check_report(report.to_dict() | {"warnings": []}, **rows).ok == (code is None)


def test_a_useless_model_of_a_rare_label_is_not_taken_for_the_labels():
    y = np.arange(2000) < 5
    decided = np.arange(2000) == 7
    report = audit(y, decided, sensitive_features={"a": np.arange(2000) % 3})
    assert codes_of(report) == []


def test_nearly_the_labels_by_weight():
    y = np.arange(400) % 2
    p = np.abs(y - 0.001)
    report = audit(y, p, sensitive_features={"a": np.arange(400) % 3}, decision_probabilities=True)
    assert codes_of(report) == ["decisions_nearly_equal_labels"]
    assert "in all but 0.1 % of the rows, by weight: " in report.warnings[0].sentence


@pytest.mark.parametrize("notion", ["false_positive_rate", "error_rate", "statistical_parity"])
def test_nothing_exceeds_the_gamma_that_is_warned_of(notion):
    """The half that alone is decided wrongly has as much, and no other group and no decisions."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 4 == 0
    most = 0.1875 if notion == "false_positive_rate" else 0.25
    half = np.arange(80) % 8 < 4
    decided = {"error_rate": y ^ half}.get(notion, half)
    groups = {"half": half, "other": rng.integers(0, 3, 80)}
    report = audit(y, decided, sensitive_features=groups, notion=notion, gamma=most)
    assert report.unfairness == pytest.approx(most, abs=1e-12)
    assert "gamma_allows_everything" in codes_of(report)
    assert f"can't exceed {most:.4f}, whatever" in report.warnings[-1].sentence
    for _ in range(10):
        other = audit(y, rng.random(80) < rng.random(80) ** 3, sensitive_features=groups,
                      notion=notion, gamma=most, subgroups="marginals")  # fmt: skip
        assert other.upper_bound <= most


@pytest.mark.parametrize(("case", "remedy"), [
    ("all 0", "Check that these are the decisions that were meant."),
    ("threshold above", "Pass one among them."),
    ("gamma that nothing exceeds", "Pass a smaller one, in that unit."),
])  # fmt: skip
def test_what_is_doubted_is_told_with_a_remedy(case, remedy):
    data, how, _ = rows_of(case)
    (doubt,) = audit(data["y"], data["d"], sensitive_features={"a": data["a"]}, **how).warnings
    assert doubt.sentence.endswith(f" {remedy}")


SHARES = {
    "two": ({"p": P, "q": 1 - P}, True),
    "two of three": ({"age": np.arange(N) % 7, "p": P, "q": 1 - P}, True),
    "rounded": ({"p": P.round(2), "q": (1 - P).round(2)}, True),
    "three": ({"p": P / 2, "q": P / 2, "r": 1 - P}, True),
    "one": ({"p": P}, False),
    "not quite": ({"p": P, "q": np.where(np.arange(N) == 9, P, 1 - P)}, False),
    "indicators": ({"p": 1.0 * (P > 0.5), "q": 1.0 * (P <= 0.5)}, False),
    "above 1": ({"p": P + 1, "q": -P}, False),
    "nine": ({f"p{i}": P / 8 for i in range(8)} | {"q": 1 - P}, True),
}


@pytest.mark.parametrize("case", SHARES)
def test_probabilities_of_one_attribute_are_told_by_name(case):
    columns, is_told = SHARES[case]
    data = {"y_true": Y, "y_pred": D, "sensitive_features": columns}
    report = audit(**data, subgroups="marginals")
    assert codes_of(report) == ["attributes_are_probabilities"] * is_told
    assert check_report(report, **data).ok
    assert check_report(report.to_dict() | {"warnings": []}, **data).ok != is_told
    if is_told:
        (doubt,) = report.warnings
        assert "add up to 1 in every row" in doubt.sentence
        assert "audit_uncertain (gerrymend uncertain)" in doubt.sentence
        assert "age" not in doubt.sentence


HEAVY = {
    "ones": (np.ones(N), False),
    "one of 1e100": (np.where(np.arange(N) == 7, 1e100, 1.0), True),
    "one of 1e-300 of the rest": (np.where(np.arange(N) == 7, 1e-300, 1.0), False),
    "one that weighs as the rest": (np.where(np.arange(N) == 7, N - 1.0, 1.0), False),
    "one that weighs thrice the rest": (np.where(np.arange(N) == 7, 3.0 * (N - 1), 1.0), True),
    "three of 1e100": (np.where(np.arange(N) < 3, 1e100, 1.0), False),
    "a kernel": (np.exp(-0.5 * ((np.arange(N) - 30) / 2.0) ** 2), False),
    "no other": ((np.arange(N) == 7) * 2.0, True),
}


@pytest.mark.parametrize("case", HEAVY)
def test_weights_that_leave_one_row_are_warned_of(case):
    weight, is_warned_of = HEAVY[case]
    codes = ["weight_of_one_row"] * is_warned_of
    arrays = {"y_true": Y, "y_pred": D, "sensitive_features": {"a": SEX}, "sample_weight": weight}
    how = {"subgroups": "marginals", "gamma": 1e-9, "notion": "statistical_parity"}
    report = audit(**arrays, **how)
    assert [code for code in codes_of(report) if code == "weight_of_one_row"] == codes
    assert check_report(report, **arrays).ok
    stripped = [doubt for doubt in report.to_dict()["warnings"] if doubt["code"] not in codes]
    assert check_report(report.to_dict() | {"warnings": stripped}, **arrays).ok != is_warned_of
    if not is_warned_of:
        lie = [*stripped, {"code": "weight_of_one_row", "sentence": "Of one row."}]
        assert not check_report(report.to_dict() | {"warnings": lie}, **arrays).ok
    data = pl.LazyFrame({"y": Y, "d": D, "a": SEX, "w": weight})
    named = {"y_true": "y", "y_pred": "d", "sensitive_features": "a", "sample_weight": "w"}
    assert codes_of(audit(**named, data=data, **how)) == codes_of(report)


def test_one_weight_of_an_extreme_size_is_warned_of():
    weight = np.where(np.arange(N) == 7, 1e300, 1.0)
    tally = tally_of_rows(Y, D, {"a": SEX}, weight)
    (doubt,) = doubts_of(tally, None, Decided(), (None, None), [STATISTICAL_PARITY], 0.1)
    assert doubt.code == "weight_of_one_row"
