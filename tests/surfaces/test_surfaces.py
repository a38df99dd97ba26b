"""Discrimination surfaces against loops over rows, the paper's figures, and trainings."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import (
    DiscriminationSurface,
    FairnessNotion,
    LinearThresholds,
    MarginalParityClassifier,
    SubgroupParityClassifier,
    discrimination_surface,
)
from gerrymend.datasets import make_intersectional
from gerrymend.solvers.pool import thorough_looks
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.conftest import load_paper
from tests.marks import slow

THETAS = (-1.0, -0.4, 0.0, 0.3, 1.0)


def by_hand(first, second, y, p, weight, theta, *, event, outcome):
    """Rows in the group, those that count in and out, rate, overall rate and unfairness."""
    n = len(y)

    def standard(values):
        mean = math.fsum(w * v for w, v in zip(weight, values, strict=True)) / math.fsum(weight)
        square = math.fsum(w * (v - mean) ** 2 for w, v in zip(weight, values, strict=True))
        return [(v - mean) / math.sqrt(square / math.fsum(weight)) for v in values]

    a, b = standard(first), standard(second)
    inside = [theta[0] * a[i] + theta[1] * b[i] > 1e-12 for i in range(n)]
    counts = [event(y[i]) and weight[i] > 0 for i in range(n)]
    size = sum(inside)
    counted = sum(inside[i] and counts[i] for i in range(n))
    mass = math.fsum(weight[i] for i in range(n) if inside[i] and counts[i])
    everyone = math.fsum(weight[i] for i in range(n) if counts[i])
    overall = math.fsum(weight[i] * outcome(y[i], p[i]) for i in range(n) if counts[i]) / everyone
    within = math.fsum(weight[i] * outcome(y[i], p[i]) for i in range(n) if inside[i] and counts[i])
    rate = within / mass if mass else math.nan
    share = mass / math.fsum(weight)
    return size, counted, sum(counts) - counted, rate, overall, share * (rate - overall)


NOTIONS = {
    "false_positive_rate": (lambda y: y == 0, lambda _, p: p),
    "false_negative_rate": (lambda y: y == 1, lambda _, p: 1 - p),
    "error_rate": (lambda _: True, lambda y, p: p if y == 0 else 1 - p),
}


@given(
    seed=st.integers(0, 10_000), notion=st.sampled_from(sorted(NOTIONS)), smallest=st.integers(1, 8)
)
def test_every_group_is_what_loops_over_rows_make_of_it(seed, notion, smallest):
    """Of its own square; or, where it differs from others by a few rows, of another near it."""
    rng = np.random.default_rng(seed)
    n = 40
    age = rng.integers(20, 26, n)
    race = rng.choice(["blue", "green", "red"], n)
    race[:3] = ["blue", "green", "red"]
    age[:2] = [20, 25]
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    p = rng.choice([0.0, 0.25, 1.0], n)
    weight = rng.choice([0.0, 1.0, 2.5], n, p=[0.1, 0.6, 0.3])
    weight[:3] = 1.0
    race[-8:] = "green"
    surface = discrimination_surface(
        y, p, decision_probabilities=True, sample_weight=weight, thetas=THETAS, notion=notion,
        sensitive_features={"race": race, "other": rng.random(n), "age": age},
        attributes=("age", ("race", "green")), min_group_size=smallest,
    )  # fmt: skip
    event, outcome = NOTIONS[notion]
    (one,) = surface.rounds
    rates = surface.rate()
    overall = None
    figures = {}
    for theta in itertools.product(THETAS, repeat=2):
        size, inside, outside, rate, overall, unfairness = by_hand(
            age.tolist(), (race == "green").astype(float).tolist(), y, p.tolist(),
            weight.tolist(), theta, event=event, outcome=outcome,
        )  # fmt: skip
        if min(inside, outside) >= smallest:
            figures[theta] = (size, rate, unfairness)
    for i, j in np.ndindex(5, 5):
        theta = (THETAS[i], THETAS[j])
        shown = (surface.size[i, j], rates[i, j], one.unfairness[i, j])
        if surface.subgroups[i][j] is None:
            assert np.isnan([*shown, surface.share[i, j]]).all()
            assert smallest > 1 or theta not in figures
            continue
        near = [theta] if smallest == 1 else [t for t in figures if np.dot(t, theta) > 0]
        assert theta in figures
        assert any(shown == pytest.approx(figures[other], abs=1e-9) for other in near)
    assert one.overall_rate == pytest.approx(overall, abs=1e-12)
    expected = (
        math.fsum(w * abs(v - q) for w, v, q in zip(weight, y, p, strict=True)) / weight.sum()
    )
    assert one.error == pytest.approx(expected)


def test_the_words_select_the_rows_that_were_measured():
    """A description is read back by a reader of its own: coefficients, a sign, a threshold."""
    rng = np.random.default_rng(3)
    age, income = rng.integers(18, 80, 300).astype(float), rng.normal(3e4, 9e3, 300).round()
    y, decided = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    surface = discrimination_surface(
        y, decided, sensitive_features={"age": age, "income": income}, thetas=THETAS
    )
    seen = 0
    for i, j in np.argwhere(~np.isnan(surface.size)):
        assert members_of(surface.subgroups[i][j], age, income).sum() == surface.size[i, j]
        seen += 1
    assert seen == 24


def members_of(words, age, income):
    """Who a description selects, by a reader of its own: coefficients, a sign, a threshold."""
    sign = " ≥ " if " ≥ " in words else " ≤ "
    left, right = words.replace("−", "-").split(sign)
    inside = _evaluate(left, age, income) - float(right)
    return inside >= 0 if sign == " ≥ " else inside <= 0


def people(seed, n=400):
    """The review's: who knows two attributes of each, and holds the file."""
    rng = np.random.default_rng(seed)
    age, income = rng.normal(40, 9, n).round(1), rng.lognormal(10, 0.5, n).round()
    return age, income, rng.integers(0, 2, n), rng.integers(0, 2, n)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("notion", ["false_positive_rate", "statistical_parity"])
def test_nobody_s_decision_follows_from_what_is_shown(seed, notion):
    """Neither by subtracting two groups, nor by any other way of adding and subtracting them."""
    age, income, y, decided = people(seed)
    surface = discrimination_surface(
        y, decided, sensitive_features={"age": age, "income": income}, notion=notion
    )
    shown = {words for row in surface.subgroups for words in row} - {None}
    assert len(shown) > 8  # not safe for want of anything to see
    inside = np.array([members_of(words, age, income) for words in sorted(shown)])
    for one, other in itertools.combinations(inside, 2):
        assert (one ^ other).sum() not in range(1, 10)
    # Of a person's own row so much lies in the span of the groups' members: all of it, if their
    # decision follows; and 1/m, if m people are alike in all of them.
    everyone = np.vstack([inside, np.ones(len(age))]).astype(float)
    _, size, basis = np.linalg.svd(everyone, full_matrices=False)
    known = (basis[size > 1e-9] ** 2).sum(axis=0)
    assert known.max() <= 0.1 + 1e-9


@given(
    seed=st.integers(0, 10_000), n=st.integers(20, 60), smallest=st.integers(2, 9),
    steps=st.sampled_from([2, 4, 30]),
)  # fmt: skip
def test_whatever_is_subtracted_has_no_row_or_enough(seed, n, smallest, steps):
    """Each region of any two shown groups, and each part that all of them cut out."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(0, steps, (2, n)).astype(float)
    age[:2], income[:2] = [0, 1], [0, 1]
    y = rng.integers(0, 2, n)
    y[0] = 0
    surface = discrimination_surface(
        y, 1 - y, sensitive_features={"age": age, "income": income}, thetas=THETAS,
        min_group_size=smallest,
    )  # fmt: skip
    shown = {words for row in surface.subgroups for words in row} - {None}
    inside = [members_of(words, age, income) for words in shown]
    regions = [
        np.where(flip, one, ~one) & np.where(flop, other, ~other)
        for one, other in itertools.combinations(inside, 2)
        for flip, flop in itertools.product((False, True), repeat=2)
    ]
    if inside:
        _, part = np.unique(np.array(inside), axis=1, return_inverse=True)
        regions += [part == number for number in set(part.tolist())]
    for region in regions:
        assert not region.any() or (region & (y == 0)).sum() >= smallest


def test_groups_that_differ_by_a_few_are_shown_as_one():
    """By hand: the fourth row is in the group of θ = (1, 0), and not in that of its neighbour.

    Both have 3 rows inside and outside; their difference would be that row's decision.
    """
    first = np.array([2.0, 2.0, 2.0, 1.0, -2.0, -2.0, -3.0])
    second = np.array([1.0, 1.0, 1.0, -4.0, 0.0, 0.0, 1.0])
    decided = np.array([1, 1, 1, 0, 0, 0, 0])
    how = {"sensitive_features": {"a": first, "b": second}, "thetas": [-1.0, 0.0, 1.0]}
    open_, careful = (
        discrimination_surface(np.zeros(7), decided, min_group_size=size, **how) for size in (1, 3)
    )
    assert (open_.size[2, 1], open_.size[2, 2]) == (4, 3)
    assert careful.size[2, 1] == careful.size[2, 2] == 3
    assert careful.subgroups[2][1] == careful.subgroups[2][2]


def _evaluate(formula, age, income):
    """0.8·age - 2·income, without the package."""
    score = np.zeros(len(age))
    for part in formula.replace("- ", "-").replace("+ ", "").split():
        factor, _, name = part.rpartition("·")
        sign = -1.0 if part.startswith("-") else 1.0
        size = float(factor.lstrip("-")) if factor else 1.0
        score += sign * size * {"age": age, "income": income}[name.lstrip("-")]
    return score


@MAY_EXCEED_GAMMA
def test_the_paper_s_surface_turned_half_round():
    X, y, protected = load_paper("communities")
    clf = SubgroupParityClassifier(
        LinearRegression(), solver="fictitious_play", subgroups=LinearThresholds("regression"),
        max_iter=1, tol=None,
    )  # fmt: skip
    p = clf.fit(X, y, sensitive_features=protected).predict_proba(X)[:, 1]
    surface = discrimination_surface(
        y, p, decision_probabilities=True, sensitive_features=protected,
        attributes=("racePctWhite", "racepctblack"),
        thetas=np.arange(-9, 11) / 10, standardize=False, min_group_size=1,
    )  # fmt: skip
    values = np.nan_to_num(surface.rounds[0].unfairness)
    assert round(surface.limit, 5) == 0.02803
    assert np.mean(np.abs(values) > 0.02) == 0.6125
    white, black = np.meshgrid(surface.thetas, surface.thetas, indexing="ij")
    # The paper's is base − group of θ·x < 0, which is −unfairness at −θ.
    assert round(float(-values[(white < 0) & (black > 0)].mean()), 4) == -0.0242
    assert round(float(-values[(white > 0) & (black < 0)].mean()), 4) == 0.0247


def test_several_models_and_data_by_name(toy):
    _, y, protected = toy
    rng = np.random.default_rng(1)
    before, after = rng.integers(0, 2, len(y)), rng.integers(0, 2, len(y))
    surface = discrimination_surface(
        y, {"before": before, "after": after}, sensitive_features=protected,
        attributes=("age", "sex"),
    )  # fmt: skip
    assert [one.name for one in surface.rounds] == ["before", "after"]
    assert surface.attributes == ("age", f"sex = {protected['sex'].value_counts().idxmin()}")
    table = protected.assign(y=y, before=before, after=after)
    for data in (table, pl.from_pandas(table), pl.from_pandas(table).lazy()):
        same = discrimination_surface(
            "y", {"before": "before", "after": "after"}, data=data, attributes=("age", "sex"),
            sensitive_features=["race", "sex", "age"],
        )  # fmt: skip
        assert same.to_dict() == surface.to_dict()
    alone = discrimination_surface(y, after, sensitive_features=protected[["age", "sex"]])
    np.testing.assert_allclose(alone.rounds[0].unfairness, surface.rounds[1].unfairness)
    shuffled = rng.permutation(len(y))
    again = discrimination_surface(
        y[shuffled], after[shuffled], sensitive_features=protected[["age", "sex"]].iloc[shuffled]
    )
    assert again.to_dict() == alone.to_dict()


def test_plain_data(toy):
    _, y, protected = toy
    surface = discrimination_surface(
        y, 1 - y, sensitive_features=protected, attributes=("age", ("race", "blue")), thetas=THETAS
    )
    plain = json.loads(surface.to_json())
    assert plain == surface.to_dict()
    assert plain["attributes"] == ["age", "race = blue"]
    middle = THETAS.index(0.0)
    assert plain["subgroups"][middle][middle] is None
    assert plain["size"][middle][middle] is None
    assert plain["rounds"][0]["unfairness"][middle][middle] is None
    worst = surface.worst()
    i, j = surface.rounds[0].place
    assert worst["theta"] == [THETAS[i], THETAS[j]]
    assert abs(worst["unfairness"]) == surface.limit == surface.rounds[0].worst
    np.testing.assert_allclose(
        worst["unfairness"], worst["share"] * (worst["rate"] - surface.rounds[0].overall_rate),
        atol=1e-12,
    )  # fmt: skip


def test_where_every_group_is_too_small_none_is_shown(toy):
    _, y, protected = toy
    numbers = {"age": protected["age"], "other": np.arange(len(y)) % 7}
    surface = discrimination_surface(y, 1 - y, sensitive_features=numbers, min_group_size=200)
    assert surface.limit == 0.0
    assert surface.worst() is None
    assert surface.rounds[0].place is None
    assert all(one is None for row in surface.subgroups for one in row)


def test_what_would_be_of_a_few_rows_is_withheld():
    """The overall rate of 6 negatives; and the error of all, which less theirs is that of 6."""
    age, income, y, decided = people(0)
    numbers = {"age": age, "income": income}
    few = np.arange(len(y)) >= 6
    (one,) = discrimination_surface(few, decided, sensitive_features=numbers).rounds
    assert np.isnan([one.overall_rate, one.error]).all()
    (other,) = discrimination_surface(~few, decided, sensitive_features=numbers).rounds
    assert other.overall_rate == decided[6:].mean()
    assert math.isnan(other.error)
    (whole,) = discrimination_surface(
        ~few, decided, sensitive_features=numbers, notion="statistical_parity"
    ).rounds
    assert whole.overall_rate == decided.mean()
    assert whole.error == np.mean(decided != ~few)
    (bare,) = discrimination_surface(
        few[:9], decided[:9], sensitive_features={name: v[:9] for name, v in numbers.items()},
        notion="error_rate",
    ).rounds  # fmt: skip
    assert np.isnan([bare.overall_rate, bare.error]).all()


def test_a_rare_value_is_refused_before_any_work(toy):
    X, y, protected = toy
    rare = protected.assign(race=np.where(np.arange(len(y)) < 9, "rare", protected["race"]))
    how = {"sensitive_features": rare, "attributes": ("age", ("race", "rare"))}
    message = "race = rare, which fewer than min_group_size=10 rows have. Name another"
    with pytest.raises(ValueError, match=message):
        discrimination_surface(y, y, **how)
    with pytest.raises(ValueError, match=message):
        DiscriminationSurface.from_training(SubgroupParityClassifier("no estimator"), X, y, **how)
    most = {"a": np.where(np.arange(len(y)) < 9, "rare", "usual"), "b": protected["age"]}
    with pytest.raises(ValueError, match="a = usual, which fewer than min_group_size=10 rows lack"):
        discrimination_surface(y, y, sensitive_features=most, attributes=(("a", "usual"), "b"))


@pytest.mark.parametrize("solver", ["fictitious_play", "exponentiated_gradient", slow("no_regret")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_training_is_watched_round_by_round(solver, monkeypatch):
    """A round's surface is that of a training which ends there, and of no other."""
    monkeypatch.setattr(thorough_looks, "_AUDIT_WORK", 1e5)  # its proof would not end anyway
    data = make_intersectional(300, random_state=1)
    how = {"sensitive_features": data.sensitive_features}
    clf = SubgroupParityClassifier(
        LogisticRegression(), gamma=0.002, solver=solver, max_iter=5, tol=None, random_state=3
    )
    attributes = ("number_0", ("category_0", "v1"))
    surface = DiscriminationSurface.from_training(
        clf, data.data, data.target, attributes=attributes, rounds=[1, 3], **how
    )
    assert [one.name for one in surface.rounds] == [1, 3, 5]
    assert not hasattr(clf, "mixture_")
    for one in surface.rounds:
        if solver == "exponentiated_gradient" and one.name < 5:
            continue  # its last look is after the last round
        fitted = clf.set_params(max_iter=one.name).fit(data.data, data.target, **how)
        expected = discrimination_surface(
            data.target, fitted.predict_proba(data.data)[:, 1], decision_probabilities=True,
            attributes=attributes, **how,
        )  # fmt: skip
        np.testing.assert_allclose(one.unfairness, expected.rounds[0].unfairness, atol=1e-9)
        assert one.error == pytest.approx(expected.rounds[0].error, abs=1e-9)
        assert one.error == pytest.approx(fitted.history_["error"][-1], abs=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rounds_before_the_last_of_the_default_solver_have_the_history_s_error():
    data = make_intersectional(500, random_state=1)
    # An exact class: no proof, which has a clock, has a part in what two fits come to.
    settings = {"subgroups": "marginals", "tol": None, "random_state": 3}
    clf = SubgroupParityClassifier(gamma=0.002, max_iter=9, **settings)
    how = {"sensitive_features": data.sensitive_features}
    surface = DiscriminationSurface.from_training(
        clf, data.data, data.target, attributes=("number_0", ("category_0", "v1")), **how
    )
    history = clf.fit(data.data, data.target, **how).history_
    errors = dict(zip(history["round"].tolist(), history["error"].tolist(), strict=True))
    seen = {one.name: one.error for one in surface.rounds}
    assert {1, 2, 3, 4, 9} <= seen.keys()
    for number in (1, 2, 3, 4, 9):
        assert seen[number] == pytest.approx(errors[number], abs=1e-9)


def test_frames_names_weights_and_other_labels(toy):
    X, y, protected = toy
    frame = pd.concat([pd.DataFrame(X, columns=list("abcd")), protected[["age"]]], axis=1)
    frame["woman"] = (protected["sex"] == "F").astype(int)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    clf = MarginalParityClassifier(LinearRegression(), gamma=0.3, random_state=0)
    surface = DiscriminationSurface.from_training(
        clf, frame, np.where(y == 1, "yes", "no"), sensitive_features=["age", "woman"],
        sample_weight=weight,
    )  # fmt: skip
    clf.fit(frame, np.where(y == 1, "yes", "no"), sensitive_features=["age", "woman"],
            sample_weight=weight)  # fmt: skip
    expected = discrimination_surface(
        y, clf.predict_proba(frame)[:, 1], decision_probabilities=True, sample_weight=weight,
        sensitive_features=frame[["age", "woman"]],
    )  # fmt: skip
    np.testing.assert_allclose(surface.rounds[-1].unfairness, expected.rounds[0].unfairness)
    assert surface.rounds[-1].name == clf.n_iter_


def test_rounds_that_were_not_played_are_named(toy):
    X, y, protected = toy
    clf = SubgroupParityClassifier(LinearRegression(), gamma=1.0, random_state=0)
    with pytest.warns(UserWarning, match=r"rounds 100, 110 were not played. Set tol=None"):
        DiscriminationSurface.from_training(
            clf, X, y, sensitive_features=protected, attributes=("age", "sex"), rounds=[100, 110]
        )


BAD = {
    "attributes is not given, and sensitive_features has 3: race, sex, age": {"attributes": None},
    "attributes must be a pair": {"attributes": ("age",)},
    "'agee', which names no attribute of sensitive_features.*'age'": {
        "attributes": ("agee", "sex")
    },
    "'race' is a category of 3 values; name one as": {"attributes": ("race", "age")},
    "and 'race' is a category of 3 values": {"attributes": (("race", "pink"), "age")},
    "'age' is a number; name it alone": {"attributes": (("age", 30), "sex")},
    "names age twice": {"attributes": ("age", "age")},
    "thetas must be at least two finite numbers": {"thetas": [0.0, 0.0]},
    "thetas must be at least two": {"thetas": [np.nan, 1.0]},
    "A surface compares one rate; got 2": {"notion": "equalized_odds"},
    "min_group_size must be a number of at least 1; got 0": {"min_group_size": 0},
    "standardize must be True or False; got 1": {"standardize": 1},
    "y_pred is an empty mapping": {"y_pred": {}},
}


@pytest.mark.parametrize(("message", "bad"), BAD.items(), ids=BAD)
def test_bad_input_is_named(toy, message, bad):
    _, y, protected = toy
    call = {"y_pred": y, "attributes": ("age", "sex"), "sensitive_features": protected} | bad
    with pytest.raises((TypeError, ValueError), match=message):
        discrimination_surface(y, **call)


def test_bad_training_is_named(toy):
    X, y, protected = toy
    how = {"sensitive_features": protected, "attributes": ("age", "sex")}
    watch = DiscriminationSurface.from_training
    with pytest.raises(TypeError, match="classifier must be a SubgroupParityClassifier"):
        watch(LogisticRegression(), X, y, **how)
    with pytest.raises(ValueError, match="rounds has 500, and the classifier plays at most"):
        watch(SubgroupParityClassifier(), X, y, rounds=[500], **how)
    with pytest.raises(TypeError, match="rounds must be a list of whole numbers; got 3"):
        watch(SubgroupParityClassifier(), X, y, rounds=3, **how)
    with pytest.raises(ValueError, match="Choose one with notion="):
        watch(SubgroupParityClassifier(notion="equalized_odds"), X, y, **how)
    with pytest.raises(ValueError, match="is the same in every row that has weight"):
        discrimination_surface(
            y, y, sensitive_features={"a": np.ones(len(y)), "b": protected["age"]}
        )


def test_a_notion_of_one_s_own(toy):
    _, y, protected = toy
    accuracy = FairnessNotion("accuracy", event=(True, True), a=(1, 0), b=(-1, 1))
    mine, theirs = (
        discrimination_surface(
            y, 1 - y, sensitive_features=protected, attributes=("age", "sex"), notion=notion
        ).rounds[0].unfairness
        for notion in (accuracy, "error_rate")
    )  # fmt: skip
    np.testing.assert_allclose(mine, -theirs, atol=1e-15)


@pytest.mark.parametrize("strange", [np.array(3), np.ma.masked, 3, "3", [[3]]])
def test_rounds_are_a_list(toy, strange):
    X, y, protected = toy
    with pytest.raises(TypeError, match="rounds must be a list of whole numbers"):
        DiscriminationSurface.from_training(SubgroupParityClassifier(), X, y, rounds=strange,
                                            sensitive_features=protected)  # fmt: skip
