"""Learners that answer the costs of a round: least squares from sums, or a taught classifier.

The Auditor and the sums are the same. Least squares needs only sums. For a classifier each round's
costs become labels and weights that stay beside their rows; it is trained on them where they are,
and its decisions are taken into the votes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.externals.array_api_compat import array_namespace

from gerrymend._numeric.projection import OrthonormalBasis
from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import ConstantPredictor, Mixture, Predictor
from gerrymend.solvers.base import State
from gerrymend.solvers.regression.rows import RegressionRows, SummedBlocks, Told

Teach = Callable[[Any, Any, Any, int], Predictor]
"""Trains on the costs of a game, given multipliers, the means of what presses, and the scales."""


class CostSums(NamedTuple):
    """Sums over the rows that no round changes."""

    slope: Any  # coordinates of the event's b
    one: Any  # of the constant 1
    outside_signs: Any  # rows outside of the event with a cost above 0, and below
    can_be_constant: bool  # whether all costs can come to have one sign


class Costs(NamedTuple):
    """Costs that the Learner answers: (1 − 2y) + b·(k − mean k)·scale, in sums over the rows.

    A game that has ended costs nothing, so that nothing is decided: its base and scale are 0.
    """

    sums: CostSums
    base: Any  # coordinates of 1 − 2y
    pull: Any  # coordinates of b·k, with k = Σ ±g over the groups so far
    mean: Any  # of k over the event
    multipliers: Any  # ±1 or 0 on the last group, which is not pressed on yet
    scale: Any  # C over the number of rounds, which turns sums into averages
    playing: Any  # 1, or 0 for a game that has ended


class Answer(NamedTuple):
    """A play of each game, and what its decisions sum to; see `ArrayBlock.decide`."""

    coordinates: Any
    predictors: list[Predictor]  # of each game; none where coordinates say it all
    products: Any
    event_errors: Any
    pressed: Any


@dataclass(frozen=True)
class LeastSquares:
    """Least squares of the costs, from sums alone; nothing in it waits for a device."""

    def basis(self, rows: RegressionRows, tolerance: float) -> OrthonormalBasis:
        """Return the basis of the features."""
        return rows.basis("features", tolerance)

    def answer(self, rows: RegressionRows, costs: Costs, dtype: Any) -> Answer:
        """Decide 1 where the fitted cost is below 0; a constant where no cost differs in sign.

        Coordinates are brought to `dtype`, if it is given.
        """
        sums = costs.sums
        pull = costs.pull - costs.mean[:, None] * sums.slope
        coordinates = costs.base + costs.scale[:, None] * pull
        if sums.can_be_constant:
            assert isinstance(rows, SummedBlocks)
            xp = array_namespace(coordinates)
            counts = rows.signs(costs.multipliers, costs.mean, costs.scale)
            above, below = (counts + sums.outside_signs).T
            coordinates = xp.where(above[:, None] == 0, -sums.one, coordinates)
            coordinates = xp.where(below[:, None] == 0, sums.one, coordinates)
            coordinates = coordinates * costs.playing[:, None]
        if dtype is not None:
            coordinates = array_namespace(coordinates).astype(coordinates, dtype)
        return Answer(coordinates, [], *rows.decide(costs.multipliers, coordinates))

    def restore(
        self, rows: RegressionRows, state: State | None, told: Told, played: list[list[Predictor]]
    ) -> None:
        """Bring rows to where they were, many rounds at once."""
        rows.restore(state, told)

    def mixture(
        self, features: OrthonormalBasis, tie: float, plays: Array, played: list[Predictor]
    ) -> Mixture:
        """Return the average of the linear classifiers that were played."""
        intercepts, coefficients = features.coefficients(plays)
        return Mixture.of_linear(-coefficients, -intercepts - tie)

    def example(self, n_games: int) -> list[Predictor]:
        """Return nothing: a state holds coordinates."""
        return []


@dataclass(frozen=True)
class Taught:
    """A classifier that is trained on costs where its rows are; NumPy's arrays alone.

    Parameters
    ----------
    teach : callable
        Trains a classifier on the costs of a game.
    """

    teach: Teach

    def basis(self, rows: RegressionRows, tolerance: float) -> OrthonormalBasis:
        """Return a basis of no columns: none is needed."""
        assert isinstance(rows, SummedBlocks)
        n = rows.n_features()
        return OrthonormalBasis(np.zeros(n), np.ones(n), np.zeros((n + 1, 0)))

    def answer(self, rows: RegressionRows, costs: Costs, dtype: Any) -> Answer:
        """Train a classifier for each game that is played still."""
        assert isinstance(rows, SummedBlocks)
        pressing = costs.multipliers, costs.mean, costs.scale
        signs = rows.signs(*pressing) + costs.sums.outside_signs
        played = [
            self._taught(*signs[game], *pressing, game) if playing else ConstantPredictor(False)
            for game, playing in enumerate(costs.playing)
        ]
        return Answer(np.zeros((len(played), 0)), played, *rows.vote(costs.multipliers, played))

    def _taught(self, above: float, below: float, *costs: Any) -> Predictor:
        """Return a constant where all costs have one sign: there is a single label to learn."""
        if above == 0 or below == 0:
            return ConstantPredictor(bool(above == 0))
        return self.teach(*costs)

    def restore(
        self, rows: RegressionRows, state: State | None, told: Told, played: list[list[Predictor]]
    ) -> None:
        """Bring rows to where they were, round by round: predictors decide again."""
        assert isinstance(rows, SummedBlocks)
        rounds = (part for parts in told for part in zip(*parts, strict=True))
        for (multipliers, _, group), predictors in zip(rounds, played, strict=True):
            rows.vote(multipliers, predictors)
            rows.find(group)

    def mixture(
        self, features: OrthonormalBasis, tie: float, plays: Array, played: list[Predictor]
    ) -> Mixture:
        """Return the average of the classifiers that were trained."""
        return Mixture.of_predictors(played)

    def example(self, n_games: int) -> list[Predictor]:
        """Return a predictor that learned what costs the least, were there no subgroups."""
        none = np.zeros(n_games)
        return [self.teach(none, none, np.ones(n_games), 0)]


RoundLearner = LeastSquares | Taught
"""Who answers the costs of a round, by parameters alone: the game keeps what was played."""

LEAST_SQUARES = LeastSquares()
