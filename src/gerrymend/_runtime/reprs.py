"""Say on one line what a result is; `print` says it all."""

from typing import Any

# Signs after which a text is cut off.
_LONG = 60


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
