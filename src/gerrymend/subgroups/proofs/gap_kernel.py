"""Explore boxes of gaps depth-first: the compiled part of `offset_boxes`, which derives it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit

Numbers = NDArray[np.intp]

# Of a gap without a bound on this side.
FAR = 1 << 40
# What a box takes beside the numbers that it reads, in the time of reading one.
_READS_A_BOX = 5000


class Table(NamedTuple):
    """Hold what chains are worth, and how their gaps belong together.

    `highest` is the most that chain y of stratum s is worth with 2^k thresholds from j on, by s, y,
    k and n + j, of n numbers, in one row; `last[s, r, q]` what chain r is worth with its last row
    at number q, −∞ if none of positive weight is there. `gap[r, y]` is the number of the gap
    between two chains, 0 if they are one; `opposite` that between y and r; `sums[g, h]` that of
    both one after the other, −1 if no two chains are so far apart. With `blur` 1, thresholds may be
    one further.
    """

    highest: Array
    last: Array
    gap: Numbers
    opposite: Numbers
    sums: Numbers
    blur: int


class Stack(NamedTuple):
    """Boxes that are still to be looked at.

    Gaps lie between `low` and `high`; the last row in, of each stratum and chain, between `first`
    and `final`, and `best` is the bound of each stratum, of the box that this one was cut from.
    """

    low: Numbers
    high: Numbers
    first: Numbers
    final: Numbers
    best: Array


class _Looked(NamedTuple):
    """Bounds of a box by stratum and last row, and the chain of each stratum's best.

    `places` are those of the table where a chain has its thresholds, for each chain of a last row.
    """

    places: Numbers
    profile: Array
    chain: Numbers


@njit(cache=True)
def explore(
    table: Table, stack: Stack, size: int, target: float, reads: int, summary: Array
) -> tuple[int, int]:
    """Look at boxes that read so many numbers, and return the stack's size and what was read.

    `summary` has the largest bound of boxes not above the target, and of those above it whose gaps
    are as narrow as can be, and the number of boxes. Ends early when it has found one of these with
    a larger bound, which is copied to the last place of the stack.
    """
    n_strata, n_chains, _ = table.last.shape
    looked = _Looked(
        np.empty((n_chains, n_chains, 2), dtype=np.intp),
        np.empty(table.last.shape),
        np.empty(n_strata, dtype=np.intp),
    )
    queue = np.empty(len(table.opposite), dtype=np.intp)
    waiting = np.zeros(len(queue), dtype=np.bool_)
    done = 0
    while size > 0 and done < reads:
        box = size - 1
        bound, n_read = _bound(table, stack, box, target, looked)
        done += n_read + _READS_A_BOX
        summary[2] += 1.0
        if bound <= target:
            summary[0] = max(summary[0], bound)
            size -= 1
            continue
        gap, middle = _choose(table, stack, box, looked)
        if gap < 0:  # nothing is left to halve
            size -= 1
            # Where numbers were not pooled, the caller asks for the group of these gaps at once: if
            # there is one, it is above the target, and the round is over.
            if bound > summary[1]:
                summary[1] = bound
                _copy(stack, box, len(stack.low) - 1)
                break
            continue
        _narrow(table, stack, box, bound - target, looked)
        # The box becomes its own upper half and the copy above it the lower one, which comes next.
        # A half that no offsets can have is dropped, and the stack closed up.
        _copy(stack, box, size)
        kept = box
        for half in (box, size):
            if half == box:
                _limit(stack, half, table.opposite[gap], gap, middle, FAR)
            else:
                _limit(stack, half, table.opposite[gap], gap, -FAR, middle)
            if _tighten(table, stack, half, gap, queue, waiting):
                if kept != half:
                    _copy(stack, half, kept)
                kept += 1
        size = kept
    return size, done


@njit(cache=True)
def _copy(stack: Stack, box: int, place: int) -> None:
    """Copy a box; element by element, as assigning a slice takes numba seconds to compile."""
    for gap in range(stack.low.shape[1]):
        stack.low[place, gap] = stack.low[box, gap]
        stack.high[place, gap] = stack.high[box, gap]
    n_strata, n_chains = stack.first.shape[1:]
    for s in range(n_strata):
        stack.best[place, s] = stack.best[box, s]
        for r in range(n_chains):
            stack.first[place, s, r] = stack.first[box, s, r]
            stack.final[place, s, r] = stack.final[box, s, r]


@njit(cache=True)
def _bound(
    table: Table, stack: Stack, box: int, target: float, looked: _Looked
) -> tuple[float, int]:
    """Return the bound of a box, or any not above the target, and how many numbers were read.

    A stratum that is not yet looked at has at most the bound of the box before it was cut.
    """
    n_strata, n_chains, _ = table.last.shape
    n_entries = len(table.highest) // (n_strata * n_chains)
    _find_places(table, stack, box, looked.places)
    best = stack.best[box]
    bound = 0.0
    for s in range(n_strata):
        bound += best[s]
    read = 0
    for s in range(n_strata):
        bound -= best[s]
        best[s] = 0.0
        looked.chain[s] = -1
        for r in range(n_chains):
            first = stack.first[box, s, r]
            stop = stack.final[box, s, r] + 1
            if first >= stop:
                continue
            profile = looked.profile[s, r, first:stop]
            last = table.last[s, r, first:stop]
            for q in range(len(profile)):
                profile[q] = last[q]
            for y in range(n_chains):
                if y == r:
                    continue
                # The gap places y's thresholds relative to r's last row: for each q they lie in an
                # interval of the same length, which two runs of 2^k cover. So all q read two rows
                # side by side.
                begins = (s * n_chains + y) * n_entries + first
                left = table.highest[begins + looked.places[r, y, 0] :]
                right = table.highest[begins + looked.places[r, y, 1] :]
                for q in range(len(profile)):  # without branches: many are compared at a time
                    profile[q] += left[q] if left[q] > right[q] else right[q]
            read += len(profile) * n_chains
            highest = _largest(profile)
            if highest > best[s]:
                best[s] = highest
                looked.chain[s] = r
        bound += best[s]
        if bound <= target:
            break
    return bound, read


@njit(cache=True)
def _find_places(table: Table, stack: Stack, box: int, places: Numbers) -> None:
    """Write where the table has two intervals that cover the thresholds of a chain, by last row."""
    n_chains, n_numbers = table.last.shape[1:]
    for r in range(n_chains):
        for y in range(n_chains):
            low, high = _ends(n_numbers, stack, box, table.gap[r, y])
            high += table.blur
            level = _level(high - low)
            begins = level * (3 * n_numbers + 3) + n_numbers + 1
            places[r, y, 0] = begins + low
            places[r, y, 1] = begins + high - (1 << level)


@njit(cache=True)
def _ends(n_numbers: int, stack: Stack, box: int, gap: int) -> tuple[int, int]:
    """Return a gap's ends, one beyond all numbers at most; further apart chains don't meet."""
    low = min(max(stack.low[box, gap], -n_numbers - 1), n_numbers)
    return low, max(min(stack.high[box, gap], n_numbers + 1), -n_numbers)


@njit(cache=True)
def _narrow(table: Table, stack: Stack, box: int, slack: float, looked: _Looked) -> None:
    """Leave out last rows whose bound, with the best of other strata, is not above the target."""
    n_strata, n_chains, _ = table.last.shape
    for s in range(n_strata):
        # With B the sum of all best, P_s + B − best_s > T asks for P_s > best_s − (B − T).
        needed = stack.best[box, s] - slack
        for r in range(n_chains):
            profile = looked.profile[s, r]
            first = stack.first[box, s, r]
            final = stack.final[box, s, r]
            while first <= final and profile[first] < needed:
                first += 1
            while first <= final and profile[final] < needed:
                final -= 1
            stack.first[box, s, r] = first
            stack.final[box, s, r] = final


@njit(cache=True)
def _choose(table: Table, stack: Stack, box: int, looked: _Looked) -> tuple[int, int]:
    """Choose the gap to halve, and where; −1 if all are as narrow as they can be.

    Take the best last row of each stratum. A chain that has its highest sum in one half of a gap
    loses something in the other. The gap where both halves lose, summed over strata, goes first.
    """
    n_strata, n_chains, n_numbers = table.last.shape
    n_entries = len(table.highest) // (n_strata * n_chains)
    loss = np.zeros((2, len(table.opposite)))
    for s in range(n_strata):
        r = looked.chain[s]
        if r < 0:
            continue
        number = stack.first[box, s, r]
        while looked.profile[s, r, number] < stack.best[box, s]:
            number += 1
        for y in range(n_chains):
            gap = table.gap[r, y]
            low, high = _ends(n_numbers, stack, box, gap)
            if high - low < 2:
                continue
            at = (s * n_chains + y) * n_entries + n_numbers + number
            # The opposite of a gap is halved in the opposite place.
            middle = (low + high) // 2 if gap < table.opposite[gap] else -((-low - high) // 2)
            lower = _highest(table.highest, n_numbers, at + low, at + middle)
            upper = _highest(table.highest, n_numbers, at + middle, at + high)
            side = 1 if lower > upper else 0
            if gap > table.opposite[gap]:
                gap = table.opposite[gap]
                side = 1 - side
            loss[side, gap] += abs(lower - upper)
    chosen = -1
    largest = -1.0
    for gap in range(1, len(table.opposite)):
        low, high = _ends(n_numbers, stack, box, gap)
        if gap > table.opposite[gap] or high - low < 2:
            continue
        lesser = min(loss[0, gap], loss[1, gap])
        greater = max(loss[0, gap], loss[1, gap])
        # A box is done only when both halves are, so that what both lose counts most. The width
        # decides where no gap loses anything.
        score = 5.0 * lesser + greater + 1e-9 * (high - low)
        if score > largest:
            chosen = gap
            largest = score
    low, high = _ends(n_numbers, stack, box, max(chosen, 0))
    return chosen, (low + high) // 2


@njit(cache=True)
def _level(size: int) -> int:
    """Return k, the largest with 2^k not above a size: two such intervals cover it."""
    level = 0
    while 2 << level <= size:
        level += 1
    return level


@njit(cache=True)
def _highest(highest: Array, n_numbers: int, after: int, until: int) -> float:
    """Return the largest entry after one place, until another, of a chain's row."""
    level = _level(until - after)
    begins = level * (3 * n_numbers + 3) + 1
    return max(highest[begins + after], highest[begins + until - (1 << level)])


@njit(cache=True, fastmath={"nnan", "nsz", "reassoc"})  # no NaN: several at a time
def _largest(values: Array) -> float:
    largest = -math.inf
    for i in range(len(values)):
        largest = values[i] if values[i] > largest else largest
    return largest


@njit(cache=True)
def _limit(stack: Stack, box: int, opposite: int, gap: int, low: int, high: int) -> None:
    """Narrow a gap, and its opposite."""
    if low > stack.low[box, gap]:
        stack.low[box, gap] = low
        stack.high[box, opposite] = -low
    if high < stack.high[box, gap]:
        stack.high[box, gap] = high
        stack.low[box, opposite] = -high


@njit(cache=True)
def _tighten(
    table: Table, stack: Stack, box: int, gap: int, queue: Numbers, waiting: NDArray[np.bool_]
) -> bool:
    """Narrow the gaps that follow from one that has changed; False where nothing is between."""
    lows = stack.low[box]
    highs = stack.high[box]
    size = len(queue)
    queue[0] = gap
    head = 0
    tail = 1
    # Sums of three gaps and more are approached in turns, which need not end.
    while head < min(tail, 20 * size):
        here = queue[head % size]
        head += 1
        waiting[here] = False
        for other in range(1, size):
            both = table.sums[here, other]
            if both < 0:
                continue
            low = lows[here] + lows[other]
            high = highs[here] + highs[other]
            if low < -FAR // 2:  # one of them has no bound
                low = -FAR
            if high > FAR // 2:
                high = FAR
            if low <= lows[both] and high >= highs[both]:
                continue
            opposite = table.opposite[both]
            _limit(stack, box, opposite, both, low, high)
            if lows[both] >= highs[both]:
                _clear(waiting)
                return False
            # A gap and its opposite are narrowed together: one of them in the queue is enough.
            if not (waiting[both] or waiting[opposite]):
                waiting[both] = True
                queue[tail % size] = both
                tail += 1
    _clear(waiting)
    return True


@njit(cache=True)
def _clear(waiting: NDArray[np.bool_]) -> None:
    for i in range(len(waiting)):
        waiting[i] = False
