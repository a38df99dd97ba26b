"""Lay tables of impact ratios out as Markdown; no text of the data is read as markup."""

from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.reporting.audit.document import PLAIN, Document
from gerrymend.reporting.impact.view import View, impact_view
from gerrymend.reporting.markdown import escaped


def impact_markdown(data: Mapping[str, Any], document: Document = PLAIN) -> str:
    """Return the whole of `ImpactTable.to_dict()`; sections are those of the page.

    >>> from gerrymend import impact_ratios
    >>> made = impact_ratios([1, 0, 1, 1], search=False, sensitive_features={
    ...     "a|b": ["<i>", "<i>", "x", "x"]})
    >>> print(made.to_markdown().split("##")[1].splitlines()[2])
    | a\\|b | n | Selected | Selection rate | Impact ratio | 95 % interval | Fisher's p \
| Standard deviations | Short of 4/5 | Mark |
    """
    view = impact_view(data, document)
    parts = [
        f"# {escaped(view['title'])}",
        *([_list(view["about"])] if view["about"] else []),
        escaped(view["subtitle"]),
        f"**{escaped(view['advice'])}**",
        " ".join(map(escaped, view["lead"])),
        *([f"**Note.** {escaped(view['warning'])}"] if view["warning"] else []),
    ]
    for table in view["tables"]:
        parts += [f"## {escaped(table['title'])}", _table(table), *map(escaped, table["notes"])]
    parts += [f"## {view['beyond_title']}", " ".join(map(escaped, view["beyond"]))]
    parts += [f"## {view['rule']['title']}", escaped(view["rule"]["sentence"])]
    for title, sentences in view["rule"]["lists"]:
        parts += [f"### {title}", "\n".join(f"- {escaped(one)}" for one in sentences)]
    parts += ["## What was done", _list(view["how"])]
    return "\n\n".join(parts) + "\n"


def _table(table: View) -> str:
    heads = [*map(escaped, table["attributes"]), *table["heads"]]
    rows = [[*group["values"], *group["figures"], group["mark"]] for group in table["groups"]]
    lines: list[Sequence[str]] = [heads, ["---"] * len(heads)]
    lines += [[escaped(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _list(facts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {escaped(name)}: {escaped(text)}" for name, text in facts)
