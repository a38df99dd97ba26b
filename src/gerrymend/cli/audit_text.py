"""Print a report as `gerrymend audit` does: the report's own text, and what the command read."""

from typing import Any

from rich.console import Console

from gerrymend.auditing.report import AuditReport
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.reporting.audit.text import RichAudit
from gerrymend.reporting.text import Facts
from gerrymend.reporting.wording import count


def show(console: Console, report: AuditReport, request: AuditRequest) -> None:
    """Print the verdict, what was found, how sure that is, and what was compared."""
    console.print()
    console.print(RichAudit(report.to_dict(), _compared(report, request)), soft_wrap=True)
    console.print()


def _positive(label: str | None, positive: Any, decided: str) -> tuple[str, str]:
    """Return the column of labels and which is positive, or what is decided so without one."""
    if label is None:
        return ("  decision", f"positive: {decided}; there are no labels")
    return ("  label", f"{label}, positive is {positive}; decided so: {decided}")


def _compared(report: AuditReport, request: AuditRequest) -> Facts:
    """Return what was read of which file, and permutations that there was no time for."""
    positive = report.labels[1]
    ((option, column),) = request.decided.items()
    decided = f"{column} is {positive}"
    if option == "--score":
        decided = f"{column} ≥ {request.cut:g}"
    elif option == "--probability":
        decided = f"with the probability in {column}"
    facts = [
        ("Audited", f"{count(report.n_rows)} rows of {request.file}"),
        _positive(request.label, positive, decided),
        ("  compared", ", ".join(notion.words for notion in report.notions)),
    ]
    if report.p_value is not None and report.n_permutations < request.permutations:
        made = f"{count(report.n_permutations)} of {count(request.permutations)}"
        facts.append(("  permutations", f"{made}, all that --budget had time for"))
    return facts
