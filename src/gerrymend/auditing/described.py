"""Several subgroups that differ from each other, not so many shades of one.

After the worst, the next is searched for with what was found taken out: the outcomes of its cells
are set to the rate of the cells that are left, so that they pull neither way. Each is then measured
on all rows. One that is much the same as an earlier one, or as the rest of it, is passed over, and
taken out as well; so is one that differs from an earlier one by so few rows that these are told.
"""

from collections.abc import Sequence

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.subgroup import ROUNDING, Subgroup
from gerrymend.auditing.tally import Examined, NotionTally
from gerrymend.subgroups.base import Found
from gerrymend.subgroups.rules import Members

# Two groups are the same where they share more than this part of what either covers.
MOST_SHARED = 0.5
# What has less than this part of the worst's unfairness is not worth a reader's time.
_LEAST = 0.1
# Searches for each subgroup that is wanted, before the rest is taken to be shades.
_PATIENCE = 4


def describable(
    part: Examined, found: Found, residual: Array, min_group_size: int
) -> Subgroup | None:
    """What was found, or the worst of the subgroups with at least so many rows in and out."""
    seen = part.seen
    inside = int(seen.rows[found.members[0] > 0].sum())
    if not may_be_described(inside, seen.rows.sum(), min_group_size):
        large = part.bound.worst_of_size(residual, seen.rows, min_group_size)
        if large is None:
            return None
        found = large
    return seen.measure(part.bound.source.rule(found.keys[0]), found.members[0] > 0)


def top_subgroups(
    examined: Sequence[Examined], worst: Subgroup, *, number: int, min_group_size: int
) -> tuple[Subgroup, ...]:
    """The worst subgroup and others that differ from it and from each other, the worst first."""
    columns = {column.name: column for column in examined[0].seen.tally.columns}
    chosen, kept = [worst], [worst.rule.members(columns)]
    taken_out = list(kept)
    for _ in range(_PATIENCE * (number - 1)):
        if len(chosen) == number:
            break
        candidates = [
            (one, part)
            for part in examined
            if (one := _worst_of_the_rest(part, taken_out, min_group_size)) is not None
            and abs(one.unfairness) > _LEAST * abs(worst.unfairness)
        ]
        if not candidates:
            break
        best, part = max(candidates, key=lambda pair: abs(pair[0].unfairness))
        members = best.rule.members(columns)
        if any(np.array_equal(members, other) for other in taken_out):
            break
        apart = all(_shared(part, members, other) <= MOST_SHARED for other in kept)
        if apart and not published_beside(part.seen, chosen, min_group_size).told_by(
            members[part.seen.cells.active].astype(np.intp)
        ):
            chosen.append(best)
            kept.append(members)
        taken_out.append(members)
    return tuple(sorted(chosen, key=lambda one: -abs(one.unfairness)))


def published_beside(
    seen: NotionTally, groups: Sequence[Subgroup], min_group_size: int
) -> Published:
    """What is published of a notion with these groups, those of other notions aside."""
    columns = {column.name: column for column in seen.tally.columns}
    published = Published(seen.rows, min_group_size)
    for one in groups:
        if one.notion == seen.notion:
            published.add(one.rule.members(columns)[seen.cells.active].astype(np.intp))
    return published


def _worst_of_the_rest(
    part: Examined, taken_out: Sequence[Members], min_group_size: int
) -> Subgroup | None:
    """The worst subgroup by the cells that are left."""
    seen, mass = part.seen, part.seen.cells.mass
    gone = np.logical_or.reduce([_smaller_side(part, members) for members in taken_out])
    if gone.all():
        return None
    rate = seen.outcomes[~gone].sum() / mass[~gone].sum()
    residual = np.where(gone, 0.0, seen.outcomes - rate * mass)
    if np.abs(residual).sum() <= ROUNDING * seen.cells.total_weight:
        return None
    return describable(part, part.bound.quick.worst(residual[None]), residual, min_group_size)


def _smaller_side(part: Examined, members: Members) -> Members:
    """A group over active cells, or its complement where that has less weight in the event."""
    mass, inside = part.seen.cells.mass, members[part.seen.cells.active]
    return inside if 2 * mass[inside].sum() <= mass.sum() else ~inside


def _shared(part: Examined, one: Members, other: Members) -> float:
    """What two groups have in common, of all they cover, by weight in the event (Jaccard).

    A group and its complement are one division of the rows: what counts is the smaller side of
    each, and where both are near a half whether one is the rest of the other.
    """
    mass = part.seen.cells.mass
    one, other = _smaller_side(part, one), _smaller_side(part, other)

    def jaccard(first: Members, second: Members) -> float:
        either = mass[first | second].sum()
        return float(mass[first & second].sum() / either) if either > 0 else 1.0

    return max(jaccard(one, other), jaccard(one, ~other))
