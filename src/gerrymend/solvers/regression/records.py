"""Keep the rounds of games where they were made, and fetch their figures, many at once."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, device, size

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend.solvers.base import State

# Numbers that a message to the rows holds, and for which room is made at once.
_NUMBERS = 1 << 20
# Rounds for which room is made at once, at most.
_ROUNDS = 64
# The rows of a round's figures: unfairness; what is placed on the group; Σ w·(1 − 2y)·votes of the
# event; the rounds of the game, fewer than of the others where it has ended.
UNFAIRNESS, MULTIPLIERS, EVENT_ERRORS, NUMBER = range(4)


class Records:
    """Record rounds in arrays over the games: a round is two copies, however many games there are.

    Parameters
    ----------
    n_learner : int
        How many of the coordinates are those of the play; the others are of the group.
    decided_outside : callable
        Given plays, answers Σ w·(1 − 2y)·d over the rows outside of the event.
    error_of_zero, total : float
        The error of deciding 0 everywhere, and the weight of all rows.
    like : array of shape (n_games, n_coordinates)
        Of the library, the type and the device of the game.

    Examples
    --------
    >>> records = Records(1, lambda plays: plays[:, 0], 0.5, 10.0, like=np.zeros((1, 2)))
    >>> records.append(np.array([[0.5, 2.0]]), np.array([[0.01], [0.0], [-1.5], [1.0]]))
    >>> len(records), records.n_pending
    (1, 1)
    >>> records.fetch()
    >>> len(records), records.n_pending, records.errors[0].tolist()
    (1, 0, [0.4])
    """

    def __init__(
        self,
        n_learner: int,
        decided_outside: Callable[[Any], Any],
        error_of_zero: float,
        total: float,
        like: Any,
    ) -> None:
        self._n_learner = n_learner
        self._decided_outside = decided_outside
        self._error_of_zero = error_of_zero
        self._total = total
        self._like = like
        self._step = max(1, min(_ROUNDS, _NUMBERS // max(1, size(like) or 0)))
        self._chunks: list[tuple[Any, Any]] = []  # of so many rounds: coordinates, and figures
        self._n_rounds = 0
        self._outside: Array = np.zeros(like.shape[0])  # Σ w·(1 − 2y)·votes of what was fetched
        self.errors: list[Array] = []
        """The error of the mixtures after each round that was fetched."""
        self.unfairness: list[Array] = []
        """The unfairness that was found in these rounds."""

    def __len__(self) -> int:
        return self._n_rounds

    @property
    def n_pending(self) -> int:
        """Return the number of rounds that were not fetched."""
        return self._n_rounds - len(self.errors)

    def append(self, coordinates: Any, figures: Any) -> None:
        """Copy a round: coordinates of plays and groups beside each other, and its figures."""
        place = self._n_rounds % self._step
        if place == 0:
            self._make_room()
        kept_coordinates, kept_figures = self._chunks[-1]
        kept_coordinates[place] = coordinates
        kept_figures[place] = figures
        self._n_rounds += 1

    def _make_room(self) -> None:
        xp = array_namespace(self._like)
        where = device(self._like)
        n_games, n_coordinates = self._like.shape
        shape = self._step, n_games, n_coordinates
        coordinates = xp.empty(shape, dtype=self._like.dtype, device=where)
        figures = xp.empty((self._step, 4, n_games), dtype=xp.float64, device=where)
        self._chunks.append((coordinates, figures))

    def _rounds(self, first: int) -> Iterator[tuple[Any, Any]]:
        """Yield coordinates and figures of all rounds from the first on, some at once."""
        while first < self._n_rounds:
            start = first - first % self._step
            part = slice(first - start, min(self._n_rounds - start, self._step))
            coordinates, figures = self._chunks[start // self._step]
            yield coordinates[part, ...], figures[part, ...]
            first = start + self._step

    def fetch(self) -> None:
        """Bring the figures of the last rounds to the host, and look at rows outside of the event.

        The error of a mixture is ⟨w, y⟩ / n + ⟨w·(1 − 2y), votes⟩ / (n·t). Its sum is one play
        after the other's, however many are looked at at once.
        """
        xp = array_namespace(self._like)
        for coordinates, figures in self._rounds(len(self.errors)):
            n_rounds, n_games, _ = coordinates.shape
            shape = n_rounds * n_games, self._n_learner
            plays = xp.reshape(coordinates[:, :, : self._n_learner], shape)
            decided = on_host(self._decided_outside(plays)).reshape(n_rounds, n_games)
            outside = np.cumsum([self._outside, *decided], axis=0)[1:]
            self._outside = outside[-1]
            at = on_host(figures)
            against = at[:, EVENT_ERRORS] + outside
            self.errors.extend(self._error_of_zero + against / (self._total * at[:, NUMBER]))
            self.unfairness.extend(np.array(at[:, UNFAIRNESS]))

    def last_errors(self) -> Array:
        """Return the errors of the mixtures with the last play, and without it."""
        with_last = self.errors[-1]
        without = self.errors[-2] if len(self.errors) > 1 else np.zeros_like(with_last)
        return np.stack([with_last, without])

    def plays(self) -> "KeptPlays":
        """Return the plays of all games, which stay where they are until one is asked for."""
        return KeptPlays([coordinates for coordinates, _ in self._rounds(0)], self._n_learner)

    def groups(self) -> Array:
        """Return the coordinates of all groups on the host, of shape (n_games, n_rounds, …)."""
        chunks = [on_host(chunk[:, :, self._n_learner :]) for chunk, _ in self._rounds(0)]
        return np.ascontiguousarray(np.concatenate(chunks).swapaxes(0, 1))

    def changes(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield multipliers, plays and groups of all rounds: what the rows were told.

        What is placed on a group presses in the round after its own.
        """
        n = self._n_learner
        xp = array_namespace(self._like)
        last = self.there(np.zeros((1, self._like.shape[0])))
        for coordinates, figures in self._rounds(0):
            placed = xp.concat([last, figures[:, MULTIPLIERS, :]])
            yield placed[:-1, :], coordinates[:, :, :n], coordinates[:, :, n:]
            last = placed[-1:, :]

    def state(self) -> State:
        """Return all rounds, on the host."""
        parts = [
            (on_host(coordinates), on_host(figures)) for coordinates, figures in self._rounds(0)
        ]
        coordinates, figures = map(np.concatenate, zip(*parts, strict=True))
        return {
            "coordinates": coordinates,
            "figures": figures,
            "errors": self.errors,
            "unfairness": self.unfairness,
            "outside": self._outside,
        }

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self.errors = state["errors"]
        self.unfairness = state["unfairness"]
        self._outside = state["outside"]
        for coordinates, figures in zip(state["coordinates"], state["figures"], strict=True):
            self.append(self.there(coordinates), self.there(figures))

    def there(self, values: Array) -> Any:
        """Bring an array of the host to where the game is."""
        return array_namespace(self._like).asarray(values, device=device(self._like))


class KeptPlays:
    """Keep the plays of all games where they were made, and none of the rows they are about.

    Plays are most of what a path comes to: a thousand gammas in 500 rounds make a quarter of a
    gigabyte. They are copied to the host, those of all games at once, when one is asked for.
    """

    def __init__(self, chunks: list[Any], n_learner: int) -> None:
        self._chunks = chunks
        self._n_learner = n_learner

    def of(self, game: int, n_rounds: int) -> Array:
        """Return the coordinates of one game's plays in so many rounds, one a row."""
        self._chunks = [on_host(chunk) for chunk in self._chunks]
        plays = [chunk[:, game, : self._n_learner] for chunk in self._chunks]
        return np.concatenate(plays)[:n_rounds]
