"""Recognise numbers that were read as text: a decimal comma, or one "n/a" among them.

As text each number is a category of its own, in no order. Thousands of categories of a few rows
each make an audit that finds nothing, which looks like fairness.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError, Subject

# Digits, perhaps grouped by thousands, then a decimal part, an exponent or a percent sign.
_NUMBER = re.compile(
    r"[+\-−]?(?:\d+|\d{1,3}(?:[., '\u00a0\u202f]\d{3})+)?(?:[.,]\d+)?(?:[eE][+\-]?\d+)?\s?%?"
)
_DECIMALS = re.compile(r"[.,]\d*[1-9]\d*(?:[eE][+\-]?\d+)?\s?%?$")
_THOUSANDS = re.compile(r"[+\-−]?\d{1,3}(?:,\d{3})+")
# A number with its unit: a currency before it, or letters behind.
_WITH_UNIT = re.compile(r"([$€£¥]?)\s?([+\-−]?\d+(?:[.,]\d+)*)\s?([$€£¥°]?[^\W\d_]*\.?)")
_LEADING_ZERO = re.compile(r"0\d")
# What tables have in place of a value that is missing, in small letters.
_ABSENT = frozenset(
    ["", "-", "--", "?", ".", "n/a", "na", "nan", "n.a.", "null", "none", "nil", "missing",
     "unknown", "not available", "#n/a"]
)  # fmt: skip
# Whole numbers as text may be codes; more different ones than this are amounts, or identifiers.
_MOST_CODES = 20
# Words that are no numbers may be this part of the values, and of so many numbers at least.
_FEW_WORDS = 0.1
_MANY_NUMBERS = 10

# How to drop rows, to insist that numbers are codes, to read a comma and to convert: the command
# line has its own ways.
DROP_ROWS = Argument("DataFrame.dropna")
AS_CATEGORY = Argument(".astype('category')")
DECIMAL_COMMA = Argument("pandas.read_csv(decimal=',')")
TO_NUMBERS = Argument("Convert them to numbers, as .astype(float) does")


def check_no_numbers(texts: Iterable[str], where: Subject) -> None:
    """Raise ArgumentError if the distinct texts of a column are numbers that were read as text.

    Codes pass: few whole numbers, or some with a leading zero.

    >>> check_no_numbers(["01", "02", "17"], "district")
    >>> check_no_numbers(["34,5", "51"], "age")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: age has numbers that were read as text, such as \
'34,5'. Text has no order: each number would be a group of its own. Read them with \
pandas.read_csv(decimal=','), or insist, only if they are codes, with .astype('category').
    """
    texts = _without_unit([text.strip() for text in texts])
    numbers = [text for text in texts if _is_number(text)]
    words = sorted(set(texts).difference(numbers))
    # No amount is written 007; postcodes and codes of districts are.
    if not numbers or any(map(_LEADING_ZERO.match, numbers)):
        return
    decimals = [text for text in numbers if _DECIMALS.search(text)]
    if words:
        # More than two: {"1", "2", "unknown"} is a code with a value that was not told.
        absent = len(numbers) > 2 and all(word.casefold() in _ABSENT for word in words)
        rare = len(numbers) >= _MANY_NUMBERS and len(words) <= _FEW_WORDS * len(texts)
        if not (absent or rare):
            return
    elif not decimals and len(numbers) <= _MOST_CODES:
        return
    raise ArgumentError(
        where,
        f"has numbers that were read as text, such as {(decimals or numbers)[0]!r}. Text has no "
        "order: each number would be a group of its own. ",
        *_remedy(words, numbers, decimals),
        ", or insist, only if they are codes, with ",
        AS_CATEGORY,
        ".",
    )


def absent_among_numbers(categories: Sequence[Any]) -> list[Any]:
    """Return the categories that stand for a missing value, where the others are numbers.

    There are none where these numbers are codes, few whole ones or some with a leading zero: there
    a missing one is a code like others.

    >>> absent_among_numbers([*map(str, range(18, 80)), "n/a", None]), absent_among_numbers([1, 2])
    (['n/a', None], [])
    """
    absent = [
        value for value in categories if value is None or str(value).strip().casefold() in _ABSENT
    ]
    texts = _without_unit([str(value).strip() for value in categories if value not in absent])
    many = len(texts) > _MOST_CODES or any(map(_DECIMALS.search, texts))
    are_codes = not many or any(map(_LEADING_ZERO.match, texts))
    return absent if all(map(_is_number, texts)) and not are_codes else []


def are_amounts(categories: Sequence[Any]) -> bool:
    """Return whether categories are numbers with decimals, and more of them than codes would be.

    >>> are_amounts([f"{age},5" for age in range(18, 80)]), are_amounts(["1,0", "1,3", "1,7"])
    (True, False)
    """
    texts = _without_unit([str(value).strip() for value in categories])
    if len(texts) <= _MOST_CODES or any(map(_LEADING_ZERO.match, texts)):
        return False
    return all(map(_is_number, texts)) and any(map(_DECIMALS.search, texts))


def _without_unit(texts: list[str]) -> list[str]:
    """Return amounts without the unit that nearly all of them have; other texts as they are.

    >>> _without_unit(["34.5 years", "51 years"]), _without_unit(["5th", "D15"])
    (['34.5', '51'], ['5th', 'D15'])
    """
    parts = [_WITH_UNIT.fullmatch(text) for text in texts]
    units = Counter((part[1], part[3]) for part in parts if part)
    (unit, number), *_ = units.most_common(1) or [(("", ""), 0)]
    # Nearly all, not all: an "n/a" among amounts has no unit.
    if unit == ("", "") or number < (1 - _FEW_WORDS) * len(texts):
        return texts
    return [
        part[2] if part and (part[1], part[3]) == unit else text
        for part, text in zip(parts, texts, strict=True)
    ]


def _is_number(text: str) -> bool:
    """Return whether a text is a number, with a decimal point or comma.

    >>> [_is_number(text) for text in ("34,5", "1.234,5", "−3e5", "12 %", "n/a", "1.2.2020", "")]
    [True, True, True, True, False, False, False]
    """
    # All parts of the pattern are optional, so that "" and "%" match it.
    return bool(_NUMBER.fullmatch(text)) and any(map(str.isdigit, text))


def _remedy(words: list[str], numbers: list[str], decimals: list[str]) -> list[str | Argument]:
    """Return how to read such a column as numbers, in the parts of a message."""
    if words:
        missing = Argument("na_values", value=repr(words[0]))
        others = f" (and {', '.join(map(repr, words[1:4]))})" if words[1:] else ""
        drop = f"{others} read as missing and drop these rows ("
        return ["Have ", missing, drop, DROP_ROWS, "), or fill them in"]
    if decimals and all(map(_THOUSANDS.fullmatch, decimals)):
        return ["If the commas part thousands, take them out; else read them with ", DECIMAL_COMMA]
    commas = [text for text in decimals if "," in text and "." not in text]
    points = [text for text in decimals if "." in text and "," not in text]
    if commas and points:
        few = min(commas, points, key=len)[0]
        return [f"Some have a decimal point and others a comma, here {few!r}: write all alike"]
    if any("," in text for text in numbers):  # also "18,0", which is whole
        return ["Read them with ", DECIMAL_COMMA]
    return [TO_NUMBERS]
