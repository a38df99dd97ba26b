"""Members of a group by its description, the words that people read.

This reads what rules print: conditions joined by "and" or "or", "not (…)", "if …: …; otherwise: …",
all of it perhaps after the name of a group, and linear formulas. Attributes and categories are
those of the data, so that an "and" within a name does no harm. Other words are not read at all.
"""

import operator
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from gerrymend.checker.exact import ZERO, Attribute, Table

Members = list[bool]

NUMBER = r"−?\d+(?:\.\d+)?(?:e[−+]?\d+)?"
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "≤": operator.le,
    "≥": operator.ge,
}
# Rules never mix the two without brackets.
_JOIN: dict[str, Callable[[bool, bool], bool]] = {" and ": operator.and_, " or ": operator.or_}
_CONTROLS = re.compile(r"\\x([01][0-9a-f]|7f|[89][0-9a-f])")
# A condition ends here; without it "x = a" would be read out of "x = ab".
_END = r"(?= and | or |: |; |, and |\)|$)"


class UnreadError(Exception):
    """Raised for words that no rule prints."""


def members_by_words(text: str, table: Table, *, named: bool = True) -> Members | None:
    """Return whether each cell is in, or None where the words can't be read.

    If `named`, the words may also be in brackets after the name of a group.

    >>> ages = Attribute("age", True, (Fraction(20), Fraction(40)))
    >>> sexes = Attribute("sex", False, ("F", None))
    >>> table = Table({"age": ages, "sex": sexes}, [[1, 0]] * 2, [], [])
    >>> members_by_words("not (age ≥ 35.5 and sex = (missing))", table)
    [True, False]
    >>> members_by_words("if age < 35.5: sex ≠ F; otherwise: sex in {F, (missing)}", table)
    [False, True]
    >>> members_by_words("0.5·age − 12·[sex=F] ≥ 0", table)
    [False, True]
    >>> members_by_words("whoever is old", table) is None
    True
    """
    as_in_data = obeyed(text)
    if as_in_data != text:
        inside = members_by_words(as_in_data, table, named=named)
        if inside is not None:
            return inside
    after_name = re.fullmatch(r".+? \((.+)\)", text, re.DOTALL) if named else None
    # As they are first: a name in front is only taken off if the whole can't be read.
    for words in [text, *(after_name.groups() if after_name else ())]:
        for read in (_expression, _formula):
            try:
                inside, rest = read(words, table)
            except UnreadError:
                continue
            if not rest:
                return inside
    return None


def behind_name(text: str, name: Any) -> str | None:
    """Return the rule in brackets behind the name of a group; None if the words begin otherwise.

    A name may have brackets of its own, so that it is taken off as it is known.

    >>> behind_name("the old (A) (age ≥ 50)", "the old (A)")
    'age ≥ 50'
    >>> behind_name("the bold (age ≥ 50)", "the old") is None
    True
    """
    words = obeyed(text)
    opening = f"{obeyed(str(name))} ("
    if words.startswith(opening) and words.endswith(")"):
        return words[len(opening) : -1]
    return None


def obeyed(text: str) -> str:
    """Return the words of a described group with the signs that a terminal obeys, not in letters.

    >>> obeyed("\\x1btown = Au") == "\x1btown = Au"
    True
    """
    return _CONTROLS.sub(lambda found: chr(int(found[1], 16)), text)


def _expression(text: str, table: Table) -> tuple[Members, str]:
    """Return the members by the expression that a text begins with, and the rest of the text."""
    if text.startswith("if "):
        holds, text = _item(text.removeprefix("if "), table)
        yes, text = _expression(_after(": ", text), table)
        no, text = _expression(_after("; otherwise: ", text), table)
        return [a if held else b for held, a, b in zip(holds, yes, no, strict=True)], text
    inside, text = _item(text, table)
    word = next((word for word in _JOIN if text.startswith(word)), None)
    while word is not None and text.startswith(word):  # never "and" and "or" side by side
        other, text = _item(text.removeprefix(word), table)
        inside = list(map(_JOIN[word], inside, other))
    return inside, text


def _item(text: str, table: Table) -> tuple[Members, str]:
    """Return the members by the condition or bracket that a text begins with, and the rest.

    Raises an UnreadError where no condition on any attribute fits.
    """
    for opening in ("not (", "("):
        if text.startswith(opening):
            inside, text = _expression(text.removeprefix(opening), table)
            opposite = opening == "not ("
            return [member != opposite for member in inside], _after(")", text)
    for word in ("everyone", "no one"):
        if text.startswith(word):
            return [word == "everyone"] * len(table), text.removeprefix(word)
    for attribute in table.columns.values():
        for pattern, test_of in _conditions(attribute):
            if found := re.match(pattern + _END, text):
                holds = test_of(found)
                return [holds(value) for value in attribute.values], text[found.end() :]
    raise UnreadError(text)


def _after(sign: str, text: str) -> str:
    """Return the text after a sign that it has to begin with."""
    if not text.startswith(sign):
        raise UnreadError(text)
    return text.removeprefix(sign)


_TestOf = Callable[[re.Match[str]], Callable[[Any], bool]]


def _conditions(attribute: Attribute) -> Iterator[tuple[str, _TestOf]]:
    """Yield a pattern for each form of a condition on the attribute, and what makes its test.

    The test is of a value, and made of what the pattern found.

    Labels are those of the data, so that a label may contain signs and words of the language
    itself.
    """
    name = re.escape(attribute.name)
    one = f"(?:{_labels(attribute)})"

    def is_named(found: re.Match[str]) -> Callable[[Any], bool]:
        """Return the test of whether a value is one of the labels that were found."""
        # What follows a label is a comma or the end, so that a label with a comma is one label.
        labels = re.findall(rf"({one})(?:, |$)", found[1])
        if attribute.is_number:
            return set(map(number_in_words, labels)).__contains__
        return lambda value: label_of(value) in labels

    def is_not_named(found: re.Match[str]) -> Callable[[Any], bool]:
        """Return the test of whether a value is none of the labels that were found."""
        named = is_named(found)
        return lambda value: not named(value)

    def is_on_a_side(found: re.Match[str]) -> Callable[[Any], bool]:
        """Return the test of whether a value is on the side of the cut that was found."""
        compare = _COMPARE[found[1]]
        cut = number_in_words(found[2])
        return lambda value: compare(value, cut)

    def is_between(found: re.Match[str]) -> Callable[[Any], bool]:
        """Return the test of whether a value is between the cuts that were found."""
        low, high = map(number_in_words, (found[1], found[3]))
        compare = _COMPARE[found[2]]
        return lambda value: low <= value and compare(value, high)

    several = rf"\{{({one}(?:, {one})*)\}}"
    yield rf"{name} in {several}", is_named
    yield rf"{name} not in {several}", is_not_named
    yield rf"{name} = ({one})", is_named
    yield rf"{name} ≠ ({one})", is_not_named
    if attribute.is_number:
        yield rf"{name} ([<≤≥]) ({NUMBER})", is_on_a_side
        yield rf"({NUMBER}) ≤ {name} ([<≤]) ({NUMBER})", is_between


def same_labels(attribute: Attribute) -> bool:
    """Return whether two categories have the same label, as long ones may that begin and end alike.

    >>> same_labels(Attribute("town", False, ("a" * 109, "a" * 108)))
    True
    """
    values = set() if attribute.is_number else set(attribute.values)
    return len({label_of(value) for value in values}) < len(values)


def label_of(value: Any) -> str:
    """Return the label that a rule prints for a category.

    >>> label_of(None), label_of(""), label_of("blue")
    ('(missing)', '(empty)', 'blue')
    """
    text = "(missing)" if value is None else str(value) or "(empty)"
    # Of more than 100 signs the first 74 and the last 25 are printed.
    return text if len(text) <= 100 else f"{text[:74]}…{text[-25:]}"


def _labels(attribute: Attribute) -> str:
    """Return a pattern of the attribute's values, the longest first.

    Patterns take the first alternative that fits, and one label may begin with another.
    """
    if attribute.is_number:
        return NUMBER
    labels = sorted({label_of(value) for value in attribute.values}, key=len, reverse=True)
    return "|".join(map(re.escape, labels))


def number_in_words(text: str) -> Fraction:
    """Return the number that a text prints, with the typographic minus.

    >>> number_in_words("−0.5")
    Fraction(-1, 2)
    """
    return Fraction(text.replace("−", "-"))


def _formula(text: str, table: Table) -> tuple[Members, str]:
    """Return the members by a linear formula, Σ ±coefficient·term ≥ threshold."""
    score = [ZERO] * len(table)
    # The first term has no "+" of its own; with one, all terms look the same.
    text = text if text.startswith("−") else f" + {text}"
    while not (last := re.fullmatch(rf" ≥ ({NUMBER})", text)):
        values, text = _term(text, table)
        score = list(map(operator.add, score, values))
    threshold = number_in_words(last[1])
    return [value >= threshold for value in score], ""


def _term(text: str, table: Table) -> tuple[list[Fraction], str]:
    """Return coefficient·term by cell for the first term of a text, and the rest of the text."""
    for attribute in table.attributes.values():
        name = re.escape(attribute.name)
        term = name if attribute.is_number else rf"\[{name}=({_labels(attribute)})\]"
        found = re.match(rf" ?([+−]) ?(?:({NUMBER})·)?{term}(?= [+−≥] )", text)
        if not found:
            continue
        coefficient = number_in_words(found[2] or "1") * (-1 if found[1] == "−" else 1)
        values = attribute.values
        if not attribute.is_number:
            values = tuple(Fraction(label_of(value) == found[3]) for value in values)
        return [coefficient * value for value in values], text[found.end() :]
    raise UnreadError(text)
