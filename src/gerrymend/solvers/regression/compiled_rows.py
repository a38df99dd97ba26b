"""A block of NumPy's float64 rows: all between two products is one compiled pass in the cache."""

import numpy as np

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array
from gerrymend.solvers.regression import _block_kernel as kernel
from gerrymend.solvers.regression.array_rows import ArrayRows, Sums


class CompiledRows(ArrayRows):
    """The same block, whose arrays are read once in a question rather than once for each step."""

    def decide(self, multipliers: Array, coordinates: Array) -> Sums:
        """As `ArrayRows.decide`."""
        n_games = len(coordinates)
        products = np.zeros((n_games, len(self._of_decisions)))
        pressed = np.zeros(n_games)
        for rows in self._pieces(self._n_event, n_games):
            fitted = coordinates @ self._basis[:, rows]
            kernel.vote(
                fitted, TIE, multipliers, self._members[:, rows], self._pressure[:, rows],
                self._votes[:, rows], pressed,
            )  # fmt: skip
            products += fitted @ self._of_decisions[:, rows].T
        return products, pressed

    def find(self, coordinates: Array) -> Sums:
        """As `ArrayRows.find`."""
        n_games = len(coordinates)
        products, masses = np.zeros((n_games, len(self._basis))), np.zeros((n_games, 2))
        voted = np.zeros(n_games)
        for rows in self._pieces(self._n_event, n_games):
            fitted = coordinates @ self._protected_basis[:, rows]
            kernel.select(
                fitted, TIE, self._event_weight[rows], self._offset[rows], self._slope[rows],
                self._votes[:, rows], self._members[:, rows], masses, voted,
            )  # fmt: skip
            products += fitted @ self._basis[:, rows].T
        return products, masses, voted

    def replay(self, multipliers: Array, plays: Array, groups: Array) -> None:
        """As `ArrayRows.replay`."""
        for multiplier, play, group in zip(multipliers, plays, groups, strict=True):
            self.decide(multiplier, play)
            self.find(group)
