"""Fairness notions: which rows count, and which rate is compared.

A notion is an event E(y), the rows that count, and an outcome u = a(y) + b(y)·p, affine in the
probability p of deciding 1. With centre(v) = 1_E·(v − mean_E v) and all sums weighted:

- the signed unfairness of a subgroup g is ⟨g, centre(u)⟩ / n = α(g)·(u(g) − u), the share of all
  rows that are in the group and the event, times how far the group's rate is from the overall one;
- its gradient in p is b·centre(g) / n.

The Auditor searches the first, the Learner pays the second: one linear operator and its transpose.
"""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gerrymend._numeric.sums import Array, total
from gerrymend.inputs.numbers import LARGEST, as_float, is_number_type, short
from gerrymend.inputs.settings import did_you_mean


def in_words(name: str) -> str:
    """The name of a rate as a reader would say it.

    >>> in_words("statistical_parity"), in_words("error_rate")
    ('rate of positive decisions', 'error rate')
    """
    return "rate of positive decisions" if name == "statistical_parity" else name.replace("_", " ")


@dataclass(frozen=True)
class FairnessNotion:
    """A rate that should be the same in every subgroup.

    Parameters
    ----------
    name : str
        What to call it.
    event : pair of bool
        Whether rows of label 0, and of label 1, count.
    a, b : pairs of float
        The outcome of a row is a[y] + b[y]·p, with p the probability of deciding 1.

    Examples
    --------
    The accuracy, as a notion of one's own:

    >>> accuracy = FairnessNotion("accuracy", event=(True, True), a=(1, 0), b=(-1, 1))
    >>> y, decision, members = [0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0]
    >>> accuracy.unfairness(y, decision, members)  # half of the rows, accuracy 1/2 against 3/4
    -0.125
    """

    name: str
    event: tuple[bool, bool]
    a: tuple[float, float]
    b: tuple[float, float]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name of a FairnessNotion must be text; got {short(self.name)}.")
        for field, read in (("event", _as_flag), ("a", _as_coefficient), ("b", _as_coefficient)):
            pair = getattr(self, field)
            if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
                raise ValueError(
                    f"{field} of a FairnessNotion has a value for label 0 and one for label 1; "
                    f"got {short(pair)}."
                )
            object.__setattr__(self, field, tuple(read(value, field) for value in pair))
        if not any(self.event):
            raise ValueError(f"event of the notion {self.name!r} holds no label: no row counts.")

    @property
    def words(self) -> str:
        """The name as a reader would say it."""
        return in_words(self.name)

    def to_dict(self) -> dict[str, Any]:
        """The notion as plain data."""
        return {
            "name": self.name,
            "event": [bool(counts) for counts in self.event],
            "a": [float(value) for value in self.a],
            "b": [float(value) for value in self.b],
        }

    @property
    def outcome_range(self) -> tuple[float, float]:
        """The smallest and the largest outcome that a row can have."""
        labels = [label for label in (0, 1) if self.event[label]]
        ends = [self.a[label] + self.b[label] * p for label in labels for p in (0.0, 1.0)]
        return min(ends), max(ends)

    def in_event(self, y: ArrayLike) -> NDArray[np.bool_]:
        """Rows that count."""
        return np.asarray(self.event, dtype=bool)[np.asarray(y, dtype=np.intp)]

    def outcome(self, y: ArrayLike, p: ArrayLike) -> Array:
        """The outcome u = a(y) + b(y)·p of each row."""
        label = np.asarray(y, dtype=np.intp)
        outcome: Array = np.asarray(self.a, float)[label] + self.slope(y) * np.asarray(p, float)
        return outcome

    def slope(self, y: ArrayLike) -> Array:
        """b(y): how the outcome of each row moves with its decision."""
        return np.asarray(self.b, float)[np.asarray(y, dtype=np.intp)]

    def residual(self, y: ArrayLike, p: ArrayLike, weight: ArrayLike | None = None) -> Array:
        """centre(u): what the Auditor searches, per unit of weight."""
        return self._centre(y, self.outcome(y, p), weight)

    def pull(self, y: ArrayLike, members: ArrayLike, weight: ArrayLike | None = None) -> Array:
        """b·centre(g): what the Learner pays for deciding 1, per unit of weight."""
        return self.slope(y) * self._centre(y, np.asarray(members, float), weight)

    def unfairness(
        self, y: ArrayLike, p: ArrayLike, members: ArrayLike, weight: ArrayLike | None = None
    ) -> float:
        """Signed unfairness of a subgroup: positive where its rate is above the overall one.

        >>> FALSE_POSITIVE_RATE.unfairness([0, 0, 1, 1], [1, 0, 1, 1], members=[1, 0, 0, 0])
        0.125
        """
        residual = self.residual(y, p, weight)
        w = _weights(residual, weight)
        return total(w * residual * np.asarray(members, float)) / total(w)

    def _centre(self, y: ArrayLike, values: Array, weight: ArrayLike | None) -> Array:
        event = self.in_event(y)
        mass = _weights(values, weight) * event
        if not mass.any():
            raise ValueError(f"No row counts for the notion {self.name!r}: its event is empty.")
        centred: Array = np.where(event, values - total(mass * values) / total(mass), 0.0)
        return centred


def _as_flag(value: Any, field: str) -> bool:
    """Return whether rows count: True or False, or 1 or 0."""
    if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
        raise TypeError(
            f"{field} of a FairnessNotion holds True or False for each label; got {short(value)}."
        )
    return bool(value)


def _as_coefficient(value: Any, field: str) -> float:
    """Return a finite number; sums over any number of rows are finite too."""
    number = as_float(value) if is_number_type(type(value)) else math.nan
    if not abs(number) <= LARGEST:
        raise ValueError(
            f"{field} of a FairnessNotion holds finite numbers, of at most {LARGEST:g} in size; "
            f"got {short(value)}. A rate has outcomes between 0 and 1."
        )
    return value if isinstance(value, int | float) else number


def _weights(values: Array, weight: ArrayLike | None) -> Array:
    return np.ones(len(values)) if weight is None else np.asarray(weight, float)


FALSE_POSITIVE_RATE = FairnessNotion("false_positive_rate", (True, False), a=(0, 0), b=(1, 1))
FALSE_NEGATIVE_RATE = FairnessNotion("false_negative_rate", (False, True), a=(1, 1), b=(-1, -1))
STATISTICAL_PARITY = FairnessNotion("statistical_parity", (True, True), a=(0, 0), b=(1, 1))
ERROR_RATE = FairnessNotion("error_rate", (True, True), a=(0, 1), b=(1, -1))
EQUALIZED_ODDS = (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE)

_BY_NAME: dict[str, tuple[FairnessNotion, ...]] = {
    notion.name: (notion,)
    for notion in (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE, STATISTICAL_PARITY, ERROR_RATE)
} | {"equalized_odds": EQUALIZED_ODDS}

NOTION_NAMES = tuple(_BY_NAME)

NotionLike: TypeAlias = "str | FairnessNotion | tuple[str | FairnessNotion, ...]"


def as_notions(notion: NotionLike) -> tuple[FairnessNotion, ...]:
    """The notions behind a name, an instance, or a collection of these.

    >>> [n.name for n in as_notions("equalized_odds")]
    ['false_positive_rate', 'false_negative_rate']
    """
    if isinstance(notion, FairnessNotion):
        return (notion,)
    if isinstance(notion, str):
        if notion not in _BY_NAME:
            raise ValueError(
                f"notion={notion!r} is unknown{did_you_mean(notion, _BY_NAME)}. "
                f"Known: {', '.join(_BY_NAME)}; or pass a FairnessNotion."
            )
        return _BY_NAME[notion]
    if isinstance(notion, tuple | list) and notion:
        return tuple(dict.fromkeys(one for part in notion for one in as_notions(part)))
    raise TypeError(
        f"notion must be a name, a FairnessNotion, or a non-empty tuple of these; got {notion!r}."
    )


def nothing_counts(notion: FairnessNotion) -> ValueError:
    """The error for an event without rows."""
    wanted = " or ".join(str(label) for label in (0, 1) if notion.event[label])
    return ValueError(
        f"No row counts for the {notion.words}: it is a rate over rows of label {wanted} (0 and 1 "
        "in the order of the classes), and there is none with positive weight. Choose another "
        "notion."
    )
