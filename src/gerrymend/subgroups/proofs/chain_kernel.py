"""Explore boxes of offsets depth-first: the compiled part of `offset_boxes`, which derives it."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array

Numbers = NDArray[np.intp]


class Rows(NamedTuple):
    """Rows by stratum, then by chain, the highest number first; and the chains' indicators."""

    x: Array
    weight: Array
    chain: Numbers
    stratum: Numbers
    indicators: Array


class Stack(NamedTuple):
    """Boxes that are still to be looked at.

    `low` and `high` are offsets, `least` and `most` the window of thresholds in each stratum,
    `inside` the weight there that is in for sure, and `start`:`stop` the rows of `numbers` that the
    box's parent has left undecided.
    """

    low: Array
    high: Array
    least: Array
    most: Array
    inside: Array
    start: Numbers
    stop: Numbers
    numbers: Numbers


class _Profile(NamedTuple):
    """Bounds by threshold: `bound` holds between `after` and `before`; strata from `start` on."""

    bound: Array
    after: Array
    before: Array
    start: Numbers
    best: Numbers


class _Chains(NamedTuple):
    """Of each chain its first row, how many rows may be in and are in for sure, the best sum."""

    first: Numbers
    may: Numbers
    sure: Numbers
    best: Array


class _Node(NamedTuple):
    """The rows of a box that are undecided, from the lowest to the highest value that each has."""

    rows: Numbers
    lower: Array
    upper: Array
    prefix: Array
    start: Numbers


@njit(cache=True)
def explore(
    rows: Rows,
    stack: Stack,
    size: int,
    target: float,
    narrowest: float,
    unit: float,
    n_boxes: int,
    summary: Array,
) -> tuple[int, int]:
    """Look at so many boxes, and return how many are on the stack and how many are left to do.

    `summary` has the largest bound of boxes not above the target, and of those above it that are
    too narrow to halve, and the rows that were read. Ends early where `numbers` is full.
    """
    m, n_strata = len(rows.x), stack.least.shape[1]
    n_chains = len(rows.indicators)
    lower, upper, prefix = np.empty(m), np.empty(m), np.empty(m)
    segment = np.empty(n_strata + 1, dtype=np.intp)
    profile = _Profile(
        np.empty(2 * m + n_strata), np.empty(2 * m + n_strata), np.empty(2 * m + n_strata),
        np.zeros(n_strata + 1, dtype=np.intp), np.zeros(n_strata, dtype=np.intp),
    )  # fmt: skip
    chains = _Chains(
        np.empty(n_chains, dtype=np.intp), np.empty(n_chains, dtype=np.intp),
        np.empty(n_chains, dtype=np.intp), np.empty(n_chains),
    )  # fmt: skip
    while size > 0 and n_boxes > 0:
        box = size - 1
        start, stop = stack.start[box], stack.stop[box]
        if 2 * stop - start > len(stack.numbers):
            break
        n_boxes -= 1
        summary[2] += stop - start
        kept = stack.numbers[stop : 2 * stop - start]
        node = _Node(kept, lower, upper, prefix, segment)
        n_kept = _fold(rows, stack, box, node)
        bound = 0.0
        for s in range(n_strata):
            _sweep(rows, node, s, stack.least[box, s], stack.most[box, s], profile, chains)
            bound += stack.inside[box, s] + profile.bound[profile.best[s]]
        if bound <= target:
            summary[0] = max(summary[0], bound)
            size -= 1
            continue
        axis = _axis(rows, stack, box, node, profile, narrowest)
        if axis < 0:
            summary[1] = max(summary[1], bound)
            size -= 1
            continue
        _narrow(stack, box, profile, bound - target)
        stack.start[box] = stop
        stack.stop[box] = stop + n_kept
        _halve(stack, box, axis, unit)
        size += 1
    return size, n_boxes


@njit(cache=True)
def _fold(rows: Rows, stack: Stack, box: int, node: _Node) -> int:
    """Keep the rows that are undecided; those in for sure become part of one sum a stratum."""
    start, stop = stack.start[box], stack.stop[box]
    n_kept, chain, stratum, low, high = 0, -1, -1, 0.0, 0.0
    for place in range(start, stop):
        i = stack.numbers[place]
        s = rows.stratum[i]
        if rows.chain[i] != chain:
            chain = rows.chain[i]
            low, high = 0.0, 0.0
            for k in range(rows.indicators.shape[1]):
                low += rows.indicators[chain, k] * stack.low[box, k]
                high += rows.indicators[chain, k] * stack.high[box, k]
        while stratum < s:
            stratum += 1
            node.start[stratum] = n_kept
        if rows.x[i] + low >= stack.most[box, s]:
            stack.inside[box, s] += rows.weight[i]
        elif rows.x[i] + high > stack.least[box, s]:
            node.rows[n_kept] = i
            node.lower[n_kept] = rows.x[i] + low
            node.upper[n_kept] = rows.x[i] + high
            n_kept += 1
    node.start[stratum + 1 :] = n_kept
    return n_kept


@njit(cache=True)
def _sweep(
    rows: Rows,
    node: _Node,
    s: int,
    least: float,
    most: float,
    profile: _Profile,
    chains: _Chains,
) -> None:
    """Bound what a stratum can do with its threshold anywhere in its window, from above down.

    A row may be in once the threshold is below its upper value, and is in for sure once it is below
    the lower one. What a chain adds is the largest of its sums of first rows between these two.
    """
    first, last = node.start[s], node.start[s + 1]
    n = last - first
    events = np.empty(2 * n)
    runs = np.empty(2 * n + 1, dtype=np.intp)  # a chain's rows come in order
    n_runs = 0
    for q in range(first, last):
        events[q - first] = -node.upper[q]
        events[n + q - first] = -node.lower[q]
        i = node.rows[q]
        c = rows.chain[i]
        node.prefix[q] = rows.weight[i]
        if q == first or rows.chain[node.rows[q - 1]] != c:
            runs[n_runs] = q - first
            n_runs += 1
            chains.first[c] = q
            chains.may[c] = 0
            chains.sure[c] = 0
            chains.best[c] = 0.0
        else:
            node.prefix[q] += node.prefix[q - 1]
    for run in range(n_runs):
        runs[n_runs + run] = n + runs[run]
    runs[2 * n_runs] = 2 * n
    order = _merged(events, runs[: 2 * n_runs + 1])
    place = profile.start[s]
    profile.best[s] = place
    profile.bound[place] = -math.inf
    total = 0.0
    threshold = most
    for event in order:  # of equal ones, rows that may be in come before those that are
        following = max(-events[event], least)
        if following < threshold:
            place = _record(profile, s, place, total, following, threshold)
            threshold = following
        if threshold <= least:
            break
        if event < n:
            total += _may_be_in(node, chains, rows.chain[node.rows[first + event]])
        else:
            total += _is_in(node, chains, rows.chain[node.rows[first + event - n]])
    if threshold > least:
        place = _record(profile, s, place, total, least, threshold)
    profile.start[s + 1] = place


@njit(cache=True)
def _record(
    profile: _Profile, s: int, place: int, total: float, after: float, before: float
) -> int:
    """Note the bound of thresholds between two values, and return the next place."""
    profile.bound[place] = total
    profile.after[place] = after
    profile.before[place] = before
    if total > profile.bound[profile.best[s]]:
        profile.best[s] = place
    return place + 1


@njit(cache=True)
def _merged(values: Array, runs: Numbers) -> Numbers:
    """Return the order of values that rise from each start of a run to the next; neighbours merge.

    A stratum has few chains and many rows: this is several times as fast as a sort.
    """
    order = np.arange(len(values))
    spare = np.empty_like(order)
    n_runs = len(runs) - 1
    while n_runs > 1:
        for pair in range(0, n_runs, 2):
            i = runs[pair]
            middle = runs[pair + 1]
            last = runs[min(pair + 2, n_runs)]
            j = middle
            for place in range(i, last):
                if j >= last or (i < middle and values[order[i]] <= values[order[j]]):
                    spare[place] = order[i]
                    i += 1
                else:
                    spare[place] = order[j]
                    j += 1
            runs[pair // 2] = runs[pair]
        last = runs[n_runs]
        n_runs = (n_runs + 1) // 2
        runs[n_runs] = last
        order, spare = spare, order
    return order


@njit(cache=True)
def _may_be_in(node: _Node, chains: _Chains, c: int) -> float:
    """Let a chain take one row more if it likes, and return what the bound gains."""
    value = node.prefix[chains.first[c] + chains.may[c]]
    chains.may[c] += 1
    gain = value - chains.best[c]
    if gain <= 0.0:
        return 0.0
    chains.best[c] = value
    return gain


@njit(cache=True)
def _is_in(node: _Node, chains: _Chains, c: int) -> float:
    """Make a chain take one row more, and return what the bound gains: what it loses, if < 0."""
    taken = chains.first[c] + chains.sure[c]
    chains.sure[c] += 1
    left = node.prefix[taken - 1] if taken > chains.first[c] else 0.0
    if left < chains.best[c]:
        return 0.0
    value = node.prefix[taken]
    for q in range(taken + 1, chains.first[c] + chains.may[c]):
        value = max(value, node.prefix[q])
    gain = value - chains.best[c]
    chains.best[c] = value
    return gain


@njit(cache=True)
def _narrow(stack: Stack, box: int, profile: _Profile, slack: float) -> None:
    """Leave out thresholds whose bound, with the best of other strata, is not above the target."""
    for s in range(stack.least.shape[1]):
        needed = profile.bound[profile.best[s]] - slack
        least, most = math.inf, -math.inf
        for q in range(profile.start[s], profile.start[s + 1]):
            if profile.bound[q] >= needed:
                least = min(least, profile.after[q])
                most = max(most, profile.before[q])
        stack.least[box, s] = least
        stack.most[box, s] = most


@njit(cache=True)
def _axis(
    rows: Rows, stack: Stack, box: int, node: _Node, profile: _Profile, narrowest: float
) -> int:
    """Choose the offset to halve: the one most to blame for the bound; −1 if all are too narrow.

    At the best thresholds the bound is above the value of the box's centre by what each chain gains
    by its own choice of rows. This is shared among the offsets of the chain by their widths.
    """
    n_axes = rows.indicators.shape[1]
    width = stack.high[box] - stack.low[box]
    blame = 1e-300 * width
    for s in range(stack.least.shape[1]):
        best = profile.best[s]
        threshold = 0.5 * (profile.after[best] + profile.before[best])
        q = node.start[s]
        while q < node.start[s + 1]:
            c = rows.chain[node.rows[q]]
            most, centre = (0.0 if node.lower[q] <= threshold else -math.inf), 0.0
            while q < node.start[s + 1] and rows.chain[node.rows[q]] == c:
                if node.upper[q] > threshold:
                    most = (
                        node.prefix[q] if node.lower[q] > threshold else max(most, node.prefix[q])
                    )
                if 0.5 * (node.lower[q] + node.upper[q]) > threshold:
                    centre = node.prefix[q]
                q += 1
            share = (rows.indicators[c] * width).sum()
            if most > centre and share > 0.0:
                blame += (most - centre) / share * (rows.indicators[c] * width)
    axis, largest = -1, 0.0
    for k in range(n_axes):
        if width[k] > narrowest and blame[k] > largest:
            axis, largest = k, blame[k]
    return axis


@njit(cache=True)
def _halve(stack: Stack, box: int, axis: int, unit: float) -> None:
    """Put two halves in the place of a box: in the middle, or where offsets become very large."""
    low, high = stack.low[box, axis], stack.high[box, axis]
    middle = 0.5 * (low + high)
    if max(-low, high) > unit:  # powers of 4 times the unit, which is beyond all numbers
        edge = unit
        while low >= edge or high <= -edge:
            edge *= 4.0
        if low < edge < high:
            middle = edge
        elif low < -edge < high:
            middle = -edge
    other = box + 1
    stack.low[other] = stack.low[box]
    stack.high[other] = stack.high[box]
    stack.least[other] = stack.least[box]
    stack.most[other] = stack.most[box]
    stack.inside[other] = stack.inside[box]
    stack.start[other] = stack.start[box]
    stack.stop[other] = stack.stop[box]
    stack.high[box, axis] = middle
    stack.low[other, axis] = middle
