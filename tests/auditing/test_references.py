"""References of one's own, checked by code that shares nothing with audits."""

import json
import math

import numpy as np
import polars as pl
import pytest

from gerrymend import (
    ExplicitGroups,
    FairnessNotion,
    GroupMean,
    LinearThresholds,
    OutcomeNotion,
    SubgroupParityClassifier,
    audit,
    audit_counts,
    bootstrap,
    check_report,
    prove,
)
from gerrymend.notions import MEAN_OUTCOME, STATISTICAL_PARITY
from tests.auditing.test_outcomes import CLASSES, made
from tests.checking import assert_checked

# Within the outcomes, at an end of them, beyond; a group of one condition and of two.
NUMBERS = (0.0, 1.0, -2.25)
GROUPS = (
    GroupMean({"town": "Au"}),
    GroupMean({"town": ["Au", "Ulm"], "age": (None, 3)}, factor=0.8),
)
OF_RATES = (0.5, 0.0, 0.25)
SETTINGS = [
    {},
    {"favourable": "positive"},
    {"favourable": "negative", "side": "disadvantaged"},
    {"favourable": "positive", "side": "disadvantaged"},
]


def decisions(seed, n_rows=60, weighted=False):
    """Rows of labels and decisions, over the same cells as those of numbers."""
    rng = np.random.default_rng([seed, 3])
    return {
        **made(seed, n_rows, weighted=weighted),
        "y_true": rng.integers(0, 2, n_rows),
        "y_pred": rng.integers(0, 2, n_rows),
    }


def check(seed, subgroups, n_rows=60):
    """Audit numbers and decisions against each kind of reference, and list all subgroups."""
    weighted = bool(seed % 2)
    setting = SETTINGS[seed % 4]
    common = {"subgroups": subgroups, "min_group_size": 2, "gamma": 0.1, **setting}
    for data, notion, numbers in (
        (made(seed, n_rows, weighted=weighted), ("mean_outcome", "mean_error"), NUMBERS),
        (decisions(seed, n_rows, weighted), ("statistical_parity", "error_rate"), OF_RATES),
    ):
        for reference in (numbers[seed % 3], GROUPS[seed % 2]):
            report = audit(**data, notion=notion, reference=reference, **common)
            assert report.exact
            assert_checked(report, **data, bound=True)


@pytest.mark.parametrize("subgroups", CLASSES)
def test_every_figure_and_bound_holds_by_brute_force(subgroups):
    """The checker lists all subgroups of the class in exact arithmetic."""
    for seed in range(4):
        check(seed, subgroups)


@pytest.mark.slow
@pytest.mark.parametrize("subgroups", CLASSES)
def test_three_hundred_instances_hold_by_brute_force(subgroups):
    for seed in range(300):
        check(100 + seed, subgroups, n_rows=30)


def test_rows_without_weight_are_in_no_rate_that_would_tell_of_few():
    """The checker took a report for wrong that keeps back what tells of a row with weight."""
    check(149, "linear", n_rows=30)


def test_one_row_beside_the_reference_has_no_spread_that_is_known():
    """Of a group of which all but one row are the reference's, the one may be anything."""
    check(281, "marginals", n_rows=30)


@pytest.mark.parametrize("seed", range(4))
def test_named_groups_and_the_grid_hold_by_brute_force(seed):
    named = ExplicitGroups({"Au": {"town": "Au"}, "old": {"age": (2, None)}})
    check(seed, named)
    data = decisions(seed)
    data["sensitive_features"] = {
        "town": data["sensitive_features"]["town"] == "Au",
        "age": data["sensitive_features"]["age"],
    }
    report = audit(
        **data, notion="error_rate", reference=0.25, subgroups=LinearThresholds("grid"),
        min_group_size=2,
    )  # fmt: skip
    assert_checked(report, **data, bound=True)


def test_a_number_by_hand():
    """Au waits 40 and 50 days, Ulm 20 and 25: 15 more than 30 for half of the rows, 7.5 less."""
    days = [40, 50, 20, 25] * 10
    rows = {"sensitive_features": {"town": ["Au", "Au", "Ulm", "Ulm"] * 10}}
    report = audit(
        None, days, **rows, notion="mean_outcome", reference=30, favourable="negative", gamma=1.0
    )
    worst = report.disadvantaged
    assert (worst.describe(), worst.rate, worst.overall_rate) == ("town = Au", 45.0, 30.0)
    assert (worst.unfairness, report.unfairness, report.exact) == (7.5, 7.5, True)
    best = report.favoured
    assert (best.describe(), best.unfairness) == ("town = Ulm", -3.75)
    assert report.overall_rates[0].rate == 33.75
    assert report.overall_rates[0].reference == 30.0
    # Nobody is above 50 days, and everyone is farther below it than either town.
    limit = audit(None, days, **rows, notion="mean_outcome", reference=50, favourable="negative")
    assert (limit.worst.describe(), limit.unfairness) == ("everyone", 16.25)
    assert limit.disadvantaged is None
    assert limit.favoured.size == 40
    none = audit(
        None, days, **rows, notion="mean_outcome", reference=50, favourable="negative",
        side="disadvantaged",
    )  # fmt: skip
    assert (none.unfairness, none.upper_bound, none.verdict) == (0.0, 0.0, "within gamma")


def test_four_fifths_by_hand():
    """Of the men 3 in 4 are hired; of the women 2 in 4, below four fifths of that by 0.1."""
    hired = [1, 1, 1, 0] * 10 + [1, 1, 0, 0] * 10
    rows = {"sensitive_features": {"sex": ["M"] * 40 + ["F"] * 40}}
    fifths = GroupMean({"sex": "M"}, factor=0.8)
    common = {"notion": "statistical_parity", "favourable": "positive", "side": "disadvantaged"}
    report = audit(None, hired, **rows, **common, reference=fifths)
    worst = report.worst
    assert (worst.describe(), worst.overall_rate) == ("sex = F", pytest.approx(0.6))
    assert worst.unfairness == pytest.approx(0.5 * (0.5 - 0.6))
    assert worst.reference == "0.8 × the rate of sex = M"
    # Two thirds of the men's rate is what women have, and all are at least at that.
    report = audit(None, hired, **rows, **common, reference=GroupMean({"sex": "M"}, 2 / 3))
    assert report.unfairness == 0.0
    assert "0.6667" not in str(report)


def test_a_group_of_everyone_is_the_overall_rate():
    data = decisions(3, 200)
    notion = {"notion": "error_rate", "subgroups": "conjunctions", "min_group_size": 5}
    usual = audit(**data, **notion)
    same = audit(**data, **notion, reference=GroupMean({"age": (0, None)}))
    assert same.unfairness == pytest.approx(usual.unfairness, abs=1e-12)
    assert same.worst.describe() == usual.worst.describe()
    for own, other in zip(same.marginals, usual.marginals, strict=True):
        assert own.rate_interval == pytest.approx(other.rate_interval)
        assert own.unfairness == pytest.approx(other.unfairness, abs=1e-12)


def test_the_overall_rate_as_a_number_gives_the_same_values():
    """A constant has no spread of its own: intervals differ, values and bounds do not."""
    data = made(5, 200)
    mean = float(np.mean(data["y_pred"]))
    for subgroups in CLASSES:
        usual = audit(**data, notion="mean_outcome", subgroups=subgroups, gamma=0.1)
        same = audit(**data, notion="mean_outcome", subgroups=subgroups, gamma=0.1, reference=mean)
        assert same.unfairness == pytest.approx(usual.unfairness, abs=1e-12)
        assert same.upper_bound == pytest.approx(usual.upper_bound, abs=1e-12)


def test_multiaccuracy_is_a_reference_of_zero():
    """u = y − score, within every subgroup and over all: what issue 17 builds on."""
    rng = np.random.default_rng(11)
    score = rng.integers(1, 10, 300) / 10
    true = (rng.random(300) < score).astype(float)
    data = {**made(0, 300), "y_true": true, "y_pred": score}
    for subgroups in CLASSES:
        report = audit(
            **data, notion="mean_error", reference=0, subgroups=subgroups, min_group_size=5
        )
        assert report.exact
        assert_checked(report, **data, bound=True)
        assert report.unfairness >= abs(float(np.mean(true - score))) - 1e-12 or (
            subgroups == "marginals"
        )


def test_a_proof_against_a_reference():
    days = [40, 50, 20, 25] * 10
    question = {
        "y_true": None,
        "y_pred": days,
        "sensitive_features": {"town": ["Au", "Au", "Ulm", "Ulm"] * 10},
        "notion": "mean_outcome",
        "reference": 30,
    }
    assert prove(**question, at_most=7.5).status == "proved"
    refuted = prove(**question, at_most=7.4)
    assert (refuted.status, refuted.subgroup.describe()) == ("refuted", "town = Au")
    # On the side of low ones the worst is Ulm, by less.
    low = {"favourable": "positive", "side": "disadvantaged"}
    assert prove(**question, **low, at_most=3.75).status == "proved"
    assert prove(**question, **low, at_most=3.74).subgroup.describe() == "town = Ulm"
    # Everyone exceeds it, and so no subgroup need.
    everyone = prove(**{**question, "reference": 10}, at_most=20)
    assert (everyone.status, str(everyone.subgroup)) == ("refuted", "everyone")


def test_counts_and_lazy_frames_are_the_rows():
    data = decisions(2, 300)
    notion = {"notion": "statistical_parity", "min_group_size": 5, "confidence": 0.95,
              "reference": GroupMean({"town": "Au"}, 0.9), "n_resamples": 40,
              "subgroups": "conjunctions"}  # fmt: skip
    rows = audit(None, data["y_pred"], sensitive_features=data["sensitive_features"], **notion)
    frame = pl.DataFrame({**data["sensitive_features"], "d": data["y_pred"]})
    lazy = audit(None, "d", sensitive_features=["town", "age"], data=frame.lazy(), **notion)
    counted = audit_counts(
        frame.group_by("town", "age", "d").len(),
        sensitive_features=["town", "age"], label=None, prediction="d", count="len", **notion,
    )  # fmt: skip
    for other in (lazy, counted):
        assert other.worst.to_dict() == rows.worst.to_dict()
        assert other.population == rows.population


@pytest.mark.parametrize("reference", [0.25, GROUPS[1]])
def test_numbers_that_are_summed_elsewhere_are_the_rows(reference):
    data = made(6, 300)
    frame = pl.DataFrame({**data["sensitive_features"], "y": data["y_true"], "p": data["y_pred"]})
    common = {"notion": ("mean_outcome", "mean_error"), "reference": reference, "gamma": 0.1,
              "subgroups": "conjunctions", "favourable": "negative"}  # fmt: skip
    rows = audit(data["y_true"], data["y_pred"], sensitive_features=data["sensitive_features"],
                 **common).to_dict()  # fmt: skip
    lazy = audit("y", "p", sensitive_features=["town", "age"], data=frame.lazy(), **common)
    for part in ("worst", "disadvantaged", "favoured", "upper_bound", "overall_rates", "marginals"):
        assert lazy.to_dict()[part] == rows[part]


def test_top_subgroups_are_found_beside_everyone():
    """Once everyone is told to be above it, who differs from the others is searched for."""
    rng = np.random.default_rng(4)
    town = np.array(["Au", "Ulm"])[rng.integers(0, 2, 400)]
    age = rng.integers(20, 60, 400).astype(float)
    days = 40.0 + 5 * (town == "Au") + rng.integers(0, 3, 400)
    report = audit(
        None, days, sensitive_features={"town": town, "age": age}, notion="mean_outcome",
        reference=10, favourable="negative", top=3, subgroups="conjunctions",
    )  # fmt: skip
    first, second, *_ = report.top
    assert first.describe() == "everyone"
    assert second.describe().startswith("town = ")
    assert report.favoured is None


def test_held_out_rows_have_a_reference_of_their_own():
    data = made(9, 400)
    third = {name: column[:130] for name, column in data["sensitive_features"].items()}
    second = (data["y_true"][:130], data["y_pred"][:130], third)
    common = {"notion": "mean_outcome", "reference": GroupMean({"town": "Au"}, 1.5)}
    report = audit(**data, **common, holdout=second, gamma=0.1)
    there = report.held_out.subgroup
    own = second[1][third["town"] == "Au"].mean()
    assert there.overall_rate == pytest.approx(1.5 * own)
    low, high = report.held_out.unfairness_interval
    assert low < there.unfairness < high
    assert_checked(report, **data, holdout=second)
    # A second sample without the group says nothing of it.
    ulm = np.flatnonzero(third["town"] != "Au")
    few = (second[0][ulm], second[1][ulm], {name: column[ulm] for name, column in third.items()})
    report = audit(**data, **common, holdout=few, gamma=0.1)
    assert report.held_out.subgroup is None
    assert_checked(report, **data, holdout=few)


def test_no_p_value_is_made_and_the_report_says_why():
    data = made(1, 200)
    report = audit(**data, notion="mean_outcome", reference=0.5, n_permutations=19)
    assert report.p_value is None
    assert "not from a reference of one's own" in report.to_dict()["no_p_value"]
    text = " ".join(str(audit(**data, notion="mean_outcome", reference=0.5)).split())
    assert "n_permutations=199" not in text
    assert "compared with 0.5, the reference, and not with the overall mean" in text


def test_the_population_bound_covers_a_constant_and_a_group():
    """True values are known: 400 rows drawn from a small population, in 40 samples."""
    rng = np.random.default_rng(8)
    town = np.array(["Au", "Ulm", "Rom"])
    mean = {"Au": 0.2, "Ulm": 0.5, "Rom": 0.4}
    for reference, true in (
        (0.3, {"Au": -0.1, "Ulm": 0.2, "Rom": 0.1}),
        (GroupMean({"town": "Rom"}, 0.75), {"Au": -0.1, "Ulm": 0.2, "Rom": 0.1}),
    ):
        covered = 0
        for _ in range(40):
            rows = town[rng.integers(0, 3, 400)]
            decided = (rng.random(400) < [mean[one] for one in rows]).astype(int)
            report = audit(
                None, decided, sensitive_features={"town": rows}, notion="statistical_parity",
                reference=reference, subgroups="value_sets", confidence=0.9, n_resamples=40,
            )  # fmt: skip
            # Ulm and Rom are above it: 0.3 for two thirds of the people.
            largest = (true["Ulm"] + true["Rom"]) / 3
            covered += report.population.lower_bound <= largest <= report.population_bound
        # Binomial(40, 0.9) is below 31 with a probability of 0.5 %.
        assert covered >= 31


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (math.nan, "got nan"),
        (math.inf, "got inf"),
        (-math.inf, "got -inf"),
        ("everyone", "got 'everyone'"),
        (True, "got True"),
        ([30], r"got \[30\]"),
        ({"sex": "M"}, "GroupMean"),
        (1e200, "at most 1e"),
    ],
)
def test_what_is_no_reference_is_refused(wrong, words):
    with pytest.raises(ValueError, match=f"reference must be 'overall', a finite .*{words}"):
        audit(**made(0), notion="mean_outcome", reference=wrong)
    with pytest.raises(ValueError, match="reference must be"):
        OutcomeNotion("own", lambda y, p: p, reference=wrong)
    with pytest.raises(ValueError, match="reference must be"):
        STATISTICAL_PARITY.against(wrong)


@pytest.mark.parametrize("factor", [0, -1, math.nan, math.inf, "0.8", True])
def test_a_factor_is_a_number_above_0(factor):
    with pytest.raises(ValueError, match=r"factor of a group's mean must be a number above 0; got"):
        GroupMean({"sex": "M"}, factor)


def test_a_group_has_conditions():
    for group in ({}, "sex=M", None):
        with pytest.raises(ValueError, match=r"group of a GroupMean must map attributes to values"):
            GroupMean(group)


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({"twon": "Au"}, r"reference can't be worked out: .*'twon', .*did you mean 'town'"),
        ({"town": "Bern"}, "reference is the mean of town = Bern, and there is no such row"),
        ({"town": 3}, "reference can't be worked out: its group asks 'town' to be 3"),
        ({"age": (5, 1)}, r"reference can't be worked out: .*\(5, 1\), which is no interval"),
    ],
)
def test_a_group_that_is_not_there_is_refused(group, words):
    for function in (audit, prove):
        more = {"at_most": 0.1} if function is prove else {}
        with pytest.raises(ValueError, match=words):
            function(**made(0), notion="mean_outcome", reference=GroupMean(group), **more)


def test_a_group_without_rows_that_count_is_refused():
    data = decisions(0, 100)
    data["y_true"] = np.where(data["sensitive_features"]["town"] == "Au", 1, data["y_true"])
    reference = GroupMean({"town": "Au"})
    with pytest.raises(ValueError, match=r"no such row is among those that the false positive"):
        audit(**data, reference=reference)
    assert audit(**data, notion="false_negative_rate", reference=reference).unfairness > 0


def test_a_group_of_few_rows_is_not_told():
    data = made(0, 100)
    data["sensitive_features"]["town"][:4] = "Bas"
    reference = GroupMean({"town": "Bas"})
    with pytest.raises(ValueError, match="a mean of 4 rows of 100: with fewer than 10"):
        audit(**data, notion="mean_outcome", reference=reference)
    rest = GroupMean({"town": ["Au", "Ulm", "Rom"]})
    with pytest.raises(ValueError, match="a mean of 96 rows of 100"):
        prove(**data, notion="mean_outcome", reference=rest, at_most=0.1)
    report = audit(**data, notion="mean_outcome", reference=reference, min_group_size=4)
    assert report.overall_rates[0].reference is not None


def test_a_subgroup_that_tells_of_few_beside_the_reference_is_not_described():
    """Women and three men of 59: their rate beside the men's tells that of the three."""
    rng = np.random.default_rng(0)
    sex = np.array(["F"] * 100 + ["M"] * 100)
    age = rng.integers(20, 59, 200).astype(float)
    age[197:] = 59.0
    days = np.where((sex == "F") | (age == 59), 50.0, 20.0)
    rows = {"sensitive_features": {"sex": sex, "age": age}, "notion": "mean_outcome"}
    report = audit(None, days, **rows, reference=GroupMean({"sex": "M"}))
    assert report.exact
    assert report.withheld
    assert report.worst.describe() == "sex = F"
    assert audit(None, days, **rows, reference=20).worst.size == 103
    # A proof tells of one group, beside the reference as well.
    proof = prove(None, days, **rows, reference=GroupMean({"sex": "M"}), at_most=1.0)
    assert (proof.status, str(proof.subgroup)) == ("refuted", "sex = F")
    narrow = prove(None, days, **rows, reference=GroupMean({"sex": "M"}), at_most=14.6)
    assert narrow.subgroup is None
    assert "a group that may not be described" in str(narrow)


def test_what_takes_no_reference_says_so():
    data = decisions(0, 200)
    own = STATISTICAL_PARITY.against(0.3)
    with pytest.raises(ValueError, match="control_features"):
        audit(**data, notion=own, control_features={"c": np.arange(200) % 2})
    with pytest.raises(ValueError, match="discovery_rate flags groups that differ from all others"):
        audit(**data, notion=own, discovery_rate=0.1)
    with pytest.raises(
        ValueError, match=r"notion compares the rate of positive decisions with 0\.3"
    ):
        SubgroupParityClassifier(notion=own).fit(
            np.zeros((200, 1)), data["y_true"], sensitive_features=data["sensitive_features"]
        )
    with pytest.raises(ValueError, match="notion compares"):
        bootstrap(**data, notion=own)
    with pytest.raises(ValueError, match=r"reference=0.5 is not what 'statistical_parity' itself"):
        audit(**data, notion=own, reference=0.5)
    assert audit(**data, notion=own, reference=0.3).unfairness > 0


@pytest.mark.parametrize("reference", [31.0, -4.0])
def test_a_number_beyond_all_outcomes_is_warned_of(reference):
    report = audit(**made(0, 100), notion="mean_outcome", reference=reference)
    (doubt,) = [one for one in report.warnings if one.code == "reference_outside_outcomes"]
    assert "every row is on one side of it" in doubt.sentence
    assert_checked(report, **made(0, 100))
    rate = audit(**decisions(0, 100), reference=40.0)
    assert "reference_outside_outcomes" in [one.code for one in rate.warnings]


def test_outcomes_that_are_all_alike_can_exceed_a_number():
    rows = {"sensitive_features": {"town": ["Au", "Ulm"] * 20}}
    report = audit(None, [31.0] * 40, **rows, notion="mean_outcome", reference=30.0, gamma=0.5)
    assert "constant_decisions" not in [one.code for one in report.warnings]
    assert (report.unfairness, report.verdict) == (1.0, "exceeds gamma")


def test_a_gamma_that_allows_everything_is_as_far_as_outcomes_are():
    data = decisions(0, 200)
    notion = {"notion": "statistical_parity", "reference": 0.25}
    codes = [[one.code for one in audit(**data, **notion, gamma=gamma).warnings]
             for gamma in (0.74, 0.75)]  # fmt: skip
    assert ["gamma_allows_everything" in some for some in codes] == [False, True]


def test_lies_about_a_reference_are_found():
    data = made(2, 120)
    report = audit(**data, notion="mean_outcome", reference=0.25, gamma=0.1)
    told = report.to_dict()
    assert check_report(told, **data).ok
    for change in (
        lambda one: one["notions"][0].update(reference=0.5),
        lambda one: one["notions"][0].pop("reference"),
        lambda one: one["overall_rates"][0].update(reference=0.5),
        lambda one: one["overall_rates"][0].update(compared_with="the mean of town = Au"),
        lambda one: one["worst"].pop("reference"),
    ):
        lie = json.loads(json.dumps(told))
        change(lie)
        assert not check_report(lie, **data).ok
    grouped = audit(**data, notion="mean_outcome", reference=GROUPS[1], gamma=0.1).to_dict()
    assert check_report(grouped, **data).ok
    lie = json.loads(json.dumps(grouped))
    lie["notions"][0]["reference"]["factor"] = 0.9
    assert not check_report(lie, **data).ok


def test_reports_compare_with_the_reference_in_every_form():
    data = decisions(1, 200)
    reference = GroupMean({"town": "<b>Au"}, 0.8)
    town = data["sensitive_features"]["town"]
    data["sensitive_features"]["town"] = np.where(town == "Au", "<b>Au", town)
    report = audit(**data, notion="statistical_parity", reference=reference, favourable="positive")
    page = report.to_html()
    assert "0.8 × the rate of town = &lt;b&gt;Au" in page
    assert "<b>Au" not in page
    assert "0.8 × the rate of town = " in report.to_markdown()
    assert "overall rate</p>" not in page
    assert report.to_dict()["notions"][0]["reference"] == {
        "group": {"town": {"values": ["<b>Au"]}},
        "factor": 0.8,
    }
    number = audit(**data, notion="statistical_parity", reference=0.25).to_html()
    assert "25\u00a0%, the reference" in number


def test_a_reference_is_a_part_of_a_notion():
    assert MEAN_OUTCOME.against(3) != MEAN_OUTCOME
    assert MEAN_OUTCOME.against(3) == MEAN_OUTCOME.against(3.0)
    group = GroupMean({"a": [1, 2]})
    assert len({MEAN_OUTCOME.against(group), MEAN_OUTCOME.against(GroupMean({"a": [1, 2]}))}) == 1
    own = FairnessNotion("hits", (True, True), (0, 0), (1, 1), reference=0.5)
    assert own.unfairness([0, 1], [1, 1], members=[1, 0]) == 0.25
    assert own.of_other_label().reference == 0.5
    with pytest.raises(ValueError, match="here it has to be 'overall'"):
        own.pull([0, 1], members=[1, 0])
    with pytest.raises(ValueError, match="here it has to be 'overall'"):
        own.against(group).residual([0, 1], [1, 1])


def test_what_a_report_compared_can_be_audited_again():
    data = made(4, 100)
    delay = OutcomeNotion("delay", lambda y, p: p, reads_labels=False, unit="days", reference=0.5)
    first = audit(**data, notion=delay)
    assert audit(**data, notion=first.notions).to_dict()["worst"] == first.to_dict()["worst"]
    levels = np.array(["now", "soon", "later"])
    classes = {**decisions(4, 100), "y_true": levels[np.arange(100) % 3],
               "y_pred": levels[np.arange(100) // 2 % 3]}  # fmt: skip
    many = audit(**classes, notion=("statistical_parity", "error_rate"), reference=0.25)
    again = audit(**classes, notion=many.notions)
    assert [one.name for one in again.notions] == [one.name for one in many.notions]
    assert again.unfairness == many.unfairness
