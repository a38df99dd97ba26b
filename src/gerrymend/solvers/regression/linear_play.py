"""Fictitious play between linear regressions, in the order of the body text, from sums over rows.

With bases B of the features (over all rows) and P of the protected terms (over the cells of the
event), both orthonormal under the weights, both answers are linear in what was summed before. Let
S = C·k on a cell be the sum of ±C over the groups that it was in so far, and v its Σ w·b·votes:

- the Learner's cost is (1 − 2y) + b·(S − mean S)·s, s = 1/t, so that its coordinates are
  Bᵀ(w(1 − 2y)) + C·s·(Σ ±Bᵀ(wbg) − mean k·Bᵀ(wb)): no cost is ever made;
- the residual is W = offset + v/t − mean u·mass, so that its coordinates are those of the three.

The event has one label, so costs of both signs are certain: those of the other label are fixed, and
the mean over the event is what it was, as what is added is centred. Rows of the other label only
count as errors, Σ w(1 − 2y)·votes; these are asked for of several rounds at once.
"""

import math
from collections.abc import Iterable, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.solvers.base import (
    Ending,
    Equilibrium,
    HalfRoundError,
    Round,
    RulesByNotion,
    State,
)
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.regression.cell_rows import CellRows
from gerrymend.subgroups.base import RuleSequence
from gerrymend.subgroups.thresholds.regression import RegressionSearch


class _Record(NamedTuple):
    """A round, one game a row."""

    play: Array  # coordinates of the Learner's play
    group: Array  # coordinates of the residual, which select the group
    outcomes: Array  # Σ w·b·votes
    unfairness: Array


class _Duals(NamedTuple):
    """Duals placed on groups so far, in units of C: k is their signed sum by cell."""

    placed: Array  # Σ |±1|
    mean: Array  # of k, over the event
    offset: Array  # Σ k·offset


# Sums over the rounds so far, and what they added last.
_SUMS = ("_multipliers", "_pull", "_pressed", "_pressed_before", "_voted", "_outside")


class LinearGames:
    """Games of many gammas, played together, between a `LinearLearner` and a `RegressionSearch`.

    One notion, whose event is a slice of rows of one label; see `FictitiousPlay`.
    """

    def __init__(
        self,
        learner: LinearLearner,
        auditor: Auditor,
        gammas: Sequence[float],
        C: float,
        *,
        short: bool,
        realised: bool,
    ) -> None:
        self._learner, self._auditor, self._notion = learner, auditor, auditor.notions[0]
        self._gammas, self._C = np.asarray(gammas, dtype=np.float64), C
        self._short, self._realised = short, realised
        n_games, notion = len(gammas), self._notion
        self._rows = CellRows(learner, auditor, n_games)
        self._total, self._event_mass = auditor.total_weight, float(notion.mass.sum())
        self._event_offset = float(notion.offset.sum())
        (label,) = np.flatnonzero(notion.notion.event)
        self._error_sign = (1.0 - 2.0 * label) / notion.notion.b[label]
        assert isinstance(notion.rows, slice)
        assert isinstance(notion.subgroups, RegressionSearch)
        projection, protected = learner.projection, notion.subgroups.projection
        self._base = projection.coordinates((learner.row_weight * auditor.base_cost)[None])
        self._slope = projection.coordinates(notion.weighted_slope[None], notion.rows)
        self._offset, self._mass = (
            protected.coordinates(by_cell[None]) for by_cell in (notion.offset, notion.mass)
        )
        self._pull = np.zeros((n_games, self._base.shape[1]))
        none = np.zeros(n_games)
        self._multipliers = none  # ±1 where the last group is pressed
        self._next = _Duals(none, none, none)
        # Σ k·v of the mixture; Σ v of the last group; Σ w·(1 − 2y)·votes of the other label.
        self._pressed = self._voted = self._outside = none
        self._records: list[_Record] = []
        self._errors: list[Array] = []
        self.ended: dict[int, Ending] = {}
        self._is_whole = True  # whether the last round is

    @property
    def n_rounds(self) -> int:
        """Return the number of whole rounds."""
        return len(self._records)

    @property
    def all_ended(self) -> bool:
        """Return whether each of the games has converged."""
        return len(self.ended) == len(self._gammas)

    def look(self, tol: float | None, *, last: bool, heard: bool) -> list[Round]:
        """Look at rounds that were not yet looked at; at many in one product where none hears."""
        number, n_games = len(self._records), len(self._gammas)
        at_once = 1 if heard else self._rows.plays_at_once // n_games
        if not (last or number % at_once == 0 or self._may_end(tol)):
            return []
        first = len(self._errors)
        self._look_outside()
        if tol is not None:
            self._end(np.flatnonzero(self._gap(tol) <= tol), converged=True)
        no_votes = np.zeros((n_games, 0))
        return [
            Round(i + 1, self._errors[i], self._records[i].unfairness, no_votes)
            for i in range(first, number)
        ]

    def prepare_round(self) -> None:
        """Compute nothing: a round changes the rows from its first question on."""

    def finish_round(self, prepared: None) -> None:
        """Play a round."""
        self._is_whole, number = False, len(self._records) + 1
        share, duals = 1.0 / number, self._next
        pull = self._pull - duals.mean[:, None] * self._slope
        play = self._base + self._scale(number) * pull
        # L of the mixture before the play, under the same duals, is what tells L of the play.
        self._duals, self._pressed_before = duals, self._pressed + self._multipliers * self._voted
        products, self._pressed = self._rows.decide(play, number, self._multipliers)
        outcomes = products[:, -1]
        overall = (self._event_offset + outcomes * share) / self._event_mass

        group = self._offset + products[:, :-1] * share - overall[:, None] * self._mass
        mass, offset, self._voted = self._rows.find(group).T
        value = offset + self._voted * share - overall * mass
        unfairness = np.abs(value) / self._total
        self._records.append(_Record(play, group, outcomes, unfairness))
        # Too high a rate is pressed down (the paper's λ⁻), too low a one lifted (λ⁺).
        exceeds = unfairness > self._gammas
        self._multipliers = np.sign(value) * exceeds if self._realised else exceeds.astype(float)
        self._next = _Duals(
            duals.placed + exceeds,
            duals.mean + self._multipliers * mass / self._event_mass,
            duals.offset + self._multipliers * offset,
        )
        if len(games := np.flatnonzero(exceeds)):
            self._pull[games] += self._multipliers[games, None] * self._rows.pull(games)
        self._is_whole = True

    def _scale(self, number: int) -> float:
        """C, over what the duals before a round are divided by."""
        return self._C / max(number - self._short, 1)

    def _fine(self, outcomes: Array, pressed: Array) -> Array:
        """Return what decisions pay for unfairness under the last duals: C·s·Σ k·W / n.

        From their Σ w·b·d, and Σ k·v with v their Σ w·b·d by cell.
        """
        # Σ k·mass·(mean u): the event's mass cancels between the mean of k and that of u.
        centre = (self._event_offset + outcomes) * self._duals.mean
        paid: Array = self._duals.offset + pressed - centre
        return paid * (self._scale(len(self._records)) / self._total)

    def _mixture_fine(self) -> Array:
        number = len(self._records)
        return self._fine(self._records[-1].outcomes / number, self._pressed / number)

    def _play_fine(self) -> Array:
        outcomes = self._records[-1].outcomes
        if len(self._records) > 1:
            outcomes = outcomes - self._records[-2].outcomes
        return self._fine(outcomes, self._pressed - self._pressed_before)

    def _allowance(self) -> Array:
        """γ·Σ λ of the last duals."""
        allowance: Array = self._gammas * self._duals.placed * self._scale(len(self._records))
        return allowance

    def _penalty(self) -> Array:
        penalty: Array = self._C * np.maximum(self._records[-1].unfairness - self._gammas, 0.0)
        return penalty

    def _may_end(self, tol: float | None) -> bool:
        """Return whether a game may have converged: all that can be told without the errors.

        The gap is at least what the mixture itself, as an answer to the duals, would leave.
        """
        if tol is None:
            return False
        met = (penalty := self._penalty()) <= tol
        met[list(self.ended)] = False
        if met.any():
            met &= penalty - self._mixture_fine() + self._allowance() <= tol
        return bool(met.any())

    def _look_outside(self) -> None:
        """Count the errors of plays that were not yet looked at on the rows of the other label.

        The mixture's error is ⟨w, y⟩ / n + ⟨w·(1 − 2y), votes⟩ / (n·t), and its sum is one play
        after the other's, however many are looked at at once.
        """
        first = len(self._errors)
        if first == len(self._records):
            return
        outcomes, plays = (
            np.array([getattr(record, field) for record in self._records[first:]])
            for field in ("outcomes", "play")
        )
        decided = self._rows.decided_outside(plays.reshape(-1, plays.shape[-1]))
        outside = np.cumsum([self._outside, *decided.reshape(outcomes.shape)], axis=0)[1:]
        rounds = np.arange(first + 1, len(self._records) + 1)[:, None]
        votes = self._error_sign * outcomes + outside
        errors = self._auditor.error_of_zero + votes / (self._total * rounds)
        self._errors, self._outside = [*self._errors, *errors], outside[-1]

    def _gap(self, tol: float = math.inf) -> Array:
        """Return the mixture's worth less the Learner's best; infinite if the penalty is above tol.

        The mixture is an answer to the duals too, and a heuristic's can be worse.
        """
        error, number = self._errors[-1], len(self._records)
        play = number * error - (number - 1) * self._errors[-2] if number > 1 else error
        value = np.minimum(error + self._mixture_fine(), play + self._play_fine())
        penalty = self._penalty()
        gap = error + penalty - value + self._allowance()
        return np.where(penalty <= tol, gap, np.inf)

    def _end(self, games: Iterable[int], *, converged: bool) -> None:
        """Measure games where they end; the others go on."""
        gaps, number = self._gap(), len(self._records)
        for game in set(map(int, games)) - self.ended.keys():
            votes = np.zeros(len(self._auditor.base_cost))
            votes[self._notion.rows] = self._rows.votes(game)
            (bound,) = self._auditor.upper_bound(self._auditor.residuals(votes[None], number))
            key, members = self._records[-1].group[game], self._rows.members(game)
            worst = self._notion.subgroup(key, members, votes, number)
            self.ended[game] = Ending(number, worst, float(bound), float(gaps[game]), converged)

    def equilibria(self, *, cut_short: bool = False) -> list[Equilibrium]:
        """Return what the games come to if they end here; they themselves may go on."""
        here = copy(self)
        here.ended = dict(self.ended)
        here._look_outside()
        here._end(range(len(self._gammas)), converged=False)
        return [here._equilibrium(game) for game in range(len(self._gammas))]

    def _equilibrium(self, game: int) -> Equilibrium:
        ending = self.ended[game]
        records = self._records[: ending.n_rounds]
        return Equilibrium(
            gamma=float(self._gammas[game]),
            mixture=self._learner.mixture([record.play[game] for record in records]),
            rounds=np.arange(1, ending.n_rounds + 1),
            error=np.array([error[game] for error in self._errors[: ending.n_rounds]]),
            unfairness=np.array([record.unfairness[game] for record in records]),
            subgroups=RuleSequence(
                RulesByNotion((self._notion.subgroups.source,)),
                [(0, record.group[game]) for record in records],
            ),
            gap=ending.gap,
            worst=ending.worst,
            upper_bound=ending.upper_bound,
            converged=ending.converged,
        )

    def state(self) -> State:
        """Return where the games stand after the last round, looked at or not."""
        if not self._is_whole:
            raise HalfRoundError
        rounds = map(np.array, zip(*self._records, strict=True))
        return {
            "rows": self._rows.state(len(self._records)),
            "rounds": dict(zip(_Record._fields, rounds, strict=True)),
            "errors": self._errors,
            "duals": tuple(self._duals),
            "next": tuple(self._next),
            "ended": self.ended,
            **{name: getattr(self, name) for name in _SUMS},
        }

    def rounds_in(self, state: State) -> int:
        """Return the number of rounds that a state holds."""
        return len(state["rounds"]["play"])

    def restore(self, state: State) -> None:
        """Go on from a state."""
        rounds = [state["rounds"][name] for name in _Record._fields]
        self._rows.restore(state["rows"])
        self._records = [_Record(*parts) for parts in zip(*rounds, strict=True)]
        self._errors, self.ended = state["errors"], state["ended"]
        self._duals, self._next = _Duals(*state["duals"]), _Duals(*state["next"])
        for name in _SUMS:
            setattr(self, name, state[name])
