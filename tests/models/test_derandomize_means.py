"""Deterministic classifiers that are chosen for a mean of numbers, against every candidate."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import OutcomeNotion, SubgroupParityClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(3)
N = 300
SEX = RNG.choice(["F", "M"], N)
TOWN = RNG.choice(["Au", "Ulm", "Wien"], N)
JOB = RNG.choice(["cook", "judge"], N)
X = np.c_[RNG.normal(size=N) + 0.6 * (SEX == "F"), RNG.normal(size=N), JOB == "cook"].astype(float)
Y = (X[:, 0] + 0.4 * X[:, 1] + RNG.normal(size=N) > 0.3).astype(int)
AMOUNT = np.round(RNG.gamma(2, 50, N), 2)
WEIGHT = RNG.integers(1, 4, N).astype(float)
A = {"sex": SEX, "town": TOWN}
PAY = OutcomeNotion("payment", lambda y, p: AMOUNT * p, reads_labels=False, unit="EUR")
LATE = OutcomeNotion(
    "shortfall", lambda y, p: AMOUNT * (y - p), event=lambda y, p: y == 1, unit="EUR"
)
OUTCOMES = {
    "payment": lambda d: (AMOUNT * d, Y >= 0),
    "shortfall": lambda d: (AMOUNT * (Y - d), Y == 1),
    "mean_error": lambda d: (Y - d, Y >= 0),
    "absolute_error": lambda d: (abs(Y - d), Y >= 0),
}


def unfairness(name, decisions, weight, strata):
    """Return the largest unfairness over all conjunctions of two conditions, row by row."""
    u, counts = OUTCOMES[name](decisions)
    off = np.zeros(N)
    for stratum in np.unique(strata):
        inside = counts & (strata == stratum)
        off[inside] = u[inside] - np.average(u[inside], weights=weight[inside])
    values = [[np.ones(N, bool), *(column == one for one in np.unique(column))]
              for column in A.values()]  # fmt: skip
    groups = [first & second for first, second in itertools.product(*values)]
    return max(abs((weight * off)[group].sum()) for group in groups) / weight.sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("controlled", [False, True])
@pytest.mark.parametrize(
    "notion",
    [PAY, LATE, "mean_error", "absolute_error"],
    ids=["payment", "shortfall", "mean_error", "absolute_error"],
)
def test_the_choice_is_the_best_of_all_candidates(notion, controlled, weighted):
    name = notion if isinstance(notion, str) else notion.name
    scale = 1.0 if isinstance(notion, str) else 100.0
    weight = WEIGHT if weighted else np.ones(N)
    strata = JOB if controlled else np.zeros(N)
    rows = {"sensitive_features": A, "sample_weight": WEIGHT if weighted else None,
            "control_features": {"job": JOB} if controlled else None}  # fmt: skip
    clf = SubgroupParityClassifier(
        LinearRegression(), notion=notion, gamma=0.005 * scale, subgroups="conjunctions",
        max_iter=40, random_state=0,
    )  # fmt: skip
    mixture = clf.fit(X, Y, **rows).mixture_
    p = mixture.predict_proba(X)[:, 1]
    cuts = np.unique(p)
    decisions = [one.decide(X) for one in mixture.predictors_]
    decisions += [p >= cut for cut in (cuts[:-1] + cuts[1:]) / 2]
    tried = [
        (np.average(d != Y, weights=weight), unfairness(name, d.astype(float), weight, strata))
        for d in decisions
        if 0 < d.mean() < 1
    ]
    least = min(found for _, found in tried)
    for gamma in (least * 1.001, 0.03 * scale):
        if not any(found <= gamma for _, found in tried):
            continue
        fixed = mixture.derandomize(
            X, Y, **rows, gamma=gamma, notion=notion, subgroups="conjunctions"
        )
        decided = fixed.predict_proba(X)[:, 1]
        assert set(decided.tolist()) <= {0.0, 1.0}
        own = unfairness(name, decided, weight, strata)
        assert own <= gamma + 1e-9
        assert fixed.cost.deterministic.unfairness == pytest.approx(own, abs=1e-9 * scale)
        best = min(error for error, found in tried if found <= gamma)
        assert fixed.cost.deterministic.error == pytest.approx(best, abs=1e-12)
        of_mixture = unfairness(name, p, weight, strata)
        assert fixed.cost.mixture.unfairness == pytest.approx(of_mixture, abs=1e-9 * scale)
    with pytest.raises(ValueError, match="No deterministic classifier"):
        mixture.derandomize(
            X, Y, **rows, gamma=least * 0.99, notion=notion, subgroups="conjunctions"
        )


def test_what_can_not_be_is_refused():
    clf = SubgroupParityClassifier(LinearRegression(), subgroups="marginals", max_iter=10)
    rows = {"sensitive_features": A, "subgroups": "marginals", "gamma": 0.1}
    mixture = clf.fit(X, Y, sensitive_features=A).mixture_
    with pytest.raises(ValueError, match="'squared_error' is not linear in decisions"):
        mixture.derandomize(X, Y, **rows, notion="squared_error")
    with pytest.raises(ValueError, match="compares the payment with 3"):
        mixture.derandomize(X, Y, **rows, notion=PAY.against(3))
    named = clf.fit(X, np.where(Y, "yes", "no"), sensitive_features=A).mixture_
    with pytest.raises(ValueError, match=r"y has the labels 'no' and 'yes', .* code them as"):
        named.derandomize(X, np.where(Y, "yes", "no"), **rows, notion="mean_error")
