"""The best of a great circle of many rows, of which only some are sorted.

Rows change sides in the order of a slope (`great_circles`). They are put into bins of slopes, and
the value before each bin is a running sum. Inside a bin it can't rise by more than the sum of its
positive changes, nor fall by more than that of its negative ones: only the rows of bins that could
exceed the best value between bins are sorted. What is found is the same.
"""

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit

# What else is summed in another order may differ so much, relative to the sum of sizes.
_ROUNDING = 1e-12


@njit(cache=True)
def best_in_bins(
    first: Array,
    second: Array,
    residual: Array,
    half: float,
    rows: NDArray[np.intp],
    smallest: int,
    n_bins: int,
    same_angle: float,
) -> float:
    """Return what `great_circles.best_on_circle` does."""
    m = len(first)
    of_row = np.empty(m, dtype=np.int32)
    # By bin: rows, the least and the largest slope, changes of the value up and down, and of rows.
    count = np.zeros(n_bins + 1, dtype=np.intp)
    low = np.full(n_bins + 1, np.inf)
    high = np.full(n_bins + 1, -np.inf)
    up = np.zeros(n_bins + 1)
    down = np.zeros(n_bins + 1)
    turn = np.zeros(n_bins + 1, dtype=np.intp)
    value = -half
    inside = 0
    total = 0
    for i in range(m):
        f = first[i]
        s = second[i]
        total += rows[i]
        is_in = f > 0.0
        if f == 0.0:  # it changes sides at the angle 0, before all others
            is_in = s > 0.0
            of_row[i] = -1
        else:
            slope = s / f
            # Rises in the slope, from −1 to 1.
            even = (s if is_in else -s) / (abs(f) + abs(s))
            b = min(int(0.5 * (even + 1.0) * n_bins), n_bins - 1)
            of_row[i] = b
            count[b] += 1
            low[b] = min(low[b], slope)
            high[b] = max(high[b], slope)
            change = -residual[i] if is_in else residual[i]
            if change > 0.0:
                up[b] += change
            else:
                down[b] -= change
            turn[b] += -rows[i] if is_in else rows[i]
        if is_in:
            value += residual[i]
            inside += rows[i]
    # Before each bin, and after the last: the value, the rows inside, and the slope before.
    starts = np.empty(n_bins + 1)
    insides = np.empty(n_bins + 1, dtype=np.intp)
    befores = np.empty(n_bins + 1)
    before = -np.inf
    floor = -1.0
    scale = abs(half)
    for b in range(n_bins + 1):
        starts[b] = value
        insides[b] = inside
        befores[b] = before
        if count[b] or b == n_bins:
            wide = np.arctan2(1.0, -low[b]) - np.arctan2(1.0, -before) > same_angle
            if wide and smallest <= inside <= total - smallest:
                floor = max(floor, abs(value))
            value += up[b] - down[b]
            inside += turn[b]
            scale += up[b] + down[b]
            before = max(before, high[b])
    floor -= _ROUNDING * scale
    # The rows of bins that may reach it, together.
    ends = np.zeros(n_bins + 1, dtype=np.intp)
    chosen = 0
    for b in range(n_bins):
        if max(starts[b] + up[b], down[b] - starts[b]) >= floor:
            chosen += count[b]
        else:
            count[b] = 0
        ends[b] = chosen
    members = np.empty(chosen, dtype=np.intp)
    for i in range(m):
        b = of_row[i]
        if b >= 0 and count[b]:
            ends[b] -= 1
            members[ends[b]] = i
    best = -1.0
    angle = np.nan
    for b in range(n_bins + 1):
        if count[b] == 0 and b < n_bins:
            continue
        here = members[ends[b] : ends[b] + count[b]]
        slopes = second[here] / first[here]
        order = np.argsort(slopes)
        value = starts[b]
        inside = insides[b]
        before = befores[b]
        for place in range(len(here) + 1):
            # After the last of a bin comes the first of the next.
            if place == len(here) and b < n_bins:
                break
            after = slopes[order[place]] if place < len(here) else np.inf
            if abs(value) > best and smallest <= inside <= total - smallest:
                begin = np.arctan2(1.0, -before)
                end = np.arctan2(1.0, -after)
                if end - begin > same_angle:
                    best = abs(value)
                    angle = (begin + end) / 2
            if place < len(here):
                i = here[order[place]]
                is_in = first[i] > 0.0
                value += -residual[i] if is_in else residual[i]
                inside += -rows[i] if is_in else rows[i]
                before = after
    return angle
