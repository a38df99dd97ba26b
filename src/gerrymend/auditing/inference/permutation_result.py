"""The result of a permutation test, which reports hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gerrymend._numeric.sums import Array

# What is tested where nothing else is said: that outcomes have nothing to do with attributes.
PERMUTED = "permuted"


@dataclass(frozen=True)
class PermutationTest:
    """The unfairness that was found, beside what chance alone would make.

    Attributes
    ----------
    p_value : float or None
        Of "outcomes have nothing to do with the protected attributes": no subgroup differs.
    n_draws : int
        Permutations that were made; fewer than asked for where time was up.
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
    n_families : int
        Tests that the p-value is over, which it was multiplied by.
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
    n_families: int = field(default=1, repr=False)
    n_asked: int | None = field(default=None, repr=False)
    null: str = field(default=PERMUTED, repr=False)
