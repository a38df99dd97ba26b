"""The rounds of games over blocks: where they were made until they are fetched, many at once."""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend.solvers.base import State

# What a message to the blocks holds.
_NUMBERS = 1 << 20


class Record(NamedTuple):
    """Some rounds, one game a column; all but the coordinates are on the host."""

    coordinates: Any  # of the play, and of the group; where they were made, as they are many
    unfairness: Array
    fine: Array  # what the mixture pays for unfairness, under the duals that the play answered
    play_fine: Array  # what the play pays
    mass: Array  # Σ λ of these duals
    multipliers: Array  # what was placed on the group before
    decided: Array  # Σ w·(1 − 2y)·d of the play


class Records:
    """Records of all rounds so far.

    Parameters
    ----------
    n_learner : int
        How many of the coordinates are those of the play; the others are of the group.
    decided_outside : callable
        Given plays, answers Σ w·(1 − 2y)·d over the rows outside of the event.
    like : array
        One of the library, and on the device, of the game.

    Examples
    --------
    >>> records = Records(1, lambda plays: plays[:, 0], like=np.zeros(1))
    >>> records.append(np.array([[0.5, 2.0]]), np.zeros((6, 1)))
    >>> len(records), len(records.pending)
    (1, 1)
    >>> records.fetch()
    >>> len(records), len(records.pending), records.all("decided")
    (1, 0, array([[0.5]]))
    """

    def __init__(self, n_learner: int, decided_outside: Callable[[Any], Any], like: Any) -> None:
        self._n_learner, self._decided_outside, self._like = n_learner, decided_outside, like
        self.pending: list[tuple[Any, Any]] = []
        """Of each round that was not fetched: its coordinates, and a row for each figure."""
        self._fetched: list[Record] = []

    def __len__(self) -> int:
        return len(self.pending) + sum(len(record.unfairness) for record in self._fetched)

    def append(self, coordinates: Any, figures: Any) -> None:
        """Take in a round: fields of a Record, of which `decided` is without the rows outside."""
        self.pending.append((coordinates, figures))

    def fetch(self) -> None:
        """Bring the figures of the last rounds to the host; `decided` is now of all rows."""
        if not self.pending:
            return
        xp = array_namespace(self._like)
        coordinates, figures = (xp.stack(parts) for parts in zip(*self.pending, strict=True))
        n_rounds, n_games, _ = coordinates.shape
        plays = coordinates[:, :, : self._n_learner]
        outside = self._decided_outside(xp.reshape(plays, (n_rounds * n_games, self._n_learner)))
        outside = on_host(xp.reshape(outside, (n_rounds, n_games)))
        rows = dict(zip(Record._fields[1:], np.moveaxis(on_host(figures), 1, 0), strict=True))
        rows["decided"] += outside
        self._fetched.append(Record(coordinates, **rows))
        self.pending = []

    def last(self) -> Record:
        """Return the last round that was fetched."""
        return Record(*(part[-1] for part in self._fetched[-1]))

    def all(self, field: str) -> Array:
        """Return a field of all rounds that were fetched, on the host."""
        return np.concatenate([on_host(getattr(record, field)) for record in self._fetched])

    def split(self, coordinates: Array) -> tuple[Array, Array]:
        """Coordinates of plays, and of groups."""
        plays, groups = np.split(coordinates, [self._n_learner], axis=-1)
        return plays, groups

    def copy(self) -> Self:
        """Return the same records, which can be fetched without these being so."""
        other = copy(self)
        other.pending, other._fetched = list(self.pending), list(self._fetched)
        return other

    def changes(self) -> Iterator[tuple[Any, Any, Any]]:
        """Multipliers, plays and groups of all rounds: what the blocks were told, some at once."""
        parts = [(self.all("coordinates"), self.all("multipliers"))] if self._fetched else []
        row = Record._fields.index("multipliers") - 1
        for coordinates, figures in self.pending:
            parts.append((on_host(coordinates)[None], on_host(figures)[None, row]))
        coordinates, multipliers = map(np.concatenate, zip(*parts, strict=True))
        plays, groups = self.split(coordinates)
        step = max(1, _NUMBERS // (multipliers[0].size + coordinates[0].size))
        for first in range(0, len(multipliers), step):
            multiplier, play, group = (
                self.there(np.ascontiguousarray(part[first : first + step]))
                for part in (multipliers, plays, groups)
            )
            yield multiplier, play, group

    def state(self) -> State:
        """All rounds, on the host."""
        return {
            "fetched": {field: self.all(field) for field in Record._fields * bool(self._fetched)},
            "pending": [tuple(map(on_host, parts)) for parts in self.pending],
        }

    def restore(self, state: State) -> None:
        """Go on from a state."""
        if fields := state["fetched"]:
            coordinates, *others = (fields[name] for name in Record._fields)
            self._fetched = [Record(self.there(coordinates), *others)]
        self.pending = [tuple(self.there(part) for part in parts) for parts in state["pending"]]

    def there(self, values: Array) -> Any:
        """Bring an array of the host to where the game is."""
        return array_namespace(self._like).asarray(values, device=device(self._like))
