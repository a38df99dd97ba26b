"""Bad values × ways in: each is refused by name before any work, or read as what it is."""

import datetime
import json
import re
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import (
    FairnessNotion,
    MarginalParityClassifier,
    SubgroupParityClassifier,
    Watch,
    audit,
    audit_counts,
    audit_uncertain,
    bootstrap,
    compare,
    discrimination_surface,
    pareto_frontier,
    prove,
)
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.classes import AUDIT, BY_LABEL
from gerrymend.inputs.sample import Sample
from gerrymend.subgroups import Conjunctions, ExplicitGroups, LinearThresholds

N = 40
RNG = np.random.default_rng(0)
BIT = np.arange(N) % 2
LABEL = RNG.integers(0, 2, N)
DECIDED = np.where(BIT == 1, 1, LABEL)
X = RNG.standard_normal((N, 2))
BEYOND = 2**53


def masked(values, row=3):
    return np.ma.masked_array(values, mask=np.arange(N) == row)


def small(kind):
    return kind(LinearRegression(), max_iter=2, tol=None, random_state=0)


FITTED = small(SubgroupParityClassifier).fit(X, LABEL, sensitive_features={"a": BIT}).mixture_


def by_fit(kind):
    def way(a, y, d, w):
        small(kind).fit(X, y, sensitive_features={"a": a}, sample_weight=w)

    return way


def by_data(a, y, d, w):
    data = {"y": y, "d": d, "a": a} | ({} if w is None else {"w": w})
    audit("y", "d", sensitive_features="a", sample_weight=None if w is None else "w", data=data)


def by_surface(a, y, d, w):
    attributes = {"a": a, "b": X[:, 0]}
    discrimination_surface(y, d, sensitive_features=attributes, sample_weight=w, min_group_size=1)


def by_frontier(a, y, d, w):
    pareto_frontier(small(SubgroupParityClassifier), X, y, sensitive_features={"a": a},
                    sample_weight=w, gammas=[0.1])  # fmt: skip


def by_holdout(a, y, d, w):
    second = (y, d, {"a": a}) if w is None else (y, d, {"a": a}, w)
    audit(LABEL, DECIDED, sensitive_features={"a": BIT}, holdout=second)


WAYS = {
    "audit": lambda a, y, d, w: audit(y, d, sensitive_features={"a": a}, sample_weight=w),
    "prove": lambda a, y, d, w: prove(
        y, d, sensitive_features={"a": a}, sample_weight=w, at_most=0.1
    ),
    "bootstrap": lambda a, y, d, w: bootstrap(
        y, d, sensitive_features={"a": a}, sample_weight=w, n_resamples=2
    ),
    "data": by_data,
    "holdout": by_holdout,
    "surface": by_surface,
    "subgroup fit": by_fit(SubgroupParityClassifier),
    "marginal fit": by_fit(MarginalParityClassifier),
    "frontier": by_frontier,
    "derandomize": lambda a, y, d, w: FITTED.derandomize(
        X, y, sensitive_features={"a": a}, sample_weight=w, gamma=0.5
    ),
}
TRAINED = ("subgroup fit", "marginal fit", "frontier")
EVERY_WAY = pytest.mark.parametrize("way", WAYS)


class ReadError(Exception):
    """Raised in place of reading."""


@EVERY_WAY
@pytest.mark.parametrize("weight", [None, np.ones(N)], ids=["", "weighted"])
def test_every_way_in_is_the_one_reader(monkeypatch, way, weight):
    """It gets what the user passed, as it was passed, and no work is done before."""
    labels, decided, attribute = LABEL.copy(), DECIDED.copy(), BIT.copy()
    read = Sample.read
    given = {}

    def spy(labels, protected, weight=None, **more):
        if way == "holdout" and "first" not in given:
            given["first"] = read(labels, protected, weight, **more)
            return given["first"]
        given.update(more, labels=labels, protected=protected, weight=weight)
        raise ReadError

    monkeypatch.setattr(Sample, "read", spy)
    with pytest.raises(ReadError):
        WAYS[way](attribute, labels, decided, weight)
    assert given["labels"] is labels
    assert given["protected"]["a"] is attribute
    assert given["weight"] is weight
    if way not in TRAINED and way != "derandomize":
        assert given["decisions"] is decided
    assert ("features" in given) == (way in TRAINED)


ATTRIBUTES = {
    "int64 beyond 2^53": (BIT + BEYOND, "whole numbers .*9007199254740993"),
    "negative beyond": (-BIT - BEYOND, "whole numbers .*-9007199254740993"),
    "uint64 beyond": (BIT.astype(np.uint64) + np.uint64(2**63), "such as 9223372036854775809"),
    "Python ints": ([int(v) + 10**30 for v in BIT], "whole numbers"),
    "400 digits": ([int(v) + 10**400 for v in BIT], "whole numbers"),
    "polars": (pl.Series(BIT + BEYOND), "whole numbers"),
    "nullable": (pd.Series(BIT + BEYOND, dtype="Int64"), "whole numbers"),
    "Decimal beyond": ([Decimal(int(v) + BEYOND) for v in BIT], "can't tell apart"),
    "polars Decimal": (pl.Series([Decimal(int(v) + BEYOND) for v in BIT]), "can't tell apart"),
    "Fraction": ([1 + Fraction(int(v), 10**20) for v in BIT], "can't tell apart"),
    "long double": (1 + BIT * np.finfo(np.longdouble).eps, "can't tell apart"),
    "masked number": (masked(BIT), "missing values"),
    "complex": (BIT + 1j, "complex"),
    "complex objects": ([complex(v) for v in BIT], "complex"),
    "dates": (np.array(["2020", "2021"], "M8[D]")[BIT], "datetime64"),
    "date objects": ([datetime.date(2020 + v, 1, 1) for v in BIT.tolist()], "date"),
    "bytes": (np.array([b"x", b"y"])[BIT], "bytes"),
    "lists": (pd.Series([[1]] * N), "list"),
    "dicts": (pd.Series([{1: 2}] * N), "dict"),
    "tuples": (pd.Series([(1, 2)] * N), "tuple"),
    "sets": (pd.Series([{1}] * N), "set"),
    "a list among numbers": (pd.Series([[1]] + [1] * (N - 1)), "list"),
    "mixed": ([1, "a"] * (N // 2), "mixes values of types int, str"),
    "two dimensions": ([[1, 2]] * N, "one dimension"),
    "signalling NaN": ([Decimal("sNaN")] + [1] * (N - 1), "missing values"),
    "infinite category": (pd.Categorical(np.where(BIT == 1, np.inf, 0.0)), "infinite"),
    "huge": (BIT * 1e200, "overflow"),
    # A search over linear thresholds took these for a constant, and found nothing.
    "hidden by rounding": (2 * BIT + 10**12, "varies too little .* Subtract"),
    "hidden at 2^53": (2 * BIT + BEYOND, "varies too little .* Subtract"),
    "decimal comma": (
        np.array(["34,5", "51"])[BIT],
        r"numbers that were read as text.*decimal=','",
    ),
    "one n/a among numbers": (["n/a", *map(str, range(1, N))], "na_values='n/a' read as missing"),
    "missing number": (pd.Series([None] + [1.5] * (N - 1)), "is numeric and has missing"),
}


@pytest.mark.parametrize("subgroups", ["linear", "marginals", "conjunctions", "trees"])
def test_an_offset_changes_nothing(subgroups):
    """The mean of 10^10 and 10^10 + 1 parts them, however many rows there are."""
    rows = {"y_true": LABEL, "y_pred": DECIDED, "min_group_size": 1, "subgroups": subgroups}
    plain, moved = (
        audit(**rows, sensitive_features={"a": BIT + offset, "b": X[:, 0]})
        for offset in (0, 10**10)
    )
    assert moved.unfairness == plain.unfairness


LABELS = {
    "masked": (masked(LABEL), "has 1 missing value"),
    "bytes": (np.array([b"x", b"y"])[LABEL], "labels of type bytes"),
    "dates": (np.array(["2020", "2021"], "M8[D]")[LABEL], "labels of type datetime64"),
    "complex": (LABEL + 0j, "labels of type complex"),
    "dicts": ([{1: 2}] * N, "labels of type dict"),
    "infinite": (np.where(LABEL == 1, np.inf, 0.0), "infinite|no label"),
    "ragged": ([[1, 2]] * (N - 1) + [[1]], "differ in length"),
    "mapping": ({"y": 1}, "must be a Series, an array or a list; got dict"),
    "same names": (pd.DataFrame(np.c_[LABEL, LABEL], columns=["y", "y"]), "one column; got 2"),
    "polars lists": (pl.Series([[1]] * N), "one value a row"),
    "polars structs": (pl.Series([{"f": 1}] * N), "one value a row"),
    "one": (np.full(N, 7), "only one class, 7"),
    "three": (np.arange(N) % 3, "has 3 classes, 0, 1, 2. Merge them into two"),
    "None": ([None] + [0, 1] * (N // 2 - 1) + [1], "has 1 missing"),
    "NaN": ([float("nan")] + [0, 1] * (N // 2 - 1) + [1], "has 1 missing"),
    "pandas' NA": (np.array([pd.NA] + [0, 1] * (N // 2 - 1) + [1], dtype=object), "has 1 missing"),
    "mixed": (["a", 1] * (N // 2), "mixes labels of types int, str"),
    "two columns": (np.zeros((N, 2)), "must have one dimension"),
    "empty": ([], "is empty"),
    "short": ([0, 1], "has 2"),
}


WEIGHTS = {
    "masked": (masked(np.ones(N)), "NaN"),
    "complex": (np.ones(N) + 1j, "must be numbers; got values of type complex"),
    "dates": (np.array(["2020-01-01"] * N, "M8[s]"), "must be numbers"),
    "durations": (np.array([5] * N, "m8[s]"), "must be numbers"),
    "text": (["1"] * N, "must be numbers; got text"),
    "text array": (np.array(["1"] * N), "must be numbers"),
    "records": (np.array([(1.0,)] * N, dtype=[("f", "f8")]), "must be numbers"),
    "ragged": ([[1, 2]] + [1] * (N - 1), "differ in length"),
    "missing": ([None] + [1.0] * (N - 1), "NaN"),
    "infinite": ([np.inf] + [1.0] * (N - 1), "NaN or infinite"),
    "negative": ([-1] + [1] * (N - 1), "has negative values .the smallest is -1"),
    "zero": (np.zeros(N), "is zero in every row"),
    "short": ([1, 1], f"has 2 values for {N} rows"),
}


FAULTS = {
    f"{part}: {name}": (part, *fault)
    for part, faults in {"a": ATTRIBUTES, "y": LABELS, "w": WEIGHTS}.items()
    for name, fault in faults.items()
}


def by_counts(a, y, d, w):
    audit_counts({"a": a, "label": y, "prediction": d, "count": [1] * N}, sensitive_features="a")


def by_comparison(a, y, d, w):
    """The new rows of a comparison; the old side is never looked at."""
    compare(DECIDED, y, d, sensitive_features={"a": a}, sample_weight=w, n_permutations=0)


def by_watch(a, y, d, w):
    Watch(subgroups="marginals").update(y, d, sensitive_features={"a": a})


def by_probabilities(a, y, d, w):
    """Rows of which an attribute is known as probabilities, too."""
    half = np.full(N, 0.5)
    audit_uncertain(
        y, d, sensitive_features={"a": a}, sample_weight=w,
        attribute_probabilities={"race": {"x": half, "y": half}},
    )  # fmt: skip


# Each reader, and its names of labels and weights; counts have no weights, and lines are not rows.
READERS = {
    "audit": (
        lambda a, y, d, w: Sample.read(y, {"a": a}, w, decisions=d, decided=BY_LABEL, names=AUDIT),
        {"a": "sensitive_features", "y": "y_true", "w": "sample_weight"},
    ),
    "fit": (
        lambda a, y, d, w: Sample.read(y, {"a": a}, w, features=X),
        {"a": "sensitive_features", "y": "y", "w": "sample_weight"},
    ),
    "compare": (
        by_comparison,
        {"a": "sensitive_features", "y": "y_true", "w": "sample_weight"},
    ),
    "uncertain": (
        by_probabilities,
        {"a": "sensitive_features", "y": "y_true", "w": "sample_weight"},
    ),
    "watch": (by_watch, {"a": "sensitive_features", "y": "y_true"}),
    "counts": (by_counts, {"a": "sensitive_features", "y": "label"}),
}


CASES = {
    f"{reader}, {name}": (reader, *fault)
    for reader, (_, names) in READERS.items()
    for name, fault in FAULTS.items()
    if fault[0] in names
    and (reader in ("audit", "fit", "uncertain") or name != "y: three")  # which are audited
}


@pytest.mark.parametrize(("reader", "part", "values", "message"), CASES.values(), ids=CASES)
def test_a_fault_is_refused_by_name(reader, part, values, message):
    read, names = READERS[reader]
    rows = {"a": BIT, "y": LABEL, "d": DECIDED, "w": None} | {part: values}
    with pytest.raises(ArgumentError) as told:
        read(**rows)
    assert told.value.argument == names[part]
    column = "Column 'a' of " if part == "a" else ""
    assert re.search(rf"\b{column}{names[part]} (.*\b)?({message})", str(told.value))


NO_NUMBERS = {
    "text": ["0.5"] * N,
    "text array": np.array(["0.5"] * N),
    "complex": DECIDED + 1j,
    "dates": np.array(["2020-01-01"] * N, "M8[s]"),
    "date Series": pd.Series(pd.date_range("2020", periods=N)),
}


@pytest.mark.parametrize("how", [{"threshold": 0.5}, {"decision_probabilities": True}])
@pytest.mark.parametrize("values", NO_NUMBERS.values(), ids=NO_NUMBERS)
@pytest.mark.parametrize("call", [audit, bootstrap])
def test_scores_and_probabilities_are_numbers(call, values, how):
    with pytest.raises(TypeError, match="y_pred must be numbers where"):
        call(LABEL, values, sensitive_features={"a": BIT}, **how)


def test_whole_scores_are_cut_exactly_by_every_engine():
    """As float64 both scores are 2^53 + 4, and both would be decided 1."""
    scores = (BEYOND + 3 + BIT).tolist()
    rows = pl.DataFrame({"y": LABEL, "s": scores, "a": BIT})
    call = {"sensitive_features": "a", "threshold": float(BEYOND + 4), "min_group_size": 1}
    expected = audit(LABEL, BIT, sensitive_features={"a": BIT}, min_group_size=1)
    assert expected.unfairness > 0
    for data in (rows, rows.lazy(), duckdb.sql("SELECT * FROM rows"), rows.to_dict()):
        assert audit("y", "s", data=data, **call).unfairness == expected.unfairness


EXACT = {
    "Decimal": [Decimal(int(v)) for v in BIT],
    "Fraction": [Fraction(int(v), 3) for v in BIT],
    "polars Decimal": pl.Series([Decimal(int(v)) for v in BIT]),
    "nothing masked": np.ma.masked_array(BIT, mask=False),
    "exact beyond 2^53": BIT * (2 + BEYOND),
    "categories beyond 2^53": pd.Categorical((BIT + BEYOND).tolist()),
    "objects": np.array([np.bool_(v) for v in BIT], dtype=object),
    "intervals": pd.cut(pd.Series(BIT), [-1, 0, 1]),
    "interval objects": list(pd.cut(pd.Series(BIT), [-1, 0, 1])),
}


@pytest.mark.parametrize("values", EXACT.values(), ids=EXACT)
def test_what_can_be_read_is_read_as_what_it_is(values):
    expected = audit(LABEL, DECIDED, sensitive_features={"a": BIT}, min_group_size=1)
    report = audit(LABEL, DECIDED, sensitive_features={"a": values}, min_group_size=1)
    assert report.unfairness == expected.unfairness > 0
    assert json.loads(report.to_json())["unfairness"] == expected.unfairness
    np.testing.assert_array_equal(
        report.worst.contains({"a": values}), expected.worst.contains({"a": BIT})
    )


def test_an_interval_is_told_and_named_as_pandas_writes_it():
    ages = pd.cut(pd.Series(BIT), [-1, 0, 1])
    report = audit(LABEL, DECIDED, sensitive_features={"age": ages}, min_group_size=1,
                   subgroups=ExplicitGroups({"old": {"age": pd.Interval(0, 1)}}))  # fmt: skip
    assert report.worst.describe() == "old (age = (0, 1])"
    assert report.worst.size == BIT.sum()


def test_a_masked_category_is_missing():
    race = np.ma.masked_array(np.array(["x", "y"])[BIT], mask=BIT == 1)
    report = audit(LABEL, DECIDED, sensitive_features={"race": race}, min_group_size=1)
    assert report.worst.size in (BIT.sum(), N - BIT.sum())


@pytest.mark.parametrize("kind", [Decimal, Fraction])
def test_labels_that_are_exact_numbers_are_numbers(kind):
    labels, decided = ([kind(int(v)) for v in values] for values in (LABEL, DECIDED))
    report = audit(labels, decided, sensitive_features={"a": BIT})
    assert json.loads(report.to_json())["labels"] == [0, 1]
    assert report.unfairness == audit(LABEL, DECIDED, sensitive_features={"a": BIT}).unfairness


LAZY = {
    "int64": pl.Series(BIT + BEYOND),
    "uint64": pl.Series(BIT.astype(np.uint64) + np.uint64(2**63)),
    "Decimal": pl.Series([Decimal(int(v) + BEYOND) for v in BIT]),
}


def by_engine(engine, rows):
    if engine == "counts":
        return audit_counts(rows, sensitive_features="a")
    data = rows.lazy() if engine == "polars" else duckdb.sql("SELECT * FROM rows")
    return audit("label", "prediction", sensitive_features="a", data=data)


@pytest.mark.parametrize("values", LAZY.values(), ids=LAZY)
@pytest.mark.parametrize("engine", ["polars", "duckdb", "counts"])
def test_engines_merge_nothing(engine, values):
    rows = pl.DataFrame({"label": LABEL, "prediction": DECIDED, "a": values, "count": [1] * N})
    with pytest.raises(ValueError, match=r"Column 'a' of sensitive_features has .*float64"):
        by_engine(engine, rows)


FEATURES = {
    "masked": np.ma.masked_array(X, mask=X[0, 0] == X),
    "int64 beyond": np.c_[BIT + BEYOND, BIT],
    "frame beyond": pd.DataFrame({"a": BIT + BEYOND, "b": BIT}),
    "lists beyond": [[BEYOND + 1, 0.5]] * N,
    "text": X.astype(str),
    "text objects": X.astype(str).astype(object),
    "text frame": pd.DataFrame(X).astype(str),
    "dates": X.astype("M8[s]"),
    "date frame": pd.DataFrame({"when": pd.date_range("2020", periods=N), "x": X[:, 0]}),
    "lists in a frame": pd.DataFrame({"x": [[1]] * N}),
}


@pytest.mark.parametrize("kind", [SubgroupParityClassifier, MarginalParityClassifier])
@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_features_are_refused_by_name(kind, features):
    with pytest.raises((TypeError, ValueError), match=r"\bX\b"):
        small(kind).fit(features, LABEL, sensitive_features={"a": BIT})


@pytest.mark.parametrize(("features", "message"), [
    (None, "X must be a frame"), ([[1, 2]] * (N - 1) + [[1]], "X has rows that differ"),
    (np.ma.masked_array(X, mask=X[0, 0] == X), "X has 1 masked"),
])  # fmt: skip
def test_a_frontier_needs_features(features, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pareto_frontier(small(SubgroupParityClassifier), features, LABEL,
                        sensitive_features={"a": BIT}, gammas=[0.1])  # fmt: skip


RAGGED = [[1, 2]] * (N - 1) + [[1]]
SETTINGS = [
    (audit, {"min_group_size": 10**30}, "min_group_size must be at most"),
    (audit, {"min_group_size": 10**400}, "min_group_size must be at most"),
    (audit, {"top": 2**64}, "top must be at most"),
    (audit, {"random_state": 2**53 + 1}, "random_state must be at most"),
    (audit, {"gamma": 10**400}, "gamma must be a number"),
    (audit, {"gamma": np.complex128(1)}, "gamma must be a number"),
    (audit, {"budget": np.complex128(1)}, "budget must be a number"),
    (audit, {"threshold": np.complex128(1)}, "threshold must be a number that is finite"),
    (audit, {"decision_probabilities": "no"}, "decision_probabilities must be True or False"),
    (audit, {"pos_label": np.array([0, 1])}, "pos_label=.* is no label"),
    (audit, {"on_draw": 5}, "on_draw must be a function, called as on_draw.done, of., or None"),
    (audit, {"sensitive_features": RAGGED}, "sensitive_features has rows that differ in length"),
    (audit, {"subgroups": Conjunctions(bins=2**50)}, "bins must be at most 100,000"),
    (audit, {"subgroups": LinearThresholds(intercept=np.int8(3))}, "intercept must be True"),
    (bootstrap, {"on_draw": "x"}, "on_draw must be a function"),
    (bootstrap, {"n_resamples": 10**30}, "n_resamples must be at most"),
    (discrimination_surface, {"min_group_size": 10**30}, "min_group_size must be at most"),
    (discrimination_surface, {"thetas": ["1", "2"]}, "thetas must be numbers"),
    (discrimination_surface, {"thetas": [[1], [2, 3]]}, "thetas can't be read"),
    (discrimination_surface, {"thetas": 5}, "thetas must be a Series, an array or a list"),
    (discrimination_surface, {"attributes": ["a", ()]}, r"attributes has \(\)"),
]


@pytest.mark.parametrize(("call", "change", "message"), SETTINGS)
def test_settings_are_refused_by_name(call, change, message):
    arguments = {"sensitive_features": {"a": BIT, "b": X[:, 0]}} | change
    with pytest.raises((TypeError, ValueError), match=message):
        call(LABEL, DECIDED, **arguments)


@pytest.mark.parametrize("change", [{"y": 1, 1: 2, "1": 3}])
def test_names_that_are_the_same_as_text_are_told(change):
    data = dict.fromkeys(change, BIT)
    with pytest.raises(ValueError, match="data has more than one column named '1'"):
        audit("y", "y", sensitive_features="1", data=data)


@pytest.mark.parametrize("subgroups", ["linear", "conjunctions", "value_sets", "trees"])
def test_no_subgroup_exceeds_what_none_can(subgroups):
    rows = {"sensitive_features": {"a": BIT}, "subgroups": subgroups}
    assert prove(LABEL, DECIDED, at_most=1e308, **rows).status == "proved"


NOTIONS = [
    ({"b": (float("nan"), 1)}, "b of a FairnessNotion holds finite numbers"),
    ({"a": (float("inf"), 1)}, "a of a FairnessNotion holds finite numbers"),
    ({"b": (1e308, -1e308)}, "b of a FairnessNotion holds finite numbers, of at most"),
    ({"b": ("1", "1")}, "b of a FairnessNotion holds finite numbers"),
    ({"b": (1j, 1)}, "b of a FairnessNotion holds finite numbers"),
    ({"a": None}, "a of a FairnessNotion has a value for label 0"),
    ({"a": "ab"}, "a of a FairnessNotion has a value for label 0"),
    ({"event": 5}, "event of a FairnessNotion has a value for label 0"),
    ({"event": ("a", "b")}, "event of a FairnessNotion holds True or False"),
    ({"event": (1e200, 0)}, "event of a FairnessNotion holds True or False"),
    ({"name": 5}, "name of a FairnessNotion must be text"),
]


@pytest.mark.parametrize(("change", "message"), NOTIONS)
def test_a_notion_is_of_finite_numbers(change, message):
    parts = {"name": "mine", "event": (True, False), "a": (0, 0), "b": (1, 1)} | change
    with pytest.raises((TypeError, ValueError), match=message):
        FairnessNotion(**parts)


@pytest.mark.parametrize("pair", [[0, 1], np.array([0, 1]), (Decimal(0), Fraction(1)),
                                  (np.float32(0), np.int8(1))])  # fmt: skip
def test_a_notion_takes_any_pair_of_numbers(pair):
    notion = FairnessNotion("mine", event=[True, True], a=(0, 0), b=pair)
    report = audit(LABEL, DECIDED, sensitive_features={"a": BIT}, notion=[notion])
    plain = FairnessNotion("mine", event=(True, True), a=(0, 0), b=(0, 1))
    expected = audit(LABEL, DECIDED, sensitive_features={"a": BIT}, notion=plain)
    assert json.loads(report.to_json())["notions"][0]["b"] == [0.0, 1.0]
    assert report.unfairness == expected.unfairness


GROUPS = [
    ({"a": (float("nan"), 1)}, "is no interval"),
    ({"a": (1, 0)}, "is no interval"),
    ({"a": (BEYOND + 1, None)}, "is no interval"),
    ({"a": (True, None)}, "a pair is an interval"),
    ({"a": "x"}, "'x', and the column holds numbers"),
    ({"a": float("nan")}, "nan, and the column holds numbers"),
    ({"a": [[1]]}, "and the column holds numbers"),
    ({"a": {"b": 1}}, "and the column holds numbers"),
    ({"a": np.array([])}, "and the column holds numbers"),
    ({"a": 10**400}, "and the column holds numbers"),
    ({"a": BEYOND + 1}, "and the column holds numbers"),
    ({"r": 1}, "1, and the column holds categories of type str"),
    ({"r": b"x"}, "b'x', and the column holds categories of type str"),
    ({3: 1}, "attribute 3, which is none"),
]


@pytest.mark.parametrize(("conditions", "message"), GROUPS)
def test_explicit_groups_are_refused_by_name(conditions, message):
    protected = {"a": BIT, "r": np.array(["x", "y"])[BIT]}
    with pytest.raises((TypeError, ValueError), match=f"The explicit group 'mine' .*{message}"):
        audit(LABEL, DECIDED, sensitive_features=protected,
              subgroups=ExplicitGroups({"mine": conditions}))  # fmt: skip


@pytest.mark.parametrize("wanted", [(np.int64(1), None), (Decimal(1), float("inf")),
                                    Fraction(1), np.int8(1), [Decimal(1)]])  # fmt: skip
def test_conditions_take_any_number(wanted):
    report = audit(LABEL, DECIDED, sensitive_features={"a": BIT}, min_group_size=1,
                   subgroups=ExplicitGroups({"mine": {"a": wanted}}))  # fmt: skip
    assert report.worst.size == BIT.sum()
    assert json.loads(report.to_json())["class"]["parameters"]["groups"]["mine"]["a"]


COUNTS = [
    (["5"] * 4, "count must be whole numbers; got text"),
    (np.ones(4) + 1j, "count must be whole numbers; got values of type complex"),
    ([2**53 - 1] * 4, "count adds up to"),
    ([2**53 + 1, 1, 1, 1], "count must be whole numbers of rows"),
]


@pytest.mark.parametrize(("counts", "message"), COUNTS)
def test_counts_are_refused_by_name(counts, message):
    table = {"a": list("xyxy"), "label": [0, 1, 0, 1], "prediction": [0, 1, 1, 0]}
    with pytest.raises((TypeError, ValueError), match=message):
        audit_counts(table | {"count": counts}, sensitive_features="a")
