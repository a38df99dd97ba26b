"""Listing of every set of points that a linear threshold can select, in whole numbers.

Write a threshold on a point x as a·z > 0 with z = (1, x). The hyperplanes a·z_i = 0 divide the
space of all a into cones, one for each way to divide the points. Let the z span r dimensions (what
a has besides doesn't matter, and is left out): every cone then has an extreme ray v, orthogonal to
r − 1 independent z_i. Just beside v the points with v·z_i ≠ 0 stay on their side, and those with
v·z_i = 0, which span r − 1 dimensions, are divided in any way in which they alone can be. So all
cones are found from the rays through every r − 1 points and their opposites, and the same for the
fewer points on each.

A row on the threshold needs no case of its own: points are finitely many, so that a threshold which
passes through some can be moved a little and select the same.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, gcd, lcm, prod
from operator import mul

Vector = tuple[int, ...]


def dichotomies(points: Sequence[Sequence[Fraction]]) -> set[int]:
    """Return every subset that a linear threshold selects; bit i is set where point i is in.

    >>> corners = [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> found = dichotomies([tuple(map(Fraction, corner)) for corner in corners])
    >>> len(found), 0b1001 in found  # all but the two of "exactly one", the exclusive or
    (14, False)
    """
    every = lifted(points)

    @cache
    def divide(chosen: frozenset[int]) -> set[int]:
        """Return the ways to divide the chosen points by a·z > 0, those on it to either side.

        `chosen` are indices of points, and so are the bits of what is returned. Flats are shared by
        many rays, hence the cache.
        """
        vectors = _in_coordinates({i: every[i] for i in chosen})
        rank = len(next(iter(vectors.values()), ()))
        if len(vectors) == rank:  # independent: any of them can be in, and any out
            return {sum(1 << i for i in inside) for inside in _subsets(vectors)}
        found = set()
        flats = set()
        for through in combinations(vectors.values(), rank - 1):
            ray = _orthogonal(through, rank)
            if not any(ray):
                continue
            sides = {i: _dot(ray, vector) for i, vector in vectors.items()}
            flat = frozenset(i for i, side in sides.items() if side == 0)
            # Rays through different points of one flat divide the other points in the same two
            # ways.
            if flat in flats:
                continue
            flats.add(flat)
            above = sum(1 << i for i, side in sides.items() if side > 0)
            below = sum(1 << i for i, side in sides.items() if side < 0)
            for rest in divide(flat):
                found |= {above | rest, below | rest}
        return found

    return divide(frozenset(range(len(every))))


def most_dichotomies(points: Sequence[Sequence[Fraction]]) -> tuple[int, int]:
    """Return a bound on the number of subsets (Cover's theorem), and one on the steps to find them.

    >>> most_dichotomies([(Fraction(x), Fraction(x * x)) for x in range(5)])
    (22, 50)
    """
    n = len(points)
    rank = len(_independent(lifted(points)))
    return 2 * sum(comb(n - 1, k) for k in range(rank)), comb(n, rank - 1) * n


def lifted(points: Sequence[Sequence[Fraction]]) -> list[Vector]:
    """Return (1, x) for each point x, times the common denominator of its entries.

    A positive factor changes no sign of a·z, and whole numbers add up faster than fractions.

    >>> lifted([(Fraction(1, 2), Fraction(1, 3))])
    [(6, 3, 2)]
    """
    scale = [lcm(*(value.denominator for value in point)) for point in points]
    return [
        (factor, *(int(value * factor) for value in point))
        for factor, point in zip(scale, points, strict=True)
    ]


def _subsets(indices: Collection[int]) -> list[tuple[int, ...]]:
    """Return every subset of some indices, the empty one included.

    >>> _subsets([3, 5])
    [(), (3,), (5,), (3, 5)]
    """
    return [chosen for k in range(len(indices) + 1) for chosen in combinations(indices, k)]


def _dot(first: Vector, second: Vector) -> int:
    """Return the inner product of two vectors."""
    return sum(map(mul, first, second))


def _reduced(rows: Sequence[Vector]) -> list[tuple[int, Vector]]:
    """Reduce rows by Gauss–Jordan without fractions, to pairs of a pivot's column and its row.

    >>> _reduced([(1, 2), (2, 4), (0, 3)])
    [(0, (1, 0)), (1, (0, 1))]
    """
    pivots: list[tuple[int, Vector]] = []
    for row in rows:
        if len(pivots) == len(row):
            break
        for column, pivot in pivots:
            row = _without(column, row, pivot)
        column = next((c for c, value in enumerate(row) if value), -1)
        if column >= 0:
            pivots = [(c, _without(column, pivot, row)) for c, pivot in pivots]
            pivots.append((column, row))
    return pivots


def _without(column: int, row: Vector, pivot: Vector) -> Vector:
    """Return a combination of row and pivot that is 0 in the column, in lowest terms.

    >>> _without(0, (2, 6), (1, 1))
    (0, 1)
    """
    entry = row[column]
    unit = pivot[column]
    left = [a * unit - b * entry for a, b in zip(row, pivot, strict=True)]
    common = gcd(*left) or 1
    return tuple(value // common for value in left)


def _independent(vectors: Sequence[Vector]) -> list[int]:
    """Return the pivot columns: coordinates that tell vectors apart as well as all do."""
    return sorted(column for column, _ in _reduced(vectors))


def _in_coordinates(vectors: dict[int, Vector]) -> dict[int, Vector]:
    """Return the same vectors in as many coordinates as they span, with the same signs of a·z.

    The pivot columns of a matrix span its columns, so any a over all of them has one over these.
    """
    kept = _independent(list(vectors.values()))
    return {i: tuple(vector[c] for c in kept) for i, vector in vectors.items()}


def _orthogonal(rows: Sequence[Vector], size: int) -> Vector:
    """Return the direction orthogonal to size − 1 vectors, or zeros where they are dependent.

    >>> _orthogonal([(1, 2, 0), (0, 1, 1)], 3)
    (2, -1, 1)
    """
    pivots = _reduced(rows)
    if len(pivots) < size - 1:
        return (0,) * size
    (free,) = set(range(size)) - {column for column, _ in pivots}
    # Each pivot row says pivot·v[column] + pivot[free]·v[free] = 0; the product clears
    # denominators.
    scale = prod(pivot[column] for column, pivot in pivots)
    solution = {column: -pivot[free] * scale // pivot[column] for column, pivot in pivots}
    return tuple(solution.get(c, scale) for c in range(size))
