"""Bound what chains are worth together that differ in one attribute only, a *family*.

The bound of a box lets each chain choose its threshold for itself, relative to the last row in
chain r. But of chains y and z that differ in one attribute, the gap is that of two of its
categories, whatever the others are, and it is often the narrowest of all. So let z be the chain of
the family that shares r's category of the attribute, the *head*, with its threshold t at one of its
places relative to r, and have y follow z. With d the gap of z and y, between whole l and h, and
t = ⌈τ⌉ for the number τ where z begins, y begins at τ + d, which lies between t − 1 + l and t + h:
its threshold is one of t + l, …, t + h. So the family is worth at most

    max over t of  z's worth at t  +  Σ over the other chains of the most at t + l, …, t + h,

or what its chains are worth each for itself, if that is less. The other chains of r's own family
follow r as before. Either attribute makes families; the lesser of their bounds holds.
"""

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit
from gerrymend.subgroups.proofs.gap_boxes import Boxes, Gaps, Numbers
from gerrymend.subgroups.proofs.gap_table import Desk, Table, level_of


@njit(inner=True, cache=True)
def lower_by_families(
    table: Table,
    gaps: Gaps,
    boxes: Boxes,
    box: int,
    s: int,
    r: int,
    first: int,
    stop: int,
    attribute: int,
    desk: Desk,
) -> None:
    """Lower the profile of stratum s with its last row in chain r, by families of an attribute.

    Parameters
    ----------
    box : int
        The place of the box in `boxes`.
    s, r : int
        The stratum, and the chain of its last row.
    first, stop : int
        The numbers at which the last row may be, from the first on and before the second.
    attribute : int
        The one in which the chains of a family differ.
    desk : Desk
        Its `left` and `right` are those of the box. `profile` is lowered, never raised; `total`,
        `part` and `joint` are overwritten.
    """
    siblings = gaps.siblings[attribute]
    profile = desk.profile[s, r, first:stop]
    total = desk.total[: stop - first]
    part = desk.part[: stop - first]
    for q in range(len(total)):
        total[q] = table.last[s, r, first + q]
    for y in siblings[r]:
        if y < 0:
            break
        _add_for_itself(table, gaps, s, r, y, first, desk, total)
    for z in gaps.heads[attribute, r]:
        if z < 0:
            break
        part.fill(0.0)
        _add_for_itself(table, gaps, s, r, z, first, desk, part)
        for y in siblings[z]:
            if y < 0:
                break
            _add_for_itself(table, gaps, s, r, y, first, desk, part)
        gap = gaps.between[r, z]
        begin = first + boxes.low[box, gap] + 1
        end = stop + boxes.high[box, gap]
        if _has_room(table, gaps, boxes, box, z, begin, end, siblings[z]):
            joint = desk.joint[: end - begin]
            _write_joint(table, gaps, boxes, box, s, z, begin, siblings[z], joint)
            width = int(boxes.high[box, gap]) - boxes.low[box, gap]
            _lower_to_largest(joint, width, part)
        for q in range(len(total)):
            total[q] += part[q]
    for q in range(len(total)):
        profile[q] = min(profile[q], total[q])


@njit(inner=True, cache=True)
def _add_for_itself(
    table: Table, gaps: Gaps, s: int, r: int, y: int, first: int, desk: Desk, total: Array
) -> None:
    """Add the most that chain y is worth, by the last row in chain r from `first` on."""
    gap = gaps.between[r, y]
    begins = (s * table.last.shape[1] + y) * table.stride + first
    _add_larger(table.highest, begins + desk.left[gap], begins + desk.right[gap], total)


@njit(inner=True, cache=True)
def _add_larger(highest: Array, left: int, right: int, total: Array) -> None:
    """Add the larger of two rows of a table; places are unsigned: never from the end."""
    a = np.uint64(left)
    b = np.uint64(right)
    for q in range(np.uint64(len(total))):
        total[q] += max(highest[a + q], highest[b + q])


@njit(inner=True, cache=True)
def _has_room(
    table: Table,
    gaps: Gaps,
    boxes: Boxes,
    box: int,
    z: int,
    begin: int,
    end: int,
    siblings: Numbers,
) -> bool:
    """Say whether the table has all thresholds of a family whose head has those before `end`.

    Where gaps are wide it has not; then chains are as good for themselves.
    """
    n_numbers = table.last.shape[2]
    has_room = begin >= -n_numbers and end <= 2 * n_numbers + 3
    for y in siblings:
        if y < 0:
            break
        gap = gaps.between[z, y]
        has_room &= begin + boxes.low[box, gap] >= -n_numbers
        has_room &= end + boxes.high[box, gap] <= 2 * n_numbers + 3
    return has_room


@njit(inner=True, cache=True)
def _write_joint(
    table: Table,
    gaps: Gaps,
    boxes: Boxes,
    box: int,
    s: int,
    z: int,
    begin: int,
    siblings: Numbers,
    joint: Array,
) -> None:
    """Write the most that a family is worth, by the threshold of its head z, from `begin` on.

    Parameters
    ----------
    begin : int
        The first threshold of z. The table must have room for all; see `_has_room`.
    siblings : array of int
        The other chains of the family; then comes −1.
    joint : array
        It is written to: one bound for each threshold of z.
    """
    n_chains, n_numbers = table.last.shape[1:]
    at = (s * n_chains + z) * table.stride + n_numbers + begin
    for i in range(len(joint)):
        joint[i] = table.highest[at + i]
    for y in siblings:
        if y < 0:
            break
        low = int(boxes.low[box, gaps.between[z, y]])
        high = int(boxes.high[box, gaps.between[z, y]])
        level = level_of(high - low + 1)
        at = (s * n_chains + y) * table.stride + level * (3 * n_numbers + 3) + n_numbers + begin
        _add_larger(table.highest, at + low, at + high + 1 - (1 << level), joint)


@njit(inner=True, cache=True)
def _lower_to_largest(joint: Array, width: int, part: Array) -> None:
    """Lower each part to the largest of so many neighbours from there on; `joint` is used up."""
    level = level_of(width)
    for k in range(level):
        half = 1 << k
        for i in range(len(joint) - 2 * half + 1):
            joint[i] = max(joint[i], joint[i + half])
    beyond = width - (1 << level)
    for q in range(len(part)):
        part[q] = min(part[q], max(joint[q], joint[q + beyond]))
