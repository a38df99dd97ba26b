"""DiscriminationSurface: the signed unfairness of half-planes of two attributes, as plain data."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE, check_min_group_size
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.notions import FairnessNotion


@dataclass(frozen=True, eq=False)
class SurfaceRound:
    """The surface of one model: of one round, where a training was watched.

    Attributes
    ----------
    name : int or str
        The round, or what the model was called.
    unfairness : array (k, k)
        Signed: positive where the group's rate is above the overall one. NaN where the group is
        too small to be shown.
    overall_rate, error : float
        The rate of all rows that count, and the error; NaN where they would be of fewer than
        `min_group_size` rows.
    """

    name: int | str
    unfairness: Array
    overall_rate: float
    error: float

    @cached_property
    def place(self) -> tuple[int, int] | None:
        """Row and column of the largest unfairness, without sign; None where none is shown.

        Between equals one of too high a rate, and the one of the largest θ.
        """
        if np.isnan(self.unfairness).all():
            return None
        high, low = np.nanmax(self.unfairness), np.nanmin(self.unfairness)
        extreme = self.unfairness >= high - ROUNDING
        if high < -low - ROUNDING:
            extreme = self.unfairness <= low + ROUNDING
        i, j = np.argwhere(extreme)[-1].tolist()
        return i, j

    @property
    def worst(self) -> float:
        """The largest unfairness that is shown, without sign."""
        return 0.0 if self.place is None else abs(float(self.unfairness[self.place]))


@dataclass(frozen=True, eq=False)
class DiscriminationSurface:
    """The unfairness of every half-plane of two attributes: the paper's Figure 4, for any two.

    A group is {θ·z > 0}, with z the two attributes in standard deviations from their mean (the
    paper has θ·z < 0, and no standard deviations). Groups with fewer than `min_group_size` rows
    that count, inside or outside, are not shown; and groups that differ by fewer are shown as one,
    the nearest by the angle of θ. So whatever is added and subtracted of the groups that are shown
    is of no row, or of at least so many that count. With `min_group_size=1` every group is shown.

    Attributes
    ----------
    attributes : pair of str
        The two attributes, in words.
    notion : FairnessNotion
        The rate that was compared.
    thetas : array (k,)
        θ₁ by row of the arrays, and θ₂ by column.
    subgroups : k lists of k str or None
        Who is in the group that each square shows, in words.
    size, share : arrays (k, k)
        Rows in the group; and the weight of those that count, over the weight of all rows. NaN
        where the group is not shown.
    rounds : tuple of SurfaceRound
    n_rows, min_group_size : int
    standardized : bool
        Whether θ weighs the attributes in standard deviations, or in their own units.
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

    @classmethod
    def from_training(
        cls,
        classifier: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
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
        X, y, sensitive_features, sample_weight :
            The rows, as in its fit().
        attributes, thetas, min_group_size :
            As in discrimination_surface().
        rounds : sequence of int, optional
            The rounds to keep, beside the last. By default about 24, the first ones close together.
        notion : optional
            One rate; the classifier's own by default.

        Examples
        --------
        >>> from sklearn.linear_model import LinearRegression
        >>> from gerrymend import DiscriminationSurface, SubgroupParityClassifier
        >>> from gerrymend.datasets import make_intersectional
        >>> data = make_intersectional(800, random_state=0)
        >>> clf = SubgroupParityClassifier(
        ...     LinearRegression(), solver="fictitious_play", max_iter=20, tol=None, gamma=0.0,
        ...     random_state=0)
        >>> surface = DiscriminationSurface.from_training(
        ...     clf, data.data, data.target, sensitive_features=data.sensitive_features,
        ...     attributes=("number_0", ("category_0", "v0")), rounds=[1, 5, 10])
        >>> [one.name for one in surface.rounds]
        [1, 5, 10, 20]
        """
        from gerrymend.surfaces.measuring import measure_surface
        from gerrymend.surfaces.training import watch_training

        smallest = check_min_group_size(min_group_size)
        watched = watch_training(
            classifier, X, y, sensitive_features, sample_weight, attributes, rounds, notion,
            smallest,
        )  # fmt: skip
        return measure_surface(
            watched.tallies, watched.notion, attributes,
            thetas=thetas, standardize=True, min_group_size=smallest,
        )  # fmt: skip

    @property
    def limit(self) -> float:
        """The largest unfairness of any round, without sign: what a scale of colours reaches to."""
        return max(one.worst for one in self.rounds)

    def rate(self, number: int = -1) -> Array:
        """The rate of every group in a round, by its place in `rounds`: overall + unfairness/share.

        NaN where the group is not shown.
        """
        one = self.rounds[number]
        rates: Array = one.overall_rate + one.unfairness / self.share
        return rates

    def worst(self, number: int = -1) -> dict[str, Any] | None:
        """The worst group that is shown in a round, as plain data; None where none is shown.

        Its θ is that of a square that shows it.
        """
        one = self.rounds[number]
        if one.place is None:
            return None
        i, j = one.place
        return {
            "theta": [float(self.thetas[i]), float(self.thetas[j])],
            "subgroup": self.subgroups[i][j],
            "size": int(self.size[i, j]),
            "share": float(self.share[i, j]),
            "rate": float(self.rate(number)[i, j]),
            "unfairness": float(one.unfairness[i, j]),
        }

    def to_dict(self) -> dict[str, Any]:
        """The surface as plain data: sums over groups alone, and None where nothing is shown."""
        return {
            "attributes": list(self.attributes),
            "notion": self.notion.to_dict(),
            "n_rows": self.n_rows,
            "min_group_size": self.min_group_size,
            "standardized": self.standardized,
            "thetas": self.thetas.tolist(),
            "subgroups": [list(row) for row in self.subgroups],
            "size": _plain(self.size, int),
            "share": _plain(self.share, float),
            "rounds": [
                {
                    "name": one.name,
                    "error": _known(one.error),
                    "overall_rate": _known(one.overall_rate),
                    "unfairness": _plain(one.unfairness, float),
                    "place": None if one.place is None else list(one.place),
                    "worst": self.worst(i),
                }
                for i, one in enumerate(self.rounds)
            ],
        }

    def to_json(self) -> str:
        """The surface as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_markdown(self) -> str:
        """The worst group of each round as Markdown; text from the data is escaped."""
        from gerrymend.reporting.surface.text import as_markdown

        return as_markdown(self.to_dict())

    def __str__(self) -> str:
        from gerrymend.reporting.surface.text import as_text

        return as_text(self.to_dict())

    def to_html(self) -> str:
        """The surface as one HTML page, to be turned over rounds; it needs `gerrymend[report]`."""
        from gerrymend.reporting.surface.page import surface_page

        return surface_page(self.to_dict())

    def write_html(self, path: str | Path) -> Path:
        """Write that page."""
        from gerrymend.reporting.page import write_page

        return write_page(self.to_html(), path)

    def _repr_html_(self) -> str | None:
        """The sentence and the table for notebooks; None without jinja2, and they show the text."""
        from gerrymend.reporting.surface.page import surface_fragment

        try:
            return surface_fragment(self.to_dict())
        except ImportError:
            return None


def _known(value: float) -> float | None:
    """None for what is not shown."""
    return None if math.isnan(value) else value


def _plain(values: Array, kind: type) -> list[list[Any]]:
    """Numbers as Python's own; None where nothing is shown."""
    return [[None if np.isnan(value) else kind(value) for value in row] for row in values.tolist()]
