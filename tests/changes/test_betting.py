"""Bets against "no subgroup exceeds gamma": fair by enumeration, and in a thousand streams."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gerrymend import ExplicitGroups, Watch
from gerrymend.changes.betting import BLOCK, SIDES, STAKES, blocks, covariances, winnings


def test_the_estimate_of_a_block_is_the_mean_over_its_pairs():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(BLOCK, 30))
        g = rng.random(n) < 0.4
        u = rng.integers(0, 3, n) / 2.0
        rows = blocks(rng.integers(0, 4, n), u, rng)
        for estimate, block in zip(covariances(g, u, rows), rows.tolist(), strict=True):
            pairs = list(itertools.combinations(block, 2))
            by_hand = [(int(g[i]) - int(g[j])) * (u[i] - u[j]) / 2 for i, j in pairs]
            assert estimate == pytest.approx(np.mean(by_hand), abs=1e-12)


def test_every_row_is_in_one_block_whatever_the_order():
    rng = np.random.default_rng(1)
    cell, u = rng.integers(0, 5, 43), rng.integers(0, 2, 43).astype(float)
    rows = blocks(cell, u, np.random.default_rng(7))
    assert rows.shape == (43 // BLOCK, BLOCK)
    assert len(set(rows.ravel().tolist())) == rows.size
    order = rng.permutation(43)
    again = blocks(cell[order], u[order], np.random.default_rng(7))
    for ours, theirs in zip(rows, again, strict=True):
        assert cell[ours].tolist() == cell[order][theirs].tolist()
        assert u[ours].tolist() == u[order][theirs].tolist()


# The part of the group, and its rate and that of the others.
POPULATIONS = [
    (Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)),
    (Fraction(1, 4), Fraction(3, 4), Fraction(1, 4)),
    (Fraction(1, 8), Fraction(1), Fraction(0)),
    (Fraction(1, 2), Fraction(1, 8), Fraction(7, 8)),
]


def mean_money(population, n, gamma, floor=0):
    """The mean of what each bet makes of 1, over every sample of n rows: of both sides, by stake.

    A sample has k rows in the group, a of which and b of the others are decided 1. Which rows are
    in a block is chance; here each sequence of rows is one.
    """
    share, rate, other = population
    total = np.zeros((len(SIDES), len(STAKES)))
    kinds = [(1, 1), (1, 0), (0, 1), (0, 0)]
    chances = [share * rate, share * (1 - rate), (1 - share) * other, (1 - share) * (1 - other)]
    for sample in itertools.product(range(4), repeat=n):
        chance = Fraction(1)
        for kind in sample:
            chance *= chances[kind]
        if not chance:
            continue
        g = np.array([kinds[kind][0] for kind in sample], dtype=bool)
        u = np.array([kinds[kind][1] for kind in sample], dtype=float)
        covariance = covariances(g, u, np.arange(n).reshape(-1, BLOCK))
        if g.sum() < floor or n - g.sum() < floor:
            covariance = np.zeros_like(covariance)
        total += float(chance) * np.exp(winnings(covariance, float(gamma)))
    return total


@pytest.mark.parametrize("population", POPULATIONS)
def test_no_bet_makes_money_where_gamma_is_not_exceeded(population):
    """And at gamma itself, on its side, it keeps what it has: by every sample of a block."""
    share, rate, other = population
    unfairness = share * (1 - share) * (rate - other)
    at_gamma = mean_money(population, BLOCK, abs(unfairness))
    side = 0 if unfairness >= 0 else 1
    np.testing.assert_allclose(at_gamma[side], 1, atol=1e-12)
    assert (at_gamma <= 1 + 1e-12).all()
    assert (mean_money(population, BLOCK, abs(unfairness) + Fraction(1, 50)) < 1).all()
    if unfairness:
        below = mean_money(population, BLOCK, abs(unfairness) / 2)
        assert (below[side] > 1).all()
        assert (below[1 - side] < 1).all()


@pytest.mark.parametrize("population", POPULATIONS[:3])
@pytest.mark.parametrize("floor", [1, 2])
def test_a_group_that_is_too_small_in_a_sample_is_no_advantage(population, floor):
    """Samples in which it is too small to be told are bet on as if it didn't differ."""
    share, rate, other = population
    gamma = abs(share * (1 - share) * (rate - other))
    assert (mean_money(population, BLOCK, gamma, floor) <= 1 + 1e-12).all()


def test_too_small_in_a_sample_of_two_blocks():
    assert (mean_money(POPULATIONS[1], 2 * BLOCK, Fraction(3, 32), 3) <= 1 + 1e-12).all()


def stream(rng, n, *, drift=0.0, event=0.5):
    """A batch at the boundary: women are exactly gamma = 0.02 off, and then more, by a drift."""
    sex = np.where(rng.random(n) < 0.5, "F", "M")
    town = rng.choice(["Au", "Ulm", "Bonn"], n)
    label = (rng.random(n) >= event).astype(int)
    # Of negatives, women are share·(1 − share)·Δ = 0.04 off: half of all rows are negatives.
    rate = np.where(sex == "F", 0.38, 0.22) + drift * ((sex == "F") & (town == "Au"))
    return label, (rng.random(n) < rate).astype(int), {"sex": sex, "town": town}


def first_alarm(seed, n_batches, n, drift_from=None, drift=0.0, level=0.1, **how):
    rng = np.random.default_rng([seed, 31])
    watch = Watch(gamma=0.02, random_state=seed, level=level, **how)
    for number in range(1, n_batches + 1):
        drifted = drift if drift_from is not None and number >= drift_from else 0.0
        y, d, A = stream(rng, n, drift=drifted)
        if watch.update(y, d, sensitive_features=A, at=number).alarm:
            return number
    return None


N_STREAMS = 1000


def most_false_alarms(level):
    """The level of so many streams, and three standard errors."""
    return N_STREAMS * level + 3 * np.sqrt(N_STREAMS * level * (1 - level))


@pytest.mark.slow
def test_false_alarms_over_a_thousand_streams_are_within_the_level():
    """At gamma itself, with a search of each of ten batches."""
    alarms = [first_alarm(seed, 10, 100, subgroups="conjunctions") for seed in range(N_STREAMS)]
    assert sum(number is not None for number in alarms) <= most_false_alarms(0.1)


@pytest.mark.slow
def test_false_alarms_of_a_named_group_are_within_the_level():
    """The same for women alone, who are exactly at gamma: at a level that some streams reach."""
    women = ExplicitGroups({"women": {"sex": "F"}})
    how = {"subgroups": women, "groups": women, "max_groups": 1, "level": 0.5}
    alarms = [first_alarm(seed, 6, 300, **how) for seed in range(N_STREAMS)]
    raised = sum(number is not None for number in alarms)
    assert 0 < raised <= most_false_alarms(0.5)


@pytest.mark.slow
def test_a_drift_is_noticed_soon():
    """From the sixth batch on women of Au are decided 1 more often, by 50 points."""
    found = [first_alarm(seed, 15, 600, drift_from=6, drift=0.5, subgroups="conjunctions")
             for seed in range(60)]  # fmt: skip
    early = sum(number is not None and number < 6 for number in found)
    in_time = sum(number is not None and 6 <= number <= 12 for number in found)
    assert early <= 60 * 0.1 + 3 * np.sqrt(60 * 0.1 * 0.9)
    assert in_time >= 48
