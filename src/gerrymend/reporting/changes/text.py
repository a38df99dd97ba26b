"""Lay a comparison out as text: `print(comparison)` and `gerrymend compare` show the same lines."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.changes.words import (
    facts,
    look,
    sides,
    standing_rows,
    verdict_sentences,
    warnings,
)
from gerrymend.reporting.text import (
    PLAIN_WIDTH,
    Span,
    as_plain,
    fact_spans,
    joined,
    paragraph_spans,
)
from gerrymend.reporting.wording import capitalised

Data = Mapping[str, Any]


def comparison_text(data: Data) -> str:
    """Return a comparison as plain text, in lines of at most 80 characters."""
    return as_plain(comparison_spans(data, PLAIN_WIDTH))


def comparison_spans(data: Data, width: int) -> list[Span]:
    """Return warnings, the verdict, either side, and what was found."""
    shown = look(data)
    warned = [("Warning", sentence) for sentence in warnings(data)]
    return joined(
        [
            fact_spans(warned, width),
            paragraph_spans(shown.style, shown.heading, verdict_sentences(data), width),
            *(
                [("bold", f"{capitalised(where)}\n"), *fact_spans(rows, width)]
                for where, rows in zip(sides(data), _by_side(data), strict=True)
            ),
            fact_spans([(name, " ".join(told)) for name, told in facts(data)], width),
        ]
    )


def _by_side(data: Data) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the facts of either side."""
    rows = standing_rows(data)
    return [(name, old) for name, old, _ in rows], [(name, new) for name, _, new in rows]
