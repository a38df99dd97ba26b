"""Options with whole numbers that float64 does not hold."""

import pytest

from gerrymend.cli.protected_ranges import read_ranges


@pytest.mark.parametrize("cut", ["9007199254740993", "9007199254740993.0", "-9007199254740993"])
def test_a_cut_of_ranges_is_not_rounded(cut):
    with pytest.raises(ValueError, match=rf"^--ranges 'a={cut}' cuts at {cut}, a whole number"):
        read_ranges([f"a={cut}"])


def test_a_large_cut_that_is_a_float_is_taken():
    assert read_ranges(["a=9007199254740994,1e300"])["a"] == {
        "9007199254740994": 9007199254740994.0,
        "1e300": 1e300,
    }
