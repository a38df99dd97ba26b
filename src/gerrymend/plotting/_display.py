"""Base class of displays, and their shared helpers: Axes, labels, legends, a model's decisions."""

import re
import textwrap
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.extras import need
from gerrymend.inputs.numbers import short
from gerrymend.inputs.sample import named_columns
from gerrymend.models.mixture_classifier import MixtureClassifier
from gerrymend.reporting.wording import visible
from gerrymend.training.fit import ParityClassifier

# Okabe and Ito's colours, which colour-blind people can tell apart.
VERMILLION = "#D55E00"
BLUE = "#0072B2"
# Separators between the names and values of a group's description.
_SIGNS = re.compile(r"( (?:and|in|=|≥|≤|<|\+|−) )")


class Display(ABC):
    """Draw data on one Axes; the base class of all displays.

    Attributes
    ----------
    ax_, figure_ :
        The Axes and the figure that it was last drawn on.
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Any:
        """Draw on an Axes, or on one of a new figure, and return it."""
        if ax is not None and not hasattr(ax, "get_figure"):
            raise ArgumentError(
                "ax", f"must be an Axes of matplotlib, or None for a new one; got {short(ax)}."
            )
        self.ax_ = new_axes(self._size()) if ax is None else ax
        self.figure_ = self.ax_.get_figure()
        self._draw(self.ax_)
        return self.ax_

    def _size(self) -> tuple[float, float]:
        """Return the width and height of a new figure, in inches."""
        return 6.4, 4.8

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on this Axes."""


def new_axes(size: tuple[float, float]) -> Any:
    """Return the Axes of a new figure with this width and height, in inches.

    Raises an ImportError that names the extra where matplotlib is not installed.
    """
    plt = need("matplotlib.pyplot", "Displays need")
    _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def label(text: str, width: int = 40, lines: int = 2) -> str:
    """Return text from the data as a label: wrapped, its longest parts cut off, without formulas.

    A long name is cut before the value after it is, so that groups can be told apart. Dollar signs
    are escaped, as matplotlib would read formulas between them.

    >>> label("the share of households without a car = 0.25", width=30, lines=1)
    'the share of household… = 0.25'
    >>> print(label("pays $5 or $6"))
    pays \\$5 or \\$6
    """
    # No longer part can fit: it is cut at once, and not a sign at a time.
    most = width * lines
    parts = [
        part if len(part) <= most else part[: most - 1].rstrip() + "…"
        for part in _SIGNS.split(visible(text))
    ]
    wrapped = _wrapped("".join(parts), width)
    while len(wrapped) > lines:
        longest = max(range(len(parts)), key=lambda i: len(parts[i]))
        if len(parts[longest]) <= 5:  # only short parts are left: cut off the last line instead
            wrapped = [*wrapped[: lines - 1], wrapped[lines - 1][: width - 1] + "…"]
            break
        parts[longest] = parts[longest].removesuffix("…")[:-1].rstrip() + "…"
        wrapped = _wrapped("".join(parts), width)
    return "\n".join(wrapped).replace("$", r"\$")


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, at least one."""
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def say_nothing(ax: Any, words: str) -> None:
    """Write a sentence in place of a picture, where there is nothing to draw."""
    ax.text(
        0.5, 0.5, label(words, width=44, lines=6), ha="center", va="center", transform=ax.transAxes
    )
    ax.set_axis_off()


def legend_above(ax: Any, *, columns: int = 3, side: str = "left", **options: Any) -> None:
    """Put a legend above the Axes, where it can hide nothing, from one of its sides on."""
    x = 0.0 if side == "left" else 1.0
    ax.legend(
        loc=f"lower {side}", bbox_to_anchor=(x, 1.01), ncols=columns, frameon=False, fontsize=9,
        borderaxespad=0.0, columnspacing=1.2, handletextpad=0.5, **options,
    )  # fmt: skip


def plain_numbers(value: float, _: Any = None) -> str:
    """Format a tick of a logarithmic scale of rounds: 10, 100, …, and nothing between."""
    return f"{value:g}" if np.log10(value) % 1 == 0 else ""


def check_played(classifier: Any) -> ParityClassifier:
    """Return a fitted classifier that has a history of rounds, or raise a TypeError."""
    if not isinstance(classifier, ParityClassifier):
        raise TypeError(
            "estimator must be a SubgroupParityClassifier or a MarginalParityClassifier, which "
            f"keep a history of their rounds; got {classifier!r}."
        )
    check_is_fitted(classifier, "history_")
    return classifier


def model_name(estimator: Any) -> str:
    """Return the kind of a model, or of the last step of a pipeline."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return type(last).__name__


def decisions_of(estimator: Any, X: Any) -> tuple[NDArray[Any], bool]:
    """Return a fitted model's decisions, and whether these are probabilities of deciding positive.

    A mixture decides with probabilities, and its guarantee is about these. What other classifiers
    call probabilities are scores: they decide by predict(). Raises a TypeError for what has no
    predict().
    """
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(last, "predict"):
        raise TypeError(f"estimator must be a fitted classifier; got {estimator!r}.")
    check_is_fitted(estimator)
    if isinstance(last, MixtureClassifier | ParityClassifier):
        return estimator.predict_proba(X)[:, 1], True
    return np.asarray(estimator.predict(X)), False


def protected_of(X: Any, sensitive_features: Any) -> Any:
    """Return the protected attributes: columns of X by name, or as passed; None is all of X."""
    return X if sensitive_features is None else named_columns(X, sensitive_features)
