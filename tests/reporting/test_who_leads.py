"""Who can be named leads, and every p-value is said with the group and the search it is of."""

import html

import numpy as np
import pytest

from gerrymend import audit, check_report
from gerrymend.auditing.in_a_sentence import can_be_said
from gerrymend.checker.lead import says_who
from gerrymend.inputs.protected import Column
from gerrymend.reporting.audit.direction import counts_sentence
from gerrymend.reporting.audit.formulas import is_formula, is_sentence
from gerrymend.reporting.audit.lead import brief_sentences
from gerrymend.reporting.audit.people import people_figures
from gerrymend.reporting.audit.verdict import look, verdict_sentences
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.audit.who_leads import described
from gerrymend.reporting.wording import capitalised
from gerrymend.subgroups.linear_rule import LinearRule, Term

HIT = "race = red and sex = F and region = W"
FORMULA = "the worst of all linear thresholds"


def hired(seed):
    """Some are hired less often for each of three attributes, and a small group hardly ever."""
    rng = np.random.default_rng(seed)
    n = 1500
    race = rng.choice(["blue", "green", "red"], n, p=[0.3, 0.5, 0.2])
    sex = rng.choice(["F", "M"], n)
    region = rng.choice(["N", "S", "E", "W"], n)
    hit = (race == "red") & (sex == "F") & (region == "W")
    rate = 0.2 + 0.1 * (sex == "F") + 0.1 * (race == "green") + 0.1 * np.isin(region, ["N", "E"])
    refused = (rng.random(n) < np.where(hit, 0.95, rate)).astype(int)
    attributes = {"race": race, "sex": sex, "region": region}
    how = {"notion": "statistical_parity", "favourable": "negative", "n_permutations": 39}
    return audit(None, refused, sensitive_features=attributes, **how), refused, attributes


@pytest.fixture(scope="module")
def both():
    """Neither p-value is large, and the largest unfairness takes a formula that no sentence has."""
    report, *_ = hired(2)
    assert max(report.p_value, report.sharpest.p_value) <= 0.05
    assert str(report.sharpest.subgroup) == HIT
    assert not can_be_said(report.disadvantaged)
    said = report.in_a_sentence.subgroup
    assert abs(said.unfairness) < 0.8 * report.unfairness
    return report


def flat(text):
    return " ".join(html.unescape(text).replace("\\", "").split())


def test_a_group_that_can_be_named_leads_before_a_formula(both):
    report = both.to_dict()
    assert both.lead is both.sharpest.subgroup
    assert report["lead"]["subgroup"] == HIT
    assert report["lead"]["p_value"] == both.sharpest.p_value
    assert report["lead"]["p_value_of"] == "group"
    assert look(report).heading == "More unfair than allowed"
    told = verdict_sentences(report)
    assert told[0] == report["lead"]["sentence"] == brief_sentences(report)[0]
    assert told[0].startswith(f"The group that stands out is {HIT}, ")
    # Of the formula its figure alone: who that is, and its own p-value, are below.
    found = f"{both.unfairness:.4f}, and no subgroup that was searched has more."
    only = "which only a formula tells (below, for experts), has"
    assert told[-1] == f"{capitalised(FORMULA)}, {only} {found}"
    assert not any("p = " in one for one in told[1:])
    names = [standing for standing, _ in described(report)]
    assert names == ["Stands out", "For experts"]
    (rate, who), _, (answer, _) = people_figures(report)
    assert rate == f"{100 * report['lead']['rate']:.3g} %"
    assert who.startswith(f"rate of positive decisions of {HIT}, against ")
    assert f": {report['lead']['size']} of 1,500 people (rows)" in who
    assert answer == "Unlikely to be chance"
    assert audit_view(report)["subgroups"][0]["name"] == HIT


def test_each_p_value_is_said_with_the_group_and_the_search_it_is_of(both):
    report = both.to_dict()
    n_groups = report["sharpest"]["n_groups"]
    own = f"p = 0.025, after allowing for the {n_groups} groups looked at"
    of_all = (
        f"Could chance explain {FORMULA}? It is unlikely: chance alone makes as much in at most"
    )
    of_all += " 1 of 40 samples where nothing differs (p = 0.025"
    for shown in (str(both), both.to_markdown(), both.to_html()):
        words = flat(shown)
        assert words.index(own) < words.index(of_all)
    gate = " ".join(brief_sentences(report))
    assert f"The largest unfairness, of {FORMULA}, is " in gate
    # On top of the page one is enough, of who is told there.
    tiles = [tile for tile in audit_view(report)["figures"] if "p-value" in tile[0]]
    asks = f"could chance explain it? It counts all of the {n_groups} groups looked at"
    assert tiles == [("p-value", "0.025", asks)]
    rates = [tile[2] for tile in audit_view(report)["figures"] if tile[0].startswith("Rate")]
    assert rates == [one for one in rates if one.startswith("the group that stands out, against")]


def test_two_groups_of_one_paragraph_are_not_both_called_worst(both):
    """How the two differ is said once, and a third one is left to the facts below."""
    told = " ".join(verdict_sentences(both.to_dict()))
    assert "The subgroup treated worst" not in told
    assert counts_sentence("worse") not in told
    assert told.count("Unfairness counts how many people are hit") == 1
    assert "at most three conditions" not in told
    assert "Everyone else" not in str(both)


def test_the_checker_agrees_on_who_leads_and_on_whose_p_value_it_is():
    report, refused, attributes = hired(2)
    data = report.to_dict()

    def problems(lead):
        rows = {"y_true": None, "y_pred": refused, "sensitive_features": attributes}
        return check_report({**data, "lead": lead}, **rows).problems

    assert problems(data["lead"]) == []
    (wrong,) = problems({**data["lead"], "p_value_of": "search"})
    assert wrong == "p_value_of of lead is stated as 'search', and is 'group'."
    formula = {name: data["disadvantaged"].get(name, data["lead"][name]) for name in data["lead"]}
    assert any(one.startswith("subgroup of lead is stated as ") for one in problems(formula))


def test_a_sentence_that_leads_for_a_formula_has_its_own_p_value():
    """Red and green women have most of it, and a part of them stands out by its rate."""
    report, *_ = hired(1)
    data = report.to_dict()
    assert report.lead is report.in_a_sentence.subgroup
    assert data["lead"]["p_value_of"] == "sentence"
    assert data["lead"]["p_value"] == report.in_a_sentence.test.p_value == 1 / 40
    assert "(p = 0.025)" in " ".join(brief_sentences(data))
    told = verdict_sentences(data)
    named, chance, experts = (
        next(i for i, one in enumerate(told) if one.startswith(words))
        for words in (
            f"This group's unfairness is {abs(report.lead.unfairness):.4f}, ",
            "Could chance explain it? It is unlikely: chance alone makes as much, of all groups "
            "with at most three conditions, in at most 1 of 40 samples",
            f"{capitalised(FORMULA)}, which only a formula tells (below, for experts), has "
            f"{report.unfairness:.4f}",
        )
    )
    assert (chance, experts) == (named + 1, len(told) - 1)
    assert f"By its rate alone a part of the subgroup treated worst stands out: {HIT}, " in told[-2]


def test_a_sentence_without_a_test_is_not_given_the_p_value_of_a_formula():
    report, *_ = hired(1)
    data = report.to_dict()
    data["in_a_sentence"]["test"] = None
    assert f"({FORMULA} has p = 0.025)" in " ".join(brief_sentences(data))
    (told,) = (one for one in verdict_sentences(data) if one.startswith("Could chance explain"))
    assert told.startswith(f"Could chance explain {FORMULA}? It is unlikely: ")
    assert told.endswith(f" {report.lead.describe()} was not tested by itself.")


def test_a_sentence_that_leads_and_stands_out_has_its_own_p_value():
    report, refused, attributes = hired(1)
    data = report.to_dict()
    data["sharpest"] |= {"subgroup": data["in_a_sentence"]["subgroup"], "p_value": 0.05}
    data["sharpest"]["within"] = None
    assert "This group's rate is itself" not in " ".join(verdict_sentences(data))
    data["in_a_sentence"]["test"] = None
    told = " ".join(verdict_sentences(data))
    assert "This group's rate is itself unlikely to be chance (p = 0.050, after allowing" in told
    again = check_report(
        {**data, "lead": {**data["lead"], "p_value": 0.05, "p_value_of": "group"}},
        None,
        refused,
        sensitive_features=attributes,
    )
    assert not [one for one in again.problems if "of lead" in one]


def test_a_formula_leads_where_nobody_stands_out(both):
    report = both.to_dict()
    report["sharpest"] |= {"subgroup": None, "deviations": None, "p_value": 0.2}
    assert verdict_sentences(report)[0].startswith(
        "The subgroup treated worst is a mix of people, "
    )
    assert described(report)[0][0] == "Treated worst"


def test_what_is_a_formula_is_known_by_words_rule_and_checker_alike():
    """Of rules over random data: sums of ±1 have no product sign, and a value may have one."""
    rng = np.random.default_rng(0)
    n = 60
    columns = {
        "a·b": Column("a·b", rng.integers(0, 3, n).astype(float), ("x·y", "z", "w")),
        "sex": Column("sex", rng.integers(0, 2, n).astype(float), ("F", "M")),
        "age": Column("age", rng.integers(20, 60, n).astype(float)),
        "pay\x1b": Column("pay\x1b", rng.normal(size=n)),
    }
    levels = {name: one.categories for name, one in columns.items()}
    terms = [Term("a·b", True, "x·y"), Term("a·b", True, "z"), Term("sex", True, "F")]
    terms += [Term("age", False), Term("pay\x1b", False)]
    seen = set()
    for _ in range(300):
        chosen = rng.choice(len(terms), rng.integers(1, 4), replace=False)
        coefficients = rng.choice([-2.0, -1.0, 1.0, 0.5], len(chosen))
        rule = LinearRule(tuple(terms[i] for i in chosen), tuple(coefficients.tolist()),
                          float(rng.choice([-1.0, 0.0, 0.5, 1.0])), levels=levels)  # fmt: skip
        group = Group(rule)
        seen.add((is_formula(group), rule.says_who))
        assert is_sentence(group) == rule.says_who == says_who(group)
        assert not (is_formula(group) and rule.says_who)
    assert seen == {(True, False), (False, True), (False, False)}


def test_who_is_told_by_whom_it_leaves_out_is_said_in_english(both):
    report = both.to_dict()
    worst = {**report["worst"], "subgroup": "not (sex = F and region = W)"}
    untold = {"sharpest": report["sharpest"] | {"subgroup": None}, "in_a_sentence": None}
    told = verdict_sentences(report | untold | {"worst": worst, "disadvantaged": worst})
    assert any(" is all but sex = F and region = W, " in one for one in told)


def test_who_leads_and_is_within_gamma_is_told_from_what_exceeds_it(both):
    report = both.to_dict()
    own = abs(report["sharpest"]["subgroup"]["unfairness"])
    told = " ".join(verdict_sentences(report | {"gamma": 1.01 * own}))
    found = f"{both.unfairness:.4f} is not allowed: a mix of people, "
    about = f"The verdict is about a larger group ({FORMULA}), whose unfairness of {found}"
    assert f"; {1.01 * own:g} is allowed. {about}" in told
    assert "For experts" not in told
    assert "The verdict is about" not in " ".join(verdict_sentences(report))


def test_a_quick_search_is_told_of_only_where_the_p_value_would_seem_wrong(both):
    report = both.to_dict() | {"p_value": 0.2, "searched_unfairness": 0.02, "detectable": 0.03}
    assert "(p = 0.200; the search is a quick one, which finds 0.0200 in these rows)" in " ".join(
        verdict_sentences(report)
    )
    for changes in ({"detectable": 0.9}, {"p_value": 0.05}):
        assert "quick one" not in " ".join(verdict_sentences(report | changes))


def test_what_may_be_chance_is_one_group_and_not_two(both):
    """The worst with at most three conditions is left to the facts below."""
    report = both.to_dict()
    report["sharpest"] |= {"subgroup": None, "deviations": None, "p_value": 0.2}
    few = "Of the groups with at most three conditions"
    assert few in " ".join(verdict_sentences(report))
    assert few not in " ".join(verdict_sentences(report | {"p_value": 0.2}))


class Group(dict):
    """The plain data of a subgroup by a rule."""

    def __init__(self, rule):
        from gerrymend._runtime.errors import inert

        super().__init__(subgroup=inert(rule.describe()), rule=rule.to_dict())


def test_the_group_of_the_json_is_the_one_that_text_and_page_begin_with():
    """Where all is allowed the heading names who stands out, and `lead` was the largest one."""
    rng = np.random.default_rng(6)
    n = 3000
    town = rng.choice(["Au", "Bad Ems", "Ulm", "Rom"], n, p=[0.04, 0.3, 0.3, 0.36])
    sex = rng.choice(["F", "M"], n)
    rate = np.where(town == "Au", 0.75, np.where(sex == "F", 0.36, 0.26))
    refused = (rng.random(n) < rate).astype(int)
    attributes = {"town": town, "sex": sex}
    report = audit(None, refused, sensitive_features=attributes, notion="statistical_parity",
                   favourable="negative", n_permutations=39, subgroups="conjunctions",
                   gamma=0.2)  # fmt: skip
    data = report.to_dict()
    assert max(data["p_value"], data["sharpest"]["p_value"]) <= 0.05
    sharp = data["sharpest"]["subgroup"]["subgroup"]
    assert sharp != data["worst"]["subgroup"]
    assert (data["lead"]["subgroup"], data["lead"]["p_value_of"]) == (sharp, "group")
    assert str(report.lead) == sharp
    assert f"{sharp} stands out" in look(data).heading
    assert audit_view(data)["subgroups"][0]["name"] == sharp
    named = [one for one in verdict_sentences(data) if " of 3,000 rows" in one]
    assert named[0] == data["lead"]["sentence"]
    rows = {"y_true": None, "y_pred": refused, "sensitive_features": attributes}
    assert check_report(data, **rows).problems == []
    lie = {name: data["worst"].get(name, data["lead"][name]) for name in data["lead"]}
    problems = check_report({**data, "lead": lie}, **rows).problems
    assert any(one.startswith("subgroup of lead is stated as ") for one in problems)
