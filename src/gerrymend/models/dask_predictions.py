"""Decisions for Dask's arrays and frames: lazy, and made where each partition is."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import is_dask_array, is_device_array, on_host
from gerrymend.inputs.dask_rows import partitions_of


def by_partition(X: Any, decide: Callable[[Any], NDArray[Any]], names: Sequence[Any] = ()) -> Any:
    """Apply `decide` lazily to each partition of X.

    `decide` returns one value a row, or one for each of `names`. The result is a Dask array for an
    array; for a frame it is a Series, or a frame with the columns `names`, with the index of X.
    """
    # `decide` is tried on a row of zeros: Dask wants to know the type of the result beforehand.
    if is_dask_array(X):
        X = X.rechunk({1: -1})  # a block must have all features of its rows
        none = decide(np.zeros((1, X.shape[1])))[:0]
        new = {"chunks": (X.chunks[0], (len(names),))} if names else {"drop_axis": 1}
        return X.map_blocks(_decided, decide, none, dtype=none.dtype, meta=none, **new)
    one_row = X._meta.reindex([0], fill_value=0)
    none = decide(one_row)[:0]
    meta = _in_frame(one_row, decide, none, names).iloc[:0]
    return X.map_partitions(_in_frame, decide, none, list(names), meta=meta)


def _decided(part: Any, decide: Callable[[Any], NDArray[Any]], none: NDArray[Any]) -> Any:
    """Decide a partition; one without rows, which predictors refuse, is decided as `none`.

    One on a device is decided in the worker's memory, as the result is of NumPy.
    """
    return decide(_here(part)) if len(part) else none


def _in_frame(
    part: Any, decide: Callable[[Any], NDArray[Any]], none: NDArray[Any], names: Sequence[Any]
) -> Any:
    """Decide a partition of a frame, and return a Series or a frame with its index."""
    import pandas as pd

    values = _decided(part, decide, none)
    if names:
        return pd.DataFrame(values, index=part.index, columns=list(names))
    return pd.Series(values, index=part.index)


def sums_over_partitions(
    measure: Callable[..., tuple[float, float]], X: Any, y: Any, sample_weight: Any
) -> tuple[float, float]:
    """Add up over all partitions the two sums that `measure` returns for each.

    It is called as measure(X, y, sample_weight) on the cluster, where the rows are.
    """
    import dask

    parts = partitions_of(X, y, None, sample_weight)
    measured = [
        dask.delayed(_measured)(measure, part, labels, weight)
        for part, labels, _, weight, _ in parts
    ]
    first, second = zip(*dask.compute(*measured), strict=True)
    return sum(first), sum(second)


def _measured(measure: Callable[..., tuple[float, float]], X: Any, *others: Any) -> Any:
    return measure(*map(_here, (X, *others))) if len(X) else (0.0, 0.0)


def _here(part: Any) -> Any:
    return on_host(part) if is_device_array(part) else part
