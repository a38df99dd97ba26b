"""Lay a comparison out as Markdown; no text of the data is read as markup."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.changes.words import (
    TITLE,
    facts,
    look,
    sides,
    standing_rows,
    verdict_sentences,
    warnings,
)
from gerrymend.reporting.markdown import escaped
from gerrymend.reporting.wording import capitalised


def comparison_markdown(data: Mapping[str, Any], title: str | None = None) -> str:
    """Return the verdict, a table of either side, and what was found."""
    heads = ["", *(capitalised(where) for where in sides(data))]
    rows = [heads, ["---"] * 3, *([name, escaped(old), escaped(new)]
                                  for name, old, new in standing_rows(data))]  # fmt: skip
    parts = [
        f"# {escaped(title or TITLE)}",
        *(f"**Warning.** {escaped(sentence)}" for sentence in warnings(data)),
        f"**{look(data).heading}.** {escaped(' '.join(verdict_sentences(data)))}",
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
        *(f"**{name}.** {escaped(' '.join(told))}" for name, told in facts(data)),
    ]
    return "\n\n".join(parts) + "\n"
