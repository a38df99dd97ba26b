"""Beside a large group's rate and the overall one, which has the group in it, are the others'."""

import html

import numpy as np
import pytest

from gerrymend import audit, check_report
from gerrymend.frontier.points import OnRows
from gerrymend.reporting.audit.subgroup_words import rest_words
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.frontier.text import worst_in_words


def town(part, **how):
    """Of 1,000 people this part live in Au, of whom 60 % are refused, and 20 % of the others."""
    n = round(1000 * part)
    towns = np.repeat(["Au", "Ulm", "Bonn"], [n, (1000 - n) // 2, 1000 - n - (1000 - n) // 2])
    refused = np.zeros(1000, int)
    refused[: round(0.6 * n)] = 1
    refused[n : n + round(0.2 * (1000 - n))] = 1
    rng = np.random.default_rng(0)
    order = rng.permutation(np.arange(n, 1000))
    refused[n:] = refused[order]
    how = {"notion": "statistical_parity", "favourable": "negative", "subgroups": "marginals"} | how
    return audit(None, refused, sensitive_features={"town": towns}, **how), refused, towns


def flat(text):
    return " ".join(html.unescape(text).replace("\\", "").split())


def test_of_a_large_group_the_others_are_told_in_every_output():
    report, refused, towns = town(0.5)
    data = report.to_dict()
    assert report.lead.describe() == "town = Au"
    rest = refused[towns != "Au"].mean()
    assert report.lead.rest_rate == data["lead"]["rest_rate"] == pytest.approx(rest) == 0.2
    told = "rate of positive decisions 60 %, against 40 % overall and 20 % of everyone else"
    assert told in data["lead"]["sentence"]
    for shown in (str(report), report.to_markdown(), report.to_html()):
        assert told in flat(shown)
    assert "+20 points, 1.50 times the overall rate (20 % of everyone else); unfairness" in flat(
        str(report)
    )
    bars = audit_view(data)["subgroups"][0]["bars"]
    assert [bar["name"] for bar in bars] == ["This group", "Overall", "Everyone else"]
    tiles = {remark for _, _, remark in audit_view(data)["figures"]}
    assert "the subgroup treated worst, against 40 % overall and 20 % of everyone else" in tiles
    words = worst_in_words(OnRows(0.1, report).to_dict())
    assert words.endswith("60 %, overall 40 % (20 % of everyone else)")


@pytest.mark.parametrize(("part", "is_told"), [(0.25, True), (0.24, False), (0.05, False)])
def test_of_a_small_group_the_overall_rate_is_nearly_that(part, is_told):
    report, *_ = town(part)
    assert report.lead.describe() == "town = Au"
    assert ("of everyone else" in report.to_dict()["lead"]["sentence"]) == is_told
    assert report.lead.rest_rate == pytest.approx(0.2, abs=0.002)


def test_the_part_is_of_the_rows_that_the_rate_is_over():
    """Of 1,000 people 100 are in the group, and of the 300 negatives 90."""
    group = np.repeat(["a", "b"], [100, 900])
    y = np.r_[np.zeros(90, int), np.ones(10, int), np.zeros(210, int), np.ones(690, int)]
    p = np.r_[np.ones(60, int), np.zeros(40, int), np.tile([1, 0, 0], 300)]
    report = audit(y, p, sensitive_features={"group": group}, subgroups="marginals",
                   favourable="negative")  # fmt: skip
    assert report.lead.size == 100
    assert "against 43.3 % overall and 33.3 % of everyone else" in flat(str(report))


def test_nothing_is_said_of_them_beside_another_rate_than_the_overall_one():
    report, refused, towns = town(0.5, reference=0.3)
    assert report.lead.rest_rate is None
    assert "of everyone else" not in str(report)
    job = np.tile(["x", "y"], 500)
    within = audit(None, refused, sensitive_features={"town": towns}, control_features={"job": job},
                   notion="statistical_parity", subgroups="marginals")  # fmt: skip
    assert within.worst.rest_rate is None
    assert rest_words({"rate": 0.5, "overall_rate": 0.5, "rest_rate": 0.5}) == ""


def test_the_checker_works_it_out():
    report, refused, towns = town(0.5)
    rows = {"y_true": None, "y_pred": refused, "sensitive_features": {"town": towns}}
    assert check_report(report, **rows).ok
    data = report.to_dict()
    for one in (data["worst"], data["top"][0], data["disadvantaged"], data["lead"]):
        one["rest_rate"] = 0.3
    (problem,) = check_report(data, **rows).problems
    assert problem == "The worst subgroup: its rest_rate is stated as 0.3, and is 1/5."
