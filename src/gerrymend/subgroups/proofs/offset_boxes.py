"""Bound linear thresholds of one number and several categorical attributes, by their gaps.

The class. A group is a·x + Σ_k b_k ≥ α_s, with x the number, b_k the offset of a row's category in
each attribute k but one, and α_s a threshold for each category s of that one, the strata. Every
such group of finitely many rows has a ≠ 0: where it is 0, multiply b and α by a large number and
set a = 1. If a < 0, turn x around. So a = 1 in either of two problems. Rows that share s and all
other categories y are a *chain*: its members are those with x ≥ α_s − o_y, o_y = Σ b_k. A group
stays the same when its offsets change a little, so that they can be taken as *generic*: off any
finite number of conditions of measure 0, such as that two rows are tied.

Gaps. Raise α_s until the next row of the stratum would leave: in chain r, at number x, its *last*
row. If its weight isn't positive, let it leave: the value of the group does not fall. So either
nobody of the stratum is in, or some row of positive weight is the last one. Then chain y has its
threshold just below x + d, with d = o_r − o_y the *gap* of the two chains: its members are those
above x + ⌊d⌋ (numbers are whole and d is generic, thus not). They depend on whole parts of gaps
only. And a chain that is further from r than all numbers has all of its rows in, or none: gaps are
never large, however large the offsets that they come from.

The bound of a box. Let every gap have an interval (l, h) with whole ends, or none. With x the last
row's number in chain r, chain y has one of the thresholds x + l + 1, …, x + h, and adds at most the
largest of its sums there, of whole intervals of thresholds in a table. The sum over the chains, at
the worst r and x, and then over the strata, is a bound. Where all gaps are between neighbouring
whole numbers it is a value, if there are such offsets at all.

Where that is not enough, chains that differ in one attribute only are bounded together: see
`gap_families`.

What a box passes on to its halves.

- *Gaps* add up: that of r and y and that of y and z are that of r and z, and gaps of chains that
  differ in the same categories are the same one. So when one is halved, others narrow.
- *Last rows.* Let P_s(r, x) be the bound of stratum s with its last row at x in chain r, and B the
  bound of the box. A group in the box with a value above T has P_s(r, x) > max P_s − (B − T), or
  nobody in. So its last rows lie in the hull of such x, in the box and hence in every part of it.

- *Bounds.* P_s(r, x) changes only where a gap of r does, and never grows. So in a part the last row
  with the highest bound is read again, until that is one which was read, or has not changed.

The box with the highest bound is halved first, and a part whose bound is at most T, the best value
found, is dropped. So the highest bound that waits holds at any time, and no box is looked at twice;
when none waits, the best value is exact. Near it boxes do not grow to many: on made data of 40,000
rows a bound of 1.05 times the value takes a quarter to a half of the boxes of the exact one.

Too many numbers. Above some hundreds, numbers are pooled into steps of equal width; thresholds of a
chain are then known up to one step more. Too many chains: attributes with many categories become
strata as well, each combination of categories with a threshold of its own, which bounds a larger
class. Both loosen the bound, and it holds.
"""

import math

import numpy as np

from gerrymend._runtime.clocks import WALL_CLOCK, Clock
from gerrymend._runtime.interrupts import check_stopped
from gerrymend.subgroups.proofs.branch_and_bound import Solved
from gerrymend.subgroups.proofs.chains import Chains, Meeting
from gerrymend.subgroups.proofs.gap_boxes import FAR, N_EXPLORED, Boxes, free_place, take_place
from gerrymend.subgroups.proofs.gap_kernel import explore
from gerrymend.subgroups.proofs.gap_table import Desk
from gerrymend.subgroups.proofs.offset_ascent import Ascent
from gerrymend.subgroups.rules import Members

# Numbers read between two looks at the clock: some hundredths of a second.
_READS_A_LOOK = 50_000_000
# The work of a read, which is of a table in the cache.
_OF_A_READ = 0.06
# So many boxes a row, and pooled numbers are given up: no box of them is exact.
_MOST_BOXES = 600
# Bytes that boxes may take which wait, on either side.
_BYTES = 1 << 28
# Starts of the ascent on either side, and the share of the time that they may take.
_STARTS = 64
_ASCENT_SHARE = 0.1
# The share of the time for chains that bound only a larger class.
_POOLED_SHARE = 0.5
_ROUNDING = 1e-11


def close_in(
    meeting: Meeting,
    *,
    known: float,
    enough: float = math.inf,
    target: float = -math.inf,
    deadline: float = math.inf,
    clock: Clock = WALL_CLOCK,
) -> Solved:
    """Find a group of large value, and bound the value of every threshold, as the time allows.

    `known` is a value that some group has. Ends once a value is above `enough`, or none can be
    above what is found or the target, or no gap can be halved any more, or at the deadline; the
    bound is infinite if that comes at once.
    """
    positive = float(np.maximum(meeting.weight, 0.0).sum())
    rounding = max(_ROUNDING, 2.0**-50 * len(meeting.weight)) * positive
    sides = [_Side(Chains.of(meeting, sign), rounding) for sign in (1, -1)]
    now = clock()
    if not sides[0].is_whole:
        deadline = now + _POOLED_SHARE * (deadline - now)
    best = Solved(known, None, math.inf)
    for side in sides:
        best = side.ascend(best, now + _ASCENT_SHARE * (deadline - now), clock)
    while best.upper_bound > max(best.value, target) + rounding and best.value <= enough + rounding:
        side = max(sides, key=lambda side: side.bound)
        if side.is_stuck or clock() >= deadline:
            break
        best = side.explore(best, target, clock)
        # What was dropped is not above the best value or the target, or it was a side as a whole.
        best = best._replace(upper_bound=max(best.value, *(side.bound for side in sides)))
    closed = best.upper_bound <= best.value + rounding
    return best._replace(upper_bound=best.value) if closed else best


class _Side:
    """The boxes of one of the two problems."""

    def __init__(self, chains: Chains, rounding: float) -> None:
        self._chains = chains
        self._rounding = rounding
        self.is_whole = chains.is_whole
        self._ascent = Ascent(chains) if chains.is_whole else None
        self._boxes = Boxes.with_room(_BYTES, chains.table.last.shape, len(chains.gaps.opposite))
        self._desk = Desk.for_boxes(chains.table, chains.gaps)
        self._narrowest = -math.inf
        self.bound = math.inf

    def ascend(self, best: Solved, deadline: float, clock: Clock) -> Solved:
        """Return the best of some ascents, from random offsets and near the best so far."""
        if self._ascent is None:
            return best
        for start in range(_STARTS):
            if clock() >= deadline:
                break
            clock.worked(self._ascent.work_of_a_start)
            if self._ascent.start(start) > best.value + self._rounding:
                best = self._better(best, self._ascent.members())
        return best

    def _better(self, best: Solved, members: Members) -> Solved:
        """Return a group that was found, if its value is above the best."""
        value = float(self._chains.weight[members].sum())
        if value > best.value + self._rounding:
            return best._replace(value=value, members=members)
        return best

    @property
    def is_stuck(self) -> bool:
        """Return whether its bound can't fall: that of a box whose gaps are as narrow as can be.

        Pooled numbers are given up after some boxes.
        """
        allowed = math.inf if self.is_whole else _MOST_BOXES * len(self._chains.weight)
        return self.bound == self._narrowest or self._boxes.counts[N_EXPLORED] > allowed

    def explore(self, best: Solved, target: float, clock: Clock) -> Solved:
        """Halve boxes for a while; return the best group so far."""
        chains = self._chains
        boxes = self._boxes
        goal = max(best.value, target) + self._rounding
        first = self._put_all() if math.isinf(self.bound) else -1
        reads, box = explore(
            chains.table, chains.gaps, boxes, self._desk, first, goal, _READS_A_LOOK
        )
        clock.worked(_OF_A_READ * reads)
        if box >= 0:
            has_offsets = chains.has_offsets(boxes.high[box]) if self.is_whole else None
            if has_offsets is None:
                self._narrowest = max(self._narrowest, float(boxes.bound[box]))
            elif has_offsets:
                best = self._better(best, chains.best_between(boxes.low[box]))
            free_place(boxes, box)
        if first >= 0 and boxes.bound[first] <= goal:
            self.bound = float(boxes.bound[first])
        else:
            # What was left out, of last rows and of boxes, is not above the goal.
            left_out = max(best.value, target)
            self.bound = max(left_out, self._narrowest, boxes.highest)
        check_stopped()
        return best

    def _put_all(self) -> int:
        """Put all gaps and all rows into one box; return where it is."""
        chains = self._chains
        boxes = self._boxes
        box: int = take_place(boxes)
        boxes.low[box] = -FAR
        boxes.high[box] = FAR
        boxes.low[box, 0] = 0  # of a chain and itself: nothing to halve
        boxes.high[box, 0] = 1
        n_strata, _, n_numbers = chains.table.last.shape
        boxes.first[box] = 0
        boxes.final[box] = n_numbers - 1
        boxes.number[box] = -1
        positive = np.maximum(chains.weight, 0.0)
        boxes.peak[box] = np.bincount(chains.stratum, positive, n_strata)[:, None]
        return box
