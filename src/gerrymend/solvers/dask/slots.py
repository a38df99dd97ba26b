"""Slots, in which the blocks of a worker's thread lie, and the keys that Dask holds to them."""

import uuid
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from gerrymend._runtime.errors import ArgumentError
from gerrymend.solvers.blocks import for_block
from gerrymend.solvers.dask.partition_block import PartitionBlock
from gerrymend.solvers.regression.array_block import ArrayBlock

T = TypeVar("T")

# What changes a block: done again, in the same order, where it is lost.
CHANGES = frozenset(
    {
        PartitionBlock.begin,
        PartitionBlock.settle,
        ArrayBlock.prepare,
        ArrayBlock.decide,
        ArrayBlock.find,
        ArrayBlock.vote,
        ArrayBlock.replay,
    }
)

Call = tuple[Callable[..., Any], tuple[Any, ...]]


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


class Slot:
    """The blocks of one thread of a worker; it stays there, as a copy would go its own way.

    It counts the changes that it was asked for: a change that the cluster asks for twice, or one
    that comes after others were lost, is not made, and no block answers.

    >>> import numpy as np
    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> from gerrymend.subgroups.encoding import LinearEncoding
    >>> slot, encoding = Slot(), LinearEncoding.of_weights({"attribute_0": None})
    >>> slot.take(7, PartitionBlock, np.eye(2), np.array([0, 1]), np.ones((2, 1)), None)
    >>> begin = PartitionBlock.begin, (ArrayBlock, 1, encoding, FALSE_POSITIVE_RATE)
    >>> slot.ask(0, [begin], 1, (ArrayBlock.n_features, ()))
    {7: 2}
    >>> slot.ask(0, [begin], 1, (ArrayBlock.n_features, ()))
    {}
    """

    def __init__(self) -> None:
        self._blocks: dict[int, Any] = {}
        self._n_changes = 0

    def take(self, number: int, make: Callable[..., Any], *rows: Any) -> None:
        """Make a block of some rows."""
        try:
            self._blocks[number] = make(*rows)
        except ArgumentError as error:
            error.lead = f"In partition {number} of the data: {error.lead}"
            raise
        except (TypeError, ValueError) as error:
            raise type(error)(f"In partition {number} of the data: {error}") from error

    def ask(self, first: int, changes: Sequence[Call], last: int, call: Call) -> dict[int, Any]:
        """Make the changes from the `first` to the `last`; then what a call to each block answers.

        The changes may have been put together into fewer.
        """
        if self._n_changes != first:
            return {}
        # A slot is for a thread: products that wake others make workers wait for each other.
        with _thread_pools().limit(limits=1):
            for change in changes:
                self._call(*change)
            answers = self._call(*call)
        self._n_changes = last + (call[0] in CHANGES)
        return answers

    def ask_one(self, number: int, call: Call) -> Any:
        """Return what one block answers to a call that doesn't change it."""
        method, arguments = call
        return self._blocks[number].answer(method, *for_block(arguments, number))

    def ask_if_there(self, number: int, call: Call) -> dict[int, Any]:
        """Return the same by its number; nothing where the block was lost with its worker."""
        if number not in self._blocks:
            return {}
        with _thread_pools().limit(limits=1):
            return {number: self.ask_one(number, call)}

    def _call(self, method: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[int, Any]:
        return {
            number: block.answer(method, *for_block(arguments, number))
            for number, block in self._blocks.items()
        }


# Of this process: what Dask holds, and puts on disk when memory is short, is only a key to it.
_SLOTS: dict[str, Slot] = {}


class SlotKey:
    """The key that Dask holds for a slot; the slot goes when Dask lets go of it.

    Dask may put it on disk and bring it back: that is the same slot, in the same process. Elsewhere
    there is none of that name, and so an empty one.

    >>> import pickle
    >>> key = SlotKey()
    >>> pickle.loads(pickle.dumps(key)).slot is key.slot
    True
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name or uuid.uuid4().hex
        self._on_disk = False
        self.slot = _SLOTS.setdefault(self._name, Slot())

    def __reduce__(self) -> Any:
        self._on_disk = True
        return SlotKey, (self._name,)

    def __del__(self) -> None:
        if not self._on_disk:
            _SLOTS.pop(self._name, None)


def do(key: SlotKey, after: Any, method: Callable[..., T], *arguments: Any) -> T:
    """Call a method of a slot, on its worker, once there is what it has to come after."""
    return method(key.slot, *arguments)
