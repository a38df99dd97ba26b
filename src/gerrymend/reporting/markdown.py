"""Escape text from the data for Markdown: it is shown as it is, never read as markup."""

import re

from gerrymend.reporting.wording import visible

# What starts markup, HTML, a formula or a link anywhere in a line; other signs do so at its start
# alone, where text from the data never is.
_MARKUP = re.compile(r"([\\`*_\[\]<>|~&$#]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


def escaped(text: str) -> str:
    """Return Markdown that shows a text as it is, on one line.

    >>> print(escaped("a_b <i>|\\nhttp://x"))
    a\\_b \\<i\\>\\| http\\://x
    """
    return _MARKUP.sub(r"\\\1", visible(" ".join(text.split())))
