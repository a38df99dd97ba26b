"""The history of a game over pools, and what it ends with, measured again from the decisions."""

import numpy as np
import pytest

from gerrymend import Conjunctions, SubgroupParityClassifier, audit
from gerrymend.notions import as_notions
from gerrymend.solvers import ExponentiatedGradient
from tests.solvers.test_known_games import NOTIONS, OTHER_NOTIONS, groups_of, make_game

GAMMAS = [0.02, 0.0, 0.005]


def worst_by_rows(notions, y, p, groups, weight):
    return max(
        abs(notion.unfairness(y, p, group, weight)) for notion in notions for group in groups
    )


@pytest.mark.parametrize("notion", [*NOTIONS, *OTHER_NOTIONS])
@pytest.mark.parametrize("tol", [2e-3, None])
def test_the_last_record_is_that_of_the_mixture(notion, tol):
    auditor, learner, y, weight, a, _ = make_game(3, notion)
    ends = ExponentiatedGradient().play(
        learner, auditor, gammas=GAMMAS, C=5.0, max_iter=40, tol=tol
    )
    for gamma, end in zip(GAMMAS, ends, strict=True):
        p = end.mixture.positive_probability(np.arange(len(y)))
        worst = worst_by_rows(as_notions(notion), y, p, groups_of(a), weight)
        assert end.gamma == gamma
        assert (np.diff(end.rounds) > 0).all()
        assert len(end.error) == len(end.unfairness) == len(end.subgroups) == len(end.rounds)
        assert end.error[-1] == pytest.approx(np.average(np.abs(y - p), weights=weight))
        assert end.unfairness[-1] == pytest.approx(worst, abs=1e-9)
        if end.worst is None:
            assert worst == pytest.approx(0.0, abs=1e-9)
        else:
            assert abs(end.worst.unfairness) == pytest.approx(worst, abs=1e-9)
            last = end.subgroups[-1].contains(a)
            assert worst_by_rows(as_notions(notion), y, p, [last], weight) == pytest.approx(worst)
        assert len(end.mixture.predictors) <= len(end.rounds) * 2 + 1


def test_every_round_is_seen_and_stands_for_a_mixture():
    auditor, learner, y, weight, a, _ = make_game(0, "false_positive_rate")
    seen = []
    (end,) = ExponentiatedGradient().play(
        learner, auditor, gammas=[0.01], C=5.0, max_iter=25, tol=None, on_round=seen.append
    )
    assert [one.number for one in seen] == list(range(1, 26))
    assert end.n_rounds == 25
    for one in seen:
        p = one.votes[0] / one.number / weight
        assert one.error[0] == pytest.approx(np.average(np.abs(y - p), weights=weight))
        # Between two looks of the Auditor the mixture stands with what was known of it.
        worst = worst_by_rows(as_notions("false_positive_rate"), y, p, groups_of(a), weight)
        assert one.unfairness[0] <= worst + 1e-9


def test_a_classifiers_history_ends_with_its_mixture(toy):
    X, y, protected = toy
    clf = SubgroupParityClassifier(
        gamma=0.005, tol=None, subgroups=Conjunctions(max_depth=2), random_state=0
    )
    clf.fit(X, y, sensitive_features=protected)
    p = clf.predict_proba(X)[:, 1]
    assert (np.diff(clf.history_["round"]) > 0).all()
    assert clf.history_["error"][-1] == pytest.approx(np.abs(y - p).mean(), abs=1e-9)
    report = audit(
        y, p, sensitive_features=protected, subgroups=clf.subgroups, decision_probabilities=True
    )
    assert clf.history_["unfairness"][-1] == pytest.approx(report.unfairness, abs=1e-9)
