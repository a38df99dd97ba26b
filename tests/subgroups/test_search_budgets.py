"""Searches keep to their time: each class looks at the clock while it searches one residual."""

import itertools

import numpy as np
import pytest

from gerrymend import Conjunctions, LinearThresholds, Trees, ValueSets
from gerrymend.inputs.protected import Column
from gerrymend.subgroups import trees
from gerrymend.subgroups.products import search as products
from gerrymend.subgroups.thresholds import ascents, circles
from tests.subgroups.brute_force import bind

# By class: the module whose clock is looked at, and the piece of work between two looks.
WORK = {
    "conjunctions": (Conjunctions(), products, products._Search, "go_on"),
    "value sets": (ValueSets(), products, products._Search, "go_on"),
    "trees": (Trees(), trees, trees._Growth, "_first_splits"),
    "deep trees": (Trees(max_depth=4), trees, trees._Growth, "_first_splits"),
    "linear": (LinearThresholds(), ascents, circles, "ascend"),
}


@pytest.fixture(params=WORK)
def counted(request, monkeypatch):
    """A bound class, a residual, and the pieces of work done, by which its clock goes."""
    subgroups, module, owner, name = WORK[request.param]
    rng = np.random.default_rng(0)
    values = np.array(list(itertools.product(range(3), repeat=4)), dtype=float)
    columns = tuple(Column(f"a{j}", values[:, j]) for j in range(4))
    residual = rng.standard_normal(len(values))
    done = []
    work = getattr(owner, name)

    def noted(*how, **more):
        done.append(name)
        return work(*how, **more)

    bound = bind(subgroups, columns)
    monkeypatch.setattr(owner, name, noted)
    monkeypatch.setattr(module.time, "monotonic", lambda: float(len(done)))
    return bound, residual - residual.mean(), done


def test_a_search_ends_with_its_time(counted):
    bound, residual, done = counted
    bound.search(residual, seconds=1.0)
    in_time = len(done)
    bound.search(residual)
    assert in_time <= 2 < len(done) - in_time


def test_a_search_for_groups_of_a_size_ends_with_its_time(counted):
    bound, residual, done = counted
    rows = np.full(len(residual), 2)
    bound.worst_of_size(residual, rows, 10, seconds=1.0)
    in_time = len(done)
    bound.worst_of_size(residual, rows, 10)
    assert in_time <= 2 < len(done) - in_time


def test_with_time_a_search_finds_what_the_class_finds(counted):
    bound, residual, _ = counted
    found = bound.search(residual).values[0]
    assert abs(found) == pytest.approx(abs(bound.worst(residual[None]).values[0]))
