"""Parameters of made data that no data can be made with: refused by name, before any work."""

import numpy as np
import pytest

from gerrymend.datasets import make_benchmark, make_gerrymandered, make_intersectional

BAD = [
    (make_gerrymandered, {"n_samples": 10**30}),
    (make_gerrymandered, {"shift": "1"}),
    (make_gerrymandered, {"shift": range(3)}),
    (make_gerrymandered, {"shift": np.datetime64("2020-01-01")}),
    (make_gerrymandered, {"noise": float("nan")}),
    (make_intersectional, {"n_samples": 2**63}),
    (make_intersectional, {"n_features": 1e308}),
    (make_intersectional, {"n_numeric": "0.1"}),
    (make_intersectional, {"n_numeric": -1}),
    (make_intersectional, {"shift": "1"}),
    (make_intersectional, {"cardinalities": 2}),
    (make_intersectional, {"cardinalities": {2, 3}}),
    (make_intersectional, {"cardinalities": 1j}),
    (make_intersectional, {"cardinalities": [[2, 3]]}),
    (make_benchmark, {"cardinalities": 2}),
    (make_benchmark, {"numeric": 3}),
    (make_benchmark, {"numeric": [2**63]}),
    (make_benchmark, {"numeric": "ab"}),
    (make_benchmark, {"numeric": (2, [1, 2])}),
    (make_benchmark, {"numeric": (2, np.array([0.1]))}),
    (make_benchmark, {"numeric": np.array([[2, 3]])}),
]


@pytest.mark.parametrize(("make", "bad"), BAD)
def test_parameters_are_refused_by_name(make, bad):
    (name,) = bad
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be"):
        make(**{"n_samples": 20} | bad)


def test_sizes_come_in_any_list():
    some = [make_intersectional(20, cardinalities=sizes, random_state=0).data
            for sizes in ((2, 3), [2, 3], np.array([2, 3]), range(2, 4))]  # fmt: skip
    for one in some[1:]:
        np.testing.assert_array_equal(one, some[0])
