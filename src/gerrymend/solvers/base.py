"""The game, what it comes to, and what every solver does.

The Learner minimises, and the Auditor maximises, over mixtures of classifiers D and duals λ ≥ 0
with Σ λ ≤ C,

    L(D, λ) = err(D) + Σ_g λ⁺_g (−v_g − γ) + λ⁻_g (v_g − γ),    v_g the signed unfairness of g.

Against a mixture the best λ puts C on the worst subgroup if it exceeds γ, so the mixture is worth
err + C·max(0, U − γ). Against λ the Learner minimises ⟨cost, h⟩ + const with cost_i =
(1 − 2y_i) + b_i·Σ_g (λ⁻_g − λ⁺_g)·centre(g)_i, each per unit of weight. The mixture's worth less
the Learner's value is the gap, which bounds how far the mixture is from the best one if both
sides' answers are exact; if they are heuristics it says only that neither finds anything better.

The dual variables, and what is made of them, have these names in all games:

| symbol                      | name                 | what it is                                  |
|-----------------------------|----------------------|---------------------------------------------|
| γ                           | `gamma`              | the unfairness that is allowed              |
| C                           | `C`                  | the most that the duals may sum to          |
| λ⁻_g, λ⁺_g                  |                      | duals of a rate too high, or too low        |
| Σ_g λ⁺_g + λ⁻_g             | `total_dual`         | how much is placed on all subgroups         |
| ±1 or 0, times C            | `multipliers`        | what a round places on the group it found   |
| k = Σ ±g                    | `counts`             | signed number of groups that a cell was in  |
| Σ_g (λ⁻_g − λ⁺_g)·g         | `pressure`           | what raises the cost of deciding 1, by cell |
| C / t                       | `scale`              | what turns sums over rounds into averages   |
| Σ_g (λ⁻_g − λ⁺_g)·v_g       | `fine`               | what a mixture pays for unfairness          |
| γ·Σ λ                       | `allowance`          | what of that is allowed                     |
| C·max(0, U − γ)             | `penalty`            | what the worst subgroup costs the mixture   |
| Σ w over the event          | `event_weight`       | weight of the rows that a notion is about   |
| Pᵀw                         | `weight_coordinates` | the same, in the basis of protected terms   |
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import Mixture
from gerrymend.solvers.players.auditor import Auditor, Subgroup
from gerrymend.solvers.players.rows import Rows
from gerrymend.subgroups.base import RuleSequence, RuleSource
from gerrymend.subgroups.rules import Rule


class Round(NamedTuple):
    """A round as a callback sees it: one game a row.

    `votes` is `number` times the weight that is decided 1 in each label-cell: where the mixture is
    an average of plays, the sum over these. For a listener who needs no votes it may have no
    columns. `before_last_look` says that a look follows, which may take as long as the rounds.
    """

    number: int
    error: Array
    unfairness: Array
    votes: Array
    before_last_look: bool = False


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The result of a game: the mixture, its history, and its worst subgroup.

    `error`, `unfairness` and `subgroups` are of the mixtures that were audited, after the rounds in
    `rounds`; the last is that of `mixture`. `out_of_reach` tells that a proof was asked for, and
    the Learner had no more answers before any mixture of them kept gamma. `scale` is what a unit of
    the game's unfairness is in that of the outcome.
    """

    gamma: float
    mixture: Mixture | None
    rounds: NDArray[np.intp]
    error: Array
    unfairness: Array
    subgroups: RuleSequence
    gap: float
    worst: Subgroup | None
    upper_bound: float
    converged: bool
    certified: bool = False
    out_of_reach: bool = False
    scale: float = 1.0

    def in_unit(self, scale: float, gamma: float) -> "Equilibrium":
        """Return the same in the unit of an outcome, of which the game's is `scale`."""
        worst = self.worst
        if worst is not None:
            worst = replace(
                worst,
                unfairness=scale * worst.unfairness,
                rate=scale * worst.rate,
                overall_rate=scale * worst.overall_rate,
            )
        return replace(
            self,
            gamma=gamma,
            unfairness=scale * self.unfairness,
            upper_bound=scale * self.upper_bound,
            worst=worst,
            scale=scale,
        )

    @property
    def found(self) -> float:
        """Return the unfairness of the worst subgroup that is known of the mixture.

        It may be above what the last round found: the last look is by the search of `audit`.
        """
        known = 0.0 if self.worst is None else abs(self.worst.unfairness)
        return max(float(self.unfairness[-1]), known)

    def figures(self) -> dict[str, Any]:
        """Return what the game came to in numbers, which tell nothing of a row."""
        return {
            "gamma": float(self.gamma),
            "rounds": self.n_rounds,
            "error": float(self.error[-1]),
            "unfairness": self.found,
            "upper_bound": float(self.upper_bound),
            "certified": self.certified,
            "gap": float(self.gap),
        }

    @property
    def n_rounds(self) -> int:
        """Return the number of rounds; in each the Learner was asked once."""
        return int(self.rounds[-1])


class PostponedEquilibrium(Equilibrium):
    """An equilibrium whose mixture and worst subgroup are made when they are first asked for.

    Of a path of a thousand gammas few are.

    Parameters
    ----------
    make_mixture, make_worst : callables
    worst_unfairness : float
        That of the worst subgroup; 0 if there is none.
    others :
        The other fields of `Equilibrium`.
    """

    def __init__(
        self,
        make_mixture: Callable[[], Mixture],
        make_worst: Callable[[], Subgroup | None],
        worst_unfairness: float,
        **others: Any,
    ) -> None:
        # The dataclass is frozen, and its own __init__ would need the two that are not made yet.
        vars(self).update(others)
        vars(self).update(
            _make_mixture=make_mixture, _make_worst=make_worst, _worst_unfairness=worst_unfairness
        )

    @cached_property
    def mixture(self) -> Mixture:
        """Return the mixture."""
        mixture: Mixture = vars(self)["_make_mixture"]()
        return mixture

    @cached_property
    def worst(self) -> Subgroup | None:
        """Return the worst subgroup."""
        worst: Subgroup | None = vars(self)["_make_worst"]()
        return worst

    @property
    def found(self) -> float:
        """Return the unfairness of the worst subgroup, which need not be made for that."""
        return max(float(self.unfairness[-1]), abs(vars(self)["_worst_unfairness"]))


class Ending(NamedTuple):
    """The end of one of several games that are played together."""

    n_rounds: int
    worst: Subgroup | None
    upper_bound: float
    gap: float
    converged: bool


State = dict[str, Any]
"""A state that a game can go on from: numbers, text, arrays, estimators and own records, in
lists, tuples and dicts."""


class Resumable(Protocol):
    """A game that can go on from a state."""

    def restore(self, state: State) -> None:
        """Go on from a state; `CannotResumeError` where the end would not be the same."""
        ...


class Checkpoint(Protocol):
    """A place to keep a game while it is played; no solver knows what it is kept in."""

    def resume(self, game: Resumable) -> None:
        """Restore what was kept of the game, if anything was."""
        ...

    def reached(self, state: Callable[[], State]) -> None:
        """Take note of progress: until the next call, `state` says where the game goes on from."""
        ...


class CannotResumeError(ValueError):
    """Why a game can't go on from a state, and what to do about it."""


class HalfRoundError(RuntimeError):
    """A state was asked for in the middle of a round, which can't be gone on from."""

    def __init__(self) -> None:
        super().__init__(
            "The fit was cut short in the middle of a round; its checkpoint is of one before."
        )


def check_rounds(number: int, max_iter: int) -> None:
    """Raise if a state has more rounds than are to be played."""
    if number > max_iter:
        raise CannotResumeError(
            f"has {number} rounds, and max_iter is {max_iter}; set it to {number} or more"
        )


class GameSolver(BaseEstimator, ABC):
    """A way to play the game, described by its parameters alone."""

    @abstractmethod
    def play(
        self,
        rows: Rows,
        auditor: Auditor,
        *,
        gammas: Sequence[float],
        C: float,
        max_iter: int,
        tol: float | None,
        budget: float = math.inf,
        certify: bool = False,
        known: Sequence[Any] = (),
        on_round: Callable[[Round], None] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> list[Equilibrium]:
        """Play one game for each gamma.

        A game has converged when its gap and its penalty C·(U − γ) are both at most `tol`; it ends
        then, and all end after `max_iter` rounds, or about so many seconds. With tol=None every
        round is played. With `certify` it goes on until the mixture is proven within gamma. It may
        start from predictors that are `known`, and goes on from what `checkpoint` has kept.

        Parameters
        ----------
        rows : Rows
            The people, and who learns to decide about them.
        auditor : Auditor
            Who searches for the worst subgroup of a mixture.
        gammas : sequence of float
            The unfairness that each game allows.
        C : float
            The most that the duals may sum to.
        max_iter : int
            The most rounds that are played.
        tol : float or None
            The gap and the penalty at which a game has converged; None for no such end.
        budget : float, default=inf
            Seconds after which no round begins.
        certify : bool, default=False
            Whether to go on until the mixture is proven within gamma.
        known : sequence of predictors, default=()
            Those of earlier fits, to start from.
        on_round : callable, optional
            Called with each `Round`.
        checkpoint : Checkpoint, optional
            Where the game is kept while it is played.

        Returns
        -------
        list of Equilibrium
            One a gamma, in the order of `gammas`.

        Raises
        ------
        Interrupted
            If the user stops the game after a whole round.
        """


class Interrupted(KeyboardInterrupt):
    """The user stopped the game; `equilibria` is what it had come to.

    `models` are the classifiers that fit_path makes of them.
    """

    def __init__(self, equilibria: list[Equilibrium]) -> None:
        super().__init__("The game was interrupted; fit keeps what had been learned.")
        self.equilibria = equilibria
        self.models: list[Any] = []


@dataclass(frozen=True)
class RulesByNotion:
    """The rules of keys that also say which notion they belong to."""

    sources: tuple[RuleSource, ...]

    def rule(self, key: tuple[int, Any]) -> Rule:
        """Return the rule of a notion's key."""
        notion, rest = key
        return self.sources[notion].rule(rest)
