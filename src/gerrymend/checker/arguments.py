"""Read the arguments of an audit as plain values, or raise an error that names one of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw

from gerrymend.checker.plain import is_finite, listed_values, types_of

Columns = dict[str, tuple[bool, list[Any]]]


def read_vector(values: Any, argument: str) -> list[Any]:
    """Return an argument as a list of plain values, one a row.

    Raises a ValueError where it is empty, has missing values or more than one column, and a
    TypeError for values that are neither numbers, booleans nor text.
    """
    frame = nw.from_native(values, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if len(frame.columns) != 1:
            raise ValueError(f"{argument} must have one column; it has {len(frame.columns)}.")
        values = frame.get_column(frame.columns[0]).to_native()
    listed = listed_values(values, argument)
    if not listed:
        raise ValueError(f"{argument} is empty: it has no rows.")
    if any(value is None for value in listed):  # `in` compares, and arrays do so by value
        raise ValueError(f"{argument} has missing values; fill in or drop these rows.")
    if isinstance(listed[0], list | tuple):
        raise ValueError(f"{argument} must have one dimension.")
    _check_plain(listed, argument)
    return listed


def read_labels(values: Any, argument: str) -> list[Any]:
    """Return labels, one a row; raise a TypeError where some are text and others are not."""
    listed = read_vector(values, argument)
    kinds = types_of(listed)
    if "text" in kinds and len(kinds) > 1:
        shown = ", ".join(sorted(name for names in kinds.values() for name in names))
        raise TypeError(f"{argument} mixes labels of types {shown}; convert them to one type.")
    return listed


def read_weights(sample_weight: Any, n_rows: int) -> list[Any]:
    """Return the weight of each row, 1 where none were passed."""
    return [1] * n_rows if sample_weight is None else read_vector(sample_weight, "sample_weight")


def read_columns(data: Any, argument: str = "sensitive_features") -> Columns:
    """Return, by name, whether each attribute is a number, and its values."""
    columns = [_column(str(name), values, argument) for name, values in _named(data, argument)]
    names = [name for name, _, _ in columns]
    if not columns or len(set(names)) < len(names):
        raise ValueError(f"{argument} needs columns of different names; got {names}.")
    return {name: (is_number, values) for name, is_number, values in columns}


def check_lengths(
    columns: Columns, argument: str = "sensitive_features", **vectors: Sequence[Any] | None
) -> None:
    """Raise a ValueError unless all have as many rows; None is an argument that was not passed."""
    lengths = {name: len(values) for name, values in vectors.items() if values is not None}
    lengths |= {f"{name!r} of {argument}": len(values) for name, (_, values) in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"The arguments differ in their number of rows: {counts}.")


def _named(data: Any, argument: str) -> Iterable[tuple[Any, Any]]:
    """Return pairs of name and values from a frame, a Series, a mapping or rows without names."""
    seen = nw.from_native(data, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(seen, nw.DataFrame):
        return [(name, seen.get_column(name).to_native()) for name in seen.columns]
    if isinstance(seen, nw.Series):
        return [(seen.name or "attribute_0", data)]
    if isinstance(data, Mapping):
        return data.items()
    table = listed_values(data, argument)
    rows = [row for row in table if isinstance(row, Sequence) and not isinstance(row, str | bytes)]
    if not rows:
        return [("attribute_0", table)]
    if len(rows) < len(table) or len(set(map(len, rows))) > 1:
        raise ValueError(f"{argument} has rows that differ in length; pass a frame or a mapping.")
    return [(f"attribute_{j}", list(values)) for j, values in enumerate(zip(*rows, strict=True))]


def _column(name: str, values: Any, argument: str) -> tuple[str, bool, list[Any]]:
    """Return a column's name, whether it is a number, and its values.

    A column of a categorical type has categories even if these are numbers, and booleans are
    categories. Raises a ValueError for a number that is missing or infinite, and a TypeError for
    values of several types, or of one that can't be a category.
    """
    where = f"{name!r} of {argument}"
    series = nw.from_native(values, series_only=True, pass_through=True)
    dtype = series.dtype if isinstance(series, nw.Series) else None
    listed = listed_values(values, where)
    kinds = _check_plain(listed, where)
    if len(kinds) > 1:
        shown = ", ".join(sorted(one for names in kinds.values() for one in names))
        raise TypeError(f"{where} mixes values of types {shown}; convert it to one type.")
    if (
        isinstance(dtype, nw.Categorical | nw.Enum)
        or str(getattr(values, "dtype", "")) == "category"
    ):
        return name, False, listed
    if "number" not in kinds and not (dtype is not None and dtype.is_numeric()):
        return name, False, listed
    if not all(value is not None and is_finite(value) for value in listed):
        raise ValueError(f"{where} is a number and has missing or infinite values.")
    return name, True, listed


def _check_plain(listed: list[Any], where: str) -> dict[str, list[str]]:
    """Return the types of values by kind, or raise a TypeError for those that are of no kind."""
    kinds = types_of(listed)
    if "other" in kinds:
        raise TypeError(
            f"{where} has values of type {', '.join(sorted(kinds['other']))}; pass numbers, "
            "booleans or text."
        )
    return kinds
