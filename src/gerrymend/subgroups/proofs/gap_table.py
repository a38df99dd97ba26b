"""Tables of what chains are worth by their thresholds, and room to work on boxes of gaps.

See `offset_boxes` for what these are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit
from gerrymend.subgroups.proofs.gap_boxes import Flags, Gaps, Numbers

# Chains are added so many at a time: two passes over a row of eight, not eight.
AT_A_TIME = 4


class Table(NamedTuple):
    """Hold what chains are worth.

    `highest` is the most that chain y of stratum s is worth with 2^k thresholds from j on, by s, y,
    k and n + j, of n numbers, in one row, and then n zeros; each chain has `stride` of them.
    `last[s, r, q]` is what chain r is worth with its last row at number q, −∞ if none of positive
    weight is there. With `blur` 1, thresholds may be one further.
    """

    highest: Array
    last: Array
    stride: int
    blur: int


class Desk(NamedTuple):
    """Hold what is worked out for the box at hand.

    `left` and `right` are the places in a chain's table of two intervals that cover the thresholds
    of a gap, and `starts` those of the chains that are read. `profile` has bounds by stratum and
    last row, and `stage` how often they were lowered, 0 where they are not those of this box;
    `best` is the highest of each stratum, and `chain` where. `total`, `part` and `joint` are for
    families, the others for narrowing and choosing gaps.
    """

    left: Numbers
    right: Numbers
    starts: NDArray[np.uint64]
    profile: Array
    stage: NDArray[np.int8]
    best: Array
    chain: Numbers
    queue: Numbers
    waiting: Flags
    moved: Flags
    loss: Array
    total: Array
    part: Array
    joint: Array

    @classmethod
    def for_boxes(cls, table: Table, gaps: Gaps) -> "Desk":
        """Make room for the work on boxes of these gaps, one at a time."""
        n_strata, n_chains, n_numbers = table.last.shape
        n_gaps = len(gaps.opposite)
        n_starts = (n_chains + AT_A_TIME - 2) // AT_A_TIME * AT_A_TIME
        return cls(
            left=np.empty(n_gaps, dtype=np.intp),
            right=np.empty(n_gaps, dtype=np.intp),
            starts=np.empty((n_starts, 2), dtype=np.uint64),
            profile=np.empty((n_strata, n_chains, n_numbers)),
            stage=np.empty((n_strata, n_chains), dtype=np.int8),
            best=np.empty(n_strata),
            chain=np.empty(n_strata, dtype=np.intp),
            queue=np.empty(n_gaps, dtype=np.intp),
            waiting=np.empty(n_gaps, dtype=np.bool_),
            moved=np.empty(n_gaps, dtype=np.bool_),
            loss=np.empty((2, n_gaps)),
            total=np.empty(n_numbers),
            part=np.empty(n_numbers),
            joint=np.empty(3 * n_numbers + 3),
        )


@njit(inner=True, cache=True)
def level_of(size: int) -> int:
    """Return k, the largest with 2^k not above a size: two such intervals cover it."""
    level = 0
    while 2 << level <= size:
        level += 1
    return level
