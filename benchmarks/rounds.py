"""A round of fictitious play against the bare matrix products that it needs."""

import contextlib
import copy
import time
import tracemalloc
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from benchmarks.data import communities
from gerrymend import LinearThresholds, SubgroupParityClassifier
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.models.mixture import Mixture
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers import FictitiousPlay
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.solvers.regression.cell_rows import CellRows
from gerrymend.solvers.regression.game import RegressionGame


class Game:
    """The parts of a fit on the linear fast path, to be timed one by one."""

    def __init__(self, X, y, protected, n_gammas=1):
        order, cells = distinct_rows(read_columns(protected)).sorted_by(y)
        self.y, weight = y[order], np.ones(len(y))
        self.auditor = Auditor(
            [FALSE_POSITIVE_RATE],
            LinearThresholds("regression"),
            LabelCells.of_rows(cells, self.y, weight),
        )
        self.learner = LinearLearner(X, weight, self.auditor.base_cost, self.auditor.pressed, order)
        self.gammas = _gammas(n_gammas)

    def with_gammas(self, n_gammas):
        """The same rows, played for so many gammas."""
        other = copy.copy(self)
        other.gammas = _gammas(n_gammas)
        return other

    def play(self, n_rounds, between):
        """The first rounds of the game that `fit` plays; `between(number)` is called after each.

        Nobody else listens, so that rows outside of the event are looked at now and then, as in
        `fit`. What a game does at its end is left out.
        """
        rows = CellRows(MemoryRows(self.learner, self.auditor.label_cells), self.auditor)
        encoding = self.auditor.notions[0].subgroups.source.encoding
        solver = FictitiousPlay()
        game = _Watched(rows, FALSE_POSITIVE_RATE, encoding, solver, self.gammas, 10.0)
        game.between = between
        with contextlib.suppress(_Enough):
            game.play(max_iter=n_rounds + 1, tol=None)

    def bare_products(self, rows="least"):
        """The four products of a round, on arrays of the same shapes and layout.

        Two passes over the basis of the features and two over that of the protected attributes.
        Those over the features have all rows with rows="all", as least squares of any new cost
        needs them; with "event" the first has only the rows whose cost can change; with "least"
        both have: that is what a round of `fit` reads, but for one look at the others in 64 plays.
        """
        basis, event = self.learner.projection.basis, self.auditor.pressed
        first = slice(None) if rows == "all" else event
        second = event if rows == "least" else slice(None)
        protected = self.auditor.notions[0].subgroups.projection.basis
        rng = np.random.default_rng(0)
        costs = rng.standard_normal((len(self.gammas), basis.shape[1]))
        residuals = rng.standard_normal((len(self.gammas), protected.shape[1]))

        def run():
            (costs[:, first] @ basis[:, first].T) @ basis[:, second]
            (residuals @ protected.T) @ protected

        return run


def _gammas(n_gammas):
    """Next to 0, so that every group is pressed: a round with none would have one product less."""
    return np.linspace(0.0, 1e-6, n_gammas)


class _Enough(Exception):  # noqa: N818
    """The rounds that were to be timed are played."""


class _Watched(RegressionGame):
    """Calls `between` after each round, and after all that `play` does before the next."""

    def finish_round(self, prepared):
        if self.n_rounds:
            self.between(self.n_rounds)
        super().finish_round(prepared)

    def equilibria(self, *, cut_short=False):
        raise _Enough


def round_against_products(game, n_rounds=5000, chunk=100, *, rows="least"):
    """Median seconds of a round and of its products, in turns through one game."""
    bare = game.bare_products(rows)
    rounds, products, last = [], [], [time.perf_counter()]

    def between(number):
        if number % chunk:
            return
        start = time.perf_counter()
        rounds.append((start - last[0]) / chunk)
        for _ in range(chunk):
            bare()
        last[0] = time.perf_counter()
        products.append((last[0] - start) / chunk)

    game.play(n_rounds, between)
    return float(np.median(rounds[1:])), float(np.median(products[1:]))


def growth_with_rounds(game, n_rounds=20_000):
    """Median time of a round in the last tenth of the rounds over that in the second tenth."""
    times = []
    game.play(n_rounds, lambda _: times.append(time.perf_counter()))
    seconds, tenth = np.diff(times), n_rounds // 10
    return float(np.median(seconds[-tenth:]) / np.median(seconds[tenth : 2 * tenth]))


def figures(n_rounds=5000):
    """Rounds on Communities, or on made data of its shape, and what goes with them."""
    X, y, protected, name = communities()
    print(f"\nrounds: {name}", flush=True)
    game, many = Game(X, y, protected), Game(X, y, protected, n_gammas=64)
    ratios = {}
    for rows in ("all", "event", "least"):
        per_round, products = round_against_products(game, n_rounds, rows=rows)
        ratios[rows] = per_round / products
    many_rounds, many_products = round_against_products(many, n_rounds=200, chunk=20)
    return [
        ("round, one gamma, µs", 1e6 * per_round, None),
        ("round / products over all rows", ratios["all"], "at most 2"),
        ("round / pulls of the event, decisions of all rows", ratios["event"], "at most 2"),
        ("round / both over the event's rows only", ratios["least"], None),
        ("round, 64 gammas / its bare products", many_rounds / many_products, None),
        ("round, 64 gammas / one gamma", many_rounds / per_round, None),
        ("round, last tenth of 20,000 / second tenth", growth_with_rounds(game), "about 1"),
        ("peak memory of fit / X in float64", peak_memory(), "at most 3"),
        ("10,000 linear classifiers on 2,000 rows, s", mixture_seconds(), "at most 0.5"),
    ]


def peak_memory(n=200_000, d=100):
    """Peak of `fit`, the features included, over the features in float64."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
    protected = {"group": rng.integers(0, 50, n), "value": rng.standard_normal(n)}
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # five rounds do not come to gamma
        SubgroupParityClassifier(LinearRegression(), gamma=0.0, max_iter=5, tol=None).fit(
            X, y, sensitive_features=protected
        )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (X.nbytes + peak) / X.nbytes


def mixture_seconds(n_predictors=10_000, n=2000, d=122):
    """Seconds for a mixture of linear classifiers to predict."""
    rng = np.random.default_rng(0)
    mixture = Mixture.of_linear(
        rng.standard_normal((n_predictors, d)), rng.standard_normal(n_predictors)
    )
    X = rng.standard_normal((n, d))
    start = time.perf_counter()
    mixture.positive_probability(X)
    return time.perf_counter() - start
