"""Fictitious play from sums over rows: what is made of them, and what a game comes to.

With bases B of the features (over all rows) and P of the protected terms (over the event), both
orthonormal under the weights w, both answers are linear in what was summed before:

- the Learner's cost is (1 − 2y) + b·(S − mean S)·s with S = Σ ±C·g over the groups so far, so its
  coordinates are Bᵀ(w(1 − 2y)) + s·(Σ ±C·Bᵀ(wbg) − mean S·Bᵀ(wb));
- the residual's coordinates are Pᵀ(wa) + Σ Pᵀ(wbd)/t − mean u·Pᵀw over the decisions d so far.

So a round asks twice: for the decisions, and for the group. Rows outside of the event never press
and are never pressed; only their errors count, and these are asked for many rounds at once.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.models.mixture import Predictor
from gerrymend.notions import FairnessNotion
from gerrymend.solvers.base import (
    Checkpoint,
    Ending,
    Equilibrium,
    HalfRoundError,
    Round,
    RulesByNotion,
    State,
)
from gerrymend.solvers.fictitious_play import FictitiousPlay
from gerrymend.solvers.loop import Limits, Listener, play
from gerrymend.solvers.regression.array_rows import rank_tolerance, tie
from gerrymend.solvers.regression.learners import LEAST_SQUARES, Costs, CostSums, RoundLearner
from gerrymend.solvers.regression.records import Records
from gerrymend.solvers.regression.replaying import replayer
from gerrymend.solvers.regression.rows import RegressionRows
from gerrymend.subgroups.base import RuleSequence
from gerrymend.subgroups.encoding import DirectionRules, LinearEncoding

# Rounds after which records are fetched, and rows outside of the event are looked at.
_ROUNDS_AT_ONCE = 64


# The game's own arrays that rounds change: sums over the rounds so far, and what they added last.
_SUMS = (
    "_number", "_multipliers", "_dual_mass", "_mean", "_pressed_offset", "_votes", "_pressed",
    "_voted", "_overall", "_pull", "_outcome",
)  # fmt: skip


class RegressionGame:
    """Games of many gammas, played together over rows that may be anywhere.

    Parameters
    ----------
    rows : RegressionRows
    notion : FairnessNotion
    encoding : LinearEncoding
        What the protected terms are.
    solver : FictitiousPlay
        In the order of the body text.
    gammas : one for each game
    C : float
    dtype : str
        Type of the features: "float64" or "float32".
    learner : RoundLearner
        Who answers the costs of a round.

    Examples
    --------
    >>> from gerrymend.solvers.regression.array_rows import ArrayRows
    >>> from gerrymend.solvers.regression.rows import LocalBlocks, SummedRows
    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> from gerrymend.inputs.protected import read_columns
    >>> rng = np.random.default_rng(0)
    >>> A, w = rng.standard_normal((200, 2)), np.ones(200)
    >>> y = (A[:, 0] + rng.standard_normal(200) > 0).astype(int)
    >>> blocks = [
    ...     ArrayRows(A[i : i + 70], A[i : i + 70], y[i : i + 70], w[i : i + 70],
    ...               FALSE_POSITIVE_RATE) for i in (0, 70, 140)]
    >>> rows = SummedRows(LocalBlocks(blocks))
    >>> encoding = LinearEncoding.of(read_columns(A), w)
    >>> game = RegressionGame(rows, FALSE_POSITIVE_RATE, encoding, FictitiousPlay(), [0.01], C=10.0)
    >>> (equilibrium,) = game.play(max_iter=30, tol=None)
    >>> equilibrium.n_rounds, bool(equilibrium.unfairness[-1] < equilibrium.unfairness[0])
    (30, True)
    """

    def __init__(
        self,
        rows: RegressionRows,
        notion: FairnessNotion,
        encoding: LinearEncoding,
        solver: FictitiousPlay,
        gammas: Sequence[float],
        C: float,
        dtype: str = "float64",
        learner: RoundLearner = LEAST_SQUARES,
    ) -> None:
        self._rows, self._learner = rows, learner
        self._notion, self._encoding, self._C = notion, encoding, C
        self._precision, self._tie = dtype, tie(dtype)
        self._short = float(solver.divisor == "t-1")
        self._realised = solver.side == "realised"
        self._gammas = np.asarray(gammas, dtype=np.float64)
        tolerance = rank_tolerance(dtype)
        self._features = learner.frame(rows, tolerance)
        self._protected = rows.frame("protected", tolerance)
        self._rules = self._direction_rules()
        self._begin()
        base = self._sums.base
        self._records = Records(base.shape[1], rows.decided_outside, like=base)
        self._played: list[list[Predictor]] = []  # where coordinates don't say it all
        self.ended: dict[int, Ending] = {}
        self._take = replayer(like=base)

    def _direction_rules(self) -> DirectionRules:
        unit = np.eye(self._protected.turn.shape[1])
        intercepts, coefficients = self._protected.coefficients(unit)
        return DirectionRules(self._encoding, intercepts, coefficients, self._tie)

    def _begin(self) -> None:
        n_games = len(self._gammas)
        learner, auditor, scalars = self._rows.prepare(self._features, self._protected, n_games)
        xp = self._xp = array_namespace(learner)
        self._offset, self._mass = (row[None, :] for row in auditor)
        counts = on_host(scalars).tolist()
        self._total, positives, self._event_mass, self._event_offset = counts[:4]
        self._error_of_zero = positives / self._total
        # With a single label in the event, costs of both signs are certain: the others' is fixed,
        # and the mean over the event is what it was, as what is added is centred.
        base, slope, one = (row[None, :] for row in learner)
        signs = xp.astype(scalars[4:], xp.float64)
        self._sums = CostSums(base, slope, one, signs, can_be_constant=all(self._notion.event))

        def zeros(*shape: int) -> Any:
            return xp.zeros((n_games, *shape), dtype=xp.float64, device=device(learner))

        self._allowed = xp.asarray(self._gammas, device=device(learner))
        self._multipliers, self._dual_mass, self._mean = zeros(), zeros(), zeros()
        self._pressed_offset, self._votes = zeros(), zeros()
        self._pressed, self._voted, self._overall = zeros(), zeros(), zeros()
        self._pull, self._outcome = zeros(learner.shape[1]), zeros(auditor.shape[1])
        self._number = xp.zeros((1,), dtype=xp.float64, device=device(learner))
        self._dtype = xp.float32 if "32" in self._precision else xp.float64

    def play(
        self,
        *,
        max_iter: int,
        tol: float | None,
        budget: float = math.inf,
        on_round: Callable[[Round], None] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> list[Equilibrium]:
        """Play all games, until each has converged or `max_iter` rounds were played.

        `on_round` is told of many rounds at once, and without votes, which stay where they are.
        """
        return play(self, Limits(max_iter, tol, budget), Listener.of(on_round), checkpoint)

    @property
    def n_rounds(self) -> int:
        """Return the number of whole rounds."""
        return len(self._records)

    @property
    def all_ended(self) -> bool:
        """Return whether each of the games has converged."""
        return len(self.ended) == len(self._gammas)

    def prepare_round(self) -> None:
        """Compute nothing: a round changes the rows from its first question on."""

    def finish_round(self, prepared: None) -> None:
        """Play a round."""
        self._records.append(*self._take(self._play_round))

    def look(self, tol: float | None, *, last: bool, heard: bool) -> list[Round]:
        """Fetch the rounds of which no figure has come yet, many at once, whoever hears of them."""
        n_pending = len(self._records.pending)
        if not last and 0 < n_pending < _ROUNDS_AT_ONCE and not self._may_end(tol):
            return []
        self._records.fetch()
        if tol is not None:
            self._end(np.flatnonzero(self._gap(tol) <= tol), converged=True)
        return self._told(self.n_rounds - n_pending) if heard else []

    def _told(self, first: int) -> list[Round]:
        errors, unfairness = self._errors(), self._records.all("unfairness")
        no_votes = np.zeros((len(self._gammas), 0))
        return [Round(i + 1, errors[i], unfairness[i], no_votes) for i in range(first, len(errors))]

    def _play_round(self) -> tuple[Any, Any]:
        """Two questions to the rows; what comes of them changes arrays in place.

        Nothing here waits for a device, and nothing depends on what Python knows of the round: on
        a device it can be recorded and replayed. Nothing of the game's changes before both were
        answered, so that the round before can be gone on from. Returns coordinates and figures for
        the record.
        """
        xp, n = self._xp, self._total
        number = self._number + 1.0
        scale, share = 1.0 / xp.clip(number - self._short, min=1.0), 1.0 / number
        costs = Costs(self._sums, self._pull, self._mean, self._multipliers, scale)
        answer = self._learner.answer(self._rows, costs, self._dtype)
        products, pressed = answer.products, answer.pressed
        decided, base = products[:, -2], products[:, -1]
        outcome, votes = self._outcome + products[:, :-2], self._votes + decided
        # Σ S·w·b·votes: what the last group added to S, and what the last play added to the votes.
        all_pressed = self._pressed + (self._multipliers * self._voted + pressed)
        overall = (self._event_offset + votes * share) / self._event_mass
        play_overall = (self._event_offset + decided) / self._event_mass
        weight = self._mean * self._event_mass  # Σ S·w
        fine = self._pressed_offset + all_pressed * share - overall * weight
        play_fine = self._pressed_offset + pressed - play_overall * weight

        residual = self._offset + outcome * share - overall[:, None] * self._mass
        residual = xp.astype(residual, self._dtype, copy=False)
        products, masses, voted = self._rows.find(residual)
        mass, offset = masses[:, 0], masses[:, 1]
        value = offset + voted * share - overall * mass
        unfairness = xp.abs(value) / n
        fines = fine * scale / n, play_fine * scale / n
        figures = unfairness, *fines, self._dual_mass * scale, self._multipliers, base
        record = xp.concat([answer.coordinates, residual], axis=1), xp.stack(figures)
        # Too high a rate is pressed down (the paper's λ⁻), too low a one lifted (λ⁺).
        placed = self._C * xp.astype(unfairness > self._allowed, xp.float64)
        side = 1.0 - 2.0 * xp.astype(value < 0, xp.float64) if self._realised else 1.0
        self._number[:], self._outcome[:], self._votes[:] = number, outcome, votes
        self._pressed[:], self._overall[:], self._voted[:] = all_pressed, overall, voted
        self._multipliers[:] = placed * side
        self._dual_mass += placed
        self._mean += self._multipliers * mass / self._event_mass
        self._pressed_offset += self._multipliers * offset
        self._pull += self._multipliers[:, None] * products
        if answer.predictors:
            self._played.append(answer.predictors)
        return record

    def _may_end(self, tol: float | None) -> bool:
        """Return whether a game may have converged: all that can be told without the errors.

        The gap is at least what the mixture itself, as an answer to the duals, would leave.
        """
        if tol is None:
            return False
        xp, (unfairness, fine, _, mass, _, _) = self._xp, self._records.pending[-1][1]
        penalty = self._C * xp.clip(unfairness - self._allowed, min=0.0)
        least = penalty - fine + self._allowed * mass
        met = on_host((penalty <= tol) & (least <= tol))
        met[list(self.ended)] = False
        return bool(met.any())

    def _plays(self) -> Array:
        """Error of every play: err = ⟨w, y⟩ / n + ⟨w·(1 − 2y), d⟩ / n."""
        return self._error_of_zero + self._records.all("decided") / self._total

    def _errors(self) -> Array:
        """Error of the mixture after every round."""
        errors: Array = np.cumsum(self._plays(), axis=0)
        return errors / np.arange(1, len(errors) + 1)[:, None]

    def _gap(self, tol: float = math.inf) -> Array:
        """Return the mixture's worth less the Learner's best; infinite if the penalty is above tol.

        The mixture is an answer to the duals too, and a heuristic's can be worse.
        """
        now = self._records.last()
        error, play = self._errors()[-1], self._plays()[-1]
        value = np.minimum(error + now.fine, play + now.play_fine) - self._gammas * now.mass
        penalty = self._C * np.maximum(now.unfairness - self._gammas, 0.0)
        gap: Array = np.where(penalty <= tol, error + penalty - value, np.inf)
        return gap

    def _end(self, games: Iterable[int], *, converged: bool) -> None:
        """Measure games where they end; the others go on."""
        ending = set(map(int, games)) - self.ended.keys()
        if not ending:
            return
        number, gaps = len(self._records), self._gap()
        bounds = on_host(self._rows.bound(self._overall, 1.0 / number))
        for game in ending:
            bound = float(bounds[game]) / self._total
            worst, gap = self._worst(game), float(gaps[game])
            self.ended[game] = Ending(number, worst, bound, gap, converged)

    @cached_property
    def _sizes(self) -> list[float]:
        """The largest size of each protected term."""
        return [float(size) for size in self._rows.sizes()]

    def _worst(self, game: int) -> Subgroup | None:
        """Return the last group in few digits, measured on the rows that its words select."""
        _, group = self._records.split(on_host(self._records.last().coordinates[game]))
        rule = self._rules.rule(group)

        def ends(rounded: Sequence[float]) -> tuple[float, float]:
            return self._rows.ends(rule.coefficients, rule.threshold, rounded)

        short = rule.shortened(ends, self._sizes)
        kept = dict(zip(short.terms, short.coefficients, strict=True))
        coefficients = [kept.get(term, 0.0) for term in rule.terms]
        share_of_vote = 1.0 / len(self._records)
        treated = self._rows.treated(coefficients, short.threshold, game, share_of_vote)
        size, mass, outcome, outcomes = treated
        if mass == 0:
            return None
        overall = float(outcomes / self._event_mass)
        rate, share = float(outcome / mass), float(mass / self._total)
        unfairness = share * (rate - overall)
        return Subgroup(short, self._notion, unfairness, share, int(size), rate, overall)

    def equilibria(self, *, cut_short: bool = False) -> list[Equilibrium]:
        """Return what the games come to if they end here; they themselves may go on."""
        here = copy(self)
        here._records, here.ended = self._records.copy(), dict(self.ended)
        here._records.fetch()
        here._end(range(len(self._gammas)), converged=False)
        figures = here._errors(), *map(here._records.all, ("unfairness", "coordinates"))
        return [here._equilibrium(game, *figures) for game in range(len(self._gammas))]

    def _equilibrium(
        self, game: int, errors: Array, unfairness: Array, coordinates: Array
    ) -> Equilibrium:
        ending = self.ended[game]
        rounds = slice(ending.n_rounds)
        plays, groups = self._records.split(coordinates[rounds, game])
        played = [predictors[game] for predictors in self._played[rounds]]
        return Equilibrium(
            gamma=float(self._gammas[game]),
            mixture=self._learner.mixture(self._features, self._tie, plays, played),
            rounds=np.arange(1, ending.n_rounds + 1),
            error=errors[rounds, game],
            unfairness=unfairness[rounds, game],
            subgroups=RuleSequence(RulesByNotion((self._rules,)), [(0, key) for key in groups]),
            gap=ending.gap,
            worst=ending.worst,
            upper_bound=ending.upper_bound,
            converged=ending.converged,
        )

    def example(self) -> list[Predictor]:
        """Return predictors like those that the state holds."""
        return self._learner.example(len(self._gammas))

    def state(self) -> State:
        """Return where the games stand after the last round; rows can be brought there from it."""
        sums = {name: on_host(getattr(self, name)) for name in _SUMS}
        if sums["_number"][0] != len(self._records):
            raise HalfRoundError
        return {
            "sums": sums,
            "records": self._records.state(),
            "predictors": self._played[: len(self._records)],
            "ended": self.ended,
        }

    def rounds_in(self, state: State) -> int:
        """Return the number of rounds that a state holds."""
        return int(state["sums"]["_number"][0])

    def restore(self, state: State) -> None:
        """Go on from a state; the rows are told of all rounds again."""
        self._records.restore(state["records"])
        self._played = state.get("predictors", [])
        self.ended = state["ended"]
        for name in _SUMS:
            getattr(self, name)[:] = self._records.there(state["sums"][name])
        self._learner.replay(self._rows, self._records.changes(), self._played)
