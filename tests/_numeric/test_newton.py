"""Newton's method from sums of blocks, against scikit-learn's own fits."""

from functools import reduce

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gerrymend._numeric import newton
from gerrymend._numeric.newton import LogisticSums, logistic_sums, minimise
from tests.marks import slow


def problem(n=400, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-2, 3, d) + 3
    y = (X[:, 0] - 3) * 50 + (X[:, 1] - 3) / 10 + 2 * rng.logistic(size=n) > 0
    weight = 3 * rng.random(n)
    weight[:5] = 0.0
    return X, y, weight


def minimum(parts, C, intercept, start=None):
    """Minimise over blocks of rows (X, y, weight), and count the questions."""
    asked = []

    def sums_at(coefficients, *, curved):
        asked.append(curved)
        sums = [
            logistic_sums(X, np.where(y, w, -w), coefficients, curved=curved) for X, y, w in parts
        ]
        added = reduce(LogisticSums.__add__, sums)
        return added if intercept else added.without_intercept()

    total = sum(float(w.sum()) for _, _, w in parts)
    start = np.zeros(parts[0][0].shape[1] + 1) if start is None else start
    return minimise(sums_at, start, total=total, C=C), asked


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [1.0, 1e4, slow(0.01), slow(np.inf)])
def test_the_optimum_is_that_of_scikit_learn(C, intercept):
    X, y, weight = problem()
    cuts = (slice(0, 10), slice(10, 10), slice(10, 400))
    found, _ = minimum([(X[p], y[p], weight[p]) for p in cuts], C, intercept)
    exact = LogisticRegression(
        C=C, fit_intercept=intercept, solver="newton-cholesky", tol=1e-13, max_iter=1000
    ).fit(X, y, sample_weight=weight)
    assert found.converged
    np.testing.assert_allclose(found.coefficients[:-1], exact.coef_[0], atol=1e-7)
    np.testing.assert_allclose(found.coefficients[-1], exact.intercept_, atol=1e-7)


def test_a_start_that_is_far_off_leads_there_too():
    X, y, weight = problem()
    near, n_asked = minimum([(X, y, weight)], 1.0, True)
    far, more = minimum([(X, y, weight)], 1.0, True, start=np.full(5, 3.0))
    np.testing.assert_allclose(far.coefficients, near.coefficients, atol=1e-8)
    again, least = minimum([(X, y, weight)], 1.0, True, start=near.coefficients)
    assert len(least) == 1 < len(n_asked) < len(more)
    np.testing.assert_allclose(again.coefficients, near.coefficients, atol=1e-10)


def test_near_the_optimum_the_curvature_is_asked_for_once():
    X, y, weight = problem()
    optimum, _ = minimum([(X, y, weight)], 1.0, True)
    found, asked = minimum([(X, y, weight)], 1.0, True, start=1.02 * optimum.coefficients)
    assert asked[0]
    assert len(asked) > 2
    assert not any(asked[1:])
    assert found.converged
    np.testing.assert_allclose(found.coefficients, optimum.coefficients, atol=1e-9)


def test_a_gradient_alone_is_that_which_comes_with_the_curvature():
    X, y, weight = problem()
    given = X, np.where(y, weight, -weight), np.full(5, 0.01)
    alone, whole = logistic_sums(*given, curved=False), logistic_sums(*given)
    assert alone.loss == whole.loss
    np.testing.assert_array_equal(alone.gradient, whole.gradient)
    assert not alone.curvature.any()


def test_pieces_change_nothing(monkeypatch):
    X, y, weight = problem()
    whole = logistic_sums(X, np.where(y, weight, -weight), np.full(5, 0.01))
    monkeypatch.setattr(newton, "_BLOCK", 30)
    parts = logistic_sums(X, np.where(y, weight, -weight), np.full(5, 0.01))
    for one, other in zip(parts, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_gradient_and_curvature_are_the_slopes_of_the_loss():
    X, y, weight = problem()
    signed = np.where(y, weight, -weight)
    at, step = np.array([0.01, 0.01, -0.02, 0.001, 0.1]), 1e-6
    sums = logistic_sums(X, signed, at)
    ends = [[logistic_sums(X, signed, at + s * step * e) for s in (1, -1)] for e in np.eye(5)]
    slopes = [(above.loss - below.loss) / (2 * step) for above, below in ends]
    np.testing.assert_allclose(sums.gradient, slopes, rtol=1e-5, atol=1e-2)
    bends = [(above.gradient - below.gradient) / (2 * step) for above, below in ends]
    np.testing.assert_allclose(sums.curvature, bends, rtol=1e-5, atol=1e-2)


def test_labels_that_are_apart_have_no_optimum_without_a_penalty():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    found, _ = minimum([(X, X[:, 0] > 1, np.ones(4))], np.inf, True)
    assert np.isfinite(found.coefficients).all()
    assert ((X @ found.coefficients[:1] + found.coefficients[1] > 0) == (X[:, 0] > 1)).all()
