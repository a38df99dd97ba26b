"""FrontierDisplay: what each unfairness costs in error."""

from typing import Any

import numpy as np

from gerrymend.frontier.sweep import pareto_frontier
from gerrymend.frontier.tradeoffs import FrontierPoint, OnRows, ParetoFrontier
from gerrymend.plotting._display import BLUE, VERMILLION, Display, label, legend_above, say_nothing

_SAMPLES = {"train": ("training rows", BLUE, "--"), "test": ("test rows", VERMILLION, "-")}
_MARKERS = "os^Dv<>Phd*"


class FrontierDisplay(Display):
    """The models of a frontier as points (error, unfairness), on training and test rows.

    Points that another one beats, MARGINAL's included, are hollow. Faint bars reach to what no
    subgroup exceeds, and are cut off at the top. The knee is a place to start talking, and no
    choice.

    Parameters
    ----------
    frontier : ParetoFrontier
    notion : str, optional
        Which one, where there are several: they are never compared.

    Attributes
    ----------
    ax_, figure_ :
        What it was drawn on last.

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
        if notion not in notions and (notion is not None or len(notions) > 1):
            raise ValueError(
                f"notion={notion!r}, and the frontier has {', '.join(notions) or 'no points'}; "
                "name one of them. Models of different notions are never compared."
            )
        self.frontier = frontier
        self.notion = notion if notion is not None else next(iter(notions), None)
        self.points = tuple(one for one in frontier.points if one.notion == self.notion)

    @classmethod
    def from_report(
        cls, frontier: ParetoFrontier, *, notion: str | None = None, ax: Any = None
    ) -> "FrontierDisplay":
        """The points of one notion of a frontier."""
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
        if not self.points:
            say_nothing(ax, "The frontier has no points.")
            return
        estimators = list(dict.fromkeys(point.estimator for point in self.points))
        for sample, (words, colour, style) in _SAMPLES.items():
            seen = [(one, getattr(one, sample)) for one in self.points]
            if seen[0][1] is not None:
                self._draw_sample(ax, seen, estimators, words, colour, style)
        self._draw_marks(ax)
        self._draw_key(ax, estimators)
        top = max(one.unfairness for point in self.points for one in _samples(point))
        top = top or 1.0
        ax.set_ylim(-0.03 * top, 1.15 * top)
        ax.set(xlabel="error", ylabel="unfairness found")
        legend_above(ax)

    def _draw_sample(
        self, ax: Any, seen: list[tuple[FrontierPoint, OnRows]], estimators: list[str],
        words: str, colour: str, style: str,
    ) -> None:  # fmt: skip
        """One sample: bars to the bounds, the line of what is not dominated, and the points."""
        ax.vlines(
            [one.error for _, one in seen], [one.unfairness for _, one in seen],
            [one.upper_bound for _, one in seen], color=colour, lw=3, alpha=0.18, zorder=1,
        )  # fmt: skip
        kept = sorted((one.error, one.unfairness) for _, one in seen if not one.dominated)
        ax.plot(*np.reshape(kept, (-1, 2)).T, color=colour, ls=style, lw=1.3, zorder=2, label=words)
        for point, one in seen:
            marker = _MARKERS[estimators.index(point.estimator) % len(_MARKERS)]
            ax.plot(
                one.error, one.unfairness, marker, ms=7, mec=colour, mew=1.4, zorder=3,
                mfc="white" if one.dominated else colour,
            )  # fmt: skip

    def _draw_marks(self, ax: Any) -> None:
        """Gammas beside the points that are compared, and a ring around the knee."""
        gammas: dict[tuple[float, float], list[str]] = {}
        for point in self.points:
            one = point.compared
            if not one.dominated:
                gammas.setdefault((one.error, one.unfairness), []).append(f"{point.gamma:g}")
            if point in self.frontier.suggested:
                ax.plot(
                    one.error, one.unfairness, "o", ms=17, mfc="none", mec="black", mew=1.5,
                    zorder=4, ls="none", label=f"knee: gamma = {point.gamma:g}",
                )  # fmt: skip
        for place, words in gammas.items():
            ax.annotate(
                ", ".join(dict.fromkeys(words)), place, fontsize=8, color="0.25", xytext=(7, 5),
                textcoords="offset points",
            )  # fmt: skip

    def _draw_key(self, ax: Any, estimators: list[str]) -> None:
        """Entries of the legend for what has no line of its own."""
        if len(estimators) > 1:
            for marker, name in zip(_MARKERS, estimators, strict=False):
                words = label(name, width=28, lines=1)
                ax.plot([], [], marker, color="0.35", ms=7, ls="none", label=words)
        if any(one.dominated for point in self.points for one in _samples(point)):
            words = "dominated (by MARGINAL too)" if self.frontier.marginal_points else "dominated"
            ax.plot([], [], "o", mfc="white", mec="0.35", ms=7, ls="none", label=words)
        ax.plot([], [], color="0.5", lw=3, alpha=0.35, label="up to what none exceeds")


def _samples(point: FrontierPoint) -> list[OnRows]:
    return [one for one in (point.train, point.test) if one is not None]
