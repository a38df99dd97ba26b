"""Whole numbers, spans and independent columns, against Gaussian elimination over fractions."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend.subgroups.proofs.whole_points import (
    independent_columns,
    nearest,
    orthogonal_to_differences,
    values_along,
    whole_numbers,
)
from tests.subgroups.thresholds import points_of, random_points

seeds = st.integers(0, 1_000_000)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def rank(rows):
    """By elimination over fractions."""
    rows = [[Fraction(int(entry)) for entry in row] for row in rows]
    done = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        for i in range(done + 1, len(rows)):
            factor = rows[i][column] / rows[done][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[done], strict=True)]
        done += 1
    return done


def assert_same_up_to_a_line(column, whole):
    """whole = (printed − least) · factor, in exact arithmetic, and as small as it can be."""
    printed = [Fraction(Decimal(repr(float(v)))) for v in column]
    least = min(printed)
    whole = [int(v) for v in whole]
    assert min(whole) == 0
    assert math.gcd(*whole) in (0, 1)
    factors = {w / (p - least) for p, w in zip(printed, whole, strict=True) if p != least}
    assert len(factors) <= 1
    assert all((w == 0) == (p == least) for p, w in zip(printed, whole, strict=True))
    assert all(factor > 0 for factor in factors)


@given(st.lists(numbers, min_size=1, max_size=8))
def test_whole_numbers_are_the_printed_decimals(values):
    column = np.array(values)
    assert_same_up_to_a_line(column, whole_numbers(column))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=8), st.integers(0, 12))
def test_decimals_of_few_digits(values, digits):
    column = np.array([v / 10**digits for v in values])
    assert_same_up_to_a_line(column, whole_numbers(column))


@given(st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=8))
def test_whole_numbers_beyond_64_bits_of_mantissa(values):
    column = np.array([float(v) for v in values])
    assert_same_up_to_a_line(column, whole_numbers(column))


@pytest.mark.parametrize(
    "column",
    [
        [0.1 + 0.2, 0.3, 0.1],
        [1e200, 2e200, 3.5e200],
        [1e-200, 2e-200],
        [-1.5, 0.25, -0.0],
        [2.0**53, 2.0**53 + 2, -(2.0**53)],
        [1e300, 1e-300, 0.0],
        [9007199.254740991, 9007199.254740993, 0.0],
        [5e-324, 1.7976931348623157e308],
        [3.0],
    ],
)
def test_numbers_that_are_awkward(column):
    assert_same_up_to_a_line(column, whole_numbers(np.array(column)))


def test_small_numbers_are_in_64_bits_and_others_are_not():
    assert whole_numbers(np.array([0.1, 0.2, 0.35])).tolist() == [0, 2, 5]
    assert whole_numbers(np.array([0.1, 0.2])).dtype == np.int64
    assert whole_numbers(np.array([0.1 + 0.2, 0.3])).tolist() == [1, 0]
    assert whole_numbers(np.array([0.0, 1e-30, 1.0])).dtype == object


def draw_matrix(rng):
    m, d = rng.integers(1, 8), rng.integers(1, 6)
    size = int(rng.choice([2, 4, 10**6, 10**18]))
    x = rng.integers(-size, size, (m, d))
    if d > 1 and rng.random() < 0.5:
        x = x // 2 if size == 10**18 else x
        x[:, -1] = x[:, 0] - (x[:, 1] if d > 2 else 0)
    return x.astype(object) * (10**20 if rng.random() < 0.2 else 1) if size > 4 else x


@given(seeds)
def test_a_span_and_what_is_orthogonal_to_it(seed):
    rng = np.random.default_rng(seed)
    x = draw_matrix(rng)
    block = rng.integers(0, 3, len(x))
    one = np.unique(block, return_index=True)[1][np.unique(block, return_inverse=True)[1]]

    def pair_apart(y):
        apart = np.flatnonzero((y != y[one]).any(axis=1))
        return (int(apart[0]), int(one[apart[0]])) if len(apart) else None

    orthogonal = orthogonal_to_differences(x, pair_apart)
    differences = [
        [int(a) - int(b) for a, b in zip(x[i], x[one[i]], strict=True)] for i in range(len(x))
    ]
    expected = rank(differences)
    assert len(orthogonal) == rank(orthogonal) == x.shape[1] - expected
    for v in orthogonal:
        assert all(sum(a * b for a, b in zip(v, row, strict=True)) == 0 for row in differences)


@given(seeds)
def test_independent_columns_span_all(seed):
    x = draw_matrix(np.random.default_rng(seed))
    chosen = independent_columns(x)
    assert chosen == sorted(set(chosen))
    for k in range(x.shape[1]):
        assert rank(x[:, : k + 1]) == sum(column <= k for column in chosen)
    assert rank(x[:, chosen]) == len(chosen)


@given(seeds)
def test_values_along_have_the_order_of_exact_products(seed):
    rng = np.random.default_rng(seed)
    x = draw_matrix(rng)
    directions = rng.integers(-5, 6, (2, x.shape[1])) * int(rng.choice([1, 10**9]))
    if not directions.any():
        directions[0, 0] = 1
    values = values_along(x, directions.tolist())
    for k, direction in enumerate(directions):
        exact = [sum(int(a) * int(b) for a, b in zip(row, direction, strict=True)) for row in x]
        for i in range(len(x)):
            for j in range(len(x)):
                assert (values[i, k] < values[j, k]) == (exact[i] < exact[j])


@given(seeds)
def test_few_columns_keep_what_can_be_ordered(seed):
    """As many columns as the differences within blocks span, and none nearly made of others."""
    rng = np.random.default_rng(seed)
    points = random_points(rng, ranked=True)
    if rng.random() < 0.5:
        large = points.x.astype(object) * 10**12
        x = np.column_stack([large, large[:, 0] + rng.integers(0, 2, len(large))])
        points = points_of(x, points.weight, points.stratum, points.rank)
    few = points.in_few_columns()

    def differences(x):
        return [[int(a) - int(b) for a, b in zip(x[i], x[j], strict=True)]
                for i, j in enumerate(points._blocks[0][points._blocks[1]])]  # fmt: skip

    before, after = differences(points.x), differences(few.x)
    assert few.x.shape[1] == rank(before) == rank(after)
    both = [a + b for a, b in zip(before, after, strict=True)]
    if few.x.shape[1] != 1:  # one column is replaced by its order
        assert rank(both) == rank(before), "no new combination of rows can be told apart"
    z, to_x = few.whitening()
    assert to_x.shape == (few.x.shape[1], few.x.shape[1])
    if few.x.shape[1]:
        np.testing.assert_allclose(z.T @ z / len(z), np.eye(z.shape[1]), atol=1e-8)


def test_merged_rows_add_their_weights():
    points = points_of([[1, 2], [1, 2], [1, 3], [1, 2]], [1.0, 2.0, 4.0, 8.0], [0, 0, 0, 1])
    merged, index = points.merged()
    assert merged.weight[index].tolist() == [3.0, 3.0, 4.0, 8.0]


@given(seeds)
def test_rows_are_merged_just_where_they_coincide(seed):
    """Also where numbers are too large, or columns too many, for one code of 64 bits."""
    rng = np.random.default_rng(seed)
    x = np.repeat(draw_matrix(rng), 3, axis=0)
    x = np.column_stack([x] * int(rng.integers(1, 9)))
    points = points_of(x, rng.standard_normal(len(x)), rng.integers(0, 2, len(x)))
    merged, index = points.merged()
    keys = [(*map(int, row), s) for row, s in zip(x, points.stratum, strict=True)]
    assert len(merged.weight) == len(set(keys))
    for i, key in enumerate(keys):
        same = [j for j, other in enumerate(keys) if other == key]
        assert (*map(int, merged.x[index[i]]), merged.stratum[index[i]]) == key
        assert merged.weight[index[i]] == pytest.approx(points.weight[same].sum())


@given(seeds)
def test_nearest_is_a_combination_of_the_basis_and_near(seed):
    rng = np.random.default_rng(seed)
    size = [10 ** int(k) for k in rng.integers(0, 20, 3)]
    basis = [[1, 0, int(rng.integers(-5, 6))], [0, 1, int(rng.integers(-5, 6))]]
    along = rng.standard_normal(2)
    scaled = np.array([[float(a * s) for a, s in zip(v, size, strict=True)] for v in basis])
    direction = (along / np.abs(scaled).max(axis=1)) @ scaled
    star = nearest(basis, direction, size)
    assert rank([*basis, star]) == 2
    effect = np.array([float(a * s) for a, s in zip(star, size, strict=True)])
    cosine = effect @ direction / np.linalg.norm(effect) / np.linalg.norm(direction)
    assert cosine == pytest.approx(1.0, abs=1e-6)
    assert nearest([[1, 0, 0]], np.array([0.0, 1.0, 0.0]), [1, 1, 1]) is None
