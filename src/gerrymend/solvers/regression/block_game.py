"""Fictitious play over blocks: what is made of the sums, and what a game comes to.

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
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.projection import Frame
from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.models.mixture import Mixture
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
from gerrymend.solvers.regression.block_records import Records
from gerrymend.solvers.regression.linear_block import Blocks, LocalBlocks, rank_tolerance, tie
from gerrymend.solvers.regression.replaying import replayed
from gerrymend.subgroups.base import RuleSequence
from gerrymend.subgroups.encoding import DirectionRules, LinearEncoding
from gerrymend.subgroups.rules import LinearRule

# Rounds after which records are fetched, and rows outside of the event are looked at.
_ROUNDS_AT_ONCE = 64


# The game's own arrays that rounds change: sums over the rounds so far, and what they added last.
_SUMS = (
    "_number", "_multipliers", "_dual_mass", "_mean", "_pressed_offset", "_votes", "_pressed",
    "_voted", "_overall", "_pull", "_outcome",
)  # fmt: skip


class BlockGame:
    """Games of many gammas, played together over blocks of rows.

    Parameters
    ----------
    blocks : Blocks
        All rows, in `LinearBlock`s.
    notion : FairnessNotion
    encoding : LinearEncoding
        What the protected terms are.
    solver : FictitiousPlay
        In the order of the body text.
    gammas : one for each game
    C : float
    dtype : str
        Type of the features: "float64" or "float32".

    Examples
    --------
    >>> from gerrymend.solvers.regression.linear_block import LinearBlock, LocalBlocks
    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> from gerrymend.inputs.protected import read_columns
    >>> rng = np.random.default_rng(0)
    >>> A, w = rng.standard_normal((200, 2)), np.ones(200)
    >>> y = (A[:, 0] + rng.standard_normal(200) > 0).astype(int)
    >>> blocks = LocalBlocks(
    ...     [LinearBlock(A[i : i + 70], A[i : i + 70], y[i : i + 70], w[i : i + 70],
    ...                  FALSE_POSITIVE_RATE) for i in (0, 70, 140)])
    >>> encoding = LinearEncoding.of(read_columns(A), w)
    >>> game = BlockGame(blocks, FALSE_POSITIVE_RATE, encoding, FictitiousPlay(), [0.01], C=10.0)
    >>> (equilibrium,) = game.play(max_iter=30, tol=None)
    >>> equilibrium.n_rounds, bool(equilibrium.unfairness[-1] < equilibrium.unfairness[0])
    (30, True)
    """

    def __init__(
        self,
        blocks: Blocks,
        notion: FairnessNotion,
        encoding: LinearEncoding,
        solver: FictitiousPlay,
        gammas: Sequence[float],
        C: float,
        dtype: str = "float64",
    ) -> None:
        self._blocks, self._notion, self._encoding, self._C = blocks, notion, encoding, C
        self._precision, self._tie = dtype, tie(dtype)
        self._short = float(solver.divisor == "t-1")
        self._realised = solver.side == "realised"
        self._gammas = np.asarray(gammas, dtype=np.float64)
        self._features, self._protected = self._frame("features"), self._frame("protected")
        self._rules = self._direction_rules()
        self._begin()
        outside = partial(self._blocks.add, "outside")
        self._records = Records(self._base.shape[1], outside, like=self._base)
        self.ended: dict[int, Ending] = {}
        here = isinstance(blocks, LocalBlocks)
        self._step = replayed(self._play_round, self._base) if here else self._play_round

    def _frame(self, columns: str) -> Frame:
        ask = partial(self._blocks.gather, "factor", columns)
        return Frame.of(ask, rank_tolerance(self._precision))

    def _direction_rules(self) -> DirectionRules:
        unit = np.eye(self._protected.turn.shape[1])
        intercepts, coefficients = self._protected.coefficients(unit)
        return DirectionRules(self._encoding, intercepts, coefficients, self._tie)

    def _begin(self) -> None:
        n_games = len(self._gammas)
        learner, auditor, scalars = self._blocks.add(
            "prepare", self._features, self._protected, n_games
        )
        xp = self._xp = array_namespace(learner)
        self._base, self._slope, self._one = (row[None, :] for row in learner)
        self._offset, self._mass = (row[None, :] for row in auditor)
        counts = on_host(scalars).tolist()
        self._total, positives, self._event_mass, self._event_offset = counts[:4]
        self._error_of_zero = positives / self._total
        # With a single label in the event, costs of both signs are certain: the others' is fixed,
        # and the mean over the event is what it was, as what is added is centred.
        self._can_be_constant = all(self._notion.event)
        self._outside_signs = xp.astype(scalars[4:], xp.float64)

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
        """Compute nothing: a round changes the blocks from its first question on."""

    def finish_round(self, prepared: None) -> None:
        """Play a round."""
        self._records.append(*self._step())

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
        """Two questions to the blocks; what comes of them changes arrays in place.

        Nothing here waits for a device, and nothing depends on what Python knows of the round: on
        a device it can be recorded and replayed. Nothing of the game's changes before both were
        answered, so that the round before can be gone on from. Returns coordinates and figures for
        the record.
        """
        xp, n = self._xp, self._total
        number = self._number + 1.0
        scale, share = 1.0 / xp.clip(number - self._short, min=1.0), 1.0 / number
        coordinates, products, pressed = self._learn(scale)
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
        products, masses, voted = self._blocks.add("find", residual)
        mass, offset = masses[:, 0], masses[:, 1]
        value = offset + voted * share - overall * mass
        unfairness = xp.abs(value) / n
        fines = fine * scale / n, play_fine * scale / n
        figures = unfairness, *fines, self._dual_mass * scale, self._multipliers, base
        record = xp.concat([coordinates, residual], axis=1), xp.stack(figures)
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
        return record

    def _learn(self, scale: Any) -> tuple[Any, Any, Any]:
        """Coordinates of the Learner's play, and what its decisions sum to."""
        coordinates = self._xp.astype(self._answer(scale), self._dtype, copy=False)
        products, pressed = self._blocks.add("decide", self._multipliers, coordinates)
        return coordinates, products, pressed

    def _answer(self, scale: Any) -> Any:
        """Coordinates of the Learner's play; a constant where no cost differs in sign."""
        xp = self._xp
        coordinates = self._base + scale * (self._pull - self._mean[:, None] * self._slope)
        if self._can_be_constant:
            arguments = self._multipliers, self._mean, scale
            (counts,) = self._blocks.add("signs", *arguments)
            above, below = (counts + self._outside_signs).T
            coordinates = xp.where(above[:, None] == 0, -self._one, coordinates)
            coordinates = xp.where(below[:, None] == 0, self._one, coordinates)
        return coordinates

    def _may_end(self, tol: float | None) -> bool:
        """Whether a game may have converged: all that can be told without the errors.

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
        """The mixture's worth less what the Learner can do at best, now; infinite if not within.

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
        (bounds,) = map(on_host, self._blocks.add("bound", self._overall, 1.0 / number))
        for game in ending:
            bound = float(bounds[game]) / self._total
            worst, gap = self._worst(game), float(gaps[game])
            self.ended[game] = Ending(number, worst, bound, gap, converged)

    @cached_property
    def _sizes(self) -> list[float]:
        """The largest size of each protected term."""
        return [float(size) for size in np.max(self._blocks.gather("sizes"), axis=0)]

    def _worst(self, game: int) -> Subgroup | None:
        """The last group, in few digits, measured on the rows that its description selects."""
        _, group = self._records.split(on_host(self._records.last().coordinates[game]))
        rule = self._rules.rule(group)
        short = rule.shortened(lambda rounded: self._ends(rule, rounded), self._sizes)
        kept = dict(zip(short.terms, short.coefficients, strict=True))
        coefficients = [kept.get(term, 0.0) for term in rule.terms]
        arguments = coefficients, short.threshold, game, 1.0 / len(self._records)
        size, mass, outcome, outcomes = np.sum(self._blocks.gather("treated", *arguments), axis=0)
        if mass == 0:
            return None
        overall = float(outcomes / self._event_mass)
        rate, share = float(outcome / mass), float(mass / self._total)
        unfairness = share * (rate - overall)
        return Subgroup(short, self._notion, unfairness, share, int(size), rate, overall)

    def _ends(self, rule: LinearRule, rounded: Sequence[float]) -> tuple[float, float]:
        ends = self._blocks.gather("ends", rule.coefficients, rule.threshold, rounded)
        return max(low for low, _ in ends), min(high for _, high in ends)

    def equilibria(self) -> list[Equilibrium]:
        """What the games come to if they end here; they themselves may go on."""
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
        return Equilibrium(
            gamma=float(self._gammas[game]),
            mixture=self._mixture(game, plays),
            rounds=np.arange(1, ending.n_rounds + 1),
            error=errors[rounds, game],
            unfairness=unfairness[rounds, game],
            subgroups=RuleSequence(RulesByNotion((self._rules,)), [(0, key) for key in groups]),
            gap=ending.gap,
            worst=ending.worst,
            upper_bound=ending.upper_bound,
            converged=ending.converged,
        )

    def _mixture(self, game: int, plays: Array) -> Mixture:
        intercepts, coefficients = self._features.coefficients(plays)
        return Mixture.of_linear(-coefficients, -intercepts - self._tie)

    def example(self) -> list[Any]:
        """Predictors like those that the state holds."""
        return []

    def state(self) -> State:
        """Where the games stand after the last round; what the blocks have can be had from it."""
        sums = {name: on_host(getattr(self, name)) for name in _SUMS}
        if sums["_number"][0] != len(self._records):
            raise HalfRoundError
        return {
            "sums": sums,
            "records": self._records.state(),
            "ended": self.ended,
        }

    def rounds_in(self, state: State) -> int:
        """Return the number of rounds that a state holds."""
        return int(state["sums"]["_number"][0])

    def restore(self, state: State) -> None:
        """Go on from a state; the blocks are told of all rounds again."""
        self._records.restore(state["records"])
        self.ended = state["ended"]
        for name in _SUMS:
            getattr(self, name)[:] = self._records.there(state["sums"][name])
        self._bring_back()

    def _bring_back(self) -> None:
        """Bring the blocks to where they were."""
        for told in self._records.changes():
            self._blocks.gather("replay", *told)
