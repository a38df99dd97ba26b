"""Looks at a mixture as `audit` looks, so that an audit of the fit finds little that is worse.

The search of the rounds is asked often and must be cheap; a mixture that was weighed against what
it finds is the very one that it has nothing left to say about. So a mixture that is to stand is
searched with more starts, and then as `audit` does: by its search, and by a proof.

What a fit comes to must not depend on the clock. Unless the user gave a budget in seconds, proofs
are limited by the numbers that they read.
"""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.players.auditor import Auditor, NotionAuditor
from gerrymend.solvers.pool.pool import Pool, PooledGroup
from gerrymend.subgroups.base import BoundClass, Bracket

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
    """The worst subgroup that was found of a mixture, and whether none is worse for certain.

    `is_last` says that to look once more would find nothing else.
    """

    group: PooledGroup
    unfairness: float
    is_closed: bool = False
    is_last: bool = True


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
        answer = self._auditor.worst(self._pool.decided(weights)[None], None)
        which, key = answer.key(0)
        group = PooledGroup(which, answer.found[which].members[0] > 0, key)
        return Look(group, float(answer.unfairness[0]))

    @interruptible
    def probe(self, weights: Array) -> Look:
        """Search harder, with a short proof where that finds more."""
        return self._worst([self._probed(*one) for one in self._residuals(weights)])

    @interruptible
    def audit(self, weights: Array, known: float, *, hopeful: bool) -> Look:
        """Search with the starts of an audit or more, then prove as far as that may go.

        If the search finds something worse than is `known`, that is all. A proof that is not
        `hopeful`, as others of the kind did not end, is short: it may yet find something.
        """
        residuals = self._residuals(weights)
        classes = [notion.audited.thorough(_SEARCH_WORK) for notion, _ in residuals]
        brackets = [
            _searched(bound, residual)
            for bound, (_, residual) in zip(classes, residuals, strict=True)
        ]
        searched = self._worst(brackets)
        if searched.unfairness > known + ROUNDING:
            return searched._replace(is_last=searched.is_closed)
        work = _AUDIT_WORK if hopeful else _PROBE_WORK
        return self._worst(
            [
                self._proven(bound, residual, bracket, work)
                for bound, (_, residual), bracket in zip(classes, residuals, brackets, strict=True)
            ]
        )

    def _residuals(self, weights: Array) -> list[tuple[NotionAuditor, Array]]:
        residuals = self._auditor.residuals(self._pool.decided(weights)[None], None)
        return list(zip(self._auditor.notions, [some[0] for some in residuals], strict=True))

    def _probed(self, notion: NotionAuditor, residual: Array) -> Bracket:
        bound = notion.subgroups
        if bound.exact or len(residual) > _MOST_CELLS_PROVEN:
            return _searched(bound.thorough(), residual)
        return bound.close_in(residual, bound.worst(residual[None]), work=_PROBE_WORK)

    def _proven(self, bound: BoundClass, residual: Array, found: Bracket, work: float) -> Bracket:
        """Go on from what a search has found, for so much work or as the budget allows."""
        if bound.exact:
            return found
        if math.isfinite(self._deadline):
            seconds = _PROOF_SHARE * max(0.0, self._deadline - time.monotonic())
            return bound.prove(residual, seconds=seconds)
        if len(residual) > _MOST_CELLS_PROVEN:
            return found
        return bound.close_in(residual, found.found, work=work)

    def _worst(self, brackets: Sequence[Bracket]) -> Look:
        looks = [self._look(which, bracket) for which, bracket in enumerate(brackets)]
        worst = max(looks, key=lambda look: look.unfairness)
        return worst._replace(is_closed=all(look.is_closed for look in looks))

    def _look(self, which: int, bracket: Bracket) -> Look:
        found = bracket.found
        group = PooledGroup(which, found.members[0] > 0, found.keys[0])
        total = self._auditor.total_weight
        unfairness = abs(float(found.values[0])) / total
        return Look(group, unfairness, bracket.upper_bound / total <= unfairness + ROUNDING)


def _searched(bound: BoundClass, residual: Array) -> Bracket:
    """Return what a search finds, which is exact or has the bound of any set of cells."""
    return bound.close_in(residual, bound.worst(residual[None]), work=0.0)
