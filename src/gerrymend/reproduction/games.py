"""The paper's two games on one dataset, and listeners that audit or keep their rounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers import Equilibrium, GameSolver, Round, play
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells, Rows
from gerrymend.subgroups import SubgroupClass


@dataclass(frozen=True, eq=False)
class PaperData:
    """Hold a dataset as the paper used it.

    Attributes
    ----------
    name : str
    X : array (n, columns)
        One-hot features.
    y : array (n,) of int
        Labels, 0 and 1.
    protected : frame or mapping
        The protected columns.
    note : str
        Empty, or which data stands in for the paper's.
    """

    name: str
    X: Array
    y: NDArray[np.intp]
    protected: Any
    note: str = ""

    def rows(self, which: NDArray[np.intp]) -> "PaperData":
        """Return some of the rows."""
        columns = {column.name: _raw(column)[which] for column in read_columns(self.protected)}
        return PaperData(self.name, self.X[which], self.y[which], columns, self.note)


def _raw(column: Any) -> NDArray[Any]:
    """Return the values of a column as they were passed: numbers, or categories."""
    if column.categories is None:
        values: NDArray[Any] = column.values
        return values
    return np.array(column.categories, dtype=object)[column.values.astype(int)]


class Table:
    """Sort a dataset by label and cell, as the games order their rows.

    Parameters
    ----------
    data : PaperData
    attributes : sequence of str, optional
        The protected columns to use, by default all.

    Attributes
    ----------
    order : array (n,)
        The row of the dataset at each place of the game.
    cells, y, label_cells :
        Protected rows, labels, and label-cells of one row each, in that order.
    X : array
        The features as they were, which learners take with `order`.
    """

    def __init__(self, data: PaperData, attributes: Sequence[str] | None = None) -> None:
        columns = read_columns(data.protected)
        if attributes is not None:
            columns = tuple(column for column in columns if column.name in attributes)
        self.order, self.cells = distinct_rows(columns).sorted_by(data.y)
        self.y = data.y[self.order]
        self.X = data.X
        self.label_cells = LabelCells.of_rows(self.cells, self.y)

    def auditor(self, subgroups: SubgroupClass) -> Auditor:
        """Return an auditor of false positive rates over a class of subgroups."""
        return Auditor([FALSE_POSITIVE_RATE], subgroups, self.label_cells)

    def rows(self, auditor: Auditor, estimator: Any = None) -> Rows:
        """Return the rows that an estimator learns from; by default the paper's regression."""
        learner = LinearRegression() if estimator is None else estimator
        return MemoryRows.of(learner, self.X, self.order, self.label_cells, auditor.pressed)


@dataclass(eq=False)
class AuditListener:
    """Listen to rounds, and audit the mixtures of chosen ones by other auditors.

    `seen` has, by auditor, the unfairness of every game at each of the rounds `at`.
    """

    auditors: dict[str, Auditor]
    at: NDArray[np.intp]

    def __post_init__(self) -> None:
        self._at = set(self.at.tolist())
        self.seen: dict[str, list[Array]] = {name: [] for name in self.auditors}

    def __call__(self, played: Round) -> None:
        """Audit the round, if it is one of those chosen."""
        if played.number not in self._at:
            return
        for name, auditor in self.auditors.items():
            self.seen[name].append(auditor.worst(played.votes, played.number).unfairness)

    def of(self, name: str, game: int) -> list[float]:
        """Return one auditor's unfairness of one game, by audited round."""
        return [float(values[game]) for values in self.seen[name]]


class Fairest:
    """Listen to rounds, and keep each game's fairest mixture and the last round.

    The fairest is that of least reported unfairness; of equals the earliest.
    """

    def __init__(self, n_games: int) -> None:
        self._unfairness = np.full(n_games, np.inf)
        self._error = np.zeros(n_games)
        self._number = np.zeros(n_games, dtype=int)
        self._probabilities: dict[int, Array] = {}
        self.last: Round

    def __call__(self, played: Round) -> None:
        """Keep the round as the last, and the mixtures that are fairer than before."""
        self.last = played
        fairer = played.unfairness < self._unfairness
        if not fairer.any():
            return
        self._unfairness[fairer] = played.unfairness[fairer]
        self._error[fairer] = played.error[fairer]
        self._number[fairer] = played.number
        for game in np.flatnonzero(fairer):
            # Copied by the division: the game adds to its votes in place.
            self._probabilities[int(game)] = played.votes[game] / played.number

    @property
    def probabilities(self) -> Array:
        """Decisions of the fairest mixtures: (games, rows)."""
        return np.array([self._probabilities[game] for game in range(len(self._unfairness))])

    def point(self, game: int) -> dict[str, float]:
        """Return error, unfairness and round of the fairest mixture of one game."""
        return {
            "error": float(self._error[game]),
            "unfairness": float(self._unfairness[game]),
            "t": int(self._number[game]),
        }


def watched_rounds(n_rounds: int, most: int = 400) -> NDArray[np.intp]:
    """Return the rounds to keep of many: all of the first, then ever fewer, and the last.

    These are whole numbers from 1, at most about `most` and half as many again.

    >>> watched_rounds(1000, most=8).tolist()
    [1, 2, 3, 4, 7, 19, 51, 138, 372, 1000]
    """
    # Early rounds change most, and later ones are drawn on a logarithmic scale.
    first = np.arange(1, min(n_rounds, most // 2) + 1)
    later = np.geomspace(1, n_rounds, most).astype(int)
    return np.unique(np.concatenate([first, later, [n_rounds]]))


def pareto(points: Sequence[tuple[float, float, Any]]) -> list[tuple[float, float, Any]]:
    """Return the undominated of (error, unfairness, label), by growing error.

    >>> pareto([(0.2, 0.1, "a"), (0.1, 0.3, "b"), (0.3, 0.1, "c"), (0.15, 0.2, "d")])
    [(0.1, 0.3, 'b'), (0.15, 0.2, 'd'), (0.2, 0.1, 'a')]
    """
    best = np.inf
    kept = []
    # By error, then unfairness: a point is undominated if it is fairer than all that come before.
    for error, unfairness, label in sorted(points, key=lambda point: point[:2]):
        if unfairness < best:
            kept.append((error, unfairness, label))
            best = unfairness
    return kept


def frontier_of(games: Sequence[Equilibrium]) -> list[dict[str, float]]:
    """Return the Pareto frontier over all rounds of all games, as the paper draws it.

    Each point has its error, unfairness, gamma and round `t`.
    """
    points: list[tuple[float, float, Any]] = []
    for game in games:
        rounds = range(len(game.error))
        own = list(zip(game.error.tolist(), game.unfairness.tolist(), rounds, strict=True))
        # The frontier of each game first: all rounds of all games would be millions of tuples.
        points += [(e, u, (game.gamma, t + 1)) for e, u, t in pareto(own)]
    return [
        {"error": e, "unfairness": u, "gamma": gamma, "t": t}
        for e, u, (gamma, t) in _thinned(pareto(points))
    ]


def _thinned(points: list[Any], most: int = 1500) -> list[Any]:
    """Return at most so many points of a curve, evenly along it, both ends included.

    >>> _thinned(list(range(10)), most=4)
    [0, 3, 6, 9]
    """
    if len(points) <= most:
        return points
    kept = np.linspace(0, len(points) - 1, most).round().astype(int)
    return [points[i] for i in kept]


def play_games(
    rows: Rows,
    auditor: Auditor,
    solver: GameSolver,
    *,
    gammas: Sequence[float],
    rounds: int,
    C: float,
    listeners: Sequence[Callable[[Round], None]] = (),
) -> list[Equilibrium]:
    """Play all rounds at every gamma, and report each of them to the listeners.

    Of the plays nothing is kept but errors and unfairness by round: a long game has 180,000.

    Parameters
    ----------
    rows, auditor, solver :
        The players, and how they play.
    gammas : sequence of float
        One game each, all of them played side by side.
    rounds : int
        Number of rounds; games don't end before.
    C : float
        The bound on the dual variables.
    listeners : sequence of callable
        Each is called with every Round, in order.
    """

    def on_round(played: Round) -> None:
        """Report a round to each listener, in order."""
        for listener in listeners:
            listener(played)

    return play(
        solver, rows, auditor, gammas=gammas, C=C, max_iter=rounds, tol=None,
        on_round=on_round, keep_plays=False,
    )  # fmt: skip
