"""The generalisation bound by hand, and against the deviations that samples do have."""

import math

import numpy as np
import pytest

from gerrymend import ExplicitGroups, FairnessNotion, audit
from gerrymend.auditing.inference.generalisation import finite_distance, log_growth, vc_distance
from gerrymend.notions import STATISTICAL_PARITY


def test_constants_by_hand():
    n, delta = 1000, 0.1
    everyone = math.sqrt(math.log(80) / 2000)
    assert finite_distance(n, 7, delta) == pytest.approx(
        everyone + math.sqrt(math.log(560) / 2000), rel=1e-12
    )
    ways = sum(math.comb(n, i) for i in range(4))
    assert log_growth(n, 3) == pytest.approx(math.log(ways), rel=1e-9)
    assert log_growth(3, 9) == pytest.approx(math.log(8))
    assert vc_distance(n, 3, delta) == pytest.approx(
        everyone + 2 * math.sqrt(2 * math.log(2 * ways) / 1000) + math.sqrt(math.log(40) / 2000),
        rel=1e-9,
    )


def data(n=400, seed=0):
    rng = np.random.default_rng(seed)
    attributes = {"race": rng.choice(["blue", "green"], n), "age": rng.integers(18, 70, n)}
    return rng.integers(0, 2, n), rng.integers(0, 2, n), attributes


def test_what_a_class_says_of_itself():
    y, p, attributes = data()

    def bound(n_notions=1, **options):
        return audit(y, p, sensitive_features=attributes, **options).generalisation

    linear = bound(subgroups="linear")  # age and one indicator: half-planes
    assert (linear.basis, linear.vacuous) == ("VC dimension 3", True)
    assert linear.distance == pytest.approx(vc_distance(400, 3, 0.05))
    named = bound(subgroups=ExplicitGroups({"blue": {"race": "blue"}, "old": {"age": (50, None)}}))
    assert named.basis == "2 subgroups"
    assert named.distance == pytest.approx(finite_distance(400, 2, 0.05))
    assert not named.vacuous
    assert bound(subgroups="marginals").basis == "VC dimension 3"
    doubled = FairnessNotion("doubled", event=(True, True), a=(0, 0), b=(2, 2))
    assert bound(notion=doubled).distance == pytest.approx(2 * linear.distance)
    both = bound(notion="equalized_odds")
    assert both.distance == pytest.approx(vc_distance(400, 3, 0.025))
    assert bound(sample_weight=np.linspace(1, 2, 400)) is None


def test_it_is_told_where_it_says_something():
    y, p, attributes = data(n=20_000)
    groups = ExplicitGroups({"blue": {"race": "blue"}})
    report = audit(y, p, sensitive_features=attributes, subgroups=groups)
    assert "With 95 % confidence no subgroup's unfairness is more than 0.0" in " ".join(
        str(report).split()
    )
    assert report.to_dict()["generalisation"]["basis"] == "1 subgroups"


def test_samples_keep_to_it():
    """Half-lines over a uniform number, rate 0.8 below 1/2 and 0.2 above: v(c) is known."""
    rng = np.random.default_rng(0)
    n, cuts = 500, np.linspace(0, 1, 101)
    mass_of_outcome = np.where(cuts < 0.5, 0.8 * cuts, 0.4 + 0.2 * (cuts - 0.5))
    truth = mass_of_outcome - 0.5 * cuts
    bound = vc_distance(n, 2, 0.05)
    for _ in range(200):
        x = rng.random(n)
        p = (rng.random(n) < np.where(x < 0.5, 0.8, 0.2)).astype(int)
        found = [STATISTICAL_PARITY.unfairness(np.zeros(n, int), p, x < cut) for cut in cuts[::10]]
        assert np.abs(found - truth[::10]).max() <= bound
