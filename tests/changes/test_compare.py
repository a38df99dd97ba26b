"""compare(): its verdict by the rule that is stated, what it is compared with, and bad input."""

import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gerrymend import (
    Conjunctions,
    ExplicitGroups,
    LinearThresholds,
    OutcomeNotion,
    Trees,
    ValueSets,
    audit,
    compare,
)
from gerrymend.changes.comparison import Comparison, Standing
from gerrymend.changes.earlier_report import EarlierReport
from tests.reporting.hostile import STRINGS, assert_inert, assert_text_alone


def people(seed, n=1500, shift=0.0):
    """Rows of which women above 50 are wrongly decided 1 more often, by a shift."""
    rng = np.random.default_rng([*np.atleast_1d(seed), 5])
    A = {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["blue", "green", "red"], n),
        "age": rng.integers(18, 80, n),
    }
    p = 0.3 + shift * ((A["sex"] == "F") & (A["age"] > 50))
    return rng.integers(0, 2, n), (rng.random(n) < p).astype(int), A


def named(rows):
    """A frame of the same rows."""
    return pd.DataFrame({"y": rows[0], "d": rows[1], **rows[2]})


def undated(found):
    """The plain data, less when it was made: fixtures of a module know the time."""
    data = found.to_dict()
    data["old"]["made_on"] = data["provenance"]["date"] = None
    return data


OLD = people(0)
NEW = people(1, shift=0.5)
SETTINGS = {"subgroups": Conjunctions(), "min_group_size": 12}


@pytest.fixture(scope="module")
def report():
    return audit(*OLD[:2], sensitive_features=OLD[2], **SETTINGS)


@pytest.fixture(scope="module")
def against_report(report):
    return compare(report, *NEW[:2], sensitive_features=NEW[2])


@pytest.fixture(scope="module")
def against_rows():
    return compare(OLD, *NEW[:2], sensitive_features=NEW[2], **SETTINGS)


@pytest.fixture(scope="module")
def against_model():
    other = people(2)[1]
    return compare(other, *NEW[:2], sensitive_features=NEW[2], **SETTINGS)


# Unfairness then, unfairness now and its bound, the p-value, and what the rule says.
RULE = [
    (0.01, 0.05, 0.05, 0.01, "worse"),
    (0.01, 0.05, 0.05, 0.06, "can't tell"),
    (0.01, 0.05, 0.05, None, "can't tell"),
    (0.01, 0.05, 0.40, 0.01, "worse"),
    (0.03, 0.04, 0.04, 0.01, "same"),
    (0.03, 0.04, 0.06, 0.01, "can't tell"),
    (0.03, 0.02, 0.04, 0.9, "same"),
    (0.05, 0.01, 0.01, 0.01, "better"),
    (0.05, 0.01, 0.01, 0.2, "can't tell"),
    (0.05, 0.01, 0.04, 0.01, "can't tell"),
    (0.05, 0.05, 0.05, None, "same"),
]


@pytest.mark.parametrize(("then", "now", "bound", "p_value", "verdict"), RULE)
def test_the_verdict_is_by_the_rule(against_rows, then, now, bound, p_value, verdict):
    found = replace(
        against_rows, old=Standing(600, then, then, None), new=Standing(600, now, bound, None),
        p_value=p_value, no_p_value="" if p_value else "of the test", moved=None, tolerance=0.01,
    )  # fmt: skip
    assert found.verdict == verdict
    told = str(found)
    assert f"{verdict}; gamma is 0.01." in told
    assert json.loads(found.to_json())["verdict"] == verdict


# The largest unfairness among the people now, beside a report alone.
PEOPLE = [
    (0.01, 0.05, (0.02, 0.08), "worse"),
    (0.01, 0.05, (0.005, 0.1), "can't tell"),
    (0.05, 0.01, (0.0, 0.04), "better"),
    (0.05, 0.01, (0.0, 0.06), "can't tell"),
    (0.03, 0.035, (0.0, 0.9), "same"),
]


@pytest.mark.parametrize(("then", "now", "between", "verdict"), PEOPLE)
def test_beside_a_report_the_people_decide(against_report, then, now, between, verdict):
    low, high = between
    known = replace(against_report.population, lower_bound=low, upper_bound=high)
    found = replace(
        against_report, old=Standing(600, then, then, None), new=Standing(600, now, now, None),
        population=known, tolerance=0.01,
    )  # fmt: skip
    assert found.verdict == verdict
    assert f"{verdict}; gamma" in str(found)


def test_what_got_worse_is_found_by_every_basis(against_report, against_rows, against_model):
    for found in (against_report, against_rows, against_model):
        assert found.verdict == "worse"
        assert found.new.worst.rule.attributes.keys() <= NEW[2].keys()
        assert "sex = F" in found.new.worst.describe()
    for found in (against_rows, against_model):
        assert "sex = F" in found.moved.now.describe()
        assert found.moved.p_value == 0.005
    assert against_report.moved is None
    bases = [found.basis for found in (against_report, against_rows, against_model)]
    assert bases == ["report", "samples", "models"]


def test_both_sides_are_what_an_audit_has(against_report, against_rows, report):
    now = audit(*NEW[:2], sensitive_features=NEW[2], **SETTINGS)
    for found in (against_report, against_rows):
        assert found.old.unfairness == report.unfairness
        assert found.old.upper_bound == report.upper_bound
        assert found.old.worst.describe() == report.worst.describe()
        assert found.new.unfairness == now.unfairness
        assert found.new.worst.describe() == now.worst.describe()
    # The honest measure of the old worst is that of an audit with these rows held out.
    held_out = audit(*OLD[:2], sensitive_features=OLD[2], holdout=NEW, **SETTINGS).held_out
    assert held_out.subgroup.describe() == report.worst.describe()
    for found in (against_report, against_rows):
        assert found.old_worst_now.unfairness_interval == held_out.unfairness_interval
    members = report.worst.contains(NEW[2])
    assert against_rows.old_worst_now.subgroup.size == members.sum()


def test_a_report_is_taken_in_every_form(report, against_report, tmp_path):
    (tmp_path / "old.json").write_text(report.to_json())
    expected = undated(against_report)
    for old in (
        report.to_dict(),
        tmp_path / "old.json",
        str(tmp_path / "old.json"),
        json.loads(report.to_json()),
    ):
        assert undated(compare(old, *NEW[:2], sensitive_features=NEW[2])) == expected


CLASSES = [
    LinearThresholds(),
    ValueSets(max_depth=1),
    Trees(max_depth=1),
    ExplicitGroups(
        {"old women": {"sex": "F", "age": (50, None)}, "some": {"race": ["red", "blue"]}}
    ),
]


@pytest.mark.parametrize("subgroups", CLASSES, ids=lambda one: type(one).__name__)
def test_a_report_of_any_class_is_read_again(subgroups):
    then = audit(*NEW[:2], sensitive_features=NEW[2], subgroups=subgroups, budget=5)
    plain = json.loads(then.to_json())
    found = compare(plain, *NEW[:2], sensitive_features=NEW[2], budget=5, tolerance=0.0)
    assert found.subgroups.to_dict() == then.subgroups.to_dict()
    assert found.change == pytest.approx(0, abs=1e-12)
    if then.exact:
        assert found.verdict == "same"
    group = found.old_worst_now.subgroup
    assert group.size == then.worst.size
    assert group.unfairness == pytest.approx(then.worst.unfairness, abs=1e-12)


NOTIONS = [
    {"notion": "equalized_odds"},
    {"notion": "error_rate", "side": "disadvantaged"},
    {"notion": "statistical_parity", "favourable": "positive"},
]


@pytest.mark.parametrize("how", NOTIONS)
def test_a_report_of_any_rate_is_read_again(how):
    then = audit(*NEW[:2], sensitive_features=NEW[2], subgroups="marginals", **how)
    for given in ({}, how):
        found = compare(json.loads(then.to_json()), *NEW[:2], sensitive_features=NEW[2], **given)
        assert [one.to_dict() for one in found.notions] == [one.to_dict() for one in then.notions]
        assert found.verdict == "same"


def test_means_of_numbers_are_compared_in_their_unit():
    rng = np.random.default_rng(3)
    n = 400
    A = {"sex": np.array(["F", "M"] * 200)}
    days = rng.normal(20, 2, n)
    now = days + 5 * (A["sex"] == "F")
    waited = OutcomeNotion("wait", lambda y, d: d, reads_labels=False, unit="days")
    how = {"sensitive_features": A, "subgroups": "marginals", "gamma": 0.3}
    found = compare(days, None, now, notion=waited, **how)
    assert found.verdict == "worse"
    assert "days" in str(found)
    assert found.moved.now.gap - found.moved.was.gap == pytest.approx(2.5, abs=1e-9) or (
        found.moved.now.gap - found.moved.was.gap == pytest.approx(-2.5, abs=1e-9)
    )
    then = json.loads(audit(None, days, notion=waited, **how).to_json())
    with pytest.raises(ValueError, match="notion is what reports call 'wait'"):
        compare(then, None, now, sensitive_features=A)
    assert compare(then, None, now, notion=waited, sensitive_features=A).verdict == "worse"
    named_mean = json.loads(audit(None, days, notion="mean_outcome", **how).to_json())
    assert compare(named_mean, None, now, sensitive_features=A).change > 1


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, dict])
def test_columns_of_any_frame(against_rows, library):
    frames = [library(named(rows).to_dict("list")) for rows in (OLD, NEW)]
    found = compare(
        frames[0], "y", "d", data=frames[1], sensitive_features=["sex", "race", "age"], **SETTINGS
    )
    assert undated(found) == undated(against_rows)


def test_another_model_is_a_column_of_the_same_rows(against_model):
    data = named(NEW).assign(before=people(2)[1])
    for frame in (data, pl.from_pandas(data).lazy()):
        found = compare(
            "before", "y", "d", data=frame, sensitive_features=["sex", "race", "age"], **SETTINGS
        )
        assert undated(found) == undated(against_model)


def test_the_same_rows_are_the_same(report):
    found = compare(OLD, *OLD[:2], sensitive_features=OLD[2], **SETTINGS)
    assert (found.verdict, found.change, found.moved.moved) == ("same", 0.0, 0.0)
    assert found.p_value > 0.5
    assert compare(report, *OLD[:2], sensitive_features=OLD[2]).verdict == "same"
    found = compare(OLD[1], *OLD[:2], sensitive_features=OLD[2], **SETTINGS)
    assert (found.verdict, found.p_value, found.moved.p_value) == ("same", 1.0, 1.0)


def test_the_order_of_rows_does_not_matter(against_rows):
    order = np.random.default_rng(1).permutation(len(OLD[0]))
    shuffled = [
        (rows[0][order], rows[1][order], {name: v[order] for name, v in rows[2].items()})
        for rows in (OLD, NEW)
    ]
    found = compare(shuffled[0], *shuffled[1][:2], sensitive_features=shuffled[1][2], **SETTINGS)
    assert undated(found) == undated(against_rows)


def test_strata_of_both_sides_are_matched_by_their_values():
    """A stratum that has another rate is no unfairness, on either side and whatever its place."""
    rng = np.random.default_rng(6)

    def rows(jobs):
        sex = rng.choice(["F", "M"], 800)
        job = np.where(rng.random(800) < np.where(sex == "F", 0.8, 0.2), *jobs)
        decided = np.where(job == "nurse", rng.random(800) < 0.7, rng.random(800) < 0.2)
        return None, decided.astype(int), {"sex": sex}, None, {"job": job}

    old, new = rows(["nurse", "cook"]), rows(["nurse", "baker"])
    how = {"notion": "statistical_parity", "subgroups": "marginals"}
    found = compare(
        old, *new[:2], sensitive_features=new[2], control_features=new[4], gamma=0.02, **how
    )
    assert found.moved.p_value > 0.05
    assert found.control_features == ("job",)
    assert found.verdict == "same"
    apart = compare(old[:3], *new[:2], sensitive_features=new[2], gamma=0.02, **how)
    assert apart.old.unfairness > 0.04 > found.old.unfairness


def test_more_than_two_classes():
    rng = np.random.default_rng(7)
    A = {"sex": np.array(["F", "M"] * 300)}
    labels = rng.choice(["a", "b", "c"], 600)
    old = rng.choice(["a", "b", "c"], 600)
    new = np.where((A["sex"] == "F") & (labels != "b"), "b", old)
    found = compare(old, labels, new, sensitive_features=A, subgroups="marginals")
    assert found.verdict == "worse"
    assert found.moved.now.notion.of_class == "b"
    then = json.loads(audit(labels, old, sensitive_features=A, subgroups="marginals").to_json())
    assert compare(then, labels, new, sensitive_features=A).verdict == "worse"


def test_without_time_nothing_is_claimed():
    found = compare(
        OLD, *NEW[:2], sensitive_features=NEW[2], subgroups="linear", budget=1e-6, n_permutations=19
    )
    assert found.p_value is None
    assert found.verdict == "can't tell"
    assert "budget" in found.no_p_value


def small_groups(n_few):
    """Rows of which a few green women are decided otherwise now."""
    race = np.repeat(["blue", "green"], [400, 400])
    sex = np.r_[np.tile(["F", "M"], 200), np.repeat(["F", "M"], [n_few, 400 - n_few])]
    old = np.tile([0, 1], 400)
    new = np.where((race == "green") & (sex == "F"), 1, old)
    return {"race": race, "sex": sex}, old, new


def test_no_small_group_is_told():
    groups = ExplicitGroups({"few": {"race": "green", "sex": "F"}})
    A, old, new = small_groups(8)
    found = compare(old, None, new, notion="statistical_parity", sensitive_features=A,
                    subgroups=groups)  # fmt: skip
    assert found.moved.moved == found.moved.upper_bound > 0
    assert found.moved.now is None
    assert found.kept_back == ("moved",)
    assert "race = green" not in str(found) + found.to_json()
    assert found.new.worst is None
    rows = (None, old, A)
    found = compare(rows, None, new, notion="statistical_parity", sensitive_features=A,
                    subgroups=groups)  # fmt: skip
    assert (found.moved.now, found.kept_back) == (None, ("moved",))
    # The same with enough of them.
    A, old, new = small_groups(12)
    found = compare(old, None, new, notion="statistical_parity", sensitive_features=A,
                    subgroups=groups)  # fmt: skip
    assert found.moved.now.size == 12


def test_groups_that_tell_of_a_small_one_together_are_not_all_told():
    """All greens and all greens but eight women: the difference of their rates is about eight."""
    A, old, _ = small_groups(8)
    green = A["race"] == "green"
    now = np.where(green, 1, old)
    other = np.where(green & (A["sex"] == "M"), 1, old)
    groups = ExplicitGroups({"green": {"race": "green"}, "men": {"race": "green", "sex": "M"}})
    found = compare((None, other, A), None, now, notion="statistical_parity",
                    sensitive_features=A, subgroups=groups)  # fmt: skip
    told = [found.new.worst, found.old_worst_now.subgroup, found.moved and found.moved.now]
    sizes = {one.size for one in told if one is not None}
    assert len(sizes) == 1
    assert found.kept_back


def test_values_that_few_rows_have_are_not_named():
    rng = np.random.default_rng(8)
    town = np.r_[np.repeat(["Au", "Ulm", "Bonn"], 100), ["Rare"] * 3]
    old = rng.integers(0, 2, 303)
    new = np.where(np.isin(town, ["Au", "Rare"]), 1, old)
    found = compare(old, None, new, notion="statistical_parity", sensitive_features={"town": town},
                    subgroups="value_sets")  # fmt: skip
    assert found.moved.now is not None
    assert "Rare" not in found.to_json()
    assert "Rare" not in found.to_html()


def told_of(texts):
    """A comparison whose attributes, values and labels are these texts."""
    rng = np.random.default_rng(0)
    A = {name: rng.choice(np.array(texts, dtype=object), 200) for name in texts}
    labels = np.array(texts[:2], dtype=object)
    old = rng.integers(0, 2, 200)
    new = np.where(A[texts[0]] == texts[0], 1, old)
    return compare(labels[old], None, labels[new], notion="statistical_parity", pos_label=texts[1],
                   sensitive_features=A, subgroups="marginals", n_permutations=19)  # fmt: skip


def test_hostile_names_stay_inert():
    pytest.importorskip("jinja2")
    tame = told_of([f"word {i}" for i in range(5)])
    for i in range(0, len(STRINGS) - 4, 5):
        found = told_of(STRINGS[i : i + 5])
        assert found.moved.now is not None
        assert_text_alone(found.to_html(), tame.to_html())
        assert_text_alone(found._repr_html_(), tame._repr_html_())
        assert_inert(str(found))
        assert_inert(found.to_markdown())
        assert_inert(found.to_json())


A_RACE = NEW[2]["race"]
A_REPORT = {"sensitive_features": NEW[2]}
BAD = {
    "gamma": ({"gamma": 0.2}, "gamma=0.2 is not that of the old report, 0.01"),
    "side": ({"side": "disadvantaged"}, "side='disadvantaged' is not that of the old report"),
    "size": ({"min_group_size": 5}, "min_group_size=5 is not that of the old report, 12"),
    "favourable": ({"favourable": "positive"}, "favourable='positive' is not that of the old"),
    "notion": ({"notion": "error_rate"}, "notion is not that of the old report: 'error_rate' now"),
    "class": ({"subgroups": "linear"}, r"subgroups is LinearThresholds\(\), and the old report"),
    "a list": ({"gamma": np.array([0.01, 0.02])}, "gamma=array.* is not that of the old report"),
    "a signalling NaN": ({"gamma": Decimal("sNaN")}, "gamma=.* is not that of the old report"),
    "a flag": ({"min_group_size": True}, "min_group_size=True is not that of the old report"),
    "a frame": ({"side": pl.DataFrame({"a": [1]})}, "(?s)side=.* is not that of the old report"),
    "tolerance": ({"tolerance": -1}, "tolerance must be a number of at least 0"),
    "fewer attributes": ({"sensitive_features": {"sex": NEW[2]["sex"]}}, "sensitive_features are"),
    "other names": (
        {"sensitive_features": {"alter": NEW[2]["age"], "race": A_RACE, "sex": NEW[2]["sex"]}},
        "'alter'.* and those of the old report",
    ),
    "control": ({"control_features": {"job": NEW[2]["sex"]}}, "control_features are 'job'"),
    "scores": ({"notion": "multiaccuracy"}, "notion is of scores"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_what_is_not_the_report_s_is_refused(report, change, message):
    with pytest.raises(ValueError, match=message):
        compare(report, *NEW[:2], **A_REPORT | change)


FORGED = {
    "another version": (
        {"provenance": {"date": "2025-01-31", "versions": {"gerrymend": "7.3.1"}}},
        r"old is a report of gerrymend 7\.3\.1, and this is",
    ),
    "labels": (
        {"labels": ["no", "yes"]},
        "y_true has the labels 0, 1, and the old report has 'no', 'yes'",
    ),
    "a kind of rule": (
        {
            "worst": {
                "rule": {"kind": "spell"},
                "notion": "false_positive_rate",
                "unfairness": 0.1,
                "share": 0.1,
                "size": 9,
                "rate": 0.5,
                "overall_rate": 0.4,
            }
        },
        "old has a rule that can't be read",
    ),
    "a group without a rate": (
        {"worst": {"rule": {"kind": "conjunction", "conditions": []}, "notion": "x"}},
        "old is a report that was changed: its 'worst' is",
    ),
    "a text for a figure": ({"gamma": "0.01"}, "old is a report that was changed: its 'gamma' is"),
    "a vast figure": ({"unfairness": 10**400}, "its 'unfairness' is 1000"),
    "no class": ({"class": "Conjunctions"}, "its 'class' is 'Conjunctions'"),
    "no parameters": ({"class": {"name": "Trees", "parameters": [1]}}, "its 'class' is"),
    "no names": ({"attributes": [1, 2, 3]}, "its 'attributes' is"),
    "no provenance": ({"provenance": 3}, "its 'provenance' is 3"),
    "a text for labels": ({"labels": "01"}, "its 'labels' is '01'"),
    "no notions": ({"notions": [-1]}, "its 'notions' is"),
    "half a notion": ({"notions": [{"name": "x"}]}, "old has notions that can't be read: 'event'"),
    "an odd notion": (
        {
            "notions": [
                {
                    "name": "x",
                    "event": [True, True],
                    "a": [0, "red"],
                    "b": [1, 1],
                    "worse": None,
                    "unit": None,
                }
            ]
        },
        "old has notions that can't be read: a of a FairnessNotion holds",
    ),
    "a class": ({"class": {"name": "Circles", "parameters": {}}}, "'Circles', which is none of"),
    "a parameter": (
        {"class": {"name": "Conjunctions", "parameters": {"colour": 1}}},
        "class of subgroups that can't be made",
    ),
}


@pytest.mark.parametrize(("change", "message"), FORGED.values(), ids=FORGED)
def test_a_report_that_can_t_be_compared_is_refused(report, change, message):
    plain = json.loads(report.to_json()) | change
    with pytest.raises(ValueError, match=message):
        compare(plain, *NEW[:2], sensitive_features=NEW[2])


def test_an_attribute_of_another_kind_is_refused(report):
    """The numbers of the old report are text now."""
    A = NEW[2] | {"age": np.where(NEW[2]["age"] > 50, "old", "young")}
    plain = json.loads(report.to_json())
    plain["worst"]["rule"] = {
        "kind": "conjunction", "conditions": [{"attribute": "age", "low": 30, "high": None}]
    }  # fmt: skip
    for old in (plain, report):
        with pytest.raises(
            ValueError, match=r"age.* of sensitive_features holds values of type str"
        ):
            compare(old, *NEW[:2], sensitive_features=A)


@pytest.mark.parametrize(("old", "message"), [
    (None, "old is None"),
    ({"verdict": "same"}, "old is no report of an audit, or of another version: gamma"),
    ({}, "old is no report of an audit"),
    ("nowhere.json", "'nowhere.json' can't be read"),
    ((1, 2), r"old must be a tuple \(y_true, y_pred"),
    (OLD[1][:10], "In old: The arguments differ in their number of rows"),
    ((OLD[0], OLD[1], {"sex": OLD[2]["sex"]}), "In old: sensitive_features"),
    ((None, OLD[1], OLD[2]), "old has no labels, and the first sample has"),
])  # fmt: skip
def test_bad_old_sides(old, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare(old, *NEW[:2], sensitive_features=NEW[2])


def test_a_file_that_is_no_report(tmp_path):
    (tmp_path / "old.json").write_text("[1, 2")
    with pytest.raises(ValueError, match="is no report"):
        compare(tmp_path / "old.json", *NEW[:2], sensitive_features=NEW[2])


def test_withheld_values_of_an_old_report_are_not_guessed(report):
    plain = json.loads(report.to_json())
    plain["worst"]["rule"]["conditions"].append(
        {"attribute": "race", "values": ["blue"], "unnamed": 2}
    )
    found = EarlierReport.of(plain)
    tally = found.worst  # bound to no rows yet
    assert tally is not None
    assert compare(plain, *NEW[:2], sensitive_features=NEW[2]).old_worst_now.subgroup is None


def test_nothing_of_a_row_is_in_it(against_rows):
    """No list is as long as the rows, and every figure is of a group or of all."""

    def longest(value):
        if isinstance(value, dict):
            return max(map(longest, value.values()), default=0)
        if isinstance(value, list):
            return max(len(value), *map(longest, value), 0)
        return 0

    assert longest(against_rows.to_dict()) < 10
    assert isinstance(against_rows, Comparison)


@pytest.mark.slow
@pytest.mark.parametrize("of_models", [False, True])
def test_where_nothing_changed_p_values_are_as_small_as_they_say(of_models):
    """Of 400 pairs that were drawn alike, 5 % have a p-value of 5 % or less, and verdicts agree."""
    small = {"change": 0, "moved": 0, "verdict": 0}
    for seed in range(400):
        old, new = people([seed, 1], 120), people([seed, 2], 120)
        if of_models:
            old = old[1]
        found = compare(
            old, *new[:2], sensitive_features=new[2], subgroups=Conjunctions(max_depth=1),
            notion="statistical_parity", n_permutations=39, tolerance=0.0,
        )  # fmt: skip
        small["change"] += found.p_value <= 0.05
        small["moved"] += found.moved.p_value <= 0.05
        small["verdict"] += found.verdict in ("worse", "better")
    # Four standard errors of a binomial with 5 %.
    assert max(small.values()) <= 400 * 0.05 + 4 * np.sqrt(400 * 0.05 * 0.95)
    assert small["moved"] >= 5  # and no p-value is needlessly large


def test_a_value_may_be_called_unnamed():
    """It is no sign that values are not told."""
    y, d, A = people(0, shift=0.5)
    town = np.where(A["sex"] == "F", "unnamed road", "Bonn")
    old = audit(y, d, sensitive_features={"unnamed": town}, **SETTINGS)
    plain = json.loads(old.to_json())
    assert "unnamed" in str(plain["worst"]["rule"])
    found = compare(plain, y, d, sensitive_features={"unnamed": town})
    assert found.old_worst_now.subgroup.describe() == old.worst.describe()
