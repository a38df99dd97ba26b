"""Boxes of gaps that are still to be halved: where they are kept, and how one is cut from another.

See `offset_boxes` for what they are. They wait in a heap, the highest bound at its top. Where there
is no more room, the boxes below the highest one wait on a stack, so that it is explored to its end,
which takes little room.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit

Numbers = NDArray[np.intp]
Short = NDArray[np.int16]
Flags = NDArray[np.bool_]

# Of a gap without a bound on this side; those with one are far less than half of it.
FAR = 1 << 13
# Places of `Boxes.counts`.
N_HEAP = 0
N_STACK = 1
N_FREE = 2
N_KEPT_FREE = 3
N_EXPLORED = 4


class Gaps(NamedTuple):
    """Hold how gaps belong together.

    `between[r, y]` is the number of the gap between two chains, 0 if they are one; `opposite` that
    between y and r; `sums[g, h]` that of both one after the other, −1 if no two chains are so far
    apart. For each attribute, `siblings[r]` are the chains that differ from r in it alone, and
    `heads[r]` those that share it with r; then come −1. See `gap_families`.
    """

    between: Numbers
    opposite: Numbers
    sums: Numbers
    siblings: Numbers
    heads: Numbers


class Boxes(NamedTuple):
    """Hold boxes, one to a place, in arrays with a row for each place.

    Gaps lie between `low` and `high`. The last row in, of each stratum and chain, lies between
    `first` and `final`; `peak` is the bound with such a last row, and `number` where it is; −1 if
    the bound is that of a larger box. `bound` is that of the box, and `halved` the gap to halve and
    where, a gap of −1 if all are as narrow as they can be.

    `heap`, `stack` and `free` have the numbers of places, and `counts` says how many. Some free
    ones are kept for the stack.
    """

    low: Short
    high: Short
    first: Short
    final: Short
    number: Short
    peak: Array
    bound: Array
    halved: Numbers
    heap: Numbers
    stack: Numbers
    free: Numbers
    counts: Numbers

    @classmethod
    def with_room(cls, n_bytes: int, shape: tuple[int, int, int], n_gaps: int) -> "Boxes":
        """Make room for boxes of so many bytes, of strata, chains and numbers of this shape."""
        n_strata, n_chains, n_numbers = shape
        # Each gap is halved less often than it has bits, and one time at either end.
        depth = 3 + n_gaps * (n_numbers.bit_length() + 3)
        rows = (n_strata, n_chains)
        n_places = 2 * depth + n_bytes // (4 * n_gaps + 14 * n_strata * n_chains + 48)
        short = np.int16
        boxes = cls(
            low=np.empty((n_places, n_gaps), dtype=short),
            high=np.empty((n_places, n_gaps), dtype=short),
            first=np.empty((n_places, *rows), dtype=short),
            final=np.empty((n_places, *rows), dtype=short),
            number=np.empty((n_places, *rows), dtype=short),
            peak=np.empty((n_places, *rows)),
            bound=np.empty(n_places),
            halved=np.empty((n_places, 2), dtype=np.intp),
            heap=np.empty(n_places, dtype=np.intp),
            stack=np.empty(n_places, dtype=np.intp),
            free=np.arange(n_places, dtype=np.intp)[::-1].copy(),
            counts=np.zeros(5, dtype=np.intp),
        )
        boxes.counts[N_FREE] = n_places
        boxes.counts[N_KEPT_FREE] = depth
        return boxes

    @property
    def highest(self) -> float:
        """The highest bound of those that wait; −∞ if none does."""
        waiting = [*self.heap[: min(1, self.counts[N_HEAP])], *self.stack[: self.counts[N_STACK]]]
        return float(self.bound[waiting].max(initial=-np.inf))


@njit(cache=True)
def take_place(boxes: Boxes) -> int:
    """Return a free place, which is free no longer."""
    boxes.counts[N_FREE] -= 1
    return boxes.free[boxes.counts[N_FREE]]


@njit(cache=True)
def free_place(boxes: Boxes, box: int) -> None:
    """Forget a box."""
    boxes.free[boxes.counts[N_FREE]] = box
    boxes.counts[N_FREE] += 1


@njit(cache=True)
def push(boxes: Boxes, box: int) -> None:
    """Let a box wait."""
    if boxes.counts[N_STACK] > 0 or boxes.counts[N_FREE] < boxes.counts[N_KEPT_FREE]:
        boxes.stack[boxes.counts[N_STACK]] = box
        boxes.counts[N_STACK] += 1
        return
    heap = boxes.heap
    bound = boxes.bound
    here = boxes.counts[N_HEAP]
    boxes.counts[N_HEAP] += 1
    while here > 0 and bound[heap[(here - 1) // 2]] < bound[box]:
        heap[here] = heap[(here - 1) // 2]
        here = (here - 1) // 2
    heap[here] = box


@njit(cache=True)
def pop(boxes: Boxes) -> int:
    """Return the box to look at next, which waits no longer; −1 if there is none."""
    if boxes.counts[N_STACK] > 0:
        boxes.counts[N_STACK] -= 1
        return boxes.stack[boxes.counts[N_STACK]]
    if boxes.counts[N_HEAP] == 0:
        return -1
    boxes.counts[N_HEAP] -= 1
    heap = boxes.heap
    bound = boxes.bound
    size = boxes.counts[N_HEAP]
    top = heap[0]
    box = heap[size]
    here = 0
    while 2 * here + 1 < size:
        below = 2 * here + 1
        if below + 1 < size and bound[heap[below + 1]] > bound[heap[below]]:
            below += 1
        if bound[heap[below]] <= bound[box]:
            break
        heap[here] = heap[below]
        here = below
    heap[here] = box
    return top


@njit(inner=True, cache=True)
def copy(boxes: Boxes, box: int, place: int) -> None:
    """Copy a box; element by element, as assigning a slice takes numba seconds to compile."""
    for gap in range(boxes.low.shape[1]):
        boxes.low[place, gap] = boxes.low[box, gap]
        boxes.high[place, gap] = boxes.high[box, gap]
    n_strata, n_chains = boxes.first.shape[1:]
    for s in range(n_strata):
        for r in range(n_chains):
            boxes.first[place, s, r] = boxes.first[box, s, r]
            boxes.final[place, s, r] = boxes.final[box, s, r]
            boxes.number[place, s, r] = boxes.number[box, s, r]
            boxes.peak[place, s, r] = boxes.peak[box, s, r]


@njit(inner=True, cache=True)
def limit(
    low: Short, high: Short, gaps: Gaps, gap: int, above: int, below: int, moved: Flags
) -> None:
    """Narrow a gap, and its opposite."""
    opposite = gaps.opposite[gap]
    if above > low[gap]:
        low[gap] = above
        high[opposite] = -above
        moved[gap] = True
        moved[opposite] = True
    if below < high[gap]:
        high[gap] = below
        low[opposite] = -below
        moved[gap] = True
        moved[opposite] = True


@njit(inner=True, cache=True)
def tighten(
    low: Short, high: Short, gaps: Gaps, gap: int, queue: Numbers, waiting: Flags, moved: Flags
) -> bool:
    """Narrow the gaps that follow from one that has changed; False where nothing is between."""
    size = len(queue)
    waiting.fill(False)
    queue[0] = gap
    head = 0
    tail = 1
    # Sums of three gaps and more are approached in turns, which need not end.
    while head < min(tail, 20 * size):
        here = queue[head % size]
        head += 1
        waiting[here] = False
        for other in range(1, size):
            both = gaps.sums[here, other]
            if both < 0:
                continue
            above = np.intp(low[here]) + low[other]
            below = np.intp(high[here]) + high[other]
            if above < -FAR // 2:  # one of them has no bound
                above = -FAR
            if below > FAR // 2:
                below = FAR
            if above <= low[both] and below >= high[both]:
                continue
            limit(low, high, gaps, both, above, below, moved)
            if low[both] >= high[both]:
                return False
            # A gap and its opposite are narrowed together: one of them in the queue is enough.
            if not (waiting[both] or waiting[gaps.opposite[both]]):
                waiting[both] = True
                queue[tail % size] = both
                tail += 1
    return True
