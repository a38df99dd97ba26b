"""Permute decisions among people: probabilities and known attributes stay where they are.

If decisions have nothing to do with who somebody is, nor with the probabilities of it, every way to
deal the decisions of a label to its rows was as likely as the one that was seen. Fractional cells
are sums over people with fixed probabilities, so that the test is exact: it is of the largest
expected unfairness, found by the same search each time.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import check_stopped
from gerrymend.notions import FairnessNotion
from gerrymend.uncertain.people import People, Rated
from gerrymend.uncertain.search import KnownClass

# Sums of residuals that differ by less than this part of them all are ties.
_SAME = 1e-12


class ChanceTest(NamedTuple):
    """The part of the draws, the observed one among them, that have as much; and their number."""

    p_value: float
    n_draws: int


def permuted(
    people: People,
    notions: Sequence[FairnessNotion],
    classes: Sequence[KnownClass],
    *,
    n_permutations: int,
    seconds: float,
    random_state: int,
) -> ChanceTest | None:
    """Return the test of as many permutations as there is time for; None if there is for none."""
    deadline = time.monotonic() + seconds
    rng = np.random.default_rng(random_state)
    assert people.sample.p is not None
    observed = _largest(people, notions, classes, people.sample.p)
    as_large = n_draws = 0
    for _ in range(n_permutations):
        check_stopped()
        if time.monotonic() > deadline:
            break
        drawn = _largest(people, notions, classes, _dealt(people, rng))
        as_large += drawn >= observed - _SAME * people.total_weight
        n_draws += 1
    return ChanceTest((1 + as_large) / (1 + n_draws), n_draws) if n_draws else None


def _dealt(people: People, rng: np.random.Generator) -> Array:
    """Return decisions that are dealt anew among the rows of each label."""
    y, p = people.sample.y, people.sample.p
    assert p is not None
    dealt = p.copy()
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        dealt[rows] = p[rng.permutation(rows)]
    return dealt


def _largest(
    people: People,
    notions: Sequence[FairnessNotion],
    classes: Sequence[KnownClass],
    decisions: Array,
) -> float:
    """Return the largest expected sum that the search finds, over all notions."""
    return max(
        known.found(Rated.of(notion, people, decisions).expected())
        for notion, known in zip(notions, classes, strict=True)
    )
