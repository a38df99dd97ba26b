"""Say what a report leaves out for the sake of few rows, or for want of time."""

from collections.abc import Mapping, Sequence
from typing import Any

Report = Mapping[str, Any]

_KEPT_BACK = {
    "disadvantaged": "who is treated worst",
    "favoured": "who is treated best",
    "in_a_sentence": "the worst group with at most three conditions",
    "core": "where in the group most of it lies",
    "sharpest": "who stands out most from chance",
    "composition": "some of who is in the groups",
}


def kept_back_sentence(report: Report, besides: Sequence[str] = ()) -> str | None:
    """Say what is left out, or told only in part, for the sake of few rows; None if nothing is."""
    kept_back = [part for part in report["kept_back"] if part not in (*besides, "time")]
    sentences = []
    if parts := ", ".join(_KEPT_BACK[part] for part in kept_back):
        sentences.append(
            f"This is left out, or told only in part: {parts}. Beside the rest of the report it "
            f"would tell of a group of few rows{or_late(report)}."
        )
    if "time" in report["kept_back"]:
        sentences.append(
            "There was no time to work out of all groups whether they would tell of few rows; "
            "those of which it is not known are left out. More time (budget, --budget) shows more."
        )
    return " ".join(sentences) or None


def or_late(report: Report) -> str:
    """Return what is added to why something is left out, where some is for want of time."""
    return ", or there was no time to rule that out" if "time" in report["kept_back"] else ""
