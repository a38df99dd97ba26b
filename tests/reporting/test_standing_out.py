"""A small group that is hit hard is named, with chance, wherever a report is shown."""

import numpy as np
import pytest

from gerrymend import Conjunctions, audit, check_report
from gerrymend.reporting.audit.chance import chance_sentence, permutation_sentences
from gerrymend.reporting.audit.lead import brief_sentences, passing_sentences
from gerrymend.reporting.audit.next_steps import next_sentences
from gerrymend.reporting.audit.people import people_figures
from gerrymend.reporting.audit.text import audit_text
from gerrymend.reporting.audit.verdict import look, verdict_sentences
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.audit.who_leads import described, headline
from tests.auditing.inference.test_standing_out import small_group_hit_hard

HIT = "region = West and ethnicity = B"


@pytest.fixture(scope="module")
def small():
    """False negatives: the largest unfairness is chance, the small group's rate is not."""
    y, p, attributes, _ = small_group_hit_hard()
    return audit(y, p, sensitive_features=attributes, notion="false_negative_rate", gamma=0.001,
                 favourable="positive", n_permutations=199, subgroups=Conjunctions(2))  # fmt: skip


def test_who_is_no_chance_leads_where_the_largest_may_be(small):
    """The report, its JSON, the page's title and figures, and a gate's line: all have one lead."""
    report = small.to_dict()
    sharp = report["sharpest"]
    assert report["p_value"] > 0.05 >= sharp["p_value"]
    assert small.lead is small.sharpest.subgroup
    assert report["lead"]["subgroup"] == HIT == headline(report)["subgroup"]
    assert report["lead"]["p_value"] == sharp["p_value"]
    assert report["lead"]["base"] == round(sharp["subgroup"]["share"] * report["n_rows"])
    assert report["lead"]["sentence"] == verdict_sentences(report)[0] == brief_sentences(report)[0]
    assert described(report)[0] == ("Stands out", sharp["subgroup"])
    people, cases, chance = people_figures(report)
    assert HIT in people[1]
    assert chance[0] == "Hardly chance"
    assert chance[1].startswith("p = 0.005, after allowing for the ")
    assert f"of its {report['lead']['base']} positives" in cases[1]
    heading = f"More unfair than allowed, which could be chance, but {HIT} stands out"
    assert f"<title>{heading}" in small.to_html()


def with_p_value(report, value):
    """The report, with a p-value of the largest unfairness and of who leads by it."""
    return report | {
        "p_value": value,
        "disadvantaged": report["disadvantaged"] | {"p_value": value},
    }


def test_the_largest_leads_where_it_is_no_chance(small):
    report = with_p_value(small.to_dict(), 0.03)
    assert headline(report) == report["disadvantaged"]
    assert described(report)[0][1] == report["disadvantaged"]
    assert look(report).heading == "More unfair than allowed"
    assert "are in the subgroup treated worst, " in people_figures(report)[0][1]


def test_who_is_no_chance_comes_before_what_may_be(small):
    report = small.to_dict()
    shown = look(report)
    assert shown.heading == (
        f"More unfair than allowed, which could be chance, but {HIT} stands out: look at it first"
    )
    assert shown.kind == "exceeds"
    first, cases, counted, chance, worst, *_ = verdict_sentences(report)
    assert first.startswith(f"The group that stands out is {HIT}, ")
    rate = report["sharpest"]["subgroup"]["rate"]
    assert f"false negative rate {100 * rate:.3g} %, against " in first
    n_groups = report["sharpest"]["n_groups"]
    assert (
        f"hardly chance (p = 0.005, after allowing for the {n_groups} groups looked at; 199 "
        "shuffles can give no less)"
    ) in first
    assert "more are decided" in cases
    assert counted.startswith("Unfairness counts how many people are hit, and this group's is ")
    # Two groups have p-values, and each is named.
    largest = "The largest unfairness to a group's disadvantage could well be chance: "
    assert chance.startswith(largest)
    assert "The largest of all, that of the most favoured group, has p = 0.320." in chance
    assert "may be real all the same" not in chance
    # What is chance is no treatment, also where another group stands out.
    assert worst.startswith("The largest difference to a group's disadvantage may be chance, and ")
    report["sharpest"]["p_value"] = 0.03
    assert ", which is unlikely to be chance (p = 0.030" in verdict_sentences(report)[0]


def test_what_is_within_gamma_is_no_clearance_for_one_that_stands_out(small):
    report = small.to_dict() | {"verdict": "within gamma", "gamma": 0.5}
    first, allowed, _ = next_sentences(report)
    assert first.startswith(f"Look at {HIT} (false negative rate ")
    assert "before signing off" in first
    assert "is within the 0.5 that is allowed" in allowed
    assert "Nothing has to be mended" not in audit_text(report) + small.to_html()
    report["sharpest"] |= {"p_value": 0.2, "subgroup": None}
    (kept,) = next_sentences(report)
    assert kept.startswith("Nothing has to be mended to keep what is allowed")


def test_what_is_within_gamma_is_not_green_beside_one_that_stands_out(small):
    shown = look(small.to_dict() | {"verdict": "within gamma", "gamma": 0.5})
    assert shown.heading == (
        f"Within what is allowed, but {HIT} stands out: look at it before signing off"
    )
    assert shown.kind == "undecided"


def test_no_output_is_read_as_if_the_group_were_large(small):
    for shown in (str(small), small.to_markdown(), small.to_html()):
        assert "for its size" not in " ".join(shown.split()).lower()


def test_less_than_the_least_p_value_is_not_said_of_more(small):
    report = small.to_dict()
    report["sharpest"]["p_value"] = 0.01
    assert "shuffles can give no less" not in verdict_sentences(report)[0]


def test_every_output_names_it(small):
    text, markdown, page = str(small), small.to_markdown(), small.to_html()
    assert text.index(f"\nStands out      {HIT}\n") < text.index("\nMay be chance ")
    assert "hardly chance (p = 0.005, after allowing" in " ".join(text.split())
    # Who is no chance is alone among the figures of the page, too.
    for shown in (markdown, page):
        assert "Hardly chance" in shown
        assert "treated worst" not in shown.lower()
        assert "are in the subgroup treated worst, " not in shown
    assert markdown.count("| p-value | 0.005 |") == markdown.count("| p-value ") == 1


def test_the_checker_agrees_on_who_leads(small):
    y, p, attributes, _ = small_group_hit_hard()
    report = small.to_dict()
    assert check_report(report, y, p, sensitive_features=attributes).problems == []
    for lie in (False, None):
        (problem,) = check_report(
            report | {"stands_out": lie}, y, p, sensitive_features=attributes
        ).problems
        assert problem == f"stands_out is stated as {lie}, and is True."
    figures = {name: report["worst"][name] for name in report["lead"] if name in report["worst"]}
    report["lead"] |= {**figures, "p_value": report["p_value"]}
    problems = check_report(report, y, p, sensitive_features=attributes).problems
    assert any(one.startswith("subgroup of lead is stated as ") for one in problems)
    assert any(one.startswith("p_value of lead is stated as ") for one in problems)


def test_a_verdict_within_gamma_names_it(small):
    report = with_p_value(small.to_dict(), 0.03) | {"verdict": "within gamma", "gamma": 0.5}
    proven, first, *_ = verdict_sentences(report)
    assert proven.startswith("Proven: ")
    assert HIT in first


def test_nobody_adds_the_cases_of_two_groups_that_share_people(small):
    """By brute force: how much of who stands out is in the largest, and what that has without."""
    y, p, attributes, hit = small_group_hit_hard()
    report = small.to_dict()
    large = small.disadvantaged
    inside = large.contains(attributes) & (y == 1)
    hit = hit & (y == 1)
    assert report["sharpest"]["within"] == pytest.approx((hit & inside).sum() / hit.sum())
    apart = report["disadvantaged"]["apart"]
    assert apart["shared"] == pytest.approx((hit & inside).sum() / inside.sum())
    assert apart["rate"] == pytest.approx((p == 0)[inside & ~hit].mean())
    assert apart["overall_rate"] == pytest.approx((p == 0)[(y == 1) & ~hit].mean())
    told = f"positives are in the first group; without them {100 * apart['rate']:.3g} %, against "
    assert told in " ".join(str(small).split())
    report["sharpest"]["within"] = 0.5
    problems = check_report(report, y, p, sensitive_features=attributes).problems
    assert problems[0].startswith("within of sharpest is stated as 0.5, and is ")


def test_a_part_of_who_leads_is_no_second_finding(small):
    """Where the largest is no chance, and most of who stands out is in it, and much like it."""
    report = with_p_value(small.to_dict(), 0.005)
    report["sharpest"] |= {"within": 0.4}
    assert HIT in " ".join(verdict_sentences(report))
    report["sharpest"] |= {"within": 0.9}
    assert f"By its rate alone a part of the subgroup treated worst stands out: {HIT}" in " ".join(
        verdict_sentences(report)
    )
    # Nor is it one if the rest of who leads is nearly as far off.
    report["disadvantaged"]["gap"] = 0.6 * report["sharpest"]["subgroup"]["gap"]
    shown = [*verdict_sentences(report), *(words for _, words in people_figures(report))]
    assert HIT not in " ".join(shown)
    assert "Stands out" not in dict(described(report))
    (chance,) = (one for one in permutation_sentences(report) if HIT in one)
    assert chance.endswith("part of the first group: 90 % of its positives are in that.")


def test_a_gate_that_passes_tells_who_stands_out(small):
    report = small.to_dict() | {"verdict": "within gamma", "gamma": 0.5}
    told = passing_sentences(report)
    assert HIT in told[0]
    assert told[1].startswith("Unfairness counts how many people are hit, and this group's is ")
    assert told[1].endswith("; 0.5 is allowed.")
    assert passing_sentences(report | {"sharpest": report["sharpest"] | {"p_value": 0.2}}) == []


def test_one_that_may_not_be_told_is_not_named(small):
    report = small.to_dict()
    report["sharpest"] |= {"subgroup": None, "deviations": None}
    told = " ".join(verdict_sentences(report))
    assert "One group's rate is hardly chance (p = 0.005, after allowing for the " in told
    assert "and is not said." in told
    assert HIT not in told


def test_who_leads_and_stands_out_is_named_once(small):
    report = small.to_dict()
    report["sharpest"]["subgroup"] = report["disadvantaged"]
    told = " ".join(verdict_sentences(report))
    assert told.count(report["disadvantaged"]["subgroup"]) == 1
    off = "this group's rate is off by more than chance makes of so few rows"
    assert f"{off}: hardly chance (p = 0.005" in told
    real = " ".join(verdict_sentences(with_p_value(report, 0.005)))
    assert "of so few rows" not in real


def test_calm_words_stay_where_nothing_stands_out():
    rng = np.random.default_rng(0)
    n = 2000
    attributes = {"town": rng.choice(list("abc"), n), "sex": rng.choice(["F", "M"], n)}
    report = audit(rng.integers(0, 2, n), rng.integers(0, 2, n), sensitive_features=attributes,
                   subgroups="conjunctions", n_permutations=99).to_dict()  # fmt: skip
    assert report["p_value"] > 0.05
    assert report["sharpest"]["p_value"] > 0.05
    sentence = chance_sentence(report)
    assert sentence.startswith("So large an unfairness could well be chance: ")
    assert sentence.endswith(
        f"Nor does one of {report['sharpest']['n_groups']} groups that can be named stand out "
        f"(p = {report['sharpest']['p_value']:.3f})."
    )
    assert "stands out" not in " ".join(verdict_sentences(report))


def test_a_further_group_is_told_without_those_of_the_first():
    rng = np.random.default_rng(0)
    n = 1500
    race, sex, town = (rng.choice(list(values), n) for values in ("bgry", "FM", "abc"))
    rate = 0.35 + 0.3 * ((race == "b") & (sex == "M")) + 0.15 * (town == "a")
    p = (rng.random(n) < rate).astype(int)
    report = audit(
        np.zeros(n, int), p, sensitive_features={"race": race, "sex": sex, "town": town}, top=3,
        notion="statistical_parity", favourable="negative", side="disadvantaged",
        subgroups="conjunctions", n_permutations=39,
    )  # fmt: skip
    first, second = report.top
    assert (str(first), str(second)) == ("town = a", "race = b and sex = M")
    group, lead = (race == "b") & (sex == "M"), town == "a"
    shared, rate, others = lead[group].mean(), p[group & ~lead].mean(), p[~lead].mean()
    assert second.apart == pytest.approx((shared, rate, others))
    assert first.apart is None
    told = f"{100 * shared:.1f} % of its rows are in the first group; without them {100 * rate:.1f}"
    assert told in " ".join(str(report).split())
    assert told in report.to_markdown()


def test_what_is_no_more_than_chance_is_not_told_and_that_is_said(small):
    """Neither within gamma nor above it is anyone called worse off for that."""
    report = small.to_dict() | {"detectable": 0.002}
    report["provenance"] |= {"top": 2}
    further = {**report["worst"], "subgroup": "sex = F", "unfairness": 0.0001, "treated": "worse"}
    report["top"] = [report["worst"], further]
    for gamma, verdict in ((0.5, "within gamma"), (0.00005, "exceeds gamma")):
        one = report | {"gamma": gamma, "verdict": verdict}
        further |= {"unfairness": 0.0019, "p_value": 0.2}
        told = audit_text(one)
        assert "sex = F\n" not in told
        assert (
            "No more subgroups are told: the next that was found has no more than what chance "
            "alone finds, up to 0.0020 in 19 of 20 samples where nothing differs."
        ) in " ".join(told.split())
        assert [card["name"] for card in audit_view(one)["subgroups"]].count("sex = F") == 0
        # It is told if that is more than chance finds.
        further |= {"unfairness": 0.0021, "p_value": 0.04}
        assert "\nAlso worse off  sex = F\n" in audit_text(one)
        assert "no more than what chance" not in " ".join(audit_text(one).split())


def test_where_nobody_stands_out_nobody_is_said_to_be_treated_worst():
    """Neither in a page, nor in text, Markdown, JSON and what a quiet gate prints."""
    pytest.importorskip("jinja2")
    y, _, attributes, _ = small_group_hit_hard(n=2000)
    rng = np.random.default_rng(1)
    p = (rng.random(2000) < 0.4).astype(int)
    asked = {"sensitive_features": attributes, "notion": "false_negative_rate",
             "favourable": "positive", "subgroups": "conjunctions"}  # fmt: skip
    for gamma in (0.0001, 0.05):
        report = audit(y, p, **asked, gamma=gamma, n_permutations=99)
        assert report.stands_out is False
        data = report.to_dict()
        told = [str(report), report.to_html(), report.to_markdown(), data["lead"]["sentence"],
                report._repr_html_(), *brief_sentences(data)]  # fmt: skip
        for text in (" ".join(one.split()) for one in told):
            for claim in ("reated worst", "lso worse off", "ost favoured", "lso favoured"):
                assert claim not in text
        words = "The largest difference to a group's disadvantage may be chance, and is that of "
        assert data["lead"]["sentence"].startswith(words)
        # One group, folded in the page, and no figure of it on top.
        assert [standing for standing, _ in described(data)] == ["May be chance"]
        assert "No more subgroups" not in str(report)
        page = report.to_html()
        assert page.index("Nobody is shown to be: ") < page.index("<summary>What may be chance")
        assert page.count('<article class="card">') == 1
        names = [name for name, _, _ in audit_view(data)["figures"]]
        assert [name for name in names if "rate" in name] == []
        assert names.count("p-value") == 1
    # Too few draws can't tell that it is nobody.
    few = audit(y, p, **asked, gamma=0.0001, n_permutations=9)
    assert few.stands_out is None
    assert "The subgroup treated worst is " in " ".join(str(few).split())


def test_the_rate_is_told_in_words_of_the_columns_where_it_is_first_named(small):
    """A reader who does not know what a false negative is knows who was not granted what."""
    report = small.to_dict()
    columns = {"label": "eligible", "decision": "granted", "threshold": None}
    one = report["lead"]
    shown = f"{100 * one['rate']:.3g} % of those with eligible = 1 are decided granted = 0"
    told = verdict_sentences(report | {"columns": columns})[0]
    assert f"rows: {shown} (false negative rate), against " in told
    assert "those with" not in " ".join(verdict_sentences(report))


def test_a_figure_on_top_of_the_page_is_not_told_again_below_it(small):
    view = audit_view(small.to_dict())
    (_, (number, happens), _) = view["people"]
    assert happens.startswith("of its ")
    assert not [one for one in view["verdict"] if number in one and one.startswith("Of its ")]
    assert number in dict(view["subgroups"][0]["facts"])["In cases"]


def test_a_red_page_says_not_to_sign_off_and_at_whom_to_look(small):
    told = " ".join(audit_view(small.to_dict())["next"])
    assert told.startswith(f"Do not sign this off as it is. Look at {HIT} (false negative rate ")


def test_whom_chance_may_have_made_is_not_painted_as_a_finding(small):
    """Nor has it an interval that was made for a group that nobody searched for."""
    report = small.to_dict()
    report["sharpest"] |= {"subgroup": None, "p_value": 0.4, "deviations": None}
    (first, *_) = audit_view(report)["subgroups"]
    assert first["standing"] == "May be chance"
    assert {bar["kind"] for bar in first["bars"]} == {""}
    assert "95 % interval" not in dict(first["facts"])
    (first, *_) = audit_view(small.to_dict())["subgroups"]
    assert first["bars"][0]["kind"] == "rate"
