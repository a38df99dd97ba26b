"""Numbers of a table that can't be scaled: missing in other ways than null, or too large."""

import polars as pl
import pytest

from gerrymend.cli.table_encoding import check_scale, check_values, make_encoder


def table(value):
    return pl.DataFrame({"age": [20.0, value, 40.0], "race": ["blue", "green", "blue"]})


def check_both(frame):
    check_values(frame, "rows.csv", impute=False)
    check_scale(frame, "rows.csv")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "Column 'age' of rows.csv has 1 missing values of 3"),
        (float("nan"), "Column 'age' of rows.csv has 1 missing values of 3"),
        (float("inf"), "Column 'age' of rows.csv has infinite values"),
        (-1e200, r"Column 'age' of rows.csv has a value of 1e\+200, which is too large"),
    ],
)
def test_numbers_that_can_not_be_scaled_are_refused(value, words):
    frame = table(value)
    with pytest.raises(ValueError, match=words):
        check_both(frame)


def test_what_is_missing_is_imputed_where_that_was_asked_for():
    frame = table(None)
    check_values(frame, "rows.csv", impute=True)
    scaled = make_encoder(frame, impute=True).fit_transform(frame)
    assert scaled[1].tolist() == [0.0, 1.0, 0.0, pytest.approx(2**0.5)]  # the median, and marked


def test_nan_is_missing_and_hides_nothing():
    check_values(table(float("nan")), "rows.csv", impute=True)
    check_values(pl.DataFrame({"x": [None, float("nan"), 1e120]}), "rows.csv", impute=True)
    with pytest.raises(ValueError, match=r"'x' of .* has infinite values"):
        check_values(pl.DataFrame({"x": [float("nan"), float("inf")]}), "rows.csv", impute=True)


def test_the_largest_that_is_taken_can_be_scaled():
    frame = table(1e140)
    check_scale(frame, "rows.csv")
    assert abs(make_encoder(frame).fit_transform(frame)).max() < 2
