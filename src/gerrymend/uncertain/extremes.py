"""What the sum of residuals over a group can be, whoever its members are.

Of the people of a pool let r be the residual of each per unit of weight, w the weight and q the
probability that they are in a set of categories. Let m, from 0 to 1, be the part of a person that
is a member. The probabilities are right on average if Σ w·m = Σ w·q. So the sum Σ w·r·m is largest
where those of the largest r are members, until Σ w·q is used up: a fractional knapsack, solved by
sorting. Those of q = 0 are never members, and those of q = 1 always.

That is Fréchet's bound in each pool: with two outcomes, a part p of which is 1, the part that is
1 *and* in the set is at most min(p, q) and at least max(0, p + q − 1). Both ends are attained by
an m, and pools are independent of each other, so that a group's bound, the sum over its pools, is
attained too; by whole people where pools have equal weights and Σ q is whole. The largest bound of
a class is that of one group, and so attained as well.

With an `error` the shares may be off: for every set |Σ w·m − Σ w·q| ≤ error·Σ w, which is the
distance in total variation. The knapsack then takes from the range of sizes the one that is best.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.uncertain.pools import Pool

# Numbers in one array of people by sets.
_AT_ONCE = 2_000_000


class Extremes(NamedTuple):
    """The least and the largest sum of residuals by cell of the known attributes and set."""

    lowest: Array
    highest: Array


def extreme_sums(
    residual: Array,
    weight: Array,
    probability: Array,
    pools: Sequence[Pool],
    *,
    error: float = 0.0,
) -> Extremes:
    """Return what the residuals of members can add up to, in each cell and for each set.

    Parameters
    ----------
    residual, weight : arrays (n_rows,)
        Residuals per unit of weight, and positive weights.
    probability : array (n_rows, n_sets)
        That a person is in a set of categories.
    pools : sequence of Pool
        All rows, each in one of them.
    error : float
        How far shares may be off.

    >>> pool = Pool(0, np.arange(4), False)
    >>> found = extreme_sums(np.array([.5, .5, -.5, -.5]), np.ones(4), np.full((4, 1), .25), [pool])
    >>> found.lowest.item(), found.highest.item()
    (-0.5, 0.5)
    """
    n_cells = 1 + max(pool.cell for pool in pools)
    n_sets = probability.shape[1]
    lowest = np.zeros((n_cells, n_sets))
    highest = np.zeros((n_cells, n_sets))
    for pool in pools:
        rows = pool.rows
        part = 1.0 if pool.is_free else error
        step = max(1, _AT_ONCE // len(rows))
        for start in range(0, n_sets, step):
            some = slice(start, start + step)
            members = (weight[rows], probability[rows, some], part)
            highest[pool.cell, some] += _highest(residual[rows], *members)
            lowest[pool.cell, some] -= _highest(-residual[rows], *members)
    return Extremes(lowest, highest)


def _highest(residual: Array, weight: Array, probability: Array, error: float) -> Array:
    """Return the largest sum of a pool, for each set."""
    order = np.argsort(-residual, kind="stable")
    residual, weight, probability = residual[order], weight[order], probability[order]
    room = weight[:, None] * ((probability > 0) & (probability < 1))
    surely = residual * weight @ (probability == 1)
    all_room = room.sum(axis=0)
    wanted = (weight[:, None] * probability * (room > 0)).sum(axis=0)
    slack = error * weight.sum()
    # As many as raise the sum, if the shares leave that open.
    best = room[residual > 0].sum(axis=0)
    taken = np.clip(best, np.maximum(wanted - slack, 0), np.minimum(wanted + slack, all_room))
    before = np.cumsum(room, axis=0) - room
    highest: Array = surely + residual @ np.clip(taken - before, 0, room)
    return highest
