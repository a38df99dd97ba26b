"""Flags at a false discovery rate: p-values against SciPy, steps by hand, and false alarms."""

import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from gerrymend import ExplicitGroups, audit, audit_counts, check_report
from gerrymend.auditing.inference.counts_within_strata import p_values_within
from gerrymend.auditing.inference.discovery import benjamini_yekutieli
from gerrymend.checker.flags import fisher, within_strata

RACES = np.array(["blue", "green", "red"])


def people(n, seed, effect=0.0):
    rng = np.random.default_rng(seed)
    race, sex = rng.choice(RACES, n), rng.choice(["F", "M"], n)
    p = (rng.random(n) < 0.4 + effect * (race == "blue")).astype(int)
    return {
        "y_true": rng.integers(0, 2, n),
        "y_pred": p,
        "sensitive_features": {"race": race, "sex": sex},
    }


def test_steps_by_hand():
    """m = 4: 1 + 1/2 + 1/3 + 1/4 = 25/12, so that steps are k·0.25/(25/3) = k·0.03."""
    p = [0.055, 0.5, 0.029, 0.091]
    # 0.029 ≤ 0.03, 0.055 ≤ 0.06, 0.091 > 0.09, 0.5 > 0.12: two.
    assert benjamini_yekutieli(p, 4, 0.25) == pytest.approx(0.06)
    # Not the first, and yet the third: all up to it.
    assert benjamini_yekutieli([0.035, 0.065, 0.089], 4, 0.25) == pytest.approx(0.09)
    assert benjamini_yekutieli([0.2, 0.3], 4, 0.25) == pytest.approx(0.03)
    assert benjamini_yekutieli([], 0, 0.25) == 0.25


def test_p_values_of_counts_are_fishers():
    data = people(300, 1, effect=0.2)
    report = audit(**data, subgroups="marginals", discovery_rate=0.1)
    negatives = data["y_true"] == 0
    for group in report.marginals:
        attribute, value = group.group.split(" = ")
        inside = (data["sensitive_features"][attribute] == value)[negatives]
        p = data["y_pred"][negatives]
        table = [
            [np.sum(inside & (p == u)) for u in (1, 0)],
            [np.sum(~inside & (p == u)) for u in (1, 0)],
        ]
        tails = [stats.fisher_exact(table, alternative=one).pvalue for one in ("less", "greater")]
        assert group.p_value == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-9)
        assert group.flagged == (group.p_value <= report.discovery.threshold)
    assert report.discovery.tested == 5 + 6  # values, and combinations
    listed = [*report.marginals, *report.intersections.groups]
    assert report.discovery.flagged == sum(group.flagged for group in listed) > 0
    assert report.intervals == report.marginals


def test_tails_of_the_checker_are_scipys():
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = int(rng.integers(2, 3000))
        size, total = (int(rng.integers(1, rows)) for _ in range(2))
        found = int(rng.integers(max(0, size + total - rows), min(size, total) + 1))
        law = stats.hypergeom(rows, total, size)
        expected = min(1.0, 2 * min(law.cdf(found), law.sf(found - 1)))
        assert fisher(found, size, total, rows) == pytest.approx(expected, rel=1e-8, abs=1e-290)


def test_groups_of_many_classes_are_tested_together():
    """Each class against the rest is a test of its own, of rows and of their counts."""
    rng = np.random.default_rng(4)
    levels = np.array(["later", "now", "soon"])
    race = rng.choice(RACES, 400)
    true = rng.choice(levels, 400)
    given = np.where((race == "blue") & (rng.random(400) < 0.4), "now", rng.choice(levels, 400))
    how = {"notion": ("statistical_parity", "error_rate"), "subgroups": "marginals"}
    report = audit(true, given, sensitive_features={"race": race}, **how, discovery_rate=0.1)
    assert report.discovery.tested == 3 * 3 + 3
    for group in report.marginals:
        inside = race == group.group.split(" = ")[1]
        outcome = given == group.notion.split("[")[1][:-1] if "[" in group.notion else given != true
        law = stats.hypergeom(400, outcome.sum(), inside.sum())
        found = (outcome & inside).sum()
        expected = min(1.0, 2 * min(law.cdf(found), law.sf(found - 1)))
        assert group.p_value == pytest.approx(expected, rel=1e-9)
    assert {g.notion for g in report.marginals if g.flagged} >= {"statistical_parity[now]"}
    assert check_report(report, y_true=true, y_pred=given, sensitive_features={"race": race}).ok
    lines = {"race": race, "label": true, "prediction": given, "count": np.ones(400, int)}
    counted = audit_counts(lines, sensitive_features="race", **how, discovery_rate=0.1)
    assert counted.marginals == report.marginals


@pytest.mark.parametrize(
    "changed",
    [
        {"sample_weight": np.tile([1.0, 2.0], 40)},
        {"sample_weight": np.tile([1.0, 2.0], 40), "control_features": {"job": ["a", "b"] * 40}},
        {"notion": "mean_outcome"},
        {"decision_probabilities": True, "y_pred": np.tile([0.25, 0.75], 40)},
    ],
    ids=str,
)
def test_without_an_exact_test_nothing_is_flagged(changed):
    """Approximate tests promised 10 % and flagged something in half of all null samples."""
    given = {
        "y_true": None,
        "y_pred": np.tile([0, 1, 1, 0], 20),
        "sensitive_features": {"race": ["blue"] * 40 + ["green"] * 40},
        "notion": "statistical_parity",
    }
    with pytest.raises(ValueError, match="discovery_rate is kept by exact tests"):
        audit(**given | changed, discovery_rate=0.1)


def test_flags_against_a_reference_are_refused():
    data = people(200, 2) | {"notion": "statistical_parity", "reference": 0.3}
    with pytest.raises(ValueError, match="with reference they are compared with that"):
        audit(**data, discovery_rate=0.1)


def test_p_values_within_strata_are_those_of_all_deals():
    """Every way to deal the outcomes within each of two strata, or three, one by one."""
    rng = np.random.default_rng(12)
    for _ in range(60):
        strata = [rng.integers(0, 2, (2, rng.integers(1, 7))) for _ in range(rng.integers(1, 4))]
        counts = Counter({0: 1})
        for inside, decided in strata:
            deals = Counter(
                int(inside[list(who)].sum())
                for who in itertools.combinations(range(len(inside)), decided.sum())
            )
            both = Counter()
            for (a, times), (b, others) in itertools.product(counts.items(), deals.items()):
                both[a + b] += times * others
            counts = both
        found = sum(int(inside @ decided) for inside, decided in strata)
        tails = [
            sum(times for k, times in counts.items() if sign * k >= sign * found)
            for sign in (-1, 1)
        ]
        expected = min(1.0, 2 * min(tails) / counts.total())
        sums = [(x @ y, x.sum(), y.sum(), len(x)) for x, y in strata]
        of_found, sizes, outcomes, rows = np.array(sums).T
        ours = p_values_within(np.array([of_found.sum()]), sizes[None], outcomes, rows)
        assert ours[0] == pytest.approx(expected, abs=1e-11)
        assert within_strata([tuple(map(int, one)) for one in sums]) == pytest.approx(expected)


def test_one_stratum_is_fishers_test():
    """Also of many rows, where terms are left out: never less than SciPy's."""
    rng = np.random.default_rng(13)
    for rows in (50, 3000, 200_000, 10**8):
        size, total = (int(rng.integers(1, rows)) for _ in range(2))
        law = stats.hypergeom(rows, total, size)
        for off in (0, 1, 3, 6, 20):
            found = int(np.clip(round(law.mean() + off * law.std()), *law.support()))
            expected = min(1.0, 2 * min(law.cdf(found), law.sf(found - 1)))
            given = (np.array([[size]]), np.array([total]), np.array([rows]))
            p = p_values_within(np.array([found]), *given)[0]
            assert p == pytest.approx(expected, rel=1e-5, abs=1e-11)
            assert p >= min(1.0, expected * (1 - 1e-5))


def within_jobs(n, seed, effect=0.0, n_jobs=3):
    """People whose rates differ by job, as do the races of those who have it."""
    rng = np.random.default_rng(seed)
    job = rng.integers(0, n_jobs, n)
    race = np.where(rng.random(n) < job / n_jobs, "blue", rng.choice(RACES, n))
    sex = rng.choice(["F", "M"], n)
    p = (rng.random(n) < 0.1 + 0.7 * job / n_jobs + effect * (race == "blue")).astype(int)
    return {
        "y_true": None,
        "y_pred": p,
        "notion": "statistical_parity",
        "sensitive_features": {"race": race, "sex": sex},
        "control_features": {"job": np.char.add("job ", job.astype(str))},
    }


def test_flags_within_strata():
    """A group that differs by its jobs alone is not flagged within these; the checker agrees."""
    fair = within_jobs(3000, 1)
    overall = audit(**fair | {"control_features": None}, subgroups="marginals", discovery_rate=0.1)
    assert {g.group for g in overall.marginals if g.flagged} >= {"race = blue"}
    report = audit(**fair, subgroups="marginals", discovery_rate=0.1)
    assert report.discovery.flagged == 0
    unfair = within_jobs(3000, 2, effect=0.15)
    report = audit(**unfair, subgroups="marginals", discovery_rate=0.1)
    assert {g.group for g in report.marginals if g.flagged} >= {"race = blue"}
    rows = {name: unfair[name] for name in ("y_pred", "sensitive_features", "control_features")}
    checked = check_report(report, y_true=None, **rows)
    assert checked.ok, str(checked)
    assert any("p-values" in line for line in checked.checked)
    lie = json.loads(report.to_json())
    lie["marginals"][0]["p_value"] *= 0.9
    assert not check_report(lie, y_true=None, **rows).ok
    text = " ".join(report.to_markdown().split())
    assert "◆ differs from all others, within strata of job" in text
    lines = {"label": None, "prediction": "p", "count": "n", "notion": "statistical_parity"}
    counted = audit_counts(
        unfair["sensitive_features"]
        | unfair["control_features"]
        | {"p": unfair["y_pred"], "n": np.ones(3000, int)},
        sensitive_features=["race", "sex"], control_features="job", subgroups="marginals",
        discovery_rate=0.1, **lines,
    )  # fmt: skip
    assert counted.marginals == report.marginals


def test_groups_that_are_too_small_count_as_tested():
    data = people(60, 6)
    data["sensitive_features"]["race"][:3] = "rare"
    own = ExplicitGroups({"rare women": {"race": "rare", "sex": "F"}, "women": {"sex": "F"}})
    report = audit(**data, subgroups=own, discovery_rate=0.5)
    assert len(report.intervals) == 1
    told = len(report.marginals) + report.marginals_left_out
    told += len(report.intersections.groups) + report.intersections.left_out
    assert report.discovery.tested == 2 + told
    step = 0.5 / (report.discovery.tested * sum(1 / k for k in range(1, 3 + told)))
    assert report.discovery.threshold == pytest.approx(step * max(1, report.discovery.flagged))


def test_marks_and_words():
    data = people(2000, 7, effect=0.3)
    report = audit(**data, subgroups="conjunctions", discovery_rate=0.1, notion="equalized_odds")
    text = " ".join(str(report).split())
    assert "Of the 22 groups that were tested" in text
    assert "race = blue (false positive rate, p < 0.001)" in text
    assert "at a false discovery rate of 10 %" in text
    assert "| ◆ race = blue |" in report.to_markdown()
    assert "◆" in report.to_html()
    plain = audit(**data, subgroups="conjunctions")
    assert "◆" not in plain.to_html() + plain.to_markdown() + str(plain)
    assert {group.p_value for group in plain.marginals} == {None}
    fair = audit(**people(300, 8), subgroups="marginals", discovery_rate=0.01)
    assert "none is flagged at a false discovery rate of 1 %" in " ".join(str(fair).split())


def false_alarms(samples, rate, n=200, subgroups="marginals"):
    """The part of samples with a flag, where no group differs: each flag is then a false one."""
    flagged = [
        audit(**people(n, 1000 + i), subgroups=subgroups, discovery_rate=rate).discovery.flagged
        for i in range(samples)
    ]
    return np.mean(np.array(flagged) > 0)


def test_false_alarms_are_rare():
    """A quick one of the slow one: 20 % at most of samples, 8 of 20 with some luck."""
    assert false_alarms(20, 0.2) <= 0.4


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.1, 0.3])
@pytest.mark.parametrize("n", [60, 200, 1000])
@pytest.mark.parametrize("subgroups", ["marginals", "conjunctions", "value_sets"])
def test_null_false_alarms_are_at_most_the_level(subgroups, n, rate):
    samples = 300
    error = 3 * math.sqrt(rate * (1 - rate) / samples)
    assert false_alarms(samples, rate, n, subgroups) <= rate + error


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.1, 0.3])
@pytest.mark.parametrize(("n", "n_jobs"), [(120, 12), (200, 3), (1000, 40)])
def test_null_false_alarms_within_strata_are_at_most_the_level(n, n_jobs, rate):
    """Rates and groups differ by stratum, many of which are small, and no group within any."""
    samples = 300
    flagged = [
        audit(
            **within_jobs(n, 7000 + i, n_jobs=n_jobs), subgroups="marginals", discovery_rate=rate
        ).discovery.flagged
        for i in range(samples)
    ]
    error = 3 * math.sqrt(rate * (1 - rate) / samples)
    assert np.mean(np.array(flagged) > 0) <= rate + error


@pytest.mark.slow
def test_the_false_part_of_flags_is_at_most_the_level():
    """Blue people differ, and so do all groups of a race; those of a sex don't."""
    parts = []
    for i in range(300):
        report = audit(**people(600, 5000 + i, effect=0.3), subgroups="marginals",
                       discovery_rate=0.2, notion="statistical_parity")  # fmt: skip
        flagged = [group.group for group in report.marginals if group.flagged]
        flagged += [group.group for group in report.intersections.groups if group.flagged]
        false = [name for name in flagged if name.startswith("sex")]
        parts.append(len(false) / max(1, len(flagged)))
    assert np.mean(parts) <= 0.2
