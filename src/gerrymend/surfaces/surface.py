"""DiscriminationSurface: the signed unfairness of half-planes of two attributes, as plain data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.inputs.numbers import is_number_type, short
from gerrymend.notions import FairnessNotion
from gerrymend.reporting.wording import json_text


@dataclass(frozen=True, eq=False, repr=False)
class SurfaceRound:
    """Hold the surface of one model, or of one round of a training.

    Attributes
    ----------
    name : int or str
        The round, or the model's name.
    unfairness : array (k, k)
        Signed: positive where the group's rate is above the overall one. NaN where the group is
        too small to be shown.
    overall_rate, error : float
        The rate of all rows in the notion's event, and the error; NaN where they would be of fewer
        than `min_group_size` rows.
    expected_rate : array (k, k) or None
        Within strata, the rate that a group's rows would have at the rates of their strata, which
        unfairness is the distance from; None where that is the overall rate.
    """

    name: int | str
    unfairness: Array
    overall_rate: float
    error: float
    expected_rate: Array | None = None

    @cached_property
    def place(self) -> tuple[int, int] | None:
        """Row and column of the largest absolute unfairness; None where no group is shown.

        Of equals it takes one with too high a rate, and among these the one of the largest θ.
        """
        if np.isnan(self.unfairness).all():
            return None
        high = np.nanmax(self.unfairness)
        low = np.nanmin(self.unfairness)
        # Which of several equal squares is named must not depend on the last bits of sums.
        extreme = self.unfairness >= high - ROUNDING
        if high < -low - ROUNDING:
            extreme = self.unfairness <= low + ROUNDING
        # argwhere goes by row, so that the last has the largest θ₁, and then θ₂.
        i, j = np.argwhere(extreme)[-1].tolist()
        return i, j

    @property
    def compared_with(self) -> Array:
        """The rate that each group's is compared with: (k, k)."""
        if self.expected_rate is None:
            return np.full(self.unfairness.shape, self.overall_rate)
        return self.expected_rate

    @property
    def worst(self) -> float:
        """The largest absolute unfairness that is shown, 0 where none is.

        Groups that are too small to be shown are not among these, so that this is no bound on the
        unfairness of all half-planes.
        """
        return 0.0 if self.place is None else abs(float(self.unfairness[self.place]))

    def __repr__(self) -> str:
        return short_repr(self, name=self.name, worst=self.worst, error=self.error)


@dataclass(frozen=True, eq=False, repr=False)
class DiscriminationSurface:
    """Hold the unfairness of every half-plane of two attributes: the paper's Figure 4, for any two.

    A group is {θ·z > 0}, with z the two attributes in standard deviations from their mean (the
    paper has θ·z < 0, and no standard deviations). Groups with fewer than `min_group_size` rows in
    the notion's event, inside or outside, are not shown; and groups that differ by fewer are shown
    as one, the nearest by the angle of θ. So whatever is added and subtracted of the groups that
    are shown is of no row, or of at least so many in the event. With `min_group_size=1` every group
    is shown.

    Attributes
    ----------
    attributes : pair of str
        The two attributes, in words.
    notion : FairnessNotion
        The rate that was compared.
    thetas : array (k,)
        θ₁ by row of the arrays, and θ₂ by column.
    subgroups : k lists of k str or None
        The group that each square shows, in words.
    size, share : arrays (k, k)
        Rows in the group; and the weight of its rows in the event, over the weight of all rows. NaN
        where the group is not shown.
    rounds : tuple of SurfaceRound
        One for each model, or for each round that was kept of a training, in order.
    n_rows, min_group_size : int
        Number of rows, and the fewest in the event that a shown group may have.
    standardized : bool
        Whether θ weighs the attributes in standard deviations, or in their own units.
    control_features : tuple of str
        The columns within whose values groups are compared; empty where there are none.

    See Also
    --------
    discrimination_surface
        Measure the unfairness of every half-plane of two attributes, for one model or several.
    SurfaceDisplay
        Draw one round of a discrimination surface, on a scale of colours that all rounds share.

    Examples
    --------
    >>> from gerrymend import discrimination_surface
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(800)
    >>> surface = discrimination_surface(
    ...     toy.target, (toy.score >= 0.5).astype(int), sensitive_features=toy.sensitive_features)
    >>> surface.size.shape, surface.n_rows, surface.worst()["unfairness"]
    ((21, 21), 800, 0.0625)
    """

    attributes: tuple[str, str]
    notion: FairnessNotion
    thetas: Array
    subgroups: Sequence[Sequence[str | None]]
    size: Array
    share: Array
    rounds: tuple[SurfaceRound, ...]
    n_rows: int
    min_group_size: int
    standardized: bool
    control_features: tuple[str, ...] = ()

    @classmethod
    def from_training(
        cls,
        classifier: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        attributes: Any = None,
        rounds: Sequence[int] | None = None,
        sample_weight: Any = None,
        notion: Any = None,
        thetas: Sequence[float] | None = None,
        min_group_size: int = MIN_GROUP_SIZE,
    ) -> "DiscriminationSurface":
        """Fit a copy of the classifier, and keep the surface of its mixture at some rounds.

        A fitted classifier has no record of the decisions of each round, which would be rows ×
        rounds; so this trains again, and keeps sums by protected values alone. It is the same
        training if `random_state` of the classifier is a number. The last round is that of the
        final mixture.

        Parameters
        ----------
        classifier : SubgroupParityClassifier or MarginalParityClassifier
            Fitted or not; it is cloned, and never changed.
        X, y, sensitive_features, control_features
            The rows, as in its fit(). With control features it is trained, and shown, within
            strata.
        attributes
            As in discrimination_surface().
        rounds : sequence of int, optional
            The rounds to keep, beside the last. By default about 24, the first ones close together.
        sample_weight
            Weights of the rows, as in its fit().
        notion : optional
            One rate; the classifier's own by default.
        thetas, min_group_size
            As in discrimination_surface().

        Examples
        --------
        >>> from sklearn.linear_model import LinearRegression
        >>> from gerrymend import DiscriminationSurface, SubgroupParityClassifier
        >>> from gerrymend.datasets import make_intersectional
        >>> data = make_intersectional(800, random_state=0)
        >>> clf = SubgroupParityClassifier(
        ...     LinearRegression(), solver="fictitious_play", max_iter=20, tol=None, gamma=0.1,
        ...     random_state=0)
        >>> surface = DiscriminationSurface.from_training(
        ...     clf, data.data, data.target, sensitive_features=data.sensitive_features,
        ...     attributes=("number_0", ("category_0", "v0")), rounds=[1, 5, 10])
        >>> [kept.name for kept in surface.rounds]
        [1, 5, 10, 20]
        """
        # Here, as that module imports this one, and all of the training with it.
        from gerrymend.surfaces.training import training_surface

        return training_surface(
            classifier, X, y, sensitive_features, control_features, sample_weight, attributes,
            rounds, notion, thetas, min_group_size,
        )  # fmt: skip

    @property
    def limit(self) -> float:
        """The largest absolute unfairness of any round, to which a scale of colours reaches."""
        return max(kept.worst for kept in self.rounds)

    def rate(self, number: int = -1) -> Array:
        """Return the rate of every group in a round, given by its place in `rounds`: (k, k).

        It is overall + unfairness/share, within strata expected + unfairness/share, and NaN where
        the group is not shown: unfairness is share × (rate − overall), solved for the rate.

        Parameters
        ----------
        number : int, default=-1
            The place in `rounds`, and not the number of the round; the last by default.
        """
        kept = self.rounds[place_of(number, self.rounds)]
        rates: Array = kept.compared_with + kept.unfairness / self.share
        return rates

    def worst(self, number: int = -1) -> dict[str, Any] | None:
        """Return the worst group shown in a round as plain data, or None where none is shown.

        Its θ is that of a square that shows it.

        Parameters
        ----------
        number : int, default=-1
            The place in `rounds`, and not the number of the round; the last by default.

        Returns
        -------
        dict or None
            `theta`, `subgroup` in words, `size` in rows, `share`, `rate`, `expected_rate`, and the
            signed `unfairness`.
        """
        kept = self.rounds[place_of(number, self.rounds)]
        if kept.place is None:
            return None
        i, j = kept.place
        return {
            "theta": [float(self.thetas[i]), float(self.thetas[j])],
            "subgroup": self.subgroups[i][j],
            "size": int(self.size[i, j]),
            "share": float(self.share[i, j]),
            "rate": float(self.rate(number)[i, j]),
            "expected_rate": float(kept.compared_with[i, j]),
            "unfairness": float(kept.unfairness[i, j]),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the surface as plain data: sums over groups, and None where nothing is shown."""
        return {
            "attributes": list(self.attributes),
            "notion": self.notion.to_dict(),
            "n_rows": self.n_rows,
            "min_group_size": self.min_group_size,
            "standardized": self.standardized,
            "control_features": list(self.control_features),
            "thetas": self.thetas.tolist(),
            "subgroups": [list(row) for row in self.subgroups],
            "size": _plain(self.size, int),
            "share": _plain(self.share, float),
            "rounds": [
                {
                    "name": kept.name,
                    "error": _known(kept.error),
                    "overall_rate": _known(kept.overall_rate),
                    "unfairness": _plain(kept.unfairness, float),
                    "expected_rate": _plain(kept.compared_with, float),
                    "place": None if kept.place is None else list(kept.place),
                    "worst": self.worst(i),
                }
                for i, kept in enumerate(self.rounds)
            ],
        }

    def to_json(self) -> str:
        """Return the surface as JSON."""
        return json_text(self.to_dict())

    def to_markdown(self) -> str:
        """Return the worst group of each round as Markdown; text from the data is escaped."""
        from gerrymend.reporting.surface.text import as_markdown

        return as_markdown(self.to_dict())

    def __repr__(self) -> str:
        return short_repr(
            self,
            attributes=self.attributes,
            notion=self.notion.name,
            rounds=tuple(kept.name for kept in self.rounds),
            n_rows=self.n_rows,
        )

    def __str__(self) -> str:
        from gerrymend.reporting.surface.text import as_text

        return as_text(self.to_dict())

    def to_html(self) -> str:
        """Return one HTML page with a slider over rounds; this needs `gerrymend[report]`."""
        from gerrymend.reporting.surface.page import surface_page

        return surface_page(self.to_dict())

    def write_html(self, path: str | Path) -> Path:
        """Write the page of `to_html` to a file, and return its path."""
        from gerrymend.reporting.page import write_page

        return write_page(self.to_html(), path)

    def _repr_html_(self) -> str | None:
        """Return the sentence and the table for notebooks.

        None where jinja2 is not installed: a notebook then shows the text.
        """
        from gerrymend.reporting.surface.page import surface_fragment

        try:
            return surface_fragment(self.to_dict())
        except ImportError:
            return None


def _known(value: float) -> float | None:
    """Return the value, or None for one that is not shown."""
    return None if math.isnan(value) else value


def _plain(values: Array, kind: type) -> list[list[Any]]:
    """Return numbers as Python's own type, None where nothing is shown."""
    return [[None if np.isnan(value) else kind(value) for value in row] for row in values.tolist()]


def place_of(number: Any, rounds: Sequence[SurfaceRound]) -> int:
    """Return the place of a round among these; raise an ArgumentError for one that is none."""
    n = len(rounds)
    is_whole = isinstance(number, Integral) and is_number_type(type(number))
    if not (is_whole and -n <= int(number) < n):
        raise ArgumentError(
            Argument("number", value=short(number)),
            f"is out of range; the surface has {n} rounds: "
            f"{', '.join(str(kept.name) for kept in rounds)}. Pass the place of one of them, from "
            f"{-n} to {n - 1}.",
        )
    return int(number)
