"""Arrange a calibration curve: what was predicted and what happened, by bins, of two groups."""

import math
from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.formulas import is_formula
from gerrymend.reporting.audit.subgroup_words import short_name, unit_of
from gerrymend.reporting.wording import capitalised, count, figure
from gerrymend.subgroups.rules import Condition

Report = Mapping[str, Any]

# Room around what is drawn, as a part of its range.
_MARGIN = 0.04


def calibration_view(report: Report) -> dict[str, Any] | None:
    """Return the curve of a report as a table, and as places on a chart; None if there is none.

    Places are in percent, across by what was predicted and down from the top by what happened.
    """
    curve = report.get("calibration")
    if curve is None or not curve["everyone"]:
        return None
    unit = unit_of(report, report["notions"][0]["name"])
    ends = _ends(curve)
    lines = [
        {
            "name": name,
            "kind": kind,
            "points": [_place(point, ends) for point in curve[kind]],
        }
        for name, kind in ((_group_name(curve), "group"), ("Everyone", "everyone"))
        if curve[kind]
    ]
    return {
        "sentence": _sentence(curve, unit),
        "lines": lines,
        "ends": [figure(end, unit) for end in ends],
        "heads": _heads(curve),
        "rows": _rows(curve, unit),
    }


def _group_name(curve: Mapping[str, Any]) -> str:
    """Return what the group is called: a formula is told above."""
    group = {**curve, "composition": []}
    return "The group above" if is_formula(group) else short_name(group)


def _sentence(curve: Mapping[str, Any], unit: str | None) -> str:
    """Say what is compared, and what a right score looks like."""
    who = f"{_group_name(curve)}, at all scores, beside everyone" if curve["group"] else "Everyone"
    happened = "happened" if unit is None else "was observed"
    level = figure(curve["level"])
    return (
        f"{capitalised(who)}: by bins of {curve['score']}, the mean that was predicted and the one "
        f"that {happened}. Where scores are right both are the same (the dashed line). Intervals "
        f"of {level}, each on its own; bins that would tell of few rows are not shown."
    )


def _ends(curve: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of both axes: the same, so that right scores are on the diagonal."""
    values = [
        value
        for kind in ("group", "everyone")
        for point in curve[kind]
        for value in (point["predicted"], point["observed"], *point["interval"])
    ]
    low, high = min(values), max(values)
    room = _MARGIN * (high - low or 1.0)
    return low - room, high + room


def _place(point: Mapping[str, Any], ends: tuple[float, float]) -> dict[str, float]:
    """Return where a point and the ends of its interval are drawn."""

    def along(value: float) -> float:
        return round(100 * (value - ends[0]) / (ends[1] - ends[0]), 2)

    low, high = point["interval"]
    return {
        "x": along(point["predicted"]),
        "y": round(100 - along(point["observed"]), 2),
        "from": round(100 - along(low), 2),
        "to": round(100 - along(high), 2),
    }


def _heads(curve: Mapping[str, Any]) -> list[str]:
    """Return the heads of the table."""
    who = ["Group"] if curve["group"] else []
    return [
        "Score",
        *(
            f"{one}: {what}"
            for one in (*who, "Everyone")
            for what in ("rows", "predicted, happened")
        ),
    ]


def _rows(curve: Mapping[str, Any], unit: str | None) -> list[list[str]]:
    """Return a row for each bin that is shown of either."""
    kinds = ["group", "everyone"] if curve["group"] else ["everyone"]
    by_bin: dict[tuple[Any, Any], dict[str, Mapping[str, Any]]] = {}
    for kind in kinds:
        for point in curve[kind]:
            by_bin.setdefault((point["low"], point["high"]), {})[kind] = point
    in_order = sorted(by_bin, key=lambda ends: -math.inf if ends[0] is None else ends[0])
    return [
        [
            _bin_words(curve["score"], *ends),
            *(words for kind in kinds for words in _cells(by_bin[ends].get(kind), unit)),
        ]
        for ends in in_order
    ]


def _bin_words(score: str, low: float | None, high: float | None) -> str:
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    return Condition(score, None, *ends).describe()


def _cells(point: Mapping[str, Any] | None, unit: str | None) -> tuple[str, str]:
    """Return the number of rows of a bin, and what was predicted and happened there."""
    if point is None:
        return "not shown", "–"
    predicted, observed = (figure(point[name], unit) for name in ("predicted", "observed"))
    low, high = (figure(end, unit) for end in point["interval"])
    return count(point["rows"]), f"{predicted}, {observed} ({low} to {high})"
