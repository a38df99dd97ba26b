"""Explore boxes of gaps, the highest bound first: the compiled part of `offset_boxes`."""

import math

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit
from gerrymend.subgroups.proofs.gap_boxes import (
    FAR,
    N_EXPLORED,
    Boxes,
    Flags,
    Gaps,
    copy,
    free_place,
    limit,
    pop,
    push,
    take_place,
    tighten,
)
from gerrymend.subgroups.proofs.gap_families import lower_by_families
from gerrymend.subgroups.proofs.gap_table import AT_A_TIME, Desk, Table, level_of

# What a box takes beside the numbers that it reads, in the time of reading one.
_READS_A_BOX = 5000


@njit(cache=True, _nrt=False)  # it makes no arrays, as inner loops
def explore(
    table: Table, gaps: Gaps, boxes: Boxes, desk: Desk, box: int, goal: float, reads: int
) -> tuple[int, int]:
    """Halve boxes until so many numbers are read; return how many were, and a narrowest box.

    Boxes whose bound is not above the goal are forgotten. Ends early when it comes to one whose
    gaps are as narrow as can be, which waits no longer; else the second number is −1. `box` is one
    to look at first, −1 for none.
    """
    done = 0
    if box >= 0:
        done += _settle(table, gaps, boxes, box, goal, desk)
    while done < reads:
        box = pop(boxes)
        if box < 0:
            break
        if boxes.bound[box] <= goal:
            free_place(boxes, box)
            continue
        if boxes.halved[box, 0] < 0:
            return done, box
        done += _halve(table, gaps, boxes, box, goal, desk)
    return done, -1


@njit(inner=True, cache=True)
def _halve(table: Table, gaps: Gaps, boxes: Boxes, box: int, goal: float, desk: Desk) -> int:
    """Cut a box into two, which wait if there can be groups above the goal."""
    gap, middle = boxes.halved[box]
    copied = take_place(boxes)
    copy(boxes, box, copied)
    reads = 0
    for half in (box, copied):
        above = middle if half == box else -FAR
        below = FAR if half == box else middle
        low = boxes.low[half]
        high = boxes.high[half]
        desk.moved.fill(False)
        limit(low, high, gaps, gap, above, below, desk.moved)
        if tighten(low, high, gaps, gap, desk.queue, desk.waiting, desk.moved):
            _outdate(gaps, boxes, half, desk.moved)
            reads += _settle(table, gaps, boxes, half, goal, desk)
        else:  # no offsets have such gaps
            free_place(boxes, half)
    return reads


@njit(inner=True, cache=True)
def _outdate(gaps: Gaps, boxes: Boxes, box: int, moved: Flags) -> None:
    """Mark the bounds of those last rows from which some gap is another than before."""
    n_strata, n_chains = boxes.first.shape[1:]
    for r in range(n_chains):
        changed = False
        for y in range(n_chains):
            changed |= moved[gaps.between[r, y]]
        if changed:
            for s in range(n_strata):
                if boxes.first[box, s, r] <= boxes.final[box, s, r]:
                    boxes.number[box, s, r] = -1


@njit(inner=True, cache=True)
def _settle(table: Table, gaps: Gaps, boxes: Boxes, box: int, goal: float, desk: Desk) -> int:
    """Bound a box, and let it wait to be halved, or forget it; return how much was read."""
    bound, reads = _bound(table, gaps, boxes, box, goal, desk)
    boxes.counts[N_EXPLORED] += 1
    boxes.bound[box] = bound
    if bound <= goal:
        free_place(boxes, box)
    else:
        gap, middle = _choose(table, gaps, boxes, box, desk)
        boxes.halved[box, 0] = gap
        boxes.halved[box, 1] = middle
        _narrow(boxes, box, bound - goal, desk)
        push(boxes, box)
    return reads + _READS_A_BOX


@njit(inner=True, cache=True)
def _bound(
    table: Table, gaps: Gaps, boxes: Boxes, box: int, goal: float, desk: Desk
) -> tuple[float, int]:
    """Return the bound of a box, or any not above the goal, and how many numbers were read.

    What is not yet read is at most what it was in a larger box. So a stratum is done when no other
    last row had more than the best that was read, and the box when the sum is not above the goal.
    All strata are read first, each chain for itself, and then, at a few times the cost, lowered by
    the families of one attribute after another, as long as the sum is above the goal.
    """
    n_strata, n_chains, _ = table.last.shape
    _find_places(table, boxes, box, desk)
    peak = boxes.peak[box]
    number = boxes.number[box]
    n_stages = 1 + (0 if table.blur else len(gaps.heads))
    desk.stage.fill(0)
    bound = 0.0
    for s in range(n_strata):
        desk.best[s] = max(0.0, _largest(peak[s]))
        bound += desk.best[s]
    reads = 0
    for stage in range(1, n_stages + 1):
        for s in range(n_strata):
            desk.chain[s] = -1
            while bound > goal and desk.best[s] > 0.0:
                # The one with the highest bound, known or outdated; when it is known, that's it.
                r = _first_of(peak[s], desk.best[s])
                if number[s, r] >= 0 or desk.stage[s, r] == stage:
                    desk.chain[s] = r
                    break
                first = boxes.first[box, s, r]
                stop = boxes.final[box, s, r] + 1
                if desk.stage[s, r] == 0:
                    _read(table, gaps, s, r, first, stop, desk)
                    reads += (stop - first) * n_chains
                else:
                    attribute = desk.stage[s, r] - 1
                    lower_by_families(table, gaps, boxes, box, s, r, first, stop, attribute, desk)
                    reads += (stop - first) * n_chains * 3
                profile = desk.profile[s, r, first:stop]
                peak[s, r] = _largest(profile)
                desk.stage[s, r] += 1
                if desk.stage[s, r] == n_stages:
                    number[s, r] = first + _first_of(profile, peak[s, r])
                bound -= desk.best[s]
                desk.best[s] = max(0.0, _largest(peak[s]))
                bound += desk.best[s]
        if bound <= goal:
            break
    return bound, reads


@njit(inner=True, cache=True)
def _find_places(table: Table, boxes: Boxes, box: int, desk: Desk) -> None:
    """Write where the table has two intervals that cover the thresholds of a gap, by last row."""
    n_numbers = table.last.shape[2]
    for gap in range(len(desk.left)):
        low, high = _ends(n_numbers, boxes, box, gap)
        high += table.blur
        level = level_of(high - low)
        begins = level * (3 * n_numbers + 3) + n_numbers + 1
        desk.left[gap] = begins + low
        desk.right[gap] = begins + high - (1 << level)


@njit(inner=True, cache=True, inline="always")  # a call takes as long as a short row
def _read(table: Table, gaps: Gaps, s: int, r: int, first: int, stop: int, desk: Desk) -> None:
    """Write the profile of a stratum with its last row in chain r.

    A gap places y's thresholds relative to r's last row: for each number they lie in an interval of
    the same length, which two runs of 2^k cover. So all numbers read two rows side by side.
    """
    n_chains, n_numbers = table.last.shape[1:]
    starts = desk.starts
    starts.fill(len(table.highest) - n_numbers)  # zeros
    k = 0
    for y in range(n_chains):
        if y != r:
            begins = (s * n_chains + y) * table.stride + first
            starts[k, 0] = begins + desk.left[gaps.between[r, y]]
            starts[k, 1] = begins + desk.right[gaps.between[r, y]]
            k += 1
    profile = desk.profile[s, r, first:stop]
    last = table.last[s, r, first:stop]
    for q in range(len(profile)):
        profile[q] = last[q]
    for k in range(0, len(starts), AT_A_TIME):
        _add_four(table.highest, starts[k : k + AT_A_TIME], profile)


@njit(inner=True, cache=True, inline="always")
def _add_four(highest: Array, starts: NDArray[np.uint64], profile: Array) -> None:
    """Add the larger of two rows of a table, four times; places are unsigned: never from the end.

    Without branches, so that many numbers are compared at a time.
    """
    a, b = starts[0]
    c, d = starts[1]
    e, f = starts[2]
    g, h = starts[3]
    for q in range(np.uint64(len(profile))):
        profile[q] += (
            max(highest[a + q], highest[b + q])
            + max(highest[c + q], highest[d + q])
            + max(highest[e + q], highest[f + q])
            + max(highest[g + q], highest[h + q])
        )


@njit(inner=True, cache=True, fastmath={"nnan", "nsz", "reassoc"})  # no NaN: several at a time
def _largest(values: Array) -> float:
    largest = -math.inf
    for i in range(len(values)):
        largest = values[i] if values[i] > largest else largest
    return largest


@njit(inner=True, cache=True)
def _first_of(values: Array, value: float) -> int:
    """Return the first place that is not below a value."""
    place = 0
    while values[place] < value:
        place += 1
    return place


@njit(inner=True, cache=True)
def _ends(n_numbers: int, boxes: Boxes, box: int, gap: int) -> tuple[int, int]:
    """Return a gap's ends, one beyond all numbers at most; further apart chains don't meet."""
    low = int(boxes.low[box, gap])
    high = int(boxes.high[box, gap])
    return min(max(low, -n_numbers - 1), n_numbers), max(min(high, n_numbers + 1), -n_numbers)


@njit(inner=True, cache=True)
def _narrow(boxes: Boxes, box: int, slack: float, desk: Desk) -> None:
    """Leave out last rows whose bound, with the best of other strata, is not above the goal."""
    n_strata, n_chains = boxes.first.shape[1:]
    for s in range(n_strata):
        # With B the sum of all best, P_s + B − best_s > T asks for P_s > best_s − (B − T).
        needed = desk.best[s] - slack
        for r in range(n_chains):
            first = boxes.first[box, s, r]
            final = boxes.final[box, s, r]
            if first > final:
                continue
            if boxes.peak[box, s, r] < needed:
                final = first - 1
                boxes.peak[box, s, r] = -math.inf
                boxes.number[box, s, r] = 0
            elif desk.stage[s, r] > 0:
                profile = desk.profile[s, r]
                while profile[first] < needed:
                    first += 1
                while profile[final] < needed:
                    final -= 1
            boxes.first[box, s, r] = first
            boxes.final[box, s, r] = final


@njit(inner=True, cache=True)
def _choose(table: Table, gaps: Gaps, boxes: Boxes, box: int, desk: Desk) -> tuple[int, int]:
    """Choose the gap to halve, and where; −1 if all are as narrow as they can be.

    Take the best last row of each stratum. A chain that has its highest sum in one half of a gap
    loses something in the other. The gap where both halves lose, summed over strata, goes first.
    """
    n_strata, n_chains, n_numbers = table.last.shape
    desk.loss.fill(0.0)
    for s in range(n_strata):
        r = desk.chain[s]
        if r < 0:
            continue
        for y in range(n_chains):
            gap = gaps.between[r, y]
            opposite = gaps.opposite[gap]
            low, high = _ends(n_numbers, boxes, box, gap)
            if high - low < 2:
                continue
            at = (s * n_chains + y) * table.stride + n_numbers + boxes.number[box, s, r]
            # The opposite of a gap is halved in the opposite place.
            middle = (low + high) // 2 if gap < opposite else -((-low - high) // 2)
            lower = _highest(table.highest, n_numbers, at + low, at + middle)
            upper = _highest(table.highest, n_numbers, at + middle, at + high)
            is_lower = lower > upper
            if gap < opposite:
                desk.loss[int(is_lower), gap] += abs(lower - upper)
            else:
                desk.loss[int(not is_lower), opposite] += abs(lower - upper)
    chosen = -1
    largest = -1.0
    for gap in range(1, len(gaps.opposite)):
        low, high = _ends(n_numbers, boxes, box, gap)
        if gap > gaps.opposite[gap] or high - low < 2:
            continue
        lesser = min(desk.loss[0, gap], desk.loss[1, gap])
        greater = max(desk.loss[0, gap], desk.loss[1, gap])
        # A box is done only when both halves are, so that what both lose counts most. The width
        # decides where no gap loses anything.
        score = 5.0 * lesser + greater + 1e-9 * (high - low)
        if score > largest:
            chosen = gap
            largest = score
    low, high = _ends(n_numbers, boxes, box, max(chosen, 0))
    return chosen, (low + high) // 2


@njit(inner=True, cache=True)
def _highest(highest: Array, n_numbers: int, after: int, until: int) -> float:
    """Return the largest entry after one place, until another, of a chain's row."""
    level = level_of(until - after)
    begins = level * (3 * n_numbers + 3) + 1
    return max(highest[begins + after], highest[begins + until - (1 << level)])
