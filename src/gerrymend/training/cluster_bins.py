"""Bins of numeric attributes whose rows are on the workers of a Dask cluster."""

import math
import warnings
from functools import partial
from typing import Any

import numpy as np

from gerrymend._numeric.merged_quantiles import merged_quantile_cuts
from gerrymend._runtime.errors import users_line
from gerrymend.inputs.attribute_bins import MOST_ATTRIBUTE_BINS, AttributeBins
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.solvers.dask import partition_block
from gerrymend.solvers.dask.blocks import DaskBlocks
from gerrymend.solvers.dask.partition_block import Levels, PartitionBlock


def bins_there(
    blocks: DaskBlocks, settled: tuple[Any, Levels, Levels], n_rows: int, bins: int | None
) -> AttributeBins:
    """Return the bins of numbers: as many as were asked for, or as too many label-cells call for.

    Parameters
    ----------
    blocks : DaskBlocks
        Of `PartitionBlock`.
    settled : tuple
        The positive label, and the categories of protected attributes and control features.
    n_rows : int
        Of all partitions.
    bins : int or None
        None is as few cuts as possible.
    """
    _, levels, controls = settled
    numbers = [name for name, known in levels.items() if known is None]
    if not numbers or (bins is None and not _are_too_many(blocks, settled, n_rows)):
        return AttributeBins()
    number = _as_fine_as_fits(len(numbers), levels, controls) if bins is None else bins
    # One bin would leave nothing of an attribute; settle() says what else to do.
    if number < 2:
        return AttributeBins()
    cuts = {
        name: merged_quantile_cuts(partial(blocks.gather, PartitionBlock.numbers, name), number)
        for name in numbers
    }
    found = AttributeBins({name: of_name for name, of_name in cuts.items() if of_name})
    if bins is None:
        warnings.warn(
            f"sensitive_features makes more than {partition_block.MOST_LABEL_CELLS:,} different "
            f"combinations of a label and protected values, so that {', '.join(found.cuts)} were "
            f"cut into bins, at most {number:,} each, at their quantiles. gamma is about subgroups "
            "of these: audit model.bins_.transform(...) of your attributes. Set bins= to choose.",
            UserWarning,
            stacklevel=users_line(),
        )
    return found


def _are_too_many(blocks: DaskBlocks, settled: tuple[Any, Levels, Levels], n_rows: int) -> bool:
    """Return whether there are more distinct label-cells than the client can have."""
    most = partition_block.MOST_LABEL_CELLS
    if n_rows <= most:
        return False
    parts = []
    for part in blocks.gather(PartitionBlock.label_cells, *settled):
        if part is None:  # it has too many of its own
            return True
        parts.append(part)
    if sum(len(part) for part in parts) <= most:
        return False
    columns = [Column("", values) for values in np.concatenate(parts).T]
    return len(distinct_rows(columns)) > most


def _as_fine_as_fits(n_numbers: int, levels: Levels, controls: Levels) -> int:
    """Return how many bins each number may have, if every combination of values occurred.

    >>> _as_fine_as_fits(2, {"race": ["a", "b"], "age": None, "income": None}, {})
    707
    """
    categories = [*levels.values(), *controls.values()]
    others = 2 * math.prod(len(known) for known in categories if known is not None)
    most = (partition_block.MOST_LABEL_CELLS / others) ** (1 / n_numbers)
    return min(MOST_ATTRIBUTE_BINS, math.floor(most))
