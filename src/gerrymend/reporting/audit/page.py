"""An audit as a page, and as the fragment that notebooks show; from its plain data alone."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.subgroup_words import rate_sentence
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.page import render, render_page
from gerrymend.reporting.wording import count, percent, points, unfairness


def audit_page(report: Mapping[str, Any], model: Mapping[str, Any] | None = None) -> str:
    """The whole page; `model` is what `gerrymend fit` knows of a model that it trained.

    >>> from gerrymend import audit
    >>> report = audit([0] * 40, [1, 1, 0, 1] * 10, sensitive_features={
    ...     "<b>race</b>": ["blue", "blue", "green", "green"] * 10})
    >>> page = audit_page(report.to_dict())
    >>> "&lt;b&gt;race&lt;/b&gt; = blue" in page, "<b>race" in page
    (True, False)
    """
    view = audit_view(report, model)
    return render_page("audit.html", title=f"{view['heading']}: {view['title']}", view=view)


def audit_fragment(report: Mapping[str, Any]) -> str | None:
    """The verdict and the worst subgroups, for a notebook; None where jinja2 is missing."""
    return _fragment("audit_fragment.html", view=audit_view(report))


def subgroup_fragment(subgroup: Mapping[str, Any]) -> str | None:
    """One subgroup, for a notebook; None where jinja2 is missing."""
    facts = [
        ("Rows", count(subgroup["size"])),
        ("Rate", rate_sentence(subgroup)),
        ("Difference", points(subgroup["gap"])),
        (
            "Unfairness",
            f"{unfairness(subgroup['unfairness'])}, of rows that count for "
            f"{percent(subgroup['share'])} of all",
        ),
    ]
    return _fragment("subgroup_fragment.html", name=subgroup["subgroup"], facts=facts)


def _fragment(template: str, **context: Any) -> str | None:
    try:
        return render(template, **context)
    except ImportError:
        return None
