"""Rounds on a CUDA device without the cost of asking for each of their hundred small steps."""

import sys
from collections.abc import Callable
from typing import Any

from sklearn.externals.array_api_compat import device, is_torch_array

Step = Callable[[], None]

# Steps that are played before one is recorded: libraries set themselves up in the first.
_BEFORE = 3


def replayer(like: Any) -> Callable[[Step], None]:
    """Return what takes a step; on a CUDA device of torch's it is recorded once and then replayed.

    A step changes arrays in place. It must be the same in every call, but is not held between
    them: whose method it is can be let go of. Where recording fails, steps are asked for one by one
    as before.

    >>> numbers = []
    >>> replayer(like=None)(lambda: numbers.append(1))
    >>> numbers
    [1]
    """
    if not (is_torch_array(like) and device(like).type == "cuda"):
        return _take
    return _Replayer(sys.modules["torch"].cuda)


def _take(step: Step) -> None:
    step()


class _Replayer:
    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._graph: Any = None
        self._n_steps = 0

    def __call__(self, step: Step) -> None:
        self._n_steps += 1
        if self._n_steps == _BEFORE + 1:
            self._record(step)
        if self._graph is None:
            step()
        else:
            self._graph.replay()

    def _record(self, step: Step) -> None:
        """Record a step, which is not carried out by that."""
        graph = self._cuda.CUDAGraph()
        try:
            with self._cuda.graph(graph):
                step()
        except RuntimeError:
            return
        self._graph = graph
