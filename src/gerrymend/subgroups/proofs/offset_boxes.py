"""Bound linear thresholds of one number and several categorical attributes, over their offsets.

The class. A group is a·x + Σ_k b_k·y_k ≥ α_s, with x the number, y the indicators of all attributes
but one, and α_s a threshold for each category s of that one, the strata. Every such group of
finitely many rows has a ≠ 0: where it is 0, multiply b and α by a large number and set a = 1. If
a < 0, turn x around. So a = 1 in either of two problems. Rows that share s and y are a *chain*: its
members are those with x ≥ α_s − o, o = b·y, its first rows if the highest x comes first.

The offsets are bounded. With x from 0 to X, a group is a system: of each chain its threshold in x,
α_s − b·y, is above some row and at most at the next. The α drop out: what is left are inequalities
between two chains of a stratum, on b·(y − y′), with right-hand sides of at most X + 1 in size. If
the system can be solved at all, then by some b that solves n ≤ k of its equations (k indicators)
and is 0 elsewhere, which other equations b_j = 0 say as well: M b = r with M of k rows y − y′. By
Cramer's rule |b_j| ≤ k·(X + 1)·m_j, with m_j the largest minor of M without column j, as its
determinant is a whole number. Two bounds on m_j. Of K categories, the first of which has no
indicator, y − y′ has at most two entries ±1, and one if K = 2: with h the sum of these over the
attributes, m_j ≤ h^((k − 1)/2) by Hadamard. And the columns of one attribute, of rows with at most
a 1 and a −1, are totally unimodular: expanded along the attributes' columns, a minor is a sum of
products of ±1 or 0, one for each way to share its rows among attributes. So m_j is at most the
multinomial coefficient of k − 1 by the widths, one less for the attribute of j. Solutions are an
open set, so that some are *generic*: off all that has measure 0, ties among it.

The bound of a box of offsets. In it o has an interval [o⁻, o⁺] in each chain. A row may be in if
x + o⁺ > α and is in for sure if x + o⁻ ≥ α. Of a chain its first j rows are in, with j between
these two counts: it adds at most the largest of its sums of j first rows, S_j. The sum over the
chains of a stratum, at the worst α, and then over strata, is a bound. All numbers are dyadic with
fewer than 53 bits, so that comparisons are exact, and ties are not told apart by rounding.

What a box passes on to its halves.

- *Windows.* Let P_s(α) be the bound of stratum s with its threshold at α, and B = Σ_s max P_s. A
  group in the box with a value above T has P_s(α_s) > T − Σ_{r≠s} max P_r = max P_s − (B − T). So
  its α_s lies in the hull of such α, in the box and hence in every part of it.
- *Rows.* With α_s in a window (A, B), a row with x + o⁻ ≥ B is in for sure and one with x + o⁺ ≤ A
  is out, in the box and in every part of it, and for every narrower window. The first are folded
  into one sum, the others dropped: a part looks only at the rows that are still undecided.

So boxes are explored depth-first against a fixed target T; those with a bound of at most T are
done. If all are, no group is above T, and the target is lowered.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.clocks import WALL_CLOCK, Clock
from gerrymend.subgroups.proofs.chain_kernel import Rows, Stack, explore
from gerrymend.subgroups.proofs.whole_points import Points

# Boxes between two looks at the clock: at first, and after that by how many rows they had.
_FIRST_BOXES = 16
_ROWS_A_LOOK = 500_000
# What a round leaves of the distance between the bound and the best value found: as little as there
# is time for, if a round takes about (1 / part)⁴ times as long as the one before.
_LEAST_LEFT = 0.7
_MOST_LEFT = 0.96
_POWER = 4.0
# Offsets are halved down to this, in units of the number.
_NARROWEST = 0.25
# So many boxes a row, and a round is given up: ties keep boxes open however often they are halved.
_MOST_BOXES = 600
# Whole numbers, and their sums with offsets, have to fit float64.
_MOST_BITS = 50
_ROUNDING = 1e-11


def fits(points: Points, widths: Sequence[int]) -> bool:
    """Say whether points are one number, the first column, and indicators that are not too many.

    `widths` says of how many columns, after the first, each attribute consists.
    """
    if not widths or points.x.shape[1] != 1 + sum(widths) or points.x.dtype == object:
        return False
    # Offsets have the bits of the largest and those of its halves, down to the narrowest.
    largest = max(_largest_offsets(points, widths))
    return math.log2(largest) + math.log2(2 * largest / _NARROWEST) + len(widths) < _MOST_BITS


def bound_over_boxes(
    points: Points,
    widths: Sequence[int],
    *,
    known: float,
    target: float = -math.inf,
    deadline: float = math.inf,
    clock: Clock = WALL_CLOCK,
) -> float:
    """Return a bound on the value of every threshold, as low as the time allows.

    `known` is a value that some group has. Ends when no value can be above it or the target, or no
    offset can be halved any more, or a round takes too many boxes, or at the deadline; infinite if
    that comes at once.
    """
    counted = np.flatnonzero(points.weight != 0)
    if len(counted) == 0:
        return max(known, 0.0)
    merged, _ = points.take(counted).merged()
    x = merged.x[:, 0] - merged.x[:, 0].min()
    largest = np.array(_largest_offsets(merged, widths))
    sides = [
        _Boxes(_rows(merged, number.astype(np.float64)), merged.n_strata, largest)
        for number in (x, x.max() - x)
    ]
    positive = float(np.maximum(merged.weight, 0.0).sum())
    rounding = max(_ROUNDING, 2.0**-50 * len(x)) * positive
    bound, goal = math.inf, positive
    floor = max(known, target)
    while bound > floor + rounding:
        started = clock()
        reached = max(side.bound(goal, bound, rounding, deadline, clock) for side in sides)
        if reached >= bound:  # out of time, or of offsets to halve
            break
        bound = reached
        ended = clock()
        goal = max(floor, known + _part_left(ended - started, deadline - ended) * (bound - known))
    return bound if bound > known + rounding else known


def _part_left(last: float, left: float) -> float:
    """Return what the next round should leave, after one of `last` seconds and with some left."""
    if left >= last * _LEAST_LEFT**-_POWER:
        return _LEAST_LEFT
    return min(_MOST_LEFT, (last / max(left, 1e-9)) ** (1.0 / _POWER))


def _largest_offsets(points: Points, widths: Sequence[int]) -> list[float]:
    """Return whole numbers that offsets need not exceed; `widths` are indicators by attribute."""
    k = sum(widths)
    size = float(points.x[:, 0].max() - points.x[:, 0].min()) + 1.0
    hadamard = sum(min(width, 2) for width in widths) ** ((k - 1) / 2)
    ways = math.factorial(k - 1) / math.prod(math.factorial(width) for width in widths)
    # One row fewer for the attribute itself: its factorial is that of width − 1.
    return [
        math.ceil(k * min(hadamard, ways * width) * size) + 1.0
        for width in widths
        for _ in range(width)
    ]


def _rows(points: Points, x: Array) -> Rows:
    """The rows in the order of the kernel; chains are numbered by stratum and indicators."""
    indicators = points.x[:, 1:].astype(np.float64)
    order = np.lexsort((-x, *indicators.T, points.stratum))
    key = np.column_stack([points.stratum, indicators])[order]
    begins = np.append(True, (key[1:] != key[:-1]).any(axis=1))
    return Rows(
        x=x[order],
        weight=points.weight[order],
        chain=np.cumsum(begins) - 1,
        stratum=points.stratum[order],
        indicators=np.ascontiguousarray(indicators[order][begins]),
    )


class _Boxes:
    """The offsets of one of the two problems."""

    def __init__(self, rows: Rows, n_strata: int, largest: Array) -> None:
        self._rows, self._n_strata, self._largest = rows, n_strata, largest
        self._unit = float(rows.x.max()) + 1.0
        self._numbers: NDArray[np.intp] = np.arange(4 * len(rows.x))
        self._n_boxes = _FIRST_BOXES

    def bound(
        self,
        target: float,
        proven: float,
        rounding: float,
        deadline: float,
        clock: Clock,
    ) -> float:
        """Explore all offsets, and return a bound, the target at best; infinite if given up.

        It is given up too when it can't become lower than what is proven.

        Narrowed windows leave out groups that are not above the target, and so do the bounds of
        the boxes that have them: only of the first box, as a whole, does a lesser bound hold.
        """
        stack = self._start()
        size = 1
        allowed = _MOST_BOXES * len(self._rows.x)
        summary = np.array([-math.inf, -math.inf, 0.0])
        while size > 0:
            if allowed <= 0 or summary[1] >= proven or clock() >= deadline:
                return math.inf
            summary[2] = 0.0
            size, left = explore(
                self._rows,
                stack,
                size,
                target + rounding,
                _NARROWEST,
                self._unit,
                self._n_boxes,
                summary,
            )
            clock.worked(float(summary[2]))
            done = self._n_boxes - left
            allowed -= done
            if size > 0 and left > 0:
                self._numbers = np.concatenate([self._numbers, self._numbers])
                stack = stack._replace(numbers=self._numbers)
            if done > 0:
                a_box = summary[2] / done
                self._n_boxes = min(1000, 1 + int(_ROWS_A_LOOK / max(1.0, a_box)))
        whole = allowed == _MOST_BOXES * len(self._rows.x) - 1
        return float(summary[0]) if whole else max(target, float(summary[1]))

    def _start(self) -> Stack:
        """All offsets as one box, all thresholds, all rows."""
        n_axes = self._rows.indicators.shape[1]
        # Each offset is halved less often than its bits.
        depth = 2 + 2 * _MOST_BITS * n_axes
        beyond = 2.0 * (n_axes + 1) * float(self._largest.max())
        m = len(self._rows.x)
        self._numbers[:m] = np.arange(m)
        return Stack(
            low=np.tile(-self._largest, (depth, 1)),
            high=np.tile(self._largest, (depth, 1)),
            least=np.full((depth, self._n_strata), -beyond),
            most=np.full((depth, self._n_strata), beyond),
            inside=np.zeros((depth, self._n_strata)),
            start=np.zeros(depth, dtype=np.intp),
            stop=np.full(depth, m),
            numbers=self._numbers,
        )
