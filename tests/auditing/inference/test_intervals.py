"""Intervals against textbook values, the influence function row by row, and simulated coverage."""

import numpy as np
import pytest
from scipy import stats

from gerrymend import ExplicitGroups, FairnessNotion, LinearThresholds, audit
from gerrymend.auditing.inference.averages import rate_interval
from gerrymend.auditing.inference.held_out import measure_held_out
from gerrymend.auditing.inference.intervals import estimate
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import ERROR_RATE, FALSE_POSITIVE_RATE, STATISTICAL_PARITY


def tally_of(y, p, group, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    cells = distinct_rows(read_columns({"g": np.asarray(group, int)}))
    return Tally.of_rows(cells, np.asarray(y), np.asarray(p, float), np.asarray(weight, float))


def intervals_of(tally, notion, level=0.95):
    seen = tally.of_notion(notion)
    (group,) = seen.cells.columns
    return estimate(seen, (group.values[seen.cells.active] == 1)[None].astype(float), level).of(0)


@pytest.mark.parametrize(("yes", "n"), [(0, 8), (3, 10), (10, 10), (70, 200), (1, 1)])
def test_a_rate_has_its_exact_interval(yes, n):
    expected = stats.binomtest(yes, n).proportion_ci(0.9, method="exact")
    low, high = rate_interval(np.array([yes / n]), np.array([float(n)]), 0.9)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def influence_interval(notion, y, p, group, weight):
    """The delta method, row by row: unfairness is the mean of z = 1_E·(g − ḡ)·(u − ū).

    A weighted mean's variance is Σ w²·(z − v)² / (Σ w)².
    """
    event, u = notion.in_event(y), notion.outcome(y, p)
    mean_g, mean_u = (np.average(x[event], weights=weight[event]) for x in (group, u))
    z = event * (group - mean_g) * (u - mean_u)
    v = np.average(z, weights=weight)
    deviation = np.sqrt(np.sum(weight**2 * (z - v) ** 2)) / weight.sum()
    return v - 1.96 * deviation, v + 1.96 * deviation


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "notion",
    [FALSE_POSITIVE_RATE, STATISTICAL_PARITY, ERROR_RATE,
     FairnessNotion("doubled", event=(True, True), a=(3, 3), b=(-2, -2))],
)  # fmt: skip
def test_of_many_rows_it_is_the_delta_methods(weighted, notion):
    rng = np.random.default_rng(0)
    n = 200_000
    group, y = rng.random(n) < 0.3, rng.integers(0, 2, n)
    p = (rng.random(n) < np.where(group, 0.5, 0.3) + 0.1 * y).astype(float)
    weight = rng.choice([1.0, 2.0, 3.0], n) if weighted else np.ones(n)
    _, gap, unfairness = intervals_of(tally_of(y, p, group, weight), notion)
    expected = influence_interval(notion, y, p, group.astype(float), weight)
    width = expected[1] - expected[0]
    assert unfairness == pytest.approx(expected, abs=0.02 * width)
    truth = notion.unfairness(y, p, group, weight)
    assert unfairness.low < truth < unfairness.high
    event = notion.in_event(y)
    share = np.average(event & group, weights=weight)
    assert gap.low < truth / share < gap.high


def test_everyone_outside_decided_and_no_one_inside():
    """Rates of 0 and 1 have intervals, and the group's share varies too."""
    group = np.repeat([1, 0], [20, 80])
    rate, gap, unfairness = intervals_of(
        tally_of(np.zeros(100, int), 1 - group, group), FALSE_POSITIVE_RATE
    )
    assert rate.low == 0.0
    assert rate.high == pytest.approx(1 - 0.025 ** (1 / 20))
    assert -1 <= gap.low < -0.8 < gap.high < 0
    # c = 0.2·0.8 has deviation √(Σ (q − c)²)/n with q = .64 in and .04 out, and Δ = −1.
    deviation = np.sqrt(20 * (0.64 - 0.16) ** 2 + 80 * (0.04 - 0.16) ** 2) / 100
    # Nothing of Δ lies below −1, so the low end is c's high one, symmetric for the logarithm.
    assert unfairness.low == pytest.approx(-0.16 * np.exp(1.959964 * deviation / 0.16), abs=1e-6)
    assert unfairness.high > -0.16 * np.exp(-1.959964 * deviation / 0.16)


def test_fractional_decisions_are_within_those_of_whole_ones():
    group = np.repeat([1, 0], [40, 60])
    halves = intervals_of(tally_of(np.zeros(100, int), np.full(100, 0.5), group),
                          FALSE_POSITIVE_RATE)  # fmt: skip
    whole = intervals_of(tally_of(np.zeros(100, int), np.arange(100) % 2, group),
                         FALSE_POSITIVE_RATE)  # fmt: skip
    np.testing.assert_allclose(halves, whole)


GROUPS = ExplicitGroups({"blue": {"race": "blue"}, "old": {"age": (50, None)}, "tiny": {"age": 18}})


def sample(n, rng):
    race = rng.choice(["blue", "green"], n, p=[0.3, 0.7])
    age = rng.integers(19, 80, n)
    age[:3] = 18
    y = rng.integers(0, 2, n)
    p = (rng.random(n) < np.where(race == "blue", 0.6, 0.3)).astype(int)
    return y, p, {"race": race, "age": age}


def test_a_report_lists_named_groups_that_are_large_enough():
    y, p, attributes = sample(600, np.random.default_rng(0))
    report = audit(y, p, sensitive_features=attributes, subgroups=GROUPS, notion="equalized_odds")
    assert [(one.group, one.notion) for one in report.intervals] == [
        ("blue (race = blue)", "false_positive_rate"),
        ("old (age ≥ 50)", "false_positive_rate"),
        ("blue (race = blue)", "false_negative_rate"),
        ("old (age ≥ 50)", "false_negative_rate"),
    ]
    blue = (attributes["race"] == "blue") & (y == 0)
    one = report.intervals[0]
    exact = stats.binomtest(int(p[blue].sum()), int(blue.sum()))
    expected = exact.proportion_ci(1 - 0.05 / 12, method="exact")  # 3 groups, 2 notions, 2 each
    assert one.rate_interval == pytest.approx((expected.low, expected.high))
    assert one.unfairness_interval.low < one.unfairness < one.unfairness_interval.high
    assert report.to_dict()["intervals"][0]["group"] == "blue (race = blue)"
    others = LinearThresholds(search="regression")
    assert audit(y, p, sensitive_features=attributes, subgroups=others).intervals == ()


def truth():
    """Unfairness by false positives in `sample`'s world: half negatives, blue .3 at .6 and .3."""
    overall = 0.3 * 0.6 + 0.7 * 0.3
    return {"blue": 0.5 * 0.3 * (0.6 - overall), "old": 0.0}


@pytest.mark.slow
def test_all_intervals_hold_at_once():
    rng = np.random.default_rng(1)
    n_samples, misses = 1000, 0
    for _ in range(n_samples):
        y, p, attributes = sample(300, rng)
        report = audit(y, p, sensitive_features=attributes, subgroups=GROUPS)
        rates = {"blue": 0.6, "old": 0.39}
        misses += not all(
            one.unfairness_interval.low <= truth()[name] <= one.unfairness_interval.high
            and one.rate_interval.low <= rates[name] <= one.rate_interval.high
            for one in report.intervals
            for name in [one.group.split()[0]]
        )
    assert misses / n_samples <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 300, 2000])
@pytest.mark.parametrize(("inside", "outside"), [(0.5, 0.5), (0.9, 0.1), (0.05, 0.02), (1.0, 0.3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_coverage_on_held_out_rows(n, inside, outside, weighted):
    """At least 95 %, for small samples and extreme rates too.

    Over all 48 comparisons one in a hundred runs may fail by chance: 3.5 binomial errors.
    """
    rng = np.random.default_rng([n, int(100 * inside), weighted])
    share, negatives, n_samples = 0.3, 0.6, 2000
    overall = share * inside + (1 - share) * outside
    gap_truth = inside - overall
    held = np.zeros(2)
    for _ in range(n_samples):
        group, y = rng.random(n) < share, (rng.random(n) >= negatives).astype(int)
        p = rng.random(n) < np.where(group, inside, outside)
        weight = rng.choice([1.0, 4.0], n) if weighted else None
        _, gap, unfairness = intervals_of(tally_of(y, p, group, weight), FALSE_POSITIVE_RATE)
        held += (
            gap.low <= gap_truth <= gap.high,
            unfairness.low <= negatives * share * gap_truth <= unfairness.high,
        )
    error = stats.norm.isf(0.01 / 48) * np.sqrt(0.95 * 0.05 / n_samples)
    assert (held / n_samples >= 0.95 - error).all()


def test_too_few_rows_are_not_measured():
    y, p, attributes = sample(600, np.random.default_rng(0))
    worst = audit(y, p, sensitive_features=attributes, subgroups="marginals").worst
    cells = distinct_rows(read_columns({name: values[:12] for name, values in attributes.items()}))
    few = Tally.of_rows(cells, y[:12], p[:12].astype(float), np.ones(12))
    held_out = measure_held_out(worst, few, searched=few, min_group_size=10)
    assert (held_out.n_rows, held_out.subgroup, held_out.unfairness_interval) == (12, None, None)
    assert measure_held_out(None, few, searched=few, min_group_size=1).subgroup is None
