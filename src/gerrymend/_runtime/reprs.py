"""Say on one line what a result is; `print` says it all."""

from typing import Any

# Signs after which a text is cut off.
_LONG = 60


def shortened(text: str, most: int = 100) -> str:
    """Return a text that people can read: of one with more signs, the beginning and the end.

    >>> shortened("a" * 50 + "b" * 50, most=20)
    'aaaaaaaaaaaaaa…bbbbb'
    >>> shortened("blue")
    'blue'
    """
    if len(text) <= most:
        return text
    end = most // 4
    return f"{text[: most - end - 1]}…{text[-end:]}"


def short_repr(shown: object, **figures: Any) -> str:
    """Return a repr of a few figures: numbers to four digits, long texts cut off.

    >>> short_repr(Exception(), unfairness=0.0123456, worst="race = blue", n_rows=800)
    "Exception(unfairness=0.01235, worst='race = blue', n_rows=800)"
    """
    parts = (f"{name}={_brief(value)}" for name, value in figures.items())
    return f"{type(shown).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str) and len(value) > _LONG:
        return repr(value[: _LONG - 1] + "…")
    if isinstance(value, tuple):
        return f"({', '.join(map(_brief, value))}{',' * (len(value) == 1)})"
    return repr(value)
