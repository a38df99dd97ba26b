"""How often the bound for the people holds of means: populations whose means are known."""

import itertools
import math

import numpy as np
import pytest

from gerrymend import Conjunctions, audit
from tests.auditing.inference.test_population_coverage import Population

LIGHT = ["normal", "skewed"]
# A log-normal variable has a kurtosis of 113, or with σ = 2 of 9 million: of such a sample tells
# little, as what makes its variance is in few rows or in none.
HEAVY = ["heavy", "heavier"]


def outcomes(kind, rng, n):
    """Outcomes of standard deviation 1 and mean 0."""
    if kind == "normal":
        return rng.normal(size=n)
    if kind == "skewed":
        return rng.exponential(size=n) - 1
    variance = {"heavy": 1.0, "heavier": 4.0}[kind]
    drawn = rng.lognormal(sigma=math.sqrt(variance), size=n)
    return (drawn / math.exp(variance / 2) - 1) / math.sqrt(math.expm1(variance))


class Numbers:
    """Race × sex × age with outcomes, whose mean is higher for one intersection or for none."""

    def __init__(self, effect):
        cells = Population(0.0)
        self.shares = cells.shares.reshape(3, 12).sum(axis=0)
        self.attributes = {name: values[:12] for name, values in cells.attributes.items()}
        race, sex, _ = self.attributes.values()
        self.means = effect * ((race == "blue") & (sex == "F"))
        masks = [
            [np.ones(12, bool), *(values == value for value in np.unique(values))]
            for values in self.attributes.values()
        ]
        self.groups = np.array([a & b & c for a, b, c in itertools.product(*masks)])

    def values(self, shares, sums):
        """Σ_g (u − ū) of each group, for shares of the cells and their sums of outcomes."""
        return self.groups @ (sums - shares * sums.sum())

    def within_all(self, kind, n, samples, seed):
        """How often no conjunction is farther from the truth than the distance that is told."""
        truth = self.values(self.shares, self.shares * self.means)
        rng = np.random.default_rng(seed)
        holds = 0
        for i in range(samples):
            cell = rng.choice(12, n, p=self.shares)
            u = self.means[cell] + outcomes(kind, rng, n)
            report = audit(
                None, u, notion="mean_outcome", confidence=0.95, n_resamples=199, random_state=i,
                sensitive_features={name: values[cell] for name, values in self.attributes.items()},
                subgroups=Conjunctions(max_depth=3), min_group_size=1,
            )  # fmt: skip
            came = self.values(np.bincount(cell, minlength=12) / n,
                               np.bincount(cell, u, 12) / n)  # fmt: skip
            # The same groups as the audit's, by none of its code: their worst is what it reports.
            assert np.abs(came).max() == pytest.approx(report.unfairness, abs=1e-12)
            holds += np.abs(came - truth).max() <= report.population.distance + 1e-12
        return holds / samples


SAMPLES = 400
# Three binomial standard deviations of 95 %.
ERROR = 3 * math.sqrt(0.95 * 0.05 / SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.5])
@pytest.mark.parametrize("n", [500, 2000, 10_000])
@pytest.mark.parametrize("kind", LIGHT)
def test_coverage_of_means_is_within_binomial_error(kind, n, effect):
    assert abs(Numbers(effect).within_all(kind, n, SAMPLES, seed=n) - 0.95) <= ERROR


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.5])
@pytest.mark.parametrize("n", [500, 2000, 10_000])
@pytest.mark.parametrize("kind", HEAVY)
def test_heavy_tails_are_covered_no_less_often(kind, n, effect):
    """More often at 500 rows (98 %, and all): outcomes that no row has are allowed for."""
    assert Numbers(effect).within_all(kind, n, SAMPLES, seed=n) >= 0.95 - ERROR
