"""Bounds on the value of every linear threshold whose direction lies in a simplicial cone.

A direction of the cone is Σ λ_a v_a, λ in the simplex, of its generators v_a. With u_ia the value
of row i in direction v_a, less any offset t_a of that generator (a direction's own threshold is
then off by Σ λ_a t_a, and thresholds are free), row i has a value between min_a u_ia and
max_a u_ia.

1. Profile. Let t be the threshold. A row of positive weight can be in only if max_a u_ia ≥ t, one
   of negative weight is in for sure if min_a u_ia ≥ t. The sum of these is a bound, at the worst t.
2. Dominance. If u_ia ≥ u_ja for every a, then i is in whenever j is. So weight W_j > 0 can be had
   only with W_i < 0: any flow from such j to such i, within their weights, can be taken off Σ W⁺.

Offsets at the generators' own best thresholds make both tight where it matters. Each stratum has a
threshold of its own, so both bounds are sums over strata. Values within `eps` are never told apart:
rounding can only loosen a bound.

Rows come with those of positive weight first, either part ordered by stratum.

Loops are written out because of compile time: each expression of arrays takes numba some tenths of
a second, which the first caller waits for.
"""

import math

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit

Starts = NDArray[np.intp]
_BUCKETS = 256
_AT_ONCE = 128  # rows
BELOW = -1
AMBIGUOUS = 0
ABOVE = 1
ELSEWHERE = 2


@njit(cache=True)
def best_thresholds(
    u: Array, weight: Array, positives: Starts, negatives: Starts, eps: float, threshold: Array
) -> float:
    """Return Σ over strata of the best sum of weights with u ≥ a threshold, which is written out.

    Only the value of a row of positive weight can be the best threshold; the empty group, worth 0,
    is allowed as well. Rows of negative weight up to eps below a threshold are not yet in.
    """
    value = 0.0
    for s in range(len(positives) - 1):
        first = positives[s]
        last = positives[s + 1]
        size = last - first
        if size == 0:
            threshold[s] = 0.0
            continue
        order = _falling(u, first, last)
        cuts = np.empty(size)
        for a in range(size):
            cuts[a] = u[order[a]]
        entering = np.zeros(size + 1)  # weight that comes in at each cut
        for i in range(negatives[s], negatives[s + 1]):
            # The first cut that is eps or more below the row: from there on it is in for sure.
            entering[_first_not_above(cuts, 0, size, u[i] - eps)] += weight[i]
        best = -math.inf
        running = 0.0
        for a in range(size):
            running += weight[order[a]] + entering[a]
            if running > best:
                best = running
                threshold[s] = cuts[a]
        value += max(best, 0.0)
    return value


@njit(cache=True)
def values_in(
    cone: NDArray[np.intp],
    directions: Array,
    offsets: Array,
    z: Array,
    shift: Array,
    stratum: NDArray[np.intp],
    u: Array,
) -> None:
    """Write u_ai, the value of each row in each generator of a cone, less its offset there.

    A cone is the numbers of its generators among all directions.
    """
    n_terms, m = z.shape
    for a in range(len(cone)):
        row = u[a]
        vertex = cone[a]
        for i in range(m):
            row[i] = shift[i] - offsets[vertex, stratum[i]]
        for k in range(n_terms):
            g = directions[vertex, k]
            column = z[k]
            for i in range(m):
                row[i] += g * column[i]


@njit(cache=True)
def longest_edge(cone: NDArray[np.intp], directions: Array) -> tuple[int, int, float]:
    """Return the two places in a cone whose generators are furthest apart, and their cosine."""
    first = 0
    second = 0
    least = 1.0
    for a in range(len(cone)):
        for b in range(a):
            cosine = 0.0
            for k in range(directions.shape[1]):
                cosine += directions[cone[a], k] * directions[cone[b], k]
            if cosine < least:
                first = a
                second = b
                least = cosine
    return first, second, least


def cone_bound(
    u: Array, weight: Array, positives: Starts, negatives: Starts, target: float, eps: float
) -> float:
    """Return the lesser of the two bounds, or the one that is not above the target.

    In one or two dimensions the first often does; in more the second is nearly always the lesser.
    """
    if len(u) <= 2:
        bound: float = profile_bound(u, weight, positives, negatives, eps)
        if bound <= target:
            return bound
        return min(bound, dominance_bound(u, weight, positives, negatives, target, eps))
    bound = dominance_bound(u, weight, positives, negatives, target, eps)
    if bound <= target:
        return bound
    return min(bound, profile_bound(u, weight, positives, negatives, eps))


@njit(cache=True)
def profile_bound(
    u: Array, weight: Array, positives: Starts, negatives: Starts, eps: float
) -> float:
    """Return the first bound."""
    n_generators, m = u.shape
    extreme = u[0].copy()
    n_positive = positives[-1]
    for a in range(1, n_generators):
        row = u[a]
        for i in range(n_positive):
            extreme[i] = max(extreme[i], row[i])
        for i in range(n_positive, m):
            extreme[i] = min(extreme[i], row[i])
    return best_thresholds(extreme, weight, positives, negatives, eps, np.empty(len(positives) - 1))


@njit(cache=True)
def dominance_bound(
    u: Array, weight: Array, positives: Starts, negatives: Starts, target: float, eps: float
) -> float:
    """Return the second bound, or any that is not above the target."""
    height = np.zeros(u.shape[1])
    for a in range(len(u)):
        row = u[a]
        for i in range(len(height)):
            height[i] += row[i]
    most = 0.0
    for i in range(positives[-1]):
        most += weight[i]
    flow = 0.0
    # With so much flow the bound is at the target, and nobody asks how far below it could be.
    need = most - target
    for s in range(len(positives) - 1):
        rows = positives[s], positives[s + 1], negatives[s], negatives[s + 1]
        if rows[0] < rows[1] and rows[2] < rows[3]:
            flow += _dominance_flow(u, height, weight, rows, need - flow, eps)
            if flow >= need:
                break
    return most - flow


@njit(cache=True)
def _dominance_flow(
    u: Array, height: Array, weight: Array, rows: tuple[int, int, int, int], need: float, eps: float
) -> float:
    """Send a flow from rows of positive weight to those that dominate them, as far as needed.

    Greedy: the highest first, each to the lowest rows that dominate it. Rows that dominate a high
    one dominate those below it too, so it has the first choice; low rows serve fewer others. On the
    paper's data this is within a percent of the largest flow.
    """
    first, last, start, stop = rows
    order = _falling(height, first, last)
    lowest = height[order[-1]]
    highest = -math.inf
    for i in range(start, stop):
        highest = max(highest, height[i])
    scale = (_BUCKETS - 1) / (highest - lowest) if highest > lowest else 0.0
    above, room, bucket = _rising(u, height, weight, start, stop, lowest, scale, eps)
    dominates = np.empty(_AT_ONCE, dtype=np.bool_)
    flow = 0.0
    for j in order:
        # To dominate j is to be no lower in any generator, and so in their sum, the height.
        if height[j] > highest:
            continue
        left = weight[j]
        q = bucket[int((height[j] - lowest) * scale)]
        while q < len(room) and left > 0.0:
            n_rows = min(_AT_ONCE, len(room) - q)
            for k in range(n_rows):
                dominates[k] = True
            for a in range(len(u)):  # without branches, so that many rows are compared at a time
                column = above[a, q : q + n_rows]
                value = u[a, j]
                for k in range(n_rows):
                    dominates[k] &= column[k] >= value
            for k in range(n_rows):
                if dominates[k]:
                    part = min(room[q + k], left)
                    room[q + k] -= part
                    left -= part
                    flow += part
                    if left <= 0.0:
                        break
                    above[0, q + k] = -math.inf  # full
            q += n_rows
        if flow >= need:
            break
    return flow


@njit(cache=True)
def _rising(
    u: Array,
    height: Array,
    weight: Array,
    start: int,
    stop: int,
    lowest: float,
    scale: float,
    eps: float,
) -> tuple[Array, Array, Starts]:
    """Sort values, less eps, and −weights of rows start:stop by height, into buckets.

    Near enough to the lowest first, without a sort.
    """
    bucket = np.zeros(_BUCKETS + 1, dtype=np.intp)
    own = np.empty(stop - start, dtype=np.intp)
    for i in range(start, stop):
        own[i - start] = int(max(height[i] - lowest, 0.0) * scale)
        bucket[own[i - start] + 1] += 1
    for b in range(_BUCKETS):
        bucket[b + 1] += bucket[b]
    place = bucket.copy()
    above = np.empty((len(u), stop - start))
    room = np.empty(stop - start)
    for i in range(start, stop):
        q = place[own[i - start]]
        place[own[i - start]] += 1
        for a in range(len(u)):
            above[a, q] = u[a, i] - eps
        room[q] = -weight[i]
    return above, room, bucket


@njit(cache=True)
def rows_in_question(
    u: Array, weight: Array, positives: Starts, negatives: Starts, value: float, eps: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which rows may be the last of their stratum in, and which strata may have no row in.

    Of groups above the value: the last one has positive weight, or the group would be better
    without it. The profile of a stratum bounds what it can do with its threshold at each cut; if
    that and the best of all other strata is not above the value, the threshold isn't there. Row j
    can be the last one if a threshold in [low_j, high_j] is possible.
    """
    low = np.full(u.shape[1], math.inf)
    high = np.full(u.shape[1], -math.inf)
    for a in range(len(u)):
        row = u[a]
        for i in range(len(row)):
            low[i] = min(low[i], row[i] - eps)
            high[i] = max(high[i], row[i])
    n_strata = len(positives) - 1
    n_positive = positives[-1]
    order = np.empty(n_positive, dtype=np.intp)
    cuts = np.empty(n_positive)
    profile = np.empty(n_positive)
    best = np.zeros(n_strata)
    for s in range(n_strata):
        first = positives[s]
        last = positives[s + 1]
        ranked = _falling(high, first, last)
        for i in range(first, last):  # an assignment of a slice takes numba seconds to compile
            order[i] = ranked[i - first]
            cuts[i] = high[order[i]]
        entering = np.zeros(last - first + 1)
        for i in range(negatives[s], negatives[s + 1]):
            entering[_first_not_above(cuts, first, last, low[i]) - first] += weight[i]
        running = 0.0
        for q in range(first, last):
            running += weight[order[q]] + entering[q - first]
            profile[q] = running
            best[s] = max(best[s], running)
    # A cut of stratum s is possible if profile + Σ best of the others > value: if it is above
    # best_s − spare. No row at all is worth 0, which is possible if best_s < spare.
    spare = 0.0
    for s in range(n_strata):
        spare += best[s]
    spare -= value
    in_question = np.zeros(n_positive, dtype=np.bool_)
    for s in range(n_strata):
        first = positives[s]
        last = positives[s + 1]
        latest = -1  # the next cut from here on that is possible, going up from the lowest
        for q in range(last - 1, first - 1, -1):
            if profile[q] > best[s] - spare:
                latest = q
            reach = _first_not_above(cuts, first, last, low[order[q]])
            # Thresholds of row j reach down to low_j itself.
            while reach < last and cuts[reach] == low[order[q]]:
                reach += 1
            in_question[order[q]] = latest >= 0 and latest < reach
    return in_question, best < spare


@njit(cache=True)
def _falling(values: Array, first: int, last: int) -> NDArray[np.intp]:
    """Return the places from `first` to `last` in falling order of their values."""
    opposite = np.empty(last - first)
    for i in range(first, last):
        opposite[i - first] = -values[i]
    order = np.argsort(opposite)
    for i in range(len(order)):
        order[i] += first
    return order


@njit(cache=True)
def _first_not_above(cuts: Array, first: int, last: int, value: float) -> int:
    """Return the first place from `first` to `last` whose cut is not above a value; cuts fall."""
    while first < last:
        middle = (first + last) // 2
        if cuts[middle] <= value:
            last = middle
        else:
            first = middle + 1
    return first


@njit(cache=True)
def sides(
    u: Array, rows: NDArray[np.intp], stratum: NDArray[np.intp], eps: float
) -> NDArray[np.int8]:
    """Tell of each row if it is above or below each of some rows, in all or in part of the cone.

    Rows of other strata are ELSEWHERE; a row compared with itself is too.
    """
    m = u.shape[1]
    side = np.empty((len(rows), m), dtype=np.int8)
    # differences over the cone, without branches
    least = np.empty(m)
    largest = np.empty(m)
    for q in range(len(rows)):
        j = rows[q]
        for i in range(m):
            least[i] = math.inf
            largest[i] = -math.inf
        for a in range(len(u)):
            column = u[a]
            for i in range(m):
                difference = column[i] - column[j]
                least[i] = difference if difference < least[i] else least[i]
                largest[i] = difference if difference > largest[i] else largest[i]
        for i in range(m):
            within = ABOVE if least[i] >= eps else (BELOW if largest[i] <= -eps else AMBIGUOUS)
            side[q, i] = within if stratum[i] == stratum[j] else ELSEWHERE
        side[q, j] = ELSEWHERE
    return side


def ambiguous_pair(
    side: NDArray[np.int8], rows: NDArray[np.intp], y: Array
) -> tuple[int, int] | None:
    """Return an ambiguous pair of rows that differ in y, if there is one."""
    pair = first_ambiguous(side, rows, y)
    return None if pair[0] < 0 else pair


@njit(cache=True)
def first_ambiguous(side: NDArray[np.int8], rows: NDArray[np.intp], y: Array) -> tuple[int, int]:
    """Return the first such pair, or −1 twice."""
    for q in range(len(rows)):
        j = rows[q]
        for i in range(len(y)):
            if side[q, i] == AMBIGUOUS:
                for k in range(y.shape[1]):
                    if y[i, k] != y[j, k]:
                        return i, j
    return -1, -1
