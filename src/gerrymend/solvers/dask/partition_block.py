"""Read a partition of Dask's on its worker, make it a block, and put it into files if need be."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np
from distributed import get_worker

from gerrymend.inputs.dask_rows import Summary, read_partition
from gerrymend.inputs.fit_identity import data_digests
from gerrymend.notions import FairnessNotion
from gerrymend.solvers.dask.file_store import FileStore
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.subgroups.encoding import LinearEncoding

T = TypeVar("T")

# The share of a worker's memory up to which it holds blocks; the rest is for work, and for others.
_SHARE = 0.5
# What the rows of a partition become, as a multiple of their features: a basis beside them.
_GROWTH = 2.0


class PartitionBlock:
    """The block of a partition: its rows, until it is known what labels and categories there are.

    Where the worker's memory is short, its large arrays are kept in files. What changes in every
    round (three numbers for each row of the event and each game) is in memory always.

    >>> block = PartitionBlock(np.eye(2), np.array(["no", "yes"]), np.eye(2), None)
    >>> block.summary().labels
    ['no', 'yes']
    """

    def __init__(self, *parts: Any) -> None:
        self._rows: Any = read_partition(*parts)
        self._block: Any = None
        self._store = store_if_short(_GROWTH * self._rows.features.nbytes)
        self._put(self._rows, "features")

    def summary(self) -> Summary:
        """Return what the client has to know of the rows."""
        with self._at_hand():
            summary: Summary = self._rows.summary()
        return summary

    def digests(self) -> dict[str, str]:
        """Return the sha256 of what the rows have of each argument."""
        rows = self._rows
        with self._at_hand():
            labels = np.unique(rows.labels, return_inverse=True)
            digests = data_digests(rows.features, *labels, rows.columns, rows.weight)
            return digests | {"X": f"{rows.features.dtype} {digests['X']}"}

    def begin(
        self,
        kind: type[ArrayBlock],
        positive: Any,
        encoding: LinearEncoding,
        notion: FairnessNotion,
        keeps_columns: bool = False,
    ) -> tuple[float, float]:
        """Become a block of the game; return the weight of the rows, and of those in the event.

        With `keeps_columns` the features themselves are kept once there is a basis.
        """
        rows = self._rows
        self._rows = None
        self._keeps_columns = keeps_columns
        labels = (rows.labels == positive).astype(np.int8)
        protected = np.zeros((0, len(encoding.terms)))
        if len(labels):
            protected = encoding.matrix(rows.columns)
        with self._at_hand():
            self._block = kind(rows.features, protected, labels, rows.weight, notion)
        self._forget(rows, "features")
        self._put(self._block.features, "columns")
        event = np.where(labels == 1, *notion.event[::-1])
        return math.fsum(rows.weight), math.fsum(rows.weight[event])

    def answer(self, method: Callable[..., T], *arguments: Any) -> T:
        """Answer a question: a method of this class, or one of `ArrayBlock` with arrays at hand."""
        if method in _OWN:
            return method(self, *arguments)
        with self._at_hand():
            answer = method(self._block, *arguments)
        if method is ArrayBlock.prepare:
            self._put_bases()
        return answer

    def _put_bases(self) -> None:
        """Put the bases into files; the columns themselves may not be needed any more."""
        if not self._keeps_columns:
            self._forget(self._block.features, "columns")
        self._put(self._block, "_basis", "_protected_basis", "_of_votes")

    def _at_hand(self) -> AbstractContextManager[None]:
        return nullcontext() if self._store is None else self._store.mapped()

    def _put(self, owner: Any, *attributes: str) -> None:
        if self._store is not None:
            self._store.put(owner, *attributes)

    def _forget(self, owner: Any, attribute: str) -> None:
        if self._store is not None:
            self._store.forget(owner, attribute)
        setattr(owner, attribute, None)


_OWN = (PartitionBlock.summary, PartitionBlock.digests, PartitionBlock.begin)


def store_if_short(n_bytes: float) -> FileStore | None:
    """Return a place for what a worker has no room for, or None where it has."""
    try:
        worker = get_worker()
    except ValueError:  # in no worker
        return None
    limit = worker.memory_manager.memory_limit
    if not limit or worker.monitor.get_process_memory() + n_bytes <= _SHARE * limit:
        return None
    return FileStore(worker.local_directory)
