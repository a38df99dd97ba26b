"""Lay an audit with probabilities out as a page, and as the fragment that notebooks show."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.page import render, render_page, unbroken
from gerrymend.reporting.uncertain.words import (
    HEADS,
    TITLE,
    facts,
    lead_sentences,
    look,
    made_on,
    table_rows,
    warnings,
)


def uncertain_page(data: Mapping[str, Any], title: str | None = None) -> str:
    """Return the whole page; it has no script."""
    view = _view(data, title)
    return render_page("uncertain.html", title=f"{view['heading']}: {view['title']}", view=view)


def uncertain_fragment(data: Mapping[str, Any]) -> str | None:
    """Return what leads and the table for a notebook; None where jinja2 is missing."""
    try:
        return render("uncertain_fragment.html", view=_view(data, None))
    except ImportError:
        return None


def _view(data: Mapping[str, Any], title: str | None) -> dict[str, Any]:
    """Return what the templates show, in words."""
    shown = look(data)
    view: dict[str, Any] = unbroken(
        {
            "title": title or TITLE,
            "heading": shown.heading,
            "sign": shown.sign,
            "kind": shown.kind,
            "warnings": warnings(data),
            "lead": lead_sentences(data),
            "heads": HEADS,
            "rows": table_rows(data),
            "facts": facts(data),
            "made_on": made_on(data),
        }
    )
    return view
