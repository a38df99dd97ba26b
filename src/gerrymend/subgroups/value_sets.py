"""Groups by any set of values of an attribute, intersected over a few attributes."""

from collections.abc import Sequence
from functools import partial

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.inputs.settings import check_whole
from gerrymend.subgroups.base import BoundClass, SubgroupClass
from gerrymend.subgroups.conjunctions import check_bins
from gerrymend.subgroups.products.scales import Scale, axes_of, cuts_in_words

# Values of which all sets are tried: 2^22 sets are about a second.
_MOST_VALUES = 22


class ValueSets(SubgroupClass):
    """Every set of values of a category, intersected over a few attributes. Exact.

    Numbers lie in an interval, as in `Conjunctions`. For one attribute the worst set is that of all
    values with too high a rate (or too low); of several attributes all sets are tried but for the
    one with the most values, whose best follows. So every other attribute may have 22 values, all
    that are tried together.

    Parameters
    ----------
    max_depth : int, default=2
        Most attributes of a group.
    bins : int, optional
        Cut numbers into at most so many bins of equal weight, instead of at every value.

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
        """Rank the values of each attribute."""
        max_depth = check_whole(self.max_depth, "max_depth", low=1)
        bins = check_bins(self.bins)
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
    """All sets of values of all attributes but the last of a product can be tried."""
    from gerrymend.subgroups.products.search import n_options

    ordered = sorted(
        scales, key=lambda one: n_options("interval" if one.is_number else "set", one.size)
    )
    for last in range(len(ordered)):
        tried = sorted((s.size, s.name) for s in ordered[:last] if not s.is_number)
        tried = tried[::-1][: max_depth - 1]
        if sum(size for size, _ in tried) > _MOST_VALUES:
            shown = " and ".join(f"{name!r} ({size} values)" for size, name in tried)
            raise ValueError(
                f"ValueSets(max_depth={max_depth}) has to try all sets of values of {shown}, and "
                f"{_MOST_VALUES} values together is the most that can be. Merge rare values, leave "
                f"an attribute out, lower max_depth, or use Conjunctions(), where a category has "
                "one value."
            )
