"""What all displays share: an Axes to draw on, colours, labels, and what a model decides."""

import re
import textwrap
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gerrymend.inputs.protected import named_columns
from gerrymend.models.mixture_classifier import MixtureClassifier
from gerrymend.reporting.wording import visible
from gerrymend.training.fit import ParityClassifier

# Okabe and Ito's colours, which colour-blind people can tell apart.
VERMILLION, BLUE = "#D55E00", "#0072B2"
# What stands between the names and values of a group's description.
_SIGNS = re.compile(r"( (?:and|in|=|≥|≤|<|\+|−) )")


class Display(ABC):
    """Data that draws itself on one Axes.

    Attributes
    ----------
    ax_, figure_ :
        What it was drawn on last.
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Any:
        """Draw on an Axes, or on one of a new figure, and return it."""
        self.ax_ = new_axes(self._size()) if ax is None else ax
        self.figure_ = self.ax_.get_figure()
        self._draw(self.ax_)
        return self.ax_

    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return 6.4, 4.8

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on this Axes."""


def new_axes(size: tuple[float, float]) -> Any:
    """The Axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Displays need matplotlib, which is not installed; install it with: "
            "pip install 'gerrymend[plot]'."
        ) from None
    _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def label(text: str, width: int = 40, lines: int = 2) -> str:
    """Text from the data as a label: wrapped, no formula, and its longest parts cut off.

    So that groups can be told apart, a long name does not hide the value after it.

    >>> label("the share of households without a car = 0.25", width=30, lines=1)
    'the share of household… = 0.25'
    >>> print(label("pays $5 or $6"))
    pays \\$5 or \\$6
    """
    text = visible(text)
    parts = _SIGNS.split(text)
    wrapped = _wrapped(text, width)
    while len(wrapped) > lines:
        longest = max(range(len(parts)), key=lambda i: len(parts[i]))
        if len(parts[longest]) <= 5:  # many short ones
            wrapped = [*wrapped[: lines - 1], wrapped[lines - 1][: width - 1] + "…"]
            break
        parts[longest] = parts[longest].removesuffix("…")[:-1].rstrip() + "…"
        wrapped = _wrapped("".join(parts), width)
    return "\n".join(wrapped).replace("$", r"\$")


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def say_nothing(ax: Any, words: str) -> None:
    """An Axes with nothing to draw says so."""
    ax.text(
        0.5, 0.5, label(words, width=44, lines=6), ha="center", va="center", transform=ax.transAxes
    )
    ax.set_axis_off()


def legend_above(ax: Any, *, columns: int = 3, **options: Any) -> None:
    """A legend above the Axes, where it can hide nothing."""
    ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns, frameon=False, fontsize=9,
        borderaxespad=0.0, columnspacing=1.2, handletextpad=0.5, **options,
    )  # fmt: skip


def plain_numbers(value: float, _: Any = None) -> str:
    """Ticks of a logarithmic scale of rounds: 10 and 100, and nothing between."""
    return f"{value:g}" if np.log10(value) % 1 == 0 else ""


def check_played(classifier: Any) -> ParityClassifier:
    """A classifier that has a history of rounds."""
    if not isinstance(classifier, ParityClassifier):
        raise TypeError(
            "estimator must be a SubgroupParityClassifier or a MarginalParityClassifier, which "
            f"keep a history of their rounds; got {classifier!r}."
        )
    check_is_fitted(classifier, "history_")
    return classifier


def decisions_of(estimator: Any, X: Any) -> tuple[NDArray[Any], bool]:
    """What a fitted model decides, and whether these are probabilities of deciding positive.

    A mixture decides with probabilities, and its guarantee is about these. What other classifiers
    call probabilities are scores: they decide by predict().
    """
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(last, "predict"):
        raise TypeError(f"estimator must be a fitted classifier; got {estimator!r}.")
    if isinstance(last, MixtureClassifier):
        return estimator.predict_proba(X)[:, 1], True
    check_is_fitted(estimator)
    if isinstance(last, ParityClassifier):
        return estimator.predict_proba(X)[:, 1], True
    return np.asarray(estimator.predict(X)), False


def protected_of(X: Any, sensitive_features: Any) -> Any:
    """The protected attributes: columns of X by name, or as they are; None is all of X."""
    return X if sensitive_features is None else named_columns(X, sensitive_features)
