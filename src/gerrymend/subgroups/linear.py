"""Linear thresholds over the protected attributes: the paper's class, and its two auditors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._projection import TIE, Projection
from gerrymend._sums import Array, total
from gerrymend._validation import check_choice, check_whole
from gerrymend.protected import Column, take_rows
from gerrymend.subgroups.base import BoundClass, Found, RuleSource, SubgroupClass
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.rules import LinearRule, Term


class LinearThresholds(SubgroupClass):
    """Subgroups Σ coefficient·attribute ≥ threshold; categories enter as indicators.

    Parameters
    ----------
    search : {"regression", "search", "grid"}, default="regression"
        How the worst one is looked for.

        - "regression", the paper's heuristic: least squares of the residual on the attributes, on
          the rows of the event; the group is where the prediction is positive. What it finds is a
          lower bound, and where the residual is orthogonal to every attribute it finds nothing.
        - "search", a stronger heuristic: from the regression's direction, a logistic regression's
          and random ones, ascent along great circles of directions. Still a lower bound, never
          below the regression's.
        - "grid", the paper's brute force for exactly two attributes: θ in {−1, −.9, …, .9}², no
          intercept, centred attributes, group θ·x < 0. Exact over these 400 groups.

    restarts : int, default=20
        Random starts of "search".
    random_state : int, default=0
        Seed of "search".

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0, 0, 0, 0, 1], [1, 1, 0, 0, 1],
    ...                sensitive_features={"age": [20, 30, 40, 50, 60]},
    ...                subgroups=LinearThresholds(search="regression"))
    >>> print(report.worst, round(report.unfairness, 3))
    age ≤ 35 0.2
    """

    def __init__(
        self, search: str = "regression", *, restarts: int = 20, random_state: int = 0
    ) -> None:
        self.search = search
        self.restarts = restarts
        self.random_state = random_state

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> BoundClass:
        """Encode the attributes and factorise them."""
        search = check_choice(self.search, "search", ("regression", "search", "grid"))
        encoding = LinearEncoding.of(columns, weight)
        active = event_weight > 0
        counted = take_rows(columns, active)
        if search == "regression":
            return RegressionSearch(counted, encoding, event_weight[active])
        if search == "search":
            from gerrymend.subgroups.search import GreatCircleSearch

            return GreatCircleSearch(
                counted,
                encoding,
                event_weight[active],
                restarts=check_whole(self.restarts, "restarts", low=0),
                seed=check_whole(self.random_state, "random_state", low=0),
            )
        design = encoding.matrix(columns)
        mean = np.array([total(weight * values) for values in design.T]) / total(weight)
        return ThetaGrid(counted, encoding, mean)


@dataclass(frozen=True)
class LinearEncoding:
    """The columns of the linear rules: numbers as they are, an indicator for each category but one.

    The category left out is the most common (the last, among equals): with an intercept its
    indicator would be redundant, and a rule is easier to read as a departure from the majority.
    """

    terms: tuple[Term, ...]
    levels: Mapping[str, tuple[Any, ...] | None]

    @classmethod
    def of(cls, columns: Sequence[Column], weight: Array) -> "LinearEncoding":
        """The encoding of some columns, with the weight of each row."""
        terms = []
        for column in columns:
            if column.categories is None:
                terms.append(Term(column.name, categorical=False))
                continue
            weights = [
                total(weight[column.values == code]) for code in range(len(column.categories))
            ]
            common = max(range(len(weights)), key=lambda code: (weights[code], code))
            terms += [
                Term(column.name, categorical=True, value=value)
                for code, value in enumerate(column.categories)
                if code != common
            ]
        return cls(tuple(terms), {column.name: column.categories for column in columns})

    @property
    def covers(self) -> str:
        """The class in words."""
        return f"every linear threshold of {', '.join(self.levels)}"

    def matrix(self, columns: Sequence[Column]) -> Array:
        """One row a cell, one column a term."""
        by_name = {column.name: column for column in columns}
        if not self.terms:
            return np.zeros((len(columns[0].values), 0))
        return np.column_stack([term.evaluate(by_name[term.attribute]) for term in self.terms])

    def linear_rule(self, coefficients: Array, threshold: float) -> LinearRule:
        """The rule with these coefficients, the largest of them ±1."""
        unit = float(np.max(np.abs(coefficients), initial=0.0)) or 1.0
        return LinearRule(
            self.terms, tuple((coefficients / unit).tolist()), threshold / unit, self.levels
        )


class RegressionSearch(BoundClass):
    """The paper's heuristic: fit the residual, take the side where it is predicted above 0.

    A least-squares fit is one projection, cached; a call is two passes over its basis. The fit of
    the mean residual of each cell, weighted by the cell's mass, is the fit over its rows, and
    mass·mean is the W that comes in. A complement has the opposite value, so one side serves both
    signs. Predictions within TIE of 0 are ties, not groups.
    """

    exact = False

    def __init__(
        self, columns: tuple[Column, ...], encoding: LinearEncoding, event_weight: Array
    ) -> None:
        self._projection = Projection(encoding.matrix(columns), event_weight)
        self.vc_dimension = len(encoding.terms) + 1
        self._source = RegressionRules(
            encoding, *self._projection.coefficients(np.eye(len(self._projection.basis)))
        )

    @property
    def source(self) -> RuleSource:
        """What turns keys into rules."""
        return self._source

    @property
    def covers(self) -> str:
        """The class in words."""
        return self._source.encoding.covers

    def worst_of_size(self, residual: Array, rows: NDArray[np.intp], smallest: int) -> Found | None:
        """The regression's group, if it is large enough."""
        found = self.worst(residual[None])
        inside = rows[found.members[0] > 0].sum()
        return found if min(inside, rows.sum() - inside) >= smallest else None

    def fitted(self, coordinates: Array) -> Array:
        """Predicted residuals by cell."""
        return self._projection.fitted(coordinates)

    def worst(self, residuals: Array) -> Found:
        """The group where the regression predicts too high a rate."""
        coordinates = self._projection.coordinates(residuals)
        members = (self._projection.fitted(coordinates) > TIE).astype(np.float64)
        return Found(np.vecdot(residuals, members), members, coordinates)


@dataclass(frozen=True, eq=False)
class RegressionRules:
    """From coordinates in the basis of a projection to a rule in the user's units."""

    encoding: LinearEncoding
    intercepts: Array
    coefficients: Array

    def rule(self, key: Any) -> LinearRule:
        """Rows where intercept + coefficients·x is above TIE."""
        threshold = TIE - float(key @ self.intercepts)
        return self.encoding.linear_rule(key @ self.coefficients, threshold)


class ThetaGrid(ListedClass):
    """The paper's brute force over two attributes; `thetas` are its directions, in order."""

    def __init__(self, columns: tuple[Column, ...], encoding: LinearEncoding, mean: Array) -> None:
        if len(encoding.terms) != 2 or len(encoding.levels) != 2:
            names = ", ".join(term.describe() for term in encoding.terms)
            raise ValueError(
                "search='grid' takes exactly two protected attributes, each a number or with two "
                f"categories; got {len(encoding.levels)}, encoded as {names}. Choose two, or use "
                "search='regression'."
            )
        steps = np.arange(-10, 10) / 10
        self.thetas = np.array([(first, second) for first in steps for second in steps])
        centred = encoding.matrix(columns) - mean
        # θ·x < 0 is −θ·x > 0.
        rules = [encoding.linear_rule(-theta, TIE - float(theta @ mean)) for theta in self.thetas]
        members = [
            centred[:, 0] * theta[0] + centred[:, 1] * theta[1] < -TIE for theta in self.thetas
        ]
        self.vc_dimension = len(encoding.terms) + 1
        super().__init__(rules, members, "the 400 linear thresholds of the paper's grid")
