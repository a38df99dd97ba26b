"""Rounds on a CUDA device without the cost of asking for each of their hundred small steps."""

import sys
from collections.abc import Callable
from typing import Any

from sklearn.externals.array_api_compat import device, is_torch_array

Step = Callable[[], tuple[Any, ...]]

# Steps that are played before one is recorded: libraries set themselves up in the first.
_BEFORE = 3


def replayer(like: Any) -> Callable[[Step], tuple[Any, ...]]:
    """Return what takes a step; on a CUDA device of torch's it is recorded once and then replayed.

    A step changes arrays in place, and returns others, which are copied out of the record. It must
    be the same in every call, but is not held between them: whose method it is can be let go of.
    Where recording fails, steps are asked for one by one as before.

    >>> take = replayer(like=None)
    >>> take(lambda: (1, 2))
    (1, 2)
    """
    if not (is_torch_array(like) and device(like).type == "cuda"):
        return _take
    return _Replayer(sys.modules["torch"].cuda)


def _take(step: Step) -> tuple[Any, ...]:
    return step()


class _Replayer:
    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._graph: Any = None
        self._result: tuple[Any, ...] = ()
        self._n_steps = 0

    def __call__(self, step: Step) -> tuple[Any, ...]:
        self._n_steps += 1
        if self._n_steps == _BEFORE + 1:
            self._record(step)
        if self._graph is None:
            return step()
        self._graph.replay()
        return tuple(part.clone() for part in self._result)

    def _record(self, step: Step) -> None:
        """Record a step, which is not carried out by that."""
        graph = self._cuda.CUDAGraph()
        try:
            with self._cuda.graph(graph):
                self._result = step()
        except RuntimeError:
            return
        self._graph = graph
