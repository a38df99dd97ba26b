"""Return who a report leads with as plain data: the one key of its JSON that a gate needs."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.direction import headline
from gerrymend.reporting.audit.verdict import lead_sentence

# What is told of the subgroup, by the names that it has elsewhere in the report.
_SAME = ("subgroup", "notion", "unit", "treated", "unfairness", "size", "rate", "overall_rate")


def lead_data(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the subgroup that text and page begin with; None where none is described.

    `base` is the number of its rows that the rate is over; None where rows weigh differently.
    """
    lead = headline(report)
    if lead is None:
        return None
    return {
        "sentence": lead_sentence(report),
        **{name: lead[name] for name in _SAME},
        "base": None if report["weighted"] else round(lead["share"] * report["n_rows"]),
        "p_value": report["p_value"],
    }
