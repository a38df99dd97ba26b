"""Everyone as a subgroup: they have a value of their own where rows have a reference of theirs."""

from collections.abc import Iterator

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.small_groups import too_few
from gerrymend.subgroups.base import value_of_all
from gerrymend.subgroups.rules import Conjunction, Members, Rule

# A rule, and its members among the active cells.
Candidate = tuple[Rule, Members]


def everyone_of(part: Examined, residual: Array, min_group_size: int) -> Candidate | None:
    """Return everyone, if they are a subgroup of the class with a value, on the side that counts.

    Nobody is out of them, and their rate is told in any case: where they are enough rows, they may
    be described.
    """
    value = float(value_of_all(residual))
    counts = part.bound.has_everyone and value != 0 and part.sign * value >= 0
    if not counts or too_few(part.seen.rows.sum(), min_group_size):
        return None
    kinds = {column.name: column.kind for column in part.seen.tally.columns}
    return Conjunction((), kinds), np.ones(len(residual), dtype=bool)


def worse_of(
    first: Candidate | None, second: Candidate | None, residual: Array
) -> Iterator[Candidate]:
    """Yield the candidate of the larger |value|, if there is any."""
    there = [one for one in (first, second) if one is not None]
    if there:
        yield max(there, key=lambda one: abs(float(residual[one[1]].sum())))
