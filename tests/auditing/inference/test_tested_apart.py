"""Notions that are permuted apart: each p-value is printed beside groups of its own test."""

import copy
import json

import numpy as np
import pytest

from gerrymend import audit, check_report
from gerrymend.reporting.audit.chance import chance_sentence
from gerrymend.reporting.audit.lead import brief_sentences
from gerrymend.reporting.audit.who_leads import headline, is_named
from gerrymend.reporting.wording import p_equals
from tests.marks import slow

SELECTION = "statistical_parity"
POSITIVES = "false_positive_rate"
DRAWS = 99


def people(planted, n=600, seed=3):
    """Few negatives. Planted in either rate alone, by sex: the other one is chance.

    Where more negatives of one sex are decided 1, fewer positives of it are, so that as many are
    in all; and where as many negatives are, all that differs is between positives.
    """
    rng = np.random.default_rng(seed)
    y = np.r_[np.zeros(20, int), np.ones(n - 20, int)]
    sex = np.tile(["F", "M"], n // 2)
    p = rng.integers(0, 2, n)
    if planted == POSITIVES:
        p[:20] = np.tile([1, 0], 10)
        men = np.flatnonzero((y == 1) & (sex == "M"))
        women = np.flatnonzero((y == 1) & (sex == "F"))
        p[y == 1] = 0
        p[rng.choice(women, 140, replace=False)] = 1
        p[rng.choice(men, 150, replace=False)] = 1
    else:
        p[:20] = np.tile([0, 0, 1, 1], 5)
        p[y == 1] = rng.random(n - 20) < np.where(sex[y == 1] == "F", 0.7, 0.3)
    town = rng.choice([f"town {i}" for i in range(12)], n)
    return {"y_true": y, "y_pred": p, "sensitive_features": {"sex": sex, "town": town}}


def of_both(data, first, second, **how):
    usual = {"subgroups": "conjunctions", "n_permutations": DRAWS, "gamma": 0.005}
    return audit(**data, notion=(first, second), **usual | how)


def alone(data, notion, **how):
    usual = {"subgroups": "conjunctions", "n_permutations": DRAWS, "gamma": 0.005}
    return audit(**data, notion=notion, **usual | how)


@pytest.mark.parametrize("order", [(SELECTION, POSITIVES), (POSITIVES, SELECTION)])
def test_the_p_value_is_that_of_the_notion_with_the_largest_unfairness(order):
    """Few negatives, all of whom differ, have less than what chance makes of all rows."""
    data = people(planted=POSITIVES)
    report = of_both(data, *order)
    by_notion = {name: alone(data, name) for name in order}
    assert by_notion[SELECTION].unfairness > by_notion[POSITIVES].unfairness > 0.005
    assert by_notion[SELECTION].p_value > 0.1
    assert by_notion[POSITIVES].p_value == 1 / (1 + DRAWS)
    assert report.worst.notion.name == SELECTION
    assert report.p_value == pytest.approx(min(1, 2 * by_notion[SELECTION].p_value))
    assert report.worst.p_value == report.p_value
    assert report.permutation_test.searched == by_notion[SELECTION].permutation_test.searched
    stated = report.to_dict()
    tests = {one["notions"][0]: one for one in stated["p_values"]}
    assert list(tests) == list(order)
    for name, own in by_notion.items():
        assert tests[name]["p_value"] == pytest.approx(min(1, 2 * own.p_value))
        assert tests[name]["searched_unfairness"] == own.permutation_test.searched
    # The one that is no chance is told, as what it is, and the verdict isn't called chance for it.
    told = chance_sentence(stated)
    assert "could well be chance" in told
    assert p_equals(report.p_value) in told
    assert "But the largest for the false positive rate, 0.0083, is" in told
    assert f"is unlikely to be chance ({p_equals(0.02)}, tested apart)" in told
    assert not str(report).startswith("More unfair than allowed, which could be chance")
    assert check_report(report, **data).ok


@pytest.mark.parametrize("order", [(SELECTION, POSITIVES), (POSITIVES, SELECTION)])
def test_a_largest_unfairness_that_is_no_chance_says_nothing_of_the_other_notion(order):
    data = people(planted=SELECTION)
    report = of_both(data, *order)
    stated = report.to_dict()
    tests = {one["notions"][0]: one["p_value"] for one in stated["p_values"]}
    assert report.worst.notion.name == SELECTION
    assert report.p_value == tests[SELECTION] == 2 / (1 + DRAWS)
    assert tests[POSITIVES] > 0.1
    assert "tested apart" not in chance_sentence(stated)
    assert f"the false positive rate, {alone(data, POSITIVES).unfairness:.4f}"[:30] in " ".join(
        str(report).split()
    )
    assert check_report(report, **data).ok


def test_what_may_be_chance_gives_way_to_who_stands_out_for_its_own_notion():
    """The group that leads has the p-value, the rate and the interval of its own notion."""
    data = people(planted=POSITIVES)
    report = of_both(data, SELECTION, POSITIVES)
    sharp = report.sharpest
    assert sharp.subgroup.notion.name == POSITIVES
    assert report.lead is sharp.subgroup
    own = alone(data, POSITIVES).sharpest
    assert sharp.subgroup.describe() == own.subgroup.describe()
    assert sharp.p_value == pytest.approx(2 * own.p_value)
    lead = report.to_dict()["lead"]
    assert (lead["p_value"], lead["p_value_of"]) == (sharp.p_value, "group")


def random_people(seed, n=240):
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["F", "M"], n), rng.choice(["a", "b", "c"], n)
    y = (rng.random(n) < rng.choice([0.3, 0.8])).astype(int)
    odds = 0.4 + 0.3 * ((sex == "F") & (race == "a")) * (rng.random() < 0.5) * (y == 0)
    p = (rng.random(n) < odds).astype(int)
    return {"y_true": y, "y_pred": p, "sensitive_features": {"sex": sex, "race": race}}


@pytest.mark.parametrize("favourable", [None, "positive"])
@pytest.mark.parametrize("seeds", [range(2), slow(range(2, 42))])
def test_every_group_has_the_p_value_of_its_own_test(seeds, favourable):
    """By the draws of each test made alone, in which the largest has as much as the group."""
    for seed in seeds:
        data = random_people(seed)
        how = {"favourable": favourable, "n_permutations": 39, "gamma": 0.0, "top": 3}
        how |= {"subgroups": "conjunctions"}
        report = audit(**data, notion=(SELECTION, "equalized_odds"), **how)
        draws = {}
        for notion, names in ((SELECTION, [SELECTION]), ("equalized_odds", None)):
            test = audit(**data, notion=notion, **how)
            for name in names or [one.name for one in test.notions]:
                draws[name] = test.permutation_test.families[0].draws
        groups = [report.worst, *report.top, report.disadvantaged, report.favoured]
        for group in filter(None, groups):
            as_bad = (draws[group.notion.name] >= abs(group.unfairness) - 1e-12).sum()
            assert group.p_value == pytest.approx(min(1, 2 * (1 + as_bad) / 40))
        if not report.withheld:
            assert report.p_value == report.worst.p_value
        stated = report.to_dict()
        lead = stated["lead"]
        if lead["p_value_of"] == "search":
            told = (lead["subgroup"], lead["notion"])
            (own,) = {
                group.p_value
                for group in filter(None, groups)
                if (group.describe(), group.notion.name) == told
            }
            assert lead["p_value"] == own
            assert p_equals(own) in " ".join(brief_sentences(stated))
        assert check_report(report, **data).ok, str(check_report(report, **data))


def test_many_classes_are_tested_apart():
    rng = np.random.default_rng(0)
    n = 400
    sex = rng.choice(["F", "M"], n)
    y = rng.choice(list("abc"), n)
    p = np.where((y == "a") & (sex == "F"), "b", y)  # women who are "a" are never told so
    wrong = rng.random(n) < 0.2
    p[wrong] = rng.choice(list("abc"), wrong.sum())
    data = {"y_true": y, "y_pred": p, "sensitive_features": {"sex": sex}}
    report = audit(**data, subgroups="marginals", notion="false_negative_rate",
                   n_permutations=99)  # fmt: skip
    tests = {one["notions"][0]: one for one in report.to_dict()["p_values"]}
    assert list(tests) == [f"false_negative_rate[{c}]" for c in "abc"]
    assert report.worst.notion.name == "false_negative_rate[a]"
    assert report.p_value == tests["false_negative_rate[a]"]["p_value"] == 3 / 100
    for c in "bc":
        own = audit(y == c, p == c, sensitive_features=data["sensitive_features"],
                    subgroups="marginals", notion="false_negative_rate",
                    n_permutations=99)  # fmt: skip
        of_class = tests[f"false_negative_rate[{c}]"]
        assert of_class["p_value"] == pytest.approx(min(1, 3 * own.p_value))
        assert of_class["detectable"] >= own.detectable  # at 5 % over three
    assert check_report(report, **data).ok


def test_the_same_words_for_another_rate_are_another_group():
    """Women are who differ most for both rates: each has its own p-value and interval."""
    data = people(planted=POSITIVES)
    report = of_both(data, SELECTION, POSITIVES, subgroups="marginals", gamma=0.0)
    stated = report.to_dict()
    first = stated["worst"]
    sharp = stated["sharpest"]["subgroup"]
    assert first["notion"] == SELECTION
    assert sharp["notion"] == POSITIVES
    renamed = copy.deepcopy(stated)
    renamed["worst"] |= {name: sharp[name] for name in ("subgroup", "rule")}
    assert not is_named(sharp, renamed["worst"])
    assert headline(renamed) == sharp


def lies(stated):
    """Reports that tell the p-value of one test beside a group of the other."""
    other = next(one for one in stated["p_values"] if one["p_value"] != stated["p_value"])
    whole = copy.deepcopy(stated)
    whole |= {name: other[name] for name in ("p_value", "detectable", "searched_unfairness")}
    yield "of the report", whole
    of_worst = copy.deepcopy(stated)
    for one in (of_worst["worst"], of_worst["top"][0]):
        one["p_value"] = other["p_value"]
    yield "of the worst", of_worst
    both = copy.deepcopy(whole)
    for one in (both["worst"], both["top"][0]):
        one["p_value"] = other["p_value"]
    yield "of both", both
    swapped = copy.deepcopy(stated)
    names = [one["notions"] for one in stated["p_values"]]
    for one, notions in zip(swapped["p_values"], names[::-1], strict=True):
        one["notions"] = notions
    yield "of the tests", swapped
    ordered = copy.deepcopy(swapped)
    ordered["p_values"].reverse()
    yield "of the tests, in order", ordered
    lead = copy.deepcopy(stated)
    lead["lead"]["p_value"] = stated["p_value"]
    yield "of who leads", lead
    rates = copy.deepcopy(stated)
    rates["sharpest"]["subgroup"]["p_value"] = stated["p_value"]
    yield "of who stands out", rates


@pytest.mark.parametrize("order", [(SELECTION, POSITIVES), (POSITIVES, SELECTION)])
def test_the_checker_refuses_the_p_value_of_another_test(order):
    data = people(planted=POSITIVES)
    stated = json.loads(of_both(data, *order).to_json())
    assert check_report(stated, **data).ok
    for which, lie in lies(stated):
        assert not check_report(lie, **data).ok, which
