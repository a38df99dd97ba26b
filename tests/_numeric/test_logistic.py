"""Refits of logistic regressions against scikit-learn's own, and against the definition of F."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gerrymend._numeric import logistic
from gerrymend._numeric.logistic import LogisticRows


def census(n_rows=3000, seed=0):
    """An age in years and an income beside indicators, labels, and weights by age."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(17, 95, n_rows), rng.exponential(3.0, n_rows)
    kind = np.eye(5)[rng.choice(5, n_rows, p=[0.6, 0.2, 0.1, 0.07, 0.03])]
    X = np.column_stack([age, income, kind])
    score = 0.04 * age - 0.3 * income + kind @ [0, 1, -1, 2, -2] - 1.0
    positive = rng.random(n_rows) < 1 / (1 + np.exp(-score))
    weight = np.where(positive, 1.0, np.abs(1.0 + rng.normal(0, 0.7, 100)[age]))
    return X, positive, weight


def gradient_of(X, positive, weight, coefficients, C):
    """The gradient of F, row by row as it is defined."""
    w, b = coefficients[:-1], coefficients[-1]
    chance = 1 / (1 + np.exp(-(X @ w + b)))
    pull = weight * (chance - positive)
    return np.append(pull @ X + w / C, pull.sum()) / weight.sum()


def loss_of(X, positive, weight, coefficients, C=1.0):
    """F, row by row as it is defined."""
    w, b = coefficients[:-1], coefficients[-1]
    losses = np.logaddexp(0.0, np.where(positive, -1.0, 1.0) * (X @ w + b))
    return (weight @ losses + w @ w / (2 * C)) / weight.sum()


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_minimum_is_scikit_learns(C, fit_intercept):
    X, positive, weight = census()
    rows = LogisticRows(X, C=C, fit_intercept=fit_intercept, tol=1e-8, max_iter=500)
    settings = {"C": C, "fit_intercept": fit_intercept, "tol": 1e-10, "max_iter": 10_000}
    model = LogisticRegression(solver="newton-cholesky", **settings).fit(X, positive, weight)
    expected = np.append(model.coef_[0], model.intercept_)
    fitted = rows.fit(positive, weight, np.zeros(X.shape[1] + 1))
    assert fitted.converged
    np.testing.assert_allclose(fitted.coefficients, expected, atol=1e-4 * max(1.0, C) ** 0.5)
    score = X @ fitted.coefficients[:-1] + fitted.coefficients[-1]
    np.testing.assert_allclose(score, model.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-5])
def test_the_gradient_is_as_small_as_was_asked(tol):
    X, positive, weight = census()
    weight[::3] = 0.0
    rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=tol, max_iter=500)
    fitted = rows.fit(positive, weight, np.append(np.full(X.shape[1], 0.01), -1.0))
    assert np.abs(gradient_of(X, positive, weight, fitted.coefficients, 1.0)).max() <= tol * 1.001


def passes_of(rows, monkeypatch):
    """Count what is read of X: one pass for each value of F."""
    passes, objective = [], rows._objective
    monkeypatch.setattr(rows, "_objective", lambda *at: passes.append(1) or objective(*at))
    return passes


def test_columns_out_of_scale_take_few_passes_over_the_rows(monkeypatch):
    X, positive, weight = census(30_000)
    plain = LogisticRegression(max_iter=1000).fit(X, positive, weight)
    rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-4, max_iter=100)
    passes = passes_of(rows, monkeypatch)
    near = np.append(plain.coef_[0], plain.intercept_)
    other = weight * np.where((X[:, 0] > 50) & ~positive, 1.4, 1.0)
    assert rows.fit(positive, other, near).converged
    assert len(passes) < plain.n_iter_[0] / 4


def test_a_category_that_the_sample_has_no_row_of_is_fitted_all_the_same():
    X, positive, weight = census(60_000)
    X = np.column_stack([X, np.arange(len(X)) % 3 == 1])  # the sample is every third row
    positive[X[:, -1] == 1] ^= np.random.default_rng(1).random(20_000) < 0.4
    rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-6, max_iter=100)
    fitted = rows.fit(positive, weight, np.zeros(X.shape[1] + 1))
    assert fitted.converged
    assert np.abs(gradient_of(X, positive, weight, fitted.coefficients, 1.0)).max() <= 1.001e-6


def test_a_start_at_the_minimum_stays_there(monkeypatch):
    X, positive, weight = census()
    rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-4, max_iter=100)
    there = rows.fit(positive, weight, np.zeros(X.shape[1] + 1)).coefficients
    passes = passes_of(rows, monkeypatch)
    np.testing.assert_array_equal(rows.fit(positive, weight, there).coefficients, there)
    assert len(passes) == 1


def test_a_fit_that_is_cut_short_says_so():
    X, positive, weight = census()
    rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-9, max_iter=1)
    assert not rows.fit(positive, weight, np.zeros(X.shape[1] + 1)).converged


@pytest.mark.parametrize("n_rows", [2, 7])
def test_fewer_rows_than_columns_and_labels_that_are_parted(n_rows):
    X, positive, weight = census(n_rows, seed=3)
    positive[:] = np.arange(n_rows) % 2 == 0
    rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-6, max_iter=500)
    fitted = rows.fit(positive, weight, np.append(np.zeros(X.shape[1]), 40.0))
    assert np.abs(gradient_of(X, positive, weight, fitted.coefficients, 1.0)).max() <= 1.001e-6


@pytest.mark.parametrize("far", [0.0, 3.0])
def test_many_rows_take_few_passes_to_next_to_nothing_above_the_minimum(far, monkeypatch):
    monkeypatch.setattr(logistic, "_MANY_ROWS", 50_000)
    X, positive, weight = census(60_000)
    X = (X[:, :-1] - X[:, :-1].mean(axis=0)) / X[:, :-1].std(axis=0)
    exact = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000)
    exact.fit(X, positive, weight)
    start = np.full(X.shape[1] + 1, far)
    rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-9, max_iter=100)
    passes = passes_of(rows, monkeypatch)
    fitted = rows.fit(positive, weight, start)
    assert fitted.converged
    assert len(passes) <= 4
    least = loss_of(X, positive, weight, np.append(exact.coef_[0], exact.intercept_))
    assert loss_of(X, positive, weight, fitted.coefficients) <= least * (1 + 5e-5)


def test_a_part_of_many_rows_that_tells_nothing_of_them_does_no_harm(monkeypatch):
    X, positive, weight = census(60_000)
    X = (X[:, :-1] - X[:, :-1].mean(axis=0)) / X[:, :-1].std(axis=0)
    few = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-6, max_iter=500)
    monkeypatch.setattr(logistic, "_MANY_ROWS", 50_000)
    part = slice(None, None, logistic._PART)
    for name, others in {"no weight": 0.0, "turned round": 1.0}.items():
        labels = positive.copy()
        labels[part] ^= name == "turned round"
        weights = weight.copy()
        weights[part] *= others
        rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-6, max_iter=500)
        start = np.zeros(X.shape[1] + 1)
        least = loss_of(X, labels, weights, few.fit(labels, weights, start).coefficients)
        fitted = rows.fit(labels, weights, start)
        assert fitted.converged
        assert loss_of(X, labels, weights, fitted.coefficients) <= least * (1 + 5e-5)


@pytest.mark.parametrize("many", [10, 10**6])
def test_scores_are_those_of_the_coefficients(many, monkeypatch):
    monkeypatch.setattr(logistic, "_MANY_ROWS", many)
    X, positive, weight = census(2000)
    rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-6, max_iter=500)
    for start in (0.0, 0.01):
        fitted = rows.fit(positive, weight, np.full(X.shape[1] + 1, start))
        expected = X @ fitted.coefficients[:-1] + fitted.coefficients[-1]
        np.testing.assert_allclose(fitted.score, expected, atol=1e-12)
