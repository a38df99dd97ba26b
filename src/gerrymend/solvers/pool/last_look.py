"""The mixture that stands at the end, by cutting planes from within.

The program's own mixture, the *outer* one, is worth least to an Auditor who knows the subgroups of
the pool and no other. Looked at thoroughly it is as a rule refuted: a vertex of the program leans
on every subgroup that is not yet known, and as many of these as there are dimensions come one by
one. So what is looked at lies between the best mixture so far, the *inner* one, and the outer one.
What a mixture is worth, err + C·max(0, U − γ), is convex in its weights. So that one either betters
the inner mixture, or a subgroup is found that sets it apart, and with it all that lies beyond, the
outer one first (Ben-Ameur and Neto, 2007: "in-out"). What the outer mixture seems to be worth is a
lower bound on what any mixture of these classifiers is worth; it ends once that is reached.

Where gamma seems to be kept at a price of at most `tol` above that of C, mixtures above gamma no
longer count. One that keeps gamma is always at hand. A constant treats all subgroups alike: if a
mixture of unfairness U is blended with one until γ/U of it is left, then so much is left of its
unfairness to every subgroup. That needs no other look.

Where proofs end, a mixture is audited before it becomes the inner one. Where they don't, searches
have to do until nothing is left to gain; then it is audited, and if that finds more it goes on from
there. A mixture whose unfairness isn't proven keeps clear of gamma. What stands in the end without
a proof gets a closing look, harder than all before (`players/closing_look.py`).
"""

from collections.abc import Callable, Collection

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.pool.pool import Pool, PooledGroup
from gerrymend.solvers.pool.program import weigh
from gerrymend.solvers.pool.standing import Stakes, Standing
from gerrymend.solvers.pool.thorough_looks import Look, ThoroughLooks

# Mixtures that are looked at, or audited, at most.
_ATTEMPTS = 20
# The program aims at this part of gamma.
_AIM = 0.98
# The C at which gamma is kept.
_FIRM = 1e3
# The part of gamma that a mixture keeps to where its proof got nowhere: a longer audit found up to
# 8 % more of such mixtures, and 2 % in the middle.
_UNPROVEN = 0.95
# From the inner mixture towards the outer one.
_STEP = 0.7
# Error, or its worth in unfairness, for which it is not worth going on.
_CLOSE = 5e-4
# Closing looks at most, each of the mixture that is best by the last one.
_CLOSINGS = 2


class LastLook:
    """Mixtures of a pool that were looked at, and the best of them.

    Parameters
    ----------
    looks, pool, stakes :
        Who looks, what mixtures are of, and what they are worth.
    clear : float
        The part of gamma that they keep to, by what is known of proofs; less after proofs that
        don't end.
    """

    def __init__(self, looks: ThoroughLooks, pool: Pool, stakes: Stakes, clear: float) -> None:
        self._looks = looks
        self._pool = pool
        self._at_gamma = stakes
        self._constant = pool.fair_constant()
        self._mixtures: list[Array] = []
        self._in_full: set[int] = set()
        self._settled: set[int] = set()
        self._found: PooledGroup
        self.clear = clear

    def best_from(self, first: Standing, *, audited: bool, hurried: Callable[[], bool]) -> Standing:
        """Return the best mixture that is found from a first one; it was audited, if it should be.

        It ends sooner where it is `hurried`.
        """
        closes = audited and self._looks.closes
        audited = audited and not self._looks.exact
        self._look_at(first.weights, np.inf, self._stakes(), audited)
        for _ in range(_ATTEMPTS):
            stakes, outer = self._outer()
            number, inner = self._best(stakes.worth)
            to_beat = stakes.worth(inner)
            if to_beat - stakes.worth(outer) > _CLOSE:
                between = inner.weights + _STEP * (outer.weights - inner.weights)
                goes_on = self._look_at(between, to_beat, stakes, audited)
            elif goes_on := audited and number not in self._in_full:
                self._audit(number)
            if not goes_on or hurried():
                break
        return self._standing(audited, closes, hurried)

    def _standing(self, audited: bool, closes: bool, hurried: Callable[[], bool]) -> Standing:
        """Return the best of all, once it was looked at for the last time.

        What that finds is what the fit reports. Where it finds more another may be the best, which
        is looked at in turn; after some it is the best of those.
        """
        closed = 0
        while True:
            number, best = self._best(self._stakes().preference)
            if audited and number not in self._in_full:
                self._audit(number)
            elif not closes or number in self._settled:
                return best
            elif closed == _CLOSINGS or (closed > 0 and hurried()):
                return self._best(self._stakes().preference, self._settled)[1]
            else:
                self._take_in_full(number, self._looks.close(self._mixtures[number]))
                self._settled.add(number)
                closed += 1

    def _stakes(self, C: float | None = None) -> Stakes:
        """Return what is at stake clear of gamma, by default at the user's C."""
        given = self._at_gamma
        return Stakes(self._pool, self.clear * given.gamma, C or given.C, given.tol)

    def _outer(self) -> tuple[Stakes, Standing]:
        """Return what seems best, of mixtures that keep to gamma or of all, and at which stakes."""
        pool = self._pool
        options = []
        # At the first C an excess costs so much that the program keeps to gamma if it can; at the
        # user's it may pay to exceed it. Which is preferred is decided at the user's C.
        for stakes in (self._stakes(_FIRM), self._stakes()):
            program = weigh(pool.error, pool.unfairness, _AIM * stakes.gamma, stakes.C)
            options.append((stakes, stakes.standing(program.weights, self._found)))
        return min(options, key=lambda option: self._stakes().preference(option[1]))

    def _best(
        self, worth: Callable[[Standing], float], among: Collection[int] | None = None
    ) -> tuple[int, Standing]:
        """Measure all by the subgroups that are known now; return the best, and its number."""
        options = [
            (number, standing)
            for number, weights in enumerate(self._mixtures)
            if among is None or number in among
            for standing in self._measured(weights)
        ]
        return min(options, key=lambda option: worth(option[1]))

    def _measured(self, weights: Array) -> list[Standing]:
        """Measure a mixture, and if it is above gamma its blend with a constant that is not."""
        stakes = self._stakes()
        standing = stakes.standing(weights, self._found)
        if self._constant is None or standing.unfairness <= stakes.gamma + ROUNDING:
            return [standing]
        share = stakes.gamma / standing.unfairness
        blend = share * standing.weights + (1.0 - share) * self._constant
        return [standing, stakes.standing(blend, self._found)]

    def _look_at(self, weights: Array, to_beat: float, stakes: Stakes, audited: bool) -> bool:
        """Keep a mixture, unless a look shows that it doesn't beat what there is.

        Returns whether anything is new: a mixture, or a subgroup.
        """
        n_groups = len(self._pool.groups)
        at_once = audited and self.clear > _UNPROVEN
        # The quick look first: a mixture that it refutes needs no other.
        for look in (self._looks.search, self._looks.probe):
            self._take_in(weights, look(weights))
            if min(map(stakes.worth, self._measured(weights))) >= to_beat:
                return len(self._pool.groups) > n_groups
            if self._looks.exact or at_once:
                break
        self._mixtures.append(weights)
        if at_once:
            self._audit(len(self._mixtures) - 1)
        return True

    def _audit(self, number: int) -> None:
        """Audit a mixture."""
        self._take_in_full(number, self._looks.audit(self._mixtures[number]))

    def _take_in_full(self, number: int, look: Look) -> None:
        """Take in an audit; if its proof didn't end, keep clear of gamma from now on."""
        self._take_in(self._mixtures[number], look)
        self._in_full.add(number)
        if look.upper_bound <= look.unfairness + ROUNDING:
            self._settled.add(number)
        # The part of the bound that was found is 1 where the proof ended. Where it didn't, all of
        # the bound may be there, for which a mixture keeps to that part of gamma; but no less than
        # _UNPROVEN of it, as bounds of proofs that got nowhere say little.
        proven = (look.unfairness + ROUNDING) / (look.upper_bound + ROUNDING)
        self.clear = min(self.clear, max(_UNPROVEN, proven))

    def _take_in(self, weights: Array, look: Look) -> None:
        """Bring what a look has found into the pool, if it is worse than all that was known."""
        self._found = look.group
        if look.unfairness > self._stakes().standing(weights, look.group).unfairness + ROUNDING:
            self._pool.add_group(look.group)
