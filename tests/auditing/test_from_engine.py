"""Lazy frames: the same tally and the same report as from rows, and only sums that travel."""

import itertools
import os
import shutil
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gerrymend import audit
from gerrymend._numeric.sums import modest_scale
from gerrymend.auditing.from_engine import tally_of_lazy
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.inputs.sample import Decided
from tests.marks import slow

# PySpark's own note, where it is installed.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

PROTECTED = ["race", "sex", "age", "veteran"]


def in_polars(frame):
    return pl.from_pandas(frame).lazy()


def in_duckdb(frame):
    return pytest.importorskip("duckdb").from_arrow(pa.Table.from_pandas(frame))


def in_dask(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def has_java():
    """Look where PySpark does: in JAVA_HOME if it is set, else on the path."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java") is not None


def in_pyspark(frame):
    sql = pytest.importorskip("pyspark.sql")
    if not has_java():
        pytest.skip("PySpark is here, and Java, which it runs on, is not")
    spark = sql.SparkSession.builder.master("local[1]").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    table = frame.astype(object).where(frame.notna(), None)
    return spark.createDataFrame(table.to_dict("records"))


ENGINES = [in_polars, in_duckdb, in_dask, in_pyspark]
engines = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    n = 400
    return pd.DataFrame(
        {
            "race": rng.choice(["blue", "green", None], n),
            "sex": pd.Categorical(rng.choice(["F", "M"], n), categories=["M", "unused", "F"]),
            "age": rng.integers(18, 30, n),
            "veteran": rng.random(n) < 0.3,
            "y": rng.integers(0, 2, n),
            "answer": rng.choice(["no", "yes"], n),
            "guess": rng.choice(["no", "yes"], n),
            "decision": rng.integers(0, 2, n),
            "score": rng.normal(size=n),
            "p": rng.choice([0.0, 0.1, 1 / 3, 1.0], n),
            "whole": rng.integers(0, 4, n),
            "weight": rng.exponential(size=n) * 10.0 ** rng.integers(-6, 6, n),
        }
    )


WAYS = {
    "decisions": {"y_pred": "decision"},
    "named labels": {"y_true": "answer", "y_pred": "guess"},
    "positive label": {"y_true": "answer", "y_pred": "guess", "pos_label": "no"},
    "scores": {"y_pred": "score", "threshold": 0.2},
    "probabilities": {"y_pred": "p", "decision_probabilities": True},
    "whole weights": {"y_pred": "decision", "sample_weight": "whole"},
    "weights": {"y_pred": "decision", "sample_weight": "weight"},
    "weights and scores": {"y_pred": "score", "threshold": -0.5, "sample_weight": "weight"},
    "weights and probabilities": {
        "y_pred": "p",
        "decision_probabilities": True,
        "sample_weight": "weight",
    },
    "the label is an attribute": {"y_pred": "y", "sensitive_features": ["y", "sex"]},
    "one name": {"y_pred": "decision", "sensitive_features": "race"},
}


def arrays(frame, call):
    """The call with arrays in the place of names."""
    names = call["sensitive_features"]
    names = [names] if isinstance(names, str) else names
    columns = {
        name: frame[call[name]].to_numpy()
        for name in ("y_true", "y_pred", "sample_weight")
        if call.get(name) is not None
    }
    return call | columns | {"sensitive_features": frame[names]}


def with_decided(call):
    """The call with what says how decisions are read in one value."""
    decided = {name: call[name] for name in Decided._fields if name in call}
    return {name: value for name, value in call.items() if name not in decided} | {
        "decided": Decided(**decided)
    }


def tallies(lazy, frame, call):
    """By the engine, and by the reader of rows."""
    here = tally_of_rows(**with_decided(arrays(frame, call)))
    return tally_of_lazy(lazy, **with_decided(call)), here


# Dask takes a second for what the others do at once: one of each kind of query.
KINDS_OF_QUERY = ("decisions", "named labels", "scores", "weights and probabilities")


@pytest.mark.parametrize(
    ("engine", "way"),
    [
        slow(engine, way) if engine is in_dask and way not in KINDS_OF_QUERY else (engine, way)
        for engine, way in itertools.product(ENGINES, WAYS)
    ],
)
def test_the_same_tally(people, engine, way):
    call = {"y_true": "y", "sensitive_features": PROTECTED} | WAYS[way]
    assert_same(*tallies(engine(people), people, call))


REPORTED = WAYS["weights and probabilities"] | {
    "y_true": "y",
    "sensitive_features": ["race", "age"],
    "notion": ("equalized_odds", "error_rate"),
}


@pytest.fixture(scope="module")
def of_rows():
    """Reports of rows, by class of subgroups: made by the first test that compares with them."""
    return {}


@engines
@pytest.mark.parametrize("subgroups", ["linear", "marginals"])
def test_the_same_report(people, engine, subgroups, of_rows):
    """One is enough: a report is made from the tally and nothing else."""
    found = audit(**REPORTED, subgroups=subgroups, data=engine(people)).to_dict()
    if subgroups not in of_rows:
        of_rows[subgroups] = audit(**arrays(people, REPORTED), subgroups=subgroups).to_dict()
    assert found == of_rows[subgroups]


@pytest.mark.parametrize("container", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, dict])
def test_eager_frames_are_data_too(people, container):
    call = {"y_true": "y", "sensitive_features": PROTECTED, "subgroups": "marginals"}
    call |= WAYS["weights"]
    report = audit(**call, data=container(people))
    assert report.to_dict() == audit(**arrays(people, call)).to_dict()


def assert_same(found, expected):
    """Bit for bit, sums of fractions too."""
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert (one.name, one.categories) == (other.name, other.categories)
        np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(found.n_rows, expected.n_rows)
    np.testing.assert_array_equal(found.weight, expected.weight)
    np.testing.assert_array_equal(found.positive, expected.positive)
    assert found.is_count == expected.is_count


numbers = st.one_of(
    st.floats(0, 1), st.floats(1e-9, 1e9), st.sampled_from([0.0, -0.0, 0.1, 1.0, 1e15])
)
rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "", None]),
        st.sampled_from([-1.5, -0.0, 0.0, 0.1, 3.0]),
        st.booleans(),
        st.floats(0, 1),
        numbers,
    ),
    min_size=2,
    max_size=30,
).filter(lambda rows: len({row[2] for row in rows}) == 2 and any(row[4] for row in rows))


@pytest.mark.parametrize("engine", [in_polars, in_duckdb])
@settings(max_examples=settings.default.max_examples // 2)
@given(rows=rows)
@example(
    rows=[("a", 0.1, False, 0.0, 0.0), ("a", 0.1, True, 0.8532813215641646, 2.225073858507e-311)]
)
@example(rows=[("a", 0.1, False, 0.0, 1e-320), ("a", 0.1, True, 1e-9, 5e-324)])
def test_no_order_of_adding_shows(engine, rows):
    frame = pd.DataFrame(rows, columns=["race", "income", "y", "p", "weight"])
    call = {"y_true": "y", "y_pred": "p", "decision_probabilities": True, "sample_weight": "weight",
            "sensitive_features": ["race", "income"]}  # fmt: skip
    found, expected = tallies(engine(frame), frame, call)
    assert_same(found, expected)
    assert_sums(found, rows)


def assert_sums(tally, rows):
    """Against a count and exact sums of the rows, one by one."""
    # Weights that are all tiny or huge are scaled by a power of two, which changes no digit.
    scale = modest_scale(max(row[4] for row in rows))
    rows = [(*row[:4], row[4] * scale) for row in rows]
    count, weight, positive = Counter(), Counter(), Counter()
    for race, income, y, p, w in rows:
        count[race, income, y] += 1
        weight[race, income, y] += Fraction(w)
        positive[race, income, y] += Fraction(w * p)
    race, income = tally.columns
    bound = 2.0**-51 * len(rows) ** 2 * max(row[4] for row in rows)
    for cell in range(len(race.values)):
        for y in (0, 1):
            key = race.categories[int(race.values[cell])], income.values[cell], bool(y)
            assert tally.n_rows[y, cell] == count.pop(key, 0)
            assert abs(Fraction(tally.weight[y, cell]) - weight[key]) <= bound
            assert abs(Fraction(tally.positive[y, cell]) - positive[key]) <= bound
    assert not count


@engines
def test_two_queries_and_only_sums_travel(people, engine, collected):
    lazy = engine(pd.concat([people] * 5, ignore_index=True))
    # The other ways differ in names or in types.
    for way in KINDS_OF_QUERY:
        collected.clear()
        call = {"y_true": "y"} | WAYS[way] | {"sensitive_features": ["race", "sex"]}
        tally_of_lazy(lazy, **with_decided(call))
        assert len(collected) == 2
        assert max(map(len, collected)) <= 3 * 2 * 2 * 2  # race, sex, label, decision


def test_types_of_a_database():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("""
        SELECT CASE WHEN i % 3 = 0 THEN NULL ELSE ['x', 'y'][1 + i % 2] END AS letter,
               (i % 4)::DECIMAL(9, 2) / 4 AS quarter, (i % 2)::HUGEINT AS big,
               (['low', 'high'][1 + i % 2])::ENUM('high', 'low') AS level,
               (i % 2)::DECIMAL(3, 1) AS y, (i % 5 = 0)::INT::DECIMAL(3, 1) AS d,
               (1 + i % 2)::DECIMAL(5, 1) / 2 AS w
        FROM range(60) t(i)""")
    i = np.arange(60)
    names = ["letter", "quarter", "big", "level"]
    found = tally_of_lazy(
        relation, y_true="y", y_pred="d", sensitive_features=names, sample_weight="w"
    )
    letter = np.where(i % 3 == 0, None, np.array(["x", "y"])[i % 2])
    level = np.array(["low", "high"])[i % 2]
    expected = tally_of_rows(
        i % 2,
        (i % 5 == 0).astype(int),
        {"letter": letter, "quarter": i % 4 / 4, "big": i % 2, "level": level},
        (1 + i % 2) / 2,
    )
    assert_same(found, expected)


def test_types_of_polars():
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["b", "a", None, "b"] * 5, dtype=pl.Enum(["c", "b", "a"])),
            "cat": pl.Series(["b", "a", "a", "b"] * 5, dtype=pl.Categorical),
            "nothing": [None] * 20,
            "small": pl.Series([1, 2, 3, 3] * 5, dtype=pl.UInt8),
            "y": [True, False, False, True] * 5,
            "p": [1, 0, 1, 1] * 5,
        }
    )
    names = ["enum", "cat", "nothing", "small"]
    found = tally_of_lazy(frame.lazy(), y_true="y", y_pred="p", sensitive_features=names)
    assert_same(found, tally_of_rows(frame["y"], frame["p"], frame[names]))


def test_names_of_columns_are_free():
    """Also those that the query itself uses."""
    frame = pd.DataFrame(
        {
            "n": ["a", "b"] * 15,
            "attribute_0": [1, 2, 3] * 10,
            "weight": [0, 1, 1] * 10,
            "decision": [1, 0, 1, 0, 0] * 6,
        }
    )
    call = {"y_true": "weight", "y_pred": "decision", "sensitive_features": ["attribute_0", "n"]}
    assert_same(*tallies(in_polars(frame), frame, call))


def with_gap(values, dtype=None):
    return pd.Series([None, *values[1:]], dtype=dtype)


N = 24
GOOD = {
    "a": ["u", "v", "w"] * 8,
    "age": [20, 30, 40, 50] * 6,
    "y": [0, 1] * 12,
    "d": [0, 1, 1] * 8,
    "p": [0.0, 0.5, 1.0] * 8,
    "w": [1.0, 2.0] * 12,
}
CUT = {"y_pred": "p", "threshold": 0.5}
MIXED = {"y_pred": "p", "decision_probabilities": True}
WEIGHED = {"sample_weight": "w"}
BAD = [
    ({"y": [0, 1, 2] * 8, "d": [0, 1, 3] * 8}, {}, "y_pred has values that are no label: 3"),
    ({"y": [*range(24)], "d": [*range(24)]}, {}, "y_true has 24 classes in 24 rows"),
    ({"y": [i / N for i in range(N)]}, {}, "y_true has 24 different numbers, which are no labels"),
    ({"y": ["a", "b", "c"] * 8}, CUT, "y_true has 3 classes"),
    ({"y": [1] * N, "d": [1] * N}, {}, "y_true has only one class, 1"),
    ({"y": [1] * N}, CUT, "y_true has only one class, 1"),
    ({"y": with_gap(GOOD["y"], "float")}, {}, "y_true has 1 missing value"),
    ({"y": with_gap(["no", "yes"] * 12), "d": ["no", "yes", "yes"] * 8}, {}, "y_true has 1 miss"),
    ({"d": with_gap(GOOD["d"], "float")}, {}, "y_pred has 1 missing value"),
    ({"p": with_gap(GOOD["p"])}, CUT, "y_pred has 1 missing value"),
    ({"p": with_gap(GOOD["p"])}, MIXED, "y_pred has 1 missing value"),
    ({"d": [0, 1, 2] * 8}, {}, r"y_pred has values that are no label: 2 \(labels: 0, 1\)"),
    ({"d": GOOD["p"]}, {}, "y_pred has values that are no label: 0.5"),
    ({"d": ["0", "1"] * 12}, {}, "y_pred has values that are no label: '0', '1'"),
    ({"p": [-0.5, 0.5, 1.5] * 8}, MIXED, r"y_pred ranges from -0.5 to 1.5.*\[0, 1\]"),
    ({"p": ["x"] * N}, CUT, "y_pred must be numbers where threshold is given"),
    ({"p": ["x"] * N}, MIXED, "y_pred must be numbers where decision_probabilities=True"),
    ({}, CUT | {"threshold": float("nan")}, "threshold must be a number"),
    ({}, CUT | MIXED, "threshold and decision_probabilities exclude each other"),
    ({}, {"pos_label": 2}, "pos_label=2 is no label of y_true"),
    ({"w": [-1.0, 2.0] * 12}, WEIGHED, "negative values .the smallest is -1"),
    ({"w": [0.0] * N}, WEIGHED, "sample_weight is zero in every row"),
    ({"w": with_gap(GOOD["w"])}, WEIGHED, "sample_weight has NaN"),
    ({"w": [float("inf"), 1.0] * 12}, WEIGHED, "sample_weight has NaN or infinite"),
    ({"w": ["x"] * N}, WEIGHED, "sample_weight must be numbers"),
    ({"age": with_gap(GOOD["age"], "float")}, {}, "Column 'age' of sensitive_features is numeric"),
    ({"age": [float("inf"), 1.0] * 12}, {}, "Column 'age' of sensitive_features has infinite"),
    ({"a": pd.to_datetime(["2020-01-01"] * N)}, {}, "Column 'a' of sensitive_features is of type"),
    ({name: [] for name in GOOD}, {}, "is empty: it has no rows"),
]


@pytest.mark.parametrize("engine", [in_polars, in_duckdb, in_dask])
@pytest.mark.parametrize(("change", "call", "message"), BAD)
def test_the_same_errors_as_from_rows(engine, change, call, message):
    frame = pd.DataFrame(GOOD | change)
    call = {"y_true": "y", "y_pred": "d", "sensitive_features": ["a", "age"]} | call
    for arguments in (arrays(frame, call), call | {"data": engine(frame)}):
        with pytest.raises((ValueError, TypeError), match=message):
            audit(**arguments)


@engines
def test_more_values_than_are_collected(engine):
    n = 1500
    frame = pd.DataFrame({"a": ["u", "v"] * (n // 2), "y": [0, 1] * (n // 2), "x": np.arange(n)})
    frame["score"] = frame["x"] / n
    lazy = engine(frame)
    with pytest.raises(ValueError, match=r"y_pred has values that are no label.*threshold=0.5"):
        audit("y", "score", sensitive_features="a", data=lazy)
    with pytest.raises(ValueError, match="y_true has at least 1000 classes"):
        audit("x", "y", sensitive_features="a", data=lazy)


@pytest.mark.parametrize("engine", [in_polars, in_duckdb, in_dask, pd.DataFrame])
def test_columns_that_are_not_there(engine):
    data = engine(pd.DataFrame(GOOD))

    def refused(message, kind=ValueError, **change):
        call = {"y_true": "y", "y_pred": "d", "sensitive_features": ["a", "age"]} | change
        with pytest.raises(kind, match=message):
            audit(**call, data=data)

    refused(r"sensitive_features='agee' is no column of data \(did you mean 'age'\?\)\. It has: a,",
            sensitive_features=["a", "agee"])  # fmt: skip
    refused("y_true='label' is no column of data", y_true="label")
    refused("y_pred=None|y_pred must be the name", TypeError, y_pred=None)
    refused("sample_weight='ww' is no column", sample_weight="ww")
    refused("y_true must be the name of a column of data; got list", TypeError, y_true=[0, 1])
    refused("sensitive_features must be the name of a column, or a list", TypeError,
            sensitive_features=pd.DataFrame(GOOD))  # fmt: skip
    refused("sensitive_features has no columns", sensitive_features=[])
    refused("more than one column named 'a'", sensitive_features=["a", "a"])


def test_a_lazy_frame_or_a_name_needs_data():
    frame = pd.DataFrame(GOOD)
    with pytest.raises(
        TypeError, match=r"sensitive_features is a lazy LazyFrame.*Pass the frame as"
    ):
        audit(frame["y"], frame["d"], sensitive_features=in_polars(frame[["a"]]))
    with pytest.raises(TypeError, match="y_true is 'y', and data is not given"):
        audit("y", "d", sensitive_features=["a"])
    with pytest.raises(TypeError, match=r"data must be a frame .*; got ndarray"):
        audit("y", "d", sensitive_features=["a"], data=frame.to_numpy())
    twice = pd.DataFrame([[0, 1, 1]], columns=["y", "d", "d"])
    with pytest.raises(ValueError, match="data has more than one column named 'd'"):
        audit("y", "d", sensitive_features=["d"], data=twice)
