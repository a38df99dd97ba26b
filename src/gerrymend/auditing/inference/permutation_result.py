"""The result of a permutation test, which reports hold."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gerrymend._numeric.sums import Array

# The level of `detectable`, and of who stands out.
LEVEL = 0.05
# What is tested where nothing else is said: that outcomes have nothing to do with attributes.
PERMUTED = "permuted"


def rank_of(n_draws: int, n_families: int) -> int:
    """Return of which rank, from above, the draw is that has to be exceeded for p ≤ LEVEL; 0: none.

    >>> rank_of(18, 1), rank_of(19, 1), rank_of(199, 2)
    (0, 1, 5)
    """
    # The last factor keeps a product that is whole from being rounded below it.
    return math.floor(LEVEL / n_families * (1 + n_draws) * (1 + 1e-12))


@dataclass(frozen=True, eq=False)
class FamilyTest:
    """The test of notions that are permuted together: one of several that an audit may make.

    Attributes
    ----------
    notions : tuple of int
        Which notions these are, by their numbers.
    p_value, detectable, searched
        As in PermutationTest, of the largest unfairness for these notions.
    draws : array
        What the search found in each draw.
    at_least : int
        Draws that are as bad as what was observed, by the search or a proof.
    n_families : int
        Tests that are made at once: each p-value is multiplied by it (Bonferroni).
    rounding : float
        Differences of no more than this are ties.
    """

    notions: tuple[int, ...]
    p_value: float
    detectable: float | None
    searched: float
    draws: Array = field(repr=False)
    at_least: int = 0
    n_families: int = 1
    rounding: float = 0.0

    def p_value_of(self, unfairness: float) -> float:
        """Return the p-value of a group with so much: that chance makes as much for any.

        It is adjusted for the whole search, whichever group it is: as none differs, none has as
        much as the largest of a draw more often than the largest has.
        """
        # A quick search is repeated, and finds less than the audit now and then: what it found is
        # all that its draws can be compared with. Less than that is had by no fewer draws.
        if abs(unfairness) >= self.searched - self.rounding:
            return self.p_value
        reached = max(int(np.sum(self.draws >= abs(unfairness) - self.rounding)), self.at_least)
        return min(1.0, self.n_families * (1 + reached) / (1 + len(self.draws)))


@dataclass(frozen=True)
class PermutationTest:
    """The unfairness that was found, beside what chance alone would make.

    Where notions are of several families, which are permuted apart, it is the test of the one that
    has the largest unfairness, and `families` has the others.

    Attributes
    ----------
    p_value : float or None
        Of "outcomes have nothing to do with the protected attributes": no subgroup differs.
    n_draws : int
        Permutations that were made; fewer than asked for where time was up. Without a p-value those
        that who stands out was tested by.
    detectable : float or None
        Unfairness must be above this for a p-value of at most 5 %; None below 19 draws, which
        can't give one.
    searched : float or None
        What the same search finds in the rows as they are. It is this that `detectable` is to be
        compared with: the audit itself looks harder than a search that is repeated so often.
    of_maximum : bool
        Whether it is a test of the class's exact maximum, or of what the search finds. Both are
        valid.
    reason : str
        Why there is no p-value.
    maxima : mapping of int to array
        By the number of the notion, how many deviations the group that stands out most is off, in
        each draw; the largest over all notions that are permuted together.
    families : tuple of FamilyTest
        The test of each family: rates over all rows, over rows of one label, of each class of more
        than two, and of each mean of numbers. Each p-value is multiplied by their number.
    n_families : int
        Their number.
    n_asked : int or None
        Permutations that were asked for, where time was up before they were made; else None.
    null : {"permuted", "right_scores", "symmetric_errors"}
        What draws are of: outcomes dealt to the rows anew; of scores, labels drawn with their
        probabilities or, of numbers, errors with signs that were drawn anew. The p-value is then of
        "scores are right for everyone", or of "errors are symmetric for everyone".

    Examples
    --------
    All blue rows are decided 1 and all green ones 0: of the 199 ways to deal them none is as bad.

    >>> from gerrymend import audit
    >>> report = audit([0] * 40, [1] * 20 + [0] * 20, subgroups="marginals", n_permutations=199,
    ...                sensitive_features={"race": ["blue"] * 20 + ["green"] * 20})
    >>> report.permutation_test.p_value, report.unfairness, report.detectable
    (0.005, 0.25, 0.075)
    """

    p_value: float | None
    n_draws: int
    detectable: float | None
    of_maximum: bool = False
    reason: str = ""
    searched: float | None = None
    maxima: Mapping[int, Array] = field(default_factory=dict, repr=False, compare=False)
    families: tuple[FamilyTest, ...] = field(default=(), repr=False, compare=False)
    n_families: int = field(default=1, repr=False)
    n_asked: int | None = field(default=None, repr=False)
    null: str = field(default=PERMUTED, repr=False)

    @property
    def is_enough(self) -> bool:
        """Return whether so many draws can give a p-value of 5 %."""
        return rank_of(self.n_draws, self.n_families) >= 1

    def of_notion(self, number: int) -> FamilyTest | None:
        """Return the test that a notion is in; None where nothing was tested."""
        return next((one for one in self.families if number in one.notions), None)

    def by_family(self, names: Mapping[int, str]) -> list[dict[str, Any]]:
        """Return the test of each family as plain data, given the names of notions by number."""
        return [
            {
                "notions": [names[number] for number in one.notions],
                "p_value": one.p_value,
                "detectable": one.detectable,
                "searched_unfairness": one.searched,
            }
            for one in self.families
        ]
