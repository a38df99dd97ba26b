"""What reports say of scores: in text, Markdown, pages and JSON."""

import json
import re

import numpy as np
import pytest

from gerrymend import ExplicitGroups, Multicalibration, audit


def scored(n=900, *, numbers=False, effect=0.35):
    rng = np.random.default_rng(3)
    race = rng.choice(["Black", "White"], n)
    sex = rng.choice(["F", "M"], n)
    score = rng.beta(2, 2, n).round(3)
    chance = np.where(race == "Black", np.clip(score - effect, 0, 1), score)
    happened = np.where(rng.random(n) < chance, "yes", "no")
    if numbers:
        score = 10 * score
        happened = 10 * chance + rng.normal(0, 1, n)
    return happened, score, {"race": race, "sex": sex}


def report_of(*, numbers=False, effect=0.35, **how):
    y, p, features = scored(numbers=numbers, effect=effect)
    how = {"notion": Multicalibration(5), "subgroups": "conjunctions", **how}
    return audit(y, p, sensitive_features=features, **how)


def flat(text):
    return " ".join(text.split())


def test_what_happened_is_told_beside_what_was_predicted():
    report = report_of(n_permutations=199, favourable="negative")
    text = flat(str(report))
    assert re.search(r"is race = Black.*?: [\d.]+ % predicted, [\d.]+ % happened\.", text)
    assert re.search(r"Of its [\d,]+ rows about \d+ fewer are “yes” than was predicted\.", text)
    assert "Hardly: of 199 samples in which every score was right none was as unfair" in text
    assert "The p-value tests “the scores are right for everyone”" in text
    assert "A low score is favourable: one that is too high is worse for a group." in text
    assert "at all scores together" in text
    for word in ("permutation", "shuffle", "overall rate", "reference"):
        assert word not in text


def test_numbers_are_told_in_their_unit_and_what_their_test_takes_for_granted():
    report = report_of(
        numbers=True, notion=Multicalibration(5, unit="days"), n_permutations=99, gamma=0.5
    )
    text = flat(str(report))
    assert re.search(r"[\d.]+ days predicted, [\d.]+ days observed", text)
    assert "of 99 draws of the signs of all errors none was as unfair" in text
    assert "Of skewed errors that is not so although their mean is 0" in text
    assert "Scores are taken for predictions of a number, in days." in text


def test_chance_that_made_it_all_is_told_so():
    report = report_of(effect=0.0, n_permutations=39)
    text = flat(str(report))
    assert "could well be chance: where every score is right, so many rows show as much" in text
    assert "could be chance" in text
    assert "39 simulations" in text


def test_a_report_without_draws_says_how_to_have_them():
    text = flat(str(report_of()))
    assert "was not tested (n_permutations=199, --permutations 199 would)" in text


@pytest.mark.parametrize("numbers", [False, True])
def test_the_page_and_markdown_have_the_curve(numbers):
    report = report_of(numbers=numbers)
    page = report.to_html()
    assert page.count("<svg") == 1
    points = len(report.calibration.group) + len(report.calibration.everyone)
    drawn = re.findall(r"<(?:circle|rect) [cx]+=", page)
    assert len(drawn) == points + 1  # and the frame
    assert "Predicted and happened" in page
    table = report.to_markdown().split("## Predicted and happened")[1].split("##")[0]
    assert len([line for line in table.splitlines() if line.startswith("| ")]) == 7
    assert "predicted" in table
    plain = json.loads(report.to_json())["calibration"]
    assert plain["subgroup"] == report.calibration.rule.describe()
    assert [one["rows"] for one in plain["everyone"]] == [
        one.rows for one in report.calibration.everyone
    ]


def test_other_reports_have_no_curve():
    report = report_of(notion="multiaccuracy")
    assert report.calibration is None
    assert "calibration" not in report.to_dict()
    assert "<svg" not in report.to_html()
    assert "Predicted and happened" not in report.to_markdown()
    plain = report.to_dict()
    assert "null" not in plain
    assert plain["notions"][0]["reference"] == "predicted"
    assert plain["overall_rates"][0]["compared_with"] == "predicted"


def test_bins_of_few_rows_are_not_shown():
    y, p, features = scored(60)
    report = audit(
        y, p, sensitive_features=features, notion=Multicalibration(10), subgroups="marginals"
    )
    for points in (report.calibration.group, report.calibration.everyone):
        assert all(10 <= one.rows <= 50 for one in points)
    assert len(report.calibration.everyone) < 10


def test_a_group_by_a_formula_is_told_with_its_interval():
    rng = np.random.default_rng(0)
    n = 500
    features = {"a": rng.normal(size=n).round(2), "b": rng.normal(size=n).round(2)}
    score = rng.random(n).round(2)
    off = (features["a"] + 2 * features["b"] > 0.5) & (score >= 0.5)
    happened = (rng.random(n) < np.where(off, score / 4, score)).astype(int)
    report = audit(
        happened, score, sensitive_features=features, notion=Multicalibration([0.5]), budget=5
    )
    assert report.worst.rule.to_dict()["kind"] == "within"
    assert report.worst.describe().startswith("score ≥ 0.5, and ")
    assert "score ≥ 0.5" in flat(str(report)).split("“Most” counts")[0]
    lead = report.to_dict()["lead"]
    assert "score ≥ 0.5" in lead["subgroup"]
    assert "score" not in report.calibration.rule.describe()


def test_names_from_the_data_are_escaped():
    y, p, features = scored()
    data = {**features, "y": y, "<b>p</b>": p}
    groups = ExplicitGroups({"<i>all</i> Black": {"race": "Black"}})
    report = audit(
        "y", "<b>p</b>", sensitive_features=["race", "sex"], data=data, subgroups=groups,
        notion="multicalibration",
    )  # fmt: skip
    page = report.to_html()
    assert "&lt;b&gt;p&lt;/b&gt;" in page
    assert "<b>p</b>" not in page
    assert "<i>all" not in page


def test_what_next_is_about_scores():
    text = report_of().to_markdown()
    assert "Scores that are off for a subgroup can be corrected there" in text
    assert "gerrymend fit" not in text
