"""Linear thresholds of two attributes through their mean, exactly: one sweep of the directions.

In half a turn of the direction a row changes sides once, so that one sort of these angles gives
every group, in O(m log m). Rows that lie on a threshold may be in or out, all of them: at the
angles where rows change sides, and for rows at the mean itself at any angle. Complements have the
opposite directions.
"""

import math

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import BoundClass, Found, value_of_all
from gerrymend.subgroups.encoding import DirectionRules, LinearEncoding

# Rows that change sides this close together do so at once.
_SAME_ANGLE = 1e-13


class ThroughMean(BoundClass):
    """Every group θ·(x − mean) > 0 or ≥ 0."""

    exact = True
    is_closed = True

    def __init__(self, columns: tuple[Column, ...], encoding: LinearEncoding, mean: Array) -> None:
        centred = encoding.matrix(columns) - mean
        scale = np.abs(centred).max(axis=0)
        scale[scale == 0] = 1.0
        x = centred / scale
        self._x = np.where(np.abs(x) <= TIE, 0.0, x)
        self.covers = (
            f"every linear threshold of {' and '.join(encoding.levels)} through their mean"
        )
        # A key is a direction, and 1 if the rows on the threshold are in.
        self.source = DirectionRules(
            encoding,
            np.append(-mean / scale, 2.0 * TIE),
            np.vstack([np.diag(1.0 / scale), np.zeros(2)]),
        )
        angle = (np.arctan2(self._x[:, 1], self._x[:, 0]) + np.pi / 2) % np.pi
        angle[angle > np.pi - _SAME_ANGLE] = 0.0
        self._moves = self._x.any(axis=1)  # rows at the mean are on every threshold
        self._order = np.argsort(angle, kind="stable")
        turns = angle[self._order]
        self._starts = np.flatnonzero(np.diff(turns, prepend=-1.0) > _SAME_ANGLE)
        self._turns = turns[self._starts]
        before = (self._turns[0] + self._turns[-1] - np.pi) / 2
        self._first = self._x @ np.array([np.cos(before), np.sin(before)]) > TIE

    def worst(self, residuals: Array) -> Found:
        """Return the exact worst group, for each residual."""
        no_rows = np.zeros(len(self._x), dtype=np.intp)
        keys = np.array([self._best(residual, no_rows, 0) for residual in residuals])
        return self._found(residuals, keys)

    def worst_of_size(
        self, residual: Array, rows: NDArray[np.intp], smallest: int, *, seconds: float = math.inf
    ) -> Found | None:
        """Return the exact worst of the groups with at least so many rows in and out."""
        key = self._best(residual, rows, smallest)
        return None if key is None else self._found(residual[None], key[None])

    def _found(self, residuals: Array, keys: Array) -> Found:
        u = keys[:, :2] @ self._x.T
        members = np.where(keys[:, 2:] > 0, u >= -TIE, u > TIE).astype(np.float64)
        values = np.vecdot(residuals, members)
        return Found(values, members, keys)

    def _best(self, residual: Array, rows: NDArray[np.intp], smallest: int) -> Array | None:
        """Return the key of the largest |value| among groups of a size."""
        values = self._sums(residual)
        sizes = self._sums(rows)
        fits = (sizes >= smallest) & (rows.sum() - sizes >= smallest)
        if not fits.any():
            return None
        # Both sides have the same |value − half|, half of what everyone has (`subgroups.base`).
        half = float(value_of_all(residual)) / 2
        sizes = np.where(fits, np.abs(values - half), -1.0)
        place, on = np.unravel_index(np.argmax(sizes), values.shape)
        ends = np.append(self._turns, self._turns[:1] + np.pi)
        angle = (
            ends[place // 2] if place % 2 == 0 else (ends[place // 2] + ends[place // 2 + 1]) / 2
        )
        key = np.array([np.cos(angle), np.sin(angle), float(on)])
        is_better = half * (values[place, on] - half) < 0  # the other side is the worse one
        return np.array([-key[0], -key[1], 1.0 - key[2]]) if is_better else key

    def _sums(self, amounts: NDArray[np.generic]) -> Array:
        """Sum over the groups at each turn and after it, without and with the rows on them.

        Where rows L leave and rows E enter, a group that was V just before is V − L without the
        rows on its threshold, V + E with them, and V − L + E after.
        """
        first = np.where(self._first, amounts, 0.0)
        leave = np.add.reduceat(first[self._order], self._starts)
        enter = np.where(self._first | ~self._moves, 0.0, amounts)
        enter = np.add.reduceat(enter[self._order], self._starts)
        after = first.sum() + np.cumsum(enter - leave)
        before = after - (enter - leave)
        at_mean = amounts[~self._moves].sum()
        sums = np.empty((2 * len(after), 2))
        sums[::2] = np.column_stack([before - leave, before + enter + at_mean])
        sums[1::2] = np.column_stack([after, after + at_mean])
        return sums
