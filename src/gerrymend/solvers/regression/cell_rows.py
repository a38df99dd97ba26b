"""Hold NumPy's rows of the game between linear regressions, and answer with sums over cells.

A round reads the basis of the features twice, for the decisions and for the pull of the group.
That is what it costs: with one game as many bytes, with many as many products. All else is done on
pieces of rows × games that are in the cache, with votes, pressure and members in few bytes.
"""

from collections.abc import Iterator

import numpy as np

from gerrymend._numeric.projection import TIE, OrthonormalBasis
from gerrymend._numeric.sums import Array, grid_shift, total
from gerrymend.notions import FairnessNotion
from gerrymend.solvers.base import HalfRoundError, State
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.regression import _linear_kernel as kernel
from gerrymend.solvers.regression.array_block import Columns, Sums
from gerrymend.solvers.regression.rows import Measured, Told
from gerrymend.subgroups.encoding import DirectionRules
from gerrymend.subgroups.thresholds.regression import RegressionSearch

# Rows × games that are handled at once: half a megabyte of float64, in the cache of a core.
_NUMBERS = 1 << 16
# Plays that are looked at at once on rows of the other label: enough for a core's full speed.
_PLAYS = 64
_NONE = np.zeros(0, dtype=np.intp)


class CellRows:
    """Keep votes, groups and pressure of many games, over one event of one label.

    Rows have the order of the learner's and the auditor's: by label, and then by cell. The pressure
    on a cell is the signed number k of groups that it was in. Sums by cell are made on the grid of
    `_sums`, anew in each round: nothing drifts, and the order of rows changes no bit of them.

    Parameters
    ----------
    rows : MemoryRows
        With a `LinearLearner`.
    auditor : Auditor
        Of one notion, by regression; see `FictitiousPlay`.
    """

    at_hand = False

    def __init__(self, rows: MemoryRows, auditor: Auditor) -> None:
        self._rows = rows
        self._auditor = auditor
        self._notion = notion = auditor.notions[0]
        learner = rows.learner
        assert isinstance(learner, LinearLearner)
        assert isinstance(notion.event, slice)
        assert isinstance(notion.subgroups, RegressionSearch)
        self._event_rows = rows.rows_of(notion.event)
        self._slope = rows.weight[self._event_rows] * notion.slope[0]
        # The cells of rows, and where those of each begin; none where a cell is a row.
        self._cell = self._starts = _NONE
        if len(self._slope) > len(notion.event_weight):
            starts = rows.starts[notion.event][notion.starts] - self._event_rows.start
            self._starts = np.append(starts, len(self._slope))
            self._cell = np.repeat(np.arange(len(starts)), np.diff(self._starts))
        self._base = rows.weight * rows.spread(auditor.base_cost)
        self._bases = {"features": learner.projection, "protected": notion.subgroups.projection}
        # In an event of one label, 1 − 2y and b are constants: Σ w·(1 − 2y)·votes is a multiple of
        # Σ w·b·votes, and needs no sum of its own.
        (label,) = np.flatnonzero(notion.notion.event)
        self._error_sign = (1.0 - 2.0 * label) / notion.notion.b[label]

    def basis(self, columns: Columns, tolerance: float) -> OrthonormalBasis:
        """Return the bases that both players have already."""
        return self._bases[columns].change

    def prepare(
        self, features: OrthonormalBasis, protected: OrthonormalBasis, n_games: int
    ) -> Sums:
        """Make the state of so many games; return what doesn't change, as `ArrayBlock` does."""
        notion = self._notion
        rows = self._event_rows
        of_features = self._bases["features"]
        of_protected = self._bases["protected"]
        self._cut_up(of_features.basis, of_protected.basis, n_games)
        n_cells = len(notion.event_weight)
        self._votes = np.zeros((n_games, rows.stop - rows.start), dtype=np.int32)
        self._counts = np.zeros((n_games, n_cells), dtype=np.int32)
        self._members = np.zeros((n_games, n_cells), dtype=np.int8)
        self._number = 0
        label_cells = self._rows.label_cells
        outside = np.delete(self._base, rows)
        scalars = [
            self._auditor.total_weight,
            total(label_cells.weight * label_cells.labels),
            float(notion.event_weight.sum()),
            float(notion.offset.sum()),
            float((outside > 0).sum()),
            float((outside < 0).sum()),
        ]
        of_learner = [
            of_features.coordinates(self._base[None]),
            of_features.coordinates(self._slope[None], rows),
            of_features.one,
        ]
        of_auditor = [
            of_protected.coordinates(one[None]) for one in (notion.offset, notion.event_weight)
        ]
        return np.concatenate(of_learner), np.concatenate(of_auditor), np.array(scalars)

    def _cut_up(self, basis: Array, protected: Array, n_games: int) -> None:
        """Cut the bases into pieces: what rows are fitted with, and sums by cell multiplied with.

        The last row of the latter makes Σ w·b·votes.
        """
        notion = self._notion
        rows = self._event_rows
        n_cells = len(notion.event_weight)
        self._plays_at_once = max(n_games, _PLAYS)
        self._room = np.empty(max(_NUMBERS, self._plays_at_once))
        self._features = self._pieces(basis[:, rows], n_games)
        protected_and_one = np.concatenate([protected, np.ones((1, n_cells))])
        self._protected = self._pieces(protected_and_one, n_games)
        self._outside = [
            (
                self._pieces(basis[:, part], self._plays_at_once),
                self._base[part],
            )
            for part in (slice(rows.start), slice(rows.stop, basis.shape[1]))
        ]
        self._ranks = len(basis), len(protected)
        self._of_members = np.stack([notion.event_weight, notion.offset])
        self._largest = float(np.max(np.abs(self._slope)))
        self._shift = 0.0

    def rounds_at_once(self, *, heard: bool) -> int:
        """Return 1 where someone hears of rounds, and else as many as make a full product."""
        return 1 if heard else self._plays_at_once // len(self._votes)

    def decide(self, multipliers: Array, coordinates: Array) -> Sums:
        """Press on what was found last, ±1 or 0, and take the Learner's decisions into the votes.

        With v the sums of w·b·votes by cell, returns Pᵀv with Σ v beside it, Σ w·(1 − 2y)·votes,
        and Σ k·v.
        """
        self._number += 1
        n_games = len(coordinates)
        for first, basis, room in self._features:
            fitted = np.matmul(coordinates, basis, out=room)
            kernel.vote(fitted, TIE, first, self._votes)
        # Votes reach the number of rounds, and the grid on which their sums are exact grows with
        # them. Whole weights need none: their sums are exact as they are.
        if not self._notion.whole:
            self._shift = grid_shift(self._votes.shape[1], self._number * self._largest)
        products = np.zeros((n_games, self._ranks[1] + 1))
        pressed = np.zeros(n_games)
        for first, basis, by_cell in self._protected:
            kernel.press(
                multipliers, self._members, first, self._votes, self._slope, self._shift,
                self._starts, self._counts, by_cell, pressed,
            )  # fmt: skip
            products += by_cell @ basis.T
        return products, self._error_sign * products[:, -1], pressed

    def find(self, coordinates: Array) -> Array:
        """Select the groups g of the regressions; return Σ w·g, Σ w·a·g and Σ v·g as columns."""
        sums = np.zeros((len(coordinates), 3))
        for first, basis, room in self._protected:
            # But for the last row, the ones, which make Σ v and are no part of the regression.
            fitted = np.matmul(coordinates, basis[:-1], out=room)
            kernel.select(
                fitted, TIE, first, self._votes, self._slope, self._shift, self._starts,
                self._of_members, self._members, sums,
            )  # fmt: skip
        return sums

    def pull(self, multipliers: Array) -> Array:
        """Return multipliers·Bᵀ(w·b·g) of the last groups; a multiplier of 0 costs nothing."""
        # Games that are within gamma press on no one, and are left out of the product.
        games = np.flatnonzero(multipliers)
        products = np.zeros((len(games), self._ranks[0]))
        for first, basis, room in self._features:
            by_row = room[: len(games)]
            kernel.spread(games, multipliers, self._members, self._cell, self._slope, first, by_row)
            products += by_row @ basis.T
        if len(games) == len(multipliers):
            return products
        pulled = np.zeros((len(multipliers), self._ranks[0]))
        pulled[games] = products
        return pulled

    def decided_outside(self, plays: Array) -> Array:
        """Return Σ w·(1 − 2y)·d over the rows of the other label, of `_plays_at_once` at most."""
        decided = np.zeros(len(plays))
        for pieces, base in self._outside:
            for first, basis, room in pieces:
                fitted = np.matmul(plays, basis, out=room[: len(plays)])
                kernel.decided(fitted, TIE, first, base, decided)
        return decided

    def bound(self, mean: Array, numbers: Array) -> Array:
        """Return what the residual of no group exceeds, over the cells."""
        residuals = (self._notion.residuals(*votes) for votes in self._votes_by_game(numbers))
        bounds = [self._notion.subgroups.upper_bound(residual) for residual in residuals]
        return np.concatenate(bounds)

    def measure(
        self, notion: FairnessNotion, rules: DirectionRules, groups: Array, numbers: Array
    ) -> Measured:
        """Measure the last groups, by the cells that their words select."""
        subgroups = [
            self._notion.subgroup(group, members > 0, votes[0], number)
            for group, members, (votes, number) in zip(
                groups, self._members, self._votes_by_game(numbers), strict=True
            )
        ]
        unfairness = [0.0 if one is None else one.unfairness for one in subgroups]
        return Measured(np.array(unfairness), subgroups.__getitem__)

    def _votes_by_game(self, numbers: Array) -> Iterator[tuple[Array, int]]:
        """Yield the votes by label-cell, as a matrix of one row, and the number of each game."""
        for votes, number in zip(self._votes, numbers, strict=True):
            of_all_rows = np.zeros((1, self._rows.n_rows))
            of_all_rows[0, self._event_rows] = votes
            yield self._rows.summed(of_all_rows), int(number)

    def state(self, number: int) -> State:
        """Return the state after `number` rounds, in the smallest integer types that hold it."""
        if self._number != number:  # an error has left half a round, which nothing can undo
            raise HalfRoundError
        # A group presses from the round after its own on, so that a count is below the number of
        # rounds in size: the signed type that holds −number holds it on either side of 0.
        return {
            "votes": self._votes.astype(np.min_scalar_type(number)),
            "counts": self._counts.astype(np.min_scalar_type(-number)),
            "members": self._members.astype(bool),
            "number": number,
        }

    def restore(self, state: State | None, told: Told) -> None:
        """Go on from a state."""
        assert state is not None
        self._votes[:] = state["votes"]
        self._counts[:] = state["counts"]
        self._members[:] = state["members"]
        self._number = state["number"]

    def _pieces(self, basis: Array, n_games: int) -> list[tuple[int, Array, Array]]:
        """Return where pieces begin, views of the basis, and room for their fits of many games.

        The room is the same for all: it is used anew by every piece.
        """
        step = len(self._room) // n_games
        starts = range(0, basis.shape[1], step)
        views = [basis[:, start : start + step] for start in starts]
        sizes = [n_games * view.shape[1] for view in views]
        rooms = [self._room[:size].reshape(n_games, -1) for size in sizes]
        return list(zip(starts, views, rooms, strict=True))
