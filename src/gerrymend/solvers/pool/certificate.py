"""From a mixture that no subgroup was found against to one that is proven, by cutting planes.

The program is solved with no slack over the subgroups of the pool, and the Auditor proves that none
of the class exceeds gamma or names one that does. That one joins the pool, the Learner answers the
program's duals, and it starts again. Each subgroup that comes in cuts the last mixture off. What
treats all alike is never cut off: a constant, or of error rates a coin. Of mean errors there may be
no such thing, and no mixture that keeps gamma: then the Learner answers until it has nothing new.
"""

import time
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.pool.pool import Pool, PooledGroup
from gerrymend.solvers.pool.program import OutOfReach, Weighing, weigh


class Certificate(NamedTuple):
    """Keep what is proven of a mixture: no subgroup of the class exceeds `upper_bound`.

    `found` are the worst subgroups that the proofs have met, one for each notion; of a mixture that
    is refuted the last one is above gamma.
    """

    weights: Array
    upper_bound: float
    found: tuple[PooledGroup, ...]
    is_refuted: bool


# Parts of gamma that the program aims at, of which the first that it reaches is taken. Below gamma
# searches that are not exact leave less to prove, in far less time; where they are exact, that
# would only cost errors. Where zero is out of reach, as of mean errors, these may be too.
_AIMS = (0.9, 0.99, 0.999, 0.9999)
_EXACT_AIMS = _AIMS[1:]
# What a unit of unfairness costs where no mixture of the pool keeps gamma: more than errors can.
_FIRM = 1e3
# Below this the program's own tolerance is of the size of gamma.
_LEAST_GAMMA = 1e-5


def weigh_strictly(pool: Pool, gamma: float, *, exact: bool) -> Weighing:
    """Return the mixture of least error that keeps every subgroup of the pool below gamma.

    For a gamma of about 0 it is the constant, or the coin, that treats everyone alike: only that
    does so to the last digit. Where nothing in the pool keeps gamma it is the least unfair mixture.
    `exact` says that searches find the worst subgroup there is.
    """
    if gamma < _LEAST_GAMMA:
        weights = pool.fair_constant()
        if weights is not None:
            duals = np.zeros(len(pool.groups))
            return Weighing(weights, duals, float(pool.error @ weights))
    aims = _EXACT_AIMS if exact else _AIMS
    for aim in aims:
        with suppress(OutOfReach):
            return weigh(pool.error, pool.unfairness, aim * gamma, np.inf)
    return weigh(pool.error, pool.unfairness, aims[-1] * gamma, _FIRM)


def prove_mixture(
    auditor: Auditor, pool: Pool, weights: Array, gamma: float, deadline: float
) -> Certificate:
    """Prove a mixture within gamma, or find a subgroup that refutes it, before the deadline."""
    residuals = auditor.residuals(pool.decided(weights)[None], None)
    classes = [notion.subgroups for notion in auditor.notions]
    n = auditor.total_weight
    # Whatever ends it, there is a bound for every notion.
    bounds = [
        float(auditor.bounds(one, residual)[0]) / n
        for one, residual in zip(classes, residuals, strict=True)
    ]
    met: list[PooledGroup] = []
    for which, residual in enumerate(residuals):
        seconds = max(0.0, deadline - time.monotonic())
        bracket = classes[which].prove(residual[0], at_most=gamma * n, seconds=seconds)
        bounds[which] = min(bounds[which], bracket.upper_bound / n)
        found = bracket.found
        met.append(PooledGroup(which, found.members[0] > 0, found.keys[0]))
        if abs(float(found.values[0])) / n > gamma + ROUNDING:
            return Certificate(weights, max(bounds), tuple(met), is_refuted=True)
    return Certificate(weights, max(bounds), tuple(met), is_refuted=False)
