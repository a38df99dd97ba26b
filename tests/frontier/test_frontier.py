"""pareto_frontier(): figures that can be worked out otherwise, dominance, the knee, bad input."""

import itertools
import json
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from gerrymend import (
    Conjunctions,
    FairnessNotion,
    FrontierInterrupted,
    LinearThresholds,
    MarginalParityClassifier,
    SubgroupParityClassifier,
    audit,
    pareto_frontier,
)
from gerrymend.datasets import make_intersectional
from gerrymend.frontier.points import FrontierPoint, OnRows
from gerrymend.frontier.tradeoffs import ParetoFrontier, dominated, knee, mark_dominated
from gerrymend.inputs.sample import Sample
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.marks import slow

pytestmark = MAY_EXCEED_GAMMA

GAMMAS = [0.0, 0.01, 0.05]


@pytest.fixture(scope="module")
def data():
    return make_intersectional(400, cardinalities=(2, 3), n_numeric=0, random_state=0)


def classifier(**parameters):
    usual = {"subgroups": "conjunctions", "max_iter": 20, "tol": None, "random_state": 3}
    return SubgroupParityClassifier(LinearRegression(), **usual | parameters)


def frontier_of(data, clf=None, **options):
    usual = {"sensitive_features": data.sensitive_features, "gammas": GAMMAS}
    return pareto_frontier(
        clf or classifier(), options.pop("X", data.data), data.target, **usual | options
    )


def figures(frontier):
    """All but how long it took, and how the call that made it was written."""
    return [{**point, "seconds": 0, "code": ""} for point in frontier.to_dict()["points"]]


def beats(one, other):
    return (
        one.error <= other.error and one.unfairness <= other.unfairness
        and (one.error < other.error or one.unfairness < other.unfairness)
    )  # fmt: skip


def on_rows(error, unfairness):
    """A model on some rows of which only two figures matter."""
    return OnRows(error, SimpleNamespace(unfairness=unfairness))


def test_points_are_what_fit_path_and_audit_give(data):
    clf = classifier()
    before = repr(clf.get_params())
    frontier = frontier_of(data, clf)
    assert repr(clf.get_params()) == before
    assert not hasattr(clf, "mixture_")
    assert [point.gamma for point in frontier.points] == GAMMAS
    path = classifier().fit_path(
        data.data, data.target, gammas=GAMMAS, sensitive_features=data.sensitive_features
    )
    for alone, point in zip(path, frontier.points, strict=True):
        p = alone.predict_proba(data.data)[:, 1]
        np.testing.assert_array_equal(p, point.model.predict_proba(data.data)[:, 1])
        report = audit(
            data.target, p, sensitive_features=data.sensitive_features, gamma=point.gamma,
            subgroups="conjunctions", decision_probabilities=True, budget=10.0,
        )  # fmt: skip
        assert point.train.error == pytest.approx(np.mean(np.abs(p - data.target)), abs=1e-12)
        assert point.train.report.to_dict() == report.to_dict()
        assert point.reported_unfairness <= point.train.upper_bound + 1e-12
        assert (point.n_predictors, point.n_oracle_calls) == (
            len(alone.weights_), alone.n_oracle_calls_)  # fmt: skip
        assert point.test is None
    assert frontier.model(0.01) is frontier.points[1].model


def test_notions_and_estimators_in_any_number_of_workers(data):
    options = {
        "notions": ["false_positive_rate", ("statistical_parity", "error_rate")],
        "estimators": {"least squares": LinearRegression(), "mean": DummyRegressor()},
        "gammas": [0.0, 0.05],
        "test_size": 0.3,
    }
    one = frontier_of(data, **options)
    names = [(point.notion, point.estimator, point.gamma) for point in one.points]
    assert names == list(itertools.product(
        ["false_positive_rate", "statistical_parity and error_rate"],
        ["least squares", "mean"], [0.0, 0.05]))  # fmt: skip
    with joblib.parallel_config(backend="threading"):  # processes: tests/_runtime/test_workers.py
        assert figures(frontier_of(data, n_jobs=2, **options)) == figures(one)
    assert len({point.model.random_state for point in one.points}) == 1
    constants = [
        point.train for point in one.points
        if (point.notion, point.estimator) == ("false_positive_rate", "mean")
    ]  # fmt: skip
    assert {constant.unfairness for constant in constants} == {0.0}


def test_rows_are_held_out_of_each_label(data):
    rows = Sample.read(data.target, data.sensitive_features, features=data.data)
    train, test = rows.split(0.25, seed=5)
    assert abs(test.labels.mean() - data.target.mean()) < 0.01
    both = np.concatenate([train.features, test.features])
    np.testing.assert_array_equal(np.sort(both, axis=0), np.sort(data.data, axis=0))
    split = frontier_of(data, test_size=0.25, random_state=5)
    given = pareto_frontier(
        classifier(), train.features, train.labels, sensitive_features=train.protected,
        X_test=test.features, y_test=test.labels, sensitive_features_test=test.protected,
        gammas=GAMMAS, random_state=5,
    )  # fmt: skip
    assert figures(split) == figures(given)
    assert {point.test.report.n_rows for point in split.points} == {100}
    assert split.points[0].compared is split.points[0].test


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_and_names_of_columns(data, library):
    frame = library({**{f"x{j}": column for j, column in enumerate(data.data.T)},
                     "age": np.arange(400) % 7})  # fmt: skip
    named = frontier_of(data, X=frame, sensitive_features=["age"], test_size=0.5)
    protected = {"age": np.arange(400) % 7}
    values = frontier_of(data, X=frame.to_numpy(), sensitive_features=protected, test_size=0.5)
    assert figures(named) == figures(values)
    second = frontier_of(
        data, X=frame, sensitive_features=["age"], X_test=frame, y_test=data.target
    )
    for point in second.points:
        assert point.train.report.to_dict() == point.test.report.to_dict()


def test_weights_count_rows(data):
    weight = np.random.default_rng(0).integers(1, 4, len(data.target))
    copies = np.repeat(np.arange(len(weight)), weight)
    rows = {name: np.asarray(values)[copies] for name, values in data.sensitive_features.items()}
    weighted = frontier_of(data, sample_weight=weight, gammas=[0.01])
    repeated = pareto_frontier(
        classifier(), data.data[copies], data.target[copies], sensitive_features=rows,
        gammas=[0.01],
    )  # fmt: skip
    one, other = weighted.points[0].train, repeated.points[0].train
    assert one.error == pytest.approx(other.error, abs=1e-9)
    assert one.unfairness == pytest.approx(other.unfairness, abs=1e-9)


def test_what_is_audited_is_stronger_than_what_was_trained_against(data):
    regression = classifier(subgroups=LinearThresholds(search="regression"))
    for clf in (regression, MarginalParityClassifier(LinearRegression(), max_iter=20, tol=None)):
        (point,) = frontier_of(data, clf, gammas=[0.0]).points
        assert repr(point.train.report.subgroups) == "LinearThresholds()"
        assert point.train.report.exact
        assert point.train.unfairness >= point.reported_unfairness - 1e-12
    (point,) = frontier_of(data, gammas=[0.0], audit_subgroups="marginals").points
    assert repr(point.train.report.subgroups) == "Marginals()"


def test_marginal_points_are_what_the_other_classifier_gives(data):
    frontier = frontier_of(data, marginal=True, test_size=0.3)
    alone = frontier_of(data, test_size=0.3)
    for point, same in zip(frontier.points, alone.points, strict=True):
        assert point.train.report.to_dict() == same.train.report.to_dict()
        assert point.test.error == same.test.error
    trained = MarginalParityClassifier(LinearRegression(), max_iter=20, tol=None, random_state=3)
    other = frontier_of(data, trained, audit_subgroups="conjunctions", test_size=0.3)
    for point, expected in zip(frontier.marginal_points, other.points, strict=True):
        for one, same in ((point.train, expected.train), (point.test, expected.test)):
            assert one.report.to_dict() == same.report.to_dict()
    everyone = (*frontier.points, *frontier.marginal_points)
    for sample in ("train", "test"):
        seen = [getattr(point, sample) for point in everyone]
        assert [one.dominated for one in seen] == [any(beats(o, one) for o in seen) for one in seen]
    frame = frontier.to_frame("polars")
    assert frame["marginal"].to_list() == [False] * 3 + [True] * 3
    assert "MARGINAL, for contrast: false" in str(frontier)
    with pytest.raises(ValueError, match="estimator is MARGINAL already; leave it out"):
        frontier_of(data, trained, marginal=True)


def refitted(point, data, weight=None):
    names = {"X": data.data, "y": data.target, "sensitive_features": data.sensitive_features,
             "sample_weight": weight}  # fmt: skip
    exec(point.code, names)
    return names["model"]


@pytest.mark.parametrize("solver", ["fictitious_play", slow("exponentiated_gradient")])
def test_code_trains_each_model_again(data, solver):
    accuracy = FairnessNotion("accuracy", event=(True, True), a=(1, 0), b=(-1, 1))
    estimators = [make_pipeline(StandardScaler(), LinearRegression()), LinearRegression()]
    weight = np.arange(len(data.target)) % 3 + 1.0
    frontier = frontier_of(
        data, classifier(solver=solver, subgroups=Conjunctions(max_depth=1)), estimators=estimators,
        notions=["equalized_odds", accuracy], marginal=True, sample_weight=weight,
        gammas=GAMMAS[:2],
    )  # fmt: skip
    for point in (*frontier.points, *frontier.marginal_points):
        model = refitted(point, data, weight)
        assert model.gamma == point.gamma
        assert repr(model) == repr(point.model.set_params(notion=model.notion))
        np.testing.assert_array_equal(
            model.predict_proba(data.data), point.model.predict_proba(data.data)
        )


def test_what_code_can_not_say_has_none(data):
    by_a_function = make_pipeline(FunctionTransformer(lambda X: X), LinearRegression())
    (point,) = frontier_of(data, estimators=[by_a_function], gammas=[0.01]).points
    assert point.code is None
    (point,) = frontier_of(data, estimators=[LinearRegression()], gammas=[0.01]).points
    assert "sensitive_features=sensitive_features" in point.code


def test_the_frontier_as_data_and_as_text(data):
    frontier = frontier_of(data, test_size=0.4, min_group_size=120)
    plain = json.loads(frontier.to_json(), parse_constant=pytest.fail)
    assert plain == frontier.to_dict()
    for point in plain["points"]:  # no group of so few rows that count, inside or outside, is told
        for sample in (point["train"], point["test"]):
            assert sample["worst"] is None or not sample["withheld"]
    assert any(point["test"]["withheld"] for point in plain["points"])
    frame = frontier.to_frame("polars")
    assert frame["gamma"].to_list() == GAMMAS
    assert frame["test_error"].to_list() == [point.test.error for point in frontier.points]
    assert "test_error" not in frontier_of(data, gammas=[0.0]).to_frame().columns
    text = str(frontier)
    assert max(map(len, text.splitlines())) <= 80
    assert "on 240 training rows" in text
    assert "reported: the unfairness that the training itself found, on its rows" in text
    assert text.count("×") == 1 + sum(
        one.dominated
        for model in (*frontier.points, *frontier.references)
        for one in (model.train, model.test)
    )


def test_a_stop_keeps_the_points_that_were_done(data):
    heard = []

    def stop_at_the_second(point, of):
        heard.append((point.gamma, of))
        if len(heard) == 2:
            raise KeyboardInterrupt

    with pytest.raises(FrontierInterrupted) as stopped:
        frontier_of(data, on_point=stop_at_the_second)
    assert heard == [(0.0, 3), (0.01, 3)]
    assert [point.gamma for point in stopped.value.frontier.points] == [0.0, 0.01]
    assert stopped.value.frontier.n_missing == 1
    assert "0.01" in str(stopped.value.frontier)
    assert "Interrupted: 1 more point was asked for." in str(stopped.value.frontier)


def test_a_game_that_did_not_converge_is_told(data):
    with pytest.warns(ConvergenceWarning, match="gamma=0 the"):
        frontier_of(data, classifier(max_iter=2, tol=1e-6), gammas=[0.0], n_jobs=2)


COSTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


@given(COSTS)
def test_dominance_is_what_its_words_say(costs):
    for (error, unfairness), marked in zip(costs, dominated(costs), strict=True):
        others = [(e, u) for e, u in costs if e <= error and u <= unfairness]
        assert marked == any(e < error or u < unfairness for e, u in others)


@given(COSTS, st.floats(0.01, 100), st.floats(0.01, 100))
def test_the_knee_is_furthest_from_the_chord_in_any_units(costs, wide, tall):
    found = knee([(wide * u, tall * e) for u, e in costs])
    kept = [cost for cost, marked in zip(costs, dominated(costs), strict=True) if not marked]
    left, right = min(kept), max(kept)  # the least unfairness, and the least error
    width, height = right[0] - left[0], left[1] - right[1]
    # Twice the area of the triangle with the chord: the distance, times the chord's length.
    areas = [width * (left[1] - e) - height * (u - left[0]) for u, e in kept]
    if width == 0 or max(areas) <= 0:
        assert found is None
    else:
        assert costs[found] in [
            cost for cost, a in zip(kept, areas, strict=True) if a == max(areas)
        ]


def test_the_suggestion_by_hand(data):
    frontier = frontier_of(data, gammas=[0.0, 0.01, 0.02, 0.03, 0.05])
    costs = [(point.train.unfairness, point.train.error) for point in frontier.points]
    best = knee(costs)
    expected = () if best is None else (frontier.points[best],)
    assert frontier.suggested == expected
    assert ("*" in str(frontier)) == bool(expected)
    flags = [point["suggested"] for point in frontier.to_dict()["points"]]
    assert flags == [point in expected for point in frontier.points]


def test_what_marginal_beats_is_dominated_and_no_knee():
    """By hand: without MARGINAL the second of three is the knee; it beats that, and no other is."""
    costs = [(0.10, 0.04), (0.11, 0.01), (0.20, 0.00), (0.11, 0.009)]
    points = [
        FrontierPoint(
            gamma=0.01, notion="error_rate", estimator="e", reported_unfairness=0.0,
            n_predictors=1, n_oracle_calls=1, seconds=0.0, train=on_rows(*cost), test=None,
            model=None,
        )
        for cost in costs
    ]  # fmt: skip
    alone = ParetoFrontier(mark_dominated(points[:3]))
    assert alone.suggested == (alone.points[1],)
    marked = mark_dominated(points)
    assert [point.train.dominated for point in marked] == [False, True, False, False]
    assert ParetoFrontier(marked[:3], marked[3:]).suggested == ()
    beaten = mark_dominated(points[1::2])
    assert ParetoFrontier(beaten[:1], beaten[1:]).suggested == ()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"gamma": 0.3}, "No points have gamma=0.3; name one. There are gamma: 0.0, 0.05"),
        ({"gamma": 0.0}, "2 points have gamma=0.0; name one. .*estimator: 'a', 'b'"),
        ({"gamma": 0.0, "estimator": "c"}, "No points have gamma=0.0, estimator='c'"),
    ],
)
def test_models_are_asked_for_by_what_they_differ_in(data, asked, message):
    estimators = {"a": LinearRegression(), "b": DummyRegressor()}
    frontier = frontier_of(data, gammas=[0.0, 0.05], estimators=estimators)
    assert frontier.model(0.05, estimator="b") is frontier.points[3].model
    with pytest.raises(ValueError, match=message):
        frontier.model(**asked)


BAD = [
    ({"gammas": []}, ValueError, "gammas is empty"),
    ({"gammas": [0.01, -0.1]}, ValueError, "gammas must be a number of at least 0; got -0.1"),
    ({"gammas": [0.01, 0.02, 0.01]}, ValueError, "gammas has 0.01 more than once"),
    ({"gammas": 0.01}, TypeError, "gammas must be a list of numbers; got 0.01"),
    ({"notions": []}, TypeError, "notions must be a list of at least one"),
    ({"notions": "error_rate"}, TypeError, "notions must be a list of at least one"),
    ({"notions": ["fpr"]}, ValueError, "notions='fpr' is unknown"),
    ({"notions": ["error_rate", "error_rate"]}, ValueError, "notions has the same one twice"),
    ({"estimators": []}, ValueError, "estimators is empty"),
    ({"estimators": LinearRegression()}, TypeError, "estimators must be a list of estimators"),
    ({"estimators": [LinearRegression(), 7]}, TypeError, "neither a classifier nor a regressor"),
    ({"estimators": [LinearRegression()] * 2}, ValueError, "estimators has the same one twice"),
    ({"test_size": 1.5}, ValueError, "test_size must be below 1; got 1.5"),
    ({"test_size": 0}, ValueError, "test_size must be a number above 0; got 0"),
    ({"test_size": 0.001}, ValueError, "test_size=0.001 can't be kept out of 400 rows"),
    ({"test_size": 0.5, "X_test": [[0.0]]}, ValueError, "test_size and X_test exclude"),
    ({"X_test": [[0.0]]}, ValueError, "y_test is not given; a second sample needs both"),
    ({"y_test": [0, 1]}, ValueError, "X_test is not given"),
    ({"X_test": [[0.0]], "y_test": [0]}, ValueError, "sensitive_features_test is not given"),
    ({"audit_budget": 0}, ValueError, "audit_budget must be a number above 0; got 0"),
    ({"audit_subgroups": "lineer"}, ValueError, "subgroups='lineer' is unknown"),
    ({"min_group_size": 0}, ValueError, "min_group_size must be a number of at least 1"),
    ({"sensitive_features": ["race"]}, ValueError, "names columns, and X has no column names"),
    ({"sensitive_features": {"a": [1, 2]}}, ValueError, "differ in their number of rows"),
]


@pytest.mark.parametrize(("options", "kind", "message"), BAD)
def test_bad_calls_are_told_before_any_work(data, options, kind, message, monkeypatch):
    monkeypatch.setattr(SubgroupParityClassifier, "fit_path", pytest.fail)
    with pytest.raises(kind, match=message):
        frontier_of(data, **options)


def test_labels_of_the_second_sample_agree(data):
    with pytest.raises(ValueError, match=r"y_test has the labels \['a', 'b'\], and y \[0, 1\]"):
        frontier_of(data, X_test=data.data, y_test=np.array(["a", "b"])[data.target],
                    sensitive_features_test=data.sensitive_features)  # fmt: skip


def test_only_the_games_classifiers_have_a_frontier(data):
    with pytest.raises(TypeError, match="estimator must be a SubgroupParityClassifier or a Marg"):
        frontier_of(data, LogisticRegression())


@pytest.mark.parametrize("strange", [b"1", 0.5, "print"])
def test_on_point_is_a_function(toy, strange):
    X, y, protected = toy
    with pytest.raises(TypeError, match="on_point must be a function"):
        pareto_frontier(SubgroupParityClassifier(), X, y, sensitive_features=protected,
                        on_point=strange)  # fmt: skip


@pytest.mark.parametrize("strange", [np.array(0.1), np.ma.masked, 0.1, "0.1"])
def test_gammas_are_a_list(toy, strange):
    X, y, protected = toy
    with pytest.raises(TypeError, match="gammas must be a list of numbers"):
        pareto_frontier(SubgroupParityClassifier(), X, y, sensitive_features=protected,
                        gammas=strange)  # fmt: skip


def test_attributes_that_were_not_passed_are_told_once(data):
    """As fit() does: a forgotten argument looked like success."""
    with pytest.warns(UserWarning, match="every column of X is taken as a protected") as told:
        found = frontier_of(data, X=data.data[:, :2], sensitive_features=None, gammas=[0.05])
    (warning,) = told
    assert "Pass pareto_frontier(..., sensitive_features=...)" in str(warning.message)
    assert "routing" not in str(warning.message)
    assert warning.filename == __file__
    meant = frontier_of(
        data, X=data.data[:, :2], sensitive_features=data.data[:, :2], gammas=[0.05]
    )
    assert [p["train"]["unfairness"] for p in figures(found)] == [
        p["train"]["unfairness"] for p in figures(meant)
    ]
