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
from collections.abc import Callable, Sequence
from typing import Any

from gerrymend.solvers.base import Checkpoint, Equilibrium, GameSolver, Round
from gerrymend.solvers.loop import Limits, Listener
from gerrymend.solvers.loop import play as play_out
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.closing_look import FOR_LAST_LOOK
from gerrymend.solvers.players.rows import Rows
from gerrymend.solvers.pool.path import PoolPath

# The part of the budget that rounds leave for a proof, the last look before it included.
_FOR_PROOF = 0.6


class ExponentiatedGradient(GameSolver):
    """Multiplicative weights on the subgroups found so far, and a linear program over the plays.

    The program's mixtures are vertices, of few predictors: at most one more than there are
    subgroups in the pool. What stands in the end is a mean of some of them. Gammas are played from
    the largest to the smallest, with one pool for all.

    See Also
    --------
    FictitiousPlay : The paper's algorithm (FairFictPlay of Kearns, Neel, Roth and Wu).
    NoRegret
        The algorithm of Kearns, Neel, Roth and Wu (2018) that provably takes polynomial time.
    MultiplicativeWeights : Multiplicative weights on every subgroup, and a best-responding Learner.

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
        """Play one game for each gamma, the largest first."""
        # What is compiled for proofs must not be counted as time of a game.
        auditor.compile_proofs()
        path = PoolPath(
            rows, auditor, known, gammas,
            certify=certify, C=C, max_iter=max_iter, tol=tol, budget=budget,
        )  # fmt: skip
        for_rounds = budget * (1.0 - (_FOR_PROOF if certify else FOR_LAST_LOOK))
        limits = Limits(max_iter, for_rounds)
        return play_out(path, limits, Listener.of(on_round), checkpoint)
