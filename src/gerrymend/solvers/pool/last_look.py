"""The mixture that stands at the end, by cutting planes from within.

The program's own mixture, the *outer* one, is worth least to an Auditor who knows the subgroups of
the pool and no other. Looked at thoroughly it is as a rule refuted: a vertex of the program leans
on every subgroup that is not yet known, and as many of these as there are dimensions come one by
one. So what is looked at lies halfway between the best mixture so far, the *inner* one, and the
outer one. What a mixture is worth, err + C·max(0, U − γ), is convex in its weights. So the middle
either betters the inner mixture, or a subgroup is found that sets it apart, and with it all that
lies beyond, the outer one first (Ben-Ameur and Neto, 2007: "in-out"). The value of the program is
a lower bound on what any mixture of these classifiers is worth; it ends once that is reached.

A mixture becomes the inner one when the searches of the rounds say so, which are cheap. Once
nothing is left to gain it is audited; if the audit finds more, it goes on from there. How much more
says how far below gamma the program has to aim for the next to be within it. Where the audit has to
end before it has proven that there is no more, the mixture keeps clear of gamma.
"""

from collections.abc import Callable

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.pool.pool import Pool
from gerrymend.solvers.pool.program import Weighing, weigh
from gerrymend.solvers.pool.standing import Stakes, Standing
from gerrymend.solvers.pool.thorough_looks import Look, ThoroughLooks

# Mixtures that are looked at, or audited, at most.
_ATTEMPTS = 20
# The program aims at this part of gamma, and at the second one at least.
_AIM = 0.98
_LOWEST_AIM = 0.85
# The part of gamma that a mixture keeps to where its audit ended before its proof: a longer audit
# found up to 8 % more of such mixtures, and 2 % in the middle.
_UNPROVEN = 0.95
# From the inner mixture towards the outer one.
_STEP = 0.5
# Error, or its worth in unfairness, for which it is not worth going on.
_CLOSE = 5e-4


class LastLook:
    """Mixtures of a pool that were looked at, and the best of them."""

    def __init__(self, looks: ThoroughLooks, pool: Pool, stakes: Stakes) -> None:
        self._looks = looks
        self._pool = pool
        self._stakes = stakes
        self._aim = _AIM
        self._keeps_clear = False
        self._inner: list[Standing] = []
        self._audited: list[Array] = []  # by a short proof
        self._in_full: list[Array] = []
        self.program: Weighing

    def best_from(self, first: Standing, *, audited: bool, hurried: Callable[[], bool]) -> Standing:
        """Return the best mixture that is found from a first one; it was audited, if it should be.

        It ends sooner where it is `hurried`.
        """
        self._look_at(first.weights, np.inf)
        for _ in range(_ATTEMPTS):
            best = self._best()
            self._weigh()
            if self._left_to_gain(best) > _CLOSE:
                middle = best.weights + _STEP * (self.program.weights - best.weights)
                self._look_at(middle, self._stakes.preference(best))
            elif not audited or not self._is_refuted(best):
                break
            if hurried():
                break
        # Another may be the best then, that was not audited. What stands in the end was looked at
        # for as long as any: its unfairness is what the fit reports.
        while audited and (
            self._is_refuted(self._best()) or self._is_refuted(self._best(), in_full=True)
        ):
            pass
        self._weigh()
        return self._best()

    def _left_to_gain(self, best: Standing) -> float:
        """Return what the program's own mixture would be worth less, if it were what it seems."""
        exceeds = best.unfairness > self._stakes.gamma + ROUNDING
        excess = best.unfairness - self._aim * self._stakes.gamma if exceeds else 0.0
        return best.error + self._stakes.C * excess - self.program.value

    def _weigh(self) -> None:
        pool = self._pool
        stakes = self._stakes
        self.program = weigh(pool.error, pool.unfairness, self._aim * stakes.gamma, stakes.C)

    def _best(self) -> Standing:
        """Measure all by the subgroups that are known now, and return the best."""
        self._inner = [self._stakes.standing(one.weights, one.worst) for one in self._inner]
        return min(self._inner, key=self._stakes.preference)

    def _look_at(self, weights: Array, to_beat: float) -> None:
        """Keep a mixture, unless a search shows that it doesn't beat what there is."""
        looks = (
            [self._looks.search] if self._looks.exact else [self._looks.search, self._looks.probe]
        )
        for look in looks:
            standing = self._measured(weights, look(weights))
            if self._stakes.preference(standing) >= to_beat:
                return
        self._inner.append(standing)

    def _is_refuted(self, best: Standing, *, in_full: bool = False) -> bool:
        """Audit a mixture, unless it was before, and return whether it is worse than was known.

        Once a proof didn't end, the next are short, unless they are asked for `in_full`.
        """
        hopeful = in_full or not self._keeps_clear
        seen = self._in_full if hopeful else [*self._audited, *self._in_full]
        known = any(np.array_equal(best.weights, weights) for weights in seen)
        if known or self._looks.exact:
            return False
        (self._in_full if hopeful else self._audited).append(best.weights)
        look = self._looks.audit(best.weights, hopeful=hopeful)
        self._measured(best.weights, look)
        if not look.is_closed and not self._keeps_clear:
            self._keeps_clear = True
            self._stakes = self._stakes.at(_UNPROVEN * self._stakes.gamma)
            if best.unfairness > self._stakes.gamma + ROUNDING:
                return True
        if look.unfairness <= best.unfairness + ROUNDING:
            return False
        self._aim = max(_LOWEST_AIM, min(self._aim, _AIM * best.unfairness / look.unfairness))
        return True

    def _measured(self, weights: Array, look: Look) -> Standing:
        """Measure a mixture, by what a look has found too."""
        standing = self._stakes.standing(weights, look.group)
        if look.unfairness <= standing.unfairness + ROUNDING:
            return standing
        self._pool.add_group(look.group)
        return self._stakes.standing(weights, look.group)
