"""Compiled depth-first search for the worst product of conditions, one an attribute.

The table of k attributes is kept in levels. The ids of level ℓ are the joint values of attributes
ℓ … k−1 in lexicographic order, so the ids with one value of attribute ℓ are a slice, and `child` of
an id is the id of its remaining values on level ℓ+1.

To choose an option (a condition) of attribute ℓ is to add slices of level ℓ into level ℓ+1, one at
a time: an interval grows by a value, a set changes by one value in the order of a Gray code. The
sums on level ℓ+1 bound everything below: a product takes whole ids, so its value is at most the sum
Σ⁺ of the positive entries, and at least minus the sum Σ⁻ of the negative ones. The last attribute
is not enumerated: its best option is a maximum subarray, or all positive values.

All sums are of whole numbers (`_numeric.sums.as_whole`). Bounds that are updated by adding and
subtracting are then what they would be if summed anew, and ties are exact.

Loops are written out because of compile time: numba takes a tenth of a second for each, and up to
two seconds for a NumPy call (an assignment between slices, a sort, a sum), which the first caller
waits for.

In all functions `w` and `rows` are sums of the residual and numbers of rows by id or value, and
`rows` is empty if the size of a group doesn't matter; `sign` is 1 or −1, and `side` one of these
where only values of that sign count, 0 where both do; `fewest` and `most` limit the number of rows
of a group. An option is a range of ranks [low, high), or a set's bits and 0.
"""

import numpy as np

from gerrymend._runtime.compiling import njit

CATEGORY, INTERVAL, HALF_LINE, SET = range(4)

_SWEEP_ENDS = -1
_NONE = -(1 << 62)  # below every sum of whole numbers: nothing has been found


@njit(inner=True, cache=True)
def _number_of_sweeps(kind, size):
    """Return the number of sweeps over the options: each starts empty and adds value by value."""
    if kind == HALF_LINE:
        return 2  # from the lowest value up, and from the highest down
    return 1 if kind == SET else size  # intervals and categories by their first value


@njit(inner=True, cache=True)
def _value_to_add(kind, size, sweep, step):
    """Return the value whose slice the next step of a sweep adds, or for a set adds or removes."""
    if kind == CATEGORY:
        return sweep if step == 0 else _SWEEP_ENDS
    if kind == INTERVAL:
        return sweep + step if sweep + step < size else _SWEEP_ENDS
    if kind == HALF_LINE:
        # All values together are no half-line.
        if step >= size - 1:
            return _SWEEP_ENDS
        return step if sweep == 0 else size - 1 - step
    if step + 1 >= 1 << size:
        return _SWEEP_ENDS
    value = 0  # Gray code: step t flips the lowest bit of t + 1
    while not ((step + 1) >> value) & 1:
        value += 1
    return value


@njit(inner=True, cache=True)
def _option(kind, size, sweep, steps):
    """Return the option that a sweep holds after `steps` steps."""
    if kind == SET:  # the Gray code of the number of steps
        return steps ^ (steps >> 1), 0
    if kind == HALF_LINE and sweep == 1:
        return size - steps, size
    first = 0 if kind == HALF_LINE else sweep
    return first, first + steps


@njit(cache=True)
def _best_interval(w, rows, sign, fewest, most):
    """Return the largest sign·Σw over an interval with `fewest` to `most` rows, and its ranks.

    With prefix sums P and prefix counts C, the value of an end j is P[j] − min P[i] over the starts
    i with fewest ≤ C[j] − C[i] ≤ most. Counts only grow, so these starts are a window that moves
    up, and its minimum is the head of a queue of candidates with increasing P.
    """
    size = len(w)
    sums = np.zeros(size + 1, np.int64)
    counts = np.zeros(size + 1, np.int64)
    for v in range(size):
        sums[v + 1] = sums[v] + sign * w[v]
        counts[v + 1] = counts[v] + rows[v]
    queue = np.empty(size + 1, np.int64)
    head = tail = entered = 0
    best = _NONE
    low = high = 0
    for end in range(1, size + 1):
        while entered < end and counts[end] - counts[entered] >= fewest:
            # A start that is earlier and has a larger P can't be the minimum any more.
            while tail > head and sums[queue[tail - 1]] > sums[entered]:
                tail -= 1
            queue[tail] = entered
            tail += 1
            entered += 1
        while head < tail and counts[end] - counts[queue[head]] > most:
            head += 1
        if head < tail and sums[end] - sums[queue[head]] > best:
            best = sums[end] - sums[queue[head]]
            low = queue[head]
            high = end
    return best, low, high


@njit(inner=True, cache=True)
def _best_subarray(w, sign):
    """Return the largest sign·Σw over a non-empty interval, and its ranks (Kadane's algorithm)."""
    best = _NONE
    low = high = 0
    running = start = 0
    for v in range(len(w)):
        if running <= 0:
            running = 0
            start = v
        running += sign * w[v]
        if running > best:
            best = running
            low = start
            high = v + 1
    return best, low, high


@njit(inner=True, cache=True)
def _total(values):
    total = 0
    for v in range(len(values)):
        total += values[v]
    return total


@njit(inner=True, cache=True)
def _best_half_line(w, rows, sign, fewest, most):
    """Return the largest sign·Σw below or above a cut, within the limits of rows, and its ranks."""
    size = len(w)
    total = _total(w)
    total_rows = _total(rows)
    best = _NONE
    low = high = 0
    below = below_rows = 0
    for v in range(size - 1):
        below += w[v]
        below_rows += rows[v] if len(rows) else 0
        if sign * below > best and fewest <= below_rows <= most:
            best = sign * below
            low = 0
            high = v + 1
        above = total - below
        above_rows = total_rows - below_rows
        if sign * above > best and fewest <= above_rows <= most:
            best = sign * above
            low = v + 1
            high = size
    return best, low, high


@njit(inner=True, cache=True)
def _best_value(w, rows, sign, fewest, most):
    """Return the largest sign·w of one value, within the limits of rows, and its range."""
    best = _NONE
    low = 0
    for v in range(len(w)):
        inside = rows[v] if len(rows) else 0
        if sign * w[v] > best and fewest <= inside <= most:
            best = sign * w[v]
            low = v
    return best, low, low + 1


@njit(cache=True)
def _decreasing(w, sign):
    """Sort values from the largest sign·w to the least, equals in order (a merge sort)."""
    size = len(w)
    order = np.arange(size)
    merged = np.empty(size, np.int64)
    width = 1
    while width < size:
        for begin in range(0, size, 2 * width):
            middle = min(begin + width, size)
            end = min(begin + 2 * width, size)
            left = begin
            right = middle
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
    """Return the value of the best set, and how many values it takes in decreasing order.

    Without limits these are all values with positive sign·w. With limits of rows the problem is a
    knapsack; this tries the sets that are led by the largest values, and returns a lower bound.
    """
    best = _NONE
    taken = 0
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
            best = value
            taken = i + 1
    return best, taken, 0


@njit(cache=True)
def _best_of_last(kind, w, rows, sign, fewest, most):
    """Return the value and the option of the best condition on the last attribute."""
    if kind == CATEGORY:
        return _best_value(w, rows, sign, fewest, most)
    if kind == HALF_LINE:
        return _best_half_line(w, rows, sign, fewest, most)
    if kind == SET:
        return _best_set(w, rows, sign, fewest, most)
    if len(rows) == 0:
        return _best_subarray(w, sign)
    return _best_interval(w, rows, sign, fewest, most)


@njit(inner=True, cache=True)
def _clear(level, start, w, rows, sums):
    """Set a level to 0, with its sums Σ⁺, Σ⁻ and rows."""
    for i in range(start[level], start[level + 1]):
        w[i] = 0
        if len(rows):
            rows[i] = 0
    for k in range(3):
        sums[level, k] = 0


@njit(inner=True, cache=True)
def _add(begin, end, sign, child, w, rows, sums):
    """Add sign times a slice of ids into the next level, and update its Σ⁺, Σ⁻ and rows."""
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


@njit(inner=True, cache=True)
def _take_off(begin, end, w, left):
    """Subtract the Σ⁺ and Σ⁻ of a slice from those of what is left."""
    for i in range(begin, end):
        left[0] -= max(w[i], 0)
        left[1] -= max(-w[i], 0)


@njit(inner=True, cache=True)
def _most(sums, side):
    """Return the largest |value| that the sums Σ⁺ and Σ⁻ leave room for on a side, or on both."""
    if side == 0:
        return max(sums[0], sums[1])
    return sums[0] if side > 0 else sums[1]


@njit(cache=True)
def _try_last(kinds, sizes, start, w, rows, limits, side, sweeps, steps, best, best_option):
    """Complete the chosen options by the best one of the last attribute; keep it if it is best."""
    last = len(kinds) - 1
    table = w[start[last] : start[last + 1]]
    counts = rows[start[last] : start[last + 1]]
    for sign in (1, -1):
        if sign == -side:
            continue
        value, low, high = _best_of_last(kinds[last], table, counts, sign, limits[0], limits[1])
        if value > best[0]:
            best[0] = value
            best[1] = sign
            best_option[last, 0] = low
            best_option[last, 1] = high
            for outer in range(last):
                option = _option(kinds[outer], sizes[outer], sweeps[outer], steps[outer])
                best_option[outer, 0], best_option[outer, 1] = option


@njit(inner=True, cache=True)
def _enter(level, start, w, rows, sums, left, sweeps, steps):
    """Move before the first option of an attribute that is not the last."""
    sweeps[level] = steps[level] = 0
    left[level, 0] = sums[level, 0]
    left[level, 1] = sums[level, 1]
    _clear(level + 1, start, w, rows, sums)


@njit(cache=True)
def start_search(start, w, rows, sums, left, sweeps, steps):
    """Sum up the first level, and move before its first option; see `continue_search`."""
    for i in range(start[0], start[1]):
        sums[0, 0] += max(w[i], 0)
        sums[0, 1] += max(-w[i], 0)
    left[0, 0] = sums[0, 0]
    left[0, 1] = sums[0, 1]
    if len(start) > 2:
        _enter(np.int64(0), start, w, rows, sums, left, sweeps, steps)


@njit(cache=True)
def continue_search(
    kinds, sizes, first, child, start, w, rows, limits, side, level, sums, left, sweeps, steps,
    best, best_option, work,
):  # fmt: skip
    """Continue the search until `work` table entries are visited; return the level, −1 at the end.

    Parameters
    ----------
    kinds, sizes : kind and number of values, by attribute
    first, child, start : the levels of the table; see `tables.Levels`
    limits : (fewest, most) rows of a group
    side : 1 or −1 where only values of this sign count, 0 where both do
    level, sweeps, steps : the position of the search; the last two are updated in place
    sums : (k, 3), updated in place; Σ⁺, Σ⁻ and rows of each level
    left : (k, 2), updated in place; the parts of Σ⁺ and Σ⁻ that later sweeps can still take
    best : (value, sign), updated in place; the |value| to exceed, and the sign of what exceeded it
    best_option : (k, 2), updated in place; the options of that product
    """
    last = len(kinds) - 1
    while level >= 0 and work > 0:
        kind = kinds[level]
        size = sizes[level]
        if level == last:
            _try_last(kinds, sizes, start, w, rows, limits, side, sweeps, steps, best, best_option)
            work -= size
            level -= 1
            continue
        sweep = sweeps[level]
        value = _value_to_add(kind, size, sweep, steps[level])
        if value == _SWEEP_ENDS:
            if kind in (CATEGORY, INTERVAL):  # later sweeps start after this one's first value
                _take_off(first[level, sweep], first[level, sweep + 1], w, left[level])
            sweeps[level] = sweep + 1
            steps[level] = 0
            _clear(level + 1, start, w, rows, sums)
            work -= start[level + 2] - start[level + 1]
            # Of intervals and categories, later sweeps take only what `left` has still; of
            # half-lines it stays the whole, which bounds them as well.
            is_last = sweep + 1 == _number_of_sweeps(kind, size)
            if is_last or _most(left[level], side) <= best[0]:
                level -= 1
            continue
        steps[level] += 1
        begin = first[level, value]
        end = first[level, value + 1]
        # The step flips the value: it came in if it is in the set now, and else it went out.
        takes_out = kind == SET and not (_option(kind, size, 0, steps[level])[0] >> value) & 1
        _add(begin, end, -1 if takes_out else 1, child, w, rows, sums[level + 1])
        work -= 1 + end - begin
        # Descend only where the bound, and the number of rows, leave room for something worse.
        # Too many rows are no reason to turn back, as further conditions leave fewer; too few are.
        if _most(sums[level + 1], side) > best[0] and sums[level + 1, 2] >= limits[0]:
            level += 1
            if level < last:
                _enter(level, start, w, rows, sums, left, sweeps, steps)
    return level


@njit(cache=True)
def add_by(code, values, table):
    """Add each value into `table[code]`; `np.add.at` without its overhead."""
    for i in range(len(values)):
        table[code[i]] += values[i]


@njit(cache=True)
def add_by_two(first, second, size, values, table):
    """Add each value into `table[first * size + second]`."""
    for i in range(len(values)):
        table[first[i] * size + second[i]] += values[i]
