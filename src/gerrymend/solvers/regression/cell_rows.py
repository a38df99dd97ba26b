"""Rows of one label in the game between linear regressions, and the sums that a round asks for.

A round reads the basis of the features twice, for the decisions and for the pull of the group.
That is what it costs: with one game as many bytes, with many as many products. All else is done on
pieces of rows × games that are in the cache, with votes, pressure and members in few bytes.
"""

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array, grid_shift
from gerrymend.solvers.base import State
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.regression import _linear_kernel as kernel
from gerrymend.subgroups.thresholds.regression import RegressionSearch

# Rows × games that are handled at once: half a megabyte of float64, in the cache of a core.
_NUMBERS = 1 << 16
# Plays that are looked at at once on rows of the other label: enough for a core's full speed.
_PLAYS = 64
_NONE = np.zeros(0, dtype=np.intp)


class CellRows:
    """Votes, groups and pressure of so many games, and their sums.

    Rows have the order of the learner's and the auditor's: by label, and then by cell. S = C·k is
    the pressure on a cell, with the signed number k of groups that it was in.
    """

    def __init__(self, learner: LinearLearner, auditor: Auditor, n_games: int) -> None:
        notion = auditor.notions[0]
        assert isinstance(notion.rows, slice)
        assert isinstance(notion.subgroups, RegressionSearch)
        basis, rows = learner.projection.basis, notion.rows
        n_cells, self._n_rows = len(notion.mass), rows.stop - rows.start
        # Pieces of the bases: what rows are fitted with, and what sums by cell are multiplied with,
        # of which the last row makes Σ w·b·votes.
        self.plays_at_once = max(n_games, _PLAYS)
        self._room = np.empty(max(_NUMBERS, self.plays_at_once))
        self._features = self._pieces(basis[:, rows], n_games)
        protected = notion.subgroups.projection.basis
        protected_and_one = np.concatenate([protected, np.ones((1, n_cells))])
        self._protected = self._pieces(protected_and_one, n_games)
        self._outside = [
            (
                self._pieces(basis[:, part], self.plays_at_once),
                learner.row_weight[part] * auditor.base_cost[part],
            )
            for part in (slice(rows.start), slice(rows.stop, basis.shape[1]))
        ]
        self._ranks = len(basis), len(protected)
        self._masses = np.stack([notion.mass, notion.offset])
        self._slope, self._whole, self._shift = notion.weighted_slope, notion.whole, 0.0
        self._largest = float(np.max(np.abs(self._slope)))
        self._cell = self._starts = _NONE  # where a cell is a row
        if not notion.distinct:
            self._cell, self._starts = notion.cell, np.append(notion.starts, self._n_rows)
        self._votes = np.zeros((n_games, self._n_rows), dtype=np.int32)
        self._counts = np.zeros((n_games, n_cells), dtype=np.int32)
        self._members = np.zeros((n_games, n_cells), dtype=np.int8)

    def decide(self, coordinates: Array, number: int, multipliers: Array) -> tuple[Array, Array]:
        """Press on what was found last, ±1 or 0, and take the Learner's decisions into the votes.

        With v the sums of w·b·votes by cell, returns Pᵀv with Σ v beside it, and Σ k·v.
        """
        n_games = len(coordinates)
        for first, basis in self._features:
            fitted = np.matmul(coordinates, basis, out=self._buffer(n_games, basis))
            kernel.vote(fitted, TIE, first, self._votes)
        if not self._whole:
            self._shift = grid_shift(self._n_rows, number * self._largest)
        products, pressed = np.zeros((n_games, self._ranks[1] + 1)), np.zeros(n_games)
        for first, basis in self._protected:
            by_cell = self._buffer(n_games, basis)
            kernel.press(
                multipliers, self._members, first, self._votes, self._slope, self._shift,
                self._starts, self._counts, by_cell, pressed,
            )  # fmt: skip
            products += by_cell @ basis.T
        return products, pressed

    def find(self, coordinates: Array) -> Array:
        """Select the groups g of the regressions; return Σ w·g, Σ w·a·g and Σ v·g as columns."""
        n_games, sums = len(coordinates), np.zeros((len(coordinates), 3))
        for first, basis in self._protected:
            fitted = np.matmul(coordinates, basis[:-1], out=self._buffer(n_games, basis))
            kernel.select(
                fitted, TIE, first, self._votes, self._slope, self._shift, self._starts,
                self._masses, self._members, sums,
            )  # fmt: skip
        return sums

    def pull(self, games: NDArray[np.intp]) -> Array:
        """Bᵀ(w·b·g) of the last groups, of some of the games."""
        products = np.zeros((len(games), self._ranks[0]))
        for first, basis in self._features:
            by_row = self._buffer(len(games), basis)
            kernel.spread(games, self._members, self._cell, self._slope, first, by_row)
            products += by_row @ basis.T
        return products

    def decided_outside(self, plays: Array) -> Array:
        """Σ w·(1 − 2y)·d over the rows of the other label, of at most `plays_at_once`."""
        total = np.zeros(len(plays))
        for pieces, base in self._outside:
            for first, basis in pieces:
                fitted = np.matmul(plays, basis, out=self._buffer(len(plays), basis))
                kernel.decided(fitted, TIE, first, base, total)
        return total

    def votes(self, game: int) -> NDArray[np.int32]:
        """Return how often each row was decided 1."""
        votes: NDArray[np.int32] = self._votes[game]
        return votes

    def members(self, game: int) -> NDArray[np.bool_]:
        """Return the cells of the last group."""
        members: NDArray[np.bool_] = self._members[game] > 0
        return members

    def state(self, number: int) -> State:
        """Return the state after `number` rounds, in the smallest integer types that hold it."""
        return {
            "votes": self._votes.astype(np.min_scalar_type(number)),
            "counts": self._counts.astype(np.min_scalar_type(-number)),
            "members": self._members.astype(bool),
        }

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self._votes[:], self._counts[:] = state["votes"], state["counts"]
        self._members[:] = state["members"]

    def _pieces(self, basis: Array, n_games: int) -> list[tuple[int, Array]]:
        """Return where pieces begin, and views of the basis that so many games have room for."""
        step = len(self._room) // n_games
        firsts = range(0, basis.shape[1], step)
        return [(first, basis[:, first : first + step]) for first in firsts]

    def _buffer(self, n_games: int, basis: Array) -> Array:
        """Room for a piece, in order of memory; it is used anew by every piece."""
        shape = n_games, basis.shape[1]
        return self._room[: shape[0] * shape[1]].reshape(shape)
