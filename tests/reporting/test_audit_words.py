"""What an audit's words claim: no more than its numbers do."""

import html
import inspect
import io
import re
import shlex

import numpy as np
import pytest

import gerrymend
from gerrymend import Conjunctions, ExplicitGroups, LinearThresholds, audit
from gerrymend.notions import FairnessNotion
from gerrymend.reporting import wording
from gerrymend.reporting.audit.chance import chance_sentence, permutation_sentences
from gerrymend.reporting.audit.flags import discovery_sentences
from gerrymend.reporting.audit.heat_map import heat_map_sentence
from gerrymend.reporting.audit.how import how_facts
from gerrymend.reporting.audit.lead import brief_sentences
from gerrymend.reporting.audit.markdown import audit_markdown, escaped
from gerrymend.reporting.audit.next_steps import next_commands, next_sentences
from gerrymend.reporting.audit.page import audit_page, subgroup_fragment
from gerrymend.reporting.audit.people import people_figures
from gerrymend.reporting.audit.subgroup_words import who_words
from gerrymend.reporting.audit.text import audit_text
from gerrymend.reporting.audit.verdict import look, verdict_sentences
from gerrymend.reporting.audit.words import detection_sentences, gap_sentence
from gerrymend.training.fit import ParityClassifier
from tests.reporting import audits

REVERSED = "live\u202e positive"


def verdict(report):
    return " ".join(verdict_sentences(report))


BLUE = "race = blue and age ≤ 54"


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("there", "words"),
    [
        ([0.02, 0.05, 0.09], f"confirm that {BLUE} differs by more than is allowed: its unf"),
        ([0.001, 0.005, 0.009], f"confirm that {BLUE} differs, but by no more than is allowed: "),
        ([0.001, 0.05, 0.09], f"{BLUE} differs, not that it does by more than is allowed: its un"),
        ([-0.001, 0.04, 0.09], f"show the same direction for {BLUE}, and are too few to tell: "),
        ([-0.02, -0.001, 0.011], f"do not show it of {BLUE}, and are too few to rule it out: "),
        ([-0.009, 0.001, 0.009], f"show no such difference of {BLUE}: its unfairness there is "),
        ([-0.09, -0.05, -0.02], f"show the opposite of {BLUE}: its unfairness there is "),
    ],
)
def test_held_out_rows_confirm_what_their_interval_says(there, words, sign):
    report = audits.fixed().to_dict()
    assert report["gamma"] == 0.01
    report["worst"]["unfairness"] = sign * abs(report["worst"]["unfairness"])
    low, report["held_out"]["subgroup"]["unfairness"], high = sorted(sign * one for one in there)
    report["held_out"]["unfairness_interval"] = [low, high]
    assert f"The 300 rows that were not searched {words}"[-60:] in verdict(report)
    opposite = f"; rows that were not searched show the opposite of {BLUE}"
    assert look(report).heading.endswith(opposite) == ("opposite" in words)


CHANCE = {
    "loud": (0.005, 199, "Could chance explain it? Hardly: of 199 shuffles of who got which "
             "decision none had a group as unfair, of all that were searched (p = 0.005 on the "
             "rows that were searched; 199 shuffles can give no less)."),
    "nearly as loud": (0.003, 999, "of who got which decision 2 had a group as unfair"),
    "one": (0.002, 999, "of 999 shuffles of who got which decision 1 had a group as unfair, "),
    "small": (0.03, 199, "in at most 1 of 33 samples where nothing differs (p = 0.030 on "),
    "the least of 19": (0.05, 19, "Could chance explain it? It is unlikely: chance alone makes as "
                        "much, of all groups searched, in at most 1 of 20 samples where nothing "
                        "differs (p = 0.050 on the rows that were searched); 19 permutations "
                        "can't tell more, and 199 would."),
    "the least of 5": (1 / 6, 5, "Whether it is chance can't be told: 5 permutations are too few."),
    "large": (0.33, 199, "So large an unfairness could well be chance: where nothing differs, so "
              "many rows show as much in about 33 % of samples (p = 0.330 on the rows that were "
              "searched). That test weighs groups by their size: a small one that is hit hard may "
              "be real all the same."),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANCE)
def test_chance_is_told_as_far_as_it_was_tested(case):
    report = audits.fixed().to_dict()
    report["p_value"], report["n_permutations"], words = CHANCE[case]
    report["sharpest"] = None
    assert words in verdict(report)
    assert ("Hardly" in verdict(report)) == (report["p_value"] <= 0.01)


def test_the_p_value_is_of_what_the_quick_search_finds():
    """0.0114 above 0.0096, the line of chance, looks significant; 0.0090 was tested."""
    report = audits.fixed().to_dict() | {
        "p_value": 0.105, "n_permutations": 199, "detectable": 0.0096, "unfairness": 0.0114,
        "searched_unfairness": 0.0090, "sharpest": None, "held_out": None}  # fmt: skip
    told = "p = 0.105; the search is a quick one, which finds 0.0090 in these rows"
    assert f"({told})" in verdict(report)
    assert f"({told})" in " ".join(brief_sentences(report))
    assert f"whole search{told.removeprefix('p = 0.105')}" in audit_page(report)
    same = verdict(report | {"searched_unfairness": 0.0114})
    assert "(p = 0.105)" in same
    assert "quick one" not in same


def test_a_gate_says_that_who_differs_most_may_be_favoured():
    """What leads without `favourable` is whoever differs most, either way."""
    asks = "say which decision people wish for (--favourable)"
    assert asks in " ".join(brief_sentences(audits.fixed().to_dict()))
    known = audits.fixed(favourable="positive").to_dict()
    assert asks not in " ".join(brief_sentences(known))


def test_chance_that_makes_nothing_is_not_said_to_hide_less_than_nothing():
    report = audits.fixed().to_dict() | {"p_value": 0.05, "n_permutations": 19, "detectable": 0.0}
    told = " ".join(permutation_sentences(report))
    assert "In 19 of 20 shuffles (19 in all) the search found no difference at all" in told
    assert "less than" not in told


def test_the_least_p_value_is_that_of_all_families():
    """Of three classes each is a test of its own: with 59 draws p is 3/60 at least."""
    report = audits.fixed().to_dict() | {"p_value": 0.05, "n_permutations": 59}
    (one,) = report["notions"]
    report["notions"] = [{**one, "name": f"{one['name']}[{c}]", "class": c} for c in "abc"]
    assert "59 permutations can't tell more" in chance_sentence(report)
    report["notions"] = report["notions"][:2]
    assert "can't tell more" not in chance_sentence(report)


def test_two_p_values_are_of_two_groups():
    """Both were said to be of "the largest unfairness"."""
    report = audits.fixed(favourable="positive").to_dict()
    assert report["worst"] == report["favoured"] != report["disadvantaged"]
    report |= {"p_value": 0.575, "n_permutations": 199}
    report["disadvantaged"]["p_value"] = 0.74
    told = verdict(report)
    assert "The largest unfairness to a group's disadvantage could well be chance: " in told
    assert "(p = 0.740 on the rows that were searched)" in told
    assert "The largest of all, that of the most favoured group, has p = 0.575." in told
    assert told.count("largest unfairness") == 1


@pytest.mark.parametrize("verdict_is", ["exceeds gamma", "within gamma", "undecided"])
def test_what_may_be_chance_is_said_to_be_so_before_anyone_is_named(verdict_is):
    report = audits.fixed().to_dict() | {"p_value": 0.33, "n_permutations": 199}
    report |= {"verdict": verdict_is, "sharpest": None}
    said = verdict(report)
    assert said.index("could well be chance") < said.index("The subgroup that differs most is")
    text = audit_text(report)
    assert text.startswith("More unfair than allowed, which could be chance\n") == (
        verdict_is == "exceeds gamma")  # fmt: skip
    page = audit_page(report)
    assert 'class="verdict exceeds"' not in page
    # The largest type of a page is not for what may be chance: nobody is named there.
    ((answer, why),) = people_figures(report)
    assert answer == "Could be chance"
    assert why.startswith("where nothing differs, so many rows show as much in about 33 % of ")
    report["p_value"] = 0.005
    assert "are in the subgroup that differs most, " in audit_page(report)
    assert "could be chance" not in audit_text(report)


@pytest.mark.parametrize("verdict_is", ["exceeds gamma", "within gamma", "undecided"])
def test_that_chance_was_not_tested_is_one_line(verdict_is):
    report = audits.fixed().to_dict() | {"p_value": None, "n_permutations": 0, "held_out": None}
    report["verdict"] = verdict_is
    untested = "not tested (n_permutations=199, --permutations 199 would): the worst of many "
    assert verdict(report).count(untested) == 1
    reason = "decisions were trained on these rows"
    assert f"was not tested ({reason}): the worst of many " in verdict(
        report | {"no_p_value": reason}
    )


def test_what_worst_counts_is_said_where_it_is_first_said():
    y, decided, protected = audits.people()
    how = {"sensitive_features": protected, "subgroups": "conjunctions"}
    named = audit(y, decided, favourable="negative", **how)
    counts = "counts both how far a group's rate is off and how many people are in it."
    for report, word in ((named, "Worst"), (audit(y, decided, **how), "Most")):
        for shown in (str(report), report.to_markdown(), html.unescape(report.to_html())):
            words = " ".join(shown.split())
            assert words.count(f"“{word}” {counts}") == 1
            assert words.index(counts) < words.index("This group's unfairness is ")


def test_labels_and_decisions_are_told_by_their_columns():
    y, decided, protected = audits.people()
    report = audit(y, decided, sensitive_features=protected, subgroups="conjunctions",
                   favourable="negative", notion="false_positive_rate")  # fmt: skip
    names = {"label": "reoffended", "decision": "de|tained"}
    shown = [report.to_markdown(**names).replace("\\", ""), html.unescape(report.to_html(**names))]
    for text in map(str.split, shown):
        words = " ".join(text)
        assert re.search(
            r"Of its \d+ negatives \(reoffended = 0\) about \d+ more are decided "
            r"de\|tained = 1 than there would be at the overall rate\.",
            words,
        )
        assert "reoffended = 1 is the positive label, reoffended = 0 the negative one. " in words
        assert "Decided positive are rows with de|tained = 1. The false positive rate is, " in words
        assert "To be decided de|tained = 0 is favourable." in words
        assert "Of those whose label is reoffended = 0, the part that is decided de|tained = 1" \
            in words  # fmt: skip
        assert "“1”" not in words
    cut = report.to_markdown(label="y", decision="score", threshold=0.5)
    assert "more are decided score ≥ 0.5 than" in cut
    assert "To be decided score \\< 0.5 is favourable" in cut
    for wrong in ({"label": 3}, {"decision": b"x"}, {"threshold": "0.5"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            report.to_html(**wrong)


def test_numbers_stay_numbers_and_bounds_stay_true():
    """A bound is never shown smaller than it is, and gamma is never on the wrong side."""
    rng = np.random.default_rng(0)
    for value in [*10 ** rng.uniform(-13, -0.7, 400), 0.010049, 0.0099996, 0.10625]:
        assert float(wording.bound(value)) >= value - 1e-12
        shown, limit = wording.unfairness(value, 0.01), wording.bound(value, 0.01)
        assert (float(shown) > 0.01, float(limit) > 0.01) == (value > 0.01, value > 0.01)
        assert float(wording.unfairness(value)) == pytest.approx(value, rel=0.05, abs=5e-5)
    assert wording.bound(0.10625) == "0.1063"
    assert wording.unfairness(0.01, 0.01) == wording.bound(0.01, 0.01) == "0.0100"
    report = audits.fixed().to_dict()
    for name in ("unfairness", "upper_bound"):
        report[name] = 0.000025
    for verdict_is in ("within gamma", "undecided"):
        report |= {"verdict": verdict_is, "gamma": 0.0001, "marginal_unfairness": 0.0}
        assert "0.000025" in verdict(report)
        assert "below" not in audit_markdown(report)


def one_group():
    """Race differs, and the one group that was named is of another attribute."""
    race, sex = np.repeat(["blue", "green"], 40), np.tile(["F", "M"], 40)
    decided = np.repeat([1, 0, 1], [30, 40, 10])
    return audit(np.zeros(80, int), decided, sensitive_features={"race": race, "sex": sex},
                 subgroups=ExplicitGroups({"women": {"sex": "F"}}), gamma=0.05)  # fmt: skip


def test_a_single_attribute_that_was_not_searched_is_told():
    report = one_group()
    assert report.verdict == "within gamma"
    assert report.marginal_unfairness > 0.05
    text = " ".join(report.to_markdown().split())
    assert "**Within what is allowed, of what was searched.**" in text
    assert (
        "But one attribute at a time, each value and each interval, the largest unfairness is 0.125"
        in text
    )
    assert "One attribute at a time (each value, each interval of a number) shows more" in text
    assert 'class="verdict undecided"' in report.to_html()
    missed = report.to_dict() | {"upper_bound": 0.2, "verdict": "undecided", "exact": False}
    assert "the search missed that group, or it is none of those" in verdict(missed)


def test_that_combinations_add_nothing_is_said_where_it_is_proven():
    race, sex = np.repeat(["blue", "green"], 40), np.tile(["F", "M"], 40)
    decided = np.repeat([1, 0], 40)

    def said(subgroups, **changes):
        report = audit(np.zeros(80, int), decided, sensitive_features={"race": race, "sex": sex},
                       subgroups=subgroups)  # fmt: skip
        return gap_sentence(report.to_dict() | changes)

    assert "the combinations that were searched are no worse" in said("conjunctions")
    assert "is not ruled out" in said("conjunctions", exact=False)
    assert "there were no combinations" in said("marginals")
    assert "the groups that were named" in said(ExplicitGroups({"blue": {"race": "blue"}}))


def test_groups_that_may_not_be_shown_are_not_said_to_have_no_flag():
    report = audits.fixed().to_dict()
    listed = sum(len(report[name]) for name in ("intervals", "marginals", "intersections"))
    report["discovery"] = {"rate": 0.1, "tested": listed + 4, "flagged": 0, "hidden": 4,
                           "depth": 2, "capped": False, "groups": []}  # fmt: skip
    assert discovery_sentences(report)[0] == (
        f"Of the {listed + 4} groups that were tested 4 may not be shown, flagged or not; of the "
        "others none is flagged at a false discovery rate of 10 %."
    )


def test_where_it_lies_is_said_to_be_kept_back_in_the_text():
    report = audits.fixed().to_dict() | {"kept_back": ["core", "composition"]}
    text = " ".join(audit_text(report).split())
    told = "Not told Left out, wholly or in part, as it would tell of a group of few people: where"
    assert told in text
    assert "who is in the groups" not in text
    assert "Not told" not in audit_text(report | {"kept_back": ["composition"]})


def test_what_there_was_no_time_for_is_said_in_every_form():
    late = {"kept_back": ["core", "time"], "marginals_left_out": 3, "intersections_left_out": 2}
    report = audits.fixed().to_dict() | late
    text = " ".join(audit_text(report).split())
    assert (
        "would tell of a group of few people, or there was no time to rule that out: where" in text
    )
    alone = " ".join(audit_text(report | {"kept_back": ["time"]}).split())
    assert "Not told There was no time to work out of all groups whether they would tell" in alone
    detection = " ".join(detection_sentences(report))
    assert "would follow by subtraction, or there was no time to rule that out." in detection
    assert "More time (budget, --budget) shows more." in detection
    assert "figures here, or there was no time to rule that out." in heat_map_sentence(report)


def test_commands_leave_the_audited_decisions_out():
    report = audits.fixed().to_dict() | {"columns": {"label": "repaid", "decision": "granted"}}
    frontier, fit = next_commands(report)
    for line in (frontier, fit):
        assert "--label repaid" in line
        assert "--drop granted" in line
        assert "--test-size 0.3" in line


def test_a_single_attribute_is_not_said_to_show_others():
    """Women under 42 and green men under 30 are decided 1: it may be about either."""
    race, sex, age = (np.array(values) for values in zip(*[
        *[("green", "F", 20 + i % 40) for i in range(60)],
        *[("blue", "M", 20 + i % 40) for i in range(100)],
        *[("green", "M", 20 + i % 40) for i in range(200)],
    ], strict=True))  # fmt: skip
    decided = ((sex == "F") & (age < 42)) | ((race == "green") & (sex == "M") & (age < 30))
    report = audit(np.zeros(360, int), decided.astype(int), subgroups="conjunctions",
                   sensitive_features={"race": race, "sex": sex, "age": age})  # fmt: skip
    sentence = gap_sentence(report.to_dict())
    assert 0 < report.single_unfairness < 0.99 * report.unfairness
    part = f"{100 * report.single_unfairness / report.unfairness:.1f} %"
    assert "at most, of age ≥ 30 (false positive rate 8.5 %, against 25.6 % overall): " in sentence
    assert sentence.endswith(" over all subgroups, which need not be the same people.")
    assert f"{part} of the {report.unfairness:.4f}" in sentence
    assert "% of it" not in sentence
    nothing = gap_sentence(report.to_dict() | {"single_unfairness": 0.0})
    assert "shows nothing of it" in nothing


@pytest.mark.parametrize(("favourable", "who"), [("positive", "F"), ("negative", "M")])
def test_one_attribute_names_who_is_treated_worse_or_whose_interval_it_is(favourable, who):
    """Half are men, who are decided 1 twice as often: either has as much."""
    sex, age = np.repeat(["F", "M"], 200), np.tile(np.repeat([20, 30, 40, 50], 50), 2)
    decided = np.r_[np.tile([1, 0, 0, 0], 50), np.tile([1, 0], 100)]

    def told(decided):
        report = audit(0 * decided, decided, sensitive_features={"sex": sex, "age": age},
                       notion="statistical_parity", favourable=favourable,
                       subgroups="conjunctions").to_dict()  # fmt: skip
        # More over all subgroups: what is said of one attribute is looked at.
        return report | {"unfairness": 2 * report["single_unfairness"]}

    rate = {"F": 25, "M": 50}[who]
    one = f"sex = {who} (rate of positive decisions {rate} %, against 37.5 %)"
    report = told(decided)
    assert f"of {one}: " in gap_sentence(report)
    assert f"One attribute at a time | 0.0625 | {one}" in audit_markdown(report).replace("\\", "")
    # Decided 1 are all from 30 to 40, an interval that is not listed.
    report = told(((age >= 30) & (age <= 40)).astype(int))
    one = "25 ≤ age < 45 (rate of positive decisions 100 %, against 50 % overall)"
    assert f"of {one}: " in gap_sentence(report)
    assert f"One attribute at a time | 0.2500 | {one}" in audit_markdown(report).replace("\\", "")


def test_commands_audit_what_was_audited():
    y, decided, protected = audits.people()
    names = {"race": "two  spaces", "sex": "-dashed", "age": "it's"}
    renamed = {names[name]: values for name, values in protected.items()}

    def commands(**how):
        return next_commands(audit(y, decided, sensitive_features=renamed, **how).to_dict())

    for line in commands(subgroups="value_sets", notion=("error_rate", "statistical_parity")):
        words = shlex.split(line)
        assert [words[words.index(f"--{one}") + 1] for one in ("notion", "subgroups")] == [
            "error_rate,statistical_parity", "value_sets"]  # fmt: skip
        assert words[5:10] == ["--protected", "two  spaces", "--protected=-dashed", "--protected",
                               "it's"]  # fmt: skip
    assert commands(subgroups=LinearThresholds(random_state=5))
    assert all("--depth 3" in line for line in commands(subgroups=Conjunctions(max_depth=3)))
    named = ExplicitGroups({"dashed": {"-dashed": "M"}})
    assert not commands(subgroups=named)
    accuracy = FairnessNotion("accuracy", (True, True), a=(1, 0), b=(-1, 1))
    assert not commands(notion=accuracy)


def test_advice_for_python_names_what_can_be_called_so():
    y, decided, protected = audits.people()
    accuracy = FairnessNotion("accuracy", (True, True), a=(1, 0), b=(-1, 1))
    report = audit(y, decided, sensitive_features=protected, notion=accuracy, gamma=0.0)
    advice = next_sentences(report.to_dict())[-1]
    called = re.findall(r"(\w+)\(\.\.\.\)", advice)
    assert called == ["SubgroupParityClassifier", "pareto_frontier"]
    classifier, sweep = (inspect.signature(getattr(gerrymend, name)) for name in called)
    assert {f"{name}=" for name in classifier.parameters} >= set(re.findall(r"\w+=", advice))
    assert next(iter(sweep.parameters.values())).annotation is ParityClassifier


def wide():
    """Unfair to a third of 45 districts, which a rule must all name."""
    rng = np.random.default_rng(1)
    district, age = rng.integers(0, 45, 1500), rng.choice([25, 45, 65], 1500)
    decided = rng.random(1500) < 0.2 + 0.3 * (district % 3 == 0) + 0.004 * (age - 40)
    names = np.array([f"district {i}" for i in range(45)])[district]
    # Few restarts, not a budget: what is found must not depend on how busy the machine is.
    return audit(np.zeros(1500, int), decided.astype(int), top=2,
                 subgroups=LinearThresholds(restarts=5),
                 sensitive_features={"district": names, "age": age})  # fmt: skip


def of_many_terms(n_terms):
    """A subgroup of so many indicators, the strongest first, as a rule has them."""
    terms = [
        {"attribute": "town", "value": f"t{i}", "coefficient": (i + 1) / 8}
        for i in reversed(range(n_terms))
    ]
    words = " + ".join(f"{term['coefficient']:g}·[town={term['value']}]" for term in terms)
    rule = {"kind": "linear", "terms": terms, "threshold": 2.5}
    return {"subgroup": f"{words} ≥ 2.5", "rule": rule, "composition": []}


def test_a_rule_of_thousands_of_terms_is_shown_by_the_strongest():
    """5,000 indicators were printed whole, in every form but JSON, where they belong."""
    report = audits.fixed().to_dict()
    long = of_many_terms(5000)
    report["worst"] = report["top"][0] = report["worst"] | long
    texts = [
        audit_text(report),
        audit_markdown(report).replace("\\", ""),
        html.unescape(audit_page(report)),
        html.unescape(subgroup_fragment(report["worst"])),
    ]
    for text in texts:
        said = " ".join(text.split())
        assert "a sum of 5,000 terms ≥ 2.5, such as 625·[town=t4999], 625·[town=t4998]" in said
        assert "4,980 more are in the report's JSON" in said
        assert said.count("[town=") < 60
    few = of_many_terms(60)
    assert who_words(few) == few["subgroup"]
    values = {"subgroup": "town = " + "place, " * 2000, "rule": {"kind": "conjunction"},
              "composition": []}  # fmt: skip
    assert "characters more are in the report's JSON" in who_words(values)
    assert len(who_words(values)) < 2100


def test_long_rules_have_a_short_heading_and_are_there_in_full(open_page, tmp_path):
    report = wide()
    assert len(report.worst.describe()) > 500
    page = open_page(report.write_html(tmp_path / "audit.html"), width=390).page
    heading = page.locator("article h3").first
    words = heading.inner_text()
    assert "median age" in words or "terms over district, age" in words
    assert "·" not in words
    assert len(heading.inner_text()) < 150
    details = page.locator("article details").first
    assert not details.locator("p").first.is_visible()
    details.locator("summary").click()
    assert details.locator("p").first.inner_text() == report.worst.describe()
    assert f"- The rule: {escaped(report.worst.describe())}" in report.to_markdown()


def test_no_name_turns_the_words_around_it():
    rich = pytest.importorskip("rich.console")
    y, decided, protected = audits.people()
    named = np.where(protected["race"] == "blue", REVERSED, protected["race"])
    report = audit(y, decided, sensitive_features={"race": named}, subgroups="marginals")
    assert REVERSED in report.to_dict()["worst"]["subgroup"]
    console = rich.Console(width=80, file=io.StringIO())
    console.print(report)
    texts = (report.to_markdown(), report.to_html(), report._repr_html_(), str(report),
             report.worst._repr_html_(), console.file.getvalue())  # fmt: skip
    for text in texts:
        assert "\u202e" not in text
        assert "live⟨U+202E⟩ positive" in " ".join(text.split())


def test_an_empty_category_is_called_so():
    y, decided, protected = audits.people()
    named = np.where(protected["race"] == "blue", "", protected["race"])
    report = audit(y, decided, sensitive_features={"race": named}, subgroups="value_sets")
    assert "race = (empty)" in [one.group for one in report.marginals]
    words = audit(y, decided, sensitive_features={"race": named}, subgroups="marginals").worst
    assert str(words) == "race = (empty)"


def test_how_it_was_done_has_confidence_resamples_and_discovery_rate():
    y, decided, protected = audits.people()
    usual = {"sensitive_features": protected, "subgroups": "marginals"}
    plain = dict(how_facts(audit(y, decided, **usual).to_dict()))
    assert not {"For the people behind the rows", "Flags"} & set(plain)
    asked = audit(y, decided, **usual, confidence=0.9, n_resamples=40, discovery_rate=0.2)
    told = dict(how_facts(asked.to_dict()))
    assert told["For the people behind the rows"] == "90 % confidence, 40 resamples"
    assert told["Flags"] == f"false discovery rate 20 %, {asked.discovery.tested} groups tested"


def test_what_comes_next_is_no_matter_of_python_where_labels_are_lacking():
    rows = {"sensitive_features": {"sex": ["F", "M"] * 40}, "notion": "statistical_parity"}
    decided = [0, 1] * 40
    plain = next_sentences(audit(None, decided, **rows).to_dict())[-1]
    assert plain.startswith("Models are trained on labels, of which there are none here")
    own = next_sentences(audit([0, 1, 1, 0] * 20, decided, **rows, reference=0.3).to_dict())[-1]
    assert "not as a reference of one's own" in own
    for report in (audit(None, decided, **rows), audit([0, 1, 1, 0] * 20, decided, **rows)):
        assert "Python" not in report.to_markdown()
