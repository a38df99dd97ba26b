"""Word numbers and rates as a person would say them, and make names from the data safe to show."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, NamedTuple

from gerrymend._runtime.reprs import shortened

# What turns or hides text around it: bidirectional controls, control characters but line ends,
# separators of lines that few know, and halves of characters, which no encoding has.
_INVISIBLE = re.compile(
    "[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
)

# Rates this near to 0 or 1 take more than one decimal.
_NEXT_TO = 0.0005

# What rows of label 0 and of label 1 are called, by whether a rate is over them.
_EVENT_NOUNS = {(True, False): "negatives", (False, True): "positives", (True, True): "rows"}


def visible(text: str) -> str:
    """Return text with its control characters written out, so that none turns what is around it.

    >>> print(visible("live\u202e positive"))
    live⟨U+202E⟩ positive
    """
    return _INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def json_text(data: Any, indent: int | None = None) -> str:
    """Return plain data as JSON, in which what `visible` writes out is escaped, and little else.

    >>> print(json_text({"sex": "ünknown\u202e"}))
    {"sex": "ünknown\\u202e"}
    """
    text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)
    # Outside of strings there are none: lines end in \\n, which is not among them.
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def within_strata(controls: Sequence[str] | None) -> str:
    """Return within what groups are compared, as the end of a sentence.

    >>> within_strata(["job", "town"]), within_strata(None)
    (', within strata of job and town', '')
    """
    return f", within strata of {' and '.join(controls)}" if controls else ""


def percent(rate: float) -> str:
    """Return a rate in percent, with one decimal, or as many as a small one needs.

    >>> percent(0.5), percent(0.1234), percent(0.00042), percent(-0.0), percent(0.99996)
    ('50 %', '12.3 %', '0.042 %', '0 %', '99.996 %')
    """
    if not math.isfinite(rate):
        return "–"
    return f"{100 * (rate or 0.0):.{_decimals(rate)}f}".rstrip("0").rstrip(".") + " %"


def _decimals(rate: float) -> int:
    """Return how many decimals a rate in percent is shown with."""
    return next((digits for digits in range(1, 6) if not _hides(rate, digits)), 6)


def _hides(rate: float, digits: int) -> bool:
    """Return whether so many decimals show a rate as 0 or 1 that is neither, or with one digit."""
    nearest = min(abs(rate), abs(1 - rate))
    return 0 < nearest < 10 ** (-digits - 2) * 5


def figure(value: float, unit: str | None = None) -> str:
    """Return a rate in percent, or a mean of numbers in its unit, to four digits.

    >>> figure(0.125), figure(24.675, "days"), figure(-1234567.0, ""), figure(0.0, "days")
    ('12.5 %', '24.68 days', '−1,235,000', '0 days')
    """
    if unit is None:
        return percent(value)
    return _number(value, _place(value, 4), unit)


def interval_ends(ends: Sequence[float], unit: str | None = None) -> str:
    """Return an interval of a rate, or of a mean in its unit; ends next to 0 and 1 are these.

    It is no narrower for that, and more decimals would be read as precision.

    >>> interval_ends((0.26913, 0.99999959)), interval_ends((0.00000002, 0.1))
    ('26.9 % to 100 %', '0 % to 10 %')
    """
    low, high = map(float, ends)
    if unit is None:
        low = 0.0 if 0 <= low < _NEXT_TO else low
        high = 1.0 if 1 - _NEXT_TO < high <= 1 else high
    return f"{figure(low, unit)} to {figure(high, unit)}"


def _place(value: float, digits: int) -> int:
    """Return the decimals that show so many digits of a number; negative ones are tens, hundreds.

    >>> _place(24.675, 4), _place(0.0312, 2), _place(123456.0, 2)
    (2, 3, -4)
    """
    return (
        0
        if value == 0 or not math.isfinite(value)
        else digits - 1 - math.floor(math.log10(abs(value)))
    )


def _number(value: float, place: int, unit: str) -> str:
    if not math.isfinite(value):
        return "–"
    words = f"{round(value, place) + 0.0:,.{max(place, 0)}f}"
    words = words.rstrip("0").rstrip(".") if "." in words else words
    return f"{words} {unit}".strip().replace("-", "−")


class Compared(NamedTuple):
    """A rate, or a mean, what it is compared with, and the difference with its sign, in words."""

    rate: str
    reference: str
    gap: str


def compared(rate: float, reference: float, unit: str | None = None) -> Compared:
    """Return two rates, or two means in their unit, and their difference.

    The difference is the true one, rounded: that of the two as they are shown may be one off in the
    last digit. Means have as many decimals as show two digits of it.

    >>> compared(0.13640, 0.23851)
    Compared(rate='13.6 %', reference='23.9 %', gap='−10.2 points')
    >>> compared(24.675, 21.5311, "days")
    Compared(rate='24.68 days', reference='21.53 days', gap='+3.14 days')
    >>> compared(1000.0672, 1000.0, "")
    Compared(rate='1,000.067', reference='1,000', gap='+0.067')
    """
    if unit is None:
        return Compared(percent(rate), percent(reference), points(rate - reference))
    place = max(_place(max(abs(rate), abs(reference)), 4), _place(rate - reference, 2))
    gap = rate - reference
    sign = "+" if round(gap, place) > 0 else ""
    return Compared(
        _number(rate, place, unit),
        _number(reference, place, unit),
        sign + _number(gap, place, unit),
    )


def points(gap: float) -> str:
    """Return a difference of rates in percentage points, with its sign.

    >>> points(0.5), points(-0.0312), points(0.01), points(0.0)
    ('+50 points', '−3.1 points', '+1 point', '0 points')
    """
    words = f"{100 * gap:+.1f}".removesuffix(".0").replace("-", "−")
    if words in ("+1", "−1"):
        return f"{words} point"
    return ("0" if words in ("+0", "−0") else words) + " points"


def unfairness(value: float, beside: float | None = None) -> str:
    """Return an unfairness, without sign, to four decimals, or as many as a small one needs.

    And as many as show on which side of another number it is.

    >>> unfairness(0.0625), unfairness(-0.01234), unfairness(0.0), unfairness(0.000025)
    ('0.0625', '0.0123', '0', '0.000025')
    >>> unfairness(0.010049, beside=0.01)
    '0.01005'
    """
    return _decimal(abs(value), ROUND_HALF_EVEN, beside)


def signed_unfairness(value: float, beside: float | None = None) -> str:
    """Return an unfairness with its sign: + where the group's rate is above the overall one.

    >>> signed_unfairness(0.0123), signed_unfairness(-0.05), signed_unfairness(0.0)
    ('+0.0123', '−0.0500', '0')
    """
    sign = "" if value == 0 else "−" if value < 0 else "+"
    return f"{sign}{unfairness(value, beside)}"


def bound(value: float, beside: float | None = None) -> str:
    """Return what no unfairness exceeds, rounded up so that it stays true.

    >>> bound(0.10621), bound(0.0625), bound(0.009951, beside=0.01)
    ('0.1063', '0.0625', '0.00996')
    """
    return _decimal(value, ROUND_CEILING, beside)


def at_least(value: float, beside: float | None = None) -> str:
    """Return what an unfairness exceeds, rounded down so that it stays true.

    >>> at_least(0.0463555), at_least(0.0625)
    ('0.0463', '0.0625')
    """
    return _decimal(value, ROUND_FLOOR, beside)


# Digits beyond this are rounding, of sums and of comparisons.
_DECIMALS = 12

# Numbers from here on are no unfairness that anyone has, and are shown with an exponent. (So many
# digits and those decimals fit into a Decimal's 28.)
_LARGE = 10**9


def _rounded(value: float) -> Decimal:
    return Decimal(value) if value >= _LARGE else round(Decimal(value), _DECIMALS)


def _decimal(value: float, rounding: str, beside: float | None) -> str:
    """Return a number in as few decimals, four or more, as keep it on its side of another.

    Decimals are exact, so that a bound that is rounded up is not below what it bounds.
    """
    if value <= 10**-_DECIMALS:
        return "0"
    exact = _rounded(value)
    if value >= _LARGE:
        return f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - 3), rounding):.3e}"
    limit = exact if beside is None else _rounded(beside)
    shown = exact  # where no fewer digits will do
    # At least two digits of a small number: 1 − adjusted() is the place of its second.
    for decimals in range(max(4, 1 - exact.adjusted()), _DECIMALS):
        shorter = exact.quantize(Decimal(1).scaleb(-decimals), rounding)
        if beside is None or shorter.compare(limit) == exact.compare(limit):
            shown = shorter
            break
    return f"{shown:f}"


def p_value(value: float) -> str:
    """Return a p-value, to three decimals.

    >>> p_value(0.005), p_value(0.31415), p_value(0.05), p_value(0.0009)
    ('0.005', '0.314', '0.050', '< 0.001')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def p_equals(value: float) -> str:
    """Return a p-value as a sentence has it.

    >>> p_equals(0.0025), p_equals(1e-12)
    ('p = 0.003', 'p < 0.001')
    """
    words = p_value(value)
    return f"p {words}" if words.startswith("<") else f"p = {words}"


def count(number: float) -> str:
    """Return a number of rows, its thousands separated.

    >>> count(1234567), count(12.0)
    ('1,234,567', '12')
    """
    return f"{number:,.0f}"


def event_noun(notions: Sequence[Mapping[str, Any]], name: str | None = None) -> str:
    """Return what to call the rows that a rate is over, or all of the rates where no name is given.

    >>> rates = [{"name": "false_positive_rate", "event": [True, False]},
    ...          {"name": "error_rate", "event": [True, True]}]
    >>> event_noun(rates, "false_positive_rate"), event_noun(rates[1:]), event_noun(rates)
    ('negatives', 'rows', 'rows in the event')
    """
    chosen = [one for one in notions if name in (None, one["name"])]
    events = {tuple(one["event"]) for one in chosen}
    classes = {one.get("class") for one in chosen}
    if len(events) != 1 or (len(classes) != 1 and events != {(True, True)}):
        return "rows in the event"
    if chosen[0].get("unit") is not None:  # of numbers, the label is whether a row counts
        return "rows that count"
    event = events.pop()
    if (of_class := classes.pop()) is not None and event != (True, True):
        return f"rows of {quoted(of_class)}" if event[1] else "rows of other classes"
    return _EVENT_NOUNS[event]


def quoted(label: Any) -> str:
    """Return a label as a sentence quotes it; a whole number without decimals.

    >>> quoted("yes"), quoted(1), quoted(1.0), quoted(0.5)
    ('“yes”', '“1”', '“1”', '“0.5”')
    """
    return f"“{_plain(label)}”"


def _plain(label: Any) -> str:
    is_whole = isinstance(label, float) and label.is_integer()
    return shortened(str(int(label) if is_whole else label))


def label_words(report: Mapping[str, Any]) -> tuple[str, str]:
    """Return the negative and the positive label, by the name of their column where it is known.

    >>> label_words({"labels": [0, 1]})
    ('“0”', '“1”')
    >>> label_words({"labels": [0, 1], "columns": {"label": "repaid", "decision": None}})
    ('repaid = 0', 'repaid = 1')
    >>> label_words({"labels": ["not now", "now"], "columns": {"label": "triage"}})
    ('triage ≠ now', 'triage = now')
    """
    name = report.get("columns", {}).get("label")
    negative, positive = report["labels"]
    if name is None:
        return quoted(negative), quoted(positive)
    named = f"{name} = {_plain(positive)}"
    if negative == f"not {positive}":  # one class, and all others
        return f"{name} ≠ {_plain(positive)}", named
    return f"{name} = {_plain(negative)}", named


def decision_words(report: Mapping[str, Any]) -> tuple[str, str]:
    """Return the negative and the positive decision, in the same way; a score by where it is cut.

    >>> decision_words({"labels": ["no", "yes"], "columns": {"label": "repaid", "decision": "ok"}})
    ('ok = no', 'ok = yes')
    >>> decision_words({"labels": [0, 1], "columns": {"decision": "score", "threshold": 0.5}})
    ('score < 0.5', 'score ≥ 0.5')
    """
    columns = report.get("columns", {})
    name = columns.get("decision")
    if name is not None and columns.get("threshold") is not None:
        shown = digits(columns["threshold"])
        return f"{name} < {shown}", f"{name} ≥ {shown}"
    return label_words({"labels": report["labels"], "columns": {"label": name}})


def decided_words(report: Mapping[str, Any]) -> tuple[str, str]:
    """Return what happens to those who are decided negative, and positive, as a participle.

    >>> decided_words({"labels": [0, 1], "columns": {"label": "repaid", "decision": "granted"}})
    ('decided granted = 0', 'decided granted = 1')
    >>> decided_words({"labels": [0, 1], "columns": {"decisions": ("refused", "granted")}})
    ('refused', 'granted')
    """
    negative, positive = report.get("columns", {}).get("decisions") or (
        f"decided {one}" for one in decision_words(report)
    )
    return negative, positive


def digits(number: float) -> str:
    """Return a number that a user gave, with all the digits that tell it from others.

    >>> digits(0.5), digits(0.50000001), digits(2.0), digits(2**53 + 1), digits(1e-9)
    ('0.5', '0.50000001', '2', '9007199254740993', '1e-09')
    """
    if isinstance(number, int):  # it may be one that float64 does not hold
        return str(number)
    return repr(float(number)).removesuffix(".0")


def capitalised(words: str) -> str:
    """Return a text with its first letter large, the others as they are.

    >>> capitalised("false positive rate of the USA")
    'False positive rate of the USA'
    """
    return words[:1].upper() + words[1:]
