"""Keep where games stand in one table over them, and say what their players pay."""

from typing import Any, NamedTuple

RECORDED = slice(4)
"""Rows of the table that are recorded in every round; see `records`."""
PRESENT = slice(4, 10)
"""Rows that a play changes, and that are kept as they were before it in the rows `BEFORE`."""
BEFORE = slice(10, 16)
ERRORS = slice(16, 18)
"""Rows of the errors that `Convergence.gap` asks for."""


class Standing(NamedTuple):
    """Name the rows of a table, which has a column for each game.

    >>> import numpy as np
    >>> table = np.zeros((len(Standing._fields), 3))
    >>> Standing.of(table).number[:] = 7.0
    >>> table[RECORDED][-1].tolist()
    [7.0, 7.0, 7.0]
    """

    unfairness: Any
    multipliers: Any  # what is placed on the last group, ±1 or 0
    event_errors: Any  # Σ w·(1 − 2y)·votes over the event
    number: Any  # of rounds
    # The next play answers these duals: Σ λ is scale·total_dual.
    total_dual: Any  # Σ |±1|
    mean: Any  # of k over the event
    pressed_offset: Any  # Σ k·w·a
    scale: Any  # C over what divides the sums
    outcomes: Any  # Σ w·b·votes
    pressed: Any  # Σ k·w·b·votes
    # The same six before the last play, under the duals that it answered.
    answered_total_dual: Any
    answered_mean: Any
    answered_offset: Any
    answered_scale: Any
    outcomes_before: Any
    pressed_before: Any
    error: Any  # of the mixture, where it is known
    error_without: Any  # the last play
    outside: Any  # Σ w·(1 − 2y)·votes outside of the event, where it is known
    voted: Any  # Σ w·b·votes·g of the last group
    playing: Any  # 1, or 0 for a game that has ended
    stake: Any  # C, or 0
    gamma: Any
    gap: Any  # with which a game has ended; infinite while it is played

    @classmethod
    def of(cls, table: Any) -> "Standing":
        """Return views of the rows of a table."""
        return cls(*(table[row, :] for row in range(len(cls._fields))))

    def allowance(self) -> Any:
        """Return γ·Σ λ of the duals that the last play answered."""
        return self.gamma * self.answered_total_dual * self.answered_scale

    def mixture_fine(self, event_offset: float) -> Any:
        """Return what the mixture pays for unfairness under these duals, times n."""
        share = 1.0 / self.number
        return self._fine(event_offset + self.outcomes * share, self.pressed * share)

    def play_fine(self, event_offset: float) -> Any:
        """Return what the last play alone pays."""
        outcomes = self.outcomes - self.outcomes_before
        return self._fine(event_offset + outcomes, self.pressed - self.pressed_before)

    def _fine(self, outcomes: Any, pressed: Any) -> Any:
        """Return C/t·Σ k·W, from Σ w·u and Σ k·w·b·d.

        The event's weight cancels in Σ k·w·(mean u), between the mean of k and that of u.
        """
        return (
            self.answered_offset + pressed - outcomes * self.answered_mean
        ) * self.answered_scale
