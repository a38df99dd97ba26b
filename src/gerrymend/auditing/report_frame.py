"""The groups that a report tells of, as a frame of any library."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from gerrymend.reporting.frames import check_backend

# The groups that stand alone in a report, and its lists, each with what it is called here.
_ALONE = ("worst", "disadvantaged", "favoured", "core")
_LISTS = {"top": "top", "intervals": "named", "marginals": "marginal",
          "intersections": "intersection"}  # fmt: skip
_FIGURES = ("size", "rate", "overall_rate", "unfairness")
_TYPES: dict[str, Any] = {
    "told_as": nw.String, "group": nw.String, "notion": nw.String, "size": nw.Int64,
    "rate": nw.Float64, "overall_rate": nw.Float64, "unfairness": nw.Float64,
    "rate_low": nw.Float64, "rate_high": nw.Float64,
}  # fmt: skip


def report_frame(report: Mapping[str, Any], backend: Any) -> Any:
    """Return a row for each group of a report's plain data, in a frame of a library.

    Raises an ArgumentError for a library that is not there, or has no frames.
    """
    told = [(name, report[name]) for name in _ALONE if report[name] is not None]
    if report["in_a_sentence"] is not None:
        told.append(("in_a_sentence", report["in_a_sentence"]["subgroup"]))
    lists = {name: called for name, called in _LISTS.items() if name != "intervals"}
    if report["class"]["name"] != "Marginals":  # whose groups are listed in any case
        lists = _LISTS
    told += [(called, one) for name, called in lists.items() for one in report[name]]
    rows = [_row(called, one) for called, one in told]
    columns = {name: [row[name] for row in rows] for name in _TYPES}
    return nw.from_dict(columns, _TYPES, backend=check_backend(backend)).to_native()


def _row(called: str, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group as a row; a subgroup that was chosen has no interval of its own."""
    low, high = one.get("rate_interval") or (None, None)
    return {
        "told_as": called,
        "group": one["subgroup"] if "subgroup" in one else one["group"],
        "notion": one["notion"],
        **{name: one[name] for name in _FIGURES},
        "rate_low": low,
        "rate_high": high,
    }
