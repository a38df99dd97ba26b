"""Choose the subgroups that a report describes: the worst, and others that differ from it.

After the worst, the next is searched for with what was found taken out: the outcomes of its cells
are set to the rate of the cells that are left, so that they pull neither way. Each is then measured
on all rows. One that is much the same as an earlier one, or as the rest of it, is passed over, and
taken out as well; so is one that differs from an earlier one by so few rows that these are told.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.rare_values import can_merge, coarse_view, lists_any, rare_values
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.subgroup import MOST_SHARED, ROUNDING, Subgroup, shared_part
from gerrymend.auditing.tally import Examined, NotionTally
from gerrymend.subgroups.base import Found
from gerrymend.subgroups.explicit import ExplicitGroups
from gerrymend.subgroups.rules import Members, Rule

# What has less than this part of the worst's unfairness is not worth a reader's time.
_LEAST = 0.1
# Searches for each subgroup that is wanted, before the rest is taken to be shades.
_PATIENCE = 4


def describable(
    part: Examined, found: Found, residual: Array, min_group_size: int, seconds: float = math.inf
) -> Subgroup | None:
    """Return what was found or, where that may not be told, the worst subgroup that may be.

    It may not be where it is too small, or its description would list values that few rows have.

    Parameters
    ----------
    part : Examined
        The rows as one notion sees them, and the class, bound to their cells.
    found : Found
        What a search of `residual` came to.
    residual : array
        W by active cell, by which another one is searched for.
    min_group_size : int
        The floor of `small_groups`.
    seconds : float, default=inf
        Time for the other search.

    Returns
    -------
    Subgroup or None
        Measured on all rows; None where none may be told.
    """
    rare = told_rare_values(part, min_group_size)
    for rule, members in _candidates(part, found, residual, min_group_size, seconds, rare):
        subgroup = part.seen.measure(rule, members)
        if subgroup is None or not lists_any(subgroup.rule, rare):
            return subgroup
    return None


def told_rare_values(part: Examined, min_group_size: int) -> dict[str, frozenset[Any]]:
    """Return the values that a description must not list; groups that users name are theirs."""
    if isinstance(part.subgroups, ExplicitGroups):
        return {}
    return rare_values(part.seen.tally, min_group_size)


def _candidates(
    part: Examined,
    found: Found,
    residual: Array,
    min_group_size: int,
    seconds: float,
    rare: Mapping[str, frozenset[Any]],
) -> Iterator[tuple[Rule, Members]]:
    """Yield what was found, then the worst that is large enough, then one without rare values."""
    seen = part.seen
    source = part.bound.source
    inside = int(seen.rows[found.members[0] > 0].sum())
    if may_be_described(inside, seen.rows.sum(), min_group_size):
        yield source.rule(found.keys[0]), found.members[0] > 0
    elif not (rare and can_merge(part.subgroups)):
        large = part.bound.worst_of_size(residual, seen.rows, min_group_size, seconds=seconds)
        if large is not None:
            yield source.rule(large.keys[0]), large.members[0] > 0
    if rare and part.subgroups is not None:
        coarse = coarse_view(seen, part.subgroups, rare)
        told = None if coarse is None else coarse.worst_of_size(residual, min_group_size, seconds)
        if told is not None:
            yield told


def described_subgroups(
    examined: Sequence[Examined], *, number: int, min_group_size: int, deadline: float = math.inf
) -> tuple[Subgroup, ...]:
    """Return the subgroups that a report describes, the worst first; none where nothing differs.

    Parameters are those of `top_subgroups`.
    """
    found = [
        describable(
            part, part.bracket.found, part.seen.residual, min_group_size, _half_until(deadline)
        )
        for part in examined
    ]
    differing = [
        subgroup
        for subgroup in found
        if subgroup is not None and abs(subgroup.unfairness) > ROUNDING
    ]
    if not differing:
        return ()
    worst = max(differing, key=lambda subgroup: abs(subgroup.unfairness))
    return top_subgroups(
        examined, worst, number=number, min_group_size=min_group_size, deadline=deadline
    )


def _half_until(deadline: float) -> float:
    """Return half of the seconds that are left, so that no search leaves nothing to the next."""
    return max(0.0, deadline - time.monotonic()) / 2


def top_subgroups(
    examined: Sequence[Examined],
    worst: Subgroup,
    *,
    number: int,
    min_group_size: int,
    deadline: float = math.inf,
) -> tuple[Subgroup, ...]:
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
    for _ in range(_PATIENCE * (number - 1)):
        if len(chosen) == number or time.monotonic() >= deadline:
            break
        candidates = [
            (subgroup, part)
            for part in examined
            if (subgroup := _worst_of_the_rest(part, taken_out, min_group_size, deadline))
            is not None
            and abs(subgroup.unfairness) > _LEAST * abs(worst.unfairness)
        ]
        if not candidates:
            break
        best, part = max(candidates, key=lambda pair: abs(pair[0].unfairness))
        members = best.rule.members(columns)
        # Found again although it was taken out: the search has nothing new to offer.
        if any(np.array_equal(members, other) for other in taken_out):
            break
        apart = all(_shared(part, members, other) <= MOST_SHARED for other in kept)
        if apart and not published_beside(part.seen, chosen, min_group_size).told_by(
            members[part.seen.cells.active].astype(np.intp)
        ):
            chosen.append(best)
            kept.append(members)
        taken_out.append(members)
    return tuple(sorted(chosen, key=lambda subgroup: -abs(subgroup.unfairness)))


def published_beside(
    seen: NotionTally, groups: Sequence[Subgroup], min_group_size: int
) -> Published:
    """Return what is published of a notion by these groups, those of other notions aside."""
    columns = {column.name: column for column in seen.tally.columns}
    published = Published(seen.rows, min_group_size)
    for subgroup in groups:
        if subgroup.notion == seen.notion:
            published.add(subgroup.rule.members(columns)[seen.cells.active].astype(np.intp))
    return published


def _worst_of_the_rest(
    part: Examined, taken_out: Sequence[Members], min_group_size: int, deadline: float
) -> Subgroup | None:
    """Return the worst subgroup by the cells that are left; None where nothing differs there."""
    seen = part.seen
    mass = part.seen.cells.mass
    # Both sides are one division of the rows: with the smaller gone, more is left to search.
    gone = np.logical_or.reduce([_smaller_side(part, members) for members in taken_out])
    if gone.all():
        return None
    # Cells that were taken out get the rate of the others, so that they pull neither way.
    rate = seen.outcomes[~gone].sum() / mass[~gone].sum()
    residual = np.where(gone, 0.0, seen.outcomes - rate * mass)
    if np.abs(residual).sum() <= ROUNDING * seen.cells.total_weight:
        return None
    found = part.bound.quick.search(residual, seconds=_half_until(deadline))
    return describable(part, found, residual, min_group_size, _half_until(deadline))


def _smaller_side(part: Examined, members: Members) -> Members:
    """Return a group over active cells, or its complement where that weighs less in the event."""
    mass = part.seen.cells.mass
    inside = members[part.seen.cells.active]
    return inside if 2 * mass[inside].sum() <= mass.sum() else ~inside


def _shared(part: Examined, group: Members, other: Members) -> float:
    """Return the part that two groups share, by the smaller side of each."""
    return shared_part(part.seen.cells.mass, _smaller_side(part, group), _smaller_side(part, other))
