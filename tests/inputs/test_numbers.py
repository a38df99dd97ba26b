"""Numbers of any type, against exact arithmetic; settings that are numbers."""

from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend import audit
from gerrymend.inputs.arrays import as_array, as_table, unmasked
from gerrymend.inputs.categories import sorted_categories
from gerrymend.inputs.numbers import at_least, distinct_numbers, series_numbers
from gerrymend.inputs.protected import read_columns
from gerrymend.inputs.settings import check_flag, check_whole

WHOLE = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(2**53 - 4, 2**53 + 4),
    st.integers(-5, 5).map(lambda k: k * 2**60),
)
NUMBERS = st.one_of(
    WHOLE,
    st.fractions(),
    st.decimals(allow_nan=False, allow_infinity=False, places=20, min_value=-2, max_value=2),
    st.floats(allow_nan=False, allow_infinity=False),
)


def told_apart(read, values):
    """What was read equals the values in order and in number; or it was refused."""
    try:
        numbers = read(values)
    except ValueError as error:
        assert "float64" in str(error)  # noqa: PT017
        return None
    exact = [Fraction(value) for value in values]
    assert len(set(numbers.tolist())) == len(set(exact))
    order = sorted(range(len(values)), key=exact.__getitem__)
    assert all(np.diff(numbers[order]) >= 0)
    return numbers


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_no_two_numbers_become_one(values):
    told_apart(lambda listed: distinct_numbers(np.array(listed, dtype=object), "a"), values)


@given(st.lists(WHOLE, min_size=1, max_size=8))
def test_whole_numbers_are_kept_to_the_last_digit_or_refused(values):
    readers = (
        lambda listed: distinct_numbers(np.array(listed, dtype=np.int64), "a"),
        lambda listed: distinct_numbers(np.array(listed, dtype=object), "a"),
        lambda listed: series_numbers(nw.from_native(pl.Series(listed), series_only=True), "a"),
    )
    for read in readers:
        numbers = told_apart(read, values)
        every_one_is_exact = all(Fraction(float(value)) == value for value in values)
        assert (numbers is not None) == every_one_is_exact
        assert numbers is None or list(map(int, numbers)) == values


@given(st.lists(WHOLE, min_size=1), st.floats(-(2.0**62), 2.0**62))
def test_whole_scores_are_cut_as_fractions_are(values, cut):
    expected = [Fraction(value) >= Fraction(cut) for value in values]
    assert at_least(np.array(values, dtype=np.int64), cut, "y_pred").tolist() == expected


def test_a_mask_is_missing_and_no_mask_is_nothing():
    values = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert as_table(values, "a").tolist() == [[1, None], [3, 4]]
    assert unmasked(np.ma.masked_array([1, 2])).dtype == np.int64
    # A list of such an array's values, of which NumPy warned and made NaN.
    assert as_array([1, np.ma.masked], "a").tolist() == [1, None]


class Elsewhere:
    def __array__(self, *arguments, **options):
        raise RuntimeError("it has a gradient.\nCall detach()")


def test_what_cannot_become_an_array_is_named():
    with pytest.raises(TypeError, match=r"^y is of type tests.Elsewhere and can't be read: it has"):
        as_array(Elsewhere(), "y")


def test_categories_of_numpy_are_those_of_python():
    mixed = [np.str_("b"), "a", None]
    assert sorted_categories(mixed, "race") == ["a", "b"]
    with pytest.raises(TypeError, match="mixes values of types bool, int"):
        sorted_categories([True, 2], "race")


@pytest.mark.parametrize("value", [2**53, np.int64(2**53), 4.0, Decimal(4), Fraction(8, 2)])
def test_whole_settings_are_kept_exactly(value):
    assert check_whole(value, "top", low=1) == value
    assert isinstance(check_whole(value, "top", low=1), int)


@pytest.mark.parametrize(
    "value", [2**53 + 1, 1e17, 1.5, Decimal("1.5"), True, None, "3", 1j, np.timedelta64(1, "s")]
)
def test_other_settings_are_refused(value):
    with pytest.raises(ValueError, match="top must be"):
        check_whole(value, "top", low=1)


@pytest.mark.parametrize("value", [0, 1, None, "no", []])
def test_a_flag_is_a_boolean(value):
    with pytest.raises(TypeError, match="certify must be True or False"):
        check_flag(value, "certify")


BEYOND = {
    "whole": 10**400,
    "negative": -(10**400),
    "fraction": Fraction(10**400),
    "decimal": Decimal("1e400"),
    "long double": np.longdouble("1e400"),
    "small decimal": Decimal("1e-400"),
    "small fraction": Fraction(1, 10**400),
}


@pytest.mark.parametrize("value", BEYOND.values(), ids=BEYOND)
@pytest.mark.parametrize(
    ("argument", "asked"),
    [
        ("y_pred", {"threshold": 0.5}),
        ("y_pred", {"decision_probabilities": True}),
        ("y_pred", {"notion": "mean_outcome"}),
        ("sample_weight", {}),
    ],
)
def test_numbers_beyond_float64_are_refused_and_not_read_as_infinite(value, argument, asked):
    """Nor as 0: a weight that vanishes would drop its row."""
    rows = {"y_true": [0, 1] * 20, "y_pred": [0, 1, 1, 0] * 10, **asked}
    rows[argument] = [value, 1, 1, 1] * 10
    with pytest.raises(ValueError, match=f"^{argument} has numbers that float64 does not hold"):
        audit(**rows, sensitive_features={"sex": ["F", "M"] * 20})


def test_scores_may_be_infinite():
    """As logarithms of 0 and 1 are; they are on either side of every threshold."""
    data = {"y_true": [0, 1] * 20, "sensitive_features": {"sex": ["F", "M", "M", "F"] * 10}}
    scores = [Decimal("-Infinity"), np.inf, 0.7, 0.2] * 10
    report = audit(**data, y_pred=scores, threshold=0.5)
    assert report.unfairness == audit(**data, y_pred=[0, 1, 1, 0] * 10).unfairness


def test_decimals_of_every_library_are_the_nearest_float():
    """A cast of Arrow makes 2.3000000000000003 of the decimal 2.3."""
    tenths = [Decimal(number) / 10 for number in range(20, 60)]
    for column in (pa.chunked_array([tenths]), pl.Series(tenths), tenths):
        (read,) = read_columns({"tenths": column})
        assert read.values.tolist() == [number / 10 for number in range(20, 60)]
