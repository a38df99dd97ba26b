"""Say how many rows would tell what so many can't, from distances that resamples show."""

import math
from collections.abc import Sequence

from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.inputs.settings import check_fraction


def quantile(ordered: Sequence[float], probability: float) -> float:
    """Return the ⌈probability·(B + 1)⌉-th smallest of B values, which are in order.

    One more value that nothing tells apart from these is at most that with this probability, or a
    larger one.

    >>> quantile([1.0, 2.0, 3.0], 0.5), quantile(range(1, 20), 0.95)
    (2.0, 19)
    """
    return ordered[rank(probability, len(ordered)) - 1]


def rank(probability: float, n: int) -> int:
    """Return which of n values in order is the quantile; more than n where they are too few."""
    # One more value falls into each of the n + 1 gaps alike: it is at most the k-th with
    # k/(n + 1), which is enough from k ≥ probability·(n + 1) on. A product that is whole but for
    # rounding must not be taken up to the next place.
    return math.ceil(probability * (n + 1) * (1 - 1e-12))


def rows_to_tell(
    n: int,
    distance: float,
    unfairness: float,
    upper_bound: float,
    gamma: float,
    rounding: float = ROUNDING,
) -> int | None:
    """Return the number of rows at which a distance, now that of n rows, no longer hides gamma.

    Distances shrink with the root of the number of rows, and are to be no larger than the room
    between gamma and what is known on the rows: n' = n·(distance / room)². None where there is no
    room, as the rows themselves are undecided or exactly at gamma.

    >>> rows_to_tell(1_000, 0.02, unfairness=0.02, upper_bound=0.02, gamma=0.01)
    4000
    >>> rows_to_tell(1_000, 0.02, unfairness=0.005, upper_bound=0.02, gamma=0.01) is None
    True
    """
    # At most one is positive, as unfairness ≤ upper_bound: gamma lies below both, above both, or
    # between them, and then no number of rows tells.
    room = max(unfairness - gamma, gamma - upper_bound)
    if room <= rounding:
        return None
    # 10⁻⁹ for quotients that are whole up to rounding.
    return max(1, math.ceil(n * (distance / room) ** 2 * (1 - 1e-9)))


def rows_for_power(
    distance: float,
    distances: Sequence[float],
    n: int,
    *,
    unfairness: float,
    upper_bound: float,
    gamma: float,
    power: float,
    rounding: float = ROUNDING,
) -> int | None:
    """Return how many rows would tell with a probability of `power`; see AuditReport.rows_needed.

    `distance` is that of the confidence, and `distances` those of the resamples of n rows, in
    increasing order.

    Let U be the largest unfairness of the people, and c_q the quantile q of distances for n rows,
    c_q·√(n/n') for n' rows. In a sample of n' rows the largest is within c_power·√(n/n') of U with
    that probability, as no subgroup is farther from its own. The audit tells if it is more than
    c_confidence·√(n/n') from gamma, which follows where (c_confidence + c_power)·√(n/n') is at most
    |gamma − U|. This holds for any distribution of distances; it is more rows than would do where
    the largest varies less than the farthest of all.
    """
    power = check_fraction(power, "power", remedy="It is a probability: 0.8, for example.")
    made = len(distances)
    if rank(power, made) > made:
        raise ArgumentError(
            "power", f"must be at most {made / (made + 1):.4g} with {made} resamples; got {power}."
        )
    both = distance + quantile(distances, power)
    return rows_to_tell(n, both, unfairness, upper_bound, gamma, rounding)
