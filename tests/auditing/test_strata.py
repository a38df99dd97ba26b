"""Groups are compared within strata of control features, and summed over them."""

import numpy as np
import polars as pl
import pytest

from gerrymend import audit, audit_counts, check_report, prove
from gerrymend.auditing.from_rows import Given, read_tally
from gerrymend.auditing.strata import stratum_rates
from gerrymend.inputs.sample import Decided
from gerrymend.notions import as_rates
from tests.auditing.few_rows import few_rows
from tests.checking import assert_checked

CLASSES = ("linear", "conjunctions", "value_sets", "trees", "marginals")
# Admissions to six departments of Berkeley, 1973 (Bickel, Hammel and O'Connell, 1975): applicants
# and those admitted, men and women.
BERKELEY = {
    "A": (825, 512, 108, 89),
    "B": (560, 353, 25, 17),
    "C": (325, 120, 593, 202),
    "D": (417, 138, 375, 131),
    "E": (191, 53, 393, 94),
    "F": (373, 22, 341, 24),
}


def berkeley():
    """A line for each department, sex and decision, with the number of applicants."""
    lines = []
    for department, (men, let_in, women, let_in_too) in BERKELEY.items():
        for sex, every, some in (("M", men, let_in), ("F", women, let_in_too)):
            lines.append((department, sex, 1, some))
            lines.append((department, sex, 0, every - some))
    return pl.DataFrame(lines, schema=["department", "sex", "admitted", "count"], orient="row")


def made(seed, n_rows=90, **how):
    return few_rows(seed, n_rows, controlled=True, **how)


def test_berkeley_by_hand():
    """Women are admitted less often overall, and not within departments."""
    settings = {
        "label": None,
        "prediction": "admitted",
        "sensitive_features": "sex",
        "notion": "statistical_parity",
        "favourable": "positive",
        "subgroups": "marginals",
    }
    overall = audit_counts(berkeley(), **settings)
    within = audit_counts(berkeley(), control_features="department", **settings)
    n = sum(men + women for men, _, women, _ in BERKELEY.values())
    admitted = sum(men + women for _, men, _, women in BERKELEY.values())
    women = sum(women for _, _, women, _ in BERKELEY.values())
    women_admitted = sum(women for _, _, _, women in BERKELEY.values())
    assert overall.disadvantaged.describe() == "sex = F"
    assert overall.unfairness == pytest.approx(abs(women_admitted - women * admitted / n) / n)
    # Within departments: women admitted, less what they would be at each department's rate.
    expected = sum(
        their * (men_in + women_in) / (men + their)
        for men, men_in, their, women_in in BERKELEY.values()
    )
    assert within.unfairness == pytest.approx(abs(women_admitted - expected) / n)
    assert within.disadvantaged.describe() == "sex = M"
    assert within.unfairness < overall.unfairness / 4
    shown = {stratum.stratum: stratum for stratum in within.strata}
    assert shown["department = A"].rate == pytest.approx((512 + 89) / (825 + 108))
    assert shown["department = A"].rows == 933


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("subgroups", CLASSES)
def test_every_figure_and_bound_holds_by_brute_force(subgroups, weighted):
    for seed in range(4):
        data = made(seed, weighted=weighted)
        notion = [("equalized_odds", "error_rate"), "statistical_parity"][seed % 2]
        report = audit(**data, notion=notion, subgroups=subgroups, min_group_size=3)
        assert report.exact
        assert_checked(report, **data, bound=True)


@pytest.mark.slow
@pytest.mark.parametrize("subgroups", CLASSES)
def test_three_hundred_instances_hold_by_brute_force(subgroups):
    for seed in range(300):
        data = made(1000 + seed, n_rows=40, weighted=bool(seed % 2))
        notion = ("false_positive_rate", "error_rate", "statistical_parity")[seed % 3]
        report = audit(
            **data, notion=notion, subgroups=subgroups, min_group_size=2,
            leave_out_empty_strata=True,
        )  # fmt: skip
        assert_checked(report, **data, bound=True)


def test_means_of_numbers_within_strata():
    for seed in range(3):
        data = made(seed)
        data["y_pred"] = data["y_pred"] + np.arange(90) % 4
        report = audit(
            **data, notion=("mean_outcome", "mean_error"), subgroups="conjunctions", gamma=0.1
        )
        assert_checked(report, **data, bound=True)


def test_one_stratum_is_none():
    data = made(1)
    data["control_features"] = {"job": ["cook"] * 90}
    within = audit(**data, n_permutations=19)
    data["control_features"] = None
    overall = audit(**data, n_permutations=19)
    assert within.unfairness == pytest.approx(overall.unfairness)
    assert within.upper_bound == pytest.approx(overall.upper_bound)
    assert within.p_value == overall.p_value


def test_what_follows_from_strata_alone_is_no_unfairness():
    """Cooks are all decided 1 and nurses 0, whoever they are: nothing differs within either."""
    job = np.tile(["cook", "nurse"], 100)
    sex = np.where((np.arange(200) % 10 < 7) == (job == "cook"), "F", "M")
    decided = (job == "cook").astype(int)
    rows = {"sensitive_features": {"sex": sex}, "notion": "statistical_parity"}
    assert audit(None, decided, **rows).unfairness > 0.05
    within = audit(None, decided, **rows, control_features={"job": job}, n_permutations=19)
    assert within.unfairness == 0
    assert within.p_value == 1.0
    assert prove(
        None, decided, **rows, control_features={"job": job}, at_most=0.0
    ).status == "proved"  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
def test_a_p_value_is_that_of_dealing_within_strata(weighted):
    """Outcomes depend on the stratum, and groups are unevenly spread: no false alarm."""
    p_values = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        job = rng.integers(0, 2, 200)
        sex = np.where(rng.random(200) < 0.2 + 0.6 * job, "F", "M")
        decided = (rng.random(200) < 0.2 + 0.6 * job).astype(int)
        weight = rng.integers(1, 3, 200) if weighted else None
        report = audit(
            None, decided, sensitive_features={"sex": sex}, control_features={"job": job},
            sample_weight=weight, notion="statistical_parity", subgroups="marginals",
            n_permutations=19, random_state=seed,
        )  # fmt: skip
        p_values.append(report.p_value)
    # Of 40 valid p-values, more than 7 are at most .05 in 1 of 1,000 cases.
    assert sum(p <= 0.05 for p in p_values) <= 7
    assert 0.3 < np.mean(p_values) < 0.75


@pytest.mark.parametrize("subgroups", ["conjunctions", "linear"])
def test_frames_engines_and_counts_agree(subgroups):
    data = made(5, n_rows=200)
    rows = pl.DataFrame(
        {
            **data["sensitive_features"],
            **data["control_features"],
            "y": data["y_true"],
            "d": data["y_pred"],
        }
    )
    named = {
        "sensitive_features": ["town", "age"],
        "control_features": ["job", "years"],
        "subgroups": subgroups,
        "n_permutations": 19,
        "test_size": 0.25,
    }
    counts = rows.group_by(rows.columns).len("count").sort(rows.columns)
    reports = [
        audit(**data, subgroups=subgroups, n_permutations=19, test_size=0.25),
        audit("y", "d", data=rows, **named),
        audit("y", "d", data=rows.lazy(), **named),
        audit_counts(counts, label="y", prediction="d", **named),
    ]
    plain = [report.to_dict() | {"provenance": None} for report in reports]
    assert plain[0] == plain[1] == plain[2] == plain[3]


def test_rates_of_strata_are_fairlearns():
    theirs = pytest.importorskip("fairlearn.metrics")
    data = made(2, n_rows=400)
    for notion, metric in (
        ("statistical_parity", theirs.selection_rate),
        ("false_positive_rate", theirs.false_positive_rate),
    ):
        report = audit(**data, notion=notion, min_group_size=1, subgroups="marginals")
        frame = theirs.MetricFrame(
            metrics=metric,
            y_true=data["y_true"],
            y_pred=data["y_pred"],
            sensitive_features=np.zeros(400),
            control_features=pl.DataFrame(data["control_features"]).to_pandas(),
        )
        rates = {
            f"job = {job} and years = {years:g}": rate
            for (job, years), rate in frame.overall.items()
        }
        assert {one.stratum: pytest.approx(one.rate) for one in report.strata} == rates


def test_small_strata_are_not_shown_and_do_not_follow_from_the_others():
    rng = np.random.default_rng(0)
    job = np.array(["cook"] * 100 + ["nurse"] * 40 + ["pope"] * 3)
    report = audit(
        None, rng.integers(0, 2, 143), sensitive_features={"sex": rng.integers(0, 2, 143)},
        control_features={"job": job}, notion="statistical_parity",
    )  # fmt: skip
    # The three follow from the overall rate and those of the two others.
    assert [one.stratum for one in report.strata] == ["job = cook"]
    assert report.strata_left_out == 2
    for shown in (report.to_html(), report.to_json(), report.to_markdown(), str(report)):
        assert "pope" not in shown


def test_a_lie_about_a_stratum_is_found():
    data = made(3, n_rows=200)
    honest = audit(**data).to_dict()
    assert check_report(honest, **data).problems == []
    for change in (
        lambda report: report["strata"][0].update(rate=0.123),
        lambda report: report["strata"][0].update(rows=7),
        lambda report: report["strata"][0].update(stratum="job = pope and years = 1"),
        lambda report: report.update(control_features=["job"]),
        lambda report: report.update(strata_left_out=3),
        lambda report: report["strata"].pop(),
    ):
        report = audit(**data).to_dict()
        change(report)
        assert check_report(report, **data).problems


def test_what_can_not_be_is_refused():
    data = made(4)
    with pytest.raises(ValueError, match="control_features has 3 rows, and y_pred has 90"):
        audit(**data | {"control_features": ["a", "b", "c"]})
    with pytest.raises(ValueError, match="makes 90 strata of 90 rows"):
        audit(**data | {"control_features": {"wage": np.arange(90.0)}})
    empty = np.where(data["y_true"] == 1, "cook", "nurse")
    empty = np.where(np.arange(90) < 45, "pope", empty)
    with pytest.raises(ValueError, match=r"a stratum without a row .* job = cook"):
        audit(**data | {"control_features": {"job": empty}})
    left_out = audit(**data | {"control_features": {"job": empty}, "leave_out_empty_strata": True})
    assert left_out.n_rows == 90
    rows = pl.DataFrame({"sex": ["F", "M"], "y": [0, 1], "d": [0, 1]})
    with pytest.raises(ValueError, match="control_features='jobs' is no column of data"):
        audit("y", "d", data=rows, sensitive_features="sex", control_features="jobs")
    with pytest.raises(ValueError, match=r"^control_features has no columns; pass at least one\.$"):
        audit(**data | {"control_features": {}})
    with pytest.raises(ValueError, match=r"^control_features has no columns; name at least one\.$"):
        audit("y", "d", data=rows, sensitive_features="sex", control_features=[])
    wage = np.where(np.arange(90) == 7, np.nan, 1.0)
    with pytest.raises(ValueError, match="Column 'wage' of control_features is") as raised:
        audit(**data | {"control_features": {"wage": wage}})
    assert "threshold" not in str(raised.value)


@pytest.mark.parametrize("wrong", ["no", 1, None, NotImplemented, np.array([])])
def test_flags_are_true_or_false(wrong):
    """A text is true, and would leave out what it names, or says not to."""
    data = made(4)
    table = pl.DataFrame({"sex": ["F", "M"] * 2, "label": [0, 0, 1, 1], "prediction": [0, 1] * 2})
    counted = table.with_columns(job=pl.lit("cook"), count=pl.lit(20))
    for audited in (
        lambda **flag: audit(**data, **flag),
        lambda **flag: prove(**data, at_most=0.1, **flag),
        lambda **flag: audit_counts(
            counted, sensitive_features="sex", control_features="job", **flag
        ),
    ):
        with pytest.raises(TypeError, match="leave_out_empty_strata must be True or False; got"):
            audited(leave_out_empty_strata=wrong)
        with pytest.raises(TypeError, match="decision_probabilities must be True or False; got"):
            audited(decision_probabilities=wrong)


def test_a_stratum_that_tells_of_one_person_beside_a_group_is_not_shown():
    """All men and one woman are in X: its rate less that of the men is her decision."""
    sex = ["m"] * 200 + ["f"] * 200
    department = ["X"] * 201 + ["Y"] * 199
    decided = np.random.default_rng(0).integers(0, 2, 400)
    report = audit(
        None, decided, sensitive_features={"sex": sex}, control_features={"department": department},
        notion="statistical_parity", subgroups="marginals",
    )  # fmt: skip
    assert [group.group for group in report.marginals] == ["sex = f", "sex = m"]
    assert report.strata == ()
    assert report.strata_left_out == 2


class Counted(list):
    """A list that counts how often it is gone through."""

    times = 0

    def __iter__(self):
        self.times += 1
        return super().__iter__()


def tells_of_few(stratum, group, floor):
    """Whether one of the four sets that two sets of rows make is empty, and another has few."""
    parts = [(stratum & group).sum(), (stratum & ~group).sum(), (~stratum & group).sum()]
    parts.append(len(stratum) - sum(parts))
    return 0 in parts and any(0 < part < floor for part in parts)


def test_strata_that_tell_of_few_are_found_in_one_pass_over_the_groups():
    """Against each stratum and group in turn, by masks of the rows."""
    notion = as_rates("statistical_parity")[0]
    outcomes = set()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        town = np.repeat(np.arange(4), 60)
        home = 2 * town + (rng.random(240) < rng.uniform(0.05, 0.5, 4)[town])
        control = np.where(rng.random(240) < 0.01, 3 - town, town)
        given = Given(
            None, rng.integers(0, 2, 240), {"home": home.astype(str)}, None,
            {"town": control.astype(str)},
        )  # fmt: skip
        tally = read_tally(None, given, Decided(None, False, None), (notion,))
        (column,) = tally.columns
        homes = np.unique(home)
        groups = Counted(column.equals(str(one)) for one in homes)
        rates, left_out = stratum_rates(tally.of_notion(notion), 10, groups)
        shown = [
            f"town = {one}"
            for one in range(4)
            if not any(tells_of_few(control == one, home == group, 10) for group in homes)
        ]
        assert [one.stratum for one in rates] == shown
        assert left_out == 4 - len(shown)
        assert groups.times == 1
        outcomes |= {"shown"} if shown else set()
        outcomes |= {"left out"} if left_out else set()
    assert outcomes == {"shown", "left out"}


@pytest.mark.parametrize("notion", ["statistical_parity", "mean_outcome"])
def test_a_control_that_is_the_outcome_is_warned_of(notion):
    rng = np.random.default_rng(0)
    decided = rng.integers(0, 2, 200)
    report = audit(
        None, decided, sensitive_features={"sex": rng.integers(0, 2, 200)}, notion=notion,
        control_features={"copy": np.where(decided, "yes", "no")},
    )  # fmt: skip
    assert "control_is_outcome" in [doubt.code for doubt in report.warnings]


def test_codes_of_many_digits_name_their_strata_apart():
    codes = np.repeat([1000001, 1000002, 1000003], 40)
    rng = np.random.default_rng(0)
    data = {
        "y_true": None,
        "y_pred": rng.integers(0, 2, 120),
        "sensitive_features": {"sex": rng.integers(0, 2, 120)},
        "control_features": {"zip": codes},
    }
    report = audit(**data, notion="statistical_parity")
    assert [one.stratum for one in report.strata] == [f"zip = {code}" for code in np.unique(codes)]
    assert check_report(report, **data).problems == []


def with_an_empty_one(rows_of_smiths=200, n_rows=600):
    """All smiths have the positive label: none of them is in a false positive rate."""
    rng = np.random.default_rng(0)
    job = np.where(
        np.arange(n_rows) < rows_of_smiths, "smith", rng.choice(["cook", "nurse"], n_rows)
    )
    sex = rng.choice(["F", "M"], n_rows)
    y = np.where(job == "smith", 1, rng.integers(0, 2, n_rows))
    decided = (rng.random(n_rows) < np.where(sex == "F", 0.6, 0.4)).astype(int)
    return {
        "y_true": y,
        "y_pred": decided,
        "sensitive_features": {"sex": sex},
        "control_features": {"job": job},
    }


def test_strata_that_are_left_out_are_told_in_every_output():
    data = with_an_empty_one()
    report = audit(**data, subgroups="marginals", leave_out_empty_strata=True)
    (left_out,) = report.empty_strata
    assert left_out.to_dict() == report.to_dict()["empty_strata"][0] == {
        "notion": "false_positive_rate", "number": 1, "rows": 200, "strata": ["job = smith"],
    }  # fmt: skip
    # Those that count are shown, both of them: nobody follows from them who is not.
    assert [one.stratum for one in report.strata] == ["job = cook", "job = nurse"]
    assert report.strata_left_out == 0
    told = (
        "Left out is 1 stratum without a row that the false positive rate is over: job = smith "
        "(200 rows). Everyone else is compared within strata of job, of which there are 2:"
    )
    text = " ".join(str(report).split())
    assert told in text
    assert "Strata job = cook: " in text  # with its rate and rows
    assert told in report.to_markdown()
    assert told in " ".join(report.to_html().split())
    assert check_report(report, **data).problems == []
    proof = prove(**data, at_most=0.5, leave_out_empty_strata=True)
    assert "job = smith (200 rows)." in str(proof)
    assert proof.to_dict()["empty_strata"][0]["rows"] == 200


def test_a_stratum_of_few_rows_is_left_out_without_its_name():
    data = with_an_empty_one(rows_of_smiths=4)
    report = audit(**data, subgroups="marginals", leave_out_empty_strata=True)
    assert "smith" not in report.to_json() + str(report) + report.to_html()
    (left_out,) = report.empty_strata
    assert (left_out.number, left_out.rows, left_out.strata) == (1, None, ())
    assert check_report(report, **data).problems == []


@pytest.mark.parametrize(
    "lie",
    [{"number": 2}, {"rows": 199}, {"strata": []}, {"strata": ["job = cook"]}, {"notion": "other"}],
    ids=str,
)
def test_a_lie_about_what_is_left_out_is_found(lie):
    data = with_an_empty_one()
    report = audit(**data, subgroups="marginals", leave_out_empty_strata=True).to_dict()
    report["empty_strata"][0].update(lie)
    assert check_report(report, **data).problems
    assert check_report({**report, "empty_strata": []}, **data).problems


def test_of_two_rates_one_may_leave_out_a_stratum():
    data = with_an_empty_one()
    report = audit(**data, subgroups="marginals", notion="equalized_odds",
                   leave_out_empty_strata=True)  # fmt: skip
    assert [one.notion for one in report.empty_strata] == ["false_positive_rate"]
    assert len(report.strata) == 2 + 3
    assert "Everyone is compared within strata of job, of which there are 3:" in " ".join(
        str(report).split()
    )
    assert check_report(report, **data).problems == []
