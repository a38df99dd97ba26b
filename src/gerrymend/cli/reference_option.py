"""Read `--reference` and `--factor`: a number, or conditions that name a group."""

from collections.abc import Callable, Sequence
from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.held_numbers import held, number_of
from gerrymend.inputs.numbers import LARGEST
from gerrymend.inputs.validation import check_column
from gerrymend.notions import GroupMean
from gerrymend.reporting.wording import digits


def read_reference(
    texts: Sequence[str] | None,
    factor: float | None,
    attributes: Sequence[str],
    typed: Callable[[str, str], Any],
) -> float | GroupMean | None:
    """Return what groups are compared with; None where it is the overall rate.

    Parameters
    ----------
    texts : sequence of str or None
        One number, or `attribute=value`, one for each condition.
    factor : float or None
        Of the group's mean.
    attributes : sequence of str
        The protected columns.
    typed : callable
        typed(text, column) is a text as a value of a column.

    >>> read_reference(["30"], None, ["sex"], lambda text, column: text)
    30.0
    >>> read_reference(["sex=M"], 0.8, ["sex"], lambda text, column: text)
    GroupMean(group={'sex': 'M'}, factor=0.8)
    """
    if not texts:
        if factor is not None:
            raise ArgumentError(
                "factor",
                f"{digits(factor)} is of a group's mean; name the group: --reference sex=M.",
            )
        return None
    number = _number(texts[0])
    if len(texts) == 1 and number is not None:
        if factor is not None:
            raise ArgumentError(
                "factor",
                f"{digits(factor)} is of a group's mean, and --reference {texts[0]} is a number.",
            )
        if not abs(number) <= LARGEST:  # also of NaN
            raise ArgumentError(
                "reference",
                f"{texts[0]} is no number to compare with: pass a finite one, of at most "
                f"{LARGEST:g} in size, or a group, such as sex=M.",
            )
        return held(number, "reference")
    _check_one_kind(texts)
    group: dict[str, Any] = {}
    for name, value in (_condition(text, attributes) for text in texts):
        if name in group:
            raise ArgumentError(
                "reference",
                f"names {name} twice, and a group has one value of each attribute: pass it once. "
                "Of several values, make one column of them first.",
            )
        group[name] = typed(value, name)
    return GroupMean(group, 1.0 if factor is None else factor)


def _check_one_kind(texts: Sequence[str]) -> None:
    """Raise an ArgumentError for several numbers, or a number beside conditions."""
    numbers = [text for text in texts if _number(text) is not None]
    if not numbers:
        return
    others = [text for text in texts if _number(text) is None]
    told = f"the number {numbers[0]} and the group {others[0]}" if others else " and ".join(numbers)
    raise ArgumentError(
        "reference",
        f"is {told}, and groups are compared with one: pass a single number, or the conditions of "
        "one group, such as sex=M.",
    )


def _number(text: str) -> Any:
    """Return a text as a number, with all its digits; None for a text that is none."""
    try:
        return number_of(text)
    except ValueError:
        return None


def _condition(text: str, attributes: Sequence[str]) -> tuple[str, str]:
    """Part `attribute=value`; names may have signs of equality in them as well."""
    fitting = [name for name in attributes if text.startswith(f"{name}=")]
    if fitting:
        name = max(fitting, key=len)
        return name, text[len(name) + 1 :]
    name, sign, value = text.partition("=")
    if not sign:
        raise ArgumentError(
            "reference",
            f"{text!r} is neither a number nor a group, such as sex=M: pass one of these, and a "
            "group's conditions one by one.",
        )
    check_column(name, "--reference", attributes, "--protected")
    return name, value
