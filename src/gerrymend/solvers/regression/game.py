"""Play fictitious play from sums over rows, and say what games come to.

With bases B of the features (over all rows) and P of the protected terms (over the event), both
orthonormal under the weights w, both answers are linear in what was summed before. With k = Σ ±g
over the groups so far and the votes v = Σ d over the decisions so far, after t rounds:

- the Learner's cost is (1 − 2y) + b·(k − mean k)·C/t, so its coordinates are
  Bᵀ(w(1 − 2y)) + C/t·(Σ ±Bᵀ(wbg) − mean k·Bᵀ(wb)): no cost is ever made;
- the residual's coordinates are Pᵀ(wa) + Pᵀ(wbv)/t − mean u·Pᵀw.

So a round asks twice: for the decisions, and for the group. Rows outside of the event never press
and are never pressed; only their errors count, and these are asked for many rounds at once.

All that rounds change are arrays over the games, in place: what a round costs in Python does not
depend on how many games there are. A game that has ended stands still, and the others go on.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, device, is_numpy_array

from gerrymend._numeric.arrays import on_host
from gerrymend.models.mixture import Predictor
from gerrymend.notions import FairnessNotion
from gerrymend.solvers.base import (
    Checkpoint,
    Equilibrium,
    HalfRoundError,
    PostponedEquilibrium,
    Round,
    State,
    check_rounds,
)
from gerrymend.solvers.fictitious_play import FictitiousPlay
from gerrymend.solvers.loop import Limits, Listener, Stopwatch, play
from gerrymend.solvers.regression.array_block import rank_tolerance, tie
from gerrymend.solvers.regression.duality_gap import DualityGap
from gerrymend.solvers.regression.learners import LEAST_SQUARES, Costs, CostSums, RoundLearner
from gerrymend.solvers.regression.records import Records
from gerrymend.solvers.regression.replaying import replayer
from gerrymend.solvers.regression.rows import RegressionRows
from gerrymend.solvers.regression.standing import BEFORE, ERRORS, PRESENT, RECORDED, Standing
from gerrymend.subgroups.base import RuleSequence
from gerrymend.subgroups.encoding import DirectionRules, LinearEncoding


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
    >>> from gerrymend.solvers.regression.array_block import ArrayBlock
    >>> from gerrymend.solvers.blocks import LocalBlocks
    >>> from gerrymend.solvers.regression.rows import SummedBlocks
    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> from gerrymend.inputs.protected import read_columns
    >>> rng = np.random.default_rng(0)
    >>> A, w = rng.standard_normal((200, 2)), np.ones(200)
    >>> y = (A[:, 0] + rng.standard_normal(200) > 0).astype(int)
    >>> blocks = [
    ...     ArrayBlock(A[i : i + 70], A[i : i + 70], y[i : i + 70], w[i : i + 70],
    ...                FALSE_POSITIVE_RATE) for i in (0, 70, 140)]
    >>> rows = SummedBlocks(LocalBlocks(blocks))
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
        self._rows = rows
        self._learner = learner
        self._notion = notion
        self._C = C
        self._tie = tie(dtype)
        # The sum of the duals is divided by the number of the play that answers it, or one less.
        self._later = 0.0 if solver.divisor == "t-1" else 1.0
        self._realised = solver.side == "realised"
        self._gammas = np.asarray(gammas, dtype=np.float64)
        tolerance = rank_tolerance(dtype)
        self._features = learner.basis(rows, tolerance)
        protected = rows.basis("protected", tolerance)
        directions = protected.coefficients(np.eye(protected.turn.shape[1]))
        self._rules = DirectionRules(encoding, *directions, self._tie)
        sums = rows.prepare(self._features, protected, len(self._gammas))
        self._keep_sums(*sums)
        # On a device one more question costs less than to wait for what may have ended, unless
        # the basis that it reads is larger than what a round changes.
        self._ends_at_once = rows.at_hand and len(self._gammas) >= sums[0].shape[1]
        self._make_arrays(like=sums[0], single="32" in dtype)
        self._duality_gap = DualityGap(C, self._event_offset, self._total)
        self._played: list[list[Predictor]] = []  # where coordinates don't say it all
        self._counted = False  # whether the last play was asked for outside of the event
        self._now.gamma[:] = self._records.there(self._gammas)
        self._now.gap[:] = math.inf
        self._now.playing[:] = 1.0
        self._now.scale[:] = C
        self._stand_still()  # none does yet
        self.tol: float | None = None
        self.clock = Stopwatch()
        self.over = False

    def _keep_sums(self, learner: Any, auditor: Any, scalars: Any) -> None:
        """Keep the sums that no round changes."""
        counts = on_host(scalars).tolist()
        self._total, positives, self._event_weight, self._event_offset = counts[:4]
        self._error_of_zero = positives / self._total
        # With a single label in the event, costs of both signs are certain: the others' is fixed,
        # and the mean over the event is what it was, as what is added is centred.
        self._base, slope, one = (row[None, :] for row in learner)
        both_labels = all(self._notion.event)
        self._sums = CostSums(slope, one, scalars[4:], can_be_constant=both_labels)
        self._offset, self._weight_coordinates = (row[None, :] for row in auditor)

    def _make_arrays(self, like: Any, *, single: bool) -> None:
        """Make the arrays that rounds change."""
        xp = self._xp = array_namespace(like)
        self._sign = np.sign if is_numpy_array(like) else xp.sign  # xp's costs six times NumPy's
        self._dtype = xp.float32 if single else None  # to which coordinates are brought
        n_games = len(self._gammas)
        n_learner = like.shape[1]
        n_coordinates = n_learner + self._offset.shape[1]

        def zeros(*shape: int, dtype: Any = xp.float64) -> Any:
            return xp.zeros(shape, dtype=dtype, device=device(like))

        self._pull = zeros(n_games, n_learner)
        # Figures that stand between two rounds are rows of one table: they are recorded, put
        # by or fetched in one copy, however many there are.
        self._table = zeros(len(Standing._fields), n_games)
        now = self._now = Standing.of(self._table)
        self._bases = zeros(n_games, n_learner)
        self._recorded = self._table[RECORDED, :]
        self._present = self._table[PRESENT, :]
        self._before = self._table[BEFORE, :]
        self._errors = self._table[ERRORS, :]
        self._duals = now.total_dual, now.mean, now.pressed_offset
        self._costs = Costs(
            self._sums, self._bases, self._pull, now.mean, now.multipliers, now.scale, now.playing
        )
        # Plays and groups are views of one array, which a round is recorded from.
        self._coordinates = zeros(n_games, n_coordinates, dtype=self._dtype or xp.float64)
        self._plays = self._coordinates[:, :n_learner]
        self._groups = self._coordinates[:, n_learner:]
        # A round that was recorded on a device writes where it wrote then: none of these arrays may
        # be replaced from here on, only filled.
        self._take = replayer(like)
        self._take_end = replayer(like)
        self._records = Records(
            n_learner, self._rows.decided_outside, self._error_of_zero, self._total,
            like=self._coordinates,
        )  # fmt: skip

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
        self.tol = tol
        return play(self, Limits(max_iter, budget), Listener.of(on_round), checkpoint)

    @property
    def n_rounds(self) -> int:
        """Return the number of whole rounds."""
        return len(self._records)

    def prepare_round(self) -> None:
        """Compute nothing: a round changes the rows from its first question on."""

    def finish_round(self, prepared: None) -> None:
        """Play a round."""
        self._take(self._play_round)
        # After the round and not in it: an error between the two leaves the table a round ahead of
        # the records, by which `state` knows that it must not be kept.
        self._records.append(self._coordinates, self._recorded)
        self._counted = False

    def look(self, *, last: bool, heard: bool) -> list[Round]:
        """Fetch the rounds of which no figure has come yet, many at once."""
        tol = self.tol
        n_pending = self._records.n_pending
        wait = not last and 0 < n_pending < self._rows.rounds_at_once(heard=heard)
        if tol is not None and self._ends_at_once:
            self._end_at_once(tol)
        elif tol is not None:
            wait = wait and not self._duality_gap.may_be_met(self._now, tol)
        # A state may be of rounds that were fetched, and not yet looked at.
        if wait:
            return []
        self._records.fetch()
        if tol is not None and not self._ends_at_once:
            self._errors[:] = self._records.there(self._records.last_errors())
            self._end(tol)
        all_ended = not bool((self._now.playing > 0).any())
        self.over = last or all_ended
        records = self._records
        no_votes = np.zeros((len(self._gammas), 0))
        # Rounds that were played after the last game's end are none.
        n_played = int(self._now.number.max()) if all_ended else self.n_rounds
        known = range(self.n_rounds - n_pending, n_played) if heard else ()
        return [Round(i + 1, records.errors[i], records.unfairness[i], no_votes) for i in known]

    def _play_round(self) -> None:
        """Ask the rows twice; what comes of it changes arrays in place.

        Nothing here waits for a device, and nothing depends on what Python knows of the round: on
        a device it can be recorded and replayed. Nothing of the game's changes before all was
        answered, so that the round before can be gone on from.
        """
        now = self._now
        # The number of a game that has ended stays what it was, and its mixture with it.
        number = now.number + now.playing
        share = 1.0 / number
        answer = self._learner.answer(self._rows, self._costs, self._dtype)
        products = answer.products
        outcomes = products[:, -1]
        overall = (self._event_offset + outcomes * share) / self._event_weight
        residual = self._offset + products[:, :-1] * share[:, None]
        residual -= overall[:, None] * self._weight_coordinates
        if self._dtype is not None:
            residual = array_namespace(residual).astype(residual, self._dtype)
        weight, offset, voted = self._rows.find(residual).T
        # Σ g·w·(u − mean u), with u = a + b·v/t: Σ w·a·g + Σ w·b·v·g/t − mean u·Σ w·g.
        value = offset + voted * share - overall * weight
        unfairness = abs(value) / self._total
        # Too high a rate is pressed down (the paper's λ⁻), too low a one lifted (λ⁺).
        exceeds = (unfairness > now.gamma) * now.playing
        multipliers = self._sign(value) * exceeds if self._realised else exceeds
        pulled = self._rows.pull(multipliers)

        # The duals that this play has answered, before they become those of the next: `_gap` asks
        # what the play is worth under them.
        self._before[:] = self._present
        pressed_before = now.pressed_before
        pressed_before += now.multipliers * now.voted  # the play answered that group too
        now.unfairness[:] = unfairness
        now.multipliers[:] = multipliers
        now.event_errors[:] = answer.event_errors
        now.number[:] = number
        total_dual, mean, pressed_offset = self._duals
        total_dual += exceeds
        mean += multipliers * weight / self._event_weight
        pressed_offset += multipliers * offset
        now.scale[:] = now.stake / (number + self._later)
        now.outcomes[:] = outcomes
        now.pressed[:] = answer.pressed
        now.voted[:] = voted
        self._pull += pulled
        self._plays[:] = answer.coordinates
        self._groups[:] = residual
        if answer.predictors:
            self._played.append(answer.predictors)

    def _end(self, tol: float) -> None:
        """End the games that have converged."""
        now = self._now
        gap = self._duality_gap.of(now, self._errors)
        met = self._duality_gap.met(now, gap, tol)
        now.gap[:] = self._xp.where(met, gap, now.gap)
        now.playing[:] = now.playing * ~met
        self._stand_still()

    def _end_at_once(self, tol: float) -> None:
        """Ask rows outside of the event about the last play too, and end games; nothing waits."""
        if self._counted:  # by who left a state
            self._end(tol)
            return
        self._take_end(partial(self._count_and_end, tol))
        self._counted = True

    def _count_and_end(self, tol: float) -> None:
        now = self._now
        outside = now.outside
        outside += self._rows.decided_outside(self._plays)
        against = now.event_errors + outside
        now.error_without[:] = now.error
        now.error[:] = self._error_of_zero + against / (self._total * now.number)
        self._end(tol)

    def _stand_still(self) -> None:
        """Let the games that have ended decide nothing any more."""
        playing = self._now.playing
        self._now.stake[:] = self._C * playing
        self._now.scale[:] = self._now.scale * playing
        self._bases[:] = self._base * playing[:, None]

    def equilibria(self, *, cut_short: bool = False) -> list[Equilibrium]:
        """Return what the games come to if they end here; they themselves may go on.

        Mixtures, and the words of subgroups, are made when they are asked for.
        """
        if self.n_rounds == 0:
            return []
        self._records.fetch()
        at = Standing.of(on_host(self._table))
        overall = (self._event_offset + at.outcomes / at.number) / self._event_weight
        bounds = self._rows.bound(overall, at.number) / self._total
        groups = on_host(self._groups)
        measured = self._rows.measure(self._notion, self._rules, groups, at.number)
        ended = np.isfinite(at.gap)
        gaps = np.where(ended, at.gap, self._duality_gap.of(at, self._records.last_errors()))
        errors = np.array(self._records.errors).T
        unfairness = np.array(self._records.unfairness).T
        plays = self._records.plays()
        keys = self._records.groups()

        # Made here: mixtures hold on to plays and, without `self`, to none of the rows.
        make_mixture = partial(self._learner.mixture, self._features, self._tie)

        def equilibrium(game: int, n: int) -> Equilibrium:
            played = [predictors[game] for predictors in self._played[:n]]
            # Copies: a slice would keep the rounds of all games as long as one of them is kept.
            return PostponedEquilibrium(
                gamma=float(self._gammas[game]),
                make_mixture=lambda: make_mixture(plays.of(game, n), played),
                rounds=np.arange(1, n + 1),
                error=errors[game, :n].copy(),
                unfairness=unfairness[game, :n].copy(),
                subgroups=RuleSequence(self._rules, keys[game, :n].copy()),
                gap=float(gaps[game]),
                make_worst=partial(measured.subgroup, game),
                worst_unfairness=float(measured.unfairness[game]),
                upper_bound=float(bounds[game]),
                converged=bool(ended[game]),
            )

        return [equilibrium(game, int(n)) for game, n in enumerate(at.number.tolist())]

    def example(self) -> list[Predictor]:
        """Return predictors like those that the state holds."""
        return self._learner.example(len(self._gammas))

    def state(self) -> State:
        """Return where the games stand after the last round; rows can be brought there from it."""
        table = on_host(self._table)
        if Standing.of(table).number.max() > self.n_rounds:
            raise HalfRoundError
        return {
            "seconds": self.clock.seconds,
            "table": table.copy(),
            "pull": on_host(self._pull).copy(),
            "coordinates": on_host(self._coordinates).copy(),
            "counted": self._counted,
            "rows": self._rows.state(self.n_rounds),
            "records": self._records.state(),
            "predictors": self._played[: self.n_rounds],
        }

    def restore(self, state: State, max_iter: int) -> None:
        """Go on from a state."""
        check_rounds(len(state["records"]["figures"]), max_iter)
        self.clock.go_on_from(state["seconds"])
        self._records.restore(state["records"])
        self._played = state["predictors"]
        self._counted = state["counted"]
        # Filled, not replaced: rounds that were recorded on a device read and write these arrays.
        self._table[:] = self._records.there(state["table"])
        self._pull[:] = self._records.there(state["pull"])
        self._coordinates[:] = self._records.there(state["coordinates"])
        self._stand_still()
        self._learner.restore(self._rows, state["rows"], self._records.changes(), self._played)
