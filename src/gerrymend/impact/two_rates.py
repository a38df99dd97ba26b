"""Compare two independent rates: an interval for their ratio, and tests of their difference.

Of two binomial numbers x₁ of n₁ and x₀ of n₀ let φ = p₁/p₀.

- The interval is Koopman's (1984), which inverts the score test: all φ for which

      T(φ) = (p̂₁ − φ·p̂₀) / √(p̃₁(1 − p̃₁)/n₁ + φ²·p̃₀(1 − p̃₀)/n₀)

  is no further from 0 than the normal quantile, with p̃₁ = φ·p̃₀ the most likely rates given φ. They
  solve N·p̃₁² − b·p̃₁ + φ·x = 0 with N = n₁ + n₀, x = x₁ + x₀ and b = φ(n₁ + x₀) + x₁ + n₀. The
  smaller root is 2·φ·x / (b + √(b² − 4·φ·N·x)), in a form that cancels nothing. Unlike the interval
  of Katz, symmetric for the logarithm, it keeps its level in small groups and near 100 %
  (Fagerland, Lydersen and Laake, 2015).
- Where x₁ = 0 the lower end is 0, and the upper one is exact: the highest p₁ over the lowest p₀
  that Clopper and Pearson's intervals leave. Each is missed with a probability of at most half of
  what the level leaves, and so the ratio with no more than all of it.
- Fisher's test is the two-sided one of statistical packages: given all margins, the probability of
  the tables that are no more likely than the one that was found.
- The standard deviations are those of Hazelwood (1977): the difference of the rates over its
  standard error where both are the pooled rate.

Where rows weigh differently n is the effective number (Σ w)²/Σ w² (Kish), and there is no Fisher's
test: it is about counts.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import fisher_exact

from gerrymend._numeric.rate_intervals import rate_interval

# Factors within which the ends of an interval lie around the estimate, as logarithms.
_FARTHEST = 80.0


class Rate(NamedTuple):
    """A rate, as a number of those selected of `n` rows; both may be effective ones of weights."""

    selected: float
    n: float

    @property
    def value(self) -> float:
        """Return the rate."""
        return self.selected / self.n


def ratio_of(group: Rate, reference: Rate) -> float:
    """Return the ratio of two rates, of counts with a single rounding: 4/5 is 0.8.

    >>> ratio_of(Rate(12, 30), Rate(35, 70))
    0.8
    """
    # In fractions: a product of tiny weights may be 0 in floats.
    one, other = (Fraction(rate.selected) / Fraction(rate.n) for rate in (group, reference))
    return float(one / other)


def ratio_interval(group: Rate, reference: Rate, confidence: float) -> tuple[float, float]:
    """Return Koopman's interval for the ratio of two rates, the second of which is not 0.

    His own example has 36 of 40 and 16 of 80:

    >>> [round(end, 2) for end in ratio_interval(Rate(36, 40), Rate(16, 80), 0.95)]
    [2.94, 7.15]
    >>> low, high = ratio_interval(Rate(0, 10), Rate(9, 10), 0.95)
    >>> low, round(high, 3)
    (0.0, 0.556)
    """
    if group.selected == 0:
        return 0.0, _largest_of_none(group, reference, confidence)
    estimate = math.log(ratio_of(group, reference))
    quantile = float(ndtri(1 - (1 - confidence) / 2))

    def above(log_ratio: float) -> float:
        return _score(math.exp(log_ratio), group, reference) - quantile

    def below(log_ratio: float) -> float:
        return _score(math.exp(log_ratio), group, reference) + quantile

    # At a confidence near 0 rounding decides on which side of its quantile the estimate is.
    low = estimate if above(estimate) >= 0 else brentq(above, estimate - _FARTHEST, estimate)
    high = estimate if below(estimate) <= 0 else brentq(below, estimate, estimate + _FARTHEST)
    return math.exp(low), math.exp(high)


def _largest_of_none(group: Rate, reference: Rate, confidence: float) -> float:
    """Return the largest ratio that is left where nobody of the group is selected."""
    rates = np.array([0.0, reference.value])
    low, high = rate_interval(rates, np.array([group.n, reference.n]), confidence)
    return float(high[0] / low[1])


def _score(ratio: float, group: Rate, reference: Rate) -> float:
    """Return T(φ) of the module: how far the rates are from a ratio, in standard errors."""
    gap = group.value - ratio * reference.value
    if gap == 0:
        return 0.0
    total = group.n + reference.n
    selected = group.selected + reference.selected
    b = ratio * (group.n + reference.selected) + group.selected + reference.n
    p_reference = 2 * selected / (b + math.sqrt(max(0.0, b * b - 4 * ratio * total * selected)))
    p_reference = min(p_reference, 1.0, 1.0 / ratio)
    p_group = ratio * p_reference
    variance = (
        p_group * (1 - p_group) / group.n + ratio**2 * p_reference * (1 - p_reference) / reference.n
    )
    return gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap)


def fisher(group: Rate, reference: Rate) -> float:
    """Return the two-sided p-value of Fisher's exact test of two counted rates.

    Of the six ways to choose two of four, one has both among the first two, and one both among
    the others:

    >>> round(fisher(Rate(2, 2), Rate(0, 2)), 12)
    0.333333333333
    """
    counts = [[rate.selected, rate.n - rate.selected] for rate in (group, reference)]
    return float(fisher_exact(np.array(counts, dtype=np.int64)).pvalue)


def standard_deviations(group: Rate, reference: Rate) -> float | None:
    """Return how far the group's rate is from the other, in standard deviations; below it negative.

    None where all rows are selected, or none: there is no spread to compare with.

    >>> round(standard_deviations(Rate(9, 27), Rate(41, 68)), 3)
    -2.374
    """
    pooled = (group.selected + reference.selected) / (group.n + reference.n)
    variance = pooled * (1 - pooled) * (1 / group.n + 1 / reference.n)
    return (group.value - reference.value) / math.sqrt(variance) if variance > 0 else None


def shortfall(group: Rate, reference: Rate, part: tuple[int, int] = (4, 5)) -> float:
    """Return how many more of a group would have to be selected for a part of the other's rate.

    Of counts this is a whole number of people, worked out in whole numbers. Of weights it is a sum
    of weights.

    >>> shortfall(Rate(9, 27), Rate(41, 68)), shortfall(Rate(12, 30), Rate(35, 70))
    (5, 0)
    >>> round(shortfall(Rate(9.5, 27.5), Rate(40.5, 67.5)), 9)
    3.7
    """
    above, below = part
    if all(float(number).is_integer() for number in (*group, *reference)):
        x, n, x0, n0 = (int(number) for number in (*group, *reference))
        return max(0, -((below * x * n0 - above * x0 * n) // (below * n0)))
    return max(0.0, above / below * reference.value * group.n - group.selected)
