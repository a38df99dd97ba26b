"""Numbers that were read as text, told from codes and words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gerrymend import audit
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.protected import read_columns, select_columns
from gerrymend.inputs.text_numbers import check_no_numbers

WHOLE = [str(i) for i in range(18, 60)]
NUMBERS = {
    "decimal comma": (["34,5", "20,0", "7"], r"such as '34,5'.*decimal=','"),
    "decimal point": (["34.5", "20", "7"], r"\.astype\(float\)"),
    "thousands": (["1.234,5", "12.000"], "decimal=','"),
    "percent": (["12,5 %", "3 %"], "decimal=','"),
    "signed, with an exponent": (["-1.5e3", "+2", "−7"], r"\.astype\(float\)"),
    "an n/a among few": (["0", "1", "2", "N/A"], "na_values='N/A'"),
    "an empty text among few": (["0", "1", "2", ""], "na_values=''"),
    "a word among many": ([*WHOLE, "refused to say"], "na_values='refused to say'"),
    "many whole numbers": (WHOLE, r"\.astype\(float\)"),
    "with blanks": ([f" {text} " for text in WHOLE], r"\.astype\(float\)"),
}
WORDS = {
    "few codes": ["1", "2", "3"],
    "codes and a letter": ["1", "2", "3", "U"],
    "codes that were floats": ["1.0", "2.0", "3.0"],
    "leading zeros": [f"{i:02}" for i in range(60)],
    "ranges": ["18-25", "26-35", "36,37", "65+"],
    "dates": ["2020-01-01", "1.2.2020", "3/4/2020"],
    "words": ["blue", "green", "2pac"],
    "mostly words": ["a", "b", "1,5", "2,5"],
    "nothing": [None, None],
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("as_given", [list, np.array, pd.Series, pl.Series])
def test_numbers_are_refused(kind, as_given):
    texts, message = NUMBERS[kind]
    with pytest.raises(ArgumentError, match=rf"Column 'a' of sensitive_features.*{message}"):
        read_columns({"a": as_given(texts * 3)})


@pytest.mark.parametrize("kind", WORDS)
def test_codes_and_words_are_categories(kind):
    (column,) = read_columns({"a": WORDS[kind] * 3})
    assert column.is_categorical


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize(
    "as_category", [pd.Categorical, lambda texts: pl.Series(texts, dtype=pl.Categorical)]
)
def test_a_categorical_type_insists(kind, as_category):
    texts, _ = NUMBERS[kind]
    (column,) = read_columns({"a": as_category(texts)})
    assert sorted(column.categories) == sorted(texts)


def test_a_rule_that_was_found_takes_the_texts_it_knows():
    """Only the first reading doubts them."""
    texts = ["34,5", "51"]
    assert select_columns({"a": texts}, {"a": "str"})["a"].categories == ("34,5", "51")


def test_a_lazy_frame_is_no_way_around():
    rows = pl.LazyFrame({"age": ["34,5", "51", "7,25"] * 20, "y": [0, 1] * 30, "d": [0, 1, 1] * 20})
    with pytest.raises(ArgumentError, match=r"Column 'age' .* read as text"):
        audit("y", "d", sensitive_features="age", data=rows)


@pytest.mark.parametrize("form", ["{} years", "€{}", "{}kg", "{} EUR", "$ {}"])
def test_numbers_with_their_unit_are_numbers(form):
    texts = [form.format(number) for number in np.arange(20, 70)]
    with pytest.raises(ArgumentError, match="numbers that were read as text"):
        check_no_numbers(texts, "age")


@pytest.mark.parametrize("form", ["D{}", "district {}", "{}th street", "zone-{}"])
def test_names_with_a_number_are_names(form):
    check_no_numbers([form.format(number) for number in range(50)], "place")


def test_one_comma_among_points_is_shown():
    """Read with a decimal comma, all the others would be text."""
    with pytest.raises(ValueError, match=r"point and others a comma, here '42,5': write all"):
        check_no_numbers([*(f"{age}.5" for age in range(20, 60)), "42,5"], "age")


def test_all_words_among_numbers_are_named():
    with pytest.raises(ValueError, match=r"na_values='\?' \(and 'n/a'\) read as missing"):
        check_no_numbers([*map(str, range(20, 60)), "n/a", "?"], "age")


def test_commas_may_part_thousands():
    """Read as decimals, 1,003 would be less than 999."""
    with pytest.raises(ArgumentError, match="If the commas part thousands, take them out; else"):
        check_no_numbers(["999", "1,003", "12,500"], "income")
