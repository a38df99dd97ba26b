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
from dataclasses import replace

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.workers import Common, Workers
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.inference.drawing import rounds
from gerrymend.auditing.inference.permutation_result import (
    LEVEL,
    PERMUTED,
    FamilyTest,
    PermutationTest,
    rank_of,
)
from gerrymend.auditing.inference.permuted_searches import (
    Searched,
    Searches,
    maxima_of,
    search,
)
from gerrymend.auditing.inference.shuffles import obstacle
from gerrymend.auditing.inference.simulations import null_of
from gerrymend.auditing.inference.standing_out import NamedGroups
from gerrymend.auditing.tally import Tally, largest_rounding
from gerrymend.notions import OVERALL, PREDICTED

# Groups that can be named have this part of the time for themselves, if the class takes all of it.
_NAMING = 0.2
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
    about: int | None = None,
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
        counts as the worst that it can be. Where the first takes longer there is no p-value, and
        draws are made for `named` alone, which are quick.
    random_state : int, default=0
        Seed of the draws.
    n_jobs : int, optional
        Workers, as in audit().
    on_draw : callable, optional
        Called as on_draw(done, of) while draws are made.
    named : sequence of NamedGroups
        Groups whose largest deviation is worked out in each draw, too, one a notion.
    about : int, optional
        The number of the notion that has the largest unfairness, whose family the result is of; by
        default the one with the largest that was found.
    """
    if reason := why_no_test(tally, examined):
        return PermutationTest(None, 0, None, reason=reason)
    deadline = time.monotonic() + seconds
    families = _families(examined, named, random_state, deadline)
    done = 0
    # A search that was cut short is no T to compare with, and a draw would take as long.
    if time.monotonic() < deadline:
        done = _search_draws(families, n_permutations, n_jobs, deadline, on_draw)
    asked = n_permutations
    if not done:
        if any(map(len, named)):
            deadline = time.monotonic() + _NAMING * seconds
            done = _try_named(families, n_permutations, n_jobs, deadline, on_draw)
        late = PermutationTest(
            None,
            done,
            None,
            reason=f"no permutation was searched within {seconds:g} s; give it more time (budget, "
            "--budget)",
            maxima=_maxima(families),
            n_families=len(families),
            n_asked=asked if done < asked else None,
        )
        return late if late.is_enough else replace(late, n_draws=0, maxima={}, n_asked=None)
    if about is None:
        about = int(np.argmax([abs(float(part.bracket.found.values[0])) for part in examined]))
    return replace(_summary(families, done, about), n_asked=asked if done < asked else None)


def _search_draws(
    families: Sequence["_Family"],
    n_permutations: int,
    n_jobs: int | None,
    deadline: float,
    on_draw: Callable[[int, int], None] | None,
) -> int:
    """Search draws until all are made or it is too late; return how many, 0 if the first was."""
    done = 0
    width = families[0].width
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
            searched = list(workers(search, tasks))
            if done == 0 and time.monotonic() >= deadline:
                return 0
            for i, family in enumerate(families):
                family.add(searched[i * len(blocks) : (i + 1) * len(blocks)])
            done = blocks[-1].stop
            if on_draw is not None:
                on_draw(done, n_permutations)
    return done


def _try_named(
    families: Sequence["_Family"],
    n_permutations: int,
    n_jobs: int | None,
    deadline: float,
    on_draw: Callable[[int, int], None] | None,
) -> int:
    """Work out who stands out most in each draw, without a search of the class; return how many."""
    done = 0
    width = families[0].width
    with Workers(n_jobs) as workers:
        number = workers.number
        for blocks in rounds(n_permutations, workers=number, width=width, deadline=deadline):
            tasks = [(family.searches, draws) for family in families for draws in blocks]
            found = list(workers(maxima_of, tasks))
            for i, family in enumerate(families):
                for maxima in found[i * len(blocks) : (i + 1) * len(blocks)]:
                    family.maxima += maxima
            done = blocks[-1].stop
            if on_draw is not None:
                on_draw(done, n_permutations)
    return done


def _maxima(families: Sequence["_Family"]) -> dict[int, Array]:
    """Return how many deviations who stands out most is off in each draw, by notion."""
    return {i: np.array(family.maxima) for family in families for i in family.notions}


def why_no_test(tally: Tally, examined: Sequence[Examined]) -> str:
    """Say why outcomes can't be permuted, or simulated; return an empty string where they can."""
    references = {part.seen.notion.reference for part in examined}
    if references == {PREDICTED}:  # whose rows are at hand
        return ""
    return _OWN_REFERENCE if references != {OVERALL} else obstacle(tally)


def _families(
    examined: Sequence[Examined], named: Sequence[NamedGroups], seed: int, deadline: float
) -> list["_Family"]:
    """Prepare the test of each family of notions."""
    return [_Family(which, examined, named, seed, deadline) for which in families_of(examined)]


def families_of(examined: Sequence[Examined]) -> list[list[int]]:
    """Group the notions that can be tested by one maximum, by their numbers.

    Over rows of one label outcomes are dealt within the label, and two labels independently of each
    other. A notion over all rows asks for labels to be dealt too, which contradicts that: it is
    of another family, and so is each mean of numbers, whose rows are its own. Several families are
    several tests, and each p-value is that of its own family times their number (Bonferroni).
    """
    families: dict[tuple[int, bool], list[int]] = {}
    for i, part in enumerate(examined):
        key = id(part.seen.tally), all(part.seen.notion.event)
        families.setdefault(key, []).append(i)
    return list(families.values())


def _summary(families: Sequence["_Family"], n_draws: int, about: int) -> PermutationTest:
    """Return the test of the family that a notion is in, with those of all others."""
    tests = tuple(family.test(n_draws, len(families)) for family in families)
    own = next(i for i, test in enumerate(tests) if about in test.notions)
    return PermutationTest(
        p_value=tests[own].p_value,
        n_draws=n_draws,
        detectable=tests[own].detectable,
        of_maximum=families[own].decides,
        searched=tests[own].searched,
        maxima=_maxima(families),
        n_families=len(families),
        families=tests,
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
        searches = Searches.of(parts[0].seen.tally, parts, seed, maximum, groups)
        self.observed = searches.observed([part.seen.residual for part in parts], deadline)
        self.searches = Common(searches)

    @property
    def asks(self) -> bool:
        """Return whether draws are to be put to a proof."""
        return self.decides and not self._exact

    def add(self, blocks: Sequence[Searched]) -> None:
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

    def test(self, n_draws: int, n_families: int) -> FamilyTest:
        """Return the p-value, of so many families, and the line that has to be exceeded for 5 %."""
        p_value = min(1.0, n_families * (1 + self.at_least) / (1 + n_draws))
        draws = np.array(self.values)
        # p ≤ LEVEL takes at most rank − 1 draws at or above: to be above the draw of this rank.
        rank = rank_of(n_draws, n_families)
        detectable = None
        if rank >= 1:
            detectable = float(np.sort(draws)[-rank])
            # Proofs may show of draws that they reach the maximum where the search finds less.
            if p_value > LEVEL:
                detectable = max(detectable, self.observed)
        return FamilyTest(
            notions=tuple(self.notions),
            p_value=p_value,
            detectable=detectable,
            searched=self.observed,
            draws=draws,
            at_least=self.at_least,
            n_families=n_families,
            rounding=self._rounding,
        )
