"""Check of what a report says of the people behind the rows.

A quantile of resamples can't be recomputed without drawing them again. What follows from it is
worked out here, and so is that it isn't too small to be one: the farthest of all subgroups is at
least as far as the worst one, whose own distance is normal in large samples.
"""

import math
from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import exact
from gerrymend.checker.figures import Measured
from gerrymend.checker.references import moved_by_one
from gerrymend.checker.rules import RuleError, members

# A figure is called impossible if chance makes it so less often than this.
_NEVER = 1e-9


def check_population(case: Case) -> None:
    """Check the bounds for the people, their verdict and the rows that would be needed."""
    population = case.stated["population"]
    if population is None:
        case.leave("population", "that no bound for the people behind the rows was asked for")
        return
    case.problem(*_wrong_bounds(population, case))
    case.leave(
        "population.confidence population.distance population.n_resamples population.approximate "
        "population.reason",
        "the distance can be one, and its bounds and verdict follow from it; the resamples were "
        "not drawn again",
    )


def _wrong_bounds(population: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield what doesn't follow from the stated distance, or that it can't be one."""
    stated = case.stated
    distance = population["distance"]
    lower = upper = needed = None
    verdict = "undecided"
    if (distance is None) != (population["reason"] is not None):
        yield "population states a distance and why there is none, or neither."
    if distance is not None:
        lower = max(0.0, stated["unfairness"] - distance)
        upper = stated["upper_bound"] + distance
        gamma = stated["gamma"]
        rounding = float(case.rounding)
        if lower > gamma + rounding:
            verdict = "exceeds gamma"
        elif upper <= gamma + rounding:
            verdict = "within gamma"
        else:
            needed = _rows_needed(stated, distance, rounding)
        yield from _impossible(population, case)
    implied = {"lower_bound": lower, "upper_bound": upper}
    for name, value in implied.items():
        told = population[name]
        same = told is value or (None not in (told, value) and abs(told - value) <= case.tolerance)
        if not same:
            yield f"population.{name} is stated as {told!r}, and is {value!r}."
    if population["verdict"] != verdict:
        yield f"population.verdict is stated as {population['verdict']!r}, and is {verdict!r}."
    told = population["rows_needed"]
    if (told is None) != (needed is None) or (needed is not None and told not in needed):
        shown = None if needed is None else needed[-1]
        yield f"population.rows_needed is stated as {told!r}, and is {shown!r}."


def _rows_needed(stated: Mapping[str, Any], distance: float, rounding: float) -> range | None:
    """Return n·(distance / room)², rounded up: distances shrink with the root of the rows' number.

    As a range, of one number but where the quotient is whole up to rounding of floats.
    """
    room = max(stated["unfairness"] - stated["gamma"], stated["gamma"] - stated["upper_bound"])
    if room <= rounding:
        return None
    # A distance that can't be one may be of any size, and so must not overflow.
    rows = stated["n_rows"] * min(distance / room, 1e50) ** 2
    return range(max(1, math.ceil(rows * (1 - 2e-9))), max(1, math.ceil(rows)) + 1)


def _impossible(population: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield a sentence if there are too few resamples, or the distance is too small for them."""
    confidence = population["confidence"]
    made = population["n_resamples"]
    distance = population["distance"]
    place = math.ceil(confidence * (made + 1) * (1 - 1e-12))
    if place > made:
        yield f"population.n_resamples is stated as {made}, too few for {confidence:g}."
        return
    # An outcome of this probability is missed by so many rows with 1 − confidence.
    notions = {notion["name"]: notion for notion in case.stated["notions"]}
    moved = max(
        (
            moved_by_one(seen, notions[name].get("reference"))
            for name, seen in case.measured.items()
        ),
        default=1.0,
    )
    unseen = -math.log1p(-confidence) / case.table.n_rows * moved
    if distance < unseen * (1 - 1e-9):
        yield f"population.distance is stated as {distance!r}, and is at least {unseen!r}."
    sd = _deviation(case)
    if sd is None or sd == 0:
        return
    # A resample is as near as the quantile with at most this probability, and `place` of them are.
    near = NormalDist().cdf(distance / sd) * 2 - 1
    # Where one side counts, distances to the other side are near whatever their size.
    if case.stated["side"] == "disadvantaged":
        near = NormalDist().cdf(distance / sd)
    if _at_least(place, made, near) < _NEVER:
        yield (
            f"population.distance is stated as {distance!r}; the worst subgroup alone, with a "
            f"standard deviation of {sd:.3g}, would be farther in too many resamples."
        )


def _deviation(case: Case) -> float | None:
    """Return the standard deviation of the worst subgroup's unfairness; None if it is not known.

    To first order unfairness is the mean of ψ = 1_E·(g − ḡ)·(u − r), with ḡ the group's part of the
    event and r the overall rate. Of equal rows with outcomes of 0 and 1, u² = u.
    """
    worst = case.stated["worst"]
    seen: Measured | None = case.measured.get(worst["notion"]) if worst else None
    if seen is None or not seen.table.is_count or seen.kinds > 2:
        return None
    if seen.strata or seen.table.spread is not None or seen.reference is not None:
        return None
    try:
        group = seen.sums(members(worst["rule"], case.table))
    except RuleError:
        return None
    others = seen.everyone.without(group)
    if min(group.rows, others.rows) < 100:  # too few to be normal
        return None
    share = group.mass / seen.everyone.mass
    rate = (seen.overall_rate - exact(seen.lowest)) / exact(seen.span)
    # Σ ψ² in two parts: g − ḡ is 1 − ḡ in the group and −ḡ outside of it, and in each of them
    # Σ (u − r)² = (1 − 2r)·Σ u + r²·mass, as u² = u.
    squares = exact(0.0)
    for sums, factor in ((group, 1 - share), (others, share)):
        outcome = (sums.outcome - exact(seen.lowest) * sums.mass) / exact(seen.span)
        squares += factor**2 * (outcome * (1 - 2 * rate) + rate**2 * sums.mass)
    n = case.table.total_weight
    # The mean of ψ is the unfairness itself, so that Var ψ = E ψ² − unfairness², over all rows: ψ
    # is 0 outside of the event. The variance of a mean of n rows is the n-th part of that.
    value = exact(abs(worst["unfairness"])) / exact(seen.span)
    return seen.span * math.sqrt(max(0.0, float(squares / n - value**2)) / float(n))


def _at_least(k: int, n: int, p: float) -> float:
    """Return the probability that at least k of n happen, each with probability p.

    >>> round(_at_least(2, 2, 0.5), 12), _at_least(0, 5, 0.1)
    (0.25, 1.0)
    """
    if p >= 1 or k <= 0:
        return 1.0
    if p <= 0:
        return 0.0
    # From logarithms: binomial coefficients of many resamples are too large for a float.
    terms = (
        math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1)
        + i * math.log(p) + (n - i) * math.log1p(-p)
        for i in range(k, n + 1)
    )  # fmt: skip
    return min(1.0, math.fsum(map(math.exp, terms)))
