"""One gamma's game over a pool of classifiers and subgroups: its rounds, its looks, its proof.

A step of a game makes a new `Progress` of the last one. What a step finds comes into the pool as it
goes, and none of that makes what stands less true; so Ctrl-C may stop a step anywhere.
"""

import math

import numpy as np

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.base import Equilibrium, Round, RulesByNotion, State
from gerrymend.solvers.cell_play import CellPlay
from gerrymend.solvers.convergence import has_converged
from gerrymend.solvers.loop import Stopwatch
from gerrymend.solvers.multiplicative_weights import hedge
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.rows import Rows
from gerrymend.solvers.pool.certificate import Certificate, prove_mixture, weigh_strictly
from gerrymend.solvers.pool.last_look import LastLook
from gerrymend.solvers.pool.pool import Pool, PooledGroup
from gerrymend.solvers.pool.program import Weighing, weigh
from gerrymend.solvers.pool.progress import Progress, Stage, Step
from gerrymend.solvers.pool.standing import Stakes
from gerrymend.solvers.pool.thorough_looks import ThoroughLooks
from gerrymend.subgroups.base import RuleSequence

# Rounds of a wave. Duals swell from 0 to their full size and fall again; the round in which they
# would be 0 closes the wave, and answers the program's own duals instead.
_WAVE = 12
# Of so many rows a round is dear, and its answer is hardly chance: waves are shorter. Two fits of
# 220,000 rows then took 31 and 25 rounds in place of 41 and 47, and erred by .0001 more at most.
_MANY_ROWS = 200_000
_SHORT_WAVE = 6
# Waves in a row whose rounds gain no more than `tol`, before a game is taken to be over.
_QUIET_WAVES = 2
# Every so many rounds the play is one for cells.
_CELLS_EVERY = 2
# Rounds between two looks by the Auditor, but for the first rounds.
_LOOK_EVERY = 4
# Waves after which it looks harder once in each: before, mixtures are far from what they come to.
_LOOK_HARDER_AFTER = 4
# Subgroups that it finds, one after another, in a look.
_FOUND_AT_ONCE = 2
# Unfairness by which a subgroup is worse than those of the pool, to be worth another weighing.
_WORSE = 1e-3
# The part of the budget that is kept for the closing look.
_FOR_CLOSING = 0.15


class PoolGame:
    """One gamma's game over a pool."""

    def __init__(
        self,
        rows: Rows,
        auditor: Auditor,
        pool: Pool,
        cell_play: CellPlay,
        gamma: float,
        *,
        C: float,
        max_iter: int,
        tol: float | None,
        budget: float,
        certify: bool,
    ) -> None:
        self._rows = rows
        self._auditor = auditor
        self._pool = pool
        self._cell_play = cell_play
        self._gamma = gamma
        self._C = C
        self._max_iter = max_iter
        self._tol = -math.inf if tol is None else tol
        self._stakes = Stakes(pool, gamma, C, self._tol)
        self._budget = budget
        self._certify = certify
        self.clock = Stopwatch()
        self._looks = ThoroughLooks(auditor, pool, self.clock.deadline(budget))
        program = weigh(pool.error, pool.unfairness, gamma, C)
        self._at = Progress(program, plays=[], gains=[], records={})
        self._wave = _SHORT_WAVE if rows.label_cells.n_rows.sum() >= _MANY_ROWS else _WAVE
        self._hurried = False
        self._told = True

    @property
    def n_rounds(self) -> int:
        """Return the number of rounds; in each the Learner was asked once."""
        return self._at.number

    @property
    def stage(self) -> str:
        """Return what the next step is."""
        return self._at.stage

    @property
    def stands(self) -> bool:
        """Return whether there is a mixture already."""
        return self._at.standing is not None

    def _keep_to_the_clock(self) -> None:
        """Have the Auditor's searches leave time for the closing look."""
        deadline = self.clock.deadline((1.0 - _FOR_CLOSING) * self._budget)
        self._auditor.keep_to(deadline, self._budget)

    def prepare(self) -> Step:
        """Work out the next step."""
        self._keep_to_the_clock()
        if self._at.stage == Stage.ROUNDS:
            return self._round()
        if self._at.stage == Stage.LOOKING:
            return self._last_look()
        if self._certify:
            return self._proof()
        # Over all that games of smaller gammas have brought into the pool.
        return Step(self._looked_at_last(self._at)._replace(stage=Stage.FINISHED))

    def finish(self, step: Step) -> None:
        """Take a step in."""
        if step.for_cells is not None:
            self._cell_play.answered(step.for_cells)
        self._at = step.progress
        self._told = not step.is_round

    def look(self, *, last: bool, heard: bool) -> list[Round]:
        """End the rounds, if these find nothing better or are used up; return what is not told yet.

        If rounds or seconds are used up, the `last` round is one that answers the program's duals.
        """
        at = self._at
        self._hurried = last
        if at.stage == Stage.ROUNDS and (at.converged or (last and at.closed)):
            self._at = at._replace(stage=Stage.LOOKING)
        if self._told or not heard:
            return []
        self._told = True
        assert at.standing is not None
        votes = at.number * on_host(self._pool.decided(at.standing.weights))[None]
        error = np.array([at.standing.error])
        looks = self._at.stage == Stage.LOOKING
        return [Round(at.number, error, np.array([at.standing.unfairness]), votes, looks)]

    def _round(self) -> Step:
        """Play a round, and look at it if it is time to."""
        at = self._at
        last = self._hurried or at.number + 1 == self._max_iter or self._is_quiet(at)
        closing = last or at.number % self._wave == 0
        at, for_cells = self._answered(at, closing)
        if closing or at.number <= _LOOK_EVERY or at.number % _LOOK_EVERY == 0:
            at = self._looked(at, harder=closing and at.number > _LOOK_HARDER_AFTER * self._wave)
        converged = (
            closing
            and self._is_quiet(at)
            and has_converged(self._C * at.last_excess, self._gap(at), self._tol)
        )
        return Step(at._replace(converged=converged), is_round=True, for_cells=for_cells)

    def _left(self) -> float:
        """Return the part of the budget that is left."""
        return 1.0 - self.clock.seconds / self._budget

    def _is_quiet(self, at: Progress) -> bool:
        """Tell if nothing better was found for long, or no subgroup restrains the program."""
        if self._C * at.last_excess > self._tol:
            return False
        if not at.program.duals.any():
            return True
        quiet = _QUIET_WAVES * self._wave
        return len(at.gains) >= quiet and max(at.gains[-quiet:]) <= self._tol

    def _answered(self, at: Progress, closing: bool) -> tuple[Progress, Array | None]:
        """Fit the Learner once: to the wave's duals, to the cells, or to the program's duals.

        Returns what the answer decides too, if it was to the cells.
        """
        own = self._padded(at.program.duals)
        duals = self._duals(at, own, closing)
        for_cells = not closing and at.number % _CELLS_EVERY == 0
        cost = self._cell_play.cost() if for_cells else self._pool.cost(duals)
        others = [self._auditor.base_cost] + ([] if closing else [self._pool.cost(own)])
        answers = self._rows.answers(cost, others)
        numbers = [self._pool.add_classifier(answer) for answer in answers]
        # Whatever cost was fitted, its score was cut for the program's own duals too. What the
        # answers are worth under these says whether the Learner can still improve on the program.
        best = self._pool.values(own, self._gamma)[numbers].min()
        at = at._replace(
            number=at.number + 1,
            plays=[*at.plays, numbers[0]],
            gains=[*at.gains, max(0.0, at.program.value - float(best))],
            closed=closing,
            closing_duals=duals if closing else at.closing_duals,
        )
        return at, self._rows.decided([answers[0].decisions])[0] if for_cells else None

    def _duals(self, at: Progress, own: Array, closing: bool) -> Array:
        """Return the duals that the Learner answers: the program's own duals, or the wave's."""
        if closing:
            return own
        wave: float = 0.5 - 0.5 * math.cos(2 * math.pi * at.number / self._wave)
        return wave * self._gradient_duals(at.plays)

    def _gradient_duals(self, plays: list[int]) -> Array:
        """Return the duals of `MultiplicativeWeights`, of the plays so far.

        A subgroup that is new in the pool is weighed by all plays so far, those before it too.
        """
        signed = self._pool.unfairness[:, plays]
        if signed.size == 0:
            return np.zeros(len(signed))
        violations = np.concatenate([signed, -signed]) - self._gamma
        squares = np.square(np.abs(violations).max(axis=0)).sum(keepdims=True)
        too_high, too_low = np.split(hedge(violations.sum(axis=1)[None], squares, self._C)[0], 2)
        duals: Array = too_high - too_low
        return duals

    def _looked(self, at: Progress, *, harder: bool) -> Progress:
        """Weigh the pool and audit the mixture, again while that finds much worse subgroups.

        Once a wave the Auditor looks harder, so that the rounds that follow can answer what only
        a thorough look finds.
        Of these mixtures the one stands that is worth least to an Auditor who knows them all; one
        within gamma, if that costs no more than `tol`.
        """
        pool = self._pool
        tried = []
        for _ in range(_FOUND_AT_ONCE):
            program = weigh(pool.error, pool.unfairness, self._gamma, self._C)
            tried.append(program.weights)
            known = float(np.abs(pool.unfairness @ tried[-1]).max(initial=0.0))
            look = self._looks.search(tried[-1])
            if (
                harder
                and not self._looks.exact
                and look.unfairness <= max(self._gamma, known) + _WORSE
            ):
                look = self._looks.probe(tried[-1])
            if look.unfairness > known + ROUNDING:
                pool.add_group(look.group)
            last_excess = max(0.0, look.unfairness - max(self._gamma, known))
            if last_excess <= _WORSE or self._left() < _FOR_CLOSING:
                break
        standings = [self._stakes.standing(weights, look.group) for weights in tried]
        best = min(standings, key=self._stakes.preference)
        return at.standing_at(best, program=program, last_excess=last_excess)

    def _last_look(self) -> Step:
        """Look as an audit does, unless a proof follows; play on if that finds more."""
        at = self._looked_at_last(self._at, audited=not self._certify)
        over = self._hurried or self._certify or at.number >= self._max_iter
        if over or self._gap(at) <= self._tol:
            return Step(at._replace(stage=Stage.PLAYED))
        # It found subgroups that the rounds' own looks had not: play on against these.
        return Step(at._replace(stage=Stage.ROUNDS, gains=[], closed=False, converged=False))

    def _looked_at_last(self, at: Progress, *, audited: bool = True) -> Progress:
        """Weigh and look until no look finds more, and audit what stands then."""
        assert at.standing is not None
        last = LastLook(self._looks, self._pool, self._stakes, at.clear)
        best = last.best_from(
            at.standing, audited=audited, hurried=lambda: self._left() < _FOR_CLOSING
        )
        program = weigh(self._pool.error, self._pool.unfairness, self._gamma, self._C)
        return at.standing_at(best, program=program, clear=last.clear)

    def _proof(self) -> Step:
        """Try to prove the mixture of the strict program; a subgroup that refutes it comes in."""
        at = self._at
        pool = self._pool
        program = weigh_strictly(pool, self._gamma, exact=self._looks.exact)
        look = self._looks.search(program.weights)
        found = look.group
        known = self._stakes.standing(program.weights, found).unfairness
        if known > self._gamma + ROUNDING and look.unfairness <= known + ROUNDING:
            # Nothing in the pool keeps gamma to what is known. If the Learner, asked for that, has
            # nothing new either, gamma is out of its reach.
            n_classifiers = len(pool)
            at, _ = self._answered(at._replace(program=program), closing=True)
            if len(pool) > n_classifiers and self._left() > 0:
                return Step(at)
            return self._proven(at, program, found, self._prove(program))
        # A proof takes far longer than a search: none is tried of a mixture that a search refutes,
        # unless time is up and there has to be a bound.
        if look.unfairness <= self._gamma + ROUNDING or self._left() <= 0:
            certificate = self._prove(program)
            if not certificate.is_refuted or self._left() <= 0:
                return self._proven(at, program, found, certificate)
            found = certificate.found[-1]
            # The Learner answers the strict program, or the pool may hold no way around the
            # subgroup.
            at, _ = self._answered(at._replace(program=program), closing=True)
        pool.add_group(found)
        return Step(at)

    def _prove(self, program: Weighing) -> Certificate:
        """Prove what can be proven of the program's mixture in the time that is left."""
        deadline = self.clock.deadline(self._budget)
        return prove_mixture(self._auditor, self._pool, program.weights, self._gamma, deadline)

    def _proven(
        self, at: Progress, program: Weighing, found: PooledGroup, certificate: Certificate
    ) -> Step:
        """End with the program's mixture, by what was found and proven of it."""
        pool = self._pool
        if self._left() <= 0:  # searches were cut short
            pool.add_group(self._looks.close(program.weights).group)
        for group in (found, *certificate.found):  # the mixture is measured by them too
            pool.add_group(group)
        best = self._stakes.standing(certificate.weights, found)
        return Step(at.standing_at(best, certificate=certificate, stage=Stage.FINISHED))

    def _padded(self, duals: Array) -> Array:
        """Return duals of a program, 0 for subgroups that have come into the pool since."""
        return np.pad(duals, (0, len(self._pool.groups) - len(duals)))

    def _gap(self, at: Progress) -> float:
        """Return the mixture's worth to the Auditor, less what the Learner can do at best."""
        assert at.standing is not None
        value = self._pool.values(self._padded(at.closing_duals), self._gamma).min()
        return max(0.0, self._stakes.worth(at.standing) - float(value))

    def state(self) -> State:
        """Return where the game stands, apart from the pool."""
        return {"seconds": self.clock.seconds} | self._at._asdict()

    def restore(self, state: State) -> None:
        """Go on from a state, over the pool of that time."""
        # The budget goes on from where it was; the time between the two runs doesn't count.
        self.clock.go_on_from(state["seconds"])
        self._looks = ThoroughLooks(self._auditor, self._pool, self.clock.deadline(self._budget))
        self._at = Progress(**{name: state[name] for name in Progress._fields})

    def equilibrium(self) -> Equilibrium:
        """Return what the game came to, its mixture measured by all subgroups of any game."""
        self._keep_to_the_clock()
        assert self._at.standing is not None
        standing = self._stakes.standing(self._at.standing.weights, self._at.standing.worst)
        at = self._at.standing_at(standing)
        pool = self._pool
        auditor = self._auditor
        decided = pool.decided(standing.weights)
        notion = auditor.notions[standing.worst.notion]
        used = np.flatnonzero(standing.weights)
        records = list(at.records.values())
        sources = tuple(one.subgroups.source for one in auditor.notions)
        bound = self._upper_bound(decided)
        return Equilibrium(
            gamma=self._gamma,
            mixture=self._rows.mixture([pool.keys[i] for i in used], standing.weights[used]),
            rounds=np.array(list(at.records), dtype=np.intp),
            error=np.array([record.error for record in records]),
            unfairness=np.array([record.unfairness for record in records]),
            subgroups=RuleSequence(
                RulesByNotion(sources),
                [(record.worst.notion, record.worst.key) for record in records],
            ),
            gap=self._gap(at),
            worst=notion.subgroup(standing.worst.key, standing.worst.members, decided, None),
            upper_bound=bound,
            converged=at.converged and self._stakes.penalty(standing) <= self._tol,
            certified=at.certificate is not None and bound <= self._gamma + ROUNDING,
            # A proof that fails before its time has met what no mixture of the pool keeps.
            out_of_reach=at.certificate is not None
            and at.certificate.is_refuted
            and self._left() > 0,
        )

    def _upper_bound(self, decided: Array) -> float:
        if self._at.certificate is not None:
            return self._at.certificate.upper_bound
        residuals = self._auditor.residuals(decided[None], None)
        return float(self._auditor.upper_bound(residuals)[0])
