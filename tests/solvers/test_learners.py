from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from gerrymend import SubgroupParityClassifier
from gerrymend._numeric.projection import Projection
from gerrymend.solvers.players.estimator_checks import check_estimator_kind, check_uses_weights
from gerrymend.solvers.players.learners import LinearLearner, make_learner
from tests.all_rounds import MAY_EXCEED_GAMMA


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    costs = rng.standard_normal((3, 200)) + X[:, 0]
    return X, costs, rng.random(200) + 0.1


def learner_of(estimator, X, costs, weight):
    return make_learner(estimator, X, weight, costs[0], slice(0, len(X)))


@pytest.mark.parametrize("weighted", [False, True])
def test_fast_path_is_scikit_learns_least_squares(problem, weighted):
    X, costs, weight = problem
    weight = weight if weighted else np.ones(len(X))
    learner = learner_of(LinearRegression(), X, costs, weight)
    assert isinstance(learner, LinearLearner)
    decisions, keys = learner.best_response(costs)
    for cost, decided, key in zip(costs, decisions, keys, strict=True):
        model = LinearRegression().fit(X, cost, sample_weight=weight)
        np.testing.assert_array_equal(decided, model.predict(X) < 0)
        fresh = np.random.default_rng(1).standard_normal((50, 5))
        expected = model.predict(fresh) < 0
        np.testing.assert_array_equal(learner.mixture([key]).positive_probability(fresh), expected)


def test_rows_that_are_never_pressed_count_all_the_same(problem):
    X, costs, weight = problem
    costs[:, 80:] = costs[0, 80:]
    some = make_learner(LinearRegression(), X, weight, costs[0], slice(0, 80))
    all_rows = make_learner(LinearRegression(), X, weight, costs[0], slice(0, 200))
    np.testing.assert_allclose(some.best_response(costs)[1], all_rows.best_response(costs)[1])


def test_projection_of_badly_scaled_and_collinear_columns():
    """Against an exact solution in the well-scaled columns; the span is what matters."""
    rng = np.random.default_rng(2)
    good = rng.standard_normal((300, 3))
    bad = np.column_stack([good * [1e-9, 1e6, 1.0] + [0, 1e7, 0], good @ [1, 2, 3], np.ones(300)])
    target = rng.standard_normal(300)
    weight = rng.random(300) + 0.1
    projection = Projection(bad, weight)
    fitted = projection.fitted(projection.coordinates((weight * target)[None]))[0]
    expected = LinearRegression().fit(good, target, sample_weight=weight).predict(good)
    np.testing.assert_allclose(fitted, expected, atol=1e-8)
    assert len(projection.basis) == 4
    intercept, coefficients = projection.coefficients(
        projection.coordinates((weight * target)[None])
    )
    np.testing.assert_allclose(bad @ coefficients[0] + intercept[0], expected, atol=1e-6)


def test_projection_over_many_blocks():
    rng = np.random.default_rng(3)
    X, target = rng.standard_normal((20_000, 4)), rng.standard_normal(20_000)
    projection = Projection(X, np.ones(20_000))
    fitted = projection.fitted(projection.coordinates(target[None]))[0]
    np.testing.assert_allclose(fitted, LinearRegression().fit(X, target).predict(X), atol=1e-10)
    np.testing.assert_allclose(projection.basis @ projection.basis.T, np.eye(5), atol=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), SGDClassifier(random_state=0), DecisionTreeClassifier(max_depth=3),
     HistGradientBoostingClassifier(max_iter=5)],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_a_classifier_learns_the_cheaper_label_weighted_by_the_stake(problem, estimator):
    X, costs, weight = problem
    decisions, keys = learner_of(estimator, X, costs, weight).best_response(costs[:1])
    model = clone(estimator).fit(X, costs[0] < 0, sample_weight=weight * np.abs(costs[0]))
    np.testing.assert_array_equal(decisions[0], model.predict(X))
    mixture = learner_of(estimator, X, costs, weight).mixture(keys)
    np.testing.assert_array_equal(mixture.positive_probability(X), model.predict(X))


@pytest.mark.parametrize("estimator", [Ridge(), DecisionTreeRegressor(max_depth=3)])
def test_a_regressor_is_cut_at_zero(problem, estimator):
    X, costs, weight = problem
    decisions, _ = learner_of(estimator, X, costs, weight).best_response(costs[:1])
    model = clone(estimator).fit(X, costs[0], sample_weight=weight)
    np.testing.assert_array_equal(decisions[0], model.predict(X) < 0)


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_passes_the_weights_on(problem, routing):
    X, costs, weight = problem
    with config_context(enable_metadata_routing=routing):
        pipeline = make_pipeline(StandardScaler(), LogisticRegression())
        decisions, _ = learner_of(pipeline, X, costs, weight).best_response(costs[:1])
    scaled = StandardScaler().fit_transform(X)
    model = LogisticRegression().fit(scaled, costs[0] < 0, sample_weight=weight * abs(costs[0]))
    np.testing.assert_array_equal(decisions[0], model.predict(scaled))


@pytest.mark.parametrize("estimator", [LinearRegression(), LogisticRegression(), Ridge()])
def test_costs_of_one_sign_get_a_constant(problem, estimator):
    X, costs, weight = problem
    one_sign = np.array([np.abs(costs[0]), -np.abs(costs[0]), np.zeros(len(X))])
    learner = learner_of(estimator, X, one_sign, weight)
    decisions, keys = learner.best_response(one_sign)
    assert [row.tolist() for row in np.unique(decisions, axis=1).T] == [[False, True, False]]
    p = learner.mixture(list(keys)).positive_probability(X)
    np.testing.assert_allclose(p, 1 / 3)


@pytest.mark.parametrize("row", [0, 70, -1])
@pytest.mark.parametrize("estimator", [LinearRegression(), LogisticRegression(), Ridge()])
def test_a_row_of_no_weight_has_no_say_in_the_sign_of_costs(problem, estimator, row):
    X, _, weight = problem
    bent = np.exp(3.0 * X[:, 0])  # a line that fits it is below 0 for many rows
    one_sign = np.array([bent, -bent])
    one_sign[:, row] *= -1.0
    weight[row] = 0.0
    decisions, _ = learner_of(estimator, X, one_sign, weight).best_response(one_sign)
    assert [row.tolist() for row in np.unique(decisions, axis=1).T] == [[False, True]]


@pytest.mark.parametrize(
    ("estimator", "weighted", "message"),
    [
        (KMeans(), False, "neither a classifier nor a regressor"),
        (StandardScaler(), False, "neither a classifier nor a regressor"),
        (LogisticRegression, False, "neither a classifier nor a regressor"),
        ("logistic", False, "neither a classifier nor a regressor"),
        (KNeighborsClassifier(), False, "takes no sample_weight in fit. Pass a classifier"),
        (KNeighborsRegressor(), True, "takes no sample_weight in fit, and sample_weight was given"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), False, "takes no sample_weight"),
    ],
)
def test_an_estimator_that_cannot_be_used_is_refused_with_a_remedy(estimator, weighted, message):
    with pytest.raises(TypeError, match=message):
        check_estimator_kind(estimator, weighted=weighted)


def test_what_can_be_used():
    assert isinstance(check_estimator_kind(None, weighted=True), LogisticRegression)
    knn = KNeighborsRegressor()
    assert check_estimator_kind(knn, weighted=False) is knn


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_cost_of_nothing_but_rounding_is_a_tie(sign):
    """.1 + .2 − .3 is not 0 in float64; the mean cost is, and then the decision is 0."""
    X = np.array([1, 1, 1, 0, 0, 0.0])[:, None]
    costs = sign * np.array([[0.1, 0.2, -0.3, -0.1, -0.2, 0.3]])
    decisions, keys = learner_of(LinearRegression(), X, costs, np.ones(6)).best_response(costs)
    assert not decisions.any()
    mixture = learner_of(LinearRegression(), X, costs, np.ones(6)).mixture(keys)
    np.testing.assert_array_equal(mixture.positive_probability(X), 0)


class Votes(ClassifierMixin, BaseEstimator):
    """A classifier with no score: the heavier label on either side of 0 of the first column."""

    def fit(self, X, y, sample_weight):
        side = X[:, 0] > 0
        self.classes_ = np.unique(y)
        self.labels_ = [
            int(
                np.sum(sample_weight[(side == s) & (y == 1)])
                > np.sum(sample_weight[(side == s)]) / 2
            )
            for s in (False, True)
        ]
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, self.labels_[1], self.labels_[0])


def on_a_frame():
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    return make_pipeline(columns, LogisticRegression())


ANSWERING = [
    LinearRegression(),
    LogisticRegression(),
    SGDClassifier(random_state=0),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=5, random_state=0),
    on_a_frame(),
    Ridge(),
    DecisionTreeRegressor(max_depth=3, random_state=0),
    Votes(),
]


def problem_for(estimator, problem):
    X, costs, weight = problem
    if not isinstance(estimator, Pipeline):
        return X, costs, weight
    frame = pd.DataFrame(X, columns=list("abcde"))
    return frame.assign(colour=np.where(X[:, 1] > 0.3, "red", "blue")), costs, weight


def paid(decided, cost, weight):
    return float(np.sum((cost * weight)[decided]))


@pytest.mark.parametrize("estimator", ANSWERING, ids=lambda e: type(e).__name__)
def test_answers_are_what_their_predictors_decide(problem, estimator):
    X, costs, weight = problem_for(estimator, problem)
    learner = learner_of(estimator, X, costs, weight)
    for cost, others in ((costs[0], costs[1:]), (costs[1], []), (-costs[2], costs)):
        for decided, key in learner.answers(cost, list(others)):
            assert decided.dtype == bool
            alone = learner.mixture([key]).positive_probability(X)
            np.testing.assert_array_equal(alone, decided)
    both = [learner.constant(False), learner.constant(True), learner.constant(True)]
    p = learner.mixture(both, np.array([0.5, 0.25, 0.25])).positive_probability(X)
    np.testing.assert_allclose(p, 0.5)


@pytest.mark.parametrize("estimator", ANSWERING, ids=lambda e: type(e).__name__)
def test_a_cut_costs_no_more_than_the_estimators_own(problem, estimator):
    """The first answer is the cut for the cost; the others' cheapest is no worse for theirs."""
    X, costs, weight = problem_for(estimator, problem)
    for cost in costs:
        learner = learner_of(estimator, X, costs, weight)  # anew: none starts from the last fit
        uncut = learner.best_response(cost[None])[0][0]
        answers = learner.answers(cost, list(costs))
        assert paid(answers[0][0], cost, weight) <= paid(uncut, cost, weight) + 1e-9
        for other in costs:
            cheapest = min(paid(decided, other, weight) for decided, _ in answers)
            assert cheapest <= paid(uncut, other, weight) + 1e-9
    assert len(learner.answers(costs[0])) == 1


@pytest.mark.parametrize("estimator", ANSWERING, ids=lambda e: type(e).__name__)
def test_a_cost_of_one_sign_is_answered_by_a_constant(problem, estimator):
    X, costs, weight = problem_for(estimator, problem)
    learner = learner_of(estimator, X, costs, weight)
    for sign in (1.0, -1.0):
        (decided, key), *_ = learner.answers(sign * np.abs(costs[0]), [sign * np.abs(costs[1])])
        np.testing.assert_array_equal(decided, sign < 0)
        np.testing.assert_array_equal(learner.mixture([key]).positive_probability(X), sign < 0)


@pytest.mark.parametrize("seed", range(8))
def test_a_network_on_rows_out_of_scale_is_not_told_that_it_ignores_weights(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4)) * [1.0, 1e3, 1e5, 1e4] + [0.0, 5e3, 2e5, 1e4]
    check_uses_weights(MLPClassifier(max_iter=20, random_state=seed), X)


def test_one_that_ignores_weights_is_told_also_where_it_is_random():
    class Deaf(RandomForestClassifier):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y)

    with pytest.raises(TypeError, match="ignores it"):
        check_uses_weights(Deaf(n_estimators=5), np.random.default_rng(0).normal(size=(40, 3)))


class Recording(LogisticRegression):
    """A logistic regression that keeps the X of its fits."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.seen.append(X)
        return super().fit(X, y, sample_weight)


@MAY_EXCEED_GAMMA
@pytest.mark.parametrize("solver", ["exponentiated_gradient", "fictitious_play"])
def test_estimators_are_fitted_to_the_rows_themselves_and_to_no_copy(solver, monkeypatch):
    monkeypatch.setattr(Recording, "seen", [])
    rng = np.random.default_rng(0)
    X, group = rng.standard_normal((300, 3)), rng.integers(0, 3, 300)
    y = (X[:, 0] + 0.5 * group + rng.logistic(size=300) > 0.5).astype(int)
    clf = SubgroupParityClassifier(Recording(), gamma=0.001, solver=solver, max_iter=3, tol=None)
    clf.fit(X, y, sensitive_features={"group": group})
    assert len(Recording.seen) >= 3
    assert all(np.shares_memory(one, X) for one in Recording.seen)


def test_a_refit_is_what_scikit_learn_would_fit(problem):
    """Scores of each answer against those of a fit from nothing, to a finer tolerance."""
    X, costs, weight = problem
    X = X * [1.0, 40.0, 1.0, 0.1, 5.0]
    estimator = LogisticRegression(tol=1e-8, max_iter=1000)
    order = np.random.default_rng(4).permutation(len(X))
    learner = make_learner(estimator, X, weight[order], costs[0], slice(0, 200), order)
    for cost in [*costs, costs[0] + 0.1]:
        decided, key = learner.answers(cost[order])[0]
        model = LogisticRegression(tol=1e-10, max_iter=10_000).fit(
            X, cost < 0, sample_weight=np.abs(cost) * weight
        )
        np.testing.assert_allclose(key.coef, model.coef_[0], rtol=1e-3, atol=1e-5)
        np.testing.assert_array_equal(decided, key.decide(X)[order])


def test_a_refit_that_does_not_converge_is_the_estimators_own_and_warns(problem):
    X, costs, weight = problem
    X = X * [1.0, 40.0, 1.0, 0.1, 5.0]
    learner = learner_of(LogisticRegression(max_iter=1), X, costs, weight)
    for cost in costs:
        with pytest.warns(ConvergenceWarning, match="max_iter=1"):
            learner.answers(cost)


@pytest.mark.parametrize(
    "settings", [{"class_weight": {0: 1.0, 1: 9.0}}, {"l1_ratio": 1.0, "solver": "saga"}], ids=str
)
def test_a_logistic_regression_of_another_kind_is_always_fitted_by_itself(problem, settings):
    X, costs, weight = problem
    estimator = LogisticRegression(random_state=0, max_iter=2000, **settings)
    learner = learner_of(estimator, X, costs, weight)
    for cost in costs:
        _, key = learner.answers(cost)[0]
        model = clone(estimator).fit(X, cost < 0, sample_weight=np.abs(cost) * weight)
        np.testing.assert_array_equal(key.coef, model.coef_[0])
