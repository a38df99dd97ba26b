"""Marginal and explicit groups, against loops over the groups and rows."""

import warnings

import numpy as np
import pandas as pd
import pytest

from gerrymend import ExplicitGroups, Marginals, audit
from gerrymend.notions import FALSE_POSITIVE_RATE


def test_marginals_are_each_value_and_both_sides_of_the_mean(toy):
    _, y, protected = toy
    rng = np.random.default_rng(1)
    decisions, weight = rng.integers(0, 2, len(y)), rng.integers(1, 4, len(y))
    groups = {f"{name} = {v}": protected[name] == v
              for name in ("race", "sex") for v in protected[name].unique()}  # fmt: skip
    mean = np.average(protected["age"], weights=weight)
    groups["old"] = protected["age"] >= mean
    values = {
        name: FALSE_POSITIVE_RATE.unfairness(y, decisions, members, weight)
        for name, members in groups.items()
    }
    report = audit(y, decisions, sensitive_features=protected, subgroups=Marginals(),
                   sample_weight=weight)  # fmt: skip
    assert report.exact
    assert report.unfairness == pytest.approx(max(map(abs, values.values())), abs=1e-12)
    assert report.upper_bound == pytest.approx(report.unfairness)


def test_the_cut_is_shown_short_and_splits_as_the_mean_does():
    age = np.array([20.1, 30, 41, 58, 59, 60])
    report = audit([0] * 5 + [1], [1, 1, 1, 0, 0, 1], sensitive_features={"age": age},
                   subgroups="marginals", min_group_size=1)  # fmt: skip
    assert str(report.worst) == "age < 44.7"
    np.testing.assert_array_equal(report.worst.contains({"age": age}), age < age.mean())


def test_explicit_groups(toy):
    _, y, protected = toy
    decisions = np.random.default_rng(2).integers(0, 2, len(y))
    groups = {
        "blue men": {"race": "blue", "sex": "M"},
        "not red, under 30": {"race": ["blue", "green"], "age": (None, 30)},
        "forties": {"age": (40, 50)},
        "twenty": {"age": 20},
    }
    masks = {
        "blue men": (protected["race"] == "blue") & (protected["sex"] == "M"),
        "not red, under 30": (protected["race"] != "red") & (protected["age"] < 30),
        "forties": protected["age"].between(40, 49),
        "twenty": protected["age"] == 20,
    }
    for name, conditions in groups.items():
        report = audit(y, decisions, sensitive_features=protected,
                       subgroups=ExplicitGroups({name: conditions}),
                       min_group_size=1)  # fmt: skip
        expected = FALSE_POSITIVE_RATE.unfairness(y, decisions, masks[name])
        assert report.worst.unfairness == pytest.approx(expected, abs=1e-12)
        np.testing.assert_array_equal(report.worst.contains(protected), masks[name])
    report = audit(y, decisions, sensitive_features=protected, subgroups=ExplicitGroups(groups))
    values = [abs(FALSE_POSITIVE_RATE.unfairness(y, decisions, mask)) for mask in masks.values()]
    assert report.unfairness == pytest.approx(max(values), abs=1e-12)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({}, "at least one name"),
        ("blue men", "at least one name"),
        ({"x": {}}, "'x' of groups must map attributes to values"),
        ({"x": {"rase": "blue"}}, "none of the protected columns .did you mean 'race'"),
        ({"x": {"race": ("blue", "green")}}, "pass a list for several values"),
        ({"x": {"age": (1, 2, 3)}}, "interval"),
        ({"x": {"age": ("a", "b")}}, "interval"),
        ({"x": {"race": []}}, "empty list"),
    ],
)
def test_explicit_groups_are_checked(toy, groups, message):
    _, y, protected = toy
    with pytest.raises(ValueError, match=message):
        audit(y, y, sensitive_features=protected, subgroups=ExplicitGroups(groups))


def test_an_explicit_group_of_nobody_warns(toy):
    _, y, protected = toy
    groups = ExplicitGroups({"violet": {"race": "violet"}, "men": {"sex": "M"}})
    decisions = np.arange(len(y)) % 2
    with pytest.warns(UserWarning, match="'violet .race = violet.' selects no row"):
        report = audit(y, decisions, sensitive_features=protected, subgroups=groups)
    assert str(report.worst) == "men (sex = M)"


def test_a_missing_category_can_be_the_worst_group():
    frame = pd.DataFrame({"race": ["a", "a", None, None, "b"]})
    report = audit([0, 0, 0, 0, 1], [0, 0, 1, 1, 1], sensitive_features=frame,
                   subgroups="marginals", min_group_size=1)  # fmt: skip
    assert str(report.worst) == "race = (missing)"
    assert report.worst.contains(pd.DataFrame({"race": [None, "a"]})).tolist() == [True, False]


def test_grid_search_can_reach_into_the_class():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ExplicitGroups({"a": {"b": 1}}).get_params() == {"groups": {"a": {"b": 1}}}
