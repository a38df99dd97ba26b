"""The game on rows of Dask: blocks are made of partitions, and never leave their workers."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._validation import check_labels
from gerrymend.blocks.dask_blocks import DaskBlocks
from gerrymend.blocks.dask_rows import merged, partitions_of, read_partition, the_client
from gerrymend.blocks.game import BlockGame
from gerrymend.blocks.linear_block import LinearBlock
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.tally import nothing_counts


class PartitionBlock:
    """The block of a partition: its rows, until it is known what labels and categories there are.

    >>> block = PartitionBlock(np.eye(2), np.array(["no", "yes"]), np.eye(2), None)
    >>> block.summary().labels
    ['no', 'yes']
    """

    def __init__(self, *parts: Any) -> None:
        self._rows: Any = read_partition(*parts)
        self._block: Any = None

    def summary(self) -> Any:
        """What the client has to know of the rows."""
        return self._rows.summary()

    def begin(self, positive: Any, encoding: LinearEncoding, notion: FairnessNotion) -> Any:
        """Become a block of the game; weight of the rows, and of those in the event."""
        rows, self._rows = self._rows, None
        labels = (rows.labels == positive).astype(np.int8)
        protected = encoding.matrix(rows.columns) if len(labels) else _no_rows(encoding)
        self._block = LinearBlock(rows.features, protected, labels, rows.weight, notion)
        event = np.where(labels == 1, *notion.event[::-1])
        return math.fsum(rows.weight), math.fsum(rows.weight[event])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._block, name)


def _no_rows(encoding: LinearEncoding) -> NDArray[np.float64]:
    return np.zeros((0, len(encoding.terms)))


def dask_game(
    X: Any, y: Any, sensitive_features: Any, sample_weight: Any, notion: FairnessNotion
) -> tuple[NDArray[Any], Any]:
    """The two labels, and what begins games on these rows."""
    client = the_client()
    partitions = partitions_of(X, y, sensitive_features, sample_weight)
    blocks = DaskBlocks(client, PartitionBlock, partitions)
    rows = merged(blocks.gather("summary"))
    classes = check_labels(np.asarray(rows.labels), "y")
    encoding = LinearEncoding.of_weights(rows.levels)
    weights = blocks.gather("begin", classes.tolist()[1], encoding, notion)
    total, event = (math.fsum(part) for part in zip(*weights, strict=True))
    if total == 0:
        raise ValueError("sample_weight is zero in every row; pass at least one positive weight.")
    if event == 0:
        raise nothing_counts(notion)

    def begin(solver: Any, gammas: list[float], C: float) -> BlockGame:
        return BlockGame(blocks, notion, encoding, solver, gammas, C, dtype=rows.dtype)

    return classes, begin
