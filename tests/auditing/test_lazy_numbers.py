"""Numbers of lazy frames are summed by their engine, to the sums that rows in memory give."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gerrymend import OutcomeNotion, audit, prove
from gerrymend.auditing.from_rows import Given, read_tally
from gerrymend.inputs.classes import BY_LABEL
from gerrymend.notions import as_notions
from tests.auditing.test_from_engine import (
    ENGINES,
    engines,
    in_dask,
    in_duckdb,
    in_polars,
)
from tests.marks import slow

NAMED = as_notions(("mean_outcome", "mean_error", "absolute_error", "squared_error"))
DELAY = OutcomeNotion(
    "delay",
    lambda _, days: -(days - 30) * 0.14,
    event=lambda y, days: (days > 30) & ~(y == 3) | (days <= -1.5),
    unit="weeks",
)


@pytest.fixture(scope="module")
def people():
    """Ties in every column, and numbers of many sizes."""
    rng = np.random.default_rng(7)
    n = 300
    return pd.DataFrame(
        {
            "town": rng.choice(["Au", "Ulm", None], n),
            "age": rng.integers(1, 5, n),
            "job": rng.choice(["cook", "nurse"], n),
            "true": rng.integers(1, 5, n).astype(float),
            "days": rng.choice([30.1, 1 / 3, -2.0, 40.0, 1e6], n) * rng.choice([1.0, 3.7], n),
            "whole": rng.integers(-3, 60, n),
            "weight": rng.exponential(size=n) * 10.0 ** rng.integers(-6, 6, n),
            "some": rng.integers(0, 3, n) / 4,
        }
    )


def tallies(data, frame, notions, **named):
    """By the engine, and from rows in memory."""
    names = Given(y_true="true", y_pred="days", sensitive_features=["town", "age"])
    names = names._replace(**named)
    return [read_tally(table, names, BY_LABEL, notions) for table in (data, frame)]


def assert_same(found, expected):
    """Bit for bit, but for the spread, in which each stratum has its own centre in memory."""
    for name in ("n_rows", "weight", "positive", "squared_weight", "n_counted"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    for one, other in zip(found.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
    assert found.outcome_range == expected.outcome_range
    assert found.labels == expected.labels
    assert found.is_labelled == expected.is_labelled


@pytest.mark.parametrize(
    ("engine", "weight"),
    [
        slow(engine, weight) if engine is in_dask and weight != "weight" else (engine, weight)
        for engine, weight in itertools.product(ENGINES, [None, "weight", "some"])
    ],
)
def test_the_same_sums(people, engine, weight):
    notions = (*NAMED, DELAY)
    found, expected = tallies(engine(people), people, notions, sample_weight=weight)
    assert found.rows is None
    assert [*found.views] == [*expected.views]
    for name, view in found.views.items():
        assert_same(view, expected.views[name])
        assert view.centre == expected.views[name].centre
        np.testing.assert_array_equal(view.spread, expected.views[name].spread)


@engines
def test_the_same_sums_within_strata(people, engine):
    named = {"control_features": ["job"], "sample_weight": "some"}
    found, expected = tallies(engine(people), people, (*NAMED, DELAY), **named)
    for name, view in found.views.items():
        other = expected.views[name]
        for part, its in zip(view.strata.parts, other.strata.parts, strict=True):
            assert_same(part, its)


def report_of(data, **settings):
    """As plain data, without what is different by the clock."""
    names = {"sensitive_features": ["town", "age"], "sample_weight": "some", "gamma": 0.1}
    report = audit("true", "whole", data=data, **names | settings)
    return report.to_dict() | {"provenance": None}


def close(found, expected):
    """Equal, but for numbers that may differ by 1e-12 of their size."""
    if isinstance(found, dict):
        assert found.keys() == expected.keys()
        return all(close(found[key], expected[key]) for key in found)
    if isinstance(found, list):
        return all(close(*pair) for pair in zip(found, expected, strict=True))
    if isinstance(found, float):
        return found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    return found == expected


@pytest.mark.parametrize("engine", [in_polars, in_duckdb])
@pytest.mark.parametrize("subgroups", ["linear", "conjunctions"])
def test_the_same_report(people, engine, subgroups):
    settings = {"notion": NAMED, "subgroups": subgroups, "favourable": "negative", "top": 2}
    assert report_of(engine(people), **settings) == report_of(people, **settings)
    settings = {"notion": NAMED[1:3], "control_features": ["job"], "subgroups": subgroups}
    assert close(report_of(engine(people), **settings), report_of(people, **settings))


@engines
def test_three_queries_and_only_sums_travel(people, engine, collected):
    lazy = engine(pd.concat([people] * 3, ignore_index=True))
    names = Given("true", "days", ["town"], "weight", ["job"])
    read_tally(lazy, names, BY_LABEL, NAMED)
    assert [*map(len, collected)] == [1, 1, 3 * 2]  # towns and jobs
    collected.clear()
    read_tally(lazy, names, BY_LABEL, [DELAY])
    assert len(collected) == 3
    assert max(map(len, collected)) <= 3 * 2 * 2  # and whether rows count


ROUGH = [
    lambda _, p: p.round(),
    lambda _, p: np.log(abs(p) + 1),
    lambda _, p: np.where(p > 3, p, 0.0),
    lambda _, p: p / (abs(p) + 1),
    lambda _, p: p / 7,
    lambda _, p: p - p.mean(),
    lambda _, p: p if (p > 3).any() else -p,
    lambda _, p: (p > 3) * 1.0,
    lambda _, p: abs(p) ** 1.5,
    lambda _, p: p % 7,
]


@pytest.mark.parametrize("outcome", ROUGH)
def test_what_engines_do_differently_is_done_in_memory(people, outcome):
    own = OutcomeNotion("own", outcome, reads_labels=False)
    found, expected = tallies(in_polars(people), people, [own])
    assert found.rows is not None
    assert_same(found, expected)


def test_only_named_columns_are_collected_where_there_is_no_formula(people, collected):
    tallies(in_polars(people), people, [OutcomeNotion("own", ROUGH[0])])
    assert [frame.columns for frame in collected] == [["true", "days", "town", "age"]]


numbers = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, -0.0, 0.1, 1e9, -5e-324]))
weights = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-6, 4))
rows = st.lists(
    st.tuples(st.sampled_from(["Au", "Ulm", None]), numbers, numbers, weights),
    min_size=2,
    max_size=30,
).filter(lambda rows: any(row[3] for row in rows))


@pytest.mark.parametrize("engine", [in_polars, in_duckdb])
@settings(max_examples=settings.default.max_examples // 2)
@given(rows=rows)
@example(rows=[("Au", 1e9, 1e9 + 1, 1.0), ("Ulm", 0.1, -0.0, 5e-324)])
@example(rows=[("Au", 1.0, 2.0, 1e-320), ("Ulm", 3.0, 4.0, 5e-324)])
def test_no_order_of_adding_shows(engine, rows):
    frame = pd.DataFrame(rows, columns=["town", "true", "days", "weight"])
    # Outcomes that are all the same to rounding are refused, by either.
    frame.loc[len(frame)] = ["Au", 7.0, 3.0, 1.0]
    frame.loc[len(frame)] = ["Au", 17.0, -3.0, 1.0]
    named = {"sensitive_features": ["town"], "sample_weight": "weight"}
    found, expected = tallies(engine(frame), frame, NAMED[1::2], **named)
    for name, view in found.views.items():
        assert_same(view, expected.views[name])
        np.testing.assert_array_equal(view.spread, expected.views[name].spread)


GOOD = {"town": ["Au", "Ulm"] * 10, "y": [1.0, 2.0, 4.0, 8.0] * 5, "p": [2.0, 3.0] * 10}
BAD = [
    ({"p": [2.0, None] * 10}, {}, "y_pred has 10 missing values"),
    ({"p": [2.0, float("nan")] * 10}, {}, "y_pred has 10 missing values"),
    ({"y": [None, 1.0] * 10}, {}, "y_true has 10 missing values"),
    ({"p": [2.0, float("inf")] * 10}, {}, "y_pred has 10 numbers that are infinite .* as inf"),
    ({"p": [2.0, -1e101] * 10}, {}, r"y_pred has 10 numbers .* such as -1e\+101"),
    ({"p": ["a", "b"] * 10}, {}, "y_pred must be numbers"),
    ({"w": [-1.0, 1.0] * 10}, {"sample_weight": "w"}, "negative values .the smallest is -1"),
    ({"w": [None, 1.0] * 10}, {"sample_weight": "w"}, "sample_weight has NaN"),
    ({"w": [0.0] * 20}, {"sample_weight": "w"}, "sample_weight is zero in every row"),
    ({"p": [1.0, 1.0 + 1e-9] * 10}, {"notion": "mean_outcome"}, "differ by at most 1e-09"),
    ({"p": [1e60, -1e60] * 10}, {"notion": "squared_error"}, r"has the outcome 1e\+120"),
    ({}, {"y_pred": "q"}, "y_pred='q' is no column"),
    ({"w": [1e77] * 20, "p": [1e100, 0.0] * 10}, {"sample_weight": "w"}, "squares overflow"),
    ({"town": [1.0, None] * 10}, {}, "Column 'town' of sensitive_features is numeric"),
    ({}, {"y_true": None}, "y_true is not given, and the mean error can't be told"),
    ({name: [] for name in GOOD}, {}, "is empty: it has no rows"),
]


@pytest.mark.parametrize("engine", [in_polars, in_duckdb, lambda frame: frame])
@pytest.mark.parametrize(("change", "call", "message"), BAD)
def test_the_same_errors_as_from_rows(engine, change, call, message):
    frame = pd.DataFrame(GOOD | change)
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": ["town"], "notion": "mean_error"}
    with pytest.raises((ValueError, TypeError), match=message):
        audit(**names | call, data=engine(frame))


def test_what_needs_rows_says_so(people):
    """Sums don't tell how outcomes are spread over rows: they can't be dealt or drawn anew."""
    lazy = in_polars(people)
    names = {"sensitive_features": ["town"], "notion": "mean_error", "gamma": 0.1}
    report = audit("true", "whole", data=lazy, **names, n_permutations=19, confidence=0.9)
    assert report.p_value is None
    for reason in (report.permutation_test.reason, report.population.reason):
        assert "only their sums are at hand" in reason
        assert "collect" in reason
    with pytest.raises(ValueError, match=r"test_size can't part .* where only their sums"):
        audit("true", "whole", data=lazy, **names, test_size=0.2)
    held_out = audit("true", "whole", data=lazy, **names, holdout=lazy).held_out
    assert held_out.same_rows
    del names["gamma"]
    assert prove("true", "whole", data=lazy, **names, at_most=100.0).status == "proved"


def test_doubts_need_no_rows(people):
    lazy = pl.from_pandas(people).lazy().with_columns(days=pl.lit(3.0))
    names = {"sensitive_features": ["town"], "notion": "mean_outcome", "gamma": 0.1}
    codes = [doubt.code for doubt in audit(None, "days", data=lazy, **names).warnings]
    assert codes == ["constant_decisions"]
    own = lazy.with_columns(days=pl.when(pl.col("job") == "cook").then(5.0).otherwise(3.0))
    report = audit(None, "days", data=own, **names, control_features=["job"])
    assert "control_is_outcome" in [doubt.code for doubt in report.warnings]
