"""The arguments of a command line, from names and values that may start with a dash."""

from typing import Any


def option_words(name: str, value: Any) -> list[str]:
    """Return the words of an option, repeated for each of its values.

    A value that starts with "-" is joined by "=", or it would be read as an option itself.

    >>> option_words("--protected", ["race", "-age"])
    ['--protected', 'race', '--protected=-age']
    >>> option_words("--impute", True)
    ['--impute']
    >>> import numpy
    >>> option_words("--gamma", numpy.float64(0.1))
    ['--gamma', '0.1']
    """
    if value is True:
        return [name]
    values = value if isinstance(value, list | tuple) else [value]
    # NumPy's float64 is a float, with a repr of its own.
    texts = [repr(float(item)) if isinstance(item, float) else str(item) for item in values]
    return [
        word
        for text in texts
        for word in ([f"{name}={text}"] if text.startswith("-") else [name, text])
    ]
