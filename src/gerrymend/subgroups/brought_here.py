"""A class of subgroups over residuals that lie on a device, searched in memory."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.places import Place
from gerrymend._numeric.sums import Array
from gerrymend.subgroups.base import BoundClass, Bracket, Found, SubgroupClass


class BroughtHere(BoundClass):
    """Bring residuals into memory, search there, and put the members where the residuals lie.

    Parameters
    ----------
    bound : BoundClass
        Over the same cells, in memory.
    place : Place
    """

    def __init__(self, bound: BoundClass, place: Place) -> None:
        self._bound = bound
        self._place = place
        self.exact = bound.exact
        self.source = bound.source
        self.covers = bound.covers
        self.is_closed = bound.is_closed
        self.has_everyone = bound.has_everyone

    def worst(self, residuals: Any) -> Found:
        """Return the worst subgroup of each residual."""
        return self._there(self._bound.worst(on_host(residuals)))

    @property
    def quick(self) -> BoundClass:
        """The same class with a cheaper search."""
        return BroughtHere(self._bound.quick, self._place)

    def thorough(self, work: float = math.inf) -> BoundClass:
        """Return the same class with a more careful search."""
        return BroughtHere(self._bound.thorough(work), self._place)

    def one_sided(self, sign: int) -> BoundClass:
        """Return the same class, searched on one side."""
        return BroughtHere(self._bound.one_sided(sign), self._place)

    def searched_as(self, subgroups: SubgroupClass) -> BoundClass | None:
        """Return another class over the same cells, if that is known without binding."""
        other = self._bound.searched_as(subgroups)
        return None if other is None else BroughtHere(other, self._place)

    def release(self) -> None:
        """Let go of what the next search makes again."""
        self._bound.release()

    @property
    def unprovable(self) -> str:
        """Why nothing is proven over the class in any time; "" where it is."""
        return self._bound.unprovable

    def search(self, residual: Any, *, seconds: float = math.inf) -> Found:
        """Return what is found for one residual before the time is up."""
        return self._there(self._bound.search(on_host(residual), seconds=seconds))

    def upper_bound(self, residuals: Any) -> Array:
        """Return a |value| that no subgroup exceeds, for each residual."""
        return self._bound.upper_bound(on_host(residuals))

    def prove(
        self, residual: Any, *, at_most: float | None = None, seconds: float = math.inf
    ) -> Bracket:
        """Bracket the worst |value| for one residual."""
        bracket = self._bound.prove(on_host(residual), at_most=at_most, seconds=seconds)
        return bracket._replace(found=self._there(bracket.found))

    def close_in(self, residual: Any, found: Found, *, work: float) -> Bracket:
        """Bracket the worst |value| for one residual, from what was found for it."""
        here = found._replace(members=on_host(found.members))
        bracket = self._bound.close_in(on_host(residual), here, work=work)
        return bracket._replace(found=self._there(bracket.found))

    def worst_of_size(
        self,
        residual: Any,
        rows: NDArray[np.intp],
        min_group_size: int,
        *,
        seconds: float = math.inf,
    ) -> Found | None:
        """Return the worst subgroup found with at least so many rows in it and out of it."""
        residual = on_host(residual)
        found = self._bound.worst_of_size(residual, rows, min_group_size, seconds=seconds)
        return None if found is None else self._there(found)

    def _there(self, found: Found) -> Found:
        return found._replace(members=self._place.put(found.members))
