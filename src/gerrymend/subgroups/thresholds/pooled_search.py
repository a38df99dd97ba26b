"""Search linear thresholds of attributes with so many categories that no dense design can be had.

Thousands of indicators take gigabytes, and their factorisation minutes. Here the widest attributes
are *pooled*: the search sees two columns of each, made for the residual W at hand, in place of an
indicator for each category,

- its part of the least-squares fit, Σ_c coefficient_c·[attribute = c], so that the regression's
  group is one of those looked at and none below it is reported;
- the mean residual of each category, which is all that matters of an attribute on its own.

Both are combinations of indicators, so that every threshold of such columns is one of the class.
The fit is by LSMR, which needs products with the design alone; these are sparse.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.projection import WeightedColumns, moments, only
from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import Found
from gerrymend.subgroups.encoding import LinearEncoding, is_too_wide
from gerrymend.subgroups.thresholds.ascents import Ascent
from gerrymend.subgroups.thresholds.circles import MemoryCircles
from gerrymend.subgroups.thresholds.regression import SparseRegression
from gerrymend.subgroups.thresholds.search import StartedSearch
from gerrymend.subgroups.thresholds.standardised import standardised


class PooledSearch(StartedSearch):
    """Ascent over few columns, made anew for each residual. Keys are coefficients of all terms."""

    def __init__(
        self,
        columns: tuple[Column, ...],
        encoding: LinearEncoding,
        event_weight: Array,
        *,
        restarts: int | None,
        seed: int,
    ) -> None:
        self._narrow, self._pooled = _divided(encoding, len(event_weight))
        width = len(self._narrow) + 2 * len(self._pooled) + 1
        super().__init__(columns, encoding, len(event_weight) * width, restarts)
        self._event_weight = event_weight
        self._sparse = SparseRegression(columns, encoding, event_weight)
        self._design = self._sparse.design
        self.source = self._sparse.source
        self._seed = seed

    def _search(
        self, residual: Array, rows: NDArray[np.intp], smallest: int, deadline: float = math.inf
    ) -> tuple[Array, float]:
        """Return the best coefficients of all terms, the intercept last, and their |value|."""
        n_terms = self._design.shape[1]
        if not residual.any():
            return np.zeros(n_terms + 1), 0.0 if smallest == 0 else -1.0
        fit = self._sparse.fit(residual)
        pooling = self._pooling(residual, fit[:-1])
        reduced = np.asarray((self._design @ pooling).todense())
        mean, scale = moments(only(WeightedColumns(reduced, self._event_weight)))
        starts = self._directions(fit, mean, scale)
        circles = MemoryCircles(partial(standardised, reduced.T, reduced.shape[0], mean, scale))
        ascent = Ascent(circles, self._seed)
        wanted = circles.wanted(residual, rows, smallest)
        direction, value = ascent.best(wanted, starts, self._restarts, deadline)
        coefficients = direction[:-1] / scale
        intercept = direction[-1] - coefficients @ mean
        return np.append(pooling @ coefficients, intercept), value

    def _pooling(self, residual: Array, fit: Array) -> sparse.csr_array:
        """One row a term, one column for each that the search sees."""
        width = len(self._narrow) + 2 * len(self._pooled)
        pooling = sparse.lil_array((len(fit), width))
        pooling[self._narrow, np.arange(len(self._narrow))] = 1.0
        for i, terms in enumerate(self._pooled):
            place = len(self._narrow) + 2 * i
            members = self._design[:, terms]
            rest = np.asarray(members.sum(axis=1)).ravel() == 0.0
            weight = members.T @ self._event_weight
            mean = (members.T @ residual) / np.where(weight > 0, weight, 1.0)
            common = residual[rest].sum() / max(self._event_weight[rest].sum(), 1e-300)
            pooling[terms, place] = fit[terms]
            pooling[terms, place + 1] = mean - common  # the common category has no indicator
        return pooling.tocsr()

    def _directions(self, fit: Array, mean: Array, scale: Array) -> list[Array]:
        """Return the regression's direction, and that of the categories' means, over z and 1."""
        width = len(scale)
        finite = np.where(np.isfinite(scale), scale, 0.0)
        regression = np.zeros(width)
        regression[: len(self._narrow)] = fit[self._narrow]
        regression[len(self._narrow) :: 2] = 1.0
        means = np.zeros(width)
        means[len(self._narrow) + 1 :: 2] = 1.0
        return [
            np.append(regression * finite, fit[-1] + regression @ mean),
            np.append(means * finite, 0.0),
        ]

    def _found(self, residuals: Array, directions: Array) -> Found:
        return self._sparse.found(residuals, directions)


def _divided(
    encoding: LinearEncoding, n_cells: int
) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
    """Return the terms that are kept as they are, and those of each pooled attribute.

    The widest attributes are pooled, until what is left is no longer too wide.
    """
    terms: dict[str, list[int]] = {}
    for place, term in enumerate(encoding.terms):
        terms.setdefault(term.attribute if term.categorical else "", []).append(place)
    numbers = terms.pop("", [])
    by_width = sorted(terms.values(), key=len)
    pooled = []
    while by_width and is_too_wide(n_cells, len(numbers) + sum(map(len, by_width))):
        pooled.append(np.array(by_width.pop(), dtype=np.intp))
    narrow = sorted([*numbers, *(place for some in by_width for place in some)])
    return np.array(narrow, dtype=np.intp), pooled
