"""Fairness notions: rates that are compared between subgroups.

A notion is an event E(y), which selects the rows that its rate is taken over, and an outcome
u = a(y) + b(y)·p, affine in the probability p of deciding 1. With all sums weighted, and
centre(v) = 1_E·(v − mean_E v):

- the signed unfairness of a subgroup g is ⟨g, centre(u)⟩ / n = α(g)·(u(g) − u): the share of all
  rows that are in the group and in the event, times the difference between the rate of the group
  and the overall rate;
- its gradient in p is b·centre(g) / n.

The Auditor maximises the first, and the Learner pays the second as its costs: one linear operator
and its transpose.
"""

import dataclasses
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gerrymend._numeric.sums import Array, total
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.categories import plain_type
from gerrymend.inputs.held_numbers import held
from gerrymend.inputs.numbers import LARGEST, is_number_type, plain_value, short
from gerrymend.notions.references import (
    OVERALL,
    PREDICTED,
    GroupMean,
    Reference,
    check_reference,
    check_worse,
)

# Names that sentences say otherwise.
_WORDS = {
    "statistical_parity": "rate of positive decisions",
    "multiaccuracy": "observed average",
    "multicalibration": "observed average",
}


def in_words(name: str) -> str:
    """Return the name of a rate as it is written in a sentence.

    >>> in_words("statistical_parity"), in_words("error_rate")
    ('rate of positive decisions', 'error rate')
    >>> in_words("statistical_parity[urgent]"), in_words("false_positive_rate[can_wait]")
    ('rate of decisions “urgent”', 'false positive rate of “can_wait”')
    """
    rate, of_class = rate_and_class(name)
    if of_class is not None:
        what = "rate of decisions" if rate == "statistical_parity" else f"{in_words(rate)} of"
        return f"{what} “{of_class}”"
    return _WORDS.get(name) or name.replace("_", " ")


def rate_and_class(name: str) -> tuple[str, str | None]:
    """Part the name of a rate of one class against the rest; the class is None in other names.

    >>> rate_and_class("false_positive_rate[urgent]"), rate_and_class("error_rate")
    (('false_positive_rate', 'urgent'), ('error_rate', None))
    """
    rate, bracket, rest = name.partition("[")
    return (rate, rest[:-1]) if rate and bracket and rest.endswith("]") else (name, None)


@dataclass(frozen=True)
class FairnessNotion:
    """A rate that should be the same in every subgroup.

    Parameters
    ----------
    name : str
        A name for reports; underscores are shown as spaces.
    event : pair of bool
        True if the rate is taken over rows of label 0, and over rows of label 1.
    a, b : pairs of float
        The outcome of a row is a[y] + b[y]·p, with p the probability of deciding 1. The rate is
        the mean outcome over the rows in the event.
    worse : {"higher", "lower"}, optional
        Which rate is worse for a group. By default that with more errors, where a rate counts both
        kinds; else it follows from the favourable decision (`favouring`), and is None before.
    unit : str, optional
        Of a mean of numbers, what these are counted in, or ""; None for a rate. An OutcomeNotion
        has it.
    of_class : label, optional
        The class that labels and decisions are, against all others, where there are more than two:
        audits make such notions themselves (`against_the_rest`).
    reference : "overall", float or GroupMean, default="overall"
        What groups are compared with: the rate of all rows in the event, a number, or a factor
        times the rate of a named group. Audits take any; training takes "overall".

    See Also
    --------
    OutcomeNotion : A mean of numbers, one a row, that should be the same in every subgroup.

    Examples
    --------
    >>> accuracy = FairnessNotion("accuracy", event=(True, True), a=(1, 0), b=(-1, 1))
    >>> y, decision, members = [0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0]
    >>> accuracy.unfairness(y, decision, members)  # half of the rows, accuracy 1/2 against 3/4
    -0.125
    """

    name: str
    event: tuple[bool, bool]
    a: tuple[float, float]
    b: tuple[float, float]
    worse: str | None = dataclasses.field(default=None, compare=False)
    unit: str | None = None
    of_class: Any = None
    reference: Reference = OVERALL

    def __post_init__(self) -> None:
        # PREDICTED is for notions of scores alone.
        if not (isinstance(self.reference, str) and self.reference == PREDICTED):
            object.__setattr__(self, "reference", check_reference(self.reference))
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name of a FairnessNotion must be text; got {short(self.name)}.")
        if self.unit is not None and not isinstance(self.unit, str):
            raise TypeError(f"unit of a FairnessNotion must be text or None; got {self.unit!r}.")
        if self.of_class is not None:
            plain = plain_type(type(self.of_class))
            if plain is None or (plain is float and not math.isfinite(self.of_class)):
                raise TypeError(
                    "of_class of a FairnessNotion must be one label, a number or text, or None; "
                    f"got {short(self.of_class)}."
                )
            # Written into reports, as JSON; the class is frozen.
            object.__setattr__(self, "of_class", plain_value(self.of_class))
        for field, read in (("event", _as_flag), ("a", _as_coefficient), ("b", _as_coefficient)):
            pair = getattr(self, field)
            unsized = isinstance(pair, np.ndarray) and pair.ndim == 0
            if not isinstance(pair, tuple | list | np.ndarray) or unsized or len(pair) != 2:
                raise ValueError(
                    f"{field} of a FairnessNotion has a value for label 0 and one for label 1; "
                    f"got {short(pair)}."
                )
            # The class is frozen; this replaces what was given by plain data.
            object.__setattr__(self, field, tuple(read(value, field) for value in pair))
        if not any(self.event):
            raise ValueError(
                f"event of the notion {self.name!r} is False for both labels, so that no row is "
                "in it; pass True for at least one."
            )
        check_worse(self.name, self.worse)
        if self.worse is None and (direction := self._of_errors()):
            object.__setattr__(self, "worse", direction)

    def __repr__(self) -> str:
        """Return the notion as code; the reference is left out where it is the overall rate.

        >>> FALSE_POSITIVE_RATE.against(0.1)
        FairnessNotion(name='false_positive_rate', event=(True, False), a=(0, 0), b=(1, 1), \
        worse=None, unit=None, of_class=None, reference=0.1)
        """
        named = [part.name for part in dataclasses.fields(self)]
        shown = [name for name in named if name != "reference" or self.reference != OVERALL]
        return f"FairnessNotion({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def _of_errors(self) -> str | None:
        """Return the worse side of a rate that counts errors, or right decisions, of both labels.

        A decision of 1 is wrong for label 0 and right for label 1: an outcome that rises with the
        one and falls with the other counts errors, and whoever has more of them is worse off.
        """
        if not all(self.event) or self.b[0] * self.b[1] >= 0:
            return None
        return "higher" if self.b[0] > 0 else "lower"

    def favouring(self, favourable: str | None) -> "FairnessNotion":
        """Return the notion with the direction that follows from the favourable decision.

        `favourable` is the decision that people wish for, "positive" or "negative", or None where
        that is not known. A notion whose direction is known already, or can't be, stays as it is.

        >>> FALSE_POSITIVE_RATE.favouring("positive").worse  # a loan that is granted by mistake
        'lower'
        >>> FALSE_POSITIVE_RATE.favouring("negative").worse  # an arrest that is made by mistake
        'higher'
        >>> ERROR_RATE.favouring(None).worse
        'higher'
        """
        # Labels outside of the event say nothing of the direction. Slopes of both signs make
        # neither of the two below true, no slope at all makes both so: then it can't be known.
        slopes = [self.b[label] for label in (0, 1) if self.event[label] and self.b[label]]
        rises = all(slope > 0 for slope in slopes)
        falls = all(slope < 0 for slope in slopes)
        if favourable is None or self.worse is not None or rises == falls:
            return self
        # The rate rises with decisions of 1: with fewer of what is favourable it is low.
        return replace(self, worse="lower" if rises == (favourable == "positive") else "higher")

    def of_other_label(self) -> "FairnessNotion":
        """Return the same rate where the other label is called the positive one.

        With y' = 1 − y and p' = 1 − p the outcome a(y') + b(y')·p' is
        [a(1 − y) + b(1 − y)] − b(1 − y)·p. Of a rate over all rows that rises with p alone the sign
        is all that changes, and it is the same notion.

        >>> FALSE_POSITIVE_RATE.of_other_label().name, ERROR_RATE.of_other_label().name
        ('false_negative_rate', 'error_rate')
        """
        if self == STATISTICAL_PARITY:
            return self
        a = (self.a[1] + self.b[1], self.a[0] + self.b[0])
        b = (-self.b[1], -self.b[0])
        event = (self.event[1], self.event[0])
        turned = replace(self, event=event, a=a, b=b)
        for known in (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE):
            if replace(known, name=self.name) == turned:
                return known
        return turned

    def against_the_rest(self, label: Any) -> "FairnessNotion":
        """Return the same rate of one class against all others: it is the positive label.

        >>> FALSE_NEGATIVE_RATE.against_the_rest("urgent").name
        'false_negative_rate[urgent]'
        """
        return replace(self, name=f"{self.name}[{label}]", of_class=label)

    def against(self, reference: Any) -> "FairnessNotion":
        """Return the same rate, compared with another reference.

        >>> STATISTICAL_PARITY.against(0.25).reference
        0.25
        """
        return replace(self, reference=reference)

    @property
    def harm(self) -> int:
        """The sign of the unfairness of a group that is treated worse; 0 where it is not known."""
        return {"higher": 1, "lower": -1, None: 0}[self.worse]

    @property
    def reads_labels(self) -> bool:
        """True unless every row counts, and its outcome is the same whatever its label is.

        >>> STATISTICAL_PARITY.reads_labels, ERROR_RATE.reads_labels
        (False, True)
        """
        return not all(self.event) or self.a[0] != self.a[1] or self.b[0] != self.b[1]

    @property
    def words(self) -> str:
        """The name as it is written in a sentence."""
        return in_words(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the notion as plain data for JSON."""
        return {
            "name": self.name,
            "event": [bool(selected) for selected in self.event],
            "a": [float(value) for value in self.a],
            "b": [float(value) for value in self.b],
            "worse": self.worse,
            "unit": self.unit,
            "class": self.of_class,
            **self._reference_data(),
        }

    def _reference_data(self) -> dict[str, Any]:
        """Return the reference as plain data; nothing where it is the overall rate."""
        if self.reference == OVERALL:
            return {}
        own = self.reference
        return {"reference": own.to_dict() if isinstance(own, GroupMean) else own}

    @property
    def outcome_range(self) -> tuple[float, float]:
        """The smallest and the largest outcome that a row can have; of numbers, ±infinity."""
        if self.unit is not None:
            return -math.inf, math.inf
        labels = [label for label in (0, 1) if self.event[label]]
        # The outcome is affine in p, so its extremes are at the ends.
        ends = [self.a[label] + self.b[label] * p for label in labels for p in (0.0, 1.0)]
        return min(ends), max(ends)

    def in_event(self, y: ArrayLike) -> NDArray[np.bool_]:
        """Return a mask of the rows in the event; `y` has labels 0 and 1."""
        return np.asarray(self.event, dtype=bool)[np.asarray(y, dtype=np.intp)]

    def outcome(self, y: ArrayLike, p: ArrayLike) -> Array:
        """Return the outcome u = a(y) + b(y)·p of each row."""
        label = np.asarray(y, dtype=np.intp)  # an index into the pairs a and b
        outcome: Array = np.asarray(self.a, float)[label] + self.slope(y) * np.asarray(p, float)
        return outcome

    def slope(self, y: ArrayLike) -> Array:
        """Return b(y), the derivative of each row's outcome by its decision."""
        return np.asarray(self.b, float)[np.asarray(y, dtype=np.intp)]

    def residual(self, y: ArrayLike, p: ArrayLike, weight: ArrayLike | None = None) -> Array:
        """Return centre(u), which the Auditor sums over subgroups, per unit of weight.

        Of a notion with a number for a reference it is 1_E·(u − reference).
        """
        if isinstance(self.reference, float):
            less: Array = np.where(self.in_event(y), self.outcome(y, p) - self.reference, 0.0)
            return less
        return self._centre(y, self.outcome(y, p), weight)

    def pull(self, y: ArrayLike, members: ArrayLike, weight: ArrayLike | None = None) -> Array:
        """Return b·centre(g), the Learner's cost of deciding 1 in each row, per unit of weight."""
        # With weighted sums ⟨g, centre(v)⟩ = Σ_E g·v − Σ_E g · Σ_E v / Σ_E 1 is the same with g
        # and v exchanged: as the derivative of u by p is b, that of ⟨g, centre(u)⟩ is b·centre(g).
        return self.slope(y) * self._centre(y, np.asarray(members, float), weight)

    def unfairness(
        self, y: ArrayLike, p: ArrayLike, members: ArrayLike, weight: ArrayLike | None = None
    ) -> float:
        """Return the signed unfairness of a subgroup, positive if its rate is above the overall.

        `members` has 1 for rows in the subgroup and 0 for others; weights are 1 by default. Raises
        ValueError if no row in the event has positive weight.

        >>> FALSE_POSITIVE_RATE.unfairness([0, 0, 1, 1], [1, 0, 1, 1], members=[1, 0, 0, 0])
        0.125
        """
        residual = self.residual(y, p, weight)
        w = _weights(residual, weight)
        return total(w * residual * np.asarray(members, float)) / total(w)

    def _centre(self, y: ArrayLike, values: Array, weight: ArrayLike | None) -> Array:
        """Return 1_E·(v − mean_E v), with the weighted mean over the event."""
        if self.reference != OVERALL:
            raise ArgumentError(
                "reference",
                f"of the notion {self.name!r} is {short(self.reference)}, which audits compare "
                "with; here it has to be 'overall'.",
            )
        event = self.in_event(y)
        event_weight = _weights(values, weight) * event
        if not event_weight.any():
            raise ValueError(
                f"There are no rows for the notion {self.name!r}: its event is empty, or has no "
                "positive weight."
            )
        mean = total(event_weight * values) / total(event_weight)
        # Weighted, these add up to 0: the unfairness to all others is that to a group with its
        # sign turned.
        centred: Array = np.where(event, values - mean, 0.0)
        return centred


def _as_flag(value: Any, field: str) -> bool:
    """Return True or False, also for 1 or 0; raise TypeError for anything else."""
    if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
        raise TypeError(
            f"{field} of a FairnessNotion holds True or False for each label; got {short(value)}."
        )
    return bool(value)


def _as_coefficient(value: Any, field: str) -> float:
    """Return a number so small that its sums over any number of rows are finite."""
    number = held(value, field) if is_number_type(type(value)) else math.nan
    if not abs(number) <= LARGEST:
        raise ValueError(
            f"{field} of a FairnessNotion holds finite numbers, of at most {LARGEST:g} in size; "
            f"got {short(value)}. A rate has outcomes between 0 and 1."
        )
    return value if isinstance(value, int | float) else number


def _weights(values: Array, weight: ArrayLike | None) -> Array:
    return np.ones(len(values)) if weight is None else np.asarray(weight, float)


# Pairs are (label 0, label 1). The outcome is p itself where a decision of 1 is counted, and 1 − p
# where it is missed: a = 1, b = −1.
FALSE_POSITIVE_RATE = FairnessNotion("false_positive_rate", (True, False), a=(0, 0), b=(1, 1))
FALSE_NEGATIVE_RATE = FairnessNotion("false_negative_rate", (False, True), a=(1, 1), b=(-1, -1))
STATISTICAL_PARITY = FairnessNotion("statistical_parity", (True, True), a=(0, 0), b=(1, 1))
ERROR_RATE = FairnessNotion("error_rate", (True, True), a=(0, 1), b=(1, -1))
EQUALIZED_ODDS = (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE)


def nothing_counts(notion: FairnessNotion) -> ArgumentError:
    """Return the error for a notion whose event has no rows of positive weight."""
    wanted = " or ".join(str(label) for label in (0, 1) if notion.event[label])
    rows = f"rows of label {wanted} (0 and 1 in the order of the classes)"
    if notion.of_class is not None:
        rows = f"rows whose label is {'' if notion.event[1] else 'not '}“{notion.of_class}”"
    if notion.unit is not None:
        rows = "rows for which its event is True"
    what = "rate" if notion.unit is None else "mean"
    return ArgumentError(
        "notion",
        ".",
        lead=f"There are no rows for the {notion.words}: it is a {what} over {rows}, and none has "
        "positive weight. Choose another ",
    )
