"""Looks at a mixture as `audit` looks, so that an audit of the fit finds little that is worse.

The search of the rounds is asked often and must be cheap; a mixture that was weighed against what
it finds is the very one that it has nothing left to say about. So a mixture that is to stand is
searched with more starts, and then as `audit` does: by its search, and by a proof.

What a fit comes to must not depend on the clock. Unless the user gave a budget in seconds, proofs
are limited by the numbers that they read.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.players.auditor import Auditor, NotionAuditor
from gerrymend.solvers.pool.pool import Pool, PooledGroup
from gerrymend.subgroups.base import BoundClass, Bracket, Found

# Numbers that a proof may read: about a second, at 4 ns each; and one that is to find subgroups
# rather than to prove, a tenth of that. Branch and bound finds more than as many starts.
_AUDIT_WORK = 2.5e8
_PROBE_WORK = 2.5e7
# And a search, to have more starts than `audit`: half a second.
_SEARCH_WORK = 1.25e8
# With more cells than this, that much work gets nowhere.
_MOST_CELLS_PROVEN = 20_000
# The part of what is left of a budget that a proof may take.
_PROOF_SHARE = 0.5


class Look(NamedTuple):
    """The worst subgroup that was found of a mixture, and what none exceeds for certain."""

    group: PooledGroup
    unfairness: float
    upper_bound: float = math.inf


class ThoroughLooks:
    """Looks at mixtures of a pool, each more careful than the last.

    Parameters
    ----------
    auditor, pool :
        What is asked, and what mixtures are of.
    deadline : float
        When the budget ends, by time.monotonic; ∞ where there is none.
    """

    def __init__(self, auditor: Auditor, pool: Pool, deadline: float) -> None:
        self._auditor = auditor
        self._pool = pool
        self._deadline = deadline
        # Then the search of the rounds has found the worst, and no other look finds more.
        self.exact = all(notion.subgroups.exact for notion in auditor.notions)

    def search(self, weights: Array) -> Look:
        """Search as the rounds do."""
        answer = self._auditor.worst(self._pool.decided(weights)[None], None, self._found)
        which, key = answer.key(0)
        group = PooledGroup(which, answer.found[which].members[0] > 0, key)
        return Look(group, float(answer.unfairness[0]))

    def probe(self, weights: Array) -> Look:
        """Search harder, with a short proof where that finds more."""
        return self._worst(weights, self._probed)

    def audit(self, weights: Array) -> Look:
        """Search and prove as an audit does; search with more starts where the proof can't end."""
        return self._worst(weights, self._audited)

    @interruptible
    def _worst(self, weights: Array, found_by: Callable[[NotionAuditor, Array], Bracket]) -> Look:
        residuals = self._auditor.residuals(self._pool.decided(weights)[None], None)
        looks = [
            self._look(which, found_by(notion, residual[0]))
            for which, (notion, residual) in enumerate(
                zip(self._auditor.notions, residuals, strict=True)
            )
        ]
        worst = max(looks, key=lambda look: look.unfairness)
        return worst._replace(upper_bound=max(look.upper_bound for look in looks))

    def _probed(self, notion: NotionAuditor, residual: Array) -> Bracket:
        bound = notion.subgroups
        if len(residual) > _MOST_CELLS_PROVEN:
            return self._closed_in(bound.thorough(), residual, 0.0)
        return self._closed_in(bound, residual, _PROBE_WORK)

    def _audited(self, notion: NotionAuditor, residual: Array) -> Bracket:
        bound = notion.audited
        if math.isfinite(self._deadline) and not bound.exact:
            seconds = _PROOF_SHARE * max(0.0, self._deadline - time.monotonic())
            return bound.prove(residual, seconds=seconds)
        if len(residual) > _MOST_CELLS_PROVEN:
            return self._closed_in(bound, residual, 0.0)
        bracket = self._closed_in(bound, residual, _AUDIT_WORK)
        found = abs(float(bracket.found.values[0]))
        if bracket.upper_bound <= found + ROUNDING * self._auditor.total_weight:
            return bracket
        both = bracket.found, bound.thorough(_SEARCH_WORK).worst(residual[None])
        return bracket._replace(found=max(both, key=lambda found: abs(float(found.values[0]))))

    def _look(self, which: int, bracket: Bracket) -> Look:
        found = bracket.found
        group = PooledGroup(which, found.members[0] > 0, found.keys[0])
        total = self._auditor.total_weight
        return Look(group, abs(float(found.values[0])) / total, bracket.upper_bound / total)

    def _closed_in(self, bound: BoundClass, residual: Array, work: float) -> Bracket:
        """Search, and prove from there for so much work."""
        return bound.close_in(residual, self._found(bound, residual[None]), work=work)

    def _found(self, bound: BoundClass, residuals: Array) -> Found:
        """Search one residual, in half of the time that is left where there is a budget."""
        if bound.exact or math.isinf(self._deadline):
            return bound.worst(residuals)
        return bound.search(residuals[0], seconds=max(0.0, self._deadline - time.monotonic()) / 2)
