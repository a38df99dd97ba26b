"""Check of the flagged groups in which two attributes meet, or three, and that no table has.

All joint values are listed anew, numbers cut into quarters, and the p-value of each is worked out:
one that is small enough is told, or counts among those that may not be shown.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from gerrymend.checker.case import Case
from gerrymend.checker.exact import Attribute, Table
from gerrymend.checker.figures import Measured
from gerrymend.checker.form import is_number
from gerrymend.checker.groups import Group
from gerrymend.checker.listed import wrong_group
from gerrymend.checker.rules import RuleError, members

# Attributes that meet in a group, by the class that is searched.
_PAIRS = 2
_TRIPLES = 3
_QUARTERS = 4
# Members of all groups, by kind of row, and groups over all notions, that an audit tests at most.
_MOST_MEMBERS = 2_000_000
_MOST_TESTED = 100_000
# Groups that an audit tries to tell at most, the surest first.
_MOST_TRIED = 100
# At most so many groups times distinct rows are summed here.
_MOST_STEPS = 200_000
# All intervals hold at once with a confidence of 1 − this (Bonferroni).
_ERROR = 0.05


class Meetings(NamedTuple):
    """Hold the groups by the attributes that meet, as members by cell; and how many may meet."""

    groups: dict[tuple[str, ...], list[list[bool]]]
    depth: int
    capped: bool

    @property
    def number(self) -> int:
        """Count the groups there are, for each notion."""
        return sum(map(len, self.groups.values()))


def meetings_of(case: Case) -> Meetings | None:
    """Return all groups that were tested beside tables; None if they are many, or cuts doubtful."""
    stated = case.stated
    searched = stated["class"]
    asked = searched["parameters"].get("max_depth")
    deep = searched["name"] == "Conjunctions" and is_number(asked) and asked >= _TRIPLES
    values: dict[str, list[int]] = {}
    for attribute in case.table.attributes.values():
        ranks = quarters(attribute, case.table) if attribute.is_number else _categories(attribute)
        if ranks is None:
            return None
        if len(set(ranks)) > 1:  # one that is the same in every row makes no groups beside others'
            values[attribute.name] = ranks
    kinds = len(set(zip(*values.values(), strict=True))) if values else 0
    wanted = min(_TRIPLES if deep else _PAIRS, len(values))
    most = wanted
    while most > 1 and sum(math.comb(len(values), k) for k in range(2, most + 1)) * kinds > (
        _MOST_MEMBERS
    ):
        most -= 1
    sets = [s for k in range(2, most + 1) for s in itertools.combinations(values, k)]
    if len(sets) * len(case.table) > _MOST_STEPS:
        return None
    groups = {
        names: _joint([values[name] for name in names])
        for names in sets
        if set(names) != set(stated["intersected"])
    }
    while sum(map(len, groups.values())) * len(stated["notions"]) > _MOST_TESTED:
        most -= 1
        groups = {names: listed for names, listed in groups.items() if len(names) <= most}
    depth = max(1, most)
    if sum(map(len, groups.values())) * len(case.table) > _MOST_STEPS:
        return None
    return Meetings(groups, depth, most < wanted)


def _joint(columns: list[list[int]]) -> list[list[bool]]:
    """Return the members of each joint value of some columns, in order."""
    rows = list(zip(*columns, strict=True))
    return [[row == value for row in rows] for value in sorted(set(rows))]


def _categories(attribute: Attribute) -> list[int]:
    """Return the place of each cell's category among all."""
    place = {value: i for i, value in enumerate(attribute.categories)}
    return [place[value] for value in attribute.values]


def quarters(attribute: Attribute, table: Table) -> list[int] | None:
    """Return the quarter of the rows that each cell's number is in; None if two cuts are as near.

    A cut is after the value below which the part of the rows is nearest to 1/4, 1/2 or 3/4.

    >>> ages = Attribute("age", True, (20, 30, 40, 50))
    >>> quarters(ages, Table({"age": ages}, [[1, 0]] * 4, [[1, 0]] * 4, []))
    [0, 1, 2, 3]
    """
    weight: dict[Any, Fraction] = {}
    for value, by_label in zip(attribute.values, table.weight, strict=True):
        weight[value] = weight.get(value, Fraction(0)) + sum(by_label, Fraction(0))
    ordered = sorted(weight)
    total = sum(weight.values(), Fraction(0))
    shares = [part / total for part in itertools.accumulate(weight[one] for one in ordered)][:-1]
    cuts = set()
    for k in range(1, _QUARTERS if shares else 1):
        away = [abs(share - Fraction(k, _QUARTERS)) for share in shares]
        if away.count(min(away)) > 1:
            return None
        cuts.add(away.index(min(away)))
    rank = {value: sum(cut < i for cut in cuts) for i, value in enumerate(ordered)}
    return [rank[value] for value in attribute.values]


def wrong_meetings(
    discovery: Mapping[str, Any], meetings: Meetings | None, number: int, case: Case
) -> Iterator[str]:
    """Yield what is wrong with each group that is told; `number` were tested beside tables."""
    level = 1 - _ERROR / (2 * max(1, number))
    told = []
    for one in discovery["groups"]:
        where = f"The group {one['group']!r} of discovery"
        try:
            conditions = one["rule"]["conditions"]
            names = tuple(condition["attribute"] for condition in conditions)
            inside = members(one["rule"], case.table)
        except (RuleError, KeyError, TypeError, AttributeError) as unreadable:
            yield f"{where}: its rule can't be read ({unreadable})."
            continue
        told.append((one["notion"], inside))
        if meetings is not None and inside not in meetings.groups.get(names, ()):
            yield f"{where} is none of those in which attributes meet, or is in a table."
        if meetings is None and not _may_meet(names, conditions, discovery, case):
            yield f"{where} is none of those in which attributes meet."
        if not one["flagged"]:
            yield f"{where} is not flagged."
        yield from (f"{where}: {words}" for words in wrong_group(one, Group(None), level, case))
    if _out_of_place(told, meetings, case):
        yield "discovery has a group twice, or not in its place."


def _out_of_place(
    told: list[tuple[str, list[bool]]], meetings: Meetings | None, case: Case
) -> bool:
    """Return whether groups are not by notion and, within one, in the order of all groups."""
    notions = [notion["name"] for notion in case.stated["notions"]]
    every = list(itertools.chain.from_iterable(meetings.groups.values())) if meetings else []
    places = [
        (notions.index(notion), every.index(inside) if inside in every else -1)
        for notion, inside in told
        if notion in notions
    ]
    return places != sorted(places) or any(one in told[:i] for i, one in enumerate(told))


def _may_meet(
    names: tuple[str, ...],
    conditions: Sequence[Mapping[str, Any]],
    discovery: Mapping[str, Any],
    case: Case,
) -> bool:
    """Return whether conditions are of so many attributes, with one value of each category."""
    return (
        2 <= len(set(names)) == len(names) <= discovery["depth"]
        and set(names) != set(case.stated["intersected"])
        and all(len(one.get("values", (0,))) == 1 for one in conditions)
    )


def hidden_range(
    discovery: Mapping[str, Any],
    meetings: Meetings,
    p_value: Any,
    highest: Any,
    case: Case,
) -> tuple[int, int, bool]:
    """Return how many of these are hidden at least and at most, and whether one could be told.

    Parameters
    ----------
    discovery : mapping
        As it is stated.
    meetings : Meetings
        All groups that were tested beside tables.
    p_value : callable
        Returns that of a group, given a notion's sums and its members.
    highest : callable
        Returns the p-value up to which all of these would be flagged, given theirs.
    """
    told = {(one["notion"], tuple(members(one["rule"], case.table))) for one in discovery["groups"]}
    small = 0
    untold = []
    every = []
    for name, seen in case.measured.items():
        for inside in itertools.chain.from_iterable(meetings.groups.values()):
            if not _is_large(seen, inside, case):
                small += 1
                continue
            p = p_value(seen, inside)
            every.append(p)
            if (name, tuple(inside)) not in told:
                untold.append((p, seen))
    most = highest(every)
    certain = [seen for p, seen in untold if p <= discovery["threshold"] * (1 - 1e-7)]
    possible = [seen for p, seen in untold if p <= most * (1 + 1e-7)]
    smallest = case.stated["min_group_size"]
    people = list(map(sum, case.table.rows))
    # Where each cell has enough rows, nothing small follows from any sums.
    safe = [s for s in certain if min([*people, *filter(None, s.rows)]) >= smallest]
    could_be_told = bool(safe) and len(possible) <= _MOST_TRIED
    return small + len(certain), small + len(possible), could_be_told


def _is_large(seen: Measured, inside: list[bool], case: Case) -> bool:
    """Return whether a group may be told of by itself."""
    smallest = case.stated["min_group_size"]
    rows = seen.sums(inside).rows
    people = sum(map(sum, itertools.compress(case.table.rows, inside)))
    return min(rows, seen.everyone.rows - rows) >= smallest and people > 1
