"""Bad input gets an error that names the argument, the value got and the remedy."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from gerrymend import SubgroupCalibrator, calibrate
from gerrymend._runtime.errors import ArgumentError
from tests.calibration.made import made_scores

Y, SCORE, A = made_scores(120, seed=30)
FEW = {"n_draws": 19, "subgroups": "marginals"}


def called(**changes):
    given = {"y_true": Y, "y_pred": SCORE, "sensitive_features": A, **FEW} | changes
    return calibrate(given.pop("y_true"), given.pop("y_pred"), **given)


BAD = [
    ({"y_pred": SCORE * 3}, "y_pred", r"scores outside of \[0, 1\], such as"),
    ({"y_pred": np.full(120, 0.3)}, "y_pred", "is 0.3 in every row: a score that is constant"),
    ({"y_pred": SCORE[:-1]}, "y_pred", "differ in their number of rows"),
    ({"y_true": Y[:-2]}, "y_true", "differ in their number of rows"),
    ({"sensitive_features": A[:-1]}, "sensitive_features", "differ in their number of rows"),
    ({"y_pred": np.where(SCORE < 0.2, np.nan, SCORE)}, "y_pred", "missing values"),
    ({"y_true": np.where(Y == 1, np.nan, Y)}, "y_true", "missing values"),
    ({"y_true": np.ones(120)}, "y_true", "has only one class"),
    ({"y_true": ["a", "b", "c"] * 40}, "y_true", "3 classes"),
    ({"sample_weight": -np.ones(120)}, "sample_weight", "negative"),
    ({"alpha": 0.001}, "alpha", "is below what a single row makes: of 120 rows one is 0.00833"),
    ({"alpha": 0}, "alpha", "must be a number above 0"),
    ({"alpha": "small"}, "alpha", "must be a number above 0; got 'small'"),
    ({"level": 0}, "level", "must be a number above 0"),
    ({"level": 1.5}, "level", "must be at most 1; got 1.5"),
    ({"level": 5e-324}, "level", "must be at least 1.2e-16; got 5e-324"),
    ({"level": 0.03, "n_draws": 32}, "n_draws", "must be at least 33: of 32 draws none"),
    ({"n_draws": 0}, "n_draws", "must be a number of at least 1"),
    ({"n_draws": 18}, "n_draws", "must be at least 19: of 18 draws none can be above"),
    ({"max_patches": -1}, "max_patches", "must be a number of at least 0"),
    ({"max_patches": 2.5}, "max_patches", "must be a whole number"),
    ({"min_group_size": 0}, "min_group_size", "must be a number of at least 1"),
    ({"budget": 0}, "budget", "must be a number above 0"),
    ({"random_state": -1}, "random_state", "must be a number of at least 0"),
    ({"notion": "false_positive_rate"}, "notion", "is not of scores; choose from multiaccuracy"),
    ({"notion": "multicalibraton"}, "notion", "did you mean 'multicalibration'"),
    ({"subgroups": "all"}, "subgroups", "is unknown"),
    ({"on_step": 3}, "on_step", "must be a function"),
    ({"y_pred": "p"}, "y_pred", "is 'p', and data is not given"),
]


@pytest.mark.parametrize(("changes", "argument", "words"), BAD)
def test_errors_name_the_argument_and_a_remedy(changes, argument, words):
    with pytest.raises(ArgumentError, match=words) as raised:
        called(**changes)
    assert raised.value.argument == argument


def test_constant_scores_can_be_right_on_average():
    patches = called(y_pred=np.full(120, 0.05), notion="multiaccuracy")
    assert len(patches)


@pytest.mark.parametrize(
    ("scores", "attributes", "words"),
    [
        (SCORE[:5] + 1, A[:5], r"scores has 5 scores outside of \[0, 1\], such as"),
        (SCORE[:5], A[:4], "differ in their number of rows"),
        ([np.nan] * 5, A[:5], "scores has 5 missing values"),
        (SCORE[:5], A[:5].drop(columns="age"), "has no column 'age'"),
        (
            SCORE[:5],
            A[:5].assign(age="old"),
            "holds values of type str, and the subgroup was",
        ),
    ],
)
def test_rows_that_cannot_be_patched_are_told(scores, attributes, words):
    patches = called()
    with pytest.raises(ValueError, match=words):
        patches.apply(scores, attributes)


X = np.log(SCORE / (1 - SCORE))[:, None]


@pytest.mark.parametrize(
    ("estimator", "changes", "words"),
    [
        (LinearSVC(), {}, "has no predict_proba: there are no scores to patch"),
        (LinearSVC().fit(X, Y), {"cv": "prefit"}, "has no predict_proba"),
        (KMeans(), {}, "estimator must be a classifier or a regressor of scikit-learn"),
        (LogisticRegression, {}, "estimator must be a classifier or a regressor of scikit-learn"),
        ("logistic", {}, "estimator must be a classifier or a regressor of scikit-learn"),
        (DummyClassifier(), {"cv": "prefit"}, "not fitted"),
        (DummyClassifier().fit(X, Y), {"cv": "prefit"}, r"predict_proba\(\) of estimator is 0"),
        (LogisticRegression(), {"alpha": 0.001}, "is below what a single row makes"),
        (LogisticRegression(), {"cv": 1}, "cv must be a number of at least 2; got 1"),
        (
            LogisticRegression(),
            {"cv": 200},
            "cv must be at most .*, the number of rows of the rarer",
        ),
        (Ridge(), {"cv": 121}, "cv must be at most 120, the number of rows .*; got 121"),
        (LogisticRegression(), {"cv": []}, "cv must put every row into the test rows of one fold"),
        (
            LogisticRegression(),
            {"cv": [1]},
            r"cv can't be used to split these rows \(cannot unpack",
        ),
        (LogisticRegression(), {"cv": np.array([1, 2])}, "cv can't be used to split these rows"),
        (LogisticRegression(), {"cv": "five"}, "cv can't be used to split these rows"),
        (LogisticRegression(), {"cv": [(range(60), range(60))]}, "cv must put every row into"),
        (LogisticRegression(), {"n_jobs": 0}, "n_jobs must be a whole number of workers"),
        (LogisticRegression().fit(X, Y + 1), {"cv": "prefit"}, "y has 0, and estimator was fitted"),
        (LogisticRegression().fit(X, np.arange(120) % 3), {"cv": "prefit"}, "fitted to 3 labels"),
        (LogisticRegression(), {"level": -1}, "level must be a number above 0"),
    ],
)
def test_models_that_cannot_be_patched_are_told(estimator, changes, words):
    model = SubgroupCalibrator(estimator, **(FEW | changes))
    with pytest.raises((TypeError, ValueError), match=words):
        model.fit(X, Y, sensitive_features=A)


@pytest.mark.parametrize("weight", ["heavy", 1j, -1, np.nan, 10**400])
def test_weights_are_checked_before_a_model_is_fitted(weight):
    model = SubgroupCalibrator(**FEW)
    weights = np.array([weight] + [1] * 119, dtype=object)
    with pytest.raises(ArgumentError, match=r"^sample_weight "):
        model.fit(X, Y, sensitive_features=A, sample_weight=weights)


@pytest.mark.parametrize("table", [3, "rows", None])
def test_what_is_no_table_is_told(table):
    with pytest.raises(ArgumentError, match=r"(^|: )X "):
        SubgroupCalibrator(**FEW).fit(table, Y, sensitive_features=A)


UNREADABLE = [
    (np.array([["a"], ["b"]] * 60, dtype=object), "X has text, such as 'a'. Encode them"),
    (np.array([["a"], ["b"]] * 60), "it has <U1. Convert it to numbers yourself"),
    (np.arange(120).astype("datetime64[s]")[:, None], "it has datetime64.*Convert it"),
    (np.zeros(120, dtype="f8,f8"), ""),
    (np.zeros((120, 0)), "Found array with 0 feature"),
    (np.arange(120.0), "Expected 2D array"),
]


@pytest.mark.parametrize("estimator", [None, Ridge()])
@pytest.mark.parametrize(("table", "words"), UNREADABLE)
def test_a_table_that_the_estimator_cannot_read_is_named(estimator, table, words):
    model = SubgroupCalibrator(estimator, **FEW)
    with pytest.raises((TypeError, ValueError), match=rf"^X can't be read as .*{words}"):
        model.fit(table, Y, sensitive_features=A)
    model.fit(np.arange(120.0)[:, None], Y, sensitive_features=A)
    with pytest.raises((TypeError, ValueError), match=r"^X "):
        model.predict(table, sensitive_features=A)


class Broken(Ridge):
    """A regressor whose fit fails on its own account."""

    def fit(self, X, y, sample_weight=None):
        raise ValueError("no solver is installed")


def test_an_estimators_own_errors_pass_as_they_are():
    """So they do where it consists of others, of which one may read words."""
    coded = make_pipeline(OneHotEncoder(), Broken())
    for estimator, table in ((Broken(), Y[:, None]), (coded, UNREADABLE[0][0])):
        with pytest.raises(ValueError, match=r"^no solver is installed$"):
            SubgroupCalibrator(estimator, **FEW).fit(table, Y, sensitive_features=A)


def test_trees_without_an_attribute_that_can_be_told_of_are_refused():
    """A tree could ask for the value of two rows, by leaving out all others."""
    rare = {"job": ["cook", "nurse"] * 59 + ["abbot"] * 2}
    with pytest.raises(ArgumentError, match=r"^subgroups can't be trees: .*'value_sets'"):
        called(sensitive_features=rare, subgroups="trees", min_group_size=5)
    assert called(sensitive_features=rare, subgroups="value_sets", min_group_size=5).standing


@pytest.mark.parametrize("n", ["1", 1.5, None, np.nan, np.array([1]), True, -1, 10**30])
def test_an_odd_number_of_patches_is_not_taken_back(n):
    with pytest.raises(ArgumentError, match=r"^n must be a number of patches from 0 to"):
        called().undo(n)


def test_targets_that_cannot_be_are_told():
    model = SubgroupCalibrator(**FEW)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        model.fit(X, [0, 1, 2] * 40, sensitive_features=A)
    with pytest.raises(ValueError, match="y has 1 missing value"):
        model.fit(X, [0.0, 1.0, np.nan] + [1.0] * 117, sensitive_features=A)
    with pytest.raises(ValueError, match="y has 1 missing value"):
        SubgroupCalibrator(Ridge(), **FEW).fit(X, [np.nan, *SCORE[1:]], sensitive_features=A)
    with pytest.raises(ValueError, match="differ in their number of rows"):
        model.fit(X, Y[:-1], sensitive_features=A)
    with pytest.raises(ValueError, match="differ in their number of rows"):
        model.fit(X, Y, sensitive_features=A[:-1])


FORMS = {
    "objects": lambda y: np.array(y.tolist(), dtype=object),
    "mixed whole numbers": lambda y: [np.int8(v) if i % 2 else int(v) for i, v in enumerate(y)],
    "beyond 2^63": lambda y: [int(v) + 2**63 for v in y],
    "text": lambda y: np.array(["no", "yes"])[y].astype(np.dtypes.StringDType()),
}


@pytest.mark.parametrize("form", FORMS)
def test_labels_of_any_type_are_those_of_the_plainest(form):
    """scikit-learn's own "Unknown label type: unknown" came of objects."""
    X = np.c_[SCORE, Y + np.arange(120) / 60]
    labels = FORMS[form](np.asarray(Y))
    models = [
        SubgroupCalibrator(cv=2, **FEW, random_state=0).fit(X, y, sensitive_features=A)
        for y in (np.asarray(Y), labels)
    ]
    plain, other = (model.predict_proba(X, sensitive_features=A) for model in models)
    np.testing.assert_allclose(other, plain)
    assert models[1].score(X, labels, sensitive_features=A) == pytest.approx(
        models[0].score(X, Y, sensitive_features=A)
    )


@pytest.mark.parametrize("unit", [10**30, 0.5, 1e300, 5e-324])
def test_labels_that_classifiers_take_for_numbers_are_refused(unit):
    X = np.c_[SCORE, SCORE]
    with pytest.raises(ArgumentError, match=r"y has the labels 0.* take for numbers, or for none"):
        SubgroupCalibrator(**FEW).fit(X, [int(v) * unit for v in Y], sensitive_features=A)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"y": None}, "y must be a Series"),
        ({"y": [None] * 120}, "y has 120 missing values"),
        ({"y": Y[:5]}, "y has 5"),
        ({"y": [b"x"] * 120}, "y has labels of type bytes"),
        ({"sample_weight": "w"}, "sample_weight must be a Series"),
        ({"sample_weight": [1.0]}, "sample_weight has 1 values for 120 rows"),
    ],
)
def test_what_can_t_be_scored_is_told(how, words):
    X = np.c_[SCORE, SCORE]
    model = SubgroupCalibrator(cv=2, **FEW).fit(X, Y, sensitive_features=A)
    with pytest.raises(ArgumentError, match=words):
        model.score(X, **({"y": Y} | how), sensitive_features=A)
