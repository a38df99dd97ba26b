"""Ascent along great circles of directions: the kernel of the search for linear thresholds.

Write a threshold as a·z > 0 with z = (standardised attributes, 1). On the great circle through a
and b, a cos φ + b sin φ, row i has the value f_i cos φ + s_i sin φ, f = a·z and s = b·z. In half a
turn its sign changes once, where cot φ = −s_i / f_i; cot falls in φ, so rows change sides in the
order of s_i / f_i. One sort and a running sum of W give the exact best of the whole circle,
thresholds included, in O(m log m).

A value is the sum of W over a group less `half` of the sum of all W, 0 where W is centred: that of
the other side is then the same with its sign turned (`subgroups.base`), and its size is maximised.
"""

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit
from gerrymend.subgroups.thresholds.binned_circles import best_in_bins

# Changes this close on a circle are one: rounding must not part tied rows.
SAME_ANGLE = 1e-11
# Of so many rows few have to be sorted, if they are put into bins: some thirty rows in each.
_MANY_ROWS = 2048
_ROWS_A_BIN = 32
_FEWEST_BINS = 256
_MOST_BINS = 4096


@njit(cache=True)
def best_on_circle(
    first: Array,
    second: Array,
    residual: Array,
    half: float,
    rows: NDArray[np.intp],
    smallest: int,
) -> float:
    """Return the angle in [0, π) whose group has the largest |value|, exact on the circle.

    Of the groups with at least `smallest` of the `rows` in and out; NaN if there is none.

    >>> angle = best_on_circle(np.array([1.0, -1.0]), np.array([1.0, 1.0]), np.array([1.0, 1.0]),
    ...                        0.0, np.array([1, 1]), 0)
    >>> bool(0.25 * np.pi < angle < 0.75 * np.pi)
    True
    """
    m = len(first)
    if m >= _MANY_ROWS:
        n_bins = min(max(m // _ROWS_A_BIN, _FEWEST_BINS), _MOST_BINS)
        return best_in_bins(first, second, residual, half, rows, smallest, n_bins, SAME_ANGLE)
    slope = np.empty(m)
    # Just after angle 0: a row with f = 0 changes sides at 0, and has the sign of s from there on.
    value = -half
    inside = 0
    total = 0
    change = np.empty(m)
    turn = np.empty(m, dtype=np.intp)
    for i in range(m):
        f = first[i]
        s = second[i]
        total += rows[i]
        if f == 0.0:
            slope[i] = -np.inf
            change[i] = 0.0
            turn[i] = 0
            is_in = s > 0.0
        else:
            slope[i] = s / f
            is_in = f > 0.0
            change[i] = -residual[i] if is_in else residual[i]
            turn[i] = -rows[i] if is_in else rows[i]
        if is_in:
            value += residual[i]
            inside += rows[i]
    order = np.argsort(slope)
    best = -1.0
    angle = np.nan
    before = -np.inf
    for place in range(m + 1):
        here = slope[order[place]] if place < m else np.inf
        if abs(value) > best and smallest <= inside <= total - smallest:
            # cot φ = −slope, so an angle is arctan2(1, −slope).
            low = np.arctan2(1.0, -before)
            high = np.arctan2(1.0, -here)
            if high - low > SAME_ANGLE:
                best = abs(value)
                angle = (low + high) / 2
        if place < m:
            value += change[order[place]]
            inside += turn[order[place]]
            before = here
    return angle


@njit(cache=True)
def measure(u: Array, residual: Array, half: float, rows: NDArray[np.intp], smallest: int) -> float:
    """|value| of the rows with u > 0, ties left out; −1 if the group is too small or too large."""
    value = -half
    inside = 0
    total = 0
    for i in range(len(u)):
        total += rows[i]
        if u[i] > TIE:
            value += residual[i]
            inside += rows[i]
    return abs(value) if smallest <= inside <= total - smallest else -1.0


@njit(cache=True)
def _along(direction: Array, z: Array) -> Array:
    """Return the value of each row in a direction."""
    u = np.zeros(z.shape[1])
    for k in range(len(z)):
        for i in range(len(u)):
            u[i] += direction[k] * z[k, i]
    return u


@njit(cache=True, nogil=True)
def ascend(
    z: Array,
    residual: Array,
    half: float,
    rows: NDArray[np.intp],
    smallest: int,
    start: Array,
    since_gain: int,
    turn: int,
    most: int,
    least_gain: float,
) -> tuple[Array, float, int, int]:
    """Climb from a direction along the circles through each coordinate axis in turn.

    `z` has a row for each coordinate. Ends when no circle has led higher since each had its turn,
    or for a pause after so many circles: the last two things returned are how many have led
    nowhere and whose turn it is, to go on from.
    """
    size = len(z)
    direction = start.copy()
    u = _along(direction, z)
    value = measure(u, residual, half, rows, smallest)
    for _ in range(most):
        if since_gain >= size:
            break
        axis = turn
        turn = (turn + 1) % size
        since_gain += 1
        angle = best_on_circle(u, z[axis], residual, half, rows, smallest)
        if np.isnan(angle):
            continue
        cosine = np.cos(angle)
        sine = np.sin(angle)
        candidate = cosine * direction
        candidate[axis] += sine
        length = np.sqrt((candidate * candidate).sum())
        if length == 0.0:
            continue
        # Few circles lead higher: the others are seen off without a pass over all of z.
        moved = (cosine * u + sine * z[axis]) / length
        if measure(moved, residual, half, rows, smallest) <= value + least_gain:
            continue
        candidate /= length
        moved = _along(candidate, z)
        new_value = measure(moved, residual, half, rows, smallest)
        if new_value > value + least_gain:
            direction = candidate
            u = moved
            value = new_value
            since_gain = 0
    return direction, value, since_gain, turn
