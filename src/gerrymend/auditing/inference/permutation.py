"""The permutation test of the maximum: a p-value that has paid for the search.

The worst of many subgroups looks bad even where none differs: a test of the one that was found, as
if it had been chosen before, cries wolf far too often (docs/inference.md has by how much). So the
whole search is repeated on outcomes that were dealt to the rows anew (`shuffles`). With T the same
function of the data each time, and B draws, the observed T and the B others are exchangeable where
outcomes have nothing to do with the protected attributes, so

    p = (1 + #{draws with T ≥ observed T}) / (1 + B)

is at most α with probability at most α, for every B and every T. Of scores the draws are of what
would have happened if they were right (`simulations`), and the same holds. T is what the search
finds. Where the class's exact maximum is known it is compared too: a draw whose search ends below
it is put to `prove`. The p-value is then the larger of the two, and thereby valid whether or not
there was time to decide them all.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.workers import Common, Workers
from gerrymend.auditing.inference.drawing import largest_values, rounds
from gerrymend.auditing.inference.permutation_result import PERMUTED, PermutationTest
from gerrymend.auditing.inference.shuffles import Shuffle, obstacle, shuffle_of
from gerrymend.auditing.inference.simulations import null_of, simulation_of
from gerrymend.auditing.inference.standing_out import NamedGroups
from gerrymend.auditing.tally import Examined, NotionTally, Tally, largest_rounding
from gerrymend.notions import OVERALL, PREDICTED
from gerrymend.subgroups.base import BoundClass

# The level of `detectable`.
LEVEL = 0.05
# Outcomes that are dealt anew keep their mean: all that they can tell is that groups differ.
_OWN_REFERENCE = (
    "permutations test whether groups differ from each other, and not from a reference of one's own"
)


def permutation_test(
    tally: Tally,
    examined: Sequence[Examined],
    *,
    n_permutations: int,
    seconds: float = math.inf,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_draw: Callable[[int, int], None] | None = None,
    named: Sequence[NamedGroups] = (),
) -> PermutationTest:
    """Repeat the search on permuted outcomes.

    Each draw has a seed of its own, so that it can't matter which worker makes it.

    Parameters
    ----------
    tally : Tally
        The rows, as counts or one by one.
    examined : sequence of Examined
        What the audit made of each notion: the class, bound to its cells, and the bracket.
    n_permutations : int
        Draws to make.
    seconds : float, default=inf
        After so many it ends with the draws that were made by then, of which one that was cut short
        counts as the worst that it can be; without any where the first takes longer.
    random_state : int, default=0
        Seed of the draws.
    n_jobs : int, optional
        Workers, as in audit().
    on_draw : callable, optional
        Called as on_draw(done, of) while draws are made.
    named : sequence of NamedGroups
        Groups whose largest deviation is worked out in each draw, too, one a notion.
    """
    if reason := why_no_test(tally, examined):
        return PermutationTest(None, 0, None, reason=reason)
    deadline = time.monotonic() + seconds
    families = _families(examined, named, random_state, deadline)
    late = f"no permutation was searched within {seconds:g} s; give it more time (budget, --budget)"
    if time.monotonic() >= deadline:
        # A search that was cut short is no T to compare with, and a draw would take as long.
        return PermutationTest(None, 0, None, reason=late)
    width = families[0].width
    done = 0
    with Workers(n_jobs) as workers:
        number = workers.number
        for blocks in rounds(n_permutations, workers=number, width=width, deadline=deadline):
            # Proofs share what is left of the time evenly among the draws that are left.
            left = max(0.0, deadline - time.monotonic())
            patience = number * left / (n_permutations - done) / len(families)
            tasks = [
                (family.searches, draws, left / len(families), patience, family.asks)
                for family in families
                for draws in blocks
            ]
            searched = list(workers(_search, tasks))
            if done == 0 and time.monotonic() >= deadline:
                return PermutationTest(None, 0, None, reason=late)
            for i, family in enumerate(families):
                family.add(searched[i * len(blocks) : (i + 1) * len(blocks)])
            done = blocks[-1].stop
            if on_draw is not None:
                on_draw(done, n_permutations)
    return replace(
        _summary(families, done), n_asked=n_permutations if done < n_permutations else None
    )


def why_no_test(tally: Tally, examined: Sequence[Examined]) -> str:
    """Say why outcomes can't be permuted, or simulated; return an empty string where they can."""
    references = {part.seen.notion.reference for part in examined}
    if references == {PREDICTED}:  # whose rows are at hand
        return ""
    return _OWN_REFERENCE if references != {OVERALL} else obstacle(tally)


def _shuffle(tally: Tally, seen: Sequence[NotionTally]) -> Shuffle:
    """Return how outcomes of notions that share an event are dealt, or drawn where scores are."""
    if seen[0].cells.predicted is not None:
        return simulation_of(seen[0])
    return shuffle_of(tally, [one.notion for one in seen], seen[0].cells.active)


def _families(
    examined: Sequence[Examined], named: Sequence[NamedGroups], seed: int, deadline: float
) -> list["_Family"]:
    """Group the notions that can be tested by one maximum.

    Over rows of one label outcomes are dealt within the label, and two labels independently of each
    other. A notion over all rows asks for labels to be dealt too, which contradicts that: it is
    of another family, and so is each mean of numbers, whose rows are its own. Several families are
    several tests (Bonferroni).
    """
    families: dict[tuple[int, bool], list[int]] = {}
    for i, part in enumerate(examined):
        key = id(part.seen.tally), all(part.seen.notion.event)
        families.setdefault(key, []).append(i)
    return [_Family(which, examined, named, seed, deadline) for which in families.values()]


def _summary(families: Sequence["_Family"], n_draws: int) -> PermutationTest:
    """Return the p-value over families, and the line that an unfairness has to be above."""
    # Bonferroni over families.
    smallest = min((1 + family.at_least) / (1 + n_draws) for family in families)
    p_value = min(1.0, len(families) * smallest)
    searched = max(family.observed for family in families)
    # p ≤ LEVEL takes at most rank − 1 draws at or above: to be above the draw of this rank.
    # The last factor keeps a product that is whole from being rounded below it.
    rank = math.floor(LEVEL / len(families) * (1 + n_draws) * (1 + 1e-12))
    detectable = None
    if rank >= 1:
        detectable = max(float(np.sort(family.values)[-rank]) for family in families)
        # Proofs may have shown of draws that they reach the maximum where the search finds less.
        if p_value > LEVEL:
            detectable = max(detectable, searched)
    return PermutationTest(
        p_value=p_value,
        n_draws=n_draws,
        detectable=detectable,
        of_maximum=all(family.decides for family in families),
        searched=searched,
        maxima={i: np.array(family.maxima) for family in families for i in family.notions},
        n_families=len(families),
        null=families[0].null,
    )


class _Family:
    """Notions under one permutation: the observed maximum over them, and that of each draw.

    Attributes
    ----------
    notions : sequence of int
        Which notions these are, by their numbers.
    width : int
        Numbers that a draw holds, over all notions.
    values : list of float
        What the search found in each draw.
    maxima : list of float
        How many deviations the group that stands out most is off, in each draw.
    observed : float
        What the same search finds in the rows as they are.
    decides : bool
        Whether each draw so far is known to reach the exact maximum or not.
    null : str
        What is tested, as in PermutationTest.
    """

    def __init__(
        self,
        notions: Sequence[int],
        examined: Sequence[Examined],
        named: Sequence[NamedGroups],
        seed: int,
        deadline: float,
    ) -> None:
        parts = [examined[i] for i in notions]
        n = parts[0].seen.tally.total_weight
        self.notions = notions
        first = parts[0].seen
        self.null = PERMUTED if first.cells.predicted is None else null_of(first)
        self.width = sum(len(part.seen.residual) for part in parts)
        self.values: list[float] = []
        self.maxima: list[float] = []
        # The maximum that is known to be one, and the draws that reach it.
        maximum = max(part.bracket.upper_bound for part in parts) / n
        known = max(abs(float(part.bracket.found.values[0])) for part in parts) / n
        exact = all(part.bound.exact for part in parts)
        # A search that is exact needs no proof, and one that found its upper bound was exact here.
        self._rounding = largest_rounding(part.seen for part in parts)
        self.decides = exact or maximum <= known + self._rounding
        self._exact = exact
        self._reached = 0
        groups = [named[i] for i in notions if named]
        searches = _Searches.of(parts[0].seen.tally, parts, seed, maximum, groups)
        self.observed = searches.observed([part.seen.residual for part in parts], deadline)
        self.searches = Common(searches)

    @property
    def asks(self) -> bool:
        """Return whether draws are to be put to a proof."""
        return self.decides and not self._exact

    def add(self, blocks: Sequence["_Searched"]) -> None:
        """Add the results of some more draws."""
        for block in blocks:
            self.values += block.values
            self.maxima += block.maxima
            self._reached += block.reached
            self.decides &= block.decided

    @property
    def at_least(self) -> int:
        """Return how many draws are as bad as what was observed, by the search or a proof."""
        # Ties within rounding count as at least as bad, which can only raise the p-value.
        searched = int(np.sum(np.array(self.values) >= self.observed - self._rounding))
        return max(searched, self._reached) if self.decides else searched


class _Searched(NamedTuple):
    """The result of a block of draws: values, how many reach the maximum, if that was decided.

    `maxima` has by how many deviations the group that stands out most is off, in each draw.
    """

    values: list[float]
    maxima: list[float]
    reached: int
    decided: bool


def _search(
    searches: Common["_Searches"], draws: range, seconds: float, patience: float, prove: bool
) -> _Searched:
    return searches.value.search(draws, seconds, patience, prove)


@dataclass(frozen=True, eq=False)
class _Searches:
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
    ) -> "_Searches":
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

    def search(self, draws: range, seconds: float, patience: float, prove: bool) -> _Searched:
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
                return _Searched(values.tolist(), maxima, reached, decided=False)
            reached += reaches
        return _Searched(values.tolist(), maxima, reached, decided=True)

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
