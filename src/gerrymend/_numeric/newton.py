"""Logistic regression from sums over rows, which may lie in blocks, on a device or on a cluster.

With labels z in {−1, 1}, weights s of sum S, and scores m = X·w + b, the objective is that of
scikit-learn's `LogisticRegression`, which leaves the intercept free:

    F(w, b) = Σ s·log(1 + exp(−z·m)) / S + ‖w‖² / (2·C·S).

Its value, gradient and curvature are sums over rows, of 1, d + 1 and (d + 1)² numbers: all that a
step of Newton's needs, wherever the rows are. The coefficients are the optimum to about 10⁻⁹,
however far from it the estimator's `tol` would let other solvers stop; from the coefficients of a
similar cost it takes three to seven steps. Curvature costs d times what a gradient does, and near
the minimum it hardly changes: there it is asked for once, and each later gradient corrects it by
BFGS.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.externals.array_api_compat import array_namespace, device, is_numpy_array

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array

# Numbers of X that are read at once: one megabyte for a core, 256 MB for a device.
_BLOCK = 1 << 17
_DEVICE_NUMBERS = 1 << 25
# The decrement is gᵀH⁻¹g, and half of it what F is above its minimum, whatever the units of the
# columns. A last step needs no look at where it leads if it leaves less than the first to gain;
# below the second there is nothing to gain.
_LAST_STEP = 1e-20
_NOTHING_LEFT = 1e-22
# Curvature is asked for again while the decrement is above the first, as it changes over such a
# step, or where a step with the old one has left more than the second of the decrement.
_FAR = 1e-2
_SLOW = 0.1
# Armijo's part of the expected decrease, and how often a step is halved.
_DECREASE = 1e-4
_HALVINGS = 40
# Rounding of F: a step that leaves it the same to so many digits is no worse.
_SAME = 16 * float(np.finfo(np.float64).eps)


class LogisticSums(NamedTuple):
    """Σ s·log(1 + exp(−z·m)) over some rows, its gradient and its curvature; the intercept last."""

    loss: float
    gradient: Array
    curvature: Array

    def __add__(self, other: Any) -> "LogisticSums":
        return LogisticSums(*(one + two for one, two in zip(self, other, strict=True)))

    def without_intercept(self) -> "LogisticSums":
        """Return sums in which nothing pulls at the intercept, which stays where it is."""
        gradient = np.append(self.gradient[:-1], 0.0)
        curvature = self.curvature.copy()
        curvature[-1] = curvature[:, -1] = 0.0
        curvature[-1, -1] = 1.0
        return LogisticSums(self.loss, gradient, curvature)


class Minimum(NamedTuple):
    """Coefficients, the intercept last, and whether they are where F is least."""

    coefficients: Array
    converged: bool


def pieces(X: Any) -> Iterator[slice]:
    """Yield slices of rows that are few enough to be widened and worked on at once.

    >>> [piece.stop for piece in pieces(np.zeros((3, 100_000)))]
    [1, 2, 3]
    """
    numbers = _BLOCK if is_numpy_array(X) else _DEVICE_NUMBERS
    step = max(1, numbers // max(1, X.shape[1]))
    return (slice(i, min(i + step, X.shape[0])) for i in range(0, X.shape[0], step))


def logistic_sums(X: Any, signed: Any, coefficients: Array, *, curved: bool = True) -> LogisticSums:
    """Return the sums over rows of X, an array of any library, where `signed` has s·z in float64.

    The curvature, which is most of the work, is 0 unless `curved`.

    With e = exp(−|m|): log(1 + exp(−z·m)) = log(1 + e) + max(−z·m, 0), the probability of the other
    label is e / (1 + e) where z·m > 0, else 1 / (1 + e), and p·(1 − p) = e / (1 + e)²: nothing
    overflows.

    >>> sums = logistic_sums(np.eye(2), np.array([1.0, -1.0]), np.zeros(3))
    >>> round(sums.loss, 6), sums.gradient.tolist(), sums.curvature[2, 2].item()
    (1.386294, [-0.5, 0.5, 0.0], 0.5)
    """
    xp = array_namespace(X)
    place = device(X)
    d = X.shape[1]
    w = xp.asarray(coefficients[:-1], device=place)
    loss = xp.zeros((), dtype=xp.float64, device=place)
    gradient = xp.zeros((d + 1,), dtype=xp.float64, device=place)
    curvature = xp.zeros((d + 1, d + 1), dtype=xp.float64, device=place)
    for rows in pieces(X):
        x = xp.astype(X[rows], xp.float64, copy=False)
        sign = signed[rows]
        score = x @ w + float(coefficients[-1])
        margin = xp.where(sign > 0, score, -score)
        decay = xp.exp(-xp.abs(score))
        pull = xp.where(margin > 0, decay, xp.ones_like(decay)) / (1.0 + decay) * sign
        losses = xp.log1p(decay) + xp.where(margin < 0, -margin, xp.zeros_like(margin))
        loss += xp.sum(xp.abs(sign) * losses)
        gradient[:d] -= pull @ x
        gradient[d] -= xp.sum(pull)
        if not curved:
            continue
        root = (xp.abs(sign) * decay) ** 0.5 / (1.0 + decay)
        bent = x * root[:, None]
        curvature[:d, :d] += bent.T @ bent
        curvature[:d, d] += root @ bent
        curvature[d, d] += xp.sum(root * root)
    bend = on_host(curvature).copy()
    slope = on_host(gradient).copy()
    bend[d, :d] = bend[:d, d]
    return LogisticSums(float(loss), slope, bend)


class SumsAt(Protocol):
    """Return the sums over all rows at some coefficients, with curvature if that is asked for."""

    def __call__(self, coefficients: Array, *, curved: bool) -> LogisticSums:
        """Ask for the sums."""


def minimise(
    sums_at: SumsAt,
    start: Array,
    *,
    total: float,
    C: float,
    max_iter: int = 100,
) -> Minimum:
    """Minimise F by Newton's method, from coefficients whose last is the intercept.

    Parameters
    ----------
    sums_at : callable
        Returns the sums over all rows at some coefficients.
    start : array (d + 1,)
    total : float
        S, the sum of all weights s.
    C : float
        The inverse of the strength of the penalty.
    max_iter : int
        The most steps.

    >>> X, signed = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    >>> def sums_at(coefficients, *, curved):
    ...     return logistic_sums(X, signed, coefficients, curved=curved)
    >>> minimum = minimise(sums_at, np.zeros(2), total=4.0, C=1.0)
    >>> minimum.converged, bool(abs(minimum.coefficients @ [1.5, 1.0]) < 1e-9)
    (True, True)
    """

    def penalised(at: Array, *, curved: bool) -> LogisticSums:
        sums = sums_at(at, curved=curved)
        w = np.append(at[:-1], 0.0)
        curvature = sums.curvature.copy()
        curvature[np.diag_indices(len(w) - 1)] += 1.0 / C
        return LogisticSums(
            (sums.loss + float(w @ w) / (2 * C)) / total,
            (sums.gradient + w / C) / total,
            curvature / total,
        )

    at = start
    here = penalised(at, curved=True)
    inverse = _inverse(here.curvature)
    # What a step is expected to leave of the decrement: Newton's squares it.
    left: float | None = None
    for _ in range(max_iter):
        step = -inverse @ here.gradient
        decrement = float(-here.gradient @ step)
        if left is not None and decrement > _SLOW * left:
            here = penalised(at, curved=True)
            inverse = _inverse(here.curvature)
            step = -inverse @ here.gradient
            decrement = float(-here.gradient @ step)
            left = None
        if decrement <= _NOTHING_LEFT:
            return Minimum(at, True)
        remains = decrement if left is None else decrement / left
        if decrement * remains <= _LAST_STEP:
            return Minimum(at + step, True)
        is_far = decrement > _FAR
        for halved in range(_HALVINGS):
            length = 0.5**halved
            there = penalised(at + length * step, curved=is_far)
            allowed = here.loss - _DECREASE * length * decrement + _SAME * abs(here.loss)
            if there.loss <= allowed:
                break
        else:
            return Minimum(at, False)
        at = at + length * step
        if is_far:
            inverse = _inverse(there.curvature)
            left = None
        else:
            inverse = _corrected(inverse, length * step, there.gradient - here.gradient)
            left = decrement
        here = there
    return Minimum(at, False)


def _inverse(curvature: Array) -> Array:
    """Return H⁻¹; where H is singular, as without a penalty, a part of its size is added."""
    size = float(np.trace(curvature)) / len(curvature)
    one = np.eye(len(curvature))
    added = 0.0
    while True:
        try:
            factor = cho_factor(curvature + added * one)
        except LinAlgError:
            added = max(10 * added, 1e-14 * size, 1e-300)
            continue
        inverse: Array = cho_solve(factor, one)
        return inverse


def _corrected(inverse: Array, moved: Array, turned: Array) -> Array:
    """Return the inverse that explains how a gradient has turned over a move, next to this one.

    That is BFGS's; where rounding has left no turn in the direction of the move, it stays as it is.
    """
    along = float(moved @ turned)
    if along <= 0.0:
        return inverse
    projected = np.eye(len(moved)) - np.outer(moved, turned) / along
    corrected: Array = projected @ inverse @ projected.T + np.outer(moved, moved) / along
    return corrected
