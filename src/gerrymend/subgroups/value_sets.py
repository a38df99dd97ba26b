"""Products of value sets: any set of values of an attribute, intersected over a few of them."""

from collections.abc import Sequence
from functools import partial

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.inputs.settings import check_whole
from gerrymend.subgroups.base import BoundClass, SubgroupClass
from gerrymend.subgroups.conjunctions import check_bins
from gerrymend.subgroups.products.scales import Scale, axes_of, cuts_in_words

# The most values whose sets are all enumerated: 2^22 sets take about a second.
_MOST_VALUES = 22


class ValueSets(SubgroupClass):
    """Every set of values of a category, intersected over a few attributes. Exact.

    Numbers lie in an interval, as in `Conjunctions`. For one attribute the worst set is that of all
    values with too high a rate, or of all with too low a rate. For several, all sets of all of them
    are enumerated except for the attribute with the most values, whose best set follows from the
    others. So the attributes that are enumerated together may have 22 values in all.

    Parameters
    ----------
    max_depth : int, default=2
        The largest number of attributes of a group.
    bins : int, optional
        Cut numbers into at most this many bins of equal weight, instead of at every value.

    See Also
    --------
    Conjunctions : Every conjunction of a few conditions, each on a different attribute. Exact.
    Trees : Every union of leaves of a small decision tree.
    LinearThresholds
        Subgroups Σ coefficient·attribute ≥ threshold; categories enter as indicators.

    Examples
    --------
    >>> from gerrymend import audit
    >>> A = {"race": ["blue", "green", "red"] * 20, "sex": ["F", "M"] * 30}
    >>> y_pred = [int(r != "red" and s == "F") for r, s in zip(A["race"], A["sex"])]
    >>> report = audit([0] * 60, y_pred, sensitive_features=A, subgroups=ValueSets())
    >>> print(report.worst)
    race in {blue, green} and sex = F
    >>> report.covers
    'every product of value sets of at most 2 attributes, of race, sex'
    """

    def __init__(self, max_depth: int = 2, *, bins: int | None = None) -> None:
        self.max_depth = max_depth
        self.bins = bins

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> BoundClass:
        """Check the parameters and rank the values of each attribute.

        Raises ValueError if there are too many value sets to enumerate.
        """
        max_depth = check_whole(self.max_depth, "max_depth", low=1)
        bins = check_bins(self.bins)
        # Imported after the checks, since it loads numba.
        from gerrymend.subgroups.products.search import ProductSearch

        axes = axes_of(columns, weight, event_weight > 0, bins)
        scales = [axis.scale for axis in axes]
        _check_few_values(scales, max_depth)
        kinds = ["interval" if scale.is_number else "set" for scale in scales]
        names = ", ".join(scale.name for scale in scales)
        words = partial(_in_words, of=f"{names}{cuts_in_words(scales, bins)}")
        return ProductSearch(axes, kinds, max_depth, words)


def _in_words(depth: int, of: str) -> str:
    few = "one attribute" if depth == 1 else f"at most {depth} attributes"
    return f"every product of value sets of {few}, of {of}"


def _check_few_values(scales: Sequence[Scale], max_depth: int) -> None:
    """Raise ValueError if a product would enumerate the sets of more than `_MOST_VALUES` values."""
    from gerrymend.subgroups.products.search import n_options

    # In the order of the search: the last attribute of a product, with the most options, is not
    # enumerated. For each choice of it, the worst case is the largest categories before it.
    ordered = sorted(
        scales, key=lambda scale: n_options("interval" if scale.is_number else "set", scale.size)
    )
    for last in range(len(ordered)):
        tried = sorted((s.size, s.name) for s in ordered[:last] if not s.is_number)
        tried = tried[::-1][: max_depth - 1]
        if sum(size for size, _ in tried) > _MOST_VALUES:
            shown = " and ".join(f"{name!r} ({size} values)" for size, name in tried)
            raise ValueError(
                f"ValueSets(max_depth={max_depth}) has to try all sets of values of {shown}, and "
                f"can do so for at most {_MOST_VALUES} values together. Merge rare values, leave "
                "an attribute out, lower max_depth, or use Conjunctions(), where a category has "
                "one value."
            )
