"""Numbers and rates as a person would say them, and names from the data as they can be shown."""

import math
import re

# What turns or hides text around it: bidirectional controls, and control characters but line ends.
_INVISIBLE = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f\x7f]")


def visible(text: str) -> str:
    """Text whose control characters are written out, so that none can turn what stands around it.

    >>> print(visible("live\u202e positive"))
    live⟨U+202E⟩ positive
    """
    return _INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def percent(rate: float) -> str:
    """A rate in percent, with one decimal, or as many as a small one needs.

    >>> percent(0.5), percent(0.1234), percent(0.00042), percent(0.0), percent(0.99996)
    ('50 %', '12.3 %', '0.042 %', '0 %', '99.996 %')
    """
    if not math.isfinite(rate):
        return "–"
    digits = 1
    while digits < 6 and _hides(rate, digits):
        digits += 1
    return f"{100 * rate:.{digits}f}".rstrip("0").rstrip(".") + " %"


def _hides(rate: float, digits: int) -> bool:
    """Whether so many decimals show a rate as 0 or 1 that is neither, or keep one digit of it."""
    nearest = min(abs(rate), abs(1 - rate))
    return 0 < nearest < 10 ** (-digits - 2) * 5


def points(gap: float) -> str:
    """A difference of rates in percentage points, with its sign.

    >>> points(0.5), points(-0.0312), points(0.0)
    ('+50 points', '−3.1 points', '0 points')
    """
    words = f"{100 * gap:+.1f}".removesuffix(".0").replace("-", "−")
    return ("0" if words in ("+0", "−0") else words) + " points"


def unfairness(value: float) -> str:
    """An unfairness, without sign, to four decimals.

    >>> unfairness(0.0625), unfairness(-0.01234), unfairness(0.0), unfairness(0.00001)
    ('0.0625', '0.0123', '0', 'below 0.0001')
    """
    if value == 0:
        return "0"
    return "below 0.0001" if abs(value) < 5e-5 else f"{abs(value):.4f}"


def bound(value: float) -> str:
    """A proven bound, rounded up to four decimals: what is shown is a bound as well.

    >>> bound(0.10625), bound(0.0625), bound(0.00001), bound(0.0)
    ('0.1063', '0.0625', '0.0001', '0.0000')
    """
    return f"{math.ceil(value * 1e4 - 1e-9) / 1e4:.4f}"


def p_value(value: float) -> str:
    """A p-value, to two digits.

    >>> p_value(0.005), p_value(0.31415), p_value(0.00004)
    ('0.005', '0.31', '0.00004')
    """
    return f"{value:.2g}" if value >= 1e-4 else f"{value:.5f}".rstrip("0")


def count(number: float) -> str:
    """A number of people.

    >>> count(1234567), count(12.0)
    ('1,234,567', '12')
    """
    return f"{number:,.0f}"


def capitalised(words: str) -> str:
    """The first letter large, the others as they are.

    >>> capitalised("false positive rate of the USA")
    'False positive rate of the USA'
    """
    return words[:1].upper() + words[1:]
