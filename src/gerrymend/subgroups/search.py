"""A stronger search for linear thresholds: ascent along great circles of directions.

Write a threshold as a·z > 0 with z = (standardised attributes, 1). On the great circle through a
and b, a cos φ + b sin φ, row i is in while cos(φ − ψ_i) > 0, ψ_i the angle of (a·z_i, b·z_i): it
enters or leaves once in a half turn. So one sort of the angles and a running sum of W give the
exact best of the whole circle, thresholds included, in O(m log m). Circles through each coordinate
axis and through random directions are taken in turn until none improves; starts are the
regression's direction, a logistic regression's, and random ones.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from gerrymend._projection import TIE, moments, row_blocks
from gerrymend._sums import Array
from gerrymend.protected import Column
from gerrymend.subgroups.base import BoundClass, Found, RuleSource
from gerrymend.subgroups.linear import LinearEncoding, RegressionRules, RegressionSearch

# Events this close on a circle are one: rounding must not part tied rows.
_SAME_ANGLE = 1e-11
_LEAST_GAIN = 1e-12
# Circles without gain, a dimension, before an ascent ends: through each axis, then random ones.
_PATIENCE = 8


class GreatCircleSearch(BoundClass):
    """Starts, then ascent; what it finds is a lower bound, never below the regression's."""

    exact = False

    def __init__(
        self,
        columns: tuple[Column, ...],
        encoding: LinearEncoding,
        event_weight: Array,
        *,
        restarts: int,
        seed: int,
    ) -> None:
        self._regression = RegressionSearch(columns, encoding, event_weight)
        design = encoding.matrix(columns)
        mean, scale = moments(design.__getitem__, row_blocks(len(design)), event_weight)
        self._z = np.column_stack([(design - mean) / scale, np.ones(len(design))])
        self.vc_dimension = self._regression.vc_dimension
        self._restarts, self._seed = restarts, seed
        # Directions over z are coordinates; a row of the identity is the rule of a unit vector.
        unit = np.eye(self._z.shape[1])
        coefficients = unit[:, :-1] / scale
        self._source = RegressionRules(encoding, unit[:, -1] - coefficients @ mean, coefficients)

    @property
    def source(self) -> RuleSource:
        """What turns keys into rules."""
        return self._source

    @property
    def covers(self) -> str:
        """The class in words."""
        return self._regression.covers

    def worst_of_size(self, residual: Array, rows: NDArray[np.intp], smallest: int) -> Found | None:
        """What the search finds, if it is large enough."""
        found = self.worst(residual[None])
        inside = rows[found.members[0] > 0].sum()
        return found if min(inside, rows.sum() - inside) >= smallest else None

    def worst(self, residuals: Array) -> Found:
        """The best of all starts, for each residual."""
        directions = np.array([self._search(residual) for residual in residuals])
        members = (directions @ self._z.T > TIE).astype(np.float64)
        return Found(np.vecdot(residuals, members), members, directions)

    def _search(self, residual: Array) -> Array:
        rng = np.random.default_rng(self._seed)
        best, best_value = np.zeros(self._z.shape[1]), 0.0
        for i, start in enumerate(self._starts(residual, rng)):
            # A generator for each start: one more start can then only add to what is found.
            own = np.random.default_rng([self._seed, i])
            direction, value = self._ascend(start, residual, own)
            if value > best_value + _LEAST_GAIN:
                best, best_value = direction, value
        # Of the two sides name the one whose rate is too high; ties are in neither.
        too_low = residual[self._z @ best > TIE].sum() < 0
        return -best if too_low and self._value(-best, residual) >= best_value - TIE else best

    def _starts(self, residual: Array, rng: np.random.Generator) -> list[Array]:
        if not residual.any():
            return []
        starts = [self._regression_direction(residual)]
        counted = residual != 0  # of both signs, as W sums to 0
        if self._z.shape[1] > 1:
            model = LogisticRegression(C=1e3, max_iter=200)
            with warnings.catch_warnings():  # a start need not have converged
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(self._z[counted, :-1], residual[counted] > 0, np.abs(residual[counted]))
            starts.append(np.append(model.coef_[0], model.intercept_[0]))
        starts += list(rng.standard_normal((self._restarts, self._z.shape[1])))
        return starts

    def _regression_direction(self, residual: Array) -> Array:
        """The regression's group, as a direction over z: least squares of its fitted values."""
        found = self._regression.worst(residual[None])
        fitted = self._regression.fitted(found.keys)[0]
        solution: Array = np.linalg.lstsq(self._z, fitted, rcond=None)[0]
        return solution

    def _ascend(
        self, start: Array, residual: Array, rng: np.random.Generator
    ) -> tuple[Array, float]:
        size = self._z.shape[1]
        direction = start / (np.linalg.norm(start) or 1.0)
        value = self._value(direction, residual)
        axes = np.eye(size)
        since_gain = 0
        while since_gain < _PATIENCE * size:
            turn = since_gain % size
            axis = axes[turn] if since_gain < size else rng.standard_normal(size)
            angle = _best_angle(self._z @ direction, self._z @ axis, residual)
            candidate = np.cos(angle) * direction + np.sin(angle) * axis
            candidate /= np.linalg.norm(candidate) or 1.0
            new_value = self._value(candidate, residual)
            if new_value > value + _LEAST_GAIN:
                direction, value, since_gain = candidate, new_value, 0
            else:
                since_gain += 1
        return direction, value

    def _value(self, direction: Array, residual: Array) -> float:
        return abs(float(residual[self._z @ direction > TIE].sum()))


def _best_angle(first: Array, second: Array, residual: Array) -> float:
    """The angle in [0, π) whose group has the largest |value|, exact on the circle.

    >>> float(_best_angle(np.array([1.0, -1.0]), np.array([1.0, 1.0]), np.array([1.0, 1.0]))) > 0
    True
    """
    residual = np.where((first == 0) & (second == 0), 0.0, residual)  # on every threshold, in none
    flip = (np.arctan2(second, first) + np.pi / 2) % np.pi
    # Just before angle 0, so that a row which flips there is counted right from there on.
    inside = (first > 0) | ((first == 0) & (second < 0))
    order = np.argsort(flip)
    flip, change = flip[order], np.where(inside, -residual, residual)[order]
    values = residual[inside].sum() + np.concatenate([[0.0], np.cumsum(change)])
    edges = np.concatenate([[0.0], flip, [np.pi]])
    # Between two flips that are one and the same there is no angle to take.
    room: NDArray[Any] = np.diff(edges) > _SAME_ANGLE
    best = int(np.argmax(np.where(room, np.abs(values), -1.0)))
    return float(edges[best] + edges[best + 1]) / 2
