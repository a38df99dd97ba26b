"""The paper's auditor of linear thresholds."""

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.projection import TIE, Projection
from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import BoundClass, Found, RuleSource
from gerrymend.subgroups.encoding import DirectionRules, LinearEncoding


class LinearSearch(BoundClass):
    """A heuristic over linear thresholds."""

    exact = False

    def __init__(self, columns: tuple[Column, ...], encoding: LinearEncoding) -> None:
        self._columns, self._encoding = columns, encoding
        self.vc_dimension = len(encoding.terms) + 1

    @property
    def covers(self) -> str:
        """The class in words."""
        return f"every linear threshold of {', '.join(self._encoding.levels)}"


class RegressionSearch(LinearSearch):
    """The paper's heuristic: fit the residual, take the side where it is predicted above 0.

    A least-squares fit is one projection, cached; a call is two passes over its basis. The fit of
    the mean residual of each cell, weighted by the cell's mass, is the fit over its rows, and
    mass·mean is the W that comes in. A complement has the opposite value, so one side serves both
    signs. Predictions within TIE of 0 are ties, not groups.
    """

    def __init__(
        self, columns: tuple[Column, ...], encoding: LinearEncoding, event_weight: Array
    ) -> None:
        super().__init__(columns, encoding)
        self.projection = Projection(
            encoding.matrix(columns), event_weight, argument="sensitive_features"
        )
        self._source = DirectionRules(
            encoding, *self.projection.coefficients(np.eye(len(self.projection.basis)))
        )

    @property
    def source(self) -> RuleSource:
        """What turns keys into rules."""
        return self._source

    def worst_of_size(self, residual: Array, rows: NDArray[np.intp], smallest: int) -> Found | None:
        """Return the regression's group, if it is large enough."""
        found = self.worst(residual[None])
        inside = rows[found.members[0] > 0].sum()
        return found if min(inside, rows.sum() - inside) >= smallest else None

    def fitted(self, coordinates: Array) -> Array:
        """Predicted residuals by cell."""
        return self.projection.fitted(coordinates)

    def worst(self, residuals: Array) -> Found:
        """Return the group where the regression predicts too high a rate."""
        coordinates = self.projection.coordinates(residuals)
        members = (self.projection.fitted(coordinates) > TIE).astype(np.float64)
        return Found(np.vecdot(residuals, members), members, coordinates)
