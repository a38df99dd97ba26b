"""SubgroupCalibrator: unseen scores, protected attributes in fit and predict, and routing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from gerrymend import SubgroupCalibrator, calibrate
from tests.calibration.made import made_scores, worst_of_all

QUICK = {"n_draws": 19, "subgroups": "marginals"}


@pytest.fixture(scope="module")
def people():
    """Features that say nothing of the group that was planted, its attributes and what happened."""
    y, score, A = made_scores(1500, seed=0)
    noise = np.random.default_rng(1).standard_normal((1500, 2))
    X = pd.DataFrame({"log_odds": np.log(score / (1 - score)), "a": noise[:, 0], "b": noise[:, 1]})
    return X, y, A


def test_patches_are_learnt_on_scores_of_models_that_have_not_seen_the_rows(people):
    X, y, A = people
    cv = StratifiedKFold(4, shuffle=True, random_state=3)
    trees = DecisionTreeClassifier(max_depth=5, random_state=0)
    model = SubgroupCalibrator(trees, cv=cv, **QUICK).fit(X, y, sensitive_features=A)
    unseen = cross_val_predict(trees, X, y, cv=cv, method="predict_proba")[:, 1]
    assert model.patches_ == calibrate(y, unseen, sensitive_features=A, **QUICK)
    whole = clone(trees).fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(
        model.predict_proba(X, sensitive_features=A)[:, 1], model.patches_.apply(whole, A)
    )


@pytest.mark.parametrize("frozen", [False, True])
def test_a_model_that_is_fitted_stays_as_it_is(people, frozen):
    X, y, A = people
    fitted = LogisticRegression().fit(X[:500], y[:500])
    before = fitted.coef_.copy()
    how = (
        {"estimator": FrozenEstimator(fitted)} if frozen else {"estimator": fitted, "cv": "prefit"}
    )
    model = SubgroupCalibrator(**how, **QUICK)
    model.fit(X[500:], y[500:], sensitive_features=A[500:])
    score = fitted.predict_proba(X[500:])[:, 1]
    assert model.patches_ == calibrate(y[500:], score, sensitive_features=A[500:], **QUICK)
    np.testing.assert_array_equal(fitted.coef_, before)
    if not frozen:
        assert model.estimator_ is fitted


def test_the_planted_group_is_told_and_probabilities_are_better(people):
    X, y, A = people
    model = SubgroupCalibrator().fit(X[:1000], y[:1000], sensitive_features=A[:1000])
    told = [patch.rule.describe() for patch in model.patches_]
    assert "sex = F and town = A" in told
    before = model.estimator_.predict_proba(X[1000:])[:, 1]
    after = model.predict_proba(X[1000:], sensitive_features=A[1000:])
    np.testing.assert_allclose(after.sum(axis=1), 1)
    assert np.mean((y[1000:] - after[:, 1]) ** 2) < np.mean((y[1000:] - before) ** 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_that_is_proven_is_so_by_enumeration(people, weighted):
    X, y, A = people
    fitted = LogisticRegression().fit(X[:600], y[:600])
    rows = slice(600, 1000)
    weight = np.random.default_rng(2).integers(1, 5, 400) / 2 if weighted else None
    A = A[rows].assign(age=A["age"] // 10)
    # Chance is not asked, so that alpha is reached.
    model = SubgroupCalibrator(fitted, cv="prefit", alpha=0.005, level=1, min_group_size=1)
    model.fit(X[rows], y[rows], sensitive_features=A, sample_weight=weight)
    assert model.patches_.standing.is_proven
    attributes = {name: A[name].tolist() for name in A}
    given = {"attributes": attributes, "weight": weight}
    before = fitted.predict_proba(X[rows])[:, 1]
    assert worst_of_all(y[rows], before, **given) > 0.02
    patched = model.predict_proba(X[rows], sensitive_features=A)[:, 1]
    worst = worst_of_all(y[rows], patched, **given)
    assert worst <= 0.005
    assert worst == pytest.approx(model.patches_.standing.upper_bound, abs=1e-12)


def test_columns_of_x_may_be_protected(people):
    X, y, A = people
    both = pd.concat([X, A], axis=1)
    numbers = make_pipeline(_Columns(["log_odds", "a", "b"]), LogisticRegression())
    apart = SubgroupCalibrator(LogisticRegression(), **QUICK).fit(X, y, sensitive_features=A)
    named = SubgroupCalibrator(numbers, **QUICK).fit(both, y, sensitive_features=list(A))
    assert named.patches_ == apart.patches_
    expected = apart.predict_proba(X, sensitive_features=A)
    np.testing.assert_array_equal(named.predict_proba(both), expected)
    np.testing.assert_array_equal(named.predict_proba(both, sensitive_features=A), expected)
    frame = pl.from_pandas(both)
    np.testing.assert_array_equal(named.predict_proba(frame), expected)
    with pytest.raises(ValueError, match=r"sensitive_features were passed to fit apart from X"):
        apart.predict_proba(X)
    with pytest.raises(ValueError, match=r"sensitive_features has no column 'sex'"):
        apart.predict(X, sensitive_features=A.drop(columns="sex"))


class _Columns:
    """The columns of a frame of any library, as an array."""

    def __init__(self, names):
        self.names = names

    def fit(self, X, y=None):
        return self

    def fit_transform(self, X, y=None):
        return self.transform(X)

    def transform(self, X):
        return X[self.names].to_numpy()

    def get_params(self, deep=True):
        return {"names": self.names}

    def __sklearn_tags__(self):
        return StandardScaler().__sklearn_tags__()


def test_without_attributes_every_column_is_one(people):
    X, y, _ = people
    model = SubgroupCalibrator(**QUICK)
    with pytest.warns(UserWarning, match="every column of X is taken as a protected attribute"):
        model.fit(X, y)
    assert list(model.patches_.attributes) == ["log_odds", "a", "b"]
    given = SubgroupCalibrator(**QUICK).fit(X, y, sensitive_features=X)
    np.testing.assert_array_equal(
        model.predict_proba(X), given.predict_proba(X, sensitive_features=X)
    )


def test_a_regressor_predicts_numbers(people):
    X, _, A = people
    rng = np.random.default_rng(0)
    group = ((A["sex"] == "F") & (A["town"] == "A")).to_numpy()
    y = 20 + 3 * X["log_odds"].to_numpy() + 4 * group + rng.normal(0, 1, len(X))
    model = SubgroupCalibrator(LinearRegression())
    assert is_regressor(model)
    assert not hasattr(model, "predict_proba")
    model.fit(X, y, sensitive_features=A)
    off = y - model.estimator_.predict(X)
    left = y - model.predict(X, sensitive_features=A)
    assert abs(off[group].mean()) > 2
    assert abs(left[group].mean()) < 0.4
    plain = model.estimator_.score(X, y)
    assert model.score(X, y, sensitive_features=A) > plain


def test_a_classifier_predicts_its_own_labels(people):
    X, y, A = people
    labels = np.where(y == 1, "yes", "no")
    model = SubgroupCalibrator(**QUICK).fit(X, labels, sensitive_features=A)
    assert is_classifier(model)
    assert model.classes_.tolist() == ["no", "yes"]
    p = model.predict_proba(X, sensitive_features=A)[:, 1]
    predicted = model.predict(X, sensitive_features=A)
    np.testing.assert_array_equal(predicted, np.where(p > 0.5, "yes", "no"))
    assert model.score(X, labels, sensitive_features=A) == np.mean(predicted == labels)


def test_patches_are_undone_one_by_one(people):
    X, y, A = people
    model = SubgroupCalibrator(level=1, max_patches=4).fit(X, y, sensitive_features=A)
    n = len(model.patches_)
    assert n == 4
    base = model.estimator_.predict_proba(X)[:, 1]
    for k in range(n + 1):
        undone = model.undo(k)
        assert len(undone.patches_) == n - k
        np.testing.assert_array_equal(
            undone.predict_proba(X, sensitive_features=A)[:, 1],
            model.patches_[: n - k].apply(base, A),
        )
    np.testing.assert_array_equal(model.undo(n).predict_proba(X, sensitive_features=A)[:, 1], base)
    assert len(model.patches_) == n
    with pytest.raises(ValueError, match=f"n must be a number of patches from 0 to {n}; got 99"):
        model.undo(99)


def test_the_same_seed_makes_the_same_patches(people):
    X, y, A = people
    model = SubgroupCalibrator(random_state=5, **QUICK)
    first = model.fit(X, y, sensitive_features=A).patches_
    assert clone(model).fit(X, y, sensitive_features=A).patches_ == first
    drawn = SubgroupCalibrator(random_state=np.random.RandomState(5), **QUICK)
    assert drawn.fit(X, y, sensitive_features=A).patches_.standing.settings["random_state"] != 5


def test_weights_reach_the_estimator_and_the_patches(people):
    X, y, A = people
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
    model = SubgroupCalibrator(**QUICK)
    model.fit(X, y, sensitive_features=A, sample_weight=weight)
    alone = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.estimator_.coef_, alone.coef_)
    unweighted = SubgroupCalibrator(**QUICK).fit(X, y, sensitive_features=A)
    assert model.patches_ != unweighted.patches_
    pipeline = SubgroupCalibrator(make_pipeline(StandardScaler(), LogisticRegression()), **QUICK)
    with pytest.warns(UserWarning, match="fit of Pipeline takes no sample_weight"):
        pipeline.fit(X, y, sensitive_features=A, sample_weight=weight)


def test_attributes_are_routed_by_a_search(people):
    X, y, A = people
    with config_context(enable_metadata_routing=True):
        model = SubgroupCalibrator(LogisticRegression(), **QUICK)
        model.set_fit_request(sensitive_features=True, sample_weight=False)
        model.set_score_request(sensitive_features=True, sample_weight=False)
        search = GridSearchCV(model, {"estimator__C": [0.1, 1.0]}, cv=3)
        search.fit(X, y, sensitive_features=A)
        assert search.best_estimator_.patches_.attributes.keys() == set(A)
        assert search.best_score_ > 0.5


def test_missing_features_are_the_estimators_business(people):
    X, y, A = people
    holes = X.copy()
    holes.iloc[::7, 1] = np.nan
    model = SubgroupCalibrator(HistGradientBoostingClassifier(max_iter=5), cv=3, **QUICK)
    model.fit(holes, y, sensitive_features=A)
    assert np.isfinite(model.predict_proba(holes, sensitive_features=A)).all()


def test_it_has_to_be_fitted(people):
    X, _, A = people
    with pytest.raises(NotFittedError):
        SubgroupCalibrator().predict(X, sensitive_features=A)
    with pytest.raises(NotFittedError):
        SubgroupCalibrator().undo()
    with pytest.raises(NotFittedError):
        SubgroupCalibrator(LogisticRegression(), cv="prefit").fit(
            X, [0, 1] * 750, sensitive_features=A
        )


def test_rows_may_be_texts():
    """What the estimator takes is for it to say."""
    texts = ["old and grey", "young and new"] * 60
    y = [0, 0, 0, 1, 1, 0] * 20
    model = SubgroupCalibrator(
        make_pipeline(CountVectorizer(), LogisticRegression()), n_draws=19, subgroups="marginals"
    )
    model.fit(texts, y, sensitive_features={"sex": ["F", "M"] * 60})
    assert model.predict(texts[:2], sensitive_features={"sex": ["F", "M"]}).shape == (2,)
