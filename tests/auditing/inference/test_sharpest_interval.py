"""The interval of who stands out has paid for having looked at all groups that can be named."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gerrymend import audit, check_report
from gerrymend.notions import MEAN_OUTCOME
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.wording import percent
from tests.auditing.inference.test_standing_out import small_group_hit_hard

HIT = "region = West and ethnicity = B"


def hit_hard(**how):
    y, p, attributes, hit = small_group_hit_hard()
    how = {"notion": "false_negative_rate", "favourable": "positive", "n_permutations": 39,
           "gamma": 0.001, "subgroups": "conjunctions"} | how  # fmt: skip
    return audit(y, p, sensitive_features=attributes, **how), (y, p, attributes, hit)


@pytest.fixture(scope="module")
def report():
    return hit_hard()[0]


def test_it_is_clopper_and_pearsons_at_the_level_of_all_groups_at_once(report):
    _, (y, p, _, hit) = hit_hard()
    assert str(report.sharpest.subgroup) == HIT
    rows = hit & (y == 1)
    level = 1 - 0.05 / report.sharpest.n_groups
    missed = int((p[rows] == 0).sum())
    ends = stats.binomtest(missed, int(rows.sum())).proportion_ci(level, "exact")
    assert report.sharpest.rate_interval == pytest.approx(ends)
    plain = stats.binomtest(missed, int(rows.sum())).proportion_ci(0.95, "exact")
    assert report.sharpest.rate_interval.low < plain.low


def test_of_numbers_it_is_students():
    rng = np.random.default_rng(0)
    n = 900
    town = rng.choice(list("abc"), n)
    days = rng.normal(20, 5, n) + 4 * (town == "b")
    report = audit(None, days, sensitive_features={"town": town}, favourable="negative",
                   notion=replace(MEAN_OUTCOME, unit="days"), subgroups="conjunctions",
                   n_permutations=39)  # fmt: skip
    assert str(report.sharpest.subgroup) == "town = b"
    own = days[town == "b"]
    level = 1 - 0.05 / report.sharpest.n_groups
    spread = np.sqrt(own.var(ddof=1) / len(own))
    low, high = stats.t.interval(level, len(own) - 1, own.mean(), spread)
    assert report.sharpest.rate_interval == pytest.approx((low, high), rel=2e-3)
    assert "days, allowing for the 3 groups looked at" in " ".join(str(report).split())


def test_every_output_has_it_beside_who_stands_out(report):
    low, high = (percent(end) for end in report.sharpest.rate_interval)
    told = f"{low} to {high}, allowing for the {report.sharpest.n_groups} groups looked at"
    assert f"95 % interval of its rate: {told}" in " ".join(str(report).split())
    assert told in report.to_markdown().replace("\\", "")
    cards = audit_view(report.to_dict())["subgroups"]
    (card,) = (one for one in cards if one["standing"] == "Stands out")
    assert dict(card["facts"])["95 % interval"] == f"false negative rate {told}"
    assert report.to_dict()["sharpest"]["rate_interval"] == list(report.sharpest.rate_interval)


def test_it_is_told_also_where_another_group_leads(report):
    data = report.to_dict() | {"p_value": 0.025}
    for name in ("worst", "disadvantaged", "favoured"):
        if data[name] is not None:
            data[name]["p_value"] = 0.025
    cards = audit_view(data)["subgroups"]
    assert cards[0]["standing"] != "Stands out"
    (card,) = (one for one in cards if one["standing"] == "Stands out")
    assert "allowing for the " in dict(card["facts"])["95 % interval"]


def test_the_checker_works_it_out():
    report, (y, p, attributes, _) = hit_hard()
    data = report.to_dict()
    rows = {"y_true": y, "y_pred": p, "sensitive_features": attributes}
    assert check_report(data, **rows).problems == []
    data["sharpest"]["rate_interval"][0] += 1e-6
    (problem,) = check_report(data, **rows).problems
    assert problem.startswith("The sharpest group: its rate_interval is stated as [")
    data["sharpest"] |= {"subgroup": None, "deviations": None, "within": None}
    problems = check_report(data, **rows).problems
    assert "rate_interval of sharpest is stated, and no group, or none was looked at." in problems


@pytest.mark.slow
def test_it_misses_the_truth_seldom_though_the_group_was_chosen():
    """Of 300 samples at most 5 % may: more than 25 misses have a chance of 0.4 % then."""
    rng = np.random.default_rng(1)
    told = missed = naive = 0
    for sample in range(300):
        n = 400
        town, sex = rng.choice(list("abcdef"), n), rng.choice(["F", "M"], n)
        truth = np.where((town == "a") & (sex == "F"), 0.6, 0.4)
        decided = (rng.random(n) < truth).astype(int)
        found = audit(None, decided, sensitive_features={"town": town, "sex": sex},
                      notion="statistical_parity", favourable="negative", n_permutations=19,
                      subgroups="marginals" if sample % 2 else "conjunctions").sharpest  # fmt: skip
        if found.subgroup is None:
            continue
        told += 1
        inside = found.subgroup.contains({"town": town, "sex": sex})
        true_rate = truth[inside].mean()
        low, high = found.rate_interval
        missed += not low <= true_rate <= high
        ends = stats.binomtest(int(decided[inside].sum()), int(inside.sum())).proportion_ci()
        naive += not ends.low <= true_rate <= ends.high
    assert told > 60
    assert missed <= 25
    assert naive > 4 * missed  # an interval of the group alone
