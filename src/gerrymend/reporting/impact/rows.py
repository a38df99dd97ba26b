"""Tables of impact ratios as flat rows, for frames and spreadsheets."""

from collections.abc import Mapping
from typing import Any

# What each column is, for a sheet beside the figures.
COLUMNS = {
    "table": "The attributes of the table.",
    "group": "Who is in: a category, or several that meet; (unknown) has rows of unknown category.",
    "n": "Rows in the group.",
    "weight": "Their weight; the number of rows where all weigh the same.",
    "selected": "The weight of those who are selected, or score above the median.",
    "rate": "selected / weight.",
    "share": "The group's part of its table, without rows of unknown category.",
    "ratio": "Its rate over that of the reference group of its table: the impact ratio.",
    "ratio_low": "Lower end of the interval of the ratio (Koopman's score interval).",
    "ratio_high": "Upper end; exact where nobody of the group is selected.",
    "p_value": "Fisher's exact test against the reference group, two-sided; of counts alone.",
    "standard_deviations": "Difference of the two rates in standard deviations; below it negative.",
    "shortfall": "How many more would have to be selected for four fifths of the reference's rate.",
    "is_reference": "Whether it is the group that the others of its table are compared with.",
    "is_small": "Whether it has less than 2 % of its table.",
    "is_excluded": "Whether it was given no ratio for that.",
    "is_few": "Whether it has so few rows that its figures are about persons.",
    "is_unknown": "Whether these are the rows of unknown category, which have no ratio.",
}
UNKNOWN = "(unknown)"


def flat_rows(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the groups of `ImpactTable.to_dict()` as rows with the names of COLUMNS."""
    rows = []
    for table in data["tables"]:
        name = " × ".join(table["attributes"])
        for group in table["groups"]:
            found = {**group, "table": name, "is_unknown": False}
            rows.append({column: found[column] for column in COLUMNS})
        if table["n_unknown"]:
            rows.append(_unknown_row(name, table))
    return rows


def _unknown_row(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of unknown category as the last of their table."""
    known = {
        "table": name,
        "group": UNKNOWN,
        "n": table["n_unknown"],
        "weight": table["unknown_weight"],
        "selected": table["unknown_selected"],
        "rate": table["unknown_rate"],
    }
    marks = {column: column == "is_unknown" for column in COLUMNS if column.startswith("is_")}
    return dict.fromkeys(COLUMNS) | known | marks
