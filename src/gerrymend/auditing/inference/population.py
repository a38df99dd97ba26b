"""Bound the unfairness of every subgroup for the people that the rows were drawn from.

Let v_g be the unfairness of subgroup g on the rows, V_g that for the people and v*_g that in a
resample, as many rows drawn from the rows with replacement. The distribution of v* − v given the
rows is, in large samples, that of v − V (the bootstrap of an empirical process, over a class that
is no richer than these: Giné and Zinn, 1990). So the quantile c of

    D* = max_g |v*_g − v_g|

over resamples is exceeded by max_g |v_g − V_g| in no more than 1 − confidence of samples. Hence
with that confidence no subgroup of the people exceeds (upper bound on the rows) + c, and the one
that was found exceeds (its unfairness on the rows) − c: for all subgroups at once, and so for the
one that was chosen for looking worst. c is no less than what outcomes can make that no row has.

v is linear in residuals. With W* and n* of the resample v*_g − v_g is the sum over g of
W*/n* − W/n: it is a residual itself, and D* what the class's own search finds in it. A reference of
a notion's own is, in W*, that of the resample: a number stays, and a group's mean is drawn anew. Of
several notions D* is the maximum. Where only one side counts it is max_g s·(v_g − v*_g), which
stands for s·(V_g − v_g), the side on which a bound can fail.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.workers import Common, Workers
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.inference.drawing import largest_values, rounds
from gerrymend.auditing.inference.planning import quantile, rank, rows_for_power, rows_to_tell
from gerrymend.auditing.inference.resampling import Resampler, no_resamples
from gerrymend.auditing.tally import NotionTally, Tally, largest_rounding
from gerrymend.auditing.verdict import UNDECIDED, verdict
from gerrymend.inputs.settings import check_fraction, check_whole
from gerrymend.subgroups.base import BoundClass

# Resamples that an audit makes where it is not said how many.
N_RESAMPLES = 400


@dataclass(frozen=True)
class PopulationBound:
    """Bound what holds of the people that rows were drawn from, for all subgroups at once.

    Attributes
    ----------
    confidence : float
        The probability, over samples of independent rows, with which both bounds hold. It is that
        of a bootstrap: right in large samples (docs/inference.md has how right in smaller ones).
    n_resamples : int
        Resamples that were drawn; fewer than asked for where time was up.
    distance : float or None
        No subgroup's unfairness is farther from what it is on the rows; None where `reason` says
        why that can't be told.
    lower_bound, upper_bound : float or None
        The largest unfairness of a subgroup is between these.
    verdict : {"within gamma", "exceeds gamma", "undecided"}
        What that tells of the people.
    rows_needed : int or None
        Where it tells neither, about how many rows like these would at least; None where no number
        of rows would as long as the audit itself ends undecided, or exactly at gamma.
    approximate : bool
        Whether `distance` is of what a search found in resamples, which may be less than there is.
    reason : str
        Why there is no bound.
    distances : tuple of float
        The largest distance in each resample, in increasing order.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0] * 800, [1, 1, 1, 0] * 100 + [0, 0, 0, 1] * 100, confidence=0.95,
    ...                subgroups="marginals", gamma=0.05,
    ...                sensitive_features={"race": ["blue"] * 400 + ["green"] * 400})
    >>> report.unfairness, round(report.population_bound, 3), report.population.verdict
    (0.125, 0.141, 'exceeds gamma')
    """

    confidence: float
    n_resamples: int
    distance: float | None = None
    lower_bound: float | None = None
    upper_bound: float | None = None
    verdict: str = UNDECIDED
    rows_needed: int | None = None
    approximate: bool = False
    reason: str = ""
    distances: tuple[float, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as plain data."""
        return {
            "confidence": self.confidence,
            "n_resamples": self.n_resamples,
            "distance": self.distance,
            "lower_bound": self.lower_bound,
            "upper_bound": self.upper_bound,
            "verdict": self.verdict,
            "rows_needed": self.rows_needed,
            "approximate": self.approximate,
            "reason": self.reason or None,
        }


def fewest_resamples(confidence: float) -> int:
    """Return how many resamples have a quantile of this confidence: ⌈confidence·(B + 1)⌉ ≤ B.

    >>> fewest_resamples(0.95), fewest_resamples(0.99), fewest_resamples(0.5)
    (19, 99, 1)
    """
    # B is whole, so ⌈c·(B + 1)⌉ ≤ B just where c·(B + 1) ≤ B, which is B ≥ c/(1 − c).
    # Products that are whole up to rounding are taken as whole.
    return max(1, math.ceil(confidence / (1 - confidence) * (1 - 1e-12)))


def check_resampling(confidence: Any, n_resamples: Any) -> dict[str, Any]:
    """Check a confidence, or None, and a number of resamples that is enough for it."""
    n_resamples = check_whole(n_resamples, "n_resamples", low=1)
    if confidence is not None:
        remedy = "0.95 for 95 %, for example; leave it out for no bound."
        confidence = check_fraction(confidence, "confidence", remedy=remedy)
        if n_resamples < (fewest := fewest_resamples(confidence)):
            raise ArgumentError(
                "n_resamples",
                f"must be at least {fewest:,} for a confidence of {confidence:g}; got "
                f"{n_resamples}. {N_RESAMPLES} will do for 0.95.",
            )
    return {"confidence": confidence, "n_resamples": n_resamples}


def population_bound(
    tally: Tally,
    examined: Sequence[Examined],
    *,
    unfairness: float,
    upper_bound: float,
    gamma: float,
    confidence: float,
    n_resamples: int = N_RESAMPLES,
    seconds: float = math.inf,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_draw: Callable[[int, int], None] | None = None,
) -> PopulationBound:
    """Bound the unfairness of every subgroup for the people behind the rows.

    Parameters
    ----------
    tally : Tally
        The rows, as counts or one by one.
    examined : sequence of Examined
        What the audit made of each notion: the class, bound to its cells.
    unfairness, upper_bound : float
        The largest unfairness that was found on the rows, and what none exceeds there.
    gamma : float
        What is allowed.
    confidence : float
        Between 0 and 1.
    n_resamples : int, default=400
        At least `fewest_resamples(confidence)`.
    seconds : float, default=inf
        After so many it ends with the resamples that were made by then, of which one that was cut
        short counts as the farthest that it can be.
    random_state, n_jobs, on_draw
        As in audit().
    """
    if reason := no_resamples(tally):
        return PopulationBound(confidence, 0, reason=reason)
    deadline = time.monotonic() + seconds
    searches = _Searches.of(examined, random_state)
    distances = _distances(searches, n_resamples, deadline, n_jobs, on_draw)
    made = len(distances)
    if made < fewest_resamples(confidence):
        late = f"{made} resamples are all that {seconds:g} s had time for (budget, --budget)"
        return PopulationBound(confidence, made, reason=late)
    proven = _proven(searches, distances, rank(confidence, made), deadline)
    ordered = sorted(distances)
    distance = max(quantile(ordered, confidence), _unseen(tally, examined, confidence))
    # |max f − max h| ≤ max |f − h|: where no subgroup is farther than `distance` from its
    # unfairness among the people, neither is the largest. What was found is at most the largest on
    # the rows, and what was proven at least that: each moves by the distance to its own side.
    lower = max(0.0, unfairness - distance)
    upper = upper_bound + distance
    rounding = searches.rounding
    told = verdict(lower, upper, gamma, rounding)
    needed = None
    if told == UNDECIDED:
        n = int(tally.n_rows.sum())
        needed = rows_to_tell(n, distance, unfairness, upper_bound, gamma, rounding)
    return PopulationBound(
        confidence=confidence,
        n_resamples=made,
        distance=distance,
        lower_bound=lower,
        upper_bound=upper,
        verdict=told,
        rows_needed=needed,
        approximate=not proven,
        distances=tuple(ordered),
    )


def planned_rows(
    population: PopulationBound | None, n: int, *, power: float, **found: float
) -> int | None:
    """Return what `AuditReport.rows_needed` does; `found` is as `rows_for_power` takes it."""
    if population is None or population.distance is None:
        why = population.reason if population else "confidence=0.95 asks audit() for them"
        raise ValueError(f"rows_needed() plans by resamples, and there are none: {why}.")
    return rows_for_power(population.distance, population.distances, n, power=power, **found)


def _unseen(tally: Tally, examined: Sequence[Examined], confidence: float) -> float:
    """Return the distance that outcomes can make which no row has, and so no resample.

    What has the probability p is missed by n rows with (1 − p)ⁿ ≤ exp(−n·p): with this confidence
    p is at most −ln(1 − confidence)/n. It matters where outcomes are rare: with none among the
    rows all resamples are alike, and the bootstrap would tell a distance of 0.
    """
    # So many people may have any outcome: a mean moves by that part of its range at most.
    widest = max(_moved_by_one(part.seen) for part in examined)
    return -math.log1p(-confidence) / int(tally.n_rows.sum()) * widest


def _moved_by_one(seen: NotionTally) -> float:
    """Return how far the unseen move a value, for each part of all rows that they are.

    It is how far an outcome can be from what it is compared with and, of a group's mean, how far
    that moves for all others as well: more where the group is a smaller part of the rows.
    """
    low, high = seen.outcome_range
    group = seen.compared.group
    moved = seen.compared.reach(low, high)
    if group is not None:
        mass = seen.cells.mass
        share = float(mass[group[seen.cells.active]].sum() / mass.sum())
        moved += seen.compared.factor * (high - low) / share
    return moved


def _distances(
    searches: "_Searches",
    n_resamples: int,
    deadline: float,
    n_jobs: int | None,
    on_draw: Callable[[int, int], None] | None,
) -> list[float]:
    """Draw and search until all resamples are made or it is too late."""
    width = sum(map(len, searches.residuals))
    sent = Common(searches)
    distances: list[float] = []
    with Workers(n_jobs) as workers:
        for blocks in rounds(n_resamples, workers=workers.number, width=width, deadline=deadline):
            left = max(0.0, deadline - time.monotonic())
            for some in workers(_search, [(sent, draws, left) for draws in blocks]):
                distances += some
            if on_draw is not None:
                on_draw(len(distances), n_resamples)
    return distances


def _search(searches: Common["_Searches"], draws: range, seconds: float) -> list[float]:
    return searches.value.distances(draws, seconds)


def _proven(searches: "_Searches", distances: list[float], place: int, deadline: float) -> bool:
    """Prove that the distance of a place in the order is no less than it is by true maxima.

    A search that is not exact may end below the maximum of a resample. The quantile c is right if
    in as many resamples as its place says no subgroup exceeds c. Each is put to a proof; one that
    is refuted has its larger distance entered, so that c can only grow, and what was proven of
    smaller ones stays true. The first that is not decided in its share of the time ends it.
    """
    if searches.exact:
        return True
    open_draws = set(range(len(distances)))
    shown = 0
    while shown < place:
        c = sorted(distances)[place - 1]
        draw = min(open_draws, key=lambda number: distances[number])
        if distances[draw] > c:  # all that are at or below c have been proven
            return False
        seconds = (deadline - time.monotonic()) / (place - shown)
        larger = searches.exceeding(draw, c, seconds) if seconds > 0 else None
        if larger is None:
            return False
        if larger > c:
            distances[draw] = larger
        else:
            open_draws.remove(draw)
            shown += 1
    return True


def _searched(part: Examined) -> BoundClass:
    """Return the side of the class that counts, or both sides where one can't be searched alone."""
    alone = not part.sign or part.bound.exact or part.bound.is_closed
    return part.bound if alone or part.subgroups is None else part.seen.bind(part.subgroups)


@dataclass(frozen=True, eq=False)
class _Searches:
    """The state that a worker needs to search resamples, and no more."""

    bounds: list[BoundClass]
    residuals: list[Array]
    n: float
    resampler: Resampler
    rounding: float

    @classmethod
    def of(cls, examined: Sequence[Examined], seed: int) -> "_Searches":
        """Prepare to draw from the rows, or from their counts where these say all."""
        seen = [part.seen for part in examined]
        return cls(
            [_searched(part).quick for part in examined],
            [part.residual for part in seen],
            seen[0].cells.total_weight,
            Resampler(seen, seed),
            largest_rounding(seen),
        )

    @property
    def exact(self) -> bool:
        """Return whether the search of each notion finds the maximum itself."""
        return all(bound.exact for bound in self.bounds)

    def distances(self, draws: range, seconds: float) -> list[float]:
        """Return the largest distance in each resample, over notions."""
        deadline = time.monotonic() + seconds
        stacked = zip(*(self._differences(draw) for draw in draws), strict=True)
        found = [
            largest_values(bound, np.array(differences), deadline)
            for bound, differences in zip(self.bounds, stacked, strict=True)
        ]
        largest: list[float] = (np.max(found, axis=0) / self.n).tolist()
        return largest

    def _differences(self, draw: int) -> list[Array]:
        """Return n·(W/n − W*/n*) of each notion, a residual like W."""
        resample = self.resampler.draw(draw)
        # The unfairness of g is ⟨g, W⟩/n on the rows and ⟨g, W*⟩/n* in a resample. n times their
        # difference is ⟨g, W − (n/n*)·W*⟩, linear in g like an unfairness: the search for the
        # worst subgroup finds the one that is farthest off.
        factor = self.n / resample.total_weight
        return [
            residual - factor * drawn
            for residual, drawn in zip(self.residuals, resample.residuals, strict=True)
        ]

    def exceeding(self, draw: int, distance: float, seconds: float) -> float | None:
        """Return a distance above this one, or this one if it is none's; None if undecided."""
        limit = (distance + self.rounding) * self.n
        differences = self._differences(draw)
        deadline = time.monotonic() + seconds
        for bound, difference in zip(self.bounds, differences, strict=True):
            left = max(0.0, deadline - time.monotonic())
            bracket = bound.prove(difference, at_most=limit, seconds=left)
            found = abs(float(bracket.found.values[0]))
            if found > limit:
                return found / self.n
            # Neither seen above the limit nor proven below it: what is open is no proof.
            if bracket.upper_bound > limit:
                return None
        return distance
