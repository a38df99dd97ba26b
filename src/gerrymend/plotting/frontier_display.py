"""FrontierDisplay: the error of models against their unfairness."""

from typing import Any

import numpy as np

from gerrymend.frontier.points import FrontierPoint, FrontierReference, OnRows
from gerrymend.frontier.sweep import pareto_frontier
from gerrymend.frontier.tradeoffs import ParetoFrontier
from gerrymend.inputs.numbers import short
from gerrymend.inputs.settings import is_same
from gerrymend.plotting._display import BLUE, VERMILLION, Display, label, legend_above, say_nothing

_SAMPLES = {"train": ("training rows", BLUE, "--"), "test": ("test rows", VERMILLION, "-")}
_MARKERS = "os^Dv<>Phd"
# Models to hold the points against: marker, size and words.
_REFERENCES = {"today": ("*", 15, "your model today"), "unconstrained": ("X", 10, "unconstrained")}


class FrontierDisplay(Display):
    """Draw the models of a frontier as points (error, unfairness), on training and test rows.

    Points that another one dominates, MARGINAL's included, are hollow. Faint bars reach from the
    unfairness found to its upper bound, and are cut off at the top. The knee is a suggestion to
    start a discussion from, not a choice. Your model today, if the frontier has it, and the
    estimators without constraint are marked; no line goes through them.

    Parameters
    ----------
    frontier : ParetoFrontier
        As pareto_frontier() returns it.
    notion : str, optional
        The notion to draw; needed where there are several, which are never compared.

    Attributes
    ----------
    points : tuple of FrontierPoint
        The points of the notion.
    references : tuple of FrontierReference
        Today's model and the estimators without constraint, by the same notion.
    ax_, figure_ :
        The Axes and the figure that it was last drawn on.

    See Also
    --------
    pareto_frontier
        Train a model for each gamma, notion and estimator, and audit each as audit() does.
    ConvergenceDisplay
        Draw the error of each round on the left scale, and its unfairness on the right.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import FrontierDisplay, SubgroupParityClassifier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(400, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> display = FrontierDisplay.from_estimator(
    ...     SubgroupParityClassifier(LinearRegression(), max_iter=20, tol=None, random_state=0),
    ...     data.data, data.target, sensitive_features=data.sensitive_features,
    ...     gammas=[0.0, 0.02])
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('error', 'unfairness found')
    >>> [point.gamma for point in display.points]
    [0.0, 0.02]
    """

    def __init__(self, frontier: ParetoFrontier, *, notion: str | None = None) -> None:
        if not isinstance(frontier, ParetoFrontier):
            raise TypeError(
                "frontier must be a ParetoFrontier, as pareto_frontier() returns; got "
                f"{frontier!r}."
            )
        notions = list(dict.fromkeys(point.notion for point in frontier.points))
        is_there = any(is_same(notion, name) for name in notions)
        if not is_there and (notion is not None or len(notions) > 1):
            raise ValueError(
                f"notion={short(notion)}, and the frontier has {', '.join(notions) or 'no points'}"
                "; name one of them. Models of different notions are never compared."
            )
        self.frontier = frontier
        self.notion = notion if notion is not None else next(iter(notions), None)
        self.points = tuple(point for point in frontier.points if point.notion == self.notion)
        self.references = tuple(one for one in frontier.references if one.notion == self.notion)

    @classmethod
    def from_report(
        cls, frontier: ParetoFrontier, *, notion: str | None = None, ax: Any = None
    ) -> "FrontierDisplay":
        """Draw the points of one notion of a frontier."""
        display = cls(frontier, notion=notion)
        display.plot(ax)
        return display

    from_frontier = from_report

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> "FrontierDisplay":
        """Train and audit a model for each gamma, and draw that.

        `options` are those of pareto_frontier(): sensitive_features, gammas, test_size, ….
        """
        return cls.from_report(pareto_frontier(estimator, X, y, **options), ax=ax)

    def _draw(self, ax: Any) -> None:
        """Draw both samples, the marks and the legend."""
        if not self.points:
            say_nothing(ax, "The frontier has no points.")
            return
        estimators = list(dict.fromkeys(point.estimator for point in self.points))
        for sample, (words, colour, style) in _SAMPLES.items():
            seen = [(point, getattr(point, sample)) for point in self.points]
            if seen[0][1] is not None:
                self._draw_sample(ax, seen, estimators, words, colour, style)
        self._draw_marks(ax)
        self._draw_references(ax)
        self._draw_key(ax, estimators)
        shown: list[FrontierPoint | FrontierReference] = [*self.points, *self.references]
        top = max(rows.unfairness for model in shown for rows in _samples(model))
        top = top or 1.0
        ax.set_ylim(-0.03 * top, 1.15 * top)
        ax.set(xlabel="error", ylabel="unfairness found")
        legend_above(ax)

    def _draw_sample(
        self, ax: Any, seen: list[tuple[FrontierPoint, OnRows]], estimators: list[str],
        words: str, colour: str, style: str,
    ) -> None:  # fmt: skip
        """Draw one sample: bars up to the bounds, the points, a line through the best of them."""
        ax.vlines(
            [rows.error for _, rows in seen], [rows.unfairness for _, rows in seen],
            [rows.upper_bound for _, rows in seen], color=colour, lw=3, alpha=0.18, zorder=1,
        )  # fmt: skip
        kept = sorted((rows.error, rows.unfairness) for _, rows in seen if not rows.dominated)
        ax.plot(*np.reshape(kept, (-1, 2)).T, color=colour, ls=style, lw=1.3, zorder=2, label=words)
        for point, rows in seen:
            marker = _MARKERS[estimators.index(point.estimator) % len(_MARKERS)]
            ax.plot(
                rows.error, rows.unfairness, marker, ms=7, mec=colour, mew=1.4, zorder=3,
                mfc="white" if rows.dominated else colour,
            )  # fmt: skip

    def _draw_marks(self, ax: Any) -> None:
        """Draw gammas beside the points that are compared, and a ring around the knee."""
        gammas: dict[tuple[float, float], list[str]] = {}
        for point in self.points:
            compared = point.compared
            if not compared.dominated:
                gammas.setdefault((compared.error, compared.unfairness), []).append(
                    f"{point.gamma:g}"
                )
            if point in self.frontier.suggested:
                ax.plot(
                    compared.error, compared.unfairness, "o", ms=17, mfc="none", mec="black",
                    mew=1.5, zorder=4, ls="none", label=f"knee: gamma = {point.gamma:g}",
                )  # fmt: skip
        for place, words in gammas.items():
            ax.annotate(
                ", ".join(dict.fromkeys(words)), place, fontsize=8, color="0.25", xytext=(7, 5),
                textcoords="offset points",
            )  # fmt: skip

    def _draw_references(self, ax: Any) -> None:
        """Draw each reference on both samples, in their colours; the legend has its kind once."""
        kinds = dict.fromkeys(reference.kind for reference in self.references)
        for reference in self.references:
            marker, size, _ = _REFERENCES[reference.kind]
            for rows, (_, colour, _) in zip(_samples(reference), _SAMPLES.values(), strict=False):
                ax.plot(
                    rows.error, rows.unfairness, marker, ms=size, mec="black", mfc=colour,
                    mew=0.8, zorder=5,
                )  # fmt: skip
        for kind in kinds:
            marker, size, words = _REFERENCES[kind]
            ax.plot([], [], marker, color="0.35", mec="black", ms=size - 3, ls="none", label=words)

    def _draw_key(self, ax: Any, estimators: list[str]) -> None:
        """Add entries to the legend for what has no line of its own."""
        if len(estimators) > 1:
            for marker, name in zip(_MARKERS, estimators, strict=False):
                words = label(name, width=28, lines=1)
                ax.plot([], [], marker, color="0.35", ms=7, ls="none", label=words)
        if any(rows.dominated for point in self.points for rows in _samples(point)):
            words = "dominated (by MARGINAL too)" if self.frontier.marginal_points else "dominated"
            ax.plot([], [], "o", mfc="white", mec="0.35", ms=7, ls="none", label=words)
        ax.plot([], [], color="0.5", lw=3, alpha=0.35, label="up to the upper bound")


def _samples(model: FrontierPoint | FrontierReference) -> list[OnRows]:
    """Return the figures of a model on the training rows, and on test rows if there are any."""
    return [rows for rows in (model.train, model.test) if rows is not None]
