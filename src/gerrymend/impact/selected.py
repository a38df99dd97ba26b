"""Read who was selected: decisions, scores cut at a threshold, or scores above their median."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.classes import Decided, Names
from gerrymend.inputs.identifiers import refuse_identifiers
from gerrymend.inputs.numbers import is_number_type, kinds_of, short
from gerrymend.inputs.protected import Column
from gerrymend.inputs.sample import Numbers, Sample, read_vector
from gerrymend.inputs.settings import check_choice
from gerrymend.inputs.validation import check_cut

# What a rate is of: those who are selected, or those who score above the sample's median.
SELECTION = "selection"
SCORING = "scoring"
RATES = (SELECTION, SCORING)
# There are no labels; where one is named it is of the decisions.
_NAMES = Names(labels="y_pred")


@dataclass(frozen=True, eq=False)
class Selected:
    """Rows that were read and checked, and who of them is selected.

    Attributes
    ----------
    is_in : array (n_rows,) of bool
        Who is selected, or scores above the median.
    columns : tuple of Column
        The protected attributes.
    weight : array (n_rows,)
        Ones where none were given.
    is_weighted : bool
    label : object or None
        The decision that is selected; None of scores.
    threshold, median : float or None
        Where scores are cut, which those at or above it pass; the median, which some are above.
    """

    is_in: NDArray[np.bool_]
    columns: tuple[Column, ...]
    weight: Array
    is_weighted: bool
    label: Any = None
    threshold: float | None = None
    median: float | None = None

    @classmethod
    def read(
        cls,
        y_pred: Any,
        protected: Any,
        weight: Any = None,
        *,
        rate: str = SELECTION,
        threshold: Any = None,
        pos_label: Any = None,
    ) -> "Selected":
        """Read rows in any container; the arguments are those of impact_ratios().

        >>> sex = {"sex": ["F", "M", "M", "F"]}
        >>> Selected.read(["no", "yes", "yes", "no"], sex).is_in.tolist()
        [False, True, True, False]
        >>> read = Selected.read([1, 2, 3, 7], sex, rate="scoring")
        >>> read.median, read.is_in.tolist()
        (2.5, [False, False, True, True])
        """
        if check_choice(rate, "rate", RATES) == SCORING:
            read = cls._of_scores(y_pred, protected, weight, threshold, pos_label)
        else:
            read = cls._of_decisions(y_pred, protected, weight, threshold, pos_label)
        refuse_identifiers(read.columns, len(read.is_in))
        _check_both(read)
        return read

    @classmethod
    def _of_scores(
        cls, scores: Any, protected: Any, weight: Any, threshold: Any, pos_label: Any
    ) -> "Selected":
        """Read scores, and who is above the median of them all."""
        for argument, value in (("threshold", threshold), ("pos_label", pos_label)):
            if value is not None:
                raise ArgumentError(
                    Argument(argument, value=short(value)),
                    "is for decisions, and ",
                    Argument("rate", value="'scoring'"),
                    " takes scores, of which those above the sample's median count; leave one of "
                    "them out.",
                )
        numbers = Numbers.read(None, scores, protected, weight)
        median = weighted_median(numbers.p, numbers.weight)
        return cls(
            numbers.p > median, numbers.columns, numbers.weight, weight is not None, median=median
        )

    @classmethod
    def _of_decisions(
        cls, y_pred: Any, protected: Any, weight: Any, threshold: Any, pos_label: Any
    ) -> "Selected":
        """Read decisions of two values, or scores that a threshold makes decisions of."""
        cut = check_cut(threshold, False)
        if cut is None:
            _check_decisions(read_vector(y_pred, "y_pred"), pos_label)
        sample = Sample.read(
            None, protected, weight, decisions=y_pred,
            decided=Decided(threshold=threshold, pos_label=pos_label), names=_NAMES,
        )  # fmt: skip
        assert sample.p is not None
        label = None if cut is not None else sample.pair[1]
        return cls(
            sample.p == 1, sample.columns, sample.weight, sample.is_weighted, label, threshold=cut
        )


def weighted_median(values: Array, weight: Array) -> float:
    """Return the value with half of the weight on either side, or the middle of the two that have.

    >>> weighted_median(np.array([3.0, 1.0, 2.0, 7.0]), np.ones(4))
    2.5
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([3.0, 1.0, 1.0]))
    3.0
    """
    order = np.argsort(values, kind="stable")
    kept = order[weight[order] > 0]
    below = np.cumsum(weight[kept])
    half = below[-1] / 2
    first = int(np.searchsorted(below, half))
    low = float(values[kept[first]])
    if below[first] > half:
        return low
    # Halves before they are added: the sum of two large scores may be infinite.
    return low / 2 + float(values[kept[first + 1]]) / 2


def _check_decisions(decisions: NDArray[Any], pos_label: Any) -> None:
    """Raise an ArgumentError for scores, and for one decision, where two values are needed."""
    values = decisions.tolist()
    kinds = kinds_of(values)
    if not all(getattr(kind, "__hash__", None) for kind in kinds):
        return  # the reader says what these are
    distinct = set(values)
    if len(distinct) == 1:
        raise _one_sided(f"is {short(values[0])} in every row", "")
    if len(distinct) > 2 and pos_label is None and all(map(is_number_type, kinds)):
        raise ArgumentError(
            "y_pred",
            f"has {len(distinct):,} different numbers, which are scores, and decisions have two "
            "values. Pass ",
            Argument("threshold", value="0.5"),
            ", say, if those at or above it are selected; or ",
            Argument("rate", value="'scoring'"),
            " to compare how many score above the sample's median.",
        )


def _check_both(read: Selected) -> None:
    """Raise an ArgumentError unless some are selected, and some are not."""
    counted = read.is_in[read.weight > 0]
    if not counted.all() and counted.any():
        return
    whom = "everyone" if counted.all() else "nobody"
    if read.median is not None:
        raise _one_sided(f"has no score above the median, {read.median:g}", " in scores")
    where = f" at or above the threshold {read.threshold:g}" if read.threshold is not None else ""
    raise _one_sided(f"selects {whom}{where}", "")


def _one_sided(what: str, of: str) -> ArgumentError:
    """Return the error for rows that are all selected, or none of them."""
    return ArgumentError(
        "y_pred",
        f"{what}: where all are treated alike there is no difference{of} to show, and a ratio to "
        "nobody is none. Pass the rows of those who were selected and of those who were not.",
    )
