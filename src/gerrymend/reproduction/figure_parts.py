"""Titles, colours and helpers that all figures share."""

from typing import Any

from gerrymend.reproduction.records import Records

TITLES = {
    "communities": "Communities and Crime",
    "law_school": "Law School",
    "adult": "Adult",
    "student": "Student",
}
# Okabe and Ito's colours, which colour-blind people can tell apart.
SUBGROUP = "#D55E00"
MARGINAL = "#0072B2"
GREEN = "#009E73"
PURPLE = "#CC79A7"


def found_by_dataset(records: Records, experiment: str) -> dict[str, Any]:
    """Return the results of an experiment by dataset, without those that are missing."""
    found = {name: records.result(experiment, name) for name in TITLES}
    return {name: result for name, result in found.items() if result}


def title(name: str, records: Records) -> str:
    """Return a dataset's title, marked wherever other data than the paper's stands in for it.

    The note is in every record, and any that was written will do.
    """
    stands_in = any(
        (records.result(experiment, unit) or {}).get("note")
        for experiment, unit in (("table1", name), ("subgroup", name), ("c", f"{name}_10"),
                                 ("held_out", f"{name}_0"), ("marginal", name))
    )  # fmt: skip
    return TITLES[name] + (" (stand-in data)" if stands_in else "")


def plot_frontier(axis: Any, frontier: list[dict[str, float]], **style: Any) -> None:
    """Plot error against unfairness along a frontier."""
    errors = [point["error"] for point in frontier]
    axis.plot(errors, [point["unfairness"] for point in frontier], **style)


def splits_of(records: Records, name: str) -> list[dict[str, Any]]:
    """Return the results on each split of a dataset."""
    # Quick runs have two splits, and full ones eight: all that are there are taken.
    found = (records.result("held_out", f"{name}_{split}") for split in range(100))
    return [result for result in found if result]
