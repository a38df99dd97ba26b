"""Numbers that were counted or summed elsewhere: the same report as from the rows."""

import numpy as np
import polars as pl
import pytest

from gerrymend import GroupMean, OutcomeNotion, audit, audit_counts, check_report
from tests.auditing.test_lazy_numbers import close
from tests.checking import assert_checked

NAMES = ("mean_outcome", "mean_error", "absolute_error", "squared_error")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(11)
    return pl.DataFrame(
        {
            "town": rng.choice(["Au", "Rom", "Ulm"], 400),
            "age": rng.integers(1, 4, 400),
            "job": rng.choice(["cook", "nurse"], 400),
            "true": rng.integers(0, 5, 400),
            "days": rng.integers(0, 9, 400) / 4,
        }
    )


def plain(report):
    return report.to_dict() | {"provenance": None}


@pytest.mark.parametrize("controls", [{}, {"control_features": ["job"]}])
def test_counts_of_numbers_are_the_rows_that_they_count(people, controls):
    counts = people.group_by("town", "age", "job", "true", "days").len("count")
    assert len(counts) < len(people)
    how = {"sensitive_features": ["town", "age"], "notion": NAMES, "gamma": 0.1,
           "subgroups": "conjunctions", "n_permutations": 19, "confidence": 0.9,
           "n_resamples": 19}  # fmt: skip
    columns = {"label": "true", "prediction": "days"}
    for table in (counts, counts.lazy(), counts.sample(fraction=1.0, shuffle=True, seed=2)):
        counted = plain(audit_counts(table, **columns, **how, **controls))
        assert counted == plain(audit("true", "days", data=people, **how, **controls))


def test_counts_of_numbers_can_be_parted_and_take_ones_own_notion(people):
    late = OutcomeNotion("late", lambda _, d: d - 1, event=lambda _, d: d > 1, reads_labels=False)
    counts = people.group_by("town", "days").len("count")
    how = {"sensitive_features": ["town"], "notion": late, "gamma": 0.1, "test_size": 0.25}
    counted = audit_counts(counts, label=None, prediction="days", **how)
    assert plain(counted) == plain(audit(None, "days", data=people, **how))
    assert counted.held_out.n_rows + counted.n_rows == 400


@pytest.mark.parametrize("controls", [{}, {"control_features": ["job"]}])
def test_sums_of_numbers_are_enough(people, controls):
    error = pl.col("true") - pl.col("days") + 1e6
    sums = people.group_by("town", "age", "job").agg(
        pl.len().alias("n"), error.sum().alias("total"), (error**2).sum().alias("squares")
    )
    how = {"sensitive_features": ["town", "age"], "gamma": 0.05, "subgroups": "conjunctions",
           "notion": "mean_error", "favourable": "positive"}  # fmt: skip
    report = audit_counts(sums, count="n", total="total", squares="squares", **how, **controls)
    moved = people.with_columns(true=pl.col("true") + 1e6)
    expected = plain(audit("true", "days", data=moved, **how, **controls)) | {"is_labelled": False}
    found = plain(report)
    # Squares near 1e12 keep some four digits of a spread near 1, and so do intervals.
    for listed in ("marginals", "intervals"):
        for one, other in zip(found.pop(listed), expected.pop(listed), strict=True):
            for ends in ("unfairness_interval", "rate_interval"):
                assert one.pop(ends) == pytest.approx(other.pop(ends), rel=1e-4)
            assert close(one, other)
    found.pop("intersections")
    expected.pop("intersections")
    assert close(found, expected)


REFERENCES = [1.25, -3, GroupMean({"town": "Au"}), GroupMean({"town": ["Au", "Rom"]}, factor=0.8),
              GroupMean({"town": "Ulm", "age": (2, None)})]  # fmt: skip


@pytest.mark.parametrize("side", ["both", "disadvantaged"])
@pytest.mark.parametrize("subgroups", ["conjunctions", "linear", "marginals"])
@pytest.mark.parametrize("reference", REFERENCES, ids=str)
def test_sums_against_a_reference_are_the_rows_that_they_sum(people, reference, subgroups, side):
    days = pl.col("days")
    sums = people.group_by("town", "age").agg(
        pl.len().alias("count"), days.sum().alias("total"), (days**2).sum().alias("squares")
    )
    how = {"sensitive_features": ["town", "age"], "gamma": 0.05, "subgroups": subgroups,
           "notion": "mean_outcome", "reference": reference, "favourable": "negative",
           "side": side, "n_permutations": 19}  # fmt: skip
    summed = audit_counts(sums, label=None, total="total", squares="squares", **how)
    assert summed.exact
    # From sums nothing is known of the range of outcomes, by which doubts are told.
    told = {"warnings": [], "provenance": None}
    expected = audit(None, "days", data=people, **how)
    assert close(plain(summed) | told, plain(expected) | told)
    if isinstance(reference, GroupMean) and reference.group == {"town": "Au"}:
        mean = people.filter(pl.col("town") == "Au")["days"].mean()
        assert summed.overall_rates[0].reference == pytest.approx(mean)


def test_sums_by_hand_and_by_the_checker(people):
    sums = people.group_by("town").agg(
        pl.len().alias("count"), pl.col("days").sum().alias("total"),
        (pl.col("days") ** 2).sum().alias("squares"),
    )  # fmt: skip
    how = {"sensitive_features": ["town"], "notion": "mean_outcome", "gamma": 0.01}
    report = audit_counts(sums, total="total", squares="squares", **how)
    data = {"y_true": None, "y_pred": people["days"], "sensitive_features": people[["town"]]}
    assert_checked(report, **data, bound=True)
    mean = people["days"].mean()
    by_town = people.group_by("town").agg((pl.col("days") - mean).sum() / 400)
    assert report.unfairness == pytest.approx(by_town["days"].abs().max())
    asked = audit_counts(sums, total="total", squares="squares", **how, n_permutations=19,
                         confidence=0.9)  # fmt: skip
    assert "only their sums are at hand" in asked.permutation_test.reason
    assert "only their sums are at hand" in asked.population.reason


SUMS = {"town": ["Au", "Ulm"], "count": [20, 20], "total": [240.0, 120.0], "squares": [2960.0, 800]}
ASKED = {"total": "total", "squares": "squares", "notion": "mean_outcome"}


@pytest.mark.parametrize(
    ("change", "asked", "words"),
    [
        ({}, {"squares": None}, "squares is None, and total is given"),
        ({}, {"total": None}, "total is None, and squares is given"),
        ({}, {"total": "sum"}, "total='sum' is no column of table"),
        ({}, {"notion": "error_rate"}, "one mean of numbers .* got error_rate"),
        ({}, {"notion": NAMES[:2]}, "got mean_outcome, mean_error"),
        ({}, {"threshold": 0.5}, "threshold=0.5 is for decisions"),
        ({"total": [240.0, None]}, {}, "total has 1 missing"),
        ({"squares": [100.0, 800]}, {}, "squares has 100 where 20 rows have a total of 240"),
        ({"total": ["a", "b"]}, {}, "total must be numbers"),
        ({"count": [10**7, 1]}, {"total": None, "squares": None, "label": None,
                                 "prediction": "total"}, "numbers are compared of 10,000,000"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_sums_is_said(change, asked, words):
    with pytest.raises((ValueError, TypeError), match=words):
        audit_counts(SUMS | change, sensitive_features="town", **ASKED | asked)


def summed(town, days):
    """Return a line for each town, with the sums of its rows."""
    lines = [(t, int((town == t).sum()), days[town == t].sum(), (days[town == t] ** 2).sum())
             for t in np.unique(town)]  # fmt: skip
    return pl.DataFrame(lines, schema=["town", "count", "total", "squares"], orient="row")


@pytest.mark.parametrize("seed", range(6))
def test_sums_alone_tell_of_a_gamma_that_nothing_can_exceed(seed):
    """Half the standard deviation: half of all, above the mean, has that where there are two."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Au", "Ulm"], 60)
    days = np.where(town == "Au", 3.0, 7.0) if seed == 0 else np.round(rng.gamma(2, 5, 60), 1)
    names = {"sensitive_features": "town", "total": "total", "squares": "squares"}
    how = {"notion": "mean_outcome", "subgroups": "marginals"}
    most = days.std() / 2
    # Of any group that there could be the largest is that of the k largest outcomes.
    above = np.cumsum(np.sort(days - days.mean())[::-1]) / 60
    assert above.max() <= most + 1e-12
    rows = {"y_true": None, "y_pred": days, "sensitive_features": {"town": town}}
    for gamma, told in ((most * 0.999, False), (most * 1.001, True), (1e6, True)):
        report = audit_counts(summed(town, days), **names, **how, gamma=gamma)
        codes = [doubt.code for doubt in report.warnings]
        assert codes == ["gamma_allows_everything"] * told
        assert check_report(report, **rows).ok == (told or gamma < np.ptp(days) / 4)


@pytest.mark.parametrize("value", [0.0, 0.1, -12345.67, 1e9 / 7])
def test_sums_alone_tell_of_outcomes_that_are_all_alike(value):
    town = np.array(["Au", "Ulm"] * 30)
    days = np.full(60, value)
    names = {"sensitive_features": "town", "total": "total", "squares": "squares"}
    report = audit_counts(summed(town, days), **names, notion="mean_outcome", gamma=0.1)
    assert [doubt.code for doubt in report.warnings] == ["constant_decisions"]
    assert f"is {value:g} in every row, as far as sums tell." in report.warnings[0].sentence
    checked = check_report(report, None, days, sensitive_features={"town": town})
    # Intervals are as wide as what squares lose, and no others are from the rows.
    assert not [problem for problem in checked.problems if "warnings" in problem]


def test_a_small_difference_of_large_numbers_is_one():
    """Squares lose it, and totals don't."""
    town = np.array(["Au", "Ulm"] * 30)
    seconds = 1.7e9 + 60.0 * (town == "Ulm")
    names = {"sensitive_features": "town", "total": "total", "squares": "squares"}
    report = audit_counts(summed(town, seconds), **names, notion="mean_outcome", gamma=1.0)
    assert report.unfairness == pytest.approx(15.0)
    assert [doubt.code for doubt in report.warnings] == []
