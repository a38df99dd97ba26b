"""What a class of subgroups can do: be bound to the cells of some rows, and answer a residual.

A residual is the centred outcome summed over each cell, W. The signed value of a subgroup is the
sum of W over its cells; the class looks for the subgroup whose value is furthest from 0. Residuals
are over the cells that have rows in the event, the only ones that matter, and come stacked, one a
row, so that many games can ask at once.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.rules import Rule


class Found(NamedTuple):
    """The subgroups that a class found, one for each residual.

    `values` are signed sums of the residual over the subgroup; `members` has 1 for its cells and 0
    for others; `keys` what the class needs to say which rule it was.
    """

    values: Array
    members: Array
    keys: NDArray[Any]


class Bracket(NamedTuple):
    """What is known of the worst |value| for one residual: a subgroup that has it, and a bound.

    `found` holds one subgroup, its |value| a lower bound; no subgroup of the class is above
    `upper_bound`. `partial` has parts of the class, in words, and what none of theirs is above.
    """

    found: Found
    upper_bound: float
    partial: tuple[tuple[str, float], ...] = ()


class RuleSource(Protocol):
    """Turns a key into a rule, without the rows it was found on."""

    def rule(self, key: Any) -> Rule:
        """The rule of a key."""
        ...


class BoundClass(ABC):
    """A class of subgroups over the cells of some rows."""

    exact: bool
    """Whether `worst` is the worst of the whole class, or only what a heuristic found."""

    n_subgroups: int | None = None
    """How many subgroups the class has, where they are fixed before any row is seen."""
    vc_dimension: int | None = None
    """The most rows that the class can divide in every way, or a bound on it; None if not known."""

    @property
    @abstractmethod
    def source(self) -> RuleSource:
        """What turns keys into rules."""

    @property
    @abstractmethod
    def covers(self) -> str:
        """The class in words: what a proof over it is a proof for."""

    @abstractmethod
    def worst(self, residuals: Array) -> Found:
        """For each residual the subgroup of the largest |value| that the class can find."""

    @property
    def quick(self) -> "BoundClass":
        """The same class with a search that costs little, to be asked many times."""
        return self

    @property
    def thorough(self) -> "BoundClass":
        """The same class with a search that looks harder, to be asked once in a while."""
        return self

    def upper_bound(self, residuals: Array) -> Array:
        """A |value| that no subgroup of the class exceeds, for each residual.

        No set of cells can do more than take all that is positive: Σ W⁺ = Σ W⁻, as W sums to 0.
        """
        if self.exact:
            return np.abs(self.worst(residuals).values)
        bound: Array = np.maximum(residuals, 0.0).sum(axis=1)
        return bound

    def prove(
        self, residual: Array, *, at_most: float | None = None, seconds: float = math.inf
    ) -> Bracket:
        """Close in on the worst |value| for one residual, from below and from above.

        Ends when the two meet; with `at_most`, as soon as either side of the bracket decides
        whether a subgroup exceeds it; or after some seconds. The bracket holds whenever it ends.
        """
        return Bracket(self.worst(residual[None]), float(self.upper_bound(residual[None])[0]))

    @abstractmethod
    def worst_of_size(self, residual: Array, rows: NDArray[np.intp], smallest: int) -> Found | None:
        """The worst that can be found of the subgroups with at least so many rows in and out.

        `rows` is the number of rows in the event by cell. None if there is no such subgroup.
        """


class SubgroupClass(BaseEstimator, ABC):
    """A class of subgroups, described by its parameters alone."""

    @abstractmethod
    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> BoundClass:
        """Encode and factorise once for these cells.

        `weight` is the weight of all rows of each cell, `event_weight` of those in the event.
        Residuals will be over the cells where the latter is positive.
        """

    def to_dict(self) -> dict[str, Any]:
        """The class as plain data: its name and its parameters.

        >>> from gerrymend import LinearThresholds
        >>> LinearThresholds(search="grid").to_dict()["name"]
        'LinearThresholds'
        """
        given = self.get_params(deep=False)
        plain = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in given.items()
        }
        return {"name": type(self).__name__, "parameters": plain}


def check_cells(n_cells: int, *by_cell: NDArray[Any]) -> None:
    """Check that arrays have one value for each cell: compiled loops don't look where they write.

    >>> check_cells(3, np.zeros(2))
    Traceback (most recent call last):
        ...
    ValueError: The class is bound to 3 cells, and was given values of 2; they must be the same.
    """
    for values in by_cell:
        if values.shape[-1] != n_cells:
            raise ValueError(
                f"The class is bound to {n_cells} cells, and was given values of "
                f"{values.shape[-1]}; they must be the same."
            )


class RuleSequence(Sequence[Rule]):
    """The rules of many keys, made when they are asked for."""

    def __init__(self, source: RuleSource, keys: Sequence[Any] | NDArray[Any]) -> None:
        self._source = source
        self._keys = keys

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> "RuleSequence": ...
    def __getitem__(self, index: int | slice) -> "Rule | RuleSequence":
        if isinstance(index, slice):
            return RuleSequence(self._source, self._keys[index])
        return self._source.rule(self._keys[index])

    def __iter__(self) -> Iterator[Rule]:
        return map(self._source.rule, self._keys)
