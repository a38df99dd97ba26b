"""Blocks of rows, wherever they are, and the one way to reach them: questions asked of each."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Blocks(Protocol):
    """Blocks of rows, wherever they are, and the one way to reach them."""

    def gather(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Return what each block answers to a method, in the order of the blocks.

        Of an argument that is a `ByBlock` each block gets its own.
        """
        ...

    def ask(self, number: int, method: Callable[..., T], *arguments: Any) -> T:
        """Return what one block answers to a method that doesn't change it."""
        ...


class ByBlock:
    """An argument that differs by block; a place where some blocks lie is sent theirs alone.

    >>> for_block((ByBlock(["of 0", "of 1"]), "of all"), 1)
    ['of 1', 'of all']
    """

    def __init__(self, parts: Sequence[Any] | dict[int, Any]) -> None:
        self._parts = parts if isinstance(parts, dict) else dict(enumerate(parts))

    def __getitem__(self, number: int) -> Any:
        return self._parts[number]

    def only(self, numbers: Sequence[int]) -> "ByBlock":
        """Return the parts of these blocks."""
        return ByBlock({number: self._parts[number] for number in numbers})


def for_block(arguments: Sequence[Any], number: int) -> list[Any]:
    """Return arguments as one block gets them."""
    return [part[number] if isinstance(part, ByBlock) else part for part in arguments]


class LocalBlocks:
    """Blocks in this process.

    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> from gerrymend.solvers.regression.array_block import ArrayBlock
    >>> import numpy as np
    >>> x, y, w = np.array([[1.0], [2.0]]), np.array([0, 1]), np.ones(2)
    >>> blocks = LocalBlocks([ArrayBlock(x, x, y, w, FALSE_POSITIVE_RATE)] * 2)
    >>> blocks.gather(ArrayBlock.n_features)
    [1, 1]
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        self._blocks = blocks

    def gather(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Return what each block answers."""
        return [
            block.answer(method, *for_block(arguments, number))
            for number, block in enumerate(self._blocks)
        ]

    def ask(self, number: int, method: Callable[..., T], *arguments: Any) -> T:
        """Return what one block answers."""
        answer: T = self._blocks[number].answer(method, *for_block(arguments, number))
        return answer
