"""References of one's own, checked by code that shares nothing with audits."""

import json
import math

import numpy as np
import polars as pl
import pytest

from gerrymend import (
    ExplicitGroups,
    FairnessNotion,
    GroupMean,
    LinearThresholds,
    OutcomeNotion,
    SubgroupParityClassifier,
    audit,
    audit_counts,
    bootstrap,
    check_report,
    prove,
)
from gerrymend.notions import MEAN_OUTCOME, STATISTICAL_PARITY
from tests.auditing.test_outcomes import CLASSES, made
from tests.checking import assert_checked

# Within the outcomes, at an end of them, beyond; a group of one condition and of two.
NUMBERS = (0.0, 1.0, -2.25)
GROUPS = (
    GroupMean({"town": "Au"}),
    GroupMean({"town": ["Au", "Ulm"], "age": (None, 3)}, factor=0.8),
)
OF_RATES = (0.5, 0.0, 0.25)
SETTINGS = [
    {},
    {"favourable": "positive"},
    {"favourable": "negative", "side": "disadvantaged"},
    {"favourable": "positive", "side": "disadvantaged"},
]


def decisions(seed, n_rows=60, weighted=False):
    """Rows of labels and decisions, over the same cells as those of numbers."""
    rng = np.random.default_rng([seed, 3])
    return {
        **made(seed, n_rows, weighted),
        "y_true": rng.integers(0, 2, n_rows),
        "y_pred": rng.integers(0, 2, n_rows),
    }


def check(seed, subgroups, n_rows=60):
    """Audit numbers and decisions against each kind of reference, and list all subgroups."""
    weighted = bool(seed % 2)
    setting = SETTINGS[seed % 4]
    common = {"subgroups": subgroups, "min_group_size": 2, "gamma": 0.1, **setting}
    for data, notion, numbers in (
        (made(seed, n_rows, weighted), ("mean_outcome", "mean_error"), NUMBERS),
        (decisions(seed, n_rows, weighted), ("statistical_parity", "error_rate"), OF_RATES),
    ):
        for reference in (numbers[seed % 3], GROUPS[seed % 2]):
            report = audit(**data, notion=notion, reference=reference, **common)
            assert report.exact
            assert_checked(report, **data, bound=True)


@pytest.mark.parametrize("subgroups", CLASSES)
def test_every_figure_and_bound_holds_by_brute_force(subgroups):
    """The checker lists all subgroups of the class in exact arithmetic."""
    for seed in range(8):
        check(seed, subgroups)


@pytest.mark.slow
@pytest.mark.parametrize("subgroups", CLASSES)
def test_three_hundred_instances_hold_by_brute_force(subgroups):
    for seed in range(300):
        check(100 + seed, subgroups, n_rows=30)


@pytest.mark.parametrize("seed", range(4))
def test_named_groups_and_the_grid_hold_by_brute_force(seed):
    named = ExplicitGroups({"Au": {"town": "Au"}, "old": {"age": (2, None)}})
    check(seed, named)
    data = decisions(seed)
    data["sensitive_features"] = {
        "town": data["sensitive_features"]["town"] == "Au",
        "age": data["sensitive_features"]["age"],
    }
    report = audit(
        **data, notion="error_rate", reference=0.25, subgroups=LinearThresholds("grid"),
        min_group_size=2,
    )  # fmt: skip
    assert_checked(report, **data, bound=True)
