"""Comparison of a rule with its description in words, on the rows of the data and on made-up ones.

A description that selects the same rows as the rule, and has another number in it, is no
description of the rule: on other rows they part. So both are asked of made-up rows as well: of all
combinations of categories, and of numbers on either side of each cut. Of an attribute without
fractions, as years of age, words tell whole numbers, and whole numbers are asked.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, prod
from typing import Any

from gerrymend.checker.exact import Attribute, Table, exact
from gerrymend.checker.rules import members, own_rule, own_words, parts_of, scores
from gerrymend.checker.words import NUMBER, members_by_words, same_labels

# So near to a cut a number is probed, relative to its size. A rule of one term prints a quotient,
# rounded to float64: it is right to 16 digits.
_NEAR = Fraction(1, 10**9)
# All combinations of categories are tried up to so many; beyond that each category alone.
_MOST_COMBINATIONS = 256
# Rows of the data, and made-up ones, whose numbers are moved to either side of each cut.
_MOST_ROWS = 12
# Words for values that few rows have.
_UNTOLD = re.compile(r"\ba rare value\b|\b\d+ rare values\b")

_OTHER_ROWS = "its description in words selects other rows than its rule."

_Row = dict[str, Any]


def wrong_words(
    text: str, rule: Mapping[str, Any], table: Table, *, named: bool = True
) -> str | None:
    """Return what is wrong with words beside their rule, "" for nothing; None if that's not known.

    `named` says that the words may follow the name of a group, in brackets. Values that few rows
    have are not told, and two long ones may read the same: then it is not known.

    >>> ages = Attribute("age", True, (Fraction(20), Fraction(40)))
    >>> table = Table({"age": ages}, [[1, 0]] * 2, [], [])
    >>> old = {"attribute": "age", "low": 35, "high": None}
    >>> rule = {"kind": "conjunction", "conditions": [old]}
    >>> for text in ("age ≥ 35", "age ≥ 36", "the old"):
    ...     print(wrong_words(text, rule, table) or "right")
    right
    its description in words selects other rows than its rule.
    its description in words can't be read.
    """
    table = replace(table, attributes=table.columns, score=None)  # of words, one more column
    if any(map(same_labels, table.attributes.values())) or _UNTOLD.search(text):
        return None
    if rule["kind"] == "within":
        return _wrong_within(text, rule, table, named=named)
    made_up = _with_categories(rule, table)
    # Each of these is moved to both sides of every cut, so that they have to be few.
    few = [*_some(table), *made_up[:_MOST_ROWS]]
    near = _near_cuts(rule, text, table)
    made_up += [row for base in few for row in _at_cuts(base, near, rule, table)]
    everyone = _table(made_up, table, beside=True)
    by_words = members_by_words(text, everyone, named=named)
    if by_words is None:
        return "its description in words can't be read."
    if by_words != members(rule, everyone):
        return _OTHER_ROWS
    return ""


def _wrong_within(text: str, rule: Mapping[str, Any], table: Table, *, named: bool) -> str | None:
    """Return what is wrong with words of a rule within an interval: with those of either part."""
    own = own_rule(rule)
    interval = {"kind": "conjunction", "conditions": [rule["interval"]]}
    words = own_words(text, rule)
    if rule["interval"]["low"] is None and rule["interval"]["high"] is None:
        return wrong_words(text, own, table, named=named)
    if words == text:  # all that are in the interval
        everyone = all(members(own, table))
        return wrong_words(text, interval, table) if everyone else _OTHER_ROWS
    before = text[: len(text) - len(words)].removesuffix(", and ")
    first = wrong_words(before, interval, table, named=False)
    return first or wrong_words(words, own, table, named=named)


def _table(rows: list[_Row], table: Table, *, beside: bool = False) -> Table:
    """Return a table of made-up rows, after those of the data if `beside`."""
    real = len(table) if beside else 0
    attributes = {
        name: Attribute(
            name, attribute.is_number, attribute.values[:real] + tuple(row[name] for row in rows)
        )
        for name, attribute in table.attributes.items()
    }
    return Table(attributes, [[1, 0]] * (real + len(rows)), [], [])


def _some(table: Table) -> Iterator[_Row]:
    """Yield a few rows of the data, evenly spaced."""
    for cell in range(0, len(table), 1 + len(table) // _MOST_ROWS):
        yield {name: attribute.values[cell] for name, attribute in table.attributes.items()}


def _categories(rule: Mapping[str, Any], table: Table) -> dict[str, list[Any]]:
    """Return the categories of each attribute in the rule, from the data and from the rule."""
    found: dict[str, dict[Any, None]] = {}
    for part in parts_of(rule):
        attribute = table.attributes[part["attribute"]]
        if not attribute.is_number:
            told = part.get("values", part.get("other_than", []))
            mentioned = [part["value"]] if "value" in part else told
            found.setdefault(attribute.name, dict.fromkeys(attribute.values))
            found[attribute.name].update(dict.fromkeys(mentioned))
    return {name: list(values) for name, values in found.items()}


def _with_categories(rule: Mapping[str, Any], table: Table) -> list[_Row]:
    """Return rows with every combination of categories, or each alone if these are too many."""
    categories = _categories(rule, table)
    base = next(_some(table))
    if prod(map(len, categories.values())) <= _MOST_COMBINATIONS:
        return [
            {**base, **dict(zip(categories, chosen, strict=True))}
            for chosen in product(*categories.values())
        ]
    return [{**base, name: value} for name, values in categories.items() for value in values]


def _near_cuts(rule: Mapping[str, Any], text: str, table: Table) -> dict[str, list[Fraction]]:
    """Return, for each number in the rule, values at and on either side of possible cuts.

    Where a linear rule cuts depends on the rest of a row, and there are none.
    """
    used = {part["attribute"] for part in parts_of(rule)}
    numbers = sorted(name for name in used if table.attributes[name].is_number)
    if rule["kind"] == "linear":
        return {name: [] for name in numbers}
    # The cut itself too: "≥" and ">" differ only there.
    return {
        name: [
            value
            for cut in _cuts(name, rule, text)
            for side in (*_sides(cut), Fraction(0))
            for value in _possible(cut + side, table.attributes[name])
        ]
        for name in numbers
    }


def _possible(value: Fraction, attribute: Attribute) -> tuple[Fraction, ...]:
    """Return a number or, of an attribute without fractions, the whole ones that it is between.

    >>> _possible(Fraction(51, 2), Attribute("age", True, (Fraction(20), Fraction(40))))
    (Fraction(25, 1), Fraction(26, 1))
    """
    if any(known.denominator != 1 for known in attribute.values):
        return (value,)
    return Fraction(floor(value)), Fraction(ceil(value))


def _at_cuts(
    base: _Row, near: Mapping[str, list[Fraction]], rule: Mapping[str, Any], table: Table
) -> Iterator[_Row]:
    """Yield the row with its numbers moved, one at a time, to either side of possible cuts."""
    for name, values in near.items():
        if rule["kind"] == "linear":
            crossing = _crossing(base, name, rule, table)
            near_it = [] if crossing is None else [crossing + side for side in _sides(crossing)]
            # A formula is told with its own numbers.
            values = near_it
            if len(rule["terms"]) == 1:
                attribute = table.attributes[name]
                values = [value for one in near_it for value in _possible(one, attribute)]
        for value in values:
            yield {**base, name: value}


def _sides(cut: Fraction) -> tuple[Fraction, Fraction]:
    """Return small steps down and up from a cut, relative to its size.

    >>> _sides(Fraction(0))
    (Fraction(-1, 1000000000), Fraction(1, 1000000000))
    """
    step = _NEAR * (1 + abs(cut))
    return -step, step


def _crossing(base: _Row, name: str, rule: Mapping[str, Any], table: Table) -> Fraction | None:
    """Return the value of an attribute that makes a row's score equal to the threshold, or None."""
    slope = sum(exact(t["coefficient"]) for t in rule["terms"] if t["attribute"] == name)
    if slope == 0:
        return None
    (score,) = scores(rule, _table([base], table))
    crossing: Fraction = base[name] + (exact(rule["threshold"]) - score) / slope
    return crossing


def _cuts(name: str, rule: Mapping[str, Any], text: str) -> list[Fraction]:
    """Return the numbers that the rule has for an attribute, and all numbers in the words.

    >>> condition = {"attribute": "age", "low": 35, "high": None}
    >>> _cuts("age", {"kind": "conjunction", "conditions": [condition]}, "age ≥ 36")
    [Fraction(35, 1), Fraction(36, 1)]
    """
    stated = [
        exact(value)
        for part in parts_of(rule)
        if part["attribute"] == name
        for value in (part.get("low"), part.get("high"), *part.get("values", ()))
        if value is not None
    ]
    in_words = [Fraction(found.replace("−", "-")) for found in re.findall(NUMBER, text)[:20]]
    return list(dict.fromkeys(stated + in_words))
