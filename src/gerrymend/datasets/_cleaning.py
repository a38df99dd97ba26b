"""From the text of a file to features, labels and protected columns, cleaned as the paper did."""

import csv
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]

STAND_IN_ROWS = 2052
STAND_IN_SEED = 0

_ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip


@dataclass(frozen=True)
class Cleaned:
    """Columns of numbers and of strings, labels of 0 and 1, and which columns are protected.

    A missing number is NaN, a missing string None; only Law School keeps any, when asked to.
    """

    features: Columns
    target: NDArray[np.int64]
    protected: tuple[str, ...]


def parse(
    text: str,
    *,
    names: Sequence[str] | None = None,
    delimiter: str = ",",
    missing: Collection[str] = (),
) -> Columns:
    """Columns of a CSV text; `names` for one without a header.

    A column is of numbers if all its values are, and of whole numbers if none is missing too.

    Examples
    --------
    >>> columns = parse("age,sex\\n31, F\\n?, M\\n", missing={"?"})
    >>> columns["age"].tolist(), columns["sex"].tolist()
    ([31.0, nan], ['F', 'M'])
    """
    lines = csv.reader(text.splitlines(), delimiter=delimiter, skipinitialspace=True)
    rows = [[value.strip() for value in row] for row in lines if row]
    header = list(names) if names is not None else rows.pop(0)
    return {
        name: _typed(values, missing)
        for name, values in zip(header, zip(*rows, strict=True), strict=True)
    }


def _typed(values: Sequence[str], missing: Collection[str]) -> NDArray[Any]:
    absent = [value in missing for value in values]
    for number in (int, float):
        if number is int and any(absent):
            continue
        try:
            return np.array(
                [np.nan if gone else number(v) for v, gone in zip(values, absent, strict=True)]
            )
        except ValueError:
            continue
    return as_strings([None if gone else v for v, gone in zip(values, absent, strict=True)])


def as_strings(values: Sequence[str | None]) -> NDArray[Any]:
    """An array of strings; of objects where some are missing, as NumPy's strings can't be."""
    return np.array(values, dtype=object if None in values else str)


def take(columns: Columns, rows: Any) -> Columns:
    """The same columns with some of the rows."""
    return {name: values[rows] for name, values in columns.items()}


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are NaN or None."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([value is None for value in values], dtype=bool)


def clean_communities(text: str, *, raw: bool) -> Cleaned:
    """Missing values are 0, the label is crime above its 70th percentile.

    `raw` is UCI's communities.data; else it is the paper's communities.csv, which has a header and
    lacks the five columns that do not predict.
    """
    listed = [line.split() for line in _resource("communities_columns.txt")]
    columns = parse(text, names=[line[0] for line in listed] if raw else None, missing={"", "?"})
    features = {name: np.nan_to_num(columns[name], nan=0.0) for name, *_ in listed[5:]}
    crime = features.pop("ViolentCrimesPerPop")
    protected = tuple(name for name, *mark in listed if mark)
    return Cleaned(features, _labels(crime > np.quantile(crime, 0.7)), protected)


def clean_law_school(text: str, *, drop_missing: bool) -> Cleaned:
    """Race is a string, rows with a missing value are dropped if asked; the label is bar1 = P."""
    features = parse(text, missing={"", "NA"})
    race = features["race"]
    features["race"] = as_strings([None if value != value else str(int(value)) for value in race])
    if drop_missing:
        absent = np.logical_or.reduce([is_missing(values) for values in features.values()])
        features = take(features, ~absent)
        features["race"] = features["race"].astype(str)
    passed = features.pop("bar1") == "P"
    return Cleaned(features, _labels(passed), ("race", "fam_inc", "age", "gender"))


def clean_law_stand_in(text: str) -> Cleaned:
    """As many rows of each label as make up the paper's number, drawn with a fixed seed, in order.

    RandomState's stream is frozen, so that the same rows are drawn by every version of NumPy.
    """
    columns = parse(text)
    del columns[""]  # row numbers of a file that this one was taken from
    columns["sex"] = columns["sex"].astype(str)
    passed = columns.pop("first_pf") == 1
    rng = np.random.RandomState(STAND_IN_SEED)
    each = min(STAND_IN_ROWS // 2, int(passed.sum()), int((~passed).sum()))
    drawn = [
        rng.choice(np.flatnonzero(passed == label), each, replace=False) for label in (False, True)
    ]
    rows = np.sort(np.concatenate(drawn))
    return Cleaned(take(columns, rows), _labels(passed[rows]), ("race", "sex"))


def clean_adult(text: str, *, raw: bool, subset: str) -> Cleaned:
    """The label is an income above 50K; a "?" is a category like others.

    `raw` is UCI's adult.data, of which "paper" takes the listed rows; else it is the paper's
    adult.csv, which has these rows and a header with a misspelt name.
    """
    if raw and subset == "paper":
        lines = [line for line in text.splitlines() if line.strip()]
        rows = [int(row) for line in _resource("adult_rows.txt") for row in line.split()]
        text = "\n".join(lines[row] for row in rows)
    elif not raw:
        text = text.partition("\n")[2]
    features = parse(text, names=_ADULT_COLUMNS)
    rich = features.pop("income") == ">50K"
    return Cleaned(features, _labels(rich), ("age", "race", "sex"))


def clean_student(text: str) -> Cleaned:
    """The label is a final grade of at least 11; the two earlier grades are dropped."""
    features = parse(text, delimiter=";")
    del features["G1"], features["G2"]
    passed = features.pop("G3") >= 11
    return Cleaned(features, _labels(passed), ("sex", "age", "romantic", "Dalc", "Walc"))


def _labels(positive: NDArray[np.bool_]) -> NDArray[np.int64]:
    return positive.astype(np.int64)


def _resource(name: str) -> list[str]:
    """Lines of a file of the package, without comments."""
    lines = resources.files(__package__).joinpath(name).read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]
