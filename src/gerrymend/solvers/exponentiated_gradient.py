"""Exponentiated gradient over the subgroups found so far, and a program that weighs the plays.

The Learner's plays are only candidates: what they come to is decided by the linear program over
the pools of classifiers and subgroups (`program.py`). So the duals that the Learner answers need
not converge; they must lead to classifiers that the program can use. Multiplicative weights spread
them over the subgroups that the plays violate. How much weight fairness should have in all, which
is Σ λ at the solution, is between 0 and C and not known: the weights are swept from 0 to all of C
and back, a wave of some rounds; at its trough the Learner answers the program's own duals. In every
second round it plays as if each protected row were a group instead (`cell_play.py`). A score is cut
for the costs it was fitted to, for the program's own, and for the error alone: three classifiers
for one fit.

Once a wave the Auditor looks harder than in other rounds (`pool/thorough_looks.py`), so that what
only a thorough look finds can still be answered; the last look is in `pool/last_look.py`.

A game is quiet when over the last waves no classifier would have bettered the program's value by
more than `tol`, and no subgroup either. Then the Learner is asked for an answer to the program's
own duals λ: if it is exact, no mixture is worth less than min_h L(h, λ), and what the mixture is
worth above that is the gap. With a heuristic Learner the bound is over what has been found.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gerrymend.solvers.base import (
    CannotResumeError,
    Checkpoint,
    Equilibrium,
    GameSolver,
    Interrupted,
    Round,
    State,
)
from gerrymend.solvers.cell_play import CellPlay
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import Learner
from gerrymend.solvers.pool.game import FOR_LAST_LOOK, FOR_PROOF, PoolGame, Stage
from gerrymend.solvers.pool.pool import Pool


class ExponentiatedGradient(GameSolver):
    """Multiplicative weights on the subgroups found so far, and a linear program over the plays.

    The program's mixtures are vertices, of few predictors: at most one more than there are
    subgroups in the pool. What stands in the end is a mean of some of them. Gammas are played from
    the largest to the smallest, with one pool for all.

    Examples
    --------
    >>> from gerrymend import SubgroupParityClassifier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(1000, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(gamma=0.03, solver="exponentiated_gradient")
    >>> _ = clf.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    >>> bool(clf.history_["unfairness"][-1] < 0.031), len(clf.predictors_) < 20
    (True, True)
    """

    def play(
        self,
        learner: Learner,
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
        """Play one game for each gamma, the largest first."""
        path = _Path(learner, auditor, known, C=C, max_iter=max_iter, tol=tol, budget=budget)
        if checkpoint is not None:
            checkpoint.resume(path)
        games = path.games
        try:
            path.play(gammas, certify, on_round, checkpoint)
        except KeyboardInterrupt:
            if not any(game.standing for game in games.values()):
                raise
            stood = [games[one] for one in gammas if one in games and games[one].standing]
            raise Interrupted([game.equilibrium() for game in stood]) from None
        return [games[gamma].equilibrium() for gamma in gammas]


class _Path:
    """Games of several gammas over one pool, which starts with the constants and what is known."""

    def __init__(
        self,
        learner: Learner,
        auditor: Auditor,
        known: Sequence[Any],
        *,
        max_iter: int,
        **rules: Any,
    ) -> None:
        self._learner = learner
        self._auditor = auditor
        self._max_iter = max_iter
        self._pool = Pool(auditor)
        self._cell_play = CellPlay(auditor)
        for decision in (False, True):
            decided = np.full(len(auditor.base_cost), decision)
            self._pool.add_classifier(decided, learner.constant(decision))
        for predictor in known:
            self._pool.add_classifier(*learner.recall(predictor))
        self._rules = rules
        self.games: dict[float, PoolGame] = {}

    def play(
        self,
        gammas: Sequence[float],
        certify: bool,
        on_round: Callable[[Round], None] | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        """Play what is left to play, the largest gamma first."""

        def reached() -> None:
            if checkpoint is not None:
                state = self.state()  # taken now: what follows changes the pool as it goes
                checkpoint.reached(lambda: state)

        self._auditor.compile_proofs()
        for gamma in sorted(set(gammas), reverse=True):
            game = self.games.get(gamma) or self._begin(gamma)
            if game.stage is Stage.ROUNDS:
                reserve = FOR_PROOF if certify else FOR_LAST_LOOK
                game.play(self._max_iter, reserve, on_round, reached, proof_follows=certify)
                reached()
            if certify and game.stage is Stage.PLAYED:
                game.certify(reached)
                reached()
        for gamma in sorted(self.games)[1:]:
            if self.games[gamma].stage is Stage.PLAYED and not certify:
                self.games[gamma].reconsider()
                reached()

    def _begin(self, gamma: float) -> PoolGame:
        self.games[gamma] = PoolGame(
            self._learner, self._auditor, self._pool, self._cell_play, gamma, **self._rules
        )
        return self.games[gamma]

    def state(self) -> State:
        """Return where the games stand; what comes into the pool afterwards is not in it."""
        return {
            "max_iter": self._max_iter,
            "learner": self._learner.state(),
            "pool": self._pool.state(),
            "cell_play": self._cell_play.state(),
            "games": {gamma: game.state() for gamma, game in self.games.items()},
        }

    def restore(self, state: State) -> None:
        """Go on from a state."""
        games = state["games"]
        if self._max_iter != state["max_iter"]:
            _check_independent(games.values(), state["max_iter"], self._max_iter)
        self._learner.restore(state["learner"])
        self._pool.restore(state["pool"])
        self._cell_play.restore(state["cell_play"])
        for gamma, kept in games.items():
            self._begin(gamma).restore(kept)


def _check_independent(games: Iterable[State], kept: int, max_iter: int) -> None:
    """Raise unless the games so far would have been the same with another max_iter."""
    number = max(game["number"] for game in games)
    if any(game["stage"] != Stage.ROUNDS.value for game in games):
        raise CannotResumeError(
            f"has a game that was played to its end with max_iter={kept}, and max_iter is "
            f"{max_iter}; set it back"
        )
    if number >= min(kept, max_iter):
        raise CannotResumeError(
            f"has {number} rounds of at most {kept}, and max_iter is {max_iter}; set it to {kept}"
            + ("" if number >= kept else ", or more")
        )
