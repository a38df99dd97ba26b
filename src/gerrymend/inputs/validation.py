"""Checks of input data, with messages that name the argument, the value got and the remedy."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from statistics import mode
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import type_of_target

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.arrays import as_array
from gerrymend.inputs.categories import check_label_types
from gerrymend.inputs.numbers import (
    as_float,
    as_numbers,
    at_least,
    is_exact,
    is_missing,
    is_number_type,
)
from gerrymend.inputs.settings import check_flag, check_number, did_you_mean, same_but_for_case

# Classes that an audit compares at most. The first query of a lazy frame groups by label and
# decision, and 30² groups are fewer than it collects.
MOST_CLASSES = 30
# The error that rounding may leave in a sum of probabilities.
_ROUNDING = 1e-9
# The argument that decisions are read by, in messages.
PROBABILITIES = Argument("decision_probabilities", value="True")


def is_frame(data: Any) -> bool:
    """Return True for an eager frame of any library that narwhals knows."""
    try:
        return isinstance(nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame)
    except nw.exceptions.DuplicateError:  # a frame, if one with two columns of the same name
        return True


def is_lazy(data: Any) -> bool:
    """Return True for a lazy frame, one that has yet to be collected."""
    try:
        return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)
    except nw.exceptions.DuplicateError:  # an eager frame with two columns of the same name
        return False


def frame_of(data: Any, argument: str) -> "nw.DataFrame[Any]":
    """Wrap a frame by narwhals; raise ValueError for two columns of the same name."""
    try:
        return nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in data.columns]
        raise same_name(argument, names) from None


def same_name(argument: str, names: list[str]) -> ValueError:
    """Return the error for columns that share a name."""
    repeated = sorted({repr(name) for name in names if names.count(name) > 1})
    return ArgumentError(
        argument,
        f"has more than one column named {', '.join(repeated)}; rename them, so that a "
        "subgroup can be told in words.",
    )


def is_series(data: Any) -> bool:
    """Return True for a Series (or Arrow array) of any library that narwhals knows."""
    return isinstance(nw.from_native(data, series_only=True, pass_through=True), nw.Series)


def columns_of(data: Any, argument: str) -> dict[str, Any]:
    """Return the columns of an eager frame or of a mapping by name, as text.

    Raises TypeError for other data, and ValueError for names that are equal as text.
    """
    if is_frame(data):
        return {str(column.name): column for column in frame_of(data, argument).iter_columns()}
    if isinstance(data, Mapping):
        columns = {str(name): values for name, values in data.items()}
        if len(columns) < len(data):
            raise same_name(argument, list(map(str, data)))
        return columns
    raise ArgumentError(
        argument,
        "must be a frame (pandas, polars, pyarrow; or lazy: a Polars LazyFrame, a DuckDB "
        f"relation, PySpark, Dask) or a mapping from names to columns; got {type(data).__name__}.",
    )


def check_attribute_names(names: Any, argument: str = "sensitive_features") -> list[str]:
    """Return the names of one or several columns as a list, which isn't empty."""
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise ArgumentError(
            argument,
            "must be the name of a column, or a list of names, where the data "
            f"is a frame; got {type(names).__name__}.",
        )
    if not listed:
        raise ArgumentError(argument, "has no columns; name at least one.")
    if len(set(listed)) < len(listed):
        raise same_name(argument, list(listed))
    return list(listed)


def check_column(
    name: Any, argument: str, columns: Iterable[str], table: str, remedy: str = ""
) -> str:
    """Return the name if it is one of the columns; raise ValueError otherwise."""
    known = list(columns)
    if not isinstance(name, str):
        raise ArgumentError(
            argument, f"must be the name of a column of {table}; got {type(name).__name__}."
        )
    if name not in known:
        shown = ", ".join(known[:30]) + (", …" if len(known) > 30 else "")
        raise ArgumentError(
            Argument(argument, value=repr(name)),
            f"is no column of {table}{did_you_mean(name, known)}. It has: {shown}.{remedy}",
        )
    return name


def check_same_length(**n_rows: int) -> None:
    """Raise ArgumentError unless all arguments have the same number of rows.

    The error is about the first whose number isn't the most common one.
    """
    expected = mode(n_rows.values())
    counts = [f"{argument} has {n}" for argument, n in n_rows.items()]
    for i, (argument, n) in enumerate(n_rows.items()):
        if n != expected:
            others = "".join(f", {count}" for count in counts[i + 1 :])
            before = "".join(f"{count}, " for count in counts[:i])
            raise ArgumentError(
                argument,
                f"has {n}{others}. Rows are matched by position.",
                lead=f"The arguments differ in their number of rows: {before}",
            )


def as_vector(values: Any, argument: str) -> NDArray[Any]:
    """Return a Series, array, list or frame of one column as a one-dimensional array.

    An index is ignored: rows are matched by position. Raises ValueError if there are no rows.
    """
    if is_frame(values):
        if values.shape[1] != 1:
            raise ArgumentError(argument, f"must have one column; got {values.shape[1]}.")
        frame = nw.from_native(values, eager_only=True)
        values = frame.get_column(frame.columns[0]).to_native()
    if is_series(values):
        series = nw.from_native(values, series_only=True)
        if series.dtype.is_nested():
            raise ArgumentError(argument, f"must hold one value a row; got {series.dtype}.")
        # NumPy has no whole numbers of 128 bits; as a list they are those of Python.
        is_wide = series.dtype in (nw.Int128, nw.UInt128)
        values = series.to_list() if is_wide else series.to_numpy()
    vector = as_array(values, argument)
    if vector.ndim == 2 and vector.shape[1] == 1:
        warnings.warn(
            f"A column-vector {argument} was passed when a 1d array was expected; its one column "
            "is taken.",
            DataConversionWarning,
            stacklevel=2,
        )
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise ArgumentError(argument, f"must have one dimension; got shape {vector.shape}.")
    if len(vector) == 0:
        raise ArgumentError(argument, "is empty: it has no rows.")
    return vector


def are_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the values that are None, NaN or otherwise missing."""
    if values.dtype == object:
        return np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    missing: NDArray[np.bool_] = values != values
    return missing


def check_none(missing: int, argument: str, first: int | None = None, n_rows: int = 0) -> None:
    """Raise ValueError if the number of missing values isn't 0.

    `first` is the position of the first of `n_rows` rows that lack one, where rows have an order.

    >>> check_none(2, "y_true", first=16, n_rows=300)
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: y_true has 2 missing values; fill in or drop these \
rows (the first is row 17 of 300).
    """
    if not missing:
        return
    words = "value; fill it in or drop that row"
    words = words if missing == 1 else "values; fill in or drop these rows"
    where = ""
    if first is not None:
        which = "it is" if missing == 1 else "the first is"
        where = f" ({which} row {first + 1:,} of {n_rows:,})"
    raise ArgumentError(argument, f"has {missing} missing {words}{where}.")


def as_pair(classes: NDArray[Any]) -> tuple[Any, Any]:
    """Return the two labels as a pair of Python values."""
    negative, positive = classes.tolist()
    return negative, positive


def check_labels(
    labels: NDArray[Any],
    argument: str,
    cut_off: bool = False,
    many: bool = False,
    remedy: Sequence[str | Argument] = ("Merge them into two.",),
    numbers: Sequence[str | Argument] = (),
) -> NDArray[Any]:
    """Return the distinct labels, sorted; raise ValueError unless there are two, or `many` may be.

    `cut_off` says that only the first of many labels are given, for the message, which `remedy`
    ends, or `numbers` where these are given for labels that may be many.
    """
    check_label_types(labels, argument)
    try:
        classes = np.unique(labels)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in labels})
        raise ArgumentError(
            argument, f"mixes labels of types {', '.join(kinds)}; convert them to one type."
        ) from None
    if any(isinstance(label, float | np.floating) and np.isinf(label) for label in classes):
        raise ArgumentError(argument, "has infinite labels; replace them by finite numbers.")
    if len(classes) == 1:
        raise ArgumentError(
            argument,
            f"has only one class, {classes.tolist()[0]!r}; two are needed to compare rates. "
            "Where all rows have the same no group can differ: check that it is what was meant.",
        )
    if len(classes) == 2:
        return classes
    known = classes.tolist() if len(classes) <= MOST_CLASSES else []
    alike = next(([one, *rest] for one in known if (rest := same_but_for_case(one, known))), [])
    merge = f" {' and '.join(map(repr, alike))} differ in case or blanks alone." * bool(alike)
    kind = type_of_target(labels)
    if many and kind == "continuous":
        raise ArgumentError(
            argument,
            f"has {'at least ' * cut_off}{len(classes)} different numbers, which are no labels. ",
            *numbers,
        )
    if not many:
        # So many are no labels: each may be a person.
        shown = f", {', '.join(map(repr, known))}" if 0 < len(known) <= 6 else ""
        raise ArgumentError(
            argument,
            f"has {'at least ' * cut_off}{len(classes)} classes{shown}.{merge} ",
            *remedy,
            lead=f"Only binary classification is supported. The type of the target is {kind}: ",
        )
    if alike:
        raise ArgumentError(argument, f"has {len(classes)} classes.{merge} Write them alike.")
    if not known or cut_off:
        is_numeric = bool(numbers) and classes.dtype.kind in "iuf"
        raise ArgumentError(
            argument,
            f"has {'at least ' * cut_off}{len(classes)} classes, and audits compare "
            f"{MOST_CLASSES} at most; scores and identifiers are no labels. ",
            *(numbers if is_numeric else ("Merge classes, or pass what was decided.",)),
        )
    return classes


def check_cut(threshold: Any, decision_probabilities: bool) -> float | None:
    """Return the threshold of scores, or None if y_pred are no scores.

    It is a float, or a whole number that isn't one: scores that are whole are cut exactly.
    """
    check_flag(decision_probabilities, "decision_probabilities")
    if threshold is None:
        return None
    if decision_probabilities:
        raise ArgumentError(
            "threshold",
            "and decision_probabilities exclude each other: y_pred holds either scores "
            "to cut or the probabilities of a mixture.",
        )
    if is_number_type(type(threshold)) and not is_exact(threshold):
        check_number(as_float(threshold), "threshold", low=-np.inf)  # which must be finite
        return int(threshold)
    return check_number(threshold, "threshold", low=-np.inf)


def decisions_from(
    y_pred: NDArray[Any],
    classes: NDArray[Any],
    threshold: float | None,
    decision_probabilities: bool,
    argument: str,
    known: NDArray[Any] | None = None,
) -> Array:
    """Return the probability of the positive decision in each row.

    `y_pred` holds labels of `classes`, or scores if a threshold is given, or probabilities if
    `decision_probabilities` is True. Raises ValueError for values that are neither. Where one class
    is compared with the rest, `known` has all labels.
    """
    cut = check_cut(threshold, decision_probabilities)
    if cut is not None:
        return at_least(y_pred, cut, argument).astype(np.float64)
    if decision_probabilities:
        p = as_numbers(y_pred, argument, because=PROBABILITIES)
        if ((p < -_ROUNDING) | (p > 1 + _ROUNDING)).any():
            ends = f"ranges from {p.min():.10g} to {p.max():.10g}; with "
            raise ArgumentError(argument, ends, PROBABILITIES, " it must lie in [0, 1].")
        return np.clip(p, 0.0, 1.0)
    check_decided(y_pred, classes if known is None else known, argument)
    return (y_pred == classes[1]).astype(np.float64)


def check_decided(y_pred: NDArray[Any], classes: NDArray[Any], argument: str) -> None:
    """Raise ValueError for decisions that are none of the labels."""
    unknown = sorted(map(repr, set(y_pred.tolist()) - set(classes.tolist())))
    if unknown:
        shown = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
        labels = f" (labels: {', '.join(map(repr, classes.tolist()))})"
        if any(same_but_for_case(value, classes.tolist()) for value in set(y_pred.tolist())):
            raise ArgumentError(
                argument,
                f"has values that are no label: {shown}{labels}. They differ in case or blanks; "
                "write labels and decisions alike.",
            )
        if _are_words(y_pred) and not any(map(_is_word, classes.tolist())):
            recoded = "write each word as the label that it means"
            if len(classes) == 2:
                negative, positive = classes.tolist()
                recoded = f"{positive!r} for the positive decision and {negative!r} for the other"
            raise ArgumentError(
                argument,
                f"has values that are no label: {shown}{labels}. These are words, and labels are "
                f"numbers; recode them: {recoded}.",
            )
        raise ArgumentError(
            argument,
            f"has values that are no label: {shown}{labels}. Pass decisions; or ",
            Argument("threshold", value="0.5"),
            ", say, if these are scores; or ",
            PROBABILITIES,
            " if they are the probabilities with which a randomised model decides.",
        )


def _are_words(values: NDArray[Any]) -> bool:
    return all(map(_is_word, set(values.tolist())))


def _is_word(value: Any) -> bool:
    """Return whether a value is text that is no number."""
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def check_frame(frame: "nw.DataFrame[Any]", *, allow_missing: bool) -> None:
    """Raise ValueError if a frame of features is empty, or has infinite or missing numbers.

    Missing numbers are accepted with `allow_missing`.
    """
    if frame.shape[0] == 0:
        raise ArgumentError("X", "is empty: it has no rows. Pass at least one.")
    for series in frame.iter_columns():
        if not series.dtype.is_numeric():
            continue
        values = series.cast(nw.Float64).to_numpy()
        if np.isinf(values).any():
            raise ArgumentError(
                Argument("X", column=repr(series.name)),
                "has infinite values (infinity); replace them by a finite number or drop these "
                "rows.",
            )
        if not allow_missing and np.isnan(values).any():
            raise ArgumentError(
                Argument("X", column=repr(series.name)),
                "has missing values (NaN); fill them in, drop these rows, or pass an estimator "
                "that takes them, such as HistGradientBoostingClassifier() or a pipeline with an "
                "imputer.",
            )
