from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend._numeric import sums
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
    found = total_by_cell(np.array([2, 0, 2]), np.array([1.5, 2.0, -1.0]), 4)
    np.testing.assert_array_equal(found, [2.0, 0.0, 0.5, 0.0])


@pytest.mark.parametrize("size", [0, 1, 300])
@pytest.mark.parametrize("kind", ["whole", "alike", "far apart"])
def test_one_compiled_pass_gives_the_same_bits(size, kind, monkeypatch):
    """Of fractions, added without rounding, each sum is the nearest float to what is exact."""
    rng = np.random.default_rng(size)
    exponents = {"whole": 6, "alike": rng.integers(-3, 4, size)}
    scale = 10.0 ** exponents.get(kind, rng.integers(-290, 20, size))
    numbers = rng.standard_normal(size) * scale * (rng.random(size) < 0.8)
    if kind == "whole":
        numbers = np.rint(numbers)
    keys = rng.integers(0, 4, size)
    grids = sums.grid_shifts(size, float(np.abs(numbers).max(initial=0)), 1e-3)
    found = {}
    for many in (0, 10**9):
        monkeypatch.setattr(sums, "_MANY", many)
        found[many] = [total_by_cell(keys, numbers, 5, shifts) for shifts in (None, grids)]
    np.testing.assert_array_equal(found[0], found[10**9])
    for key in range(5):
        exact = sum(map(Fraction, numbers[keys == key].tolist()), Fraction(0))
        assert found[0][0][key] == pytest.approx(float(exact), rel=1e-15, abs=0.0)
