"""Lay out facts as text for a terminal: names in a column, what is said of them beside it."""

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gerrymend.reporting.wording import visible

# Lines of text beyond this are hard to read, however wide the terminal.
WIDEST = 100
# What is printed without a console to ask for its width.
PLAIN_WIDTH = 80
_NAME_WIDTH = 16
# A sign stays with what follows it, a unit with its number, and p with its sign.
_TOGETHER = re.compile(r"(?<= [−+≥≤<=]) |(?<=\bp) (?=[=<])| (?=(?:rows|points|times|%)\b)| (?=%)")

Facts = Sequence[tuple[str, str]]
# A style of rich ("" for none) and what is printed in it.
Span = tuple[str, str]


def wrapped(text: str, width: int) -> list[str]:
    """Return lines of at most `width` characters; signs and units stay with their numbers.

    >>> wrapped("0.8·age − 2.1·[sex=F] + 0.5·income ≥ 30", 24)
    ['0.8·age − 2.1·[sex=F]', '+ 0.5·income ≥ 30']
    """
    # textwrap breaks at spaces alone, and takes one that doesn't break for a letter.
    held = _TOGETHER.sub("\N{NO-BREAK SPACE}", visible(text))
    lines = textwrap.wrap(held, max(width, 20), break_on_hyphens=False, break_long_words=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def fact_spans(facts: Facts, width: int) -> list[Span]:
    """Return facts as spans: each name once, dim, and its text beside it in as many lines.

    Parameters
    ----------
    facts : sequence of (name, text)
        An empty name goes on with the fact above.
    width : int
        Characters of a line, names included.
    """
    spans = []
    for name, text in facts:
        shown = visible(name)
        if len(shown) >= _NAME_WIDTH:  # it would run into the text
            spans.append(("dim", f"{shown}\n"))
            shown = ""
        for line in wrapped(text, width - _NAME_WIDTH):
            spans += [("dim", f"{shown:<{_NAME_WIDTH}}"), ("", f"{line}\n")]
            shown = ""
    return spans


def paragraph_spans(style: str, heading: str, sentences: Sequence[str], width: int) -> list[Span]:
    """Return a heading in its style, and sentences below it as one paragraph."""
    title, lines = ("\n".join(wrapped(text, width)) for text in (heading, " ".join(sentences)))
    return [(style, f"{title}\n"), ("", f"{lines}\n")]


def joined(parts: Sequence[Sequence[Span]]) -> list[Span]:
    """Return parts as one, an empty line between two; parts without a span are left out."""
    spans: list[Span] = []
    for part in filter(None, parts):
        spans += [("", "\n"), *part] if spans else part
    return spans


def as_plain(spans: Sequence[Span]) -> str:
    """Return spans as text without styles, and without a last line end.

    >>> print(as_plain(fact_spans([("Rows", "1,200"), ("", "of two files")], width=40)))
    Rows            1,200
                    of two files
    """
    return "".join(text for _, text in spans).rstrip("\n")


def as_rich(spans: Sequence[Span]) -> Any:
    """Return spans as a text of rich, in which nothing is read as markup."""
    from rich.text import Text

    text = Text()
    for style, words in spans:
        text.append(words, style)
    text.rstrip()
    return text


@dataclass(frozen=True)
class RichSpans:
    """Spans for rich to print: `lay_out` returns them for a width, here that of rich's console."""

    lay_out: Callable[[int], Sequence[Span]]

    def __rich_console__(self, console: Any, options: Any) -> Any:
        """Yield the text, laid out for the console's width."""
        yield as_rich(self.lay_out(min(options.max_width, WIDEST)))
