"""Lay an audit out as a page, and as the fragment that notebooks show; from its plain data."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.document import PLAIN, Document
from gerrymend.reporting.audit.subgroup_words import fragment_facts, who_words
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.page import render, render_page, unbroken


def audit_page(
    report: Mapping[str, Any],
    model: Mapping[str, Any] | None = None,
    document: Document = PLAIN,
) -> str:
    """Return the whole page; `model` is what `gerrymend fit` knows of a model that it trained.

    >>> from gerrymend import audit
    >>> report = audit([0] * 40, [1, 1, 0, 1] * 10, sensitive_features={
    ...     "<b>race</b>": ["blue", "blue", "green", "green"] * 10})
    >>> page = audit_page(report.to_dict())
    >>> "&lt;b&gt;race&lt;/b&gt; = blue" in page, "<b>race" in page
    (True, False)
    """
    view = audit_view(report, model, document)
    # Commands are there to be copied, and keep their blanks.
    shown = {name: part if name == "commands" else unbroken(part) for name, part in view.items()}
    return render_page("audit.html", title=f"{view['heading']}: {view['title']}", view=shown)


def audit_fragment(report: Mapping[str, Any]) -> str | None:
    """Return verdict and worst subgroups for a notebook; None where jinja2 is missing."""
    return _fragment("audit_fragment.html", view=audit_view(report))


def subgroup_fragment(subgroup: Mapping[str, Any]) -> str | None:
    """Return one subgroup, for a notebook; None where jinja2 is missing."""
    facts = fragment_facts(subgroup)
    return _fragment("subgroup_fragment.html", name=who_words(subgroup), facts=facts)


def _fragment(template: str, **context: Any) -> str | None:
    """Render a fragment; a notebook falls back to the text where jinja2 is missing."""
    try:
        return render(template, **context)
    except ImportError:
        return None
