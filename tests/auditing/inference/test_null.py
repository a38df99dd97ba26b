"""The theorem of the test: where no subgroup differs it cries wolf one time in twenty, not more."""

import numpy as np
import pytest
from benchmarks.null import simulate
from scipy.stats import binomtest

from gerrymend import LinearThresholds
from tests.conftest import load_paper

N_SAMPLES = 1000


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["adult", "student"])
@pytest.mark.parametrize("subgroups", ["marginals", LinearThresholds("regression")])
def test_false_alarms_are_as_many_as_said(dataset, subgroups):
    _, y, protected = load_paper(dataset)
    tested, naive = simulate(
        y, protected, subgroups, n_samples=N_SAMPLES, n_permutations=199, seed=2
    )
    alarms = int(np.sum(tested <= 0.05))
    assert binomtest(alarms, N_SAMPLES, 0.05).pvalue > 0.01
    # The test of the group that was found, as if it had been chosen before, is far off.
    assert binomtest(int(np.sum(naive <= 0.05)), N_SAMPLES, 0.05).pvalue < 1e-9
