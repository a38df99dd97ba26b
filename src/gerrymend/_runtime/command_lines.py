"""Words of a command line, from names and values that may be anything."""

from typing import Any


def option_words(name: str, value: Any) -> list[str]:
    """An option, again for each of its values; those that look like one are joined to it.

    >>> option_words("--protected", ["race", "-age"])
    ['--protected', 'race', '--protected=-age']
    >>> option_words("--impute", True)
    ['--impute']
    """
    if value is True:
        return [name]
    values = value if isinstance(value, list | tuple) else [value]
    texts = [repr(one) if isinstance(one, float) else str(one) for one in values]
    return [
        word
        for text in texts
        for word in ([f"{name}={text}"] if text.startswith("-") else [name, text])
    ]
