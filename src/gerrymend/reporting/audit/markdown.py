"""An audit as Markdown, from its plain data alone; no text of the data is read as markup."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.markdown import escaped
from gerrymend.reporting.wording import visible


def audit_markdown(report: Mapping[str, Any], model: Mapping[str, Any] | None = None) -> str:
    """The whole report; the sections are those of the page."""
    view = audit_view(report, model)
    parts = [
        f"# {view['title']}",
        escaped(view["subtitle"]),
        f"**{view['heading']}.** " + " ".join(map(escaped, view["verdict"])),
        _table(("Figure", "Value", ""), view["figures"]),
        *_model(view["model"]),
        "## The worst subgroups",
    ]
    for number, one in enumerate(view["subgroups"], start=1):
        in_full = [("In full", one["in_full"])] if one["in_full"] else []
        parts += [f"### {number}. {escaped(one['name'])}", _list([*in_full, *one["facts"]])]
    if not view["subgroups"]:
        parts.append("There is none to describe.")
    bars = view["gap"]["bars"]["values"]
    parts += [
        "## One attribute at a time, and combinations",
        escaped(view["gap"]["sentence"]),
        _table(("", "Unfairness"), [(one["name"], one["value"]) for one in bars]),
        "## Rates by group",
    ]
    for rates in view["rates"]:
        parts += _rates(rates)
    for title, name in (
        ("What this sample can and can't show", "detection"),
        ("Does the model use protected columns?", "protected"),
        ("What next", "next"),
    ):
        if view[name]:
            parts += [f"## {title}", *map(escaped, view[name])]
    if view["commands"]:
        parts.append(textwrap.indent(visible("\n".join(view["commands"])), "    "))
    parts += ["## How it was done", _list(view["how"]), "## For experts", _list(view["expert"])]
    return "\n\n".join(parts) + "\n"


def _rates(rates: Mapping[str, Any]) -> list[str]:
    meaning = f": {rates['meaning']}" if rates["meaning"] else ""
    rows = [(one["name"], one["size"], one["rate"], one["interval"], one["unfairness"])
            for one in rates["groups"]]  # fmt: skip
    first = f"{rates['name']}{meaning}; overall {rates['overall']}; {rates['rows']} rows count."
    parts = [f"### {rates['name']}", escaped(first)]
    if not rows:
        return [*parts, "No group of one attribute has enough rows, in and out, to be described."]
    if rates["not_shown"]:
        parts.append(
            f"The {len(rows)} groups that differ most; {rates['not_shown']} more are not shown."
        )
    heads = ("Group", "Rows", "Rate", "95 % interval, all at once", "Unfairness")
    return [*parts, _table(heads, rows)]


def _model(model: Mapping[str, Any] | None) -> list[str]:
    if model is None:
        return []
    columns = ("name", "rows", "error", "unfairness", "bound", "verdict")
    heads = ("Sample", "Rows", "Error", "Unfairness found", "Proven", "Verdict")
    rows = [[one[column] for column in columns] for one in model["samples"]]
    return ["## The model", model["sentence"], _list(model["facts"]), _table(heads, rows)]


def _list(facts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in facts)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
