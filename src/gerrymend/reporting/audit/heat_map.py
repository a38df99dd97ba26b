"""Arrange the rates where two categories meet as a table, readable without its colours."""

from collections.abc import Mapping
from typing import Any

from gerrymend._runtime.reprs import shortened
from gerrymend.notions import PREDICTED, in_words
from gerrymend.reporting.audit.flags import flag_of
from gerrymend.reporting.audit.left_out import or_late
from gerrymend.reporting.audit.score_words import of_scores
from gerrymend.reporting.audit.subgroup_words import against_words, unit_of
from gerrymend.reporting.wording import capitalised, compared, count, figure

# The part of a colour that the furthest rate gets: more would be hard to read on.
_STRONGEST = 45

Report = Mapping[str, Any]


def heat_maps(report: Report) -> list[dict[str, Any]]:
    """Return a table for each notion that has cells to show: heads, and a row for each value."""
    listed = {group["notion"] for group in report["intersections"]}
    return [
        _heat_map(report, overall)
        for overall in report["overall_rates"]
        if overall["notion"] in listed
    ]


def heat_map_sentence(report: Report) -> str:
    """Say what the table leaves out, and why."""
    left_out = report["intersections_left_out"]
    floor = count(report["min_group_size"])
    if not left_out:
        return "No combination that has rows is left out."
    one = left_out == 1
    them = "it" if one else "them"
    return (
        f"{count(left_out)} {'combination is' if one else 'combinations are'} not shown: fewer "
        f"than {floor} rows that count, or as few would follow from {them} and the other figures "
        f"here{or_late(report)}. "
        f"That says nothing of how people in {them} are treated: they may be among the worst."
    )


def _heat_map(report: Report, overall: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of one notion; colours are by distance from what a cell is compared with."""
    cells: dict[tuple[Any, Any], Mapping[str, Any]] = {}
    for group in report["intersections"]:
        if group["notion"] == overall["notion"]:
            first, second = (one["values"][0] for one in group["rule"]["conditions"])
            cells[first, second] = group
    within = bool(report.get("control_features")) or of_scores(report)
    unit = unit_of(report, overall["notion"])
    furthest = max(map(_gap, cells.values()), key=abs, default=0.0) or 1.0
    names = report["intersected"]
    rows, columns = (_values(report, name, place, cells) for place, name in enumerate(names))
    return {
        "name": capitalised(in_words(overall["notion"])),
        "overall": _overall(overall, unit, within_strata=within),
        "across": names[1],
        "down": names[0],
        "columns": [*map(_words, columns)],
        "rows": [
            {
                "value": _words(value),
                "cells": [
                    _cell(cells.get((value, column)), furthest, unit, within_strata=within)
                    for column in columns
                ],
            }
            for value in rows
        ],
    }


def _overall(overall: Mapping[str, Any], unit: str | None, *, within_strata: bool) -> str:
    """Return the overall rate, and what differences are from where that is another."""
    rate = "not shown" if overall["rate"] is None else figure(overall["rate"], unit)
    if overall.get("compared_with") == PREDICTED:
        return f"{rate}; differences are from what was predicted for each"
    if within_strata:
        return f"{rate}; differences are from what is expected of each by its strata"
    if overall.get("reference") is None:
        return rate
    names = {"overall_rate": overall["reference"], "reference": overall["compared_with"]}
    return f"{rate}; differences are from {against_words({**names, 'unit': unit})}"


def _values(
    report: Report, name: str, place: int, cells: Mapping[tuple[Any, Any], Any]
) -> list[Any]:
    """Return an attribute's values: those of cells, and those listed elsewhere whose cells are not.

    A value of which no cell may be shown would look as if nobody had it.
    """
    listed = {values[place] for values in cells}
    for group in report["marginals"]:
        conditions = group["rule"].get("conditions", ())
        if [one["attribute"] for one in conditions] == [name]:
            listed.update(conditions[0].get("values", ()))
    return sorted(listed, key=lambda value: (value is None, value))


def _words(value: Any) -> str:
    return "missing" if value is None else shortened(str(value))


def _gap(group: Mapping[str, Any]) -> float:
    return float(group["rate"] - group["overall_rate"])


def _cell(
    group: Mapping[str, Any] | None, furthest: float, unit: str | None, *, within_strata: bool
) -> dict[str, Any] | None:
    """Return what is read in a cell, and how strong which colour is; None for one not shown."""
    if group is None:
        return None
    gap = _gap(group)
    shown = compared(group["rate"], group["overall_rate"], unit)
    return {
        "mark": flag_of(group),
        "rate": shown.rate,
        "gap": shown.gap,
        "expected": shown.reference if within_strata else "",
        "sign": "▲" if gap > 0 else "▼" if gap < 0 else "",
        "rows": count(group["size"]),
        "side": "above" if gap > 0 else "below",
        "strength": round(_STRONGEST * abs(gap / furthest)),
    }
