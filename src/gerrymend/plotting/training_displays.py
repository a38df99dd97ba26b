"""TrajectoryDisplay and ConvergenceDisplay: error and unfairness over the rounds of a training."""

import math
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from gerrymend.inputs.numbers import as_numbers
from gerrymend.inputs.settings import check_flag, check_gamma, check_number
from gerrymend.inputs.validation import as_vector
from gerrymend.plotting._display import (
    BLUE,
    VERMILLION,
    Display,
    check_played,
    legend_above,
    plain_numbers,
)


class _History(Display):
    """Hold the rounds, errors and unfairness of a training; the base of its displays.

    Raises a ValueError where these differ in number, or there are none.
    """

    def __init__(
        self, rounds: ArrayLike, error: ArrayLike, unfairness: ArrayLike, *, gamma: float
    ) -> None:
        self.rounds = as_numbers(as_vector(rounds, "rounds"), "rounds")
        self.error = as_numbers(as_vector(error, "error"), "error")
        self.unfairness = as_numbers(as_vector(unfairness, "unfairness"), "unfairness")
        if not len(self.rounds) == len(self.error) == len(self.unfairness) > 0:
            raise ValueError(
                f"rounds, error and unfairness must have the same length, 1 or more; got "
                f"{len(self.rounds)}, {len(self.error)} and {len(self.unfairness)}."
            )
        self.gamma = check_gamma(gamma)

    @staticmethod
    def _columns(history: Any) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        """Return rounds, errors and unfairness of `history_`, or of a mapping like it.

        Raises a TypeError for anything else.
        """
        names = ("round", "error", "unfairness")
        if not isinstance(history, Mapping) or not set(names) <= set(history):
            raise TypeError(
                f"history must be a mapping with {', '.join(names)}, as history_ of a fitted "
                f"classifier is; got {history!r}. For the classifier itself use from_estimator()."
            )
        rounds, error, unfairness = (history[name] for name in names)
        return rounds, error, unfairness

    @property
    def _is_long(self) -> bool:
        """True where rounds need a logarithmic scale."""
        return bool(self.rounds[-1] > 20 * self.rounds[0])


class TrajectoryDisplay(_History):
    """Draw the mixtures of a training as points (error, unfairness), coloured by their round.

    Parameters
    ----------
    rounds, error, unfairness : sequences
        Of the mixtures that were audited, in order.
    gamma : float
        The unfairness that was allowed.

    Attributes
    ----------
    ax_, figure_ :
        The Axes and the figure that it was last drawn on.
    points_ :
        The points, for a custom colour bar.

    See Also
    --------
    ConvergenceDisplay
        Draw the error of each round on the left scale, and its unfairness on the right.
    FrontierDisplay
        Draw the models of a frontier as points (error, unfairness), on training and test rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import SubgroupParityClassifier, TrajectoryDisplay
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(500, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(LinearRegression(), gamma=0.01, max_iter=20, tol=None)
    >>> _ = clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    >>> display = TrajectoryDisplay.from_estimator(clf)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('error', 'unfairness found')
    """

    points_: Any

    @classmethod
    def from_report(
        cls, history: Any, *, gamma: float, ax: Any = None, colorbar: bool = True
    ) -> "TrajectoryDisplay":
        """Draw the history of a training: `history_` of a classifier, or a mapping like it."""
        display = cls(*cls._columns(history), gamma=gamma)
        display.plot(ax, colorbar=colorbar)
        return display

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, colorbar: bool = True
    ) -> "TrajectoryDisplay":
        """Draw the history of a fitted classifier."""
        fitted = check_played(estimator)
        return cls.from_report(fitted.history_, gamma=fitted.gamma, ax=ax, colorbar=colorbar)

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> Any:
        """Draw on an Axes, or on one of a new figure, and return it."""
        colorbar = check_flag(colorbar, "colorbar")
        drawn = super().plot(ax)
        if colorbar and len(self.rounds) > 1:
            log = {"format": plain_numbers} if self._is_long else {}
            self.figure_.colorbar(self.points_, ax=drawn, label="round", **log)
        return drawn

    def _draw(self, ax: Any) -> None:
        """Draw the points, with marks at the first and the last round, and a line at gamma."""
        from matplotlib.colors import LogNorm, Normalize

        first = int(self.rounds[0])
        last = int(self.rounds[-1])
        norm = (LogNorm if self._is_long else Normalize)(first, max(last, first + 1))
        ax.plot(self.error, self.unfairness, color="0.75", lw=0.8, zorder=1)
        self.points_ = ax.scatter(
            self.error, self.unfairness, c=self.rounds, norm=norm, cmap="viridis_r", s=18, zorder=2
        )
        ends = {"first": (0, "s"), "last": (-1, "*")}
        for words, (place, marker) in ends.items():
            ax.plot(
                self.error[place], self.unfairness[place], marker, ms=13 if marker == "*" else 9,
                mfc="none", mec="black", mew=1.3, zorder=3, ls="none",
                label=f"{words}: round {int(self.rounds[place])}",
            )  # fmt: skip
        _gamma_line(ax, self.gamma)
        ax.set(xlabel="error", ylabel="unfairness found")
        ax.set_ylim(bottom=0)
        legend_above(ax)


class ConvergenceDisplay(_History):
    """Draw the error of each round on the left scale, and its unfairness on the right.

    Parameters
    ----------
    rounds, error, unfairness : sequences
        Of the mixtures that were audited, in order.
    gamma : float
        The unfairness that was allowed.
    gap : float, optional
        The distance of the last mixture from the game's value.

    Attributes
    ----------
    ax_, figure_ :
        The Axes and the figure that it was last drawn on.
    unfairness_ax_ :
        The right scale, over the same Axes.

    See Also
    --------
    TrajectoryDisplay
        Draw the mixtures of a training as points (error, unfairness), coloured by their round.
    FrontierDisplay
        Draw the models of a frontier as points (error, unfairness), on training and test rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from gerrymend import ConvergenceDisplay
    >>> display = ConvergenceDisplay([1, 2, 3], [0.20, 0.22, 0.21], [0.03, 0.02, 0.01], gamma=0.01)
    >>> ax = display.plot()
    >>> ax.get_ylabel(), display.unfairness_ax_.get_ylabel()
    ('error', 'unfairness found')
    """

    unfairness_ax_: Any

    def __init__(
        self,
        rounds: ArrayLike,
        error: ArrayLike,
        unfairness: ArrayLike,
        *,
        gamma: float,
        gap: float | None = None,
    ) -> None:
        super().__init__(rounds, error, unfairness, gamma=gamma)
        self.gap = None if gap is None else check_number(gap, "gap", low=-math.inf)

    @classmethod
    def from_report(
        cls, history: Any, *, gamma: float, gap: float | None = None, ax: Any = None
    ) -> "ConvergenceDisplay":
        """Draw the history of a training: `history_` of a classifier, or a mapping like it."""
        display = cls(*cls._columns(history), gamma=gamma, gap=gap)
        display.plot(ax)
        return display

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "ConvergenceDisplay":
        """Draw the history of a fitted classifier."""
        fitted = check_played(estimator)
        return cls.from_report(fitted.history_, gamma=fitted.gamma, gap=fitted.gap_, ax=ax)

    def _draw(self, ax: Any) -> None:
        """Draw both curves on their own scales, and a line at gamma on that of unfairness."""
        right = self.unfairness_ax_ = ax.twinx()
        few = len(self.rounds) <= 40  # more markers would touch
        (error,) = ax.plot(
            self.rounds, self.error, color=BLUE, lw=1.6, marker="o" if few else None, ms=4,
            label="error (left)",
        )  # fmt: skip
        (unfairness,) = right.plot(
            self.rounds, self.unfairness, color=VERMILLION, lw=1.6, ls="--",
            marker="s" if few else None, ms=4, label="unfairness found (right)",
        )  # fmt: skip
        gamma = _gamma_line(right, self.gamma)
        if self._is_long:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(plain_numbers)
        gap = "" if self.gap is None else f"; gap at the end {self.gap:.4f}"
        ax.set_xlabel(("round (log scale)" if self._is_long else "round") + gap)
        ax.set_ylabel("error", color=BLUE)
        right.set_ylabel("unfairness found", color=VERMILLION)
        right.set_ylim(bottom=0)
        legend_above(ax, handles=[error, unfairness, gamma])


def _gamma_line(ax: Any, gamma: float) -> Any:
    """Draw a line at the unfairness that was allowed, and return it for a legend."""
    return ax.axhline(gamma, color="black", lw=1, ls=":", label=f"gamma = {gamma:g}")
