"""The game on rows of Dask: blocks are made of partitions, and never leave their workers."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._validation import check_labels
from gerrymend.blocks.dask_blocks import DaskBlocks
from gerrymend.blocks.dask_rows import (
    is_dask_native,
    merged,
    partitions_of,
    read_partition,
    the_client,
)
from gerrymend.blocks.dask_teacher import DaskTeacher
from gerrymend.blocks.estimator_game import EstimatorBlock, EstimatorGame
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

    def begin(
        self, kind: type, positive: Any, encoding: LinearEncoding, notion: FairnessNotion
    ) -> tuple[float, float]:
        """Become a block of the game; weight of the rows, and of those in the event."""
        rows, self._rows = self._rows, None
        labels = (rows.labels == positive).astype(np.int8)
        protected = encoding.matrix(rows.columns) if len(labels) else _no_rows(encoding)
        self._block = kind(rows.features, protected, labels, rows.weight, notion)
        event = np.where(labels == 1, *notion.event[::-1])
        return math.fsum(rows.weight), math.fsum(rows.weight[event])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._block, name)


def _no_rows(encoding: LinearEncoding) -> NDArray[np.float64]:
    return np.zeros((0, len(encoding.terms)))


def dask_game(
    estimator: Any,
    X: Any,
    y: Any,
    sensitive_features: Any,
    sample_weight: Any,
    notion: FairnessNotion,
) -> tuple[NDArray[Any], Any]:
    """The two labels, and what begins games on these rows."""
    client = the_client()
    partitions = partitions_of(X, y, sensitive_features, sample_weight)
    blocks = DaskBlocks(client, PartitionBlock, partitions)
    summaries = blocks.gather("summary")
    rows = merged(summaries)
    classes = check_labels(np.asarray(rows.labels), "y")
    encoding = LinearEncoding.of_weights(rows.levels)
    kind = EstimatorBlock if is_dask_native(estimator) else LinearBlock
    weights = blocks.gather("begin", kind, classes.tolist()[1], encoding, notion)
    total, event = (math.fsum(part) for part in zip(*weights, strict=True))
    if total == 0:
        raise ValueError("sample_weight is zero in every row; pass at least one positive weight.")
    if event == 0:
        raise nothing_counts(notion)

    def begin(solver: Any, gammas: list[float], C: float) -> BlockGame:
        settings = blocks, notion, encoding, solver, gammas, C, rows.dtype
        if not is_dask_native(estimator):
            return BlockGame(*settings)
        n_rows = [one.n_rows for one in summaries]
        return EstimatorGame(DaskTeacher(client, estimator, X, n_rows, blocks), *settings)

    return classes, begin
