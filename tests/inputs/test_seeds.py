"""What is passed as random_state: the same numbers as scikit-learn's, or an error that names it."""

import numpy as np
import pytest
from sklearn.utils import check_random_state

from gerrymend import SubgroupParityClassifier, pareto_frontier
from gerrymend.datasets import make_benchmark, make_gerrymandered, make_intersectional
from gerrymend.inputs.seeds import draw_seed, random_generator, random_source

BAD = [0.5, "1", b"1", [], [0.5], {}, -1, 2**64, 1j, object(), np.timedelta64(1, "s"), float("nan")]


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), np.random.RandomState(3)])
def test_a_source_draws_what_scikit_learn_would(seed):
    known = check_random_state(3 if isinstance(seed, np.random.RandomState) else seed)
    assert random_source(seed).randint(10**6) == known.randint(10**6)


def test_a_generator_is_taken_as_it_is():
    generator = np.random.default_rng(5)
    assert random_generator(generator) is generator
    assert random_generator(5).integers(10**6) == np.random.default_rng(5).integers(10**6)


@pytest.mark.parametrize("seed", BAD)
def test_what_is_no_seed_is_refused_by_name(seed, toy):
    X, y, protected = toy
    clf = SubgroupParityClassifier(max_iter=1)
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        draw_seed(seed)
    with pytest.raises(ValueError, match="random_state must be"):
        make_gerrymandered(80, random_state=seed)
    with pytest.raises(ValueError, match="random_state must be"):
        make_intersectional(80, random_state=seed)
    with pytest.raises(ValueError, match="random_state must be"):
        pareto_frontier(clf, X, y, sensitive_features=protected, random_state=seed)


@pytest.mark.parametrize("seed", [0.5, "1", {}, -1, 1j, object()])
def test_what_is_no_seed_of_a_generator_is_refused_by_name(seed):
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        make_benchmark(80, random_state=seed)
