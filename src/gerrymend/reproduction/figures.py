"""The paper's figures, drawn from records alone.

Each function takes matplotlib's pyplot and the records, and returns a figure, or None where it has
nothing to draw.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gerrymend.reproduction.experiments import CONVENTIONS, TRAJECTORY_GAMMAS
from gerrymend.reproduction.plans import slug
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


def draw(target: str, records: Records, out: Path) -> list[Path]:
    """Draw a target's figures, and return their paths; those without records are left out.

    Parameters
    ----------
    target : str
        One of TARGETS.
    records : Records
    out : path
        The figures go to its folder `figures`, as PNG.
    """
    import matplotlib

    # Before pyplot is imported: a machine without a display has no other backend.
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    paths = []
    for name, figure in _FIGURES.get(target, {}).items():
        drawn = figure(plt, records)
        if drawn is None:
            continue
        path = Path(out) / "figures" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn.savefig(path, dpi=130)
        plt.close(drawn)
        paths.append(path)
    return paths


def _found(records: Records, experiment: str) -> dict[str, Any]:
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


def _plot_frontier(axis: Any, frontier: list[dict[str, float]], **style: Any) -> None:
    """Plot error against unfairness along a frontier."""
    errors = [point["error"] for point in frontier]
    axis.plot(errors, [point["unfairness"] for point in frontier], **style)


def splits_of(records: Records, name: str) -> list[dict[str, Any]]:
    """Return the results on each split of a dataset."""
    # Quick runs have two splits, and full ones eight: all that are there are taken.
    found = (records.result("held_out", f"{name}_{split}") for split in range(100))
    return [result for result in found if result]


def toy(plt: Any, records: Records) -> Any:
    """Draw Figure 1: false positive rates of the toy example, and what each auditor finds.

    The left panel has rates by race and gender, with marginal rates on the axes; the right one has
    the unfairness of the worst subgroup that each of three auditors finds.
    """
    result = records.result("toy", "toy")
    if not result:
        return None
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9, 3.6), width_ratios=(1, 1.2), layout="constrained"
    )
    rates = np.array(
        [[result["cells"][f"{race} {g}"] for g in ("man", "woman")] for race in ("blue", "green")]
    )
    left.imshow(rates, cmap="cividis", vmin=0, vmax=1)
    for i, race in enumerate(("blue", "green")):
        for j, gender in enumerate(("man", "woman")):
            colour = "white" if rates[i, j] < 0.5 else "black"
            words = f"{race} {gender}\n{rates[i, j]:.0%}"
            left.text(j, i, words, ha="center", va="center", color=colour)
    marginals = result["marginals"]
    left.set_xticks([0, 1], [f"{g}: {marginals[g]:.0%}" for g in ("man", "woman")])
    left.set_yticks([0, 1], [f"{r}: {marginals[r]:.0%}" for r in ("blue", "green")])
    left.set_title("False positive rates", fontsize=11)
    names = list(result["found"])
    right.barh(names, [result["found"][name]["unfairness"] for name in names], color=MARGINAL)
    for i, name in enumerate(names):
        found = result["found"][name]
        words = "nothing" if found["unfairness"] < 1e-9 else found["subgroup"]
        right.text(found["unfairness"] + 0.001, i, words, va="center", fontsize=9)
    right.set_xlim(0, 0.14)
    right.invert_yaxis()
    right.set_xlabel("unfairness of the worst subgroup found")
    right.set_title("Audited by", fontsize=11)
    return figure


def convergence(plt: Any, records: Records) -> Any:
    """Draw Figure 2: error and unfairness by round, for each gamma.

    A row of panels for each dataset, with rounds on a logarithmic scale; dashed lines are the
    gammas.
    """
    found = _found(records, "subgroup")
    if not found:
        return None
    figure, axes = plt.subplots(
        len(found), 2, figsize=(11, 2.7 * len(found)), layout="constrained", squeeze=False
    )
    # The same gammas on every dataset, and so the same colours.
    gammas = [curve["gamma"] for curve in next(iter(found.values()))["curves"]]
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.92, len(gammas)))
    for (left, right), (name, result) in zip(axes, found.items(), strict=True):
        for curve, colour in zip(result["curves"], colours, strict=True):
            label = f"{curve['gamma']:g}"
            left.plot(result["t"], curve["error"], color=colour, lw=1, label=label)
            right.plot(result["t"], curve["unfairness"], color=colour, lw=1)
            right.axhline(curve["gamma"], color=colour, lw=0.8, ls="--", alpha=0.7)
        for axis, what in ((left, "error"), (right, "unfairness")):
            axis.set(xscale="log", xlabel="round t (log scale)", ylabel=what,
                     title=title(name, records))  # fmt: skip
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, title="gamma", loc="outside right center", frameon=False)
    return figure


def pareto(plt: Any, records: Records) -> Any:
    """Draw Figure 3: SUBGROUP's frontier with MARGINAL's models, and MARGINAL's own frontier.

    Unfairness is as the paper's auditor reports it; crosses are SUBGROUP's last mixtures by the
    strongest search.
    """
    subgroup = _found(records, "subgroup")
    marginal = _found(records, "marginal")
    names = [name for name in subgroup if name in marginal]
    if not names:
        return None
    figure, axes = plt.subplots(
        len(names), 2, figsize=(10, 3 * len(names)), layout="constrained", squeeze=False
    )
    for (left, right), name in zip(axes, names, strict=True):
        front = subgroup[name]["frontier"]
        for i, curve in enumerate(marginal[name]["curves"]):
            left.scatter(
                curve["error"], curve["subgroup"], s=7, color=MARGINAL, alpha=0.35, lw=0,
                label="MARGINAL, audited for subgroups" if i == 0 else None,
            )  # fmt: skip
        _plot_frontier(
            left, front, marker="o", ms=3, lw=1, color=SUBGROUP, label="SUBGROUP, as reported"
        )
        last = subgroup[name]["curves"]
        left.scatter(
            [curve["error"][-1] for curve in last], [curve["strongest"] for curve in last],
            marker="x", s=28, color="black", lw=1, zorder=3,
            label="SUBGROUP's last mixtures, by a stronger search",
        )  # fmt: skip
        _plot_frontier(right, marginal[name]["frontier"], marker="s", ms=3, lw=1, color=MARGINAL)
        heading = title(name, records)
        left.set(xlabel="error", ylabel="subgroup unfairness", title=heading)
        right.set(xlabel="error", ylabel="marginal unfairness", title=heading)
        # The axis spans SUBGROUP's points; MARGINAL's that lie further right are cut off.
        errors = [point["error"] for point in front] + [curve["error"][-1] for curve in last]
        low = min(errors)
        high = max(errors)
        left.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        left.set_ylim(bottom=0)
        right.set_ylim(bottom=0)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper left", ncols=3, frameon=False, markerscale=1.6
    )
    return figure


def surfaces(convention: str, *, flat: bool) -> Callable[[Any, Records], Any]:
    """Return a function that draws Figure 4 by one convention, as surfaces or as heat maps.

    Parameters
    ----------
    convention : str
        A key of CONVENTIONS.
    flat : bool
        Whether to draw heat maps, which can be read off, or surfaces, as the paper has them.
    """

    def figure_4(plt: Any, records: Records) -> Any:
        """Draw a panel for each recorded round, on one scale of colours.

        Titles have the largest of the 400 values and what the regression heuristic reports.
        """
        result = records.result("surface", slug(convention))
        if not result:
            return None
        panels = result["panels"]
        thetas = np.array(result["thetas"])
        # One scale for all panels, so that flattening shows.
        limit = max(float(np.abs(panel["surface"]).max()) for panel in panels.values())
        rows = -(-len(panels) // 4)
        figure, axes = plt.subplots(
            rows, 4, figsize=(14, 3.4 * rows + 0.5), layout="constrained", squeeze=False,
            subplot_kw={} if flat else {"projection": "3d"},
        )  # fmt: skip
        for axis in axes.flat[len(panels) :]:
            axis.set_axis_off()
        white, black = np.meshgrid(thetas, thetas, indexing="ij")
        for axis, (number, panel) in zip(axes.flat, panels.items(), strict=False):
            values = np.array(panel["surface"])
            worst = float(np.abs(values).max())
            axis.set_title(
                f"t = {number}: grid {worst:.4f}, heuristic {panel['heuristic']:.4f}", fontsize=9
            )
            if flat:
                image = axis.pcolormesh(
                    white, black, values, cmap="PuOr", vmin=-limit, vmax=limit, shading="nearest"
                )
            else:
                image = axis.plot_surface(
                    white, black, values, cmap="PuOr", vmin=-limit, vmax=limit, lw=0
                )
                axis.set_zlim(-limit, limit)
                axis.tick_params(labelsize=6, pad=0)
                axis.set(xticks=(-1, 0, 0.9), yticks=(-1, 0, 0.9))
            axis.set_xlabel("θ of white share", fontsize=8)
            axis.set_ylabel("θ of black share", fontsize=8)
        figure.colorbar(image, ax=axes, shrink=0.7, label="base rate − group rate, weighted")
        options = CONVENTIONS[convention]
        figure.suptitle(
            f"Discrimination surface, gamma = 0; {options['order']}'s order of play, duals over "
            f"{options['divisor']}, {options['side']} side penalised"
        )
        return figure

    return figure_4


def trajectory(plt: Any, records: Records) -> Any:
    """Draw Figure 5: (error, unfairness) by round on Communities, coloured by t.

    A panel for each gamma of the paper's figure, on common axes; dashed lines are the gammas.
    """
    result = records.result("subgroup", "communities")
    if not result:
        return None
    curves = [c for c in result["curves"] if c["gamma"] in TRAJECTORY_GAMMAS]
    figure, axes = plt.subplots(
        2, 2, figsize=(10, 7.4), layout="constrained", sharex=True, sharey=True
    )
    for axis, curve in zip(axes.flat, curves, strict=False):
        axis.plot(curve["error"], curve["unfairness"], color="0.8", lw=0.6, zorder=1)
        points = axis.scatter(
            curve["error"], curve["unfairness"], c=np.log10(result["t"]), cmap="plasma", s=8,
            zorder=2,
        )  # fmt: skip
        axis.axhline(curve["gamma"], color="black", lw=1, ls="--")
        axis.set(title=f"gamma = {curve['gamma']:g}", xlabel="error", ylabel="unfairness")
    figure.colorbar(points, ax=axes, label="log₁₀ t")
    figure.suptitle(title("communities", records))
    return figure


def sensitivity_to_c(plt: Any, records: Records) -> Any:
    """Draw SUBGROUP's frontier for four values of C.

    A panel for each dataset. Frontiers are steps, since only the recorded models exist.
    """
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    drawn = False
    for axis, name in zip(axes.flat, TITLES, strict=True):
        for C, colour in zip((10, 20, 50, 100), (SUBGROUP, MARGINAL, GREEN, PURPLE), strict=True):
            result = records.result("c", f"{name}_{C}")
            if not result:
                continue
            drawn = True
            _plot_frontier(
                axis, result["frontier"],
                lw=1.3, color=colour, label=f"C = {C}", drawstyle="steps-post",
            )  # fmt: skip
            axis.set(title=title(name, records), xlabel="error", ylabel="unfairness, as reported")
            axis.legend(frameon=False, fontsize=8)
    return figure if drawn else None


def richer_learners(plt: Any, records: Records) -> Any:
    """Draw frontiers of richer Learners against the same linear subgroups.

    A panel for each dataset, by error on the training rows: a richer Learner can fit these better
    without deciding better elsewhere.
    """
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    drawn = False
    for axis, name in zip(axes.flat, TITLES, strict=True):
        fronts = {
            "linear regression (the paper's)": records.result("subgroup", name),
            "logistic regression": records.result("learners", f"{name}_logistic"),
            "boosted trees": records.result("learners", f"{name}_boosted_trees"),
        }
        for (label, result), colour in zip(
            fronts.items(), (SUBGROUP, MARGINAL, GREEN), strict=True
        ):
            if not result:
                continue
            drawn = True
            _plot_frontier(
                axis, result["frontier"], marker="o", ms=2.5, lw=1, color=colour, label=label
            )
            axis.set(title=title(name, records), xlabel="training error",
                     ylabel="unfairness, as reported")  # fmt: skip
            axis.legend(frameon=False, fontsize=8)
    return figure if drawn else None


def solvers(plt: Any, records: Records) -> Any:
    """Draw error and unfairness by round: fictitious play, no regret, exponentiated gradient.

    Curves are by the auditor that was played against; crosses are by the strongest search.
    """
    found = _found(records, "solvers")
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


_FIGURES: dict[str, dict[str, Callable[[Any, Records], Any]]] = {
    "toy": {"figure_1_toy": toy},
    "convergence": {"figure_2_convergence": convergence},
    "pareto": {"figure_3_pareto": pareto},
    "surface": {
        f"figure_4_{kind}_{slug(name)}": surfaces(name, flat=kind == "flat")
        for name in CONVENTIONS
        for kind in ("surface", "flat")
    },
    "trajectory": {"figure_5_trajectory": trajectory},
    "c": {"sensitivity_to_c": sensitivity_to_c},
    "future": {"richer_learners": richer_learners, "solvers": solvers, "held_out": held_out},
}
