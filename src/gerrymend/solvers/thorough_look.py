"""Looks at a mixture by the search of `audit`, so that an audit of the fit finds nothing worse.

The search of the rounds is asked often and must be cheap; a mixture that was weighed against what
it finds is the very one that it has nothing left to say about. So before a mixture is reported, it
is searched as `audit` searches, and then proven as `audit` proves.

A proof may take longer than there is time for. What a fit comes to must not depend on the clock:
only looks that are *decided*, which no deadline cut short, may change the mixture. What others find
is reported all the same.
"""

import math
import time
from typing import NamedTuple

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.players.auditor import Auditor, NotionAuditor
from gerrymend.solvers.pool.pool import Pool, PooledGroup
from gerrymend.subgroups.base import Found

# Cells up to which several times as many starts as those of an audit take seconds: starts are far
# cheaper than proofs for finding what is there, where attributes are many.
_FEW_CELLS = 2_000
# Cells up to which several times as many again do.
_VERY_FEW_CELLS = 250
# Seconds of a proof: as long as the rounds took, within these; the latter is the default of audit.
_LEAST_SECONDS, _MOST_SECONDS = 5.0, 30.0


class Look(NamedTuple):
    """The worst subgroup that was found of a mixture, and whether the clock had no part in it."""

    group: PooledGroup
    unfairness: float
    decided: bool


class ThoroughLooks:
    """Looks at mixtures of a pool, each with a proof of some seconds at most.

    Parameters
    ----------
    auditor, pool :
        What is asked, and what mixtures are of.
    seconds : float
        How long the game has taken so far; a proof takes no longer, within limits.
    deadline : float
        When the budget ends, by time.monotonic; ∞ where there is none.
    """

    def __init__(self, auditor: Auditor, pool: Pool, seconds: float, deadline: float) -> None:
        self._auditor, self._pool, self._deadline = auditor, pool, deadline
        self._seconds = min(_MOST_SECONDS, max(_LEAST_SECONDS, seconds))

    @interruptible
    def at(self, weights: Array, above: float | None = None) -> Look:
        """Find the worst subgroup of a mixture; with `above`, any that exceeds it will do."""
        auditor = self._auditor
        residuals = auditor.residuals(self._pool.probability(weights)[None], None)
        looks = [
            self._at_notion(which, auditor.notions[which], residual, above)
            for which, residual in enumerate(residuals)
        ]
        worst = max(looks, key=lambda look: look.unfairness)
        refuted = above is not None and worst.decided and worst.unfairness > above + ROUNDING
        return worst._replace(decided=refuted or all(look.decided for look in looks))

    def _at_notion(
        self, which: int, notion: NotionAuditor, residual: Array, above: float | None
    ) -> Look:
        """Search with the starts of an audit or more, and prove what that found nothing against."""
        n, bound = self._auditor.total_weight, notion.audited

        def look(found: Found, decided: bool) -> Look:
            group = PooledGroup(which, found.members[0] > 0, found.keys[0])
            return Look(group, abs(float(found.values[0])) / n, decided)

        if bound.exact:
            return look(bound.worst(residual), True)
        searched = None
        if math.isinf(self._deadline) and len(residual[0]) <= _FEW_CELLS:
            harder = bound.thorough
            if len(residual[0]) <= _VERY_FEW_CELLS:
                harder = harder.thorough
            searched = look(harder.worst(residual), True)
            if above is not None and searched.unfairness > above + ROUNDING:
                return searched
        start = time.monotonic()
        end = min(self._deadline, start + self._seconds)
        at_most = None if above is None else (above + ROUNDING) * n
        bracket = bound.prove(residual[0], at_most=at_most, seconds=max(0.0, end - start))
        proven = look(bracket.found, time.monotonic() < end)
        if searched is not None and searched.unfairness >= proven.unfairness - ROUNDING:
            return searched._replace(decided=proven.decided)
        return proven
