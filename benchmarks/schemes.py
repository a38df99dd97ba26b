"""Which duals the Learner should answer: five schemes, with the same pools and as many calls."""

from contextlib import ExitStack
from unittest import mock

import numpy as np

from benchmarks.fits import DATASETS, PENALTY, at_hand, fit, searched_unfairness, standardised
from gerrymend import LinearThresholds
from gerrymend.solvers import exponentiated_gradient

Game = exponentiated_gradient._Game
# Of the program's duals in the running mean, for each round.
_FRESH = 0.25
# What a unit of a cell's outcome above the mean adds to its cost.
_STEP = 2.0


class Gradient(Game):
    """Multiplicative weights in every round, their sum C or near it."""

    def _duals(self, own, closing):
        return self._gradient_duals()


class DoubleOracle(Game):
    """The program's own duals in every round."""

    def _duals(self, own, closing):
        return own


class Smoothed(Game):
    """A running mean of the program's duals."""

    _mean = np.zeros(0)

    def _duals(self, own, closing):
        self._mean = _FRESH * own + (1 - _FRESH) * self._padded(self._mean)
        return self._mean


class WaveAndCells(Game):
    """The wave; and every third round a play for which each protected row is a group of its own.

    Deciding 1 costs a row more by how far the outcomes of its cell were above the mean, added up
    over these plays: a gradient step on their squares. The plays become fair to all cells.
    """

    _strain = None

    def _play_round(self, closing):
        if closing or self._number % 3:
            super()._play_round(closing)
            return
        auditor, pool = self._auditor, self._pool
        if self._strain is None:
            self._strain = [np.zeros((1, len(notion.mass))) for notion in auditor.notions]
        cost = auditor.base_cost[None].copy()
        auditor.price(self._strain, out=cost)
        own = self._padded(self._program.duals)
        answers = self._learner.answers(cost[0], [auditor.base_cost, pool.cost(own)])
        numbers = [pool.add_classifier(*answer) for answer in answers]
        best = pool.values(own, self._gamma)[numbers].min()
        self._gains.append(max(0.0, self._program.value - float(best)))
        self._plays.append(numbers[0])
        self._number += 1
        residuals = auditor.residuals(answers[0][0].astype(float)[None], 1)
        for notion, strain, residual in zip(auditor.notions, self._strain, residuals, strict=True):
            strain += _STEP * residual / notion.mass


# The game, and rounds between two weighings: the program's duals are worth asking for once only.
SCHEMES = {
    "gradient": (Gradient, 4),
    "double oracle": (DoubleOracle, 1),
    "smoothed duals": (Smoothed, 1),
    "wave": (Game, 4),
    "wave and cells": (WaveAndCells, 4),
}


def worth(data, gamma, scheme, seed, n_calls, audit_seconds):
    """error + 10·(unfairness − gamma)⁺ after so many calls of the Learner."""
    game, look_every = SCHEMES[scheme]
    X, y, protected = data
    with ExitStack() as stack:
        for name, value in (("_Game", game), ("_LOOK_EVERY", look_every)):
            stack.enter_context(mock.patch.object(exponentiated_gradient, name, value))
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
    if not at_hand():
        return {}
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
