"""Confidence intervals of a rate and of an unfairness, from their definitions.

They are in float64, as no fraction expresses them: a root of a polynomial of high degree, a
quantile of the normal distribution. `docs/inference.md` derives them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from gerrymend.checker.figures import TOLERANCE, Measured, Sums

Ends = tuple[float, float]


@dataclass(frozen=True)
class Intervals:
    """Hold the two ends of each interval of one group.

    Attributes
    ----------
    rate : pair of float
        The group's rate.
    gap : pair of float
        Its rate less the overall one.
    unfairness : pair of float
        Its signed unfairness, share times gap.
    """

    rate: Ends
    gap: Ends
    unfairness: Ends


def intervals_of(measured: Measured, inside: list[bool], level: float) -> Intervals:
    """Return the intervals of a group at the confidence `level`, in the units of the notion.

    With e the event's part of all weight and ḡ the group's part of the event, unfairness is c·Δ and
    the gap (1 − ḡ)·Δ, where c = e·ḡ·(1 − ḡ) and Δ is the group's rate less that of the others in
    the event. The variances of ḡ and c are those of the delta method, from sums of squared weights.
    """
    if measured.strata:
        return _over_strata(measured, inside, level)
    if measured.reference is not None:
        return _from_reference(measured, inside, level)
    group = measured.sums(inside)
    others = measured.everyone.without(group)
    of_numbers = measured.table.spread is not None
    lowest, span = (0.0, 1.0) if of_numbers else (measured.lowest, measured.span)
    mine, theirs = (
        _mean(one, level, measured.everyone) if of_numbers else _rate(one, measured, level)
        for one in (group, others)
    )
    # The ends of a difference (Newcombe): Δ is low where this rate is low and the others' is high.
    delta = _Estimate(
        mine.value - theirs.value,
        math.hypot(mine.below, theirs.above),
        math.hypot(mine.above, theirs.below),
    )
    event = measured.everyone.mass
    everyone = measured.table.total_weight
    share = float(group.mass / event)
    c = float(group.mass * others.mass / (event * everyone))
    outside_event = measured.table.total_squares - measured.everyone.squares
    var_share = (
        _squared(group.squares, event) * (1 - share) ** 2
        + _squared(others.squares, event) * share**2
    )
    # c changes by (1 − ḡ)² − c with the weight of a row in the group, by ḡ² − c with that of one of
    # the others in the event, and by −c with that of a row outside of it, over all weight.
    var_c = (
        _squared(group.squares, everyone) * ((1 - share) ** 2 - c) ** 2
        + _squared(others.squares, everyone) * (share**2 - c) ** 2
        + _squared(outside_event, everyone) * c**2
    )
    z = NormalDist().inv_cdf((1 + level) / 2)
    gap = _product(1 - share, z * math.sqrt(var_share), delta)
    unfairness = _product(c, z * math.sqrt(var_c), delta)
    return Intervals(
        rate=(lowest + span * (mine.value - mine.below), lowest + span * (mine.value + mine.above)),
        gap=(span * gap[0], span * gap[1]),
        unfairness=(span * unfairness[0], span * unfairness[1]),
    )


def _squared(squares: Fraction, whole: Fraction) -> float:
    """Return squared weights as a part of a squared whole: alone, float64 may not hold either.

    >>> _squared(Fraction(10) ** 400, Fraction(10) ** 200)
    1.0
    """
    return float(squares / whole**2)


def _from_reference(measured: Measured, inside: list[bool], level: float) -> Intervals:
    """Return the intervals of a group that is compared with a reference of the notion's own.

    Its rate less the reference is a sum of means over rows that differ: those in the group alone,
    those in the group and in that of the reference, and those in the latter alone. A number is none
    of them. Unfairness is e times that, with e the part of all weight that is in the group.
    """
    of_numbers = measured.table.spread is not None
    lowest, span = (0.0, 1.0) if of_numbers else (measured.lowest, measured.span)

    score = float(measured.score(inside))

    def estimate(sums: Sums) -> _Estimate:
        if measured.predicted is not None and measured.table.labels != (None, None):
            return _happened(sums, score, level)
        if of_numbers:
            return _mean(sums, level, measured.everyone)
        return _rate(sums, measured, level)

    group = measured.sums(inside)
    own = estimate(group)
    parts = [(group, 1.0)]
    if measured.compared is not None:
        reference = measured.sums(measured.compared)
        pairs = zip(inside, measured.compared, strict=True)
        both = measured.sums([mine and theirs for mine, theirs in pairs])
        shared = both.mass / group.mass if group.mass else Fraction(0)
        covered = both.mass / reference.mass
        parts = [
            (group.without(both), float(1 - shared)),
            (both, float(shared - measured.factor * covered)),
            (reference.without(both), float(-measured.factor * (1 - covered))),
        ]
    below = above = 0.0
    for sums, coefficient in parts:
        one = estimate(sums)
        ends = (one.below, one.above) if coefficient >= 0 else (one.above, one.below)
        below = math.hypot(below, coefficient * ends[0])
        above = math.hypot(above, coefficient * ends[1])
    figures = measured.figures(inside)
    apart = _Estimate(float(figures.gap) / span, below, above)
    everyone = measured.table.total_weight
    share = float(group.mass / everyone)
    rest = measured.table.total_squares - group.squares
    variance = (
        _squared(group.squares, everyone) * (1 - share) ** 2 + _squared(rest, everyone) * share**2
    )
    z = NormalDist().inv_cdf((1 + level) / 2)
    unfairness = _product(share, z * math.sqrt(variance), apart)
    return Intervals(
        rate=(
            score + lowest + span * (own.value - own.below),
            score + lowest + span * (own.value + own.above),
        ),
        gap=(span * (apart.value - below), span * (apart.value + above)),
        unfairness=(span * unfairness[0], span * unfairness[1]),
    )


def _over_strata(measured: Measured, inside: list[bool], level: float) -> Intervals:
    """Return the intervals of a group that is compared within strata.

    Its unfairness is the sum of each stratum's, by its part of all weight; rows of two strata are
    independent, so that distances to an end add in squares.
    """
    alone = intervals_of(replace(measured, strata=()), inside, level)
    figures = measured.figures(inside)
    reach = [0.0, 0.0]
    for part in measured.strata:
        weight = float(part.table.total_weight / measured.table.total_weight)
        value = float(part.figures(inside).unfairness)
        for side, end in enumerate(intervals_of(part, inside, level).unfairness):
            reach[side] += (weight * (end - value)) ** 2
    middle = float(figures.unfairness)
    ends = (middle - math.sqrt(reach[0]), middle + math.sqrt(reach[1]))
    share = float(figures.share) or 1.0
    return Intervals(alone.rate, (ends[0] / share, ends[1] / share), ends)


def wrong_intervals(
    stated: Mapping[str, Any],
    names: Sequence[str],
    measured: Measured,
    inside: list[bool],
    level: float,
) -> Iterator[str]:
    """Yield a sentence for each stated interval of these names that is not that of the group."""
    intervals = intervals_of(measured, inside, level)
    most = float(TOLERANCE * measured.scale)
    for name in names:
        ends = getattr(intervals, name.removesuffix("_interval"))
        told = stated[name]
        if told is None or any(abs(a - b) > most for a, b in zip(told, ends, strict=True)):
            yield f"its {name} is stated as {told!r}, and is {list(ends)!r}."


@dataclass(frozen=True)
class _Estimate:
    """Hold a value, and the distance to which its interval reaches on either side."""

    value: float
    below: float
    above: float


def _rate(sums: Sums, measured: Measured, level: float) -> _Estimate:
    """Return a rate, scaled to lie between 0 and 1, with its Clopper–Pearson interval.

    Weighted rows count as Kish's effective number of them, (Σw)²/Σw². Without weight the rate can
    be anything.
    """
    if not sums.mass:
        return _Estimate(0.0, 0.0, 1.0)
    rate = (sums.outcome / sums.mass - Fraction(measured.lowest)) / Fraction(measured.span)
    size = float(sums.mass**2 / sums.squares)
    low, high = clopper_pearson(float(rate) * size, float(1 - rate) * size, (1 - level) / 2)
    return _Estimate(float(rate), float(rate) - low, high - float(rate))


def _happened(sums: Sums, score: float, level: float) -> _Estimate:
    """Return the mean error of scores of a label, with the interval of what happened.

    That is a rate, the error and the mean score together, and the score is taken as it is.
    """
    if not sums.mass:
        return _Estimate(0.0, 0.0, 1.0)
    error = float(sums.outcome / sums.mass)
    rate = min(1.0, max(0.0, error + score))
    size = float(sums.mass**2 / sums.squares)
    low, high = clopper_pearson(rate * size, (1 - rate) * size, (1 - level) / 2)
    return _Estimate(error, rate - low, high - rate)


def _mean(sums: Sums, level: float, everyone: Sums) -> _Estimate:
    """Return a mean of numbers with Student's interval.

    Its variance is Σw²(u − mean)² / (Σw)², times n/(n − 1) for n effective rows, and half a degree
    of freedom stands for fewer; of rows that are all alike it is that of everyone's. The quantile
    follows from |t|² = f·(1 − x)/x, with x a quantile of the beta distribution of f/2 and 1/2.
    """
    if not sums.mass:
        return _Estimate(0.0, 0.0, 0.0)
    mean = sums.outcome / sums.mass
    squared = sums.second - 2 * mean * sums.first + mean**2 * sums.squares
    if squared == 0 and everyone.mass:
        centre = everyone.outcome / everyone.mass
        about = everyone.second - 2 * centre * everyone.first + centre**2 * everyone.squares
        squared = about / everyone.squares * sums.squares
    freedom = max(float(sums.mass**2 / sums.squares) - 1, 0.5)
    x = beta_quantile(freedom / 2, 0.5, 1 - level)
    t = math.sqrt(freedom * (1 - x) / x)
    half = t * math.sqrt(float(squared / sums.mass**2) * (freedom + 1) / freedom)
    return _Estimate(float(mean), half, half)


def _product(factor: float, spread: float, delta: _Estimate) -> Ends:
    """Return the interval of factor·Δ, the factor's own symmetric on a logarithmic scale."""
    ratio = spread / factor if factor > 0 else 0.0
    # The factor times e^±ratio: positive at both ends, as the factor is.
    up = factor * math.expm1(ratio)
    down = -factor * math.expm1(-ratio)
    towards_low, towards_high = (down, up) if delta.value > 0 else (up, down)
    return (
        factor * delta.value - math.hypot(factor * delta.below, delta.value * towards_low),
        factor * delta.value + math.hypot(factor * delta.above, delta.value * towards_high),
    )


@lru_cache(maxsize=4096)
def clopper_pearson(yes: float, no: float, tail: float) -> Ends:
    """Return the rates that make so many outcomes as unlikely as `tail`, from either side.

    `yes` and `no` may be fractions of rows, as effective sizes are.

    Of 10 rows that all have the outcome the rate can be as low as tail^(1/10):

    >>> low, high = clopper_pearson(10.0, 0.0, 0.025)
    >>> abs(low - 0.025 ** 0.1) < 1e-12, high
    (True, 1.0)
    """
    low = beta_quantile(yes, no + 1, tail) if yes > 0 else 0.0
    high = 1 - beta_quantile(no, yes + 1, tail) if no > 0 else 1.0
    return low, high


def beta_quantile(a: float, b: float, tail: float) -> float:
    """Return the x at which the beta distribution has `tail` below it.

    Takes Newton's steps, and bisects the bracket where one would leave it.

    >>> round(beta_quantile(2.0, 1.0, 0.25), 12)  # x² = 1/4
    0.5
    """
    low = 0.0
    high = 1.0
    x = a / (a + b)
    log_scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    for _ in range(200):
        off = beta_below(a, b, x) - tail
        # The distribution function grows, so that the sign of `off` says on which side the quantile
        # is.
        low, high = (low, x) if off > 0 else (x, high)
        slope = math.exp(log_scale + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x))
        following = x - off / slope if slope > 0 else low
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - x) <= 1e-15 or not 0 < following < 1:
            return following
        x = following
    return x


def beta_below(a: float, b: float, x: float) -> float:
    """Return the part of the beta distribution that is below x, from its continued fraction.

    >>> round(beta_below(2.0, 1.0, 0.5), 12), round(beta_below(1.0, 2.0, 0.5), 12)
    (0.25, 0.75)
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction of the other side converges quickly
        return 1 - beta_below(b, a, 1 - x)
    log_front = a * math.log(x) + b * math.log1p(-x)
    log_front += math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b)
    # Lentz's method: `tiny` stands for a zero denominator, which the next step cancels.
    tiny = 1e-300
    numerator = 1.0
    denominator = 1 - (a + b) * x / (a + 1)
    denominator = 1 / (denominator or tiny)
    value = denominator
    for m in range(1, 100_000):
        for coefficient in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            denominator = 1 / ((1 + coefficient * denominator) or tiny)
            numerator = (1 + coefficient / numerator) or tiny
            value *= numerator * denominator
        if abs(numerator * denominator - 1) < 1e-15:
            break
    return math.exp(log_front) * value
