"""Means of numbers: audited like rates, and checked by code that shares nothing with audits."""

import itertools
import json
import math
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import stats

from gerrymend import (
    FairnessNotion,
    OutcomeNotion,
    audit,
    bootstrap,
    check_report,
    prove,
)
from gerrymend.notions import MEAN_OUTCOME, as_notions
from tests.auditing.few_rows import few_rows
from tests.checking import assert_checked

NAMES = ("mean_outcome", "mean_error", "absolute_error", "squared_error")
CLASSES = ("linear", "conjunctions", "value_sets", "trees", "marginals")


made = partial(few_rows, numbers=True)


@pytest.mark.parametrize("subgroups", CLASSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_figure_and_bound_holds_by_brute_force(subgroups, weighted):
    """The checker lists all subgroups of the class in exact arithmetic."""
    for seed in range(6):
        data = made(seed, weighted=weighted)
        report = audit(
            **data, notion=NAMES, subgroups=subgroups, gamma=0.1, min_group_size=3,
            favourable=(None, "positive", "negative")[seed % 3],
        )  # fmt: skip
        assert report.exact
        assert_checked(report, **data, bound=True)


@pytest.mark.slow
@pytest.mark.parametrize("subgroups", CLASSES)
def test_three_hundred_instances_hold_by_brute_force(subgroups):
    for seed in range(300):
        data = made(100 + seed, n_rows=30, weighted=bool(seed % 2))
        notion = NAMES[seed % 4]
        report = audit(**data, notion=notion, subgroups=subgroups, gamma=0.1, min_group_size=2)
        assert_checked(report, **data, bound=True)


def test_rows_without_weight_hide_nobody_from_the_checker():
    """Each cell has two rows or more, and some but one of weight: a group is rightly kept back."""
    data = made(227, n_rows=30, weighted=True)
    report = audit(
        **data, notion="squared_error", subgroups="value_sets", gamma=0.1, min_group_size=2
    )
    assert report.kept_back == ("favoured",)
    assert_checked(report, **data, bound=True)


def test_a_mean_by_hand():
    """Au waits 10 and 14 days, Ulm 4 and 8: means 12 and 6, of 9 overall, half of the rows each."""
    rows = {"sensitive_features": {"town": ["Au", "Au", "Ulm", "Ulm"] * 10}}
    days = [10, 14, 4, 8] * 10
    report = audit(None, days, **rows, notion="mean_outcome", favourable="negative", gamma=1.0)
    worst = report.worst
    assert (worst.describe(), worst.rate, worst.overall_rate) == ("town = Au", 12.0, 9.0)
    assert worst.unfairness == 1.5
    assert worst.treated == "worse"
    assert report.disadvantaged is not None
    # Of 20 rows, 10 and 14 days in equal parts, the standard error is √(4·20/19 / 20); two groups
    # with two intervals each share 5 % (Bonferroni).
    (estimate,) = [one for one in report.marginals if one.group == "town = Au"]
    half = estimate.rate_interval.high - 12
    assert half == pytest.approx(stats.t.ppf(1 - 0.05 / 8, df=19) * math.sqrt(4 / 19))


def test_zeros_and_ones_are_the_rate_of_positive_decisions():
    rng = np.random.default_rng(3)
    decided = rng.integers(0, 2, 300)
    rows = {"sensitive_features": made(0, 300)["sensitive_features"], "favourable": "positive"}
    mean = audit(None, decided, **rows, notion="mean_outcome")
    rate = audit(None, decided, **rows, notion="statistical_parity")
    assert mean.unfairness == pytest.approx(rate.unfairness, abs=1e-12)
    assert mean.upper_bound == pytest.approx(rate.upper_bound, abs=1e-12)
    assert mean.worst.describe() == rate.worst.describe()


def test_a_change_of_unit_scales_every_figure():
    data = made(1, 200)
    in_days, in_hours = (
        audit(**{**data, "y_pred": scale * data["y_pred"]}, notion="mean_outcome", gamma=0.1)
        for scale in (1, 24)
    )
    assert in_hours.unfairness == pytest.approx(24 * in_days.unfairness)
    assert in_hours.upper_bound == pytest.approx(24 * in_days.upper_bound)
    for hours, days in zip(in_hours.marginals, in_days.marginals, strict=True):
        assert hours.unfairness_interval.high == pytest.approx(24 * days.unfairness_interval.high)


def test_an_event_and_an_outcome_of_ones_own():
    late = OutcomeNotion(
        "delay",
        lambda _, waited: waited - 30,
        event=lambda _, waited: waited > 30,
        reads_labels=False,
        unit="days",
        worse="higher",
    )
    rng = np.random.default_rng(5)
    waited = rng.integers(10, 90, 400).astype(float)
    town = np.array(["Au", "Ulm"])[rng.integers(0, 2, 400)]
    data = {"y_true": None, "y_pred": waited, "sensitive_features": {"town": town}}
    report = audit(**data, notion=late, subgroups="marginals", gamma=0.5)
    counts = waited > 30
    overall = (waited[counts] - 30).mean()
    values = [
        ((waited[counts & (town == name)] - 30) - overall).sum() / 400 for name in ("Au", "Ulm")
    ]
    assert report.unfairness == pytest.approx(max(map(abs, values)))
    assert_checked(report, **data, notion=late, bound=True)
    with pytest.raises(ValueError, match="pass it as notion"):
        check_report(report, **data)


def test_held_out_rows_and_a_second_sample():
    data = made(2, 400)
    second = made(3, 300)
    holdout = tuple(second[name] for name in ("y_true", "y_pred", "sensitive_features"))
    report = audit(**data, notion=NAMES, gamma=0.1, holdout=holdout)
    assert_checked(report, **data, holdout=holdout)
    parted = audit(**data, notion=NAMES, gamma=0.1, test_size=0.25)
    assert (parted.n_rows, parted.held_out.n_rows) == (300, 100)
    assert parted.held_out.unfairness_interval is not None


def test_a_p_value_of_numbers_is_that_of_dealing_them_anew():
    """Of 7 rows all 5,040 orders are as likely: p is near the part that is as bad."""
    days = np.array([1.0, 2.0, 3.0, 4.0, 8.0, 9.0, 9.0])
    town = np.array(["Au"] * 4 + ["Ulm"] * 3)

    def apart(order):
        dealt = days[list(order)]
        return abs((dealt[town == "Au"] - dealt.mean()).sum())

    observed = apart(range(7))
    exact = np.mean([apart(o) >= observed - 1e-9 for o in itertools.permutations(range(7))])
    report = audit(
        None, days, sensitive_features={"town": town}, notion="mean_outcome", gamma=0.1,
        subgroups="marginals", n_permutations=1999, min_group_size=1,
    )  # fmt: skip
    assert report.p_value == pytest.approx(exact, abs=0.02)


def test_lazy_frames_and_frames_agree_with_arrays():
    data = made(4, 200)
    rows = pl.DataFrame({**data["sensitive_features"], "y": data["y_true"], "p": data["y_pred"]})
    named = {"sensitive_features": ["town", "age"], "notion": NAMES, "gamma": 0.1}
    reports = [audit("y", "p", data=table, **named) for table in (rows, rows.lazy())]
    reports.append(audit(**data, notion=NAMES, gamma=0.1))
    dates = [report.to_dict() | {"provenance": None} for report in reports]
    assert dates[0] == dates[1] == dates[2]


def test_numbers_are_said_in_their_unit():
    wait = OutcomeNotion("waiting_time", lambda _, days: days, reads_labels=False, unit="days")
    rows = {"sensitive_features": {"town": ["Au", "Au", "Ulm", "Ulm"] * 10}}
    report = audit(None, [10, 14, 4, 8] * 10, **rows, notion=wait, gamma=0.2)
    text = " ".join(str(report).split())
    assert "waiting time 12 days, against 9 days overall" in text
    assert "On average that is 3 days more, for 50 % of the rows." in text
    assert "how far its mean is from the overall mean, in days. Allowed: 0.2 days (gamma)" in text
    assert "%" not in text.split("waiting time")[1].split("overall")[0]
    for shown in (report.to_html(), report.to_markdown()):
        assert "12 days" in shown
        assert "None" not in shown
    assert json.loads(report.to_json())["worst"]["unit"] == "days"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"y_pred": [1.0, math.nan] * 20}, "y_pred has 20 missing values"),
        ({"y_pred": [1.0, math.inf] * 20}, r"y_pred has 20 numbers that are infinite"),
        (
            {"y_pred": [1.0] * 39 + [-math.inf]},
            "1 number that is infinite .* drop this row",
        ),
        ({"y_pred": ["1", "2"] * 20}, "y_pred must be numbers"),
        ({"y_true": None}, "y_true is not given, and the mean error can't be told without labels"),
        ({"threshold": 0.5}, r"threshold=0.5 is for decisions"),
        ({"pos_label": 1}, r"pos_label=1 is for decisions"),
        ({"notion": ("mean_error", "error_rate")}, "y_true and y_pred can't be both"),
        ({"notion": "mean_eror"}, "did you mean"),
        ({"y_true": [1.0] * 39}, "differ in their number of rows"),
        ({"side": "disadvantaged"}, "needs to know whether a high mean error is good or bad"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(changed, words):
    given = {
        "y_true": [1.0, 2.0] * 20,
        "y_pred": [1.5, 2.5] * 20,
        "sensitive_features": {"town": ["Au", "Au", "Ulm", "Ulm"] * 10},
        "notion": "mean_error",
    }
    with pytest.raises((ValueError, TypeError), match=words):
        audit(**given | changed)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"outcome": lambda y, p: p[:3]}, "one value a row"),
        ({"outcome": lambda y, p: p / 0}, "outcomes are finite numbers"),
        ({"event": lambda y, p: p}, "must be True or False by row"),
        ({"event": lambda y, p: p > 99}, "There are no rows"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_functions_of_ones_own_are_checked(parts, words):
    own = OutcomeNotion("own", **{"outcome": lambda y, p: p, "reads_labels": False} | parts)
    with pytest.raises(ValueError, match=words):
        audit(None, [1.0, 2.0] * 20, sensitive_features={"town": ["Au"] * 40}, notion=own)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"rises": 5}, "rises of the notion 'own' is 1, −1 or 0.*got 5"),
        ({"rises": True}, "rises of the notion 'own'.*got True"),
        ({"rises": "up"}, "rises of the notion 'own'.*got 'up'"),
        ({"reads_labels": "no"}, "reads_labels of the notion 'own' is True or False; got 'no'"),
        ({"reads_labels": 0}, "reads_labels of the notion 'own' is True or False; got 0"),
    ],
)
def test_what_a_notion_says_of_itself_is_checked(bad, words):
    with pytest.raises((ValueError, TypeError), match=words):
        OutcomeNotion(**{"name": "own", "outcome": lambda y, p: p} | bad)


@pytest.mark.parametrize("part", ["outcome", "event"])
def test_a_function_that_raises_is_named_with_its_cause(part):
    def broken(y, p):
        return y - p

    parts = {"outcome": lambda y, p: p, part: broken}
    own = OutcomeNotion("own", reads_labels=False, **parts)
    rows = {"sensitive_features": {"town": ["Au", "Ulm"] * 20}}
    words = f"notion 'own' has an {part} that raised TypeError: .*called as {part}.*None, as there"
    with pytest.raises(ValueError, match=words) as raised:
        audit(None, [1.0, 2.0] * 20, **rows, notion=own)
    assert isinstance(raised.value.__cause__, TypeError)


@pytest.mark.parametrize(
    "bad", [{"name": ""}, {"name": 3}, {"outcome": 3}, {"event": 3}, {"unit": 3}]
)
def test_a_notion_that_can_not_be_is_refused(bad):
    with pytest.raises(TypeError, match="of an OutcomeNotion must be"):
        OutcomeNotion(**{"name": "own", "outcome": lambda y, p: p} | bad)


def test_constant_outcomes_and_a_gamma_in_another_unit_are_warned_of():
    rows = {"sensitive_features": {"town": ["Au", "Ulm"] * 30}, "notion": "mean_outcome"}
    constant = audit(None, [3.0] * 60, **rows, gamma=0.1)
    people = {"sensitive_features": rows["sensitive_features"]}
    assert check_report(constant, None, [3.0] * 60, **people).ok
    (doubt,) = constant.warnings  # and no gamma is to blame
    assert doubt.code == "constant_decisions"
    assert doubt.sentence.startswith("The mean outcome is 3 in every row.")
    assert doubt.sentence.endswith("Check that these are the numbers that were meant.")
    too_wide = audit(None, [1.0, 2.0, 2.0, 1.0] * 15, **rows, gamma=0.25)
    assert [doubt.code for doubt in too_wide.warnings] == ["gamma_allows_everything"]
    (words,) = (doubt.sentence for doubt in too_wide.warnings)
    assert words.startswith("Gamma 0.25 allows everything")
    assert words.endswith("0.2500, whatever is decided. Pass a smaller one, in that unit.")


def test_prove_takes_numbers_and_bootstrap_says_that_it_does_not():
    data = made(6, 200)
    proof = prove(**data, notion="absolute_error", at_most=5.0, subgroups="conjunctions")
    assert proof.status == "proved"
    rows = {"sensitive_features": data["sensitive_features"]}
    with pytest.raises(ValueError, match="a mean of numbers, and a rate of decisions is needed"):
        bootstrap(data["y_true"], data["y_pred"], **rows, notion="mean_error")


def test_instances_and_names_are_the_same_notions():
    assert as_notions("mean_outcome") == (MEAN_OUTCOME,)
    assert as_notions((MEAN_OUTCOME, "mean_outcome")) == (MEAN_OUTCOME,)
    assert isinstance(MEAN_OUTCOME.rate, FairnessNotion)


@pytest.mark.parametrize("reference", [None, 3.0])
@pytest.mark.parametrize("name", ["mean_outcome", "mean_error", "absolute_error", "squared_error"])
def test_notions_of_a_report_can_be_passed_back(name, reference):
    data = made(0)
    first = audit(**data, notion=name, reference=reference, subgroups="marginals")
    for notion in (first.notions, first.notions[0], first.worst.notion):
        again = audit(**data, notion=notion, subgroups="marginals")
        assert again.unfairness == first.unfairness
        assert again.notions == first.notions
    own = OutcomeNotion("late", lambda y, p: p - 1)
    report = audit(**data, notion=own, subgroups="marginals")
    assert audit(**data, notion=report.notions, subgroups="marginals").notions == report.notions
    with pytest.raises(ValueError, match="'late', a mean of numbers, without the functions"):
        audit(**data, notion=report.worst.notion)


def test_an_outcome_that_is_no_number_and_an_event_of_nobody_are_named():
    data = made(0)
    text = OutcomeNotion("words", lambda y, p: np.full(len(p), "a"))
    with pytest.raises(TypeError, match="outcome of the notion 'words' must be numbers; got text"):
        audit(**data, notion=text)
    nobody = OutcomeNotion("empty", lambda y, p: p, event=lambda y, p: p > 1e9)
    with pytest.raises(ValueError, match="it is a mean over rows for which its event is True, and"):
        audit(**data, notion=nobody)


def test_large_numbers_keep_the_digits_of_their_spread():
    rng = np.random.default_rng(0)
    days = rng.gamma(4, 2, 400).round(3)
    rows = {"sensitive_features": {"sex": np.array(["f", "m"])[rng.integers(0, 2, 400)]}}
    near, far = (
        audit(None, days + shift, **rows, notion="mean_outcome", gamma=0.5) for shift in (0, 1e9)
    )
    for one, other in zip(near.marginals, far.marginals, strict=True):
        assert other.unfairness_interval == pytest.approx(one.unfairness_interval, abs=1e-4)


def test_rows_that_are_all_alike_have_an_interval_all_the_same():
    """Nine in ten cost nothing: that ten people cost nothing doesn't make their mean certain."""
    cost = np.array([0.0] * 90 + [100.0] * 10)
    town = np.array(["Au"] * 50 + ["Ulm"] * 50)
    data = {"y_true": None, "y_pred": cost, "sensitive_features": {"town": town}}
    report = audit(**data, notion="mean_outcome", gamma=1.0)
    (free,) = [group for group in report.marginals if group.group == "town = Au"]
    assert free.rate == 0
    assert free.rate_interval.high > 5
    assert_checked(report, **data)


def test_two_notions_of_one_name_and_outcomes_too_small_are_refused():
    rows = {"sensitive_features": {"town": ["Au", "Ulm"] * 20}}
    first, second = (
        OutcomeNotion("cost", lambda _, p, k=k: k * p, reads_labels=False) for k in (1, 100)
    )
    with pytest.raises(ValueError, match="two notions of the name 'cost'"):
        audit(None, [1.0, 2.0] * 20, **rows, notion=(first, second))
    with pytest.raises(ValueError, match="give them in a smaller unit"):
        audit(None, [1e-9, 2e-9] * 20, **rows, notion="mean_outcome")


def test_means_in_different_units_are_no_one_audit():
    rows = {"sensitive_features": {"town": ["Au", "Ulm"] * 20}}
    pay = OutcomeNotion("pay", lambda _, p: 100 * p, reads_labels=False, unit="EUR")
    wait = OutcomeNotion("wait", lambda _, p: p, reads_labels=False, unit="days")
    told = "has the 'pay' in EUR and the 'wait' in days: one of these can't be larger"
    with pytest.raises(ValueError, match=told):
        audit(None, [1.0, 2.0] * 20, **rows, notion=(pay, wait), gamma=1.0)
    with pytest.raises(ValueError, match=told):
        prove(None, [1.0, 2.0] * 20, **rows, notion=(pay, wait), at_most=1.0)
    late = OutcomeNotion("late", lambda _, p: p - 1, reads_labels=False, unit="days")
    assert audit(None, [1.0, 2.0] * 20, **rows, notion=(wait, late), gamma=1.0).worst
    with pytest.raises(ValueError, match="y_true and y_pred can't be both"):
        audit(None, [0.0, 1.0] * 20, **rows, notion=(wait, "statistical_parity"))
