"""The paper's figures, drawn from records alone.

Each function takes matplotlib's pyplot and the records, and returns a figure, or None where it has
nothing to draw.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gerrymend.reproduction.experiments import CONVENTIONS, TRAJECTORY_GAMMAS
from gerrymend.reproduction.figure_parts import (
    MARGINAL,
    SUBGROUP,
    found_by_dataset,
    plot_frontier,
    title,
)
from gerrymend.reproduction.figures_beyond import (
    held_out,
    richer_learners,
    sensitivity_to_c,
    solvers,
)
from gerrymend.reproduction.plans import slug
from gerrymend.reproduction.records import Records


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
        drawn.savefig(path, dpi=100)
        plt.close(drawn)
        paths.append(path)
    return paths


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
    found = found_by_dataset(records, "subgroup")
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
    subgroup = found_by_dataset(records, "subgroup")
    marginal = found_by_dataset(records, "marginal")
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
        plot_frontier(
            left, front, marker="o", ms=3, lw=1, color=SUBGROUP, label="SUBGROUP, as reported"
        )
        last = subgroup[name]["curves"]
        left.scatter(
            [curve["error"][-1] for curve in last], [curve["strongest"] for curve in last],
            marker="x", s=28, color="black", lw=1, zorder=3,
            label="SUBGROUP's last mixtures, by a stronger search",
        )  # fmt: skip
        plot_frontier(right, marginal[name]["frontier"], marker="s", ms=3, lw=1, color=MARGINAL)
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
