"""Find the worst group that can be said in a sentence, beside one that can't.

A sum of ten terms names nobody. Conjunctions of values and intervals, or of sets of values, on at
most three attributes do: the worst of these, on the same side, is searched exactly, and is told in
the fewest words that leave nearly as much, with how much of the worst it shares.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gerrymend.auditing.chosen_subgroups import describable, told_rare_values
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.fewest_words import simplest
from gerrymend.auditing.inference.disclosure import Published, cells_of
from gerrymend.auditing.rare_values import coarse_view, lists_any
from gerrymend.auditing.small_groups import identifies, may_be_described
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import NotionTally
from gerrymend.inputs.protected import Column, take_rows
from gerrymend.reporting.audit.who_leads import MOST
from gerrymend.subgroups import Conjunctions, ValueSets
from gerrymend.subgroups.compiling import compile_proofs
from gerrymend.subgroups.rules import Condition, Conjunction

# Conditions that a sentence has at most, and values of a category that its sets may be of.
CONDITIONS = 3
_MOST_VALUES = 6
_MOST_SETS = 16
# Numbers of more values than this are cut into so many bins.
MOST_NUMBERS = 100
_BINS = 32
# Longer descriptions are no sentences.
_LONGEST = 120
# Sets of attributes that are searched, where the worst group would disclose.
_MOST_TRIED = 8
# Sums in another order differ by less than this part.
_ABOVE = 1e-9


@dataclass(frozen=True)
class SentenceTest:
    """The test of a group in a sentence.

    Attributes
    ----------
    p_value : float
        Of so large an unfairness of any group that can be said in a sentence: it has paid for the
        search. Of notions that are permuted apart it is multiplied by the number of tests.
    n_permutations : int
        Draws that it is by: those of the report, or as many of them as there was time for.
    bins : int or None
        Numbers were cut into so many bins at most in draws and rows; None where at every value.
    """

    p_value: float
    n_permutations: int
    bins: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the test as plain data."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class SentenceGroup:
    """The worst group that can be said in a sentence, or a simpler one with nearly as much.

    Attributes
    ----------
    subgroup : Subgroup
        The group, of the same notion and side as the one that it stands for.
    upper_bound : float
        No group that can be said so exceeds it on this side, without sign.
    simpler_than : float or None
        The unfairness of the worst that may be described, without sign, where the group is a
        simpler one; it has 90 % of that, and of its gap, or more. None where it is that one itself.
    exact : bool
        Whether the worst that may be described is the worst of all that can be said so; else time
        was up, or that one is too small to describe.
    covers : str
        What can be said in a sentence, in words.
    overlap : float or None
        The part that both groups share of what either covers, by weight in the event. None where
        that would tell of fewer rows than the floor.
    accounts_for : float or None
        The part of the other's unfairness that is within this group.
    test : SentenceTest or None
        Whether chance alone makes as much, by the permutations of the report. None where that was
        not asked for, or there was no time for it, and where the group doesn't lead.
    """

    subgroup: Subgroup
    upper_bound: float
    simpler_than: float | None
    exact: bool
    covers: str
    overlap: float | None
    accounts_for: float | None
    test: SentenceTest | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the group as plain data."""
        return {
            "subgroup": self.subgroup.to_dict(),
            "upper_bound": self.upper_bound,
            "simpler_than": self.simpler_than,
            "exact": self.exact,
            "covers": self.covers,
            "overlap": self.overlap,
            "accounts_for": self.accounts_for,
            "test": None if self.test is None else self.test.to_dict(),
        }


def can_be_said(subgroup: Subgroup) -> bool:
    """Return whether a subgroup's own description says who is in: no formula, "not (…)" or list."""
    return subgroup.rule.says_who and len(subgroup.describe()) <= _LONGEST


def sentence_class(
    columns: tuple[Column, ...], most_values: int = MOST_NUMBERS
) -> ValueSets | Conjunctions:
    """Return the class that is searched: sets of values where these are few, else single values.

    Numbers of many values are cut into bins: a sentence needs no finer cuts, and the search over
    every pair of values of three of them would take minutes. They are where they have more than
    `most_values`.
    """
    sizes = [len(column.categories) for column in columns if column.categories is not None]
    few = max(sizes, default=0) <= _MOST_VALUES and sum(sizes) <= _MOST_SETS
    numbers = [len(np.unique(column.values)) for column in columns if not column.is_categorical]
    bins = min(_BINS, most_values) if max(numbers, default=0) > most_values else None
    return (ValueSets if few else Conjunctions)(max_depth=CONDITIONS, bins=bins)


def sentence_group(
    seen: NotionTally,
    worst: Subgroup,
    published: Published,
    *,
    min_group_size: int,
    gamma: float = 0.0,
    seconds: float = math.inf,
) -> tuple[SentenceGroup | None, bool]:
    """Return the worst group that can be said in a sentence, beside a worst that can't.

    Also returns whether a worse one would disclose few rows beside what is published.

    Parameters
    ----------
    seen : NotionTally
        The rows, as the notion of the worst sees them.
    worst : Subgroup
        The group that it stands for; its sign is the side that is searched.
    published : Published
        What is described already; what is returned is added to it.
    min_group_size : int
        The floor of `small_groups`.
    gamma : float, default=0
        The unfairness to allow, on whose side a simpler group has to stay.
    seconds : float, default=inf
        Time for the search; what was found by then is told as such.
    """
    columns = seen.tally.protected
    chosen = sentence_class(columns)
    compile_proofs([chosen], columns)
    sign = 1 if worst.unfairness > 0 else -1
    bound = seen.bind(chosen).one_sided(sign)
    bracket = bound.prove(seen.residual, seconds=seconds)
    n = seen.cells.total_weight
    part = Examined(seen, bound, bracket, chosen, sign)
    kept_back = False
    for found in _candidates(part, min_group_size, seconds):
        for subgroup in _simpler_first(part, found, worst, gamma, min_group_size):
            blocks = cells_of(seen, subgroup).astype(np.intp)
            if not can_be_said(subgroup) or published.told(blocks) is not None:
                continue
            published.add(blocks)
            most = max(abs(found.unfairness), abs(subgroup.unfairness))
            upper_bound = max(bracket.upper_bound / n, most)
            said = SentenceGroup(
                subgroup,
                upper_bound,
                most if most > abs(subgroup.unfairness) else None,
                upper_bound <= most + seen.cells.rounding,
                bound.covers,
                *_shared(seen, worst, subgroup, published, min_group_size),
            )
            return said, kept_back
        kept_back |= can_be_said(found)
    return None, kept_back


def _simpler_first(
    part: Examined, found: Subgroup, worst: Subgroup, gamma: float, min_group_size: int
) -> Iterator[Subgroup]:
    """Yield a group that is said in fewer words and has nearly as much, if any, and the group.

    The simpler one is on the same side of gamma, and leads for the worst if the group does.
    """
    seen = part.seen
    own = abs(found.unfairness)
    bars = (gamma, MOST * abs(worst.unfairness))
    least = max((bar for bar in bars if own > bar), default=0.0) * (1 + _ABOVE)
    if isinstance(found.rule, Conjunction):
        columns = {one.name: one for one in take_rows(seen.tally.columns, seen.cells.active)}
        worth = part.sign * seen.residual / seen.cells.total_weight
        rule = simplest(found.rule, columns, worth, seen.cells.mass, least)
        members = rule.members(columns)
        is_large = may_be_described(seen.rows[members].sum(), seen.rows.sum(), min_group_size)
        simpler = seen.measure(rule, members, min_group_size)
        rare = told_rare_values(part, min_group_size)
        if rule != found.rule and simpler and is_large and not lists_any(simpler.rule, rare):
            yield simpler
    yield found


def _candidates(part: Examined, min_group_size: int, seconds: float) -> Iterator[Subgroup]:
    """Yield the worst group, and the worst without an attribute of those yielded, worst first.

    What is yielded next was not to be told: who asks for it is in need of another group.
    """
    seen = part.seen
    assert part.subgroups is not None
    rare = told_rare_values(part, min_group_size)
    best = describable(part, part.bracket.found, seen.residual, min_group_size, seconds)
    waiting = [] if best is None else [(best, frozenset[str]())]
    tried = {frozenset[str]()}
    while waiting:
        waiting.sort(key=lambda pair: abs(pair[0].unfairness))
        subgroup, without = waiting.pop()
        if subgroup.unfairness * part.sign <= seen.cells.rounding:
            return
        yield subgroup
        for fewer in [without | {one.attribute} for one in _conditions(subgroup)]:
            if fewer not in tried and len(tried) < _MOST_TRIED:
                tried.add(fewer)
                coarse = coarse_view(seen, part.subgroups, rare, part.sign, without=fewer)
                found = coarse and coarse.worst_of_size(
                    seen.residual, min_group_size, seconds / _MOST_TRIED
                )
                other = found and seen.measure(*found, min_group_size)
                if other:
                    waiting.append((other, fewer))


def _conditions(subgroup: Subgroup) -> tuple[Condition, ...]:
    return subgroup.rule.conditions if isinstance(subgroup.rule, Conjunction) else ()


def _shared(
    seen: NotionTally,
    worst: Subgroup,
    group: Subgroup,
    published: Published,
    min_group_size: int,
) -> tuple[float | None, float | None]:
    """Return what two groups share, and the part of the worst's unfairness there.

    Both tell sums over the four parts that two groups make of the rows: none may be of few.
    """
    blocks = 2 * cells_of(seen, worst).astype(np.intp) + cells_of(seen, group)
    rows = np.bincount(blocks, seen.rows_of_cells, 4)
    # The weight in the event is told of each part, and not its number of people.
    if identifies(rows, min_group_size).any() or published.in_event.told(blocks) is not None:
        return None, None
    published.in_event.add(blocks)
    mass = seen.cells.mass
    first, second = ((blocks[seen.cells.active] & bit) > 0 for bit in (2, 1))
    both = first & second
    overlap = float(mass[both].sum() / mass[first | second].sum())
    return overlap, float(seen.residual[both].sum() / seen.residual[first].sum())
