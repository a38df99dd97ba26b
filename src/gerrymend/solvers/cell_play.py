"""Play as if every protected row were a group of its own.

Every subgroup is a union of cells, the rows with the same protected values. A mixture that treats
each cell alike, whose mean residual W_c / m_c is 0 in every cell c, therefore treats every subgroup
alike, whatever the class. To minimise the error under these constraints has the Lagrangian
err(D) + Σ_c ν_c·W_c / n; a step of gradient ascent on ν after each play D of the Learner is

    ν_c ← ν_c + η·W_c(D) / m_c.

Its plays are candidates for the program beside those that answer subgroups. They are what is left
where the allowed unfairness is near 0 and subgroups are so many that finding them one by one takes
too long; where it is large the program has no use for them. Strains grow until plays hardly change
any more; so they start from 0 again after a while, with a Learner that has come elsewhere.
"""

import numpy as np

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend.solvers.base import State
from gerrymend.solvers.players.auditor import Auditor

# η: a cell that is decided 1 where others are not is worth one error more to the Learner.
_STEP = 1.0
# Plays after which the strains start again.
_START_AGAIN = 18


class CellPlay:
    """Keep the strains ν of the cells, over the plays so far."""

    def __init__(self, auditor: Auditor) -> None:
        self._auditor = auditor
        self._place = auditor.place
        self._weight = [self._place.put(notion.event_weight) for notion in auditor.notions]
        self._strain = [self._place.zeros(1, len(weight)) for weight in self._weight]
        self._n_plays = 0

    def cost(self) -> Array:
        """Return the cost of deciding 1 in each label-cell."""
        return self._auditor.cost(self._strain)

    def answered(self, decided: Array) -> None:
        """Take the step that the Learner's answer asks for, given what it decides."""
        self._n_plays += 1
        residuals = self._auditor.residuals(decided[None], 1)
        for weight, strain, residual in zip(self._weight, self._strain, residuals, strict=True):
            strain += _STEP * residual / weight
            if self._n_plays % _START_AGAIN == 0:
                strain[:] = 0.0

    def state(self) -> State:
        """Return the strains as they are now."""
        strain = [np.array(on_host(strain)) for strain in self._strain]
        return {"strain": strain, "n_plays": self._n_plays}

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self._strain = [self._place.take_back(strain) for strain in state["strain"]]
        self._n_plays = state["n_plays"]
