"""The p-value of the expected unfairness: by every permutation, and where nothing differs."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from gerrymend import audit_uncertain


def test_it_is_the_part_of_all_permutations_that_have_as_much():
    p = np.array([0.9, 0.8, 0.7, 0.3, 0.2, 0.1, 0.4])
    d = np.array([1, 1, 1, 0, 0, 0, 1])

    def largest(decided):
        return abs(((decided - decided.mean()) * p).sum())

    every = [largest(np.array(one)) for one in itertools.permutations(d.tolist())]
    exact = np.mean([one >= largest(d) - 1e-12 for one in every])
    report = audit_uncertain(
        None, d, notion="statistical_parity", n_permutations=1_999, budget=3600,
        attribute_probabilities={"race": {"a": p, "b": 1 - p}},
    )  # fmt: skip
    assert report.n_permutations == 1_999
    assert report.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 1_999))


def test_labels_keep_their_decisions():
    """Decisions are dealt within each label, so that labels that differ make no difference."""
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    report = audit_uncertain(
        y, y, notion="error_rate", n_permutations=19,
        attribute_probabilities={"race": {"a": p, "b": 1 - p}},
    )  # fmt: skip
    assert report.p_value == 1.0


def test_a_seed_repeats_it_and_no_permutations_are_made_unasked():
    rng = np.random.default_rng(0)
    p, d = rng.random(60), rng.integers(0, 2, 60)
    given = {
        "budget": 3600,
        "notion": "statistical_parity",
        "attribute_probabilities": {"race": {"a": p, "b": 1 - p}},
    }
    one, two = (audit_uncertain(None, d, n_permutations=49, **given).p_value for _ in "ab")
    assert one == two
    assert audit_uncertain(None, d, **given).p_value is None


def test_it_keeps_its_level_where_nothing_differs():
    rng = np.random.default_rng(0)
    n_samples, level = 120, 0.2
    small = 0
    for _ in range(n_samples):
        p, sex = rng.random(60), rng.choice(["F", "M"], 60)
        report = audit_uncertain(
            None, rng.integers(0, 2, 60), notion="statistical_parity", n_permutations=19,
            sensitive_features={"sex": sex}, random_state=int(rng.integers(2**31)),
            attribute_probabilities={"race": {"a": p, "b": 1 - p}},
        )  # fmt: skip
        small += report.p_value <= level
    assert binom.ppf(1e-4, n_samples, level) <= small <= binom.ppf(1 - 1e-4, n_samples, level)
