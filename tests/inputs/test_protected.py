import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gerrymend import audit, audit_counts
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.protected import Column, distinct_rows, read_columns, select_columns
from gerrymend.inputs.sample import Sample

TABLE = {"race": ["blue", "green", "blue", None], "age": [30, 41, 30, 25], "ok": [True, False] * 2}


def encoded(data):
    return [(c.name, c.categories, c.values.tolist()) for c in read_columns(data)]


@pytest.mark.parametrize(
    "container",
    [
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        dict,
        lambda table: {name: np.array(values, dtype=object) for name, values in table.items()},
        lambda table: pd.DataFrame(table, index=[7, 3, 3, 0]),
        lambda table: pd.DataFrame(table).astype({"race": "category"}),
        lambda table: pl.DataFrame(table).with_columns(pl.col("race").cast(pl.Categorical)),
    ],
)
def test_every_container_reads_the_same(container):
    assert encoded(container(TABLE)) == [
        ("race", ("blue", "green", None), [0.0, 1.0, 0.0, 2.0]),
        ("age", None, [30.0, 41.0, 30.0, 25.0]),
        ("ok", (False, True), [1.0, 0.0, 1.0, 0.0]),
    ]


def test_arrays_and_lists_get_names_by_position():
    assert encoded(np.array([[1.0, 2.0], [3.0, 4.0]])) == [
        ("attribute_0", None, [1.0, 3.0]),
        ("attribute_1", None, [2.0, 4.0]),
    ]
    assert encoded(["b", "a"]) == [("attribute_0", ("a", "b"), [1.0, 0.0])]
    assert encoded([["b", 3], ["a", 4]])[1] == ("attribute_1", None, [3.0, 4.0])
    assert encoded(pd.Series(["b", "a"], name="sex"))[0][0] == "sex"
    assert encoded(pa.chunked_array([["b", "a"]]))[0][1] == ("a", "b")


def test_a_categorical_of_numbers_stays_a_category():
    (column,) = read_columns(pd.DataFrame({"region": pd.Categorical([3, 1, 3])}))
    assert column.categories == (1, 3)


def test_missing_in_any_spelling_is_one_category():
    values = np.array(["a", None, float("nan"), pd.NA, pd.NaT], dtype=object)
    (column,) = read_columns({"x": values})
    assert column.categories == ("a", None)
    assert column.values.tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "values", [[1.0, float("nan")], [1, None], pd.array([1, None], dtype="Int64")]
)
def test_a_missing_number_is_an_error_that_names_the_column(values):
    frame = pd.DataFrame({"age": values})
    with pytest.raises(ValueError, match=r"Column 'age'.*missing values.*fill them in"):
        read_columns(frame)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"x": ["a", 3, 2.5]}, "Column 'x' .* mixes values of types"),
        ({"x": ["a", "b"], "y": [1, 2, 3]}, "differ in length"),
        ({"x": [datetime.date(2020, 1, 1)] * 2}, "'x' of sensitive_features is of type date"),
        ({"x": [float("inf"), 1.0]}, "infinite"),
        (pd.DataFrame({"t": pd.to_datetime(["2020", "2021"])}), "convert it to numbers"),
        (np.array(["2020"], dtype="datetime64[D]"), "convert it to numbers"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "more than one column named 'x'"),
        (pd.DataFrame(), "no columns"),
        (pd.DataFrame({"x": []}), "no rows"),
        (np.zeros((2, 2, 2)), "one or two dimensions"),
        (3, "must be a frame"),
        ("race", "must be a frame"),
        (pl.LazyFrame({"x": [1]}), "Collect a lazy frame"),
    ],
)
def test_what_cannot_be_read_is_named(data, message):
    with pytest.raises((ValueError, TypeError), match=message):
        read_columns(data)


def test_cells_are_the_distinct_rows_in_order_of_their_values():
    rng = np.random.default_rng(1)
    table = {"r": rng.choice(["x", "y", "z"], 200), "n": rng.integers(0, 4, 200)}
    cells = distinct_rows(read_columns(table))
    rows = list(zip(table["r"], table["n"], strict=True))
    expected = sorted(set(rows))
    category, number = cells.columns
    found = [
        (category.categories[int(code)], n)
        for code, n in zip(category.values, number.values, strict=True)
    ]
    assert found == expected
    assert [expected[i] for i in cells.index] == rows


def test_new_rows_are_matched_by_name_and_kind():
    wanted = {"race": "str", "age": "number"}
    frame = pd.DataFrame({"other": [0, 0], "age": [1, 2], "race": ["a", "b"]})
    assert list(select_columns(frame, wanted)) == ["race", "age"]
    assert list(select_columns(np.array([["a", 1]], dtype=object), wanted)) == ["race", "age"]
    with pytest.raises(ValueError, match=r"no column 'race' .did you mean 'rase'\?"):
        select_columns(frame.rename(columns={"race": "rase"}), wanted)
    with pytest.raises(ValueError, match="holds values of type number, and the subgroup was"):
        select_columns(frame.assign(race=[1, 2]), wanted)
    with pytest.raises(ValueError, match="has 1 columns"):
        select_columns(np.array([[1.0]]), wanted)


def test_a_bare_categorical_is_a_category_in_a_dict_too():
    (column,) = read_columns({"region": pd.Categorical([3, 1, 3])})
    assert column.categories == (1, 3)


def test_grouping_agrees_with_sorting_whole_rows():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, d = rng.integers(1, 30), rng.integers(1, 5)
        kinds = [
            rng.integers(-3, 4, n).astype(float),
            rng.normal(size=n).round(1) + 0.0,
            rng.integers(0, 5, n) * 1e300,
            rng.integers(0, 3, n) * 4 + 1e16,
            rng.integers(0, 3, n) * 1e-320,
        ]
        columns = [Column(str(j), kinds[rng.integers(5)]) for j in range(d)]
        columns.append(Column("c", rng.integers(0, 3, n).astype(float), ("a", "b", "c", "unseen")))
        cells = distinct_rows(columns)
        rows, index = np.unique(
            np.column_stack([c.values for c in columns]), axis=0, return_inverse=True
        )
        np.testing.assert_array_equal(np.column_stack([c.values for c in cells.columns]), rows)
        np.testing.assert_array_equal(cells.index, index.ravel())


def test_many_columns_of_many_values_do_not_overflow():
    rng = np.random.default_rng(1)
    columns = [Column(str(j), rng.permutation(3000) / 7) for j in range(8)]
    cells = distinct_rows(columns + columns)
    assert len(cells) == 3000
    np.testing.assert_array_equal(cells.columns[0].values[cells.index], columns[0].values)


PERSONS = [f"person {i}" for i in range(30)]


@pytest.mark.parametrize("distinct", [16, 30])
def test_categories_that_identify_are_refused(distinct):
    """Unless the type says that they are categories; then they are warned of."""
    persons = (PERSONS[:distinct] * 2)[:30]
    y = np.arange(30) % 2
    message = f"Column 'id' of sensitive_features has {distinct} different values in 30 rows"
    counts = {"id": persons, "label": y, "prediction": 1 - y, "count": np.ones(30)}
    for refused in (
        lambda: audit(y, 1 - y, sensitive_features={"id": persons}),
        lambda: audit("label", "prediction", sensitive_features="id", data=pl.LazyFrame(counts)),
        lambda: audit_counts(counts, sensitive_features="id"),
        lambda: Sample.read(y, {"id": persons}, features=np.ones((30, 1))),
    ):
        with pytest.raises(ArgumentError, match=rf"{message}.* \.astype\('category'\)"):
            refused()
    with pytest.warns(UserWarning, match=message):
        report = audit(y, 1 - y, sensitive_features={"id": pd.Categorical(persons)})
    assert "nearly_unique_attribute" in [doubt.code for doubt in report.warnings]
    # Half of the rows, and any number in rows that many may share, are groups.
    audit(y, 1 - y, sensitive_features={"id": PERSONS[:15] * 2})
    audit_counts(counts | {"count": np.full(30, 2)}, sensitive_features="id")


@pytest.mark.parametrize(
    ("values", "warned"),
    [
        (np.arange(30) * 7, True),
        (np.arange(30) / 7, False),
        (np.arange(30) // 2, False),
        (PERSONS[:20], False),
    ],
)
def test_identifiers_are_warned_of(values, warned):
    y, n = np.arange(len(values)) % 2, len(values)
    rows = {"sex": ["F", "M"] * (n // 2), "id": values}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        audit(y, 1 - y, sensitive_features=rows)
        audit("y", "y", sensitive_features=["sex", "id"], data=rows | {"y": y})
        counts = {"label": y, "prediction": y, "count": np.ones(n)}
        audit_counts(rows | counts, sensitive_features=["sex", "id"])
    found = [one for one in caught if "probably an identifier" in str(one.message)]
    assert len(found) == 3 * warned
    for one in found:
        assert "Column 'id' of sensitive_features has 30 different values in 30 rows" in (
            str(one.message)
        )
        assert one.filename == __file__
