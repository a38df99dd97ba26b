"""A fit reports what an audit of it finds: the last look is by the search of `audit`."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from gerrymend import SubgroupParityClassifier, audit
from tests.conftest import load_paper

ROUNDING = 1e-9


def made(seed, n_rows=400):
    """People of two numeric and two categorical attributes, whose label depends on all of them."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 70, n_rows), rng.integers(0, 12, n_rows)
    race, sex = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    attributes = {
        "age": age.astype(float),
        "income": income.astype(float),
        "race": np.array(["blue", "green", "red"])[race],
        "sex": np.array(["F", "M"])[sex],
    }
    X = np.column_stack([age / 20, income / 5, race == 1, sex, rng.normal(size=(n_rows, 3))])
    y = (X @ [1.0, -0.7, 0.9, 0.8, 1.0, 0.5, 0.0] + rng.logistic(size=n_rows) > 2).astype(int)
    return X, y, attributes


def fitted(X, y, attributes, **settings):
    """A fit, its unfairness as reported, and as audited by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the error, and of what it says
        clf = SubgroupParityClassifier(random_state=0, **settings)
        clf.fit(X, y, sensitive_features=attributes)
    like = {name: settings[name] for name in ("notion", "subgroups") if name in settings}
    report = audit(
        y, clf.predict_proba(X)[:, 1], sensitive_features=attributes, decision_probabilities=True,
        gamma=settings["gamma"], **like,
    )  # fmt: skip
    return clf, clf.history_["unfairness"][-1], report


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"notion": "equalized_odds"},
        {"notion": "statistical_parity"},
        {"subgroups": "conjunctions"},
        {"subgroups": "trees"},
        {"subgroups": "marginals"},
    ],
    ids=str,
)
def test_an_audit_finds_no_more_than_the_fit_reported(settings):
    clf, reported, report = fitted(*made(seed=1), gamma=0.01, max_iter=25, **settings)
    assert report.unfairness <= reported + ROUNDING
    assert abs(clf.worst_subgroup_.unfairness) == pytest.approx(reported, abs=1e-6)


def test_law_school_is_within_gamma_when_audited():
    X, y, attributes = load_paper("lawschool")
    _, reported, report = fitted(StandardScaler().fit_transform(X), y, attributes, gamma=0.005)
    assert report.exact
    assert report.unfairness == pytest.approx(reported, abs=ROUNDING)
    assert reported <= 0.005 + ROUNDING
