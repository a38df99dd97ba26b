"""Rows on the workers of a Dask cluster: label-cells are merged here, and rows stay there."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gerrymend._numeric.arrays import is_dask_frame
from gerrymend.auditing.strata import checked_strata
from gerrymend.inputs.dask_rows import is_dask_native, merged, partitions_of, the_client
from gerrymend.inputs.fit_identity import combined_digests
from gerrymend.inputs.protected import Column, check_spreads
from gerrymend.inputs.validation import as_vector, check_labels
from gerrymend.inputs.weights import no_weight
from gerrymend.models.estimators import can_be_fitted_from_sums
from gerrymend.notions import OutcomeNotion, check_decisions, moment_of, warn_of_unit
from gerrymend.solvers import GameSolver
from gerrymend.solvers.dask.blocks import DaskBlocks
from gerrymend.solvers.dask.partition_block import Entries, PartitionBlock, check_few
from gerrymend.solvers.dask.teacher import DaskTeacher, TaughtByDask
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.block_learners import BlockLearner, learner_from_sums
from gerrymend.solvers.players.block_rows import BlockRows, LabelCellBlocks
from gerrymend.solvers.players.learning_in_parts import LearnerInParts
from gerrymend.solvers.players.row_block import RowBlock
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.solvers.regression.rows import RowsRead
from gerrymend.training.cluster_bins import bins_there
from gerrymend.training.games import Game, Setting, game_of, rate_of

# Outcomes are functions of the label and the decision alone, so that one row of each label tells.
_BOTH = np.array([0, 1], dtype=np.intp)


def read_cluster(
    X: Any,
    y: Any,
    sensitive_features: Any,
    control_features: Any,
    sample_weight: Any,
    setting: Setting,
) -> RowsRead:
    """Read rows of Dask on their workers, for any game over label-cells."""
    client = the_client()
    data = y, sensitive_features, sample_weight, control_features
    blocks = DaskBlocks(client, PartitionBlock, partitions_of(X, *data))
    summaries = blocks.gather(PartitionBlock.summary)
    rows = merged(summaries)
    n_rows = [summary.n_rows for summary in summaries]
    classes = check_labels(as_vector(rows.labels, "y"), "y")
    for notion in setting.notions:
        check_decisions(notion, classes)
    levels = _categories(rows.levels)
    controls = _categories(rows.controls)
    settled = classes.tolist()[1], levels, controls
    bins = bins_there(blocks, settled, rows.n_rows, setting.bins)

    def digests() -> dict[str, str]:
        names = {"X": repr(list(X.columns)) if is_dask_frame(X) else ""}
        # A mean is known by its name elsewhere: what its functions make of labels is in here.
        if means := [one for one in setting.notions if isinstance(one, OutcomeNotion)]:
            made = [[part.tolist() for part in moment_of(one, _BOTH)[1:]] for one in means]
            names["notion"] = repr(made)
        return combined_digests([names, *blocks.gather(PartitionBlock.digests)], n_rows)

    def begin(estimator: Any, solver: GameSolver, gammas: list[float], C: float) -> Game:
        entries = blocks.gather(PartitionBlock.settle, *settled, bins)
        binned = {bins.name_of(name): known for name, known in levels.items()}
        label_cells, there, scale = _label_cells(blocks, entries, binned, controls, setting)
        rates = [rate_of(notion) for notion in setting.notions]
        auditor = Auditor(rates, setting.subgroups, label_cells, setting.audited)
        learner: BlockLearner
        if is_dask_native(estimator):
            teacher = DaskTeacher(client, estimator, X, n_rows, blocks, RowBlock.labelled)
            learner = TaughtByDask(teacher, there)
        elif can_be_fitted_from_sums(estimator):
            learner = learner_from_sums(estimator, there, label_cells.weight, auditor.base_cost)
        else:
            learner = LearnerInParts(estimator, there)
        there_rows = BlockRows(there, label_cells, learner)
        return game_of(there_rows, auditor, setting, solver, gammas, C, scale)

    # Names and categories alone: what asks for these columns, such as a checkpoint, needs no
    # values, and the values stay on the cluster.
    protected = tuple(
        Column(bins.name_of(name), np.zeros(0), known) for name, known in levels.items()
    )
    return RowsRead(classes, protected, rows.counts, digests, begin, tuple(controls), bins)


def _categories(
    levels: Mapping[str, Mapping[Any, float] | None],
) -> dict[str, tuple[Any, ...] | None]:
    return {name: None if known is None else tuple(known) for name, known in levels.items()}


def _label_cells(
    blocks: DaskBlocks,
    entries: Sequence[Entries],
    levels: Mapping[str, tuple[Any, ...] | None],
    controls: Mapping[str, tuple[Any, ...] | None],
    setting: Setting,
) -> tuple[LabelCells, LabelCellBlocks, float | None]:
    """Merge what blocks have into distinct label-cells; return also which each block has.

    The last is the unit of the game: of means the most that a decision changes an outcome by, and
    None for rates.
    """
    # An entry begins with values, number of rows and weight by label-cell of its block; the fourth,
    # whether weights are whole numbers, is no array.
    values, n_rows, weight = (
        np.concatenate(parts) for parts in list(zip(*entries, strict=True))[:3]
    )
    # Only now: a partition may have no weight while others have some.
    if not weight.any():
        raise no_weight()
    # Columns are the label, the protected attributes and the control features, as settle() stacks
    # them.
    labels = values[:, 0].astype(np.intp)
    named = [*levels.items(), *controls.items()]
    columns = [
        Column(name, column, known)
        for (name, known), column in zip(named, values[:, 1:].T, strict=True)
    ]
    protected = columns[: len(levels)]
    check_spreads(protected)
    moments = tuple(moment_of(notion, _BOTH).take(labels) for notion in setting.notions)
    warn_of_unit(max(setting.gammas), moments)
    stratum = None
    if controls:
        stratum = checked_strata(
            columns[len(levels) :],
            moments,
            weight,
            int(n_rows.sum()),
            leave_out=setting.leave_out_empty_strata,
        ).index
    own = [moment for moment in moments if moment.is_own]
    scale = max((moment.scale for moment in own), default=1.0)
    label_cells, place = LabelCells.of_parts(
        protected,
        labels,
        weight,
        n_rows,
        is_whole=all(part.is_whole for part in entries),
        stratum=stratum,
        own_moments=tuple(moment.over(scale) for moment in own),
    )
    check_few(len(label_cells))
    # Cut `place` back into blocks, in the order in which they were concatenated.
    ends = np.cumsum([len(part.weight) for part in entries])[:-1]
    there = LabelCellBlocks(blocks, np.split(place, ends), len(label_cells))
    return label_cells, there, scale if own else None
