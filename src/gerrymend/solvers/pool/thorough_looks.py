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
from functools import partial
from typing import NamedTuple

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.players.auditor import Auditor, NotionAuditor
from gerrymend.solvers.players.closing_look import LEAST_SECONDS, MOST_CELLS_PROVEN, closing_look
from gerrymend.solvers.pool.pool import Pool, PooledGroup
from gerrymend.subgroups.base import BoundClass, Bracket

# Numbers that a proof may read: about a second, at 4 ns each; and one that is to find subgroups
# rather than to prove, a tenth of that. Branch and bound finds more than as many starts.
_AUDIT_WORK = 2.5e8
_PROBE_WORK = 2.5e7
# And a search, to have more starts than `audit`: half a second.
_SEARCH_WORK = 1.25e8


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
        When the budget ends, by time.monotonic; ∞ where there is none. All looks but a closing one
        end by that of the auditor.
    """

    def __init__(self, auditor: Auditor, pool: Pool, deadline: float) -> None:
        self._auditor = auditor
        self._pool = pool
        self._deadline = deadline
        # Then the search of the rounds has found the worst, and no other look finds more.
        self.exact = all(notion.subgroups.exact for notion in auditor.notions)
        # Whether a closing look can find more: with a budget any search may be cut short, and
        # without one an audit of very many cells is all that can be afforded.
        n_cells = max(len(notion.event_weight) for notion in auditor.notions)
        harder = not self.exact and n_cells <= MOST_CELLS_PROVEN
        self.closes = harder or math.isfinite(deadline)

    def search(self, weights: Array) -> Look:
        """Search as the rounds do."""
        answer = self._auditor.worst(self._pool.decided(weights)[None], None)
        which, key = answer.key(0)
        group = PooledGroup(which, answer.found[which].members[0] > 0, key)
        return Look(group, float(answer.unfairness[0]))

    def probe(self, weights: Array) -> Look:
        """Search harder, with a short proof where that finds more."""
        return self._worst(weights, self._probed)

    def audit(self, weights: Array) -> Look:
        """Search and prove as an audit does; search with more starts where the proof can't end."""
        return self._worst(weights, self._audited)

    def close(self, weights: Array) -> Look:
        """Look as a fit ends, in all the time that is left where there is a budget."""
        left = max(LEAST_SECONDS, self._deadline - time.monotonic())
        each = left / len(self._auditor.notions)
        return self._worst(weights, partial(self._closed, seconds=each))

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
        if len(residual) > MOST_CELLS_PROVEN:
            return self._closed_in(bound.thorough(), residual, 0.0)
        return self._closed_in(bound, residual, _PROBE_WORK)

    def _audited(self, notion: NotionAuditor, residual: Array) -> Bracket:
        bound = notion.audited
        if math.isfinite(self._deadline) and not bound.exact:
            return bound.prove(residual, seconds=self._auditor.seconds())
        if len(residual) > MOST_CELLS_PROVEN:
            return self._closed_in(bound, residual, 0.0)
        bracket = self._closed_in(bound, residual, _AUDIT_WORK)
        found = abs(float(bracket.found.values[0]))
        if bracket.upper_bound <= found + ROUNDING * self._auditor.total_weight:
            return bracket
        both = bracket.found, bound.thorough(_SEARCH_WORK).worst(residual[None])
        return bracket._replace(found=max(both, key=lambda found: abs(float(found.values[0]))))

    def _closed(self, notion: NotionAuditor, residual: Array, seconds: float) -> Bracket:
        return closing_look(notion.audited, residual, seconds=seconds)

    def _look(self, which: int, bracket: Bracket) -> Look:
        found = bracket.found
        group = PooledGroup(which, found.members[0] > 0, found.keys[0])
        total = self._auditor.total_weight
        return Look(group, abs(float(found.values[0])) / total, bracket.upper_bound / total)

    def _closed_in(self, bound: BoundClass, residual: Array, work: float) -> Bracket:
        """Search, and prove from there for so much work."""
        found = self._auditor.search(bound, residual[None])
        return bound.close_in(residual, found, work=work)
