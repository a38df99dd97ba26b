"""Print a report as `gerrymend audit` does: the report's own text, and what the command read."""

from rich.console import Console

from gerrymend.auditing.report import AuditReport
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.reporting.audit.class_words import rate_names
from gerrymend.reporting.audit.document import Document
from gerrymend.reporting.audit.text import RichAudit
from gerrymend.reporting.text import Facts
from gerrymend.reporting.wording import count


def show(console: Console, report: AuditReport, request: AuditRequest, document: Document) -> None:
    """Print the verdict, what was found, how sure that is, and what was compared."""
    data = document.with_columns(report.to_dict())
    console.print()
    console.print(RichAudit(data, _compared(report, request)), soft_wrap=True)
    console.print()


def _compared(report: AuditReport, request: AuditRequest) -> Facts:
    """Return what was read of which file, and draws that there was no time for."""
    facts = [
        ("Audited", f"{count(report.n_rows)} rows of {request.file}"),
        ("  compared", ", ".join(rate_names([one.to_dict() for one in report.notions]))),
    ]
    if request.probability is not None:
        facts.insert(1, ("  decided", f"with the probability in {request.probability}"))
    if report.p_value is not None and report.n_permutations < request.permutations:
        made = f"{count(report.n_permutations)} of {count(request.permutations)}"
        facts.append(("  permutations", f"{made}, all that --budget had time for"))
    if report.population is not None and 0 < report.population.n_resamples < request.resamples:
        made = f"{count(report.population.n_resamples)} of {count(request.resamples)}"
        facts.append(("  resamples", f"{made}, all that --budget had time for"))
    return facts
