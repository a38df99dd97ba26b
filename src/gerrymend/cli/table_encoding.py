"""Encoding of a table's columns as numbers, for training and for later predictions.

The encoder is a ColumnTransformer of scikit-learn, so that it is saved with the model.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from gerrymend._runtime.errors import Argument
from gerrymend.inputs.numbers import check_finite, series_numbers
from gerrymend.inputs.text_numbers import check_no_numbers

if TYPE_CHECKING:
    import polars as pl
    from sklearn.compose import ColumnTransformer

# A text column is taken for an identifier where its values are more than this part of the rows.
_MOST_DISTINCT = 0.5
# In so few rows most texts differ anyway, and nothing is refused.
_FEW_ROWS = 20
# Scaling adds up squares: 10^280 times as many rows as there may be is below float64's 10^308.
_LARGEST = 1e140
# Kinds of columns, and names of the encoder's steps.
TEXT = "text"
NUMBERS = "numbers"


def make_encoder(frame: "pl.DataFrame", *, impute: bool = False) -> "ColumnTransformer":
    """Return an encoder that is not fitted yet: text as indicators, numbers and booleans scaled.

    With `impute`, a missing number becomes the median, with an indicator beside it, and a missing
    text is a value of its own. Raises a ValueError for a column that is neither text nor numbers.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"race": ["blue", "green"] * 2, "age": [20, 40, 20, 40]})
    >>> encoder = make_encoder(frame).fit(frame)
    >>> encoder.transform(frame.head(2)).tolist()
    [[1.0, 0.0, -1.0], [0.0, 1.0, 1.0]]
    >>> trained_on(encoder)
    {'race': 'text', 'age': 'numbers'}
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    kinds = {name: kind_of(name, dtype) for name, dtype in frame.schema.items()}
    texts, numbers = (
        [name for name, kind in kinds.items() if kind == wanted] for wanted in (TEXT, NUMBERS)
    )
    indicators: Any = OneHotEncoder(handle_unknown="warn", sparse_output=False)
    scaled: Any = StandardScaler()
    if impute:
        named = SimpleImputer(missing_values=None, strategy="constant", fill_value="(missing)")
        indicators = make_pipeline(named, indicators)
        scaled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), scaled)
    # An empty step would fail, and the order of steps is that of the encoded columns.
    steps = [(TEXT, indicators, texts), (NUMBERS, scaled, numbers)]
    return ColumnTransformer([step for step in steps if step[2]], verbose_feature_names_out=False)


def trained_on(encoder: "ColumnTransformer") -> dict[str, str]:
    """Return the columns of a fitted encoder, in order, each with its kind: "text" or "numbers"."""
    kinds = {name: kind for kind, _, names in encoder.transformers_ for name in names}
    return {str(name): kinds[name] for name in encoder.feature_names_in_}


def imputes(encoder: "ColumnTransformer") -> bool:
    """Return whether an encoder takes missing values."""
    from sklearn.pipeline import Pipeline

    return any(isinstance(step, Pipeline) for _, step, _ in encoder.transformers_)


def kind_of(name: str, dtype: "pl.DataType") -> str:
    """Return "text" or "numbers"; raise a ValueError for a column of another type.

    >>> import polars as pl
    >>> kind_of("age", pl.Int64()), kind_of("race", pl.Categorical())
    ('numbers', 'text')
    """
    import polars as pl

    if dtype.is_numeric() or dtype == pl.Boolean:
        return NUMBERS
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return TEXT
    if isinstance(dtype, pl.Null):
        raise ValueError(f"Column {name!r} has no values at all. --drop it.")
    raise ValueError(
        f"Column {name!r} is of type {dtype}, which is neither text nor numbers. --drop it, or "
        "convert it: a date to an age in days, say."
    )


def plain(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return categories as text, booleans as 0 and 1, and NaN as a missing value."""
    import polars as pl
    import polars.selectors as of

    return frame.with_columns(
        of.categorical().cast(pl.String),
        of.by_dtype(pl.Enum).cast(pl.String),
        of.boolean().cast(pl.Float64),
        of.float().fill_nan(None),
    )


def check_values(frame: "pl.DataFrame", file: Any, *, impute: bool) -> None:
    """Raise a ValueError for missing values, unless imputed, and for numbers beyond float64.

    `file` is only named in the message. NaN counts as missing.
    """
    for name in frame.columns:
        values = frame[name]
        n_missing = values.null_count()
        if values.dtype.is_float():
            n_missing += int(values.is_nan().sum())
        if n_missing and not impute:
            raise missing_values(name, file, n_missing, len(values))
        if values.dtype.is_numeric():
            where = f"Column {name!r} of {file}"
            present = nw.from_native(values.drop_nulls(), series_only=True)
            numbers = series_numbers(present, where)
            check_finite(numbers[~np.isnan(numbers)], where, most=np.inf)  # see `check_scale`


def missing_values(
    name: str, file: Any, n_missing: int, n_rows: int, why_not: str = ""
) -> ValueError:
    """Return the error for a column with missing values; `why_not` says why none are imputed."""
    remedy = "Fill them in, leave these rows out, --drop the column, or train with --impute."
    if why_not:
        remedy = f"Fill them in, leave these rows out, or --drop the column: {why_not}."
    return ValueError(
        f"Column {name!r} of {file} has {n_missing:,} missing values of {n_rows:,}. {remedy}"
    )


def check_texts(frame: "pl.DataFrame") -> None:
    """Raise an ArgumentError for text columns that are numbers; of other types none is text."""
    import polars as pl

    for name in frame.columns:
        if frame.schema[name] == pl.String:
            texts = frame[name].drop_nulls().unique(maintain_order=True).to_list()
            check_no_numbers(texts, Argument("X", column=repr(name)))


def check_not_identifiers(frame: "pl.DataFrame") -> None:
    """Raise a ValueError for text that tells rows apart; of numbers that may do so, warn.

    A text that differs in most rows would become as many indicators, and whole numbers that differ
    in all rows may be identifiers, or measurements.
    """
    if len(frame) <= _FEW_ROWS:
        return
    for name in frame.columns:
        values = frame[name]
        distinct = values.n_unique()
        if kind_of(name, values.dtype) == TEXT:
            check_few_texts(name, distinct, len(frame))
        if values.dtype.is_integer() and distinct == len(frame):
            warnings.warn(
                f"Column {name!r} has a different whole number in each of the {len(frame):,} rows: "
                "if it is an identifier, --drop it.",
                UserWarning,
                stacklevel=2,
            )


def check_few_texts(name: str, distinct: int, n_rows: int) -> None:
    """Raise a ValueError for a column of texts that differ in most rows, unless these are few."""
    if n_rows > _FEW_ROWS and distinct > _MOST_DISTINCT * n_rows:
        raise ValueError(
            f"Column {name!r} has {distinct:,} different texts in {n_rows:,} rows: it tells rows "
            "apart, and nothing can be learned of it. --drop it, or group values."
        )


def is_trainable(values: "pl.Series") -> bool:
    """Return whether a model can be trained on a column: not if it tells rows apart, for one.

    >>> import polars as pl
    >>> [is_trainable(pl.Series([f"{i // n}" for i in range(100)])) for n in (1, 2)]
    [False, True]
    """
    try:
        if kind_of(values.name, values.dtype) == TEXT:
            check_few_texts(values.name, values.n_unique(), len(values))
    except ValueError:
        return False
    return True


def check_kinds(wanted: Mapping[str, str], frame: "pl.DataFrame", file: Any) -> None:
    """Raise a ValueError for a column of another kind than the model was trained on.

    `wanted` has "text" or "numbers" by column, as `trained_on` returns it.
    """
    for name, kind in wanted.items():
        given = kind_of(name, frame.schema[name])
        if given != kind:
            raise ValueError(
                f"Column {name!r} of {file} has {given}, and the model was trained on {kind}; "
                "convert it. Texts that stand for a missing value can be given as --missing."
            )


def unseen(encoder: "ColumnTransformer", frame: "pl.DataFrame") -> dict[str, list[str]]:
    """Return the texts that the encoder has not seen, by column.

    >>> import polars as pl
    >>> train = pl.DataFrame({"race": ["blue", "blue"]})
    >>> encoder = make_encoder(train).fit(train)
    >>> unseen(encoder, pl.DataFrame({"race": ["blue", "green"]}))
    {'race': ['green']}
    """
    found: dict[str, list[str]] = {}
    for kind, step, names in encoder.transformers_:
        if kind == TEXT:
            indicators: Any = step[-1] if hasattr(step, "steps") else step
            for name, known in zip(names, indicators.categories_, strict=True):
                new = set(frame[name].drop_nulls().unique().to_list()) - set(known.tolist())
                if new:
                    found[name] = sorted(new)
    return found


def note_unseen(encoder: "ColumnTransformer", frame: "pl.DataFrame", where: str) -> None:
    """Warn of texts that the training rows did not have."""
    for name, new in unseen(encoder, frame).items():
        # How many, and not which: values that few rows have may name people.
        warnings.warn(
            f"Column {name!r} of {where} has values that the training rows did not, {len(new):,} "
            "in all. They count as none of the known ones.",
            UserWarning,
            stacklevel=2,
        )


def encoded(encoder: "ColumnTransformer", frame: "pl.DataFrame") -> Any:
    """Return the columns as numbers, without scikit-learn's warning of unseen texts.

    `note_unseen` gives one that names the column.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Found unknown categories")
        return encoder.transform(frame)


def names_of(columns: Sequence[str], most: int = 6) -> str:
    """Return a few names, and how many more there are.

    >>> names_of(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = len(columns) - most
    return ", ".join(columns[:most]) + (f" and {more} more" if more > 0 else "")


def check_scale(frame: "pl.DataFrame", file: Any) -> None:
    """Raise a ValueError for numbers that are too large to be scaled."""
    import polars as pl

    for name in frame.columns:
        if not frame.schema[name].is_numeric():
            continue
        largest = frame[name].cast(pl.Float64).fill_nan(None).abs().max()
        if isinstance(largest, float) and largest > _LARGEST:
            raise ValueError(
                f"Column {name!r} of {file} has a value of {largest:g}, which is too large to be "
                "scaled. Correct it, use another unit, or --drop the column."
            )
