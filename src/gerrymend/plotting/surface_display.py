"""SurfaceDisplay: the unfairness of half-planes of two attributes as a heat map."""

from typing import Any

import numpy as np

from gerrymend.inputs.settings import check_flag
from gerrymend.plotting._display import (
    Display,
    decisions_of,
    label,
    legend_above,
    model_name,
    protected_of,
    say_nothing,
)
from gerrymend.reporting.surface.text import round_name
from gerrymend.surfaces import DiscriminationSurface, discrimination_surface
from gerrymend.surfaces.surface import place_of


class SurfaceDisplay(Display):
    """Draw one round of a discrimination surface, on a scale of colours that all rounds share.

    Parameters
    ----------
    surface : DiscriminationSurface
        As discrimination_surface() returns it.
    number : int, default=-1
        The place of the round in `surface.rounds`.

    Attributes
    ----------
    ax_, figure_ :
        The Axes and the figure that it was last drawn on.
    mesh_ :
        The heat map, for a custom colour bar; None where no group is shown.

    See Also
    --------
    discrimination_surface
        Measure the unfairness of every half-plane of two attributes, for one model or several.
    DiscriminationSurface
        Hold the unfairness of every half-plane of two attributes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from gerrymend import SurfaceDisplay
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(800)
    >>> display = SurfaceDisplay.from_predictions(
    ...     toy.target, (toy.score >= 0.5).astype(int), sensitive_features=toy.sensitive_features)
    >>> display.ax_.get_xlabel()
    'θ₁: weight of race = blue'
    """

    mesh_: Any

    def __init__(self, surface: DiscriminationSurface, number: int = -1) -> None:
        if not isinstance(surface, DiscriminationSurface):
            raise TypeError(
                "surface must be a DiscriminationSurface, as discrimination_surface() returns; got "
                f"{surface!r}."
            )
        self.surface = surface
        self.number = place_of(number, surface.rounds)

    @classmethod
    def from_surface(
        cls, surface: DiscriminationSurface, number: int = -1, *, ax: Any = None,
        colorbar: bool = True,
    ) -> "SurfaceDisplay":  # fmt: skip
        """Draw a round of a surface, the last by default."""
        display = cls(surface, number)
        display.plot(ax, colorbar=colorbar)
        return display

    from_report = from_surface

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sensitive_features: Any = None, ax: Any = None,
        **options: Any,
    ) -> "SurfaceDisplay":  # fmt: skip
        """Measure and draw the surface of a fitted classifier's decisions.

        `options` are those of discrimination_surface(): attributes, notion, …. For the rounds of a
        training see DiscriminationSurface.from_training().
        """
        decided, are_probabilities = decisions_of(estimator, X)
        models = {model_name(estimator): decided}
        return cls.from_predictions(
            y, models, sensitive_features=protected_of(X, sensitive_features), ax=ax,
            decision_probabilities=are_probabilities, **options,
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, sensitive_features: Any, ax: Any = None, **options: Any
    ) -> "SurfaceDisplay":
        """Measure and draw the surface of some decisions.

        `options` are those of discrimination_surface().
        """
        surface = discrimination_surface(
            y_true, y_pred, sensitive_features=sensitive_features, **options
        )
        return cls.from_surface(surface, ax=ax)

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> Any:
        """Draw on an Axes, or on one of a new figure, and return it."""
        colorbar = check_flag(colorbar, "colorbar")
        drawn = super().plot(ax)
        if colorbar and self.mesh_ is not None:
            words = "unfairness: + rate too high, − too low"
            self.figure_.colorbar(self.mesh_, ax=drawn, label=words)
        return drawn

    def _draw(self, ax: Any) -> None:
        """Draw the heat map, a mark at the worst group, and strokes where no group is shown."""
        surface = self.surface
        kept = self.surface.rounds[self.number]
        self.mesh_ = None
        if kept.place is None:
            say_nothing(
                ax,
                f"No group has at least {surface.min_group_size} rows in the event of the rate, "
                "with as many outside of the group; smaller ones are not shown.",
            )
            return
        limit = surface.limit or 1.0
        # Transposed: θ₁ is the row of the array, and the horizontal axis.
        self.mesh_ = ax.pcolormesh(
            surface.thetas, surface.thetas, np.ma.masked_invalid(kept.unfairness.T), cmap="PuOr_r",
            vmin=-limit, vmax=limit, shading="nearest",
        )  # fmt: skip
        i, j = kept.place
        ax.plot(
            surface.thetas[i], surface.thetas[j], "X", color="black", mec="white", ms=11,
            mew=1.2, ls="none",
            label=f"worst: {label(str(surface.subgroups[i][j]))}",
        )  # fmt: skip
        hidden = np.argwhere(np.isnan(kept.unfairness))
        if len(hidden):
            ax.plot(
                *surface.thetas[hidden].T, marker=(2, 0, -45), ms=6, color="0.5", ls="none",
                label=f"not shown: fewer than {surface.min_group_size} rows",
            )  # fmt: skip
        names = [label(name, lines=2) for name in surface.attributes]
        ax.set(xlabel=f"θ₁: weight of {names[0]}", ylabel=f"θ₂: weight of {names[1]}")
        ax.set_aspect("equal")
        legend_above(
            ax, columns=1, title=label(round_name(kept.name)), alignment="left",
            title_fontproperties={"weight": "bold", "size": 9},
        )  # fmt: skip
