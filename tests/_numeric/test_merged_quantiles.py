"""Quantiles of blocks are those of all their numbers, in one place."""

import numpy as np
import pytest

from gerrymend._numeric.merged_quantiles import SortedNumbers, merged_quantile_cuts


def cuts_of(parts, bins):
    blocks = [SortedNumbers(part) for part in parts]
    return merged_quantile_cuts(
        lambda method, *arguments: [method(block, *arguments) for block in blocks], bins
    )


def numbers(kind, rng, n):
    made = {
        "normal": rng.standard_normal(n),
        "whole": rng.integers(-5, 40, n).astype(float),
        "of all sizes": 10 ** rng.uniform(-300, 300, n) * rng.choice([-1, 1], n),
        "mostly 0": np.where(rng.random(n) < 0.6, 0.0, rng.random(n)),
    }[kind]
    return made + 0.0


def nearest_by_loops(values, bins):
    """For each quantile, the numbers that the nearest cut is between; by whole numbers."""
    distinct = sorted(set(values.tolist()))
    found = set()
    for k in range(1, bins):
        misses = [abs(int((values <= low).sum()) * bins - k * len(values)) for low in distinct[:-1]]
        i = misses.index(min(misses))
        found.add((distinct[i], distinct[i + 1]))
    return sorted(found)


@pytest.mark.parametrize("kind", ["normal", "whole", "of all sizes", "mostly 0"])
@pytest.mark.parametrize("seed", range(8))
def test_cuts_are_the_nearest_to_quantiles_whatever_the_blocks(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 300))
    values = numbers(kind, rng, n)
    bins = int(rng.integers(2, 12))
    cuts = cuts_of([values], bins)
    expected = nearest_by_loops(values, bins)
    assert len(cuts) == len(expected)
    for cut, (low, high) in zip(cuts, expected, strict=True):
        assert low < cut <= high
    places = np.sort(rng.integers(0, n + 1, 3))
    assert cuts_of(np.split(rng.permutation(values), places), bins) == cuts


def test_bins_are_those_of_numpys_quantiles():
    values = np.random.default_rng(0).standard_normal(1001)
    by_numpy = np.quantile(values, np.arange(1, 10) / 10, method="closest_observation")
    ours = np.searchsorted(cuts_of(np.array_split(values, 7), 10), values, side="right")
    # A quantile of NumPy's is the last number of its bin, and a cut of ours is behind that.
    assert np.array_equal(ours, np.searchsorted(by_numpy, values, side="left"))


def test_few_numbers_are_not_cut():
    assert cuts_of([np.array([1.0, 2.0]), np.zeros(0), np.array([3.0, 1.0])], 3) == ()
    assert cuts_of([np.array([1.0, 2.0]), np.array([3.0, 1.0])], 2) == (1.5,)
    assert cuts_of([np.full(5, 7.0)], 2) == ()
