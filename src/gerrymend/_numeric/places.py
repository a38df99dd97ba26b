"""The place where long vectors lie: memory, or a device that their rows are on too.

Games compute with vectors that have a number for each label-cell. Where millions of people differ
in protected values, and are on a device, so are these vectors: to move one takes longer than all
that is computed with it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.externals.array_api_compat import array_namespace, device, is_numpy_array

from gerrymend._numeric.arrays import on_host


@dataclass(frozen=True)
class Place:
    """A library of arrays, and the device that its arrays lie on.

    Parameters
    ----------
    xp : module, default=numpy
        With the functions of the array API.
    device : object, default=None
        None is memory, where arrays are of NumPy.

    Examples
    --------
    >>> MEMORY.zeros(2).tolist(), MEMORY.is_memory
    ([0.0, 0.0], True)
    """

    xp: Any = np
    device: Any = None

    @classmethod
    def of(cls, array: Any) -> "Place":
        """Return the place of an array."""
        return MEMORY if is_numpy_array(array) else cls(array_namespace(array), device(array))

    @property
    def is_memory(self) -> bool:
        """Return whether arrays are those of NumPy."""
        return self.device is None

    def put(self, values: Any) -> Any:
        """Return values as an array that is here, without a copy where they are already."""
        return values if self.is_memory else self.xp.asarray(values, device=self.device)

    def take_back(self, values: Any) -> Any:
        """Return values of memory or of another place, such as those of a checkpoint, here."""
        return on_host(values) if self.is_memory else self.put(values)

    def copy(self, values: Any) -> Any:
        """Return a copy of an array that is here."""
        return self.xp.asarray(values, copy=True)

    def zeros(self, *shape: int) -> Any:
        """Return zeros in float64."""
        if self.is_memory:
            return np.zeros(shape)
        return self.xp.zeros(shape, dtype=self.xp.float64, device=self.device)

    def ranks(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the distinct ones of values in memory, in order, and the rank of each value.

        A device sorts for it, in a small part of the time.
        """
        if self.is_memory:
            distinct, rank = np.unique(values, return_inverse=True)
        else:
            distinct, rank = map(on_host, self.xp.unique_inverse(self.put(values)))
        return distinct, rank.astype(np.intp, copy=False)

    def order(self, keys: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the order of keys in memory; equal ones stay in theirs."""
        if self.is_memory:
            return np.argsort(keys, kind="stable")
        return on_host(self.xp.argsort(self.put(keys), stable=True)).astype(np.intp, copy=False)

    def as_numbers(self, members: Any) -> Any:
        """Return a mask as 0.0 and 1.0."""
        if self.is_memory:
            return members.astype(np.float64)
        return self.xp.astype(self.put(members), self.xp.float64)


MEMORY = Place()
