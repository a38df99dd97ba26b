"""audit_counts: the report of the rows that a table counts."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend import audit, audit_counts

PROTECTED = ["race", "sex", "age"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(8)
    n = 500
    return pd.DataFrame(
        {
            "race": rng.choice(["blue", "green", None], n),
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(18, 24, n),
            "label": rng.choice(["bad", "good"], n),
            "prediction": rng.choice(["bad", "good"], n),
        }
    )


@pytest.fixture(scope="module")
def table(people):
    keys = [*PROTECTED, "label", "prediction"]
    return (
        people.groupby(keys, dropna=False, as_index=False).size().rename(columns={"size": "count"})
    )


def expected(people, **how):
    return audit(
        people["label"], people["prediction"], sensitive_features=people[PROTECTED], **how
    ).to_dict()


CONTAINERS = {
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "polars, lazy": lambda table: pl.from_pandas(table).lazy(),
    "pyarrow": lambda table: pa.Table.from_pandas(table),
    "lists": lambda table: {name: table[name].tolist() for name in table},
    "arrays": lambda table: {name: table[name].to_numpy() for name in table},
    "an index": lambda table: table.set_index(table.index[::-1]),
    "an order": lambda table: table.sample(frac=1.0, random_state=0),
    "floats": lambda table: table.astype({"count": float}),
    "lines cut in two": lambda table: pd.concat(
        [table.assign(count=table["count"] // 2), table.assign(count=(table["count"] + 1) // 2)]
    ),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_same_report_as_from_rows(people, table, container):
    held = CONTAINERS[container](table)
    for subgroups in ("linear", "marginals"):
        how = {"subgroups": subgroups, "notion": ("equalized_odds", "statistical_parity")}
        report = audit_counts(held, sensitive_features=PROTECTED, **how)
        assert report.to_dict() == expected(people, **how)


def test_a_group_by_of_a_database(people):
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.from_arrow(pa.Table.from_pandas(people))
    counts = rows.query("people", """
        SELECT race, sex, age AS years, label AS y, prediction, count(*) AS n
        FROM people GROUP BY ALL""")  # fmt: skip
    report = audit_counts(counts, sensitive_features=["race", "sex", "years"], label="y", count="n")
    renamed = people.rename(columns={"age": "years"})[["race", "sex", "years"]]
    rows = audit(people["label"], people["prediction"], sensitive_features=renamed)
    assert report.to_dict() == rows.to_dict()
    summed = counts.query("counts", "SELECT * EXCLUDE n, sum(n) AS n FROM counts GROUP BY ALL")
    report = audit_counts(summed, sensitive_features=["race", "sex", "years"], label="y", count="n")
    assert report.to_dict() == rows.to_dict()


def test_lines_of_no_rows_say_nothing(people, table):
    """Not a category, a label, a decision or a number either."""
    nobody = pd.DataFrame(
        {
            "race": ["purple"],
            "sex": ["X"],
            "age": [999],
            "label": ["ugly"],
            "prediction": [None],
            "count": [0],
        }
    )
    padded = pd.concat([nobody, table], ignore_index=True)
    for subgroups in ("linear", "marginals"):
        report = audit_counts(padded, sensitive_features=PROTECTED, subgroups=subgroups)
        assert report.to_dict() == expected(people, subgroups=subgroups)


def auditable(lines):
    """There is a negative row, and two values among labels and decisions."""
    rows = [line for line in lines if line[4]]
    return any(not line[2] for line in rows) and any(line[2] or line[3] for line in rows)


lines = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.integers(0, 2), st.booleans(), st.booleans(), st.integers(0, 9)
    ),
    min_size=1,
    max_size=20,
).filter(auditable)


@given(lines=lines)
def test_against_rows_written_out(lines):
    table = pd.DataFrame(lines, columns=["a", "b", "label", "prediction", "count"])
    rows = table.loc[table.index.repeat(table["count"])]
    expected = audit(
        rows["label"], rows["prediction"], sensitive_features=rows[["a", "b"]], min_group_size=1
    )
    found = audit_counts(table, sensitive_features=["a", "b"], min_group_size=1)
    assert found.to_dict() == expected.to_dict()


def test_scores_and_probabilities_in_a_table():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"a": rng.choice(["x", "y", "z"], 200), "y": rng.integers(0, 2, 200)}
    ).assign(p=rng.choice([0.0, 0.25, 0.75, 1.0], 200))
    table = rows.groupby(["a", "y", "p"], as_index=False).size()
    names = {"sensitive_features": "a", "label": "y", "prediction": "p", "count": "size"}
    for how in ({"threshold": 0.5}, {"decision_probabilities": True}):
        by_rows = audit(rows["y"], rows["p"], sensitive_features=rows[["a"]], **how)
        assert audit_counts(table, **names, **how).to_dict() == by_rows.to_dict()


GOOD = {
    "a": ["u", "v", "u", "v"],
    "label": [0, 0, 1, 1],
    "prediction": [0, 1, 0, 1],
    "count": [30, 20, 10, 0],
}
BAD = [
    (
        {"count": [1, 2, -3, 4]},
        {},
        "count must be whole numbers of rows, 0 or more and below 2⁵³; got -3",
    ),
    ({"count": [1, 2.5, 3, 4]}, {}, "got 2.5. Sums of weights are no counts"),
    ({"count": [1, np.inf, 3, 4]}, {}, "count must be whole numbers .* got inf"),
    ({"count": [1, None, 3, 4]}, {}, "count has 1 missing"),
    ({"count": ["x"] * 4}, {}, "count must be whole numbers; got"),
    ({"count": [0] * 4}, {}, "count is 0 in every line"),
    ({"count": [1]}, {}, "differ in their number of rows: label has 4, .* count has 1"),
    ({"label": [0, 1, 2, 3]}, {"threshold": 1}, "label has 3 classes, 0, 1, 2, and scores"),
    ({"label": [0, None, 1, 1]}, {}, "label has 1 missing"),
    ({"prediction": [0, None, 1, 1]}, {}, "prediction has 1 missing"),
    ({"prediction": [0, 0.5, 1, 1]}, {}, "prediction has values that are no label: 0.5"),
    ({"prediction": [0, 1.5, 1, 1]}, {"decision_probabilities": True}, "prediction ranges from"),
    ({"prediction": ["x"] * 4}, {"threshold": 1}, "prediction must be numbers where threshold"),
    ({}, {"label": "lable"}, r"label='lable' is no column of table \(did you mean 'label'\?\)"),
    ({}, {"count": "n"}, "count='n' is no column of table. It has: a, label, prediction, count"),
    ({}, {"sensitive_features": ["b"]}, "sensitive_features='b' is no column of table"),
    ({}, {"sensitive_features": None}, "sensitive_features must be the name of a column, or"),
    ({}, {"pos_label": 3}, "pos_label=3 is no label of label"),
    ({}, {"gamma": -1}, "gamma must be a number of at least 0; got -1"),
    ({}, {"budget": 0}, "budget must be a number above 0; got 0. It is in seconds"),
    ({}, {"table": [1, 2]}, "table must be a frame .* or a mapping .*; got list"),
]


@pytest.mark.parametrize(("change", "call", "message"), BAD)
def test_bad_tables_are_named_with_a_remedy(change, call, message):
    call = {"table": GOOD | change, "sensitive_features": "a"} | call
    with pytest.raises((ValueError, TypeError), match=message):
        audit_counts(call.pop("table"), **call)


def test_a_lazy_table_names_what_it_has():
    with pytest.raises(ValueError, match=r"count='n' is no column of table\. It has: a, label"):
        audit_counts(pl.LazyFrame(GOOD), sensitive_features="a", count="n")


def test_labels_that_no_notion_reads_need_no_column():
    table = {"race": ["blue", "green"] * 2, "prediction": [1, 0, 0, 1], "count": [5, 6, 7, 9]}
    how = {"sensitive_features": ["race"], "notion": "statistical_parity", "min_group_size": 1}
    assert audit_counts(table, label=None, **how).unfairness > 0
    with pytest.raises(ValueError, match=r"label='label' is no column .* no labels: label=None\."):
        audit_counts(table, **how)
    with pytest.raises(ValueError, match=r"label='label' is no column of table.*count\.$"):
        audit_counts(table, **how | {"notion": "error_rate"})
