"""The paper's two algorithms on one dataset, watched by the auditors that we have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers import Equilibrium, GameSolver, Round, play
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import Learner, LinearLearner
from gerrymend.subgroups import SubgroupClass


@dataclass(frozen=True, eq=False)
class PaperData:
    """A dataset as the paper used it: one-hot features, labels, protected columns."""

    name: str
    X: Array
    y: NDArray[np.intp]
    protected: Any
    note: str = ""

    def rows(self, which: NDArray[np.intp]) -> "PaperData":
        """Some of the rows."""
        columns = {column.name: _raw(column)[which] for column in read_columns(self.protected)}
        return PaperData(self.name, self.X[which], self.y[which], columns, self.note)


def _raw(column: Any) -> NDArray[Any]:
    if column.categories is None:
        values: NDArray[Any] = column.values
        return values
    return np.array(column.categories, dtype=object)[column.values.astype(int)]


class Table:
    """A dataset in the order of the game: sorted by label and cell."""

    def __init__(self, data: PaperData, attributes: Sequence[str] | None = None) -> None:
        columns = read_columns(data.protected)
        if attributes is not None:
            columns = tuple(column for column in columns if column.name in attributes)
        self.order, self.cells = distinct_rows(columns).sorted_by(data.y)
        self.y = data.y[self.order]
        self.X = data.X
        self.weight = np.ones(len(self.y))

    def auditor(self, subgroups: SubgroupClass) -> Auditor:
        """An auditor of false positives over a class."""
        return Auditor([FALSE_POSITIVE_RATE], subgroups, self.cells, self.y, self.weight)

    def linear_learner(self, auditor: Auditor) -> Learner:
        """The paper's regression heuristic."""
        return LinearLearner(
            self.X, self.weight, auditor.base_cost, auditor.pressed, order=self.order
        )


@dataclass(eq=False)
class Watcher:
    """What other auditors say of the mixtures, at chosen rounds."""

    auditors: dict[str, Auditor]
    at: NDArray[np.intp]

    def __post_init__(self) -> None:
        self._at = set(self.at.tolist())
        self.seen: dict[str, list[Array]] = {name: [] for name in self.auditors}

    def __call__(self, played: Round) -> None:
        """Ask the auditors, if this round is watched."""
        if played.number not in self._at:
            return
        for name, auditor in self.auditors.items():
            self.seen[name].append(auditor.worst(played.votes, played.number).unfairness)

    def of(self, name: str, game: int) -> list[float]:
        """One auditor's values for one game, by watched round."""
        return [float(values[game]) for values in self.seen[name]]


class Fairest:
    """The mixture of least reported unfairness of each game, and the last round."""

    def __init__(self, n_games: int) -> None:
        self._unfairness = np.full(n_games, np.inf)
        self._error = np.zeros(n_games)
        self._number = np.zeros(n_games, dtype=int)
        self._probabilities: dict[int, Array] = {}
        self.last: Round

    def __call__(self, played: Round) -> None:
        """Keep the round, and what is fairer in it."""
        self.last = played
        fairer = played.unfairness < self._unfairness
        if not fairer.any():
            return
        self._unfairness[fairer] = played.unfairness[fairer]
        self._error[fairer] = played.error[fairer]
        self._number[fairer] = played.number
        for game in np.flatnonzero(fairer):
            self._probabilities[int(game)] = played.votes[game] / played.number

    @property
    def probabilities(self) -> Array:
        """Decisions of the fairest mixtures, one game a row."""
        return np.array([self._probabilities[game] for game in range(len(self._unfairness))])

    def point(self, game: int) -> dict[str, float]:
        """Where one game was fairest."""
        return {
            "error": float(self._error[game]),
            "unfairness": float(self._unfairness[game]),
            "t": int(self._number[game]),
        }


def watched_rounds(n_rounds: int, most: int = 400) -> NDArray[np.intp]:
    """Rounds to keep of many: all of the first, then ever fewer, and the last."""
    first = np.arange(1, min(n_rounds, most // 2) + 1)
    later = np.geomspace(1, n_rounds, most).astype(int)
    return np.unique(np.concatenate([first, later, [n_rounds]]))


def pareto(points: Sequence[tuple[float, float, Any]]) -> list[tuple[float, float, Any]]:
    """The undominated of (error, unfairness, label), by growing error.

    >>> pareto([(0.2, 0.1, "a"), (0.1, 0.3, "b"), (0.3, 0.1, "c"), (0.15, 0.2, "d")])
    [(0.1, 0.3, 'b'), (0.15, 0.2, 'd'), (0.2, 0.1, 'a')]
    """
    best, kept = np.inf, []
    for error, unfairness, label in sorted(points, key=lambda point: point[:2]):
        if unfairness < best:
            kept.append((error, unfairness, label))
            best = unfairness
    return kept


def frontier_of(games: Sequence[Equilibrium]) -> list[dict[str, float]]:
    """The Pareto frontier over all rounds of all games, as the paper draws it."""
    points: list[tuple[float, float, Any]] = []
    for game in games:
        rounds = range(len(game.error))
        own = list(zip(game.error.tolist(), game.unfairness.tolist(), rounds, strict=True))
        points += [(e, u, (game.gamma, t + 1)) for e, u, t in pareto(own)]
    return [
        {"error": e, "unfairness": u, "gamma": gamma, "t": t}
        for e, u, (gamma, t) in _thinned(pareto(points))
    ]


def _thinned(points: list[Any], most: int = 1500) -> list[Any]:
    """At most so many points of a curve, evenly along it, both ends included."""
    if len(points) <= most:
        return points
    kept = np.linspace(0, len(points) - 1, most).round().astype(int)
    return [points[i] for i in kept]


def play_games(
    learner: Learner,
    auditor: Auditor,
    solver: GameSolver,
    *,
    gammas: Sequence[float],
    rounds: int,
    C: float,
    watchers: Sequence[Callable[[Round], None]] = (),
) -> list[Equilibrium]:
    """Every round, nothing kept but errors, unfairness and what the watchers see."""

    def on_round(played: Round) -> None:
        for watcher in watchers:
            watcher(played)

    return play(
        solver, learner, auditor, gammas=gammas, C=C, max_iter=rounds, tol=None,
        on_round=on_round, keep_plays=False,
    )  # fmt: skip
