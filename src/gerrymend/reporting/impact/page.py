"""Lay tables of impact ratios out as a page, and as the fragment that notebooks show."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.document import PLAIN, Document
from gerrymend.reporting.impact.view import impact_view
from gerrymend.reporting.page import render, render_page, unbroken


def impact_page(data: Mapping[str, Any], document: Document = PLAIN) -> str:
    """Return the whole page, from `ImpactTable.to_dict()`.

    >>> from gerrymend import impact_ratios
    >>> made = impact_ratios([1, 0, 1, 1], sensitive_features={"<b>": ["<i>", "<i>", "x", "x"]},
    ...                      search=False)
    >>> "<i>" in made.to_html(), "&lt;i&gt;" in made.to_html()
    (False, True)
    """
    view = unbroken(impact_view(data, document))
    return render_page("impact.html", title=view["title"], view=view)


def impact_fragment(data: Mapping[str, Any]) -> str:
    """Return the tables and what leads alone, for notebooks."""
    return render("impact_fragment.html", view=unbroken(impact_view(data)))
