"""Play games to their end: the one loop, and the one place for what may end it.

Ctrl-C, the budget of seconds, checkpoints, listeners and convergence are here and in no game. A
game says how a round is played, what it has come to, and from what it can go on; see `Game`.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gerrymend._runtime.interrupts import HeldInterrupts
from gerrymend.solvers.base import Checkpoint, Equilibrium, Interrupted, Round, State


@dataclass(frozen=True)
class Limits:
    """Say when games end.

    Parameters
    ----------
    max_iter : int
        The most rounds that are played.
    budget : float
        Seconds after which no round begins; the first one does, whatever the budget.
    """

    max_iter: int
    budget: float = math.inf


class Stopwatch:
    """Count the seconds that a game takes, without those between two runs of it.

    >>> clock = Stopwatch()
    >>> clock.go_on_from(60.0)
    >>> 60.0 <= clock.seconds < 61.0
    True
    """

    def __init__(self) -> None:
        self.go_on_from(0.0)

    def go_on_from(self, seconds: float) -> None:
        """Count on from so many seconds."""
        self._start = time.monotonic() - seconds

    @property
    def seconds(self) -> float:
        """Return how long the game has been played."""
        return time.monotonic() - self._start

    def deadline(self, budget: float) -> float:
        """Return when a budget is used up, by time.monotonic."""
        return self._start + budget


@dataclass(frozen=True)
class Listener:
    """Hear of rounds when they are known.

    Parameters
    ----------
    tell : callable
        Called with each `Round`, in their order.
    needs_votes : bool, default=True
        Whether rounds must come with their votes. If not, a game may leave these out, and tell of
        several rounds at once.

    Examples
    --------
    >>> numbers = []
    >>> listener = Listener(lambda played: numbers.append(played.number), needs_votes=False)
    >>> listener(Round(1, error=None, unfairness=None, votes=None))
    >>> numbers
    [1]
    """

    tell: Callable[[Round], None]
    needs_votes: bool = True

    def __call__(self, played: Round) -> None:
        """Tell of a round."""
        self.tell(played)

    @classmethod
    def of(cls, on_round: Callable[[Round], None] | None) -> "Listener | None":
        """Return a listener as it is; a plain function is taken to need votes."""
        return on_round if isinstance(on_round, Listener | None) else cls(on_round)


class Game(Protocol):
    """Several games, one for each gamma, played together or one after another.

    Where they are played one after another, the rounds and the clock are those of the one that is
    played now. What a game does between rounds and after them is played as a round is, in two
    halves, and counts for none.
    """

    @property
    def n_rounds(self) -> int:
        """Return the number of whole rounds."""
        ...

    @property
    def clock(self) -> Stopwatch:
        """Return the clock that the budget is compared with."""
        ...

    @property
    def over(self) -> bool:
        """Return whether nothing is left to play, by the last look."""
        ...

    def prepare_round(self) -> Any:
        """Compute what can be known of the next round while nothing changes.

        Ctrl-C may stop this anywhere, and the game stands where it stood.
        """
        ...

    def finish_round(self, prepared: Any) -> None:
        """Play the rest of a round; Ctrl-C waits until it is whole."""
        ...

    def look(self, *, last: bool, heard: bool) -> Sequence[Round]:
        """End the games that have converged, and return the rounds that are known since last time.

        `last` says that rounds or seconds are used up. A game may put this off over rounds in which
        none can have converged, unless no round follows; where someone hears of the rounds, it
        should not put it off for long. It is asked again after a state was restored, which may be
        from before a look.
        """
        ...

    def equilibria(self, *, cut_short: bool = False) -> list[Equilibrium]:
        """Return what the games come to if they end here; they themselves may go on.

        Where Ctrl-C has `cut_short` the game, nothing that takes long is done any more, and games
        of which nothing is known are left out.
        """
        ...

    def state(self) -> State:
        """Return all that later rounds depend on, besides data and parameters.

        This may be asked for at any time, and is as of the last whole round. Raises HalfRoundError
        if an error, which no Ctrl-C is, has left half a round.
        """
        ...

    def restore(self, state: State, max_iter: int) -> None:
        """Go on from a state, seconds included.

        Raises CannotResumeError where the end would not be that of a game with such a max_iter.
        """
        ...


def play(
    game: Game,
    limits: Limits,
    listener: Listener | None = None,
    checkpoint: Checkpoint | None = None,
) -> list[Equilibrium]:
    """Play until each game has converged, or rounds or seconds are used up.

    Goes on from what the checkpoint has kept. Ctrl-C raises `Interrupted` with what the whole
    rounds have come to, or stays a KeyboardInterrupt where there is none.
    """
    run = _Run(game, limits, listener, checkpoint)
    if checkpoint is not None:
        checkpoint.resume(run)
    try:
        run.play()
    except KeyboardInterrupt:
        # Ctrl-C comes through only while the game stands as a whole round left it.
        known = game.equilibria(cut_short=True)
        if not known:
            raise
        raise Interrupted(known) from None
    return game.equilibria()


class _Run:
    """A game in play."""

    def __init__(
        self, game: Game, limits: Limits, listener: Listener | None, checkpoint: Checkpoint | None
    ) -> None:
        self._game = game
        self._limits = limits
        self._listener = listener
        self._checkpoint = checkpoint
        game.clock.go_on_from(0.0)

    def play(self) -> None:
        """Play round after round.

        Ctrl-C is held back from where a round begins to change the game until it was looked at: cut
        short it would leave votes that nobody counted, and compiled code can't be stopped at all.
        It is let through once all was told that is known.
        """
        with HeldInterrupts() as interrupts:
            # A restored game may have ended in the round that it was saved after: look before
            # playing on.
            if self._game.n_rounds:
                interrupts.holding = True
                self._look(interrupts)
            while not self._game.over:
                prepared = self._game.prepare_round()
                interrupts.holding = True
                self._game.finish_round(prepared)
                if self._checkpoint is not None:
                    # The method, not its value: most rounds are not written, and a state takes time
                    # to make.
                    self._checkpoint.reached(self._game.state)
                self._look(interrupts)

    def _look(self, interrupts: HeldInterrupts) -> None:
        """Look at the last round, and tell of what is known now."""
        limits = self._limits
        last = self._game.n_rounds >= limits.max_iter or self._game.clock.seconds >= limits.budget
        rounds = self._game.look(last=last, heard=self._listener is not None)
        # Before listeners are called: they are the user's code, which Ctrl-C must be able to stop.
        interrupts.holding = False
        if self._listener is not None:
            for played in rounds:
                self._listener(played)
        # A Ctrl-C of the time when it was held back takes effect here.
        interrupts.check()

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self._game.restore(state, self._limits.max_iter)
