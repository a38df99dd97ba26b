"""ParetoFrontier: models by error and unfairness, with dominated ones marked, and the knee."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.frontier.points import FrontierPoint, FrontierReference, OnRows
from gerrymend.inputs.numbers import short
from gerrymend.inputs.settings import is_same
from gerrymend.reporting.audit.levels import levels
from gerrymend.reporting.frames import check_backend
from gerrymend.reporting.frontier import text as frontier_text
from gerrymend.reporting.wording import json_text

# Decimal digits to which errors and unfairness are compared; differences beyond are rounding.
_DIGITS = 12


@dataclass(frozen=True, eq=False, repr=False)
class ParetoFrontier:
    """The points of pareto_frontier(): models that trade error for unfairness.

    Attributes
    ----------
    points : tuple of FrontierPoint
        By notion, estimator and gamma, in the order in which these were given.
    marginal_points : tuple of FrontierPoint
        Those of the paper's MARGINAL, if asked for. Points of either kind may dominate points of
        the other, but these are never suggested.
    n_missing : int
        Number of points that were not done because of an interrupt.
    references : tuple of FrontierReference
        By notion: the model of today, if it was given, and each estimator without constraint.
    label : str or None
        Name of the label, for words to say "repaid = 1"; None where it is not known.
    dropped : MissingValues or None
        Rows that the command line dropped; None where it dropped none.

    See Also
    --------
    pareto_frontier
        Train a model for each gamma, notion and estimator, and audit each as audit() does.
    FrontierPoint : One model of a frontier.
    FrontierDisplay
        Draw the models of a frontier as points (error, unfairness), on training and test rows.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import SubgroupParityClassifier, pareto_frontier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(300, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(LinearRegression(), max_iter=20, tol=None, random_state=0)
    >>> frontier = pareto_frontier(
    ...     clf, data.data, data.target, sensitive_features=data.sensitive_features,
    ...     gammas=[0.05, 0.1])
    >>> len(frontier.points), frontier.n_missing, frontier.model(0.1).gamma
    (2, 0, 0.1)
    """

    points: tuple[FrontierPoint, ...]
    marginal_points: tuple[FrontierPoint, ...] = ()
    n_missing: int = 0
    references: tuple[FrontierReference, ...] = ()
    label: str | None = None
    dropped: MissingValues | None = None

    @property
    def suggested(self) -> tuple[FrontierPoint, ...]:
        """The knee of each notion that has one: a place to start a discussion, not a decision.

        Of the `points` that no model dominates, take the one with the least unfairness and the one
        with the least error, and scale both axes so that these are (0, 1) and (1, 0). The knee is
        the point furthest below the chord between them, the largest 1 − x − y, if that is above 0.
        Points are compared on the test rows, if there are any. How much error a unit of unfairness
        is worth is a question of policy, which this scaling doesn't answer.
        """
        knees = []
        # dict.fromkeys keeps the order in which notions were given; a set would not.
        for notion in dict.fromkeys(point.notion for point in self.points):
            points = [
                point for point in self.points
                if point.notion == notion and not point.compared.dominated
            ]  # fmt: skip
            # `dominated` is also by MARGINAL's points, of which knee() knows nothing.
            best = knee([(p.compared.unfairness, p.compared.error) for p in points])
            knees += [] if best is None else [points[best]]
        return tuple(knees)

    def model(
        self, gamma: float, *, notion: str | None = None, estimator: str | None = None
    ) -> Any:
        """Return the fitted classifier of a point.

        `notion` and `estimator` are needed only if there are several. Raises ValueError, with the
        values that there are, unless exactly one point fits.
        """
        wanted = {"gamma": gamma, "notion": notion, "estimator": estimator}
        asked = {name: value for name, value in wanted.items() if value is not None}
        found = [
            point for point in self.points
            if all(is_same(value, getattr(point, name)) for name, value in asked.items())
        ]  # fmt: skip
        if len(found) != 1:
            words = ", ".join(f"{name}={short(value)}" for name, value in asked.items())
            there = "; ".join(
                f"{name}: {', '.join(f'{value!r}' for value in self._values(name))}"
                for name in wanted
            )
            raise ValueError(
                f"{len(found) or 'No'} points have {words}; name one. There are {there}."
            )
        return found[0].model

    def to_dict(self) -> dict[str, Any]:
        """Return the frontier as plain data, without data of any row."""
        suggested = self.suggested
        data = {
            "points": [
                {**point.to_dict(), "suggested": point in suggested} for point in self.points
            ],
            "marginal_points": [
                {**point.to_dict(), "suggested": False} for point in self.marginal_points
            ],
            "n_missing": self.n_missing,
            "references": [
                {
                    **reference.to_dict(),
                    **self._standing(reference),
                    "levels": [self._levels(reference, point) for point in self.points],
                }
                for reference in self.references
            ],
            **self._direction(),
        }
        return data | {"chance": frontier_text.chance_sentences(data)}

    def _standing(self, reference: FrontierReference) -> dict[str, int]:
        """Count the points that beat a reference and those that it beats, on the compared rows."""
        own = reference.compared
        others = [point.compared for point in self.points if point.notion == reference.notion]
        return {
            "beaten_by": sum(beats(other, own) for other in others),
            "beats": sum(beats(own, other) for other in others),
        }

    def _levels(
        self, reference: FrontierReference, point: FrontierPoint
    ) -> list[dict[str, Any]] | None:
        """Return how rates moved from a reference to a point, on the compared rows.

        None where the two are of other rates or estimators.
        """
        alike = reference.estimator in (None, point.estimator)
        if not alike or reference.notion != point.notion:
            return None
        return levels(reference.compared.report.to_dict(), point.compared.report.to_dict())

    def _direction(self) -> dict[str, Any]:
        """Return labels, the favourable decision, which rows and subgroups count, within what."""
        reports = [point.train.report for point in (*self.points, *self.marginal_points)]
        notions = {notion.name: notion for report in reports for notion in report.notions}
        return {
            "labels": list(reports[0].labels),
            "columns": {"label": self.label, "decision": self.label},
            "favourable": reports[0].favourable,
            "side": reports[0].side,
            "notions": [notion.to_dict() for notion in notions.values()],
            "control_features": list(reports[0].control_features),
            "missing": (self.dropped or reports[0].missing).to_dict(),
        }

    def to_json(self) -> str:
        """Return the frontier as JSON."""
        return json_text(self.to_dict(), indent=2)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the frontier as a frame of "pandas", "polars" or "pyarrow", one point a row.

        Those of MARGINAL come last, marked in the column "marginal".
        """
        data = self.to_dict()
        rows = [
            {"marginal": bool(marginal), **_flat(point)}
            for marginal, points in enumerate((data["points"], data["marginal_points"]))
            for point in points
        ]
        return nw.from_dicts(rows, backend=check_backend(backend)).to_native()

    def to_markdown(self) -> str:
        """Return the frontier as Markdown: tables, and the worst subgroup of each point."""
        return frontier_text.as_markdown(self.to_dict())

    def to_html(self) -> str:
        """Return a self-contained interactive page to choose a point on; it loads nothing.

        A point is picked in the picture or in the list, two are compared in words, and the code or
        command that trains the chosen one is there to copy. It needs the extra `report`.
        """
        from gerrymend.reporting.frontier import page as frontier_page

        return frontier_page.html(self.to_dict())

    def write_html(self, path: str | Path) -> Path:
        """Write the page of `to_html` to a file, whole or not at all; return its path."""
        from gerrymend.reporting.page import write_page

        return write_page(self.to_html(), path)

    def _repr_html_(self) -> str | None:
        """Return a table for notebooks, or None without jinja2, so that they show the text."""
        from gerrymend.reporting.frontier import page as frontier_page

        try:
            return frontier_page.fragment(self.to_dict())
        except ImportError:
            return None

    def __rich__(self) -> Any:
        return frontier_text.as_rich(self.to_dict())

    def __repr__(self) -> str:
        gammas = self._values("gamma")
        return short_repr(
            self,
            n_points=len(self.points),
            gammas=f"{min(gammas):g} to {max(gammas):g}",
            notions=tuple(self._values("notion")),
            estimators=tuple(self._values("estimator")),
        )

    def __str__(self) -> str:
        return frontier_text.as_text(self.to_dict())

    def _values(self, name: str) -> list[Any]:
        return list(dict.fromkeys(getattr(point, name) for point in self.points))


def dominated(costs: Sequence[tuple[float, ...]]) -> NDArray[np.bool_]:
    """Return a mask of the costs that are dominated by another, nowhere larger and once smaller.

    `costs` has a tuple for each point; values are compared to 12 decimals.

    >>> dominated([(0.0, 0.3), (0.1, 0.2), (0.1, 0.3), (0.2, 0.2), (0.1, 0.2)]).tolist()
    [False, False, True, True, False]
    """
    table = np.round(np.asarray(costs, dtype=np.float64), _DIGITS)
    return np.array([
        # A point never dominates itself or its equals, as nothing in them is smaller. Pairwise
        # comparison is n² of n points, of which a frontier has tens.
        bool(((table <= cost).all(axis=1) & (table < cost).any(axis=1)).any()) for cost in table
    ])  # fmt: skip


def beats(one: OnRows, other: OnRows) -> bool:
    """Return True if `one` has no more error and no more unfairness, and less of one."""
    costs = [(figures.error, figures.unfairness) for figures in (one, other)]
    return bool(dominated(costs)[1])


def knee(costs: Sequence[tuple[float, float]]) -> int | None:
    """Return the position of the undominated point furthest below the chord between the ends.

    Returns None if no point is below it. By hand, for the first example: scaled, the points are
    (0, 1), (0.25, 0.5), (0.5, 0.4) and (1, 0), and 1 − x − y is 0, 0.25, 0.1 and 0.

    >>> knee([(0.00, 0.30), (0.01, 0.20), (0.02, 0.18), (0.04, 0.10)])
    1
    >>> knee([(0.00, 0.30), (0.02, 0.20), (0.04, 0.10)]) is None
    True
    """
    if not costs:
        return None
    table = np.round(np.asarray(costs, dtype=np.float64), _DIGITS)
    # The ends of the chord must be undominated, or a point with little error and much unfairness
    # would stretch an axis and move the knee.
    kept = table[~dominated(costs)]
    low = kept.min(axis=0)
    high = kept.max(axis=0)
    if (low == high).any():  # a single point, or one that dominates all others
        return None
    # On axes scaled to [0, 1] the chord is x + y = 1, and 1 − x − y the distance below it, × √2.
    below = np.where(dominated(costs), -np.inf, 1.0 - ((table - low) / (high - low)).sum(axis=1))
    best = int(np.argmax(below))
    return best if round(float(below[best]), _DIGITS) > 0 else None


def mark_dominated(points: Iterable[FrontierPoint]) -> tuple[FrontierPoint, ...]:
    """Return the points, with those marked that another of the same notion dominates, by sample."""
    marked = list(points)
    for notion in {point.notion for point in marked}:
        # Error and unfairness of one notion are no measure of a model of another.
        places = [i for i, point in enumerate(marked) if point.notion == notion]
        for sample in ("train", "test"):
            seen = [getattr(marked[i], sample) for i in places]
            if None in seen:  # there are no test rows
                continue
            worse = dominated([(figures.error, figures.unfairness) for figures in seen])
            for i, figures, is_worse in zip(places, seen, worse, strict=True):
                figures = replace(figures, dominated=bool(is_worse))
                marked[i] = replace(marked[i], **{sample: figures})
    return tuple(marked)


def mark_references(
    references: Iterable[FrontierReference], points: Sequence[FrontierPoint]
) -> tuple[FrontierReference, ...]:
    """Return the references, with those marked that a point of the same notion beats, by sample."""
    marked = []
    for reference in references:
        others = [point for point in points if point.notion == reference.notion]
        for sample in ("train", "test"):
            own = getattr(reference, sample)
            if own is not None:
                worse = any(beats(getattr(point, sample), own) for point in others)
                reference = replace(reference, **{sample: replace(own, dominated=worse)})
        marked.append(reference)
    return tuple(marked)


def _flat(point: dict[str, Any]) -> dict[str, Any]:
    """Flatten the data of a point to one level: train_error, test_error, …."""
    flat = {name: value for name, value in point.items() if not isinstance(value, dict)}
    for sample in ("train", "test"):
        flat |= {f"{sample}_{name}": value for name, value in (point[sample] or {}).items()}
    # A column "test" of nothing but None would come from the first line: None is no dict.
    if point["test"] is None:
        del flat["test"]
    return flat
