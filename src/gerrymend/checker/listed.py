"""What a report states of groups that it lists: their rates, and those of all rows.

The intervals are about chance, and are left to statistics; that they hold what they are around is
not.
"""

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.classes import NotListedError, subgroups_of
from gerrymend.checker.exact import Table, exact
from gerrymend.checker.figures import TOLERANCE, Figures, Measured, shown
from gerrymend.checker.result import CheckResult
from gerrymend.checker.rules import RuleError, members
from gerrymend.checker.words import members_by_words

# Groups times distinct rows that are worked out in fractions: some seconds.
MOST_STEPS = 200_000
_LISTS = ("intervals", "marginals")


def check_listed(
    stated: Mapping[str, Any],
    table: Table,
    measured: Mapping[str, Measured],
    result: CheckResult,
) -> None:
    """Note in `result` what is so of the listed groups and what is not."""
    before = len(result.problems)
    result.problems.extend(_wrong_overall(stated, measured))
    groups = [
        (f"{one['group']!r} of {name}", one) for name in _LISTS for one in stated.get(name) or ()
    ]
    if len(groups) * len(table) > MOST_STEPS:
        result.not_checked.append(
            f"The {len(groups):,} groups that are listed: too many, over {len(table):,} distinct "
            "rows."
        )
        return
    for where, one in groups:
        sentences = _wrong_group(one, table, measured, stated["min_group_size"])
        result.problems.extend(f"The group {where}: {sentence}" for sentence in sentences)
    _check_pairs(stated, table, measured, result)
    if "marginal_unfairness" in stated:
        try:
            result.problems.extend(_wrong_marginal_unfairness(stated, table, measured))
        except NotListedError as reason:
            result.not_checked.append(f"marginal_unfairness: {reason}.")
    if groups and len(result.problems) == before:
        result.checked.append(f"The {len(groups):,} groups that are listed, and the overall rates.")


def _check_pairs(
    stated: Mapping[str, Any], table: Table, measured: Mapping[str, Measured], result: CheckResult
) -> None:
    """No two groups that are described tell of too few rows."""
    described = [one for name in ("top", *_LISTS) for one in stated.get(name) or ()]
    for notion, seen in measured.items():
        groups = {}
        for one in described:
            if one["notion"] == notion:
                with contextlib.suppress(RuleError):
                    groups[one.get("group") or one["subgroup"]] = members(one["rule"], table)
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
    """Whether a sum over fewer rows follows from those over two groups and over everyone.

    Where no one is in a region, three sums tell those of the other three.

    >>> _tell_of_few([True, False, False], [True, True, False], [90, 4, 50], 10)
    True
    """
    regions = dict.fromkeys(itertools.product((False, True), repeat=2), 0)
    for region, number in zip(zip(one, other, strict=True), rows, strict=True):
        regions[region] += number
    there = [number for number in regions.values() if number]
    return len(there) < 4 and min(there) < smallest


def _wrong_overall(stated: Mapping[str, Any], measured: Mapping[str, Measured]) -> Iterator[str]:
    for one in stated.get("overall_rates") or ():
        seen = measured.get(one["notion"])
        if seen is None:
            yield f"An overall rate is of {one['notion']}, which is no notion of the report."
            continue
        if one["rate"] is None:
            if sum(seen.rows) >= stated["min_group_size"]:
                yield f"The overall {one['notion']} is kept back, though enough rows count."
        elif abs(exact(one["rate"]) - seen.overall_rate) > TOLERANCE * seen.scale:
            yield (
                f"The overall {one['notion']} is stated as {one['rate']!r}, and is "
                f"{shown(seen.overall_rate)}."
            )
        if one["rows"] != sum(seen.rows):
            yield (
                f"The rows that count for {one['notion']} are stated as {one['rows']!r}, and are "
                f"{sum(seen.rows)}."
            )


def _wrong_group(
    stated: Mapping[str, Any], table: Table, measured: Mapping[str, Measured], smallest: int
) -> Iterator[str]:
    seen = measured.get(stated["notion"])
    if seen is None:
        yield f"its notion, {stated['notion']}, is none of the report's."
        return
    try:
        inside = members(stated["rule"], table)
    except RuleError as unreadable:
        yield f"{unreadable}."
        return
    by_words = members_by_words(stated["group"], table)
    if by_words is not None and by_words != inside:
        yield "its description in words selects other rows than its rule."
    figures = seen.figures(inside)
    yield from _wrong_figures(stated, figures, TOLERANCE * seen.scale)
    if min(figures.rows_inside, figures.rows_outside) < smallest:
        yield f"it, or what is outside, has fewer than {smallest} rows that count."


def _wrong_figures(
    stated: Mapping[str, Any], figures: Figures, tolerance: Fraction
) -> Iterator[str]:
    if stated["size"] != figures.size:
        yield f"its size is stated as {stated['size']!r}, and is {figures.size}."
    for name in ("rate", "unfairness"):
        value = getattr(figures, name)
        if abs(exact(stated[name]) - value) > tolerance:
            yield f"its {name} is stated as {stated[name]!r}, and is {shown(value)}."
        low, high = map(exact, stated[f"{name}_interval"])
        if not low - tolerance <= value <= high + tolerance:
            yield f"its {name}, {shown(value)}, is not in the interval that is stated for it."


def _wrong_marginal_unfairness(
    stated: Mapping[str, Any], table: Table, measured: Mapping[str, Measured]
) -> Iterator[str]:
    if not measured:
        return
    marginals = {"name": "Marginals", "parameters": {}}
    worst = max(
        seen.worst(subgroups_of(marginals, table, seen.active)) for seen in measured.values()
    )
    tolerance = TOLERANCE * max(seen.scale for seen in measured.values())
    if abs(exact(stated["marginal_unfairness"]) - worst) > tolerance:
        yield (
            f"marginal_unfairness is stated as {stated['marginal_unfairness']!r}, and is "
            f"{shown(worst)}."
        )
