"""Small random instances, and subgroups by enumeration: nothing here knows how a search works."""

import itertools
from fractions import Fraction

import numpy as np

from gerrymend.inputs.protected import Column, distinct_rows


def instance(rng, *, most_attributes=4, most_values=5):
    """Columns of cells, a residual with ties, rows by cell; one-value attributes too."""
    n, d = int(rng.integers(1, 16)), int(rng.integers(1, most_attributes + 1))
    columns = []
    for j in range(d):
        size = int(rng.integers(1, most_values + 1))
        codes = rng.integers(0, size, n).astype(float)
        if rng.random() < 0.5:
            columns.append(Column(f"n{j}", np.round(codes * 1.7 - 2, 1) + 0.0))
        else:
            columns.append(Column(f"c{j}", codes, tuple("abcdefgh"[:size])))
    columns = distinct_rows(columns).columns
    m = len(columns[0].values)
    residual = rng.integers(-4, 5, m) / 8.0
    residual[rng.integers(m)] -= residual.sum()  # W sums to 0
    return columns, residual, rng.integers(1, 6, m)


def bind(subgroups, columns):
    """The class over cells that all count."""
    weight = np.ones(len(columns[0].values))
    return subgroups.bind(columns, weight, weight)


def value(residual, members):
    return sum((Fraction(float(w)) for w, inside in zip(residual, members, strict=True) if inside),
               Fraction(0))  # fmt: skip


def intervals(column):
    """Masks of every interval of the values."""
    for low, high in itertools.combinations_with_replacement(np.unique(column.values), 2):
        yield (column.values >= low) & (column.values <= high)


def half_lines(column):
    for cut in np.unique(column.values)[1:]:
        yield column.values < cut
        yield column.values >= cut


def single_values(column):
    for one in np.unique(column.values):
        yield column.values == one


def value_subsets(column):
    distinct = np.unique(column.values)
    for k in range(1, len(distinct) + 1):
        for chosen in itertools.combinations(distinct, k):
            yield np.isin(column.values, chosen)


def products(columns, depth, of_category, of_number):
    """Masks of every product of conditions on at most `depth` attributes; everyone among them."""
    options = [list((of_category if c.is_categorical else of_number)(c)) for c in columns]
    everyone = np.ones(len(columns[0].values), dtype=bool)
    yield everyone
    for k in range(1, min(depth, len(columns)) + 1):
        for chosen in itertools.combinations(options, k):
            for masks in itertools.product(*chosen):
                yield np.logical_and.reduce(masks)


def worst(residual, groups):
    """The largest |value|."""
    return max(abs(value(residual, members)) for members in groups)


def worst_of_size(residual, rows, smallest, groups):
    """The largest |value| of the groups that are large enough, or None."""
    total = int(rows.sum())
    fits = [g for g in groups if smallest <= int(rows[g].sum()) <= total - smallest]
    return worst(residual, fits) if fits else None
