"""Linear thresholds over two numbers, exactly: sweeps of the half circle of directions."""

import math

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.clocks import WALL_CLOCK, Clock
from gerrymend._runtime.compiling import njit
from gerrymend.subgroups.base import value_of_all
from gerrymend.subgroups.rules import Members

# Two whole vectors within r of each other's length are parallel or at least 1/(2r²) apart in angle.
_SAME_ANGLE = 1e-12
_LARGEST = 2.0e5
# Rows that a line passes between two looks at the clock.
_STEPS = 10**6


def fits(x: NDArray[np.int64]) -> bool:
    """Say whether the coordinates are small enough to tell all directions between rows apart."""
    return x.dtype != object and float(np.ptp(x, axis=0).max(initial=0)) < _LARGEST


def worst_half_plane(
    x: NDArray[np.int64], residual: Array, deadline: float = math.inf, clock: Clock = WALL_CLOCK
) -> tuple[Members, bool]:
    """Find the side of a line with the largest |value|, one of two sides that have the same.

    A value is the sum of the residual over a side, less half of the sum of all (`subgroups.base`).
    All rows differ. The second result is whether it is the worst, or was by the deadline.

    Let j be the last row of the group, the one that its line can be moved up to. It has the
    residual's sign in which the group has gained, or the group would be better without it; the
    complement has the other sign, so the rows of the rarer sign will do. The line is turned about
    each of these: O(m log m) for one.

    >>> x = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    >>> members, complete = worst_half_plane(x, np.array([-0.5, 0.5, -0.5, 0.5]))
    >>> members.tolist(), complete
    ([False, True, False, True], True)
    """
    half = float(value_of_all(residual)) / 2
    rarer = 1.0 if (residual > 0).sum() <= (residual < 0).sum() else -1.0
    pivots = np.flatnonzero(rarer * residual > 0)
    points = np.ascontiguousarray(x, dtype=np.float64)
    members: Members = np.zeros(len(x), dtype=bool)
    best = abs(half)
    at_once = 1 + _STEPS // len(x)
    for start in range(0, len(pivots), at_once):
        if clock() >= deadline:
            return members, False
        clock.worked(at_once * len(x))
        pivot, angle, with_pivot, value = turn_about(
            points, residual, half, pivots[start : start + at_once], best
        )
        if value > best:
            best = value
            members = (points - points[pivot]) @ np.array([np.cos(angle), np.sin(angle)]) > 0.0
            members[pivot] = with_pivot
    return members, True


@njit(cache=True)
def turn_about(
    x: Array, residual: Array, half: float, pivots: NDArray[np.intp], best: float
) -> tuple[int, float, bool, float]:
    """Return the pivot, the angle of the normal, whether the pivot is in, and the |value|.

    Only values above `best` are looked for.

    With V the value of the rows strictly on the normal's side, the groups are worth V and V + W_j;
    those on the other side are complements. In half a turn of the normal, each row changes sides
    once.
    """
    m = len(x)
    best_pivot = -1
    best_angle = 0.0
    best_in = False
    slope = np.empty(m)
    change = np.empty(m)
    for j in pivots:
        value = -half
        for i in range(m):
            f = x[i, 0] - x[j, 0]
            s = x[i, 1] - x[j, 1]
            is_in = f > 0.0 or (f == 0.0 and s > 0.0)  # just after angle 0
            if is_in:
                value += residual[i]
            if f == 0.0:
                slope[i] = -np.inf
                change[i] = 0.0
            else:
                slope[i] = s / f
                change[i] = -residual[i] if is_in else residual[i]
        order = np.argsort(slope)
        before = 0.0
        for place in range(m + 1):
            here = np.arctan2(1.0, -slope[order[place]]) if place < m else np.pi
            gain = max(abs(value), abs(value + residual[j]))
            if gain > best and here - before > _SAME_ANGLE:
                best = gain
                best_pivot = j
                best_angle = (before + here) / 2
                best_in = abs(value + residual[j]) >= abs(value)
            if place < m:
                value += change[order[place]]
                before = here
    return best_pivot, best_angle, best_in, best
