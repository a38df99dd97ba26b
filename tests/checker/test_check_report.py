"""The checker accepts honest reports, and names every planted lie."""

import ast
import copy
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gerrymend.checker
from gerrymend import ExplicitGroups, FairnessNotion, LinearThresholds, audit, check_report
from gerrymend.checker.composition import wrong_composition
from gerrymend.checker.exact import Attribute, Table
from tests.checking import assert_checked
from tests.marks import slow

CODE = Path(gerrymend.checker.__file__).parent


# What no rows can show: settings, chance, where a report is from, that nothing was left out.
NEVER = {
    "gamma", "min_group_size", "protected_used", "protected_used.*", "provenance",
    "provenance.date", "provenance.versions", "provenance.versions.*", "provenance.random_state",
    "provenance.budget", "provenance.top", "provenance.fingerprint",
    "class.parameters.search", "class.parameters.restarts", "class.parameters.random_state",
    "p_value", "n_permutations", "detectable", "searched_unfairness", "no_p_value",
    "top", "held_out", "partial", "partial.covers", "partial.upper_bound", "favourable", "side",
    "disadvantaged", "favoured", "in_a_sentence", "core", "lead.sentence",
    "lead.chance", "why_fewer",
    "population", "discovery", "population.confidence", "population.distance",
    "population.n_resamples", "population.approximate", "population.reason",
}  # fmt: skip


def unchecked(result):
    """The fields that were not checked, and that some reports' are."""
    return set(result.fields_not_checked) - NEVER


def test_it_shares_no_code_with_the_auditors():
    for path in CODE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom | ast.Import):
                module = getattr(node, "module", None)
                names = [module] if module else [alias.name for alias in node.names]
                for name in names:
                    known = name.startswith(("gerrymend.checker", "collections"))
                    # What users' own functions of numbers take.
                    known |= path.stem == "numbers" and name == "numpy"
                    assert known or name in sys.stdlib_module_names | {"narwhals"}, name
    code = "import sys, gerrymend.checker; print([m for m in sys.modules if 'gerrymend' in m])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in ast.literal_eval(run.stdout) if "." in name}
    assert loaded == {"checker"}


# Honest reports.


def random_column(rng, n):
    """A column of one of many kinds, with ties."""
    return [
        lambda: rng.choice(["blue", "green", "red and blue"], n),
        lambda: rng.random(n) < 0.4,
        lambda: np.where(rng.random(n) < 0.2, None, rng.choice(["x", "y"], n)),
        lambda: rng.integers(0, 3, n),
        lambda: rng.integers(0, 4, n) / 10,
        lambda: pd.Categorical(rng.integers(1, 4, n)),
    ][rng.integers(6)]()


def random_audit(seed):
    """The data of an audit, small and full of ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 90))
    data = {"sensitive_features": {f"attribute {j}": random_column(rng, n) for j in range(2)}}
    data["y_true"] = rng.integers(0, 2, n)
    data["y_pred"] = rng.integers(0, 2, n)
    how = rng.integers(3)
    if how == 1:
        data |= {"y_pred": rng.integers(0, 5, n) / 4, "decision_probabilities": True}
    if how == 2:
        data |= {"y_pred": rng.random(n), "threshold": 0.4, "sample_weight": rng.random(n)}
    return data


def classes_for(data):
    name, values = next(iter(data["sensitive_features"].items()))
    first, *_, last = values
    yield "linear"
    yield "marginals"
    yield LinearThresholds(search="search", restarts=1)
    if all(len(set(values)) == 2 for values in data["sensitive_features"].values()):
        yield LinearThresholds(search="grid")
    yield ExplicitGroups({"one": {name: first}, "both": {name: [first, last]}})


def can_be_flagged(data):
    """Rows weigh the same, and are decided for certain."""
    return data.get("sample_weight") is None and not data.get("decision_probabilities")


@pytest.mark.parametrize("seed", [*range(20), *map(slow, range(20, 40))])
def test_honest_reports_are_accepted(seed):
    data = random_audit(seed)
    notions = ["false_positive_rate", "equalized_odds", "error_rate", "statistical_parity"]
    for subgroups in classes_for(data):
        report = audit(**data, subgroups=subgroups, notion=notions[seed % 4],
                       min_group_size=1 + seed % 7,
                       discovery_rate=0.2 if can_be_flagged(data) else None,
                       confidence=0.9 if seed % 3 else None, n_resamples=19)  # fmt: skip
        result = assert_checked(report, **data, bound=True)
        # Which groups give away small ones is not worked out, nor the code of NumPy's strings, nor
        # all of the many groups that can be said in a sentence.
        places = ("worst", "top", "disadvantaged", "favoured", "in_a_sentence.subgroup", "core")
        lists = {"marginals", "intersections", "kept_back"}
        lists |= {f"{place}.composition" for place in places}
        left_out = {"marginals_left_out", "intersections_left_out"}
        sentence = {f"in_a_sentence.{name}"
                    for name in ("upper_bound", "exact", "simpler_than", "overlap",
                                 "accounts_for", "test")}  # fmt: skip
        assert unchecked(result) <= {*lists, *left_out, *sentence, "intervals", "subgroups",
                                     "intersected", "single_interval"}  # fmt: skip


def test_every_container_and_the_report_as_an_object(toy):
    _, y, protected = toy
    decisions = np.random.default_rng(9).integers(0, 2, len(y))
    report = audit(y, decisions, sensitive_features=protected)
    expected = check_report(report, y, decisions, sensitive_features=protected)
    assert expected.ok
    for labels, predicted, frame in [
        (pl.Series(y), pl.Series(decisions), pl.from_pandas(protected)),
        (pa.array(y), pa.chunked_array([decisions]), pa.Table.from_pandas(protected)),
        (y.tolist(), decisions.tolist(), {c: protected[c].tolist() for c in protected}),
        (pd.Series(y), pd.DataFrame({"p": decisions}), protected.set_index(y)),
    ]:
        assert check_report(report, labels, predicted, sensitive_features=frame) == expected


def test_arrays_series_and_labels_of_choice():
    rng = np.random.default_rng(3)
    y, p = (np.array(["bad", "good"])[rng.integers(0, 2, 60)] for _ in range(2))
    numbers = rng.integers(0, 3, (60, 2))
    for features in (numbers, numbers.tolist(), numbers[:, 0], pd.Series(numbers[:, 0], name="x")):
        report = audit(y, p, sensitive_features=features, pos_label="bad")
        assert_checked(report, y, p, sensitive_features=features, pos_label="bad", bound=True)
        assert not check_report(report, y, p, sensitive_features=features).ok


def test_a_notion_of_ones_own_is_read_from_the_report():
    accuracy = FairnessNotion("accuracy", event=(True, True), a=(100, 0), b=(-100, 100))
    data = random_audit(3)
    assert_checked(audit(**data, notion=accuracy), **data, bound=True)


def test_a_large_class_is_not_claimed():
    rng = np.random.default_rng(0)
    data = {
        "sensitive_features": rng.standard_normal((400, 5)),
        "y_true": rng.integers(0, 2, 400),
        "y_pred": rng.integers(0, 2, 400),
    }
    report = audit(**data, subgroups=LinearThresholds("regression")).to_dict()
    assert "no set of rows at all" in check_report(report, **data).checked[-1]
    lower = {"upper_bound": (report["upper_bound"] + report["unfairness"]) / 2}
    assert not check_report(report | lower, **data).ok  # it says that no bound was proven
    assert not check_report(report | {"no_bound": None}, **data).ok
    assert not check_report(report | {"no_bound": ""}, **data).ok
    result = check_report(report | lower | {"no_bound": None}, **data)
    assert result.ok
    assert (
        "upper_bound: not by enumeration: too large for a limit of 200,000 "
        f"subgroups over {(data['y_true'] == 0).sum()} distinct rows that count."
    ) in result.not_checked


# Lies: blue men have all of the false positives, and blue women none.

RACE = ["blue"] * 20 + ["green"] * 20
SEX = (["M"] * 10 + ["F"] * 10) * 2
AGE = [30, 31] * 5 + [50, 51] * 5 + [40, 41] * 10
PEOPLE = {
    "y_true": [0] * 40,
    "y_pred": [1] * 10 + [0] * 30,
    "sensitive_features": {"race": RACE, "sex": SEX, "age": AGE},
}


def told(**changes):
    """The honest report of blue men, by age; and changes to it, of `worst` by a dotted name."""
    report = copy.deepcopy(BLUE_MEN)
    for path, value in changes.items():
        *parts, last = path.split("__")
        place = report
        for part in parts:
            place = place[int(part) if part.isdigit() else part]
        place[last] = value
    if "top" not in changes:  # which the worst is the first of
        report["top"] = [report["worst"]] if report["worst"] else []
    return report


BLUE_MEN = audit(**PEOPLE, gamma=0.01, min_group_size=10).to_dict()
BLUE_MEN["worst"]["subgroup"] = "age ≤ 35"
BLUE_MEN["worst"]["rule"] = {
    "kind": "linear",
    "terms": [{"attribute": "age", "coefficient": -1.0}],
    "threshold": -35.5,
    "reference": {},
}
CONJUNCTION = {"kind": "conjunction", "conditions": [{"attribute": "race", "values": ["blue"]}]}
WORST = "The worst subgroup: "

LIES = [
    ({"n_rows": 41}, "n_rows is stated as 41, and the data has 40 rows."),
    ({"worst__size": 11}, WORST + "its size is stated as 11, and is 10."),
    ({"worst__share": 0.26}, WORST + "its share is stated as 0.26, and is 1/4."),
    ({"worst__rate": 0.99}, WORST + "its rate is stated as 0.99, and is 1."),
    ({"worst__overall_rate": 0.2}, WORST + "its overall_rate is stated as 0.2, and is 1/4."),
    ({"worst__unfairness": -0.1875}, WORST + "its unfairness is stated as -0.1875, and is 3/16."),
    ({"worst__unfairness": 0.1875001}, "its unfairness is stated as 0.1875001, and is 3/16."),
    ({"worst__gap": -0.75}, WORST + "its gap is stated as -0.75, and is 3/4."),
    ({"worst__ratio": 3.0}, WORST + "its ratio is stated as 3.0, and is 4."),
    ({"worst__ratio": None}, WORST + "its ratio is stated as None, and is 4."),
    ({"worst__notion": "error_rate"}, "its notion, error_rate, is none of the report's."),
    ({"worst__rule": CONJUNCTION}, WORST + "its size is stated as 10, and is 20."),
    ({"worst__rule__terms__0__coefficient": 1.0}, WORST + "its size is stated as 10, and is 40."),
    ({"worst__rule__terms__0__attribute": "height"}, "attribute 'height', which is no column"),
    ({"worst__rule__terms__0__attribute": "race"}, "takes 'race' for a number, and it has categor"),
    ({"worst__rule__kind": "circle"}, WORST + "its rule is of the unknown kind 'circle'."),
    ({"worst__rule__terms": None}, WORST + "its rule has None, where a list is wanted."),
    ({"worst__rule__terms": [{}]}, WORST + "its rule has a part with nothing, where 'attribute'"),
    ({"worst__rule__extra": 1}, "'threshold', 'reference', 'extra', where 'kind', 'reference'"),
    ({"worst__rule": {**CONJUNCTION, "conditions": [{"attribute": "race", "values": [[]]}]}},
     "its rule has [], where a category or a number is wanted"),
    ({"worst__rule": {**CONJUNCTION, "conditions": [{"attribute": "race", "other_than": [{}]}]}},
     "its rule has {}, where a category or a number is wanted"),
    ({"worst__rule__threshold": "-35.5"}, "its rule has '-35.5', where a finite number is wanted"),
    ({"worst__rule__threshold": -36.4}, WORST + "its description in words selects other rows"),
    ({"worst__rule__threshold": -40.0}, WORST + "the threshold, -40.0, equals that of a row."),
    ({"worst__subgroup": "age ≤ 40.5"}, WORST + "its description in words selects other rows"),
    ({"min_group_size": 11}, WORST + "it has 10 rows that count, and 30 are outside; a group is "
     "not described if either is below min_group_size, 11."),
    ({"min_group_size": 11, "worst__rule__terms__0__coefficient": 1.0,
      "worst__rule__threshold": 35.5}, WORST + "it has 30 rows that count, and 10 are outside;"),
    ({"verdict": "within gamma"}, "verdict is stated as 'within gamma', and the report's numbers "
     "make it 'exceeds gamma'."),
    ({"verdict": "undecided"}, "verdict is stated as 'undecided'"),
    ({"gamma": 0.2}, "verdict is stated as 'exceeds gamma', and the report's numbers make it"),
    ({"exact": False}, "exact is stated as False, and the report's numbers make it True."),
    ({"withheld": True}, "withheld is stated as True, and the report's numbers make it False."),
    ({"unfairness": 0.1}, "unfairness is stated as 0.1, and the worst subgroup has 0.1875."),
    ({"unfairness": 0.188}, "unfairness is stated as 0.188, and the worst subgroup of the class "
     "has 3/16."),
    ({"unfairness": 0.188}, "is stated as 0.188, and no set of rows has more than 3/16."),
    ({"upper_bound": 0.18}, "upper_bound is stated as 0.18, below unfairness, 0.1875."),
    ({"upper_bound": 0.18}, "upper_bound is stated as 0.18, and the worst subgroup of the class "
     "has 3/16."),
    ({"worst": None, "unfairness": 0.005, "upper_bound": 0.005, "withheld": True,
      "verdict": "within gamma"},
     "verdict is stated as 'within gamma', and the worst subgroup of the class has 3/16."),
    ({"notions__0__b": [-1.0, 1.0]}, "The notion false_positive_rate is stated to be another rate"),
    ({"overall_rates__0__rate": 0.2}, "The overall false_positive_rate is stated as 0.2, and is"),
    ({"overall_rates__0__rows": 39}, "for false_positive_rate are stated as 39, and are 40."),
    ({"marginals__0__size": 21}, "The group 'race = blue' of marginals: its size is stated as 21"),
    ({"marginals__0__rate": 0.4}, "of marginals: its rate is stated as 0.4, and is 1/2."),
    ({"marginals__1__unfairness": 0.1}, "its unfairness is stated as 0.1, and is -1/8."),
    ({"marginals__0__rate_interval": [0.1, 0.9]}, "its rate_interval is stated as [0.1, 0.9], and"),
    ({"marginals__1__unfairness_interval": [-0.2, -0.1]}, "its unfairness_interval is stated as"),
    ({"marginals": []}, "marginals has 0 groups and marginals_left_out is stated as 0; there are"),
    ({"marginals": [], "marginals_left_out": 6, "min_group_size": 5},
     "marginals: race = blue is left out (false_positive_rate), and could be described."),
    ({"marginals_left_out": 1}, "marginals_left_out is stated as 1; there are 6 in all."),
    ({"intervals": BLUE_MEN["marginals"]}, "intervals are stated, and LinearThresholds lists no"),
    ({"overall_rates": []}, "overall_rates are not those of the notions, false_positive_rate, one"),
    ({"overall_rates__0__rate": None}, "rate is stated as None, though enough rows count."),
    ({"labels": ["no", "yes"]}, "labels are stated as ['no', 'yes'], and are [0, 1]."),
    ({"labels": [False, True]}, "labels are stated as [False, True], and are [0, 1]."),
    ({"attributes": ["race", "sex"]}, "attributes are stated as ['race', 'sex'], and the data has"),
    ({"weighted": True}, "weighted is stated as True, and the weights of rows are their number"),
    ({"covers": "everyone"}, "covers is stated as 'everyone', and the class is 'every linear thr"),
    ({"subgroups": "Trees()"}, "subgroups is stated as 'Trees()', and the class is LinearThreshol"),
    ({"subgroups": "LinearThresholds(restarts=3)"}, "and restarts of the class is 100."),
    ({"class__parameters__search": "luck"}, "search of the class LinearThresholds can't be 'luck'"),
    ({"protected_used": ["sex", "race"]}, "some of the attributes, in their order."),
    ({"provenance__fingerprint": "ab"}, "provenance: 'ab' is no sha256."),
    ({"provenance__fingerprint": "ab" * 32}, "provenance: the fingerprint is that of other rows."),
    ({"provenance__top": 0}, "provenance.top is stated as 0, and 1 subgroups are described."),
    ({"marginals__0__p_value": 0.001}, "Groups are flagged, and discovery is not stated."),
    ({"p_value": 0.01}, "p_value is stated as 0.01, of 0 permutations."),
    ({"n_permutations": 99}, "n_permutations is stated as 99, and there is no p-value."),
    ({"top": []}, "The first of the top subgroups is not the worst one."),
    ({"marginals__0__group": "race = green"}, "words selects other rows than its rule."),
    ({"marginals__0__notion": "error_rate"}, "'race = blue' of marginals is none of the groups"),
    ({"marginals__0__rule__kind": "circle"}, "'race = blue' of marginals: its rule can't be read"),
    ({"min_group_size": 21}, "it, or what is outside, has fewer than 21 rows that count."),
    ({"marginal_unfairness": 0.1}, "marginal_unfairness is stated as 0.1, and is 1/8."),
    ({"class__name": "Marginals", "class__parameters": {}},
     "A subgroup that is described is none of LinearThresholds()."),
]  # fmt: skip


def test_the_report_that_is_lied_about_is_honest():
    result = check_report(json.dumps(told()), **PEOPLE)
    assert result.ok
    assert unchecked(result) <= {"kept_back"}  # which is about what is not there
    assert str(result).startswith("The report holds, as far as checked.\nChecked:\n- What it is")
    assert BLUE_MEN["worst"]["unfairness"] == BLUE_MEN["upper_bound"] == 3 / 16
    result.raise_for_problems()


@pytest.mark.parametrize(("changes", "sentence"), LIES)
def test_a_lie_is_named(changes, sentence):
    result = check_report(told(**changes), **PEOPLE)
    assert not result.ok
    assert any(sentence in problem for problem in result.problems), str(result)
    with pytest.raises(ValueError, match=f"(?s)^The report is wrong:\n- .*{re.escape(sentence)}"):
        result.raise_for_problems()


BY_CHANCE = audit(**PEOPLE, subgroups="conjunctions", n_permutations=39).to_dict()
CHANCES = [
    ({"p_value": 0.5, "lead": BY_CHANCE["lead"] | {"p_value": 0.5}},
     "p_value is stated as 0.5, and searched_unfairness, 0.1875, is above what"),
    ({"detectable": 0.1875}, "p_value is stated as 0.025, and searched_unfairness, 0.1875, is not"),
    ({"detectable": 0.2}, "is not above what is detectable, 0.2."),
    ({"searched_unfairness": 0.18}, "and such a search finds the worst, 0.1875."),
    ({"searched_unfairness": 0.19}, "searched_unfairness is stated as 0.19, above upper_bound."),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "sentence"), CHANCES)
def test_a_p_value_is_on_the_side_that_the_figures_beside_it_say(changes, sentence):
    assert BY_CHANCE["p_value"] == 1 / 40
    assert BY_CHANCE["detectable"] < BY_CHANCE["searched_unfairness"] == 3 / 16
    honest = check_report(BY_CHANCE, **PEOPLE)
    assert honest.ok
    assert any("is at most 5 % where the figures" in one for one in honest.not_checked)
    value = changes.get("p_value", BY_CHANCE["p_value"])
    # Who leads does so by the group that stands out, where the largest unfairness may be chance.
    sharp = changes.get("sharpest", BY_CHANCE["sharpest"])
    lead = BY_CHANCE["lead"] | {"p_value": value, "p_value_of": "search"}
    if value > 0.05:
        lead |= {"p_value": sharp["p_value"], "p_value_of": "group"}
    worst = BY_CHANCE["worst"] | {"p_value": value}
    groups = {"lead": lead, "worst": worst, "top": [worst]}
    result = check_report(BY_CHANCE | changes | groups, **PEOPLE)
    # Another group may lead by such a p-value, which is named as well.
    problems = [one for one in result.problems if "subgroup of lead is stated" not in one]
    assert [sentence in one for one in problems] == [True], result.problems
    # What is said of a possible p-value is not said of one that can't be.
    assert not any("is at most 5 % where the figures" in one for one in result.not_checked)


@pytest.mark.parametrize("seed", range(8))
def test_the_fingerprint_is_that_of_the_rows(seed):
    """Whatever the attributes are; where weights are summed it is named as not checked."""
    data = random_audit(seed)
    report = audit(**data).to_dict()
    left = "provenance.fingerprint" in check_report(report, **data).fields_not_checked
    assert left == ("sample_weight" in data or "decision_probabilities" in data)
    report["provenance"]["fingerprint"] = "0" * 64
    assert check_report(report, **data).ok == left


def test_words_that_can_not_be_read_are_refused():
    """Of a group that is described, and of one that is listed."""
    result = check_report(told(worst__subgroup="whoever is young"), **PEOPLE)
    assert WORST + "its description in words can't be read." in result.problems
    result = check_report(told(marginals__0__group="race = bluex"), **PEOPLE)
    assert any("'race = bluex'" in one and "can't be read" in one for one in result.problems)


def test_the_unit_of_numbers_is_not_blamed_on_the_rows():
    numbers = {**PEOPLE, "y_pred": list(range(40))}
    report = audit(**numbers, notion="mean_outcome").to_dict()
    report["notions"][0]["unit"] = None
    with pytest.raises(ValueError, match=r"'labels' of the report must be those of notions with"):
        check_report(report, **numbers)


def test_a_label_too_few_is_not_blamed_on_the_rows():
    grades = {**PEOPLE, "y_true": ["a", "b", "c", "a"] * 10, "y_pred": ["a", "b", "b", "c"] * 10}
    report = audit(**grades).to_dict()
    report["labels"] = report["labels"][1:]
    with pytest.raises(ValueError, match=r"'labels' of the report must be more than two, as"):
        check_report(report, **grades)


def test_a_median_between_two_steps_is_told_as_one_of_them():
    """0.15 is as near to 0.1 as to 0.2; a quotient of floats, 1.4999999999999998, says which."""
    x = Attribute("x", True, tuple(map(Fraction, ("0", "0.15", "3", "4", "5"))))
    table = Table({"x": x}, [[2, 0]] * 5, [], [])
    inside = [False, True, False, False, False]

    def wrong(median):
        stated = [{"attribute": "x", "median": median, "overall": 3.0}]
        return list(wrong_composition(stated, inside, table, 2, kept_back=False))

    assert wrong(0.1) == []
    assert wrong(0.2) == ["its median of x is stated as 0.2."]
    assert wrong(0.15) == ["its median of x is stated as 0.15."]


def test_a_report_that_does_not_say_who_leads():
    report = {name: part for name, part in told().items() if name != "lead"}
    result = check_report(report, **PEOPLE)
    assert result.ok
    assert "lead" in result.fields_not_checked


def test_lies_about_any_of_the_top_subgroups_are_named():
    twice = told(top=[BLUE_MEN["worst"], BLUE_MEN["worst"]], provenance__top=2)
    assert check_report(twice, **PEOPLE).problems == ["A subgroup is twice among the top ones."]
    twice["top"][1] = {**BLUE_MEN["worst"], "rate": 0.5}
    assert check_report(twice, **PEOPLE).problems == [
        "Subgroup 2 of the top ones: its rate is stated as 0.5, and is 1."
    ]


def test_the_rows_of_another_report_are_noticed():
    other = {**PEOPLE, "y_pred": [1] * 9 + [0] * 31}
    problems = check_report(told(), **other).problems
    assert WORST + "its rate is stated as 1.0, and is 9/10." in problems


def test_no_row_that_counts():
    positives = {**PEOPLE, "y_true": [1] * 40}
    problems = check_report(told(), **positives).problems
    assert "No row of the data counts for the notion false_positive_rate." in problems


# Numbers as they print.


def linear(threshold, attribute="x", **more):
    terms = [{"attribute": a, "coefficient": 1.0} for a in (attribute, "y")]
    return {"kind": "linear", "terms": terms, "threshold": threshold, **more}


def test_rows_that_tie_as_decimals_are_not_told_apart_by_rounding():
    """0.1 + 0.2 and 0.3 + 0 are the same number, and differ in float64."""
    features = {"x": [0.1, 0.3, 0.0] * 10, "y": [0.2, 0.0, 0.0] * 10}
    data = {"y_true": [0] * 30, "y_pred": [1, 0, 0] * 10, "sensitive_features": features}
    report = audit(**data).to_dict()
    report["worst"]["subgroup"] = "x + y ≥ 0.30000000000000004"
    report["worst"]["rule"] = linear(0.30000000000000004)
    problems = check_report(report, **data).problems
    assert (
        WORST + ("rounding decides who is in: float64 and exact arithmetic select different rows.")
        in problems
    )


def test_a_cut_that_is_a_rows_value_is_named_unless_it_is_the_users():
    groups = ExplicitGroups({"old": {"age": (50, None)}})
    report = audit(**PEOPLE, subgroups=groups)
    assert_checked(report, **PEOPLE, bound=True)
    stated = report.to_dict()
    stated["class"] = BLUE_MEN["class"]
    assert WORST + "the cut of 'age', 50.0, equals that of a row." in (
        check_report(stated, **PEOPLE).problems
    )


def test_trees_are_read():
    stated = told(worst__rule={"kind": "tree", "tree": {
        "condition": {"attribute": "race", "values": ["blue"]},
        "yes": {"condition": {"attribute": "age", "low": None, "high": 40.5},
                "yes": True, "no": False},
        "no": False,
    }})  # fmt: skip
    stated["class"] = {"name": "Trees", "parameters": {"max_depth": 2, "bins": None}}
    stated["subgroups"] = "Trees()"
    stated["covers"] = (
        "every union of leaves of a decision tree of depth 2 on race, sex, age; numbers cut at "
        "every value"
    )
    stated["worst"]["subgroup"] = stated["lead"]["subgroup"] = "race = blue and age < 40.5"
    assert check_report(stated, **PEOPLE).ok
    stated["class"]["parameters"]["max_depth"] = 0
    assert "A subgroup that is described is none of Trees()." in (
        check_report(stated, **PEOPLE).problems
    )
    stated["worst"]["rule"]["tree"]["yes"]["condition"]["high"] = 40
    assert WORST + "the cut of 'age', 40, equals that of a row." in (
        check_report(stated, **PEOPLE).problems
    )


def test_the_bound_of_a_conjunction_is_that_of_its_class():
    """Decided 1: blue men and green women. Each is 1/4 of the rows, at 1 against 1/2."""
    data = {"y_true": [0] * 40, "y_pred": [1] * 10 + [0] * 20 + [1] * 10,
            "sensitive_features": {"race": RACE, "sex": SEX}}  # fmt: skip
    nothing = audit(**data, subgroups="marginals").to_dict()
    assert nothing["upper_bound"] == 0

    def bound_of(name, upper_bound, **parameters):
        stated = {**nothing, "class": {"name": name, "parameters": parameters},
                  "upper_bound": upper_bound, "exact": upper_bound == 0,
                  "verdict": "undecided" if upper_bound else "within gamma"}  # fmt: skip
        problems = check_report(stated, **data).problems
        return not any("the worst subgroup of the class has" in one for one in problems)

    conjunctions = {"numeric": "intervals", "bins": None}
    assert bound_of("Conjunctions", 0.0, max_depth=1, **conjunctions)
    assert bound_of("Conjunctions", 0.125, max_depth=2, **conjunctions)
    assert not bound_of("Conjunctions", 0.12, max_depth=2, **conjunctions)
    assert bound_of("ValueSets", 0.125, max_depth=2)
    assert not bound_of("ValueSets", 0.12, max_depth=2)
    assert bound_of("Trees", 0.25, max_depth=2)  # both at once
    assert not bound_of("Trees", 0.24, max_depth=2)
    assert bound_of("LinearThresholds", 0.125)
    assert not bound_of("LinearThresholds", 0.12)


# Input that is no report, or not its data.

BAD = [
    (lambda: (42, PEOPLE), TypeError, "report must be what audit.* got int"),
    (lambda: ("{no", PEOPLE), ValueError, "report is text, and not the JSON of a report"),
    (lambda: ({"verdict": 1}, PEOPLE), ValueError, "report has no 'gamma', 'unfairness'"),
    (lambda: (told(gamma="x"), PEOPLE), ValueError, "'gamma' of the report must be a finite num"),
    (lambda: (told(unfairness=float("nan")), PEOPLE), ValueError, "'unfairness' of the report mus"),
    (lambda: (told(worst={"rule": {}}), PEOPLE), ValueError, "'worst' of the report has no 'subgr"),
    (lambda: (told(worst__rate="x"), PEOPLE), ValueError, "'worst.rate' of the report must be"),
    (lambda: (told(), PEOPLE | {"y_true": [0, 1]}), ValueError, "y_true has 2, y_pred has 40"),
    (lambda: (told(), PEOPLE | {"y_true": []}), ValueError, "y_true is empty"),
    (lambda: (told(), PEOPLE | {"y_true": [None] * 40}), ValueError, "y_true has missing values"),
    (lambda: (told(), PEOPLE | {"y_true": 3}), TypeError, "y_true must be an array.* got int"),
    (lambda: (told(), PEOPLE | {"y_true": [[0]] * 40}), ValueError, "y_true must have one dimens"),
    (lambda: (told(), PEOPLE | {"y_true": list(range(40))}), ValueError, "two labels.* it has 40"),
    (lambda: (told(), PEOPLE | {"y_pred": [0.5, 0, 1, 0] * 10}), ValueError, "two labels"),
    (lambda: (told(), PEOPLE | {"y_true": [0, 1] * 20, "y_pred": [0.5] * 40}), ValueError,
     r"no label: 0.5\. Pass what was passed to audit"),
    (lambda: (told(), PEOPLE | {"y_true": [0, 1] * 20, "y_pred": [1.5] * 40,
                                "decision_probabilities": True}), ValueError, r"\[0, 1\]"),
    (lambda: (told(), PEOPLE | {"pos_label": 7}), ValueError, "pos_label=7 is no label of y_true"),
    (lambda: (told(), PEOPLE | {"threshold": 0.5, "decision_probabilities": True}), ValueError,
     "exclude each other"),
    (lambda: (told(), PEOPLE | {"sample_weight": [-1] * 40}), ValueError, "has the value -1"),
    (lambda: (told(), PEOPLE | {"sample_weight": [0] * 40}), ValueError, "zero in every row"),
    (lambda: (told(), PEOPLE | {"sensitive_features": {}}), ValueError, "needs columns"),
    (lambda: (told(), PEOPLE | {"sensitive_features": {"x": [1.0, None] * 20}}), ValueError,
     "'x' of sensitive_features is a number and has missing"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "message"), BAD)
def test_bad_input(make, kind, message):
    report, data = make()
    with pytest.raises(kind, match=message):
        check_report(report, **data)


def test_thresholds_through_the_mean_are_not_claimed():
    rng = np.random.default_rng(3)
    data = {
        "sensitive_features": rng.integers(0, 4, (60, 2)),
        "y_true": rng.integers(0, 2, 60),
        "y_pred": rng.integers(0, 2, 60),
    }
    result = check_report(audit(**data, subgroups=LinearThresholds(intercept=False)), **data)
    assert result.ok
    assert "upper_bound: not by enumeration: thresholds through the mean are not listed." in (
        result.not_checked
    )
