"""Fits that are cut short: some rows, classifiers, what stops them, and what must be the same."""

import numpy as np
import pandas as pd
import pytest

from gerrymend import LinearThresholds, MarginalParityClassifier, SubgroupParityClassifier
from gerrymend.datasets import make_intersectional
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import EstimatorLearner, LinearLearner
from gerrymend.solvers.regression.cell_rows import CellRows

DATA = make_intersectional(300, random_state=0)
X, Y, A = DATA.data, DATA.target, pd.DataFrame(DATA.sensitive_features)
ROUNDS = 14

FITS = [
    (learner, name)
    for learner in (LinearLearner, EstimatorLearner)
    for name in ("best_response", "answers")
] + [(CellRows, "decide")]
AUDITS = [(Auditor, "worst"), (CellRows, "find")]


def classifier(estimator, solver="exponentiated_gradient", kind=None, **parameters):
    if kind is None:
        listed = solver == "multiplicative_weights"
        kind = MarginalParityClassifier if listed else SubgroupParityClassifier
    given = {"gamma": 0.005, "max_iter": ROUNDS, "tol": None, "random_state": 0}
    if kind is SubgroupParityClassifier:
        given["subgroups"] = LinearThresholds(search="regression")
    return kind(estimator, solver=solver, **given | parameters)


def fit(model, **data):
    return model.fit(**{"X": X, "y": Y, "sensitive_features": A} | data)


def assert_same(one, other, features=X):
    """All that a user can see of a model, to the last bit."""
    np.testing.assert_array_equal(one.predict_proba(features), other.predict_proba(features))
    np.testing.assert_array_equal(one.weights_, other.weights_)
    assert len(one.predictors_) == len(other.predictors_)
    for name in ("round", "error", "unfairness"):
        np.testing.assert_array_equal(one.history_[name], other.history_[name])
    assert list(map(str, one.history_["subgroup"])) == list(map(str, other.history_["subgroup"]))
    for name in ("gap_", "upper_bound_", "certified_", "n_iter_"):
        assert getattr(one, name) == getattr(other, name)
    assert one.worst_subgroup_.to_dict() == other.worst_subgroup_.to_dict()


class Stopping:
    """Raises when one of some methods is called for the k-th time; then they are as before."""

    def __init__(self, k, *methods, error=KeyboardInterrupt):
        self._left, self._methods, self._error = k, methods, error

    def __enter__(self):
        self._patch = pytest.MonkeyPatch()
        for owner, name in self._methods:
            self._patch.setattr(owner, name, self._counting(getattr(owner, name)))

    def __exit__(self, *_):
        self._patch.undo()

    def _counting(self, method):
        def counted(*args, **options):
            self._left -= 1
            if self._left == 0:
                raise self._error
            return method(*args, **options)

        return counted
