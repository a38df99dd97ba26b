"""Cleaning of the paper's datasets: from text to features, labels and protected columns."""

import csv
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]

# The number of rows of the paper's Law School data, before rows with a missing value are dropped.
STAND_IN_ROWS = 2052
STAND_IN_SEED = 0

# adult.data has no header; these are the names in the description at UCI.
_ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip


@dataclass(frozen=True)
class Cleaned:
    """A cleaned dataset.

    Attributes
    ----------
    features : dict of arrays
        Columns of numbers and of strings. A missing number is NaN, a missing string None; only Law
        School keeps any, if asked to.
    target : array of 0 and 1
    protected : tuple of str
        Names of the protected columns.
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
    """Parse a CSV text into columns by name; pass `names` for a text without a header.

    A column is of numbers if all values are that aren't in `missing`, and of whole numbers if, in
    addition, none is missing.

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
    """Convert texts to integers, else to floats, else to strings."""
    absent = [value in missing for value in values]
    for number in (int, float):
        # int first, since float() reads whole numbers too and "7" would become 7.0.
        if number is int and any(absent):  # an array of integers has no NaN
            continue
        try:
            return np.array(
                [np.nan if gone else number(v) for v, gone in zip(values, absent, strict=True)]
            )
        except ValueError:
            continue
    return as_strings([None if gone else v for v, gone in zip(values, absent, strict=True)])


def as_strings(values: Sequence[str | None]) -> NDArray[Any]:
    """Return an array of strings, of objects if some are None, which NumPy's strings can't be."""
    return np.array(values, dtype=object if None in values else str)


def take(columns: Columns, rows: Any) -> Columns:
    """Return these rows, by position or mask, of all columns."""
    return {name: values[rows] for name, values in columns.items()}


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the values that are NaN or None."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([value is None for value in values], dtype=bool)


def clean_communities(text: str, *, raw: bool) -> Cleaned:
    """Clean Communities: missing values are 0, the label is crime above its 70th percentile.

    `raw` is True for communities.data of UCI, False for communities.csv of the paper, which has a
    header and lacks the five columns that do not predict.
    """
    # Each line has a name, and a mark if the column is protected; the first five don't predict.
    listed = [line.split() for line in _resource("communities_columns.txt")]
    columns = parse(text, names=[line[0] for line in listed] if raw else None, missing={"", "?"})
    # From 5 on: those before don't predict. In the order of the list, whatever that of the file.
    features = {name: np.nan_to_num(columns[name], nan=0.0) for name, *_ in listed[5:]}
    # Popped, so that the label is not among the features.
    crime = features.pop("ViolentCrimesPerPop")
    protected = tuple(name for name, *mark in listed if mark)
    return Cleaned(features, _labels(crime > np.quantile(crime, 0.7)), protected)


def clean_law_school(text: str, *, drop_missing: bool) -> Cleaned:
    """Clean Law School: race is a string, and the label is bar1 = P.

    Rows with a missing value are dropped with `drop_missing`, as the paper did.
    """
    features = parse(text, missing={"", "NA"})
    race = features["race"]
    # NaN is the only value that is not equal to itself. The code, 1 to 8, has no order: as a number
    # it would have thresholds.
    features["race"] = as_strings([None if value != value else str(int(value)) for value in race])
    if drop_missing:
        absent = np.logical_or.reduce([is_missing(values) for values in features.values()])
        features = take(features, ~absent)
        # No None is left, so that NumPy's strings will do.
        features["race"] = features["race"].astype(str)
    passed = features.pop("bar1") == "P"
    return Cleaned(features, _labels(passed), ("race", "fam_inc", "age", "gender"))


def clean_law_stand_in(text: str) -> Cleaned:
    """Clean the stand-in for Law School: a sample of the paper's size, balanced by label, in order.

    The seed is fixed, and the stream of RandomState is frozen, so that every version of NumPy draws
    the same rows.
    """
    columns = parse(text)
    del columns[""]  # row numbers of the file that this one was made from
    columns["sex"] = columns["sex"].astype(str)
    passed = columns.pop("first_pf") == 1
    rng = np.random.RandomState(STAND_IN_SEED)
    # Balanced by label, as the paper's file is.
    each = min(STAND_IN_ROWS // 2, int(passed.sum()), int((~passed).sum()))
    drawn = [
        rng.choice(np.flatnonzero(passed == label), each, replace=False) for label in (False, True)
    ]
    # In the order of the file, as the paper's subsets are; drawn by label they would be sorted by
    # it.
    rows = np.sort(np.concatenate(drawn))
    return Cleaned(take(columns, rows), _labels(passed[rows]), ("race", "sex"))


def clean_adult(text: str, *, raw: bool, subset: str) -> Cleaned:
    """Clean Adult: the label is an income above 50K, and "?" is a category like others.

    `raw` is True for adult.data of UCI, of which the subset "paper" takes the listed rows; False
    for adult.csv of the paper, which has these rows and a header with a misspelt name.
    """
    if raw and subset == "paper":
        lines = [line for line in text.splitlines() if line.strip()]
        # Positions of the paper's rows, found by comparison with its adult.csv.
        rows = [int(row) for line in _resource("adult_rows.txt") for row in line.split()]
        text = "\n".join(lines[row] for row in rows)
    elif not raw:  # without its header
        text = text.partition("\n")[2]
    features = parse(text, names=_ADULT_COLUMNS)
    rich = features.pop("income") == ">50K"
    return Cleaned(features, _labels(rich), ("age", "race", "sex"))


def clean_student(text: str) -> Cleaned:
    """Clean Student: the label is a final grade of at least 11; earlier grades are dropped."""
    features = parse(text, delimiter=";")
    del features["G1"], features["G2"]
    passed = features.pop("G3") >= 11
    return Cleaned(features, _labels(passed), ("sex", "age", "romantic", "Dalc", "Walc"))


def _labels(positive: NDArray[np.bool_]) -> NDArray[np.int64]:
    return positive.astype(np.int64)


def _resource(name: str) -> list[str]:
    """Read the lines of a file of the package, without comments."""
    lines = resources.files(__package__).joinpath(name).read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]
