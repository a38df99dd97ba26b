"""The group that can be said in a sentence leads, where it has most of the worst's unfairness."""

import copy

import numpy as np
import pytest
from scipy import stats

from gerrymend import audit, check_report
from gerrymend.frontier.points import OnRows
from gerrymend.reporting.audit import who_leads
from gerrymend.reporting.audit.intervals import interval_words
from gerrymend.reporting.audit.markdown import audit_markdown
from gerrymend.reporting.audit.other_rows import confirmation, other_rows_sentence
from gerrymend.reporting.audit.page import audit_fragment
from gerrymend.reporting.audit.people import people_figures
from gerrymend.reporting.audit.population import population_sentences
from gerrymend.reporting.audit.said import beside_words, brief_words
from gerrymend.reporting.audit.text import audit_text
from gerrymend.reporting.audit.verdict import look, verdict_sentences
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.frontier.text import worst_in_words
from gerrymend.reporting.wording import percent
from tests.reporting import audits

PLANTED = "sex = F and region = N"


def hiring(seed=0, **how):
    """An audit of whom to hire by the default class: women in the north are hired less often."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], 2_000)
    region = rng.choice(["N", "S", "W"], 2_000)
    age = rng.integers(20, 60, 2_000)
    hired = rng.random(2_000) < np.where((sex == "F") & (region == "N"), 0.25, 0.5)
    how = {"favourable": "positive", **how}
    return audit(None, hired.astype(int), notion="statistical_parity",
                 sensitive_features={"sex": sex, "region": region, "age": age}, **how)  # fmt: skip


@pytest.fixture(scope="module")
def report():
    found = hiring()
    assert found.in_a_sentence.subgroup.describe() == PLANTED
    assert abs(found.in_a_sentence.subgroup.unfairness) > 0.8 * found.unfairness
    return found


def flat(text):
    return " ".join(text.split())


def test_the_planted_group_leads_everywhere(report):
    data = report.to_dict()
    said = data["in_a_sentence"]["subgroup"]
    size = f"{said['size']:,}"
    part = f"{100 * said['unfairness'] / data['disadvantaged']['unfairness']:.1f} %"
    first = verdict_sentences(data)[1]
    assert first.startswith("The subgroup treated worst, of those with at most three conditions,")
    assert f"is {PLANTED}, {size} of 2,000 rows: rate of positive decisions " in first
    # Whom the class finds worst is a figure here, and told for experts below.
    last = verdict_sentences(data)[-1]
    assert last == (
        f"The worst of all linear thresholds, which only a formula tells (below, for experts), has "
        f"{report.unfairness:.4f}, and no subgroup that was searched has more."
    )
    beside = dict(audit_view(data)["subgroups"][0]["facts"])["Beside the worst"]
    assert beside.startswith(f"its unfairness is {part} of that of the worst of all linear")
    assert people_figures(data)[0][1].endswith(f": {PLANTED}")
    assert flat(audit_text(data)).count(f"Treated worst {PLANTED}") == 1
    names = [(one["standing"], one["name"]) for one in audit_view(data)["subgroups"]]
    assert names[0] == ("Treated worst", PLANTED)
    assert names[1][0] == "For experts"
    assert names[1][1].startswith("the worst of all linear thresholds, ")
    assert f"### 1. Treated worst: {PLANTED}" in audit_markdown(data)
    assert audit_fragment(data).index(PLANTED) < audit_fragment(data).index("For experts")
    for text in (audit_text(data), audit_markdown(data), report.to_html()):
        assert "in a sentence" not in flat(text)


def test_nobody_else_is_told_of_who_are_the_rest_of_another(report):
    """All who are not in the formula are not all but the group that leads."""
    assert report.favoured_is_rest
    assert "veryone else" not in str(report)
    assert "veryone else" not in report.to_html()


def test_one_p_value_is_in_a_paragraph_on_a_group_that_is_tested_itself(report):
    """That of the formula, which says no more of the group, stands beside the formula."""
    data = report.to_dict() | {"p_value": 0.001, "n_permutations": 999}
    lead = data["in_a_sentence"]["subgroup"]
    tested = {"p_value": 0.002, "n_groups": 9, "subgroup": lead, "within": 0.5}
    both = data | {"sharpest": {**(data.get("sharpest") or {}), **tested}}
    told = " ".join(verdict_sentences(both))
    assert "This group's rate is itself hardly chance (p = 0.002, after allowing" in told
    assert "p = 0.001" not in told
    both["sharpest"] |= {"within": 1.0}  # as a part of the formula it is no second finding
    assert "p = 0.001" in " ".join(verdict_sentences(both))
    both["sharpest"] |= {"within": 0.5}
    text = flat(audit_text(both))
    below = text.partition("For experts ")[2]
    assert "had a group as unfair (p = 0.001; 999 shuffles can give no less). " in below
    assert "none of its own" not in text
    card = dict(audit_view(both)["subgroups"][0]["facts"])["Chance"]
    assert card.startswith("Hardly chance (p = 0.002, after allowing")


def test_tiles_and_what_exceeds_are_of_the_group_that_leads(report):
    data = report.to_dict()
    told = verdict_sentences(data)
    own = f"{abs(data['in_a_sentence']['subgroup']['unfairness']):.4f}"
    assert f"This group's unfairness is {own}, and 0.01 is allowed." in told
    assert told[-1].startswith("The worst of all linear thresholds, which only a formula tells")
    tiles = {name: (value, remark) for name, value, remark in audit_view(data)["figures"]}
    assert tiles["Unfairness"] == (own, "the subgroup treated worst")
    assert tiles["Rate of positive decisions"][1].startswith("the subgroup treated worst, against")
    assert not any("Largest" in name for name in tiles)


def test_chance_stands_beside_the_group_that_leads(report):
    """One group, one number, one answer; that of the formula is where the formula is."""
    data = with_test(report, 0.001) | {"p_value": 0.002}
    chance = (
        "Could chance explain it? Hardly: of 999 shuffles of who got which decision none had a "
        "group with at most three conditions as unfair (p = 0.001; 999 shuffles can give no less)."
    )
    told = verdict_sentences(data)
    assert told.count(chance) == 1
    assert "p = 0.002" not in " ".join(told)
    view = audit_view(data)
    answer = ("Hardly chance", chance.partition("Hardly: ")[2].removesuffix("."))
    assert [one for one in view["people"] if "chance" in one[0]] == [answer]
    assert chance not in view["verdict"]
    asks = "could chance explain it? It counts all groups with at most three conditions"
    assert ("p-value", "0.001", asks) in view["figures"]
    first, formula, *_ = [dict(card["facts"]) for card in view["subgroups"]]
    assert first["Chance"] == chance
    assert formula["Chance"] == (
        "Could chance explain the worst of all linear thresholds? Hardly: of 999 shuffles of who "
        "got which decision 1 had a group as unfair (p = 0.002)."
    )
    assert formula["Chance"] in flat(audit_text(data))
    assert formula["Proof"].startswith("Exact: none has more.")


def with_test(report, value, n_permutations=999):
    """The report, with a test of the group in a sentence, by so many permutations."""
    data = copy.deepcopy(report.to_dict()) | {"p_value": value, "n_permutations": 999}
    test = {"p_value": value, "n_permutations": n_permutations, "bins": None}
    data["in_a_sentence"]["test"] = test
    return data


def test_a_lead_that_may_be_chance_by_its_own_test_is_said_to_be(report):
    """By its own p-value, also where the formula that it leads before is none."""
    likely = with_test(report, 0.3)
    (told,) = (one for one in verdict_sentences(likely) if "could well be chance" in one)
    assert (
        "so many rows show as much in a group with at most three conditions in about 30 % " in told
    )
    assert look(likely).heading == "More unfair than allowed, which could be chance"
    assert who_leads.may_be_chance(likely)
    of_formula = likely | {"p_value": 0.002}
    (told,) = (one for one in verdict_sentences(of_formula) if "could well be chance" in one)
    assert told.endswith(
        "But the worst of all linear thresholds, below for experts, is hardly chance (p = 0.002)."
    )
    assert look(of_formula).heading == "More unfair than allowed"
    assert not who_leads.may_be_chance(of_formula)
    only_lead = with_test(report, 0.002) | {"p_value": 0.3}
    assert look(only_lead).heading == "More unfair than allowed"
    assert "could well be chance" not in " ".join(verdict_sentences(only_lead))


def test_a_test_that_the_clock_cut_short_says_so(report):
    told = " ".join(verdict_sentences(with_test(report, 0.02, n_permutations=49)))
    assert "(p = 0.020, by 49 of the 999 draws that were asked for; a longer budget" in told
    untimely = with_test(report, 0.02, n_permutations=49) | {
        "p_value": None, "n_permutations": 0, "no_p_value": "no permutation was searched",
        "permutations_asked": 99}  # fmt: skip
    told = " ".join(verdict_sentences(untimely))
    assert "(p = 0.020, by 49 of the 99 draws" in told
    assert "not tested" not in told


@pytest.mark.parametrize(
    ("own", "worst", "both", "words"),
    [
        (30, 60, 30, "all of its rows are in that too"),
        (60, 30, 30, "all of that one's rows are in it too"),
        (55, 60, 55, "all of its rows are in that too"),
        (30, 60, 29, "partly the same people"),
        (60, 60, 60, "the same people"),
        (30, 60, 0, "other people"),
    ],
)
def test_one_group_within_the_other_is_said_to_be(report, own, worst, both, words):
    """By their numbers of rows: those in both, of those in either."""
    data = copy.deepcopy(report.to_dict())
    data["in_a_sentence"]["overlap"] = both / (own + worst - both)
    data["in_a_sentence"]["subgroup"] |= {"share": own / 2_000, "size": own}
    data["disadvantaged"] |= {"share": worst / 2_000, "size": worst + 1}
    assert beside_words(data).endswith(f"linear thresholds; {words}")
    assert f"linear thresholds, {words}; " in brief_words(data)


def test_the_rate_of_who_leads_has_an_interval(report):
    """Clopper and Pearson's, by SciPy; with what it is worth after a search."""
    data = report.to_dict()
    said = data["in_a_sentence"]["subgroup"]
    n = round(said["share"] * data["n_rows"])
    ends = stats.binomtest(round(said["rate"] * n), n).proportion_ci(0.95, "exact")
    shown = f"{100 * ends.low:.1f} % to {100 * ends.high:.1f} %, which is too narrow, as"
    facts = dict(audit_view(data)["subgroups"][0]["facts"])
    assert facts["95 % interval"].startswith(f"rate of positive decisions {shown}")
    assert f"95 % interval of its rate: {shown}" in flat(audit_text(data))
    assert facts["95 % interval"].endswith(
        "worst of many; confidence=0.95 (--confidence 0.95), or rows kept out of the search, "
        "would allow for it"
    )
    known = data | {"population": {"distance": 0.01}}
    assert interval_words(data["in_a_sentence"]["subgroup"], known).endswith(
        "worst of many; the bounds for the people behind the rows allow for that"
    )
    weighted = audit_view(data | {"weighted": True})["subgroups"][0]["facts"]
    assert "95 % interval" not in dict(weighted)


def test_an_interval_is_of_rows_that_were_not_searched_where_there_are_some():
    report = audits.fixed(n_permutations=0)
    there = report.held_out.subgroup
    n = round(there.share * report.held_out.n_rows)
    ends = stats.binomtest(round(there.rate * n), n).proportion_ci(0.95, "exact")
    facts = dict(audit_view(report.to_dict())["subgroups"][0]["facts"])
    assert facts["95 % interval"] == (
        f"false positive rate {percent(ends.low)} to {percent(ends.high)} on the 300 rows that "
        f"were not searched, where it is {percent(there.rate)}"
    )


@pytest.mark.parametrize("why", ["little", "other side of gamma"])
def test_composition_leads_where_the_sentence_has_little_or_is_allowed(report, why):
    data = copy.deepcopy(report.to_dict())
    own = abs(data["in_a_sentence"]["subgroup"]["unfairness"])
    if why == "little":
        data["in_a_sentence"]["subgroup"]["unfairness"] = -0.79 * report.unfairness
    else:
        data["gamma"] = (own + report.unfairness) / 2
    first = verdict_sentences(data)[1]
    assert first.startswith("The subgroup treated worst is a mix of people, ")
    assert f"Few conditions {PLANTED}" in flat(audit_text(data))
    assert "Everyone else" in audit_text(data)


def test_a_frontier_names_the_group_in_a_sentence(report):
    sample = OnRows(0.1, report)
    told = sample.to_dict()
    said = report.in_a_sentence.subgroup
    assert (sample.worst, told["worst_size"], told["worst_rate"]) == (PLANTED, said.size, said.rate)
    part = f"{100 * said.unfairness / report.disadvantaged.unfairness:.1f} %"
    assert worst_in_words(told).startswith(
        f"Treated worst: {PLANTED}, with {part} of the unfairness found ({said.size:,} rows): "
    )


def test_the_headline_names_the_same_rows_by_their_sentence():
    rng = np.random.default_rng(0)
    sex = np.array(["F", "M"])[rng.integers(0, 2, 2000)]
    age = rng.integers(20, 60, 2000)
    hired = rng.random(2000) < np.where((sex == "F") & (age > 45), 0.2, 0.5)
    report = audit(
        None,
        hired.astype(int),
        sensitive_features={"sex": sex, "age": age},
        notion="statistical_parity",
        favourable="positive",
    )
    said = report.in_a_sentence
    assert said.overlap == 1.0
    assert said.subgroup.size == report.worst.size
    words = flat(str(report))
    assert f". The subgroup treated worst is {said.subgroup.describe()}, 357 of 2,000 rows" in words
    assert f"Treated worst {said.subgroup.describe()} 357 rows" in words
    assert "As a formula " in words
    assert "; the same rows" in words
    assert "of that of the worst of all" not in words
    assert "Everyone else" in words
    page = report.to_html()
    assert "the same rows as the first" in page
    assert page.index("Exact: none has more") < page.index("As a formula")
    assert OnRows(0.1, report).to_dict()["worst_who"] == said.subgroup.describe()


@pytest.mark.parametrize("how", ["sentence", "composition", "conjunctions", "unknown", "none"])
def test_who_leads_is_one_key_for_programs(how, report):
    """The same group, sentence and figures as text and page begin with, whoever is the worst."""
    between = (abs(report.in_a_sentence.subgroup.unfairness) + report.unfairness) / 2
    settings = {"sentence": {}, "composition": {"gamma": between}, "none": {"min_group_size": 1900},
                "conjunctions": {"subgroups": "conjunctions", "top": 2, "n_permutations": 19},
                "unknown": {"favourable": None}}[how]  # fmt: skip
    found = hiring(**settings)
    data = found.to_dict()
    lead = data["lead"]
    if how == "none":
        assert found.lead is lead is None
        return
    first = next(one for one in verdict_sentences(data) if one.startswith("The subgroup"))
    assert lead["sentence"] == first
    same = ("unfairness", "size", "rate", "overall_rate", "treated")
    assert {name: lead[name] for name in same} == {name: getattr(found.lead, name) for name in same}
    assert lead["base"] == found.lead.size  # the rate is over all rows
    assert lead["p_value"] == found.p_value
    if how in ("composition", "unknown"):
        assert found.lead is (found.disadvantaged or found.worst)
        assert "·" in lead["subgroup"]
    else:
        assert audit_view(data)["subgroups"][0]["name"] == lead["subgroup"] == PLANTED
    assert lead["treated"] == (None if how == "unknown" else "worse")


def test_the_group_that_leads_is_the_disadvantaged_though_the_favoured_differs_more():
    race = np.repeat(["blue", "green", "red"], [300, 300, 600])
    decided = np.r_[np.tile([1, 0], 150), np.tile([1, 1, 0], 100), np.tile([1, 0], 300)]
    sex = np.tile(["F", "M"], 600)
    decided[:300] = np.where(np.arange(300) % 3, decided[:300], 0)
    A = {"race": race, "sex": sex}
    report = audit(None, decided, notion="statistical_parity", favourable="positive",
                   sensitive_features=A, subgroups="marginals")  # fmt: skip
    assert report.worst.treated == "better"
    assert report.lead is report.disadvantaged
    assert report.to_dict()["lead"]["treated"] == "worse"


def test_lies_about_who_leads_are_caught():
    rng = np.random.default_rng(0)
    A = {"sex": rng.choice(["F", "M"], 400), "age": rng.integers(20, 60, 400)}
    y = (rng.random(400) < np.where(A["sex"] == "F", 0.6, 0.3)).astype(int)
    rows = {"y_true": 0 * y, "y_pred": y, "sensitive_features": A}
    data = audit(**rows, favourable="negative").to_dict()
    assert check_report(data, **rows).ok

    def problems(**changes):
        return " ".join(
            check_report({**data, "lead": {**data["lead"], **changes}}, **rows).problems
        )

    assert "rate of lead is stated as 0.1" in problems(rate=0.1)
    assert "base of lead is stated as 3" in problems(base=3)
    assert "p_value of lead is stated as 0.001" in problems(p_value=0.001)
    assert "subgroup of lead" in problems(subgroup=data["favoured"]["subgroup"])
    assert check_report({**data, "lead": None}, **rows).problems
    without = {name: value for name, value in data.items() if name != "lead"}
    assert check_report(without, **rows).ok


def test_what_other_rows_tell_of_is_said_where_that_is_not_the_group_that_leads():
    """Held-out rows are of the sentence that leads, the bootstrap of the formula behind it."""
    found = hiring(test_size=0.4, confidence=0.9, n_resamples=19)
    data = found.to_dict()
    assert data["lead"]["subgroup"] == found.in_a_sentence.subgroup.describe()
    of_all = "the worst of all linear thresholds"
    lead = data["lead"]["subgroup"]
    rows = f"On 800 rows that were not searched, {lead}: rate of positive decisions "
    assert rows in flat(audit_text(data))
    # The formula is measured as well, and both are called what the text calls them.
    assert f"There, {of_all}: rate of positive decisions " in flat(audit_text(data))
    told = " ".join(confirmation(data))
    assert f"The 800 rows that were not searched confirm that {lead} differs" in told
    assert f"They confirm that {of_all} differs" in told
    # Beside a formula that may be chance the sentence is left to the facts, and so is this of it.
    chance = copy.deepcopy(data) | {"p_value": 0.4, "n_permutations": 99}
    chance["in_a_sentence"]["subgroup"]["unfairness"] *= 0.5
    (sentence,) = confirmation(chance)
    assert lead not in sentence
    assert f"There, {lead}: " in flat(audit_text(chance))
    assert f"Unfairness of {of_all} between " in other_rows_sentence({**data, "held_out": None})
    plain = audits.fixed(n_permutations=0).to_dict()
    lead = plain["lead"]["subgroup"]
    assert f"that were not searched, {lead}: false positive rate" in flat(audit_text(plain))


def test_a_formula_of_whom_nothing_is_told_is_said_to_be_one(report):
    data = copy.deepcopy(report.to_dict())
    data["disadvantaged"]["composition"] = []
    data["worst"]["composition"] = []
    data["in_a_sentence"] = None
    (lead,) = (one for one in verdict_sentences(data) if one.startswith("The subgroup treated"))
    assert lead.startswith("The subgroup treated worst is one that takes a formula, below, ")


def test_estimates_of_rows_have_two_digits(report):
    population = {"verdict": "undecided", "distance": 0.01, "reason": None, "approximate": True,
                  "confidence": 0.95, "lower_bound": 0.001, "upper_bound": 0.02,
                  "rows_needed": 11_931, "n_resamples": 99}  # fmt: skip
    (sentence,) = population_sentences({**report.to_dict(), "population": population})
    assert sentence.endswith("At least about 12,000 rows like these would tell.")


def test_what_may_be_chance_has_its_formula_below_and_nobody_beside():
    """Of rows in which nothing differs: a group that can be named leads for a formula."""
    rng = np.random.default_rng(0)
    groups = {"sex": rng.choice(["F", "M"], 600), "region": rng.choice(["N", "S", "W"], 600)}
    found = audit(None, rng.integers(0, 2, 600), notion="statistical_parity", n_permutations=39,
                  favourable="positive", sensitive_features=groups, gamma=0.3)  # fmt: skip
    assert found.stands_out is False
    calm = found.to_dict()
    assert who_leads.is_calm(calm)
    cards = audit_view(calm)["subgroups"]
    assert [card["standing"] for card in cards] == ["May be chance", "For experts"]
    assert cards[0]["name"] == calm["in_a_sentence"]["subgroup"]["subgroup"]
    assert dict(cards[1]["facts"])["Proof"].startswith("Exact: none has more.")


def test_a_repr_leads_with_the_group_that_can_be_named(report):
    assert f"lead={PLANTED!r}" in repr(report)
    assert str(report.worst) not in repr(report)
