"""The one reader of rows: labels, decisions, protected attributes and weights, checked together."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.categories import check_label_types
from gerrymend.inputs.features import n_rows_of
from gerrymend.inputs.identifiers import refuse_identifiers
from gerrymend.inputs.protected import (
    Column,
    check_spreads,
    in_use,
    read_columns,
    select_columns,
    take_rows,
)
from gerrymend.inputs.settings import did_you_mean, same_but_for_case
from gerrymend.inputs.validation import (
    are_missing,
    as_pair,
    as_vector,
    check_labels,
    check_none,
    check_same_length,
    decisions_from,
    frame_of,
    is_frame,
)
from gerrymend.inputs.weights import check_weights


class Names(NamedTuple):
    """The arguments by which a caller has the parts of a sample, for messages to name."""

    labels: str = "y"
    decisions: str = "y_pred"
    protected: str = "sensitive_features"
    weight: str = "sample_weight"
    features: str = "X"


FIT = Names()
AUDIT = Names(labels="y_true")


class Decided(NamedTuple):
    """Say how decisions are read: as labels, scores to cut, or probabilities of a mixture."""

    threshold: float | None = None
    decision_probabilities: bool = False
    pos_label: Any = None

    @property
    def by_label(self) -> bool:
        """True if decisions are labels, and may show one that no row has."""
        return self.threshold is None and not self.decision_probabilities


BY_LABEL = Decided()
# No features were passed: None would be features that can't be used.
_NO_FEATURES = object()


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that were read and checked, matched by position.

    Attributes
    ----------
    labels : array (n_rows,)
        As they were given.
    classes : array (2,)
        The two labels, the positive one second.
    columns : tuple of Column
        The protected attributes.
    weight : array (n_rows,)
        Ones where none were given.
    is_weighted : bool
        True if weights were given, which not every estimator can use.
    p : array (n_rows,) or None
        Probability of the positive decision; None where there are no decisions.
    features : frame, array or list, or None
        As they were given.

    >>> sample = Sample.read([0, 1, 0, 1], {"sex": ["F", "F", "M", "M"]}, features=[[1], [2]] * 2)
    >>> train, test = sample.split(0.5, seed=0)
    >>> sorted(test.labels.tolist()), test.features, test.y.tolist()
    ([0, 1], [[1], [2]], [0, 1])
    """

    labels: NDArray[Any]
    classes: NDArray[Any]
    columns: tuple[Column, ...]
    weight: Array
    is_weighted: bool = False
    p: Array | None = None
    features: Any = None

    @classmethod
    def read(
        cls,
        labels: Any,
        protected: Any,
        weight: Any = None,
        *,
        features: Any = _NO_FEATURES,
        decisions: Any = None,
        decided: Decided | None = None,
        pos_label: Any = None,
        kinds: Mapping[str, str] | None = None,
        names: Names = FIT,
    ) -> "Sample":
        """Read rows in any container, with every check that is possible before any work.

        Parameters
        ----------
        labels, protected, weight :
            By row. `protected` may name columns of the features; None is all of them.
        features : frame, array or list, optional
        decisions, decided : optional
            Decisions by row, read as `decided` says; without it there are none.
        pos_label : label, optional
            The positive label, where `decided` doesn't say it.
        kinds : mapping of str to str, optional
            The attributes of a first sample with the kind of each, for a second to have the same.
        names : Names
            The arguments that messages are to name.

        Raises
        ------
        ArgumentError
            Naming the argument, the value got and the remedy.
        """
        rows = {}
        if features is not _NO_FEATURES:
            rows = {names.features: n_rows_of(features, names.features)}
        y = read_vector(labels, names.labels)
        predicted = None if decided is None else read_vector(decisions, names.decisions)
        columns = _read_protected(features, protected, kinds, names)
        rows |= {names.labels: len(y)}
        if predicted is not None:
            rows |= {names.decisions: len(predicted)}
        check_same_length(**rows, **{names.protected: len(columns[0].values)})
        if kinds is None:
            check_spreads(columns)
        if features is not _NO_FEATURES:
            refuse_identifiers(columns, len(y))
        by_row = check_weights(weight, len(y), names.weight)
        asked = Decided(pos_label=pos_label) if decided is None else decided
        classes = read_classes(y, predicted, asked, names)
        p = None
        if decided is not None and predicted is not None:
            p = decisions_from(predicted, classes, *decided[:2], names.decisions)
        kept = None if features is _NO_FEATURES else features
        return cls(y, classes, columns, by_row, weight is not None, p, kept)

    @property
    def y(self) -> NDArray[np.intp]:
        """1 for rows of the positive label, and 0 for others."""
        return (self.labels == self.classes[1]).astype(np.intp)

    @property
    def pair(self) -> tuple[Any, Any]:
        """The two labels as plain values."""
        return as_pair(self.classes)

    @property
    def protected(self) -> dict[str, Column]:
        """The attributes by name, as every reader takes them."""
        return {column.name: column for column in self.columns}

    @property
    def given_weight(self) -> Array | None:
        """The weights, or None where none were given."""
        return self.weight if self.is_weighted else None

    def split(self, test_size: float, seed: int) -> tuple["Sample", "Sample"]:
        """Split into rows to train on and rows kept out, stratified by label, each in order."""
        try:
            kept, out = train_test_split(
                np.arange(len(self.labels)),
                test_size=test_size,
                stratify=self.labels,
                random_state=seed,
            )
        except ValueError as error:
            raise ArgumentError(
                Argument("test_size", value=f"{test_size:g}"),
                f"can't be kept out of {len(self.labels):,} rows so that both labels are on both "
                f"sides: {error}",
            ) from None
        return self._take(np.sort(kept)), self._take(np.sort(out))

    def with_positive(self, pos_label: Any, names: Names = FIT) -> "Sample":
        """Return the rows with this label as the positive one; None keeps it."""
        classes = positive_second(self.classes, pos_label, names)
        p = self.p
        if p is not None and classes[0] != self.classes[0]:
            p = 1.0 - p
        return replace(self, classes=classes, p=p)

    def without_features(self) -> "Sample":
        """Return what an audit needs: small to send."""
        return replace(self, features=None)

    def _take(self, rows: NDArray[np.intp]) -> "Sample":
        """Return these rows; categories that none of them has are dropped."""
        return replace(
            self,
            labels=self.labels[rows],
            columns=tuple(map(in_use, take_rows(self.columns, rows))),
            weight=self.weight[rows],
            p=None if self.p is None else self.p[rows],
            features=None if self.features is None else _take(self.features, rows),
        )


def read_vector(values: Any, argument: str) -> NDArray[Any]:
    """Return labels or decisions as an array of one dimension; raise if any are missing."""
    vector = as_vector(values, argument)
    check_none(int(are_missing(vector).sum()), argument)
    return vector


def read_classes(
    labels: NDArray[Any],
    decisions: NDArray[Any] | None,
    decided: Decided,
    names: Names,
    *,
    cut_off: bool = False,
) -> NDArray[Any]:
    """Return the two labels, the positive one second; raise ArgumentError unless there are two.

    `cut_off` says that only the first of many labels are given, for the message.
    """
    check_label_types(labels, names.labels)
    # A sample may hold one label only: the false positive rate of negatives is well defined. Then
    # decisions may show the other; scores and probabilities can't.
    if decisions is not None and decided.by_label:
        check_label_types(decisions, names.decisions)
        if len(labels) and (labels == labels[0]).all():
            both = set(decisions.tolist()) | {labels.tolist()[0]}
            labels = np.concatenate([labels, decisions]) if len(both) == 2 else labels
    classes = check_labels(labels, names.labels, cut_off)
    return positive_second(classes, decided.pos_label, names)


def positive_second(classes: NDArray[Any], pos_label: Any, names: Names) -> NDArray[Any]:
    """Return the two labels in an order that has the positive one second; None keeps the order."""
    if pos_label is None:
        return classes
    if not isinstance(pos_label, Hashable) or pos_label not in classes.tolist():
        raise ArgumentError(
            Argument("pos_label", value=repr(pos_label)),
            "is no label of ",
            Argument(names.labels),
            f"; its labels are {', '.join(map(repr, classes.tolist()))}",
            *(
                f" (did you mean {one!r}?)"
                for one in same_but_for_case(pos_label, classes.tolist())
            ),
            ".",
        )
    return np.array([classes[classes != pos_label][0], pos_label])


def named_columns(X: Any, sensitive_features: Any) -> Any:
    """Return these columns of the frame X if names were given, else what was given."""
    names = sensitive_features
    if isinstance(names, str):
        names = [names]
    if not (isinstance(names, list | tuple) and names and all(isinstance(n, str) for n in names)):
        return sensitive_features
    if not is_frame(X):
        # As many strings as rows are the values of one attribute, not names.
        if len(names) == np.shape(X)[0]:
            return list(names)
        raise ArgumentError(
            Argument("sensitive_features", value=repr(names)),
            "names columns, and X has no column names. Pass X as a frame, or pass the protected "
            "columns themselves.",
        )
    frame = frame_of(X, "X")
    for name in names:
        if name not in frame.columns:
            raise ArgumentError(
                "sensitive_features",
                f"names {name!r}, which is no column of X{did_you_mean(name, frame.columns)}. A "
                "list of strings names columns; pass values as an array or a Series.",
            )
    return frame.select(list(names)).to_native()


def _take(features: Any, rows: NDArray[np.intp]) -> Any:
    """Take rows, by position, of a frame, an array or a list."""
    if is_frame(features):
        return frame_of(features, "X")[rows].to_native()
    return _safe_indexing(features, rows)


def _read_protected(
    features: Any, protected: Any, kinds: Mapping[str, str] | None, names: Names
) -> tuple[Column, ...]:
    """Read the protected attributes: those given, columns of the features, or all of these."""
    if kinds is not None:
        return tuple(select_columns(protected, kinds, names.protected).values())
    if features is _NO_FEATURES:
        return read_columns(protected, names.protected)
    if protected is None:
        return read_columns(features, names.features)
    return read_columns(named_columns(features, protected), names.protected)
