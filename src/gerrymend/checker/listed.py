"""Check of the groups that a report lists: which they are, their rates and their intervals."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.confidence import wrong_intervals
from gerrymend.checker.direction import listed_worst, wrong_interval, wrong_single
from gerrymend.checker.exact import exact
from gerrymend.checker.figures import TOLERANCE, shown, wrong_figures
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
from gerrymend.checker.probes import wrong_words
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


def check_listed(case: Case) -> None:
    """Check the overall rates, the lists of groups and `marginal_unfairness`."""
    before = len(case.result.problems)
    case.problem(*_wrong_overall(case))
    number = sum(len(case.stated[name]) for name in _LISTS)
    if number * len(case.table) > MOST_STEPS:
        case.leave(
            "intervals intervals.* marginals marginals.* marginals_left_out intersections "
            "intersections.* intersections_left_out",
            f"{number:,} groups are too many, over {len(case.table):,} distinct rows",
        )
    else:
        for listing in _listings(case):
            _check_listing(listing, case)
        _check_pairs(case)
    # Rows that weigh differently have no intervals where only their sums are at hand.
    if case.stated["weighted"] and not case.stated["marginals"]:
        case.leave("marginal_unfairness single_unfairness", "no group of one attribute is listed")
        return
    case.problem(*_wrong_marginal_unfairness(case), *wrong_interval(case))
    if any(len(seen.active) > MOST_CELLS for seen in case.measured.values()):
        case.leave("single_unfairness", "intervals of too many values")
    else:
        case.problem(*wrong_single(case))
    if len(case.result.problems) == before:
        groups = f", and the {number:,} groups that are listed: who is in each, its rate, its "
        groups += "unfairness and the intervals of both"
        case.result.checked.append(f"The overall rates{groups if number else ''}.")


def _wrong_overall(case: Case) -> Iterator[str]:
    """Yield what is wrong with the overall rates.

    There is one for each notion, in their order, withheld where fewer than `min_group_size` rows
    are in its event.
    """
    stated = case.stated
    names = [notion["name"] for notion in stated["notions"]]
    if [one["notion"] for one in stated["overall_rates"]] != names:
        yield f"overall_rates are not those of the notions, {', '.join(names)}, one each."
        return
    for one in stated["overall_rates"]:
        seen = case.measured.get(one["notion"])
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


def _listings(case: Case) -> Iterator[Listing]:
    """Yield the lists to check, after noting what is wrong with their length.

    Groups of one attribute are listed in every report. Those of the class are listed if it names
    its groups; for Marginals both lists are one.
    """
    stated = case.stated
    name = stated["class"]["name"]
    notions = len(stated["notions"])
    marginals = marginal_groups(case.table)
    number = len(marginals)
    told = len(stated["marginals"]) + stated["marginals_left_out"]
    # More groups than these rows have, and as many for each notion: categories of held-out rows.
    if case.parted and told > number * notions and told % notions == 0:
        number = told // notions
        case.leave("marginals marginals_left_out", "they count categories that no row has")
    elif told != number * notions:
        case.problem(
            f"marginals has {len(stated['marginals'])} groups and marginals_left_out is stated as "
            f"{stated['marginals_left_out']}; there are {number * notions} in all."
        )
    yield Listing("marginals", marginals, marginal_key, number)
    yield from _pair_listing(case)
    if name == "Marginals":
        if stated["intervals"] != stated["marginals"]:
            case.problem("intervals and marginals are one list, and are stated as two.")
    elif name == "ExplicitGroups":
        try:
            named = named_groups(stated["class"]["parameters"], case.table)
        except (RuleError, KeyError, TypeError, AttributeError) as unreadable:
            case.problem(f"The class of subgroups can't be read: {unreadable}.")
            return

        def key_of(one: Mapping[str, Any]) -> Key | None:
            """Return the key of the named group that an entry describes, or None."""
            return named_key(one["group"], one["rule"], named)

        yield Listing("intervals", named, key_of, len(named))
    elif name in ("LinearThresholds", "Conjunctions", "ValueSets", "Trees"):
        if stated["intervals"]:
            case.problem(f"intervals are stated, and {name} lists no groups.")
    else:
        case.leave("intervals intervals.*", f"of {name}, which the checker doesn't know")


def _pair_listing(case: Case) -> Iterator[Listing]:
    """Yield the groups in which two attributes meet, after noting a wrong number of them."""
    stated = case.stated
    attributes = stated["intersected"]
    if len(attributes) not in (0, 2) or not set(attributes) <= set(case.table.attributes):
        case.problem(f"intersected is stated as {attributes!r}, no two attributes.")
        return
    groups = pair_groups(attributes, case.table)
    told = len(stated["intersections"]) + stated["intersections_left_out"]
    if told != len(groups) * len(stated["notions"]):
        case.problem(
            f"intersections has {len(stated['intersections'])} groups and intersections_left_out "
            f"is stated as {stated['intersections_left_out']}; there are "
            f"{len(groups) * len(stated['notions'])} in all."
        )
    if groups and not stated["intersections"]:
        case.leave("intersected", "none of the groups in which they meet is listed")
    yield Listing("intersections", groups, pair_key, len(groups))


def _check_listing(listing: Listing, case: Case) -> None:
    """Check each group of a list, that it belongs there, and the order of all.

    Groups are ordered by notion, and within a notion as `listing.groups` has them; some may be left
    out, which `_check_left_out` judges.
    """
    notions = [notion["name"] for notion in case.stated["notions"]]
    places = list(itertools.product(notions, listing.groups))
    # Each group has two intervals, of its rate and of its unfairness, for each notion.
    level = 1 - _ERROR / (2 * max(1, listing.number * len(notions)))
    found = []
    for one in case.stated[listing.name]:
        where = f"The group {one['group']!r} of {listing.name}"
        try:
            place = (one["notion"], listing.key_of(one))
            if place not in places:
                case.problem(f"{where} is none of the groups that are listed there.")
                continue
            found.append(places.index(place))
            group = listing.groups[place[1]]
            for sentence in wrong_group(one, group, level, case):
                case.problem(f"{where}: {sentence}")
        except (RuleError, KeyError, TypeError, AttributeError) as unreadable:
            case.problem(f"{where}: its rule can't be read ({unreadable}).")
    if sorted(set(found)) != found:
        case.problem(f"{listing.name} has a group twice, or not in its place.")
    missing = [place for i, place in enumerate(places) if i not in set(found)]
    _check_left_out(listing, missing, case)


def _check_left_out(listing: Listing, missing: list[tuple[str, Key]], case: Case) -> None:
    """Check that a group is left out only if it, or what it discloses beside others, is too small.

    Where each distinct row is there `min_group_size` times, and in the event as often or never, no
    sum can be over fewer, and nothing may be left out.
    """
    name = listing.name
    smallest = case.stated["min_group_size"]
    large = []
    for notion, key in missing:
        inside = listing.groups[key].members
        seen = case.measured.get(notion)
        if inside is None or seen is None:
            continue
        rows = seen.sums(inside).rows
        # A group of one row is a person, and only users name such.
        alone = len(key) > 1 and seen.figures(inside).size < 2
        if min(rows, seen.everyone.rows - rows) >= smallest and not alone:
            large.append((notion, key))
    # Where each cell has enough rows nothing needs to be left out; with weights, a group may also
    # lack intervals.
    people = list(map(sum, case.table.rows))
    told = [
        one for one in large
        if min([*people, *filter(None, case.measured[one[0]].rows)]) >= smallest
    ]  # fmt: skip
    if told and not case.stated["weighted"]:
        shown_key = " ".join(map(str, told[0][1]))
        case.problem(f"{name}: {shown_key} is left out ({told[0][0]}), and could be described.")
    elif large:
        case.leave(
            name if name == "intervals" else f"{name} {name}_left_out",
            f"that what is left out and large enough ({len(large)}) would give away smaller "
            "groups beside others, or has no intervals",
        )


def wrong_group(one: Mapping[str, Any], group: Group, level: float, case: Case) -> Iterator[str]:
    """Yield what is wrong with an entry that has to be this group, with intervals of this level."""
    seen = case.measured.get(one["notion"])
    if seen is None:
        yield f"its notion, {one['notion']}, is none that can be measured."
        return
    inside = members(one["rule"], case.table)
    if group.members is not None and inside != group.members:
        yield "its rule selects other rows than those of the group."
    wrong = wrong_words(one["group"], one["rule"], case.table, named=group.rule is not None)
    if wrong:
        yield wrong
    elif wrong is None:
        case.leave(
            "intervals.group marginals.group intersections.group discovery.groups.group",
            f"{one['group']!r}, only its rule",
        )
    figures = seen.figures(inside)
    names = ("size", "rate", "overall_rate", "unfairness")
    yield from wrong_figures(one, figures, seen.scale, names)
    yield from wrong_intervals(one, ("rate_interval", "unfairness_interval"), seen, inside, level)
    smallest = case.stated["min_group_size"]
    if min(figures.rows_inside, figures.rows_outside) < smallest:
        yield f"it, or what is outside, has fewer than {smallest} rows that count."


def _check_pairs(case: Case) -> None:
    """Check that no two described groups disclose, by subtraction, a group of too few rows.

    Groups are compared within a notion, over the rows in its event; where there are too many pairs
    this is left unchecked.
    """
    stated = case.stated
    table = case.table
    described = [one for name in ("top", *_LISTS) for one in stated[name]]
    described += (stated["discovery"] or {"groups": []})["groups"]
    described += [stated[name] for name in ("disadvantaged", "favoured") if stated[name]]
    for notion, seen in case.measured.items():
        groups = {}
        for one in described:
            if one["notion"] == notion:
                with contextlib.suppress(RuleError):
                    groups[one.get("group", one.get("subgroup"))] = members(one["rule"], table)
        # All pairs are compared on all distinct rows.
        if len(groups) ** 2 * len(table) > MOST_STEPS:
            case.result.not_checked.append(f"What two of the {len(groups):,} groups tell together.")
            continue
        for (name, one), (other_name, other) in itertools.combinations(groups.items(), 2):
            if _tell_of_few(one, other, seen.rows, stated["min_group_size"]):
                case.problem(
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


def _wrong_marginal_unfairness(case: Case) -> Iterator[str]:
    """Yield a sentence if `marginal_unfairness` is not the worst of the groups that are listed."""
    worst = listed_worst(case)
    stated = case.stated["marginal_unfairness"]
    if abs(exact(stated) - worst) > case.tolerance:
        yield f"marginal_unfairness is stated as {stated!r}, and is {shown(worst)}."
