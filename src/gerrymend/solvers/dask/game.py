"""Play on rows of Dask: blocks are made of partitions, and never leave their workers."""

import math
from typing import Any

import numpy as np

from gerrymend._numeric.arrays import is_dask_frame
from gerrymend.inputs.dask_rows import is_dask_native, merged, partitions_of, the_client
from gerrymend.inputs.fit_identity import combined_digests
from gerrymend.inputs.protected import Column
from gerrymend.inputs.validation import as_vector, check_labels
from gerrymend.inputs.weights import no_weight
from gerrymend.models.mixture import LabelPredictor
from gerrymend.notions import FairnessNotion, nothing_counts
from gerrymend.solvers.dask.blocks import DaskBlocks
from gerrymend.solvers.dask.partition_block import PartitionBlock
from gerrymend.solvers.dask.teacher import DaskTeacher
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.solvers.regression.compiled_block import CompiledBlock
from gerrymend.solvers.regression.game import RegressionGame
from gerrymend.solvers.regression.learners import LEAST_SQUARES, RoundLearner, Taught
from gerrymend.solvers.regression.rows import RowsRead, SummedBlocks
from gerrymend.subgroups.encoding import LinearEncoding


def dask_game(
    X: Any, y: Any, sensitive_features: Any, sample_weight: Any, notion: FairnessNotion
) -> RowsRead:
    """Read rows of Dask on their workers."""
    client = the_client()
    partitions = partitions_of(X, y, sensitive_features, sample_weight)
    blocks = DaskBlocks(client, PartitionBlock, partitions)
    summaries = blocks.gather(PartitionBlock.summary)
    rows = merged(summaries)
    n_rows = [summary.n_rows for summary in summaries]
    classes = check_labels(as_vector(rows.labels, "y"), "y")
    encoding = LinearEncoding.of_weights(rows.levels)
    protected = tuple(
        Column(name, np.zeros(0), None if levels is None else tuple(levels))
        for name, levels in rows.levels.items()
    )

    def digests() -> dict[str, str]:
        names = {"X": repr(list(X.columns)) if is_dask_frame(X) else ""}
        parts = [names, *blocks.gather(PartitionBlock.digests)]
        return combined_digests(parts, n_rows)

    def begin(estimator: Any, solver: Any, gammas: list[float], C: float) -> RegressionGame:
        native = is_dask_native(estimator)
        kind = CompiledBlock if rows.dtype == "float64" and not native else ArrayBlock
        positive = classes.tolist()[1]
        weights = blocks.gather(PartitionBlock.begin, kind, positive, encoding, notion, native)
        total, event = (math.fsum(part) for part in zip(*weights, strict=True))
        if total == 0:
            raise no_weight()
        if event == 0:
            raise nothing_counts(notion)
        learner: RoundLearner = LEAST_SQUARES
        if native:
            teacher = DaskTeacher(client, estimator, X, n_rows, blocks)
            learner = Taught(lambda *costs: LabelPredictor(teacher(*costs)))
        summed = SummedBlocks(blocks)
        return RegressionGame(
            summed, notion, encoding, solver, gammas, C, rows.dtype, learner=learner
        )

    return RowsRead(classes, protected, rows.counts, digests, begin)
