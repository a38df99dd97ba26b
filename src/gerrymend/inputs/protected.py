"""Protected attributes, read from any container and grouped into cells of equal rows.

Everything an audit asks is a function of the protected values alone, so rows that share them are
one *cell*. Cells are sorted by value, so that nothing computed from their sums can depend on the
order of the rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.places import MEMORY, Place
from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError, Subject
from gerrymend.inputs.arrays import as_table, unmasked
from gerrymend.inputs.categories import Unnamed, as_category, sorted_categories, unknown_kind
from gerrymend.inputs.numbers import (
    check_finite,
    check_spread,
    distinct_numbers,
    is_number_type,
    kinds_of,
    missing_as_none,
    series_numbers,
)
from gerrymend.inputs.ranks import ranked, renumbered
from gerrymend.inputs.settings import did_you_mean
from gerrymend.inputs.text_numbers import DROP_ROWS, check_no_numbers
from gerrymend.inputs.validation import frame_of, is_frame, is_series, same_name

MISSING_LABEL = "(missing)"
# Values that are looked at before all others.
_FEW = 1000
# How numbers are cut into ranges: the command line has an option.
IN_RANGES = Argument("pandas.cut")


@dataclass(frozen=True)
class Others:
    """A category in place of all that are not `known`, as too few rows have each to be told."""

    known: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Column:
    """One protected attribute of many rows, or the score that each was given.

    Attributes
    ----------
    name : str
    values : array of float64
        The numbers, or the codes of the categories, by row.
    categories : tuple or None
        The category of each code; None for a number. A missing category is None, and comes last.
    declared : bool
        True if the user's own type says that it is a category, whatever its values look like.
    cuts : tuple of float or None
        Where a score is cut into bins (`inputs.bins`); None for a protected attribute.
    """

    name: str
    values: Array
    categories: tuple[Any, ...] | None = None
    declared: bool = False
    cuts: tuple[float, ...] | None = None

    @property
    def is_categorical(self) -> bool:
        """True if the values are codes of categories."""
        return self.categories is not None

    @property
    def kind(self) -> str:
        """The type of the values: "number", or the type of the categories ("any" if none)."""
        if self.categories is None:
            return "number"
        told = (value for value in self.categories if not isinstance(value, Others | None))
        plain = (value.value if isinstance(value, Unnamed) else value for value in told)
        return next((type(value).__name__ for value in plain), "any")

    @property
    def is_whole(self) -> bool:
        """True if these are numbers without a fraction, as years of age."""
        if self.categories is not None:
            return False
        # Of measurements the first few tell, without a pass over millions.
        parts = (self.values[:_FEW], self.values[_FEW:])
        return all(bool((part == np.floor(part)).all()) for part in parts)

    def equals(self, value: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows that have this category, or this number."""
        if self.categories is None:
            return self.values == value
        if isinstance(value, Others) and value not in self.categories:
            return ~np.logical_or.reduce(
                [np.zeros(len(self.values), dtype=bool), *map(self.equals, value.known)]
            )
        if value not in self.categories:
            return np.zeros(len(self.values), dtype=bool)
        return self.values == self.categories.index(value)


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct rows of the protected attributes, and the number of the cell of each row."""

    columns: tuple[Column, ...]
    index: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.columns[0].values)

    def sorted_by(
        self, labels: NDArray[np.intp], *others: NDArray[Any], place: Place = MEMORY
    ) -> tuple[NDArray[np.intp], "Cells"]:
        """Return the order of rows by label, cell and all others, and the cells in that order.

        By label, the event of a notion is a slice; by cell, its sums read memory in order.
        """
        if others or place.is_memory:
            order = np.lexsort((*others, self.index, labels))
        else:
            order = place.order(labels * len(self) + self.index)
        return order, replace(self, index=self.index[order])


def read_columns(
    data: Any, argument: str = "sensitive_features", *, doubted: bool = True
) -> tuple[Column, ...]:
    """Read a frame, Series, mapping, array or list into named columns, by position of the rows.

    Strings, categoricals and booleans are categories, sorted by value so that the encoding is the
    same from run to run; missing is a category of its own. Numbers stay numbers. Raises ValueError
    or TypeError, naming `argument` and the column, for anything else, and for numbers that were
    read as text, unless their type is a categorical one or they are not `doubted`.

    >>> race, age = read_columns({"race": ["blue", None, "green"], "age": [30, 41, 25]})
    >>> race.categories, race.values.tolist()
    (('blue', 'green', None), [0.0, 2.0, 1.0])
    >>> age.is_categorical
    False
    """
    columns = tuple(_column(name, values, argument) for name, values in _named(data, argument))
    if doubted:
        for column in columns:
            _check_text(column, argument)
    if not columns:
        raise ArgumentError(argument, "has no columns; pass at least one.")
    lengths = {column.name: len(column.values) for column in columns}
    if len(set(lengths.values())) > 1:
        raise ArgumentError(argument, f"differ in length: {lengths}.", lead="The columns of ")
    if 0 in lengths.values():
        raise ArgumentError(argument, "is empty: it has no rows.")
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        raise same_name(argument, names)
    return columns


def in_use(column: Column) -> Column:
    """Return the column without the categories that no row has."""
    if column.categories is None:
        return column
    used, codes = np.unique(column.values, return_inverse=True)
    categories = tuple(column.categories[int(code)] for code in used)
    return replace(column, values=codes.astype(np.float64), categories=categories)


def take_rows(
    columns: Sequence[Column], rows: NDArray[np.intp] | NDArray[np.bool_]
) -> tuple[Column, ...]:
    """Return these rows, by position or mask, of all columns."""
    return tuple(replace(column, values=column.values[rows]) for column in columns)


def select_columns(
    data: Any, wanted: Mapping[str, str], argument: str = "sensitive_features"
) -> dict[str, Column]:
    """Read new rows and return the wanted columns by name; `wanted` maps names to kinds.

    An array has no names, so its columns are taken in the order of `wanted`, and must be as many.
    Raises ValueError if a column is missing or of another kind.
    """
    columns = read_columns(data, argument, doubted=False)
    if not (is_frame(data) or is_series(data) or isinstance(data, Mapping)):
        if len(columns) != len(wanted):
            raise ArgumentError(
                argument,
                f"has {len(columns)} columns, and the subgroup is defined on {len(wanted)}: "
                f"{', '.join(wanted)}. Pass these, in this order, or a frame with these names.",
            )
        columns = tuple(
            replace(column, name=name) for column, name in zip(columns, wanted, strict=True)
        )
    found = {column.name: column for column in columns}
    check_kinds(found, wanted, argument)
    return {name: found[name] for name in wanted}


def check_kinds(found: Mapping[str, Column], wanted: Mapping[str, str], argument: str) -> None:
    """Raise ValueError if a wanted column is missing or of another kind."""
    for name, kind in wanted.items():
        if name not in found:
            raise ArgumentError(argument, f"has no column {name!r}{did_you_mean(name, found)}.")
        given = found[name].kind
        # "any" is a column of which all values are missing: it agrees with every category.
        if given != kind and ("number" in (given, kind) or "any" not in (given, kind)):
            raise ArgumentError(
                Argument(argument, column=repr(name)),
                f"holds values of type {given}, and the subgroup was found on {kind}; convert it "
                "to the same type.",
            )


def distinct_rows(columns: Sequence[Column], place: Place = MEMORY) -> Cells:
    """Group rows that share all values into cells, in lexicographic order of the values.

    Ranks are the digits of one number as long as it fits into 64 bits, so that one sort serves all
    columns in most cases.
    """
    key = np.zeros(len(columns[0].values), dtype=np.intp)
    size = 1
    for column in columns:
        if column.categories is not None:
            digits = len(column.categories)
            rank = column.values.astype(np.intp)
        else:
            distinct, rank = ranked(column.values, place)
            digits = len(distinct)
        if size * digits >= 2**62:
            # Now at most the number of rows: the product fits.
            key, size = renumbered(key, size, place)
        key *= digits
        key += rank
        size *= digits
    key, size = renumbered(key, size, place)
    one_row = np.empty(size, dtype=np.intp)
    one_row[key] = np.arange(len(key))  # any row of a cell can stand for it
    return Cells(take_rows(columns, one_row), key)


def check_attribute_type(name: str, dtype: Any, argument: str = "sensitive_features") -> None:
    """Raise TypeError if a column of a frame is of a type that can't be an attribute."""
    allowed = nw.Categorical | nw.Enum | nw.String | nw.Boolean | nw.Object | nw.Unknown
    if not (dtype.is_numeric() or isinstance(dtype, allowed)):
        raise unknown_kind(Argument(argument, column=repr(name)), str(dtype))


def check_spreads(columns: Sequence[Column]) -> None:
    """Raise ValueError for a number that varies too little relative to its size."""
    for column in columns:
        if not column.is_categorical:
            check_spread(column.values, Argument("sensitive_features", column=repr(column.name)))


def _named(data: Any, argument: str) -> Iterable[tuple[str, Any]]:
    """Split a container into pairs of name and values; raise TypeError for an unknown one."""
    if is_frame(data):
        columns = frame_of(data, argument).iter_columns()
        return [(str(series.name), series) for series in columns]
    if is_series(data):
        series = nw.from_native(data, series_only=True)
        return [(str(series.name or "attribute_0"), series)]
    if isinstance(data, Mapping):
        return [(str(name), values) for name, values in data.items()]
    if isinstance(data, str) or not isinstance(data, list | tuple | np.ndarray):
        raise ArgumentError(
            argument,
            "must be a frame (pandas, polars, pyarrow), a Series, a mapping from names to "
            f"columns, an array or a list; got {type(data).__name__}. Collect a lazy frame first.",
        )
    table = as_table(data, argument)
    return [(f"attribute_{j}", table[:, j]) for j in range(table.shape[1])]


def _column(name: str, values: Any, argument: str) -> Column:
    """Decide if the values are numbers or categories, check them and encode them."""
    if isinstance(values, Column):
        return values
    where = Argument(argument, column=repr(name))
    if is_series(values):
        values = nw.from_native(values, series_only=True)
    if isinstance(values, nw.Series):
        if values.dtype.is_numeric():
            if values.is_null().any():
                raise _missing_number(where)
            return _numbers(name, series_numbers(values, where), where)
        check_attribute_type(name, values.dtype, argument)
        if isinstance(values.dtype, nw.String | nw.Boolean):
            return _encoded(name, values)
        if isinstance(values.dtype, nw.Categorical | nw.Enum):
            return replace(_categories(name, values.to_list(), where), declared=True)
        return _objects(name, values.to_list(), where)
    if str(getattr(values, "dtype", "")) == "category":  # a bare pandas.Categorical
        return replace(_categories(name, list(values), where), declared=True)
    values = unmasked(values)
    array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise ArgumentError(where, f"must have one dimension; got shape {array.shape}.")
    if array.dtype.kind in "iuf":
        return _numbers(name, distinct_numbers(array, where), where)
    if array.dtype.kind not in "OUSbT":
        raise unknown_kind(where, str(array.dtype))
    return _objects(name, array.tolist(), where)


def _encoded(name: str, series: "nw.Series[Any]") -> Column:
    """Encode strings or booleans in the library of the Series, which is fast."""
    missing = series.is_null().to_numpy()
    present = series.drop_nulls() if missing.any() else series
    categories: list[Any] = sorted(present.unique().to_list())
    codes = np.full(len(series), float(len(categories)))
    if categories:
        numbers = list(range(len(categories)))
        coded = present.replace_strict(categories, numbers, return_dtype=nw.Float64)
        codes[~missing] = coded.to_numpy()
    return Column(name, codes, (*categories, None) if missing.any() else tuple(categories))


def _objects(name: str, values: list[Any], where: Subject) -> Column:
    """Read Python objects, as a number if all are numbers and as categories otherwise."""
    values = missing_as_none(values)
    kinds = kinds_of(values)
    if not kinds or not all(map(is_number_type, kinds)):
        return _categories(name, values, where)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return _numbers(name, distinct_numbers(array, where), where)


def _numbers(name: str, values: Array, where: Subject) -> Column:
    """Make the column of a number; raise ValueError for missing, infinite or huge values."""
    if np.isnan(values).any():
        raise _missing_number(where)
    check_finite(values, where)
    return Column(name, values + 0.0)  # + 0.0: −0 and 0 are the same value


def _categories(name: str, values: list[Any], where: Subject) -> Column:
    """Make the column of a category, with codes in the order of the sorted values."""
    values = missing_as_none(values)
    present = sorted_categories(values, where)
    code = {category: i for i, category in enumerate(present)}
    categories = [as_category(category) for category in present]
    if None in values:
        code[None] = len(present)
        categories.append(None)
    codes = np.fromiter(map(code.__getitem__, values), dtype=np.float64, count=len(values))
    return Column(name, codes, tuple(categories))


def _check_text(column: Column, argument: str) -> None:
    """Raise ArgumentError for categories that are numbers, read as text."""
    if column.kind == "str" and not column.declared:
        texts = [text for text in column.categories or () if text is not None]
        check_no_numbers(texts, Argument(argument, column=repr(column.name)))


def _missing_number(where: Subject) -> ValueError:
    return ArgumentError(
        where,
        "is numeric and has missing values, which have no place among numbers: drop these rows (",
        DROP_ROWS,
        "), cut it into a few named ranges, with missing as one more (",
        IN_RANGES,
        "), or fill them in; and say so.",
    )
