"""Write rows to sheets of a workbook and to CSV, in which no text is a formula."""

from collections.abc import Iterable, Sequence
from typing import Any

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


def fill(sheet: Any, rows: Iterable[Sequence[Any]]) -> None:
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
