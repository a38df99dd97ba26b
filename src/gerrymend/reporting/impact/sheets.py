"""Write tables of impact ratios as CSV and as a workbook, in which no text is a formula."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend._runtime.extras import need
from gerrymend.reporting.impact.rows import COLUMNS, flat_rows
from gerrymend.reporting.impact.rules import NO_ADVICE, rule_of
from gerrymend.reporting.impact.view import impact_view
from gerrymend.reporting.sheets import fill, inert


def as_csv(data: Mapping[str, Any]) -> str:
    """Return the groups of `ImpactTable.to_dict()` as CSV."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in flat_rows(data):
        writer.writerow([inert(cell) if isinstance(cell, str) else cell for cell in row.values()])
    return text.getvalue()


def as_xlsx(data: Mapping[str, Any]) -> bytes:
    """Return a workbook: a sheet of the groups, and one of the words that belong to them."""
    openpyxl = need("openpyxl", "Writing xlsx needs")
    book = openpyxl.Workbook()
    groups = book.active
    groups.title = "Impact ratios"
    fill(groups, [list(COLUMNS), *(list(row.values()) for row in flat_rows(data))])
    groups.freeze_panes = "C2"
    for letter, width in (("A", 24), ("B", 48)):
        groups.column_dimensions[letter].width = width
    notes = book.create_sheet("Notes")
    fill(notes, [list(one) for one in _notes(data)])
    for letter, width in (("A", 24), ("B", 110)):
        notes.column_dimensions[letter].width = width
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _notes(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what belongs to the figures: rule, what leads, who was found, and what columns are."""
    rule = rule_of(data)
    view = impact_view(data)
    yield rule.title, rule.rule
    yield "No legal advice", NO_ADVICE
    yield "Rows", view["subtitle"]
    yield "What was found", " ".join(view["lead"])
    if view["warning"]:
        yield "Few people", view["warning"]
    yield view["beyond_title"], " ".join(view["beyond"])
    yield from view["how"]
    yield from COLUMNS.items()
