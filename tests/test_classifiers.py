import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from gerrymend import (
    FictitiousPlay,
    LinearThresholds,
    MarginalParityClassifier,
    SubgroupParityClassifier,
    audit,
)
from gerrymend.datasets import make_intersectional
from gerrymend.subgroups.thresholds import circles
from gerrymend.training.not_converged import NotConvergedWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks(
    [
        SubgroupParityClassifier(max_iter=3),
        SubgroupParityClassifier(LinearRegression(), max_iter=3),
        MarginalParityClassifier(max_iter=3),
        MarginalParityClassifier(LinearRegression(), max_iter=3),
    ]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def fitted(toy, estimator=None, **parameters):
    """The paper's game, unless told otherwise."""
    X, y, protected = toy
    paper = LinearThresholds("regression")
    parameters = {
        "gamma": 0.005,
        "max_iter": 60,
        "random_state": 0,
        "subgroups": paper,
        "solver": "fictitious_play",
        "tol": 5e-3,
    } | parameters
    clf = SubgroupParityClassifier(estimator or LinearRegression(), **parameters)
    return clf.fit(X, y, sensitive_features=protected)


def test_what_is_stored_is_what_an_audit_of_the_mixture_says(toy):
    X, y, protected = toy
    for notion in ("false_positive_rate", "equalized_odds", "error_rate"):
        clf = fitted(toy, notion=notion, tol=None)
        p = clf.predict_proba(X)[:, 1]
        report = audit(y, p, sensitive_features=protected, notion=notion,
                       decision_probabilities=True,
                       subgroups=LinearThresholds("regression"))  # fmt: skip
        assert clf.history_["unfairness"][-1] == pytest.approx(report.unfairness, abs=1e-12)
        assert clf.worst_subgroup_.unfairness == pytest.approx(report.worst.unfairness, abs=1e-12)
        assert clf.worst_subgroup_.describe() == report.worst.describe()
        assert clf.upper_bound_ == pytest.approx(report.upper_bound, abs=1e-12)
        error = np.mean(np.where(y == 1, 1 - p, p))
        assert clf.history_["error"][-1] == pytest.approx(error, abs=1e-12)
        assert clf.score(X, y) == pytest.approx(1 - error, abs=1e-12)
        assert len(clf.history_["subgroup"]) == clf.n_iter_ == 60
        assert clf.weights_.sum() == pytest.approx(1.0)
        assert len(clf.predictors_) == len(clf.weights_)


@pytest.mark.parametrize("solver", ["fictitious_play", "exponentiated_gradient"])
def test_less_gamma_less_unfairness(toy, solver):
    loose = fitted(toy, gamma=1.0, solver=solver)
    tight = fitted(toy, gamma=0.002, max_iter=400, solver=solver)
    assert loose.n_iter_ == 1
    assert tight.history_["unfairness"][-1] < 0.3 * loose.history_["unfairness"][-1]


def test_the_order_of_rows_changes_nothing(toy):
    X, y, protected = toy
    order = np.random.default_rng(1).permutation(len(y))
    one, other = fitted(toy), fitted((X[order], y[order], protected.iloc[order]))
    np.testing.assert_allclose(one.history_["error"], other.history_["error"], atol=1e-12)
    np.testing.assert_allclose(one.history_["unfairness"], other.history_["unfairness"], atol=1e-12)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("estimator", [LinearRegression(), LogisticRegression()])
def test_a_weight_is_a_number_of_equal_rows(toy, estimator):
    X, y, protected = toy
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    # The search among linear thresholds takes other ways where sums differ in the last digit.
    clf = SubgroupParityClassifier(estimator, subgroups="value_sets", max_iter=20, tol=None)
    protected = protected[["race", "sex"]]
    one = clone(clf).fit(X, y, sensitive_features=protected, sample_weight=weight)
    other = clone(clf).fit(X[repeated], y[repeated], sensitive_features=protected.iloc[repeated])
    np.testing.assert_allclose(one.history_["error"], other.history_["error"], atol=1e-9)
    np.testing.assert_allclose(one.history_["unfairness"], other.history_["unfairness"], atol=1e-9)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)


def test_the_same_model_from_every_container(toy):
    X, y, protected = toy
    frame = pd.DataFrame(X, columns=list("abcd"))
    expected = fitted(toy)
    shuffled_index = frame.set_index(np.random.default_rng(0).permutation(len(y)))
    for features, labels, attributes in [
        (frame, pd.Series(y, index=range(5, 5 + len(y))), protected),
        (shuffled_index, y, protected.to_dict("list")),
        (pl.from_pandas(frame), pl.Series(y), pl.from_pandas(protected)),
        (pa.Table.from_pandas(frame), pa.array(y), pa.Table.from_pandas(protected)),
    ]:
        clf = fitted((features, labels, attributes))
        np.testing.assert_array_equal(clf.predict_proba(features), expected.predict_proba(X))
        np.testing.assert_array_equal(clf.predict(features), expected.predict(X))
        assert clf.feature_names_in_.tolist() == list("abcd")


def test_protected_columns_by_name(toy):
    X, y, _protected = toy
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_name = SubgroupParityClassifier(LinearRegression(), max_iter=20, tol=None)
    by_name.fit(frame, y, sensitive_features=["a", "b"])
    by_value = clone(by_name).fit(X, y, sensitive_features=frame[["a", "b"]])
    np.testing.assert_array_equal(by_name.history_["error"], by_value.history_["error"])
    assert list(by_name.worst_subgroup_.rule.attributes) == ["a", "b"]
    with pytest.warns(UserWarning, match="every column of X"):
        everything = clone(by_name).fit(frame, y)
    assert list(everything.worst_subgroup_.rule.attributes) == list("abcd")


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), (2.5, 7.0)])
def test_any_two_labels(toy, labels):
    X, y, protected = toy
    named = np.array(labels)[y]
    clf = fitted((X, named, protected))
    assert clf.classes_.tolist() == sorted(labels)
    np.testing.assert_array_equal(clf.predict_proba(X), fitted(toy).predict_proba(X))
    assert set(clf.predict(X).tolist()) <= set(labels)
    assert clf.score(X, named) == pytest.approx(fitted(toy).score(X, y))


def test_predictions_are_drawn_row_by_row(toy):
    X, y, _ = toy
    clf = fitted(toy)
    p = clf.predict_proba(X)[:, 1]
    drawn = np.array([clf.predict(X, random_state=seed) for seed in range(400)])
    assert np.abs(drawn.mean(axis=0) - p).max() < 5 * 0.5 / np.sqrt(400)
    assert ((p > 0) & (p < 1)).any(), "the example should be a real mixture"
    np.testing.assert_array_equal(clf.predict(X)[::-1], clf.predict(X[::-1]))
    np.testing.assert_array_equal(clf.predict(X[:5]), clf.predict(X)[:5])
    np.testing.assert_array_equal(drawn[3], clf.predict(X, random_state=3))
    assert clf.score(X, y) == clf.score(X, y)


def test_expected_error_of_draws_is_the_score(toy):
    X, y, _ = toy
    clf = fitted(toy)
    accuracy = np.mean([np.mean(clf.predict(X, random_state=s) == y) for s in range(300)])
    assert accuracy == pytest.approx(clf.score(X, y), abs=0.01)
    weight = np.arange(len(y))
    p = clf.predict_proba(X)[np.arange(len(y)), y]
    assert clf.score(X, y, sample_weight=weight) == pytest.approx(np.average(p, weights=weight))


def test_seeds_reproduce_predictions_in_another_process(toy, tmp_path):
    X, _, _ = toy
    clf = fitted(toy, DecisionTreeClassifier(max_depth=2, splitter="random"), max_iter=5)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps((clf, X)))
    code = (
        "import pickle, sys; clf, X = pickle.load(open(sys.argv[1], 'rb'));"
        "print(''.join(map(str, clf.predict(X))))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.pkl")],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": "77"},
    )  # fmt: skip
    again = fitted(toy, DecisionTreeClassifier(max_depth=2, splitter="random"), max_iter=5)
    assert run.stdout.strip() == "".join(map(str, clf.predict(X)))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))


def test_a_pickled_model_holds_no_row_of_the_data(toy):
    X, y, protected = toy
    protected = protected.assign(age=protected["age"] + 0.123456789)
    clf = fitted((X + 0.987654321, y, protected))
    stored = pickle.dumps(clf)
    for value in (*protected["age"].unique()[:20], *X[:20, 1] + 0.987654321):
        assert np.float64(value).tobytes() not in stored


def test_clone_and_nested_parameters():
    clf = SubgroupParityClassifier(
        LogisticRegression(), subgroups=LinearThresholds(), solver=FictitiousPlay()
    )
    copy = clone(clf).set_params(
        subgroups__search="grid", solver__order="appendix", estimator__C=3.0
    )
    assert (copy.subgroups.search, copy.solver.order, copy.estimator.C) == ("grid", "appendix", 3.0)
    assert (clf.subgroups.search, clf.solver.order) == ("search", "body")


def test_fit_leaves_parameters_alone(toy):
    estimator = DecisionTreeClassifier(max_depth=2)
    clf = fitted(toy, estimator, max_iter=3)
    assert clf.estimator is estimator
    assert estimator.random_state is None
    assert not hasattr(estimator, "tree_")


def test_grid_search_in_a_pipeline_with_routing(toy):
    X, y, protected = toy
    with config_context(enable_metadata_routing=True):
        fair = SubgroupParityClassifier(LinearRegression(), max_iter=8).set_fit_request(
            sensitive_features=True, sample_weight=True
        )
        fair.set_score_request(sample_weight=True)
        pipeline = Pipeline([("scale", StandardScaler()), ("fair", fair)])
        pipeline.named_steps["scale"].set_fit_request(sample_weight=False)
        search = GridSearchCV(pipeline, {"fair__gamma": [0.001, 0.1]}, cv=2)
        search.fit(X, y, sensitive_features=protected, sample_weight=np.ones(len(y)))
        assert search.best_params_["fair__gamma"] in (0.001, 0.1)
        best = search.best_estimator_.named_steps["fair"]
        assert set(best.worst_subgroup_.rule.attributes) == {"race", "sex", "age"}
        scores = cross_validate(
            fair, X, y, cv=2,
            params={"sensitive_features": protected, "sample_weight": np.ones(len(y))},
        )  # fmt: skip
    assert (scores["test_score"] > 0.5).all()


def test_cross_validate_without_routing(toy):
    X, y, protected = toy
    scores = cross_validate(
        SubgroupParityClassifier(LinearRegression(), max_iter=8), X, y,
        params={"sensitive_features": protected}, cv=3,
    )  # fmt: skip
    assert len(scores["test_score"]) == 3


def test_an_estimator_that_encodes_takes_the_frame_as_it_is(toy):
    X, y, protected = toy
    frame = protected.assign(score=X[:, 0], other=X[:, 1])
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["race", "sex"]), remainder="passthrough"
    )
    clf = SubgroupParityClassifier(
        make_pipeline(encode, StandardScaler(), LogisticRegression()), max_iter=5, random_state=0
    ).fit(frame, y, sensitive_features=["race", "sex", "age"])
    assert clf.predict(frame).shape == y.shape
    np.testing.assert_array_equal(clf.predict(frame)[::-1], clf.predict(frame.iloc[::-1]))
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(frame[["sex", "race", "age", "score", "other"]])
    with pytest.raises(ValueError, match=r"Column 'race' of X has text.*make_pipeline"):
        SubgroupParityClassifier().fit(frame, y, sensitive_features=["race"])


def test_a_path_is_the_fits_of_each_gamma(toy):
    X, y, protected = toy
    base = SubgroupParityClassifier(
        LinearRegression(), solver="fictitious_play", subgroups=LinearThresholds("regression"),
        tol=5e-3, max_iter=40, random_state=0,
    )  # fmt: skip
    path = base.fit_path(X, y, gammas=[0.001, 0.02], sensitive_features=protected)
    for model, gamma in zip(path, (0.001, 0.02), strict=True):
        one = clone(base).set_params(gamma=gamma).fit(X, y, sensitive_features=protected)
        assert model.gamma == gamma
        np.testing.assert_allclose(model.history_["error"], one.history_["error"], atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), one.predict(X))
    with pytest.raises(ValueError, match="gammas is empty"):
        base.fit_path(X, y, gammas=[], sensitive_features=protected)


@pytest.mark.parametrize("seed", range(3))
def test_a_larger_gamma_of_a_path_costs_no_more(seed):
    """A mixture within a smaller gamma is one within a larger: weighed over one pool, no error
    can rise."""
    data = make_intersectional(400, cardinalities=(2, 3), n_numeric=0, random_state=seed)
    path = SubgroupParityClassifier(LogisticRegression(), tol=0.01, random_state=0).fit_path(
        data.data, data.target, gammas=[0.02, 0.005, 0.01],
        sensitive_features=data.sensitive_features,
    )  # fmt: skip
    path.sort(key=lambda model: model.gamma)
    assert all(model.history_["unfairness"][-1] <= model.gamma + 1e-3 for model in path)
    errors = [model.history_["error"][-1] for model in path]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1]


def test_a_path_starts_from_the_last_fit_if_told_to(toy):
    X, y, protected = toy
    clf = SubgroupParityClassifier(LogisticRegression(), gamma=0.01, random_state=0)
    clf.fit(X, y, sensitive_features=protected)
    first_rounds = [
        clf.set_params(warm_start=warm, max_iter=1, tol=None).fit_path(
            X, y, gammas=[0.01], sensitive_features=protected
        )[0].history_
        for warm in (True, False)
    ]  # fmt: skip
    warm, cold = (
        one["error"][-1] + clf.C * max(0.0, one["unfairness"][-1] - 0.01) for one in first_rounds
    )
    assert warm < cold - 0.01


def test_an_interrupted_path_keeps_the_gammas_that_were_played(toy):
    X, y, protected = toy
    calls = []

    class Impatient(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            calls.append(1)
            if len(calls) == 9:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight=sample_weight)

    clf = SubgroupParityClassifier(Impatient(max_depth=2), max_iter=5, tol=None, random_state=0)
    with pytest.raises(KeyboardInterrupt) as caught:
        clf.fit_path(X, y, gammas=[0.0, 0.02], sensitive_features=protected)
    assert [model.gamma for model in caught.value.models] == [0.0, 0.02]
    assert [model.n_iter_ for model in caught.value.models] == [1, 5]
    assert caught.value.models[1].predict(X).shape == y.shape


def test_a_run_that_does_not_converge_says_what_to_change(toy):
    X, y, protected = toy
    clf = SubgroupParityClassifier(LinearRegression(), gamma=0.0, max_iter=2)
    with pytest.warns(ConvergenceWarning, match=r"After 2 rounds at gamma=0 .*above gamma; the "
                      r"least of any .* Raise C \(now 10\).* max_iter \(now 2\)"):  # fmt: skip
        clf.fit(X, y, sensitive_features=protected)
    clf.set_params(solver="fictitious_play", max_iter=3, tol=1e-9)
    clf.set_params(gamma=0.9 * clf.history_["unfairness"][0])
    with pytest.warns(ConvergenceWarning, match=r"up to about .* above the least possible"):
        clf.fit(X, y, sensitive_features=protected)


@pytest.mark.parametrize("solver", ["exponentiated_gradient", "fictitious_play"])
def test_all_rounds_that_end_above_gamma_say_so(toy, solver):
    """tol=None asks for no convergence, but gamma is asked for in any case."""
    X, y, protected = toy
    how = {"solver": solver, "max_iter": 3, "tol": None, "random_state": 0}
    clf = SubgroupParityClassifier(LinearRegression(), gamma=0.0, C=0.01, **how)
    with pytest.warns(ConvergenceWarning) as told:
        clf.fit(X, y, sensitive_features=protected)
    found = abs(clf.worst_subgroup_.unfairness)
    assert found > 0.0
    (words,) = (str(one.message) for one in told)
    assert words.startswith("After 3 rounds at gamma=0 the worst subgroup found has unfairness 0.")
    assert words.endswith("; or raise max_iter (now 3); or allow a larger gamma.")
    assert "Raise C (now 0.01)" in words
    assert "set certify=True" in words
    # Within gamma nothing is said, be the gap what it may: warnings are errors here.
    clf.set_params(gamma=2 * found, C=10.0).fit(X, y, sensitive_features=protected)
    assert abs(clf.worst_subgroup_.unfairness) <= clf.gamma


def test_an_interrupted_fit_keeps_what_it_had(toy, monkeypatch):
    X, y, protected = toy
    calls = []

    class Impatient(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            calls.append(1)
            if len(calls) == 6:  # the first two try whether it uses weights
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight=sample_weight)

    clf = SubgroupParityClassifier(Impatient(max_depth=2), gamma=0.0, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y, sensitive_features=protected)
    assert clf.n_iter_ == 3
    assert clf.predict(X).shape == y.shape


def test_an_interrupt_in_compiled_code_keeps_it_too(toy, monkeypatch):
    """numba turns Ctrl-C into a SystemError."""
    X, y, protected = toy
    ascend, calls = circles.ascend, []

    def impatient(*arguments):
        calls.append(1)
        if len(calls) == 1000:  # after the first look
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        return ascend(*arguments)

    monkeypatch.setattr(circles, "ascend", impatient)
    clf = SubgroupParityClassifier(LinearRegression(), gamma=0.0, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y, sensitive_features=protected)
    assert clf.n_iter_ >= 1
    assert clf.predict(X).shape == y.shape


def test_progress_is_logged(toy, caplog, capsys):
    with caplog.at_level("INFO", logger="gerrymend"):
        fitted(toy, verbose=1, max_iter=5, tol=None)
    assert "round 5 of at most 5: error" in caplog.text
    assert "once more" not in caplog.text
    with caplog.at_level("INFO", logger="gerrymend"):
        fitted(toy, verbose=1, max_iter=5, tol=None, solver="exponentiated_gradient")
    assert "looking at the model of round 5 once more" in caplog.text
    assert capsys.readouterr().out == ""


def test_marginal_parity_holds_on_marginals_and_says_nothing_of_the_rest():
    from gerrymend.datasets import make_gerrymandered

    data = make_gerrymandered(800, noise=0.3, random_state=0)
    clf = MarginalParityClassifier(LogisticRegression(), gamma=0.01, random_state=0)
    clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    p = clf.predict_proba(data.data)[:, 1]

    def unfairness(subgroups):
        return audit(data.target, p, sensitive_features=data.sensitive_features,
                     subgroups=subgroups, decision_probabilities=True).unfairness  # fmt: skip

    assert unfairness("marginals") <= 0.011
    assert unfairness(LinearThresholds(search="grid")) > 0.03


def test_nothing_works_before_fit_or_after_one_that_failed(toy):
    X, y, protected = toy
    clf = SubgroupParityClassifier(LinearRegression(), max_iter=3)
    with pytest.raises(NotFittedError):
        clf.predict(X)
    clf.fit_path(X, y, gammas=[0.01], sensitive_features=protected)
    with pytest.raises(NotFittedError):
        clf.predict(X)
    clf.fit(X, y, sensitive_features=protected)
    with pytest.raises(ValueError, match="only one class"):
        clf.fit(X, np.ones(len(y)), sensitive_features=protected)
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_probabilities_of_merged_predictors_can_be_audited():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 3)) * 1.0, rng.integers(0, 2, 300)
    groups = {"g": rng.integers(0, 3, 300).astype(str)}
    clf = SubgroupParityClassifier(LinearRegression(), gamma=0.001, max_iter=100, tol=None)
    p = clf.fit(X, y, sensitive_features=groups).predict_proba(X)
    assert p.min() >= 0
    assert p.max() <= 1
    audit(y, p[:, 1] + 1e-12, sensitive_features=groups, decision_probabilities=True)


def test_every_round_of_the_history_can_be_read():
    X = np.array([0.0, 0, 1, 1] * 50)[:, None]
    clf = SubgroupParityClassifier(LinearRegression(), max_iter=3, tol=None)
    clf.fit(X, X[:, 0].astype(int), sensitive_features={"s": [0, 1] * 100})
    assert {str(rule) for rule in clf.history_["subgroup"]} == {"no one"}
    assert len(clf.history_["subgroup"]) == len(clf.history_["round"])


def test_frames_for_estimators_are_checked_too(toy):
    X, y, protected = toy
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[3, "b"] = np.inf
    clf = SubgroupParityClassifier(DecisionTreeClassifier(max_depth=2), max_iter=2)
    with pytest.raises(ValueError, match="Column 'b' of X has infinite values"):
        clf.fit(frame, y, sensitive_features=protected)
    with pytest.raises(ValueError, match=r"infinity[^$]*Replace infinite values"):
        SubgroupParityClassifier(max_iter=2).fit(frame, y, sensitive_features=protected)
    twice = pd.DataFrame(X[:, :2], columns=["a", "a"])
    with pytest.raises(ValueError, match="X has more than one column named 'a'"):
        clf.fit(twice, y, sensitive_features=protected)
    with pytest.raises(TypeError, match="X is a lazy frame"):
        clf.fit(pl.LazyFrame(X), y, sensitive_features=protected)
    with pytest.raises(ValueError, match="X is empty"):
        clf.fit(frame.iloc[:0], y[:0], sensitive_features=protected.iloc[:0])


def test_columns_that_the_estimator_ignores_do_no_harm(toy):
    X, y, protected = toy
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        day=pd.date_range("2020-01-01", periods=len(y)), odd=[["x"], 3] * (len(y) // 2)
    )
    pick = make_column_transformer(("passthrough", ["a", "b"]))
    clf = SubgroupParityClassifier(
        make_pipeline(pick, LogisticRegression()), max_iter=5, random_state=0
    ).fit(frame, y, sensitive_features=protected)
    np.testing.assert_array_equal(clf.predict(frame)[::-1], clf.predict(frame.iloc[::-1]))


BAD = [
    ({"y": [0, 1]}, {}, "X has 6, y has 2"),
    ({"sensitive_features": [[1], [2]]}, {}, "sensitive_features has 2"),
    ({"X": [[np.nan]] * 6}, {}, "NaN"),
    ({"X": [[np.inf]] * 6}, {}, "infinity"),
    ({"X": np.zeros((0, 2))}, {}, "0 sample|no rows|empty"),
    ({"y": None}, {}, "requires y"),
    (
        {"sample_weight": [1, 0, 1, 0, 1, 0]},
        {"notion": "false_negative_rate"},
        "There are no rows for the",
    ),
    ({}, {"gamma": -1}, "gamma must be a number of at least 0; got -1"),
    ({}, {"gamma": float("nan")}, "gamma must be a number"),
    ({}, {"notion": "false_positives"}, "did you mean 'false_positive_rate'"),
    ({}, {"C": 0}, "C must be a number above 0; got 0"),
    ({}, {"max_iter": 0}, "max_iter must be a number of at least 1; got 0"),
    ({}, {"max_iter": 2.5}, "max_iter must be a whole number; got 2.5"),
    ({}, {"tol": -1}, "tol must be a number of at least 0"),
    ({}, {"solver": "fictious_play"}, "did you mean 'fictitious_play'"),
    ({}, {"solver": 7}, "solver must be one of"),
    ({}, {"subgroups": "linar"}, "did you mean 'linear'"),
    ({}, {"estimator": StandardScaler()}, "neither a classifier nor a regressor"),
    ({"sensitive_features": ["race"]}, {}, "X has no column names"),
    (
        {"X": pd.DataFrame({"rase": range(6)}), "sensitive_features": ["race"]},
        {},
        "names 'race', which is no column of X .did you mean 'rase'",
    ),
]


@pytest.mark.parametrize(("data", "parameters", "message"), BAD)
def test_bad_input_is_named_with_a_remedy(data, parameters, message):
    arguments = {
        "X": [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]],
        "y": [0, 1, 0, 1, 0, 1],
        "sensitive_features": [[1], [2], [1], [2], [1], [2]],
    } | data
    clf = SubgroupParityClassifier(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        clf.fit(arguments.pop("X"), arguments.pop("y"), **arguments)


def test_other_columns_at_predict_are_refused(toy):
    X, y, protected = toy
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = fitted((frame, y, protected))
    with pytest.raises(ValueError, match="must be in the same order"):
        clf.predict(frame[list("bacd")])
    with pytest.raises(ValueError, match="feature names"):
        clf.predict_proba(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="features"):
        fitted(toy).predict(X[:, :2])


def test_fit_without_protected_attributes_warns_and_says_how_to_pass_them():
    X = np.random.default_rng(0).integers(0, 2, size=(60, 2)).astype(float)
    y = np.tile([0, 1], 30)
    clf = MarginalParityClassifier(LinearRegression(), max_iter=3)
    with pytest.warns(UserWarning, match=r"every column of X .*set_fit_request") as told:
        clf.fit(X, y)
    assert told[0].filename == __file__


@pytest.mark.parametrize(("seed", "large"), [(0, True), (11, False)])
def test_a_gap_below_tol_is_not_called_too_large(seed, large):
    """A small gap before a game has settled: 0.0020 for the second seed."""
    data = make_intersectional(300, cardinalities=(2, 3), n_numeric=1, random_state=seed)
    clf = SubgroupParityClassifier(max_iter=20, tol=0.005, random_state=0)
    with pytest.warns(ConvergenceWarning) as told:
        clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    (words,) = (str(one.message) for one in told if one.category is NotConvergedWarning)
    assert (clf.gap_ > clf.tol) == large
    assert ("up to about" in words) == large
    assert ("it has not settled: the last rounds still bettered it" in words) != large
    assert f"{clf.gap_:.4f} above the least possible" in words
    assert "Raise max_iter (now 20)" in words


POINTED = [
    ({"gamma": 5.0}, "allows everything"),
    ({"gamma": 0.0, "max_iter": 2}, "above gamma"),
    ({"max_iter": 2}, "sensitive_features was not passed"),
]


@pytest.mark.parametrize(("asked", "words"), POINTED)
def test_warnings_of_a_path_point_at_the_line_that_asks_for_it(toy, asked, words):
    X, y, protected = toy
    clf = SubgroupParityClassifier(LinearRegression(), subgroups="marginals", tol=0.1, **asked)
    given = {"sensitive_features": protected if "gamma" in asked else None}
    with pytest.warns(UserWarning, match=words) as told:
        clf.fit_path(X, y, gammas=[clf.gamma], **given)
    assert {one.filename for one in told} == {__file__}
