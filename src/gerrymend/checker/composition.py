"""Check of who is in a subgroup: the value that marks it, or the median, of each attribute."""

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import floor, log10
from typing import Any

from gerrymend.checker.exact import Attribute, Table, exact
from gerrymend.checker.figures import TOLERANCE
from gerrymend.checker.form import is_number

_CATEGORY = {"attribute", "value", "share", "at_least", "overall"}
_NUMBER = {"attribute", "median", "overall"}


def wrong_composition(
    stated: list[Mapping[str, Any]],
    inside: list[bool],
    table: Table,
    smallest: int,
    *,
    kept_back: bool,
) -> Iterator[str]:
    """Yield what is wrong with who is said to be in a subgroup, given its cells.

    Some of it may be `kept_back`.
    """
    smallest = max(smallest, 2)  # a value of one row is a person, whatever may be described
    rows = [sum(by_label) for by_label in table.rows]
    own = [number if member else 0 for number, member in zip(rows, inside, strict=True)]
    expected = {}
    if min(sum(own), sum(rows) - sum(own)) >= smallest:
        for attribute in table.attributes.values():
            part = _number(attribute, own, rows) if attribute.is_number else None
            if not attribute.is_number:
                part = _category(attribute, own, rows, smallest)
            if part is not None:
                expected[attribute.name] = part
    names = [str(trait.get("attribute")) for trait in stated]
    missing = [name for name in expected if name not in names]
    if len(names) != len(set(names)) or set(names) - set(expected) or (missing and not kept_back):
        yield f"its composition is of {names!r}, and can be told of {[*expected]!r}."
        return
    for trait in stated:
        try:
            yield from _wrong_trait(trait, expected[trait["attribute"]])
        except (KeyError, TypeError, ValueError, AttributeError) as unreadable:
            yield f"its composition can't be read ({unreadable!r})."
            return
    far = [_distance(trait, expected[trait["attribute"]]) for trait in stated]
    if any(later > sooner + TOLERANCE for sooner, later in itertools.pairwise(far)):
        yield "its composition is not in the order of how far it is from everyone's."


def _category(
    attribute: Attribute, own: list[int], rows: list[int], smallest: int
) -> dict[str, Any] | None:
    """Return what may be told of the value whose share is furthest above everyone's; None of none.

    The numbers of rows with and without it, in the subgroup and outside, are 0 or no less than the
    floor; but for others in the subgroup and those with it outside, in whose place a bound is told.
    Of values that are equally far above, any may be told.
    """
    counts: dict[Any, list[int]] = {}
    for value, number, everyone in zip(attribute.values, own, rows, strict=True):
        both = counts.setdefault(value, [0, 0])
        both[0] += number
        both[1] += everyone
    size = sum(own)
    outside = sum(rows) - size
    above = {
        value: Fraction(number, size) - Fraction(everyone, sum(rows))
        for value, (number, everyone) in counts.items()
        if number >= smallest and not 0 < outside - everyone + number < smallest
    }
    values = {}
    for value in above:
        if above[value] >= max(above.values()) - TOLERANCE:
            number, everyone = counts[value]
            few = [whole for whole in (size, everyone) if 0 < whole - number < smallest]
            values[value] = {
                "share": Fraction(min(few) - smallest if few else number, size),
                "at_least": bool(few),
                "overall": Fraction(everyone, sum(rows)),
            }
    return {"values": values} if values else None


def _distance(stated: Mapping[str, Any], expected: Mapping[str, Any]) -> Fraction:
    """Return how far an attribute is from everyone's: in shares, or in ranks of a median."""
    if "far" in expected:
        return Fraction(expected["far"])
    figures = expected["values"].get(stated.get("value"), {"share": 0, "overall": 0})
    return Fraction(figures["share"] - figures["overall"])


def _number(attribute: Attribute, own: list[int], rows: list[int]) -> dict[str, Any] | None:
    """Return the medians in the subgroup and overall, and the step to which they are rounded."""
    span = max(attribute.values) - min(attribute.values)
    if span == 0:
        return None
    median = _quantile(attribute, own, 5)
    below = sum(n for v, n in zip(attribute.values, rows, strict=True) if v < median)
    at = sum(n for v, n in zip(attribute.values, rows, strict=True) if v <= median)
    far = abs(Fraction(below + at, 2 * sum(rows)) - Fraction(1, 2))
    apart = _quantile(attribute, rows, 9) - _quantile(attribute, rows, 1) or span
    step = Fraction(10) ** (floor(log10(float(apart))) - 1)
    return {"median": median, "overall": _quantile(attribute, rows, 5), "step": step, "far": far}


def _quantile(attribute: Attribute, rows: list[int], tenths: int) -> Fraction:
    """Return the least value that so many tenths of the rows do not exceed."""
    enough = tenths * sum(rows)
    counted = 0
    for cell in attribute.ascending:
        counted += rows[cell]
        if 10 * counted >= enough:
            return Fraction(attribute.values[cell])
    raise AssertionError("no rows")


def _wrong_trait(stated: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for what is wrong with one attribute."""
    name = stated["attribute"]
    figures = [stated[part] for part in ("median", "share", "overall") if part in stated]
    if not all(map(is_number, figures)):
        yield f"its composition says {figures!r} of {name}."
        return
    if set(stated) != (_NUMBER if "median" in expected else _CATEGORY):
        yield f"its composition says {sorted(stated)} of {name}."
        return
    if "median" in expected:
        step = expected["step"]
        for part in ("median", "overall"):
            # To the nearest step; of two that are as near, the one that a quotient of floats takes.
            quotient = expected[part] / step
            if float(step) and abs(quotient) < 2**53:
                quotient = float(expected[part]) / float(step)
            nearest = round(quotient) * step
            if abs(exact(stated[part]) - nearest) > TOLERANCE * (step + abs(nearest)):
                yield f"its {part} of {name} is stated as {stated[part]!r}."
        return
    figures = expected["values"].get(stated["value"])
    if figures is None:
        yield f"{stated['value']!r} is not the {name} that marks it most and may be told."
        return
    same = stated["at_least"] is figures["at_least"]
    if not same or abs(exact(stated["share"]) - figures["share"]) > TOLERANCE:
        yield f"the share of {name} = {stated['value']!r} in it is stated as {stated['share']!r}."
    if abs(exact(stated["overall"]) - figures["overall"]) > TOLERANCE:
        yield f"the overall share of {name} = {stated['value']!r} is not {stated['overall']!r}."
