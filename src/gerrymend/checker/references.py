"""Work out anew what a report compares groups with, from the plain data of its notions.

It is the overall rate, or a notion's own reference: a number, or a factor times the rate of a group
that conditions name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import ZERO, Table, exact
from gerrymend.checker.figures import TOLERANCE, Measured, shown
from gerrymend.checker.form import is_number
from gerrymend.checker.rules import RuleError, condition_holds
from gerrymend.checker.scores import PREDICTED

# What reports call a number that groups are compared with.
_NUMBER = "the reference"


def with_reference(measured: Measured, notion: Mapping[str, Any], table: Table) -> Measured:
    """Return the sums of a table, compared with the reference of its notion, as plain data.

    Raises a RuleError where that can't be read, or no row of the group counts.
    """
    stated = notion.get("reference")
    if stated is None:
        return measured
    if stated == PREDICTED:
        if measured.predicted is None:
            raise RuleError("it compares with what was predicted, and is no notion of scores")
        return replace(measured, reference=ZERO)
    if is_number(stated):
        scale = max(measured.scale, abs(exact(stated)))
        return replace(measured, reference=exact(stated), scale=scale)
    try:
        conditions = stated["group"].items()
        factor = exact(stated["factor"])
        held = [condition_holds({"attribute": name, **one}, table) for name, one in conditions]
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise RuleError(f"its reference can't be read ({problem!r})") from None
    group = [all(holds[cell] for holds in held) for cell in range(len(table))]
    sums = measured.sums(group)
    if not sums.mass:
        raise RuleError("no row of its reference counts")
    rate = factor * sums.outcome / sums.mass
    scale = max(measured.scale, abs(rate))
    return replace(measured, reference=rate, compared=group, factor=factor, scale=scale)


def wrong_references(case: Case) -> Iterator[str]:
    """Yield what is wrong with the references that the overall rates and the subgroups state."""
    words = {}
    for one in case.stated["overall_rates"]:
        seen = case.measured.get(one["notion"])
        own = None if seen is None else seen.reference
        stated = one.get("reference")
        words[one["notion"]] = one.get("compared_with")
        if (own is None) != (stated is None) or (own is None) != (words[one["notion"]] is None):
            yield f"The {one['notion']} states a reference, and has none, or the other way round."
        elif own is not None and seen is not None:
            own += seen.score([True] * len(seen.rows))
            if abs(exact(stated) - own) > TOLERANCE * seen.scale:
                yield (
                    f"The {one['notion']} is stated to be compared with {stated!r}, and is with "
                    f"{shown(own)}."
                )
            number = _NUMBER if seen.predicted is None else PREDICTED
            if (words[one["notion"]] == number) != (seen.compared is None):
                yield f"The {one['notion']} is compared with what its words don't say."
            case.leave(
                "notions.reference notions.reference.* overall_rates.compared_with",
                "what was to be compared with, and its words; only its rate",
            )
    for where, one in _subgroups(case.stated):
        if one.get("reference") != words.get(one["notion"]):
            yield f"{where} is stated to be compared with {one.get('reference')!r}."


def _subgroups(stated: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every subgroup that a report describes, with its place."""
    named = {name: stated[name] for name in ("worst", "disadvantaged", "favoured", "core")}
    named |= {f"top[{i}]": one for i, one in enumerate(stated["top"])}
    for name in ("in_a_sentence", "held_out", "sharpest"):
        named[name] = stated[name] and stated[name]["subgroup"]
    for i, one in enumerate((stated["held_out"] or {}).get("others", ())):
        named[f"held_out.others[{i}]"] = one["subgroup"]
    yield from ((where, one) for where, one in named.items() if one is not None)


def farthest(low: Fraction, high: Fraction, reference: Any) -> Fraction:
    """Return how far an outcome between two ends can be from what it is compared with.

    `reference` is as a notion states it: a number, or a part of a group's mean, which is between
    the same parts of the ends; None for the overall mean.

    >>> farthest(Fraction(0), Fraction(1), 0.25), farthest(Fraction(0), Fraction(1), None)
    (Fraction(3, 4), Fraction(1, 1))
    """
    if reference is None:
        return high - low
    if reference == PREDICTED:
        return max(abs(low), abs(high))
    ends = [exact(reference)] if is_number(reference) else []
    if not ends:
        factor = exact(reference["factor"])
        ends = [factor * low, factor * high]
    return max(abs(end - own) for end in (low, high) for own in ends)


def moved_by_one(measured: Measured, reference: Any) -> float:
    """Return how far rows that were not drawn may move a value, for each part of all that they are.

    They are as far from the reference as can be and, where that is a group's mean, in that group.
    """
    low = exact(measured.lowest)
    high = low + exact(measured.span)
    if measured.table.spread is not None:
        low, high = measured.table.ends
    moved = farthest(low, high, reference)
    if measured.compared is not None:
        part = measured.sums(measured.compared).mass / measured.everyone.mass
        moved += measured.factor * (high - low) / part
    return float(moved)
