"""Choose several subgroups that differ from each other, and say why there are no more of them.

After the worst, the next is searched for with what was found taken out: the outcomes of its cells
are set to the rate of the cells that are left, so that they pull neither way; where rows have a
reference of their own, to that. Once everyone was found, who differs from the others is searched
for. Each is measured on all rows. One that is much the same as an earlier one, or its rest, is
passed over and taken out as well; so is one that beside an earlier one tells of few rows.
"""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gerrymend.auditing.apart import own_residual
from gerrymend.auditing.chosen_subgroups import (
    describable,
    half_until,
    may_be_shown,
    worst_of_notion,
)
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.inference.disclosure import cells_of
from gerrymend.auditing.subgroup import MOST_SHARED, Subgroup, shared_part
from gerrymend.subgroups.rules import Members

# What has less than this part of the worst's unfairness is not worth a reader's time.
_LEAST = 0.1
# Searches for each subgroup that is wanted, before the rest is taken to be shades.
_PATIENCE = 4


class Several(NamedTuple):
    """Subgroups that differ from each other, the worst first, and why there are no more.

    `why` is empty where there are as many as were asked for; else what became of all others that
    were found: "alike", much the same as one of these; "shared", less than a tenth of the largest
    unfairness but for those who are in these; "few_rows", they would tell of few rows beside them;
    "little", nothing else has a tenth of it; and "time", it was up.
    """

    groups: tuple[Subgroup, ...]
    why: tuple[str, ...] = ()


def described_subgroups(
    examined: Sequence[Examined], *, number: int, min_group_size: int, deadline: float = math.inf
) -> Several:
    """Return the subgroups that a report describes, the worst first; none where nothing differs.

    Parameters are those of `top_subgroups`.
    """
    found = [worst_of_notion(part, examined, min_group_size, deadline) for part in examined]
    differing = [one for one in found if one is not None and one.differs]
    if not differing:
        return Several(())
    worst = max(differing, key=lambda subgroup: abs(subgroup.unfairness))
    return top_subgroups(
        examined, worst, number=number, min_group_size=min_group_size, deadline=deadline
    )


def top_subgroups(
    examined: Sequence[Examined],
    worst: Subgroup,
    *,
    number: int,
    min_group_size: int,
    deadline: float = math.inf,
) -> Several:
    """Return up to `number` subgroups that differ from each other, the worst first.

    Parameters
    ----------
    examined : sequence of Examined
        One a notion; the next subgroup is the worst over all of them.
    worst : Subgroup
        The one to start from. A later search may turn up a worse one, which then is the first.
    number : int
        How many are wanted; there are fewer where the rest are shades of those.
    min_group_size : int
        The floor of `small_groups`, for each group and for what two of them disclose together.
    deadline : float, default=inf
        By time.monotonic(); no search starts after it, and none goes on.
    """
    columns = {column.name: column for column in examined[0].seen.tally.columns}
    chosen = [worst]
    # `kept` is what the others must differ from. What was passed over is taken out of the search as
    # well, or it would be found again.
    kept = [worst.rule.members(columns)]
    taken_out = list(kept)
    why: dict[str, None] = {}  # in the order in which they came up
    for _ in range(_PATIENCE * (number - 1)):
        if len(chosen) == number:
            break
        if time.monotonic() >= deadline:
            why["time"] = None
            break
        best = _next(examined, worst, taken_out, min_group_size, deadline)
        if best is None:
            why["little"] = None
            break
        subgroup, part = best
        members = subgroup.rule.members(columns)
        # Found again although it was taken out: the search has nothing new to offer.
        if any(np.array_equal(members, other) for other in taken_out):
            why["alike"] = None
            break
        passed_over = _why_not(part, subgroup, worst, chosen, kept, members)
        if passed_over is None and not may_be_shown(examined, subgroup, chosen, min_group_size):
            passed_over = "few_rows"
        if passed_over is None:
            chosen.append(subgroup)
            kept.append(members)
        else:
            why[passed_over] = None
        taken_out.append(members)
    ordered = tuple(sorted(chosen, key=lambda subgroup: -abs(subgroup.unfairness)))
    return Several(ordered, tuple(why) if len(chosen) < number else ())


def _next(
    examined: Sequence[Examined],
    worst: Subgroup,
    taken_out: Sequence[Members],
    min_group_size: int,
    deadline: float,
) -> tuple[Subgroup, Examined] | None:
    """Return the worst subgroup by what is left, over all notions; None where none has a tenth."""
    candidates = [
        (subgroup, part)
        for part in examined
        if (subgroup := _worst_of_the_rest(part, taken_out, min_group_size, deadline)) is not None
        and abs(subgroup.unfairness) > _LEAST * abs(worst.unfairness)
    ]
    return max(candidates, key=lambda pair: abs(pair[0].unfairness), default=None)


def _why_not(
    part: Examined,
    group: Subgroup,
    worst: Subgroup,
    chosen: Sequence[Subgroup],
    kept: Sequence[Members],
    members: Members,
) -> str | None:
    """Say why a group is no further finding beside those that were chosen; None where it is."""
    # The rest was centred anew: what is too low in it may be too high among all.
    if group.unfairness * part.sign < 0:
        return "alike"
    if any(_shared(part, members, other) > MOST_SHARED for other in kept):
        return "alike"
    return None if _has_its_own(part, group, worst, chosen) else "shared"


def _has_its_own(
    part: Examined, group: Subgroup, worst: Subgroup, chosen: Sequence[Subgroup]
) -> bool:
    """Return whether a group has enough without those who are in earlier ones on its side.

    Of one with more than half of the rows those outside differ; without everyone nobody is left.
    """
    seen = part.seen
    alike = [one for one in chosen if one.notion == group.notion]
    cells = [cells_of(seen, one) for one in alike if one.unfairness * group.unfairness > 0]
    inside = [(members[seen.cells.active], _smaller_side(part, members)) for members in cells]
    earlier = [one for one, side in inside if np.array_equal(one, side) and not one.all()]
    own = own_residual(seen, cells_of(seen, group)[seen.cells.active], earlier)
    least = _LEAST * abs(worst.unfairness) * seen.cells.total_weight
    return own * np.sign(group.unfairness) > least


def _worst_of_the_rest(
    part: Examined, taken_out: Sequence[Members], min_group_size: int, deadline: float
) -> Subgroup | None:
    """Return the worst subgroup by the cells that are left; None where nothing differs there."""
    seen = part.seen
    mass = part.seen.cells.mass
    # Both sides are one division of the rows: with the smaller gone, more is left to search.
    sides = [_smaller_side(part, members) for members in taken_out]
    some = [side for side in sides if not side.all()]
    gone = np.logical_or.reduce([np.zeros(len(mass), dtype=bool), *some])
    if gone.all():
        return None
    # Cells that were taken out pull neither way, and the others are centred among themselves,
    # unless they are compared with a reference, and everyone was not found yet.
    rate = 0.0
    if seen.cells.reference is None or len(some) < len(sides):
        rate = seen.residual[~gone].sum() / mass[~gone].sum()
    residual = np.where(gone, 0.0, seen.residual - rate * mass)
    if np.abs(residual).sum() <= seen.cells.rounding * seen.cells.total_weight:
        return None
    found = part.bound.quick.search(residual, seconds=half_until(deadline))
    return describable(part, found, residual, min_group_size, half_until(deadline))


def _smaller_side(part: Examined, members: Members) -> Members:
    """Return a group over active cells, or its complement where that weighs less in the event.

    With a reference of one's own the rest is another finding, and the group itself is returned.
    """
    mass = part.seen.cells.mass
    inside = members[part.seen.cells.active]
    own = part.seen.cells.reference is not None
    return inside if own or 2 * mass[inside].sum() <= mass.sum() else ~inside


def _shared(part: Examined, group: Members, other: Members) -> float:
    """Return the part that two groups share, by the smaller side of each."""
    sides = (_smaller_side(part, members) for members in (group, other))
    divisions = part.seen.cells.reference is None
    return shared_part(part.seen.cells.mass, *sides, divisions=divisions)
