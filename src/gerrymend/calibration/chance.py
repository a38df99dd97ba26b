"""Draw what chance makes of scores that are right: the worst violation of each draw.

A violation that was chosen before could be compared with its own error. The worst of very many has
to be compared with the worst of as many, so the whole search is repeated on each draw. Draws are of
the scores as they are: after patches that matter, they are made anew.
"""

import math
from collections.abc import Callable

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import check_stopped
from gerrymend.calibration.table import ScoreTable

# Draws stay of use until the variance of what chance makes has changed by this part.
_CHANGED = 0.1


class Chance:
    """The worst violations of draws, for the scores of a table as they were when last drawn.

    Parameters
    ----------
    table : ScoreTable
    n_draws : int
    seed : int
    on_draw : callable, optional
        Called as on_draw(done, of).
    """

    def __init__(
        self,
        table: ScoreTable,
        n_draws: int,
        seed: int,
        on_draw: Callable[[int, int], None] | None = None,
    ) -> None:
        self._table = table
        self._n_draws = n_draws
        self._seed = seed
        self._on_draw = on_draw
        self._times = 0
        self._variance = math.nan
        self.values: Array = np.zeros(0)

    @property
    def is_stale(self) -> bool:
        """Tell if scores have changed by so much that draws would be others."""
        if not len(self.values):
            return True
        now = self._table.rows.variance
        return not abs(now - self._variance) <= _CHANGED * self._variance

    def draw(self) -> None:
        """Draw outcomes for the scores as they are, and search each draw."""
        simulation = self._table.simulation()
        search = self._table.bound.quick
        n = self._table.rows.total_weight
        self._variance = self._table.rows.variance
        self._times += 1
        values = []
        for number in range(self._n_draws):
            rng = np.random.default_rng([self._seed, self._times, number])
            found = search.worst(simulation.draw(rng))
            values.append(abs(float(found.values[0])) / n)
            check_stopped()
            if self._on_draw is not None:
                self._on_draw(number + 1, self._n_draws)
        self.values = np.sort(values)

    def limit(self, level: float) -> float:
        """Return the violation that a part of the draws, `level`, exceeds; 0 if all of them may.

        A violation above it has (1 + draws as large)/(1 + draws) ≤ level.
        """
        # The last factor keeps a product that is whole from being rounded below it.
        rank = math.floor(level * (1 + self._n_draws) * (1 + 1e-12))
        if rank > self._n_draws:
            return 0.0
        return float(self.values[-rank]) if rank else math.inf

    def p_value(self, violation: float) -> float | None:
        """Return the part of the draws, and of the rows themselves, that are as bad as this.

        None is returned where nothing was drawn.
        """
        if not len(self.values):
            return None
        return (1 + int((self.values >= violation).sum())) / (1 + self._n_draws)
