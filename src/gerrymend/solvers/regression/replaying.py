"""Rounds on a CUDA device without the cost of asking for each of their hundred small steps."""

import sys
from collections.abc import Callable
from typing import Any

from sklearn.externals.array_api_compat import device, is_torch_array

Step = Callable[[], tuple[Any, ...]]

# Steps that are played before one is recorded: libraries set themselves up in the first.
_BEFORE = 3


def replayed(step: Step, like: Any) -> Step:
    """The step itself; for arrays of torch on a CUDA device, recorded once and then replayed.

    A step changes arrays in place, and returns others, which are copied out of the record. Where
    recording fails, steps are asked for one by one as before.

    >>> replayed(lambda: (1, 2), like=None)()
    (1, 2)
    """
    if not (is_torch_array(like) and device(like).type == "cuda"):
        return step
    return _Replayed(step, sys.modules["torch"].cuda)


class _Replayed:
    def __init__(self, step: Step, cuda: Any) -> None:
        self._step, self._cuda = step, cuda
        self._graph: Any = None
        self._result: tuple[Any, ...] = ()
        self._n_steps = 0

    def __call__(self) -> tuple[Any, ...]:
        self._n_steps += 1
        if self._n_steps == _BEFORE + 1:
            self._record()
        if self._graph is None:
            return self._step()
        self._graph.replay()
        return tuple(part.clone() for part in self._result)

    def _record(self) -> None:
        """Record a step, which is not carried out by that."""
        graph = self._cuda.CUDAGraph()
        try:
            with self._cuda.graph(graph):
                self._result = self._step()
        except RuntimeError:
            return
        self._graph = graph
