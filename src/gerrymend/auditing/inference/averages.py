"""Intervals of a rate and of a mean, from the sums of `group_sums`."""

import numpy as np
from scipy.special import stdtrit

from gerrymend._numeric.rate_intervals import rate_interval
from gerrymend._numeric.sums import Array
from gerrymend.auditing.tally import NotionTally


def rate_ends(sums: Array, level: float) -> tuple[Array, Array, Array]:
    """Return the rate, 0 where there are no rows, and its interval, from Σ w, Σ w² and Σ w·u."""
    mass, squares, outcomes = sums
    there = mass > 0
    rate = np.clip(np.divide(outcomes, mass, out=np.zeros_like(mass), where=there), 0.0, 1.0)
    # Squares of very small weights are 0 beside the largest: of so little, nothing is known.
    size = np.divide(mass**2, squares, out=np.zeros_like(mass), where=there & (squares > 0))
    return rate, *rate_interval(rate, size, level)


def overall_variance(seen: NotionTally) -> float:
    """Return the variance of numbers over all rows in the event: Σ w²(u − mean)² / Σ w²."""
    assert seen.tally.spread is not None
    assert seen.tally.squared_weight is not None
    event = np.asarray(seen.notion.event, float)
    squares = float((event @ seen.tally.squared_weight).sum())
    if squares <= 0:
        return 0.0
    first, second = np.einsum("y,kym->k", event, seen.tally.spread)
    # Of a stratum the sums may be centred at the mean of all rows.
    off = float(seen.outcomes.sum() / seen.cells.mass.sum()) - seen.tally.centre
    return max(0.0, float(second - 2 * off * first) / squares + off**2)


def mean_ends(sums: Array, level: float, overall: float) -> tuple[Array, Array, Array]:
    """Return the mean, 0 where there are no rows, and Student's interval of it.

    `sums` are Σ w, Σ w², Σ w·u, Σ w²·u and Σ w²·u², and `overall` the variance of all rows.
    """
    mass, squares, outcomes, first, second = sums
    there = (mass > 0) & (squares > 0)
    mean = np.divide(outcomes, mass, out=np.zeros_like(mass), where=there)
    size = np.divide(mass**2, squares, out=np.zeros_like(mass), where=there)
    # Of about one row nothing is known; half a degree of freedom makes that wide, and finite.
    freedom = np.maximum(size - 1, 0.5)
    deviations = np.maximum(second - 2 * mean * first + mean**2 * squares, 0.0)
    # Of rows that are all alike it is not known how others differ: as much as all rows do.
    alike = deviations <= 1e-12 * np.maximum(second, 1e-300)
    deviations = np.where(alike, overall * squares, deviations)
    variance = np.divide(deviations, mass**2, out=np.zeros_like(mass), where=there)
    half = stdtrit(freedom, (1 + level) / 2) * np.sqrt(variance * (freedom + 1) / freedom)
    return mean, mean - half, mean + half


def score_ends(
    sums: Array, level: float, predicted: Array, centre: float
) -> tuple[Array, Array, Array]:
    """Return the mean error of scores of a label less `centre`, and its interval.

    What happened is a rate, with its exact interval; `predicted`, Σ w·score by group, is taken as
    it is. Labels that are 1 with different probabilities vary less, in sum, than if all had their
    mean (Hoeffding, 1956), so that the interval is wide enough.
    """
    mass, squares, outcomes, *_ = sums
    score = np.divide(predicted, mass, out=np.zeros_like(mass), where=mass > 0)
    happened = rate_ends(np.array([mass, squares, outcomes + (centre + score) * mass]), level)
    rate, low, high = (one - score - centre for one in happened)
    return rate, low, high
