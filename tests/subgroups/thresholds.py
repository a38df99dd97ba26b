"""Linear thresholds of small instances by enumeration, in exact arithmetic.

Groups are listed by the checker's code, which shares none with the provers, and sums are of
Fractions. Strata enter as indicators, each of which is a threshold's own shift.
"""

import itertools
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from gerrymend.checker.dichotomies import dichotomies
from gerrymend.subgroups.proofs.whole_points import Points


def points_of(x, weight, stratum=None, rank=None):
    """Points, with one stratum and one rank if none is given."""
    x = np.asarray(x)
    zeros = np.zeros(len(weight), dtype=np.intp)
    return Points(
        x if x.dtype == object else x.astype(np.int64),
        np.asarray(weight, dtype=float),
        zeros if stratum is None else np.asarray(stratum, dtype=np.intp),
        zeros if rank is None else np.asarray(rank, dtype=np.intp),
    )


def random_points(rng, *, most_rows=10, most_dimensions=4, ranked=False):
    """A small instance: grids with ties, lines, dependent and constant columns, strata, ranks."""
    m, d = int(rng.integers(2, most_rows + 1)), int(rng.integers(1, most_dimensions + 1))
    size = int(rng.choice([2, 3, 4, 1000]))
    x = rng.integers(0, size, (m, d))
    shape = rng.integers(6)
    if shape == 0:  # on a line
        x = np.outer(rng.integers(0, 4, m), rng.integers(-2, 3, d)) + 5
    elif shape == 1 and d > 1:
        x[:, -1] = 3 * x[:, 0] - (x[:, 1] if d > 2 else 0) + 7
    elif shape == 2:
        x[:, -1] = 1
    elif shape == 3:
        x = x[rng.integers(0, m, m)]
    weight = rng.choice([-1.0, 1.0, 2.0, 0.0], m) if rng.random() < 0.6 else rng.standard_normal(m)
    if rng.random() < 0.5:
        weight -= weight.mean()
    stratum = rng.integers(0, rng.integers(1, 5 if d < 4 else 3), m)
    return points_of(x, weight, stratum, rng.integers(0, 3, m) if ranked else None)


def groups(points):
    """Every group, as a mask over the rows: a threshold a stratum, within one of its ranks."""
    m = len(points.weight)
    rows = {s: np.flatnonzero(points.stratum == s) for s in np.unique(points.stratum)}
    ranks = [[(s, r) for r in np.unique(points.rank[mine])] for s, mine in rows.items()]
    for chosen in itertools.product(*ranks):
        above, on = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
        for s, rank in chosen:
            above |= (points.stratum == s) & (points.rank > rank)
            on |= (points.stratum == s) & (points.rank == rank)
        index = np.flatnonzero(on)
        for mask in dichotomies(_coordinates(points, index, list(rows))):
            members = above.copy()
            members[index] = [(mask >> i) & 1 for i in range(len(index))]
            yield members


def _coordinates(points, index, strata):
    return [
        tuple(Fraction(int(v)) for v in points.x[i])
        + tuple(Fraction(int(points.stratum[i] == s)) for s in strata[1:])
        for i in index
    ]


def value(weight, members):
    """The exact sum of the weights."""
    return sum((Fraction(float(w)) for w in np.asarray(weight)[members]), Fraction(0))


def worst(points):
    """The largest value of a group."""
    return float(max(value(points.weight, members) for members in groups(points)))


def is_threshold(points, members):
    """Whether a linear program parts the members from the others, in each stratum (one rank)."""
    counted = points.weight != 0
    x = np.column_stack([points.x, points.stratum[:, None] == np.arange(points.n_strata)])
    x = x[counted].astype(float)
    x[:, : points.x.shape[1]] /= np.maximum(1.0, np.abs(x[:, : points.x.shape[1]]).max(axis=0))
    side = np.where(members[counted], 1.0, -1.0)[:, None]
    solution = linprog(
        np.zeros(x.shape[1]), A_ub=-side * x, b_ub=-np.ones(len(x)), bounds=(None, None)
    )
    return solution.status == 0
