"""One gamma's game over a pool of classifiers and subgroups: its rounds, its looks, its proof."""

import math
import time
from collections.abc import Callable
from enum import Enum

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.base import Equilibrium, Round, RulesByNotion, State
from gerrymend.solvers.cell_play import CellPlay
from gerrymend.solvers.multiplicative_weights import hedge
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import Learner
from gerrymend.solvers.pool.certificate import Certificate, prove_mixture, weigh_strictly
from gerrymend.solvers.pool.last_look import LastLook
from gerrymend.solvers.pool.pool import Pool
from gerrymend.solvers.pool.program import Weighing, weigh
from gerrymend.solvers.pool.standing import Stakes, Standing
from gerrymend.solvers.pool.thorough_looks import ThoroughLooks
from gerrymend.subgroups.base import RuleSequence

# Rounds of a wave. Duals swell from 0 to their full size and fall again; the round in which they
# would be 0 closes the wave, and answers the program's own duals instead.
_WAVE = 12
# Rounds in a row that gain no more than `tol`, before a game is taken to be over: two waves.
_QUIET = 2 * _WAVE
# Every so many rounds the play is one for cells.
_CELLS_EVERY = 2
# Rounds between two looks by the Auditor, but for the first rounds.
_LOOK_EVERY = 4
# Rounds after which it looks harder once a wave: before, mixtures are far from what they come to.
_LOOK_HARDER_AFTER = 4 * _WAVE
# Subgroups that it finds, one after another, in a look.
_FOUND_AT_ONCE = 2
# Unfairness by which a subgroup is worse than those of the pool, to be worth another weighing.
_WORSE = 1e-3
# Parts of the budget: what rounds leave for the last look, and for a proof after it; and what a
# look leaves, as the Auditor's search can't be hurried.
FOR_LAST_LOOK = 0.35
FOR_PROOF = 0.6
_FOR_SEARCH = 0.15


class Stage(Enum):
    """Tell how far a game is: rounds follow; the last look was taken; nothing follows."""

    ROUNDS = "rounds"
    PLAYED = "played"
    FINISHED = "finished"


class PoolGame:
    """One gamma's game over a pool."""

    def __init__(
        self,
        learner: Learner,
        auditor: Auditor,
        pool: Pool,
        cell_play: CellPlay,
        gamma: float,
        C: float,
        tol: float | None,
        budget: float,
    ) -> None:
        self._learner = learner
        self._auditor = auditor
        self._pool = pool
        self._cell_play = cell_play
        self._gamma = gamma
        self._C = C
        self._tol = -math.inf if tol is None else tol
        self._stakes = Stakes(pool, gamma, C, self._tol)
        self._start = time.monotonic()
        self._budget = budget
        self._looks = ThoroughLooks(auditor, pool, self._start + budget)
        self._program: Weighing = weigh(pool.error, pool.unfairness, gamma, C)
        self.stage = Stage.ROUNDS
        self._number = 0
        self._plays: list[int] = []
        self._gains: list[float] = []
        self._last_excess = np.inf
        self._converged = False
        self._closing_duals = np.zeros(0)
        self._records: dict[int, Standing] = {}
        self.standing: Standing | None = None
        self.certificate: Certificate | None = None

    def play(
        self,
        max_iter: int,
        reserve: float,
        on_round: Callable[[Round], None] | None,
        reached: Callable[[], None],
        proof_follows: bool = False,
    ) -> None:
        """Play until neither side finds anything better, or rounds or time are used up.

        `reached` is told when a round is over and the game goes on. If no proof follows, the last
        look is as thorough as an audit.
        """
        while True:
            hurried = self._play_rounds(max_iter, reserve, on_round, reached)
            self._look_at_last(audited=not proof_follows)
            over = hurried or proof_follows or self._number >= max_iter
            if over or self.gap <= self._tol:
                break
            # The last look found subgroups that the rounds' own had not: play on against these.
            self._gains = []
            reached()
        self.stage = Stage.PLAYED

    def _play_rounds(
        self,
        max_iter: int,
        reserve: float,
        on_round: Callable[[Round], None] | None,
        reached: Callable[[], None],
    ) -> bool:
        """Play rounds until these find nothing better; return whether time ran out."""
        hurried = False
        while self._number < max_iter:
            hurried = self._left() < reserve
            last = self._number + 1 == max_iter or hurried or self._is_quiet()
            closing = last or self._number % _WAVE == 0
            self._play_round(closing)
            if closing or self._number <= _LOOK_EVERY or self._number % _LOOK_EVERY == 0:
                self._look(harder=closing and self._number > _LOOK_HARDER_AFTER)
            if on_round is not None:
                on_round(self._round())
            self._converged = closing and self._is_quiet() and self.gap <= self._tol
            if self._converged or hurried:
                break
            reached()
        return hurried

    def _left(self) -> float:
        """Return the part of the budget that is left."""
        return 1.0 - (time.monotonic() - self._start) / self._budget

    def _is_quiet(self) -> bool:
        """Tell if nothing better was found for long, or no subgroup restrains the program."""
        if self._C * self._last_excess > self._tol:
            return False
        if not self._program.duals.any():
            return True
        return len(self._gains) >= _QUIET and max(self._gains[-_QUIET:]) <= self._tol

    def _play_round(self, closing: bool) -> None:
        """Fit the Learner once: to the wave's duals, to the cells, or to the program's duals."""
        own = self._padded(self._program.duals)
        duals = self._duals(own, closing)
        for_cells = not closing and self._number % _CELLS_EVERY == 0
        cost = self._cell_play.cost() if for_cells else self._pool.cost(duals)
        answers = self._learner.answers(cost, [self._auditor.base_cost, self._pool.cost(own)])
        if for_cells:
            self._cell_play.answered(answers[0][0])
        numbers = [self._pool.add_classifier(*answer) for answer in answers]
        # Whatever cost was fitted, its score was cut for the program's own duals too. What the
        # answers are worth under these says whether the Learner can still improve on the program.
        best = self._pool.values(own, self._gamma)[numbers].min()
        self._gains.append(max(0.0, self._program.value - float(best)))
        self._plays.append(numbers[0])
        self._number += 1
        if closing:
            self._closing_duals = duals

    def _duals(self, own: Array, closing: bool) -> Array:
        """Return the duals that the Learner answers: the program's own duals, or the wave's."""
        if closing:
            return own
        wave: float = 0.5 - 0.5 * math.cos(2 * math.pi * self._number / _WAVE)
        return wave * self._gradient_duals()

    def _gradient_duals(self) -> Array:
        """Return the duals of `MultiplicativeWeights`, of the plays so far.

        A subgroup that is new in the pool is weighed by all plays so far, those before it too.
        """
        signed = self._pool.unfairness[:, self._plays]
        if signed.size == 0:
            return np.zeros(len(signed))
        violations = np.concatenate([signed, -signed]) - self._gamma
        squares = np.square(np.abs(violations).max(axis=0)).sum(keepdims=True)
        too_high, too_low = np.split(hedge(violations.sum(axis=1)[None], squares, self._C)[0], 2)
        duals: Array = too_high - too_low
        return duals

    def _look(self, *, harder: bool) -> None:
        """Weigh the pool and audit the mixture, again while that finds much worse subgroups.

        Once a wave the Auditor looks harder, so that the rounds that follow can answer what only
        a thorough look finds.
        Of these mixtures the one stands that is worth least to an Auditor who knows them all; one
        within gamma, if that costs no more than `tol`.
        """
        pool = self._pool
        tried = []
        for _ in range(_FOUND_AT_ONCE):
            self._program = weigh(pool.error, pool.unfairness, self._gamma, self._C)
            tried.append(self._program.weights)
            known = self._known(tried[-1])
            look = self._looks.search(tried[-1])
            if (
                harder
                and not self._looks.exact
                and look.unfairness <= max(self._gamma, known) + _WORSE
            ):
                look = self._looks.probe(tried[-1])
            if look.unfairness > known + ROUNDING:
                pool.add_group(look.group)
            self._last_excess = max(0.0, look.unfairness - max(self._gamma, known))
            if self._last_excess <= _WORSE or self._left() < _FOR_SEARCH:
                break
        standings = [self._stakes.standing(weights, look.group) for weights in tried]
        self.standing = min(standings, key=self._stakes.preference)
        self._records[self._number] = self.standing

    def _look_at_last(self, *, audited: bool = True) -> None:
        """Weigh and look until no look finds more, and audit what stands then."""
        assert self.standing is not None
        last = LastLook(self._looks, self._pool, self._stakes)
        self.standing = last.best_from(
            self.standing, audited=audited, hurried=lambda: self._left() < _FOR_SEARCH
        )
        self._program = last.program
        self._records[self._number] = self.standing

    def _known(self, weights: Array) -> float:
        """Return the unfairness of a mixture to the subgroups of the pool."""
        return float(np.abs(self._pool.unfairness @ weights).max(initial=0.0))

    def reconsider(self) -> None:
        """Weigh once more, over all that games of smaller gammas have brought into the pool."""
        self._look_at_last()
        self.stage = Stage.FINISHED

    def certify(self, reached: Callable[[], None]) -> None:
        """Play on, with no slack, until the mixture is proven within gamma or the budget ends."""
        pool = self._pool
        while True:
            program = weigh_strictly(pool, self._gamma)
            look = self._looks.search(program.weights)
            found = look.group
            # A proof takes far longer than a search: none is tried of a mixture that a search
            # refutes, unless time is up and there has to be a bound.
            if look.unfairness <= self._gamma + ROUNDING or self._left() <= 0:
                certificate = prove_mixture(
                    self._auditor, pool, program.weights, self._gamma, self._start + self._budget
                )
                if not certificate.is_refuted or self._left() <= 0:
                    break
                found = certificate.found[-1]
                # The Learner answers the strict program, or the pool may hold no way around the
                # subgroup.
                self._program = program
                self._play_round(closing=True)
            pool.add_group(found)
            reached()
        for group in (found, *certificate.found):  # the mixture is measured by them too
            pool.add_group(group)
        self.certificate = certificate
        self.standing = self._stakes.standing(certificate.weights, found)
        self._records[self._number] = self.standing
        self.stage = Stage.FINISHED

    def _penalty(self) -> float:
        """Return what the Auditor gains by the excess of the mixture over gamma."""
        assert self.standing is not None
        return self._stakes.penalty(self.standing)

    def _padded(self, duals: Array) -> Array:
        """Return duals of a program, 0 for subgroups that have come into the pool since."""
        return np.pad(duals, (0, len(self._pool.groups) - len(duals)))

    @property
    def gap(self) -> float:
        """The mixture's worth to the Auditor, less what the Learner can do at best."""
        assert self.standing is not None
        value = self._pool.values(self._padded(self._closing_duals), self._gamma).min()
        return max(0.0, self._stakes.worth(self.standing) - float(value))

    def _round(self) -> Round:
        """Return what a callback sees."""
        assert self.standing is not None
        votes = self._number * self._pool.probability(self.standing.weights)[None]
        error = self.standing.error
        unfairness = self.standing.unfairness
        return Round(self._number, np.array([error]), np.array([unfairness]), votes)

    def state(self) -> State:
        """Return where the game stands, apart from the pool."""
        return {
            "seconds": time.monotonic() - self._start,
            "stage": self.stage.value,
            "program": self._program,
            "number": self._number,
            "plays": list(self._plays),
            "gains": list(self._gains),
            "last_excess": self._last_excess,
            "converged": self._converged,
            "closing_duals": self._closing_duals,
            "records": dict(self._records),
            "standing": self.standing,
            "certificate": self.certificate,
        }

    def restore(self, state: State) -> None:
        """Go on from a state, over the pool of that time."""
        # The budget goes on from where it was; the time between the two runs doesn't count.
        self._start = time.monotonic() - state["seconds"]
        self._looks = ThoroughLooks(self._auditor, self._pool, self._start + self._budget)
        self.stage = Stage(state["stage"])
        self._program = state["program"]
        self._number = state["number"]
        self._plays = state["plays"]
        self._gains = state["gains"]
        self._last_excess = state["last_excess"]
        self._converged = state["converged"]
        self._closing_duals = state["closing_duals"]
        self._records = state["records"]
        self.standing = state["standing"]
        self.certificate = state["certificate"]

    def equilibrium(self) -> Equilibrium:
        """Return what the game came to, its mixture measured by all subgroups of any game."""
        assert self.standing is not None
        pool = self._pool
        auditor = self._auditor
        standing = self._stakes.standing(self.standing.weights, self.standing.worst)
        self._records[self._number] = self.standing = standing
        probability = pool.probability(standing.weights)
        notion = auditor.notions[standing.worst.notion]
        used = np.flatnonzero(standing.weights)
        records = list(self._records.values())
        sources = tuple(one.subgroups.source for one in auditor.notions)
        return Equilibrium(
            gamma=self._gamma,
            mixture=self._learner.mixture([pool.keys[i] for i in used], standing.weights[used]),
            rounds=np.array(list(self._records), dtype=np.intp),
            error=np.array([record.error for record in records]),
            unfairness=np.array([record.unfairness for record in records]),
            subgroups=RuleSequence(
                RulesByNotion(sources),
                [(record.worst.notion, record.worst.key) for record in records],
            ),
            gap=self.gap,
            worst=notion.subgroup(standing.worst.key, standing.worst.members, probability, None),
            upper_bound=self._upper_bound(probability),
            converged=self._converged and self._penalty() <= self._tol,
            certified=self.certificate is not None
            and self.certificate.upper_bound <= self._gamma + ROUNDING,
        )

    def _upper_bound(self, probability: Array) -> float:
        if self.certificate is not None:
            return self.certificate.upper_bound
        residuals = self._auditor.residuals(probability[None], None)
        return float(self._auditor.upper_bound(residuals)[0])
