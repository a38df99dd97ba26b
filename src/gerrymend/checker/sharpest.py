"""Check of the group that stands out most from chance: that it is one, by how much, its p-value.

Permutations are not made again. All that the rows decide is worked out: who is in and its figures,
with those of others in `claims`, and here its difference over its standard deviation where the
outcomes are dealt anew, exactly, and that no group of categories stands out more.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.chance import LEVEL, are_enough, wrong_p_value
from gerrymend.checker.confidence import wrong_intervals
from gerrymend.checker.exact import ZERO, exact
from gerrymend.checker.figures import TOLERANCE, Measured
from gerrymend.checker.groups import marginal_groups, named_groups
from gerrymend.checker.rules import RuleError, members

_CONDITIONS = 3
# With which the intervals of all groups that were looked at hold at once.
_CONFIDENCE = 0.95
# At most so many groups times distinct rows are summed.
_MOST_STEPS = 200_000


def check_sharpest(case: Case) -> None:
    """Check the group that stands out most; its members and figures are checked with others'."""
    stated = case.stated["sharpest"]
    tested = case.stated["n_permutations"] > 0
    _check_standing_out(case)
    if stated is None:
        if tested:
            _check_none(case)
        return
    if not tested:
        case.problem("sharpest is stated, and there are no permutations.")
        return
    case.problem(*_wrong_telling(stated, case))
    case.leave("sharpest.p_value", "the permutations behind it were not made again")
    try:
        _check_interval(stated, case)
        sharp = _checked_group(stated, case)
        _check_others(stated, sharp, case)
    except (RuleError, KeyError, TypeError, AttributeError):
        return  # a rule that can't be read, which was noted with its subgroup, or the class's


def _check_standing_out(case: Case) -> None:
    """Check whether a group stands out: by its p-value, and null where none of draws could tell."""
    name = "stands_out"
    if name not in case.stated:
        case.leave(name, "which reports of before don't state")
        return
    tested = case.stated["sharpest"]
    expected = None
    if tested is not None and exact(tested["p_value"]) <= LEVEL:
        expected = True
    elif tested is not None and are_enough(case.stated):
        expected = False
    if case.stated[name] is not expected:
        case.problem(f"{name} is stated as {case.stated[name]!r}, and is {expected!r}.")


def _wrong_telling(stated: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield what is wrong with the p-value, and with whether a group is told beside it."""
    yield from wrong_p_value("p_value of sharpest", stated["p_value"], case.stated)
    group = stated["subgroup"]
    if (group is None) != (stated["deviations"] is None):
        yield "sharpest states one of subgroup and deviations."
    significant = exact(stated["p_value"]) <= LEVEL
    if group is not None and not significant:
        yield "sharpest tells of a group whose p-value is above 0.05."
    if group is None and significant and "sharpest" not in case.stated["kept_back"]:
        yield "sharpest tells of no group, and its p-value is 0.05 or less."


def _check_interval(stated: Mapping[str, Any], case: Case) -> None:
    """Check the interval of the group's rate, which holds beside those of all groups looked at."""
    name = "rate_interval"
    group = stated["subgroup"]
    if stated.get(name) is None:
        case.leave(
            f"sharpest.{name}", "which reports of before, and those without rows, don't state"
        )
        return
    seen = None if group is None else case.measured.get(group["notion"])
    if seen is None or not stated["n_groups"]:
        case.problem(f"{name} of sharpest is stated, and no group, or none was looked at.")
        return
    inside = members(group["rule"], case.table)
    level = 1 - (1 - _CONFIDENCE) / stated["n_groups"]
    for problem in wrong_intervals(stated, [name], seen, inside, level):
        case.problem(f"The sharpest group: {problem}")


def _checked_group(stated: Mapping[str, Any], case: Case) -> Fraction | None:
    """Check the kind of the group, and by how many deviations it is off; return its square."""
    group = stated["subgroup"]
    seen = None if group is None else case.measured.get(group["notion"])
    if group is None or seen is None or stated["deviations"] is None:
        return None
    if case.stated["class"]["name"] not in ("Marginals", "ExplicitGroups"):
        conditions = group["rule"].get("conditions")
        if conditions is None or not 1 <= len(conditions) <= _CONDITIONS:
            case.problem("sharpest is no conjunction of at most 3 conditions.")
            return None
        if any(len(one.get("values", (0,))) != 1 for one in conditions):
            case.problem("sharpest is not of one value of each of its attributes.")
    if (group["treated"] == "better") or stated["deviations"] < 0:
        case.problem("sharpest is not on the side of those that are treated worse.")
    square = _square(seen, members(group["rule"], case.table))
    if square is None:
        case.leave("sharpest.deviations", "outcomes row by row are not summed here")
        return None
    off = math.sqrt(square)
    if abs(stated["deviations"] - off) > float(TOLERANCE) * max(1.0, off):
        case.problem(
            f"deviations of sharpest is stated as {stated['deviations']!r}, and is {off:.15g}."
        )
    return square


def _square(seen: Measured, inside: list[bool]) -> Fraction | None:
    """Return the square of a group's difference over the variance that dealing outcomes gives it.

    Of N rows that weigh the same, N_g of them in the group, the sum of the group's outcomes has the
    variance N_g·(N − N_g)/N · Σ (u − ū)²/(N − 1), in each stratum. None where Σ (u − ū)² is not
    known; 0 where no way to deal them differs from another.
    """
    variance = ZERO
    if seen.table.variance is not None:  # rows are drawn independently
        variance = sum(itertools.compress(seen.table.variance, inside), ZERO)
        off = seen.figures(inside).unfairness * seen.table.total_weight
        return off**2 / variance if variance else ZERO
    for part in seen.strata or (seen,):
        spread = _spread(part)
        if spread is None:
            return None
        n = part.everyone.rows
        mine = part.sums(inside).rows
        if n > 1:
            variance += Fraction(mine * (n - mine), n) * spread / (n - 1)
    off = seen.figures(inside).unfairness * seen.table.total_weight
    return off**2 / variance if variance else ZERO


def _spread(part: Measured) -> Fraction | None:
    """Return Σ (u − ū)² over the rows in the event; None where rows weigh differently.

    Also where outcomes are of more than two kinds, or are decided with a probability.
    """
    rows, mass, squares, outcome, first, second = part.everyone
    if not rows == mass == squares:
        return None
    if part.table.spread is not None:
        return second - first**2 / rows
    if not part.table.is_count or part.kinds > 2:
        return None
    low, span = exact(part.lowest), exact(part.span)
    high = (outcome - low * rows) / span
    return span**2 * high * (rows - high) / rows


def _check_others(stated: Mapping[str, Any], sharp: Fraction | None, case: Case) -> None:
    """Check the number of groups that were looked at, and that none of them stands out more.

    `sharp` is the square of the deviations of the group that is told, if it was worked out.
    """
    groups = _groups(case)
    if groups is None:
        case.leave(
            "sharpest.n_groups sharpest.subgroup",
            "how many groups were looked at, and that none of them stands out more: numbers are "
            "cut, or there are many",
        )
        return
    number = 0
    largest = ZERO
    for notion, seen, inside in _large_enough(groups, case):
        number += 1
        above = seen.figures(inside).unfairness > 0
        if notion["worse"] is None or above == (notion["worse"] == "higher"):
            largest = max(largest, _square(seen, inside) or ZERO)
    if stated["n_groups"] != number:
        case.problem(f"n_groups of sharpest is stated as {stated['n_groups']}, and is {number}.")
    one_family = len(case.stated["notions"]) == 1
    if sharp is None or not one_family or "sharpest" in case.stated["kept_back"]:
        case.leave("sharpest.subgroup", "that no other group stands out more")
    elif largest > sharp * (1 + 10 * TOLERANCE):
        case.problem("sharpest is a group, and another one stands out more.")


def _check_none(case: Case) -> None:
    """Check that no group is large enough to stand out, where a report with a p-value has none."""
    try:
        groups = _groups(case)
    except (RuleError, KeyError, TypeError, AttributeError):
        groups = None  # a rule of the class that can't be read
    if groups is None:
        case.leave("sharpest", "that no group was large enough to stand out")
    elif any(True for _ in _large_enough(groups, case)):
        case.problem("sharpest is left out, and there are groups that are large enough for one.")


def _large_enough(
    groups: list[list[bool]], case: Case
) -> Iterator[tuple[Mapping[str, Any], Measured, list[bool]]]:
    """Yield each notion with what was measured of it and each group that it can be told of."""
    floor = max(2, case.stated["min_group_size"])
    for notion in case.stated["notions"]:
        seen = case.measured.get(notion["name"])
        for inside in groups if seen is not None else ():
            assert seen is not None
            rows = seen.sums(inside).rows
            if min(rows, seen.everyone.rows - rows) >= floor:
                yield notion, seen, inside


def _groups(case: Case) -> list[list[bool]] | None:
    """Return the groups that were looked at; None where there are many, or numbers are cut."""
    table = case.table
    name = case.stated["class"]["name"]
    if name in ("Marginals", "ExplicitGroups"):
        parameters = case.stated["class"]["parameters"]
        listed = marginal_groups(table) if name == "Marginals" else named_groups(parameters, table)
        told = [group.members for group in listed.values()]
        return None if None in told else [inside for inside in told if inside is not None]
    columns = list(table.attributes.values())
    sets = [
        chosen
        for number in range(1, _CONDITIONS + 1)
        for chosen in itertools.combinations(columns, number)
    ]
    if table.score is not None or any(column.is_number for column in columns):
        return None
    found = []
    for chosen in sets:
        values = list(zip(*(column.values for column in chosen), strict=True))
        found += [[one == joint for one in values] for joint in dict.fromkeys(values)]
        if len(found) * len(table) > _MOST_STEPS:
            return None
    return found
