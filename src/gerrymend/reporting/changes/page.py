"""Lay a comparison out as a page, and as the fragment that notebooks show."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.changes.words import (
    TITLE,
    facts,
    look,
    made_on,
    sides,
    standing_rows,
    verdict_sentences,
    warnings,
)
from gerrymend.reporting.page import render, render_page, unbroken
from gerrymend.reporting.wording import capitalised


def comparison_page(data: Mapping[str, Any], title: str | None = None) -> str:
    """Return the whole page; it has no script."""
    shown = _view(data, title)
    return render_page("comparison.html", title=f"{shown['heading']}: {shown['title']}", view=shown)


def comparison_fragment(data: Mapping[str, Any]) -> str | None:
    """Return verdict and table for a notebook; None where jinja2 is missing."""
    try:
        return render("comparison_fragment.html", view=_view(data, None))
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
            "verdict": verdict_sentences(data),
            "sides": [capitalised(where) for where in sides(data)],
            "rows": standing_rows(data),
            "facts": facts(data),
            "made_on": made_on(data),
        }
    )
    return view
