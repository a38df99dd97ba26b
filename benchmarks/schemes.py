"""Which duals the Learner should answer: five schemes, with the same pools and as many calls."""

from contextlib import ExitStack
from unittest import mock

import numpy as np

from benchmarks.fits import DATASETS, PENALTY, fit, searched_unfairness, standardised
from gerrymend import LinearThresholds
from gerrymend.solvers.pool import game as pool_game
from gerrymend.solvers.pool import path as pool_path

Game = pool_game.PoolGame
# Of the program's duals in the running mean, for each round.
_FRESH = 0.25


class Gradient(Game):
    """Multiplicative weights in every round, their sum C or near it."""

    def _duals(self, at, own, closing):
        return self._gradient_duals(at.plays)


class DoubleOracle(Game):
    """The program's own duals in every round."""

    def _duals(self, at, own, closing):
        return own


class Smoothed(Game):
    """A running mean of the program's duals."""

    _mean = np.zeros(0)

    def _duals(self, at, own, closing):
        self._mean = _FRESH * own + (1 - _FRESH) * self._padded(self._mean)
        return self._mean


# The game; rounds between two weighings, as the program's duals are worth asking for once only; and
# every how many rounds the play is one for cells.
_NEVER = 10**9
SCHEMES = {
    "gradient": (Gradient, 4, _NEVER),
    "double oracle": (DoubleOracle, 1, _NEVER),
    "smoothed duals": (Smoothed, 1, _NEVER),
    "wave": (Game, 4, _NEVER),
    "wave and cells": (Game, 4, pool_game._CELLS_EVERY),
}


def worth(data, gamma, scheme, seed, n_calls, audit_seconds):
    """error + 10·(unfairness − gamma)⁺ after so many calls of the Learner."""
    game, look_every, cells_every = SCHEMES[scheme]
    patches = [
        (pool_path, "PoolGame", game),
        (pool_game, "_LOOK_EVERY", look_every),
        (pool_game, "_CELLS_EVERY", cells_every),
    ]
    X, y, protected = data
    with ExitStack() as stack:
        for module, name, value in patches:
            stack.enter_context(mock.patch.object(module, name, value))
        fitted = fit(
            X, y, protected, gamma=gamma, tol=None, max_iter=n_calls,
            subgroups=LinearThresholds(restarts=None, random_state=seed),
        )  # fmt: skip
    assert fitted.model.n_oracle_calls_ == n_calls
    unfairness = searched_unfairness(y, fitted.probability, protected, audit_seconds)
    return fitted.error + PENALTY * max(0.0, unfairness - gamma)


def schemes(
    datasets=DATASETS, gammas=(0.005, 0.01), names=tuple(SCHEMES), n_seeds=5, n_calls=60,
    audit_seconds=1.0,
):  # fmt: skip
    """Mean and standard deviation over the seeds of the Auditor's search, for each cell."""
    print(f"\n{n_calls:>4} calls, {n_seeds} seeds     " + "".join(f"{one:>18}" for one in names))
    came = {scheme: [] for scheme in names}
    for name in datasets:
        data = standardised(name)
        for gamma in gammas:
            for scheme in names:
                came[scheme].append([
                    worth(data, gamma, scheme, seed, n_calls, audit_seconds)
                    for seed in range(n_seeds)
                ])  # fmt: skip
            figures = [np.array(came[scheme][-1]) for scheme in names]
            print(f"{name:<14}{gamma:>8g}  "
                  + "".join(f"{one.mean():>10.4f} ±{one.std(ddof=1):.4f}" for one in figures),
                  flush=True)  # fmt: skip
    by_seed = {scheme: np.mean(rows, axis=0) for scheme, rows in came.items()}
    print(f"{'mean of the cells':<24}"
          + "".join(f"{one.mean():>10.4f} ±{one.std(ddof=1):.4f}" for one in by_seed.values()),
          flush=True)  # fmt: skip
    return came
