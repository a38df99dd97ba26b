"""Write tables of impact ratios as CSV and as a workbook, in which no text is a formula."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend._runtime.extras import need
from gerrymend.reporting.impact.rows import COLUMNS, flat_rows
from gerrymend.reporting.impact.rules import NO_ADVICE, rule_of
from gerrymend.reporting.impact.view import impact_view
from gerrymend.reporting.wording import visible

# What a spreadsheet begins a formula with; of a tab or a return before it `visible` makes letters.
# The wide forms are those of East Asian keyboards.
_FORMULA = "=+-@＝＋－＠"
# Characters of a cell, by the format.
_LONGEST = 32_000


def inert(text: str) -> str:
    """Return a text that no spreadsheet runs: what looks like a formula has an apostrophe first.

    >>> inert("=1+1"), inert("\\t@x"), inert(" -2"), inert("race = B")
    ("'=1+1", '⟨U+0009⟩@x', "' -2", 'race = B')
    """
    shown = visible(text)[:_LONGEST]
    return f"'{shown}" if shown.lstrip().startswith(tuple(_FORMULA)) else shown


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
    _fill(groups, [list(COLUMNS), *(list(row.values()) for row in flat_rows(data))])
    groups.freeze_panes = "C2"
    for letter, width in (("A", 24), ("B", 48)):
        groups.column_dimensions[letter].width = width
    notes = book.create_sheet("Notes")
    _fill(notes, [list(one) for one in _notes(data)])
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


def _fill(sheet: Any, rows: list[list[Any]]) -> None:
    """Write rows, each text as text: a cell that begins with = would else be a formula."""
    for number, row in enumerate(rows, start=1):
        for place, value in enumerate(row, start=1):
            cell = sheet.cell(number, place)
            if isinstance(value, str):
                cell.value = visible(value)[:_LONGEST]
                cell.data_type = "s"
                cell.quotePrefix = inert(value) != cell.value
            else:
                cell.value = value
