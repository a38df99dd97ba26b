"""Flags of all intersections: against brute force, for all pairs and triples, and told safely."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy import stats

from gerrymend import Conjunctions, audit, check_report
from gerrymend.auditing.inference import crossed_groups
from gerrymend.checker import crossed


def people(seed, n=600, effect=0.4):
    """Whether b and c agree decides; neither tells anything by itself, nor together with a."""
    rng = np.random.default_rng(seed)
    A = {name: rng.choice(["x", "y"], n) for name in "abc"}
    chance = np.where(A["b"] == A["c"], 0.5 + effect / 2, 0.5 - effect / 2)
    return A, (rng.random(n) < chance).astype(int)


def flags(A, decided, **how):
    how = {"notion": "statistical_parity", "subgroups": "conjunctions", "discovery_rate": 0.1} | how
    return audit(None, decided, sensitive_features=A, **how)


def by_brute_force(A, decided, depth, rate, floor=10):
    """All values and joint values by name, with Fisher's p-values, and those that are flagged."""
    ps = {}
    for number in range(1, depth + 1):
        for names in itertools.combinations(A, number):
            for values in itertools.product(*(sorted(set(A[name])) for name in names)):
                inside = np.ones(len(decided), dtype=bool)
                for name, value in zip(names, values, strict=True):
                    inside &= A[name] == value
                if not inside.any():
                    continue
                law = stats.hypergeom(len(decided), decided.sum(), inside.sum())
                found = decided[inside].sum()
                p = min(1.0, 2 * min(law.cdf(found), law.sf(found - 1)))
                words = " and ".join(f"{n} = {v}" for n, v in zip(names, values, strict=True))
                large = floor <= inside.sum() <= len(decided) - floor
                ps[words] = p if large else 1.0
    steps = rate / (len(ps) * sum(1 / i for i in range(1, len(ps) + 1)))
    k = max((i for i, p in enumerate(sorted(ps.values()), 1) if p <= i * steps), default=0)
    return ps, {name for name, p in ps.items() if p <= k * steps}


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_all_intersections_are_tested(depth, seed):
    A, decided = people(seed)
    report = flags(A, decided, subgroups=Conjunctions(max_depth=depth))
    ps, expected = by_brute_force(A, decided, depth, 0.1)
    discovery = report.discovery
    assert (discovery.tested, discovery.depth, discovery.capped) == (len(ps), depth, False)
    told = [*report.marginals, *report.intersections.groups, *discovery.groups]
    assert {group.group for group in told if group.flagged} == expected
    assert {"b = x and c = x", "b = x and c = y"} <= expected
    assert discovery.flagged == len(expected)
    for group in told:
        assert group.p_value == pytest.approx(ps[group.group], rel=1e-9)
    assert check_report(report, None, decided, sensitive_features=A).problems == []


def test_the_worst_of_a_search_is_flagged_in_all_that_is_shown():
    A, decided = people(0)
    report = flags(A, decided, n_permutations=99)
    assert report.worst.describe() in {group.group for group in report.discovery.groups}
    text = " ".join(str(report).split())
    assert "b = x and c = x (p < 0.001)" in text
    assert "all in which two attributes meet." in text
    assert "## Flagged where other attributes meet" in report.to_markdown()
    assert "◆ b = x and c = x" in report.to_markdown()
    assert "<bdi>◆ b = x and c = x</bdi>" in report.to_html()
    plain = json.loads(report.to_json())["discovery"]
    assert [one["group"] for one in plain["groups"]] == [g.group for g in report.discovery.groups]


def test_numbers_are_cut_into_quarters():
    rng = np.random.default_rng(3)
    A = {"sex": rng.choice(["F", "M"], 800), "age": rng.integers(20, 60, 800)}
    old = A["age"] > np.quantile(A["age"], 0.75)
    decided = (rng.random(800) < np.where((A["sex"] == "F") & old, 0.95, 0.4)).astype(int)
    report = flags(A, decided, subgroups="linear")
    assert report.discovery.tested == 2 + 2 + 2 * 4  # no two categories for a table
    assert "sex = F and age ≥ 48.5" in {group.group for group in report.discovery.groups}
    assert "numbers in quarters" in str(report)
    result = check_report(report, None, decided, sensitive_features=A)
    assert result.problems == []
    assert "discovery.tested" not in result.fields_not_checked


def test_small_ones_count_as_tested_and_are_not_told():
    A, decided = people(1, n=400)
    A["c"][:3] = "rare"  # 3 people, of whom nothing may be told
    decided[:3] = 1
    report = flags(A, decided, discovery_rate=0.5)
    ps, _ = by_brute_force(A, decided, 2, 0.5)
    discovery = report.discovery
    assert discovery.tested == len(ps)
    shown = len(report.marginals) + len(report.intersections.groups)
    assert discovery.hidden >= sum("rare" in name for name in ps)
    assert discovery.hidden + shown <= discovery.tested
    assert "= rare" not in report.to_json()
    assert "may not be shown" in " ".join(str(report).split())
    assert check_report(report, None, decided, sensitive_features=A).problems == []


def test_too_many_are_left_out_with_a_sentence(monkeypatch):
    A, decided = people(2)
    monkeypatch.setattr(crossed_groups, "MOST_TESTED", 15)
    monkeypatch.setattr(crossed, "_MOST_TESTED", 15)
    report = flags(A, decided, subgroups=Conjunctions(max_depth=3))
    assert (report.discovery.depth, report.discovery.capped) == (2, True)
    assert "all in which three meet were too many" in " ".join(str(report).split())
    monkeypatch.setattr(crossed_groups, "MOST_TESTED", 3)
    monkeypatch.setattr(crossed, "_MOST_TESTED", 3)
    report = flags(A, decided)
    # The table of a and b is there in any case.
    assert (report.discovery.tested, report.discovery.capped) == (6 + 4, True)
    words = "each attribute and where a and b meet; all in which two meet were too many."
    assert words in " ".join(str(report).split())


@pytest.mark.parametrize(
    "lie",
    [
        lambda told: told["groups"].pop(0),
        lambda told: told["groups"][0].update(p_value=0.04),
        lambda told: told["groups"][0].update(flagged=False),
        lambda told: told["groups"][0].update(rate=0.5),
        lambda told: told["groups"].append(told["groups"][0]),
        lambda told: told.update(tested=told["tested"] + 1),
        lambda told: told.update(hidden=told["hidden"] + 1),
        lambda told: told.update(depth=3),
        lambda told: told.update(capped=True),
    ],
)
def test_a_lie_about_them_is_refused(lie):
    A, decided = people(0)
    planted = flags(A, decided).to_dict()
    lie(planted["discovery"])
    assert check_report(planted, None, decided, sensitive_features=A).problems


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_null_false_alarms_over_all_intersections_are_at_most_the_level(rate):
    samples = 300
    found = []
    for seed in range(samples):
        A, decided = people(9000 + seed, n=300, effect=0.0)
        report = flags(A, decided, subgroups=Conjunctions(max_depth=3), discovery_rate=rate)
        found.append(report.discovery.flagged > 0)
    assert np.mean(found) <= rate + 3 * math.sqrt(rate * (1 - rate) / samples)
