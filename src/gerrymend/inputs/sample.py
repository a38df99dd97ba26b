"""The one reader of rows: labels, decisions, protected attributes and weights, checked together."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.classes import (
    AUDIT,
    FIT,
    Decided,
    Names,
    class_numbers,
    positive_second,
    read_labels,
)
from gerrymend.inputs.features import n_rows_of
from gerrymend.inputs.identifiers import refuse_identifiers
from gerrymend.inputs.indexes import check_same_index
from gerrymend.inputs.numbers import LARGEST, LARGEST_WHOLE, as_numbers, check_whole_numbers
from gerrymend.inputs.protected import (
    Column,
    check_spreads,
    distinct_rows,
    in_use,
    read_columns,
    select_columns,
    take_rows,
)
from gerrymend.inputs.settings import did_you_mean
from gerrymend.inputs.validation import (
    are_missing,
    as_pair,
    as_vector,
    check_decided,
    check_none,
    check_same_length,
    decisions_from,
    frame_of,
    is_frame,
)
from gerrymend.inputs.weights import check_weights

# No features were passed: None would be features that can't be used.
_NO_FEATURES = object()


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that were read and checked, matched by position.

    Attributes
    ----------
    labels : array (n_rows,)
        As they were given.
    classes : array (2,), or more
        The two labels, the positive one second; or all of more than two, where that is allowed.
    columns : tuple of Column
        The protected attributes.
    weight : array (n_rows,)
        Ones where none were given.
    is_weighted : bool
        True if weights were given, which not every estimator can use.
    p : array (n_rows,) or None
        Probability of the positive decision; None where there are no decisions, or many classes.
    features : frame, array or list, or None
        As they were given.
    is_labelled : bool
        False if there are decisions alone: each row then stands with the negative label.
    known : array
        All labels; `classes` are fewer where one is compared with the rest.
    decided : array (n_rows,) of int or None
        The class of each decision, by its number, where there are more than two.
    controls : tuple of Column
        The control features; none where groups are not compared within strata.

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
    is_labelled: bool = True
    known: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    decided: NDArray[np.intp] | None = None
    controls: tuple[Column, ...] = ()

    @classmethod
    def read(
        cls,
        labels: Any,
        protected: Any,
        weight: Any = None,
        *,
        control: Any = None,
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
            By row. `protected` may name columns of the features; None is all of them. `labels` are
            None where rows have decisions alone.
        control : optional
            The control features by row; they may name columns of the features, too.
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
        given = {names.labels: labels, names.decisions: decisions, names.protected: protected}
        given |= {names.control: control, names.weight: weight}
        rows = {}
        if features is not _NO_FEATURES:
            given |= {names.features: features}
            rows = {names.features: n_rows_of(features, names.features)}
        is_labelled = labels is not None or decided is None
        y = read_vector(labels, names.labels) if is_labelled else None
        predicted = None if decided is None else read_vector(decisions, names.decisions)
        columns = _read_protected(features, protected, kinds, names)
        if y is not None:
            rows |= {names.labels: len(y)}
        if predicted is not None:
            rows |= {names.decisions: len(predicted)}
        n_rows = len(columns[0].values)
        rows |= {names.protected: n_rows}
        controls: tuple[Column, ...] = ()
        if control is not None:
            if features is not _NO_FEATURES:
                control = named_columns(features, control, names.control)
            controls = read_columns(control, names.control)
            rows |= {names.control: len(controls[0].values)}
        check_same_length(**rows)
        check_same_index(**given)
        if kinds is None:
            check_spreads(columns)
        if features is not _NO_FEATURES:
            refuse_identifiers(columns, n_rows)
        by_row = check_weights(weight, n_rows, names.weight)
        asked = Decided(pos_label=pos_label) if decided is None else decided
        classes, known = read_labels(y, predicted, asked, names, merges=decided is not None)
        p = number = None
        if decided is not None and predicted is not None:
            if len(classes) > 2:
                check_decided(predicted, classes, names.decisions)
                number = class_numbers(predicted, classes)
            else:
                p = decisions_from(predicted, classes, *decided[:2], names.decisions, known)
        kept = None if features is _NO_FEATURES else features
        if y is None:
            y = np.full(n_rows, classes[0])
        is_weighted = weight is not None
        return cls(
            y, classes, columns, by_row, is_weighted, p, kept, is_labelled, known, number, controls
        )

    @property
    def y(self) -> NDArray[np.intp]:
        """1 for rows of the positive label, and 0 for others; of more than two, their numbers."""
        if len(self.classes) > 2:
            return class_numbers(self.labels, self.classes)
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
    def control(self) -> dict[str, Column] | None:
        """The control features by name, as every reader takes them; None where there are none."""
        return {column.name: column for column in self.controls} or None

    @property
    def given_weight(self) -> Array | None:
        """The weights, or None where none were given."""
        return self.weight if self.is_weighted else None

    def split(self, test_size: float, seed: int) -> tuple["Sample", "Sample"]:
        """Split into rows to train on and rows kept out, of each label, each in order.

        With control features they are of each label in each stratum, where that has two rows.
        """
        kept, out = self.places_of_split(test_size, seed)
        return self.take(kept), self.take(out)

    def places_of_split(
        self, test_size: float, seed: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the places of the rows that `split` keeps, and of those that it keeps out."""
        try:
            kept, out = train_test_split(
                np.arange(len(self.labels)),
                test_size=test_size,
                stratify=self._kinds(),
                random_state=seed,
            )
        except ValueError as error:
            what = "both labels of every stratum are" if self.controls else "both labels are"
            raise ArgumentError(
                Argument("test_size", value=f"{test_size:g}"),
                f"can't be kept out of {len(self.labels):,} rows so that {what} on both sides: "
                f"{error}",
            ) from None
        return np.sort(kept), np.sort(out)

    def _kinds(self) -> NDArray[Any]:
        """Return labels, or numbers of label and stratum; a row alone is with most of its label."""
        if not self.controls:
            return self.labels
        known, label = np.unique(self.labels, return_inverse=True)
        kind = label + len(known) * distinct_rows(self.controls).index
        number = np.bincount(kind)
        for one in range(len(known)):
            most = np.argmax(number[one :: len(known)]) * len(known) + one
            kind[(label == one) & (number[kind] == 1)] = most
        return kind

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

    def take(self, rows: NDArray[np.intp]) -> "Sample":
        """Return these rows; categories that none of them has are dropped."""
        return replace(
            self,
            labels=self.labels[rows],
            columns=tuple(map(in_use, take_rows(self.columns, rows))),
            controls=tuple(map(in_use, take_rows(self.controls, rows))),
            weight=self.weight[rows],
            p=None if self.p is None else self.p[rows],
            decided=None if self.decided is None else self.decided[rows],
            features=None if self.features is None else _take(self.features, rows),
        )


@dataclass(frozen=True, eq=False)
class Numbers:
    """Rows of numbers that were read and checked, matched by position.

    `y` is what was true, None where that was not given, and `p` what was predicted; `columns` are
    the protected attributes, and `weight` is ones where none was given.
    """

    y: Array | None
    p: Array
    columns: tuple[Column, ...]
    weight: Array

    @classmethod
    def read(
        cls,
        true: Any,
        predicted: Any,
        protected: Any,
        weight: Any = None,
        *,
        kinds: Mapping[str, str] | None = None,
        names: Names = AUDIT,
    ) -> "Numbers":
        """Read rows in any container; the arguments are those of `Sample.read`.

        >>> Numbers.read(None, [3, 4.5], {"sex": ["F", "M"]}).p.tolist()
        [3.0, 4.5]
        """
        y = None if true is None else finite(true, names.labels)
        p = finite(predicted, names.decisions)
        columns = _read_protected(_NO_FEATURES, protected, kinds, names)
        rows = {} if y is None else {names.labels: len(y)}
        rows |= {names.decisions: len(p), names.protected: len(columns[0].values)}
        check_same_length(**rows)
        given = {names.labels: true, names.decisions: predicted, names.protected: protected}
        check_same_index(**given, **{names.weight: weight})
        if kinds is None:
            check_spreads(columns)
        return cls(y, p, columns, check_weights(weight, len(p), names.weight))


def finite(values: Any, argument: str, *, exact: bool = True) -> Array:
    """Return numbers, one a row, for their means.

    Raises an ArgumentError for one that is missing or too large and, where it must be `exact`, for
    a whole number that float64 would round: means of what was rounded away are 0.
    """
    vector = read_vector(values, argument)
    numbers = as_numbers(vector, argument)
    size = np.abs(numbers)
    wrong = ~(size <= LARGEST)
    if wrong.any():
        raise too_large(int(wrong.sum()), float(numbers[wrong][0]), argument)
    if exact and vector.dtype.kind != "f":
        check_whole_numbers(vector[size >= LARGEST_WHOLE], argument)
    return numbers


def too_large(number: int, such_as: float, argument: str) -> ArgumentError:
    """Return the error for numbers that are infinite, or as good as that."""
    which = "number that is" if number == 1 else "numbers that are"
    rows = "this row" if number == 1 else "these rows"
    return ArgumentError(
        argument,
        f"has {number} {which} infinite or above {LARGEST:g} in size, such as {such_as:g}; a mean "
        f"of such says nothing. Correct or drop {rows}.",
    )


def read_vector(values: Any, argument: str) -> NDArray[Any]:
    """Return labels or decisions as an array of one dimension; raise if any are missing."""
    vector = as_vector(values, argument)
    missing = are_missing(vector)
    check_none(int(missing.sum()), argument, int(missing.argmax()), len(vector))
    return vector


def named_columns(X: Any, given: Any, argument: str = "sensitive_features") -> Any:
    """Return these columns of the frame X if names were given, else what was given."""
    names = [given] if isinstance(given, str) else given
    if not (isinstance(names, list | tuple) and names and all(isinstance(n, str) for n in names)):
        return given
    if not is_frame(X):
        # As many strings as rows are the values of one attribute, not names.
        if len(names) == np.shape(X)[0]:
            return list(names)
        raise ArgumentError(
            Argument(argument, value=repr(names)),
            "names columns, and X has no column names. Pass X as a frame, or pass the "
            "columns themselves.",
        )
    frame = frame_of(X, "X")
    for name in names:
        if name not in frame.columns:
            raise ArgumentError(
                argument,
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
