"""A report as `gerrymend audit` prints it."""

import re
import textwrap

from rich.console import Console
from rich.text import Text

from gerrymend.auditing.inference.held_out import HeldOut
from gerrymend.auditing.inference.permutation import PermutationTest
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.reporting.audit.words import STYLES, exceeds_alone
from gerrymend.reporting.wording import bound, unfairness, visible

# Lines of text beyond this are hard to read, however wide the terminal.
WIDEST = 100
_NAME_WIDTH = 16
_TOGETHER = re.compile(r"(?<= [−+≥≤<=]) | (?=(?:rows|points|times|%)\b)")

Fact = tuple[str, str]


def show(console: Console, report: AuditReport, request: AuditRequest) -> None:
    """Print the verdict, what was found, how sure that is, and what was compared."""
    width = min(console.width, WIDEST)
    verdict = f"{report.verdict.capitalize()}: {_reason(report)}"
    parts = [
        Text("\n".join(wrapped(verdict, width)), STYLES[report.verdict]),
        *(
            as_text(facts, width)
            for facts in (
                _worst(report),
                _others(report.top[1:]),
                _certainty(report, request),
                _compared(report, request),
            )
            if facts
        ),
    ]
    for part in parts:
        console.print()
        console.print(part, soft_wrap=True)
    console.print()


def as_text(facts: list[Fact], width: int) -> Text:
    """Names in a column of their own, and what is said beside them."""
    text = Text()
    for name, words in facts:
        for line in wrapped(words, width - _NAME_WIDTH):
            text.append(f"{name:<{_NAME_WIDTH}}", "dim").append(f"{line}\n")
            name = ""
    text.rstrip()
    return text


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most so many characters; a sign stays with what it is of, a number with its unit.

    >>> wrapped("0.8·age − 2.1·[sex=F] + 0.5·income ≥ 30", 24)
    ['0.8·age − 2.1·[sex=F]', '+ 0.5·income ≥ 30']
    """
    held = _TOGETHER.sub("\N{NO-BREAK SPACE}", visible(text))
    lines = textwrap.wrap(held, max(width, 20), break_on_hyphens=False, break_long_words=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _reason(report: AuditReport) -> str:
    allowed = f"gamma allows {report.gamma:g}"
    found = unfairness(report.unfairness, report.gamma)
    limit = bound(report.upper_bound, report.gamma)
    if report.verdict == "exceeds gamma":
        return f"a subgroup has an unfairness of {found}; {allowed}."
    if report.verdict == "within gamma":
        return f"proven, no subgroup has an unfairness above {limit}; {allowed}."
    return (
        f"the worst subgroup found has an unfairness of {found}, and one of {limit} is not ruled "
        f"out; {allowed}. A longer --budget or a smaller class can decide it."
    )


def _worst(report: AuditReport) -> list[Fact]:
    facts = [] if report.worst is None else _treatment(report.worst)
    if report.withheld:
        facts.append(
            (
                "Withheld",
                f"A worse subgroup, of unfairness {unfairness(report.unfairness)}, has fewer than "
                f"{report.min_group_size} rows that count, or all but so few, and is not "
                "described: few rows identify people.",
            )
        )
    elif report.worst is None:
        facts.append(("Worst subgroup", "none: no subgroup was found that differs at all"))
    return facts + _bounds(report)


def _treatment(worst: Subgroup) -> list[Fact]:
    return [
        ("Worst subgroup", worst.describe()),
        ("  size", f"{worst.size:,} rows; those that count are {worst.share:.1%} of all rows"),
        ("  rate", rate_words(worst)),
        (
            "  unfairness",
            f"{unfairness(worst.unfairness)}, which is its share of rows times its gap",
        ),
    ]


def rate_words(one: Subgroup) -> str:
    """A subgroup's rate beside the overall one."""
    times = f", {one.ratio:.2f} times" if one.overall_rate else ""
    return (
        f"{one.notion.words} {one.rate:.1%}, overall {one.overall_rate:.1%}: "
        f"{100 * one.gap:+.1f} points{times}"
    )


def _bounds(report: AuditReport) -> list[Fact]:
    proven = f"no subgroup exceeds {bound(report.upper_bound, report.gamma)}"
    if report.exact:
        words = f"{proven}: this is exact, over {report.covers}"
    else:
        words = f"{proven}; what was found is a lower bound. This is over {report.covers}"
    parts = [f"none exceeds {bound(most)} over {part}" for part, most in report.partial]
    alone = (
        "one attribute at a time, the largest unfairness is "
        f"{unfairness(report.marginal_unfairness, report.gamma)}"
    )
    if exceeds_alone(report.to_dict()):
        alone += ", more than gamma allows, of a group that the search did not come upon"
    return [("Proven", words), *(("", part) for part in parts), ("Single", alone)]


def _others(others: tuple[Subgroup, ...]) -> list[Fact]:
    facts = []
    for one in others:
        facts += [
            ("Also", one.describe()),
            ("", f"{one.size:,} rows; {rate_words(one)}; unfairness {unfairness(one.unfairness)}"),
        ]
    return facts


def _certainty(report: AuditReport, request: AuditRequest) -> list[Fact]:
    facts = []
    if report.permutation_test is not None:
        facts += _by_chance(report.permutation_test, request.permutations, report.unfairness)
    if report.held_out is not None:
        facts += _elsewhere(report.held_out)
    return facts


def _by_chance(test: PermutationTest, asked: int, found: float) -> list[Fact]:
    if test.p_value is None:
        return [("Chance", f"no p-value: {test.reason}")]
    made = f"{test.n_draws:,} permutations, the search repeated on each"
    if test.n_draws < asked:
        made = f"{test.n_draws:,} of {asked:,} permutations, all that --budget had time for"
    words = (
        "below 19 permutations no p-value can be 5 %"
        if test.detectable is None
        else f"unfairness of up to {unfairness(test.detectable)} can't be told from chance at 5 %"
        f"{test.beside(found)}"
    )
    return [
        ("Chance", f"p-value {test.p_value:.3g} ({made}); {words}"),
        (
            "",
            "The verdict is about these rows; the p-value tests 'no subgroup differs at all', not "
            "'none exceeds gamma'.",
        ),
    ]


def _elsewhere(held_out: HeldOut) -> list[Fact]:
    where = f"on {held_out.n_rows:,} rows that were not searched"
    there = held_out.subgroup
    if there is None:
        return [("Held out", f"{where}: no subgroup to measure, or too few of its rows count")]
    return [
        ("Held out", f"{where}, the same subgroup: {rate_words(there)}"),
        ("  unfairness", f"{there.unfairness:+.4f}{_interval(held_out)}"),
    ]


def _interval(held_out: HeldOut) -> str:
    if held_out.unfairness_interval is None:
        return ""
    low, high = held_out.unfairness_interval
    return f", from {low:+.4f} to {high:+.4f} with {held_out.level:.0%} confidence"


def _compared(report: AuditReport, request: AuditRequest) -> list[Fact]:
    positive = report.labels[1]
    ((option, column),) = request.decided.items()
    decided = f"{column} is {positive}"
    if option == "--score":
        decided = f"{column} ≥ {request.cut:g}"
    elif option == "--probability":
        decided = f"with the probability in {column}"
    return [
        ("Audited", f"{report.n_rows:,} rows of {request.file}"),
        ("  label", f"{request.label}, positive is {positive}; decided so: {decided}"),
        ("  compared", ", ".join(notion.words for notion in report.notions)),
    ]
