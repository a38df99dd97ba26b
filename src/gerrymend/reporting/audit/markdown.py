"""Lay an audit out as Markdown, from its plain data; no text of the data is read as markup."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.numbers import short
from gerrymend.reporting.audit.document import PLAIN, Document
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.markdown import escaped
from gerrymend.reporting.wording import visible


def audit_markdown(
    report: Mapping[str, Any], document: Document = PLAIN, model: Mapping[str, Any] | None = None
) -> str:
    """Return the whole of `AuditReport.to_dict()`; sections and arguments are those of the page."""
    view = audit_view(report, model, document)
    titles = view["titles"]
    bars = view["gap"]["bars"]["values"]
    parts = [
        f"# {escaped(view['title'])}",
        *([_list(view["about"])] if view["about"] else []),
        escaped(view["subtitle"]),
        *(f"**Warning.** {escaped(sentence)}" for sentence in view["warnings"]),
        " ".join([f"**{escaped(view['heading'])}.**", *map(escaped, view["cautions"])]),
        *(f"- **{value}** {escaped(words)}" for value, words in view["people"]),
        " ".join(map(escaped, view["verdict"])),
        escaped(view["direction"]),
        *_changes(view),
        _table(("Figure", "Value", ""), view["figures"]),
        view["unfairness_means"],
        *_model(view),
        f"## {titles['subgroups']}",
        *_subgroups(view),
        *_calibration(view),
        f"## {titles['gap']}",
        escaped(view["gap"]["sentence"]),
        _table(("", "Unfairness"), [(bar["name"], bar["value"]) for bar in bars]),
        f"## {titles['rates']}",
    ]
    for rates in view["rates"]:
        parts += _rates(rates, view)
    parts += _maps(view)
    if view["flagged"]:
        parts += [f"## {titles['flagged']}", escaped(view["flagged_means"]), _list(view["flagged"])]
    for section in ("detection", "protected", "next"):
        if view[section]:
            parts += [f"## {titles[section]}", *map(escaped, view[section])]
    if view["commands"]:
        # Indented code is shown as it is: nothing in it is escaped, but control characters.
        parts.append(textwrap.indent(visible("\n".join(view["commands"])), "    "))
    parts += [f"## {titles['how']}", _list(view["how"])]
    parts += [f"## {titles['expert']}", escaped(view["experts_note"]), _list(view["expert"])]
    return "\n\n".join(parts) + "\n"


def audit_section(report: Mapping[str, Any], document: Document, level: int) -> str:
    """Return the same without its title, as what is below a heading of a level.

    Raises an ArgumentError for a level that leaves its headings none, of the six that there are.
    """
    if level not in (1, 2, 3):
        raise ArgumentError(
            Argument("level", value=short(level)),
            "is no level of a section with headings below; pass 1, 2 or 3.",
        )
    _, _, text = audit_markdown(report, document).partition("\n\n")
    # Text of the data never begins a line with this sign: it is escaped.
    return re.sub(r"^#", "#" * level, text, flags=re.MULTILINE)


def _subgroups(view: Mapping[str, Any]) -> list[str]:
    """Return a section for each subgroup that is described, or one sentence."""
    parts = [view["nobody"]] if view["nobody"] else []
    for place, subgroup in enumerate(view["subgroups"], start=1):
        in_full = [("The rule", subgroup["in_full"])] if subgroup["in_full"] else []
        parts.append(f"### {place}. {subgroup['standing']}: {escaped(subgroup['name'])}")
        if subgroup["note"]:
            parts.append(escaped(subgroup["note"]))
        parts.append(_list([*in_full, *subgroup["facts"]]))
    return [*parts, *map(escaped, view["fewer"])] or [view["no_subgroups"]]


def _calibration(view: Mapping[str, Any]) -> list[str]:
    """Return what was predicted and what happened by bins of the score, if that is told."""
    curve = view["calibration"]
    if curve is None:
        return []
    table = _table(curve["heads"], curve["rows"])
    return [f"## {view['titles']['calibration']}", escaped(curve["sentence"]), table]


def _changes(view: Mapping[str, Any]) -> list[str]:
    """Return what changed since an earlier report, if there is one."""
    if view["changes"] is None:
        return []
    changes = view["changes"]
    table = _table(("", "Then", "Now"), changes["rows"])
    return [f"## {view['titles']['changes']}", table, *map(escaped, changes["sentences"])]


def _model(view: Mapping[str, Any]) -> list[str]:
    """Return what is known of a model that was trained, if it was."""
    if view["model"] is None:
        return []
    model = view["model"]
    table = _table(model["heads"], model["samples"])
    return [
        f"## {view['titles']['model']}",
        escaped(model["sentence"]),
        _list(model["facts"]),
        table,
    ]


def _rates(rates: Mapping[str, Any], view: Mapping[str, Any]) -> list[str]:
    """Return the groups of one rate, or mean, as a table."""
    within = any(group["expected"] for group in rates["groups"])
    expected = ["expected"] if within else []
    columns = ("name", "size", "rate", "interval", *expected, "gap", "unfairness")
    rows = [[group[column] for column in columns] for group in rates["groups"]]
    for row, group in zip(rows, rates["groups"], strict=True):
        row[0] = f"{group['mark']} {row[0]}".lstrip()
    parts = [f"### {escaped(rates['name'])}", escaped(rates["sentence"])]
    if not rows:
        return [*parts, view["no_groups"]]
    parts += [escaped(rates[note]) for note in ("legend", "not_shown") if rates[note]]
    average = view["average"].capitalize()
    scored = view["expected"] == "predicted"
    more = ["Predicted" if scored else f"{average} expected by its strata"] if within else []
    heads = ("Group", "Rows", average, "95 % interval, all at once", *more, "Difference",
             "Unfairness")  # fmt: skip
    return [*parts, _table(heads, rows)]


def _maps(view: Mapping[str, Any]) -> list[str]:
    """Return the tables in which two attributes meet, if there are any."""
    parts = []
    for one in view["maps"]:
        heads = (
            f"{escaped(one['down'])} \\ {escaped(one['across'])}",
            *map(escaped, one["columns"]),
        )
        rows = [
            (
                row["value"],
                *(
                    "–"
                    if c is None
                    else f"{c['mark']} {c['rate']} ({_beside(c)}; {c['rows']} rows)".lstrip()
                    for c in row["cells"]
                ),
            )
            for row in one["rows"]
        ]
        parts += [
            f"### {escaped(one['name'])}, overall {one['overall']}",
            _table(heads, rows),
        ]
    return [f"## {view['titles']['maps']}", *parts, view["maps_sentence"]] if parts else []


def _beside(cell: Mapping[str, Any]) -> str:
    """Return how far a cell is off, and from what where that is not the same for all."""
    return f"{cell['gap']} from {cell['expected']}" if cell["expected"] else str(cell["gap"])


def _list(facts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in facts)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
