"""A search of very many cells begins with clusters of them."""

import numpy as np
import pytest

from gerrymend import LinearThresholds
from gerrymend.inputs.protected import read_columns
from gerrymend.subgroups.thresholds import ascents
from gerrymend.subgroups.thresholds.clusters import clusters_of


@pytest.mark.parametrize("most", [1, 7, 64, 1000])
def test_clusters_are_of_neighbours_and_none_is_empty(most):
    rng = np.random.default_rng(most)
    columns = np.stack([rng.standard_normal(500), rng.integers(0, 3, 500), np.zeros(500)])
    of_cell, means = clusters_of(columns, most)
    assert max(1, most // 4) <= means.shape[1] <= most
    for cluster in range(means.shape[1]):
        members = columns[:, of_cell == cluster]
        assert members.shape[1] > 0
        np.testing.assert_allclose(means[:, cluster], members.mean(axis=1), atol=1e-12)
    if most >= 64:  # they lie near one another
        spread = [np.var(columns[:, of_cell == c], axis=1).sum() for c in range(means.shape[1])]
        assert np.mean(spread) < 0.1 * np.var(columns, axis=1).sum()


def test_equal_cells_are_never_parted():
    columns = np.repeat(np.array([[0.1, 0.3, 0.7], [5.0, 5.0, 1.0]]), 40, axis=1)
    of_cell, means = clusters_of(columns, 100)
    assert means.shape[1] == 3
    assert [len(set(of_cell[part : part + 40])) for part in (0, 40, 80)] == [1, 1, 1]


def best_of_two_numbers(x, residual):
    """The largest |sum| over all half-planes, by a sweep of the rows in each of many directions."""
    best = 0.0
    for angle in np.linspace(0.0, np.pi, 500, endpoint=False):
        order = np.argsort(x @ [np.cos(angle), np.sin(angle)])
        best = max(best, np.abs(np.cumsum(residual[order])).max())
    return best


@pytest.mark.parametrize("seed", range(5))
def test_a_search_from_clusters_finds_the_worst_half_plane(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((20_000, 2))
    chance = 0.3 + 0.2 * (x @ rng.standard_normal(2) > 0.4)
    decided = rng.random(20_000) < chance
    residual = decided - decided.mean()
    columns = read_columns({"a": x[:, 0], "b": x[:, 1]})
    monkeypatch.setattr(ascents, "_MANY_CELLS", 1000)
    ones = np.ones(20_000)
    found = LinearThresholds(restarts=20).bind(columns, ones, ones).worst(residual[None])
    value = abs(float(found.values[0]))
    assert value == pytest.approx(abs(residual[found.members[0] > 0].sum()), abs=1e-9)
    assert value >= 0.98 * best_of_two_numbers(x, residual)


def test_a_search_from_clusters_is_never_below_the_regression(monkeypatch):
    rng = np.random.default_rng(7)
    x = rng.standard_normal((1500, 1))
    more = rng.standard_normal((1500, 3))
    columns = read_columns({"a": x[:, 0]} | {f"b{k}": more[:, k] for k in range(3)})
    monkeypatch.setattr(ascents, "_MANY_CELLS", 1000)
    monkeypatch.setattr(ascents, "_MOST_CLUSTERS", 2)  # which say next to nothing
    ones = np.ones(1500)
    for _ in range(10):
        residual = rng.standard_normal(1500)
        residual -= residual.mean()
        values = [
            abs(float(subgroups.bind(columns, ones, ones).worst(residual[None]).values[0]))
            for subgroups in (LinearThresholds(restarts=1), LinearThresholds("regression"))
        ]
        assert values[0] >= values[1] - 1e-9


def test_a_smallest_size_holds_in_a_search_from_clusters(monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(1200)
    residual = np.where(x > np.sort(x)[-5], 1.0, 0.0)
    residual -= residual.mean()
    monkeypatch.setattr(ascents, "_MANY_CELLS", 1000)
    columns = read_columns({"a": x, "b": rng.standard_normal(1200)})
    ones = np.ones(1200)
    bound = LinearThresholds(restarts=5).bind(columns, ones, ones)
    found = bound.worst_of_size(residual, np.ones(1200, dtype=np.intp), 100)
    assert 100 <= np.count_nonzero(found.members[0] > 0) <= 1100
