"""Find where in a group most of its unfairness lies.

Unfairness is share times gap, so that the worst group takes in all whom it gains by, also those who
hardly differ. For a shift t ≥ 0 the part g of it that maximises U(g) − t·m(g), by unfairness U and
mass m in the event, has the largest unfairness of all of its mass or less, and the least mass of
all of its unfairness or more. As t grows both fall, and the gap U/m grows. With t half of the gap
of what is left, those go who are less than half as badly off; this is repeated until nobody goes,
or too much of the unfairness would. What is left is told in the fewest words that leave nearly as
much unfairness and gap.
"""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gerrymend.auditing.fewest_words import simplest
from gerrymend.auditing.in_a_sentence import CONDITIONS, can_be_said, sentence_class
from gerrymend.auditing.inference.disclosure import Published, cells_of
from gerrymend.auditing.inference.group_sums import group_sums
from gerrymend.auditing.rare_values import lists_any, rare_values
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import NotionTally
from gerrymend.inputs.protected import Column, take_rows
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.base import BoundClass
from gerrymend.subgroups.compiling import compile_proofs
from gerrymend.subgroups.rules import Condition, Conjunction, Members, Rule

# The part of the unfairness that is to be kept, and how many times the gap that is to be had.
_MOST = 0.8
_TIMES = 1.5
# Standard errors by which its rate differs from the rest's: many parts were searched for it.
_APART = 4.0
# Who is off by less than this part of the gap of what is left goes, in so many turns at most.
_MARGIN = 0.5
_MOST_TURNS = 8
# Choices of other attributes, of which there are fewer at a time where these would be more.
_MOST_CHOICES = 200
# Differences below this part of the mass are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of the group: its members among active cells, and how they were found.

    `rule` is theirs within the group.
    """

    members: Members
    unfairness: float
    mass: float
    rule: Rule | None = None


def where_it_lies(
    every: Sequence[NotionTally],
    group: Subgroup | None,
    published: Mapping[FairnessNotion, Published],
    *,
    min_group_size: int,
    deadline: float = math.inf,
) -> tuple[Subgroup | None, bool]:
    """Return the part of a group with 80 % of its unfairness or more, if that is clearly tighter.

    Its gap is 1.5 times that of the group, or more, and is not made by chance alone. Also returns
    whether there is one that would disclose few rows beside what is published. There is none where
    the group is much of a piece, or no product of conditions. It has the conditions of the group,
    narrowed, and others as long as these are at most three.

    Parameters
    ----------
    every : sequence of NotionTally
        The rows, as each notion sees them.
    group : Subgroup or None
        The group; nothing is said of one that can't be said in a sentence.
    published : mapping of notion to Published
        What is told already; what is returned is added to it.
    min_group_size : int
        The floor of `small_groups`.
    deadline : float, default=inf
        By time.monotonic(); the last part that was found by then is told.
    """
    if group is None or not can_be_said(group):
        return None, False
    seen = next(one for one in every if one.notion == group.notion)
    inside = cells_of(seen, group)
    conditions = as_product(seen.tally.columns, inside)
    if not conditions:
        return None, False
    core = _core(seen, inside, conditions, min_group_size, deadline)
    if core is None:
        return None, False
    blocks = cells_of(seen, core).astype(np.intp)
    if published[group.notion].told(blocks) is not None:
        return None, True
    published[group.notion].add(blocks)
    return core, False


def _core(
    seen: NotionTally,
    inside: Members,
    conditions: tuple[Condition, ...],
    min_group_size: int,
    deadline: float,
) -> Subgroup | None:
    """Return the part of a group, given its cells and conditions; None where there is none.

    Parameters
    ----------
    seen : NotionTally
        The rows as the group's notion sees them.
    inside : array of bool
        The group's cells, among all of them.
    conditions : tuple of Condition
        Those that select these cells, which the part's are narrowed from.
    min_group_size, deadline
        As for `where_it_lies`.
    """
    rare = rare_values(seen.tally, min_group_size)
    members = inside[seen.cells.active]
    sign = 1 if seen.residual[members].sum() > 0 else -1
    whole = _part(seen, members, sign)
    searches = _searches(seen, members, {one.attribute for one in conditions}, [*rare], sign)
    part = _without_margins(seen, whole, searches, sign, min_group_size, deadline)
    for one in () if part.rule is None else (_simpler(seen, part, whole, sign), part):
        assert one.rule is not None
        if not _has_most(seen, one, whole, min_group_size) or not _is_tighter(seen, one, whole):
            continue
        rule = _narrowed(conditions, one.rule, seen.tally.columns)
        core = seen.measure(rule, one.members, min_group_size)
        if core is not None and not lists_any(core.rule, rare) and can_be_said(core):
            return core
    return None


def _simpler(seen: NotionTally, part: _Part, whole: _Part, sign: int) -> _Part:
    """Return the part that is told in the fewest words and has nearly as much."""
    assert isinstance(part.rule, Conjunction)
    columns = {one.name: one for one in take_rows(seen.tally.columns, seen.cells.active)}
    mass = np.where(whole.members, seen.cells.mass, 0.0)
    worth = np.where(whole.members, sign * seen.residual, 0.0)
    gap = whole.unfairness / whole.mass
    rule = simplest(part.rule, columns, worth, mass, _MOST * whole.unfairness, _TIMES * gap)
    return _part(seen, whole.members & rule.members(columns), sign, rule)


def _part(seen: NotionTally, members: Members, sign: int, rule: Rule | None = None) -> _Part:
    """Return the part of these cells, with its own unfairness, not a shifted one."""
    unfairness = sign * float(seen.residual[members].sum())
    return _Part(members, unfairness, float(seen.cells.mass[members].sum()), rule)


def as_product(columns: Sequence[Column], members: Members) -> tuple[Condition, ...] | None:
    """Return the fewest conditions that select these cells, each on one attribute; None if none do.

    >>> age = Column("age", np.array([20.0, 30.0, 40.0]))
    >>> as_product([age], np.array([False, True, True]))
    (Condition(attribute='age', values=None, low=30.0, high=inf),)
    >>> as_product([age], np.array([True, False, True])) is None
    True
    """
    conditions = {}
    for column in columns:
        values = np.unique(column.values[members])
        if column.categories is not None:
            among = tuple(column.categories[int(code)] for code in values)
            one = Condition(column.name, among)
        else:
            above = column.values[column.values > values[-1]]
            high = float(above.min(initial=math.inf))
            one = Condition(column.name, low=float(values[0]), high=high)
        conditions[one] = one.holds(column)

    def selected(chosen: Sequence[Condition]) -> Members:
        return np.logical_and.reduce([np.ones_like(members), *map(conditions.__getitem__, chosen)])

    kept = [*conditions]
    for one in conditions:
        fewer = [other for other in kept if other is not one]
        kept = fewer if np.array_equal(selected(fewer), members) else kept
    return tuple(kept) if np.array_equal(selected(kept), members) else None


def _searches(
    seen: NotionTally, members: Members, own: set[str], rare: Sequence[str], sign: int
) -> list[BoundClass]:
    """Bind classes to the cells of the group: over the attributes of its conditions, and others.

    Others are chosen in every way in which the conditions are at most three, or fewer where these
    ways are many. Attributes with values that may not be listed are left as they are.
    """
    columns = take_rows(seen.tally.columns, seen.cells.active[members])
    vary = [one for one in columns if one.name not in rare and np.ptp(one.values) > 0]
    narrowed = [one for one in vary if one.name in own]
    others = [one for one in vary if one.name not in own]
    n_others = min(max(0, CONDITIONS - len(own)), len(others))
    while math.comb(len(others), n_others) > _MOST_CHOICES:
        n_others -= 1
    mass = seen.cells.mass[members]
    searches = []
    for more in itertools.combinations(others, n_others):
        if chosen := (*narrowed, *more):
            subgroups = sentence_class(chosen)
            compile_proofs([subgroups], chosen)
            searches.append(subgroups.bind(chosen, mass, mass).one_sided(sign))
    return searches


def _without_margins(
    seen: NotionTally,
    whole: _Part,
    searches: Sequence[BoundClass],
    sign: int,
    min_group_size: int,
    deadline: float,
) -> _Part:
    """Return the whole without those who are off by little, as long as most is kept.

    Each turn searches the whole again, with a shift of half the gap of what the turn before left.
    It ends when a turn comes too late, keeps too little of the unfairness or too few rows, or
    leaves nobody out; what the turn before kept is returned then, the whole if it was the first.

    Parameters
    ----------
    searches : sequence of BoundClass
        Classes bound to the cells of the whole; without any it is returned as it is.
    sign : {-1, 1}
        That of the whole's residual: unfairness is this times the residual.
    """
    kept = whole
    for _ in range(_MOST_TURNS if searches else 0):
        shift = _MARGIN * kept.unfairness / kept.mass
        part = _best(seen, whole, searches, sign, shift, deadline)
        is_late = time.monotonic() >= deadline  # what was found may not be the best
        is_enough = _has_most(seen, part, whole, min_group_size)
        if is_late or not is_enough or part.mass >= (1 - _ROUNDING) * kept.mass:
            break
        kept = part
    return kept


def _has_most(seen: NotionTally, part: _Part, whole: _Part, min_group_size: int) -> bool:
    """Return whether a part keeps enough of the unfairness, and enough rows."""
    is_large = bool(seen.rows[part.members].sum() >= min_group_size)
    return is_large and part.unfairness >= _MOST * whole.unfairness


def _is_tighter(seen: NotionTally, part: _Part, whole: _Part) -> bool:
    """Return whether a part has clearly more of the unfairness than of the rows."""
    if part.unfairness / whole.unfairness < _TIMES * part.mass / whole.mass:
        return False
    rest = whole.members & ~part.members
    gap = part.unfairness / part.mass
    of_rest = (whole.unfairness - part.unfairness) / (whole.mass - part.mass)
    one_over_rows = sum(1 / seen.rows[cells].sum() for cells in (part.members, rest))
    variance = _variance(seen, whole.members) * one_over_rows
    return bool(gap - of_rest >= _APART * math.sqrt(variance))


def _variance(seen: NotionTally, members: Members) -> float:
    """Return the variance of outcomes: of numbers as they are spread, of a rate the most it can be.

    Outcomes from a to b with mean u have a variance of (b − u)(u − a) at most, as decisions have.
    Where these are compared within strata, it is the mean of theirs.
    """
    if seen.strata:
        inside = np.zeros(len(seen.cells.n_rows), dtype=bool)
        inside[seen.cells.active] = members
        parts = [(part, inside[part.cells.active]) for part in seen.strata]
        mass = [part.cells.mass[cells].sum() for part, cells in parts]
        return float(np.average([_variance(*part) for part in parts], weights=mass))
    sums = None if seen.tally.spread is None else group_sums(seen, members[np.newaxis])
    # Squares of very small weights are 0.
    if sums is not None and sums.inside[1, 0] > 0:
        mass, squares, outcomes, first, second = sums.inside[:, 0].tolist()
        mean = outcomes / mass
        return float(max(0.0, (second - 2 * mean * first) / squares + mean**2))
    if not members.any():
        return 0.0
    low, high = seen.outcome_range
    mean = float(seen.outcomes[members].sum() / seen.cells.mass[members].sum())
    return max(0.0, (high - mean) * (mean - low))


def _best(
    seen: NotionTally,
    whole: _Part,
    searches: Sequence[BoundClass],
    sign: int,
    shift: float,
    deadline: float,
) -> _Part:
    """Return the part that maximises its unfairness less the shift times its mass.

    Parameters
    ----------
    whole : _Part
        The group; `searches` are over its cells alone, one class for each choice of attributes.
    sign : {-1, 1}
        The side that the searches are bound to.
    shift : float
        In units of unfairness a mass, as a gap is.
    deadline : float
        By time.monotonic(); a search is given the seconds that are left, or none.

    """
    shifted = seen.residual - sign * shift * seen.cells.mass
    best = None
    most = -math.inf
    for bound in searches:
        left = max(0.0, deadline - time.monotonic())
        found = bound.search(shifted[whole.members], seconds=left)
        if sign * found.values[0] > most:
            most = sign * float(found.values[0])
            best = (bound, found)
    assert best is not None
    bound, found = best
    members = np.zeros_like(whole.members)
    members[whole.members] = found.members[0] > 0
    return _part(seen, members, sign, bound.source.rule(found.keys[0]))


def _narrowed(
    conditions: Sequence[Condition], rule: Rule, columns: Sequence[Column]
) -> Conjunction:
    """Return the rule that the conditions of a group hold, and those of a rule within it.

    Two conditions on one attribute become one: the values that both have, or where their ranges
    overlap. Conditions are in the order of the columns.
    """
    assert isinstance(rule, Conjunction)
    both = {one.attribute: one for one in conditions}
    for one in rule.conditions:
        first = both.get(one.attribute, one)
        among = one.values or ()
        values = first.values and tuple(value for value in first.values if value in among)
        low = max(first.low, one.low)
        both[one.attribute] = Condition(one.attribute, values, low, min(first.high, one.high))
    kinds = {column.name: column.kind for column in columns}
    return Conjunction(tuple(both[name] for name in kinds if name in both), kinds)
