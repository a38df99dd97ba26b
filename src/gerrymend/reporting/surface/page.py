"""Make a page of a discrimination surface, from its plain data (`to_dict`)."""

from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.page import own_script, plotly_script, render, render_page, visible_data
from gerrymend.reporting.surface.text import compared_words


def surface_page(surface: dict[str, Any]) -> str:
    """Return the whole page; its map is drawn by the bundled plotly."""
    first, second = surface["attributes"]
    scripts = [plotly_script(), own_script("surface.js")] if _is_shown(surface) else []
    return render_page(
        "surface.html",
        title=f"Discrimination surface: {first} and {second}",
        scripts=scripts,
        **_context(surface),
    )


def surface_fragment(surface: dict[str, Any]) -> str:
    """Return the sentence and the table for a notebook, without a script."""
    return render("surface_fragment.html", **_context(surface))


def _context(surface: dict[str, Any]) -> dict[str, Any]:
    """Return what the templates of the page and of the fragment share."""
    names = [shown["name"] for shown in surface["rounds"]]
    return {
        "surface": visible_data(surface),
        "compared": compared_words(surface),
        "rate_words": in_words(surface["notion"]["name"]),
        "is_shown": _is_shown(surface),
        # Models have names of their own, rounds have numbers.
        "kind": "round" if all(isinstance(name, int) for name in names) else "model",
        "first": surface["rounds"][0],
        "last": surface["rounds"][-1],
    }


def _is_shown(surface: dict[str, Any]) -> bool:
    """Return whether any group is large enough to be shown."""
    return any(shown["worst"] is not None for shown in surface["rounds"])
