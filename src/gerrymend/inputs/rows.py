"""Labelled rows to train or audit on: features, labels, protected attributes and weights."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from gerrymend._numeric.sums import Array
from gerrymend.inputs.features import n_rows_of
from gerrymend.inputs.protected import named_columns, read_columns
from gerrymend.inputs.validation import (
    as_vector,
    check_labels,
    check_no_missing,
    check_same_length,
    check_weights,
    frame_of,
    is_frame,
    is_series,
)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in any container, matched by position.

    Attributes
    ----------
    features, protected : frame, mapping, array or list
        As the user passed them, but for names of columns, which are looked up in X.
    labels : array of shape (n_rows,)
    weight : array of shape (n_rows,) or None
        None if no weights were given.

    >>> rows = Rows.read([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], {"sex": ["F", "F", "M", "M"]})
    >>> train, test = rows.split(0.5, seed=0)
    >>> sorted(test.labels.tolist()), len(test.protected["sex"])
    ([0, 1], 2)
    """

    features: Any
    labels: NDArray[Any]
    protected: Any
    weight: Array | None = None

    @classmethod
    def read(
        cls, X: Any, y: Any, sensitive_features: Any, sample_weight: Any = None, suffix: str = ""
    ) -> "Rows":
        """Read rows, with every check that is possible before any work.

        Protected attributes are X itself if None, columns of X if names. Messages name the
        arguments with `suffix`, as in "X_test".
        """
        names = {part: part + suffix for part in ("X", "y", "sensitive_features")}
        n_rows = n_rows_of(X, names["X"])
        labels = as_vector(y, names["y"])
        check_no_missing(labels, names["y"])
        check_labels(labels, names["y"])
        protected = X if sensitive_features is None else named_columns(X, sensitive_features)
        # Read for its checks and its length; the columns are read again where they are used.
        n_protected = len(read_columns(protected, names["sensitive_features"])[0].values)
        lengths = {"X": n_rows, "y": len(labels), "sensitive_features": n_protected}
        check_same_length(**{names[part]: range(length) for part, length in lengths.items()})
        weight = None if sample_weight is None else check_weights(sample_weight, len(labels))
        return cls(X, labels, protected, weight)

    def split(self, test_size: float, seed: int) -> tuple["Rows", "Rows"]:
        """Split into rows to train on and rows kept out, stratified by label, each in order."""
        try:
            kept, out = train_test_split(
                np.arange(len(self.labels)),
                test_size=test_size,
                stratify=self.labels,
                random_state=seed,
            )
        except ValueError as error:
            raise ValueError(
                f"test_size={test_size:g} can't be kept out of {len(self.labels):,} rows so that "
                f"both labels are on both sides: {error}"
            ) from None
        return self._take(np.sort(kept)), self._take(np.sort(out))

    def without_features(self) -> "Rows":
        """Return what an audit needs, with protected attributes as numbers: small to send."""
        columns = {column.name: column for column in read_columns(self.protected)}
        return replace(self, features=None, protected=columns)

    def _take(self, rows: NDArray[np.intp]) -> "Rows":
        weight = None if self.weight is None else self.weight[rows]
        taken = take_rows(self.features, rows), self.labels[rows], take_rows(self.protected, rows)
        return Rows(*taken, weight)


def take_rows(data: Any, rows: NDArray[np.intp]) -> Any:
    """Take rows, by position, of a frame, a Series, a mapping of columns, an array or a list."""
    if is_frame(data):
        return frame_of(data, "X")[rows].to_native()
    if is_series(data):
        return nw.from_native(data, series_only=True)[rows].to_native()
    if isinstance(data, Mapping):
        return {name: take_rows(values, rows) for name, values in data.items()}
    return _safe_indexing(data, rows)
