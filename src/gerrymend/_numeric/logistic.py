"""Logistic regression of the same rows under other labels and weights, from earlier coefficients.

With labels z in {−1, 1}, weights s of sum S, and scores m = X·w + b, the objective is that of
scikit-learn's `LogisticRegression`, and strictly convex in w:

    F(w, b) = Σ s·log(1 + exp(−z·m)) / S + ‖w‖² / (2·C·S).

Its curvature is H = Xᵀ·diag(s·p·(1 − p))·X / S + I / (C·S), with p = 1 / (1 + exp(−m)). The steps
of L-BFGS grow with how unlike the axes of H are: some fifty for an age beside indicators. In the
coordinates v = Rᵀ·w with R·Rᵀ = H they are all alike, and from coefficients that were near it takes
three to ten. A sample of the rows tells H well enough: it decides how many steps there are, and not
where they lead.

Rows are read once a step, in blocks that stay in the cache. X is never copied.

Of very many rows a part is fitted first. Its minimum is off by chance, by d / (2·n) for n rows of
d columns, and a step or two over all rows lead from there to where 10⁻⁵ of F is left to gain by the
curvature of the sample. There it ends: of 400,000 rows and 38 columns F is less than 10⁻⁵ above its
minimum where columns are independent, and up to 7·10⁻⁵ where they are correlated. Along indicators
that sum to 1 only the penalty tells coefficients apart, and no score does: there it may end sooner.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from gerrymend._numeric.sums import Array

# Numbers of X that are read at once: one megabyte.
_BLOCK = 1 << 17
# Rows that tell the curvature: their error is some tenths of it, for up to a hundred columns.
_SAMPLE = 20_000
# Part of F below which a step is rounding, as in scikit-learn.
_SAME = 64 * float(np.finfo(np.float64).eps)
# So many rows are fitted by a part of them first: every so many. The part is fitted until what is
# left to gain is a quarter of what it is off by chance, and all rows until it is so much of F.
_MANY_ROWS = 200_000
_PART = 8
_OF_CHANCE = 0.25
_LEFT = 1e-5
# Part of each column's own curvature that is added to the sample's: a category of which the sample
# has no row would have none.
_RIDGE = 1e-2


class Fitted(NamedTuple):
    """Coefficients, the intercept last; whether they are as near the minimum as was asked; scores.

    The scores are those of the rows, until the next fit.
    """

    coefficients: Array
    converged: bool
    score: Array


class LogisticRows:
    """Rows of an array X, to be fitted again and again.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    C : float
        The inverse of the strength of the penalty.
    fit_intercept : bool
    tol : float
        The largest entry that the gradient of F may have in the end. Of very many rows it ends
        sooner, where next to nothing is left to gain.
    max_iter : int
        The most steps.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> rows = LogisticRows(X, C=1.0, fit_intercept=True, tol=1e-6, max_iter=100)
    >>> fitted = rows.fit(X[:, 0] > 1, np.ones(4), start=np.zeros(2))
    >>> fitted.converged, bool(abs(fitted.coefficients @ [1.5, 1.0]) < 1e-5)
    (True, True)
    """

    def __init__(
        self, X: Array, *, C: float, fit_intercept: bool, tol: float, max_iter: int
    ) -> None:
        self._X = X
        self._C = C
        self._tol = tol
        self._max_iter = max_iter
        self._with_intercept = 1.0 if fit_intercept else 0.0
        n_rows, n_features = X.shape
        step = max(1, _BLOCK // max(1, n_features))
        self._blocks = [slice(start, start + step) for start in range(0, n_rows, step)]
        squares = sum((np.vecdot(X[rows].T, X[rows].T) for rows in self._blocks), np.zeros(()))
        self._mean_squares = np.append(squares / n_rows, 1.0)
        self._score = np.empty(n_rows)
        self._part: LogisticRows | None = None
        if n_rows >= _MANY_ROWS:
            # The penalty is as large beside the loss of fewer rows.
            self._part = LogisticRows(
                X[::_PART], C=C * _PART, fit_intercept=fit_intercept, tol=tol, max_iter=max_iter
            )

    def fit(self, positive: NDArray[np.bool_], weight: Array, start: Array) -> Fitted:
        """Minimise F, from the coefficients `start`, whose last is the intercept."""
        if self._part is None:
            return self._fit(positive, weight, start, 0.0)
        some = slice(None, None, _PART)
        if weight[some].any():
            left = _OF_CHANCE * len(start) / (2 * len(weight[some]))
            start = self._part._fit(positive[some], weight[some], start, left).coefficients
        loss = math.log(2.0)  # F of coefficients 0, the order of what it is
        return self._fit(positive, weight, start, _LEFT * loss)

    def _fit(self, positive: NDArray[np.bool_], weight: Array, start: Array, left: float) -> Fitted:
        """Minimise F until the gradient is as small as was asked, or so little is left to gain.

        That is half the square of the gradient in units in which all curvatures are 1.
        """
        signed = np.where(positive, weight, -weight)
        total = float(weight.sum())
        root = cholesky(self._curvature(weight, start), lower=True)
        value, gradient = self._objective(start, signed, total)
        first = value, solve_triangular(root, gradient, lower=True)
        last = start
        is_flat = self._is_flat(gradient, first[1], left)
        if is_flat:
            return Fitted(start, True, self._score)
        # The first step of SciPy's L-BFGS has length 1: in these units that is Newton's step.
        unit = float(np.linalg.norm(first[1])) or 1.0

        def coefficients(at: Array) -> Array:
            moved: Array = start + unit * solve_triangular(root, at, lower=True, trans=1)
            return moved

        def function(at: Array) -> tuple[float, Array]:
            nonlocal is_flat, last
            if not at.any():
                return first[0], unit * first[1]
            last = coefficients(at)
            value, gradient = self._objective(last, signed, total)
            slope = solve_triangular(root, gradient, lower=True)
            is_flat = self._is_flat(gradient, slope, left)
            return value, unit * slope

        def stop_if_flat(intermediate_result: Any) -> None:
            if is_flat:
                raise StopIteration

        found = minimize(
            function,
            np.zeros(len(start)),
            method="L-BFGS-B",
            jac=True,
            callback=stop_if_flat,
            options={"maxiter": self._max_iter, "maxls": 50, "gtol": 0.0, "ftol": _SAME},
        )
        there = coefficients(found.x)
        if not np.array_equal(there, last):  # its last look need not be where it ends
            self._objective(there, signed, total)
        return Fitted(there, bool(found.success or is_flat), self._score)

    def _is_flat(self, gradient: Array, slope: Array, left: float) -> bool:
        """Tell if the gradient is as small as was asked, or in units of curvature as is left."""
        return float(np.abs(gradient).max()) <= self._tol or float(slope @ slope) / 2 <= left

    def _objective(self, coefficients: Array, signed: Array, total: float) -> tuple[float, Array]:
        """F and its gradient, where `signed` has s·z; the scores are kept.

        With e = exp(−|m|): log(1 + exp(−z·m)) = log(1 + e) + max(−z·m, 0), and the probability of
        the other label is e / (1 + e) where z·m > 0, else 1 / (1 + e); nothing overflows.
        """
        w = coefficients[:-1]
        intercept = coefficients[-1]
        loss = 0.0
        gradient = np.zeros(len(coefficients))
        for rows in self._blocks:
            X = self._X[rows]
            sign = signed[rows]
            score = X @ w + intercept
            self._score[rows] = score
            margin = score * np.sign(sign)
            decay = np.exp(-np.abs(score))
            pull = np.where(margin > 0, decay, 1.0) / (1.0 + decay) * sign
            loss += float(np.abs(sign) @ (np.log1p(decay) - np.minimum(margin, 0.0)))
            gradient[:-1] -= pull @ X
            gradient[-1] -= pull.sum()
        gradient[:-1] += w / self._C
        gradient[-1] *= self._with_intercept
        return (loss + float(w @ w) / (2 * self._C)) / total, gradient / total

    def _curvature(self, weight: Array, at: Array) -> Array:
        """H of a sample of the rows, every so many, and a part of what its diagonal may be."""
        rows = slice(None, None, max(1, len(self._X) // _SAMPLE))
        X = np.column_stack([self._X[rows], np.full(len(weight[rows]), self._with_intercept)])
        chance = 1.0 / (1.0 + np.exp(-np.clip(X @ at, -30.0, 30.0)))
        bend = weight[rows] * chance * (1.0 - chance)
        curvature: Array = (X * bend[:, None]).T @ X / (weight[rows].sum() or 1.0)
        own = bend.mean() * self._mean_squares / max(weight[rows].mean(), 1e-300)
        own[own <= 0.0] = 1.0
        curvature[np.diag_indices(len(at))] += _RIDGE * own + 1.0 / (self._C * weight.sum())
        return curvature
