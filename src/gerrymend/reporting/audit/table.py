"""An audit as a table for the terminal, which rich prints."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit import words
from gerrymend.reporting.audit.subgroup_words import short_name
from gerrymend.reporting.audit.view import audit_view, described
from gerrymend.reporting.wording import count, percent, unfairness, visible


def audit_table(report: Mapping[str, Any]) -> Any:
    """The verdict, the worst subgroups, and how sure it is: something that rich prints."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    view = audit_view(report)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("Subgroup", overflow="fold")
    for name in ("Rows", "Rate", "Overall", "Unfairness"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in described(report):
        table.add_row(
            Text(visible(short_name(one))),  # no markup: it is from the data
            count(one["size"]),
            percent(one["rate"]),
            percent(one["overall_rate"]),
            unfairness(one["unfairness"]),
        )
    style = words.STYLES["undecided" if words.exceeds_alone(report) else report["verdict"]]
    verdict = f"{view['sign']} {view['heading']}. {' '.join(view['verdict'])}"
    parts: list[Any] = [Text(visible(verdict), style)]
    if table.row_count:
        parts.append(table)
    parts.append(Text(visible(f"{words.bound_sentence(report)} {words.gap_sentence(report)}")))
    return Group(*parts)
