"""Workbooks whose columns mix types or share a name, and times that are no dates."""

import datetime as dt
import gc

import polars as pl
import pytest

from gerrymend.cli.table_files import Reading, open_table
from tests.cli.calling import call

openpyxl = pytest.importorskip("openpyxl")

ASKED = ("--protected", "g", "--label", "y", "--prediction", "d", "--subgroups", "marginals",
         "--permutations", "0", "--min-group-size", "1")  # fmt: skip


def book_of(tmp_path, *values, header=("g", "y", "d")):
    """Return a workbook whose first column takes the values in turn."""
    book = openpyxl.Workbook()
    book.active.append(header)
    for i in range(60):
        book.active.append([values[i % len(values)], i // 2 % 2, i % 2])
    book.save(tmp_path / "rows.xlsx")
    return tmp_path / "rows.xlsx"


MERGED = {
    "a number and its text": ((3, "3"), "3"),
    "a whole float and its text": ((3.0, "3"), "3"),
    "a fraction and its text": ((0.5, "0.5", 2), "0.5"),
    "a boolean and its text": ((True, "True"), "True"),
    "a day and its text": ((dt.datetime(2020, 1, 1), "2020-01-01 00:00:00"), "2020-01-01 00:00:00"),
}


@pytest.mark.parametrize(("values", "told"), MERGED.values(), ids=MERGED)
def test_values_that_read_the_same_are_not_merged(tmp_path, values, told):
    """They were one value: the column was constant, and nobody was treated unlike others."""
    code, _, err = call("audit", book_of(tmp_path, *values), *ASKED)
    assert code == 2
    assert f"Column 'g' of FILE {tmp_path / 'rows.xlsx'} has {told} both as text and as a" in err
    assert "--categorical g" in err


def test_a_column_may_be_taken_as_text(tmp_path):
    code, _, err = call("audit", book_of(tmp_path, 3, "3", "4"), *ASKED, "--categorical", "g")
    assert code in (0, 1), err


def test_texts_that_are_missing_merge_nothing(tmp_path):
    path = book_of(tmp_path, 999, "999", 4)
    table = open_table(path, ["g"], Reading(missing=["999"])).collect()
    assert table["g"].to_list()[:3] == [None, None, 4]


@pytest.mark.parametrize("header", [("g", "y", "d", "g"), (3, "y", "d", "3")])
def test_a_name_that_comes_twice_is_refused(tmp_path, header):
    """The last column of the name was read in silence."""
    path = book_of(tmp_path, "a", "b", header=header)
    with pytest.raises(ValueError, match=f"more than one column named '{header[0]}'"):
        open_table(path, ["y"])


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [(dt.time(3), dt.time(4), "Time"), (dt.timedelta(1), dt.timedelta(2), "Duration")],
)
def test_times_and_spans_are_told_as_what_they_are(tmp_path, low, high, kind):
    """They were said to be dates, and then in words of Polars not to be."""
    workbook = book_of(tmp_path, low, high)
    parquet = tmp_path / "rows.parquet"
    open_table(workbook, []).collect().write_parquet(parquet)
    assert pl.read_parquet(parquet)["g"].dtype.is_temporal()
    for path in (workbook, parquet):
        code, _, err = call("audit", path, *ASKED)
        assert code == 2
        assert f"Column 'g' of --protected is of type {kind}" in err
        assert "dates" not in err.replace("rather than a date", "")


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_a_workbook_that_is_cut_short_is_closed(tmp_path):
    """openpyxl left the file open, and a warning of it came at any later time."""
    path = book_of(tmp_path, "a", "b")
    path.write_bytes(path.read_bytes()[:2000])
    code, _, err = call("audit", path, *ASKED)
    gc.collect()
    assert code == 2
    assert f"FILE {path} can't be read as a workbook: " in err
    assert "Save it as xlsx again." in err
