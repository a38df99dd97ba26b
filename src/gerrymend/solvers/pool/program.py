"""The linear program that weighs the classifiers of a pool against the subgroups of a pool.

    min  err·q + C·s   over q ≥ 0, Σ q = 1, s ≥ 0,   with |v_g·q| ≤ γ + s for every subgroup g,

v_g the signed unfairness of g under each classifier. It is the game itself, played with what is in
the pools; its value is what the mixture q is worth to an Auditor who knows no other subgroup. The
dual of the constraints of g is λ_g, so Σ λ ≤ C; min over the pool of L(h, λ) is the value too.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from gerrymend._numeric.sums import Array

# Weights below this are rounding of the simplex method.
_NEGLIGIBLE = 1e-9
# What SciPy says of constraints that nothing meets.
_INFEASIBLE = 2


class OutOfReach(Exception):  # noqa: N818
    """No mixture of the pool keeps gamma to every subgroup of the pool."""


class Weighing(NamedTuple):
    """A solution: weights of the classifiers, signed duals λ⁻ − λ⁺ of the subgroups, the value."""

    weights: Array
    duals: Array
    value: float


def weigh(error: Array, unfairness: Array, gamma: float, C: float) -> Weighing:
    """Solve the program; `unfairness` has a row for each subgroup, a column for each classifier.

    The simplex method returns a vertex, so at most one classifier more than there are subgroups
    has weight. With C=∞ no subgroup of the pool may exceed gamma. By most notions the constant
    classifiers, fair to everyone, keep that feasible if they are in the pool; where nothing does,
    as may be of mean errors, OutOfReach is raised.

    Two classifiers, of errors 0 and 1/2, the first unfair by 0.2 to the only subgroup:

    >>> weigh(np.array([0.0, 0.5]), np.array([[0.2, 0.0]]), gamma=0.1, C=10.0).weights.tolist()
    [0.5, 0.5]
    """
    n_groups, n_classifiers = unfairness.shape
    if n_groups == 0:
        best = int(np.argmin(error))
        return Weighing(np.eye(n_classifiers)[best], np.zeros(0), float(error[best]))
    hard = not np.isfinite(C)
    cost = error if hard else np.append(error, C)
    slack = np.full((2 * n_groups, 0 if hard else 1), -1.0)
    solution = linprog(
        cost,
        A_ub=np.hstack([np.vstack([unfairness, -unfairness]), slack]),
        b_ub=np.full(2 * n_groups, gamma),
        A_eq=np.append(np.ones(n_classifiers), np.zeros(slack.shape[1]))[None],
        b_eq=[1.0],
        method="highs-ds",
    )
    if hard and solution.status == _INFEASIBLE:
        raise OutOfReach
    if not solution.success:
        raise RuntimeError(f"The linear program of the pools failed: {solution.message}")
    weights = np.asarray(solution.x)[:n_classifiers]
    weights = np.where(weights > _NEGLIGIBLE, weights, 0.0)
    too_high, too_low = np.split(-solution.ineqlin.marginals, 2)
    return Weighing(
        weights / weights.sum(), too_high - too_low, float(cost @ np.asarray(solution.x))
    )
