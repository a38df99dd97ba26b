"""Print a report as `gerrymend audit` does: the report's own text, and what the command read."""

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rich.console import Console

from gerrymend.auditing.report import AuditReport
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.cli.shared import tell
from gerrymend.reporting.audit.class_words import rate_names
from gerrymend.reporting.audit.next_steps import first_steps
from gerrymend.reporting.audit.text import audit_spans
from gerrymend.reporting.text import WIDEST, Facts, RichSpans, wrapped
from gerrymend.reporting.wording import count


def show(
    console: Console,
    report: AuditReport,
    request: AuditRequest,
    data: Mapping[str, Any],
    commands: Sequence[str],
) -> None:
    """Print the verdict, what was found, how sure that is, what was compared, and what to type."""
    console.print()
    compared = _compared(report, request)
    console.print(RichSpans(partial(audit_spans, data, more=compared)), soft_wrap=True)
    console.print()
    if commands:
        chance = first_steps(data) if data["verdict"] == "exceeds gamma" else []
        first = f"What next: {' '.join(chance)} Then: " if chance else "What next: "
        told = f"{first}what a fairer model costs, and one that is trained:"
        for line in wrapped(told, min(console.width, WIDEST)):
            tell(console, line)
        for command in commands:
            tell(console, folded(command, min(console.width, WIDEST)))
        console.print()


def folded(command: str, width: int) -> str:
    r"""Return a command of a POSIX shell in lines to be copied, broken before options.

    >>> print(folded("gerrymend fit 'my people.csv' --label y --protected sex --out m", 40))
    gerrymend fit 'my people.csv' \
        --label y --protected sex --out m
    """
    parts: list[list[str]] = [[]]
    for word in shlex.split(command):
        if word.startswith("-") and len(word) > 1:
            parts.append([])
        parts[-1].append(word)
    lines = [shlex.join(parts[0])]
    for part in map(shlex.join, parts[1:]):
        if len(f"{lines[-1]} {part} \\") <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    return " \\\n".join(lines)


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
        facts.append((f"  {request.draws}", f"{made}, all that --budget had time for"))
    if report.population is not None and 0 < report.population.n_resamples < request.resamples:
        made = f"{count(report.population.n_resamples)} of {count(request.resamples)}"
        facts.append(("  resamples", f"{made}, all that --budget had time for"))
    return facts
