"""Figures beyond the paper's own: other bounds C, Learners, solvers, and held-out rows.

Each function takes matplotlib's pyplot and the records, and returns a figure, or None where it has
nothing to draw.
"""

from typing import Any

import numpy as np

from gerrymend.reproduction.figure_parts import (
    GREEN,
    MARGINAL,
    PURPLE,
    SUBGROUP,
    TITLES,
    found_by_dataset,
    plot_frontier,
    splits_of,
    title,
)
from gerrymend.reproduction.records import Records


def sensitivity_to_c(plt: Any, records: Records) -> Any:
    """Draw SUBGROUP's frontier for four values of C.

    A panel for each dataset. Frontiers are steps, since only the recorded models exist.
    """
    units = {f"C = {C}": ("c", f"{{name}}_{C}") for C in (10, 20, 50, 100)}
    return _frontiers(plt, records, units, "error", lw=1.3, drawstyle="steps-post")


def richer_learners(plt: Any, records: Records) -> Any:
    """Draw frontiers of richer Learners against the same linear subgroups.

    A panel for each dataset, by error on the training rows: a richer Learner can fit these better
    without deciding better elsewhere.
    """
    units = {
        "linear regression (the paper's)": ("subgroup", "{name}"),
        "logistic regression": ("learners", "{name}_logistic"),
        "boosted trees": ("learners", "{name}_boosted_trees"),
    }
    return _frontiers(plt, records, units, "training error", marker="o", ms=2.5, lw=1)


def _frontiers(
    plt: Any, records: Records, units: dict[str, tuple[str, str]], xlabel: str, **style: Any
) -> Any:
    """Draw some frontiers in a panel for each dataset, or return None where none was recorded.

    `units` has, by label, an experiment and the name of its unit, with {name} for the dataset's.
    """
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    drawn = False
    for axis, name in zip(axes.flat, TITLES, strict=True):
        colours = (SUBGROUP, MARGINAL, GREEN, PURPLE)
        for (label, (experiment, unit)), colour in zip(units.items(), colours, strict=False):
            result = records.result(experiment, unit.format(name=name))
            if result:
                drawn = True
                plot_frontier(axis, result["frontier"], color=colour, label=label, **style)
                axis.set(title=title(name, records), xlabel=xlabel)
                axis.set_ylabel("unfairness, as reported")
                axis.legend(frameon=False, fontsize=8)
    return figure if drawn else None


def solvers(plt: Any, records: Records) -> Any:
    """Draw error and unfairness by round: fictitious play, no regret, exponentiated gradient.

    Curves are by the auditor that was played against; crosses are by the strongest search.
    """
    found = found_by_dataset(records, "solvers")
    if not found:
        return None
    figure, axes = plt.subplots(
        len(found), 2, figsize=(11, 2.7 * len(found)), layout="constrained", squeeze=False
    )
    for (left, right), (name, result) in zip(axes, found.items(), strict=True):
        for (label, game), colour in zip(
            result["games"].items(), (SUBGROUP, MARGINAL, GREEN, PURPLE), strict=True
        ):
            left.plot(game["t"], game["error"], color=colour, lw=1.2, label=label)
            right.plot(game["t"], game["unfairness"], color=colour, lw=1.2)
            strongest = game["strongest"]
            right.scatter(
                strongest["t"], strongest["unfairness"], color=colour, marker="x", s=36, zorder=3
            )
        right.axhline(result["gamma"], color="black", lw=0.8, ls="--")
        heading = f"{title(name, records)}, gamma = {result['gamma']:g}"
        for axis, what in ((left, "error"), (right, "unfairness")):
            axis.set(xscale="log", xlabel="round t (log scale)", ylabel=what, title=heading)
        right.set_ylim(bottom=0)
    axes[0][0].scatter([], [], color="black", marker="x", s=36, label="by a stronger search")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=5, frameon=False)
    return figure


def held_out(plt: Any, records: Records) -> Any:
    """Draw train and test error and unfairness by gamma: means over splits, and ranges as bands.

    Points of a curve are in the order of their mean error.
    """
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    drawn = False
    for axis, name in zip(axes.flat, TITLES, strict=True):
        splits = splits_of(records, name)
        if not splits:
            continue
        drawn = True
        for part, colour in (("train", SUBGROUP), ("test", MARGINAL)):
            errors, unfairness = (
                np.array([[p[part][what] for p in s["points"]] for s in splits])
                for what in ("error", "unfairness")
            )
            order = np.argsort(errors.mean(axis=0))
            x = errors.mean(axis=0)[order]
            low = unfairness.min(axis=0)[order]
            high = unfairness.max(axis=0)[order]
            axis.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
            axis.plot(x, unfairness.mean(axis=0)[order], "o-", ms=3, lw=1, color=colour, label=part)
        axis.set(title=f"{title(name, records)}, {len(splits)} splits", xlabel="error",
                 ylabel="unfairness, as reported")  # fmt: skip
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False)
    return figure if drawn else None
