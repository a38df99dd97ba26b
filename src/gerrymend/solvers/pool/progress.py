"""Say how far a game over a pool is, and what its next step comes to."""

import math
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.solvers.pool.certificate import Certificate
from gerrymend.solvers.pool.program import Weighing
from gerrymend.solvers.pool.standing import Standing


class Stage(StrEnum):
    """Tell what the next step of a game is.

    A round; the last look; then a proof, or one more look over what other games have found; and
    nothing.
    """

    ROUNDS = "rounds"
    LOOKING = "looking"
    PLAYED = "played"
    FINISHED = "finished"


class Progress(NamedTuple):
    """Say how far a game is: all that its next step depends on, beside the pool.

    None of it is changed in place: a step replaces what it changes.
    """

    program: Weighing
    plays: list[int]
    gains: list[float]
    records: dict[int, Standing]
    stage: str = Stage.ROUNDS
    number: int = 0
    last_excess: float = math.inf
    closed: bool = False
    """Whether the last round answered the program's own duals."""
    closing_duals: Array = np.zeros(0)
    converged: bool = False
    clear: float = 1.0
    """The part of gamma that mixtures keep to, by the proofs of the last looks."""
    standing: Standing | None = None
    certificate: Certificate | None = None

    def standing_at(self, standing: Standing, **others: object) -> "Progress":
        """Return the same with another mixture, which is recorded."""
        records = self.records | {self.number: standing}
        return self._replace(standing=standing, records=records, **others)  # type: ignore[arg-type]


class Step(NamedTuple):
    """Hold what a step comes to, until it is taken in."""

    progress: Progress
    is_round: bool = False
    for_cells: Array | None = None
    """What the Learner's answer to the cells decides, if it was asked for one."""
