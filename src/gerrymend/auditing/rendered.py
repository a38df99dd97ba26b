"""Rendered: a report that is plain data first, as JSON, Markdown, a page and text."""

import datetime
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any


class Rendered:
    """Render the plain data of an audit's report; what renders it is imported when it is asked for.

    A subclass has `to_dict()`.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        raise NotImplementedError

    def to_json(self, **document: Any) -> str:
        """Return the plain data as JSON; title, owner, …, as in `to_html`, are in "about"."""
        from gerrymend.reporting.audit.document import Document, audit_json

        return audit_json(self.to_dict(), Document.of(**document))

    def to_markdown(self, **document: Any) -> str:
        """Return the sections of the page as Markdown, which takes the same arguments."""
        from gerrymend.reporting.audit.document import Document
        from gerrymend.reporting.audit.markdown import audit_markdown

        return audit_markdown(self.to_dict(), Document.of(**document))

    def model_card_section(self, *, level: int = 1, **document: Any) -> str:
        """Return the Markdown of the report as a section of a model card, without a title.

        Parameters
        ----------
        level : {1, 2, 3}, default=1
            Level of the heading that the section gets: its own ones are below.
        **document
            owner, purpose, label, decision and the like, as in `to_html`.

        Examples
        --------
        >>> from gerrymend import audit
        >>> from skops.card import Card
        >>> report = audit([0] * 40, [1, 0] * 20, sensitive_features={"sex": ["F", "M"] * 20})
        >>> card = Card(model=None, template=None, model_diagram=False)
        >>> card = card.add(**{"Subgroup fairness": report.model_card_section()})
        >>> print(card.render().strip().splitlines()[0])
        # Subgroup fairness
        """
        from gerrymend.reporting.audit.document import Document
        from gerrymend.reporting.audit.markdown import audit_section

        return audit_section(self.to_dict(), Document.of(**document), level)

    def to_html(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        owner: str | None = None,
        purpose: str | None = None,
        date: str | datetime.date | None = None,
        since: Any = None,
        label: str | None = None,
        decision: str | None = None,
        threshold: float | None = None,
        decisions: Sequence[str] | None = None,
    ) -> str:
        """Return one self-contained page; needs jinja2 (pip install 'gerrymend[report]').

        Parameters
        ----------
        title : str, optional
            In place of "Subgroup fairness audit".
        model, owner, purpose : str, optional
            Which model it is, who answers for it, and what it decides: on top of the page.
        date : str or datetime.date, optional
            As of when; the report's own date is told in any case.
        since : AuditReport, dict, or path to a file of JSON, optional
            An earlier report, for the page to say what changed.
        label, decision : str, optional
            Names of the columns of labels and decisions, for sentences to say "granted = 1".
        threshold : float, optional
            Where `decision` is cut, if it is a score.
        decisions : (str, str), optional
            Words for the negative and the positive decision: ("refused", "granted").
        """
        from gerrymend.reporting.audit.document import Document
        from gerrymend.reporting.audit.page import audit_page

        document = Document.of(
            title=title, model=model, owner=owner, purpose=purpose, date=date, since=since,
            label=label, decision=decision, threshold=threshold, decisions=decisions,
        )  # fmt: skip
        return audit_page(self.to_dict(), document=document)

    def write_html(self, path: str | Path, **document: Any) -> Path:
        """Write the page of `to_html`, which takes `document`, to a file, whole or not at all.

        A file that is there is replaced. Returns the path.
        """
        from gerrymend.reporting.page import write_page

        return write_page(self.to_html(**document), path)

    def _repr_html_(self) -> str | None:
        from gerrymend.reporting.audit.page import audit_fragment

        return audit_fragment(self.to_dict())

    def __rich__(self) -> Any:
        """Return the text of the report for rich to print, as wide as its console."""
        from gerrymend.reporting.audit.text import audit_spans
        from gerrymend.reporting.text import RichSpans

        return RichSpans(partial(audit_spans, self.to_dict()))

    def __str__(self) -> str:
        from gerrymend.reporting.audit.text import audit_text

        return audit_text(self.to_dict())
