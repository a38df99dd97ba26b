"""Figures of one attribute at a time tell nothing of groups that are not listed."""

import itertools

import numpy as np
import pytest

from gerrymend import audit
from gerrymend.auditing import marginal_rates
from tests.checking import assert_checked


def test_the_largest_unfairness_is_of_a_group_that_is_listed():
    """Nine people of Au, all decided 1: from all digits of theirs, their number would follow."""
    town = np.repeat(["Ulm", "Bonn", "Au"], [60, 60, 9])
    decided = np.r_[np.tile([1, 0, 0], 20), np.tile([0, 0, 0, 1], 15), np.ones(9, int)]
    data = {"y_true": 0 * decided, "y_pred": decided, "sensitive_features": {"town": town}}
    for subgroups in ("marginals", "linear"):
        report = audit(**data, subgroups=subgroups)
        assert report.withheld or subgroups == "linear"
        told = [abs(one.unfairness) for one in report.marginals]
        assert report.marginal_unfairness == pytest.approx(max(told, default=0.0))
        assert report.single_unfairness == report.marginal_unfairness
        assert_checked(report, **data)


def test_an_interval_counts_only_if_it_may_be_described():
    """The five oldest are all decided 1, and are the worst interval but for their number."""
    age = np.repeat([30, 40, 50, 90], [40, 40, 40, 5])
    decided = np.r_[np.tile([0, 0, 0, 0, 1], 24), np.ones(5, int)]
    data = {"y_true": 0 * decided, "y_pred": decided, "sensitive_features": {"age": age}}
    report = audit(**data, subgroups="marginals")
    by_age = np.array([decided[age == one].sum() - decided.mean() * (age == one).sum()
                       for one in (30, 40, 50, 90)])  # fmt: skip
    sums = [abs(by_age[low:high].sum()) / 125
            for low, high in itertools.combinations(range(5), 2)
            if 10 <= np.isin(age, [30, 40, 50, 90][low:high]).sum() <= 115]  # fmt: skip
    assert report.single_unfairness == pytest.approx(max(sums))
    assert report.single_unfairness < by_age[3] / 125
    assert_checked(report, **data)


def test_the_largest_interval_against_all_of_them():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(1, 9))
        values = rng.integers(-5, 6, n).astype(float)
        rows = rng.integers(1, 6, n)
        for floor in (1, 3, 6):
            sums = [values[low:high].sum() for low, high in itertools.combinations(range(n + 1), 2)
                    if floor <= rows[low:high].sum() <= rows.sum() - floor]  # fmt: skip
            assert marginal_rates.largest_interval(values, rows, floor)[0] == max([0.0, *sums])
