"""Search blocks of permuted outcomes: what a worker of a permutation test does."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.workers import Common
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.inference.drawing import largest_values
from gerrymend.auditing.inference.shuffles import Shuffle, shuffle_of
from gerrymend.auditing.inference.simulations import simulation_of
from gerrymend.auditing.inference.standing_out import NamedGroups
from gerrymend.auditing.tally import NotionTally, Tally, largest_rounding
from gerrymend.subgroups.base import BoundClass


class Searched(NamedTuple):
    """The result of a block of draws: values, how many reach the maximum, if that was decided.

    `maxima` has by how many deviations the group that stands out most is off, in each draw.
    """

    values: list[float]
    maxima: list[float]
    reached: int
    decided: bool


def search(
    searches: Common["Searches"], draws: range, seconds: float, patience: float, prove: bool
) -> Searched:
    """Search some draws, in a worker; parameters are those of `Searches.search`."""
    return searches.value.search(draws, seconds, patience, prove)


def maxima_of(searches: Common["Searches"], draws: range) -> list[float]:
    """Return how many deviations who stands out most is off, for each draw, in a worker."""
    return searches.value.maxima(draws)


def reaching(searches: Common["Searches"], draws: range, seconds: float) -> int:
    """Count the draws that may reach the maximum, in a worker; see `Searches.reaching`."""
    return searches.value.reaching(draws, seconds)


@dataclass(frozen=True, eq=False)
class Searches:
    """The state that a worker needs to search draws, and no more.

    `events` has the notions that share an event, by number, and `shuffles` deals the outcomes of
    each; `named` are the groups that may stand out; `maximum` is the exact one, if it is known.
    """

    seen: list[NotionTally]
    bounds: list[BoundClass]
    events: list[list[int]]
    shuffles: list[Shuffle]
    named: list[NamedGroups]
    seed: int
    n: float
    maximum: float

    @classmethod
    def of(
        cls,
        tally: Tally,
        parts: Sequence[Examined],
        seed: int,
        maximum: float,
        named: Sequence[NamedGroups] = (),
    ) -> "Searches":
        """Prepare to search notions that are permuted together."""
        events = [tuple(part.seen.notion.event) for part in parts]
        together = [
            [i for i, other in enumerate(events) if other == event]
            for event in dict.fromkeys(events)
        ]
        shuffles = [_shuffle(tally, [parts[i].seen for i in which]) for which in together]
        sums = replace(tally, rows=None, lines=None)
        return cls(
            seen=[replace(part.seen, tally=sums) for part in parts],
            bounds=[part.bound.quick for part in parts],
            events=together,
            shuffles=shuffles,
            named=[replace(groups, rules=()) for groups in named],
            seed=seed,
            n=tally.total_weight,
            maximum=maximum,
        )

    @property
    def rounding(self) -> float:
        """Return what rounding alone may make of an unfairness."""
        return largest_rounding(self.seen)

    def search(self, draws: range, seconds: float, patience: float, prove: bool) -> Searched:
        """Search some draws, and prove of each whether it reaches the maximum.

        Parameters
        ----------
        draws : range
            Their numbers, which are a part of their seeds.
        seconds : float
            Time for the search of one draw; proofs come after it.
        patience : float
            Seconds that the proof of one draw may take; the first that takes longer ends the block
            as undecided.
        prove : bool
            Whether proofs are asked for at all.
        """
        residuals = self._residuals(draws)
        values = self.largest(residuals, time.monotonic() + seconds)
        maxima = self._maxima(residuals)
        reached = 0
        # The search gives a lower bound of each draw; only those below the maximum need a proof.
        for i, value in enumerate(values) if prove else ():
            if value >= self.maximum - self.rounding:
                reached += 1
                continue
            reaches = self._reaches([residual[i] for residual in residuals], patience)
            if reaches is None:
                return Searched(values.tolist(), maxima, reached, decided=False)
            reached += reaches
        return Searched(values.tolist(), maxima, reached, decided=True)

    def _residuals(self, draws: range) -> list[Array]:
        """Return W of each notion, one draw a row."""
        stacks: list[list[Array]] = [[] for _ in self.seen]
        for draw in draws:
            # 1 keeps these draws apart from the split (0) and the bootstrap (2) of the same seed.
            rng = np.random.default_rng([self.seed, 1, draw])
            for shuffle, which in zip(self.shuffles, self.events, strict=True):
                for i, outcomes in zip(which, shuffle.draw(rng), strict=True):
                    stacks[i].append(outcomes)
        return [
            seen.simulated(np.array(stack)) for seen, stack in zip(self.seen, stacks, strict=True)
        ]

    def observed(self, residuals: Sequence[Array], deadline: float) -> float:
        """Return the largest unfairness that the search finds in the rows as they are."""
        found = [
            bound.search(residual, seconds=max(0.0, deadline - time.monotonic()))
            for bound, residual in zip(self.bounds, residuals, strict=True)
        ]
        return max(abs(float(one.values[0])) for one in found) / self.n

    def largest(self, residuals: Sequence[Array], deadline: float) -> NDArray[np.float64]:
        """Return the largest unfairness that the search finds over notions, for each draw."""
        found = [
            largest_values(bound, residual, deadline)
            for bound, residual in zip(self.bounds, residuals, strict=True)
        ]
        largest: Array = np.max(found, axis=0) / self.n
        return largest

    def about(self, maximum: float) -> "Searches":
        """Return the same searches, that ask whether draws reach another maximum."""
        return replace(self, maximum=maximum)

    def reaching(self, draws: range, seconds: float) -> int:
        """Count the draws that reach the maximum, with those that weren't decided in time.

        Nothing else of them is asked for, so that most are decided long before their own maximum
        is known.
        """
        deadline = time.monotonic() + seconds
        residuals = self._residuals(draws)
        reached = 0
        for i in range(len(draws)):
            left = max(0.0, deadline - time.monotonic())
            reaches = self._reaches([residual[i] for residual in residuals], left)
            reached += reaches is not False
        return reached

    def maxima(self, draws: range) -> list[float]:
        """Return how many deviations the group that stands out most is off, without a search."""
        return self._maxima(self._residuals(draws))

    def _maxima(self, residuals: Sequence[Array]) -> list[float]:
        """Return how many deviations the group that stands out most is off, for each draw."""
        largest = [groups.largest(residuals[i]) for i, groups in enumerate(self.named)]
        return np.max(largest, axis=0).tolist() if largest else []

    def _reaches(self, residuals: Sequence[Array], patience: float) -> bool | None:
        """Return whether a subgroup of a draw is as bad as the exact maximum; None if undecided."""
        limit = (self.maximum - self.rounding) * self.n
        for bound, residual in zip(self.bounds, residuals, strict=True):
            bracket = bound.prove(residual, at_most=limit, seconds=patience)
            if abs(float(bracket.found.values[0])) > limit:
                return True
            if bracket.upper_bound > limit:
                return None
        return False


def _shuffle(tally: Tally, seen: Sequence[NotionTally]) -> Shuffle:
    """Return how outcomes of notions that share an event are dealt, or drawn where scores are."""
    if seen[0].cells.predicted is not None:
        return simulation_of(seen[0])
    return shuffle_of(tally, [one.notion for one in seen], seen[0].cells.active)
