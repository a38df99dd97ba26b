"""The best of a great circle of which few rows are sorted, against all of its groups."""

import numpy as np
import pytest

from gerrymend.subgroups.thresholds import great_circles
from gerrymend.subgroups.thresholds.binned_circles import best_in_bins


def values_by_angle(first, second, residual, half, rows, smallest):
    """|value| of the group at an angle between any two at which rows change sides."""
    turns = np.arctan2(first, -second) % np.pi
    turns = np.unique(np.concatenate([[0.0, np.pi], turns]))
    apart = np.diff(turns) > 1e-9
    angles = ((turns[1:] + turns[:-1]) / 2)[apart]
    inside = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), second) > 0
    size = inside @ rows
    fits = (size >= smallest) & (rows.sum() - size >= smallest)
    return angles[fits], np.abs(inside @ residual - half)[fits]


@pytest.mark.parametrize("n_bins", [1, 2, 16, 1000])
def test_the_best_of_all_groups_is_found(n_bins):
    rng = np.random.default_rng(n_bins)
    for number in range(300):
        m = int(rng.integers(1, 40))
        first, second = rng.normal(size=(2, m))
        if number % 3 == 0:  # rows that change sides together, at 0 too
            first, second = np.round(first), np.round(second)
        residual = rng.normal(size=m) if number % 2 else rng.integers(-2, 3, m).astype(float)
        half = residual.sum() / 2 if number % 5 == 0 else 0.0
        rows = rng.integers(0, 4, m)
        smallest = int(rng.integers(0, 6)) if number % 4 == 0 else 0
        given = (first, second, residual, half, rows, smallest)
        angles, values = values_by_angle(*given)
        angle = best_in_bins(*given, n_bins, 1e-11)
        if not len(values):
            assert np.isnan(angle)
            continue
        # It is an angle between turns: the nearest of those has the same group.
        nearest = np.argmin(np.abs(angles - angle))
        assert angles[nearest] == pytest.approx(angle, abs=1e-9)
        assert values[nearest] == pytest.approx(values.max(), abs=1e-9)


def test_many_rows_are_not_all_sorted_and_the_best_is_the_same():
    rng = np.random.default_rng(0)
    m = great_circles._MANY_ROWS
    first, second = rng.normal(size=(2, m))
    residual = np.where(first + 0.3 * second > 0.2, 0.5, -0.5) + rng.normal(0, 0.5, m)
    residual -= residual.mean()
    no_rows = np.zeros(m, dtype=np.intp)
    angle = great_circles.best_on_circle(first, second, residual, 0.0, no_rows, 0)
    order = np.argsort(second / first)
    changes = np.where(first > 0, -residual, residual)[order]
    values = residual[first > 0].sum() + np.append(0.0, np.cumsum(changes))
    found = residual[np.cos(angle) * first + np.sin(angle) * second > 0].sum()
    assert abs(found) == pytest.approx(np.abs(values).max(), rel=1e-9)
