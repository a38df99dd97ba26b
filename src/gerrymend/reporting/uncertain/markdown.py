"""Lay an audit with probabilities out as Markdown; no text of the data is read as markup."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.markdown import escaped
from gerrymend.reporting.uncertain.words import (
    HEADS,
    TITLE,
    facts,
    lead_sentences,
    look,
    table_rows,
    warnings,
)


def uncertain_markdown(data: Mapping[str, Any], title: str | None = None) -> str:
    """Return the verdict, a table of groups, and what the figures rest on.

    >>> from gerrymend import audit_uncertain
    >>> report = audit_uncertain(None, [1, 0] * 40, notion="statistical_parity",
    ...     attribute_probabilities={"a|b": {"<i>": [.4] * 80, "x": [.6] * 80}})
    >>> lines = report.to_markdown().splitlines()
    >>> [line.split(" | ")[0] for line in lines if line.startswith("| a")]
    ['| a\\\\|b = \\\\<i\\\\>', '| a\\\\|b = x']
    """
    rows = [HEADS, ["---"] * len(HEADS), *(map(escaped, row) for row in table_rows(data))]
    parts = [
        f"# {escaped(title or TITLE)}",
        *(f"**Warning.** {escaped(sentence)}" for sentence in warnings(data)),
        f"**{look(data).heading}.** {escaped(' '.join(lead_sentences(data)))}",
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
        *(f"**{name}.** {escaped(' '.join(told))}" for name, told in facts(data)),
    ]
    return "\n\n".join(parts) + "\n"
