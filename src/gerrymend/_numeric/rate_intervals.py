"""The exact interval of a rate."""

import numpy as np
from scipy.special import betaincinv

from gerrymend._numeric.sums import Array


def rate_interval(rate: Array, size: Array, level: float) -> tuple[Array, Array]:
    """Return Clopper and Pearson's interval for a rate among n rows, effective ones if weighted.

    Of 10 rows that all have the outcome, the rate can be as low as 0.025^(1/10):

    >>> low, high = rate_interval(np.array([1.0]), np.array([10.0]), 0.95)
    >>> bool(abs(low[0] - 0.025 ** 0.1) < 1e-12), float(high[0])
    (True, 1.0)
    """
    tail = (1 - level) / 2
    yes = np.clip(rate * size, 0.0, size)
    no = size - yes
    # The bounds are quantiles of beta distributions, and 0 and 1 where one has no rows.
    some = yes > 0
    open_ended = no > 0
    low = np.where(some, betaincinv(np.where(some, yes, 1.0), no + 1, tail), 0.0)
    high = np.where(open_ended, betaincinv(yes + 1, np.where(open_ended, no, 1.0), 1 - tail), 1.0)
    return low, high
