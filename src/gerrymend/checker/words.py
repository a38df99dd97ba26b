"""Who is in a group by its description, the words that people read.

Reads what rules print: conditions joined by "and", perhaps within "not (…)" or after the name of a
group, and linear formulas. Attributes and categories are those of the data, so that an "and" within
a name is no matter. What is in other words is not read at all.
"""

import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from gerrymend.checker.exact import ZERO, Attribute, Table

_NUMBER = r"−?\d+(?:\.\d+)?(?:e[−+]?\d+)?"
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "≤": operator.le,
    "≥": operator.ge,
}


def members_by_words(text: str, table: Table) -> list[bool] | None:
    """Whether each cell is in, or None where the words can't be read.

    >>> ages = Attribute("age", True, (Fraction(20), Fraction(40)))
    >>> sexes = Attribute("sex", False, ("F", None))
    >>> table = Table({"age": ages, "sex": sexes}, [[1, 0]] * 2, [], [])
    >>> members_by_words("not (age ≥ 35.5 and sex = (missing))", table)
    [True, False]
    >>> members_by_words("0.5·age − 12·[sex=F] ≥ 0", table)
    [False, True]
    >>> members_by_words("whoever is old", table) is None
    True
    """
    if text in ("everyone", "no one"):
        return [text == "everyone"] * len(table)
    if text.startswith("not (") and text.endswith(")"):
        inside = _conditions(text[5:-1], table)
        return None if inside is None else [not member for member in inside]
    named = re.fullmatch(r".+? \((.+)\)", text)
    for words in [text, *(named.groups() if named else ())]:
        inside = _conditions(words, table) or _formula(words, table)
        if inside is not None:
            return inside
    return None


def _label(value: Any) -> str:
    return "(missing)" if value is None else str(value)


def _labels(attribute: Attribute) -> str:
    """A pattern of the attribute's values, the longest first."""
    if attribute.is_number:
        return _NUMBER
    labels = sorted({_label(value) for value in attribute.values}, key=len, reverse=True)
    return "|".join(map(re.escape, labels))


def _fraction(text: str) -> Fraction:
    return Fraction(text.replace("−", "-"))


def _conditions(text: str, table: Table) -> list[bool] | None:
    inside = [True] * len(table)
    while text:
        for attribute in table.attributes.values():
            read = _condition(text, attribute)
            if read is not None:
                break
        else:
            return None
        holds, text = read
        inside = [a and b for a, b in zip(inside, holds, strict=True)]
    return inside


def _condition(text: str, attribute: Attribute) -> tuple[list[bool], str] | None:
    """The condition that a text begins with, and the rest of the text."""
    name, one = re.escape(attribute.name), f"(?:{_labels(attribute)})"
    end = r"(?: and |$)"
    if found := re.match(rf"{name} in \{{({one}(?:, {one})*)\}}{end}", text):
        # What follows a label is a comma or the end, so that a label with a comma is one label.
        labels = set(re.findall(rf"({one})(?:, |$)", found[1]))
        holds = [_has(attribute, value, labels) for value in attribute.values]
    elif found := re.match(rf"{name} = ({one}){end}", text):
        holds = [_has(attribute, value, {found[1]}) for value in attribute.values]
    elif not attribute.is_number:
        return None
    elif found := re.match(rf"{name} ([<≤≥]) ({_NUMBER}){end}", text):
        compare, cut = _COMPARE[found[1]], _fraction(found[2])
        holds = [compare(value, cut) for value in attribute.values]
    elif found := re.match(rf"({_NUMBER}) ≤ {name} < ({_NUMBER}){end}", text):
        low, high = _fraction(found[1]), _fraction(found[2])
        holds = [low <= value < high for value in attribute.values]
    else:
        return None
    return holds, text[found.end() :]


def _has(attribute: Attribute, value: Any, labels: set[str]) -> bool:
    if attribute.is_number:
        return value in map(_fraction, labels)
    return _label(value) in labels


def _formula(text: str, table: Table) -> list[bool] | None:
    """Σ ±coefficient·term ≥ threshold."""
    score = [ZERO] * len(table)
    text = text if text.startswith("−") else f" + {text}"
    while True:
        if found := re.fullmatch(rf" ≥ ({_NUMBER})", text):
            threshold = _fraction(found[1])
            return [value >= threshold for value in score]
        for attribute in table.attributes.values():
            read = _term(text, attribute)
            if read is not None:
                break
        else:
            return None
        values, text = read
        score = [a + b for a, b in zip(score, values, strict=True)]


def _term(text: str, attribute: Attribute) -> tuple[list[Fraction], str] | None:
    name = re.escape(attribute.name)
    term = name if attribute.is_number else rf"\[{name}=({_labels(attribute)})\]"
    found = re.match(rf" ?([+−]) ?(?:({_NUMBER})·)?{term}(?= [+−≥] )", text)
    if not found:
        return None
    coefficient = _fraction(found[2] or "1") * (-1 if found[1] == "−" else 1)
    if attribute.is_number:
        values = list(attribute.values)
    else:
        values = [Fraction(_label(value) == found[3]) for value in attribute.values]
    return [coefficient * value for value in values], text[found.end() :]
