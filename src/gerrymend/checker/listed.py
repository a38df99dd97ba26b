"""Check of the groups that a report lists: which they are, their rates and their intervals."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gerrymend.checker.confidence import intervals_of, same_ends
from gerrymend.checker.direction import listed_worst, wrong_single
from gerrymend.checker.exact import Table, exact
from gerrymend.checker.figures import TOLERANCE, Measured, shown
from gerrymend.checker.groups import (
    Group,
    Key,
    marginal_groups,
    marginal_key,
    named_groups,
    named_key,
    pair_groups,
    pair_key,
)
from gerrymend.checker.probes import same_by_words
from gerrymend.checker.result import CheckResult
from gerrymend.checker.rules import RuleError, members

# At most so many groups times distinct rows are worked out in fractions, which takes some seconds.
MOST_STEPS = 200_000
# Every interval of a number is summed, of at most so many values.
MOST_CELLS = 2_000
# All intervals of a list hold at once with a confidence of 1 − this (Bonferroni).
_ERROR = 0.05
_LISTS = ("intervals", "marginals", "intersections")


@dataclass(frozen=True)
class Listing:
    """Describe a list that a report should have: the groups that may be in it, in order.

    `number` is the number of groups for one notion. It includes groups that no row is in and that
    are not known here.
    """

    name: str
    groups: dict[Key, Group]
    key_of: Callable[[Mapping[str, Any]], Key | None]
    number: int


def check_listed(
    stated: Mapping[str, Any],
    table: Table,
    measured: Mapping[str, Measured],
    result: CheckResult,
    *,
    parted: bool,
) -> None:
    """Check the overall rates, the lists of groups and `marginal_unfairness`.

    Where some rows were held out at random (`parted`), the class may have categories that none of
    the rows that were searched has.
    """
    before = len(result.problems)
    result.problems.extend(_wrong_overall(stated, measured))
    number = sum(len(stated[name]) for name in _LISTS)
    if number * len(table) > MOST_STEPS:
        result.leave(
            "intervals intervals.* marginals marginals.* marginals_left_out intersections "
            "intersections.* intersections_left_out",
            f"{number:,} groups are too many, over {len(table):,} distinct rows",
        )
    else:
        for listing in _listings(stated, table, result, parted=parted):
            _check_listing(listing, stated, table, measured, result)
        _check_pairs(stated, table, measured, result)
    # Rows that weigh differently have no intervals where only their sums are at hand.
    if stated["weighted"] and not stated["marginals"]:
        result.leave("marginal_unfairness single_unfairness", "no group of one attribute is listed")
        return
    result.problems.extend(_wrong_marginal_unfairness(stated, measured))
    if any(len(seen.active) > MOST_CELLS for seen in measured.values()):
        result.leave("single_unfairness", "intervals of too many values")
    else:
        result.problems.extend(wrong_single(stated, table, measured))
    if len(result.problems) == before:
        groups = f", and the {number:,} groups that are listed: who is in each, its rate, its "
        groups += "unfairness and the intervals of both"
        result.checked.append(f"The overall rates{groups if number else ''}.")


def _wrong_overall(stated: Mapping[str, Any], measured: Mapping[str, Measured]) -> Iterator[str]:
    """Yield what is wrong with the overall rates.

    There is one for each notion, in their order, withheld where fewer than `min_group_size` rows
    are in its event.
    """
    names = [notion["name"] for notion in stated["notions"]]
    if [one["notion"] for one in stated["overall_rates"]] != names:
        yield f"overall_rates are not those of the notions, {', '.join(names)}, one each."
        return
    for one in stated["overall_rates"]:
        seen = measured.get(one["notion"])
        if seen is None:
            continue
        rows = seen.everyone.rows
        rate = one["rate"]
        if (rate is None) != (rows < stated["min_group_size"]):
            few = "enough rows count" if rate is None else "too few rows count to be described"
            yield f"The overall {one['notion']} is stated as {rate!r}, though {few}."
        elif rate is not None and abs(exact(rate) - seen.overall_rate) > TOLERANCE * seen.scale:
            yield (
                f"The overall {one['notion']} is stated as {rate!r}, and is "
                f"{shown(seen.overall_rate)}."
            )
        if one["rows"] != rows:
            yield (
                f"The rows that count for {one['notion']} are stated as {one['rows']!r}, and are "
                f"{rows}."
            )


def _listings(
    stated: Mapping[str, Any], table: Table, result: CheckResult, *, parted: bool
) -> Iterator[Listing]:
    """Yield the lists to check, after noting what is wrong with their length.

    Groups of one attribute are listed in every report. Those of the class are listed if it names
    its groups; for Marginals both lists are one.
    """
    name = stated["class"]["name"]
    notions = len(stated["notions"])
    marginals = marginal_groups(table)
    number = len(marginals)
    told = len(stated["marginals"]) + stated["marginals_left_out"]
    # More groups than these rows have, and as many for each notion: categories of held-out rows.
    if parted and told > number * notions and told % notions == 0:
        number = told // notions
        result.leave("marginals marginals_left_out", "they count categories that no row has")
    elif told != number * notions:
        result.problems.append(
            f"marginals has {len(stated['marginals'])} groups and marginals_left_out is stated as "
            f"{stated['marginals_left_out']}; there are {number * notions} in all."
        )
    yield Listing("marginals", marginals, marginal_key, number)
    yield from _pair_listing(stated, table, result)
    if name == "Marginals":
        if stated["intervals"] != stated["marginals"]:
            result.problems.append("intervals and marginals are one list, and are stated as two.")
    elif name == "ExplicitGroups":
        try:
            named = named_groups(stated["class"]["parameters"], table)
        except (RuleError, KeyError, TypeError, AttributeError) as unreadable:
            result.problems.append(f"The class of subgroups can't be read: {unreadable}.")
            return

        def key_of(one: Mapping[str, Any]) -> Key | None:
            """Return the key of the named group that an entry describes, or None."""
            return named_key(one["group"], one["rule"], named)

        yield Listing("intervals", named, key_of, len(named))
    elif name in ("LinearThresholds", "Conjunctions", "ValueSets", "Trees"):
        if stated["intervals"]:
            result.problems.append(f"intervals are stated, and {name} lists no groups.")
    else:
        result.leave("intervals intervals.*", f"of {name}, which the checker doesn't know")


def _pair_listing(
    stated: Mapping[str, Any], table: Table, result: CheckResult
) -> Iterator[Listing]:
    """Yield the groups in which two attributes meet, after noting a wrong number of them."""
    attributes = stated["intersected"]
    if len(attributes) not in (0, 2) or not set(attributes) <= set(table.attributes):
        result.problems.append(f"intersected is stated as {attributes!r}, no two attributes.")
        return
    groups = pair_groups(attributes, table)
    told = len(stated["intersections"]) + stated["intersections_left_out"]
    if told != len(groups) * len(stated["notions"]):
        result.problems.append(
            f"intersections has {len(stated['intersections'])} groups and intersections_left_out "
            f"is stated as {stated['intersections_left_out']}; there are "
            f"{len(groups) * len(stated['notions'])} in all."
        )
    if groups and not stated["intersections"]:
        result.leave("intersected", "none of the groups in which they meet is listed")
    yield Listing("intersections", groups, pair_key, len(groups))


def _check_listing(
    listing: Listing,
    stated: Mapping[str, Any],
    table: Table,
    measured: Mapping[str, Measured],
    result: CheckResult,
) -> None:
    """Check each group of a list, that it belongs there, and the order of all.

    Groups are ordered by notion, and within a notion as `listing.groups` has them; some may be left
    out, which `_check_left_out` judges.
    """
    notions = [notion["name"] for notion in stated["notions"]]
    places = list(itertools.product(notions, listing.groups))
    # Each group has two intervals, of its rate and of its unfairness, for each notion.
    level = 1 - _ERROR / (2 * max(1, listing.number * len(notions)))
    found = []
    for one in stated[listing.name]:
        where = f"The group {one['group']!r} of {listing.name}"
        try:
            place = (one["notion"], listing.key_of(one))
            if place not in places:
                result.problems.append(f"{where} is none of the groups that are listed there.")
                continue
            found.append(places.index(place))
            group = listing.groups[place[1]]
            for sentence in _wrong_group(one, group, table, measured, stated, level, result):
                result.problems.append(f"{where}: {sentence}")
        except (RuleError, KeyError, TypeError, AttributeError) as unreadable:
            result.problems.append(f"{where}: its rule can't be read ({unreadable}).")
    if sorted(set(found)) != found:
        result.problems.append(f"{listing.name} has a group twice, or not in its place.")
    missing = [place for i, place in enumerate(places) if i not in set(found)]
    _check_left_out(listing.name, missing, listing.groups, stated, measured, result)


def _check_left_out(
    name: str,
    missing: list[tuple[str, Key]],
    groups: Mapping[Key, Group],
    stated: Mapping[str, Any],
    measured: Mapping[str, Measured],
    result: CheckResult,
) -> None:
    """Check that a group is left out only if it, or what it discloses beside others, is too small.

    Where each distinct row is there `min_group_size` times, and in the event or never in it, no sum
    can be over fewer, and nothing may be left out.
    """
    smallest = stated["min_group_size"]
    large = []
    for notion, key in missing:
        inside = groups[key].members
        seen = measured.get(notion)
        if inside is None or seen is None:
            continue
        rows = seen.sums(inside).rows
        # A group of one row is a person, and only users name such.
        alone = len(key) > 1 and seen.figures(inside).size < 2
        if min(rows, seen.everyone.rows - rows) >= smallest and not alone:
            large.append((notion, key))
    # Where each cell has enough rows nothing needs to be left out; with weights, a group may also
    # lack intervals.
    told = [
        one
        for one in large
        for seen in [measured[one[0]]]
        if min([*filter(None, seen.rows), *map(sum, seen.table.rows)]) >= smallest
    ]
    if told and not stated["weighted"]:
        shown_key = " ".join(map(str, told[0][1]))
        result.problems.append(
            f"{name}: {shown_key} is left out ({told[0][0]}), and could be described."
        )
    elif large:
        result.leave(
            name if name == "intervals" else f"{name} {name}_left_out",
            f"that what is left out and large enough ({len(large)}) would give away smaller "
            "groups beside others, or has no intervals",
        )


def _wrong_group(
    one: Mapping[str, Any],
    group: Group,
    table: Table,
    measured: Mapping[str, Measured],
    stated: Mapping[str, Any],
    level: float,
    result: CheckResult,
) -> Iterator[str]:
    """Yield what is wrong with an entry that has to be this group, with intervals of this level."""
    seen = measured.get(one["notion"])
    if seen is None:
        yield f"its notion, {one['notion']}, is none that can be measured."
        return
    inside = members(one["rule"], table)
    if group.members is not None and inside != group.members:
        yield "its rule selects other rows than those of the group."
    same = same_by_words(one["group"], one["rule"], table, named=group.rule is not None)
    if same is False:
        yield "its description in words selects other rows than its rule."
    elif same is None:
        result.leave(
            "intervals.group marginals.group intersections.group",
            f"{one['group']!r}, only its rule",
        )
    figures = seen.figures(inside)
    if one["size"] != figures.size:
        yield f"its size is stated as {one['size']!r}, and is {figures.size}."
    intervals = intervals_of(seen, inside, level)
    for name in ("rate", "unfairness"):
        value = getattr(figures, name)
        if abs(exact(one[name]) - value) > TOLERANCE * seen.scale:
            yield f"its {name} is stated as {one[name]!r}, and is {shown(value)}."
        ends = getattr(intervals, name)
        if not same_ends(one[f"{name}_interval"], ends, seen):
            yield (
                f"its {name}_interval is stated as {one[f'{name}_interval']!r}, and is "
                f"{list(ends)!r}."
            )
    smallest = stated["min_group_size"]
    if min(figures.rows_inside, figures.rows_outside) < smallest:
        yield f"it, or what is outside, has fewer than {smallest} rows that count."


def _check_pairs(
    stated: Mapping[str, Any], table: Table, measured: Mapping[str, Measured], result: CheckResult
) -> None:
    """Check that no two described groups disclose, by subtraction, a group of too few rows.

    Groups are compared within a notion, over the rows in its event; where there are too many pairs
    this is left unchecked.
    """
    described = [one for name in ("top", *_LISTS) for one in stated[name]]
    described += [stated[name] for name in ("disadvantaged", "favoured") if stated[name]]
    for notion, seen in measured.items():
        groups = {}
        for one in described:
            if one["notion"] == notion:
                with contextlib.suppress(RuleError):
                    groups[one.get("group", one.get("subgroup"))] = members(one["rule"], table)
        # All pairs are compared on all distinct rows.
        if len(groups) ** 2 * len(table) > MOST_STEPS:
            result.not_checked.append(f"What two of the {len(groups):,} groups tell together.")
            continue
        for (name, one), (other_name, other) in itertools.combinations(groups.items(), 2):
            if _tell_of_few(one, other, seen.rows, stated["min_group_size"]):
                result.problems.append(
                    f"The groups {name!r} and {other_name!r} give away, by subtraction, a group of "
                    f"fewer than {stated['min_group_size']} rows that count."
                )


def _tell_of_few(one: list[bool], other: list[bool], rows: list[int], smallest: int) -> bool:
    """Return whether a sum over too few rows follows from those over two groups and over everyone.

    Two groups divide everyone into four regions, and their sums and everyone's are three equations.
    They leave one unknown while all four regions have rows; where one is empty, they give the sums
    of the other three.

    >>> _tell_of_few([True, False, False], [True, True, False], [90, 4, 50], 10)
    True
    """
    regions = dict.fromkeys(itertools.product((False, True), repeat=2), 0)
    for region, number in zip(zip(one, other, strict=True), rows, strict=True):
        regions[region] += number
    there = [number for number in regions.values() if number]
    return len(there) < 4 and min(there) < smallest


def _wrong_marginal_unfairness(
    stated: Mapping[str, Any], measured: Mapping[str, Measured]
) -> Iterator[str]:
    """Yield a sentence if `marginal_unfairness` is not the worst of the groups that are listed."""
    if not measured:
        return
    worst = listed_worst(stated)
    tolerance = TOLERANCE * max(seen.scale for seen in measured.values())
    if abs(exact(stated["marginal_unfairness"]) - worst) > tolerance:
        yield (
            f"marginal_unfairness is stated as {stated['marginal_unfairness']!r}, and is "
            f"{shown(worst)}."
        )
