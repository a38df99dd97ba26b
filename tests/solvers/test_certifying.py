"""Certified mixtures, against the checker that shares nothing with the provers; and warm starts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from gerrymend import SubgroupParityClassifier, audit
from gerrymend.datasets import make_intersectional
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.checking import assert_checked
from tests.marks import slow


@pytest.fixture
def small():
    """Few enough distinct protected rows for the checker to list every linear threshold."""
    rng = np.random.default_rng(0)
    n = 400
    protected = pd.DataFrame(
        {
            "race": rng.choice(["blue", "green"], n),
            "sex": rng.choice(["F", "M"], n),
            "decade": rng.integers(2, 7, n),
        }
    )
    X = rng.standard_normal((n, 3))
    X[:, 0] += 1.5 * ((protected["race"] == "blue") & (protected["sex"] == "M"))
    y = (X[:, 0] + X[:, 1] + rng.standard_normal(n) > 0.7).astype(int)
    return X, y, protected


NOTIONS = ["false_positive_rate", "equalized_odds", "statistical_parity"]
# Every class by two notions at once, every notion by thresholds; `make test-slow` has all.
CERTIFIED = [
    (pytest.param if subgroups == "linear" or notion == "equalized_odds" else slow)(
        subgroups, notion
    )
    for subgroups in ("linear", "conjunctions", "trees", "value_sets")
    for notion in NOTIONS
]


@pytest.mark.parametrize(("subgroups", "notion"), CERTIFIED)
def test_a_certificate_holds_by_the_checker(small, notion, subgroups):
    X, y, protected = small
    if subgroups == "value_sets":
        protected = protected[["race", "sex"]]
    clf = SubgroupParityClassifier(
        LogisticRegression(), gamma=0.015, notion=notion, subgroups=subgroups, certify=True,
        max_iter=40, random_state=0,
    )  # fmt: skip
    clf.fit(X, y, sensitive_features=protected)
    assert clf.certified_
    assert clf.upper_bound_ <= 0.015 + 1e-9
    assert 0 < clf.predict_proba(X)[:, 1].mean() < 1, "a constant proves nothing"
    data = {"sensitive_features": protected, "decision_probabilities": True}
    p = clf.predict_proba(X)[:, 1]
    report = audit(y, p, notion=notion, subgroups=subgroups, **data)
    assert_checked(report, y, p, bound=True, **data)
    assert report.upper_bound <= clf.upper_bound_ + 1e-9


def test_a_budget_that_ends_leaves_an_honest_bound(small):
    X, y, _protected = small
    numbers = np.random.default_rng(1).standard_normal((len(y), 6))
    clf = SubgroupParityClassifier(gamma=0.004, certify=True, budget=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"budget ended before a proof.*none exceeds"):
        clf.fit(X, y, sensitive_features=numbers)
    assert not clf.certified_
    assert clf.upper_bound_ > 0.004
    found = audit(y, clf.predict_proba(X)[:, 1], sensitive_features=numbers, budget=2,
                  decision_probabilities=True).unfairness  # fmt: skip
    assert found <= clf.upper_bound_ + 1e-9


def test_at_gamma_0_only_a_constant_is_certain(small):
    X, y, protected = small
    clf = SubgroupParityClassifier(gamma=0.0, certify=True, max_iter=5, random_state=0)
    clf.fit(X, y, sensitive_features=protected)
    assert clf.certified_
    assert clf.upper_bound_ == pytest.approx(0.0, abs=1e-12)
    assert len(np.unique(clf.predict(X))) == 1


@MAY_EXCEED_GAMMA
def test_other_solvers_can_not_certify(small):
    X, y, protected = small
    for asked in ({"certify": True}, {"warm_start": True}):
        clf = SubgroupParityClassifier(
            LinearRegression(), solver="fictitious_play", max_iter=2, tol=None
        )
        clf.fit(X, y, sensitive_features=protected)
        with pytest.raises(ValueError, match=r"needs solver='exponentiated_gradient'"):
            clf.set_params(**asked).fit(X, y, sensitive_features=protected)


@pytest.mark.parametrize("value", [0, -1, "long", np.nan])
def test_a_budget_is_a_number_of_seconds(small, value):
    X, y, protected = small
    with pytest.raises((ValueError, TypeError), match="budget"):
        SubgroupParityClassifier(budget=value).fit(X, y, sensitive_features=protected)


@pytest.mark.parametrize("estimator", [LinearRegression(), DecisionTreeClassifier(max_depth=3)])
def test_a_warm_start_begins_where_the_last_fit_ended(small, estimator):
    X, y, protected = small
    clf = SubgroupParityClassifier(
        estimator, gamma=0.01, subgroups="conjunctions", warm_start=True, max_iter=40, tol=None,
        random_state=0,
    )  # fmt: skip
    first = clf.fit(X, y, sensitive_features=protected).history_
    again = clf.set_params(max_iter=1).fit(X, y, sensitive_features=protected).history_
    cold = clf.set_params(warm_start=False).fit(X, y, sensitive_features=protected).history_
    worth = [h["error"][-1] + 10 * max(0, h["unfairness"][-1] - 0.01) for h in (first, again, cold)]
    assert worth[1] <= worth[0] + 0.005
    assert worth[1] < worth[2]


def test_a_warm_start_needs_the_same_columns(small):
    X, y, protected = small
    clf = SubgroupParityClassifier(warm_start=True, max_iter=1, tol=None)
    clf.fit(X, y, sensitive_features=protected)
    with pytest.raises(ValueError, match="whose X had 3 columns; X has 2"):
        clf.fit(X[:, :2], y, sensitive_features=protected)


def test_what_is_reported_after_an_ended_budget_is_what_was_found():
    data = make_intersectional(600, random_state=0)
    X, y, protected = data.data, data.target, data.sensitive_features
    notions = ("false_positive_rate", "false_negative_rate", "error_rate")
    clf = SubgroupParityClassifier(
        DecisionTreeClassifier(max_depth=4), notion=notions, gamma=0.001, certify=True,
        subgroups="conjunctions", budget=1e-6, max_iter=3, random_state=0,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="budget ended before a proof"):
        clf.fit(X, y, sensitive_features=protected)
    truth = audit(y, clf.predict_proba(X)[:, 1], sensitive_features=protected, notion=notions,
                  subgroups="conjunctions", decision_probabilities=True).unfairness  # fmt: skip
    assert clf.history_["unfairness"][-1] == pytest.approx(truth, abs=1e-9)
    assert truth <= clf.upper_bound_ + 1e-9


class Deaf(DecisionTreeClassifier):
    """Takes weights and ignores them."""

    def fit(self, X, y, sample_weight=None):
        """Fit without them."""
        return super().fit(X, y)


def test_an_estimator_that_ignores_weights_is_refused(small):
    X, y, protected = small
    with pytest.raises(TypeError, match="takes sample_weight in fit and ignores it"):
        SubgroupParityClassifier(Deaf()).fit(X, y, sensitive_features=protected)


@pytest.mark.parametrize(
    "estimator", [DecisionTreeClassifier(max_depth=4), GaussianNB(), RidgeClassifier()], ids=repr
)
def test_any_estimator_comes_within_gamma(small, estimator):
    X, y, protected = small
    clf = SubgroupParityClassifier(estimator, gamma=0.01, max_iter=24, tol=None, random_state=0)
    clf.fit(X, y, sensitive_features=protected)
    assert clf.history_["unfairness"][-1] <= 0.0105
    plain = 1 - estimator.fit(X, y).score(X, y)
    assert clf.history_["error"][-1] <= plain + 0.08
