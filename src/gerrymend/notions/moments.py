"""Moments: outcomes by row, as far as they are linear in what is decided. These can be trained for.

A mixture decides 1 with probability p. The mean of a(row) + b(row)·p is then linear in the mixture,
which is all that a game needs. Of a rate a and b follow from the label; of an `OutcomeNotion` they
are what its function says for decisions of 0 and 1, row by row.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError, ArgumentWarning, users_line
from gerrymend.notions.choosing import AnyNotion, NotionLike, as_notions
from gerrymend.notions.outcomes import OutcomeNotion
from gerrymend.notions.rates import FairnessNotion

# Rounding of a user's function, relative to the largest of its outcomes.
_ROUNDING = 1e-9


class Moment(NamedTuple):
    """The outcomes a + b·p of some rows, or of sets of rows that are alike.

    Attributes
    ----------
    rate : FairnessNotion
        What it is called in reports, and its unit.
    counts : array of bool
        The rows that the mean is over.
    offset, slope : arrays
        a and b.

    Examples
    --------
    >>> from gerrymend.notions import FALSE_NEGATIVE_RATE
    >>> missed = moment_of(FALSE_NEGATIVE_RATE, np.array([0, 1]))
    >>> missed.counts.tolist(), missed.offset.tolist(), missed.slope.tolist()
    ([False, True], [1.0, 1.0], [-1.0, -1.0])
    """

    rate: FairnessNotion
    counts: NDArray[np.bool_]
    offset: Array
    slope: Array

    def take(self, rows: NDArray[np.intp]) -> "Moment":
        """Return the same of some rows."""
        return Moment(self.rate, self.counts[rows], self.offset[rows], self.slope[rows])

    def over(self, scale: float) -> "Moment":
        """Return the same in another unit."""
        return self._replace(offset=self.offset / scale, slope=self.slope / scale)

    @property
    def is_own(self) -> bool:
        """True if it is a mean of numbers, which doesn't follow from the label alone."""
        return self.rate.unit is not None

    @property
    def scale(self) -> float:
        """The most that a decision changes an outcome by."""
        return float(np.abs(self.slope[self.counts]).max(initial=0.0))


def warn_of_unit(gamma: float, moments: Sequence[Moment]) -> None:
    """Warn of a gamma above what any two outcomes differ by: it is probably in another unit.

    An unfairness is a part of that, so that such a gamma asks for nothing.
    """
    widest = 0.0
    for moment in moments:
        refused = moment.offset[moment.counts]
        # a + b·p is linear in p, so that its extremes are at p = 0 and p = 1.
        ends = np.concatenate([refused, refused + moment.slope[moment.counts]])
        widest = max(widest, float(np.ptp(ends)) if len(ends) else 0.0)
    if gamma <= widest:
        return
    rate = moments[0].rate
    of_what = "rates" if rate.unit is None else f"means, in {rate.unit or 'their unit'}"
    warnings.warn(
        ArgumentWarning(
            Argument("gamma", value=f"{gamma:g}"),
            f"allows everything: an unfairness is a share of the rows times a difference of "
            f"{of_what}, and no two outcomes of these rows differ by more than {widest:g}. Nothing "
            "is asked for; pass gamma in that unit.",
        ),
        stacklevel=users_line(),
    )


def as_trainable(notion: NotionLike) -> tuple[AnyNotion, ...]:
    """Return notions that compare with the mean of all or of a stratum; refuse any others.

    What isn't centred has no game: its unfairness is not 0 where all are treated alike.

    >>> [notion.name for notion in as_trainable("equalized_odds")]
    ['false_positive_rate', 'false_negative_rate']
    """
    notions = as_notions(notion)
    for one in notions:
        reference = getattr(one, "reference", "overall")
        if reference != "overall":
            raise ArgumentError(
                "notion",
                f"compares the {one.words} with {reference!r}, and models are trained to treat "
                "groups as everyone, or everyone in their stratum: pass it without a reference. "
                "Audits take any.",
            )
    return notions


def check_decisions(notion: AnyNotion, labels: NDArray[Any]) -> None:
    """Raise an ArgumentError for labels that are no decisions of 0 and 1, where a mean needs it.

    >>> from gerrymend.notions import ABSOLUTE_ERROR
    >>> check_decisions(ABSOLUTE_ERROR, np.array([1, 2]))
    Traceback (most recent call last):
        ...
    gerrymend._runtime.errors.ArgumentError: y has the labels 1 and 2, and the notion \
'absolute_error' is a mean of what decisions of 0 and 1 bring about; code them as 0 and 1.
    """
    known = labels.tolist()
    if isinstance(notion, OutcomeNotion) and known != [0, 1]:
        raise ArgumentError(
            "y",
            f"has the labels {known[0]!r} and {known[-1]!r}, and the notion {notion.name!r} is a "
            "mean of what decisions of 0 and 1 bring about; code them as 0 and 1.",
        )


def moment_of(notion: AnyNotion, y: NDArray[np.intp]) -> Moment:
    """Return the outcomes of rows with labels 0 and 1, by what is decided.

    Raises an ArgumentError for a notion that is not linear in decisions, or not changed by them.

    >>> from gerrymend.notions import ABSOLUTE_ERROR
    >>> moment_of(ABSOLUTE_ERROR, np.array([0, 1])).slope.tolist()
    [1.0, -1.0]
    """
    if isinstance(notion, FairnessNotion):
        # The outcome at p = 0 is a.
        none = notion.outcome(y, np.zeros(len(y)))
        return Moment(notion, notion.in_event(y), none, notion.slope(y))
    return _linear(notion, y.astype(np.float64))


def check_by_label(notion: AnyNotion) -> None:
    """Raise an ArgumentError unless outcomes follow from the label and the decision of a row alone.

    Where rows are on a cluster, labels and decisions are all that is known of them here.

    >>> from gerrymend.notions import MEAN_ERROR
    >>> check_by_label(MEAN_ERROR)
    >>> check_by_label(OutcomeNotion("excess", lambda y, p: p - y.mean()))
    Traceback (most recent call last):
        ...
    gerrymend._runtime.errors.ArgumentError: notion 'excess' depends on more than y_true and \
y_pred of a row: on other rows, or on its place.
    """
    some = np.array([0, 1, 1, 1, 0, 1, 1], dtype=np.intp)
    pair = moment_of(notion, np.array([0, 1], dtype=np.intp)).take(some)
    several = moment_of(notion, some)
    # Rates compare by what they are called; the arrays say what they make of rows.
    if not all(np.allclose(a, b) for a, b in zip(pair[1:], several[1:], strict=True)):
        raise ArgumentError(
            "notion",
            f"{notion.name!r} depends on more than y_true and y_pred of a row: on other rows, or "
            "on its place.",
        )


def _linear(notion: OutcomeNotion, y: Array) -> Moment:
    """Ask a user's functions for decisions of 0 and 1, and for one that is either.

    Parameters
    ----------
    notion : OutcomeNotion
        Its functions are called with all rows, three times each.
    y : array (rows,)
        Labels 0 and 1, as numbers.

    Returns
    -------
    Moment
        With an offset and a slope of 0 where a row doesn't count.

    Raises
    ------
    ArgumentError
        If the event depends on decisions or has no row, or if the outcome is not linear in them or
        is the same whatever is decided.
    """
    # Two points fix a line, and the third tells whether it is one. A function that is linear at 0,
    # ½ and 1 and bent elsewhere would pass: users write no such functions, and games only use its
    # ends.
    decisions = [np.full(len(y), p) for p in (0.0, 0.5, 1.0)]
    counts, *others = (notion.counts(y, p) for p in decisions)
    if any((other != counts).any() for other in others):
        raise ArgumentError(
            "notion",
            f"{notion.name!r} has an event that depends on y_pred: who counts is then decided by "
            "the model, and what is compared is not linear in its decisions. It can be audited; to "
            "be trained for, its event has to be a function of y_true alone.",
        )
    refused, either, granted = (notion.outcomes(y, p, counts) for p in decisions)
    off = np.abs(either - (refused + granted) / 2)[counts]
    # Relative to the largest outcome of any row: that of a row itself may be 0.
    largest = max(np.abs(u[counts]).max(initial=0.0) for u in (refused, granted))
    if (off > _ROUNDING * largest).any():
        raise ArgumentError(
            "notion",
            f"{notion.name!r} is not linear in decisions: a row has the outcome "
            f"{refused[counts][off.argmax()]:g} if it is decided 0 and "
            f"{granted[counts][off.argmax()]:g} if it is decided 1, but "
            f"{either[counts][off.argmax()]:g} for a probability of one half. It can be audited; "
            "to train for what decisions of 0 and 1 bring about, write it as "
            "outcome(y, 0)·(1 − p) + outcome(y, 1)·p.",
        )
    # 0 for rows that don't count: outcomes there may be NaN, which 0 weight would not hide.
    slope = np.where(counts, granted - refused, 0.0)
    moment = Moment(notion.rate, counts, np.where(counts, refused, 0.0), slope)
    if not counts.any():
        raise ArgumentError(
            "notion", f"{notion.name!r} has an event that no row is in; choose another."
        )
    if not moment.scale:
        raise ArgumentError(
            "notion",
            f"{notion.name!r} has the same outcome whatever is decided, so that nothing can be "
            "learned; its outcome has to be a function of y_pred too.",
        )
    return moment
