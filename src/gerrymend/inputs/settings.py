"""Checks of settings: numbers, names and functions; messages name the argument and a remedy."""

import difflib
import math
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.held_numbers import held
from gerrymend.inputs.numbers import LARGEST_WHOLE, as_float, is_number_type, short


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion to append to a message, or '' if no known name is close."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def is_same(given: Any, own: Any) -> bool:
    """Return True for the same text or number; arrays and frames, which compare by row, never are.

    >>> is_same(np.float32(0.5), 0.5), is_same("a", "b"), is_same(True, 1), is_same([1], [1])
    (True, False, False, False)
    """
    if is_number_type(type(given)):
        return is_number_type(type(own)) and as_float(given) == as_float(own)
    return isinstance(given, str) and isinstance(own, str) and given == own


def same_but_for_case(text: Any, known: Iterable[Any]) -> list[Any]:
    """Return what is known that differs from a text in case, or in blanks around it, alone.

    >>> same_but_for_case("yes ", ["No", "Yes"]), same_but_for_case(1, ["1"])
    (['Yes'], [])
    """
    if not isinstance(text, str):
        return []
    alike = (one for one in known if isinstance(one, str) and one != text)
    return [one for one in alike if one.strip().casefold() == text.strip().casefold()]


def check_number(
    value: Any, argument: str, *, low: float, above: bool = False, remedy: str = ""
) -> float:
    """Return a finite real number as float; raise ValueError unless it is at least `low`.

    With `above`, it must be larger than `low`. `remedy` is appended to the message.
    """
    number = held(value, argument) if is_number_type(type(value)) else math.nan
    if not math.isfinite(number) or number < low or (above and number == low):
        bound = f"above {low:g}" if above else f"of at least {low:g}"
        bound = "that is finite" if low == -math.inf else bound
        raise ArgumentError(
            argument, f"must be a number {bound}; got {short(value)}. {remedy}".rstrip()
        )
    return number


def check_whole(value: Any, argument: str, *, low: int, remedy: str = "") -> int:
    """Return a whole number as int; raise ValueError unless it is at least `low`, at most 2⁵³.

    Up to 2⁵³, JSON and float64 hold whole numbers exactly.

    >>> check_whole(10**20, "top", low=1)
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: top must be at most 9,007,199,254,740,992 (2⁵³); got \
100000000000000000000.
    """
    # Compared as int: as float, 2**53 + 1 would be 2**53 and pass.
    is_whole = isinstance(value, Integral) and is_number_type(type(value))
    too_large = is_whole and int(value) > LARGEST_WHOLE
    number = 0.0 if too_large else check_number(value, argument, low=low, remedy=remedy)
    if too_large or number > LARGEST_WHOLE:
        raise ArgumentError(
            argument,
            f"must be at most {LARGEST_WHOLE:,} (2⁵³); got {short(value)}. {remedy}".rstrip(),
        )
    if number != int(number):
        raise ArgumentError(argument, f"must be a whole number; got {value!r}. {remedy}".rstrip())
    return int(number)


def check_fraction(value: Any, argument: str, *, remedy: str = "") -> float:
    """Return a number as float; raise ValueError unless it is strictly between 0 and 1."""
    number = check_number(value, argument, low=0.0, above=True, remedy=remedy)
    if number >= 1:
        raise ArgumentError(argument, f"must be below 1; got {value!r}. {remedy}".rstrip())
    return number


def check_gamma(gamma: Any, argument: str = "gamma") -> float:
    """Return gamma as float; raise ValueError unless it is at least 0."""
    return check_number(
        gamma,
        argument,
        low=0.0,
        remedy="It is the largest unfairness to allow: 0 for none, 0.01 for most rates; of numbers "
        "it is in their unit.",
    )


def check_budget(budget: Any, argument: str = "budget") -> float:
    """Return a number of seconds as float; raise ArgumentError unless it is above 0."""
    remedy = "It is in seconds: 30, for example."
    return check_number(budget, argument, low=0.0, above=True, remedy=remedy)


def check_test_size(test_size: Any) -> float:
    """Return the part of the rows to keep out as float; raise ArgumentError outside of (0, 1)."""
    return check_fraction(test_size, "test_size", remedy="It is a part of the rows.")


def check_gammas(gammas: Any) -> list[float]:
    """Return at least one gamma as a list of floats; raise ArgumentError otherwise."""
    is_scalar = isinstance(gammas, np.ndarray) and gammas.ndim == 0
    if (
        isinstance(gammas, str | bytes | bytearray | Mapping)
        or is_scalar
        or not isinstance(gammas, Iterable)
    ):
        raise ArgumentError(
            "gammas", f"must be a list of numbers; got {gammas!r}. For one: [{gammas!r}]."
        )
    levels = [check_gamma(gamma, "gammas") for gamma in gammas]
    if not levels:
        raise ArgumentError("gammas", "is empty; pass at least one value of gamma.")
    return levels


def check_choice(value: Any, argument: str, choices: Iterable[str]) -> str:
    """Return the name if it is one of the choices; raise ValueError otherwise."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise ArgumentError(
            Argument(argument, value=repr(value)),
            f"is unknown{hint}. Choose from {', '.join(known)}.",
        )
    return known[known.index(value)]


def check_callable(value: Any, argument: str, call: str) -> None:
    """Raise TypeError unless the value is None or callable; `call` shows its call, as "f(x)"."""
    if value is not None and not callable(value):
        raise ArgumentError(
            argument, f"must be a function, called as {call}, or None; got {short(value)}."
        )


def check_flag(value: Any, argument: str) -> bool:
    """Return True or False; raise TypeError for anything else, also for 0 and 1."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(argument, f"must be True or False; got {short(value)}.")
    return bool(value)
