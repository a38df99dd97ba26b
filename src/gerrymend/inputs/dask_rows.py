"""Rows in arrays and frames of Dask, checked before anything is computed and split by partition.

Rows are matched by position, partition by partition: the parts of X, y, the protected attributes
and the weights in a partition are read by one worker, in `read_partition`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.externals.array_api_compat import array_namespace

from gerrymend._numeric.arrays import (
    check_held,
    in_words,
    is_dask_array,
    is_dask_collection,
    is_dask_frame,
    is_device_array,
    on_host,
)
from gerrymend._numeric.sums import MODEST, MODEST_SINGLE, Array, modest_scale
from gerrymend._runtime.errors import Argument, ArgumentError, Subject
from gerrymend._runtime.extras import need
from gerrymend.inputs.features import check_features
from gerrymend.inputs.protected import Column, read_columns
from gerrymend.inputs.sample import read_vector
from gerrymend.inputs.validation import (
    check_column,
    check_same_length,
    frame_of,
    is_frame,
    same_name,
)
from gerrymend.inputs.weights import check_finite_weights


def the_client() -> Any:
    """Return the client of the current cluster.

    Raises ImportError without distributed, and RuntimeError without a synchronous client.
    """
    distributed = need("distributed", "Fitting Dask's arrays and frames needs")
    try:
        client = distributed.default_client()
    except ValueError:
        raise RuntimeError(
            "X is of Dask, and there is no cluster to work on. Start one before fit: from "
            "distributed import Client; client = Client() (on this machine; or the address of a "
            "scheduler); or pass X.compute(), if it fits into memory."
        ) from None
    if client.asynchronous:
        raise RuntimeError(
            "X is of Dask, and the client is asynchronous, which fit is not. Make one with "
            "Client(..., asynchronous=False) first."
        )
    return client


def is_dask_native(estimator: Any) -> bool:
    """Return True for a classifier that trains on collections of Dask.

    >>> from sklearn.linear_model import LogisticRegression
    >>> is_dask_native(LogisticRegression())
    False
    """
    # By the names of modules, as in xgboost.dask and dask_ml, none of which may be installed.
    parts = {part for kind in type(estimator).__mro__ for part in kind.__module__.split(".")}
    return bool(parts & {"dask", "dask_ml"}) and is_classifier(estimator)


def feature_meta(X: Any) -> Any:
    """Check the columns of X, and return an empty frame or an array of one row with the same."""
    if is_dask_array(X):
        if X.ndim != 2:
            raise ArgumentError("X", f"must have two dimensions; got an array of shape {X.shape}.")
        _check_numbers(X.dtype, "X")
        return np.zeros((1, X.shape[1]), dtype=X.dtype)
    if not is_dask_frame(X):
        raise ArgumentError("X", f"is {in_words(X)}; pass a Dask DataFrame, or a Dask array.")
    if not X.columns.is_unique:
        raise same_name("X", [str(name) for name in X.columns])
    for name, dtype in X.dtypes.items():
        _check_numbers(dtype, Argument("X", column=repr(name)))
    return X._meta


def partitions_of(
    X: Any, y: Any, sensitive_features: Any, sample_weight: Any, control_features: Any = None
) -> list[list[Any]]:
    """Return a list [X, y, protected, weights, control] of delayed parts for each partition.

    The protected attributes are None if they are X itself, and so are weights and control features
    that weren't given. Everything that can be checked without the rows is.
    """
    given = {
        "y": y,
        "sensitive_features": _named(X, sensitive_features, "sensitive_features"),
        "sample_weight": sample_weight,
        "control_features": _named(X, control_features, "control_features"),
    }
    # Labels and weights are vectors; attributes may be tables. In the order of `given`.
    for argument, most in zip(given, (1, 2, 1, 2), strict=True):
        shape: tuple[Any, ...] = getattr(given[argument], "shape", ())
        if len(shape) > most or (len(shape) == 2 and shape[1] == 0):
            raise ArgumentError(
                argument,
                f"must have a column, and at most {most} dimension{'s' * (most > 1)}; "
                f"got shape {tuple(shape)}.",
            )
    parts = [_delayed(X, X, "X")]
    for argument, data in given.items():
        parts.append([None] * len(parts[0]) if data is None else _delayed(X, data, argument))
    return [list(part) for part in zip(*parts, strict=True)]


def _named(X: Any, given: Any, argument: str) -> Any:
    """Return these columns of the frame X if names were given, else what was given."""
    names = [given] if isinstance(given, str) else given
    if not (isinstance(names, list | tuple) and is_dask_frame(X)):
        return names
    if len(names) != len(set(names)):
        raise same_name(argument, list(names))
    for name in names:
        check_column(name, argument, map(str, X.columns), "X")
    return X[list(names)]


def _delayed(X: Any, data: Any, argument: str) -> list[Any]:
    """Return the delayed partitions of data, after a check that they match those of X."""
    if not is_dask_collection(data):
        raise ArgumentError(
            argument,
            f"is {in_words(data)}. Pass it as one of Dask too, with the same partitions: "
            "dask.array.from_array(..., chunks=X.chunks[0]), say, or a column of the same frame.",
            lead=f"X is {in_words(X)}, and ",
        )
    if is_dask_array(data):
        # Dask has NaN for a length that it would have to compute.
        if np.isnan(data.shape[0]):
            raise ArgumentError(
                argument,
                "is a Dask array with unknown chunk sizes, so that rows can't be matched. Call "
                f"{argument}.compute_chunk_sizes() first, or pass the frame that it came from.",
            )
        if is_dask_array(X):
            check_same_length(**{"X": X.shape[0], argument: data.shape[0]})
        # The chunks of X along the rows, and one chunk along the columns: a part has whole rows.
        rows = X.chunks[0] if is_dask_array(X) else data.chunks[0]
        data = data.rechunk((rows, *((size,) for size in data.shape[1:])))
    n_partitions, of_x = (one.numblocks[0] if is_dask_array(one) else one.npartitions
                          for one in (data, X))  # fmt: skip
    if n_partitions != of_x:
        raise ArgumentError(
            argument,
            f"{n_partitions}; rows are matched partition by partition. Take both from one frame, "
            "or repartition one like the other.",
            lead=f"X has {of_x} partitions and ",
        )
    # Dask's optimiser may merge partitions of a frame with few columns, and not those of another.
    return list(np.ravel(data.to_delayed(optimize_graph=False)))


def _check_numbers(dtype: Any, where: Subject) -> None:
    """Raise TypeError if a column of features isn't of numbers or booleans."""
    kind = getattr(np.dtype(dtype) if isinstance(dtype, np.dtype) else dtype, "kind", "O")
    if kind not in "biuf":
        raise ArgumentError(
            where,
            f"is of type {dtype}; features must be numbers here. Encode it first, for example with "
            "dask.dataframe.get_dummies.",
        )


@dataclass(eq=False)
class PartitionRows:
    """The rows of a partition, read by a worker."""

    features: Any
    labels: NDArray[Any]
    columns: tuple[Column, ...]
    weight: Array
    controls: tuple[Column, ...] = ()

    def summary(self) -> "Summary":
        """Summarise the labels and categories, for the client to merge."""

        def by_category(column: Column, weight: Array | None) -> dict[Any, float] | None:
            if column.categories is None:
                return None
            sums = np.bincount(column.values.astype(np.intp), weight, len(column.categories))
            return dict(zip(column.categories, sums.tolist(), strict=True))

        levels = {column.name: by_category(column, self.weight) for column in self.columns}
        controls = {column.name: by_category(column, self.weight) for column in self.controls}
        # Rows, not weights: how rare a value is, and whether it may be told of, is a matter of
        # persons.
        counts = {column.name: by_category(column, None) or {} for column in self.columns}
        labels = list(dict.fromkeys(self.labels.tolist()))
        positive = self.weight[self.weight > 0].tolist()
        ends = (min(positive), max(positive)) if positive else None
        dtype = str(self.features.dtype).removeprefix("torch.")
        return Summary(len(self.labels), labels, levels, dtype, ends, counts, controls)


@dataclass(frozen=True)
class Summary:
    """The labels of some rows, and the categories of each attribute with their weights and rows.

    `weights` are the smallest and the largest positive weight of a row, None where there is none;
    `controls` has the categories of control features.
    """

    n_rows: int
    labels: list[Any]
    levels: Mapping[str, Mapping[Any, float] | None]
    dtype: str
    weights: tuple[float, float] | None = None
    counts: Mapping[str, Mapping[Any, float]] = field(default_factory=dict)
    controls: Mapping[str, Mapping[Any, float] | None] = field(default_factory=dict)


def read_partition(
    X: Any, y: Any, sensitive_features: Any, sample_weight: Any, control_features: Any = None
) -> PartitionRows:
    """Check the rows of a partition and read them as numbers.

    float32 features are kept, others become float64; those on a device stay there, and all else is
    read here. Missing protected attributes are X itself, missing weights are 1.

    >>> rows = read_partition(np.eye(2), np.array([0, 1]), np.array([[3.0], [4.0]]), None)
    >>> rows.summary().labels, rows.weight.tolist()
    ([0, 1], [1.0, 1.0])
    """
    features = _features_there(X) if is_device_array(X) else _features(X)
    protected = X if sensitive_features is None else sensitive_features
    given = {
        "X": X,
        "y": y,
        "sensitive_features": protected,
        "sample_weight": sample_weight,
        "control_features": control_features,
    }
    y, protected, sample_weight, control_features = (
        on_host(part) if is_device_array(part) else part for part in list(given.values())[1:]
    )
    check_same_length(**{name: len(rows) for name, rows in given.items() if rows is not None})
    # Before what follows, which has no minimum, type or category of nothing to look at.
    if not len(features):  # what a filter may leave
        return PartitionRows(features, np.zeros(0), (), np.zeros(0))
    xp = array_namespace(features)
    if not bool(xp.all(xp.isfinite(features))):
        raise ArgumentError("X", "has NaN or infinite values; fill in or drop these rows.")
    labels = read_vector(y, "y")
    weight = np.ones(len(labels)) if sample_weight is None else check_finite_weights(sample_weight)
    controls: tuple[Column, ...] = ()
    if control_features is not None:
        controls = read_columns(control_features, "control_features")
    return PartitionRows(features, labels, read_columns(protected), weight, controls)


def _features(X: Any) -> NDArray[Any]:
    check_features(X, frame_of(X, "X") if is_frame(X) else None)
    features = np.asarray(X)
    if features.dtype == np.float32:
        return features
    try:
        return features.astype(np.float64, copy=False)
    except TypeError:
        raise ArgumentError("X", "has missing values; fill in or drop these rows.") from None


def _features_there(X: Any) -> Any:
    """Return an array of torch or CuPy as numbers, on its device."""
    xp = array_namespace(X)
    if X.dtype in (xp.float32, xp.float64):
        return X
    check_held(X, xp.float64, "X", "Subtract or divide by a constant.")
    return xp.astype(X, xp.float64)


def merged(summaries: Sequence[Summary]) -> Summary:
    """Merge the summaries of partitions, of which some may be empty.

    Raises TypeError for an attribute that is a number in some and has categories in others, and
    ValueError if there are no rows at all.

    >>> one, other = Summary(2, [0], {"a": {"x": 1.5}}, "f"), Summary(1, [1], {"a": {"y": 1}}, "f")
    >>> merged([one, other]).levels
    {'a': {'x': 1.5, 'y': 1.0}}
    """
    filled = [one for one in summaries if one.n_rows]
    if not filled:
        raise ArgumentError("X", "is empty: it has no rows. Pass at least one.")
    levels = _merged_levels([one.levels for one in filled], "sensitive_features")
    controls = _merged_levels([one.controls for one in filled], "control_features")
    labels = list(dict.fromkeys(label for one in filled for label in one.labels))
    dtype = filled[0].dtype
    weights = _checked_weights(filled, dtype)
    counts = {
        name: _added([one.counts.get(name, {}) for one in filled], "sensitive_features")
        for name in levels
    }
    n_rows = sum(one.n_rows for one in filled)
    return Summary(n_rows, labels, levels, dtype, weights, counts, controls)


def _merged_levels(
    parts: Sequence[Mapping[str, Mapping[Any, float] | None]], argument: str
) -> dict[str, dict[Any, float] | None]:
    """Merge the categories of each attribute, with their weights; None for a number."""
    levels: dict[str, dict[Any, float] | None] = {}
    for name in parts[0]:
        of_name = [part[name] for part in parts]
        numbers = [part is None for part in of_name]
        # True for a mix alone: all numbers are (True, True), all categories (False, False).
        if any(numbers) != all(numbers):
            raise ArgumentError(
                Argument(argument, column=repr(name)),
                "holds numbers in some partitions and not in others; convert it to one type.",
            )
        levels[name] = None if of_name[0] is None else _added(of_name, argument)
    return levels


def _checked_weights(summaries: Sequence[Summary], dtype: str) -> tuple[float, float] | None:
    """Return the extreme weights; refuse those that only ratios could be computed with."""
    ends = [one.weights for one in summaries if one.weights is not None]
    if not ends:
        return None
    smallest = min(low for low, _ in ends)
    largest = max(high for _, high in ends)
    modest = MODEST if dtype == "float64" else MODEST_SINGLE
    if modest_scale(largest, modest) != 1.0 or np.dtype(dtype).type(smallest) == 0:
        raise ArgumentError(
            "sample_weight",
            f"goes from {smallest:g} to {largest:g}, where the largest must be "
            f"between 2**-{modest} and 2**{modest} for X of type {dtype}, and the smallest above "
            "0 in it. Only the ratios of weights matter: divide them by the largest.",
        )
    return smallest, largest


def _added(parts: Sequence[Any], argument: str) -> dict[Any, float]:
    """Add up the weights by category over all parts; categories are sorted, a missing one last."""
    categories = {category for part in parts for category in part}
    known = [category for category in categories if category is not None]
    kinds = {type(category).__name__ for category in known}
    if len(kinds) > 1:
        raise ArgumentError(
            argument,
            f"holds values of types {', '.join(sorted(kinds))}, in different partitions; convert "
            "it to one type.",
            lead="A column of ",
        )
    # Sorted, so that codes don't depend on which partition was read first.
    known.sort()
    ordered = [*known, None] if None in categories else known
    return {one: sum(part.get(one, 0.0) for part in parts) for one in ordered}
