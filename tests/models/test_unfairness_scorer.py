"""unfairness_scorer() against an audit of each fold, and against rates counted by hand."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gerrymend import SubgroupParityClassifier, audit, unfairness_scorer
from tests.all_rounds import MAY_EXCEED_GAMMA

RNG = np.random.default_rng(0)
N = 600
X = pd.DataFrame(
    {
        "sex": RNG.integers(0, 2, N),
        "age": RNG.integers(18, 80, N),
        "x": RNG.normal(size=N),
    }
)
Y = ((X["x"] + (X["sex"] == 1) * (X["age"] > 50) + RNG.normal(size=N)) > 0.5).astype(int)
A = X[["sex", "age"]]
FOLDS = KFold(3)
QUICK = {"subgroups": "conjunctions", "notion": "statistical_parity"}


def by_hand(decided, sex):
    """The largest unfairness of the two sexes: share of all rows × gap of the rates."""
    return max(abs((decided[sex == s] - decided.mean()).sum()) / len(decided) for s in (0, 1))


def test_each_fold_has_the_unfairness_that_is_counted_by_hand():
    scorer = unfairness_scorer(["sex"], notion="statistical_parity", subgroups="marginals")
    found = cross_validate(LogisticRegression(), X, Y, cv=FOLDS, scoring=scorer)["test_score"]
    for score, (train, test) in zip(found, FOLDS.split(X), strict=True):
        model = LogisticRegression().fit(X.iloc[train], Y.iloc[train])
        decided = model.predict(X.iloc[test])
        assert score == pytest.approx(-by_hand(decided, X["sex"].to_numpy()[test]), abs=1e-12)
    assert (found < 0).all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_each_fold_has_the_unfairness_of_its_audit(kind):
    rows = {"pandas": X, "polars": pl.from_pandas(X), "array": X.to_numpy()}[kind]
    columns = [0, 1] if kind == "array" else ["sex", "age"]
    scorer = unfairness_scorer(columns, **QUICK)
    found = cross_validate(
        LogisticRegression(), rows, Y, cv=FOLDS, scoring={"fair": scorer, "right": "accuracy"}
    )
    for score, (train, test) in zip(found["test_fair"], FOLDS.split(X), strict=True):
        decided = (
            LogisticRegression().fit(X.to_numpy()[train], Y[train]).predict(X.to_numpy()[test])
        )
        report = audit(Y.to_numpy()[test], decided, sensitive_features=A.iloc[test], **QUICK)
        assert score == -report.unfairness
    assert {"test_fair", "test_right"} <= found.keys()


def test_a_search_chooses_by_it():
    scorer = unfairness_scorer(["sex", "age"], **QUICK)
    grid = {"logisticregression__C": [1e-6, 1.0]}
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(model, grid, scoring=scorer, cv=FOLDS).fit(X, Y)
    # So strong a penalty decides all alike, which is fair.
    assert search.best_params_ == {"logisticregression__C": 1e-6}
    assert search.best_score_ > search.cv_results_["mean_test_score"][1]


@MAY_EXCEED_GAMMA
def test_protected_attributes_by_metadata_routing():
    """They are no part of X, and reach the fit and the scorer of each fold."""
    apart = X[["x"]]
    weight = RNG.integers(1, 4, N)
    with config_context(enable_metadata_routing=True):
        fair = SubgroupParityClassifier(
            LinearRegression(), gamma=0.02, max_iter=5, tol=None, random_state=0, **QUICK
        ).set_fit_request(sensitive_features=True)
        scorer = unfairness_scorer(**QUICK).set_score_request(sample_weight="audited_weight")
        params = {"sensitive_features": A, "audited_weight": weight}
        found = cross_validate(fair, apart, Y, cv=FOLDS, scoring=scorer, params=params)
        alone = cross_validate(LogisticRegression(), apart, Y, cv=FOLDS, params=params,
                               scoring={"fair": scorer})["test_fair"]  # fmt: skip
    for i, (train, test) in enumerate(FOLDS.split(X)):
        how = {"sensitive_features": A.iloc[test], "sample_weight": weight[test], **QUICK}
        model = clone(fair).fit(apart.iloc[train], Y.iloc[train], sensitive_features=A.iloc[train])
        p = model.predict_proba(apart.iloc[test])[:, 1]
        of_mixture = audit(Y.iloc[test], p, decision_probabilities=True, **how)
        assert found["test_score"][i] == -of_mixture.unfairness
        plain = LogisticRegression().fit(apart.iloc[train], Y.iloc[train])
        decided = plain.predict(apart.iloc[test])
        assert alone[i] == -audit(Y.iloc[test], decided, **how).unfairness


@MAY_EXCEED_GAMMA
def test_a_mixture_is_scored_by_its_probabilities_also_at_the_end_of_a_pipeline():
    fair = SubgroupParityClassifier(LinearRegression(), max_iter=5, tol=None, random_state=0)
    model = make_pipeline(StandardScaler(), fair)
    model.fit(X, Y, subgroupparityclassifier__sensitive_features=A)
    scorer = unfairness_scorer(["sex", "age"], **QUICK)
    p = model.predict_proba(X)[:, 1]
    report = audit(Y, p, sensitive_features=A, decision_probabilities=True, **QUICK)
    assert scorer(model, X, Y) == -report.unfairness
    again = pickle.loads(pickle.dumps(scorer))
    assert again(model, X, Y) == -report.unfairness


def test_thresholds_and_notions_of_scores_take_probabilities():
    model = LogisticRegression().fit(X, Y)
    p = model.predict_proba(X)[:, 1]
    cut = unfairness_scorer(["sex"], threshold=0.3, subgroups="marginals")
    report = audit(Y, (p >= 0.3).astype(int), sensitive_features=X[["sex"]], subgroups="marginals")
    assert cut(model, X, Y) == -report.unfairness
    right = {"notion": "multiaccuracy", "subgroups": "marginals"}
    report = audit(Y, p, sensitive_features=X[["sex"]], **right)
    assert unfairness_scorer(["sex"], **right)(model, X, Y) == -report.unfairness


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": "sex"}, r"columns must be a list of the protected columns of X; got 'sex'"),
        ({"columns": []}, r"columns must be a list of the protected columns of X; got \[\]"),
        ({"columns": np.array(0)}, r"columns must be a list of the protected columns of X"),
        ({"notion": "fpr"}, "notion='fpr' is unknown"),
        ({"budget": 0}, "budget must be a number above 0; got 0"),
        ({"subgroups": "lineer"}, "did you mean"),
        ({"side": "disadvantaged", "notion": "statistical_parity"}, "favourable"),
    ],
)
def test_bad_settings_are_refused_before_a_search_begins(given, message):
    """In a search an error of a scorer would be a score of nan."""
    with pytest.raises((TypeError, ValueError), match=message):
        unfairness_scorer(**given)


def test_what_is_not_there_is_said():
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match=r"columns \['race'\] can't be taken from X"):
        unfairness_scorer(["race"])(model, X, Y)
    with pytest.raises(
        ValueError, match=r"columns \['sex'\] can't be taken from X: .*counted from"
    ):
        unfairness_scorer(["sex"])(model, X.to_numpy(), Y)
    with pytest.raises(ValueError, match="sensitive_features did not reach the scorer"):
        unfairness_scorer()(model, X, Y)
    three = LogisticRegression().fit(X, pd.cut(X["x"], 3, labels=False))
    with pytest.raises(ValueError, match="pos_label says which of the 3 classes is scored"):
        unfairness_scorer(["sex"], threshold=0.5)(three, X, pd.cut(X["x"], 3, labels=False))
