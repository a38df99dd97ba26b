"""A partition of Dask's on its worker: read, made a block, and put into files if need be."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import numpy as np
from distributed import get_worker

from gerrymend.inputs.dask_rows import Summary, read_partition
from gerrymend.inputs.fit_identity import data_digests
from gerrymend.notions import FairnessNotion
from gerrymend.solvers.dask.file_store import FileStore
from gerrymend.solvers.regression.array_rows import ArrayRows, Sums
from gerrymend.subgroups.encoding import LinearEncoding

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
        kind: type[ArrayRows],
        positive: Any,
        encoding: LinearEncoding,
        notion: FairnessNotion,
        keeps_columns: bool = False,
    ) -> tuple[float, float]:
        """Become a block of the game; return the weight of the rows, and of those in the event.

        With `keeps_columns` the features themselves are kept once there is a basis.
        """
        rows, self._rows, self._keeps_columns = self._rows, None, keeps_columns
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

    def prepare(self, *arguments: Any) -> Sums:
        """As `ArrayRows.prepare`; the columns themselves may not be needed any more."""
        with self._at_hand():
            sums: Sums = self._block.prepare(*arguments)
        if not self._keeps_columns:
            self._forget(self._block.features, "columns")
        self._put(self._block, "_basis", "_protected_basis", "_of_decisions")
        return sums

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Any] = getattr(self._block, name)

        @wraps(method)
        def with_arrays(*arguments: Any) -> Any:
            with self._at_hand():
                return method(*arguments)

        return with_arrays

    def _at_hand(self) -> AbstractContextManager[None]:
        return nullcontext() if self._store is None else self._store.mapped()

    def _put(self, owner: Any, *attributes: str) -> None:
        if self._store is not None:
            self._store.put(owner, *attributes)

    def _forget(self, owner: Any, attribute: str) -> None:
        if self._store is not None:
            self._store.forget(owner, attribute)
        setattr(owner, attribute, None)


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
