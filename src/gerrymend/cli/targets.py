"""Files that a report and the outcome of a gate are written to, and what they say of a model."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from rich.console import Console

from gerrymend.cli.shared import check_page, check_target, errors_in_options, tell, write_out
from gerrymend.reporting.audit.document import Document, audit_json
from gerrymend.reporting.audit.markdown import audit_markdown
from gerrymend.reporting.audit.page import audit_page
from gerrymend.reporting.page import write_page
from gerrymend.reporting.pipeline.annotations import annotation_lines
from gerrymend.reporting.pipeline.junit import junit_xml
from gerrymend.reporting.pipeline.outcome import Outcome


@contextmanager
def removed_unless_done(console: Console, *targets: str | Path | None) -> Iterator[None]:
    """Remove what an earlier run wrote to these files, and say so, where this one fails."""
    try:
        yield
    except BaseException:
        for path in (Path(target) for target in targets if target is not None):
            if str(path) != "-" and path.is_file():
                path.unlink()
                tell(console, f"{path} was of an earlier run, and is removed.")
        raise


class Targets(NamedTuple):
    """Say where a report goes: files, of which - is standard output, or None; and if it is quiet.

    The text for people is left out where standard output is taken, or `quiet`. `document` is what
    is said of the model, as in AuditReport.to_html(). `junit` and `annotations` have the outcome of
    a gate.
    """

    json: str | None = None
    markdown: str | None = None
    page: Path | None = None
    quiet: bool = False
    document: Mapping[str, Any] = MappingProxyType({})
    junit: str | None = None
    annotations: str | None = None

    def check(self, *others: Path | None) -> None:
        """Raise a ValueError for what can't be written, before minutes are spent on an audit.

        `others` are files that the command reads, or writes beside these.
        """
        printed = [option for option, target in self._texts.items() if target == "-"]
        if len(printed) > 1:
            both = " and ".join(f"{option} -" for option in printed)
            raise ValueError(f"{both} exclude each other; name a file for one.")
        taken = [*others, self.document.get("since")]
        for option, target in self._texts.items():
            check_target(target, option, *taken)
            taken.append(target)
        check_page(self.page, *taken)
        with errors_in_options({"since": "--since", "decisions": "--decisions"}):
            Document.of(**self.document)

    @contextmanager
    def or_none(self, console: Console) -> Iterator[None]:
        """Remove what an earlier run wrote to these files, and say so, where this one fails.

        A gate that reads a file would take the verdict of another day for that of this one. Files
        have to be checked before: what the command reads must not be among them.
        """
        with removed_unless_done(console, *self.files):
            yield

    @property
    def files(self) -> tuple[str | Path | None, ...]:
        """Return all that are written, None where one is not."""
        return (*self._texts.values(), self.page)

    @property
    def takes_output(self) -> bool:
        """Return whether standard output is a file's alone."""
        return "-" in self._texts.values()

    @property
    def tells_outcome(self) -> bool:
        """Return whether the outcome of a gate is written."""
        return self.junit is not None or self.annotations is not None

    @property
    def _texts(self) -> dict[str, str | None]:
        """Return each file of text by its option."""
        return {
            "--json": self.json,
            "--markdown": self.markdown,
            "--junit": self.junit,
            "--annotations": self.annotations,
        }

    @property
    def is_for_people(self) -> bool:
        """Return whether a report is written that people read."""
        return self.markdown is not None or self.page is not None

    def write(
        self, report: Mapping[str, Any], model: Mapping[str, Any] | None = None, **columns: Any
    ) -> Document:
        """Write the files that were asked for, and return what they say of the model.

        Parameters
        ----------
        report : mapping
            `AuditReport.to_dict()`.
        model : mapping, optional
            What `gerrymend fit` knows of a model that it trained.
        **columns
            The names behind labels and decisions, as in AuditReport.to_html().
        """
        document = Document.of(**self.document, **columns)
        if self.json is not None:
            write_out(audit_json(report, document), self.json)
        if self.markdown is not None:
            write_out(audit_markdown(report, document, model).rstrip(), self.markdown)
        if self.page is not None:
            write_page(audit_page(report, model, document), self.page)
        return document

    def write_outcome(self, outcome: Outcome) -> None:
        """Write what the gate made of a command, as was asked for."""
        if self.junit is not None:
            write_out(junit_xml(outcome), self.junit)
        if self.annotations is not None:
            write_out(annotation_lines(outcome), self.annotations)
