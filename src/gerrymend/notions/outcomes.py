"""Notions of numbers: means of any outcome a row, which are compared between subgroups.

A rate is the mean of outcomes between 0 and 1; here an outcome is any number u, and the unfairness
of a subgroup is α(g)·(mean of u in g − mean of u): the share of the rows that are in the group and
count, times how far its mean is off, in the unit of the outcome. Once u is known by row nothing
else differs: `OutcomeNotion.rate` is the same sum as a `FairnessNotion`, over rows whose "decision"
is u.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.arrays import unmasked, unrounded
from gerrymend.inputs.numbers import (
    LARGEST,
    LARGEST_WHOLE,
    as_float,
    as_numbers,
    check_whole_numbers,
    is_number_type,
    short,
)
from gerrymend.notions.rates import FairnessNotion
from gerrymend.notions.references import OVERALL, Reference, check_reference, check_worse

# Outcomes that differ by less than this, or by less than this part of their size, are as good as
# equal: unfairness is compared with what is allowed to 12 digits.
_LEAST_RANGE = 1e-6
_LEAST_PART = 1e-9
# Of two arrays of numbers, y_true and y_pred; the first is None where rows have no labels.
Outcome = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class OutcomeNotion:
    """A mean of numbers, one a row, that should be the same in every subgroup.

    Parameters
    ----------
    name : str
        A name for reports; underscores are shown as spaces.
    outcome : callable
        outcome(y_true, y_pred) returns a number for each row, from two arrays of numbers.
    event : callable, optional
        event(y_true, y_pred) returns True for the rows that count; by default all do.
    reads_labels : bool, default=True
        Whether either reads y_true. Where neither does, audits take None for it, and pass it on.
    unit : str, default=""
        What the outcome is counted in, in the plural, for reports: "days".
    worse : {"higher", "lower"}, optional
        Which mean is the worse one for a group; None where that is not known, or follows from what
        is favourable. It makes no other notion.
    rises : {-1, 0, 1}, default=0
        1 if a higher prediction makes the outcome higher, −1 if it makes it lower; 0 where that
        depends on the row. With it `favourable` says which mean is worse.
    reference : "overall", float or GroupMean, default="overall"
        What groups are compared with: the mean of all rows that count, a number in the unit of the
        outcome, or a factor times the mean of a named group.

    See Also
    --------
    FairnessNotion : A rate that should be the same in every subgroup.
    Multiaccuracy : Scores that are right on average in every subgroup.
    GroupMean : A factor times the mean of a named group, for others to be compared with.

    Examples
    --------
    Days of delay, of those who waited more than a month:

    >>> import numpy as np
    >>> from gerrymend import OutcomeNotion, audit
    >>> delay = OutcomeNotion(
    ...     "delay", lambda y, waited: waited - 30, event=lambda y, waited: waited > 30,
    ...     reads_labels=False, unit="days", worse="higher")
    >>> waited = np.array([40, 50, 60, 70] * 10)
    >>> town = np.array(["Ulm", "Ulm", "Au", "Au"] * 10)
    >>> worst = audit(None, waited, sensitive_features={"town": town}, notion=delay).worst
    >>> worst.describe(), worst.rate, worst.overall_rate, worst.unfairness
    ('town = Au', 35.0, 25.0, 5.0)

    The same against a number, and not against each other: nobody is to wait 10 days on average.

    >>> report = audit(None, waited, sensitive_features={"town": town},
    ...                notion=delay.against(10))
    >>> print(report.worst, report.worst.rate, report.worst.overall_rate, report.unfairness)
    everyone 25.0 10.0 15.0

    What decisions of 0 and 1 bring about can be trained for, too, as it is linear in them:

    >>> from gerrymend import SubgroupParityClassifier
    >>> amount = np.array([100.0, 200, 300, 400] * 10)
    >>> paid = OutcomeNotion("payment", lambda y, decided: amount * decided, unit="EUR")
    >>> clf = SubgroupParityClassifier(notion=paid, gamma=10.0, subgroups="marginals")
    >>> clf = clf.fit(amount[:, None], [0, 1] * 20, sensitive_features={"town": town})
    >>> bool(abs(clf.worst_subgroup_.unfairness) <= 10.0)
    True
    """

    name: str
    outcome: Outcome
    event: Outcome | None = None
    reads_labels: bool = True
    unit: str = ""
    worse: str | None = field(default=None, compare=False)
    rises: int = field(default=0, compare=False)
    reference: Reference = OVERALL

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", check_reference(self.reference))
        for part in ("name", "unit"):
            if not isinstance(getattr(self, part), str):
                got = short(getattr(self, part))
                raise TypeError(f"{part} of an OutcomeNotion must be text; got {got}.")
        if not self.name:
            raise TypeError("name of an OutcomeNotion must be text; got ''.")
        for part in ("outcome", "event"):
            given = getattr(self, part)
            if not callable(given) and not (part == "event" and given is None):
                raise TypeError(
                    f"{part} of an OutcomeNotion must be a function of (y_true, y_pred); got "
                    f"{short(given)}."
                )
        check_worse(self.name, self.worse)
        if not isinstance(self.reads_labels, bool | np.bool_):
            raise TypeError(
                f"reads_labels of the notion {self.name!r} is True or False; got "
                f"{short(self.reads_labels)}."
            )
        if not is_number_type(type(self.rises)) or as_float(self.rises) not in (-1, 0, 1):
            raise ValueError(
                f"rises of the notion {self.name!r} is 1, −1 or 0, for an outcome that rises with "
                f"the prediction, falls, or does either; got {short(self.rises)}."
            )

    @property
    def rate(self) -> FairnessNotion:
        """The same mean over rows that were read: label 1 where they count, u for the decision."""
        # With p = u, and label 1 alone in the event, what is done with Σ w·p is done with Σ w·u.
        return FairnessNotion(
            self.name,
            (False, True),
            a=(0, 0),
            b=(1, 1),
            worse=self.worse,
            unit=self.unit,
            reference=self.reference,
        )

    def against(self, reference: Any) -> "OutcomeNotion":
        """Return the same mean, compared with another reference.

        >>> MEAN_OUTCOME.against(30).reference
        30.0
        """
        return replace(self, reference=reference)

    def to_dict(self) -> dict[str, Any]:
        """Return the notion as plain data for JSON; its functions are not in it."""
        return self.rate.to_dict()

    @property
    def words(self) -> str:
        """The name as it is written in a sentence."""
        return self.rate.words

    @property
    def harm(self) -> int:
        """The sign of the unfairness of a group that is treated worse; 0 where it is not known."""
        return self.rate.harm

    def favouring(self, favourable: str | None) -> "OutcomeNotion":
        """Return the notion with the direction that follows from what is favourable.

        "positive" is a high prediction, and "negative" a low one.

        >>> MEAN_OUTCOME.favouring("negative").worse, ABSOLUTE_ERROR.favouring(None).worse
        ('higher', 'higher')
        """
        if favourable is None or self.worse is not None or not self.rises:
            return self
        good = 1 if favourable == "positive" else -1
        return replace(self, worse="lower" if self.rises == good else "higher")

    def outcomes(self, y: Array | None, p: Array, counts: NDArray[np.bool_]) -> Array:
        """Return the outcome of each row.

        Parameters
        ----------
        y : array (rows,) or None
            What was true; None where rows have no labels.
        p : array (rows,)
            What was predicted.
        counts : array (rows,) of bool
            The rows that count; outcomes of others may be any number or NaN, and are returned too.

        Raises
        ------
        ArgumentError
            Unless all outcomes of rows that count can be used; see `check_outcomes`.
        """
        values = self._by_row("outcome", self.outcome, y, p)
        where = f"outcome of the notion {self.name!r}"
        outcomes = as_numbers(values, where)
        some = outcomes[counts]
        if values.dtype.kind in "iuO":
            check_whole_numbers(values[counts & (np.abs(outcomes) >= LARGEST_WHOLE)], where)
        if len(some):
            self.check_outcomes(float(some.min()), float(some.max()))
        return outcomes

    def check_outcomes(self, low: float, high: float) -> None:
        """Raise an ArgumentError for outcomes, by the least and the largest, that can't be used.

        NaN is either where it is an outcome.
        """
        for end in (low, high):
            if not abs(end) <= LARGEST:  # not `> LARGEST`, which is False of NaN
                raise ArgumentError(
                    "notion",
                    f"{self.name!r} has the outcome {end:g} in a row; outcomes are finite numbers, "
                    f"of at most {LARGEST:g} in size. Leave such rows out, by its event.",
                )
        if 0 < high - low < _LEAST_RANGE:
            raise ArgumentError(
                "notion",
                f"{self.name!r} has outcomes that differ by at most {high - low:g}, which can't "
                f"be told from rounding; give them in a smaller unit, so that they differ by "
                f"{_LEAST_RANGE:g} or more.",
            )
        if 0 < high - low < _LEAST_PART * max(abs(low), abs(high)):
            raise ArgumentError(
                "notion",
                f"{self.name!r} has outcomes from {low:.15g} to {high:.15g}: these differ by so "
                "small a part of their size that it can't be told from rounding. Subtract what "
                "they have in common.",
            )

    def counts(self, y: Array | None, p: Array) -> NDArray[np.bool_]:
        """Return a mask of the rows that count."""
        if self.event is None:
            return np.ones(len(p), dtype=bool)
        mask = self._by_row("event", self.event, y, p)
        if mask.dtype != bool:
            raise ArgumentError(
                "notion",
                f"{self.name!r} has an event of {mask.dtype}; it must be True or False by row.",
            )
        return mask

    def check_any_rows(self, y: Array | None, p: Array) -> None:
        """Raise an ArgumentError for outcomes of certain rows, where there are two samples.

        A function that looks numbers up by the place of a row would take those of other people.

        >>> paid = OutcomeNotion("payment", lambda y, p: np.array([100, 200, 300]) * p)
        >>> paid.check_any_rows(None, np.ones(3))
        Traceback (most recent call last):
            ...
        gerrymend._runtime.errors.ArgumentError: notion 'payment' depends on the place of a row, \
        and is to be told of two samples: it would take the numbers of other rows. Make it a \
        function of y_true and y_pred alone, or leave the second sample out.
        """
        counts = self.counts(y, p)
        here = self.outcomes(y, p, counts)[counts]
        turned = (None if y is None else y[::-1], p[::-1])
        there_counts = self.counts(*turned)
        there = self.outcomes(*turned, there_counts)[there_counts]
        # A mean of all rows may differ in its last digits.
        same = np.array_equal(there_counts[::-1], counts) and np.allclose(
            there[::-1], here, rtol=0.0, atol=1e-9 * float(np.abs(here).max(initial=0.0))
        )
        if not same:
            raise ArgumentError(
                "notion",
                f"{self.name!r} depends on the place of a row, and is to be told of two samples: "
                "it would take the numbers of other rows. Make it a function of y_true and y_pred "
                "alone, or leave the second sample out.",
            )

    def _by_row(self, part: str, function: Outcome, y: Array | None, p: Array) -> NDArray[Any]:
        """Return what a user's function makes, as an array; raise unless it has one value a row."""
        try:
            made = unrounded(unmasked(function(y, p)))
        except Exception as error:
            labels = "None, as there are no labels," if y is None else "an array of numbers"
            raise ArgumentError(
                "notion",
                f"{self.name!r} has an {part} that raised {type(error).__name__}: {error}. It is "
                f"called as {part}(y_true, y_pred), with {labels} and an array of numbers.",
            ) from error
        if made.shape != (len(p),):
            raise ArgumentError(
                "notion",
                f"{self.name!r} has an {part} of shape {made.shape} for {len(p)} rows; it must "
                "return one value a row.",
            )
        return made


def _predicted(y: Any, p: Any) -> Any:
    return p


def error_of(y: Any, p: Any) -> Any:
    """Return how far what was true is above what was predicted."""
    return y - p


def _absolute_error(y: Any, p: Any) -> Any:
    return abs(y - p)


def _squared_error(y: Any, p: Any) -> Any:
    return (y - p) ** 2


MEAN_OUTCOME = OutcomeNotion("mean_outcome", _predicted, reads_labels=False, rises=1)
# y − p falls as the prediction rises. Without its sign an error may do either, and a large one is
# bad whatever people wish for.
MEAN_ERROR = OutcomeNotion("mean_error", error_of, rises=-1)
ABSOLUTE_ERROR = OutcomeNotion("absolute_error", _absolute_error, worse="higher")
SQUARED_ERROR = OutcomeNotion("squared_error", _squared_error, worse="higher")
