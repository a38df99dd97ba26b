"""impact_ratios(): what is compared with whom, who is in no table, and what bad input gets."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gerrymend import audit, impact_ratios
from gerrymend._runtime.errors import ArgumentError
from gerrymend.impact import meetings
from gerrymend.subgroups import Conjunctions

SEX = ["M"] * 60 + ["F"] * 40
RACE = ["W", "B"] * 50
HIRED = [1] * 30 + [0] * 30 + [1] * 10 + [0] * 30
A = {"sex": SEX, "race": RACE}


def ratios(y=HIRED, attributes=A, **how):
    return impact_ratios(y, sensitive_features=attributes, **{"search": False} | how)


def told(table):
    return {group.describe(): group for group in table.groups}


def test_tables_are_of_each_attribute_and_of_those_that_meet():
    three = A | {"town": ["Au", "Ulm", "Au", "Ulm", "Bonn"] * 20}
    names = [table.attributes for table in ratios(attributes=three, depth=3).tables]
    assert names == [
        ("sex",), ("race",), ("town",), ("sex", "race"), ("sex", "town"), ("race", "town"),
        ("sex", "race", "town"),
    ]  # fmt: skip
    assert len(ratios(attributes=three, depth=1).tables) == 3
    assert len(ratios(attributes=three, profile="four-fifths").tables) == 3
    assert len(ratios(attributes=three, profile="ll144").tables) == 6


def test_every_group_is_counted_once():
    for table in ratios().tables:
        assert sum(group.n for group in table.groups) == 100
        assert sum(group.selected for group in table.groups) == 40
        assert sum(group.share for group in table.groups) == pytest.approx(1)


def test_the_reference_is_the_most_selected_or_the_one_that_is_named():
    (table,) = ratios(attributes={"sex": SEX}).tables
    assert not table.is_named
    assert table.reference.values == {"sex": "M"}
    assert told(table)["sex = F"].ratio == 0.5
    for named in ("F", {"sex": "F"}):
        (table,) = ratios(attributes={"sex": SEX}, reference=named).tables
        assert table.is_named
        assert told(table)["sex = M"].ratio == 2.0
        assert told(table)["sex = M"].shortfall == 0


def test_a_named_group_is_that_of_the_tables_that_have_all_of_its_attributes():
    sex, race, both = ratios(reference={"sex": "F"}).tables
    assert (sex.is_named, race.is_named, both.is_named) == (True, False, False)
    both = ratios(reference={"sex": "F", "race": "W"}).tables[2]
    assert both.reference.values == {"sex": "F", "race": "W"}


def test_of_groups_with_the_same_rate_the_largest_is_the_reference():
    (table,) = ratios([1, 0] * 6, {"g": ["a"] * 4 + ["b"] * 8}).tables
    assert table.reference.values == {"g": "b"}
    assert [group.ratio for group in table.groups] == [1.0, 1.0]


def test_a_code_that_stands_for_unknown_is_no_flag():
    """0 is unknown among codes, and a group where a column is true or false."""
    codes, flags = [0, 1] * 50, [True, False, False, True] * 25
    made = ratios(attributes={"race": codes, "veteran": flags}, unknown=[0, pd.NA], depth=1)
    assert made.unknown == {"race": 50}
    assert [group.describe() for group in made.tables[1].groups] == [
        "veteran = False",
        "veteran = True",
    ]
    flagged = ratios(attributes={"race": codes, "veteran": flags}, unknown=[False], depth=1)
    assert flagged.unknown == {"veteran": 50}


def test_rows_of_unknown_category_are_counted_and_in_no_group():
    sex = [None, *SEX[1:99], "?"]
    made = ratios(attributes=A | {"sex": sex}, unknown=["?"])
    sex_table, race_table, both = made.tables
    assert (sex_table.n_unknown, race_table.n_unknown, both.n_unknown) == (2, 0, 2)
    assert sex_table.unknown_rate == 0.5
    assert made.unknown == {"sex": 2}
    assert (made.n_unknown, made.n_rows) == (2, 100)
    assert sum(group.n for group in race_table.groups) == 100
    frame = made.to_frame("polars")
    unknown = frame.filter(pl.col("is_unknown"))
    assert unknown["n"].to_list() == [2, 2]
    assert unknown["ratio"].to_list() == [None, None]


def test_small_groups_are_marked_and_excluded_only_where_that_is_asked():
    group = ["a"] * 60 + ["b"] * 39 + ["c"]
    y = [1] * 30 + [0] * 30 + [1] * 10 + [0] * 29 + [1]
    (table,) = ratios(y, {"g": group}).tables
    assert [one.is_small for one in table.groups] == [False, False, True]
    assert table.reference.values == {"g": "c"}
    assert told(table)["g = a"].ratio == 0.5
    (table,) = ratios(y, {"g": group}, exclude_small=True).tables
    small = told(table)["g = c"]
    assert (small.n, small.rate, small.ratio, small.is_excluded) == (1, 1.0, None, True)
    assert table.reference.values == {"g": "a"}
    # One that is named stays, however small.
    (table,) = ratios(y, {"g": group}, exclude_small=True, reference="c").tables
    assert table.reference.values == {"g": "c"}


def test_two_percent_is_not_less_than_that():
    (table,) = ratios([1, 0] * 50, {"g": ["a"] * 98 + ["b"] * 2}).tables
    assert not any(group.is_small for group in table.groups)


def test_numbers_of_few_values_are_codes_and_others_have_no_table():
    ages = np.arange(100) % 37
    made = ratios(attributes={"race": np.array([0, 1] * 50), "age": ages})
    assert [table.attributes for table in made.tables] == [("race",)]
    assert made.untabled == ("age",)
    assert made.tables[0].groups[0].values == {"race": 0}
    assert ratios(attributes={"race": [1, 2, 9, 1, 2] * 20}, unknown=[9]).n_unknown == 20


def test_four_fifths_is_not_below_four_fifths():
    (table,) = ratios([1] * 4 + [0] * 6 + [1] * 5 + [0] * 5, {"g": ["a"] * 10 + ["b"] * 10}).tables
    made = ratios([1] * 4 + [0] * 6 + [1] * 5 + [0] * 5, {"g": ["a"] * 10 + ["b"] * 10})
    assert told(table)["g = a"].ratio == 0.8
    assert made.below(0.8) == ()
    assert [group.values["g"] for group in made.below(0.81)] == ["a"]


def test_weights_make_rates_of_weight_and_no_exact_test():
    weight = np.where(np.array(SEX) == "F", 2.0, 0.5)
    made = ratios(sample_weight=weight)
    women = told(made.tables[0])["sex = F"]
    assert (women.n, women.weight, women.selected, women.rate) == (40, 80.0, 20.0, 0.25)
    assert women.p_value is None
    assert women.ratio_interval is not None
    # Within a group all weigh the same: the effective numbers are those of the rows.
    plain = told(ratios().tables[0])["sex = F"]
    assert women.ratio_interval == pytest.approx(plain.ratio_interval)
    assert women.standard_deviations == pytest.approx(plain.standard_deviations)


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(100)
    weight = np.random.default_rng(1).random(100)
    one = ratios(sample_weight=weight)
    shuffled = {name: np.array(values)[order] for name, values in A.items()}
    other = ratios(np.array(HIRED)[order], shuffled, sample_weight=weight[order])
    assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize(
    "container", [pd.DataFrame, pl.DataFrame, lambda data: pl.DataFrame(data).lazy(), dict]
)
def test_columns_may_be_named(container):
    data = container({"hired": HIRED, **A})
    made = impact_ratios("hired", sensitive_features=["sex", "race"], data=data, search=False)
    assert made.to_dict() == ratios().to_dict()


def test_scores_are_cut_or_compared_with_their_median():
    scores = np.arange(100.0)
    assert (
        ratios(scores, threshold=50).to_dict()["tables"]
        == (ratios((scores >= 50).astype(int)).to_dict()["tables"])
    )
    made = ratios(scores, rate="scoring")
    assert made.median == 49.5
    assert made.overall_rate == 0.5
    assert ratios([1, 2, 2, 3], {"g": ["a", "a", "b", "b"]}, rate="scoring").overall_rate == 0.25


def test_one_of_several_decisions_is_compared_with_the_rest():
    y = ["hire"] * 30 + ["hold"] * 30 + ["hire"] * 10 + ["no"] * 30
    assert ratios(y, pos_label="hire").to_dict()["tables"] == ratios().to_dict()["tables"]


def planted():
    rng = np.random.default_rng(3)
    n = 1200
    people = {name: rng.choice(["a", "b"], n) for name in ("race", "sex", "age")}
    worst = np.logical_and.reduce([values == "a" for values in people.values()])
    return people, np.where(worst, 0, rng.integers(0, 2, n)), worst


def test_the_worst_subgroup_in_no_table_is_found_and_bounded():
    people, decided, worst = planted()
    made = impact_ratios(decided, sensitive_features=people)
    found = made.unlisted
    assert found.subgroup.contains(people).tolist() == worst.tolist()
    report = audit(None, decided, sensitive_features=people, notion="statistical_parity",
                   favourable="positive", side="disadvantaged",
                   subgroups=Conjunctions(max_depth=3))  # fmt: skip
    assert found.upper_bound == report.upper_bound
    assert found.subgroup.unfairness == report.worst.unfairness
    # By brute force: no group with a tenth of the rows has a rate below what is said.
    least = found.least_rate(0.1)
    for depth3 in impact_ratios(decided, sensitive_features=people, depth=3, search=False).tables:
        for group in depth3.groups:
            if group.n >= 0.1 * len(decided):
                assert group.rate >= least


@pytest.mark.parametrize("seed", range(6))
def test_no_joint_values_beyond_the_tables_are_worse_than_the_one_that_is_told(seed):
    """By brute force over all triples, also those that share most people with a table's group."""
    rng = np.random.default_rng(seed)
    n = 500
    people = {
        name: rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2]) for name in ("race", "sex", "age")
    }
    chance = np.where((people["race"] == "a") & (people["sex"] == "a"), 0.2, 0.6)
    decided = (rng.random(n) < chance).astype(int)
    found = impact_ratios(decided, sensitive_features=people).unlisted.subgroup
    worst = 0.0
    for race, sex, age in itertools.product("abc", repeat=3):
        parts = [people["race"] == race, people["sex"] == sex, people["age"] == age]
        triple = np.logical_and.reduce(parts)
        of_tables = [*parts, *(one & other for one, other in itertools.combinations(parts, 2))]
        rest = [int((one & ~triple).sum()) for one in of_tables]
        if triple.sum() >= 10 and not any(0 < few < 10 for few in rest):
            worst = max(worst, (decided.mean() - decided[triple].mean()) * triple.mean())
    assert -found.unfairness == pytest.approx(worst, abs=1e-12)
    assert len(found.rule.attributes) == 3


def test_a_subgroup_that_is_in_a_table_is_not_told_as_in_none():
    people, decided, _ = planted()
    made = impact_ratios(decided, sensitive_features=people, depth=3, subgroups=Conjunctions(3))
    assert made.unlisted.listed == "race = a and sex = a and age = a"
    groups = {tuple(sorted(group.values.items())) for group in made.groups}
    if made.unlisted.subgroup is not None:
        words = made.unlisted.subgroup.describe()
        assert tuple(sorted(tuple(one.split(" = ")) for one in words.split(" and "))) not in groups


def test_so_few_rows_that_an_audit_tells_no_rate_have_tables_all_the_same():
    made = impact_ratios([1, 0, 1], sensitive_features={"g": ["a", "b", "b"]})
    assert made.unlisted.overall_rate == pytest.approx(2 / 3)
    assert made.unlisted.least_rate(1.0) <= 2 / 3
    assert "No subgroup was found" in " ".join(str(made).split())


def test_small_groups_are_marked_and_not_described_by_the_search():
    people, decided, worst = planted()
    made = impact_ratios(decided, sensitive_features=people, min_group_size=int(worst.sum()) + 1)
    assert made.unlisted.subgroup is None or made.unlisted.subgroup.size > worst.sum()
    assert ratios(min_group_size=45).tables[0].groups[0].is_few


REFUSED = {
    "a reference that is not there": ({"reference": "X"}, "reference is 'X', which is no group"),
    "an attribute that is not there": (
        {"reference": {"sexx": "M"}}, r"names 'sexx', which is no attribute .*\(did you mean 'sex'"
    ),
    "a value that is not there": (
        {"reference": {"sex": "X"}}, "sex = 'X', which is no group here. There are: 'F', 'M'"
    ),
    "nothing as a reference": ({"reference": {}}, "is an empty group"),
    "a value of two attributes": (
        {"attributes": {"sex": SEX, "other": SEX}, "reference": "M"}, "of 'sex' and of 'other'"
    ),
    "a reference without rows": (
        {"attributes": {"sex": SEX, "also": ["a"] * 60 + ["b"] * 40},
         "reference": {"sex": "M", "also": "b"}}, "sex = M and also = b, and no row has that"
    ),
    "a reference of whom nobody is selected": (
        {"attributes": {"sex": ["A"] * 30 + ["B"] * 30 + SEX[60:]}, "reference": "B"},
        "nobody of 30 is selected",
    ),
    "scores for decisions": (
        {"y": np.arange(100) / 100}, "100 different numbers, which are scores.*threshold=0.5"
    ),
    "words for decisions": ({"y": ["a", "b", "c", "d"] * 25}, "y_pred has 4 classes"),
    "all selected": ({"y": [1] * 100}, "y_pred is 1 in every row"),
    "nobody at the threshold": (
        {"y": np.arange(100.0), "threshold": 200}, "nobody at or above the threshold 200"
    ),
    "scores that are alike": ({"y": [3] * 100, "rate": "scoring"}, "no score above the median"),
    "a threshold of the median": (
        {"y": np.arange(100.0), "rate": "scoring", "threshold": 2}, "threshold=2 is for decisions"
    ),
    "an empty category": ({"attributes": {"sex": ["", *SEX[1:]]}}, "empty category, '', in 1 rows"),
    "a category that is unknown throughout": (
        {"attributes": {"sex": [None] * 100}}, "is unknown in every row"
    ),
    "numbers alone": ({"attributes": {"age": np.arange(100)}}, "'age' of .* is a number of 100"),
    "a group without weight": (
        {"sample_weight": [1] * 60 + [0] * 40}, "sample_weight is 0 in all 40 rows of sex = F"
    ),
    "a weight beside which the others are nothing": (
        {"sample_weight": [1e300] + [1] * 99}, r"sample_weight goes from 1 to 1e\+300: beside the"
    ),
    "a list for the rate": ({"rate": np.array([1, 2])}, "rate=.* is unknown"),
    "a list for the profile": ({"profile": np.array([1, 2])}, "profile=.* is unknown"),
    "identifiers": ({"attributes": {"id": [f"p{i}" for i in range(100)]}}, "identifier"),
    "missing decisions": ({"y": [None, *HIRED[1:]]}, "y_pred has 1 missing"),
    "too few decisions": ({"y": HIRED[:50]}, "differ in their number of rows"),
    "an unknown rule": ({"profile": "gdpr"}, "profile='gdpr' is unknown"),
    "another reference than the rule's": (
        {"profile": "ll144", "reference": "M"}, "sex = M, and the rule of profile='ll144' compares"
    ),
    "no control group": ({"profile": "lending"}, "profile='lending' compares with a control group"),
    "scores for lending": (
        {"profile": "lending", "rate": "scoring", "reference": "M"}, "rate is 'scoring'"
    ),
    "a bare unknown": ({"unknown": "NA"}, "unknown must be a list"),
    "no depth": ({"depth": 0}, "depth must be"),
    "a confidence of 1": ({"confidence": 1}, "confidence must be below 1"),
    "a name without data": ({"y": "hired"}, "y_pred is 'hired', and data is not given"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_gets_a_clear_error(what):
    how, words = REFUSED[what]
    with pytest.raises(ArgumentError, match=re.compile(words, re.DOTALL)):
        ratios(**how)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_weights_of_any_size_make_the_same_ratios(size):
    """Squares of tiny weights were 0, and the ratio of two tiny rates a division by it."""
    weight = np.array([1.0, 2, 3, 4] * 25)
    plain, scaled = (
        [
            [group.rate, group.ratio, *(group.ratio_interval or ()), group.standard_deviations or 0]
            for group in ratios(sample_weight=one).groups
        ]
        for one in (weight, weight * size)
    )
    for mine, other in zip(scaled, plain, strict=True):
        assert mine == pytest.approx(other, rel=1e-9)


def test_too_many_groups_are_refused(monkeypatch):
    monkeypatch.setattr(meetings, "MOST_GROUPS", 7)
    with pytest.raises(ArgumentError, match="more than 7 groups by the table of sex × race"):
        ratios()


def test_a_table_in_which_nobody_is_selected_has_no_ratios():
    # Whoever is selected is of unknown race, so that no group of race has anyone.
    race = [None if hired else race for hired, race in zip(HIRED, RACE, strict=True)]
    made = ratios(attributes={"sex": SEX, "race": race})
    assert made.tables[1].reference is None
    assert [group.ratio for group in made.tables[1].groups] == [None, None]
    assert "there is none" in str(made)


def test_plain_data_is_json():
    made = impact_ratios(HIRED, sensitive_features=A, profile="ll144")
    assert json.loads(made.to_json()) == json.loads(json.dumps(made.to_dict()))
