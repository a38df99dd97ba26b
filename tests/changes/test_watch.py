"""Watch: what it keeps between batches, what it tells, and bad input."""

import json
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from gerrymend import (
    ExplicitGroups,
    FairnessNotion,
    LinearThresholds,
    OutcomeNotion,
    Trees,
    Watch,
    audit,
)
from gerrymend.changes.watched import Watched
from tests.reporting.hostile import STRINGS, assert_inert


def batch(seed, n=400, shift=0.0):
    rng = np.random.default_rng([seed, 8])
    A = {"sex": rng.choice(["F", "M"], n), "age": rng.integers(18, 80, n)}
    rate = 0.3 + shift * (A["sex"] == "F")
    return rng.integers(0, 2, n), (rng.random(n) < rate).astype(int), A


def fed(watch, batches, **how):
    """The looks at some batches, one after the other."""
    return [
        watch.update(y, d, sensitive_features=A, at=number, **how) for number, (y, d, A) in batches
    ]


CALM = [(i, batch(i)) for i in range(4)]
UNFAIR = [(i, batch(i, shift=0.5)) for i in range(4, 7)]
HOW = {"subgroups": "conjunctions", "gamma": 0.02}


def test_a_change_raises_an_alarm_that_stays():
    watch = Watch(**HOW)
    looks = fed(watch, [*CALM, *UNFAIR, (7, batch(7))])
    assert [look.alarm for look in looks[:4]] == [False] * 4
    assert looks[-1].raised in (6, 7)
    assert looks[-1].alarm
    raised = looks[looks[-1].raised - 1]
    assert raised.e_value >= 20 > looks[looks[-1].raised - 2].e_value
    assert "sex" in raised.leading
    assert raised.p_value == 1 / raised.e_value
    assert raised.leading_now.unfairness > 0.02 or raised.leading_now.unfairness < -0.02
    assert [one["number"] for one in watch.looks] == list(range(1, 9))
    assert watch.raised == looks[-1].raised


@pytest.mark.parametrize("subgroups", [LinearThresholds(), Trees(), "value_sets", "marginals"])
def test_a_watch_that_was_saved_goes_on_as_if_it_had_not_been(subgroups, tmp_path):
    """After each batch it is saved and loaded; every look is the same to the bit."""
    how = HOW | {"subgroups": subgroups, "notion": ("false_positive_rate", "error_rate")}
    batches = [*CALM[:2], *UNFAIR[:2]]
    whole = fed(Watch(**how), batches)
    path = tmp_path / "watch.json"
    Watch(**how).save(path)
    for number, (y, d, A) in batches:
        watch = Watch.load(path)
        look = watch.update(y, d, sensitive_features=A, at=number)
        assert look.to_dict() == whole[number if number < 2 else number - 2].to_dict()
        assert watch.save(path) == path
        assert Watch.load(path).watched == watch.watched
    assert not [one for one in tmp_path.iterdir() if one != path]


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(400)
    shuffled = [
        (i, (y[order], d[order], {name: v[order] for name, v in A.items()}))
        for i, (y, d, A) in [*CALM, *UNFAIR]
    ]
    ours, theirs = (fed(Watch(**HOW), rows) for rows in ([*CALM, *UNFAIR], shuffled))
    assert [look.to_dict() for look in ours] == [look.to_dict() for look in theirs]


def test_the_evidence_is_all_of_the_money():
    """What is not bet is 1/(k + 1) after k batches of bets, and no bet makes money of nothing."""
    groups = ExplicitGroups({"women": {"sex": "F"}, "old": {"age": (60, None)}})
    watch = Watch(**HOW, groups=groups)
    for number, (y, d, A) in CALM:
        watch.update(y, d, sensitive_features=A, at=number)
        state = watch._state
        assert state.cash == pytest.approx(1 / (number + 2))
        money = sum(np.exp(one.money).sum() for one in state.watched)
        assert watch.e_value == pytest.approx(state.cash + money)


def test_named_groups_and_those_of_a_report_are_watched_from_the_beginning(tmp_path):
    y, d, A = batch(50, shift=0.5)
    report = audit(y, d, sensitive_features=A, subgroups="conjunctions")
    (tmp_path / "old.json").write_text(report.to_json())
    named = ExplicitGroups({"women": {"sex": "F"}})
    for groups in (named, report, report.to_dict(), tmp_path / "old.json"):
        watch = Watch(**HOW, groups=groups)
        watch.save(tmp_path / "watch.json")
        watch = Watch.load(tmp_path / "watch.json")  # before the first batch, too
        (look,) = fed(watch, [UNFAIR[0]])
        assert look.leading is not None
        assert look.e_value > 1.5
        (tmp_path / "watch.json").unlink()
    assert watch.watched[0] in {one.describe() for one in (report.worst, *report.top)} | {
        report.lead.describe()
    }


def test_one_side_alone():
    """Women are decided 1 less often: worse off only where that is favourable."""
    rows = [(i, batch(i, shift=-0.3)) for i in range(3)]
    groups = ExplicitGroups({"women": {"sex": "F"}})
    e_values = {}
    for favourable in ("positive", "negative"):
        watch = Watch(**HOW, notion="statistical_parity", side="disadvantaged", groups=groups,
                      favourable=favourable)  # fmt: skip
        fed(watch, rows)
        e_values[favourable] = next(one for one in watch._state.watched if one.named).total
    assert e_values["positive"] > 100 > 1 > e_values["negative"]


def test_at_most_so_many_groups_are_watched():
    rng = np.random.default_rng(3)
    watch = Watch(gamma=0.0, subgroups="conjunctions", max_groups=2, notion="statistical_parity")
    for number in range(8):
        A = {name: rng.choice(list("abcd"), 300) for name in ("x", "y", "z")}
        watch.update(None, rng.integers(0, 2, 300), sensitive_features=A, at=number)
        assert len(watch.watched) <= 2
    assert len(watch.watched) == 2
    assert watch.e_value < 20


def test_more_than_two_classes_and_columns_of_a_frame():
    rng = np.random.default_rng(4)
    watch = Watch(subgroups="marginals", gamma=0.03)
    for number in range(4):
        sex = np.array(["F", "M"] * 300)
        y = rng.choice(["a", "b", "c"], 600)
        d = np.where((sex == "F") & (y != "b"), "b", rng.choice(["a", "b", "c"], 600))
        data = pd.DataFrame({"sex": sex, "y": y, "d": d})
        look = watch.update("y", "d", sensitive_features="sex", data=data, at=number)
    assert look.alarm
    assert look.leading_now.notion.of_class is not None


def test_a_batch_without_a_row_of_one_rate_counts_for_the_others():
    watch = Watch(notion=("false_positive_rate", "false_negative_rate"), subgroups="marginals")
    y, d, A = batch(1)
    watch.update(y, d, sensitive_features=A, at=1)
    look = watch.update(np.ones_like(y), d, sensitive_features=A, at=2)
    assert look.number == 2
    only = Watch(subgroups="marginals")
    only.update(y, d, sensitive_features=A, at=1)
    with pytest.raises(ValueError, match="y_true has no row that the false positive rate is over"):
        only.update(np.ones_like(y), d, sensitive_features=A, at=2)
    assert only.n_batches == 1


def test_small_groups_are_bet_on_as_if_they_did_not_differ():
    """What a handful of rows were decided has no part in the evidence, or in what is told."""
    groups = ExplicitGroups({"few": {"sex": "F"}})
    told = []
    for decided in (0, 1):
        watch = Watch(notion="statistical_parity", subgroups=groups, groups=groups, gamma=0.01)
        sex = np.array(["F"] * 8 + ["M"] * 192)
        d = np.array([decided] * 8 + [0, 1] * 96)
        look = watch.update(None, d, sensitive_features={"sex": sex}, at=1)
        told.append((look.e_value, watch._state.watched[0].money.tolist(), look.leading_now))
    assert told[0][2] is None
    # Blocks differ by their order, the money by the outcomes of no row.
    assert told[0][:2] == told[1][:2]


def test_the_worst_is_not_told_where_a_small_group_follows():
    """The leading group and the worst of the batch differ by eight people."""
    watch = Watch(notion="statistical_parity", subgroups="conjunctions", gamma=0.01,
                  groups=ExplicitGroups({"old": {"age": (50, None)}}))  # fmt: skip
    age = np.repeat([30, 45, 60], [200, 8, 200])
    d = np.where(age > 40, 1, np.tile([0, 1], 204))
    look = watch.update(None, d, sensitive_features={"age": age}, at=1)
    assert look.leading_now.size == 200
    assert look.worst is None
    assert look.unfairness > look.leading_now.unfairness
    assert len(watch.watched) == 1


def test_nothing_of_a_row_is_in_the_file(tmp_path):
    """It doesn't grow with the rows, and has no identifier of any."""
    sizes = []
    for n in (300, 6000):
        watch = Watch(**HOW)
        rng = np.random.default_rng(0)
        sex = rng.choice(["F", "M"], n)
        income = rng.normal(50_000, 9_000, n).round(2)
        d = (rng.random(n) < 0.3 + 0.4 * (sex == "F")).astype(int)
        watch.update(np.zeros(n, int), d, sensitive_features={"sex": sex, "income": income}, at=1)
        path = watch.save(tmp_path / f"{n}.json")
        text = path.read_text()
        sizes.append(len(text))
        told = set(re.findall(r"\d+\.\d\d\b", text))
        assert not told & {f"{one:.2f}" for one in income}
    assert abs(sizes[0] - sizes[1]) < 300


def test_no_watch_is_written_over_another(tmp_path):
    path = tmp_path / "watch.json"
    Watch(**HOW).save(path)
    with pytest.raises(ValueError, match="is another watch's"):
        Watch(**HOW).save(path)
    first, second = Watch.load(path), Watch.load(path)
    for watch in (first, second):
        fed(watch, CALM[:1])
    first.save(path)
    first.save(path)
    with pytest.raises(ValueError, match="was written since"):
        second.save(path)
    assert Watch.load(path).n_batches == 1


def test_a_batch_that_can_t_be_used_changes_nothing(tmp_path):
    watch = Watch(**HOW)
    fed(watch, CALM[:2])
    before = watch.save(tmp_path / "watch.json").read_text()
    y, d, A = batch(9)
    for bad in (
        {"at": 1},
        {"at": "later"},
        {"at": None},
        {"sensitive_features": {"sex": A["sex"]}},
        {"sensitive_features": A | {"age": A["age"].astype(str)}},
        {"y_true": None},
        {"y_true": np.where(y == 1, "x", "y")},
    ):
        given = {"y_true": y, "y_pred": d, "sensitive_features": A, "at": 9} | bad
        with pytest.raises((TypeError, ValueError)):
            watch.update(**given)
    watch.save(tmp_path / "watch.json")
    assert (tmp_path / "watch.json").read_text() == before


ORDER = [
    (2, 1, "at is 1, which is not later than the batch before, 2"),
    (2, 2, "not later"),
    ("2025-03", "2025-02", "at is '2025-02', which is not later than the batch before, '2025-03'"),
    ("2025-03", 4, "one is text"),
    (3, None, "at is not given, and that of the batch before is 3"),
    (None, [1], r"at must be text, as '2025-03', or a number; got"),
    (None, float("nan"), "at must be text"),
    (None, 10**400, "at must be text"),
    (None, Fraction(10**400, 3), "at must be text"),
    (None, Decimal("sNaN"), "at must be text"),
    (None, 1j, "at must be text"),
]


@pytest.mark.parametrize(("first", "then", "message"), ORDER)
def test_streams_out_of_order(first, then, message):
    watch = Watch(**HOW)
    fed(watch, [(first, CALM[0][1])])
    with pytest.raises(ValueError, match=message):
        fed(watch, [(then, CALM[1][1])])
    assert watch.n_batches == 1


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (Decimal("2025.25"), 2025.25),
        (Fraction(5, 4), 1.25),
        (2**53 + 1, 2**53 + 1),
        (np.str_("2025-03"), "2025-03"),
        ("half \ud800", "half \ud800"),
    ],
    ids=repr,
)
def test_a_time_of_any_type_is_saved(given, plain, tmp_path):
    """The batch was taken in, and then the watch could not be saved."""
    watch = Watch(**HOW)
    fed(watch, [(given, CALM[0][1])])
    loaded = Watch.load(watch.save(tmp_path / "watch.json"))
    assert [one["at"] for one in loaded.looks] == [plain]


@pytest.mark.parametrize("label", [np.int64(1), np.float32(1), Decimal(1), Fraction(1), np.True_])
def test_settings_of_any_type_are_saved(label, tmp_path):
    how = {"pos_label": label, "threshold": label if label is not np.True_ else None}
    y, d, A = CALM[0][1]
    watch = Watch(**HOW, **how)
    watch.update(y, d, sensitive_features=A)
    loaded = Watch.load(watch.save(tmp_path / "watch.json"))
    loaded.update(*CALM[1][1][:2], sensitive_features=CALM[1][1][2])
    loaded.check_settings(**how)
    assert loaded.n_batches == 2


def test_a_file_that_was_changed_is_refused(tmp_path):
    """A gamma of text was an error in arithmetic at the next batch, and one of 1 a calm stream."""
    watch = Watch(**HOW)
    fed(watch, CALM[:2])
    path = watch.save(tmp_path / "watch.json")
    plain = json.loads(path.read_text())
    for name, value in changed_fields(plain):
        path.write_text(json.dumps({**plain, name: value}))
        with pytest.raises(ValueError, match=r"path '.*' is a watch that is not as it was saved"):
            Watch.load(path)


def changed_fields(plain):
    """Every field but those that say what the file is, with another value."""
    for name, value in plain.items():
        if name not in ("format", "version"):
            yield name, [value]
            yield name, 1 if value != 1 else 2


CHANGED = {
    "no group": ("favoured", -1),
    "a text": ("core", "men"),
    "groups in a list": ("disadvantaged", [1, 2]),
    "no list": ("top", 3),
    "no sentence": ("in_a_sentence", "worst"),
    "no rule": ("favoured", {"rule": None, "notion": "false_positive_rate"}),
}


@pytest.mark.parametrize("what", CHANGED)
def test_groups_of_a_report_that_was_changed_are_told(what):
    name, value = CHANGED[what]
    y, d, A = UNFAIR[0][1]
    report = audit(y, d, sensitive_features=A, subgroups="marginals").to_dict()
    with pytest.raises(ValueError, match=r"^groups has a group that can't be read"):
        Watch(groups={**report, name: value})


def test_rules_of_a_report_that_was_changed_are_told():
    y, d, A = UNFAIR[0][1]
    report = audit(y, d, sensitive_features=A, subgroups="marginals").to_dict()
    watch = Watch(**HOW, groups={**report, "worst": {**report["worst"], "rule": {"kind": "x"}}})
    with pytest.raises(ValueError, match=r"^groups has a rule that can't be read"):
        fed(watch, CALM[:1])


def test_the_same_batch_counts_once_unless_it_is_said_to_be_another():
    watch = Watch(**HOW)
    y, d, A = batch(1)
    watch.update(y, d, sensitive_features=A)
    with pytest.raises(ValueError, match="are those of batch 1, by their fingerprint"):
        watch.update(y, d, sensitive_features=A)
    watch.update(y, d, sensitive_features=A, at="2025-02")
    assert watch.n_batches == 2


BAD = {
    "level": ({"level": 1.5}, "level must be below 1"),
    "max_groups": ({"max_groups": 0}, "max_groups must be a number of at least 1"),
    "gamma": ({"gamma": -1}, "gamma must be a number of at least 0"),
    "means": ({"notion": "mean_outcome"}, "a mean of numbers, and a rate of decisions"),
    "a mean": ({"notion": OutcomeNotion("x", lambda y, d: d)}, "a mean of numbers"),
    "a reference": (
        {"notion": FairnessNotion("own", (True, True), (0, 0), (1, 1), reference=0.3)},
        "compared with the overall rate",
    ),
    "groups": ({"groups": [1]}, "groups must be ExplicitGroups, or a report"),
    "no report": ({"groups": {"verdict": 1}}, "groups is no report of an audit"),
    "a class": ({"subgroups": "circles"}, "subgroups='circles' is unknown"),
    "no label": ({"pos_label": object()}, "pos_label=.* is no label: pass text"),
    "an infinite label": ({"pos_label": np.inf}, "pos_label=inf is no label: pass text"),
    "no threshold": ({"threshold": "half"}, "threshold must be a number"),
    "a flag": ({"decision_probabilities": "no"}, "decision_probabilities must be True or False"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_bad_settings(change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Watch(**change)


def test_groups_of_other_attributes():
    for groups, message in (
        (ExplicitGroups({"x": {"height": 1}}), "groups can't be watched: .*'height'"),
        (audit([0] * 40, [0, 1] * 20, sensitive_features={"age": ["old", "young"] * 20}), "age"),
    ):
        watch = Watch(**HOW, groups=groups)
        with pytest.raises(ValueError, match=message):
            fed(watch, CALM[:1])
        assert watch.n_batches == 0


FORGED = {
    "no JSON": ("{", "is no watch; pass a file"),
    "another format": ('{"format": "gerrymend patches"}', "is no watch"),
    "a newer one": ('{"format": "gerrymend watch", "version": 9}', "reads format 2"),
    "cut short": ('{"format": "gerrymend watch", "version": 2}', "is not as it was saved"),
}


@pytest.mark.parametrize(("text", "message"), FORGED.values(), ids=FORGED)
def test_files_that_are_no_watch(text, message, tmp_path):
    (tmp_path / "watch.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        Watch.load(tmp_path / "watch.json")
    with pytest.raises(FileNotFoundError):
        Watch.load(tmp_path / "none.json")


def test_hostile_names_stay_inert(tmp_path):
    for i in range(0, len(STRINGS) - 4, 5):
        texts = STRINGS[i : i + 5]
        rng = np.random.default_rng(0)
        A = {name: rng.choice(np.array(texts, dtype=object), 200) for name in texts}
        d = np.where(A[texts[0]] == texts[0], 1, rng.integers(0, 2, 200))
        watch = Watch(notion="statistical_parity", subgroups="marginals")
        for at in (1, 2):
            look = watch.update(None, d, sensitive_features=A, at=at)
        assert look.leading
        assert_inert(str(look))
        assert_inert(look.to_json())
        assert_inert(repr(look))
        path = watch.save(tmp_path / f"{i}.json")
        assert Watch.load(path).watched == watch.watched


def test_money_that_was_made_is_kept_as_it_is():
    """Logarithms, and nothing yet, by way of JSON."""
    notion = Watch()._state.notions[0]
    watched = Watched.of_plain(
        json.loads(json.dumps({
            "rule": {"kind": "conjunction", "conditions": []}, "notion": notion.name, "since": 1,
            "sides": [True, False], "named": False, "whole": [], "money": [[0.5] * 6, [None] * 6],
        })), [notion], {},
    )  # fmt: skip
    assert watched.money[1].tolist() == [-np.inf] * 6
    assert watched.total == pytest.approx(6 * np.exp(0.5))
    assert watched.n_bets == 6
    assert watched.to_dict()["money"] == [[0.5] * 6, [None] * 6]


def test_a_group_of_a_report_may_be_called_unnamed():
    rng = np.random.default_rng(0)
    town = rng.choice(["unnamed road", "Bonn", "Ulm"], 600)
    d = (rng.random(600) < 0.2 + 0.5 * (town == "unnamed road")).astype(int)
    report = audit(None, d, sensitive_features={"town": town}, notion="statistical_parity",
                   subgroups="marginals")  # fmt: skip
    watch = Watch(notion="statistical_parity", subgroups="marginals", groups=report.to_dict())
    watch.update(None, d, sensitive_features={"town": town})
    assert report.worst.describe() == "town = unnamed road"
    assert report.worst.describe() in watch.watched
