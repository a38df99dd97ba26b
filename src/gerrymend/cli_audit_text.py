"""A report as `gerrymend audit` prints it."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gerrymend.cli_audit_request import AuditRequest
from gerrymend.measured import Subgroup
from gerrymend.report import AuditReport

if TYPE_CHECKING:
    import polars as pl

_STYLES = {"within gamma": "green", "exceeds gamma": "red", "undecided": "yellow"}


def show(
    console: Console,
    report: AuditReport,
    request: AuditRequest,
    frame: "pl.LazyFrame",
    attributes: list[str],
) -> None:
    """Print the verdict, what was compared, and what was found."""
    colour = _STYLES[report.verdict]
    console.print(
        f"\n[bold {colour}]{report.verdict.capitalize()}[/]  {escape(str(request.file))}\n",
        highlight=False,
    )
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True, style="dim")
    facts.add_column(overflow="fold")
    for name, value in [*_compared(report, request, frame, attributes), *_found(report)]:
        facts.add_row(name, escape(value))
    console.print(facts)
    for note in _notes(report):
        console.print(f"\n{escape(note)}", highlight=False)
    console.print()


def _compared(
    report: AuditReport, request: AuditRequest, frame: "pl.LazyFrame", attributes: list[str]
) -> list[tuple[str, str]]:
    schema = frame.collect_schema()
    kinds = [f"{name} (number)" if schema[name].is_numeric() else name for name in attributes]
    positive = positive_label(request, frame)
    ((option, column),) = request.decided.items()
    decided = f"{column} = {positive}"
    if option == "--score":
        decided = f"{column} ≥ {request.cut:g}"
    elif option == "--probability":
        decided = f"with the probability in {column}"
    return [
        ("Rows", f"{report.n_rows:,}"),
        ("Label", f"{request.label}, positive is {positive}"),
        ("Decided", decided),
        ("Compared", ", ".join(name.replace("_", " ") for name in request.notion)),
        ("Protected", ", ".join(kinds)),
        ("Subgroups", report.covers),
        ("", ""),
    ]


def _found(report: AuditReport) -> list[tuple[str, str]]:
    facts = [] if report.worst is None else _treatment(report.worst)
    bound = "exact" if report.exact else f"at most {report.upper_bound:.4f}"
    facts.append(("Unfairness", f"{report.unfairness:.4f}, {bound}; gamma allows {report.gamma:g}"))
    facts += [("", f"at most {bound:.4f} over {words}") for words, bound in report.partial]
    return facts


def _treatment(worst: Subgroup) -> list[tuple[str, str]]:
    times = f", {worst.ratio:.2f} times" if worst.overall_rate else ""
    return [
        ("Worst found", worst.describe()),
        ("Its size", f"{worst.size:,} rows; those that count are {worst.share:.1%} of all rows"),
        ("Its rate", f"{worst.notion.words} {worst.rate:.1%}, overall {worst.overall_rate:.1%}"),
        ("Its gap", f"{100 * worst.gap:+.1f} points{times}"),
    ]


def _notes(report: AuditReport) -> list[str]:
    notes = []
    if report.withheld:
        notes.append(
            f"A worse subgroup has fewer than {report.min_group_size} rows that count, or all but "
            "so few, and is not described: few rows identify people."
        )
    if report.verdict == "undecided":
        notes.append(
            "No subgroup over gamma was found, and none is ruled out: one may be as bad as "
            f"{report.upper_bound:.4f}. A longer --budget or a smaller class can decide it."
        )
    elif report.unfairness == 0:
        notes.append("No subgroup was found that differs at all.")
    return notes


def positive_label(request: AuditRequest, frame: "pl.LazyFrame") -> str:
    """The label that is taken as positive: the last in order, unless chosen."""
    if request.positive is not None:
        return request.positive
    names = {request.label, request.prediction or request.label}
    labels = [frame.select(name).unique().collect()[name].drop_nulls() for name in sorted(names)]
    return str(max(value for column in labels for value in column.to_list()))
