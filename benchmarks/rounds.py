"""A round of fictitious play against the bare matrix products that it needs."""

import time
import tracemalloc

import numpy as np
from sklearn.linear_model import LinearRegression

from gerrymend import FictitiousPlay, LinearThresholds, SubgroupParityClassifier
from gerrymend.auditor import Auditor
from gerrymend.learners import LinearLearner
from gerrymend.mixture import Mixture
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.protected import distinct_rows, read_columns
from gerrymend.solvers import play


class Game:
    """The parts of a fit on the linear fast path, to be timed one by one."""

    def __init__(self, X, y, protected, n_gammas=1):
        order, cells = distinct_rows(read_columns(protected)).sorted_by(y)
        self.y, weight = y[order], np.ones(len(y))
        self.auditor = Auditor(
            [FALSE_POSITIVE_RATE], LinearThresholds("regression"), cells, self.y, weight
        )
        self.learner = LinearLearner(X, weight, self.auditor.base_cost, self.auditor.pressed, order)
        self.gammas = np.linspace(0.005, 0.02, n_gammas)

    def play(self, n_rounds, on_round):
        """A game of so many rounds."""
        play(
            FictitiousPlay(), self.learner, self.auditor, gammas=self.gammas, C=10.0,
            max_iter=n_rounds, tol=None, on_round=on_round,
        )  # fmt: skip

    def bare_products(self, *, event_only):
        """The four products of a round, on arrays of the same shapes and layout.

        Two passes over the basis of the features and two over that of the protected attributes;
        the first over all rows, as least squares of a new cost needs it, or with `event_only` over
        the rows whose cost can change, which is all that our game reads.
        """
        basis = self.learner.projection.basis
        rows = self.auditor.pressed if event_only else slice(None)
        protected = self.auditor.notions[0].subgroups.projection.basis
        rng = np.random.default_rng(0)
        costs = rng.standard_normal((len(self.gammas), basis.shape[1]))
        residuals = rng.standard_normal((len(self.gammas), protected.shape[1]))

        def run():
            (costs[:, rows] @ basis[:, rows].T) @ basis
            (residuals @ protected.T) @ protected

        return run


def round_against_products(game, n_rounds=5000, chunk=100, *, event_only=False):
    """Median seconds of a round and of its products, in turns through one game."""
    bare = game.bare_products(event_only=event_only)
    rounds, products, last = [], [], [time.perf_counter()]

    def on_round(played):
        if played.number % chunk:
            return
        start = time.perf_counter()
        rounds.append((start - last[0]) / chunk)
        for _ in range(chunk):
            bare()
        last[0] = time.perf_counter()
        products.append((last[0] - start) / chunk)

    game.play(n_rounds, on_round)
    return float(np.median(rounds)), float(np.median(products))


def growth_with_rounds(game, n_rounds=20_000):
    """Median time of a round in the last tenth of the rounds over that in the second tenth."""
    times = []
    game.play(n_rounds, lambda _: times.append(time.perf_counter()))
    seconds, tenth = np.diff(times), n_rounds // 10
    return float(np.median(seconds[-tenth:]) / np.median(seconds[tenth : 2 * tenth]))


def peak_memory(n=200_000, d=100):
    """Peak of `fit`, the features included, over the features in float64."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
    protected = {"group": rng.integers(0, 50, n), "value": rng.standard_normal(n)}
    tracemalloc.start()
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
