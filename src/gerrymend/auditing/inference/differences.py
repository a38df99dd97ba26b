"""Differences of rates, and products with a part of the rows, each end with the spread of its side.

Where groups are compared with a reference r of one's own, let Δ = rate − r. A number has no spread.
A factor f times the mean of a named group G may share rows with the group g itself: with m₁ the
mean of g without G, m₂ of what both share and m₃ of G without g,

    Δ = (1 − s)·m₁ + (s − f·t)·m₂ − f·(1 − t)·m₃

where s is the part of g that is in G, and t the part of G that is in g. The three are of different
rows, and thereby independent: their spreads add in squares, each end with the side of each that its
coefficient turns to it. Unfairness is e·Δ, with e the part of all rows that are in g and count,
whose variance is Σ w²·(1_g − e)² / (Σ w)².
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.group_sums import GroupSums, group_sums
from gerrymend.auditing.tally import NotionTally
from gerrymend.subgroups.rules import Members

# Numbers of a table of groups by cells that is made.
_MOST_NUMBERS = 5_000_000

Ends = Callable[[Array, float], tuple[Array, Array, Array]]


class Difference(NamedTuple):
    """Hold a difference of rates, by group, and how far its interval reaches to either side."""

    value: Array
    below: Array
    above: Array

    def times(self, factor: Array, variance: Array, z: float) -> Array:
        """Return the two ends of a product; the factor's interval is symmetric for its logarithm.

        `variance` is that of the factor, and `z` the quantile of the level.
        """
        spread = z * np.sqrt(variance) / np.where(factor > 0, factor, 1.0)
        up = factor * np.expm1(spread)
        down = -factor * np.expm1(-spread)
        # A larger factor moves the product away from 0: up where Δ is positive, down elsewhere.
        towards_low, towards_high = np.where(self.value > 0, (down, up), (up, down))
        low = factor * self.value - np.hypot(factor * self.below, self.value * towards_low)
        high = factor * self.value + np.hypot(factor * self.above, self.value * towards_high)
        return np.array([low, high])


def difference_of_two(first: tuple[Array, ...], second: tuple[Array, ...]) -> Difference:
    """Return the difference of two independent rates, each with the ends of its interval.

    Newcombe's: each end has the spread on its side of either rate.
    """
    rate, low, high = first
    other, other_low, other_high = second
    return Difference(
        rate - other,
        np.hypot(rate - low, other_high - other),
        np.hypot(high - rate, other - other_low),
    )


def difference_from_reference(
    seen: NotionTally, members: Any, sums: GroupSums, level: float, ends: Ends
) -> Difference:
    """Return rates less the reference of a notion's own, in the units of `sums`.

    `members` are the groups, one a row over active cells, and `ends` makes a rate and its interval
    of sums.
    """
    mass, _, outcomes, *_ = sums.inside
    there = mass > 0
    rate = np.divide(outcomes, mass, out=np.zeros_like(mass), where=there)
    assert seen.cells.reference is not None
    value = rate - (seen.cells.reference - sums.lowest) / sums.span
    if seen.compared.group is None:
        parts = [(sums.inside, np.ones_like(mass))]
    else:
        parts = _shared_parts(seen, members, sums, seen.compared.group[seen.cells.active])
    squares = np.zeros((2, len(mass)))
    for part, coefficient in parts:
        mean, low, high = ends(part, level)
        sides = np.array([mean - low, high - mean])
        # A mean that counts against the difference moves its lower end by how high it may be.
        squares += (coefficient * np.where(coefficient < 0, sides[::-1], sides)) ** 2
    below, above = np.sqrt(squares)
    return Difference(value, below, above)


def _shared_parts(
    seen: NotionTally, members: Any, sums: GroupSums, reference: Members
) -> list[tuple[Array, Array]]:
    """Return the sums of the three parts that a group and the reference make, and coefficients."""
    inside = reference.astype(np.float64)
    both = members * inside if isinstance(members, np.ndarray) else members.multiply(inside).tocsr()
    shared = group_sums(seen, both)
    alone = group_sums(seen, members - both)
    whole = group_sums(seen, inside[None])
    assert shared is not None
    assert alone is not None
    assert whole is not None
    mine = sums.inside[0]
    part_of_mine = np.divide(shared.inside[0], mine, out=np.zeros_like(mine), where=mine > 0)
    part_of_reference = shared.inside[0] / whole.inside[0]
    rest = np.maximum(whole.inside - shared.inside, _least(sums))
    if both.shape[0] * len(inside) <= _MOST_NUMBERS:
        # Added up itself: a difference of sums keeps no digits of the squares of a few rows.
        others = inside - (both if isinstance(both, np.ndarray) else both.toarray())
        direct = group_sums(seen, others)
        assert direct is not None
        rest = direct.inside
    factor = seen.compared.factor
    return [
        (alone.inside, 1 - part_of_mine),
        (shared.inside, part_of_mine - factor * part_of_reference),
        (rest, -factor * (1 - part_of_reference)),
    ]


def _least(sums: GroupSums) -> Array:
    """Return the least that each sum can be: weights and squares are 0 or more."""
    least = np.full((len(sums.inside), 1), -np.inf)
    least[:2] = 0.0
    least[4:] = 0.0
    return least
