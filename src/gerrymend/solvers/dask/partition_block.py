"""Read a partition of Dask's on its worker, make it a block, and put it into files if need be."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, TypeVar

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from gerrymend._numeric.arrays import is_device_array, on_host
from gerrymend._numeric.merged_quantiles import SortedNumbers
from gerrymend._numeric.sums import Array, total_by_cell
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.attribute_bins import AttributeBins
from gerrymend.inputs.dask_rows import Summary, read_partition
from gerrymend.inputs.fit_identity import data_digests
from gerrymend.inputs.protected import Cells, Column, distinct_rows
from gerrymend.notions import FairnessNotion
from gerrymend.solvers.dask.file_store import FileStore
from gerrymend.solvers.players.row_block import RowBlock
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.subgroups.encoding import LinearEncoding

T = TypeVar("T")

# The share of a worker's memory up to which it holds blocks; the rest is for work, and for others.
_SHARE = 0.5
# What the rows of a partition become, as a multiple of their features: a basis beside them.
_GROWTH = 2.0
# Label-cells that the client can have: their vectors are 16 MB each.
MOST_LABEL_CELLS = 2_000_000

Levels = Mapping[str, Sequence[Any] | None]
"""The categories of each attribute; None of a number."""


class Entries(NamedTuple):
    """The distinct labels, protected values and control features of a partition.

    `values` has a row for each: the label, 0 or 1, and then the attributes as numbers.
    """

    values: Array
    n_rows: NDArray[np.intp]
    weight: Array
    is_whole: bool


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
        self._sorted: tuple[str, SortedNumbers] | None = None
        self._store = None
        # What is on a device takes none of the worker's memory.
        if not is_device_array(self._rows.features):
            self._store = store_if_short(_GROWTH * self._rows.features.nbytes)
        self._put(self._rows, "features")

    def is_there(self) -> bool:
        """Return True: a block that is lost is made again before it answers."""
        return True

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
            digests = data_digests(rows.features, *labels, rows.columns, rows.weight, rows.controls)
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

        With `keeps_columns` the features themselves are kept once there is a basis. This game is
        played in the worker's memory, also where its features were on a device.
        """
        rows = self._rows
        self._rows = None
        self._keeps_columns = keeps_columns
        labels = (rows.labels == positive).astype(np.int8)
        protected = np.zeros((0, len(encoding.terms)))
        if len(labels):
            protected = encoding.matrix(rows.columns)
        with self._at_hand():
            self._block = kind(on_host(rows.features), protected, labels, rows.weight, notion)
        self._forget(rows, "features")
        self._put(self._block.features, "columns")
        event = np.where(labels == 1, *notion.event[::-1])
        return math.fsum(rows.weight), math.fsum(rows.weight[event])

    def numbers(self, name: str, method: Callable[..., T], *arguments: Any) -> T:
        """Answer a question of `SortedNumbers` about a numeric attribute, sorted once."""
        if self._sorted is None or self._sorted[0] != name:
            columns = (column for column in self._rows.columns if column.name == name)
            values = next((column.values for column in columns), np.zeros(0))
            self._sorted = name, SortedNumbers(values)
        return method(self._sorted[1], *arguments)

    def label_cells(self, positive: Any, levels: Levels, controls: Levels) -> Array | None:
        """Return the distinct label-cells; None where they are more than the client can have."""
        cells = self._distinct(positive, levels, controls, AttributeBins())
        return None if len(cells) > MOST_LABEL_CELLS else _values_of(cells)

    def settle(
        self, positive: Any, levels: Levels, controls: Levels, bins: AttributeBins
    ) -> Entries:
        """Become a block of any game; return the label-cells of the rows, in each stratum.

        `levels` and `controls` are the categories of all partitions, by attribute, and `bins` those
        of its numbers.
        """
        cells = self._distinct(positive, levels, controls, bins)
        rows = self._rows
        self._rows = None
        self._sorted = None
        check_few(len(cells))
        with self._at_hand():
            self._block = RowBlock.beside(rows.features, rows.weight, cells.index, len(cells))
        self._forget(rows, "features")
        self._put(self._block, "features")
        return Entries(
            _values_of(cells),
            np.bincount(cells.index, minlength=len(cells)),
            total_by_cell(cells.index, rows.weight, len(cells)),
            bool((rows.weight == np.rint(rows.weight)).all()),
        )

    def _distinct(
        self, positive: Any, levels: Levels, controls: Levels, bins: AttributeBins
    ) -> Cells:
        """Return the distinct label-cells of the rows, in each stratum."""
        rows = self._rows
        labels = Column("", (rows.labels == positive).astype(np.float64))
        if not len(rows.labels):
            empty = tuple(Column(name, np.zeros(0)) for name in (*levels, *controls))
            return Cells((labels, *empty), np.zeros(0, dtype=np.intp))
        protected = bins.of_columns(tuple(_recoded(rows.columns, levels)))
        return distinct_rows((labels, *protected, *_recoded(rows.controls, controls)))

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


_OWN = (
    PartitionBlock.is_there,
    PartitionBlock.summary,
    PartitionBlock.digests,
    PartitionBlock.begin,
    PartitionBlock.numbers,
    PartitionBlock.label_cells,
    PartitionBlock.settle,
)


def _values_of(cells: Cells) -> Array:
    """Return a row for each label-cell: the label, and then the attributes as numbers."""
    return np.column_stack([column.values for column in cells.columns])


def _recoded(columns: Sequence[Column], levels: Levels) -> Iterator[Column]:
    """Yield columns with the codes that categories have among those of all partitions."""
    for column in columns:
        known = levels[column.name]
        if column.categories is None or known is None:
            yield column
            continue
        code = {category: number for number, category in enumerate(known)}
        codes = np.array([code[category] for category in column.categories], dtype=np.float64)
        yield Column(column.name, codes[column.values.astype(np.intp)], tuple(known))


def check_few(n_cells: int) -> None:
    """Raise an ArgumentError for more label-cells than the client can have."""
    if n_cells > MOST_LABEL_CELLS:
        raise ArgumentError(
            "sensitive_features",
            f"makes {n_cells:,} different combinations of a label and protected values, and at "
            f"most {MOST_LABEL_CELLS:,} can be brought from a cluster. Cut numbers into fewer "
            "bins, by bins=, or merge categories; gamma is then about these.",
        )


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
