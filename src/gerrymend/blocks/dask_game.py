"""The game on rows of Dask: blocks are made of partitions, and never leave their workers."""

import math
from typing import Any

from numpy.typing import NDArray

from gerrymend._validation import as_vector, check_labels
from gerrymend.blocks.compiled_block import CompiledBlock
from gerrymend.blocks.dask_blocks import DaskBlocks
from gerrymend.blocks.dask_rows import is_dask_native, merged, partitions_of, the_client
from gerrymend.blocks.dask_teacher import DaskTeacher
from gerrymend.blocks.estimator_game import EstimatorBlock, EstimatorGame
from gerrymend.blocks.game import BlockGame
from gerrymend.blocks.linear_block import LinearBlock
from gerrymend.blocks.partition_block import PartitionBlock
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.tally import nothing_counts


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
    classes = check_labels(as_vector(rows.labels, "y"), "y")
    encoding = LinearEncoding.of_weights(rows.levels)
    kind: type[LinearBlock] = CompiledBlock if rows.dtype == "float64" else LinearBlock
    if is_dask_native(estimator):
        kind = EstimatorBlock
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
