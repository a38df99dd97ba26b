"""Lay an audit with probabilities out as text, for `print(report)` and the command line."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.text import (
    PLAIN_WIDTH,
    Span,
    as_plain,
    fact_spans,
    joined,
    paragraph_spans,
)
from gerrymend.reporting.uncertain.words import facts, lead_sentences, look, table_rows, warnings

Data = Mapping[str, Any]


def uncertain_text(data: Data) -> str:
    """Return the report as plain text, in lines of at most 80 characters."""
    return as_plain(uncertain_spans(data, PLAIN_WIDTH))


def uncertain_spans(data: Data, width: int) -> list[Span]:
    """Return warnings, the verdict, groups and what the figures rest on."""
    shown = look(data)
    warned = [("Warning", sentence) for sentence in warnings(data)]
    groups = [
        (group, f"{rate}, some {rows} rows; unfairness {expected}, in truth {truth}")
        for group, rate, rows, expected, truth in table_rows(data)
    ]
    return joined(
        [
            fact_spans(warned, width),
            paragraph_spans(shown.style, shown.heading, lead_sentences(data), width),
            fact_spans(groups, width),
            fact_spans([(name, " ".join(told)) for name, told in facts(data)], width),
        ]
    )
