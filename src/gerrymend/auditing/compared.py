"""Work out what the rows of an audit are compared with: a mean of these rows, or a number.

The value of a subgroup is (1/n)·Σ w·(u − r). With r the mean of all rows in the event, residuals
sum to 0. With a number, or a part of a named group's mean, they sum to what everyone is off by,
which classes of subgroups know how to search (`subgroups.base`).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.protected import Column
from gerrymend.notions import PREDICTED, FairnessNotion, GroupMean
from gerrymend.subgroups.explicit import named_group
from gerrymend.subgroups.rules import Members, number


@dataclass(frozen=True, eq=False)
class Compared:
    """Hold what rows are compared with: a number, or a factor times the mean of some cells.

    Attributes
    ----------
    constant : float or None
        The number; None where it is a mean of rows.
    factor : float
        What that mean is multiplied by.
    group : array of bool or None
        The cells that the mean is over, of all; None for all of them.
    words : str or None
        What it is, in words; None for the overall rate.
    """

    constant: float | None = None
    factor: float = 1.0
    group: Members | None = None
    words: str | None = None

    @classmethod
    def of(cls, notion: FairnessNotion, columns: tuple[Column, ...]) -> "Compared":
        """Find the rows that a notion compares with; raise an ArgumentError if there are none."""
        reference = notion.reference
        if reference == PREDICTED:  # outcomes are errors, of which none is right
            return cls(constant=0.0, words=PREDICTED)
        if isinstance(reference, float):
            return cls(constant=reference, words="the reference")
        if not isinstance(reference, GroupMean):
            return cls()
        what = "rate" if notion.unit is None else "mean"
        by_name = {column.name: column for column in columns}
        try:
            rule = named_group("its group", reference.group, by_name)
        except ValueError as error:
            raise ArgumentError("reference", f"can't be worked out: {error}") from None
        group = rule.members(by_name)
        if not group.any():
            raise ArgumentError(
                "reference",
                f"is the {what} of {rule.describe()}, and there is no such row; name a group that "
                "there is.",
            )
        times = "" if reference.factor == 1 else f"{number(reference.factor)} × "
        words = f"{times}the {what} of {rule.describe()}"
        return cls(factor=reference.factor, group=group, words=words)

    def rate(
        self, outcomes: Array, mass: Array, active: NDArray[np.intp], known: float = 0.0
    ) -> Array:
        """Return what rows are compared with, from Σ w·u and Σ w, given as (…, active cells).

        `known` is returned where no row has weight.
        """
        if self.constant is not None:
            return np.full(outcomes.shape[:-1], self.constant)
        inside = slice(None) if self.group is None else self.group[active]
        total = mass[..., inside].sum(axis=-1)
        mean = outcomes[..., inside].sum(axis=-1) / np.where(total > 0, total, 1.0)
        rate: Array = np.where(total > 0, self.factor * mean, known)
        return rate

    def reach(self, low: float, high: float) -> float:
        """Return how far an outcome between two ends can be from what it is compared with."""
        if self.words is None or math.isinf(high):
            return high - low
        ends = (self.factor * low, self.factor * high)
        if self.constant is not None:
            ends = (self.constant, self.constant)
        return max(abs(end - own) for end in (low, high) for own in ends)
