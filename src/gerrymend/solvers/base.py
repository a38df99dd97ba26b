"""How the game is played: one loop, and what a solver adds to it.

The Learner minimises, and the Auditor maximises, over mixtures of classifiers D and duals λ ≥ 0
with Σ λ ≤ C,

    L(D, λ) = err(D) + Σ_g λ⁺_g (−v_g − γ) + λ⁻_g (v_g − γ),    v_g the signed unfairness of g.

Against a mixture the best λ puts C on the worst subgroup if it exceeds γ, so the mixture is worth
err + C·max(0, U − γ). Against λ the Learner minimises ⟨cost, h⟩ + const with cost_i =
(1 − 2y_i) + b_i·Σ_g (λ⁻_g − λ⁺_g)·centre(g)_i, each per unit of weight. The mixture's worth less the
Learner's value is the gap, which bounds how far the mixture is from the best one if both sides'
answers are exact; if they are heuristics it says only that neither of them finds anything better.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from gerrymend._sums import Array
from gerrymend.auditor import Answer, Auditor, Subgroup
from gerrymend.learners import Decisions, Learner
from gerrymend.mixture import Mixture
from gerrymend.subgroups.base import RuleSequence, RuleSource
from gerrymend.subgroups.rules import Rule

class Duals(NamedTuple):
    """The Auditor's play, one game a row.

    `pressure` has for each notion Σ_g (λ⁻_g − λ⁺_g)·centre(g) by cell; `mass` is Σ_g λ⁺_g + λ⁻_g.
    """

    pressure: list[Array]
    mass: Array


class Player(ABC):
    """The Auditor's side of one run: its duals, and how a round changes them."""

    duals: Duals

    duals_are_averages: bool
    """Whether the Learner answers the average of all duals so far, or each round's own.

    min_h L(h, λ) is concave in λ. So against averages the last answer's value is the lower bound
    on the game; against each round's own duals it is the mean of the answers' values.
    """

    @abstractmethod
    def step(self, number: int, answer: Answer, decisions: Decisions) -> None:
        """Take in a round: the Auditor's answer to the mixture, and the Learner's last play."""


class GameSolver(BaseEstimator, ABC):
    """How the Auditor's side is played; described by its parameters alone."""

    @abstractmethod
    def start(self, auditor: Auditor, gammas: Array, C: float) -> Player:
        """A fresh player for games with these gammas."""


class Round(NamedTuple):
    """What a callback sees of a round: one number for each game."""

    number: int
    error: Array
    unfairness: Array
    gap: Array


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """What a game came to: the mixture, its history by round, and its worst subgroup."""

    gamma: float
    mixture: Mixture
    error: Array
    unfairness: Array
    gap: Array
    subgroups: Sequence[Rule]
    worst: Subgroup | None
    upper_bound: float
    converged: bool

    @property
    def n_rounds(self) -> int:
        """Rounds that were played."""
        return len(self.error)


class Interrupted(KeyboardInterrupt):
    """The user stopped the game; `equilibria` is what it had come to."""

    def __init__(self, equilibria: list[Equilibrium]) -> None:
        super().__init__("The game was interrupted; what had been learned is kept.")
        self.equilibria = equilibria


def play(
    solver: GameSolver,
    learner: Learner,
    auditor: Auditor,
    *,
    gammas: Sequence[float],
    C: float,
    max_iter: int,
    tol: float | None,
    on_round: Callable[[Round], None] | None = None,
) -> list[Equilibrium]:
    """Play one game for each gamma, all together: a game is a row of every array.

    A game has converged when its gap and its penalty C·(U − γ) are both at most `tol`; it ends
    then, and all end after `max_iter` rounds. With tol=None every round is played.
    """
    games = _Games(solver, learner, auditor, np.asarray(gammas, float), C, tol)
    try:
        for number in range(1, max_iter + 1):
            played = games.play_round(number)
            if on_round is not None:
                on_round(played)
            if len(games.ended) == len(gammas):
                break
    except KeyboardInterrupt:
        if games.standing is None:
            raise
        raise Interrupted(games.equilibria()) from None
    return games.equilibria()


class _Games:
    """The arrays of the games in play."""

    def __init__(
        self,
        solver: GameSolver,
        learner: Learner,
        auditor: Auditor,
        gammas: Array,
        C: float,
        tol: float | None,
    ) -> None:
        self._learner, self._auditor, self._gammas, self._C, self._tol = (
            learner, auditor, gammas, C, tol,
        )  # fmt: skip
        self._player = solver.start(auditor, gammas, C)
        self._costs = np.empty((len(gammas), len(auditor.base_cost)))
        self._dual_value = np.zeros(len(gammas))
        self._plays: list[Sequence[Any]] = []
        self._found: list[list[tuple[int, Any]]] = []
        self._rounds: list[Round] = []
        self._votes = np.zeros(self._costs.shape)
        # Where the games stand: replaced at once, so that an interrupt leaves a whole round.
        self.standing: tuple[int, Array, Answer, Array] | None = None
        self.ended: dict[int, tuple[int, Subgroup | None, float, bool]] = {}

    def play_round(self, number: int) -> Round:
        duals = self._player.duals
        self._auditor.price(duals.pressure, out=self._costs)
        decisions, keys = self._learner.best_response(self._costs)
        votes = self._votes + decisions
        answer = self._auditor.worst(votes, number)
        error = self._auditor.error(votes, number)

        value = self._value_of_answer(duals, error, answer)
        step = 1.0 if self._player.duals_are_averages else 1.0 / number
        self._dual_value = self._dual_value + step * (value - self._dual_value)
        penalty = self._C * np.maximum(answer.unfairness - self._gammas, 0.0)
        played = Round(number, error, answer.unfairness, error + penalty - self._dual_value)

        self._plays.append(keys)
        self._found.append([answer.key(game) for game in range(len(self._gammas))])
        self._rounds.append(played)
        self._player.step(number, answer, decisions)
        self._votes = votes
        self.standing = (number, votes, answer, error)
        if self._tol is not None:
            converged = (played.gap <= self._tol) & (penalty <= self._tol)
            if converged.any():
                self._end(np.flatnonzero(converged), converged=True)
        return played

    def _value_of_answer(self, duals: Duals, error: Array, answer: Answer) -> Array:
        """L of the Learner's last play, or of the mixture with it if that is less.

        The mixture is an answer to the duals too, and a heuristic's can be worse. L is affine in
        the mixture, so the last play's is t·L(with it) − (t − 1)·L(without it): no pass over rows.
        """
        value = error + self._auditor.fine(duals.pressure, answer.residuals)
        if self.standing is not None:
            n_before, _, before, error_before = self.standing
            without = error_before + self._auditor.fine(duals.pressure, before.residuals)
            value = np.minimum(value, (n_before + 1) * value - n_before * without)
        return value - self._gammas * duals.mass

    def _end(self, games: Iterable[int], *, converged: bool) -> None:
        """Measure games where they end; the others go on."""
        assert self.standing is not None
        number, votes, answer, _ = self.standing
        bounds = self._auditor.upper_bound(answer)
        for game in set(map(int, games)) - self.ended.keys():
            worst = self._auditor.subgroup(answer, game, votes[game], number)
            self.ended[game] = (number, worst, float(bounds[game]), converged)

    def equilibria(self) -> list[Equilibrium]:
        self._end(range(len(self._gammas)), converged=False)
        return [self._equilibrium(game) for game in range(len(self._gammas))]

    def _equilibrium(self, game: int) -> Equilibrium:
        n_rounds, worst, bound, converged = self.ended[game]
        rounds = self._rounds[:n_rounds]
        sources = tuple(notion.subgroups.source for notion in self._auditor.notions)
        return Equilibrium(
            gamma=float(self._gammas[game]),
            mixture=self._learner.mixture([keys[game] for keys in self._plays[:n_rounds]]),
            error=np.array([played.error[game] for played in rounds]),
            unfairness=np.array([played.unfairness[game] for played in rounds]),
            gap=np.array([played.gap[game] for played in rounds]),
            subgroups=RuleSequence(
                _RulesByNotion(sources), [keys[game] for keys in self._found[:n_rounds]]
            ),
            worst=worst,
            upper_bound=bound,
            converged=converged,
        )


@dataclass(frozen=True)
class _RulesByNotion:
    """The rules of keys that also say which notion they belong to."""

    sources: tuple[RuleSource, ...]

    def rule(self, key: tuple[int, Any]) -> Rule:
        notion, rest = key
        return self.sources[notion].rule(rest)
