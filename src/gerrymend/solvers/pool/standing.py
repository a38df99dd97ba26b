"""Measure mixtures of a pool by its subgroups, and say what they are worth at one gamma."""

from typing import NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.pool.pool import Pool, PooledGroup


class Standing(NamedTuple):
    """A mixture of the pool: its weights, and the worst subgroup that is known of it."""

    weights: Array
    error: float
    unfairness: float
    worst: PooledGroup


class Stakes:
    """Say what is at stake at one gamma: err + C·max(0, U − γ) is what a mixture is worth."""

    def __init__(self, pool: Pool, gamma: float, C: float, tol: float) -> None:
        self._pool = pool
        self.gamma = gamma
        self.C = C
        self.tol = tol

    def standing(self, weights: Array, found: PooledGroup) -> Standing:
        """Measure a mixture by the subgroups of the pool; `found` is its worst if there is none."""
        pool = self._pool
        weights = np.pad(weights, (0, len(pool) - len(weights)))
        error = float(pool.error @ weights)
        if not pool.groups:
            return Standing(weights, error, 0.0, found)
        unfairness = np.abs(pool.unfairness @ weights)
        worst = int(unfairness.argmax())
        return Standing(weights, error, float(unfairness[worst]), pool.groups[worst])

    def penalty(self, standing: Standing) -> float:
        """Return what the Auditor gains by the excess of a mixture over gamma."""
        return self.C * max(0.0, standing.unfairness - self.gamma)

    def worth(self, standing: Standing) -> float:
        """Return what a mixture costs the Learner."""
        return standing.error + self.penalty(standing)

    def preference(self, standing: Standing) -> float:
        """Return the worth, by which of two mixtures the lesser is kept.

        One within gamma is preferred if that costs no more than `tol`.
        """
        exceeds = standing.unfairness > self.gamma + ROUNDING
        return self.worth(standing) + (max(self.tol, 0.0) if exceeds else 0.0)
