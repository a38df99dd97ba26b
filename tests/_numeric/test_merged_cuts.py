"""Cuts from blocks, against the cut of all rows in one place and against every cut there is."""

import itertools

import numpy as np
import pytest

from gerrymend._numeric import merged_cuts
from gerrymend._numeric.cuts import best_cuts
from gerrymend._numeric.merged_cuts import SortedScores, merged_best_cuts


def split(rng, n):
    ends = [0, *np.sort(rng.integers(0, n + 1, 3)).tolist(), n]
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def merged(score, costs, parts):
    """Return the cuts, and how often blocks were asked."""
    blocks = [SortedScores(score[p], costs[:, p]) for p in parts]
    asked = []

    def ask(method, *arguments):
        asked.append(method)
        return [method(block, *arguments) for block in blocks]

    return merged_best_cuts(ask, np.abs(costs).sum(axis=1).tolist()), len(asked)


KINDS = {
    "numbers": lambda rng, n: rng.normal(size=n),
    "few values": lambda rng, n: rng.integers(0, 5, n) * 1.0,
    "ties up to rounding": lambda rng, n: rng.normal(size=n).round(1) + 1e-13 * rng.normal(size=n),
    "most the same": lambda rng, n: np.where(rng.random(n) < 0.9, 0.3, rng.normal(size=n)),
    "all the same": lambda rng, n: np.full(n, 2.5),
}


@pytest.mark.parametrize("few", [30_000, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_cuts_are_those_of_one_place(monkeypatch, kind, few):
    """Also where every open bin is split until nothing is left to be split."""
    monkeypatch.setattr(merged_cuts, "_FEW_ROWS", few)
    monkeypatch.setattr(merged_cuts, "_OF_BLOCK", 8)
    rng = np.random.default_rng(0)
    for trial in range(40):
        n = int(rng.integers(1, 300))
        score = KINDS[kind](rng, n)
        costs = rng.normal(size=(3, n))
        if trial % 2:
            costs = np.sign(costs)
        if trial % 5 == 0:
            costs[1] = np.abs(costs[1])
            costs[2] = -costs[1]
        found, _ = merged(score, costs, split(rng, n))
        np.testing.assert_array_equal(found, best_cuts(score, costs))


def test_no_cut_is_better():
    rng = np.random.default_rng(1)
    score, costs = rng.normal(size=60), rng.normal(size=(2, 60))
    found, _ = merged(score, costs, split(rng, 60))
    every = [-np.inf, *score.tolist()]
    for cut, cost in zip(found, costs, strict=True):
        assert cost[score > cut].sum() <= min(cost[score > one].sum() for one in every) + 1e-12


def test_what_travels_does_not_grow_with_the_rows():
    rng = np.random.default_rng(2)
    n = 200_000
    score = rng.normal(size=n)
    costs = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), -1.0, 1.0)[None]
    blocks = [SortedScores(score[p], costs[:, p]) for p in (slice(0, 120_000), slice(120_000, n))]
    sizes = []

    def ask(method, *arguments):
        answers = [method(block, *arguments) for block in blocks]
        for answer in answers:
            parts = answer if isinstance(answer, tuple) else (answer,)
            sizes.append(sum(part.size for part in parts))
        return answers

    (cut,) = merged_best_cuts(ask, [float(n)])
    assert cut == best_cuts(score, costs)[0]
    assert max(sizes) < n / 10
