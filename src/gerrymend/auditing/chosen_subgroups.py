"""Choose the subgroup that a report describes of each notion and side: the worst that may be told.

One that is too small, or would list values that few rows have, gives way to the worst that may be.
"""

import math
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.everyone import everyone_of, worse_of
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.inference.disclosure import cells_of, published_by
from gerrymend.auditing.rare_values import can_merge, coarse_view, lists_any, rare_values
from gerrymend.auditing.shown_instead import shown_instead
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import largest_rounding
from gerrymend.subgroups.base import Found
from gerrymend.subgroups.explicit import ExplicitGroups
from gerrymend.subgroups.rules import Members, Rare, Rule


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
        subgroup = part.seen.measure(rule, members, min_group_size)
        if subgroup is None or not lists_any(subgroup.rule, rare):
            return subgroup
    return None


def told_rare_values(part: Examined, min_group_size: int) -> Rare:
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
    rare: Rare,
) -> Iterator[tuple[Rule, Members]]:
    """Yield what was found, then the worst that is large enough, then one without rare values."""
    seen = part.seen
    source = part.bound.source
    inside = int(seen.rows[found.members[0] > 0].sum())
    everyone = everyone_of(part, residual, min_group_size)
    if everyone is not None and (found.members[0] > 0).all():
        yield everyone
    elif may_be_described(inside, seen.rows.sum(), min_group_size):
        yield source.rule(found.keys[0]), found.members[0] > 0
    elif not (rare and can_merge(part.subgroups)):
        large = part.bound.worst_of_size(residual, seen.rows, min_group_size, seconds=seconds)
        told = None if large is None else (source.rule(large.keys[0]), large.members[0] > 0)
        yield from worse_of(told, everyone, residual)
    if rare and part.subgroups is not None:
        coarse = coarse_view(seen, part.subgroups, rare, part.sign)
        told = None if coarse is None else coarse.worst_of_size(residual, min_group_size, seconds)
        yield from worse_of(told, everyone, residual)


def worst_of_notion(
    part: Examined, examined: Sequence[Examined], min_group_size: int, deadline: float
) -> Subgroup | None:
    """Return the worst subgroup of a notion that may be described, beside its reference too."""
    seconds = half_until(deadline)
    worst = describable(part, part.bracket.found, part.seen.residual, min_group_size, seconds)

    def shown(subgroup: Subgroup) -> bool:
        return may_be_shown(examined, subgroup, (), min_group_size)

    if part.seen.compared.group is None or worst is None or shown(worst):
        return worst
    return shown_instead(part, told_rare_values(part, min_group_size), min_group_size, shown)


class Sides(NamedTuple):
    """The subgroups that are treated worst and best; None where there is none to describe.

    `favoured_is_rest` says that the second is all who are not in the first; `kept_back` which of
    the two would be another, if that disclosed no small group beside what else is described.
    """

    disadvantaged: Subgroup | None = None
    favoured: Subgroup | None = None
    favoured_is_rest: bool = False
    kept_back: tuple[str, ...] = ()

    def leading(self, top: Sequence[Subgroup]) -> Subgroup | None:
        """Return the subgroup that a report begins with: who is treated worst, or differs most."""
        worst = top[0] if top else None
        if worst is not None and worst.treated is None:
            return worst
        return self.disadvantaged or self.favoured or worst

    def beside(self, top: Sequence[Subgroup]) -> tuple[Subgroup, ...]:
        """Return all that a report describes: the top subgroups, and these where they are none."""
        return (*top, *(one for one in self[:2] if one is not None and one not in top))


def described_sides(
    examined: Sequence[Examined],
    top: Sequence[Subgroup],
    *,
    side: str,
    min_group_size: int,
    deadline: float = math.inf,
) -> Sides:
    """Return who is treated worst and who best, over the notions whose direction is known.

    Parameters
    ----------
    examined, min_group_size, deadline
        As in `top_subgroups`.
    top : sequence of Subgroup
        What is described already, the worst first: one of them may be the answer, and neither
        answer may disclose a small group beside them.
    side : {"both", "disadvantaged"}
        With "disadvantaged" no favoured subgroup is searched for.
    """
    seen = examined[0].seen
    worst, kept_back = _describable_side(examined, 1, top, top, min_group_size, deadline)
    names = ("disadvantaged",) if kept_back else ()
    if side == "disadvantaged":
        return Sides(worst, kept_back=names)
    beside = Sides(worst).beside(top)
    best, kept_back = _describable_side(examined, -1, top, beside, min_group_size, deadline)
    rest = worst and best and bool((cells_of(seen, worst) != cells_of(seen, best)).all())
    return Sides(worst, best, bool(rest), (*names, "favoured") if kept_back else names)


def _describable_side(
    examined: Sequence[Examined],
    turn: int,
    top: Sequence[Subgroup],
    beside: Sequence[Subgroup],
    min_group_size: int,
    deadline: float,
) -> tuple[Subgroup | None, bool]:
    """Return the worst of one side over all notions that discloses no few rows `beside` others.

    `turn` is 1 for the side of harm, and −1 for the other. Also returns whether a worse one does.
    """
    most_kept_back = 0.0
    found = [one for one in top if one.unfairness * one.notion.harm * turn > 0]
    for part in examined:
        worst = None
        if part.seen.notion.harm:
            worst = _worst_of_side(part, turn, top, min_group_size, deadline)
        if worst is None or worst in top:
            continue
        if may_be_shown(examined, worst, beside, min_group_size):
            found.append(worst)
        else:
            most_kept_back = max(most_kept_back, abs(worst.unfairness))
    best = max(found, key=lambda one: abs(one.unfairness), default=None)
    rounding = largest_rounding(part.seen for part in examined)
    return best, most_kept_back > (abs(best.unfairness) if best else 0.0) + rounding


def _worst_of_side(
    part: Examined, turn: int, top: Sequence[Subgroup], min_group_size: int, deadline: float
) -> Subgroup | None:
    """Return the worst subgroup of a notion on the side of harm·turn; None where there is none."""
    seen = part.seen
    sign = turn * seen.notion.harm
    own = [one for one in top if one.notion == seen.notion and one.unfairness * sign > 0]
    if part.bound.is_closed and part.sign:
        # Searched on the side of harm; the best treated are the rest of the worst treated.
        worst = describable(
            part, part.bracket.found, seen.residual, min_group_size, half_until(deadline)
        )
        if worst is None or turn > 0:
            return own[0] if own else worst if worst and worst.differs else None
        rest = ~cells_of(seen, worst)[seen.cells.active]
        return seen.measure(worst.rule.complement(), rest, min_group_size)
    known = abs(float(part.bracket.found.values[0])) / seen.cells.total_weight
    if own and abs(own[0].unfairness) >= known - seen.cells.rounding:
        return own[0]
    side = part._replace(bound=part.bound.one_sided(sign), sign=sign)
    found = side.bound.search(seen.residual, seconds=half_until(deadline))
    other = describable(side, found, seen.residual, min_group_size, half_until(deadline))
    worse = [one for one in (*own[:1], other) if one is not None and one.differs]
    return max(worse, key=lambda one: abs(one.unfairness), default=None)


def half_until(deadline: float) -> float:
    """Return half of the seconds that are left, so that no search leaves nothing to the next."""
    return max(0.0, deadline - time.monotonic()) / 2


def may_be_shown(
    examined: Sequence[Examined],
    subgroup: Subgroup,
    beside: Sequence[Subgroup],
    min_group_size: int,
) -> bool:
    """Return whether a subgroup tells of no small one beside these."""
    seen = [part.seen for part in examined]
    published = published_by(seen, beside, min_group_size)[subgroup.notion]
    return published.told(cells_of(seen[0], subgroup).astype(np.intp)) is None
