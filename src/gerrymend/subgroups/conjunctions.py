"""Conjunctions of values and intervals: the groups that people name, searched exactly."""

from functools import partial

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.inputs.settings import check_choice, check_whole
from gerrymend.subgroups.base import BoundClass, SubgroupClass
from gerrymend.subgroups.products.scales import axes_of, cuts_in_words

# Quantiles are looked up one by one: more bins take long, and separate few values more.
_MOST_BINS = 100_000


class Conjunctions(SubgroupClass):
    """Every conjunction of a few conditions, each on a different attribute. Exact.

    A condition is that a category has one value, or that a number lies in an interval.

    Parameters
    ----------
    max_depth : int, default=2
        The largest number of conditions of a group. Two give the intersections that are easiest to
        act on, and take well under a second on most data; three or four take seconds if attributes
        have few values.
    numeric : {"intervals", "half_lines"}, default="intervals"
        Let numbers lie between two cuts, or on one side of one cut, which makes fewer groups and
        is faster.
    bins : int, optional
        Cut numbers into at most this many bins of equal weight, instead of at every value. The
        proof then holds for these bins, and states where the cuts are.

    See Also
    --------
    ValueSets : Every set of values of a category, intersected over a few attributes. Exact.
    Trees : Every union of leaves of a small decision tree.
    LinearThresholds
        Subgroups Σ coefficient·attribute ≥ threshold; categories enter as indicators.

    Examples
    --------
    >>> from gerrymend import audit
    >>> A = {"race": ["blue", "blue", "green", "green"] * 12, "age": [20, 30, 20, 30] * 12}
    >>> report = audit([0] * 48, [1, 0, 0, 0] * 12, sensitive_features=A,
    ...                subgroups=Conjunctions(max_depth=2))
    >>> print(report.worst, report.unfairness, report.exact)
    race = blue and age < 25 0.1875 True
    >>> report.covers
    'every conjunction of at most 2 conditions on race, age; numbers cut at every value'
    """

    def __init__(
        self, max_depth: int = 2, *, numeric: str = "intervals", bins: int | None = None
    ) -> None:
        self.max_depth = max_depth
        self.numeric = numeric
        self.bins = bins

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> BoundClass:
        """Check the parameters and rank the values of each attribute."""
        max_depth = check_whole(self.max_depth, "max_depth", low=1)
        numeric = check_choice(self.numeric, "numeric", ("intervals", "half_lines"))
        bins = check_bins(self.bins)
        # Imported after the checks, since it loads numba.
        from gerrymend.subgroups.products.search import ProductSearch

        axes = axes_of(columns, weight, event_weight > 0, bins)
        scales = [axis.scale for axis in axes]
        number_kind = numeric.removesuffix("s")
        kinds = [number_kind if scale.is_number else "category" for scale in scales]
        names = ", ".join(scale.name for scale in scales)
        any_number = any(scale.is_number for scale in scales)
        sides = ", on one side of a cut" if numeric == "half_lines" and any_number else ""
        words = partial(_in_words, on=f"{names}{cuts_in_words(scales, bins)}{sides}")
        return ProductSearch(axes, kinds, max_depth, words)


def _in_words(depth: int, on: str) -> str:
    from gerrymend.subgroups.products.search import conditions

    return f"every conjunction of {conditions(depth)} on {on}"


def check_bins(bins: int | None) -> int | None:
    """Return `bins` as an int from 2 to 100,000, or None; raise for anything else."""
    if bins is None:
        return None
    remedy = "Pass None to cut at every value."
    number = check_whole(bins, "bins", low=2, remedy=remedy)
    if number > _MOST_BINS:
        raise ValueError(f"bins must be at most {_MOST_BINS:,}; got {bins!r}. {remedy}")
    return number
