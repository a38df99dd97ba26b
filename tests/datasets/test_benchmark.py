"""The generator of benchmark data."""

import numpy as np
import pytest

from gerrymend import Conjunctions, audit
from gerrymend.datasets import make_benchmark


def test_the_planted_group_is_the_worst():
    data = make_benchmark(20_000, cardinalities=(4, 3), numeric=(10,), random_state=0)
    report = audit(
        data.target, data.decisions, sensitive_features=data.sensitive_features,
        notion="statistical_parity", subgroups=Conjunctions(3),
    )  # fmt: skip
    assert data.planted_description == "category_0 = v0 and category_1 = v0 and number_0 < 5"
    np.testing.assert_array_equal(report.worst.contains(data.sensitive_features), data.planted)
    again = make_benchmark(20_000, cardinalities=(4, 3), numeric=(10,), random_state=0)
    np.testing.assert_array_equal(again.decisions, data.decisions)


def test_cardinalities_are_as_stated():
    data = make_benchmark(200_000, cardinalities=(10, 12), numeric=(15,), random_state=1)
    values = data.sensitive_features
    assert {name: len(np.unique(column)) for name, column in values.items()} == {
        "category_0": 10, "category_1": 12, "number_0": 15,
    }  # fmt: skip
    assert len(np.unique(np.column_stack([c.astype(str) for c in values.values()]), axis=0)) == 1800
    rate, planted = data.decisions, data.planted
    assert rate[planted].mean() == pytest.approx(0.5, abs=0.05)
    assert rate[~planted].mean() == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cardinalities": (), "numeric": ()}, "both empty"),
        ({"cardinalities": (0,)}, "cardinalities must be a number of at least 1; got 0"),
        ({"rate": 0.9, "shift": 0.2}, "must be probabilities"),
        ({"n_samples": 0}, "n_samples"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_benchmark(**{"n_samples": 10} | parameters)
