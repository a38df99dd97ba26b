"""Binned attributes are the same in every container, and their names say that they are binned."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gerrymend.inputs.attribute_bins import AttributeBins, attribute_bins, check_attribute_bins
from gerrymend.inputs.protected import read_columns

BINS = AttributeBins({"age": (30.0, 50.0)})
EXPECTED = [10.0, 30.0, 50.0, 50.0]
TABLE = {"age": [20, 30, 50, 64], "sex": ["F", "M", "F", None]}


@pytest.mark.parametrize(
    "make",
    [dict, pd.DataFrame, pl.DataFrame, pa.table],
    ids=["dict", "pandas", "polars", "pyarrow"],
)
def test_frames_and_mappings_keep_their_other_columns(make):
    binned = BINS.transform(make(TABLE))
    columns = {column.name: column for column in read_columns(binned)}
    assert list(columns) == ["age (binned)", "sex"]
    assert columns["age (binned)"].values.tolist() == EXPECTED
    assert columns["sex"].categories == ("F", "M", None)


def test_an_index_stays():
    frame = pd.DataFrame(TABLE, index=[9, 9, 7, 1])
    assert BINS.transform(frame).index.tolist() == [9, 9, 7, 1]


def test_arrays_have_the_names_that_fit_gives_them():
    bins = AttributeBins({"attribute_1": (0.5,)})
    binned = bins.transform(np.eye(2))
    assert {name: column.tolist() for name, column in binned.items()} == {
        "attribute_0": [1.0, 0.0],
        "attribute_1 (binned)": [-1.0, 0.5],
    }
    one = AttributeBins({"attribute_0": (0.5,)}).transform([0, 1])
    assert one["attribute_0 (binned)"].tolist() == [-1.0, 0.5]
    assert BINS.transform(pd.Series([29, 30], name="age"))["age (binned)"].tolist() == [10.0, 30.0]


def test_collections_of_dask_are_binned_lazily():
    dd = pytest.importorskip("dask.dataframe")
    da = pytest.importorskip("dask.array")
    frame = pd.DataFrame(TABLE)
    lazy = BINS.transform(dd.from_map(lambda i: frame[2 * i : 2 * i + 2], range(3), meta=frame[:0]))
    expected = BINS.transform(frame)
    # Dask has a type of strings of its own.
    pd.testing.assert_frame_equal(lazy.compute(), expected, check_dtype=False)
    bins = AttributeBins({"attribute_1": (0.5,)})
    array = bins.transform(da.eye(4, chunks=2)).compute()
    expected = bins.transform(np.eye(4))
    assert {name: array[name].tolist() for name in array} == {
        name: column.tolist() for name, column in expected.items()
    }


def test_tensors_are_binned_here():
    torch = pytest.importorskip("torch")
    bins = AttributeBins({"attribute_0": (0.5,)})
    assert bins.transform(torch.eye(2))["attribute_0 (binned)"].tolist() == [0.5, -1.0]


def test_what_can_not_be_binned_is_told():
    for given, message in (
        ({"sex": ["F"]}, r"sensitive_features has no column 'age', which fit had"),
        ({"age": [1], "age (binned)": [2]}, r"more than one column named 'age \(binned\)'"),
        ({"age": ["young"]}, "Column 'age' of sensitive_features has categories, and fit"),
        ({"age": [1.0, np.nan]}, "is numeric and has missing values"),
    ):
        with pytest.raises(ValueError, match=message):
            BINS.transform(given)


def test_categories_and_few_values_stay():
    columns = read_columns({"sex": ["F", "M"] * 4, "few": [1, 2] * 4, "age": range(8)})
    bins = attribute_bins(columns, 2)
    assert bins == AttributeBins({"age": (3.5,)})
    assert [column.name for column in bins.of_columns(columns)] == ["sex", "few", "age (binned)"]


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        (1, "bins must be a number of at least 2; got 1. None cuts no attribute."),
        (1001, "bins must be at most 1,000; got 1,001."),
        (2.5, "bins must be a whole number; got 2.5"),
        ("10", "bins must be a number"),
    ],
)
def test_numbers_of_bins_are_checked(bins, message):
    with pytest.raises((ValueError, TypeError), match=message):
        check_attribute_bins(bins)
