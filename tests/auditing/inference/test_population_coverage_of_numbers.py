"""How often the bound for the people holds of means: populations whose means are known."""

import itertools
import math

import numpy as np
import pytest

from gerrymend import Conjunctions, audit
from tests.auditing.inference.test_population_coverage import Population

# Outcomes of standard deviation 1 and mean 0, by what a row draws: light tails, skewed, and heavy
# ones, of which a sample tells little: a log-normal variable whose kurtosis is 113.
OUTCOMES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.exponential(size=n) - 1,
    "heavy": lambda rng, n: (rng.lognormal(size=n) - math.exp(0.5)) / math.sqrt(
        math.exp(2) - math.exp(1)
    ),
}  # fmt: skip


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
            u = self.means[cell] + OUTCOMES[kind](rng, n)
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


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.5])
@pytest.mark.parametrize("n", [500, 2000, 10_000])
@pytest.mark.parametrize("kind", OUTCOMES)
def test_coverage_of_means_is_within_binomial_error(kind, n, effect):
    samples = 400
    part = Numbers(effect).within_all(kind, n, samples, seed=n)
    assert abs(part - 0.95) <= 3 * math.sqrt(0.95 * 0.05 / samples)
