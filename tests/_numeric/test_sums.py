from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gerrymend._numeric.sums import exactly_summable, total, total_by_cell

values = st.lists(
    st.floats(-1e6, 1e6, allow_nan=False, allow_infinity=False), min_size=1, max_size=60
)


@given(values, st.randoms(use_true_random=False))
def test_total_is_the_same_in_any_order(numbers, random):
    shuffled = list(numbers)
    random.shuffle(shuffled)
    assert total(np.array(numbers)) == total(np.array(shuffled))


@given(values)
def test_rounded_values_add_without_error(numbers):
    rounded = exactly_summable(np.array(numbers))
    assert float(sum(map(Fraction, rounded.tolist()))) == rounded.sum()


@given(values)
def test_rounding_is_far_below_what_anyone_reports(numbers):
    exact = float(sum(map(Fraction, numbers)))
    scale = len(numbers) * max(map(abs, numbers))
    assert abs(total(np.array(numbers)) - exact) <= 1e-13 * scale


def test_whole_numbers_are_left_alone():
    counts = np.arange(-1000.0, 1000.0)
    np.testing.assert_array_equal(exactly_summable(counts), counts)


def test_sums_by_cell():
    sums = total_by_cell(np.array([2, 0, 2]), np.array([1.5, 2.0, -1.0]), 4)
    np.testing.assert_array_equal(sums, [2.0, 0.0, 0.5, 0.0])
