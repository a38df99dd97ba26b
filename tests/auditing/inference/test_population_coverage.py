"""How often the bound for the people holds: samples of a population whose truth is known.

Cells, labels and decisions have known probabilities, so that the true unfairness of every group is
known too.
"""

import itertools
import math

import numpy as np
import pytest

from gerrymend import Conjunctions, ExplicitGroups, audit_counts
from tests.auditing.inference.test_population import RACES, SEXES, unfairness

CLASSES = {
    "marginals": "marginals",
    "conjunctions": Conjunctions(max_depth=3),
    "named": ExplicitGroups(
        {
            "blue women": {"race": "blue", "sex": "F"},
            "young men": {"sex": "M", "age": "young"},
            "blue or red": {"race": ["blue", "red"]},
        }
    ),
}


class Population:
    """Probabilities of race × sex × age × label × decision, with one group that differs or none."""

    def __init__(self, effect):
        rng = np.random.default_rng(99)
        cells = rng.dirichlet(np.full(12, 3.0))
        race, sex, age = np.unravel_index(np.arange(12), (3, 2, 2))
        rate = 0.3 + effect * ((race == 0) & (sex == 0))
        label = 0.6  # of label 0
        self.shares = np.concatenate(
            [cells * label * rate, cells * label * (1 - rate), cells * (1 - label)]
        )
        self.attributes = {
            "race": np.tile(RACES[race], 3),
            "sex": np.tile(SEXES[sex], 3),
            "age": np.tile(np.array(["old", "young"])[age], 3),
        }
        self.y = np.repeat([0, 0, 1], 12)
        self.p = np.repeat([1, 0, 0], 12)

    def groups(self, name):
        """Masks of every group of a class, over the kinds of rows, without any code of ours."""
        race, sex, age = self.attributes.values()
        values = [[*(race == r for r in RACES)], [*(sex == s for s in SEXES)],
                  [age == "old", age == "young"]]  # fmt: skip
        if name == "marginals":
            return [mask for masks in values for mask in masks]
        if name == "named":
            return [(race == "blue") & (sex == "F"), (sex == "M") & (age == "young"),
                    race != "green"]  # fmt: skip
        everyone = np.ones(36, bool)
        each = itertools.product(*([everyone, *masks] for masks in values))
        return [a & b & c for a, b, c in each]

    def worst(self, name):
        """The largest unfairness of the people."""
        return max(abs(unfairness(g, self.y == 0, self.p, self.shares)) for g in self.groups(name))

    def sample(self, n, rng):
        """Counts of a sample."""
        return {**self.attributes, "label": self.y, "prediction": self.p,
                "count": rng.multinomial(n, self.shares)}  # fmt: skip


def covered(name, n, effect, samples, seed):
    """How often the bound is at least the largest unfairness of the people, of so many samples."""
    population = Population(effect)
    truth = population.worst(name)
    rng = np.random.default_rng(seed)
    holds = np.zeros((samples, 2), bool)
    for i in range(samples):
        report = audit_counts(population.sample(n, rng), sensitive_features=["race", "sex", "age"],
                              subgroups=CLASSES[name], confidence=0.95, n_resamples=199,
                              random_state=i, min_group_size=1)  # fmt: skip
        told = report.population
        holds[i] = told.lower_bound <= truth, truth <= told.upper_bound
    return holds.all(axis=1).mean()


def within_all(name, n, effect, samples, seed):
    """How often no group at all is farther from the truth than the distance that is told."""
    population = Population(effect)
    groups = population.groups(name)

    def values(n):
        return np.array([unfairness(g, population.y == 0, population.p, n) for g in groups])

    truth = values(population.shares)
    rng = np.random.default_rng(seed)
    holds = 0
    for i in range(samples):
        sample = population.sample(n, rng)
        report = audit_counts(sample, sensitive_features=["race", "sex", "age"], random_state=i,
                              subgroups=CLASSES[name], confidence=0.95, n_resamples=199,
                              min_group_size=1)  # fmt: skip
        farthest = np.abs(values(sample["count"].astype(float)) - truth).max()
        holds += farthest <= report.population.distance + 1e-12
    return holds / samples


def test_the_band_covers_about_as_often_as_it_says():
    """A quick one of the slow ones: of 20 samples, 19 are expected to hold, and 16 or more do."""
    assert within_all("conjunctions", 1000, 0.2, 20, seed=1) >= 16 / 20


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.2])
@pytest.mark.parametrize("n", [500, 2000, 10_000])
@pytest.mark.parametrize("name", CLASSES)
def test_coverage_is_within_binomial_error(name, n, effect):
    samples = 400
    part = within_all(name, n, effect, samples, seed=n)
    # Three binomial standard deviations of 95 %; the bounds themselves hold more often.
    assert abs(part - 0.95) <= 3 * math.sqrt(0.95 * 0.05 / samples)
    assert covered(name, n, effect, 60, seed=n + 1) >= 0.85
