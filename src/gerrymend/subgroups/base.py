"""The interface of a class of subgroups: `SubgroupClass.bind` to cells, then `BoundClass.worst`.

A residual W is the outcome less what it is compared with, summed over each cell. The signed value
of a subgroup is the sum of W over its cells, and the class searches for the subgroup whose value is
furthest from 0. Compared with the overall rate W sums to 0. Compared with anything else it sums to
some S, the value of everyone, and the complement of a subgroup of value v has S − v. A class that
is closed under complement then has max(−v) = max(v) − S: the worst side is that of S, and

    max |v| = max |v − S/2| + |S|/2

where v − S/2 only changes its sign with the side, so that searches need not know which is theirs.

Residuals cover only the cells with rows in the event, since W is 0 on the others. They are stacked
in an array of shape (n_residuals, n_cells), so that many games are answered by one call.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.places import Place
from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.rules import Rare, Rule

# A sum of residuals is 0 where it is no more than this part of what they are in all.
_ROUNDING = 1e-12


class Found(NamedTuple):
    """The subgroups that a search found, one for each residual.

    Attributes
    ----------
    values : array of shape (n_residuals,)
        Signed sums of each residual over its subgroup.
    members : array of shape (n_residuals, n_cells)
        1 for the cells of the subgroup and 0 for the others.
    keys : array of length n_residuals
        What `BoundClass.source` needs to make the rule of each.
    """

    values: Array
    members: Array
    keys: NDArray[Any]


class Bracket(NamedTuple):
    """A lower and an upper bound on the worst |value| for one residual.

    Attributes
    ----------
    found : Found
        One subgroup, whose |value| is the lower bound.
    upper_bound : float
        A |value| that no subgroup of the class exceeds.
    partial : tuple of (str, float)
        Parts of the class, in words, each with an upper bound of its own. A search that ran out of
        time may have finished these.
    """

    found: Found
    upper_bound: float
    partial: tuple[tuple[str, float], ...] = ()


class RuleSource(Protocol):
    """Makes rules of keys, and keeps none of the rows that they were found on."""

    def rule(self, key: Any) -> Rule:
        """Return the rule of a key."""
        ...


class BoundClass(ABC):
    """A class of subgroups over the cells of some rows.

    A subclass implements `worst` and `worst_of_size`, and sets `exact`, `source` and `covers`. One
    that is not exact may improve on `upper_bound`, and on `prove` if a good bound takes time.
    A search that can take long overrides `search`, which has a clock.
    """

    exact: bool
    """True if `worst` returns the worst of the whole class, False if it is a heuristic."""
    source: RuleSource
    """The object that makes rules of the keys in `Found`."""
    covers: str
    """The class in words, as in "proven for every …"."""

    is_closed: bool = False
    """True if the complement of every subgroup is a subgroup too, by `Rule.complement`."""
    has_everyone: bool = False
    """True if everyone is a subgroup, and `worst` finds them where nothing is worse."""

    @abstractmethod
    def worst(self, residuals: Array) -> Found:
        """Return, for each residual, the subgroup of the largest |value| that the search finds.

        `residuals` has shape (n_residuals, n_cells).
        """

    @property
    def quick(self) -> "BoundClass":
        """The same class with a cheaper search, for callers that ask in every round."""
        return self

    def thorough(self, work: float = math.inf) -> "BoundClass":
        """Return the same class with a more careful search, for callers that ask rarely.

        It is as careful as reading about so many numbers allows, and never less than this one.
        """
        return self

    def one_sided(self, sign: int) -> "BoundClass":
        """Return the same class, searched for subgroups whose value has this sign, 1 or −1.

        It finds no one, of value 0, where there are none. A class that is not closed under
        complement overrides it, or else what is on the side that `worst` doesn't find is missed,
        and only bounded.
        """
        from gerrymend.subgroups.one_sided import OneSided

        return OneSided(self, sign)

    def at(self, place: Place) -> "BoundClass":
        """Return the same class for residuals that lie at a place, where members come to lie too.

        By default they are brought into memory for each search.
        """
        from gerrymend.subgroups.brought_here import BroughtHere

        return BroughtHere(self, place)

    def searched_as(self, subgroups: "SubgroupClass") -> "BoundClass | None":
        """Return what another class would be over the same cells, if that is known without binding.

        It is of classes that differ in nothing but how hard they are searched.
        """
        return None

    def release(self) -> None:
        """Let go of what takes much memory and is made again by the next search.

        A class that has it overrides this; a caller who won't search for a while calls it.
        """
        return None

    @property
    def unprovable(self) -> str:
        """Why nothing is proven over the class in any time, and what to change; "" where it is."""
        return ""

    def search(self, residual: Array, *, seconds: float = math.inf) -> Found:
        """Return what `worst` finds for one residual, or has found when the time is up.

        A class whose search can take long overrides it.
        """
        return self.worst(residual[None])

    def upper_bound(self, residuals: Array) -> Array:
        """Return, for each residual, a |value| that no subgroup of the class exceeds.

        A class that is exact answers with its worst. For others the bound is `most_of_any`.
        """
        return np.abs(self.worst(residuals).values) if self.exact else most_of_any(residuals)

    def prove(
        self,
        residual: Array,
        *,
        at_most: float | None = None,
        seconds: float = math.inf,
    ) -> Bracket:
        """Bracket the worst |value| for one residual, from below and from above.

        Parameters
        ----------
        residual : array of shape (n_cells,)
        at_most : float, optional
            Stop as soon as the bracket decides whether a subgroup exceeds this |value|. By default
            the search goes on until both sides meet.
        seconds : float
            Stop after this time. The bracket holds whenever the search stops.
        """
        return self.close_in(residual, self.worst(residual[None]), work=0.0)

    def close_in(self, residual: Array, found: Found, *, work: float) -> Bracket:
        """Bracket the worst |value| for one residual, from what `worst` has found for it.

        A proof ends after it has read about so many numbers, so that the bracket is the same
        whenever it is asked for.
        """
        if self.exact:
            return Bracket(found, abs(float(found.values[0])))
        return Bracket(found, float(self.upper_bound(residual[None])[0]))

    @abstractmethod
    def worst_of_size(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        min_group_size: int,
        *,
        seconds: float = math.inf,
    ) -> Found | None:
        """Return the worst subgroup found with at least `min_group_size` rows in it and out of it.

        `rows` is the number of rows in the event, by cell. Returns None if no subgroup is so large,
        or none was found in so many seconds.
        """


class SubgroupClass(BaseEstimator, ABC):
    """A class of subgroups, defined by its parameters; it knows no data until it is bound."""

    @abstractmethod
    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> BoundClass:
        """Prepare the search over these cells: check parameters, encode and factorise once.

        Parameters
        ----------
        columns : tuple of Column
            The protected attributes, one value a cell.
        weight, event_weight : arrays of shape (n_cells,)
            Weight of all rows of each cell, and of its rows in the event. Residuals are then over
            the cells where `event_weight` is positive, in the same order.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the parameters of the class, as plain data for JSON.

        >>> from gerrymend import LinearThresholds
        >>> LinearThresholds(search="grid").to_dict()["name"]
        'LinearThresholds'
        """
        given = self.get_params(deep=False)
        # JSON doesn't know NumPy's scalars.
        plain = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in given.items()
        }
        return {"name": type(self).__name__, "parameters": plain}


def value_of_all(residuals: Array) -> Array:
    """Return the value of everyone, S = Σ W, by residual; 0.0 where it is but rounding.

    >>> value_of_all(np.array([[0.1, 0.2, -0.3], [0.5, -0.25, 0.0]])).tolist()
    [0.0, 0.25]
    """
    total = on_host(residuals.sum(axis=-1))
    is_rounding = np.abs(total) <= _ROUNDING * on_host(abs(residuals).sum(axis=-1))
    value: Array = np.where(is_rounding, 0.0, total)
    return value


def most_of_any(residuals: Array) -> Array:
    """Return the largest |value| of any set of cells at all, by residual.

    No set does better than to take every positive cell, or every negative one: Σ W⁺ or Σ W⁻, the
    former where W sums to 0 or more.
    """
    everyone = value_of_all(residuals)
    # In operators alone, as residuals may be on a device.
    up = on_host((residuals * (residuals > 0)).sum(axis=-1))
    down = on_host((residuals * (residuals < 0)).sum(axis=-1))
    most: Array = np.where(everyone < 0, -down, up)
    return most


def check_cells(n_cells: int, *by_cell: NDArray[Any]) -> None:
    """Check that the last axis of each array has one value a cell.

    Compiled loops don't check bounds, so a wrong length would write outside the array.

    >>> check_cells(3, np.zeros(2))
    Traceback (most recent call last):
        ...
    ValueError: The class is bound to 3 cells, but got values of 2; pass one value for each cell.
    """
    for values in by_cell:
        if values.shape[-1] != n_cells:
            raise ValueError(
                f"The class is bound to {n_cells} cells, but got values of {values.shape[-1]}; "
                "pass one value for each cell."
            )


class RuleSequence(Sequence[Rule]):
    """A sequence of rules, each made from its key when it is accessed; none tells `rare` values."""

    def __init__(
        self, source: RuleSource, keys: Sequence[Any] | NDArray[Any], rare: Rare | None = None
    ) -> None:
        self._source = source
        self._keys = keys
        self._rare = rare or {}

    def withholding(self, rare: Rare) -> "RuleSequence":
        """Return the same rules, which tell none of these values."""
        return RuleSequence(self._source, self._keys, rare)

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> "RuleSequence": ...
    def __getitem__(self, index: int | slice) -> "Rule | RuleSequence":
        if isinstance(index, slice):
            return RuleSequence(self._source, self._keys[index], self._rare)
        return self._source.rule(self._keys[index]).withholding(self._rare)

    def __iter__(self) -> Iterator[Rule]:
        return map(self.__getitem__, range(len(self)))
