"""Numbers that stand alone, such as options: kept to their last digit, or refused."""

import math
from decimal import Decimal, InvalidOperation
from typing import Any

from gerrymend._runtime.errors import ArgumentError, Subject
from gerrymend.inputs.numbers import LARGEST_WHOLE, as_float, is_whole, short


def number_of(text: str) -> Any:
    """Return a text as a float, or as an int or a Decimal where float64 does not hold it.

    Raises ValueError for a text that is no number.

    >>> number_of("0.5"), number_of("9007199254740993.0"), number_of("1e23"), number_of("1e-400")
    (0.5, 9007199254740993, 1e+23, Decimal('1E-400'))
    >>> number_of("1e400"), number_of("-inf")
    (Decimal('1E+400'), -inf)
    """
    number = float(text)
    try:
        exact = Decimal(text)
    except InvalidOperation:  # its exponent has 19 digits or more
        raise ValueError(f"{text!r} has an exponent beyond all numbers") from None
    # "1e23" is rounded by who writes it; digits written out are meant.
    rounded = "e" in text.lower() and 0 < abs(number) < math.inf
    if rounded or not is_lost(exact):
        return number
    return int(exact) if math.isfinite(number) and is_whole(exact) else exact


def is_lost(value: Any) -> bool:
    """Return True for a finite number that float64 would merge with 0, ∞, or a whole number.

    Others are rounded in their last digits alone.

    >>> [is_lost(Decimal(text)) for text in ("0.1", "1e-400", "9007199254740992.5", "Infinity")]
    [False, True, True, False]
    >>> is_lost(2**53 + 1), is_lost(2.0**60), is_lost(10**400)
    (True, False, True)
    """
    if isinstance(value, float):
        return False
    number = as_float(value)
    if abs(number) < LARGEST_WHOLE:
        return number == 0 and bool(value != 0)
    if math.isinf(number):
        return bool(value != number)
    return math.isfinite(number) and not (is_whole(value) and int(value) == int(number))


def held(value: Any, where: Subject) -> float:
    """Return a number as float64; raise ArgumentError for one that would be merged with another.

    >>> held(Decimal("0.1"), "reference")
    0.1
    """
    number = as_float(value)
    if math.isfinite(number) and is_lost(value):
        raise ArgumentError(
            where,
            f"has {short(value)}, a number that float64 does not hold: it would be taken as "
            f"{number:.17g}. Pass that, or subtract a constant from all numbers.",
        )
    return number
