"""Rows on a device: labels and attributes are read here, and features stay where they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend.inputs.sample import Sample
from gerrymend.models.estimators import can_be_fitted_from_sums
from gerrymend.solvers import ExponentiatedGradient, GameSolver
from gerrymend.solvers.blocks import LocalBlocks
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.block_learners import BlockLearner, learner_from_sums
from gerrymend.solvers.players.block_rows import (
    BlockRows,
    CellBlocks,
    LabelCellBlocks,
    PlacedBlock,
)
from gerrymend.solvers.players.estimator_checks import check_uses_weights
from gerrymend.solvers.players.learning_in_parts import LearnerOfAll
from gerrymend.solvers.players.row_block import RowBlock
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.solvers.regression.device import check_beside

# Label-cells from which on a device computes with vectors over them sooner than they travel.
LONG = 200_000


def read_device(
    X: Any, y: Any, sensitive_features: Any, control_features: Any, sample_weight: Any
) -> Sample:
    """Check arrays on the device of X, and copy labels, attributes and weights from there."""
    given = {
        "y": y,
        "sensitive_features": X if sensitive_features is None else sensitive_features,
        "control_features": control_features,
        "sample_weight": sample_weight,
    }
    here = {}
    for argument, data in given.items():
        if data is not None:
            check_beside(X, data, argument)
        # These are a few columns; the features, which are many, are never copied.
        here[argument] = None if data is None else on_host(data)
    return Sample.read(
        here["y"],
        here["sensitive_features"],
        here["sample_weight"],
        control=here["control_features"],
        features=X,
    )


def rows_on_device(
    X: Any,
    estimator: Any,
    weight: Array,
    auditor: Auditor,
    order: NDArray[np.intp],
    starts: NDArray[np.intp],
) -> BlockRows:
    """Return the rows of X as one block, with the learner that an estimator calls for."""
    label_cells = auditor.label_cells
    place = np.empty(len(weight), dtype=np.intp)
    # Position order[i] of the rows as given is the i-th sorted row; those of label-cell k are
    # n_rows[k] in sequence, so this inverts the sort and names each row's label-cell.
    place[order] = np.repeat(np.arange(len(starts)), label_cells.n_rows)
    block = RowBlock.beside(X, weight, place, len(label_cells))
    # One block that has every label-cell, numbered as here.
    blocks: CellBlocks = PlacedBlock(block)
    if auditor.place.is_memory:
        every = np.arange(len(label_cells))
        blocks = LabelCellBlocks(LocalBlocks([block]), [every], len(label_cells))
    learner: BlockLearner
    if can_be_fitted_from_sums(estimator):
        weighed = auditor.place.put(label_cells.weight)
        learner = learner_from_sums(estimator, blocks, weighed, auditor.base_cost)
    else:
        check_uses_weights(estimator, X)
        learner = LearnerOfAll(estimator, blocks)
    return BlockRows(blocks, label_cells, learner)


def has_long_vectors(label_cells: LabelCells, solver: GameSolver) -> bool:
    """Return whether vectors over label-cells are so long that they had better be with the rows.

    Only the default solver plays with vectors elsewhere, and strata are compared in memory.
    """
    return (
        len(label_cells) >= LONG
        and label_cells.stratum is None
        and isinstance(solver, ExponentiatedGradient)
    )
