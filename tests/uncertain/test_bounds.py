"""Bounds and expectations beside every assignment of people to categories, in fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from gerrymend import Conjunctions, ValueSets, audit, audit_uncertain
from tests.uncertain.by_hand import assignments, ends, is_right, made_instance

NOTIONS = ("false_positive_rate", "statistical_parity")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_categories", [2, 3])
def test_bounds_are_attained_by_an_assignment(seed, n_categories):
    """Where counts are whole and no probability is 0, both ends are sharp."""
    instance = made_instance(seed, n_categories)
    notion = NOTIONS[seed % 2]
    possible = [instance.values(one, notion) for one in assignments(instance)
                if is_right(instance, one)]  # fmt: skip
    most, surely = ends(possible)
    report = audit_uncertain(**instance.given, notion=notion, pool_size=4)
    assert report.upper_bound == pytest.approx(float(most), abs=1e-12)
    assert report.lower_bound == pytest.approx(float(surely), abs=1e-12)
    assert (report.n_pools, report.n_free) == (2, 0)


@pytest.mark.parametrize("seed", range(6))
def test_of_too_small_pools_nothing_is_taken_to_be_right(seed):
    instance = made_instance(seed, 2)
    for row in (instance.q[0], instance.q[5]):  # who is one of these is known
        row.update(a=Fraction(1), b=Fraction(0))
    most, surely = ends([instance.values(one, NOTIONS[0]) for one in assignments(instance)])
    report = audit_uncertain(**instance.given, pool_size=5)
    assert (report.n_pools, report.n_free) == (0, 8)
    assert report.upper_bound == pytest.approx(float(most), abs=1e-12)
    assert report.lower_bound == pytest.approx(float(surely), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_with_an_error_of_one_person_a_pool(seed):
    instance = made_instance(seed, 2 + seed % 2)
    error = Fraction(1, 4)
    possible = [instance.values(one, "statistical_parity") for one in assignments(instance)
                if is_right(instance, one, error)]  # fmt: skip
    most, surely = ends(possible)
    report = audit_uncertain(
        **instance.given, notion="statistical_parity", pool_size=4, probability_error=0.25
    )
    assert report.upper_bound == pytest.approx(float(most), abs=1e-12)
    assert report.lower_bound == pytest.approx(float(surely), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_where_some_probabilities_are_0(seed):
    """No assignment is outside of a group's interval, though it may not reach the ends."""
    instance = made_instance(seed, 3)
    for row in instance.q[1::3]:
        row.update(a=row["a"] + row["c"], c=Fraction(0))
    given = [instance.values(one, NOTIONS[0]) for one in assignments(instance)
             if is_right(instance, one, Fraction(1, 4))]  # fmt: skip
    most, surely = ends(given)
    report = audit_uncertain(**instance.given, pool_size=4, probability_error=0.25)
    assert report.upper_bound >= float(most) - 1e-12
    assert report.lower_bound <= float(surely) + 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_expected_unfairness_is_the_mean_over_draws(seed):
    instance = made_instance(seed, 2 + seed % 2, n_each=3)
    notion = NOTIONS[seed % 2]
    total = np.zeros(len(list(instance.groups())))
    square = total.copy()
    for one in assignments(instance):
        likely = float(math.prod(row[name] for row, name in zip(instance.q, one, strict=True)))
        values = np.array([float(value) for value in instance.values(one, notion)])
        total += likely * values
        square += likely * values**2
    report = audit_uncertain(**instance.given, notion=notion)
    assert report.expected_unfairness == pytest.approx(np.abs(total).max(), abs=1e-12)
    assert report.exact
    deviations = np.sqrt(np.maximum(square - total**2, 0.0))
    same = np.isclose(total, report.worst.unfairness, atol=1e-12)
    assert np.isclose(deviations[same], report.worst.deviation, atol=1e-7).any()


@pytest.mark.parametrize("seed", range(4))
def test_who_is_known_for_sure_is_audited_as_ever(seed):
    rng = np.random.default_rng(seed)
    race = rng.choice(["a", "b", "c"], 300)
    y, d = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    weight = rng.integers(1, 4, 300)
    known = {"race": {name: (race == name).astype(float) for name in "abc"}}
    found = audit_uncertain(y, d, attribute_probabilities=known, sample_weight=weight)
    plain = audit(
        y, d, sensitive_features={"race": race}, subgroups=ValueSets(max_depth=1),
        sample_weight=weight,
    )  # fmt: skip
    for value in (found.expected_unfairness, found.upper_bound, found.lower_bound):
        assert value == pytest.approx(plain.unfairness, abs=1e-12)
    assert found.verdict == plain.verdict
    assert found.worst.rate == pytest.approx(
        found.worst.overall_rate + found.worst.unfairness / found.worst.share
    )


def test_larger_pools_bound_less():
    rng = np.random.default_rng(0)
    p = rng.random(2_000)
    d = (rng.random(2_000) < p).astype(int)
    given = {"attribute_probabilities": {"race": {"a": p, "b": 1 - p}}}
    bounds = [
        audit_uncertain(None, d, notion="statistical_parity", pool_size=size, **given).upper_bound
        for size in (50, 100, 500, 2_000, 2_001)
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


def test_truth_is_unbiased_where_decisions_know_no_more_than_probabilities():
    rng = np.random.default_rng(1)
    n = 4_000
    p = rng.beta(0.5, 0.5, n)
    sex = rng.choice(["F", "M"], n)
    y = rng.integers(0, 2, n)
    d = (rng.random(n) < 0.2 + 0.4 * p * (sex == "F")).astype(int)
    report = audit_uncertain(
        y, d, sensitive_features={"sex": sex},
        attribute_probabilities={"race": {"a": p, "b": 1 - p}},
    )  # fmt: skip
    group = report.worst
    negative = y == 0
    residual = np.where(negative, d - d[negative].mean(), 0.0)
    inside = np.ones(n, bool) if group.rule is None else group.rule.contains({"sex": sex})
    truth = []
    for _ in range(2_000):
        race = np.where(rng.random(n) < p, "a", "b")
        is_in = inside & (np.isin(race, group.categories) | (not group.categories))
        truth.append(residual[is_in].sum() / n)
    error = np.std(truth) / math.sqrt(len(truth))
    assert np.mean(truth) == pytest.approx(group.unfairness, abs=4 * error)
    # Of a standard deviation the standard error is about 1/√(2·2000) of it.
    assert np.std(truth) == pytest.approx(group.deviation, rel=4 / math.sqrt(4_000))
    assert report.lower_bound <= abs(np.mean(truth)) <= report.upper_bound


@pytest.mark.parametrize("seed", range(5))
def test_truth_is_within_the_bound_where_decisions_know_who_is_who(seed):
    """Expected figures are then far off, and the bound holds."""
    rng = np.random.default_rng(seed)
    n = 20_000
    p = rng.beta(0.5, 0.5, n)
    is_a = rng.random(n) < p
    d = (rng.random(n) < np.where(is_a, 0.3, 0.6)).astype(int)
    report = audit_uncertain(
        None, d, notion="statistical_parity",
        attribute_probabilities={"race": {"a": p, "b": 1 - p}},
    )  # fmt: skip
    true = (d - d.mean())[is_a].sum() / n
    group = next(one for one in report.categories if one.categories == ("a",))
    assert abs(true - group.unfairness) > 5 * group.deviation
    assert group.low <= true <= group.high
    assert abs(true) <= report.upper_bound


def test_what_one_search_finds_is_known_to_the_others():
    """A group that surely has as much is expected to have as much, though its search missed it."""
    rng = np.random.default_rng(5)
    n = 60
    known = {"pay": rng.normal(size=n), "age": rng.normal(size=n), "x": rng.normal(size=n)}
    p = np.where(rng.random(n) < 0.8, rng.integers(0, 2, n), rng.random(n))
    report = audit_uncertain(
        None, rng.integers(0, 2, n), notion="statistical_parity", sensitive_features=known,
        attribute_probabilities={"race": {"a": p, "b": 1 - p}}, subgroups="linear", budget=1,
        min_group_size=1,
    )  # fmt: skip
    assert report.lower_bound <= report.expected_unfairness + 1e-12
    assert report.expected_unfairness <= report.upper_bound + 1e-12
    assert abs(report.worst.unfairness) >= report.surely.surely - 1e-12


def test_three_categories_and_two_known_attributes_by_loops():
    """Every set, within every conjunction of two conditions, with pools that are halved."""
    rng = np.random.default_rng(5)
    n = 120
    q = rng.dirichlet([1, 1, 1], n)
    sex, town = rng.choice(["F", "M"], n), rng.choice(["x", "y", "z"], n)
    d = rng.random(n)
    report = audit_uncertain(
        None, d, notion="statistical_parity", decision_probabilities=True, pool_size=10,
        subgroups=Conjunctions(max_depth=2), sensitive_features={"sex": sex, "town": town},
        attribute_probabilities={"race": {name: q[:, j] for j, name in enumerate("abc")}},
    )  # fmt: skip
    residual = d - d.mean()
    expected = 0.0
    for sexes, towns in itertools.product([["F"], ["M"], ["F", "M"]], [*"xyz", "xyz"]):
        known = np.isin(sex, sexes) & np.isin(town, list(towns))
        for chosen in itertools.product([False, True], repeat=3):
            part = q[:, list(chosen)].sum(axis=1)
            expected = max(expected, abs((residual * part)[known].sum()) / n)
    assert report.expected_unfairness == pytest.approx(expected, abs=1e-12)
    assert report.lower_bound <= report.expected_unfairness <= report.upper_bound
