"""The listing of linear dichotomies, against known counts and an independent linear program."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from gerrymend.checker.dichotomies import dichotomies, most_dichotomies


def points_of(rows):
    return [tuple(Fraction(value) for value in row) for row in rows]


def separable(points, group):
    """Whether some (a, t) has a·x ≥ t + 1 inside and a·x ≤ t − 1 outside: a linear program."""
    sign = np.array([1.0 if group >> i & 1 else -1.0 for i in range(len(points))])
    lifted = np.column_stack([np.array(points, float), -np.ones(len(points))])
    found = linprog(
        np.zeros(lifted.shape[1]),
        -sign[:, None] * lifted,
        -np.ones(len(points)),
        bounds=(None, None),
    )
    return found.status == 0


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 5, 9, 12])
def test_covers_theorem(n, d):
    """N points in general position have 2·Σ_{k ≤ d} C(N − 1, k) dichotomies."""
    moments = points_of([[t**k for k in range(1, d + 1)] for t in range(n)])  # on a moment curve
    count = 2 * sum(comb(n - 1, k) for k in range(d + 1))
    assert len(dichotomies(moments)) == count
    assert most_dichotomies(moments)[0] == count


@pytest.mark.parametrize(("d", "count"), [(1, 4), (2, 14), (3, 104), (4, 1882)])
def test_threshold_functions_of_boolean_variables(d, count):
    assert len(dichotomies(points_of(product((0, 1), repeat=d)))) == count


def test_points_on_a_line_are_cut_once():
    line = points_of([(0, 0), (1, 2), (2, 4), (5, 10), ("1/3", "2/3")])
    order = [0, 4, 1, 2, 3]
    prefixes = {sum(1 << i for i in order[:k]) for k in range(6)}
    assert dichotomies(line) == prefixes | {0b11111 ^ prefix for prefix in prefixes}


def test_a_point_inside_a_triangle_is_never_alone():
    triangle = points_of([(0, 0), (3, 0), (0, 3), (1, 1)])
    assert dichotomies(triangle) == set(range(16)) - {0b1000, 0b0111}


def test_a_point_on_an_edge():
    edge = points_of([(0, 0), (2, 0), (1, 0), (1, 1)])
    assert dichotomies(edge) == {
        group for group in range(16) if group & 0b111 not in (0b100, 0b011)
    }


@given(st.sets(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=6))
def test_the_same_as_a_linear_program_on_grids(rows):
    points = points_of(sorted(rows))
    expected = {group for group in range(2 ** len(points)) if separable(points, group)}
    assert dichotomies(points) == expected


def test_indicators_of_a_category_divide_it_in_any_way():
    one_hot = points_of(np.eye(5, dtype=int).tolist())
    assert dichotomies(one_hot) == set(range(32))


def test_every_dichotomy_comes_with_its_complement():
    rng = np.random.default_rng(0)
    points = points_of(rng.integers(0, 4, (9, 2)).tolist())
    distinct = sorted(set(points))
    everyone = 2 ** len(distinct) - 1
    found = dichotomies(distinct)
    assert {everyone ^ group for group in found} == found
    for i, j in combinations(range(len(distinct)), 2):  # any two points can be told apart
        assert any((group >> i ^ group >> j) & 1 for group in found)
