"""Play games whose mixture is the average of the plays, and say what a solver adds to them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.solvers.base import (
    Checkpoint,
    Ending,
    Equilibrium,
    GameSolver,
    Round,
    RulesByNotion,
    State,
    check_rounds,
)
from gerrymend.solvers.convergence import has_converged
from gerrymend.solvers.loop import Limits, Listener, Stopwatch
from gerrymend.solvers.loop import play as play_out
from gerrymend.solvers.players.auditor import Answer, Auditor
from gerrymend.solvers.players.closing_look import FOR_LAST_LOOK
from gerrymend.solvers.players.rows import Keys, Rows
from gerrymend.subgroups.base import RuleSequence


class Duals(NamedTuple):
    """The Auditor's play, one game a row.

    `pressure` has for each notion Σ_g (λ⁻_g − λ⁺_g)·g by cell, which is centred when it is priced;
    `total_dual` is Σ_g λ⁺_g + λ⁻_g.
    """

    pressure: list[Array]
    total_dual: Array


class Player(ABC):
    """The Auditor's side of one run: its duals, and how a round changes them."""

    duals: Duals

    duals_are_averages: bool
    """True if the Learner answers the average of all duals so far; False for each round's own.

    min_h L(h, λ) is concave in λ. So against averages the last answer's value is the lower bound
    on the game; against each round's own duals it is the mean of the answers' values.
    """

    perturbs = False
    """True if the Learner answers other costs than the duals': then no play of it gives a bound."""

    def perturb(self, costs: Array) -> Array:
        """Return the costs that the Learner answers, given those of the duals."""
        return costs

    @abstractmethod
    def step(self, number: int, answer: Answer, decided: Array) -> None:
        """Take in a round: the Auditor's answer to the mixture, and the Learner's last play."""

    @abstractmethod
    def state(self) -> State:
        """Return all that `duals` and the steps to come depend on, as of the last step."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on from a state."""


class AveragingSolver(GameSolver):
    """A solver that differs from others only in how the Auditor's side is played."""

    @abstractmethod
    def start(self, auditor: Auditor, gammas: Array, C: float) -> Player:
        """Return a fresh player for games with these gammas."""

    def play(self, rows: Rows, auditor: Auditor, **rules: Any) -> list[Equilibrium]:
        """Play one game for each gamma, all together."""
        return play(self, rows, auditor, **rules)


def play(
    solver: AveragingSolver,
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
    keep_plays: bool = True,
) -> list[Equilibrium]:
    """Play one game for each gamma, all together: a game is a row of every array.

    With keep_plays=False only errors and unfairness are recorded: no mixture and no subgroups.
    """
    if certify or known:
        asked = "certify=True" if certify else "warm_start=True"
        raise ValueError(
            f"{asked} needs solver='exponentiated_gradient', which keeps a pool of predictors; "
            f"got solver={solver!r}."
        )
    if keep_plays:  # the last look has proofs, and what they compile is no time of a game
        auditor.compile_proofs()
    levels = np.asarray(gammas, float)
    player = solver.start(auditor, levels, C)
    game = AveragingGame(player, rows, auditor, levels, C, tol, budget, keep_plays)
    limits = Limits(max_iter, budget * (1.0 - FOR_LAST_LOOK))
    return play_out(game, limits, Listener.of(on_round), checkpoint)


def in_few_bytes(votes: Array) -> NDArray[Any]:
    """Return votes in the smallest integers that hold them, if they are whole.

    >>> in_few_bytes(np.array([[0.0, 300.0]])).dtype
    dtype('uint16')
    """
    if (votes != np.rint(votes)).any():
        return votes
    return votes.astype(np.min_scalar_type(int(votes.max())))


class _Standing(NamedTuple):
    """The games as they stand after a round."""

    number: int
    duals: Duals
    votes: Array
    answer: Answer
    error: Array
    mean_value: Array


class _Played(NamedTuple):
    """A round that was computed and not yet taken in."""

    standing: _Standing
    decided: Array
    keys: Keys


class AveragingGame:
    """Games of many gammas whose mixtures are averages of the plays; a game is a row of arrays."""

    def __init__(
        self,
        player: Player,
        rows: Rows,
        auditor: Auditor,
        gammas: Array,
        C: float,
        tol: float | None,
        budget: float,
        keep_plays: bool,
    ) -> None:
        self._player = player
        self._rows = rows
        self._auditor = auditor
        self._gammas = gammas
        self._C = C
        self._tol = tol
        self._budget = budget
        self._keep_plays = keep_plays
        self._costs = np.tile(auditor.base_cost, (len(gammas), 1))
        self._unperturbed: tuple[Duals, Array] | None = None
        self._plays: list[Keys] = []
        self._found: list[tuple[NDArray[np.intp], list[NDArray[Any]]]] = []
        self._records: list[tuple[Array, Array]] = []
        self._standing: tuple[_Standing | None, _Standing | None] = (None, None)
        self._ended: dict[int, Ending] = {}
        self._restored: dict[int, Ending] | None = None
        self._untold: list[Round] = []
        self.clock = Stopwatch()
        self.over = False

    @property
    def n_rounds(self) -> int:
        """Return the number of whole rounds."""
        return len(self._records)

    def prepare_round(self) -> _Played:
        """Compute all of a round: a fit can take long, and Ctrl-C may stop it."""
        for_rounds = self._budget * (1.0 - FOR_LAST_LOOK)
        self._auditor.keep_to(self.clock.deadline(for_rounds), self._budget)
        _, before = self._standing
        number = before.number + 1 if before else 1
        duals = self._player.duals
        self._auditor.price(duals.pressure, out=self._costs)
        decided, keys = self._rows.best_response(self._player.perturb(self._costs))
        votes = decided + before.votes if before else decided
        answer = self._auditor.worst(votes, number)
        error = self._auditor.error(votes, number)
        mean = before.mean_value if before else np.zeros(len(self._gammas))
        now = _Standing(number, duals, votes, answer, error, mean)
        if not self._player.duals_are_averages:
            mean = mean + (self._learner_value(now, before) - mean) / number
            now = now._replace(mean_value=mean)
        return _Played(now, decided, keys)

    def finish_round(self, prepared: _Played) -> None:
        """Take the round in."""
        now, decided, keys = prepared
        answer = now.answer
        self._player.step(now.number, answer, decided)
        if self._keep_plays:
            self._plays.append(keys)
            self._found.append((answer.notion, [found.keys for found in answer.found]))
        self._records.append((now.error, answer.unfairness))
        _, before = self._standing
        self._standing = before, now
        self._restored = None
        self._untold.append(Round(now.number, now.error, answer.unfairness, now.votes))

    def look(self, *, last: bool, heard: bool) -> list[Round]:
        """End the games that have converged, and return the round since last time."""
        if self._tol is not None:
            self._ended |= self._converged(self._tol)
        self.over = last or len(self._ended) == len(self._gammas)
        told = self._untold
        self._untold = []
        return told

    def _converged(self, tol: float) -> dict[int, Ending]:
        before, now = self._standing
        assert now is not None
        penalty = self._penalty(now)
        met = penalty <= tol
        met[list(self._ended)] = False
        if self._restored is not None:
            endings = self._restored
            ended = [game for game in np.flatnonzero(met).tolist() if endings[game].gap <= tol]
            return {game: endings[game]._replace(converged=True) for game in ended}
        # The second look costs a call of the Learner if plays are perturbed, and nothing otherwise.
        for gap in (self._gap, self._bounded_gap):
            if met.any():
                met &= has_converged(penalty, gap(now, before), tol)
        endings = self._endings(np.flatnonzero(met), now, before, converged=True)
        return {game: self._looked_at(game, ending, now) for game, ending in endings.items()}

    def _looked_at(self, game: int, ending: Ending, now: _Standing) -> Ending:
        """Look at where a game ends by the search of `audit`, which may find a worse subgroup.

        Each game has an even share of what all of them may spend on that.
        """
        self._auditor.keep_to(self.clock.deadline(self._budget), self._budget)
        residuals = [residual[game] for residual in now.answer.residuals]
        known = ending.worst, residuals, now.votes[game], now.number
        worst = self._auditor.audited_subgroup(*known, share=1.0 / len(self._gammas))
        return ending._replace(worst=worst)

    def _penalty(self, now: _Standing) -> Array:
        penalty: Array = self._C * np.maximum(now.answer.unfairness - self._gammas, 0.0)
        return penalty

    def _gap(self, now: _Standing, before: _Standing | None) -> Array:
        """Return what the mixture is worth to the Auditor, less what the Learner can do at best."""
        averages = self._player.duals_are_averages
        value = self._learner_value(now, before) if averages else now.mean_value
        gap: Array = now.error + self._penalty(now) - value
        return gap

    def _bounded_gap(self, now: _Standing, before: _Standing | None) -> Array:
        """Return the gap by answers to the duals themselves, not to perturbed costs."""
        gap = self._gap(now, before)
        if not self._player.perturbs:
            return gap
        if self._unperturbed is None or self._unperturbed[0] is not now.duals:
            self._auditor.price(now.duals.pressure, out=self._costs)
            votes, _ = self._rows.best_response(self._costs)
            error = self._auditor.error(votes, 1)
            residuals = self._auditor.residuals(votes, 1)
            self._unperturbed = now.duals, self._lagrangian(now.duals, error, residuals)
        gap = np.maximum(gap, now.error + self._penalty(now) - self._unperturbed[1])
        return gap

    def _learner_value(self, now: _Standing, before: _Standing | None) -> Array:
        """Return L of the Learner's last play, or of the mixture with it if that is less.

        The mixture is an answer to the duals too, and a heuristic's can be worse. L is affine in
        the mixture, so the last play's is t·L(with it) − (t − 1)·L(without it): no pass over rows.
        """
        value = self._lagrangian(now.duals, now.error, now.answer.residuals)
        if before is not None:
            without = self._lagrangian(now.duals, before.error, before.answer.residuals)
            value = np.minimum(value, now.number * value - before.number * without)
        return value

    def _lagrangian(self, duals: Duals, error: Array, residuals: list[Array]) -> Array:
        """Return L of models with these errors and residuals."""
        fine = self._auditor.fine(duals.pressure, residuals)
        return error + fine - self._gammas * duals.total_dual

    def _endings(
        self, games: Iterable[Any], now: _Standing, before: _Standing | None, *, converged: bool
    ) -> dict[int, Ending]:
        """Measure games where they end."""
        ending = [int(game) for game in games]
        if not ending:
            return {}
        bounds = self._auditor.upper_bound(now.answer.residuals)
        gaps = self._bounded_gap(now, before)
        worst = [
            self._auditor.subgroup(now.answer, game, now.votes[game], now.number) for game in ending
        ]
        return {
            game: Ending(now.number, group, float(bounds[game]), float(gaps[game]), converged)
            for game, group in zip(ending, worst, strict=True)
        }

    def _endings_now(self) -> dict[int, Ending]:
        """Return where all games end if no round follows."""
        before, now = self._standing
        assert now is not None
        if self._restored is not None:
            return self._restored | self._ended
        playing = [game for game in range(len(self._gammas)) if game not in self._ended]
        return self._endings(playing, now, before, converged=False) | self._ended

    def state(self) -> State:
        """Return where the games stand after the last whole round.

        How they would end there goes with it: the duals and the mixture before that round, which
        it takes to tell, are of no other use.
        """
        _, now = self._standing
        assert now is not None
        return {
            "seconds": self.clock.seconds,
            "votes": in_few_bytes(now.votes),
            "mean_value": now.mean_value,
            "player": self._player.state(),
            "plays": self._plays,
            "notions": [notion for notion, _ in self._found],
            "keys": [list(keys) for keys in zip(*(keys for _, keys in self._found), strict=True)],
            "errors": [error for error, _ in self._records],
            "unfairness": [unfairness for _, unfairness in self._records],
            "ended": self._ended,
            "endings": self._endings_now(),
        }

    def restore(self, state: State, max_iter: int) -> None:
        """Go on from a state."""
        number = len(state["errors"])
        check_rounds(number, max_iter)
        self.clock.go_on_from(state["seconds"])
        votes = state["votes"].astype(np.float64)
        self._player.restore(state["player"])
        self._plays = state["plays"]
        keys = map(list, zip(*state["keys"], strict=True))
        self._found = list(zip(state["notions"], keys, strict=True))
        self._records = list(zip(state["errors"], state["unfairness"], strict=True))
        self._ended = state["ended"]
        self._restored = state["endings"]
        error, unfairness = self._records[-1]
        none = np.zeros(len(self._gammas), dtype=np.intp)
        answer = Answer(unfairness, none, [], self._auditor.residuals(votes, number))
        last = _Standing(number, self._player.duals, votes, answer, error, state["mean_value"])
        self._standing = (None, last)

    def equilibria(self, *, cut_short: bool = False) -> list[Equilibrium]:
        """Return what the games have come to, by a look of `audit`'s search unless cut short."""
        _, now = self._standing
        if now is None:
            return []
        endings = self._endings_now()
        looked_at = self._keep_plays and not cut_short
        for game in endings.keys() - self._ended.keys() if looked_at else ():
            endings[game] = self._looked_at(game, endings[game], now)
        return [self._equilibrium(game, endings[game]) for game in range(len(self._gammas))]

    def _equilibrium(self, game: int, ending: Ending) -> Equilibrium:
        records = self._records[: ending.n_rounds]
        plays = [keys[game] for keys in self._plays[: ending.n_rounds]]
        sources = tuple(notion.subgroups.source for notion in self._auditor.notions)
        found = [
            (int(notion[game]), keys[notion[game]][game])
            for notion, keys in self._found[: ending.n_rounds]
        ]
        return Equilibrium(
            gamma=float(self._gammas[game]),
            mixture=self._rows.mixture(plays) if plays else None,
            rounds=np.arange(1, ending.n_rounds + 1),
            error=np.array([error[game] for error, _ in records]),
            unfairness=np.array([unfairness[game] for _, unfairness in records]),
            subgroups=RuleSequence(RulesByNotion(sources), found),
            gap=ending.gap,
            worst=ending.worst,
            upper_bound=ending.upper_bound,
            converged=ending.converged,
        )
