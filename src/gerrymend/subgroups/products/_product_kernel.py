"""The depth-first search for the worst product of conditions, one an attribute.

The table of some attributes is kept level by level. The ids of level ℓ are the joint values of
attributes ℓ … k−1, in lexicographic order, so that those of one value of attribute ℓ are a slice,
and `child` is the id of the rest on the next level. To choose an option of attribute ℓ is to add
slices of level ℓ into level ℓ+1, one at a time: an interval grows by a value, a set changes by one
in the order of a Gray code. What is then on level ℓ+1 bounds what is below it: a product takes
whole ids, so its value is at most the positive parts Σ⁺ and at least minus the negative ones. The
last attribute needs no options: its best is a maximum subarray, or all that is positive.

All sums are of whole numbers (`_sums.as_whole`), so that bounds kept up to date by adding and
subtracting are what they would be if summed anew, and equals are equal.

Loops are written out: numba compiles each in a tenth of a second, and what NumPy has in a word (an
assignment between slices, a sort, a sum) in up to two seconds, which whoever comes first waits for.
"""

import numpy as np

from gerrymend._runtime.compiling import njit

CATEGORY, INTERVAL, HALF_LINE, SET = range(4)

_SWEEP_ENDS = -1
_NONE = -(1 << 62)


@njit(cache=True)
def _number_of_sweeps(kind, size):
    """Options are run through in sweeps, each from nothing and a value at a time."""
    if kind == HALF_LINE:
        return 2  # from the lowest value up, and from the highest down
    return 1 if kind == SET else size  # intervals and categories by their first value


@njit(cache=True)
def _value_to_add(kind, size, sweep, step):
    """The value whose slice the next step of a sweep adds (or, for a set, adds or takes out)."""
    if kind == CATEGORY:
        return sweep if step == 0 else _SWEEP_ENDS
    if kind == INTERVAL:
        return sweep + step if sweep + step < size else _SWEEP_ENDS
    if kind == HALF_LINE:
        if step >= size - 1:
            return _SWEEP_ENDS
        return step if sweep == 0 else size - 1 - step
    if step + 1 >= 1 << size:
        return _SWEEP_ENDS
    value = 0  # Gray code: step t flips the lowest bit of t + 1
    while not ((step + 1) >> value) & 1:
        value += 1
    return value


@njit(cache=True)
def _option(kind, size, sweep, steps):
    """What a sweep holds after so many steps: ranks [low, high), or a set's bits and 0."""
    if kind == SET:
        return steps ^ (steps >> 1), 0
    if kind == HALF_LINE and sweep == 1:
        return size - steps, size
    first = 0 if kind == HALF_LINE else sweep
    return first, first + steps


@njit(cache=True)
def _best_interval(w, rows, sign, fewest, most):
    """Largest sign·Σw over an interval with a number of rows between two others.

    Prefix sums P and prefix counts C: the best end for each start, P[j] − min P[i]. Counts only
    grow with i, so the starts that fit an end are a window that moves up: its minimum is kept in
    a queue of candidates in increasing order.
    """
    size = len(w)
    sums, counts = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    for v in range(size):
        sums[v + 1], counts[v + 1] = sums[v] + sign * w[v], counts[v] + rows[v]
    queue = np.empty(size + 1, np.int64)
    head = tail = entered = 0
    best, low, high = _NONE, 0, 0
    for end in range(1, size + 1):
        while entered < end and counts[end] - counts[entered] >= fewest:
            while tail > head and sums[queue[tail - 1]] > sums[entered]:
                tail -= 1
            queue[tail] = entered
            tail += 1
            entered += 1
        while head < tail and counts[end] - counts[queue[head]] > most:
            head += 1
        if head < tail and sums[end] - sums[queue[head]] > best:
            best, low, high = sums[end] - sums[queue[head]], queue[head], end
    return best, low, high


@njit(cache=True)
def _best_subarray(w, sign):
    """Largest sign·Σw over a non-empty interval of any size (Kadane)."""
    best, low, high = _NONE, 0, 0
    running, start = 0, 0
    for v in range(len(w)):
        if running <= 0:
            running, start = 0, v
        running += sign * w[v]
        if running > best:
            best, low, high = running, start, v + 1
    return best, low, high


@njit(cache=True)
def _total(values):
    total = 0
    for v in range(len(values)):
        total += values[v]
    return total


@njit(cache=True)
def _best_half_line(w, rows, sign, fewest, most):
    size = len(w)
    total, total_rows = _total(w), _total(rows)
    best, low, high = _NONE, 0, 0
    below = below_rows = 0
    for v in range(size - 1):
        below += w[v]
        below_rows += rows[v] if len(rows) else 0
        if sign * below > best and fewest <= below_rows <= most:
            best, low, high = sign * below, 0, v + 1
        above, above_rows = total - below, total_rows - below_rows
        if sign * above > best and fewest <= above_rows <= most:
            best, low, high = sign * above, v + 1, size
    return best, low, high


@njit(cache=True)
def _best_value(w, rows, sign, fewest, most):
    best, low = _NONE, 0
    for v in range(len(w)):
        inside = rows[v] if len(rows) else 0
        if sign * w[v] > best and fewest <= inside <= most:
            best, low = sign * w[v], v
    return best, low, low + 1


@njit(cache=True)
def _decreasing(w, sign):
    """Places of values from the largest sign·w to the least, equals in order (a merge sort)."""
    size = len(w)
    order, merged = np.arange(size), np.empty(size, np.int64)
    width = 1
    while width < size:
        for begin in range(0, size, 2 * width):
            middle, end = min(begin + width, size), min(begin + 2 * width, size)
            left, right = begin, middle
            for i in range(begin, end):
                from_left = left < middle and (
                    right == end or sign * w[order[left]] >= sign * w[order[right]]
                )
                if from_left:
                    merged[i] = order[left]
                    left += 1
                else:
                    merged[i] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@njit(cache=True)
def _best_set(w, rows, sign, fewest, most):
    """All values of positive sign·w; within limits of size, the best of those led by the largest.

    Returned as how many of the values in decreasing order. With limits it is a knapsack, and this
    a lower bound.
    """
    best, taken = _NONE, 0
    value = inside = 0
    if len(rows) == 0:
        for v in range(len(w)):
            if sign * w[v] > 0:
                value += sign * w[v]
                inside += 1
        return value, inside, 0
    order = _decreasing(w, sign)
    for i in range(len(w)):
        value += sign * w[order[i]]
        inside += rows[order[i]]
        if value > best and fewest <= inside <= most:
            best, taken = value, i + 1
    return best, taken, 0


@njit(cache=True)
def _best_of_last(kind, w, rows, sign, fewest, most):
    """The best option of the last attribute: its value and range."""
    if kind == CATEGORY:
        return _best_value(w, rows, sign, fewest, most)
    if kind == HALF_LINE:
        return _best_half_line(w, rows, sign, fewest, most)
    if kind == SET:
        return _best_set(w, rows, sign, fewest, most)
    if len(rows) == 0:
        return _best_subarray(w, sign)
    return _best_interval(w, rows, sign, fewest, most)


@njit(cache=True)
def _clear(level, start, w, rows, sums):
    for i in range(start[level], start[level + 1]):
        w[i] = 0
        if len(rows):
            rows[i] = 0
    for k in range(3):
        sums[level, k] = 0


@njit(cache=True)
def _add(begin, end, sign, child, w, rows, sums):
    """Add a slice of ids into the next level, and keep its sums."""
    for i in range(begin, end):
        if w[i] != 0:
            old = w[child[i]]
            new = old + sign * w[i]
            w[child[i]] = new
            sums[0] += max(new, 0) - max(old, 0)
            sums[1] += max(-new, 0) - max(-old, 0)
        if len(rows):
            rows[child[i]] += sign * rows[i]
            sums[2] += sign * rows[i]


@njit(cache=True)
def _take_off(begin, end, w, left):
    """Take the Σ⁺ and Σ⁻ of a slice off what is left."""
    for i in range(begin, end):
        left[0] -= max(w[i], 0)
        left[1] -= max(-w[i], 0)


@njit(cache=True)
def _try_last(kinds, sizes, start, w, rows, limits, sweeps, steps, best, best_option):
    """Complete the options that are chosen by the best of the last attribute."""
    last = len(kinds) - 1
    table, counts = w[start[last] : start[last + 1]], rows[start[last] : start[last + 1]]
    for sign in (1, -1):
        value, low, high = _best_of_last(kinds[last], table, counts, sign, limits[0], limits[1])
        if value > best[0]:
            best[0], best[1] = value, sign
            best_option[last, 0], best_option[last, 1] = low, high
            for outer in range(last):
                option = _option(kinds[outer], sizes[outer], sweeps[outer], steps[outer])
                best_option[outer, 0], best_option[outer, 1] = option


@njit(cache=True)
def _enter(level, start, w, rows, sums, left, sweeps, steps):
    """Stand before the first option of an attribute that is not the last."""
    sweeps[level] = steps[level] = 0
    left[level, 0], left[level, 1] = sums[level, 0], sums[level, 1]
    _clear(level + 1, start, w, rows, sums)


@njit(cache=True)
def start_search(start, w, rows, sums, left, sweeps, steps):
    """Sum up the first level, and stand before its first option."""
    for i in range(start[0], start[1]):
        sums[0, 0] += max(w[i], 0)
        sums[0, 1] += max(-w[i], 0)
    left[0, 0], left[0, 1] = sums[0, 0], sums[0, 1]
    if len(start) > 2:
        _enter(np.int64(0), start, w, rows, sums, left, sweeps, steps)


@njit(cache=True)
def continue_search(
    kinds, sizes, first, child, start, w, rows, limits, level, sums, left, sweeps, steps,
    best, best_option, work,
):  # fmt: skip
    """Search on from where `level`, `sweeps` and `steps` stand, until so much work is done.

    Returns the level that it stands on: −1 at the end. `sums` has Σ⁺, Σ⁻ and rows of each level,
    `left` those parts of it that the sweeps to come can still take. `best` is the |value| to
    exceed and the sign of what did last, `best_option` its ranges.
    """
    last = len(kinds) - 1
    while level >= 0 and work > 0:
        kind, size = kinds[level], sizes[level]
        if level == last:
            _try_last(kinds, sizes, start, w, rows, limits, sweeps, steps, best, best_option)
            work -= size
            level -= 1
            continue
        sweep = sweeps[level]
        value = _value_to_add(kind, size, sweep, steps[level])
        if value == _SWEEP_ENDS:
            if kind in (CATEGORY, INTERVAL):  # later sweeps have no part in this one's first value
                _take_off(first[level, sweep], first[level, sweep + 1], w, left[level])
            sweeps[level], steps[level] = sweep + 1, 0
            _clear(level + 1, start, w, rows, sums)
            work -= start[level + 2] - start[level + 1]
            is_last = sweep + 1 == _number_of_sweeps(kind, size)
            if is_last or max(left[level, 0], left[level, 1]) <= best[0]:
                level -= 1
            continue
        steps[level] += 1
        begin, end = first[level, value], first[level, value + 1]
        takes_out = kind == SET and not (_option(kind, size, 0, steps[level])[0] >> value) & 1
        _add(begin, end, -1 if takes_out else 1, child, w, rows, sums[level + 1])
        work -= 1 + end - begin
        most = max(sums[level + 1, 0], sums[level + 1, 1])
        if most > best[0] and sums[level + 1, 2] >= limits[0]:
            level += 1
            if level < last:
                _enter(level, start, w, rows, sums, left, sweeps, steps)
    return level


@njit(cache=True)
def add_by(code, values, table):
    """Add values into a table by their code."""
    for i in range(len(values)):
        table[code[i]] += values[i]


@njit(cache=True)
def add_by_two(first, second, size, values, table):
    """Add values into a table by first·size + second."""
    for i in range(len(values)):
        table[first[i] * size + second[i]] += values[i]
