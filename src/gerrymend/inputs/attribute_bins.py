"""Numeric protected attributes in bins, cut at the quantiles of the rows.

What is trained then is fair to subgroups of the binned attributes: the name of each says that it is
binned, so that every rule and report does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from gerrymend._numeric.arrays import is_dask_array, is_dask_frame, is_device_array, on_host
from gerrymend._numeric.merged_quantiles import SortedNumbers, merged_quantile_cuts
from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.arrays import as_table
from gerrymend.inputs.protected import Column, read_columns
from gerrymend.inputs.settings import check_whole
from gerrymend.inputs.validation import frame_of, is_frame, is_series, same_name

# More would be as good as none, and each is asked for by its edges.
MOST_ATTRIBUTE_BINS = 1000
_BINNED = "{} (binned)"


def check_attribute_bins(bins: Any) -> int | None:
    """Return a number of bins, or None as it is; raise for anything else."""
    if bins is None:
        return None
    number = check_whole(bins, "bins", low=2, remedy="None cuts no attribute.")
    if number > MOST_ATTRIBUTE_BINS:
        raise ArgumentError("bins", f"must be at most {MOST_ATTRIBUTE_BINS:,}; got {number:,}.")
    return number


@dataclass(frozen=True)
class AttributeBins:
    """The bins of numeric protected attributes that a classifier was trained with.

    Parameters
    ----------
    cuts : mapping of str to tuple of float
        Where each attribute is cut, in rising order. A number that is a cut is in the bin that
        begins there.

    Examples
    --------
    >>> bins = AttributeBins({"age": (30.0, 50.0)})
    >>> binned = bins.transform({"sex": ["F", "M", "F"], "age": [20, 30, 64]})
    >>> binned["age (binned)"].tolist(), binned["sex"]
    ([10.0, 30.0, 50.0], ['F', 'M', 'F'])
    """

    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def transform(self, sensitive_features: Any) -> Any:
        """Return protected attributes with the binned ones in place of their numbers.

        "age" becomes "age (binned)", with the lower end of its bin for each row. These are what a
        guarantee is about, and what `audit` and `Subgroup.contains` are to be given.

        Parameters
        ----------
        sensitive_features : frame, mapping, array, or Dask collection
            With the columns that `fit` had.

        Returns
        -------
        Frames as frames of the same library, and all else as a mapping from names to columns;
        arrays of Dask as a frame of Dask.
        """
        if is_dask_array(sensitive_features):
            sensitive_features = _as_dask_frame(sensitive_features)
        if is_dask_frame(sensitive_features):
            return sensitive_features.map_partitions(
                self.transform, meta=self.transform(sensitive_features._meta)
            )
        if is_frame(sensitive_features):
            return self._of_frame(sensitive_features)
        if is_device_array(sensitive_features):
            sensitive_features = on_host(sensitive_features)
        given = _by_name(sensitive_features)
        self._check(given)
        return {
            self.name_of(name): self._lower_ends(name, values) if name in self.cuts else values
            for name, values in given.items()
        }

    def name_of(self, name: str) -> str:
        """Return what an attribute is called once it is binned; others keep their names."""
        return _BINNED.format(name) if name in self.cuts else name

    def of_columns(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        """Return columns that were read, with the binned ones in place of their numbers."""
        self._check([column.name for column in columns])
        return tuple(
            Column(self.name_of(column.name), self._lower_ends(column.name, column.values))
            if column.name in self.cuts
            else column
            for column in columns
        )

    def _of_frame(self, frame: Any) -> Any:
        table = frame_of(frame, "sensitive_features")
        self._check(table.columns)
        for name in self.cuts:
            ends = self._lower_ends(name, table[name])
            binned = nw.new_series(name, ends, nw.Float64, backend=table.implementation)
            table = table.with_columns(binned)
        return table.rename({name: self.name_of(name) for name in self.cuts}).to_native()

    def _check(self, names: Any) -> None:
        """Raise an ArgumentError for a column that is missing, or would have another's name."""
        known = list(names)
        for name in self.cuts:
            if name not in known:
                raise ArgumentError(
                    "sensitive_features",
                    f"has no column {name!r}, which fit had and cut into bins.",
                )
            if self.name_of(name) in known:
                raise same_name("sensitive_features", [*known, self.name_of(name)])

    def _lower_ends(self, name: str, values: Any) -> Array:
        numbers = np.zeros(0)  # of a partition without rows, which the reader refuses
        if len(values):
            (column,) = read_columns({name: values}, doubted=False)
            if column.is_categorical:
                raise ArgumentError(
                    Argument("sensitive_features", column=repr(name)),
                    "has categories, and fit cut its numbers into bins; convert it to numbers.",
                )
            numbers = column.values
        cuts = np.array(self.cuts[name])
        # Bins begin at their cuts. What is below the first stands as far below it as the second
        # does above, so that no number is out of scale.
        step = cuts[1] - cuts[0] if len(cuts) > 1 else 1.0 + abs(cuts[0])
        ends = np.append(cuts[0] - step, cuts)
        found: Array = ends[np.searchsorted(cuts, numbers, side="right")]
        return found


def attribute_bins(columns: Sequence[Column], bins: int) -> AttributeBins:
    """Return the bins of the numbers among columns that have more distinct values than bins.

    >>> age = Column("age", np.array([20.0, 30.0, 40.0, 50.0]))
    >>> attribute_bins((age,), 2)
    AttributeBins(cuts={'age': (35.0,)})
    """
    cuts = {}
    for column in columns:
        if not column.is_categorical:
            numbers = SortedNumbers(column.values)
            cuts[column.name] = merged_quantile_cuts(
                lambda method, *arguments, numbers=numbers: [method(numbers, *arguments)], bins
            )
    return AttributeBins({name: found for name, found in cuts.items() if found})


def _by_name(given: Any) -> Mapping[str, Any]:
    """Return columns by the names that `fit` gives them."""
    if isinstance(given, Mapping):
        return {str(name): values for name, values in given.items()}
    if is_series(given):
        series = nw.from_native(given, series_only=True)
        return {str(series.name or "attribute_0"): given}
    table = as_table(given, "sensitive_features")
    return {f"attribute_{j}": table[:, j] for j in range(table.shape[1])}


def _as_dask_frame(array: Any) -> Any:
    """Return columns of an array of Dask as a frame of Dask, with the names that `fit` gives."""
    import dask.dataframe as dd

    table = array[:, None] if array.ndim == 1 else array
    return dd.from_dask_array(table, [f"attribute_{j}" for j in range(table.shape[1])])
