"""A small group that is hit hard is named, with chance, wherever a report is shown."""

import numpy as np
import pytest

from gerrymend import Conjunctions, audit
from gerrymend.reporting.audit.chance import chance_sentence
from gerrymend.reporting.audit.text import audit_text
from gerrymend.reporting.audit.verdict import look, verdict_sentences
from tests.auditing.inference.test_standing_out import small_group_hit_hard

HIT = "region = West and ethnicity = B"


@pytest.fixture(scope="module")
def small():
    """False negatives: the largest unfairness is chance, the small group's rate is not."""
    y, p, attributes, _ = small_group_hit_hard()
    return audit(y, p, sensitive_features=attributes, notion="false_negative_rate", gamma=0.001,
                 favourable="positive", n_permutations=199, subgroups=Conjunctions(2))  # fmt: skip


def test_who_is_no_chance_comes_before_what_may_be(small):
    report = small.to_dict()
    assert report["p_value"] > 0.05
    assert look(report).heading.endswith("which could be chance, though one group stands out")
    first, cases, chance, lead, *_ = verdict_sentences(report)
    assert first.startswith(f"One group stands out for its size: {HIT}, ")
    rate = report["sharpest"]["subgroup"]["rate"]
    assert f"false negative rate {100 * rate:.3g} %, against " in first
    n_groups = report["sharpest"]["n_groups"]
    assert (
        f"hardly chance (p = 0.005, after allowing for the {n_groups} groups looked at; 199 "
        "shuffles can give no less)"
    ) in first
    assert "more are decided" in cases
    assert chance.startswith("The largest unfairness could well be chance: ")
    assert "may be real all the same" not in chance
    assert lead.startswith("The subgroup treated worst is ")


def test_less_than_the_least_p_value_is_not_said_of_more(small):
    report = small.to_dict()
    report["sharpest"]["p_value"] = 0.01
    assert "shuffles can give no less" not in verdict_sentences(report)[0]


def test_every_output_names_it(small):
    text, markdown, page = str(small), small.to_markdown(), small.to_html()
    assert f"\nStands out      {HIT}\n" in text
    assert "for its size hardly chance (p = 0.005, after allowing" in " ".join(text.split())
    # Who is no chance is the first of the figures of the page, too.
    for shown in (markdown, page):
        assert shown.index("which stands out for its size") < shown.index("perhaps by chance")
    assert "| p-value of one group | 0.005 |" in markdown


def test_a_verdict_within_gamma_names_it(small):
    report = small.to_dict() | {"verdict": "within gamma", "gamma": 0.5, "p_value": 0.03}
    proven, first, *_ = verdict_sentences(report)
    assert proven.startswith("Proven: ")
    assert HIT in first


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
    assert "For its size this group's rate is hardly chance (p = 0.005" in told
    real = " ".join(verdict_sentences(report | {"p_value": 0.005}))
    assert "For its size" not in real


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
        f"Nor does one of {report['sharpest']['n_groups']} groups that can be named stand out for "
        f"its size (p = {report['sharpest']['p_value']:.3f})."
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


def test_what_is_no_more_than_chance_is_said_to_be_so(small):
    report = small.to_dict()
    further = {**report["worst"], "subgroup": "sex = F", "unfairness": 0.0001}
    report["top"] = [report["worst"], further]
    told = " ".join(audit_text(report).split())
    assert "no more than what chance alone finds, up to" in told
    assert "no more than what chance" not in " ".join(audit_text(small.to_dict()).split())
