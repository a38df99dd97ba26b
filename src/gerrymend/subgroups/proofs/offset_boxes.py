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

What a box passes on to its halves.

- *Gaps* add up: that of r and y and that of y and z are that of r and z, and gaps of chains that
  differ in the same categories are the same one. So when one is halved, others narrow.
- *Last rows.* Let P_s(r, x) be the bound of stratum s with its last row at x in chain r, and B the
  bound of the box. A group in the box with a value above T has P_s(r, x) > max P_s − (B − T), or
  nobody in. So its last rows lie in the hull of such x, in the box and hence in every part of it.

So boxes are explored depth-first against a fixed target T; those with a bound of at most T are
done. If all are, no group is above T, and the target is lowered.

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
from gerrymend.subgroups.proofs.gap_kernel import FAR, Stack, explore
from gerrymend.subgroups.proofs.offset_ascent import Ascent
from gerrymend.subgroups.rules import Members

# Numbers read between two looks at the clock: some hundredths of a second.
_READS_A_LOOK = 50_000_000
# The work of a read, which is of a table in the cache.
_OF_A_READ = 0.06
# What a round leaves of the distance between the bound and the best value found: as little as there
# is time for, if a round takes about (1 / part)^2.5 times as long as the one before.
_LEAST_LEFT = 0.5
_MOST_LEFT = 0.96
_POWER = 2.5
# So close to the best value, a round tries to leave nothing.
_NEARLY = 0.01
# So many boxes a row, and a round over pooled numbers is given up: no box of them is exact.
_MOST_BOXES = 600
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
    sides = [_Side(Chains.of(meeting, sign)) for sign in (1, -1)]
    now = clock()
    if not sides[0].is_whole:
        deadline = now + _POOLED_SHARE * (deadline - now)
    best = Solved(known, None, math.inf)
    for side in sides:
        best = side.ascend(best, rounding, now + _ASCENT_SHARE * (deadline - now), clock)
    goal = positive
    while best.upper_bound > max(best.value, target) + rounding and best.value <= enough + rounding:
        started = clock()
        reached = -math.inf
        for side in sides:
            best, bound = side.bound(best, goal, rounding, deadline, clock)
            reached = max(reached, bound)
        if reached < best.upper_bound:
            best = best._replace(upper_bound=reached)
        elif goal >= best.value:  # out of time, or of gaps to halve
            break
        ended = clock()
        part = _part_left(ended - started, deadline - ended)
        if best.upper_bound < (1.0 + _NEARLY) * best.value:
            part = 0.0
        goal = max(target, best.value + part * (best.upper_bound - best.value))
    closed = best.upper_bound <= best.value + rounding
    return best._replace(upper_bound=best.value) if closed else best


def _part_left(last: float, left: float) -> float:
    """Return what the next round should leave, after one of `last` seconds and with some left."""
    if left >= last * _LEAST_LEFT**-_POWER:
        return _LEAST_LEFT
    return min(_MOST_LEFT, (last / max(left, 1e-9)) ** (1.0 / _POWER))


class _Side:
    """The boxes of one of the two problems."""

    def __init__(self, chains: Chains) -> None:
        self._chains = chains
        self.is_whole = chains.is_whole
        self._ascent = Ascent(chains) if chains.is_whole else None

    def ascend(self, best: Solved, rounding: float, deadline: float, clock: Clock) -> Solved:
        """Return the best of some ascents, from random offsets and near the best so far."""
        if self._ascent is None:
            return best
        for start in range(_STARTS):
            if clock() >= deadline:
                break
            clock.worked(self._ascent.work_of_a_start)
            if self._ascent.start(start) > best.value + rounding:
                best = self._better(best, self._ascent.members(), rounding)
        return best

    def _better(self, best: Solved, members: Members, rounding: float) -> Solved:
        """Return a group that was found, if its value is above the best."""
        value = float(self._chains.weight[members].sum())
        return Solved(value, members, best.upper_bound) if value > best.value + rounding else best

    def bound(
        self, best: Solved, goal: float, rounding: float, deadline: float, clock: Clock
    ) -> tuple[Solved, float]:
        """Explore all gaps, and return a bound, the goal at best; infinite if given up.

        It is given up when it can't become lower than what is proven, and when a box whose gaps are
        as narrow as can be leads to a group above the goal.

        Last rows that are left out, and with them the bounds of the boxes that have them, are for
        groups above the goal: only of the first box, as a whole, does a lesser bound hold.
        """
        stack = self._start()
        allowed = math.inf if self.is_whole else _MOST_BOXES * len(self._chains.weight)
        summary = np.array([-math.inf, -math.inf, 0.0])
        tried = goal + rounding
        size = 1
        while size > 0:
            check_stopped()
            given_up = summary[1] >= best.upper_bound or summary[2] > allowed
            if given_up or clock() >= deadline:
                return best, math.inf
            size, reads = explore(
                self._chains.table, stack, size, goal + rounding, _READS_A_LOOK, summary
            )
            clock.worked(_OF_A_READ * reads)
            if self.is_whole and summary[1] > tried:
                tried = summary[1]
                members = self._chains.group_between(stack.low[-1], stack.high[-1])
                if members is not None:
                    best = self._better(best, members, rounding)
                if best.value > goal:
                    return best, math.inf
        return best, float(summary[0]) if summary[2] == 1 else max(goal, float(summary[1]))

    def _start(self) -> Stack:
        """All gaps as one box, and all rows."""
        table = self._chains.table
        n_strata, n_chains, n_numbers = table.last.shape
        n_gaps = len(table.opposite)
        # Each gap is halved less often than it has bits, and one time at either end.
        depth = 3 + n_gaps * (n_numbers.bit_length() + 3)
        low = np.full((depth, n_gaps), -FAR)
        high = -low
        low[:, 0] = 0  # of a chain and itself: nothing to halve
        high[:, 0] = 1
        positive = np.maximum(self._chains.weight, 0.0)
        return Stack(
            low=low,
            high=high,
            first=np.zeros((depth, n_strata, n_chains), dtype=np.intp),
            final=np.full((depth, n_strata, n_chains), n_numbers - 1),
            best=np.tile(np.bincount(self._chains.stratum, positive, n_strata), (depth, 1)),
        )
