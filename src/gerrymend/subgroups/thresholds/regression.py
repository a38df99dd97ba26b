"""The paper's auditor of linear thresholds."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import lsmr

from gerrymend._numeric.projection import TIE, Projection
from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import BoundClass, Found, value_of_all
from gerrymend.subgroups.encoding import DirectionRules, LinearEncoding, TermRules

# Numbers that LSMR may read: some seconds.
_FIT_NUMBERS = 400_000_000
_FEWEST_STEPS = 20
_MOST_STEPS = 200


class LinearSearch(BoundClass):
    """A heuristic over linear thresholds."""

    exact = False
    is_closed = True
    has_everyone = True

    def __init__(self, columns: tuple[Column, ...], encoding: LinearEncoding) -> None:
        self._columns = columns
        self._encoding = encoding
        self.covers = f"every linear threshold of {', '.join(encoding.levels)}"

    def worst_of_size(
        self, residual: Array, rows: NDArray[np.intp], smallest: int, *, seconds: float = math.inf
    ) -> Found | None:
        """Return the group that `worst` finds, if it is large enough."""
        found = self.worst(residual[None])
        inside = rows[found.members[0] > 0].sum()
        return found if min(inside, rows.sum() - inside) >= smallest else None


class RegressionSearch(LinearSearch):
    """The paper's heuristic: fit the residual, take the side where it is predicted above 0.

    A least-squares fit is one projection, cached; a call is two passes over its basis. The fit of
    the mean residual of each cell, weighted by the cell's mass, is the fit over its rows, and
    mass·mean is the W that comes in. A complement has the opposite value, so one side serves both
    signs; where W is not centred, the worse of both is returned. Predictions within TIE of 0 are
    ties, not groups.
    """

    def __init__(
        self, columns: tuple[Column, ...], encoding: LinearEncoding, event_weight: Array
    ) -> None:
        super().__init__(columns, encoding)
        self.projection = Projection(
            encoding.matrix(columns), event_weight, argument="sensitive_features"
        )
        self.source = DirectionRules(
            encoding, *self.projection.coefficients(np.eye(len(self.projection.basis)))
        )

    @property
    def unprovable(self) -> str:
        """Why nothing is proven: it is a heuristic."""
        return "search='regression' is a heuristic that no proof follows; search='search' proves"

    def worst(self, residuals: Array) -> Found:
        """Return the group where the regression predicts too high a rate."""
        coordinates = self.projection.coordinates(residuals)
        return _worse_side(residuals, self.projection.fitted(coordinates), coordinates)


class SparseRegression(LinearSearch):
    """The same heuristic for thousands of indicators, whose dense factorisation takes minutes.

    The fit is by LSMR, which needs products with the design alone; these are sparse. Keys are
    coefficients of all terms, the intercept last.
    """

    def __init__(
        self, columns: tuple[Column, ...], encoding: LinearEncoding, event_weight: Array
    ) -> None:
        super().__init__(columns, encoding)
        self._event_weight = event_weight
        self.design = encoding.sparse_matrix(columns)
        self.source = TermRules(encoding)

    def worst(self, residuals: Array) -> Found:
        """Return the group where the regression predicts too high a rate."""
        return self.found(residuals, np.array([self.fit(residual) for residual in residuals]))

    def found(self, residuals: Array, directions: Array) -> Found:
        """Return the groups of coefficients of all terms, the intercept last."""
        scores = (self.design @ directions[:, :-1].T).T + directions[:, -1:]
        return _worse_side(residuals, scores, directions)

    def fit(self, residual: Array) -> Array:
        """Fit the cells' mean residual, weighted; return coefficients, the intercept last."""
        root = np.sqrt(self._event_weight)
        one = sparse.csr_array(np.ones((len(root), 1)))
        design = sparse.diags_array(root) @ sparse.hstack([self.design, one], format="csr")
        size = np.sqrt(np.asarray(design.multiply(design).sum(axis=0)).ravel())
        size[size == 0.0] = 1.0
        scaled = design @ sparse.diags_array(1.0 / size)
        steps = max(_FEWEST_STEPS, min(_MOST_STEPS, _FIT_NUMBERS // max(1, 2 * scaled.nnz)))
        fit: Array = lsmr(scaled, residual / root, atol=1e-12, btol=1e-12, maxiter=steps)[0]
        return fit / size


def _worse_side(residuals: Array, scores: Array, keys: Array) -> Found:
    """Return who has a positive score, or a negative one where W is not centred and that is worse.

    The key of the other side is the same with its sign turned.
    """
    members = (scores > TIE).astype(np.float64)
    values = np.vecdot(residuals, members)
    everyone = value_of_all(residuals)
    if everyone.any():
        others = (scores < -TIE).astype(np.float64)
        turns = (np.abs(np.vecdot(residuals, others)) > np.abs(values)) & (everyone != 0)
        members = np.where(turns[:, None], others, members)
        keys = np.where(turns[:, None], -keys, keys)
        values = np.vecdot(residuals, members)
    return Found(values, members, keys)
