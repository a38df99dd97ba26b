"""Fictitious play of any classifier that a cluster can train, over blocks of rows.

The Auditor and the sums are those of `BlockGame`. In place of a least squares, which needs only
sums, each round's costs become labels and weights that stay beside their rows, a classifier is
trained on them where they are, and its decisions are taken into the votes.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gerrymend._numeric.projection import Frame
from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import ConstantPredictor, Mixture, Predictor
from gerrymend.solvers.base import State
from gerrymend.solvers.regression.block_game import BlockGame
from gerrymend.solvers.regression.linear_block import LinearBlock, Sums

Teach = Callable[[Any, Any, float, int], Predictor]
"""Trains on the costs of a game, given its multipliers, the mean of what presses and the scale."""


class EstimatorBlock(LinearBlock):
    """Some rows of a game whose Learner is a classifier; NumPy's arrays alone."""

    keeps_columns = True

    def n_features(self) -> int:
        """How many columns the features have."""
        return int(self.features.columns.shape[1])

    def costs(self, multipliers: Array, mean: Array, scale: float, game: int) -> Any:
        """The cheaper label of each row, in the order they came in, and what it saves."""
        n = self._n_event
        pressure = self._pressure[game] + multipliers[game] * self._members[game]
        cost = np.empty(len(self._weight))
        cost[self._order] = self._weighted_base
        cost[self._order[:n]] += (pressure - self._slope * mean[game]) * scale
        return (cost < 0).astype(np.int8), np.abs(cost)

    def vote(self, multipliers: Array, predictors: Sequence[Predictor]) -> Sums:
        """As `decide`, of decisions that predictors take, one for each game, and over all rows."""
        n, rows = self._n_event, self.features.columns
        decisions = self._zeros((len(predictors), len(rows)))
        if len(rows):
            decisions[:] = [one.decide(rows)[self._order] for one in predictors]
        self._pressure += multipliers[:, None] * self._members
        self._votes += decisions[:, :n]
        products = self._products(decisions[:, :n], self._of_decisions)
        products[:, -1] += decisions[:, n:] @ self._weighted_base[n:]
        return products, self._dots(self._pressure, decisions[:, :n])


class EstimatorGame(BlockGame):
    """Games over `EstimatorBlock`s.

    Parameters
    ----------
    teach : callable
        Trains a classifier on the costs of a game.
    settings : those of BlockGame
    """

    def __init__(self, teach: Teach, *settings: Any, **named: Any) -> None:
        self._teach = teach
        self._predictors: list[list[Predictor]] = []
        super().__init__(*settings, **named)

    def _frame(self, columns: str) -> Frame:
        if columns == "protected":
            return super()._frame(columns)
        (n, *_) = self._blocks.gather("n_features")
        return Frame(np.zeros(n), np.ones(n), np.zeros((n + 1, 0)))  # no basis: none is needed

    def _learn(self, scale: Any) -> tuple[Any, Any, Any]:
        pressing = self._multipliers, self._mean, float(scale[0])
        (counts,) = self._blocks.add("signs", *pressing)
        signs = counts + self._outside_signs
        played = [self._answered(*signs[game], *pressing, game) for game in range(len(signs))]
        self._predictors.append(played)
        products, pressed = self._blocks.add("vote", self._multipliers, played)
        return np.zeros((len(played), 0)), products, pressed

    def _answered(self, above: float, below: float, *costs: Any) -> Predictor:
        """A constant where all costs have one sign: there is a single label to learn."""
        if above == 0 or below == 0:
            return ConstantPredictor(bool(above == 0))
        return self._teach(*costs)

    def example(self) -> list[Any]:
        """A predictor that learned what costs the least, were there no subgroups."""
        none = np.zeros(len(self._gammas))
        return [self._teach(none, none, 1.0, 0)]

    def state(self) -> State:
        """Where the games stand after the last round."""
        return super().state() | {"predictors": self._predictors[: len(self._records)]}

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self._predictors = state["predictors"]
        super().restore(state)

    def _bring_back(self) -> None:
        told = (one for some in self._records.changes() for one in zip(*some, strict=True))
        for (multipliers, _, group), played in zip(told, self._predictors, strict=True):
            self._blocks.gather("vote", multipliers, played)
            self._blocks.gather("find", group)

    def _mixture(self, game: int, plays: Array) -> Mixture:
        return Mixture.of_predictors([round_[game] for round_ in self._predictors[: len(plays)]])
